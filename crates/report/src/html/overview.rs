//! The overview of the page: counts, rules, scores, and unreadable traces.

use super::chart::{self, BarPiece, HistogramChart, ScoreHistogram};
use super::rules::{self, OverviewRow, RuleTotals};
use crate::ReportEnding;
use crate::model::{RunReport, UnreadableTrace};
use crate::table::ReportTable;
use averment_base::diagnostic::render::one_line;
use indexmap::IndexMap;
use serde::Serialize;

/// Warnings and unreadable traces beyond this number are only counted.
const LISTED: usize = 100;
/// Maximum number of scores with a chart.
const CHARTS: usize = 40;

#[derive(Default)]
pub(super) struct RunOverview {
    runs: u64,
    rules: RuleTotals,
    scores: ScoreHistogram,
    named: IndexMap<String, ScoreHistogram>,
    warnings: (u64, Vec<RunWarning>),
    unread: (u64, Vec<UnreadableTrace>),
}

#[derive(Serialize, Clone)]
struct RunWarning {
    run: u64,
    name: String,
    line: usize,
    words: String,
}

#[derive(Serialize)]
pub(super) struct OverviewPage {
    runs: u64,
    runs_failed: u64,
    not_judged: String,
    one_not_judged: bool,
    passed: bool,
    score: String,
    tiles: Vec<VerdictTile>,
    bar: Vec<BarPiece>,
    others: Vec<VerdictTile>,
    rows: Vec<OverviewRow>,
    rows_count: usize,
    never: Vec<String>,
    never_count: usize,
    charts: Vec<HistogramChart>,
    warnings: Vec<RunWarning>,
    warnings_more: u64,
    warnings_all: u64,
    unread: Vec<UnreadableTrace>,
    unread_more: u64,
    unread_all: u64,
    errors: Vec<RuleError>,
    /// The number of other compiler messages.
    remarks: usize,
}

#[derive(Serialize)]
struct VerdictTile {
    verdict: &'static str,
    word: &'static str,
    count: u64,
    share: String,
}

#[derive(Serialize)]
struct RuleError {
    place: String,
    message: String,
    help: String,
}

impl RunOverview {
    pub(super) fn begin_table(&mut self, table: &ReportTable) {
        self.rules.begin_table(table);
    }

    pub(super) fn add_run(&mut self, run: &RunReport) {
        self.runs += 1;
        self.rules.add_run(self.runs, run);
        if let Some(score) = run.score {
            self.scores.add_score(score);
        }
        for (name, score) in &run.named_scores {
            if let Some(known) = self.named.get_mut(name.as_str()) {
                known.add_score(*score);
            } else if self.named.len() < CHARTS {
                self.named.entry(name.clone()).or_default().add_score(*score);
            }
        }
        let (count, listed) = &mut self.warnings;
        for (line, words) in &run.warnings {
            *count += 1;
            if listed.len() < LISTED {
                let (name, words) = (one_line(&run.run).into_owned(), one_line(words).into_owned());
                listed.push(RunWarning { run: self.runs, name, line: *line, words });
            }
        }
    }

    pub(super) fn add_unreadable(&mut self, what: &UnreadableTrace) {
        let (count, listed) = &mut self.unread;
        *count += 1;
        if listed.len() < LISTED {
            let clean = |text: &str| one_line(text).into_owned();
            let (file, message, help) = (clean(&what.file), clean(&what.message), clean(&what.help));
            listed.push(UnreadableTrace { file, message, help, ..*what });
        }
    }

    pub(super) fn overview_page(
        &self,
        table: &ReportTable,
        ending: &ReportEnding<'_>,
        diagnostics: &serde_json::Value,
    ) -> OverviewPage {
        let counts = &ending.totals.counts;
        let verdicts = [
            ("fail", "failed", counts.fail + counts.unexpected_passed),
            ("error", "could not be evaluated", counts.error),
            ("undecided", "undecided", counts.undecided),
            ("vacuous", "vacuous", counts.vacuous),
            ("pass", "passed", counts.pass + counts.expected_failed),
        ];
        let sum: u64 = verdicts.iter().map(|(_, _, count)| count).sum();
        let tile = |verdict, word, count| VerdictTile { verdict, word, count, share: share_text(count, sum) };
        let others = [
            ("known", "failed and are known to the baseline", counts.known),
            ("skipped", "skipped", counts.skipped),
            ("pass", "of those that passed failed as expected", counts.expected_failed),
            ("fail", "of those that failed passed unexpectedly", counts.unexpected_passed),
        ];
        let all = || diagnostics.as_array().into_iter().flatten();
        let (rows, never) = self.rules.sorted_rows(table);
        let charts = self.scores.draw_chart("all runs").into_iter();
        let named = self.named.iter().filter_map(|(name, histogram)| histogram.draw_chart(&one_line(name)));
        let (warnings_all, warnings) = &self.warnings;
        let (unread_all, unread) = &self.unread;
        OverviewPage {
            runs: ending.totals.runs,
            runs_failed: ending.totals.runs_failed,
            not_judged: ending.totals.missing_runs().unwrap_or_default(),
            one_not_judged: ending.totals.not_judged == 1 && !ending.totals.not_judged_at_least,
            passed: ending.passed,
            score: rules::shown_score(ending.totals.mean_score()),
            bar: chart::bar_pieces(&verdicts.map(|(verdict, _, count)| (verdict, count))),
            tiles: verdicts.map(|(verdict, word, count)| tile(verdict, word, count)).into(),
            others: others
                .into_iter()
                .filter(|(_, _, count)| *count > 0)
                .map(|(verdict, word, count)| tile(verdict, word, count))
                .collect(),
            rows_count: rows.len(),
            rows,
            never_count: never.len(),
            never,
            charts: charts.chain(named).collect(),
            warnings_more: warnings_all - warnings.len() as u64,
            warnings_all: *warnings_all,
            warnings: warnings.clone(),
            unread_more: unread_all - unread.len() as u64,
            unread_all: *unread_all,
            unread: unread.clone(),
            errors: all().filter(|one| has_severity(one, "error")).take(LISTED).map(rule_error).collect(),
            remarks: all().filter(|one| has_severity(one, "warning")).count(),
        }
    }
}

/// Returns a share in percent. A nonzero share is never shown as zero.
fn share_text(count: u64, all: u64) -> String {
    match (count, all) {
        (0, _) | (_, 0) => String::new(),
        (count, all) if count < all && 200 * count < all => "< 1 %".to_owned(),
        (count, all) => {
            format!("{:.0} %", (100.0 * count as f64 / all as f64).min(if count < all { 99.0 } else { 100.0 }))
        }
    }
}

fn has_severity(diagnostic: &serde_json::Value, severity: &str) -> bool {
    diagnostic.get("severity").and_then(serde_json::Value::as_str) == Some(severity)
}

fn rule_error(diagnostic: &serde_json::Value) -> RuleError {
    let text = |key: &str| diagnostic.get(key).and_then(serde_json::Value::as_str).map(one_line).unwrap_or_default();
    let place = |key: &str| diagnostic.pointer(&format!("/location/{key}")).cloned().unwrap_or_default();
    let file = place("file");
    RuleError {
        place: format!("{}:{}:{}", one_line(file.as_str().unwrap_or_default()), place("line"), place("column")),
        message: text("message").into_owned(),
        help: text("help").into_owned(),
    }
}
