//! `together A, B` and `apart A, B`: steps in one turn, or overlapping in time.

use super::explain;
use super::keys::Keys;
use super::monitor::{Judged, Monitor, Why};
use super::numbers::Words;
use super::pool::Pool;
use super::statement::Polarity;
use super::view::{Hit, View};
use crate::vm::fault::Fault;
use averment_runs::run::Step;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// The monitor.
pub(super) struct Together {
    wanted: bool,
    /// The matches of each side, for the other.
    sides: [Pool<Times>; 2],
    found: Option<(Hit, u32)>,
}

impl Together {
    /// A monitor that wants steps together, or apart.
    pub(super) fn new(view: &View<'_, '_>, wanted: bool) -> Self {
        Self {
            wanted,
            sides: [Pool::new(Keys::between(view, 0, 1)), Pool::new(Keys::between(view, 1, 0))],
            found: None,
        }
    }

    fn polarity(&self) -> Polarity {
        if self.wanted { Polarity::Helps } else { Polarity::Hurts }
    }
}

impl<'run> Monitor<'run> for Together {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        let polarity = self.polarity();
        let counted: SmallVec<[&Hit; 2]> = hits.iter().filter(|hit| view.counts(hit)).collect();
        for hit in &counted {
            let Some(step) = view.step(hit.step) else { continue };
            let (Some(others), true) = (self.sides.get_mut(1 - hit.slot.min(1)), self.found.is_none()) else {
                continue;
            };
            let found = &mut self.found;
            others.visit(view, hit.side(), |group, fit, view| {
                if view.accepts(fit, polarity) {
                    let together = group.data.together(step);
                    let other = together.sure.or_else(|| together.unknown.filter(|_| view.assume(polarity)));
                    *found = other.map(|other| ((*hit).clone(), other));
                }
                Ok(if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
        }
        for hit in counted {
            if let (Some(side), Some(step)) = (self.sides.get_mut(hit.slot), view.step(hit.step)) {
                side.add(view, hit, &hit.env, |times| times.add(hit.step, step))?;
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let found = self.found.is_some();
        Ok(if self.wanted { Judged::holds_for_good(found) } else { Judged::fails_for_good(found) })
    }

    fn is_settled(&self) -> bool {
        self.found.is_some()
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        match &self.found {
            Some((hit, other)) => explain::are_together(view, hit, *other),
            None => explain::never_together(view),
        }
    }

    fn prove(&self, view: &mut View<'_, 'run>) -> Why {
        self.explain(view)
    }
}

/// When the steps of a group happened.
#[derive(Debug, Default)]
struct Times {
    turns: Words,
    starts: Words,
    /// Spans of time that no other one contains: later starts have later ends.
    spans: Vec<Span>,
    /// The first step that lacks a turn, a time, or both: by `[turn recorded][time recorded]`.
    lacking: [[Option<u32>; 2]; 2],
}

#[derive(Debug, Clone, Copy)]
struct Span {
    start: f64,
    end: f64,
    step: u32,
}

/// A step that is together with another one.
#[derive(Default)]
struct Partner {
    sure: Option<u32>,
    unknown: Option<u32>,
}

impl Times {
    fn add(&mut self, number: u32, step: &Step<'_>) {
        if let Some(turn) = step.turn {
            self.turns.number(u64::from(turn), number);
        }
        if let Some(start) = step.start {
            self.starts.number(bits(start), number);
        }
        let timed = step.start.zip(step.end);
        if let Some((start, end)) = timed {
            self.add_span(Span { start, end, step: number });
        }
        let lacking = self.lacking.get_mut(usize::from(step.turn.is_some()));
        if let Some(first) = lacking.and_then(|row| row.get_mut(usize::from(timed.is_some()))) {
            first.get_or_insert(number);
        }
    }

    /// A span inside another one overlaps nothing that the other does not.
    fn add_span(&mut self, span: Span) {
        let at = self.spans.partition_point(|known| known.start <= span.start);
        let contained = at.checked_sub(1).and_then(|at| self.spans.get(at)).is_some_and(|known| known.end >= span.end);
        if contained {
            return;
        }
        let covered = self.spans.get(at..).unwrap_or(&[]).partition_point(|known| known.end <= span.end);
        let from = self.spans.get(..at).unwrap_or(&[]).partition_point(|known| known.start < span.start);
        self.spans.splice(from..at + covered, [span]);
    }

    /// A step of the group that is in one turn with a step, or overlaps it; otherwise one of which the run does not tell.
    fn together(&self, step: &Step<'_>) -> Partner {
        let by_turn = step.turn.and_then(|turn| self.turns.get(u64::from(turn)));
        let by_start = step.start.and_then(|start| self.starts.get(bits(start)));
        let sure = by_turn.or(by_start).or_else(|| self.overlapping(step));
        let unknown = if sure.is_none() { self.may_be(step) } else { None };
        Partner { sure, unknown }
    }

    fn overlapping(&self, step: &Step<'_>) -> Option<u32> {
        let (start, end) = step.start.zip(step.end)?;
        let before = self.spans.partition_point(|known| known.start < end);
        let last = self.spans.get(before.checked_sub(1)?)?;
        (start < last.end).then_some(last.step)
    }

    /// A pair is unknown when one of both lacks a turn and one of both lacks a time.
    fn may_be(&self, step: &Step<'_>) -> Option<u32> {
        let (turn, timed) = (step.turn.is_some(), step.start.is_some() && step.end.is_some());
        let known = |a: usize, b: usize| self.lacking.get(a).and_then(|row| row.get(b)).copied().flatten();
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)].into_iter();
        let lacks = |&(a, b): &(usize, usize)| (a == 0 || !turn) && (b == 0 || !timed);
        pairs.filter(lacks).filter_map(|(a, b)| known(a, b)).min()
    }
}

/// Equal starts have equal bits; zero has two forms.
fn bits(start: f64) -> u64 {
    (start + 0.0).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_others_contain_are_not_kept_and_overlaps_are_found() {
        let all =
            [(0.0, 10.0), (5.0, 8.0), (5.0, 20.0), (1.0, 3.0), (30.0, 31.0), (4.0, 40.0), (50.0, 50.0), (2.0, 2.5)];
        let mut times = Times::default();
        let mut added: Vec<(f64, f64)> = Vec::new();
        for (number, (start, end)) in (0..).zip(all) {
            times.add_span(Span { start, end, step: number });
            added.push((start, end));
            for from in 0..52 {
                for length in 0..6 {
                    let (start, end) = (f64::from(from), f64::from(from + length));
                    let expected = added.iter().any(|(a, b)| *a < end && start < *b);
                    let before = times.spans.partition_point(|known| known.start < end);
                    let found = before.checked_sub(1).is_some_and(|at| start < times.spans[at].end);
                    assert_eq!(found, expected, "{start}..{end} among {added:?}");
                }
            }
        }
    }
}
