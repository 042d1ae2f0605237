//! Which of the steps that something missing decided could change what is said of a statement: it is judged again as if nothing were known
//! of them.

use super::statements::Statement;
use super::timeline::{Matches, Timeline};
use super::verdict;
use super::view::{Mode, View};
use averment_runs::run::Kind;
use std::rc::Rc;

/// A step whose match with a pattern something missing decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct Doubt {
    /// The pattern.
    pub(super) operand: usize,
    /// The step.
    pub(super) step: u32,
}

/// More steps are not looked at one by one.
const ONE_BY_ONE: usize = 32;

/// Those of the steps whose other answer would change that the statement holds (or, where it does not hold, that it fails): each by itself,
/// or all of them where only several together would.
pub(super) fn decisive(view: &mut View<'_, '_>, statement: &Statement, doubts: Vec<Doubt>, holds: bool) -> Vec<Doubt> {
    // A match of one of these hurts wherever it stands.
    if doubts.is_empty() || statement.hurts_each() {
        return doubts;
    }
    let coverage = view.machine.seen.take();
    let found = if !changes(view, statement, &doubts, holds) {
        Vec::new()
    } else if doubts.len() == 1 || doubts.len() > ONE_BY_ONE {
        doubts
    } else {
        let alone: Vec<Doubt> =
            doubts.iter().filter(|one| changes(view, statement, &[**one], holds)).copied().collect();
        if alone.is_empty() { doubts } else { alone }
    };
    view.machine.seen = coverage;
    found
}

/// Whether something else could be said of the statement if nothing were known of these steps. What cannot be told could.
fn changes(view: &mut View<'_, '_>, statement: &Statement, doubts: &[Doubt], holds: bool) -> bool {
    let mut timeline = doubting(view, doubts);
    let select = |operand| super::select(&mut timeline, view.plan, operand, &view.header, view.context);
    let selected: Vec<_> = view.operands.iter().map(select).collect();
    view.machine.refuel();
    let mut doubted = View {
        machine: &mut *view.machine,
        timeline: &timeline,
        plan: view.plan,
        entry: view.entry,
        statement: view.statement,
        context: view.context,
        header: view.header.clone(),
        operands: view.operands,
        calls: view.calls,
        places: view.places,
        mode: Mode::Optimistic,
        unknown: false,
        listed: 0,
    };
    let stands = verdict::stands(&mut doubted, statement, &selected);
    view.machine.refuel();
    match stands {
        Ok((stands, _)) if !holds => stands.may_hold,
        Ok((_, for_good)) if !view.context.window.closed => !for_good,
        Ok((stands, _)) => stands.may_fail || stands.may_hang,
        Err(_) => true,
    }
}

/// The timeline of the patterns of a statement in which it is not known whether these steps match.
fn doubting<'run>(view: &View<'_, 'run>, doubts: &[Doubt]) -> Timeline<'run> {
    let known = view.timeline;
    let mut matches: Vec<Matches> = std::iter::repeat_with(Matches::default).take(known.matches.len()).collect();
    let window = view.context.window;
    for own in view.operands {
        let (Some(of_known), Some(copy)) = (known.of(own.unique), matches.get_mut(own.unique.0 as usize)) else {
            continue;
        };
        let names = view.plan.unique_pattern(own.unique).map_or(0, |unique| unique.names.len());
        let is_of = |doubt: &&Doubt| view.operands.get(doubt.operand).is_some_and(|other| other.unique == own.unique);
        let kind = |step: u32| view.step(step).map_or(Kind::Call, |step| step.kind);
        let mut steps: Vec<(u32, Kind)> =
            doubts.iter().filter(is_of).map(|doubt| (doubt.step, kind(doubt.step))).collect();
        steps.sort_unstable_by_key(|(step, _)| *step);
        steps.dedup_by_key(|(step, _)| *step);
        *copy = of_known.doubting(&steps, names, window.start..window.end);
    }
    Timeline {
        matches,
        values: Rc::clone(&known.values),
        executed: Rc::clone(&known.executed),
        proposed: Rc::clone(&known.proposed),
    }
}
