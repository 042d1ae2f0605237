//! Which findings the report for people has room for: of a hundred thousand failures it draws a few, and the others need no words.

use averment_engine::vm::outcome::Status;

/// Failures of one assertion that are drawn when many runs fail for the same reason.
const OF_ONE: usize = 3;
/// Failures that are drawn unless the command line says otherwise.
const ALL: usize = 10;
/// Assertions of which the first failure is told, also where enough is drawn.
const EXAMPLES: usize = 200;

/// How many failures are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawnLimits {
    /// In all.
    pub all: usize,
    /// Of one assertion.
    pub of_one: usize,
    /// Assertions whose first failure is told, drawn or not: they are its example where many runs fail.
    pub examples: usize,
}

impl DrawnLimits {
    /// What `--max-failures` says; a few of each assertion unless it is given.
    #[must_use]
    pub fn new(max_failures: Option<usize>) -> Self {
        match max_failures {
            Some(most) => Self { all: most, of_one: most, examples: EXAMPLES },
            None => Self { all: ALL, of_one: OF_ONE, examples: EXAMPLES },
        }
    }
}

/// What somebody wants of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureDetail {
    /// Nothing.
    Nothing,
    /// Its words: it is the first of its assertion.
    Words,
    /// It is drawn.
    Picture,
}

/// What was asked for of the findings so far.
///
/// Each thread keeps its own, over the runs that it judges in their order. What it leaves out would not be shown: the report asks one of its
/// own in the same way over all runs, and has shown at least as much of every assertion by then.
#[derive(Debug, Default)]
pub struct DrawnFindings {
    /// `None` where every finding is shown.
    limits: Option<DrawnLimits>,
    drawn: usize,
    examples: usize,
    items: Vec<DrawnItem>,
}

#[derive(Debug, Clone, Copy, Default)]
struct DrawnItem {
    drawn: usize,
    failed: bool,
    /// The statuses that were seen.
    statuses: u16,
}

impl DrawnFindings {
    /// For reports that draw so many failures, and list the first finding of each other status.
    #[must_use]
    pub fn new(limits: Option<DrawnLimits>) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Whether somebody may read the words of a finding. Of a run, each is asked for once, in file order.
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

    /// What is wanted of a failure.
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

    /// Whether a failure of an assertion may still be shown.
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
