//! What a selection takes around a step: the steps behind it up to a bound, the row of neighbouring calls that it stands in.

use super::{SelectedSteps, SelectionPart};
use crate::vm::fault::Fault;
use crate::vm::machine::Machine;
use averment_checker::ir::StepDistance;
use averment_runs::run::{Step, StepKind};

impl<'run> Machine<'run> {
    /// Steps from this one up to the bound; `None` if the run does not tell or may still grow.
    pub(super) fn window_part(
        &mut self,
        taken: &SelectedSteps<'run>,
        within: StepDistance,
        step: &'run Step<'run>,
    ) -> Result<Option<SelectionPart>, Fault> {
        let at = self.step_position(step)?;
        let from = taken.steps.partition_point(|(one, _)| *one < at);
        let steps = self.run.steps;
        let of = |place: usize| taken.steps.get(place).and_then(|(number, _)| steps.get(*number as usize));
        if taken.kinds.iter().any(|kind| !self.run.is_ordered(*kind, step.kind)) {
            return Ok(None);
        }
        let (mut unknown, mut before) = (Vec::new(), from);
        if taken.in_order {
            // A step of which the run does not tell the place is near itself alone.
            if of(from).is_some_and(|other| is_within(within, step, other).is_none()) {
                return Ok(None);
            }
            // Behind the first that is too far all are.
            let length = taken.steps.len().saturating_sub(from);
            let reaches = |place: usize| of(place).is_some_and(|other| is_within(within, step, other) == Some(true));
            let (mut low, mut high) = (0, length);
            while low < high {
                self.meter.charge_fuel(1)?;
                let middle = low.midpoint(high);
                if reaches(from.saturating_add(middle)) { low = middle.saturating_add(1) } else { high = middle }
            }
            before = from.saturating_add(low);
        } else {
            for place in from..taken.steps.len() {
                self.meter.charge_fuel(1)?;
                let Some(other) = of(place) else { continue };
                match is_within(within, step, other) {
                    None => return Ok(None),
                    Some(true) => before = place.saturating_add(1),
                    Some(false) => unknown.push(u32::try_from(place).unwrap_or(u32::MAX)),
                }
            }
            unknown.retain(|place| (*place as usize) < before);
        }
        // Of a run that goes on a window is whole once a step lies behind it.
        let is_behind =
            |other: &Step<'run>| other.kind == StepKind::Call && is_within(within, step, other) == Some(false);
        if !self.run.complete && !steps.iter().rev().take(1).any(is_behind) {
            return Ok(None);
        }
        Ok(Some(SelectionPart { from, before, unknown }))
    }

    /// The row that a call belongs to; `None` if a longer run may extend it.
    pub(super) fn row_part(
        &mut self,
        taken: &SelectedSteps<'run>,
        step: &'run Step<'run>,
    ) -> Result<Option<SelectionPart>, Fault> {
        let at = self.step_position(step)?;
        let Ok(place) = taken.row_of.binary_search_by_key(&at, |(one, _)| *one) else { return Ok(None) };
        let Some((_, row)) = taken.row_of.get(place) else { return Ok(None) };
        let from = taken.rows.partition_point(|one| one < row);
        let before = taken.rows.partition_point(|one| one <= row);
        let end = taken.row_of.partition_point(|(_, one)| one <= row);
        let last = end.checked_sub(1).and_then(|last| taken.row_of.get(last)).map_or(u32::MAX, |(number, _)| *number);
        let goes_on = !self.run.complete && {
            let executed = step.status.is_executed();
            let behind = self.run.steps.get((last as usize).saturating_add(1)..).unwrap_or_default();
            self.meter.charge_fuel(1)?;
            !behind.iter().any(|other| other.kind == StepKind::Call && other.status.is_executed() == executed)
        };
        Ok(if goes_on { None } else { Some(SelectionPart { from, before, unknown: Vec::new() }) })
    }
}

/// True if a step is this one or a later one within the bound; `None` if the run does not tell.
fn is_within<'s>(within: StepDistance, step: &Step<'s>, later: &Step<'s>) -> Option<bool> {
    if std::ptr::eq(step, later) {
        return Some(true);
    }
    match within {
        StepDistance::Calls(most) => Some(u64::from(later.call_position.saturating_sub(step.call_position)) <= most),
        StepDistance::Turns(most) => {
            let (from, to) = step.turn.zip(later.turn)?;
            Some(to <= from || u64::from(to.saturating_sub(from)) <= most)
        }
        StepDistance::Time(most) => {
            let (from, to) = step.start.zip(later.start)?;
            Some(to - from <= most)
        }
    }
}

impl SelectedSteps<'_> {
    /// Records whether turns, starts and positions only grow, so that a bound is found by binary search.
    pub(super) fn note_order(&mut self, within: StepDistance, steps: &[Step<'_>]) {
        let key = |step: &Step<'_>| match within {
            StepDistance::Calls(_) => Some(f64::from(step.call_position)),
            StepDistance::Turns(_) => step.turn.map(f64::from),
            StepDistance::Time(_) => step.start,
        };
        let mut last = f64::NEG_INFINITY;
        self.in_order = self.steps.iter().all(|(number, _)| {
            let next = steps.get(*number as usize).and_then(key);
            let grows = next.is_some_and(|next| next >= last);
            last = next.unwrap_or(last);
            grows
        });
    }

    pub(super) fn note_rows(&mut self, ranks: &[CallRank]) {
        let (mut row, mut last): (u32, Option<CallRank>) = (0, None);
        for (number, _) in &self.steps {
            let Some(rank) = ranks.get(*number as usize) else { continue };
            let goes_on =
                last.is_some_and(|last| last.executed == rank.executed && last.rank.checked_add(1) == Some(rank.rank));
            if !goes_on {
                row = row.saturating_add(1);
            }
            last = Some(*rank);
            self.rows.push(row);
            self.row_of.push((*number, row));
        }
    }
}

/// The position of a call among the executed calls, or among those not executed.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallRank {
    rank: u32,
    executed: bool,
}

/// The rank of a step that is not a call is meaningless.
pub(super) fn call_ranks(steps: &[Step<'_>]) -> Vec<CallRank> {
    let mut next = [0_u32; 2];
    let rank = |step: &Step<'_>| {
        let executed = step.status.is_executed();
        let rank = next.get(usize::from(executed)).copied().unwrap_or(0);
        if let Some(next) = next.get_mut(usize::from(executed)).filter(|_| step.kind == StepKind::Call) {
            *next = next.saturating_add(1);
        }
        CallRank { rank, executed }
    };
    steps.iter().map(rank).collect()
}
