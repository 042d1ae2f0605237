//! Which findings the report for people has room for: of a hundred thousand failures it draws a few, and the others need no words.

use averment_engine::vm::outcome::Status;

/// Drawn failures of one assertion when many runs fail for the same reason.
const OF_ONE: usize = 3;
/// Default for `--max-failures`.
const ALL: usize = 10;
/// With more runs than this, failures are not drawn one after the other: each assertion has an example.
pub const FEW: u64 = 10;
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
    /// Whether failures are drawn whatever the number of runs.
    pub always: bool,
}

impl DrawnLimits {
    /// The limits for `--max-failures`; without it, a few for each assertion.
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
    /// The words only: it is the first failure of its assertion.
    Words,
    /// The picture, as the example of its assertion where many runs fail.
    Example,
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
    /// For reports that draw so many failures, and list the first finding of each other status.
    #[must_use]
    pub fn new(limits: Option<DrawnLimits>) -> Self {
        Self { limits, ..Self::default() }
    }

    /// To be called for each run before it is asked for findings of it.
    pub fn begin_run(&mut self) {
        self.runs = self.runs.saturating_add(1);
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

    /// True if failures are drawn one after the other, and there is room for one.
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

/// Which runs are shown where all are counted: the first ones, and each that has a result with a status that its assertion did not have yet.
///
/// Each thread keeps its own, as with [`DrawnFindings`]: what comes first of all comes first for the thread that judges it.
#[derive(Debug, Default)]
pub struct ExampleRuns {
    shown: u64,
    /// By item, a bit for each status.
    statuses: Vec<u16>,
}

impl ExampleRuns {
    /// Whether a run with these results is shown. Call it once for each run.
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
        // Many runs: the first failure of each further assertion, with a picture of the first ones.
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
