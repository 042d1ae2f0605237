//! `if A then B`, `A iff B`, `not both A, B`: whether what occurs has a partner, earlier or later.

use super::{Exercise, Meaning, Polarity, Statement, hurts, mixed};
use crate::bytecode::program::PatternId;
use crate::vm::fault::Fault;
use crate::vm::outcome::Role;
use crate::vm::temporal::closed::{Asks, Decided, Search};
use crate::vm::temporal::explain::{for_which, why};
use crate::vm::temporal::keys::Keys;
use crate::vm::temporal::match_index::MatchIndex;
use crate::vm::temporal::monitor::{Judged, Monitor, Why, hit};
use crate::vm::temporal::view::{Fit, Hit, View};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// `if A then B`.
pub(super) fn if_then(condition: PatternId, consequence: PatternId) -> Statement {
    let operands = vec![mixed(condition), mixed(consequence)];
    Statement::new(operands, Exercise::AnyOf(0..1), Implied { both: false })
}

/// `A iff B`.
pub(super) fn iff(left: PatternId, right: PatternId) -> Statement {
    Statement::new(vec![mixed(left), mixed(right)], Exercise::AnyOf(0..2), Implied { both: true })
}

/// `not both A, B`.
pub(super) fn not_both(left: PatternId, right: PatternId) -> Statement {
    Statement::new(vec![hurts(left), hurts(right)], Exercise::AnyOf(0..2), NotBoth)
}

/// Every match of the first operand, or of both, has a partner.
#[derive(Debug)]
struct Implied {
    both: bool,
}

impl Meaning for Implied {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

    fn closed(&self, search: &Search<'_, '_>, _: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let alone = |operand: usize| {
            let (own, others) = (search.operand(operand)?, search.operand(1 - operand)?);
            let event = search.by_values(own).find(|event| others.first_of(own.key(*event)).is_none())?;
            Some((own.step(event), operand, event))
        };
        let of_right = if self.both { alone(1) } else { None };
        Ok(Some(search.fails(alone(0).into_iter().chain(of_right).min().map(|(_, operand, event)| {
            move |view: &mut View<'_, '_>| Some(no_partner(view, &hit(operand, event, view)?, 1 - operand.min(1)))
        }))))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(ImpliedMonitor::new(view, self.both)))
    }
}

#[derive(Debug)]
struct NotBoth;

impl Meaning for NotBoth {
    fn is_closed(&self, _: bool) -> bool {
        true
    }

    fn closed(&self, search: &Search<'_, '_>, _: &mut dyn Asks) -> Result<Option<Decided>, Fault> {
        let (Some(left), Some(right)) = (search.operand(0), search.operand(1)) else { return Ok(None) };
        let pair = |event: u32| {
            let other = right.first_of(left.key(event))?;
            let (own, others) = (left.step(event), right.step(other));
            if own >= others {
                return Some((own, 0, event, others));
            }
            // Of two pairs complete at one step the one whose A comes last is seen first.
            let at_once = left.before(left.key(event), others.saturating_add(1)).filter(|at| left.step(*at) == others);
            Some(at_once.map_or((others, 1, other, own), |at_once| (others, 0, at_once, others)))
        };
        let first = search.by_values(left).filter_map(pair).min_by_key(|(complete, operand, ..)| (*complete, *operand));
        Ok(Some(search.fails(first.map(|(_, operand, event, other)| {
            move |view: &mut View<'_, '_>| Some(both(view, &hit(operand, event, view)?, other))
        }))))
    }

    fn monitor<'run>(&self, view: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(NotBothMonitor::new(view)))
    }
}

/// The monitor of `not both A, B`.
struct NotBothMonitor {
    /// The matches of each side, for the other.
    sides: [MatchIndex<Option<u32>>; 2],
    caught: Option<(Hit, u32)>,
}

impl NotBothMonitor {
    /// A monitor that has seen nothing.
    fn new(view: &View<'_, '_>) -> Self {
        Self {
            sides: [MatchIndex::new(Keys::between(view, 0, 1)), MatchIndex::new(Keys::between(view, 1, 0))],
            caught: None,
        }
    }
}

