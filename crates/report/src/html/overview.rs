//! What the page says before anybody looks at a run: counts, rules, scores, what could not be read.

use super::chart::{self, Bar, Drawn, Histogram};
use super::rules::{self, Row, RuleTotals};
use crate::Ending;
use crate::model::{RunReport, Unreadable};
use crate::table::Table;
use averment_base::diagnostic::render::one_line;
use indexmap::IndexMap;
use serde::Serialize;

/// Warnings, and what cannot be read, are listed up to so many, and counted beyond.
const LISTED: usize = 100;
/// Names of scores that are drawn.
const CHARTS: usize = 40;

/// What is known so far.
#[derive(Default)]
pub(super) struct Overview {
    runs: u64,
    rules: RuleTotals,
    scores: Histogram,
    named: IndexMap<String, Histogram>,
    warnings: (u64, Vec<Warning>),
    unread: (u64, Vec<Unreadable>),
}

#[derive(Serialize, Clone)]
struct Warning {
    run: u64,
    name: String,
    line: usize,
    words: String,
}

/// The overview as the template takes it.
#[derive(Serialize)]
pub(super) struct View {
    runs: u64,
    runs_failed: u64,
    /// How many runs have no verdicts, in words; empty where all have.
    not_judged: String,
    one_not_judged: bool,
    passed: bool,
    score: String,
    tiles: Vec<Tile>,
    bar: Vec<Bar>,
    others: Vec<Tile>,
    rows: Vec<Row>,
    rows_count: usize,
    never: Vec<String>,
    never_count: usize,
    charts: Vec<Drawn>,
    warnings: Vec<Warning>,
    warnings_more: u64,
    warnings_all: u64,
    unread: Vec<Unreadable>,
    unread_more: u64,
    unread_all: u64,
    /// Why the rules do not compile.
    errors: Vec<Said>,
    /// What else is said of them.
    remarks: usize,
}

/// How often a verdict came about.
#[derive(Serialize)]
struct Tile {
    verdict: &'static str,
    word: &'static str,
    count: u64,
    share: String,
}

/// Something for which the rules do not compile.
#[derive(Serialize)]
struct Said {
    place: String,
    message: String,
    help: String,
}

impl Overview {
    pub(super) fn begin(&mut self, table: &Table) {
        self.rules.begin(table);
    }

    pub(super) fn run(&mut self, run: &RunReport) {
        self.runs += 1;
        self.rules.run(self.runs, run);
        if let Some(score) = run.score {
            self.scores.add(score);
        }
        for (name, score) in &run.named_scores {
            if let Some(known) = self.named.get_mut(name.as_str()) {
                known.add(*score);
            } else if self.named.len() < CHARTS {
                self.named.entry(name.clone()).or_default().add(*score);
            }
        }
        let (count, listed) = &mut self.warnings;
        for (line, words) in &run.warnings {
            *count += 1;
            if listed.len() < LISTED {
                let (name, words) = (one_line(&run.run).into_owned(), one_line(words).into_owned());
                listed.push(Warning { run: self.runs, name, line: *line, words });
            }
        }
    }

    pub(super) fn unreadable(&mut self, what: &Unreadable) {
        let (count, listed) = &mut self.unread;
        *count += 1;
        if listed.len() < LISTED {
            let clean = |text: &str| one_line(text).into_owned();
            let (file, message, help) = (clean(&what.file), clean(&what.message), clean(&what.help));
            listed.push(Unreadable { file, message, help, ..*what });
        }
    }

    pub(super) fn view(&self, table: &Table, ending: &Ending<'_>, diagnostics: &serde_json::Value) -> View {
        let counts = &ending.totals.counts;
        let verdicts = [
            ("fail", "failed", counts.fail + counts.unexpected_passed),
            ("error", "could not be evaluated", counts.error),
            ("undecided", "undecided", counts.undecided),
            ("vacuous", "vacuous", counts.vacuous),
            ("pass", "passed", counts.pass + counts.expected_failed),
        ];
        let sum: u64 = verdicts.iter().map(|(_, _, count)| count).sum();
        let tile = |verdict, word, count| Tile { verdict, word, count, share: share(count, sum) };
        let others = [
            ("known", "failed and are known to the baseline", counts.known),
            ("skipped", "skipped", counts.skipped),
            ("pass", "of those that passed failed as expected", counts.expected_failed),
            ("fail", "of those that failed passed unexpectedly", counts.unexpected_passed),
        ];
        let all = || diagnostics.as_array().into_iter().flatten();
        let (rows, never) = self.rules.rows(table);
        let charts = self.scores.drawn("all runs").into_iter();
        let named = self.named.iter().filter_map(|(name, histogram)| histogram.drawn(&one_line(name)));
        let (warnings_all, warnings) = &self.warnings;
        let (unread_all, unread) = &self.unread;
        View {
            runs: ending.totals.runs,
            runs_failed: ending.totals.runs_failed,
            not_judged: ending.totals.missing_runs().unwrap_or_default(),
            one_not_judged: ending.totals.not_judged == 1 && !ending.totals.not_judged_at_least,
            passed: ending.passed,
            score: rules::score(ending.totals.score()),
            bar: chart::bar(&verdicts.map(|(verdict, _, count)| (verdict, count))),
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
            errors: all().filter(|one| is(one, "error")).take(LISTED).map(said).collect(),
            remarks: all().filter(|one| is(one, "warning")).count(),
        }
    }
}

/// A share as people read it; what is there is never nothing.
fn share(count: u64, all: u64) -> String {
    match (count, all) {
        (0, _) | (_, 0) => String::new(),
        (count, all) if count < all && 200 * count < all => "< 1 %".to_owned(),
        (count, all) => {
            format!("{:.0} %", (100.0 * count as f64 / all as f64).min(if count < all { 99.0 } else { 100.0 }))
        }
    }
}

fn is(diagnostic: &serde_json::Value, severity: &str) -> bool {
    diagnostic.get("severity").and_then(serde_json::Value::as_str) == Some(severity)
}

fn said(diagnostic: &serde_json::Value) -> Said {
    let text = |key: &str| diagnostic.get(key).and_then(serde_json::Value::as_str).map(one_line).unwrap_or_default();
    let place = |key: &str| diagnostic.pointer(&format!("/location/{key}")).cloned().unwrap_or_default();
    let file = place("file");
    Said {
        place: format!("{}:{}:{}", one_line(file.as_str().unwrap_or_default()), place("line"), place("column")),
        message: text("message").into_owned(),
        help: text("help").into_owned(),
    }
}
