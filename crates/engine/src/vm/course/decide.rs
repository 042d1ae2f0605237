//! Verdicts that need no play. Where all matches of a statement are sure, the order of steps and the values bound say how it stands: whether
//! each B has an A before it is looked up, not played step by step.
//!
//! What is unknown, bound in some of the patterns only, tested against other steps, or still going on is left to the monitors. A monitor
//! that plays all matches says the same with the same words; `tests/oracle` compares both.

use super::explain::{self, Window};
use super::monitor::{Judged, Monitor, Occurrence, Seen, Selection, Why, hit};
use super::track::Track;
use super::trail::{bound, measure};
use super::view::{Hit, View};
use super::window::Slots;
use crate::bytecode::program::{CodeId, PatternId};
use crate::ir::{Course, Within};
use crate::vm::fault::Fault;
use averment_runs::run::Step;
use averment_syntax::ast::SequenceMode;
use smallvec::SmallVec;

/// How a statement stands, and what occurs of it; `None` where its matches have to be played.
pub(super) fn decide(view: &mut View<'_, '_>, selected: &[Selection]) -> Result<Option<(Decided, Seen)>, Fault> {
    // A profile counts every look at a step. A proof of what holds names steps that only play finds.
    if !view.context.window.closed || view.context.proves_passes || view.machine.profile.is_some() {
        return Ok(None);
    }
    let Some(entry) = view.entry else { return Ok(None) };
    let names = view.names(0);
    let tracks = selected.iter().enumerate().map(|(slot, selection)| Track::new(view, slot, selection, names));
    let Some(tracks) = tracks.collect::<Option<SmallVec<[Track<'_>; 3]>>>() else { return Ok(None) };
    let search =
        Search { steps: view.machine.run.steps, calls: view.calls, unbound: names.is_empty(), tracks: &tracks };
    let Some(decided) = search.of(&entry.course) else { return Ok(None) };
    let occurs =
        |track: &Track<'_>| Occurrence { sure: !track.events().is_empty(), possible: !track.events().is_empty() };
    let seen = Seen { slots: tracks.iter().map(occurs).collect(), unknown: None };
    view.spend(tracks.iter().map(|track| track.events().len()).sum())?;
    Ok(Some((decided, seen)))
}

/// A statement of which all is known.
#[derive(Default)]
pub(super) struct Decided {
    failure: Option<Failure>,
    /// What failed has not failed yet: its window never closes.
    hangs: bool,
    /// For statements that know themselves: whether they are exercised.
    exercised: Option<bool>,
}

/// What is wrong. Matches are named by the number of their event.
enum Failure {
    /// It occurs, and must not.
    Occurs { slot: usize, event: u32 },
    /// Nothing occurs of what should.
    Nothing,
    /// Another call is the first or last one.
    Edge { last: bool },
    /// A B has no A before it (since the step of the B before).
    NoEarlier { slot: usize, event: u32, since: Option<u32>, within: Option<Within> },
    /// An A has no B behind it; `slot` is that of the B.
    NoLater { event: u32, slot: usize, each: bool, within: Option<Within> },
    /// A sequence ends behind these.
    LeftOff(SmallVec<[u32; 3]>),
    /// A B stands in a window.
    InWindow { event: u32, slots: Slots, window: Window },
    /// A B stands at step `earlier`, before the first A.
    BeforeFirst { first: u32, edge: usize, slot: usize, earlier: u32 },
    /// A match has no partner.
    NoPartner { slot: usize, event: u32 },
    /// A match completes a pair with the step `other`.
    Both { slot: usize, event: u32, other: u32 },
}

impl Decided {
    fn by(failure: Option<Failure>) -> Self {
        Self { failure, ..Self::default() }
    }
}

impl<'run> Monitor<'run> for Decided {
    fn step(&mut self, _: &[Hit], _: &mut View<'_, 'run>) -> Result<(), Fault> {
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let fails = self.failure.is_some();
        Ok(Judged {
            may_fail: fails && !self.hangs,
            may_hold: !fails,
            may_hang: fails && self.hangs,
            exercised: self.exercised.map(|exercised| (!exercised, exercised)),
            ..Judged::default()
        })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        self.failure.as_ref().and_then(|failure| failure.explain(view)).unwrap_or_default()
    }
}

impl Failure {
    fn explain(&self, view: &mut View<'_, '_>) -> Option<Why> {
        Some(match *self {
            Self::Occurs { slot, event } => explain::occurs(view, &hit(slot, event, view)?),
            Self::Nothing => explain::nothing_occurs(view),
            Self::Edge { last } => explain::edge(view, last),
            Self::NoEarlier { slot, event, since, within } => {
                explain::no_earlier(view, &hit(slot, event, view)?, 0, since, within)
            }
            Self::NoLater { event, slot, each, within } => {
                explain::no_later(view, &hit(0, event, view)?, slot, each, within)
            }
            Self::LeftOff(ref events) => {
                let reached = events.iter().enumerate().filter_map(|(slot, event)| hit(slot, *event, view));
                let reached: Vec<Hit> = reached.collect();
                explain::left_off(view, &reached, None)
            }
            Self::InWindow { event, slots, window } => {
                explain::in_window(view, &hit(slots.step, event, view)?, slots, window)
            }
            Self::BeforeFirst { first, edge, slot, earlier } => {
                explain::before_first(view, &hit(edge, first, view)?, slot, earlier)
            }
            Self::NoPartner { slot, event } => explain::no_partner(view, &hit(slot, event, view)?, 1 - slot.min(1)),
            Self::Both { slot, event, other } => explain::both(view, &hit(slot, event, view)?, other),
        })
    }
}

/// Looks for what decides a statement.
struct Search<'s, 'run> {
    steps: &'run [Step<'run>],
    /// The call list of the window.
    calls: &'s [u32],
    /// Whether no match binds anything.
    unbound: bool,
    tracks: &'s [Track<'s>],
}

