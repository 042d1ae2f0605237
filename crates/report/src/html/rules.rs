//! The table of rules in the overview: what failed most comes first.

use super::chart::{self, Bar};
use crate::human::score_text;
use crate::model::RunReport;
use crate::table::{Item, RuleItem, Table};
use crate::totals::Counts;
use crate::value::{counted, shortened};
use averment_base::diagnostic::render::one_line;
use averment_engine::vm::outcome::Status;
use serde::Serialize;

/// Characters of a reason that is given as an example.
const REASON: usize = 240;

/// Counts over runs for every rule and every assertion.
#[derive(Default)]
pub(super) struct RuleTotals {
    /// By assertion.
    items: Vec<Sum>,
    /// By rule: the scores alone.
    rules: Vec<Scores>,
}

#[derive(Default, Clone)]
struct Sum {
    counts: Counts,
    scores: Scores,
    /// The first run that fails it, from 1, with the reason.
    example: Option<(u64, String)>,
    /// What could not be judged although it passes.
    unjudged: u64,
}

#[derive(Default, Clone, Copy)]
struct Scores {
    sum: f64,
    count: u64,
    /// Runs that miss the threshold of the rule.
    missed: u64,
}

impl Scores {
    fn add(&mut self, score: Option<f64>) {
        if let Some(score) = score {
            self.sum += score;
            self.count += 1;
        }
    }

    fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// A row of the table.
#[derive(Serialize)]
pub(super) struct Row {
    name: String,
    /// True where the name is the text of the assertion.
    code: bool,
    sentence: String,
    place: String,
    severity: &'static str,
    /// What the filter of the list of runs takes.
    filter: String,
    failed: u64,
    error: u64,
    undecided: u64,
    vacuous: u64,
    passed: u64,
    known: u64,
    skipped: u64,
    score: String,
    bar: Vec<Bar>,
    /// The share of failures in words, for those who do not see the bar.
    share: String,
    example: Option<Example>,
    /// In how many runs it misses its threshold; empty where it has none or misses it nowhere.
    missed: String,
    /// The assertions of a rule that did not pass everywhere.
    parts: Vec<Row>,
    #[serde(skip)]
    order: (u64, u64, u64),
    #[serde(skip)]
    exercised: bool,
}

/// A run that fails an assertion.
#[derive(Serialize, Clone)]
struct Example {
    run: u64,
    reason: Vec<Piece>,
}

/// A piece of a sentence; one between backticks is of the rule or the run.
#[derive(Serialize, Clone)]
struct Piece {
    text: String,
    code: bool,
}

fn pieces(sentence: &str) -> Vec<Piece> {
    let all: Vec<&str> = sentence.split('`').collect();
    let last = all.len() - 1;
    let piece = |at: usize, text: &str| match at % 2 == 1 {
        true if at < last => Piece { text: text.to_owned(), code: true },
        // The second of the pair was cut off.
        true => Piece { text: format!("`{text}"), code: false },
        false => Piece { text: text.to_owned(), code: false },
    };
    all.iter().enumerate().map(|(at, text)| piece(at, text)).collect()
}

impl RuleTotals {
    pub(super) fn begin(&mut self, table: &Table) {
        self.items = vec![Sum::default(); table.items.len()];
        self.rules = vec![Scores::default(); table.rules.len()];
    }

    /// Adds a run, the `number`th.
    pub(super) fn run(&mut self, number: u64, run: &RunReport) {
        for result in &run.results {
            let Some(sum) = self.items.get_mut(result.item) else { continue };
            sum.counts.add(result);
            sum.scores.add(result.score);
            sum.unjudged += u64::from(result.unjudged.is_some());
            if sum.example.is_none()
                && matches!(result.status, Status::Failed | Status::UnexpectedPassed | Status::Error)
            {
                let words = result.message.as_deref().unwrap_or(&result.reason);
                sum.example = Some((number, shortened(&one_line(words), REASON)));
            }
        }
        for rule in &run.rules {
            if let Some(scores) = self.rules.get_mut(rule.rule) {
                scores.add(rule.score);
                scores.missed += u64::from(!rule.passed);
            }
        }
    }

