//! The calls of a log that lead a flow to where it stands: those between two places where it stood alike are left out.

use crate::growing::{FlowState, IndexedFlow, LineTouch};

/// With more calls the whole log is read.
const MOST_LINES: usize = 256;
/// What a line with its state takes, about.
const LINE_BYTES: usize = 64;

/// Lines of calls, each with where the flow stands behind it.
#[derive(Debug, Default)]
pub(super) struct FlowLines {
    lines: Vec<(u32, FlowState)>,
    /// True where it is not known how the flow stands.
    is_lost: bool,
}

impl FlowLines {
    /// Adds the line of a call that was let through.
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

    /// The lines; `None` where they are not known.
    pub(super) fn lines(&self) -> Option<Vec<u32>> {
        (!self.is_lost).then(|| self.lines.iter().map(|(line, _)| *line).collect())
    }

    /// The bytes that they take, about.
    pub(super) fn bytes(&self) -> usize {
        self.lines.len() * LINE_BYTES
    }
}
