//! Windows whose body holds, and would not if a value of the header were one with another that is nearly equal.

use super::super::unjudged_steps;
use super::{JudgeBody, OpenedWindow, TemporalEngine};
use crate::vm::context::JudgeContext;
use crate::vm::fault::Fault;
use crate::vm::machine::Machine;
use crate::vm::outcome::UnjudgedRecord;
use averment_base::truth::Verdict;
use averment_base::value::json::to_json;

impl<'run> TemporalEngine<'run> {
    /// The step that opened the window, where the body could say something else: it counts as not judged.
    pub(super) fn unjudged_window(
        &mut self,
        machine: &mut Machine<'run>,
        window: &OpenedWindow<'run>,
        inside: &JudgeContext<'run>,
        body: &mut JudgeBody<'_, 'run>,
    ) -> Result<Option<Box<UnjudgedRecord>>, Fault> {
        let (Some(why), Some(opening)) = (self.twin_words(window), window.opening) else { return Ok(None) };
        let before = machine.joins_near_values(true);
        let again = machine.without_observers(|machine| body(self, machine, inside));
        machine.joins_near_values(before);
        if matches!(again?.verdict, Verdict::Pass | Verdict::Vacuous | Verdict::Skipped) {
            return Ok(None);
        }
        let things = unjudged_steps::count_steps(machine.run.steps.get(opening as usize).into_iter());
        Ok(Some(Box::new(UnjudgedRecord { things, why, steps: vec![opening], all: vec![opening] })))
    }

    /// `"A1" and "a1" are two values`: a value that the header binds, and one of the run that is nearly equal.
    fn twin_words(&self, window: &OpenedWindow<'run>) -> Option<String> {
        let bound = window.context.bindings.iter().flatten();
        let values = &self.timeline.as_ref()?.values;
        let (one, other) = bound.filter_map(|node| Some((*node, values.near_twin(node)?))).next()?;
        Some(format!("{} and {} are two values", to_json(&one.value), to_json(&other.value)))
    }
}
