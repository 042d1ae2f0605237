//! `--format short`: every result that did not pass on one line, `FILE:LINE:COLUMN: severity[id]: message`. The location is that of the assertion.

use super::gate::Gate;
use super::model::{ResultReport, RunReport, UnreadableTrace, ViolationView, first_violation, listed_violations};
use super::table::{ReportItem, ReportTable};
use super::{Options, Report, ReportEnding, value};
use averment_base::diagnostic::render::one_line;
use averment_checker::ir::Severity;
use averment_engine::vm::outcome::{Role, Status};
use std::io::{self, Write};

/// The `short` report.
pub struct ShortReport {
    out: Box<dyn Write>,
    options: Options,
    /// Cached locations of assertions in words, by number, because many runs use them.
    places: Vec<Option<Box<str>>>,
}

/// Maximum length of a message, in characters.
const MESSAGE: usize = 400;

impl ShortReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, places: Vec::new() }
    }

    fn severity_word(&self, table: &ReportTable, item: &ReportItem, result: &ResultReport) -> &'static str {
        if table.result_gate(result, self.options.policy) != Gate::Open {
            return "error";
        }
        match (result.status, item.severity) {
            _ if result.known => "info",
            (Status::Vacuous | Status::ExpectedFailed, _) | (_, Severity::Info) => "info",
            _ => "warning",
        }
    }
}

/// Returns the location of an assertion in words, from the cache.
fn known_place<'p>(places: &'p mut Vec<Option<Box<str>>>, number: usize, item: &ReportItem) -> &'p str {
    if places.len() <= number {
        places.resize(number.saturating_add(1), None);
    }
    let made = || one_line(&item.location.to_string()).into_owned().into_boxed_str();
    places.get_mut(number).map_or("", |place| place.get_or_insert_with(made))
}

/// Returns the verdict, the run and the reason in one sentence.
pub fn result_sentence(item: &ReportItem, result: &ResultReport, run: &str) -> String {
    violation_sentence(item, result, run, first_violation(result))
}

/// Returns a sentence for each of the first violations, and one with their total number.
fn result_sentences(item: &ReportItem, result: &ResultReport, run: &str, drawn: usize) -> Vec<String> {
    if result.violations.listed.is_empty() {
        return vec![result_sentence(item, result, run)];
    }
    let shown = listed_violations(result).take(drawn);
    let mut all: Vec<String> = shown.map(|one| violation_sentence(item, result, run, one)).collect();
    all.extend(result.violations.not_drawn(all.len()).map(|rest| format!("fail in {}: {rest}", one_line(run))));
    all
}

fn violation_sentence(item: &ReportItem, result: &ResultReport, run: &str, violation: ViolationView<'_>) -> String {
    value::shorten_text(&one_line(&verdict_words(item, result, Some(run), violation)), MESSAGE)
}

/// Returns the verdict and the reason of a violation, and the run if one is given. The texts are neither shortened nor escaped.
pub fn verdict_words(
    item: &ReportItem,
    result: &ResultReport,
    run: Option<&str>,
    violation: ViolationView<'_>,
) -> String {
    let word = match result.status {
        Status::UnexpectedPassed if run.is_none() => "passed, but a failure is expected",
        Status::UnexpectedPassed => "passed, but a failure is expected,",
        Status::ExpectedFailed => "failed as expected",
        _ => result.verdict.as_str(),
    };
    let [message, colon] = result.message.as_deref().map_or(["", ""], |message| [message, ": "]);
    let reason = match (violation.reason, result.status, item.expected.as_deref()) {
        ("", Status::UnexpectedPassed, Some(why)) if !why.is_empty() => why,
        ("", _, _) => item.text.as_str(),
        (reason, _, _) => reason,
    };
    // The nearest miss is added, since this format has no drawing that shows it.
    let near = violation.evidence.iter().find(|one| one.role == Role::NearMiss && !reason.contains(&one.label));
    let [open, near, close] = near.map_or(["", "", ""], |near| [" (", &near.label, ")"]);
    let known = if result.known { "known: " } else { "" };
    let [within, run] = run.map_or(["", ""], |run| [" in ", run]);
    [known, word, within, run, ": ", message, colon, reason, open, near, close].concat()
}

impl Report for ShortReport {
    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        for (line, message) in &run.warnings {
            writeln!(self.out, "{}:{line}:1: warning[trace]: {}", one_line(&run.file), one_line(message))?;
        }
        for result in run.results.iter().filter(|one| one.is_finding() && !table.fails_as_asked(one)) {
            let Some(item) = table.items.get(result.item) else { continue };
            let severity = self.severity_word(table, item, result);
            let place = known_place(&mut self.places, result.item, item);
            for sentence in result_sentences(item, result, &run.run, self.options.violations) {
                let line = [place, ": ", severity, "[", &item.id, "]: ", &sentence, "\n"].concat();
                self.out.write_all(line.as_bytes())?;
            }
        }
        for result in &run.results {
            let (Some(item), Some(unjudged)) = (table.items.get(result.item), &result.unjudged) else { continue };
            if !self.options.policy.with_denied(item.denied).deny_unjudged {
                continue;
            }
            let (severity, run) = (self.severity_word(table, item, result), one_line(&run.run));
            let said = one_line(&unjudged.in_words()).into_owned();
            let place = known_place(&mut self.places, result.item, item);
            writeln!(self.out, "{place}: {severity}[{}]: pass in {run}: {said}", item.id)?;
        }
        for rule in &run.rules {
            let Some((item, threshold)) = table.rules.get(rule.rule).and_then(|item| Some((item, item.threshold?)))
            else {
                continue;
            };
            if !rule.passed {
                let word = match (rule.known, item.severity) {
                    (true, _) => "info",
                    (_, Severity::Error) => "error",
                    _ => "warning",
                };
                let known = if rule.known { "known: " } else { "" };
                let score = rule.score.map_or("none".to_owned(), super::human::score_text);
                let line =
                    format!("{known}fail in {}: its score is {score}, its threshold {threshold}", one_line(&run.run));
                writeln!(self.out, "{}: {word}[{}]: {line}", one_line(&item.location.to_string()), item.id)?;
            }
        }
        Ok(())
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        let (file, message) = (one_line(&what.file), one_line(&what.message));
        let help = if what.help.is_empty() { String::new() } else { format!("; help: {}", one_line(&what.help)) };
        writeln!(self.out, "{file}:{}:{}: error[trace]: {message}{help}", what.line, what.column)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, _: &ReportTable, _: &ReportEnding<'_>) -> io::Result<()> {
        self.out.flush()
    }
}
