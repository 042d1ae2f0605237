//! Bounds the memory for the bodies of all connections together. Each single body has its own limit.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A limit on the bytes of all bodies, and the bytes held now.
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

/// The bytes of one body; dropping it returns them to the budget.
pub(crate) struct HeldBytes<'a> {
    budget: &'a BodyBudget,
    count: usize,
}

impl HeldBytes<'_> {
    /// Reserves more bytes. Returns false if all bodies together would exceed the limit.
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
