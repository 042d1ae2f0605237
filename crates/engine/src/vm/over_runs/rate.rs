//! Rates of runs: what so many passes of so many runs say.

use super::GroupTally;
use averment_base::rates::wilson_interval;
use averment_base::truth::Verdict;
use averment_checker::ir::RateBound;

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

/// A share of runs as a fraction; `None` of its parts where they exceed 128 bits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RunShare {
    exact: Option<(u128, u128)>,
    near: f64,
}

impl RunShare {
    pub(super) const NONE: Self = Self { exact: Some((0, 1)), near: 0.0 };
    pub(super) const ALL: Self = Self { exact: Some((1, 1)), near: 1.0 };

    /// The chance that `power` of the runs, drawn at random without putting them back, all pass: C(passes, power) / C(all, power) (Yao et
    /// al., "tau-bench", 2024: pass^k); `None` with fewer runs.
    pub(super) fn of_draws(passes: u64, all: u64, power: u32) -> Option<Self> {
        if all < u64::from(power) {
            return None;
        }
        let drawn = (0..u64::from(power)).map(|drawn| (passes.saturating_sub(drawn), all.saturating_sub(drawn)));
        Some(drawn.fold(Self::ALL, |product, (left, of)| {
            Self {
                exact: product
                    .exact
                    .and_then(|(part, whole)| reduced(part.checked_mul(left.into())?, whole.checked_mul(of.into())?)),
                near: product.near * ratio(left, of),
            }
        }))
    }

    /// The mean of shares; of none it is 0.
    pub(super) fn mean_of(shares: &[Self]) -> Self {
        let count = u64::try_from(shares.len()).unwrap_or(u64::MAX).max(1);
        let sum = shares.iter().fold(Self::NONE, |sum, one| Self {
            exact: sum.exact.zip(one.exact).and_then(|((a, b), (c, d))| {
                reduced(a.checked_mul(d)?.checked_add(c.checked_mul(b)?)?, b.checked_mul(d)?)
            }),
            near: sum.near + one.near,
        });
        #[expect(clippy::cast_precision_loss, reason = "there are few groups")]
        let near = sum.near / count as f64;
        Self { exact: sum.exact.and_then(|(part, whole)| reduced(part, whole.checked_mul(count.into())?)), near }
    }

    /// Whether it is at least a share that a rule asks for, which is taken as the decimal number that was written.
    pub(super) fn reaches(self, asked: f64) -> bool {
        let exactly = || {
            let (part, whole) = self.exact?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                clippy::cast_sign_loss,
                reason = "a share is between 0 and 1, and no rule writes more digits"
            )]
            let wanted = (asked * DIGITS as f64).round() as u128;
            Some(part.checked_mul(DIGITS)? >= wanted.checked_mul(whole)?)
        };
        exactly().unwrap_or(self.near >= asked)
    }

    /// As a number; exact fractions are rounded once.
    pub(super) fn as_number(self) -> f64 {
        let Some((part, whole)) = self.exact else { return self.near };
        #[expect(clippy::cast_precision_loss, reason = "it is shown, not compared")]
        let number = part as f64 / whole as f64;
        number
    }
}

const DIGITS: u128 = 1_000_000_000_000;

fn reduced(part: u128, whole: u128) -> Option<(u128, u128)> {
    let (mut a, mut b) = (part, whole);
    while b != 0 {
        (a, b) = (b, a.checked_rem(b)?);
    }
    Some((part.checked_div(a)?, whole.checked_div(a)?))
}

#[cfg(test)]
mod tests {
    use super::RunShare;

    fn of_draws(passes: u64, all: u64, power: u32) -> Option<f64> {
        RunShare::of_draws(passes, all, power).map(RunShare::as_number)
    }

    #[test]
    fn pass_to_the_power_of_k_is_the_share_of_draws_that_all_pass() {
        assert_eq!(of_draws(3, 4, 2), Some(0.5));
        assert_eq!(of_draws(1, 4, 2), Some(0.0));
        assert_eq!(of_draws(4, 4, 4), Some(1.0));
        assert_eq!(of_draws(4, 3, 4), None);
    }

    #[test]
    fn a_mean_that_is_what_is_asked_for_reaches_it() {
        // Every mean of three groups of up to seven runs that is a whole number of percent.
        let shares: Vec<(u64, u64)> = (1..=7).flat_map(|all| (0..=all).map(move |passes| (passes, all))).collect();
        for a in &shares {
            for b in &shares {
                for c in &shares {
                    let draws = [a, b, c].map(|(passes, all)| RunShare::of_draws(*passes, *all, 1).unwrap());
                    let mean = RunShare::mean_of(&draws);
                    let whole = a.1 * b.1 * c.1;
                    let part = a.0 * b.1 * c.1 + b.0 * a.1 * c.1 + c.0 * a.1 * b.1;
                    for percent in (part * 100 / (whole * 3))..=(part * 100 / (whole * 3) + 1) {
                        let asked = percent as f64 / 100.0;
                        assert_eq!(mean.reaches(asked), part * 100 >= percent * whole * 3, "{a:?} {b:?} {c:?} {asked}");
                    }
                }
            }
        }
    }
}
