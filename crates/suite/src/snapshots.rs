//! Token snapshots: the accepted token usage of a case with a runner, and the allowed increase.

use crate::paths::normalize_path;
use averment_base::source::Span;
use averment_checker::ir::SessionSettings;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The usage counts that can be compared.
const METRICS: [(&str, &str); 5] = [
    ("total_tokens", "totalTokens"),
    ("input_tokens", "inputTokens"),
    ("output_tokens", "outputTokens"),
    ("reasoning_tokens", "reasoningTokens"),
    ("cache_read_tokens", "cacheTokens"),
];
const FILE: &str = "snapshots.json";

/// The compared metrics, their baseline and the allowed increase.
#[derive(Debug, Clone)]
pub struct SnapshotRules {
    /// The file.
    pub path: PathBuf,
    metric: &'static str,
    absolute: Option<f64>,
    percent: Option<f64>,
}

/// The file of snapshots.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotFile {
    version: u64,
    entries: BTreeMap<String, SnapshotEntry>,
}

impl Default for SnapshotFile {
    fn default() -> Self {
        Self { version: 1, entries: BTreeMap::new() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SnapshotEntry {
    case_id: String,
    runner_id: String,
    metric: String,
    value: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_type: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    model: String,
}

/// A snapshot file and the pending changes to it.
#[derive(Debug)]
pub struct TokenSnapshots {
    rules: SnapshotRules,
    file: SnapshotFile,
    update: bool,
    /// True if there are changes to save.
    pub changed: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct TokenOwner<'a> {
    pub case: &'a str,
    pub runner: &'a str,
    pub agent: Option<&'a str>,
    pub model: &'a str,
}

impl SnapshotRules {
    #[cfg(test)]
    pub(crate) fn of(path: PathBuf, absolute: Option<f64>, percent: Option<f64>) -> Self {
        Self { path, metric: "total_tokens", absolute, percent }
    }

    pub(crate) fn read_rules(
        settings: &SessionSettings,
        base: &Path,
        over: Option<&Path>,
    ) -> Result<Option<Self>, (Span, String, String)> {
        let Some(setting) = settings.get("snapshots") else { return Ok(None) };
        let pairs = settings.name_pairs("snapshots");
        let of = |key: &str| pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
        let wrong = |message: String, help: &str| (setting.span, message, help.to_owned());
        let number = |key: &str| match of(key) {
            None => Ok(None),
            Some(text) => text.parse::<f64>().ok().filter(|number| *number >= 0.0).map(Some).ok_or_else(|| {
                wrong(format!("`{key}` of `snapshots` is no number from 0 on"), "write for example `percent: 10`")
            }),
        };
        let named = of("metric").unwrap_or("total_tokens");
        let metric =
            METRICS.iter().find(|(metric, theirs)| *metric == named || *theirs == named).map(|(metric, _)| *metric);
        let all: Vec<&str> = METRICS.iter().map(|(metric, _)| *metric).collect();
        let metric = metric.ok_or_else(|| {
            wrong(format!("`{named}` is nothing that is counted"), &format!("it is one of {}", all.join(", ")))
        })?;
        let (absolute, percent) = (number("absolute")?, number("percent")?);
        if absolute.is_none() && percent.is_none() {
            return Err(wrong(
                "nothing says how much more is allowed".to_owned(),
                "write `absolute: 300`, `percent: 10` or both",
            ));
        }
        let path = over.map_or_else(|| normalize_path(&base.join(of("path").unwrap_or(FILE))), Path::to_owned);
        Ok(Some(Self { path, metric, absolute, percent }))
    }

    /// Returns the allowed value for an accepted count: the smaller of two limits.
    fn allowed_tokens(&self, accepted: f64) -> f64 {
        let absolute = self.absolute.map(|more| accepted + more);
        let percent = self.percent.map(|more| accepted * (1.0 + more / 100.0));
        absolute.into_iter().chain(percent).fold(f64::INFINITY, f64::min)
    }
}

impl TokenSnapshots {
    /// Opens the file; a missing one is empty.
    ///
    /// # Errors
    /// If it cannot be read, or is not a snapshot file.
    pub fn open_file(rules: &SnapshotRules, update: bool) -> Result<Self, String> {
        let name = rules.path.display();
        let file = match std::fs::read_to_string(&rules.path) {
            Ok(text) => serde_json::from_str::<SnapshotFile>(&text)
                .map_err(|error| format!("`{name}` is no file of snapshots: {error}"))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => SnapshotFile::default(),
            Err(error) => return Err(format!("`{name}` cannot be read: {error}")),
        };
        Ok(Self { rules: rules.clone(), file, update, changed: false })
    }

    /// Returns the text of the file.
    #[must_use]
    pub fn snapshot_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.file).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.rules.path
    }

    /// Returns the mean, accepted and allowed tokens of successful repetitions. The first value is accepted automatically.
    pub(crate) fn compare_tokens(&mut self, owner: TokenOwner<'_>, runs: &[&str]) -> Option<Value> {
        let counts: Vec<f64> = runs.iter().filter_map(|run| self.token_count(run)).collect();
        let metric = self.rules.metric;
        if counts.len() < runs.len() || counts.is_empty() {
            return (!runs.is_empty()).then(|| json!({ "metric": metric }));
        }
        let actual = counts.iter().sum::<f64>() / counts.len() as f64;
        let key = format!("{}::{}", owner.case, owner.runner);
        let known = self.file.entries.get(&key).map(|entry| entry.value).filter(|_| !self.update);
        let accepted = known.unwrap_or(actual);
        if known.is_none() {
            let entry = SnapshotEntry {
                case_id: owner.case.to_owned(),
                runner_id: owner.runner.to_owned(),
                metric: metric.to_owned(),
                value: actual,
                agent_type: owner.agent.map(str::to_owned),
                model: owner.model.to_owned(),
            };
            self.changed |= self.file.entries.get(&key) != Some(&entry);
            self.file.entries.insert(key, entry);
        }
        let allowed = self.rules.allowed_tokens(accepted);
        Some(
            json!({ "metric": metric, "actual": whole_number(actual), "baseline": whole_number(accepted), "allowed": whole_number(allowed) }),
        )
    }

    fn token_count(&self, run: &str) -> Option<f64> {
        let run: Value = serde_json::from_str(run).ok()?;
        run.get("usage")?.get(self.rules.metric)?.as_f64()
    }
}

fn whole_number(number: f64) -> Value {
    let text = format!("{number:.0}").parse::<i64>().ok().filter(|_| number.fract() == 0.0);
    text.map_or_else(|| json!(number), |whole| json!(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(absolute: Option<f64>, percent: Option<f64>) -> SnapshotRules {
        SnapshotRules::of(PathBuf::from("snapshots.json"), absolute, percent)
    }

    #[test]
    fn the_smaller_of_two_bounds_counts_and_equal_is_within() {
        for (accepted, absolute, percent, allowed) in [
            (16_604.0, Some(300.0), Some(15.0), 16_904.0),
            (100.0, None, Some(0.0), 100.0),
            (0.0, None, Some(10.0), 0.0),
            (100.0, Some(5.0), Some(50.0), 105.0),
        ] {
            assert_eq!(rules(absolute, percent).allowed_tokens(accepted), allowed);
        }
    }

    #[test]
    fn what_was_never_seen_is_accepted_and_what_is_not_recorded_is_not() {
        let mut snapshots = TokenSnapshots {
            rules: rules(Some(0.0), None),
            file: SnapshotFile::default(),
            update: false,
            changed: false,
        };
        let owner = TokenOwner { case: "a", runner: "r", agent: None, model: "" };
        let run = |tokens: u32| json!({"usage": {"total_tokens": tokens}}).to_string();
        let (first, second) = (run(10), run(20));
        let found = snapshots.compare_tokens(owner, &[&first, &second]).unwrap();
        assert_eq!(found, json!({"metric": "total_tokens", "actual": 15, "baseline": 15, "allowed": 15}));
        assert!(snapshots.changed);
        let found = snapshots.compare_tokens(owner, &[&second]).unwrap();
        assert_eq!((&found["actual"], &found["allowed"]), (&json!(20), &json!(15)));
        assert_eq!(snapshots.compare_tokens(owner, &["{}"]).unwrap(), json!({"metric": "total_tokens"}));
        assert_eq!(snapshots.compare_tokens(owner, &[]), None);
        snapshots.update = true;
        assert_eq!(snapshots.compare_tokens(owner, &[&second]).unwrap()["allowed"], json!(20));
    }
}
