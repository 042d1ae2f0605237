//! The matches of a window, each with its values and with a mark where the run does not tell whether it is one.

use super::timeline::to_index;
use super::view::{Hit, WindowView};
use super::window_events::{SeenPatterns, admit_event};
use crate::vm::fault::Fault;
use smallvec::SmallVec;

/// All matches in the order of steps; those of one step by operand.
#[derive(Debug, Default)]
pub(super) struct WindowHits {
    hits: Vec<Hit>,
    of_operand: SmallVec<[Vec<u32>; 3]>,
}

impl WindowHits {
    pub(super) fn gather(view: &mut WindowView<'_, '_>) -> Result<(Self, SeenPatterns), Fault> {
        let (timeline, selected, end) = (view.timeline, view.selected, view.context.window.end);
        let mut hits: Vec<Hit> = Vec::new();
        for (operand, selection) in selected.iter().enumerate() {
            for (event, _) in selection.numbered_events(timeline).take_while(|(_, event)| (event.step as usize) < end) {
                view.spend_fuel(1)?;
                hits.extend(admit_event(operand, event, view)?);
            }
        }
        if selected.len() > 1 {
            hits.sort_by_key(|hit| hit.step);
        }
        let mut found = Self { of_operand: selected.iter().map(|_| Vec::new()).collect(), hits };
        let mut seen = SeenPatterns { operands: selected.iter().map(|_| Default::default()).collect(), unknown: None };
        for (number, hit) in (0..).zip(&found.hits) {
            seen.note_hit(hit);
            found.of_operand.get_mut(hit.operand).into_iter().for_each(|of_operand| of_operand.push(number));
        }
        Ok((found, seen))
    }

    /// The matches of each step.
    pub(super) fn steps(&self) -> impl Iterator<Item = &[Hit]> {
        self.hits.chunk_by(|one, other| one.step == other.step)
    }

    pub(super) fn all(&self) -> &[Hit] {
        &self.hits
    }

    pub(super) fn count(&self, operand: usize) -> u32 {
        self.of_operand.get(operand).map_or(0, |of_operand| to_index(of_operand.len()))
    }

    pub(super) fn get(&self, operand: usize, number: u32) -> Option<&Hit> {
        self.hits.get(*self.of_operand.get(operand)?.get(number as usize)? as usize)
    }

    pub(super) fn of_operand(&self, operand: usize) -> impl Iterator<Item = &Hit> {
        (0..self.count(operand)).filter_map(move |number| self.get(operand, number))
    }

    /// The matches of an operand at a step.
    pub(super) fn at(&self, operand: usize, step: u32) -> impl Iterator<Item = &Hit> {
        let from = self.hits.partition_point(|hit| hit.step < step);
        let of_step = self.hits.get(from..).unwrap_or(&[]).iter().take_while(move |hit| hit.step == step);
        of_step.filter(move |hit| hit.operand == operand)
    }
}
