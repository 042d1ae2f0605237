//! Mutants for people and for machines.

use super::edit::MutantKind;
use super::run::{Fate, Mutant, Report};
use crate::coverage::Share;
use crate::show::counted;
use averment_base::diagnostic::render::{Ink, Style, one_line, paint};
use averment_base::source::{FileId, Position, SourceFile, SourceMap};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::ops::Range;

/// How many of those that could be noticed were.
fn share(report: &Report) -> Share {
    let (killed, survived) = (report.killed(), report.survived());
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    Share { seen: number(killed), all: number(killed.saturating_add(survived)) }
}

/// Prints the survivors with their change, and the score.
///
/// # Errors
/// The stream cannot be written.
pub fn human(out: &mut dyn Write, report: &Report, sources: &SourceMap, style: Style) -> io::Result<()> {
    let Some(file) = sources.get(FileId(0)) else { return Ok(()) };
    untested(out, report, file, style)?;
    let survivors: Vec<&Mutant> = report.mutants.iter().filter(|mutant| mutant.fate == Fate::Survived).collect();
    for group in survivors.chunk_by(|a, b| touched(a, file) == touched(b, file)) {
        of_lines(out, group, file, style)?;
    }
    let share = share(report);
    let name = one_line(&file.name);
    let ink = if share.seen == share.all { Ink::Green } else { Ink::Yellow };
    let of = match report.found.checked_sub(report.mutants.len()) {
        Some(rest) if rest > 0 => format!(" ({rest} more were not tried)"),
        _ => String::new(),
    };
    let killed = format!("{} of {} killed", share.seen, share.all);
    let (same, invalid) = (report.count(|fate| *fate == Fate::Equivalent), report.count(|fate| *fate == Fate::Invalid));
    writeln!(
        out,
        "{} of {name}: {}{of}",
        paint(style, Ink::Bold, "mutants"),
        paint(style, ink, &format!("{killed}, {}", share.percent()))
    )?;
    if same + invalid > 0 {
        writeln!(out, "  left out: {same} that mean the same, {invalid} that do not compile")?;
    }
    Ok(())
}

/// Assertions that no test judges: one line for all their mutants.
fn untested(out: &mut dyn Write, report: &Report, file: &SourceFile, style: Style) -> io::Result<()> {
    let all: Vec<&Mutant> = report.mutants.iter().filter(|mutant| mutant.fate == Fate::Untested).collect();
    for whole in all.iter().filter(|mutant| mutant.edit.kind == MutantKind::DropAssertion) {
        let inside = |mutant: &&&Mutant| {
            whole.edit.range.start <= mutant.edit.range.start && mutant.edit.range.end <= whole.edit.range.end
        };
        // What stands in a block is part of the block's line.
        if all.iter().any(|other| other.edit.kind == MutantKind::DropAssertion && contains(other, whole)) {
            continue;
        }
        let count = all.iter().filter(inside).count();
        let at = place(whole, file);
        let text = file.text.get(whole.edit.range.clone()).unwrap_or("");
        let first = text.lines().next().unwrap_or("");
        let word = paint(style, Ink::Yellow, "untested");
        writeln!(out, "{word}  {}:{}:{}  {}", one_line(&file.name), at.line, at.column, one_line(first))?;
        writeln!(out, "  missing: any test that judges it ({})", counted(count, "mutant"))?;
        writeln!(out)?;
    }
    Ok(())
}

fn contains(outer: &Mutant, inner: &Mutant) -> bool {
    outer.edit.range != inner.edit.range
        && outer.edit.range.start <= inner.edit.range.start
        && inner.edit.range.end <= outer.edit.range.end
}

