//! From where a statement stands to its verdict: what is unknown in all answers, what is vacuous, what a longer run could change.

use super::by_missing;
use super::closed::{self, Decided};
use super::explain;
use super::monitor::{EventSelection, Judged, Monitor, PlayedMatches, Presence, Why, play};
use super::plan::Kinds;
use super::statements::{Exercise, Exercised, Statement};
use super::twins;
use super::unjudged;
use super::view::{Mode, View};
use crate::ir::Within;
use crate::vm::fault::Fault;
use crate::vm::outcome::Finding;
use averment_base::truth::Verdict;
use averment_runs::run::Kind;
use smallvec::SmallVec;

/// Judges a statement on its window. `opened_by` are the kinds of steps that opened the windows around it.
pub(super) fn judge(
    view: &mut View<'_, '_>,
    statement: &Statement,
    selected: &[EventSelection],
    opened_by: Option<Kinds>,
) -> Result<Finding, Fault> {
    let ordered = statement.ordered || opened_by.is_some();
    if let Some(finding) = out_of_reach(view, ordered, CallRelation::of(statement), selected, opened_by) {
        return Ok(finding);
    }
    view.check_faults()?;
    let outcome = outcomes(view, statement, selected)?;
    conclude(view, statement, selected, outcome)
}

/// How a statement stands over all answers to what is unknown, and whether it then passes whatever a longer run brings.
pub(super) fn stands(
    view: &mut View<'_, '_>,
    statement: &Statement,
    selected: &[EventSelection],
) -> Result<(Judged, bool), Fault> {
    let outcome = outcomes(view, statement, selected)?;
    let pessimistic = outcome.pessimistic();
    Ok((outcome.optimistic().or(pessimistic), pessimistic.passed_for_good))
}

fn outcomes<'run>(
    view: &mut View<'_, 'run>,
    statement: &Statement,
    selected: &[EventSelection],
) -> Result<ReplicaOutcomes<'run>, Fault> {
    if let Some((decided, seen)) = closed::decide(view, statement, selected)? {
        let judged = decided.judged;
        let best = Speaker::Closed(decided);
        return Ok(ReplicaOutcomes { best: (judged, best), worst: None, seen });
    }
    let (mut best, seen) = replica(view, statement, selected, Mode::Optimistic)?;
    let optimistic = best.judge(view)?;
    let worst = if !view.unknown || best.sees_all_answers() {
        None
    } else {
        let (mut worst, _) = replica(view, statement, selected, Mode::Pessimistic)?;
        Some((worst.judge(view)?, Speaker::Played(worst)))
    };
    let best = (optimistic, Speaker::Played(best));
    Ok(ReplicaOutcomes { best, worst, seen })
}

type Boxed<'run> = Box<dyn Monitor<'run> + 'run>;

/// A monitor after it has seen the window.
fn replica<'run>(
    view: &mut View<'_, 'run>,
    statement: &Statement,
    selected: &[EventSelection],
    mode: Mode,
) -> Result<(Boxed<'run>, PlayedMatches), Fault> {
    view.mode = mode;
    let mut monitor = statement.meaning.monitor(view)?;
    let seen = play(monitor.as_mut(), view, selected)?;
    Ok((monitor, seen))
}

/// Who says why a statement stands as it does.
enum Speaker<'run> {
    Played(Boxed<'run>),
    Closed(Decided),
}

impl<'run> Speaker<'run> {
    /// Why it fails, where it does.
    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        match self {
            Self::Played(monitor) => monitor.explain(view),
            Self::Closed(decided) => decided.explain(view),
        }
    }

    /// Why it holds.
    fn prove(&self, view: &mut View<'_, 'run>) -> Why {
        match self {
            Self::Played(monitor) => monitor.prove(view),
            Self::Closed(_) => explain::holds(view),
        }
    }
}

