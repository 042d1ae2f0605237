//! The matches that decide. Where all matches of a statement are sure, its verdict and the words for it hang on few of them: the first B
//! without an A, the last A before it. They are found here by looking at values and steps alone, and only they are played to the monitor,
//! which says of them what it would have said of all.
//!
//! What is unknown, bound in some of the patterns only, tested against other steps, or still going on is left to the monitors.

use super::monitor::Selection;
use super::track::Track;
use super::trail::{bound, measure};
use super::view::View;
use crate::bytecode::program::{CodeId, PatternId};
use crate::ir::{Course, Within};
use crate::syntax::ast::SequenceMode;
use crate::trace::run::Step;
use crate::vm::fault::Fault;
use smallvec::SmallVec;

/// The events of each slot.
pub(super) type Selections = SmallVec<[Selection; 3]>;

/// So few matches are played as soon as looked at.
const FEW: usize = 2;

/// The matches of each slot that decide; `None` where all have to be played.
pub(super) fn deciding(view: &mut View<'_, '_>, selected: &[Selection]) -> Result<Option<Selections>, Fault> {
    // A profile counts every look at a step.
    if !view.context.window.closed || view.machine.profile.is_some() {
        return Ok(None);
    }
    let Some(entry) = view.entry else { return Ok(None) };
    let names = view.names(0);
    let tracks = selected.iter().enumerate().map(|(slot, selection)| Track::new(view, slot, selection, names));
    let Some(tracks) = tracks.collect::<Option<Tracks<'_>>>() else { return Ok(None) };
    let all = tracks.iter().map(|track| track.events().len()).sum();
    if all <= FEW {
        return Ok(None);
    }
    let search = Search { steps: view.machine.run.steps, unbound: names.is_empty(), tracks: &tracks };
    let Some(found) = search.of(&entry.course) else { return Ok(None) };
    view.spend(all)?;
    Ok(Some(found.selections(&tracks)))
}

type Tracks<'t> = SmallVec<[Track<'t>; 3]>;

/// The events that decide, with their slots.
#[derive(Default)]
struct Found(SmallVec<[(usize, u32); 4]>);

impl Found {
    fn with(mut self, slot: usize, event: impl IntoIterator<Item = u32>) -> Self {
        self.0.extend(event.into_iter().map(|event| (slot, event)));
        self
    }

    fn selections(&self, tracks: &[Track<'_>]) -> Selections {
        let of = |slot: usize| self.0.iter().filter(move |(of, _)| *of == slot).map(|(_, event)| *event);
        tracks.iter().enumerate().map(|(slot, track)| track.selection(of(slot))).collect()
    }
}

/// Looks for the matches that decide a statement.
struct Search<'s, 'run> {
    steps: &'run [Step<'run>],
    /// Whether no match binds anything.
    unbound: bool,
    tracks: &'s [Track<'s>],
}

/// A match without the one that it needs.
struct Failure {
    step: u32,
    slot: usize,
    event: u32,
}

impl Failure {
    /// The one that comes first; of one step the one found first.
    fn first(known: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (known, other) {
            (Some(known), Some(other)) if other.step < known.step => Some(other),
            (known, other) => known.or(other),
        }
    }
}

