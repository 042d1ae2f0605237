//! The assertion loop: every selected assertion of a program on one run, with its settings, then rules and scores.

use super::context::{ExpressionScope, LISTED};
use super::coverage::CoverageRecord;
use super::derivation::Derivation;
use super::derive::Recording;
use super::fault::Fault;
use super::judge::Judge;
use super::machine::Machine;
use super::outcome::{AssertionOutcome, Finding, Outcome, Status, Violations};
use super::prepare::Prepared;
use super::profile::CostCenter;
use super::score;
use super::select::{self, Selection};
use super::summary;
use super::temporal::duplicates;
use super::world::Permissions;
use crate::bytecode::program::{Assertion, Program};
use averment_base::limits::Limits;
use averment_base::truth::Verdict;
use averment_runs::run::Run;
use bumpalo::Bump;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// How a run is judged.
#[derive(Debug, Clone, Default)]
pub struct EvaluateOptions {
    /// Which assertions.
    pub selection: Selection,
    /// What they may look at beside the run.
    pub permissions: Permissions,
    /// Limits of each assertion (fuel) and of the whole (memory).
    pub limits: Limits,
    /// A case judges a run that says neither its case nor its prompt, as in a `test` that names the case.
    pub assume_case: bool,
    /// How many violations of each failure are listed, [`LISTED`] unless given; with none they are not counted, either.
    pub violations: Option<usize>,
    /// Whether every match of every statement is played, and every assertion judged by itself, also where a shorter way says the same. Tests
    /// compare both.
    pub plays_all: bool,
}

/// Judges one run. `arena` holds what is computed on the way; it can be the one that the run was read into.
#[must_use]
pub fn evaluate<'run>(
    program: &'run Program,
    prepared: &'run Prepared,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
) -> Outcome {
    judged(program, prepared, run, arena, options, None).0
}

/// Judges one run and tells what the evaluation went through.
#[must_use]
pub fn evaluate_seen<'run>(
    program: &'run Program,
    prepared: &'run Prepared,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
) -> (Outcome, CoverageRecord) {
    let (outcome, seen) = judged(program, prepared, run, arena, options, Some(Box::default()));
    (outcome, seen.unwrap_or_default())
}

fn judged<'run>(
    program: &'run Program,
    prepared: &'run Prepared,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
    seen: Option<Box<CoverageRecord>>,
) -> (Outcome, Option<CoverageRecord>) {
    let mut machine = Machine::new(program, prepared, run, arena, options.limits);
    machine.seen = seen;
    let mut evaluation = Evaluation::new(machine, options);
    let mut results = Vec::with_capacity(program.assertions.len());
    for (number, assertion) in program.assertions.iter().enumerate() {
        if let Ok(number) = u32::try_from(number)
            && options.selection.judges(program, number, assertion)
        {
            results.push(evaluation.assertion(number, assertion));
        }
    }
    (summary::outcome(program, results), evaluation.judge.into_seen())
}

/// Judges the run of a machine by some assertions of its program, which stand in file order.
#[must_use]
pub fn evaluate_some(machine: Machine<'_>, options: &EvaluateOptions, wanted: &[u32]) -> Vec<AssertionOutcome> {
    let program = machine.program;
    let mut evaluation = Evaluation::new(machine, options);
    let all = wanted.iter().filter_map(|number| Some((*number, program.assertions.get(*number as usize)?)));
    all.map(|(number, assertion)| evaluation.assertion(number, assertion)).collect()
}

/// The verdict of an assertion that is one statement, without its reason; `None` for a number that no assertion has.
#[must_use]
pub fn verdict_of(machine: Machine<'_>, options: &EvaluateOptions, number: u32) -> Option<Verdict> {
    let assertion = machine.program.assertions.get(number as usize)?;
    let mut evaluation = Evaluation::new(machine, options);
    evaluation.judge.explains = false;
    Some(evaluation.assertion(number, assertion).verdict)
}

/// Judges assertions of one run one after the other.
pub struct Verdicts<'run, 'a>(Evaluation<'run, 'a>);