/// What is said of a statement under the most and under the least favourable answers to what is unknown.
struct ReplicaOutcomes<'run> {
    best: (Judged, Speaker<'run>),
    /// None where one replica speaks for all answers.
    worst: Option<(Judged, Speaker<'run>)>,
    seen: PlayedMatches,
}

impl<'run> ReplicaOutcomes<'run> {
    fn optimistic(&self) -> Judged {
        self.best.0
    }

    fn pessimistic(&self) -> Judged {
        self.worst.as_ref().map_or(self.best.0, |(judged, _)| *judged)
    }

    /// Who speaks for what is there whatever the answers are.
    fn least(&self) -> &Speaker<'run> {
        self.worst.as_ref().map_or(&self.best.1, |(_, speaker)| speaker)
    }
}

/// What comes of where a statement stands, when nothing can be added to its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conclusion {
    Fail,
    Pass,
    Vacuous,
    /// It depends on what is not known.
    Unknown,
    /// Its window never closes.
    Hangs,
}

impl Conclusion {
    /// The verdict.
    pub(super) fn verdict(self) -> Verdict {
        match self {
            Self::Fail => Verdict::Fail,
            Self::Pass => Verdict::Pass,
            Self::Vacuous => Verdict::Vacuous,
            Self::Unknown | Self::Hangs => Verdict::Undecided,
        }
    }
}

/// The one way from where a statement stands, under any answers to what is unknown, to what comes of it. `exercised` is asked of a
/// statement that holds.
///
/// # Errors
/// What `exercised` ends with.
pub(super) fn conclusion<E>(stands: Judged, exercised: impl FnOnce() -> Result<Exercised, E>) -> Result<Conclusion, E> {
    if stands.may_fail {
        return Ok(if stands.may_hold || stands.may_hang { Conclusion::Unknown } else { Conclusion::Fail });
    }
    if stands.may_hang {
        return Ok(Conclusion::Hangs);
    }
    Ok(match exercised()? {
        Exercised { may_be_vacuous: false, .. } => Conclusion::Pass,
        Exercised { may_pass: false, .. } => Conclusion::Vacuous,
        _ => Conclusion::Unknown,
    })
}

/// How a statement relates its steps to the calls of the run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallRelation {
    /// It speaks of the call list.
    pub(super) listed: bool,
    /// Its bound counts calls.
    pub(super) counted: bool,
}

impl CallRelation {
    /// That of a statement.
    pub(super) fn of(statement: &Statement) -> Self {
        Self { listed: statement.calls, counted: matches!(statement.within, Some(Within::Calls(_))) }
    }
}

/// What the run does not record, or does not order.
pub(super) fn out_of_reach(
    view: &View<'_, '_>,
    ordered: bool,
    calls: CallRelation,
    selected: &[EventSelection],
    opened_by: Option<Kinds>,
) -> Option<Finding> {
    let run = view.machine.run;
    let mut wanted = Kinds::default();
    view.operands
        .iter()
        .filter_map(|operand| view.plan.unique_pattern(operand.unique))
        .for_each(|unique| wanted.join(unique.kinds));
    if calls.listed {
        wanted.add(Kind::Call);
    }
    if let Some(absent) = wanted.iter().find(|kind| !run.records(*kind)) {
        return Some(Finding::new(Verdict::Undecided, explain::absent_kind(view, absent)));
    }
    if !ordered {
        return None;
    }
    let mut seen = opened_by.unwrap_or_default();
    if opened_by.is_some() {
        // Without an order nobody knows which steps are in the window.
        let matches = view.operands.iter().filter_map(|operand| view.timeline.of(operand.unique));
        matches.for_each(|matches| seen.join(matches.kinds));
    }
    selected.iter().for_each(|selection| seen.join(selection.kinds(view.timeline, run.steps)));
    if relates_to_calls(view, calls, selected, opened_by.is_some()) {
        seen.add(Kind::Call);
    }
    let pairs = seen.iter().flat_map(|a| seen.iter().map(move |b| (a, b)));
    let mut unordered = pairs.filter(|(a, b)| !run.ordered(*a, *b));
    unordered.next().map(|(a, b)| Finding::new(Verdict::Undecided, explain::unordered(a, b)))
}

