//! The assertion loop: every selected assertion of a program on one run, with its settings, then rules and scores.

use super::context::{ExpressionScope, LISTED};
use super::fault::Fault;
use super::judge::RunJudge;
use super::machine::Machine;
use super::outcome::{AssertionOutcome, CheckFinding, MemberGate, RunOutcome, Status, ViolationList};
use super::prepare::PreparedProgram;
use super::score;
use super::select::{self, RuleSelection};
use super::summary;
use super::temporal::duplicates;
use super::why::check_parts;
use super::why::coverage::CoverageRecord;
use super::why::derivation::Derivation;
use super::why::profile::CostCenter;
use super::why::recording::DerivationRecording;
use super::world::Permissions;
use crate::bytecode::program::{CompiledAssertion, Program};
use averment_base::limits::Limits;
use averment_base::source::Span;
use averment_base::truth::Verdict;
use averment_runs::run::Run;
use bumpalo::Bump;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Options for judging a run.
#[derive(Debug, Clone, Default)]
pub struct EvaluateOptions {
    /// Which assertions.
    pub selection: RuleSelection,
    /// What rules may access beside the run.
    pub permissions: Permissions,
    /// Limits of each assertion (fuel) and of the whole (memory).
    pub limits: Limits,
    /// A case judges a run that says neither its case nor its prompt, as in a `test` that names the case.
    pub assume_case: bool,
    /// Violations listed per failure; default [`LISTED`]. With 0 they are not counted, either.
    pub violations: Option<usize>,
    /// Whether every match of every statement is played, and every assertion judged by itself, also where a shorter way says the same. Tests
    /// compare both.
    pub plays_all: bool,
}

/// Judges one run. `arena` holds what is computed on the way; it can be the one that the run was read into.
#[must_use]
pub fn evaluate<'run>(
    program: &'run Program,
    prepared: &'run PreparedProgram,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
) -> RunOutcome {
    judge_run(program, prepared, run, arena, options, None).0
}

/// Judges one run and tells what the evaluation went through.
#[must_use]
pub fn evaluate_with_coverage<'run>(
    program: &'run Program,
    prepared: &'run PreparedProgram,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
) -> (RunOutcome, CoverageRecord) {
    let (outcome, seen) = judge_run(program, prepared, run, arena, options, Some(Box::default()));
    (outcome, seen.unwrap_or_default())
}

fn judge_run<'run>(
    program: &'run Program,
    prepared: &'run PreparedProgram,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
    seen: Option<Box<CoverageRecord>>,
) -> (RunOutcome, Option<CoverageRecord>) {
    let mut machine = Machine::new(program, prepared, run, arena, options.limits);
    machine.observer.look.coverage = seen;
    let mut evaluation = RunEvaluation::new(machine, options);
    let mut results = Vec::with_capacity(program.assertions.len());
    for (number, assertion) in program.assertions.iter().enumerate() {
        if let Ok(number) = u32::try_from(number)
            && options.selection.is_judged(program, number, assertion)
        {
            results.push(evaluation.judge_assertion(number, assertion));
        }
    }
    (summary::summarize_run(program, results), evaluation.judge.into_coverage())
}

/// Judges the run of a machine by some assertions of its program, which stand in file order.
#[must_use]
pub fn evaluate_some(machine: Machine<'_>, options: &EvaluateOptions, wanted: &[u32]) -> Vec<AssertionOutcome> {
    let program = machine.program;
    let mut evaluation = RunEvaluation::new(machine, options);
    let all = wanted.iter().filter_map(|number| Some((*number, program.assertions.get(*number as usize)?)));
    all.map(|(number, assertion)| evaluation.judge_assertion(number, assertion)).collect()
}

/// The verdict of an assertion that is one statement, without its reason; `None` for a number that no assertion has.
#[must_use]
pub fn verdict_of(machine: Machine<'_>, options: &EvaluateOptions, number: u32) -> Option<Verdict> {
    let assertion = machine.program.assertions.get(number as usize)?;
    let mut evaluation = RunEvaluation::new(machine, options);
    evaluation.judge.explains = false;
    Some(evaluation.judge_assertion(number, assertion).verdict)
}

/// Judges assertions of one run one after the other.
pub struct VerdictEvaluator<'run, 'a>(RunEvaluation<'run, 'a>);

