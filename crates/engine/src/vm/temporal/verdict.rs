//! From where a statement stands to its verdict: what is unknown in all answers, what is vacuous, what a longer run could change.

use super::by_missing;
use super::decision::Decision;
use super::explain;
use super::near_values;
use super::plan::StepKindSet;
use super::search::open_search;
use super::statements::{ExerciseRule, StatementDefinition};
use super::timeline::{Env, Timeline};
use super::unjudged_steps;
use super::unrecorded_roles;
use super::view::WindowView;
use super::window_events::{EventSelection, KnownPresence, PossibleOutcomes, SeenPatterns, VerdictReason};
use crate::vm::fault::Fault;
use crate::vm::outcome::{CheckFinding, UndecidedCause, UnjudgedRecord};
use averment_base::truth::Verdict;
use averment_checker::ir::StepDistance;
use averment_runs::run::StepKind;
use smallvec::SmallVec;

/// `opened_by` are the kinds of steps that opened the enclosing windows.
pub(super) fn judge_window(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    opened_by: Option<StepKindSet>,
) -> Result<CheckFinding, Fault> {
    if let Some(finding) = out_of_reach(view, opened_by) {
        return Ok(finding);
    }
    view.check_faults()?;
    if !view.machine.run.complete && (statement.looks_at_course || view.looks_at_course()) {
        // What a step was asked about the whole run is never answered for good.
        return Ok(CheckFinding::open_finding(explain::not_complete(view.machine.run)));
    }
    let outcome = decide_statement(view, statement)?;
    let finding = conclude_finding(view, statement, &outcome)?;
    let score = outcome.decision.score.filter(|_| matches!(finding.verdict, Verdict::Pass | Verdict::Fail));
    Ok(unrecorded_roles::doubt_finding(view, CheckFinding { score, ..finding }))
}

/// Where a statement stands on a window, and what was seen of its patterns.
pub(super) struct WindowOutcome {
    pub(super) decision: Decision,
    pub(super) seen: SeenPatterns,
}

pub(super) fn decide_statement(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
) -> Result<WindowOutcome, Fault> {
    let (mut search, seen) = open_search(view, statement)?;
    let decision = statement.meaning.decide(&mut search)?.ok_or_else(crate::vm::fault::broken_program)?;
    Ok(WindowOutcome { decision, seen })
}

