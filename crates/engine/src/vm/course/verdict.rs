//! From where a statement stands to its verdict: what is unknown in all answers, what is vacuous, what a longer run could change.

use super::build;
use super::decide::decide;
use super::explain;
use super::monitor::{Judged, Monitor, Seen, Selection, Why, hit, play};
use super::plan::Kinds;
use super::statement::{Exercise, Statement};
use super::timeline::{Candidate, Env, Part};
use super::view::{Mode, View};
use crate::vm::context::Scope;
use crate::vm::fault::Fault;
use crate::vm::outcome::Finding;
use averment_base::truth::{Truth, Verdict};

/// Judges a statement on its window. `opened_by` are the kinds of steps that opened the windows around it.
pub(super) fn judge(
    view: &mut View<'_, '_>,
    statement: &Statement,
    selected: &[Selection],
    opened_by: Option<Kinds>,
) -> Result<Finding, Fault> {
    let ordered = statement.ordered || opened_by.is_some();
    if let Some(finding) = out_of_reach(view, ordered, statement.calls, selected, opened_by) {
        return Ok(finding);
    }
    view.check_faults()?;
    let (mut best, seen) = match decide(view, selected)? {
        Some((decided, seen)) => (Box::new(decided) as Boxed<'_>, seen),
        None => replica(view, statement, selected, Mode::Favourable)?,
    };
    let favourable = best.judge(view)?;
    if !view.unknown || best.sees_all_answers() {
        return conclude(
            view,
            statement,
            selected,
            Outcome { favourable, adverse: favourable, best, worst: None, seen },
        );
    }
    let (mut worst, _) = replica(view, statement, selected, Mode::Adverse)?;
    let adverse = worst.judge(view)?;
    conclude(view, statement, selected, Outcome { favourable, adverse, best, worst: Some(worst), seen })
}

type Boxed<'run> = Box<dyn Monitor<'run> + 'run>;

/// A monitor after it has seen the window.
fn replica<'run>(
    view: &mut View<'_, 'run>,
    statement: &Statement,
    selected: &[Selection],
    mode: Mode,
) -> Result<(Boxed<'run>, Seen), Fault> {
    view.mode = mode;
    let mut monitor = build::monitor(view, statement)?;
    let seen = play(monitor.as_mut(), view, selected)?;
    Ok((monitor, seen))
}

/// What two replicas say.
struct Outcome<'run> {
    favourable: Judged,
    adverse: Judged,
    best: Boxed<'run>,
    worst: Option<Boxed<'run>>,
    seen: Seen,
}

impl Outcome<'_> {
    fn may_fail(&self) -> bool {
        self.favourable.may_fail || self.adverse.may_fail
    }

    fn may_hold(&self) -> bool {
        self.favourable.may_hold || self.adverse.may_hold
    }

    fn may_hang(&self) -> bool {
        self.favourable.may_hang || self.adverse.may_hang
    }
}

/// What the run does not record, or does not order. `calls` says that it needs the call list.
pub(super) fn out_of_reach(
    view: &View<'_, '_>,
    ordered: bool,
    calls: bool,
    selected: &[Selection],
    opened_by: Option<Kinds>,
) -> Option<Finding> {
    let run = view.machine.run;
    let mut wanted = Kinds::default();
    view.slots.iter().filter_map(|slot| view.plan.shape(slot.shape)).for_each(|shape| wanted.join(shape.kinds));
    if calls {
        wanted.add(averment_runs::run::Kind::Call);
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
        let matches = view.slots.iter().filter_map(|slot| view.timeline.of(slot.shape));
        matches.for_each(|matches| seen.join(matches.kinds));
    }
    selected.iter().for_each(|selection| seen.join(selection.kinds(view.timeline, run.steps)));
    let pairs = seen.iter().flat_map(|a| seen.iter().map(move |b| (a, b)));
    let mut unordered = pairs.filter(|(a, b)| !run.ordered(*a, *b));
    unordered.next().map(|(a, b)| Finding::new(Verdict::Undecided, explain::unordered(a, b)))
}

