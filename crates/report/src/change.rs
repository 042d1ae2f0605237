//! Differences between runs: the same computation for workflow blocks and for whole runs, and Runsight's regressions.

use serde::{Deserialize, Serialize};

/// Maximum number of earlier runs to compare with; the latest ones are used.
pub const RUNS: usize = 100;
/// Relative increase of the cost that counts as a regression, in percent.
const COST_SPIKE: f64 = 20.0;
/// Change of the score that counts as a regression.
const QUALITY_DROP: f64 = -0.1;

/// The values of a run or block that are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunMeasures {
    /// True if every assertion passes.
    pub passed: Option<bool>,
    /// The score.
    pub score: Option<f64>,
    /// The recorded cost in US dollars.
    pub cost_usd: Option<f64>,
    /// The number of tokens, if recorded.
    pub total_tokens: Option<f64>,
}

/// The difference of a run or a block from the mean of earlier runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasureDelta {
    /// Increase of the cost in percent; 0 if the earlier cost was 0.
    pub cost_pct: Option<f64>,
    /// Increase of the tokens in percent.
    pub tokens_pct: Option<f64>,
    /// Increase of the score.
    pub score_delta: Option<f64>,
    /// Number of earlier runs.
    pub baseline_run_count: usize,
}

/// A regression since the previous run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Regression {
    /// The kind of regression.
    #[serde(rename = "type")]
    pub kind: RegressionKind,
    /// The size of the regression.
    pub delta: RegressionDelta,
}

/// Kinds of regressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RegressionKind {
    /// Assertions that passed before now fail.
    AssertionRegression,
    /// The cost is over 20 % higher.
    CostSpike,
    /// The score is lower by more than 0.1.
    QualityDrop,
}

/// The size of a regression.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RegressionDelta {
    /// Assertions that no longer pass.
    Assertions {
        /// True if the assertions pass now.
        eval_passed: bool,
        /// True if the assertions passed before.
        baseline_eval_passed: bool,
    },
    /// A higher cost.
    Cost {
        /// Increase in percent.
        cost_pct: f64,
        /// The earlier cost.
        baseline_cost: f64,
    },
    /// A lower score.
    Score {
        /// The change of the score; negative.
        score_delta: f64,
    },
}

impl RunMeasures {
    /// Returns the difference from earlier runs; `None` without any.
    #[must_use]
    pub fn delta_to(&self, earlier: &[Self]) -> Option<MeasureDelta> {
        let earlier = earlier.get(earlier.len().saturating_sub(RUNS)..).unwrap_or_default();
        let of = |field: fn(&Self) -> Option<f64>| mean_of(earlier.iter().filter_map(field));
        (!earlier.is_empty()).then(|| MeasureDelta {
            cost_pct: percent_change(self.cost_usd, of(|one| one.cost_usd)),
            tokens_pct: percent_change(self.total_tokens, of(|one| one.total_tokens)),
            score_delta: self.score.zip(of(|one| one.score)).map(|(now, before)| now - before),
            baseline_run_count: earlier.len(),
        })
    }

    /// Returns the regressions since an earlier run.
    #[must_use]
    pub fn regressions_since(&self, before: &Self) -> Vec<Regression> {
        let mut found = Vec::new();
        if (before.passed, self.passed) == (Some(true), Some(false)) {
            let delta = RegressionDelta::Assertions { eval_passed: false, baseline_eval_passed: true };
            found.push(Regression { kind: RegressionKind::AssertionRegression, delta });
        }
        if let Some(baseline_cost) = before.cost_usd.filter(|cost| *cost > 0.0)
            && let Some(cost_pct) =
                percent_change(self.cost_usd, before.cost_usd).filter(|percent| *percent > COST_SPIKE)
        {
            let delta = RegressionDelta::Cost { cost_pct, baseline_cost };
            found.push(Regression { kind: RegressionKind::CostSpike, delta });
        }
        let change = self.score.zip(before.score).map(|(now, before)| now - before);
        if let Some(score_delta) = change.filter(|change| *change < QUALITY_DROP) {
            found.push(Regression { kind: RegressionKind::QualityDrop, delta: RegressionDelta::Score { score_delta } });
        }
        found
    }
}

impl Regression {
    /// Returns the regression in words, such as `cost_spike +50.0%`.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self.delta {
            RegressionDelta::Assertions { .. } => "assertion_regression".to_owned(),
            RegressionDelta::Cost { cost_pct, .. } => format!("cost_spike {cost_pct:+.1}%"),
            RegressionDelta::Score { score_delta } => format!("quality_drop {score_delta:+.2}"),
        }
    }
}

/// Returns the increase from `before` to `now` in percent; 0 if `before` is not positive.
#[must_use]
pub fn percent_change(now: Option<f64>, before: Option<f64>) -> Option<f64> {
    let (now, before) = now.zip(before)?;
    Some(if before > 0.0 { (now - before) / before * 100.0 } else { 0.0 })
}

/// Returns the mean. The mean of equal numbers is exactly that number.
pub fn mean_of(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut mean, mut count) = (0.0, 0.0);
    for number in numbers {
        count += 1.0;
        mean += (number - mean) / count;
    }
    (count > 0.0).then_some(mean)
}

/// The measurements of a block in one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockReport {
    /// The system that defines the workflow.
    #[serde(default)]
    pub system: String,
    /// True if every assertion on the block passes.
    #[serde(default)]
    pub passed: Option<bool>,
    /// The weighted mean of the assertion scores.
    #[serde(default)]
    pub score: Option<f64>,
    /// The cost in US dollars, if recorded.
    #[serde(default)]
    pub cost_usd: Option<f64>,
    /// The number of tokens, if recorded.
    #[serde(default)]
    pub total_tokens: Option<f64>,
    /// The id of the soul that worked on the block, if recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soul_id: Option<String>,
    /// The version of the soul.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soul_version: Option<String>,
    /// The difference from earlier runs; `None` if there are none.
    #[serde(default, skip_deserializing)]
    pub delta: Option<MeasureDelta>,
    /// The regressions since the last earlier run.
    #[serde(default, skip_deserializing)]
    pub regressions: Vec<Regression>,
}

impl BlockReport {
    /// Returns the values that are compared with other runs.
    #[must_use]
    pub fn block_measures(&self) -> RunMeasures {
        let Self { passed, score, cost_usd, total_tokens, .. } = *self;
        RunMeasures { passed, score, cost_usd, total_tokens }
    }

    /// Compares the block with earlier ones that have the same soul and version. Returns the difference from their mean, the regressions since the
    /// last of them, and their number.
    #[must_use]
    pub fn compare_with(&self, earlier: &[Self]) -> (Option<MeasureDelta>, Vec<Regression>, usize) {
        let earlier: Vec<RunMeasures> =
            earlier.iter().filter(|one| one.is_comparable(self)).map(Self::block_measures).collect();
        let now = self.block_measures();
        let regressions = earlier.last().map(|last| now.regressions_since(last)).unwrap_or_default();
        (now.delta_to(&earlier), regressions, earlier.len().min(RUNS))
    }

    /// True if both blocks have the same soul and version.
    fn is_comparable(&self, other: &Self) -> bool {
        (&self.soul_id, &self.soul_version) == (&other.soul_id, &other.soul_version)
    }
}
