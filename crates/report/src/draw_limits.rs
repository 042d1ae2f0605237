//! Which findings the report for people has room for: of a hundred thousand failures it draws a few, and the others need no words.

use averment_engine::vm::outcome::Status;

/// Drawn failures of one assertion when many runs fail for the same reason.
const OF_ONE: usize = 3;
/// Default for `--max-failures`.
const ALL: usize = 10;
/// Assertions whose first failure is described even after the drawing limit is reached.
const EXAMPLES: usize = 200;

/// The number of failures to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawnLimits {
    /// In all.
    pub all: usize,
    /// The limit for one assertion.
    pub of_one: usize,
    /// Assertions whose first failure is told, drawn or not: they are its example where many runs fail.
    pub examples: usize,
}

impl DrawnLimits {
    /// The limits for `--max-failures`; without it, a few for each assertion.
    #[must_use]
    pub fn new(max_failures: Option<usize>) -> Self {
        match max_failures {
            Some(most) => Self { all: most, of_one: most, examples: EXAMPLES },
            None => Self { all: ALL, of_one: OF_ONE, examples: EXAMPLES },
        }
    }
}

/// The parts of a failure that a report needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureDetail {
    /// Nothing.
    Nothing,
    /// The words only: it is the first failure of its assertion.
    Words,
    /// The picture.
    Picture,
}

/// What was asked for of the findings so far.
///
/// Each thread keeps its own, over the runs that it judges in their order. What it leaves out would not be shown: the report asks one of its
/// own in the same way over all runs, and has shown at least as much of every assertion by then.
#[derive(Debug, Default)]
pub struct DrawnFindings {
    /// `None` if every finding is shown.
    limits: Option<DrawnLimits>,
    drawn: usize,
    examples: usize,
    items: Vec<DrawnItem>,
}

#[derive(Debug, Clone, Copy, Default)]
struct DrawnItem {
    drawn: usize,
    failed: bool,
    statuses: u16,
}

impl DrawnFindings {
    /// For reports that draw so many failures, and list the first finding of each other status.
    #[must_use]
    pub fn new(limits: Option<DrawnLimits>) -> Self {
        Self { limits, ..Self::default() }
    }

    /// True if a finding's words may be read. Call it once for each finding of a run, in file order.
    pub fn wants_words(&mut self, item: usize, status: Status) -> bool {
        match status {
            Status::Passed | Status::Skipped => self.limits.is_none(),
            Status::Failed | Status::UnexpectedPassed => self.failure_detail(item) != FailureDetail::Nothing,
            status => {
                let Some(known) = self.drawn_item(item) else { return true };
                let bit = 1 << status as u16;
                let first = known.statuses & bit == 0;
                known.statuses |= bit;
                first || self.limits.is_none()
            }
        }
    }

    /// The parts of a failure that are needed.
    pub fn failure_detail(&mut self, item: usize) -> FailureDetail {
        let Some(limits) = self.limits else { return FailureDetail::Picture };
        let room = self.drawn < limits.all;
        let examples = self.examples < limits.examples;
        let Some(known) = self.drawn_item(item) else { return FailureDetail::Picture };
        let first = !std::mem::replace(&mut known.failed, true);
        if room && known.drawn < limits.of_one {
            known.drawn += 1;
            self.drawn += 1;
            self.examples += usize::from(first);
            return FailureDetail::Picture;
        }
        if first && examples {
            self.examples += 1;
            return FailureDetail::Words;
        }
        FailureDetail::Nothing
    }

    /// True if another failure of the assertion may be shown.
    #[must_use]
    pub fn has_room(&self, item: usize) -> bool {
        let Some(limits) = self.limits else { return true };
        let known = self.items.get(item).copied().unwrap_or_default();
        (self.drawn < limits.all && known.drawn < limits.of_one) || (!known.failed && self.examples < limits.examples)
    }

    fn drawn_item(&mut self, item: usize) -> Option<&mut DrawnItem> {
        if self.items.len() <= item {
            self.items.resize(item + 1, DrawnItem::default());
        }
        self.items.get_mut(item)
    }
}
