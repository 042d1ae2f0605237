//! Limits for the report for people. Of a hundred thousand failures it draws a few; for the others, no text is made.

use averment_engine::vm::outcome::Status;

/// Maximum number of drawn failures of one assertion, if many runs fail for the same reason.
const OF_ONE: usize = 3;
/// Default for `--max-failures`.
const ALL: usize = 10;
/// If there are more runs than this, each assertion has an example, instead of one drawing after the other.
pub const FEW: u64 = 10;
/// Maximum number of assertions whose first failure is described after the drawing limit is reached.
const EXAMPLES: usize = 200;

/// Limits for the number of drawn failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawnLimits {
    /// The limit for all assertions together.
    pub all: usize,
    /// The limit for one assertion.
    pub of_one: usize,
    /// Maximum number of assertions whose first failure is described, drawn or not, as an example for many runs.
    pub examples: usize,
    /// True if failures are drawn independent of the number of runs.
    pub always: bool,
}

impl DrawnLimits {
    /// Returns the limits for `--max-failures`; without it, a few for each assertion.
    #[must_use]
    pub fn new(max_failures: Option<usize>) -> Self {
        match max_failures {
            Some(most) => Self { all: most, of_one: most, examples: EXAMPLES, always: true },
            None => Self { all: ALL, of_one: OF_ONE, examples: EXAMPLES, always: false },
        }
    }
}

/// The parts of a failure that a report needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureDetail {
    /// Nothing.
    Nothing,
    /// Only the words, because it is the first failure of its assertion.
    Words,
    /// The drawing, as the example of its assertion if many runs fail.
    Example,
    /// The drawing.
    Picture,
}

/// Tracks the findings that were shown so far.
///
/// Each thread tracks the runs that it judges, in order, and leaves out findings over the limits. This is safe: the report tracks all runs in the
/// same way, so it reaches the limit of every assertion at least as early as any thread.
#[derive(Debug, Default)]
pub struct DrawnFindings {
    /// `None` if every finding is shown.
    limits: Option<DrawnLimits>,
    runs: u64,
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
    /// Creates a tracker for reports that draw failures within the limits, and list the first finding of each other status.
    #[must_use]
    pub fn new(limits: Option<DrawnLimits>) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Starts a run. Call it before asking for findings of the run.
    pub fn begin_run(&mut self) {
        self.runs = self.runs.saturating_add(1);
    }

    /// True if the words of a finding may be shown. Call it once for each finding of a run, in file order.
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

    /// Returns the parts of a failure that are needed.
    pub fn failure_detail(&mut self, item: usize) -> FailureDetail {
        let Some(limits) = self.limits else { return FailureDetail::Picture };
        let (examples, has_room) = (self.examples, self.is_in_turn(limits));
        let Some(known) = self.drawn_item(item) else { return FailureDetail::Picture };
        let first = !std::mem::replace(&mut known.failed, true);
        let in_turn = has_room && known.drawn < limits.of_one;
        known.drawn += usize::from(in_turn);
        self.drawn += usize::from(in_turn);
        self.examples += usize::from(first);
        match first {
            _ if in_turn => FailureDetail::Picture,
            true if !limits.always && examples < limits.all => FailureDetail::Example,
            true if examples < limits.examples => FailureDetail::Words,
            _ => FailureDetail::Nothing,
        }
    }

    /// True if failures are drawn one after the other, and the limit is not reached.
    fn is_in_turn(&self, limits: DrawnLimits) -> bool {
        self.drawn < limits.all && (limits.always || self.runs <= FEW)
    }

    /// True if another failure of the assertion may be shown.
    #[must_use]
    pub fn has_room(&self, item: usize) -> bool {
        let Some(limits) = self.limits else { return true };
        let known = self.items.get(item).copied().unwrap_or_default();
        (self.is_in_turn(limits) && known.drawn < limits.of_one) || (!known.failed && self.examples < limits.examples)
    }

    fn drawn_item(&mut self, item: usize) -> Option<&mut DrawnItem> {
        if self.items.len() <= item {
            self.items.resize(item + 1, DrawnItem::default());
        }
        self.items.get_mut(item)
    }
}

/// Selects the runs to show if all are counted: the first ones, and each run that has the first result of some assertion with some status.
///
/// Each thread has its own value, as with [`DrawnFindings`]: the first run of all is also the first one for the thread that judges it.
#[derive(Debug, Default)]
pub struct ExampleRuns {
    shown: u64,
    /// Bit set of the statuses seen for each item.
    statuses: Vec<u16>,
}

impl ExampleRuns {
    /// True if a run with these results is shown. Call it once for each run.
    pub fn wants_run(&mut self, results: impl IntoIterator<Item = (usize, Status)>) -> bool {
        let mut wanted = self.shown <= FEW;
        for (item, status) in results {
            wanted |= self.is_first(item, status);
        }
        self.shown += u64::from(wanted);
        wanted
    }

    fn is_first(&mut self, item: usize, status: Status) -> bool {
        if self.statuses.len() <= item {
            self.statuses.resize(item + 1, 0);
        }
        let Some(known) = self.statuses.get_mut(item) else { return true };
        let bit = 1 << status as u16;
        let is_first = *known & bit == 0 && status != Status::Skipped;
        *known |= bit;
        is_first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_few_runs_failures_are_drawn_in_turn_and_of_many_each_assertion_has_an_example() {
        let mut drawn = DrawnFindings::new(Some(DrawnLimits::new(None)));
        let mut ask = |item| {
            drawn.begin_run();
            drawn.failure_detail(item)
        };
        let in_turn: Vec<FailureDetail> = [0, 0, 0, 0, 1].map(&mut ask).into();
        assert_eq!(
            in_turn,
            [FailureDetail::Picture; 3]
                .into_iter()
                .chain([FailureDetail::Nothing, FailureDetail::Picture])
                .collect::<Vec<_>>()
        );
        (5..FEW).for_each(|_| assert_eq!(ask(0), FailureDetail::Nothing));
        // With many runs, the first failure of each further assertion is described, and the first few are drawn.
        let examples: Vec<FailureDetail> = (0..ALL + 1).map(&mut ask).collect();
        assert_eq!(examples[..2], [FailureDetail::Nothing; 2]);
        assert_eq!(examples[2..ALL], [FailureDetail::Example; ALL - 2]);
        assert_eq!(examples[ALL], FailureDetail::Words);
    }

    #[test]
    fn failures_that_are_drawn_as_they_come_are_drawn_whatever_the_number_of_runs() {
        let mut drawn = DrawnFindings::new(Some(DrawnLimits::new(Some(30))));
        for _ in 0..30 {
            drawn.begin_run();
            assert_eq!(drawn.failure_detail(7), FailureDetail::Picture);
        }
        assert_eq!(drawn.failure_detail(7), FailureDetail::Nothing);
        assert!(!drawn.has_room(7) && drawn.has_room(8));
    }

    #[test]
    fn the_first_runs_are_shown_and_then_those_with_a_new_status() {
        let mut examples = ExampleRuns::default();
        let shown = (0..20).filter(|_| examples.wants_run([(0, Status::Passed)])).count() as u64;
        assert_eq!(shown, FEW + 1);
        assert!(!examples.wants_run([(0, Status::Passed), (1, Status::Skipped)]), "a skipped one is never listed");
        assert!(examples.wants_run([(0, Status::Failed)]) && examples.wants_run([(1, Status::Passed)]));
        assert!(!examples.wants_run([(0, Status::Failed), (1, Status::Passed)]));
    }
}
