//! Prints mutants as text and as data.

use super::edit::MutantKind;
use super::run::{Mutant, MutantResult, MutationReport};
use crate::coverage::CoverageShare;
use averment_base::diagnostic::render::{TextColor, TextStyle, one_line, paint_text};
use averment_base::source::{FileId, LineColumn, SourceFile, SourceMap};
use averment_base::words::count_noun;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::ops::Range;

fn killed_share(report: &MutationReport) -> CoverageShare {
    let (killed, survived) = (report.killed_count(), report.survived_count());
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    CoverageShare { seen: number(killed), all: number(killed.saturating_add(survived)) }
}

/// Prints the surviving mutants with their changes, and the score.
///
/// # Errors
/// If the stream cannot be written.
pub fn print_human(
    out: &mut dyn Write,
    report: &MutationReport,
    sources: &SourceMap,
    style: TextStyle,
) -> io::Result<()> {
    let Some(file) = sources.get(FileId(0)) else { return Ok(()) };
    print_untested(out, report, file, style)?;
    let survivors: Vec<&Mutant> =
        report.mutants.iter().filter(|mutant| mutant.fate == MutantResult::Survived).collect();
    for group in survivors.chunk_by(|a, b| touched_range(a, file) == touched_range(b, file)) {
        of_lines(out, group, file, style)?;
    }
    let share = killed_share(report);
    let name = one_line(&file.name);
    let ink = if share.seen == share.all { TextColor::Green } else { TextColor::Yellow };
    let of = match report.found.checked_sub(report.mutants.len()) {
        Some(rest) if rest > 0 => format!(" ({rest} more were not tried)"),
        _ => String::new(),
    };
    let killed = format!("{} of {} killed", share.seen, share.all);
    let (same, invalid) = (
        report.count_where(|fate| *fate == MutantResult::Equivalent),
        report.count_where(|fate| *fate == MutantResult::Invalid),
    );
    writeln!(
        out,
        "{} of {name}: {}{of}",
        paint_text(style, TextColor::Bold, "mutants"),
        paint_text(style, ink, &format!("{killed}, {}", share.percent_text()))
    )?;
    if same + invalid > 0 {
        writeln!(out, "  left out: {same} that mean the same, {invalid} that do not compile")?;
    }
    Ok(())
}

/// Prints a single line for all mutants of an assertion that no test judges.
fn print_untested(out: &mut dyn Write, report: &MutationReport, file: &SourceFile, style: TextStyle) -> io::Result<()> {
    let all: Vec<&Mutant> = report.mutants.iter().filter(|mutant| mutant.fate == MutantResult::Untested).collect();
    for whole in all.iter().filter(|mutant| mutant.edit.kind == MutantKind::DropAssertion) {
        let inside = |mutant: &&&Mutant| {
            whole.edit.range.start <= mutant.edit.range.start && mutant.edit.range.end <= whole.edit.range.end
        };
        // Assertions in a block are covered by the line of the block.
        if all.iter().any(|other| other.edit.kind == MutantKind::DropAssertion && contains_mutant(other, whole)) {
            continue;
        }
        let count = all.iter().filter(inside).count();
        let at = mutant_position(whole, file);
        let text = file.text.get(whole.edit.range.clone()).unwrap_or("");
        let first = text.lines().next().unwrap_or("");
        let word = paint_text(style, TextColor::Yellow, "untested");
        writeln!(out, "{word}  {}:{}:{}  {}", one_line(&file.name), at.line, at.column, one_line(first))?;
        writeln!(out, "  missing: any test that judges it ({})", count_noun(count, "mutant"))?;
        writeln!(out)?;
    }
    Ok(())
}

fn contains_mutant(outer: &Mutant, inner: &Mutant) -> bool {
    outer.edit.range != inner.edit.range
        && outer.edit.range.start <= inner.edit.range.start
        && inner.edit.range.end <= outer.edit.range.end
}

fn of_lines(out: &mut dyn Write, group: &[&Mutant], file: &SourceFile, style: TextStyle) -> io::Result<()> {
    let Some(first) = group.first() else { return Ok(()) };
    let at = mutant_position(first, file);
    let word = paint_text(style, TextColor::Yellow, "survived");
    writeln!(out, "{word}  {}:{}:{}", one_line(&file.name), at.line, at.column)?;
    for line in changed_lines(first, file).0.lines() {
        writeln!(out, "  {}", paint_text(style, TextColor::Red, &format!("- {}", one_line(line))))?;
    }
    for mutant in group {
        let (_, behind) = changed_lines(mutant, file);
        let mut shown = behind.lines().filter(|line| !line.trim().is_empty()).peekable();
        if shown.peek().is_none() {
            writeln!(out, "  {}", paint_text(style, TextColor::Green, "+"))?;
        }
        for line in shown {
            writeln!(out, "  {}", paint_text(style, TextColor::Green, &format!("+ {}", one_line(line.trim_end()))))?;
        }
        writeln!(out, "      {}; missing: {}", mutant.edit.kind.as_str(), one_line(&mutant.edit.missing))?;
    }
    writeln!(out)
}

