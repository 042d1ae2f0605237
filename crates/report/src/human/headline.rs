//! The summary line at the end of the report for people.

use crate::ReportEnding;
use crate::totals::RunTotals;
use averment_base::diagnostic::render::{TextColor, TextStyle, paint_text};
use averment_base::words::count_noun;
use std::io::{self, Write};

/// Writes the summary line.
pub fn write_headline(out: &mut dyn Write, style: TextStyle, ending: &ReportEnding<'_>) -> io::Result<()> {
    let totals = ending.totals;
    let (runs, assertions) = (count_noun(totals.runs, "run"), totals.counts.all_results());
    if totals.counts.nothing_exercised() {
        let word = if totals.counts.vacuous > 0 { "vacuous" } else { "skipped" };
        let said = format!("nothing was exercised: every verdict is {word} ({} in {runs})", totals.counts.in_words());
        let missing = not_judged(totals).unwrap_or_default();
        return writeln!(out, "{}{missing}", paint_text(style, TextColor::Yellow, &said));
    }
    let (ink, verdict) = match (ending.passed, totals.runs_failed) {
        (true, _) => (TextColor::Green, "passed".to_owned()),
        (false, _) if totals.runs == 0 => (TextColor::Red, "nothing was judged".to_owned()),
        (false, 0) => (TextColor::Red, "failed".to_owned()),
        (false, _) if totals.runs == 1 => (TextColor::Red, "failed".to_owned()),
        (false, failed) => (TextColor::Red, format!("failed in {failed} of {runs}")),
    };
    let mut line = paint_text(style, ink, &verdict);
    if assertions > 0 {
        line.push_str(&format!(": {}", totals.counts.in_words()));
    }
    if (totals.runs > 1 || totals.runs == 0 && ending.passed) && (ending.passed || totals.runs_failed == 0) {
        line.push_str(&format!(" in {runs}"));
    }
    if totals.unreadable > 0 {
        line.push_str(&format!("; {} cannot be read", count_noun(totals.unreadable, "trace")));
    }
    line.extend(not_judged(totals));
    if let Some(score) = totals.mean_score() {
        line.push_str(&format!("; score {}", score_text(score)));
    }
    writeln!(out, "{line}")
}

fn not_judged(totals: &RunTotals) -> Option<String> {
    totals.missing_runs().map(|runs| format!("; {runs} not judged"))
}

/// Returns a score for people, with two decimals. It is truncated, not rounded, so that only an exact 1 is shown as 1.
pub fn score_text(score: f64) -> String {
    format!("{:.2}", (score * 100.0 + 1e-9).floor() / 100.0)
}
