//! Gates: the tolerances and conditions that fail a comparison.

use super::Comparison;
use super::changes::ChangeKind;
use averment_base::rates::PassCount;
use serde::Serialize;

/// Conditions other than tolerances that fail a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailOn {
    /// In a run on both sides, a pass became a failure or undecided.
    Regressions,
    /// An assertion that passes significantly less often.
    Significant,
    /// A run of the base is missing on the new side.
    Missing,
    /// An assertion that the base exercised and no run exercises now.
    Unexercised,
    /// Any result that changed.
    Changes,
}

impl FailOn {
    /// All conditions with their names.
    pub const ALL: [(&'static str, Self); 5] = [
        ("regressions", Self::Regressions),
        ("significant", Self::Significant),
        ("missing", Self::Missing),
        ("unexercised", Self::Unexercised),
        ("changes", Self::Changes),
    ];

    /// Parses the name of a condition.
    ///
    /// # Errors
    /// A message if the name is unknown.
    pub fn parse(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(known, _)| *known == word).map(|(_, one)| one);
        found.ok_or_else(|| format!("it is one of {}", Self::ALL.map(|(known, _)| known).join(", ")))
    }

    /// Returns the name on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, one)| *one == self).map_or("", |(word, _)| word)
    }
}

/// The tolerances of a comparison.
#[derive(Debug, Clone, Default)]
pub struct CompareGates {
    /// Allowed decrease of the mean score.
    pub score_drop: Option<f64>,
    /// Allowed increase of the mean cost in percent.
    pub cost_increase: Option<f64>,
    /// Allowed increase of the mean token count in percent.
    pub tokens_increase: Option<f64>,
    /// Allowed increase of the mean duration in percent.
    pub duration_increase: Option<f64>,
    /// Further conditions that fail the comparison.
    pub fail_on: Vec<FailOn>,
}

/// The result of a gate.
#[derive(Debug, Serialize)]
pub struct GateOutcome {
    /// The gate as given on the command line.
    pub gate: String,
    /// True if it holds. An unknown value does not hold.
    pub holds: bool,
    /// The reason, in words.
    pub why: String,
}

impl CompareGates {
    pub(super) fn gate_outcomes(&self, comparison: &Comparison) -> Vec<GateOutcome> {
        let mut outcomes = Vec::new();
        if let Some(allowed) = self.score_drop {
            outcomes.push(score_gate(comparison, allowed));
        }
        let increases = [
            ("cost", "cost_usd", self.cost_increase),
            ("tokens", "total_tokens", self.tokens_increase),
            ("duration", "duration_ms", self.duration_increase),
        ];
        for (word, name, allowed) in increases {
            outcomes.extend(allowed.map(|allowed| increase_gate(comparison, word, name, allowed)));
        }
        outcomes.extend(self.fail_on.iter().map(|one| change_gate(comparison, *one)));
        outcomes
    }
}

/// Tolerance for rounding: 0.8 - 0.7 is slightly more than 0.1.
const ROUNDING: f64 = 1e-9;

fn score_gate(comparison: &Comparison, allowed: f64) -> GateOutcome {
    let change = comparison.measures.iter().find(|one| one.name == "score").and_then(|one| one.change);
    let (holds, why) = match change {
        Some(change) => (-change <= allowed + ROUNDING, format!("the score changed by {change:+.3}")),
        None => (false, "no run of both sides has a score".to_owned()),
    };
    GateOutcome { gate: format!("--max-score-drop {allowed}"), holds, why }
}

fn increase_gate(comparison: &Comparison, word: &str, name: &str, allowed: f64) -> GateOutcome {
    let found = comparison.measures.iter().find(|one| one.name == name);
    let (holds, why) = match found.map(|one| (one.percent, one.change)) {
        Some((Some(percent), _)) => (percent <= allowed + ROUNDING, format!("{word} changed by {percent:+.1}%")),
        Some((None, Some(_))) => (false, format!("{word} was 0 and is not")),
        _ => {
            (false, format!("{word} is not in both sides; `aver check --measures` puts what runs record into a report"))
        }
    };
    GateOutcome { gate: format!("--max-{word}-increase {allowed}%"), holds, why }
}

fn change_gate(comparison: &Comparison, what: FailOn) -> GateOutcome {
    let counted = |count: usize, one: &str, more: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {more}"),
    };
    let of_kind = |kind: ChangeKind| comparison.results.iter().filter(|one| one.kind == kind).count();
    let (count, why) = match what {
        FailOn::Regressions => {
            let count = of_kind(ChangeKind::Regression);
            (count, counted(count, "result that passed fails", "results that passed fail"))
        }
        FailOn::Changes => {
            let count = comparison.results.len();
            (count, counted(count, "result changed", "results changed"))
        }
        FailOn::Significant => {
            let less = |now: PassCount, was: PassCount| {
                u128::from(now.passed) * u128::from(was.total) < u128::from(was.passed) * u128::from(now.total)
            };
            let worse = comparison.assertions.iter().filter(|one| one.significant && less(one.new, one.base));
            let count = worse.count();
            (
                count,
                counted(count, "assertion passes significantly less often", "assertions pass significantly less often"),
            )
        }
        FailOn::Unexercised => {
            let count = comparison.assertions.iter().filter(|one| one.base.total > 0 && one.new.total == 0).count();
            (count, counted(count, "assertion is exercised no more", "assertions are exercised no more"))
        }
        FailOn::Missing => {
            let count = comparison.missing.len();
            (count, counted(count, "run of the base is missing", "runs of the base are missing"))
        }
    };
    let unknown = comparison.matched == 0 && matches!(what, FailOn::Regressions | FailOn::Changes);
    let why = if unknown { "no run is in both sides".to_owned() } else { why };
    GateOutcome { gate: format!("--fail-on {}", what.as_str()), holds: count == 0 && !unknown, why }
}