    /// The rows, what failed most first, and the names of those that nothing exercised.
    pub(super) fn rows(&self, table: &Table) -> (Vec<Row>, Vec<String>) {
        let mut rows: Vec<Row> = Vec::new();
        let mut of_rule = vec![None; table.rules.len()];
        for (item, sum) in table.items.iter().zip(&self.items) {
            let rule = item.rule.and_then(|rule| Some((rule, table.rules.get(rule)?)));
            let Some((number, rule)) = rule else {
                rows.push(Row::of_item(item, sum));
                continue;
            };
            let place = of_rule.get(number).copied().flatten().unwrap_or(rows.len());
            if place == rows.len() {
                rows.push(Row::of_rule(rule, self.rules.get(number).copied().unwrap_or_default()));
                of_rule.get_mut(number).into_iter().for_each(|known| *known = Some(place));
            }
            rows.get_mut(place).into_iter().for_each(|row| row.add(item, sum));
        }
        let never = rows.iter().filter(|row| !row.exercised).map(|row| row.name.clone()).collect();
        rows.iter_mut().for_each(Row::finish);
        rows.sort_by_key(|row| std::cmp::Reverse(row.order));
        (rows, never)
    }
}

impl Row {
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

    fn of_rule(rule: &RuleItem, scores: Scores) -> Self {
        let sentence = rule.sentence.as_deref().unwrap_or_default();
        let mut row = Self::new(&rule.id, sentence, rule.location.to_string(), rule.severity.as_str());
        row.score = score(scores.mean());
        row.filter = encoded(&rule.id);
        if let Some(threshold) = rule.threshold.filter(|_| scores.missed > 0) {
            row.missed = format!("misses its threshold {threshold} in {}", counted(scores.missed, "run"));
        }
        row
    }

    fn of_item(item: &Item, sum: &Sum) -> Self {
        let sentence = if item.name() == item.text { "" } else { &item.text };
        let mut row = Self::new(item.name(), sentence, item.location.to_string(), item.severity.as_str());
        row.count(sum);
        row.score = score(sum.scores.mean());
        row.filter = encoded(item.name());
        row.code = item.name() == item.text;
        row
    }

    /// Adds an assertion of a rule.
    fn add(&mut self, item: &Item, sum: &Sum) {
        self.count(sum);
        let mut part = Self::of_item(item, sum);
        part.finish();
        if part.order > (0, 0, 0) {
            self.parts.push(part);
        }
    }

    fn count(&mut self, sum: &Sum) {
        let counts = &sum.counts;
        self.failed += counts.fail + counts.unexpected_passed;
        self.error += counts.error;
        self.undecided += counts.undecided;
        self.vacuous += counts.vacuous;
        self.passed += counts.pass + counts.expected_failed;
        self.known += counts.known;
        self.skipped += counts.skipped;
        self.exercised |= counts.all() > counts.vacuous + counts.skipped;
        if self.example.is_none() {
            self.example = sum.example.as_ref().map(|(run, reason)| Example { run: *run, reason: pieces(reason) });
        }
    }

    fn finish(&mut self) {
        let counts = [
            ("fail", self.failed),
            ("error", self.error),
            ("undecided", self.undecided),
            ("known", self.known),
            ("vacuous", self.vacuous),
            ("pass", self.passed),
        ];
        self.bar = chart::bar(&counts);
        let judged: u64 = counts.iter().map(|(_, count)| count).sum();
        self.share = format!("{} of {judged} failed", self.failed);
        // What fails no run stands behind what does.
        let fails = self.severity == "error" && self.failed + self.error + self.undecided > 0;
        self.order = (u64::from(fails), self.failed + self.error, self.undecided);
        self.parts.sort_by_key(|part| std::cmp::Reverse(part.order));
        // What a rule says of its only assertion is said once.
        if let [only] = self.parts.as_slice()
            && only.order == self.order
            && only.passed == self.passed
            && only.vacuous == self.vacuous
        {
            self.parts.clear();
        }
    }
}

/// A score as people read it.
pub(super) fn score(score: Option<f64>) -> String {
    score.map_or_else(|| "–".to_owned(), score_text)
}

/// A text behind `=` in the part of an address behind `#`.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'*' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
