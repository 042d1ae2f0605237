//! Which findings the report for people has room for: of a hundred thousand failures it draws ten, and the others need no words.

use averment_engine::vm::outcome::Status;

/// What was asked for of the findings so far.
///
/// Each thread keeps its own, over the runs that it judges in their order. What it leaves out would not be drawn: the report counts in the
/// same way over all runs, and has drawn at least as much of every assertion by then.
#[derive(Debug, Default)]
pub struct Drawn {
    /// Failures that are drawn in all and of one assertion; `None` where every finding is shown.
    most: Option<(usize, usize)>,
    drawn: usize,
    items: Vec<DrawnItem>,
}

#[derive(Debug, Clone, Copy, Default)]
struct DrawnItem {
    drawn: usize,
    /// The statuses that were seen.
    statuses: u16,
}

impl Drawn {
    /// For reports that draw so many failures, in all and of one assertion, and list the first finding of each other status.
    #[must_use]
    pub fn new(most: Option<(usize, usize)>) -> Self {
        Self { most, ..Self::default() }
    }

    /// Whether somebody may read the words of a finding. Of a run, each is asked for once, in file order.
    pub fn wants(&mut self, item: usize, status: Status) -> bool {
        let Some((all, of_one)) = self.most else { return true };
        if self.items.len() <= item {
            self.items.resize(item + 1, DrawnItem::default());
        }
        let Some(known) = self.items.get_mut(item) else { return true };
        match status {
            Status::Passed | Status::Skipped => false,
            Status::Failed | Status::UnexpectedPassed => {
                let wanted = self.drawn < all && known.drawn < of_one;
                self.drawn += usize::from(wanted);
                known.drawn += usize::from(wanted);
                wanted
            }
            status => {
                let bit = 1 << status as u16;
                let first = known.statuses & bit == 0;
                known.statuses |= bit;
                first
            }
        }
    }

    /// Whether a failure of an assertion may still be drawn.
    #[must_use]
    pub fn has_room(&self, item: usize) -> bool {
        let Some((all, of_one)) = self.most else { return true };
        self.drawn < all && self.items.get(item).is_none_or(|known| known.drawn < of_one)
    }
}