fn conclude<'run>(
    view: &mut View<'_, 'run>,
    statement: &Statement,
    selected: &[Selection],
    outcome: Outcome<'run>,
) -> Result<Finding, Fault> {
    if !view.context.window.closed {
        return unfinished(view, statement, selected, outcome);
    }
    if outcome.may_fail() {
        if outcome.may_hold() || outcome.may_hang() {
            return Ok(unknown(view, &outcome));
        }
        return Ok(finding(Verdict::Fail, outcome.best.explain(view)));
    }
    if outcome.may_hang() {
        let by = outcome.worst.as_ref().unwrap_or(&outcome.best);
        return Ok(finding(Verdict::Undecided, by.explain(view)));
    }
    let exercise = exercised(view, statement, selected, &outcome)?;
    Ok(match exercise {
        Exercised { may_be_vacuous: false, .. } => pass(view, &outcome),
        Exercised { may_pass: false, missing, .. } => finding(Verdict::Vacuous, vacuous(view, statement, missing)),
        _ => unknown(view, &outcome),
    })
}

/// Of an unfinished run only what no longer one can change is said.
fn unfinished<'run>(
    view: &mut View<'_, 'run>,
    statement: &Statement,
    selected: &[Selection],
    outcome: Outcome<'run>,
) -> Result<Finding, Fault> {
    if outcome.favourable.failed_for_good {
        return Ok(finding(Verdict::Fail, outcome.best.explain(view)));
    }
    if outcome.adverse.passed_for_good && !exercised(view, statement, selected, &outcome)?.may_be_vacuous {
        return Ok(pass(view, &outcome));
    }
    let fails = outcome.favourable.may_fail && !outcome.favourable.may_hold;
    let so_far = if fails { outcome.best.explain(view) } else { Why::default() };
    Ok(finding(Verdict::Undecided, explain::open(so_far)))
}

/// A pass, with its proof where that is wanted.
fn pass<'run>(view: &mut View<'_, 'run>, outcome: &Outcome<'run>) -> Finding {
    if !view.context.proves_passes {
        return Finding::new(Verdict::Pass, "");
    }
    // What is there whatever the answers are.
    let by = outcome.worst.as_ref().unwrap_or(&outcome.best);
    finding(Verdict::Pass, by.prove(view))
}

fn finding(verdict: Verdict, why: Why) -> Finding {
    Finding { evidence: why.evidence, ..Finding::new(verdict, why.reason) }
}

/// The answers differ.
fn unknown<'run>(view: &mut View<'_, 'run>, outcome: &Outcome<'run>) -> Finding {
    let by = outcome.worst.as_ref().unwrap_or(&outcome.best);
    let fails = if outcome.may_fail() { by.explain(view) } else { Why::default() };
    finding(Verdict::Undecided, explain::unknown(view, outcome.seen.unknown.as_ref(), fails))
}

fn vacuous(view: &mut View<'_, '_>, statement: &Statement, missing: Option<usize>) -> Why {
    match (missing, &statement.exercise) {
        (Some(slot), _) => explain::by_missing(view, slot),
        (None, Exercise::Calls) => explain::no_calls(view),
        (None, exercise) => explain::not_exercised(view, exercise),
    }
}

/// Whether a statement that holds was exercised.
struct Exercised {
    may_be_vacuous: bool,
    may_pass: bool,
    /// A pattern all of whose candidates were decided by something missing.
    missing: Option<usize>,
}

fn exercised(
    view: &mut View<'_, '_>,
    statement: &Statement,
    selected: &[Selection],
    outcome: &Outcome<'_>,
) -> Result<Exercised, Fault> {
    let slots = &outcome.seen.slots;
    let within = |range: &std::ops::Range<usize>| slots.get(range.clone()).unwrap_or(&[]);
    let (may_be_vacuous, may_pass) = match (&statement.exercise, outcome.favourable.exercised) {
        (_, Some((vacuous, _))) => (vacuous, outcome.adverse.exercised.is_none_or(|(_, pass)| pass)),
        (Exercise::AnyOf(range), None) => {
            (within(range).iter().all(|slot| !slot.sure), within(range).iter().any(|slot| slot.possible))
        }
        (Exercise::AllOf(range), None) => {
            (within(range).iter().any(|slot| !slot.sure), within(range).iter().all(|slot| slot.possible))
        }
        (Exercise::Calls, None) => (view.calls.is_empty(), !view.calls.is_empty()),
        (Exercise::Always | Exercise::Own, None) => (false, true),
    };
    let mut by_missing = Vec::new();
    for slot in 0..view.slots.len() {
        if is_by_missing(view, slot, selected)? {
            by_missing.push(slot);
        }
    }
    let Some(&first) = by_missing.first() else { return Ok(Exercised { may_be_vacuous, may_pass, missing: None }) };
    if !statement.either {
        return Ok(Exercised { may_be_vacuous: true, may_pass: false, missing: Some(first) });
    }
    // `either` is vacuous when all that occurs in it occurs by missing values.
    let others = slots.iter().enumerate().filter(|(slot, _)| !by_missing.contains(slot)).map(|(_, seen)| *seen);
    let (sure, possible) = others.fold((false, false), |all, seen| (all.0 || seen.sure, all.1 || seen.possible));
    let occurs = |slot: &&usize| slots.get(**slot).is_some_and(|seen| seen.possible);
    let missing = by_missing.iter().find(occurs).copied();
    Ok(Exercised { may_be_vacuous: !sure, may_pass: possible, missing })
}