impl<'run, 'a> VerdictEvaluator<'run, 'a> {
    /// None judged yet.
    #[must_use]
    pub fn new(machine: Machine<'run>, options: &'a EvaluateOptions) -> Self {
        let mut evaluation = RunEvaluation::new(machine, options);
        (evaluation.judge.tells_failures, evaluation.judge.listed) = (false, 0);
        Self(evaluation)
    }

    /// The verdict of an assertion; `None` where more is to be said of it that reasons do not say: a step that it could not judge, a remark.
    pub fn plain_verdict(&mut self, number: u32) -> Option<Verdict> {
        let assertion = self.0.judge.machine.program.assertions.get(number as usize)?;
        let outcome = self.0.judge_assertion(number, assertion);
        let own = score::counted_score(outcome.status, score::of_verdict(outcome.verdict));
        let plain = outcome.unjudged.is_none() && outcome.remark.is_none() && outcome.gates.is_empty();
        (plain && outcome.score == own).then_some(outcome.verdict)
    }
}

/// The verdicts of some assertions on a run by what they assert alone, whatever their `when` says; `None` for a fault.
#[must_use]
pub fn verdicts_of_checks<'run>(
    program: &'run Program,
    prepared: &'run PreparedProgram,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
    wanted: &[u32],
) -> Vec<Option<Verdict>> {
    let mut judge = RunJudge::new(Machine::new(program, prepared, run, arena, options.limits), &options.permissions);
    let verdict = |number: &u32| {
        judge.machine.refuel();
        judge.judge_check(program.assertions.get(*number as usize)?).ok().map(|finding| finding.verdict)
    };
    wanted.iter().map(verdict).collect()
}

/// The outcome of a run from the outcomes of its selected assertions, in file order: its rules and scores.
#[must_use]
pub fn combine_outcomes(program: &Program, results: Vec<AssertionOutcome>) -> RunOutcome {
    summary::summarize_run(program, results)
}

/// The outcome of an assertion whose verdict is known, without a reason.
#[must_use]
pub fn known_outcome(program: &Program, number: u32, verdict: Verdict) -> Option<AssertionOutcome> {
    Some(finish_assertion(number, program.assertions.get(number as usize)?, CheckFinding::new(verdict, ""), None))
}

/// Judges one run as [`evaluate`] does, and derives for every selected assertion how it came to its verdict.
#[must_use]
pub fn derive_run<'run>(
    program: &'run Program,
    prepared: &'run PreparedProgram,
    run: &'run Run<'run>,
    arena: &'run Bump,
    options: &EvaluateOptions,
) -> (RunOutcome, Vec<Derivation>) {
    let machine = Machine::new(program, prepared, run, arena, options.limits);
    let mut evaluation = RunEvaluation::new(machine, options);
    let mut derivations = Vec::new();
    for (number, assertion) in (0..).zip(&program.assertions) {
        if options.selection.is_judged(program, number, assertion) {
            let names = check_parts::binding_names(program, &assertion.check);
            evaluation.judge.machine.observer.recording = DerivationRecording::new(names);
            let outcome = evaluation.judge_assertion(number, assertion);
            let (parts, cut) = std::mem::take(&mut evaluation.judge.machine.observer.recording).into_parts();
            derivations.push(Derivation { outcome, parts, cut });
        }
    }
    let results = derivations.iter().map(|derivation| derivation.outcome.clone()).collect();
    (summary::summarize_run(program, results), derivations)
}

struct RunEvaluation<'run, 'a> {
    judge: RunJudge<'run, 'a>,
    options: &'a EvaluateOptions,
    known: FxHashMap<u32, (&'run CompiledAssertion, CheckFinding, BTreeSet<MemberGate>)>,
}

impl<'run, 'a> RunEvaluation<'run, 'a> {
    fn new(mut machine: Machine<'run>, options: &'a EvaluateOptions) -> Self {
        machine.plays_all = options.plays_all;
        let listed = options.violations.unwrap_or(LISTED);
        let mut judge = RunJudge::new(machine, &options.permissions);
        judge.listed = listed;
        Self { judge, options, known: FxHashMap::default() }
    }

    fn judge_assertion(&mut self, number: u32, assertion: &'run CompiledAssertion) -> AssertionOutcome {
        self.judge.machine.begin_cost(CostCenter::Assertion(number));
        let outcome = self.outcome(number, assertion);
        self.judge.machine.end_cost();
        outcome
    }

