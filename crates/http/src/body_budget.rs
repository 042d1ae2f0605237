//! What the bodies of all connections hold together: each alone is bounded, and so is their sum.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes that bodies may hold at one time, and those that they do.
#[derive(Debug)]
pub(crate) struct BodyBudget {
    most: usize,
    held: AtomicUsize,
}

impl BodyBudget {
    pub const fn new(most: usize) -> Self {
        Self { most, held: AtomicUsize::new(0) }
    }

    pub const fn hold_none(&self) -> HeldBytes<'_> {
        HeldBytes { budget: self, count: 0 }
    }
}

/// The bytes of one body, which are given back with it.
pub(crate) struct HeldBytes<'a> {
    budget: &'a BodyBudget,
    count: usize,
}

impl HeldBytes<'_> {
    /// Takes more bytes. False where all bodies together would hold too many.
    pub fn take_more(&mut self, more: usize) -> bool {
        let fits = |held: usize| held.checked_add(more).filter(|sum| *sum <= self.budget.most);
        let taken = self.budget.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok();
        if taken {
            self.count += more;
        }
        taken
    }
}

impl Drop for HeldBytes<'_> {
    fn drop(&mut self) {
        self.budget.held.fetch_sub(self.count, Ordering::Relaxed);
    }
}
