//! The result of a Runsight workflow block in a run, computed as Runsight does: score, cost and tokens, differences from earlier runs, and
//! regressions since the last one.

use super::change::{BlockReport, Regression};
use super::model::{ResultReport, RuleReport, RunReport};
use super::redact::redact;
use super::table::ReportTable;
use averment_base::truth::Verdict;
use averment_base::value::{Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::Run;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Maximum number of regressed blocks that are named.
const NAMED: usize = 10;

pub(super) fn add_blocks(
    table: &ReportTable,
    run: Option<&Run<'_>>,
    results: &[ResultReport],
    rules: &mut [RuleReport],
) {
    if table.items.iter().all(|item| item.own.is_none()) {
        return;
    }
    let Some(Value::Object(meta)) = run.map(|run| run.root_value(of_run::META).value) else { return };
    let Some(Value::Object(blocks)) = meta.get("blocks").map(|node| node.value) else { return };
    for rule in rules {
        let Some(item) = table.rules.get(rule.rule) else { continue };
        let Some(Value::Object(block)) = blocks.get(&item.id).map(|node| node.value) else { continue };
        rule.block = block_report(table, rule.rule, results, block).map(Box::new);
    }
}

fn block_report(table: &ReportTable, rule: usize, results: &[ResultReport], block: Object<'_>) -> Option<BlockReport> {
    let asserted = results.iter().filter_map(|one| Some((one, table.items.get(one.item)?)));
    let (mut system, mut passed, mut sum, mut weights) = (None, true, 0.0, 0.0);
    for (result, item) in asserted.filter(|(_, item)| item.rule == Some(rule)) {
        let Some(own) = item.own.as_deref() else { continue };
        let Some(score) = own.word_for(result.verdict).and_then(|verdict| verdict.score) else { continue };
        system = Some(own.system.to_string());
        passed &= matches!(result.verdict, Verdict::Pass | Verdict::Vacuous);
        if item.weight > 0.0 {
            sum += result.score.unwrap_or(score) * item.weight;
            weights += item.weight;
        }
    }
    let number = |key: &str| match block.get(key)?.value {
        Value::Number(number) => Some(number.to_f64()),
        _ => None,
    };
    let text = |key: &str| match block.get(key)?.value {
        Value::Text(text) => Some(redact(text.as_str()).into_owned()),
        _ => None,
    };
    Some(BlockReport {
        system: system?,
        passed: Some(passed),
        score: Some(if weights > 0.0 { sum / weights } else { 0.0 }),
        cost_usd: number("cost_usd"),
        total_tokens: number("total_tokens"),
        soul_id: text("soul_id"),
        soul_version: text("soul_version"),
        delta: None,
        regressions: Vec::new(),
    })
}

/// The blocks of earlier runs, read from a JSON report.
#[derive(Debug, Default)]
pub struct BlockHistory {
    blocks: BTreeMap<String, Vec<BlockReport>>,
    worse: Vec<String>,
    compared: usize,
}

#[derive(Deserialize)]
struct ReportFile {
    runs: Vec<ReportedRun>,
}

#[derive(Deserialize)]
struct ReportedRun {
    rules: Vec<ReportedRule>,
}

#[derive(Deserialize)]
struct ReportedRule {
    id: String,
    own: Option<BlockReport>,
}

impl BlockHistory {
    /// Parses a report of `aver check --format json`.
    ///
    /// # Errors
    /// Returns a message if the text is no such report, or contains no block.
    pub fn parse(text: &str) -> Result<Self, String> {
        let report: ReportFile = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut blocks: BTreeMap<String, Vec<BlockReport>> = BTreeMap::new();
        for rule in report.runs.into_iter().flat_map(|run| run.rules) {
            if let Some(own) = rule.own {
                blocks.entry(rule.id).or_default().push(own);
            }
        }
        match blocks.is_empty() {
            true => Err("it holds no run with the blocks of a workflow".to_owned()),
            false => Ok(Self { blocks, ..Self::default() }),
        }
    }

    /// Compares each block of a run with the earlier runs.
    pub fn apply_history(&mut self, table: &ReportTable, run: &mut RunReport) {
        for rule in &mut run.rules {
            let Some((block, item)) = rule.block.as_deref_mut().zip(table.rules.get(rule.rule)) else { continue };
            let earlier = self.blocks.get(&item.id).map(Vec::as_slice).unwrap_or_default();
            let compared;
            (block.delta, block.regressions, compared) = block.compare_with(earlier);
            self.compared = self.compared.max(compared);
            if !block.regressions.is_empty() {
                let what: Vec<String> = block.regressions.iter().map(Regression::in_words).collect();
                self.worse.push(format!("{} in {}: {}", item.id, run.run, what.join(", ")));
            }
        }
    }

    /// Returns the comparison on one line.
    #[must_use]
    pub fn in_words(&self) -> String {
        let against = match self.compared {
            0 => return "no earlier run has a block of these runs".to_owned(),
            1 => "1 earlier run".to_owned(),
            more => format!("{more} earlier runs"),
        };
        if self.worse.is_empty() {
            return format!("no regression against {against}");
        }
        let many = if self.worse.len() == 1 { "1 block" } else { "blocks" };
        let mut words = match self.worse.len() {
            1 => format!("{many} became worse against {against}: "),
            more => format!("{more} {many} became worse against {against}: "),
        };
        let named: Vec<&str> = self.worse.iter().take(NAMED).map(String::as_str).collect();
        words.push_str(&named.join("; "));
        if self.worse.len() > NAMED {
            let _ = write!(words, "; and {} more", self.worse.len() - NAMED);
        }
        words
    }
}
