//! `require A`, `never A, B`, `either A or B`: whether something occurs; `if A then B`, `A iff B`, `not both A, B`: whether what
//! occurs has a partner, earlier or later.

use super::explain;
use super::keys::Keys;
use super::monitor::{Judged, Monitor, Why};
use super::pool::Pool;
use super::statement::Polarity;
use super::view::{Fit, Hit, View};
use crate::vm::fault::Fault;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// `require A` and `either A or B` want a match, `never A, B` wants none.
pub(super) struct Occurs {
    wanted: bool,
    /// Of several patterns that want a match it counts which of them occur.
    alone: bool,
    first: Option<Hit>,
}

impl Occurs {
    /// A monitor that wants a match, or none.
    pub(super) fn new(view: &View<'_, '_>, wanted: bool) -> Self {
        Self { wanted, alone: view.slots.len() == 1, first: None }
    }
}

impl<'run> Monitor<'run> for Occurs {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        if self.first.is_none() {
            self.first = hits.iter().find(|hit| view.counts(hit)).cloned();
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let occurs = self.first.is_some();
        Ok(if self.wanted { Judged::holds_for_good(occurs) } else { Judged::fails_for_good(occurs) })
    }

    fn is_settled(&self) -> bool {
        self.first.is_some() && (self.alone || !self.wanted)
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        match &self.first {
            Some(hit) => explain::occurs(view, hit),
            None => explain::nothing_occurs(view),
        }
    }

    fn prove(&self, view: &mut View<'_, 'run>) -> Why {
        self.explain(view)
    }
}

/// `not both A, B`.
pub(super) struct NotBoth {
    /// The matches of each side, for the other.
    sides: [Pool<Option<u32>>; 2],
    caught: Option<(Hit, u32)>,
}

impl NotBoth {
    /// A monitor that has seen nothing.
    pub(super) fn new(view: &View<'_, '_>) -> Self {
        Self { sides: [Pool::new(Keys::between(view, 0, 1)), Pool::new(Keys::between(view, 1, 0))], caught: None }
    }
}

impl<'run> Monitor<'run> for NotBoth {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let counted: SmallVec<[&Hit; 2]> = hits.iter().filter(|hit| view.counts(hit)).collect();
        for hit in &counted {
            if let Some(side) = self.sides.get_mut(hit.slot) {
                side.add(view, hit, &hit.env, |first| *first = first.or(Some(hit.step)))?;
            }
        }
        for hit in counted {
            let Some(others) = self.sides.get_mut(1 - hit.slot.min(1)).filter(|_| self.caught.is_none()) else { break };
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
        self.caught.as_ref().map_or_else(Why::default, |(hit, other)| explain::both(view, hit, *other))
    }
}

/// `if A then B` and `A iff B`. A match fails it when no other match can be its partner; unknown matches may be answered no to avoid that.
pub(super) struct Partners {
    /// True for `iff`: B's need A's, too.
    both: bool,
    /// The matches of each side, by what the other side can tell apart.
    sides: [Pool<Side>; 2],
}

/// Matches of one side that behave alike.
#[derive(Default)]
struct Side {
    /// The first of them that is sure.
    sure: Option<Hit>,
    /// The first of them.
    first: Option<Hit>,
    /// The partner found that is surely there.
    met_for_sure: bool,
    /// A partner was found that may be there.
    may_be_met: bool,
}

impl Partners {
    /// A monitor that has seen nothing.
    pub(super) fn new(view: &View<'_, '_>, both: bool) -> Self {
        Self { both, sides: [Pool::new(Keys::between(view, 0, 1)), Pool::new(Keys::between(view, 1, 0))] }
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

impl<'run> Monitor<'run> for Partners {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for hit in hits {
            let Some(side) = self.sides.get_mut(hit.slot) else { continue };
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
        alone.map_or_else(Why::default, |hit| explain::no_partner(view, hit, 1 - hit.slot.min(1)))
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}