/// The survivors that change the same lines.
fn of_lines(out: &mut dyn Write, group: &[&Mutant], file: &SourceFile, style: Style) -> io::Result<()> {
    let Some(first) = group.first() else { return Ok(()) };
    let at = place(first, file);
    let word = paint(style, Ink::Yellow, "survived");
    writeln!(out, "{word}  {}:{}:{}", one_line(&file.name), at.line, at.column)?;
    for line in lines(first, file).0.lines() {
        writeln!(out, "  {}", paint(style, Ink::Red, &format!("- {}", one_line(line))))?;
    }
    for mutant in group {
        let (_, behind) = lines(mutant, file);
        let mut shown = behind.lines().filter(|line| !line.trim().is_empty()).peekable();
        if shown.peek().is_none() {
            writeln!(out, "  {}", paint(style, Ink::Green, "+"))?;
        }
        for line in shown {
            writeln!(out, "  {}", paint(style, Ink::Green, &format!("+ {}", one_line(line.trim_end()))))?;
        }
        writeln!(out, "      {}; missing: {}", mutant.edit.kind.as_str(), one_line(&mutant.edit.missing))?;
    }
    writeln!(out)
}

/// A line per survivor, for editors.
///
/// # Errors
/// The stream cannot be written.
pub fn short(out: &mut dyn Write, report: &Report, sources: &SourceMap) -> io::Result<()> {
    let Some(file) = sources.get(FileId(0)) else { return Ok(()) };
    for mutant in report.mutants.iter().filter(|mutant| matches!(mutant.fate, Fate::Survived | Fate::Untested)) {
        let at = place(mutant, file);
        let (name, kind) = (one_line(&file.name), mutant.edit.kind.as_str());
        let missing = one_line(&mutant.edit.missing);
        let change = change(mutant, file);
        writeln!(out, "{name}:{}:{}: warning[survivor]: {kind}: {change}; help: add {missing}", at.line, at.column)?;
    }
    Ok(())
}

/// `` `>` as `>=` ``, `` without `$id` ``.
fn change(mutant: &Mutant, file: &SourceFile) -> String {
    let before = file.text.get(mutant.edit.range.clone()).unwrap_or("");
    let tidy = |text: &str| one_line(text.trim_matches([' ', '\n', '\t', ','])).into_owned();
    match (tidy(before), tidy(&mutant.edit.text)) {
        (before, behind) if behind.is_empty() => format!("without `{before}`"),
        (before, behind) if before.is_empty() => format!("with `{behind}`"),
        (before, behind) => format!("`{before}` as `{behind}`"),
    }
}

fn place(mutant: &Mutant, file: &SourceFile) -> Position {
    file.position(u32::try_from(mutant.edit.range.start).unwrap_or(u32::MAX))
}

/// The bytes of the lines that the change touches.
fn touched(mutant: &Mutant, file: &SourceFile) -> Range<usize> {
    let (text, range) = (&*file.text, mutant.edit.range.clone());
    let start = text.get(..range.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let end = text.get(range.end..).and_then(|behind| behind.find('\n')).map_or(text.len(), |at| range.end + at);
    start..end
}

/// Those lines before and behind the change.
fn lines(mutant: &Mutant, file: &SourceFile) -> (String, String) {
    let (text, range) = (&*file.text, mutant.edit.range.clone());
    let Range { start, end } = touched(mutant, file);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or("");
    let behind = format!("{}{}{}", part(start, range.start), mutant.edit.text, part(range.end, end));
    (part(start, end).to_owned(), behind)
}

/// The mutants of one rule file as an object.
#[must_use]
pub fn data(report: &Report, sources: &SourceMap) -> Value {
    let Some(file) = sources.get(FileId(0)) else { return Value::Null };
    let mutants: Vec<Value> = report.mutants.iter().map(|mutant| one(mutant, file)).collect();
    json!({
        "file": file.name,
        "found": report.found,
        "killed": report.killed(),
        "survived": report.survived(),
        "equivalent": report.count(|fate| *fate == Fate::Equivalent),
        "invalid": report.count(|fate| *fate == Fate::Invalid),
        "score": crate::coverage::share(share(report)),
        "mutants": mutants,
    })
}

fn one(mutant: &Mutant, file: &SourceFile) -> Value {
    let at = place(mutant, file);
    let (before, behind) = lines(mutant, file);
    let (fate, by) = match &mutant.fate {
        Fate::Killed(by) => ("killed", Some(by)),
        Fate::Survived => ("survived", None),
        Fate::Untested => ("untested", None),
        Fate::Equivalent => ("equivalent", None),
        Fate::Invalid => ("invalid", None),
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