/// Prints one line per surviving mutant, for editors.
///
/// # Errors
/// If the stream cannot be written.
pub fn print_short(out: &mut dyn Write, report: &MutationReport, sources: &SourceMap) -> io::Result<()> {
    let Some(file) = sources.get(FileId(0)) else { return Ok(()) };
    for mutant in
        report.mutants.iter().filter(|mutant| matches!(mutant.fate, MutantResult::Survived | MutantResult::Untested))
    {
        let at = mutant_position(mutant, file);
        let (name, kind) = (one_line(&file.name), mutant.edit.kind.as_str());
        let missing = one_line(&mutant.edit.missing);
        let change = describe_change(mutant, file);
        writeln!(out, "{name}:{}:{}: warning[survivor]: {kind}: {change}; help: add {missing}", at.line, at.column)?;
    }
    Ok(())
}

/// Describes a change: `` `>` as `>=` ``, `` without `$id` ``.
fn describe_change(mutant: &Mutant, file: &SourceFile) -> String {
    let before = file.text.get(mutant.edit.range.clone()).unwrap_or("");
    let tidy = |text: &str| one_line(text.trim_matches([' ', '\n', '\t', ','])).into_owned();
    match (tidy(before), tidy(&mutant.edit.text)) {
        (before, behind) if behind.is_empty() => format!("without `{before}`"),
        (before, behind) if before.is_empty() => format!("with `{behind}`"),
        (before, behind) => format!("`{before}` as `{behind}`"),
    }
}

fn mutant_position(mutant: &Mutant, file: &SourceFile) -> LineColumn {
    file.line_column(u32::try_from(mutant.edit.range.start).unwrap_or(u32::MAX))
}

fn touched_range(mutant: &Mutant, file: &SourceFile) -> Range<usize> {
    let (text, range) = (&*file.text, mutant.edit.range.clone());
    let start = text.get(..range.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let end = text.get(range.end..).and_then(|behind| behind.find('\n')).map_or(text.len(), |at| range.end + at);
    start..end
}

fn changed_lines(mutant: &Mutant, file: &SourceFile) -> (String, String) {
    let (text, range) = (&*file.text, mutant.edit.range.clone());
    let Range { start, end } = touched_range(mutant, file);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or("");
    let behind = format!("{}{}{}", part(start, range.start), mutant.edit.text, part(range.end, end));
    (part(start, end).to_owned(), behind)
}

/// Returns the mutants of one rule file as an object.
#[must_use]
pub fn mutants_data(report: &MutationReport, sources: &SourceMap) -> Value {
    let Some(file) = sources.get(FileId(0)) else { return Value::Null };
    let mutants: Vec<Value> = report.mutants.iter().map(|mutant| mutant_data(mutant, file)).collect();
    json!({
        "file": file.name,
        "found": report.found,
        "killed": report.killed_count(),
        "survived": report.survived_count(),
        "equivalent": report.count_where(|fate| *fate == MutantResult::Equivalent),
        "invalid": report.count_where(|fate| *fate == MutantResult::Invalid),
        "score": crate::coverage::share_data(killed_share(report)),
        "mutants": mutants,
    })
}

fn mutant_data(mutant: &Mutant, file: &SourceFile) -> Value {
    let at = mutant_position(mutant, file);
    let (before, behind) = changed_lines(mutant, file);
    let (fate, by) = match &mutant.fate {
        MutantResult::Killed(by) => ("killed", Some(by)),
        MutantResult::Survived => ("survived", None),
        MutantResult::Untested => ("untested", None),
        MutantResult::Equivalent => ("equivalent", None),
        MutantResult::Invalid => ("invalid", None),
    };
    json!({
        "kind": mutant.edit.kind.as_str(),
        "location": {"file": file.name, "line": at.line, "column": at.column},
        "before": before,
        "after": behind,
        "fate": fate,
        "killed_by": by,
        "missing": mutant.edit.missing,
    })
}
