//! Which tools were called so far, and which of their calls wait for a result that names the tool alone. Each step is looked at once, however
//! often is asked.

use super::nodes::node_text;
use super::run_builder::{RunBuilder, StepId};
use averment_runs::normal::of_step;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

#[derive(Default)]
pub(super) struct CalledTools<'run> {
    /// Steps that were looked at.
    steps: usize,
    /// Calls of each tool; in front stand those that may have a result.
    calls: FxHashMap<&'run str, VecDeque<StepId>>,
}

impl<'run> CalledTools<'run> {
    pub(super) fn was_called(&mut self, tool: &str, builder: &RunBuilder<'run, '_>) -> bool {
        for call in builder.calls_from(self.steps) {
            let tool = builder.step_field(call, of_step::TOOL).and_then(node_text);
            tool.into_iter().for_each(|tool| self.calls.entry(tool).or_default().push_back(call));
        }
        self.steps = builder.step_count();
        self.calls.contains_key(tool)
    }

    /// The first call of a tool that has no result.
    pub(super) fn waiting_call(&mut self, tool: &'run str, builder: &RunBuilder<'run, '_>) -> Option<StepId> {
        if !self.was_called(tool, builder) {
            return None;
        }
        let calls = self.calls.get_mut(tool)?;
        while calls.front().is_some_and(|call| builder.step_field(*call, of_step::RESULT).is_some()) {
            calls.pop_front();
        }
        calls.front().copied()
    }

    /// The same, which waits no longer.
    pub(super) fn take_waiting(&mut self, tool: &'run str, builder: &RunBuilder<'run, '_>) -> Option<StepId> {
        let call = self.waiting_call(tool, builder)?;
        self.calls.get_mut(tool)?.pop_front();
        Some(call)
    }
}
