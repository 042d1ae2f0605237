//! What became better or worse between runs: one arithmetic for the blocks of a workflow and for whole runs, and the rows of Runsight.

use serde::{Deserialize, Serialize};

/// So many of the latest earlier runs are compared with.
pub const RUNS: usize = 100;
/// In percent more than before.
const COST_SPIKE: f64 = 20.0;
/// Drop of the score.
const QUALITY_DROP: f64 = -0.1;

/// The values of a run or block that are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunMeasures {
    /// True if every assertion passes.
    pub passed: Option<bool>,
    /// Its score.
    pub score: Option<f64>,
    /// The recorded cost in US dollars.
    pub cost_usd: Option<f64>,
    /// The tokens that it used, where they are recorded.
    pub total_tokens: Option<f64>,
}

/// A run or a block against the mean of earlier runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasureDelta {
    /// By how many percent it costs more; 0 where it cost nothing before.
    pub cost_pct: Option<f64>,
    /// By how many percent it uses more tokens.
    pub tokens_pct: Option<f64>,
    /// By how much its score is higher.
    pub score_delta: Option<f64>,
    /// How many earlier runs there are.
    pub baseline_run_count: usize,
}

/// Something that became worse since the run before.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Regression {
    /// The kind of regression.
    #[serde(rename = "type")]
    pub kind: RegressionKind,
    /// By how much.
    pub delta: RegressionDelta,
}

/// The kinds of regression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RegressionKind {
    /// Assertions that passed fail.
    AssertionRegression,
    /// It costs over 20 % more.
    CostSpike,
    /// Its score is lower by more than 0.1.
    QualityDrop,
}

/// By how much something became worse.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RegressionDelta {
    /// Assertions that no longer pass.
    Assertions {
        /// Whether they pass now.
        eval_passed: bool,
        /// Whether they passed before.
        baseline_eval_passed: bool,
    },
    /// A higher cost.
    Cost {
        /// By how many percent it is higher.
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
    /// The difference from earlier runs; `None` without any.
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

    /// Regressions since an earlier run.
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
    /// `cost_spike +50.0%`.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self.delta {
            RegressionDelta::Assertions { .. } => "assertion_regression".to_owned(),
            RegressionDelta::Cost { cost_pct, .. } => format!("cost_spike {cost_pct:+.1}%"),
            RegressionDelta::Score { score_delta } => format!("quality_drop {score_delta:+.2}"),
        }
    }
}

/// By how many percent a number is higher than another one; 0 where that is none.
#[must_use]
pub fn percent_change(now: Option<f64>, before: Option<f64>) -> Option<f64> {
    let (now, before) = now.zip(before)?;
    Some(if before > 0.0 { (now - before) / before * 100.0 } else { 0.0 })
}

/// The mean. Of equal numbers it is that number, to the last digit.
pub fn mean_of(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut mean, mut count) = (0.0, 0.0);
    for number in numbers {
        count += 1.0;
        mean += (number - mean) / count;
    }
    (count > 0.0).then_some(mean)
}

/// What is known of a block in one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockReport {
    /// The system whose workflow it is of.
    #[serde(default)]
    pub system: String,
    /// Whether every assertion on it passes.
    #[serde(default)]
    pub passed: Option<bool>,
    /// The weighted mean of the scores of its assertions.
    #[serde(default)]
    pub score: Option<f64>,
    /// What it cost, where that is recorded.
    #[serde(default)]
    pub cost_usd: Option<f64>,
    /// The tokens that it used, where they are recorded.
    #[serde(default)]
    pub total_tokens: Option<f64>,
    /// Who worked on it, where that is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soul_id: Option<String>,
    /// In which version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soul_version: Option<String>,
    /// What it is against the earlier runs; `None` where there are none.
    #[serde(default, skip_deserializing)]
    pub delta: Option<MeasureDelta>,
    /// What became worse since the last of them.
    #[serde(default, skip_deserializing)]
    pub regressions: Vec<Regression>,
}

impl BlockReport {
    /// What of it is compared with other runs.
    #[must_use]
    pub fn block_measures(&self) -> RunMeasures {
        let Self { passed, score, cost_usd, total_tokens, .. } = *self;
        RunMeasures { passed, score, cost_usd, total_tokens }
    }

    /// What it is against the mean of earlier ones of the same version of the same worker, what became worse since the last of them, and how
    /// many there are.
    #[must_use]
    pub fn compare_with(&self, earlier: &[Self]) -> (Option<MeasureDelta>, Vec<Regression>, usize) {
        let earlier: Vec<RunMeasures> =
            earlier.iter().filter(|one| one.is_comparable(self)).map(Self::block_measures).collect();
        let now = self.block_measures();
        let regressions = earlier.last().map(|last| now.regressions_since(last)).unwrap_or_default();
        (now.delta_to(&earlier), regressions, earlier.len().min(RUNS))
    }

    /// Whether both are of the same version of the same worker.
    fn is_comparable(&self, other: &Self) -> bool {
        (&self.soul_id, &self.soul_version) == (&other.soul_id, &other.soul_version)
    }
}
