//! The calls of a log that determine the state of a flow. Calls between two equal states are left out.

use crate::growing::{FlowState, IndexedFlow, LineTouch};

/// Maximum number of kept calls. With more, the whole log is read.
const MOST_LINES: usize = 256;
/// Approximate memory of a line with its state, in bytes.
const LINE_BYTES: usize = 64;

/// Lines of calls, each with the state of the flow after it.
#[derive(Debug, Default)]
pub(super) struct FlowLines {
    lines: Vec<(u32, FlowState)>,
    /// True if the state of the flow is unknown.
    is_lost: bool,
}

impl FlowLines {
    /// Adds the line of an allowed call.
    pub(super) fn add_call(&mut self, line: u32, touch: &LineTouch, flow: &IndexedFlow) {
        let start = flow.start();
        let before = self.lines.last().map_or(&start, |(_, state)| state);
        let Some(state) = flow.behind(before, touch).filter(|_| !self.is_lost && self.lines.len() < MOST_LINES) else {
            self.is_lost = true;
            self.lines.clear();
            return;
        };
        if state == start {
            self.lines.clear();
        } else if let Some(place) = self.lines.iter().position(|(_, known)| *known == state) {
            self.lines.truncate(place + 1);
        } else {
            self.lines.push((line, state));
        }
    }

    /// Returns the lines; `None` if they are unknown.
    pub(super) fn lines(&self) -> Option<Vec<u32>> {
        (!self.is_lost).then(|| self.lines.iter().map(|(line, _)| *line).collect())
    }

    /// Returns the approximate memory use in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.lines.len() * LINE_BYTES
    }
}
