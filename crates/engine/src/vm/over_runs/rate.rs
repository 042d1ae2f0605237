//! Rates of runs: what so many passes of so many runs say.

use super::GroupTally;
use crate::ir::RateBound;
use averment_base::rates::wilson_interval;
use averment_base::truth::Verdict;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RateCounts {
    pub(super) passes: u64,
    /// Undecided runs and errors.
    pub(super) open: u64,
    pub(super) all: u64,
    pub(super) idle: u64,
    pub(super) errors: u64,
}

impl RateCounts {
    pub(super) fn of_group(group: &GroupTally) -> Self {
        let errors = group.verdict_count(Verdict::Error);
        let open = group.verdict_count(Verdict::Undecided).saturating_add(errors);
        let passes = group.verdict_count(Verdict::Pass);
        let all = passes.saturating_add(group.verdict_count(Verdict::Fail)).saturating_add(open);
        let idle = group.verdict_count(Verdict::Vacuous).saturating_add(group.verdict_count(Verdict::Skipped));
        Self { passes, open, all, idle, errors }
    }

    fn most_passes(self) -> u64 {
        self.passes.saturating_add(self.open)
    }

    /// The unknown verdict is an error if some run had an error.
    fn unknown_verdict(self) -> Verdict {
        if self.errors > 0 { Verdict::Error } else { Verdict::Undecided }
    }

    /// For pass^k the verdict belongs to all groups together.
    pub(super) fn rate_verdict(self, share: RateBound, confidence: Option<f64>) -> Verdict {
        if self.all == 0 {
            return Verdict::Vacuous;
        }
        let ends = |passes| match confidence {
            Some(confidence) => wilson_interval(passes, self.all, confidence).unwrap_or((0.0, 1.0)),
            None => (ratio(passes, self.all), ratio(passes, self.all)),
        };
        let (lowest, highest) = (ends(self.passes).0, ends(self.most_passes()).1);
        let decided = |holds: bool, fails: bool| match (holds, fails) {
            (true, _) => Verdict::Pass,
            (false, true) => Verdict::Fail,
            (false, false) => self.unknown_verdict(),
        };
        match share {
            RateBound::Least(share) => decided(lowest >= share, highest < share),
            RateBound::Most(share) => decided(highest <= share, lowest > share),
            RateBound::LeastOf { passes, of } if self.all <= u64::from(of) => {
                let (least, of) = (u64::from(passes), u64::from(of));
                let to_come = of.saturating_sub(self.all);
                decided(self.passes >= least, self.most_passes().saturating_add(to_come) < least)
            }
            RateBound::LeastOf { passes, of } => {
                let share = f64::from(passes) / f64::from(of);
                decided(lowest >= share, highest < share)
            }
            RateBound::Power { .. } => Verdict::Skipped,
        }
    }
}

pub(super) fn ratio(part: u64, all: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "nobody has so many runs that their number is not exact")]
    let ratio = part as f64 / all as f64;
    ratio
}

/// The chance that `power` of the runs, drawn at random without putting them back, all pass: C(passes, power) / C(all, power) (Yao et al.,
/// "tau-bench", 2024: pass^k); `None` with fewer runs.
pub(super) fn pass_power(passes: u64, all: u64, power: u32) -> Option<f64> {
    if all < u64::from(power) {
        return None;
    }
    let factors = (0..u64::from(power)).map(|drawn| match passes.checked_sub(drawn) {
        Some(left) => ratio(left, all.saturating_sub(drawn)),
        None => 0.0,
    });
    Some(factors.product())
}

#[cfg(test)]
mod tests {
    use super::pass_power;

    #[test]
    fn pass_to_the_power_of_k_is_the_share_of_draws_that_all_pass() {
        assert_eq!(pass_power(3, 4, 2), Some(0.5));
        assert_eq!(pass_power(1, 4, 2), Some(0.0));
        assert_eq!(pass_power(4, 4, 4), Some(1.0));
        assert_eq!(pass_power(4, 3, 4), None);
    }
}