/// True if the result could differ on other matches; an undecided one counts as different, and so does what ends the evaluation.
pub(super) fn could_differ<'run>(
    view: &mut WindowView<'_, 'run>,
    statement: &StatementDefinition,
    timeline: Timeline<'run>,
    header: Env,
    doubts_tests: bool,
    holds: bool,
) -> bool {
    let coverage = view.machine.observer.look.coverage.take();
    let select = |operand| super::select_events(&timeline, view.plan, operand, &header, view.context);
    let selected: SmallVec<[EventSelection; 3]> = view.operands.iter().map(select).collect();
    let mut view = WindowView { doubts_tests, ..view.of_matches(&timeline, header, &selected) };
    view.machine.refuel();
    let outcome = decide_statement(&mut view, statement);
    view.machine.refuel();
    view.machine.observer.look.coverage = coverage;
    outcome.map_or(true, |WindowOutcome { decision: Decision { stands, .. }, .. }| match holds {
        false => stands.may_hold,
        true if view.context.window.closed => stands.may_fail || stands.may_hang,
        true => !stands.passed_for_good,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conclusion {
    Fail,
    Pass,
    Vacuous,
    Unknown,
    Hangs,
}

impl Conclusion {
    pub(super) fn verdict(self) -> Verdict {
        match self {
            Self::Fail => Verdict::Fail,
            Self::Pass => Verdict::Pass,
            Self::Vacuous => Verdict::Vacuous,
            Self::Unknown | Self::Hangs => Verdict::Undecided,
        }
    }
}

/// Maps a statement's state to its result; `exercised` is only called if it holds.
pub(super) fn conclude_outcomes<E>(
    stands: PossibleOutcomes,
    exercised: impl FnOnce() -> Result<KnownPresence, E>,
) -> Result<Conclusion, E> {
    if stands.may_fail {
        return Ok(if stands.may_hold || stands.may_hang { Conclusion::Unknown } else { Conclusion::Fail });
    }
    if stands.may_hang {
        return Ok(Conclusion::Hangs);
    }
    Ok(match exercised()? {
        KnownPresence { sure: true, .. } => Conclusion::Pass,
        KnownPresence { possible: false, .. } => Conclusion::Vacuous,
        _ => Conclusion::Unknown,
    })
}

/// Undecided where the run lacks a kind of steps, or does not tell their order where that counts.
pub(super) fn out_of_reach(view: &WindowView<'_, '_>, opened_by: Option<StepKindSet>) -> Option<CheckFinding> {
    let run = view.machine.run;
    let mut wanted = StepKindSet::default();
    let patterns = (0..view.operands.len()).filter_map(|operand| view.unique_pattern(operand));
    patterns.for_each(|unique| wanted.add_all(unique.kinds));
    if view.statement.is_some_and(|statement| statement.calls) {
        wanted.add_kind(StepKind::Call);
    }
    if let Some(absent) = wanted.iter().find(|kind| !run.records_kind(*kind)) {
        return Some(CheckFinding::new(Verdict::Undecided, explain::absent_kind(view, absent)));
    }
    if opened_by.is_none() && !view.statement.is_some_and(|statement| statement.ordered) {
        return None;
    }
    let mut seen = opened_by.unwrap_or_default();
    if opened_by.is_some() {
        // Without an order nobody knows which steps are in the window.
        let matches = (0..view.operands.len()).filter_map(|operand| view.matches_of(operand));
        matches.for_each(|matches| seen.add_all(matches.kinds));
    }
    view.selected.iter().for_each(|selection| seen.add_all(selection.step_kinds(view.timeline, run.steps)));
    if relates_to_calls(view, opened_by.is_some()) {
        seen.add_kind(StepKind::Call);
    }
    let pairs = seen.iter().flat_map(|a| seen.iter().map(move |b| (a, b)));
    let mut unordered = pairs.filter(|(a, b)| !run.is_ordered(*a, *b));
    unordered.next().map(|(a, b)| CheckFinding::new(Verdict::Undecided, explain::unordered_kinds(a, b)))
}

/// True if positions among the calls matter; a bound compares steps of two patterns.
fn relates_to_calls(view: &WindowView<'_, '_>, in_window: bool) -> bool {
    let Some(statement) = view.statement else { return false };
    if statement.calls && !super::all_calls(view.timeline, view.plan, view.operands).is_empty() {
        return true;
    }
    let occurs = |operand: usize, selection: &EventSelection| match view.matches_of(operand) {
        Some(matches) if in_window => !matches.events.is_empty(),
        _ => selection.numbered_events(view.timeline).next().is_some(),
    };
    matches!(statement.within, Some(StepDistance::Calls(_)))
        && !view.timeline.call_list(false).is_empty()
        && view.selected.iter().enumerate().filter(|(operand, selection)| occurs(*operand, selection)).count() > 1
}

fn conclude_finding(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    outcome: &WindowOutcome,
) -> Result<CheckFinding, Fault> {
    if !view.context.window.closed {
        return unfinished_finding(view, statement, outcome);
    }
    let stands = outcome.decision.stands;
    let mut missing = None;
    let conclusion = conclude_outcomes(stands, || {
        let (exercised, by_missing) = exercise_state(view, statement, outcome)?;
        missing = by_missing;
        Ok::<_, Fault>(exercised)
    })?;
    let idle = matches!(conclusion, Conclusion::Pass | Conclusion::Fail)
        && !outcome.seen.operands.iter().any(|seen| seen.possible)
        && view.machine.run.died_at_start();
    if idle && conclusion == Conclusion::Pass {
        return Ok(CheckFinding::new(Verdict::Vacuous, explain::DIED_AT_START));
    }
    let unproved = match conclusion {
        Conclusion::Fail if idle && view.context.proves_passes => {
            Some(explain::reason_with(explain::DIED_AT_START.to_owned(), Vec::new()))
        }
        // Behind `not` that is what is wanted.
        Conclusion::Fail if view.context.proves_passes => {
            by_missing::fails_by_missing(view, statement, stands, &outcome.seen)?
        }
        _ => None,
    };
    if !view.context.explains {
        let opposite = unproved.map(|_| Verdict::Vacuous);
        return Ok(CheckFinding { opposite, ..CheckFinding::new(conclusion.verdict(), "") });
    }
    if let Some(why) = unproved {
        return Ok(CheckFinding { opposite: Some(Verdict::Vacuous), ..new_finding(Verdict::Fail, why) });
    }
    if conclusion != Conclusion::Fail {
        view.listed = 0;
    }
    Ok(match conclusion {
        Conclusion::Fail => {
            let tells = view.context.tells_failures;
            let why = if tells { outcome.decision.explain_failure(view) } else { VerdictReason::default() };
            let failed = new_finding(Verdict::Fail, why);
            // Behind `not` that is what is wanted.
            let proved = view.context.proves_passes;
            CheckFinding { unjudged: if proved { unjudged(view, statement, stands, false)? } else { None }, ..failed }
        }
        Conclusion::Pass => {
            let unjudged = unjudged(view, statement, stands, true)?;
            let remark = if unjudged.is_some() { None } else { near_values::near_words(view, 1) };
            CheckFinding { unjudged, remark, ..pass_finding(view, outcome) }
        }
        Conclusion::Vacuous => {
            let remark = near_values::near_words(view, 1);
            CheckFinding { remark, ..new_finding(Verdict::Vacuous, vacuous_reason(view, statement, missing)) }
        }
        Conclusion::Unknown => unknown_finding(view, stands, outcome),
        Conclusion::Hangs => {
            let because = Some(UndecidedCause::Open);
            CheckFinding { because, ..new_finding(Verdict::Undecided, outcome.decision.explain_failure(view)) }
        }
    })
}

/// Steps that something missing decided, and those whose values are only nearly those of others.
fn unjudged(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    stands: PossibleOutcomes,
    holds: bool,
) -> Result<Option<Box<UnjudgedRecord>>, Fault> {
    let missing = unjudged_steps::unjudged_steps(view, statement, stands, holds)?;
    let near = near_values::unjudged_values(view, statement, holds)?;
    Ok(UnjudgedRecord::join_parts([missing, near]))
}

/// In an unfinished run, reports only what no longer run can change.
fn unfinished_finding(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    outcome: &WindowOutcome,
) -> Result<CheckFinding, Fault> {
    let stands = outcome.decision.stands;
    if stands.failed_for_good {
        if view.context.proves_passes && !by_missing::proves_for_good(view, statement, stands)? {
            let open = explain::open_reason(view, VerdictReason::default());
            return Ok(CheckFinding { opposite: Some(Verdict::Undecided), ..new_finding(Verdict::Fail, open) });
        }
        return Ok(new_finding(Verdict::Fail, outcome.decision.explain_failure(view)));
    }
    if stands.passed_for_good && exercise_state(view, statement, outcome)?.0.sure {
        let unjudged = unjudged(view, statement, stands, true)?;
        return Ok(CheckFinding { unjudged, ..pass_finding(view, outcome) });
    }
    view.listed = 0;
    let fails = stands.may_fail && !stands.may_hold && !stands.may_hang;
    let so_far = if fails { outcome.decision.explain_failure(view) } else { VerdictReason::default() };
    let because = Some(if fails { UndecidedCause::Owed } else { UndecidedCause::Open });
    Ok(CheckFinding { because, ..new_finding(Verdict::Undecided, explain::open_reason(view, so_far)) })
}

fn pass_finding(view: &mut WindowView<'_, '_>, outcome: &WindowOutcome) -> CheckFinding {
    if !view.context.proves_passes {
        return CheckFinding::new(Verdict::Pass, "");
    }
    new_finding(Verdict::Pass, outcome.decision.explain_pass(view))
}

fn new_finding(verdict: Verdict, why: VerdictReason) -> CheckFinding {
    CheckFinding { evidence: why.evidence, violations: why.violations, ..CheckFinding::new(verdict, why.reason) }
}

fn unknown_finding(view: &mut WindowView<'_, '_>, stands: PossibleOutcomes, outcome: &WindowOutcome) -> CheckFinding {
    let fails = if stands.may_fail { outcome.decision.explain_failure(view) } else { VerdictReason::default() };
    new_finding(Verdict::Undecided, explain::unknown_reason(view, outcome.seen.unknown.as_ref(), fails))
}

fn vacuous_reason(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    missing: Option<usize>,
) -> VerdictReason {
    match (missing, &statement.exercise) {
        (Some(operand), _) => explain::by_missing(view, operand),
        (None, ExerciseRule::Calls) => explain::no_calls(view),
        (None, ExerciseRule::AnyOf(range)) if range.clone().all(|operand| view.first_hit(operand).is_none()) => {
            let absent: SmallVec<[usize; 2]> = range.clone().collect();
            explain::not_exercised(view, &absent)
        }
        (None, ExerciseRule::AllOf(range)) => {
            let is_absent = |operand: &usize| view.first_hit(*operand).is_none();
            let absent: SmallVec<[usize; 2]> = range.clone().filter(is_absent).collect();
            explain::not_exercised(view, &absent)
        }
        (None, ExerciseRule::Always | ExerciseRule::Own | ExerciseRule::AnyOf(_)) => {
            explain::reason_with(statement.meaning.vacuous_reason(view), Vec::new())
        }
    }
}

fn exercise_state(
    view: &mut WindowView<'_, '_>,
    statement: &StatementDefinition,
    outcome: &WindowOutcome,
) -> Result<(KnownPresence, Option<usize>), Fault> {
    let operands = &outcome.seen.operands;
    let own = outcome.decision.stands.exercised;
    let exercised = statement.exercise.exercise_state(operands, view.calls.is_empty(), own);
    let mut missing_alone = Vec::new();
    for operand in 0..view.operands.len() {
        if by_missing::is_by_missing(view, operand)? {
            missing_alone.push(operand);
        }
    }
    let Some(&first) = missing_alone.first() else { return Ok((exercised, None)) };
    if !statement.either {
        return Ok((KnownPresence::of(false), Some(first)));
    }
    // `either` is vacuous when all that occurs in it occurs by missing values.
    let others =
        operands.iter().enumerate().filter(|(operand, _)| !missing_alone.contains(operand)).map(|(_, seen)| *seen);
    let others = others.fold(KnownPresence::of(false), KnownPresence::or);
    let occurs = |operand: &&usize| operands.get(**operand).is_some_and(|seen| seen.possible);
    let missing = missing_alone.iter().find(occurs).copied();
    Ok((others, missing))
}