impl<'run, 'a> Verdicts<'run, 'a> {
    /// None judged yet.
    #[must_use]
    pub fn new(machine: Machine<'run>, options: &'a EvaluateOptions) -> Self {
        Self(Evaluation::new(machine, options))
    }

    /// The verdict of an assertion; `None` where more is to be said of it that reasons do not say: a step that it could not judge, a remark.
    pub fn alone(&mut self, number: u32) -> Option<Verdict> {
        let assertion = self.0.judge.machine.program.assertions.get(number as usize)?;
        let outcome = self.0.assertion(number, assertion);
        let own = score::counted(outcome.status, score::of_verdict(outcome.verdict));
        let plain = outcome.unjudged.is_none() && outcome.remark.is_none() && outcome.gates.is_empty();
        (plain && outcome.score == own).then_some(outcome.verdict)
    }
}

/// The verdicts of some assertions on a run by what they assert alone, whatever their `when` says; `None` for a fault.
#[must_use]
pub fn verdicts_of_checks<'run>(
    program: &'run Program,
    prepared: &'run Prepared,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
    wanted: &[u32],
) -> Vec<Option<Verdict>> {
    let mut judge = Judge::new(Machine::new(program, prepared, run, arena, options.limits), &options.permissions);
    let verdict = |number: &u32| {
        judge.machine.refuel();
        judge.check(program.assertions.get(*number as usize)?).ok().map(|finding| finding.verdict)
    };
    wanted.iter().map(verdict).collect()
}

/// The outcome of a run from the outcomes of its selected assertions, in file order: its rules and scores.
#[must_use]
pub fn conclude(program: &Program, results: Vec<AssertionOutcome>) -> Outcome {
    summary::outcome(program, results)
}

/// The outcome of an assertion whose verdict is known, without a reason.
#[must_use]
pub fn known(program: &Program, number: u32, verdict: Verdict) -> Option<AssertionOutcome> {
    Some(finish(number, program.assertions.get(number as usize)?, Finding::new(verdict, ""), None))
}

/// Judges one run as [`evaluate`] does, and says of every selected assertion how it came to its verdict.
#[must_use]
pub fn derive<'run>(
    program: &'run Program,
    prepared: &'run Prepared,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
) -> (Outcome, Vec<Derivation>) {
    let machine = Machine::new(program, prepared, run, arena, options.limits);
    let mut evaluation = Evaluation::new(machine, options);
    let mut derivations = Vec::new();
    for (number, assertion) in (0..).zip(&program.assertions) {
        if options.selection.judges(program, number, assertion) {
            evaluation.judge.machine.recording = Some(Recording::new(program, &assertion.check));
            let outcome = evaluation.assertion(number, assertion);
            let recording = evaluation.judge.machine.recording.take().unwrap_or_default();
            let (parts, cut) = recording.finish();
            derivations.push(Derivation { outcome, parts, cut });
        }
    }
    let results = derivations.iter().map(|derivation| derivation.outcome.clone()).collect();
    (summary::outcome(program, results), derivations)
}

struct Evaluation<'run, 'a> {
    judge: Judge<'run, 'a>,
    options: &'a EvaluateOptions,
    /// What was found of assertions that others repeat, by the first that says the same.
    known: FxHashMap<u32, (&'run Assertion, Finding)>,
}

impl<'run, 'a> Evaluation<'run, 'a> {
    fn new(mut machine: Machine<'run>, options: &'a EvaluateOptions) -> Self {
        machine.plays_all = options.plays_all;
        let listed = options.violations.unwrap_or(LISTED);
        let mut judge = Judge::new(machine, &options.permissions);
        judge.listed = listed;
        Self { judge, options, known: FxHashMap::default() }
    }

    fn assertion(&mut self, number: u32, assertion: &'run Assertion) -> AssertionOutcome {
        self.judge.machine.note_begin(CostCenter::Assertion(number));
        let outcome = self.outcome(number, assertion);
        self.judge.machine.note_end();
        outcome
    }