/// Whether the place of steps among the calls matters. A bound compares steps of two patterns.
fn relates_to_calls(view: &View<'_, '_>, calls: CallRelation, selected: &[EventSelection], in_window: bool) -> bool {
    if calls.listed && !super::all_calls(view.timeline, view.plan, view.operands).is_empty() {
        return true;
    }
    let occurs = |operand: usize, selection: &EventSelection| match view.operands.get(operand) {
        Some(operand) if in_window => {
            view.timeline.of(operand.unique).is_some_and(|matches| !matches.events.is_empty())
        }
        _ => selection.events(view.timeline).next().is_some(),
    };
    calls.counted
        && !view.timeline.calls(false).is_empty()
        && selected.iter().enumerate().filter(|(operand, selection)| occurs(*operand, selection)).count() > 1
}

fn conclude<'run>(
    view: &mut View<'_, 'run>,
    statement: &Statement,
    selected: &[EventSelection],
    outcome: ReplicaOutcomes<'run>,
) -> Result<Finding, Fault> {
    if !view.context.window.closed {
        return unfinished(view, statement, selected, outcome);
    }
    let stands = outcome.optimistic().or(outcome.pessimistic());
    let mut missing = None;
    let conclusion = conclusion(stands, || {
        let (exercised, by_missing) = exercised(view, statement, selected, &outcome)?;
        missing = by_missing;
        Ok::<_, Fault>(exercised)
    })?;
    let unproved = match conclusion {
        // Behind `not` that is what is wanted.
        Conclusion::Fail if view.context.proves_passes => {
            by_missing::fails_by_missing(view, statement, selected, stands, &outcome.seen)?
        }
        _ => None,
    };
    if !view.context.explains {
        let opposite = unproved.map(|_| Verdict::Vacuous);
        return Ok(Finding { opposite, ..Finding::new(conclusion.verdict(), "") });
    }
    if let Some(why) = unproved {
        return Ok(Finding { opposite: Some(Verdict::Vacuous), ..finding(Verdict::Fail, why) });
    }
    if conclusion != Conclusion::Fail {
        view.listed = 0;
    }
    Ok(match conclusion {
        Conclusion::Fail => {
            let failed = finding(Verdict::Fail, outcome.best.1.explain(view));
            // Behind `not` that is what is wanted.
            let proved = view.context.proves_passes;
            Finding { unjudged: if proved { unjudged::of(view, statement, stands, false)? } else { None }, ..failed }
        }
        Conclusion::Pass => {
            let unjudged = unjudged::of(view, statement, stands, true)?;
            Finding { unjudged, remark: twins::remark(view), ..pass(view, &outcome) }
        }
        Conclusion::Vacuous => {
            let remark = twins::remark(view);
            Finding { remark, ..finding(Verdict::Vacuous, vacuous(view, statement, missing)) }
        }
        Conclusion::Unknown => unknown(view, stands, &outcome),
        Conclusion::Hangs => finding(Verdict::Undecided, outcome.least().explain(view)),
    })
}

/// Of an unfinished run only what no longer one can change is said.
fn unfinished<'run>(
    view: &mut View<'_, 'run>,
    statement: &Statement,
    selected: &[EventSelection],
    outcome: ReplicaOutcomes<'run>,
) -> Result<Finding, Fault> {
    let optimistic = outcome.optimistic();
    if optimistic.failed_for_good {
        let stands = optimistic.or(outcome.pessimistic());
        if view.context.proves_passes && !by_missing::proves_for_good(view, statement, stands)? {
            let open = explain::open(view, Why::default());
            return Ok(Finding { opposite: Some(Verdict::Undecided), ..finding(Verdict::Fail, open) });
        }
        return Ok(finding(Verdict::Fail, outcome.best.1.explain(view)));
    }
    if outcome.pessimistic().passed_for_good && !exercised(view, statement, selected, &outcome)?.0.may_be_vacuous {
        let unjudged = unjudged::of(view, statement, optimistic, true)?;
        return Ok(Finding { unjudged, ..pass(view, &outcome) });
    }
    view.listed = 0;
    let fails = optimistic.may_fail && !optimistic.may_hold;
    let so_far = if fails { outcome.best.1.explain(view) } else { Why::default() };
    Ok(finding(Verdict::Undecided, explain::open(view, so_far)))
}

