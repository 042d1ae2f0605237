//! What tells two folders apart, for people and for machines.

use super::{Discrimination, Row, VerdictTotals, Worth};
use crate::show::counted;
use crate::subject::Subject;
use averment_base::diagnostic::render::{Ink, Style, one_line, paint};
use averment_base::truth::Verdict;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Columns of the numbers of a line.
const NUMBERS: usize = 60;

/// The lists behind the table.
const LISTS: [(Worth, &str); 5] = [
    (Worth::Misleads, "do not tell the folders apart, or the wrong way round"),
    (Worth::AlwaysTrue, "always true: they hold on every run that exercises them"),
    (Worth::AlwaysFalse, "always false: they fail on every run"),
    (Worth::NeverExercised, "never exercised: no run has what they speak of"),
    (Worth::NeverDecided, "never decided: no run records what they need"),
];

impl Worth {
    /// The word in data.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tells => "tells",
            Self::Misleads => "misleads",
            Self::AlwaysTrue => "always-true",
            Self::AlwaysFalse => "always-false",
            Self::NeverExercised => "never-exercised",
            Self::NeverDecided => "never-decided",
        }
    }
}

/// Prints the table and the lists.
///
/// # Errors
/// The stream cannot be written.
pub fn human(out: &mut dyn Write, found: &Discrimination, subjects: &[Subject], style: Style) -> io::Result<()> {
    let runs = |count: u64| counted(usize::try_from(count).unwrap_or(usize::MAX), "run");
    let (good, bad) = (runs(found.good.runs), runs(found.bad.runs));
    // The name of a rule gets what the numbers leave.
    let width = style.width.saturating_sub(NUMBERS).clamp(16, 40);
    let head = format!("{:width$}{:^21}  {:^21}", "", format!("good: {good}"), format!("bad: {bad}"));
    writeln!(out, "{}", paint(style, Ink::Bold, head.trim_end()))?;
    let heads = format!("{:>5}{:>5}{:>5}{:>6}", "pass", "fail", "vac.", "other");
    writeln!(out, "{:width$}{heads}  {heads}{:>8}{:>8}", "rule", "J", "chance")?;
    for row in &found.rows {
        line(out, row, subjects, style, width)?;
    }
    writeln!(
        out,
        "{}",
        paint(
            style,
            Ink::Dim,
            "J: share of bad runs that fail minus share of good runs that fail; chance: of so much by luck"
        )
    )?;
    writeln!(out)?;
    for (worth, words) in LISTS {
        let rows: Vec<&Row> = found.rows.iter().filter(|row| row.worth() == worth).collect();
        if rows.is_empty() {
            continue;
        }
        writeln!(out, "{}", paint(style, Ink::Yellow, words))?;
        rows.iter().try_for_each(|row| writeln!(out, "  {}", name(row, subjects)))?;
        writeln!(out)?;
    }
    let all = super::Table::of(&found.whole.0, &found.whole.1);
    writeln!(
        out,
        "{}: {} of {} bad and {} of {} good runs fail `aver check`; J {}",
        paint(style, Ink::Bold, "together"),
        all.caught,
        all.bad,
        all.alarms,
        all.good,
        signed(all.informedness())
    )
}

fn line(out: &mut dyn Write, row: &Row, subjects: &[Subject], style: Style, width: usize) -> io::Result<()> {
    let table = row.table();
    let ink = match row.worth() {
        Worth::Tells if table.informedness() >= 0.5 => Some(Ink::Green),
        Worth::Tells => None,
        Worth::Misleads | Worth::AlwaysFalse => Some(Ink::Red),
        _ => Some(Ink::Dim),
    };
    let number = format!("{:>8}{:>8.3}", signed(table.informedness()), table.chance());
    let number = ink.map_or_else(|| number.clone(), |ink| paint(style, ink, &number));
    writeln!(out, "{:width$}{}  {}{number}", cut(&name(row, subjects), width - 1), totals(&row.good), totals(&row.bad))
}

