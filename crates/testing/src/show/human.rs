//! Prints tests as text: one line each, the failures, the matrix, and a summary line.

use super::failed_count;
use crate::cells::VerdictMatrix;
use crate::outcome::TrialReport;
use averment_base::diagnostic::render::{TextColor, TextStyle, one_line, paint_text};
use averment_base::truth::Verdict;
use averment_base::words::count_noun;
use std::io::{self, Write};

/// Prints tests as text. With `quiet`, only unexpected results and the summary line are printed.
///
/// # Errors
/// If the stream cannot be written.
pub fn print_human(out: &mut dyn Write, tested: &[TrialReport], style: TextStyle, quiet: bool) -> io::Result<()> {
    for test in tested.iter().filter(|test| !quiet || !test.passed) {
        print_test(out, test, style)?;
    }
    if tested.iter().any(|test| !quiet || !test.passed) {
        writeln!(out)?;
    }
    if !quiet || tested.iter().any(|test| !test.passed) {
        print_matrix(out, &VerdictMatrix::from_tests(tested), style)?;
    }
    let count = count_noun(tested.len(), "test");
    match failed_count(tested) {
        0 => writeln!(out, "{}: {count} came out as stated", paint_text(style, TextColor::Green, "passed")),
        failed => {
            let word = paint_text(style, TextColor::Red, "failed");
            writeln!(
                out,
                "{word}: {failed} of {count} did not come out as stated{}",
                wrong_way(&VerdictMatrix::from_tests(tested))
            )
        }
    }
}

fn wrong_way(cells: &VerdictMatrix) -> String {
    let corners = [(Verdict::Fail, Verdict::Pass, "missed"), (Verdict::Pass, Verdict::Fail, "false alarm")];
    let words = corners.map(|(expected, found, word)| (cells.cell_count(expected, found), word));
    let said: Vec<String> = words
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| if word == "missed" { format!("{count} missed") } else { count_noun(count, word) })
        .collect();
    if said.is_empty() { String::new() } else { format!(": {}", said.join(", ")) }
}

fn print_test(out: &mut dyn Write, test: &TrialReport, style: TextStyle) -> io::Result<()> {
    let (ink, word) = if test.passed { (TextColor::Green, "ok    ") } else { (TextColor::Red, "failed") };
    writeln!(out, "{}  {}", paint_text(style, ink, word), one_line(&test.name))?;
    if test.passed {
        return Ok(());
    }
    let (file, reason) = (one_line(&test.place.file), one_line(&test.reason));
    writeln!(out, "        {file}:{}:{}: {reason}", test.place.line, test.place.column)?;
    if !test.help.is_empty() {
        writeln!(out, "          {}: {}", paint_text(style, TextColor::Green, "help"), one_line(&test.help))?;
    }
    if !test.changes.is_empty() {
        return print_changes(out, test, style);
    }
    for why in &test.why {
        let reason = if why.reason.is_empty() { String::new() } else { format!(": {}", one_line(&why.reason)) };
        writeln!(out, "          {} {}{reason}", one_line(&why.id), why.status.as_str())?;
    }
    Ok(())
}

fn print_changes(out: &mut dyn Write, test: &TrialReport, style: TextStyle) -> io::Result<()> {
    for line in &test.changes {
        let text = one_line(line);
        let text = match line.as_bytes().first() {
            Some(b'-') => paint_text(style, TextColor::Red, &text),
            Some(b'+') => paint_text(style, TextColor::Green, &text),
            _ => text.into_owned(),
        };
        writeln!(out, "          {text}")?;
    }
    Ok(())
}

fn print_matrix(out: &mut dyn Write, cells: &VerdictMatrix, style: TextStyle) -> io::Result<()> {
    write!(out, "{:18}", "expected \\ found")?;
    for verdict in &cells.found {
        write!(out, "{:>11}", verdict.as_str())?;
    }
    writeln!(out)?;
    for &expected in &cells.expected {
        write!(out, "  {:16}", expected.as_str())?;
        for &found in &cells.found {
            write!(out, "{}", matrix_cell(cells, expected, found, style))?;
        }
        writeln!(out)?;
    }
    writeln!(out)
}

/// Returns a colored cell: matches are green, mismatches red; zeros are not colored.
fn matrix_cell(cells: &VerdictMatrix, expected: Verdict, found: Verdict, style: TextStyle) -> String {
    let count = cells.cell_count(expected, found);
    let text = format!("{count:>11}");
    match (count, expected == found) {
        (0, _) => paint_text(style, TextColor::Dim, &text),
        (_, true) => paint_text(style, TextColor::Green, &text),
        (_, false) => paint_text(style, TextColor::Red, &text),
    }
}