/// A pass, with its proof where that is wanted.
fn pass<'run>(view: &mut View<'_, 'run>, outcome: &ReplicaOutcomes<'run>) -> Finding {
    if !view.context.proves_passes {
        return Finding::new(Verdict::Pass, "");
    }
    finding(Verdict::Pass, outcome.least().prove(view))
}

fn finding(verdict: Verdict, why: Why) -> Finding {
    Finding { evidence: why.evidence, violations: why.violations, ..Finding::new(verdict, why.reason) }
}

/// The answers differ.
fn unknown<'run>(view: &mut View<'_, 'run>, stands: Judged, outcome: &ReplicaOutcomes<'run>) -> Finding {
    let fails = if stands.may_fail { outcome.least().explain(view) } else { Why::default() };
    finding(Verdict::Undecided, explain::unknown(view, outcome.seen.unknown.as_ref(), fails))
}

fn vacuous(view: &mut View<'_, '_>, statement: &Statement, missing: Option<usize>) -> Why {
    match (missing, &statement.exercise) {
        (Some(operand), _) => explain::by_missing(view, operand),
        (None, Exercise::Calls) => explain::no_calls(view),
        (None, Exercise::AnyOf(range)) => {
            let absent: SmallVec<[usize; 2]> = range.clone().collect();
            explain::not_exercised(view, &absent)
        }
        (None, Exercise::AllOf(range)) => {
            let is_absent = |operand: &usize| view.first_hit(*operand).is_none();
            let absent: SmallVec<[usize; 2]> = range.clone().filter(is_absent).collect();
            explain::not_exercised(view, &absent)
        }
        (None, Exercise::Always | Exercise::Own) => explain::why(statement.meaning.vacuous(view), Vec::new()),
    }
}

/// Whether a statement that holds was exercised; and a pattern all of whose candidates were decided by something missing.
fn exercised(
    view: &mut View<'_, '_>,
    statement: &Statement,
    selected: &[EventSelection],
    outcome: &ReplicaOutcomes<'_>,
) -> Result<(Exercised, Option<usize>), Fault> {
    let operands = &outcome.seen.operands;
    let own = outcome
        .optimistic()
        .exercised
        .map(|best| Exercised { may_pass: outcome.pessimistic().exercised.is_none_or(|worst| worst.may_pass), ..best });
    let occurs = |operand: usize| operands.get(operand).copied().unwrap_or_default();
    let exercised = statement.exercise.of(occurs, view.calls.is_empty(), own);
    let mut missing_alone = Vec::new();
    for operand in 0..view.operands.len() {
        if by_missing::is_by_missing(view, operand, selected)? {
            missing_alone.push(operand);
        }
    }
    let Some(&first) = missing_alone.first() else { return Ok((exercised, None)) };
    if !statement.either {
        return Ok((Exercised { may_be_vacuous: true, may_pass: false }, Some(first)));
    }
    // `either` is vacuous when all that occurs in it occurs by missing values.
    let others =
        operands.iter().enumerate().filter(|(operand, _)| !missing_alone.contains(operand)).map(|(_, seen)| *seen);
    let Presence { sure, possible } = others.fold(Presence::default(), |all, seen| Presence {
        sure: all.sure || seen.sure,
        possible: all.possible || seen.possible,
    });
    let occurs = |operand: &&usize| operands.get(**operand).is_some_and(|seen| seen.possible);
    let missing = missing_alone.iter().find(occurs).copied();
    Ok((Exercised { may_be_vacuous: !sure, may_pass: possible }, missing))
}