/// Whether a pattern has candidates in the window, and something missing decided the condition of every one.
fn is_by_missing(view: &mut View<'_, '_>, slot: usize, selected: &[Selection]) -> Result<bool, Fault> {
    let timeline = view.timeline;
    let Some(matches) = view.slots.get(slot).and_then(|slot| timeline.of(slot.shape)) else { return Ok(false) };
    let window = view.context.window;
    if view.joined(slot) {
        let from = matches.candidates.partition_point(|candidate| (candidate.step as usize) < window.start);
        let candidates = matches.candidates.get(from..).unwrap_or(&[]);
        return joined_by_missing(view, slot, candidates, selected);
    }
    Ok(matches.is_by_missing(window.start, window.end))
}

/// The same for a pattern with tests on bindings of other patterns: they are looked at with the first value bound.
fn joined_by_missing(
    view: &mut View<'_, '_>,
    slot: usize,
    candidates: &[Candidate],
    selected: &[Selection],
) -> Result<bool, Fault> {
    let others = first_values(view, slot, selected);
    let end = view.context.window.end;
    let candidates = candidates.split(|candidate| candidate.step as usize >= end).next().unwrap_or(&[]);
    for of_step in candidates.chunk_by(|a, b| a.step == b.step) {
        let mut truth: Option<Truth> = None;
        for candidate in of_step {
            let own = with_tests(view, slot, candidate, &others)?;
            truth = Some(truth.map_or(own, |truth| truth.or(own)));
        }
        if truth.is_some_and(|truth| !truth.by_missing()) {
            return Ok(false);
        }
    }
    Ok(!candidates.is_empty())
}

/// The condition of a candidate with its tests on bindings of other patterns.
fn with_tests(view: &mut View<'_, '_>, slot: usize, candidate: &Candidate, others: &Env) -> Result<Truth, Fault> {
    let plan = view.plan;
    let Some(shape) = view.slots.get(slot).and_then(|slot| plan.shape(slot.shape)) else { return Ok(candidate.truth) };
    let (Some(step), Some(alternative)) =
        (view.step(candidate.step), shape.alternatives.get(usize::from(candidate.alternative)))
    else {
        return Ok(candidate.truth);
    };
    let mut env = others.clone();
    for (name, part) in shape.names.iter().zip(&candidate.parts) {
        if let (true, Some(slot)) = (*part != Part::OPEN, env.get_mut(*name as usize)) {
            *slot = *part;
        }
    }
    let mut truth = candidate.truth;
    let bindings = view.bindings(&env);
    for &code in &alternative.joins {
        if plan.asked(code).iter().all(|name| bindings.get(*name as usize).is_some_and(Option::is_some)) {
            truth = truth.and(view.machine.truth(code, &Scope::of_step(step).with_bindings(&bindings))?);
        }
    }
    Ok(truth)
}

/// For each name the value of the first step that surely matches another pattern which binds it.
fn first_values(view: &View<'_, '_>, slot: usize, selected: &[Selection]) -> Env {
    let mut env: Env = smallvec::smallvec![Part::OPEN; view.header.len()];
    for (other, selection) in selected.iter().enumerate().filter(|(other, _)| *other != slot) {
        let mut hits = selection.events(view.timeline).filter_map(|(event, _)| hit(other, event, view));
        let Some(first) = hits.find(|hit| hit.sure) else { continue };
        for (known, part) in env.iter_mut().zip(&first.env) {
            if *known == Part::OPEN {
                *known = *part;
            }
        }
    }
    env
}
