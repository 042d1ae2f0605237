//! The text of a run while its parts are gathered: a list of them. Most runs have one part, a whole line: those of a chunk stand in one block
//! of memory, which is asked for once.

use super::RunText;
use std::ops::Range;
use std::sync::Arc;

/// The texts of the runs of a chunk, one behind the other.
#[derive(Debug, Default)]
pub(super) struct TextBlock(String);

impl TextBlock {
    /// Whether there is that room is told where it is needed: a line may be of any length.
    pub(super) fn with_room(bytes: usize) -> Self {
        let mut text = String::new();
        let _ = averment_base::memory::allow_failure(|| text.try_reserve(bytes));
        Self(text)
    }

    /// Nothing is added any more.
    pub(super) fn into_shared(mut self) -> Arc<String> {
        // Where most lines went to runs of several parts, the room for them is given back.
        if self.0.len() < self.0.capacity() / 2 {
            self.0.shrink_to_fit();
        }
        Arc::new(self.0)
    }

    fn part(&self, range: &Range<usize>) -> &str {
        self.0.get(range.clone()).unwrap_or_default()
    }
}

/// Without the bracket that closes the list, if it is the run's own.
#[derive(Debug)]
pub(super) enum GatheredText {
    /// In the block of the chunk that is being cut.
    InBlock(Range<usize>),
    /// In the block of an earlier chunk.
    Shared(Arc<String>, Range<usize>),
    /// A run of several parts.
    Own(String),
}

impl Default for GatheredText {
    fn default() -> Self {
        Self::InBlock(0..0)
    }
}

impl GatheredText {
    /// Without the closing bracket.
    pub(super) fn length(&self) -> usize {
        match self {
            Self::InBlock(range) | Self::Shared(_, range) => range.len().saturating_sub(1),
            Self::Own(text) => text.len(),
        }
    }

    /// Adds a part behind the others. Returns how many bytes of a block are of no run any more.
    pub(super) fn add_part(&mut self, part: &str, block: &mut TextBlock) -> usize {
        if let Self::InBlock(Range { start: 0, end: 0 }) = self {
            let start = block.0.len();
            block.0.push('[');
            block.0.push_str(part);
            block.0.push(']');
            *self = Self::InBlock(start..block.0.len());
            return 0;
        }
        let left = match self {
            Self::Own(_) => 0,
            Self::InBlock(range) | Self::Shared(_, range) => range.len(),
        };
        if let Self::InBlock(range) = self {
            *self = Self::Own(open_list(block.part(range), part.len()));
        }
        self.leave_block();
        if let Self::Own(text) = self {
            text.push_str(",\n");
            text.push_str(part);
        }
        left
    }

    /// Stands in the whole block of its chunk from here on.
    pub(super) fn share_block(&mut self, block: &Arc<String>) {
        if let Self::InBlock(range) = self {
            *self = Self::Shared(Arc::clone(block), std::mem::take(range));
        }
    }

    /// Takes its text out of an earlier block.
    pub(super) fn leave_block(&mut self) {
        if let Self::Shared(block, range) = self {
            *self = Self::Own(open_list(block.get(range.clone()).unwrap_or_default(), 0));
        }
    }

    /// The whole list.
    pub(super) fn into_run_text(self, block: &TextBlock) -> RunText {
        match self {
            Self::InBlock(range) => RunText::whole_text(block.part(&range).to_owned()),
            Self::Shared(block, range) => RunText::Range(block, range),
            Self::Own(mut text) => {
                text.push(']');
                RunText::whole_text(text)
            }
        }
    }
}

/// A list without the bracket that closes it, with room behind it.
fn open_list(list: &str, room: usize) -> String {
    let open = list.strip_suffix(']').unwrap_or(list);
    let mut text = String::with_capacity(open.len() + room + 3);
    text.push_str(open);
    text
}
