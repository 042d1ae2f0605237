//! The table of rules in the overview, most failures first.

use super::chart::{self, BarPiece};
use crate::human::score_text;
use crate::model::RunReport;
use crate::table::{ReportItem, ReportTable, RuleItem};
use crate::totals::Counts;
use crate::value::shorten_text;
use averment_base::diagnostic::render::one_line;
use averment_base::words::count_noun;
use averment_engine::vm::outcome::Status;
use serde::Serialize;

/// Maximum length of a reason, in characters.
const REASON: usize = 240;

#[derive(Default)]
pub(super) struct RuleTotals {
    items: Vec<AssertionSum>,
    /// Score sums by rule.
    rules: Vec<ScoreSum>,
}

#[derive(Default, Clone)]
struct AssertionSum {
    counts: Counts,
    scores: ScoreSum,
    /// The first failing run, from 1, with its reason.
    example: Option<(u64, String)>,
    /// Number of passes that could not judge every step.
    unjudged: u64,
}

#[derive(Default, Clone, Copy)]
struct ScoreSum {
    sum: f64,
    count: u64,
    /// Number of runs that miss the rule's threshold.
    missed: u64,
}

impl ScoreSum {
    fn add_score(&mut self, score: Option<f64>) {
        if let Some(score) = score {
            self.sum += score;
            self.count += 1;
        }
    }

