//! The `test` blocks of a program: rules on runs of their own, and whether the verdicts come out as written (language reference,
//! section 10).

use super::evaluate::{EvaluateOptions, evaluate, evaluate_with_coverage};
use super::outcome::RunOutcome;
use super::prepare::PreparedProgram;
use super::select::RuleSelection;
use super::summary::counted_verdict;
use super::why::coverage::CoverageRecord;
use crate::bytecode::program::{CompiledTest, Program};
use averment_base::limits::Limits;
use averment_base::truth::Verdict;
use averment_runs::run::Run;
use bumpalo::Bump;
use std::fmt::Display;

/// The result of a test.
#[derive(Debug, Clone)]
pub struct TestResult {
    /// The test, by number in the program.
    pub test: u32,
    /// True if the verdicts match the expectation.
    pub passed: bool,
    /// Why not, in words; empty when it passed.
    pub reason: String,
    /// Verdicts of rules by id, and of bare assertions by theirs.
    pub found: Vec<(String, Verdict)>,
    /// Everything that was found on the test's run; empty when the run could not be read.
    pub outcome: RunOutcome,
}

/// Reads a test's inline run: the engine itself knows no trace format.
pub type ReadRun<E> = for<'run> fn(&'run str, &'run Bump, &Limits) -> Result<Run<'run>, E>;

/// Runs all tests of a program, in file order. A test may look at nothing but its run.
#[must_use]
pub fn run_tests<E: Display>(
    program: &Program,
    prepared: &PreparedProgram,
    limits: &Limits,
    read: ReadRun<E>,
) -> Vec<TestResult> {
    let tests = program.tests.iter().enumerate();
    tests
        .filter_map(|(number, test)| Some(run_test(program, prepared, u32::try_from(number).ok()?, test, limits, read)))
        .collect()
}

fn run_test<E: Display>(
    program: &Program,
    prepared: &PreparedProgram,
    number: u32,
    test: &CompiledTest,
    limits: &Limits,
    read: ReadRun<E>,
) -> TestResult {
    let arena = Bump::new();
    let run = match read(&test.run, &arena, limits) {
        Ok(run) => run,
        Err(error) => {
            let reason = format!("its run cannot be read: {error}");
            return TestResult {
                test: number,
                passed: false,
                reason,
                found: Vec::new(),
                outcome: RunOutcome::default(),
            };
        }
    };
    let stated = TestExpectation { expect: test.expect, rules: &test.rules };
    let TestJudgment { reason, found, outcome, .. } =
        judge_test(program, prepared, &run, &arena, stated, limits, false);
    TestResult { test: number, passed: reason.is_none(), reason: reason.unwrap_or_default(), found, outcome }
}

/// The expectations of a test.
#[derive(Debug, Clone, Copy)]
pub struct TestExpectation<'a> {
    /// The verdict.
    pub expect: Verdict,
    /// The rules that have it, by number; empty for all.
    pub rules: &'a [u32],
}

/// The verdicts of a program on a test's run.
#[derive(Debug, Clone)]
pub struct TestJudgment {
    /// Why it is not what was stated, in words; `None` when it is.
    pub reason: Option<String>,
    /// Verdicts of rules by id, and of bare assertions by theirs.
    pub found: Vec<(String, Verdict)>,
    /// Everything that was found.
    pub outcome: RunOutcome,
    /// Coverage, if requested.
    pub seen: Option<CoverageRecord>,
}

/// Judges the run of a test; with `noting` it is told what the evaluation went through. A test may look at nothing but its run.
#[must_use]
pub fn judge_test<'run>(
    program: &'run Program,
    prepared: &'run PreparedProgram,
    run: &'run Run<'run>,
    arena: &'run Bump,
    stated: TestExpectation<'_>,
    limits: &Limits,
    noting: bool,
) -> TestJudgment {
    let named = stated.rules.iter().filter_map(|&rule| program.rules.get(rule as usize)).map(|rule| rule.id.clone());
    let options = EvaluateOptions {
        selection: RuleSelection { rules: named.collect(), ..RuleSelection::default() },
        limits: *limits,
        assume_case: !stated.rules.is_empty(),
        ..EvaluateOptions::default()
    };
    let (outcome, seen) = match noting {
        true => {
            let (outcome, seen) = evaluate_with_coverage(program, prepared, run, arena, &options);
            (outcome, Some(seen))
        }
        false => (evaluate(program, prepared, run, arena, &options), None),
    };
    let found = rule_verdicts(program, &outcome);
    TestJudgment { reason: verdict_mismatch(stated, &found), found, outcome, seen }
}

fn rule_verdicts(program: &Program, outcome: &RunOutcome) -> Vec<(String, Verdict)> {
    let mut found = Vec::new();
    let mut seen = Vec::new();
    for result in &outcome.results {
        let Some(assertion) = program.assertions.get(result.assertion as usize) else { continue };
        match assertion.rule {
            None => found.push((assertion.id.clone(), counted_verdict(result.status, result.verdict))),
            Some(rule) if seen.contains(&rule) => {}
            Some(rule) => {
                seen.push(rule);
                let id = program.rules.get(rule as usize).map(|rule| rule.id.clone());
                let verdict = outcome.rules.iter().find(|known| known.rule == rule).map(|known| known.verdict);
                found.extend(id.zip(verdict));
            }
        }
    }
    found
}

fn verdict_mismatch(stated: TestExpectation<'_>, found: &[(String, Verdict)]) -> Option<String> {
    if found.is_empty() {
        return Some("no assertion was judged".to_owned());
    }
    if !stated.rules.is_empty() {
        let other: Vec<String> = found
            .iter()
            .filter(|(_, verdict)| *verdict != stated.expect)
            .map(|(id, verdict)| format!("`{id}` is {}", verdict.as_str()))
            .collect();
        return (!other.is_empty()).then(|| format!("{}, not {}", other.join(", "), stated.expect.as_str()));
    }
    let some = |wanted| found.iter().any(|(_, verdict)| *verdict == wanted);
    let failed: Vec<&str> =
        found.iter().filter(|(_, verdict)| *verdict == Verdict::Fail).map(|(id, _)| id.as_str()).collect();
    match stated.expect {
        Verdict::Pass if !failed.is_empty() => Some(format!("`{}` failed", failed.join("`, `"))),
        wanted if some(wanted) => None,
        wanted => Some(format!("nothing is {}", wanted.as_str())),
    }
}
