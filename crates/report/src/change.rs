//! What became better or worse between runs: one arithmetic for the blocks of a workflow and for whole runs, and the rows of Runsight.

use serde::{Deserialize, Serialize};

/// So many of the latest earlier runs are compared with.
pub const RUNS: usize = 100;
/// Something costs too much more where it costs so many percent more than before.
const COST_SPIKE: f64 = 20.0;
/// Quality drops where a score is lower by more than this.
const QUALITY_DROP: f64 = -0.1;

/// What of a run, or of a block in it, is compared with others.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Standing {
    /// Whether every assertion passes.
    pub passed: Option<bool>,
    /// Its score.
    pub score: Option<f64>,
    /// What it cost, where that is recorded.
    pub cost_usd: Option<f64>,
    /// The tokens that it used, where they are recorded.
    pub total_tokens: Option<f64>,
}

/// A run or a block against the mean of earlier runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Delta {
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
    /// What.
    #[serde(rename = "type")]
    pub kind: RegressionKind,
    /// By how much.
    pub delta: RegressionDelta,
}

/// What can become worse.
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
    /// Of assertions.
    Assertions {
        /// Whether they pass now.
        eval_passed: bool,
        /// Whether they passed before.
        baseline_eval_passed: bool,
    },
    /// Of the cost.
    Cost {
        /// By how many percent it is higher.
        cost_pct: f64,
        /// What it was.
        baseline_cost: f64,
    },
    /// Of the score.
    Score {
        /// By how much it is higher: a number below zero.
        score_delta: f64,
    },
}

impl Standing {
    /// What it is against earlier ones; `None` where there are none.
    #[must_use]
    pub fn delta_to(&self, earlier: &[Self]) -> Option<Delta> {
        let earlier = earlier.get(earlier.len().saturating_sub(RUNS)..).unwrap_or_default();
        let of = |field: fn(&Self) -> Option<f64>| mean(earlier.iter().filter_map(field));
        (!earlier.is_empty()).then(|| Delta {
            cost_pct: percent(self.cost_usd, of(|one| one.cost_usd)),
            tokens_pct: percent(self.total_tokens, of(|one| one.total_tokens)),
            score_delta: self.score.zip(of(|one| one.score)).map(|(now, before)| now - before),
            baseline_run_count: earlier.len(),
        })
    }

    /// What became worse since an earlier run.
    #[must_use]
    pub fn regressions_since(&self, before: &Self) -> Vec<Regression> {
        let mut found = Vec::new();
        if (before.passed, self.passed) == (Some(true), Some(false)) {
            let delta = RegressionDelta::Assertions { eval_passed: false, baseline_eval_passed: true };
            found.push(Regression { kind: RegressionKind::AssertionRegression, delta });
        }
        if let Some(baseline_cost) = before.cost_usd.filter(|cost| *cost > 0.0)
            && let Some(cost_pct) = percent(self.cost_usd, before.cost_usd).filter(|percent| *percent > COST_SPIKE)
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
pub fn percent(now: Option<f64>, before: Option<f64>) -> Option<f64> {
    let (now, before) = now.zip(before)?;
    Some(if before > 0.0 { (now - before) / before * 100.0 } else { 0.0 })
}

/// The mean. Of equal numbers it is that number, to the last digit.
pub fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
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
    pub delta: Option<Delta>,
    /// What became worse since the last of them.
    #[serde(default, skip_deserializing)]
    pub regressions: Vec<Regression>,
}

impl BlockReport {
    /// What of it is compared with other runs.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let Self { passed, score, cost_usd, total_tokens, .. } = *self;
        Standing { passed, score, cost_usd, total_tokens }
    }

    /// What it is against the mean of earlier ones of the same version of the same worker, what became worse since the last of them, and how
    /// many there are.
    #[must_use]
    pub fn against(&self, earlier: &[Self]) -> (Option<Delta>, Vec<Regression>, usize) {
        let earlier: Vec<Standing> = earlier.iter().filter(|one| one.is_comparable(self)).map(Self::standing).collect();
        let now = self.standing();
        let regressions = earlier.last().map(|last| now.regressions_since(last)).unwrap_or_default();
        (now.delta_to(&earlier), regressions, earlier.len().min(RUNS))
    }

    /// Whether both are of the same version of the same worker.
    fn is_comparable(&self, other: &Self) -> bool {
        (&self.soul_id, &self.soul_version) == (&other.soul_id, &other.soul_version)
    }
}