    fn outcome(&mut self, number: u32, assertion: &'run CompiledAssertion) -> AssertionOutcome {
        let run = self.judge.machine.run;
        let program = self.judge.machine.program;
        let rule = assertion.rule.and_then(|rule| program.rules.get(rule as usize));
        if let Some(reason) = rule.and_then(|rule| select::other_case_reason(rule, run, self.options.assume_case)) {
            return finish_assertion(number, assertion, CheckFinding::new(Verdict::Skipped, reason), None);
        }
        let finding = self.find_or_reuse(number, assertion);
        let finding = with_threshold(assertion, finding);
        let message = self.author_message(assertion, &finding);
        let gates = std::mem::take(&mut self.judge.machine.observer.gates);
        AssertionOutcome { gates, ..finish_assertion(number, assertion, finding, message) }
    }

    fn find_or_reuse(&mut self, number: u32, assertion: &'run CompiledAssertion) -> CheckFinding {
        let first = self.judge.machine.representative(number);
        if let Some((like, known, gates)) = first.and_then(|first| self.known.get(&first)) {
            let program = self.judge.machine.program;
            let from = duplicates::assertion_regions(program, like);
            let to = duplicates::assertion_regions(program, assertion);
            self.judge.machine.observer.gates = gates.iter().map(|gate| move_gate(*gate, &from, &to)).collect();
            return move_finding(known, &from, &to);
        }
        self.judge.machine.refuel();
        let finding = self.judge.judge_assertion(assertion).unwrap_or_else(|fault| self.fault_finding(&fault));
        if let Some(first) = first {
            self.known.insert(first, (assertion, finding.clone(), self.judge.machine.observer.gates.clone()));
        }
        finding
    }

    /// A non-boolean value fails the assertion; any other fault is an error.
    fn fault_finding(&self, fault: &Fault) -> CheckFinding {
        let verdict = if fault.unfit_value().is_some() { Verdict::Fail } else { Verdict::Error };
        let explanation = self.judge.machine.explain_fault(fault);
        CheckFinding { evidence: explanation.evidence, ..CheckFinding::new(verdict, explanation.reason) }
    }

    /// The author's message for a verdict other than pass; missing values become words.
    fn author_message(&mut self, assertion: &CompiledAssertion, finding: &CheckFinding) -> Option<String> {
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
        let node = machine.evaluate_code(code, &scope);
        machine.lenient = false;
        Some(machine.message_text(&node.ok()?.value))
    }
}

fn with_threshold(assertion: &CompiledAssertion, mut finding: CheckFinding) -> CheckFinding {
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

pub(super) fn finish_assertion(
    number: u32,
    assertion: &CompiledAssertion,
    finding: CheckFinding,
    message: Option<String>,
) -> AssertionOutcome {
    let because = finding.undecided_cause();
    let CheckFinding { verdict, score, reason, evidence, violations, unjudged, by_missing, remark, .. } = finding;
    let status = Status::of_verdict(verdict, assertion.settings.expect_fail.is_some());
    let counted = score::counted_score(status, score.or_else(|| score::of_verdict(verdict)));
    let reason = match (status, &assertion.settings.expect_fail) {
        (Status::UnexpectedPassed, Some(Some(why))) => format!("it passes, but a failure is expected: {why}"),
        (Status::UnexpectedPassed, _) => "it passes, but a failure is expected".to_owned(),
        _ => reason,
    };
    let violations = if verdict == Verdict::Fail { violations.if_several() } else { ViolationList::default() };
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
        because,
    }
}

/// The gate of a duplicate assertion; `from` and `to` are the places of the two.
fn move_gate(gate: MemberGate, from: &[Span], to: &[Span]) -> MemberGate {
    let moved = |span| duplicates::move_span(span, from, to);
    MemberGate { member: moved(gate.member), when: moved(gate.when), ..gate }
}

/// The finding of a duplicate assertion; `from` and `to` are the places of the two.
fn move_finding(known: &CheckFinding, from: &[Span], to: &[Span]) -> CheckFinding {
    let mut finding = known.clone();
    let of_violations = finding.violations.listed.iter_mut().flat_map(|violation| &mut violation.evidence);
    let spans = finding.evidence.iter_mut().chain(of_violations).filter_map(|one| one.rule_span.as_mut());
    spans.for_each(|span| *span = duplicates::move_span(*span, from, to));
    finding
}
