//! The memory that one run may take, as it is counted while the run is read.

use super::Limits;
use bumpalo::Bump;

/// How much of the memory of one run is taken: by its text, and by what was put into its arena since the reading began.
#[derive(Debug, Clone, Copy)]
pub struct RunMemory<'run> {
    /// Where its values and steps are.
    pub arena: &'run Bump,
    /// Bytes that were in use before it.
    before: usize,
    most: usize,
    text: usize,
}

impl<'run> RunMemory<'run> {
    /// Begins to count for a run with a text of so many bytes.
    #[must_use]
    pub fn start(arena: &'run Bump, limits: &Limits, text: usize) -> Self {
        // What the process itself takes is left out.
        let most = limits.run_memory.saturating_sub(limits.run_memory / 16);
        // The text of a run is held twice: in the part of its file that is judged, and for itself.
        Self { arena, before: used_bytes(arena), most, text: text.saturating_mul(2) }
    }

    /// Whether so many bytes beside the text and the arena are still within the limit.
    #[must_use]
    pub fn holds(&self, beside: usize) -> bool {
        let taken = used_bytes(self.arena).saturating_sub(self.before).saturating_add(self.text);
        taken.saturating_add(beside) <= self.most
    }

    /// What is said of a run that takes more.
    #[must_use]
    pub fn refusal(&self) -> String {
        format!("the values and steps of the run take more than {} MiB of memory", self.most >> 20)
    }
}

/// Bytes of an arena that are in use. Blocks that it has taken and not filled do not count: they depend on what was read before.
#[must_use]
pub fn used_bytes(arena: &Bump) -> usize {
    arena.allocated_bytes().saturating_sub(arena.chunk_capacity())
}