fn totals(totals: &VerdictTotals) -> String {
    let [pass, fail, vacuous] = [Verdict::Pass, Verdict::Fail, Verdict::Vacuous].map(|verdict| totals.of(verdict));
    format!("{pass:>5}{fail:>5}{vacuous:>5}{:>6}", totals.all() - pass - fail - vacuous)
}

/// The name of a row; with several files, with its file.
fn name(row: &Row, subjects: &[Subject]) -> String {
    match subjects.get(row.subject) {
        Some(subject) if subjects.len() > 1 => format!("{}: {}", one_line(subject.name()), one_line(&row.name)),
        _ => one_line(&row.name).into_owned(),
    }
}

/// A text in so many columns.
fn cut(name: &str, most: usize) -> String {
    match name.char_indices().nth(most) {
        Some(_) => name.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => name.to_owned(),
    }
}

/// `+0.67`, `-1.00`, `0.00`.
fn signed(number: f64) -> String {
    match format!("{number:+.2}") {
        zero if zero.ends_with("0.00") => "0.00".to_owned(),
        text => text,
    }
}

/// A line per rule: `FILE:LINE:COLUMN: ID: informedness J (caught C of B, alarms A of G)`.
///
/// # Errors
/// The stream cannot be written.
pub fn short(out: &mut dyn Write, found: &Discrimination, subjects: &[Subject]) -> io::Result<()> {
    for row in &found.rows {
        let Some(subject) = subjects.get(row.subject) else { continue };
        let (at, table) = (subject.sources.position(row.span), row.table());
        writeln!(
            out,
            "{}:{}:{}: {}[{}]: informedness {}, {} of {} bad and {} of {} good runs fail",
            one_line(subject.sources.name(row.span)),
            at.line,
            at.column,
            one_line(&row.id),
            row.worth().as_str(),
            signed(table.informedness()),
            table.caught,
            table.bad,
            table.alarms,
            table.good
        )?;
    }
    Ok(())
}

/// Everything as one object.
#[must_use]
pub fn data(found: &Discrimination, subjects: &[Subject]) -> Value {
    let rows: Vec<Value> = found.rows.iter().map(|row| one(row, subjects, true)).collect();
    let all = super::Table::of(&found.whole.0, &found.whole.1);
    let unreadable: Vec<String> =
        found.good.unreadable.iter().chain(&found.bad.unreadable).map(ToString::to_string).collect();
    json!({
        "version": 1,
        "runs": {"good": found.good.runs, "bad": found.bad.runs},
        "rules": rows,
        "together": numbers(&all),
        "unreadable": unreadable,
    })
}

fn numbers(table: &super::Table) -> Value {
    json!({
        "informedness": rounded(table.informedness()),
        "chance": rounded(table.chance()),
        "caught": table.caught,
        "alarms": table.alarms,
    })
}

/// Logarithms differ in their last bits from machine to machine.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

fn one(row: &Row, subjects: &[Subject], with_parts: bool) -> Value {
    let totals = |totals: &VerdictTotals| -> Value {
        let counts = Verdict::ALL.into_iter().map(|verdict| (verdict.as_str().to_owned(), json!(totals.of(verdict))));
        Value::Object(counts.collect::<Map<_, _>>())
    };
    let place = subjects.get(row.subject).map(|subject| {
        let at = subject.sources.position(row.span);
        json!({"file": subject.sources.name(row.span), "line": at.line, "column": at.column})
    });
    let mut data = json!({
        "id": row.id,
        "text": row.name,
        "location": place,
        "good": totals(&row.good),
        "bad": totals(&row.bad),
        "worth": row.worth().as_str(),
    });
    if let (Some(object), Value::Object(numbers)) = (data.as_object_mut(), numbers(&row.table())) {
        object.extend(numbers);
        if with_parts && !row.assertions.is_empty() {
            let parts: Vec<Value> = row.assertions.iter().map(|part| one(part, subjects, false)).collect();
            object.insert("assertions".to_owned(), json!(parts));
        }
    }
    data
}