impl<'s> Search<'s, '_> {
    /// The events that decide a statement; `None` for a statement that has to see all.
    fn of(&self, course: &Course<PatternId, CodeId>) -> Option<Found> {
        match *course {
            Course::Either { .. } => Some(self.firsts()),
            Course::First { .. } => Some(Found::default().with(0, self.track(0)?.events().next())),
            Course::Last { .. } => Some(Found::default().with(0, self.track(0)?.events().next_back())),
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

    /// Whether the bound from one step to a later one holds.
    fn near(&self, within: Option<Within>, from: u32, to: u32) -> bool {
        let of = |step: u32| self.steps.get(step as usize).and_then(|step| measure(within, step));
        within.is_none() || bound(within, of(from), of(to)) == Some(true)
    }

    /// The first of each pattern: whether they occur.
    fn firsts(&self) -> Found {
        let firsts = self.tracks.iter().enumerate().filter_map(|(slot, track)| Some((slot, track.events().next()?)));
        Found(firsts.collect())
    }

    /// Each step is the first one behind the step before.
    fn sequence(&self) -> Found {
        let mut found = Found::default();
        let mut last: Option<u32> = None;
        for (slot, track) in self.tracks.iter().enumerate() {
            let next = last.map_or_else(|| track.events().next(), |last| track.after(&[], last));
            let Some(next) = next else { break };
            found = found.with(slot, [next]);
            last = Some(track.step(next));
        }
        found
    }

    /// `before A -> B, C`: the first B without an A, else a B with its A.
    fn before(&self, each: bool, within: Option<Within>) -> Option<Found> {
        let source = self.track(0)?;
        let since =
            |target: &Track<'_>, event| if each { target.before(target.key(event), target.step(event)) } else { None };
        let is_met = |target: &Track<'_>, event: u32| {
            let step = target.step(event);
            source.before(target.key(event), step).is_some_and(|near| {
                let near = source.step(near);
                since(target, event).is_none_or(|since| target.step(since) < near) && self.near(within, near, step)
            })
        };
        let mut failure = None;
        for (slot, target) in self.tracks.iter().enumerate().skip(1) {
            let unmet = target.events().find(|event| !is_met(target, *event));
            failure = Failure::first(failure, unmet.map(|event| Failure { step: target.step(event), slot, event }));
        }
        let source_of = |target: &Track<'_>, event: u32| source.before(target.key(event), target.step(event));
        if let Some(Failure { slot, event, .. }) = failure {
            let target = self.track(slot)?;
            // The B before it had its A.
            let since = since(target, event);
            let used = since.and_then(|since| source_of(target, since));
            return Some(Found::default().with(slot, [event]).with(slot, since).with(0, used));
        }
        let mut targets = self.tracks.iter().enumerate().skip(1);
        let met = targets.find_map(|(slot, target)| Some((slot, target, target.events().next()?)));
        Some(met.map_or_else(Found::default, |(slot, target, first)| {
            Found::default().with(slot, [first]).with(0, source_of(target, first))
        }))
    }

    /// `after A -> B, C`: the first A without a B or without a C, else an A with its B and C.
    fn after(&self, each: bool, within: Option<Within>) -> Option<Found> {
        let source = self.track(0)?;
        let next = |event| if each { source.after(source.key(event), source.step(event)) } else { None };
        let met_by = |target: &Track<'_>, event: u32| {
            let step = source.step(event);
            let near = target.after(source.key(event), step)?;
            let in_time = next(event).is_none_or(|next| target.step(near) < source.step(next));
            (in_time && self.near(within, step, target.step(near))).then_some(near)
        };
        let targets = self.tracks.iter().skip(1);
        let is_met = |event: &u32| targets.clone().all(|target| met_by(target, *event).is_some());
        let unmet = source.events().find(|event| !is_met(event));
        let Some(shown) = unmet.or_else(|| source.events().next()) else { return Some(Found::default()) };
        let found = Found::default().with(0, [shown]).with(0, unmet.and_then(next));
        let targets = self.tracks.iter().enumerate().skip(1);
        Some(targets.fold(found, |found, (slot, target)| found.with(slot, met_by(target, shown))))
    }

    /// `never B after A [until C]`: of each B the first that no C shields from the last A, else an A.
    fn never_after(&self, steps: usize, within: Option<Within>) -> Option<Found> {
        let (open, until) = (self.track(steps)?, self.track(steps + 1));
        let caught = |track: &Track<'_>, event: u32| {
            let (key, step) = (track.key(event), track.step(event));
            let edge = open.before(key, step)?;
            let shield = until.and_then(|until| until.before(key, step.saturating_add(1)));
            let shielded = shield.zip(until).is_some_and(|(shield, until)| until.step(shield) > open.step(edge));
            (!shielded && self.near(within, open.step(edge), step)).then_some(edge)
        };
        let mut found = Found::default();
        for (slot, track) in self.tracks.iter().enumerate().take(steps) {
            if let Some((event, edge)) = track.events().find_map(|event| Some((event, caught(track, event)?))) {
                found = found.with(slot, [event]).with(steps, [edge]);
            }
        }
        Some(if found.0.is_empty() { found.with(steps, open.events().next()) } else { found })
    }

    /// `never B before A`: of the first A's the first with a B before it, else an A.
    fn never_before(&self, steps: usize, within: Option<Within>) -> Option<Found> {
        let close = self.track(steps)?;
        let caught = |track: &Track<'_>, first: u32| {
            let (key, step) = (close.key(first), close.step(first));
            let earlier = track.before(key, step)?;
            let is_first = close.before(key, step).is_none();
            (is_first && self.near(within, track.step(earlier), step)).then_some(earlier)
        };
        let mut found = Found::default();
        for (slot, track) in self.tracks.iter().enumerate().take(steps) {
            if let Some((first, earlier)) = close.events().find_map(|first| Some((first, caught(track, first)?))) {
                found = found.with(slot, [earlier]).with(steps, [first]);
            }
        }
        Some(if found.0.is_empty() { found.with(steps, close.events().next()) } else { found })
    }

    /// `never B between A and C`: of each B the one in the window that closes first, else one in a window that does not close; without
    /// them a window.
    fn never_between(&self, steps: usize) -> Option<Found> {
        let (open, close) = (self.track(steps)?, self.track(steps + 1)?);
        let mut found = Found::default();
        for (slot, track) in self.tracks.iter().enumerate().take(steps) {
            let mut closed: Option<(u32, [u32; 3])> = None;
            let mut unclosed = None;
            for event in track.events() {
                let (key, step) = (track.key(event), track.step(event));
                let Some(edge) = open.before(key, step) else { continue };
                match close.after(key, open.step(edge)) {
                    None => unclosed = unclosed.or(Some((event, edge))),
                    Some(end) if close.step(end) <= step => {}
                    Some(end) if closed.is_some_and(|(known, _)| known <= close.step(end)) => {}
                    Some(end) => closed = Some((close.step(end), [event, edge, end])),
                }
            }
            found = match (closed, unclosed) {
                (Some((_, [event, edge, end])), _) => {
                    found.with(slot, [event]).with(steps, [edge]).with(steps + 1, [end])
                }
                (None, Some((event, edge))) => found.with(slot, [event]).with(steps, [edge]),
                (None, None) => found,
            };
        }
        if !found.0.is_empty() {
            return Some(found);
        }
        let window = open.events().find_map(|edge| Some((edge, close.after(open.key(edge), open.step(edge))?)));
        let edge = window.map(|(edge, _)| edge).or_else(|| open.events().next());
        Some(found.with(steps, edge).with(steps + 1, window.map(|(_, end)| end)))
    }

    /// `if A then B`, `A iff B`: the first match without a partner, else a pair.
    fn partners(&self, both: bool) -> Option<Found> {
        let (left, right) = (self.track(0)?, self.track(1)?);
        let alone = |slot: usize, own: &Track<'_>, others: &Track<'_>| {
            let event = own.events().find(|event| others.first_of(own.key(*event)).is_none())?;
            Some(Failure { step: own.step(event), slot, event })
        };
        let failure = alone(0, left, right);
        let failure = if both { Failure::first(failure, alone(1, right, left)) } else { failure };
        if let Some(Failure { slot, event, .. }) = failure {
            return Some(Found::default().with(slot, [event]));
        }
        let first = left.events().next();
        Some(Found::default().with(0, first).with(1, first.and_then(|first| right.first_of(left.key(first)))))
    }

    /// `not both A, B`: the pair that is complete first, else one match of each.
    fn not_both(&self) -> Option<Found> {
        let (left, right) = (self.track(0)?, self.track(1)?);
        let pair = |event: u32| {
            let other = right.first_of(left.key(event))?;
            let (own, others) = (left.step(event), right.step(other));
            // Of two pairs complete at one step the one whose A comes last is seen first.
            Some((own.max(others), own < others, event, other))
        };
        match left.events().filter_map(pair).min() {
            Some((_, _, event, other)) => Some(Found::default().with(0, [event]).with(1, [other])),
            None => Some(self.firsts()),
        }
    }
}

/// Whether of several steps the nearest one is within a bound when any of them is: positions grow from call to call.
fn is_by_place(within: Option<Within>) -> bool {
    matches!(within, None | Some(Within::Calls(_)))
}
