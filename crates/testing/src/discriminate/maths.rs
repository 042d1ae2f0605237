//! Statistics on how well a rule distinguishes good runs from bad ones.
//!
//! Informedness (Youden's J; W. J. Youden, "Index for rating diagnostic tests", Cancer 3:32-35, 1950; the name is from D. M. W. Powers, 2011) is the
//! share of bad runs that fail minus the share of good runs that fail. It is 1 for a rule that fails all bad runs and no good one, 0 for one that
//! cannot distinguish them, and negative for an inverted one. It does not depend on the number of runs in each folder.
//!
//! With few runs, a large J may occur by chance. The two-sided exact test of R. A. Fisher ("On the interpretation of chi-squared from contingency
//! tables", 1922) gives the probability: that of a table at least as unlikely, given its margins.

use super::VerdictTotals;
use averment_base::truth::Verdict;
use std::cmp::Ordering;

/// Failure counts of a rule on each side. Only a failure counts as caught: a rule that is vacuous or undecided on a bad run has not caught it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContingencyTable {
    /// Number of bad runs that fail.
    pub caught: u64,
    /// Number of bad runs.
    pub bad: u64,
    /// Number of good runs that fail.
    pub alarms: u64,
    /// Number of good runs.
    pub good: u64,
}

impl ContingencyTable {
    /// Builds the table from the verdicts of both sides.
    #[must_use]
    pub fn from_totals(good: &VerdictTotals, bad: &VerdictTotals) -> Self {
        Self {
            caught: bad.verdict_count(Verdict::Fail),
            bad: bad.total_count(),
            alarms: good.verdict_count(Verdict::Fail),
            good: good.total_count(),
        }
    }

    /// Returns J multiplied by both run counts, as an exact integer.
    fn scaled_informedness(&self) -> i128 {
        i128::from(self.caught) * i128::from(self.good) - i128::from(self.alarms) * i128::from(self.bad)
    }

    fn table_scale(&self) -> i128 {
        (i128::from(self.good) * i128::from(self.bad)).max(1)
    }

    /// Returns whether J is greater than, equal to or less than 0.
    #[must_use]
    pub fn informedness_sign(&self) -> Ordering {
        self.scaled_informedness().cmp(&0)
    }

    /// Compares by J, exactly.
    #[must_use]
    pub fn compare_informedness(&self, other: &Self) -> Ordering {
        let (left, right) = (
            self.scaled_informedness().checked_mul(other.table_scale()),
            other.scaled_informedness().checked_mul(self.table_scale()),
        );
        left.zip(right).map_or(Ordering::Equal, |(left, right)| left.cmp(&right))
    }

    /// Returns J, between -1 and 1; an empty side counts as 0.
    #[must_use]
    pub fn informedness(&self) -> f64 {
        side_share(self.caught, self.bad) - side_share(self.alarms, self.good)
    }

    /// Returns the probability of a table at least as unlikely by chance.
    #[must_use]
    pub fn chance_probability(&self) -> f64 {
        let failing = self.caught + self.alarms;
        let all = self.good + self.bad;
        let logs = LogFactorials::up_to(all);
        let least = failing.saturating_sub(self.good);
        let most = failing.min(self.bad);
        let log = |caught: u64| {
            logs.log_choose(self.bad, caught) + logs.log_choose(self.good, failing - caught)
                - logs.log_choose(all, failing)
        };
        let own = log(self.caught);
        // Tolerance for rounding errors in the logarithms of equally unlikely tables.
        let sum: f64 = (least..=most).map(log).filter(|log| *log <= own + 1e-9).map(f64::exp).sum();
        sum.min(1.0)
    }
}

fn side_share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

struct LogFactorials(Vec<f64>);

impl LogFactorials {
    fn up_to(most: u64) -> Self {
        let mut sums = vec![0.0];
        let mut sum = 0.0;
        for number in 1..=most {
            sum += (number as f64).ln();
            sums.push(sum);
        }
        Self(sums)
    }

    fn log_factorial(&self, of: u64) -> f64 {
        usize::try_from(of).ok().and_then(|of| self.0.get(of)).copied().unwrap_or(0.0)
    }

    fn log_choose(&self, of: u64, some: u64) -> f64 {
        self.log_factorial(of) - self.log_factorial(some) - self.log_factorial(of.saturating_sub(some))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(caught: u64, bad: u64, alarms: u64, good: u64) -> ContingencyTable {
        ContingencyTable { caught, bad, alarms, good }
    }

    #[test]
    fn informedness_is_the_difference_of_the_shares() {
        assert!((table(8, 8, 0, 12).informedness() - 1.0).abs() < 1e-12);
        assert!((table(4, 8, 3, 12).informedness() - 0.25).abs() < 1e-12);
        assert!((table(0, 8, 12, 12).informedness() + 1.0).abs() < 1e-12);
        assert_eq!(table(0, 0, 0, 0).informedness(), 0.0);
        assert_eq!(table(1, 2, 50, 100).compare_informedness(&table(2, 4, 1, 2)), Ordering::Equal);
        assert_eq!(table(2, 3, 0, 1).compare_informedness(&table(1, 2, 0, 1)), Ordering::Greater);
    }

    /// Values of the tea-tasting experiment and of tables worked out by hand with exact fractions.
    #[test]
    fn chance_is_the_exact_test_of_fisher() {
        let close = |table: ContingencyTable, wanted: f64| {
            assert!((table.chance_probability() - wanted).abs() < 1e-9, "{}", table.chance_probability())
        };
        close(table(3, 4, 1, 4), 34.0 / 70.0);
        close(table(4, 4, 0, 4), 2.0 / 70.0);
        close(table(3, 3, 0, 3), 2.0 / 20.0);
        close(table(0, 5, 0, 5), 1.0);
        close(table(1, 1, 0, 1), 1.0);
    }
}
