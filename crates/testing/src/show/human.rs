//! Tests for people: a line each, what went wrong, the matrix, one last line.

use super::{counted, failed};
use crate::cells::Cells;
use crate::outcome::Tested;
use averment_base::diagnostic::render::{Ink, Style, one_line, paint};
use averment_base::truth::Verdict;
use std::io::{self, Write};

/// Prints tests for people. With `quiet`, only what did not come out as stated is shown, and the last line.
///
/// # Errors
/// The stream cannot be written.
pub fn human(out: &mut dyn Write, tested: &[Tested], style: Style, quiet: bool) -> io::Result<()> {
    for test in tested.iter().filter(|test| !quiet || !test.passed) {
        one(out, test, style)?;
    }
    if tested.iter().any(|test| !quiet || !test.passed) {
        writeln!(out)?;
    }
    if !quiet || tested.iter().any(|test| !test.passed) {
        matrix(out, &Cells::of(tested), style)?;
    }
    let count = counted(tested.len(), "test");
    match failed(tested) {
        0 => writeln!(out, "{}: {count} came out as stated", paint(style, Ink::Green, "passed")),
        failed => {
            let word = paint(style, Ink::Red, "failed");
            writeln!(out, "{word}: {failed} of {count} did not come out as stated{}", wrong_way(&Cells::of(tested)))
        }
    }
}

/// The two cells that hurt, in words.
fn wrong_way(cells: &Cells) -> String {
    let corners = [(Verdict::Fail, Verdict::Pass, "missed"), (Verdict::Pass, Verdict::Fail, "false alarm")];
    let words = corners.map(|(expected, found, word)| (cells.count(expected, found), word));
    let said: Vec<String> = words
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| if word == "missed" { format!("{count} missed") } else { counted(count, word) })
        .collect();
    if said.is_empty() { String::new() } else { format!(": {}", said.join(", ")) }
}

fn one(out: &mut dyn Write, test: &Tested, style: Style) -> io::Result<()> {
    let (ink, word) = if test.passed { (Ink::Green, "ok    ") } else { (Ink::Red, "failed") };
    writeln!(out, "{}  {}", paint(style, ink, word), one_line(&test.name))?;
    if test.passed {
        return Ok(());
    }
    let (file, reason) = (one_line(&test.place.file), one_line(&test.reason));
    writeln!(out, "        {file}:{}:{}: {reason}", test.place.line, test.place.column)?;
    if !test.help.is_empty() {
        writeln!(out, "          {}: {}", paint(style, Ink::Green, "help"), one_line(&test.help))?;
    }
    if !test.changes.is_empty() {
        return changes(out, test, style);
    }
    for why in &test.why {
        let reason = if why.reason.is_empty() { String::new() } else { format!(": {}", one_line(&why.reason)) };
        writeln!(out, "          {} {}{reason}", one_line(&why.id), why.status.as_str())?;
    }
    Ok(())
}

/// How a snapshot differs from what was found.
fn changes(out: &mut dyn Write, test: &Tested, style: Style) -> io::Result<()> {
    for line in &test.changes {
        let text = one_line(line);
        let text = match line.as_bytes().first() {
            Some(b'-') => paint(style, Ink::Red, &text),
            Some(b'+') => paint(style, Ink::Green, &text),
            _ => text.into_owned(),
        };
        writeln!(out, "          {text}")?;
    }
    Ok(())
}

fn matrix(out: &mut dyn Write, cells: &Cells, style: Style) -> io::Result<()> {
    write!(out, "{:18}", "expected \\ found")?;
    for verdict in &cells.found {
        write!(out, "{:>11}", verdict.as_str())?;
    }
    writeln!(out)?;
    for &expected in &cells.expected {
        write!(out, "  {:16}", expected.as_str())?;
        for &found in &cells.found {
            write!(out, "{}", cell(cells, expected, found, style))?;
        }
        writeln!(out)?;
    }
    writeln!(out)
}

/// What came out as stated is green, what did not is red; zeros stay quiet.
fn cell(cells: &Cells, expected: Verdict, found: Verdict, style: Style) -> String {
    let count = cells.count(expected, found);
    let text = format!("{count:>11}");
    match (count, expected == found) {
        (0, _) => paint(style, Ink::Dim, &text),
        (_, true) => paint(style, Ink::Green, &text),
        (_, false) => paint(style, Ink::Red, &text),
    }
}