impl<'run> Monitor<'run> for NotBothMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let counted: SmallVec<[&Hit; 2]> = hits.iter().filter(|hit| view.counts(hit)).collect();
        for hit in &counted {
            if let Some(side) = self.sides.get_mut(hit.operand) {
                side.add(view, hit, &hit.env, |first| *first = first.or(Some(hit.step)))?;
            }
        }
        for hit in counted {
            let Some(others) = self.sides.get_mut(1 - hit.operand.min(1)).filter(|_| self.caught.is_none()) else {
                break;
            };
            let caught = &mut self.caught;
            others.visit(view, hit.side(), |group, fit, view| {
                if view.accepts(fit, Polarity::Hurts) {
                    *caught = group.data.map(|other| (hit.clone(), other));
                }
                Ok(if caught.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        Ok(Judged::fails_for_good(self.caught.is_some()))
    }

    fn is_settled(&self) -> bool {
        self.caught.is_some()
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        self.caught.as_ref().map_or_else(Why::default, |(hit, other)| both(view, hit, *other))
    }
}

/// The monitor of `if A then B` and `A iff B`. A match fails it when no other match can be its partner; unknown matches may be answered no to avoid that.
struct ImpliedMonitor {
    /// True for `iff`: B's need A's, too.
    both: bool,
    /// The matches of each side, by what the other side can tell apart.
    sides: [MatchIndex<PartnerSide>; 2],
}

/// Matches of one side that behave alike.
#[derive(Default)]
struct PartnerSide {
    /// The first of them that is sure.
    sure: Option<Hit>,
    /// The first of them.
    first: Option<Hit>,
    /// The partner found that is surely there.
    met_for_sure: bool,
    /// A partner was found that may be there.
    may_be_met: bool,
}

impl ImpliedMonitor {
    /// A monitor that has seen nothing.
    fn new(view: &View<'_, '_>, both: bool) -> Self {
        Self { both, sides: [MatchIndex::new(Keys::between(view, 0, 1)), MatchIndex::new(Keys::between(view, 1, 0))] }
    }

    /// Looks for partners of every group of a side that still needs one.
    fn match_up(&mut self, side: usize, view: &mut View<'_, '_>) -> Result<(), Fault> {
        let [left, right] = &mut self.sides;
        let (own, others) = if side == 0 { (left, right) } else { (right, left) };
        for group in own.groups_mut() {
            let Some(hit) = group.data.sure.as_ref().or(group.data.first.as_ref()) else { continue };
            if group.data.met_for_sure {
                continue;
            }
            let (mut sure, mut possible) = (false, false);
            others.visit(view, hit.side(), |other, fit, _| {
                possible = true;
                sure |= fit == Fit::Yes && other.data.sure.is_some();
                Ok(if sure { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            (group.data.met_for_sure, group.data.may_be_met) = (sure, possible);
        }
        Ok(())
    }

    /// The first match without a partner: `surely` none, or none that is sure.
    fn unmatched(&self, surely: bool) -> Option<&Hit> {
        let sides = if self.both { &self.sides[..] } else { &self.sides[..1] };
        let groups = sides.iter().flat_map(|side| side.groups());
        let alone = groups.filter_map(|group| match surely {
            true if !group.data.may_be_met => group.data.sure.as_ref(),
            false if !group.data.met_for_sure => group.data.first.as_ref(),
            _ => None,
        });
        alone.min_by_key(|hit| hit.step)
    }
}

impl<'run> Monitor<'run> for ImpliedMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for hit in hits {
            let Some(side) = self.sides.get_mut(hit.operand) else { continue };
            side.add(view, hit, &hit.env, |side| {
                if side.first.is_none() {
                    side.first = Some(hit.clone());
                }
                if hit.sure && side.sure.is_none() {
                    side.sure = Some(hit.clone());
                }
            })?;
        }
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        self.match_up(0, view)?;
        if self.both {
            self.match_up(1, view)?;
        }
        let (may_fail, must_fail) = (self.unmatched(false).is_some(), self.unmatched(true).is_some());
        Ok(Judged { may_fail, may_hold: !must_fail, ..Judged::default() })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        let alone = self.unmatched(true).or_else(|| self.unmatched(false));
        alone.map_or_else(Why::default, |hit| no_partner(view, hit, 1 - hit.operand.min(1)))
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}

/// Two patterns occur that must not both.
fn both(view: &mut View<'_, '_>, hit: &Hit, other: u32) -> Why {
    let reason = format!("both {} and {} occur", view.say(other), view.say(hit.step));
    let mut evidence = vec![view.step_proof(other, 1 - hit.operand.min(1), Role::Decisive, String::new())];
    evidence.extend(view.decisive(hit, String::new()));
    why(reason, evidence)
}

/// A match without its partner.
fn no_partner(view: &mut View<'_, '_>, hit: &Hit, wanted: usize) -> Why {
    let thing = view.thing(wanted, &hit.env);
    let refusing = view.refusing(wanted, hit, &hit.env, true);
    let refusing = refusing.or_else(|| view.refusing(wanted, hit, &hit.env, false));
    let test = refusing.as_ref().map_or_else(String::new, |(test, _)| for_which(test));
    let reason = [&view.say(hit.step), " occurs, but no ", &thing, &test].concat();
    let mut evidence = view.decisive(hit, String::new());
    let near = refusing.map(|(_, near)| near);
    let near = near.or_else(|| view.near_miss(wanted, &hit.env, hit.step, true));
    let near = near.or_else(|| view.near_miss(wanted, &hit.env, hit.step, false));
    evidence.extend(near.or_else(|| view.misspelt(wanted)));
    why(reason, evidence)
}