    fn mean_score(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

#[derive(Serialize)]
pub(super) struct OverviewRow {
    name: String,
    /// True if the name is the assertion's text.
    code: bool,
    sentence: String,
    place: String,
    severity: &'static str,
    filter: String,
    failed: u64,
    error: u64,
    undecided: u64,
    vacuous: u64,
    passed: u64,
    known: u64,
    skipped: u64,
    score: String,
    bar: Vec<BarPiece>,
    /// The share of failures in words, for screen readers.
    share: String,
    example: Option<FailedRun>,
    /// Number of runs below the threshold; empty without a threshold or if none is below.
    missed: String,
    /// The rule's assertions that did not always pass.
    parts: Vec<OverviewRow>,
    #[serde(skip)]
    order: (u64, u64, u64),
    #[serde(skip)]
    exercised: bool,
}

#[derive(Serialize, Clone)]
struct FailedRun {
    run: u64,
    reason: Vec<SentencePiece>,
}

/// A piece of a sentence. `code` marks text between backticks, which comes from the rule or the run.
#[derive(Serialize, Clone)]
struct SentencePiece {
    text: String,
    code: bool,
}

fn split_pieces(sentence: &str) -> Vec<SentencePiece> {
    let all: Vec<&str> = sentence.split('`').collect();
    let last = all.len() - 1;
    let piece = |at: usize, text: &str| match at % 2 == 1 {
        true if at < last => SentencePiece { text: text.to_owned(), code: true },
        // The closing backtick was cut off.
        true => SentencePiece { text: format!("`{text}"), code: false },
        false => SentencePiece { text: text.to_owned(), code: false },
    };
    all.iter().enumerate().map(|(at, text)| piece(at, text)).collect()
}

impl RuleTotals {
    pub(super) fn begin_table(&mut self, table: &ReportTable) {
        self.items = vec![AssertionSum::default(); table.items.len()];
        self.rules = vec![ScoreSum::default(); table.rules.len()];
    }

    /// Adds a run; `number` counts from 1.
    pub(super) fn add_run(&mut self, number: u64, run: &RunReport) {
        for result in &run.results {
            let Some(sum) = self.items.get_mut(result.item) else { continue };
            sum.counts.add_result(result);
            sum.scores.add_score(result.score);
            sum.unjudged += u64::from(result.unjudged.is_some());
            if sum.example.is_none()
                && matches!(result.status, Status::Failed | Status::UnexpectedPassed | Status::Error)
            {
                let words = result.message.as_deref().unwrap_or(&result.reason);
                sum.example = Some((number, shorten_text(&one_line(words), REASON)));
            }
        }
        for rule in &run.rules {
            if let Some(scores) = self.rules.get_mut(rule.rule) {
                scores.add_score(rule.score);
                scores.missed += u64::from(!rule.passed);
            }
        }
    }

    /// Returns the rows, most failures first, and the names of unexercised assertions.
    pub(super) fn sorted_rows(&self, table: &ReportTable) -> (Vec<OverviewRow>, Vec<String>) {
        let mut rows: Vec<OverviewRow> = Vec::new();
        let mut of_rule = vec![None; table.rules.len()];
        for (item, sum) in table.items.iter().zip(&self.items) {
            let rule = item.rule.and_then(|rule| Some((rule, table.rules.get(rule)?)));
            let Some((number, rule)) = rule else {
                rows.push(OverviewRow::of_item(item, sum));
                continue;
            };
            let place = of_rule.get(number).copied().flatten().unwrap_or(rows.len());
            if place == rows.len() {
                rows.push(OverviewRow::of_rule(rule, self.rules.get(number).copied().unwrap_or_default()));
                of_rule.get_mut(number).into_iter().for_each(|known| *known = Some(place));
            }
            rows.get_mut(place).into_iter().for_each(|row| row.add_assertion(item, sum));
        }
        let never = rows.iter().filter(|row| !row.exercised).map(|row| row.name.clone()).collect();
        rows.iter_mut().for_each(OverviewRow::finish_row);
        rows.sort_by_key(|row| std::cmp::Reverse(row.order));
        (rows, never)
    }
}

impl OverviewRow {
    fn new(name: &str, sentence: &str, place: String, severity: &'static str) -> Self {
        Self {
            name: one_line(name).into_owned(),
            code: false,
            sentence: one_line(sentence).into_owned(),
            place,
            severity,
            filter: String::new(),
            failed: 0,
            error: 0,
            undecided: 0,
            vacuous: 0,
            passed: 0,
            known: 0,
            skipped: 0,
            score: String::new(),
            bar: Vec::new(),
            share: String::new(),
            example: None,
            missed: String::new(),
            parts: Vec::new(),
            order: (0, 0, 0),
            exercised: false,
        }
    }

    fn of_rule(rule: &RuleItem, scores: ScoreSum) -> Self {
        let sentence = rule.sentence.as_deref().unwrap_or_default();
        let mut row = Self::new(&rule.id, sentence, rule.location.to_string(), rule.severity.as_str());
        row.score = shown_score(scores.mean_score());
        row.filter = encode_fragment(&rule.id);
        if let Some(threshold) = rule.threshold.filter(|_| scores.missed > 0) {
            row.missed = format!("misses its threshold {threshold} in {}", count_noun(scores.missed, "run"));
        }
        row
    }

    fn of_item(item: &ReportItem, sum: &AssertionSum) -> Self {
        let sentence = if item.display_name() == item.text { "" } else { &item.text };
        let mut row = Self::new(item.display_name(), sentence, item.location.to_string(), item.severity.as_str());
        row.count_sum(sum);
        row.score = shown_score(sum.scores.mean_score());
        row.filter = encode_fragment(item.display_name());
        row.code = item.display_name() == item.text;
        row
    }

    fn add_assertion(&mut self, item: &ReportItem, sum: &AssertionSum) {
        self.count_sum(sum);
        let mut part = Self::of_item(item, sum);
        part.finish_row();
        if part.order > (0, 0, 0) {
            self.parts.push(part);
        }
    }

    fn count_sum(&mut self, sum: &AssertionSum) {
        let counts = &sum.counts;
        self.failed += counts.fail + counts.unexpected_passed;
        self.error += counts.error;
        self.undecided += counts.undecided;
        self.vacuous += counts.vacuous;
        self.passed += counts.pass + counts.expected_failed;
        self.known += counts.known;
        self.skipped += counts.skipped;
        self.exercised |= counts.all_results() > counts.vacuous + counts.skipped;
        if self.example.is_none() {
            self.example =
                sum.example.as_ref().map(|(run, reason)| FailedRun { run: *run, reason: split_pieces(reason) });
        }
    }

    fn finish_row(&mut self) {
        let counts = [
            ("fail", self.failed),
            ("error", self.error),
            ("undecided", self.undecided),
            ("known", self.known),
            ("vacuous", self.vacuous),
            ("pass", self.passed),
        ];
        self.bar = chart::bar_pieces(&counts);
        let judged: u64 = counts.iter().map(|(_, count)| count).sum();
        self.share = format!("{} of {judged} failed", self.failed);
        // Assertions that fail no run come after those that do.
        let fails = self.severity == "error" && self.failed + self.error + self.undecided > 0;
        self.order = (u64::from(fails), self.failed + self.error, self.undecided);
        self.parts.sort_by_key(|part| std::cmp::Reverse(part.order));
        // A row for the only assertion of a rule would repeat the rule's row.
        if let [only] = self.parts.as_slice()
            && only.order == self.order
            && only.passed == self.passed
            && only.vacuous == self.vacuous
        {
            self.parts.clear();
        }
    }
}

pub(super) fn shown_score(score: Option<f64>) -> String {
    score.map_or_else(|| "–".to_owned(), score_text)
}

fn encode_fragment(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