impl<'s> Search<'s, '_> {
    /// How a statement stands; `None` for one that has to be played.
    fn of(&self, course: &Course<PatternId, CodeId>) -> Option<Decided> {
        match *course {
            Course::Never { .. } => Some(self.never()),
            Course::Require { times: None, .. } | Course::Either { .. } => Some(self.occurs()),
            Course::First { .. } => self.edge(false),
            Course::Last { .. } => self.edge(true),
            Course::Before { immediately: false, each, within, .. } if is_by_place(within) => self.before(each, within),
            Course::After { immediately: false, each, within, .. } if is_by_place(within) => self.after(each, within),
            Course::Sequence { mode: SequenceMode::Gaps, within: None, .. } if self.unbound => Some(self.sequence()),
            Course::NeverAfter { ref steps, within, .. } if is_by_place(within) => {
                self.never_after(steps.len(), within)
            }
            Course::NeverBefore { ref steps, within, .. } if is_by_place(within) => {
                self.never_before(steps.len(), within)
            }
            Course::NeverBetween { ref steps, within: None, .. } => self.never_between(steps.len()),
            Course::IfThen { .. } => self.partners(false),
            Course::Iff { .. } => self.partners(true),
            Course::NotBoth { .. } => self.not_both(),
            _ => None,
        }
    }

    fn track(&self, slot: usize) -> Option<&'s Track<'s>> {
        self.tracks.get(slot)
    }

    /// The slots from one on, with their matches.
    fn slots(&self, from: usize) -> impl Iterator<Item = (usize, &'s Track<'s>)> {
        self.tracks.iter().enumerate().skip(from)
    }

    /// Whether the bound from one step to a later one holds.
    fn near(&self, within: Option<Within>, from: u32, to: u32) -> bool {
        let of = |step: u32| self.steps.get(step as usize).and_then(|step| measure(within, step));
        within.is_none() || bound(within, of(from), of(to)) == Some(true)
    }

    /// `never A, B`: the first match of any.
    fn never(&self) -> Decided {
        let firsts = self.slots(0).filter_map(|(slot, track)| Some((slot, track.events().next()?, track)));
        let first = firsts.min_by_key(|(_, event, track)| track.step(*event));
        Decided::by(first.map(|(slot, event, _)| Failure::Occurs { slot, event }))
    }

    /// `require A`, `either A or B`.
    fn occurs(&self) -> Decided {
        let occurs = self.tracks.iter().any(|track| !track.events().is_empty());
        Decided::by((!occurs).then_some(Failure::Nothing))
    }

    /// `first A`, `last A`.
    fn edge(&self, last: bool) -> Option<Decided> {
        let track = self.track(0)?;
        let mut steps = track.events().map(|event| track.step(event));
        // A match beyond the edge is no call of the list: one that was proposed, where others were executed.
        let holds = match last {
            true => self.calls.last().is_some_and(|call| steps.rev().find(|step| step <= call) == Some(*call)),
            false => self.calls.first().is_some_and(|call| steps.find(|step| step >= call) == Some(*call)),
        };
        Some(Decided::by((!holds).then_some(Failure::Edge { last })))
    }

    /// `sequence A -> B`: each step is the first one behind the step before.
    fn sequence(&self) -> Decided {
        let mut reached: SmallVec<[u32; 3]> = SmallVec::new();
        let mut last: Option<u32> = None;
        for track in self.tracks {
            let next = last.map_or_else(|| track.events().next(), |last| track.after(&[], last));
            let Some(next) = next else { return Decided::by(Some(Failure::LeftOff(reached))) };
            last = Some(track.step(next));
            reached.push(next);
        }
        Decided::default()
    }

    /// `before A -> B, C`: the first B without an A.
    fn before(&self, each: bool, within: Option<Within>) -> Option<Decided> {
        let source = self.track(0)?;
        let since = |target: &Track<'_>, event| {
            let previous = if each { target.before(target.key(event), target.step(event)) } else { None };
            previous.map(|previous| target.step(previous))
        };
        let is_met = |target: &Track<'_>, event: u32| {
            let step = target.step(event);
            source.before(target.key(event), step).is_some_and(|near| {
                let near = source.step(near);
                since(target, event).is_none_or(|since| since < near) && self.near(within, near, step)
            })
        };
        let unmet = self.slots(1).filter_map(|(slot, target)| {
            let event = target.events().find(|event| !is_met(target, *event))?;
            Some((target.step(event), Failure::NoEarlier { slot, event, since: since(target, event), within }))
        });
        Some(Decided::by(unmet.min_by_key(|(step, _)| *step).map(|(_, failure)| failure)))
    }

    /// `after A -> B, C`: the first A without a B or without a C.
    fn after(&self, each: bool, within: Option<Within>) -> Option<Decided> {
        let source = self.track(0)?;
        let is_met = |target: &Track<'_>, event: u32| {
            let (key, step) = (source.key(event), source.step(event));
            let next = if each { source.after(key, step).map(|next| source.step(next)) } else { None };
            let near = target.after(key, step).map(|near| target.step(near));
            near.is_some_and(|near| next.is_none_or(|next| near < next) && self.near(within, step, near))
        };
        let unmet = |event: u32| {
            let (slot, _) = self.slots(1).find(|(_, target)| !is_met(target, event))?;
            Some(Failure::NoLater { event, slot, each, within })
        };
        Some(Decided::by(source.events().find_map(unmet)))
    }

    /// `never B after A [until C]`: the first B that no C shields from the last A.
    fn never_after(&self, steps: usize, within: Option<Within>) -> Option<Decided> {
        let (open, until) = (self.track(steps)?, self.track(steps + 1));
        let caught = |track: &Track<'_>, event: u32| {
            let (key, step) = (track.key(event), track.step(event));
            let edge = open.step(open.before(key, step)?);
            let shield = until.and_then(|until| Some(until.step(until.before(key, step.saturating_add(1))?)));
            let shielded = shield.is_some_and(|shield| shield > edge);
            (!shielded && self.near(within, edge, step)).then_some(edge)
        };
        let mut failures = self.slots(0).take(steps).filter_map(|(step, track)| {
            let slots = Slots { step, edge: steps, close: until.map(|_| steps + 1) };
            let (event, edge) = track.events().find_map(|event| Some((event, caught(track, event)?)))?;
            Some(Failure::InWindow { event, slots, window: Window::After(edge) })
        });
        Some(Decided::by(failures.next()))
    }

    /// `never B before A`: the first of the first A's with a B before it.
    fn never_before(&self, steps: usize, within: Option<Within>) -> Option<Decided> {
        let close = self.track(steps)?;
        let caught = |track: &Track<'_>, first: u32| {
            let (key, step) = (close.key(first), close.step(first));
            let earlier = track.step(track.before(key, step)?);
            let is_first = close.before(key, step).is_none();
            (is_first && self.near(within, earlier, step)).then_some(earlier)
        };
        let mut failures = self.slots(0).take(steps).filter_map(|(slot, track)| {
            let (first, earlier) = close.events().find_map(|first| Some((first, caught(track, first)?)))?;
            Some(Failure::BeforeFirst { first, edge: steps, slot, earlier })
        });
        Some(Decided::by(failures.next()))
    }

    /// `never B between A and C`: of the windows with a B the one that closes first, else the first that never closes.
    fn never_between(&self, steps: usize) -> Option<Decided> {
        let (open, close) = (self.track(steps)?, self.track(steps + 1)?);
        let mut decided = Decided { hangs: true, ..Decided::default() };
        for (step, track) in self.slots(0).take(steps) {
            let Some((event, window)) = first_window(track, open, close) else { continue };
            decided.hangs &= matches!(window, Window::Unclosed(_));
            let slots = Slots { step, edge: steps, close: Some(steps + 1) };
            decided.failure.get_or_insert(Failure::InWindow { event, slots, window });
        }
        let closes = |edge: u32| close.after(open.key(edge), open.step(edge)).is_some();
        decided.exercised = Some(decided.failure.is_some() || open.events().any(closes));
        Some(decided)
    }

    /// `if A then B`, `A iff B`: the first match without a partner.
    fn partners(&self, both: bool) -> Option<Decided> {
        let (left, right) = (self.track(0)?, self.track(1)?);
        let alone = |slot: usize, own: &Track<'_>, others: &Track<'_>| {
            let event = own.events().find(|event| others.first_of(own.key(*event)).is_none())?;
            Some((own.step(event), slot, event))
        };
        let of_right = if both { alone(1, right, left) } else { None };
        let first = alone(0, left, right).into_iter().chain(of_right).min();
        Some(Decided::by(first.map(|(_, slot, event)| Failure::NoPartner { slot, event })))
    }

    /// `not both A, B`: the pair that is complete first.
    fn not_both(&self) -> Option<Decided> {
        let (left, right) = (self.track(0)?, self.track(1)?);
        let pair = |event: u32| {
            let other = right.first_of(left.key(event))?;
            let (own, others) = (left.step(event), right.step(other));
            // Of two pairs complete at one step the one whose A comes last is seen first.
            Some(match own < others {
                false => (own, Failure::Both { slot: 0, event, other: others }),
                true => (others, Failure::Both { slot: 1, event: other, other: own }),
            })
        };
        let order =
            |(complete, failure): &(u32, Failure)| (*complete, matches!(failure, Failure::Both { slot: 1, .. }));
        Some(Decided::by(left.events().filter_map(pair).min_by_key(order).map(|(_, failure)| failure)))
    }
}

/// Of the B's in windows the one whose window closes first, else the first whose window never closes.
fn first_window(track: &Track<'_>, open: &Track<'_>, close: &Track<'_>) -> Option<(u32, Window)> {
    let inside = |event: u32| {
        let (key, step) = (track.key(event), track.step(event));
        let edge = open.step(open.before(key, step)?);
        match close.after(key, edge).map(|close_event| close.step(close_event)) {
            None => Some((u32::MAX, event, Window::Unclosed(edge))),
            Some(end) => (end > step).then_some((end, event, Window::Between(edge, end))),
        }
    };
    let first = track.events().filter_map(inside).min_by_key(|(end, ..)| *end);
    first.map(|(_, event, window)| (event, window))
}

/// Whether of several steps the nearest one is within a bound when any of them is: positions grow from call to call.
fn is_by_place(within: Option<Within>) -> bool {
    matches!(within, None | Some(Within::Calls(_)))
}
