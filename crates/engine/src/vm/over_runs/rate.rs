//! Rates of runs: what so many passes of so many runs say.

use super::Group;
use crate::ir::Share;
use averment_base::truth::Verdict;

/// The runs of a group by what they say of the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Runs {
    /// Those in which it passes.
    pub(super) passes: u64,
    /// Those that cannot be told: undecided, or broken down.
    pub(super) open: u64,
    /// All that exercise it.
    pub(super) all: u64,
    /// Those that say nothing: vacuous or skipped.
    pub(super) idle: u64,
    /// Those that broke down.
    pub(super) errors: u64,
}

impl Runs {
    pub(super) fn of(group: &Group) -> Self {
        let errors = group.of(Verdict::Error);
        let open = group.of(Verdict::Undecided).saturating_add(errors);
        let passes = group.of(Verdict::Pass);
        let all = passes.saturating_add(group.of(Verdict::Fail)).saturating_add(open);
        let idle = group.of(Verdict::Vacuous).saturating_add(group.of(Verdict::Skipped));
        Self { passes, open, all, idle, errors }
    }

    fn most(self) -> u64 {
        self.passes.saturating_add(self.open)
    }

    /// What cannot be told is an error where some run broke down.
    fn unknown(self) -> Verdict {
        if self.errors > 0 { Verdict::Error } else { Verdict::Undecided }
    }

    /// The verdict of a share of these runs; of pass^k it is that of all groups together, see [`power`].
    pub(super) fn verdict(self, share: Share, confidence: Option<f64>) -> Verdict {
        if self.all == 0 {
            return Verdict::Vacuous;
        }
        let ends = |passes| match confidence {
            Some(confidence) => wilson(passes, self.all, confidence),
            None => (ratio(passes, self.all), ratio(passes, self.all)),
        };
        let (lowest, highest) = (ends(self.passes).0, ends(self.most()).1);
        let decided = |holds: bool, fails: bool| match (holds, fails) {
            (true, _) => Verdict::Pass,
            (false, true) => Verdict::Fail,
            (false, false) => self.unknown(),
        };
        match share {
            Share::Least(share) => decided(lowest >= share, highest < share),
            Share::Most(share) => decided(highest <= share, lowest > share),
            Share::LeastOf { passes, of } if self.all <= u64::from(of) => {
                let (least, of) = (u64::from(passes), u64::from(of));
                let to_come = of.saturating_sub(self.all);
                decided(self.passes >= least, self.most().saturating_add(to_come) < least)
            }
            Share::LeastOf { passes, of } => {
                let share = f64::from(passes) / f64::from(of);
                decided(lowest >= share, highest < share)
            }
            Share::Power { .. } => Verdict::Skipped,
        }
    }
}

/// A part of a whole, between 0 and 1.
pub(super) fn ratio(part: u64, all: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "nobody has so many runs that their number is not exact")]
    let ratio = part as f64 / all as f64;
    ratio
}

/// The chance that `power` of the runs, drawn at random without putting them back, all pass: C(passes, power) / C(all, power) (Yao et al.,
/// "tau-bench", 2024: pass^k); `None` with fewer runs.
pub(super) fn power(passes: u64, all: u64, power: u32) -> Option<f64> {
    if all < u64::from(power) {
        return None;
    }
    let factors = (0..u64::from(power)).map(|drawn| match passes.checked_sub(drawn) {
        Some(left) => ratio(left, all.saturating_sub(drawn)),
        None => 0.0,
    });
    Some(factors.product())
}

/// The interval of the rate that lies behind these runs, with this confidence (Wilson, "Probable inference, the law of succession, and
/// statistical inference", 1927).
pub(super) fn wilson(passes: u64, all: u64, confidence: f64) -> (f64, f64) {
    let (rate, z) = (ratio(passes, all), quantile(0.5 + confidence / 2.0));
    #[expect(clippy::cast_precision_loss, reason = "nobody has so many runs that their number is not exact")]
    let all = all as f64;
    let square = z * z / all;
    let middle = rate + square / 2.0;
    let half = z * (rate * (1.0 - rate) / all + square / (4.0 * all)).sqrt();
    let low = if passes == 0 { 0.0 } else { (middle - half) / (1.0 + square) };
    let high = if rate >= 1.0 { 1.0 } else { (middle + half) / (1.0 + square) };
    (low.clamp(0.0, 1.0), high.clamp(0.0, 1.0))
}

/// The point below which this part of a normal distribution lies: found by halving, with the error function of Abramowitz and Stegun,
/// "Handbook of Mathematical Functions", 7.1.26 refined by its series.
fn quantile(part: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if normal(middle) < part {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The part of a normal distribution below a point that is not below its middle (Marsaglia, "Evaluating the normal distribution", 2004).
fn normal(point: f64) -> f64 {
    if point > 8.0 {
        return 1.0;
    }
    let (mut sum, mut term, mut odd) = (point, point, 1.0);
    while term > 1e-17 {
        odd += 2.0;
        term *= point * point / odd;
        sum += term;
    }
    0.5 + sum * (-0.5 * point * point - 0.918_938_533_204_672_7).exp()
}

#[cfg(test)]
mod tests {
    use super::{power, quantile, wilson};

    #[test]
    fn intervals_are_those_of_the_tables() {
        let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 5e-5, "{found}, {wanted}");
        near(quantile(0.975), 1.959_96);
        near(quantile(0.95), 1.644_85);
        near(quantile(0.9995), 3.290_53);
        // 19 of 20 and 0 of 10, as Wilson's formula gives them with z = 1.96.
        let (low, high) = wilson(19, 20, 0.95);
        near(low, 0.763_87);
        near(high, 0.991_12);
        let (low, high) = wilson(0, 10, 0.95);
        near(low, 0.0);
        near(high, 0.277_53);
    }

    #[test]
    fn pass_to_the_power_of_k_is_the_share_of_draws_that_all_pass() {
        assert_eq!(power(3, 4, 2), Some(0.5));
        assert_eq!(power(1, 4, 2), Some(0.0));
        assert_eq!(power(4, 4, 4), Some(1.0));
        assert_eq!(power(4, 3, 4), None);
    }
}