    fn outcome(&mut self, number: u32, assertion: &'run Assertion) -> AssertionOutcome {
        let run = self.judge.machine.run;
        let program = self.judge.machine.program;
        let rule = assertion.rule.and_then(|rule| program.rules.get(rule as usize));
        if let Some(reason) = rule.and_then(|rule| select::other_case(rule, run, self.options.assume_case)) {
            return finish(number, assertion, Finding::new(Verdict::Skipped, reason), None);
        }
        let finding = self.finding(number, assertion);
        let finding = with_threshold(assertion, finding);
        let message = self.message(assertion, &finding);
        let gates = std::mem::take(&mut self.judge.machine.gates);
        AssertionOutcome { gates, ..finish(number, assertion, finding, message) }
    }

    /// What is found of an assertion; what is known of one that says the same is said of it, too.
    fn finding(&mut self, number: u32, assertion: &'run Assertion) -> Finding {
        let first = self.judge.machine.representative(number);
        if let Some((like, known)) = first.and_then(|first| self.known.get(&first)) {
            let program = self.judge.machine.program;
            return known.moved(&duplicates::regions(program, like), &duplicates::regions(program, assertion));
        }
        self.judge.machine.refuel();
        let finding = self.judge.assertion(assertion).unwrap_or_else(|fault| self.faulted(&fault));
        if let Some(first) = first {
            self.known.insert(first, (assertion, finding.clone()));
        }
        finding
    }

    /// A value that is no boolean is a failure of the assertion that says so; everything else is an error.
    fn faulted(&self, fault: &Fault) -> Finding {
        let verdict = if fault.unfit().is_some() { Verdict::Fail } else { Verdict::Error };
        let explanation = self.judge.machine.explain_fault(fault);
        Finding { evidence: explanation.evidence, ..Finding::new(verdict, explanation.reason) }
    }

    /// The author's message for what does not pass. Missing values in it are said in words.
    fn message(&mut self, assertion: &Assertion, finding: &Finding) -> Option<String> {
        let code = assertion.settings.message?;
        if matches!(finding.verdict, Verdict::Pass | Verdict::Skipped) && assertion.settings.expect_fail.is_none() {
            return None;
        }
        let machine = &mut self.judge.machine;
        machine.refuel();
        machine.lenient = true;
        // Behind `each` and `no` it may speak of the step that does not hold.
        let step = finding.evidence.iter().find_map(|evidence| evidence.step);
        let step = step.and_then(|step| machine.run.steps.get(step as usize));
        let scope = step.map_or_else(ExpressionScope::default, ExpressionScope::of_step);
        let node = machine.evaluate(code, &scope);
        machine.lenient = false;
        Some(machine.message_text(&node.ok()?.value))
    }
}

/// A threshold behind a single assertion: its score has to reach it.
fn with_threshold(assertion: &Assertion, mut finding: Finding) -> Finding {
    let Some(threshold) = assertion.settings.threshold else { return finding };
    let score = finding.score.or_else(|| score::of_verdict(finding.verdict));
    if let (Verdict::Pass, Some(score)) = (finding.verdict, score)
        && score < threshold
    {
        finding.verdict = Verdict::Fail;
        finding.score = Some(score);
        finding.reason = format!("the score {score} is below the threshold {threshold}");
    }
    finding
}

/// The outcome of a finding: its status and the score that counts.
pub(super) fn finish(
    number: u32,
    assertion: &Assertion,
    finding: Finding,
    message: Option<String>,
) -> AssertionOutcome {
    let Finding { verdict, score, reason, evidence, violations, unjudged, by_missing, remark, .. } = finding;
    let status = Status::of(verdict, assertion.settings.expect_fail.is_some());
    let counted = score::counted(status, score.or_else(|| score::of_verdict(verdict)));
    let reason = match (status, &assertion.settings.expect_fail) {
        (Status::UnexpectedPassed, Some(Some(why))) => format!("it passes, but a failure is expected: {why}"),
        (Status::UnexpectedPassed, _) => "it passes, but a failure is expected".to_owned(),
        _ => reason,
    };
    let violations = if verdict == Verdict::Fail { violations.several() } else { Violations::default() };
    let unjudged = unjudged.filter(|_| status == Status::Passed);
    AssertionOutcome {
        assertion: number,
        verdict,
        status,
        score: counted,
        reason,
        message,
        evidence,
        violations,
        unjudged,
        by_missing,
        gates: BTreeSet::new(),
        remark,
    }
}
