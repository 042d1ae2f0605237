//! Prints the comparison of two folders, as text and as data.

use super::{Discrimination, DiscriminationRow, RuleWorth, VerdictTotals};
use crate::subject::TestSubject;
use averment_base::diagnostic::render::{TextColor, TextStyle, one_line, paint_text};
use averment_base::truth::Verdict;
use averment_base::words::count_noun;
use serde_json::{Map, Value, json};
use std::io::{self, Write};

const NUMBERS: usize = 60;

const LISTS: [(RuleWorth, &str); 5] = [
    (RuleWorth::Misleads, "do not tell the folders apart, or the wrong way round"),
    (RuleWorth::AlwaysTrue, "always true: they hold on every run that exercises them"),
    (RuleWorth::AlwaysFalse, "always false: they fail on every run"),
    (RuleWorth::NeverExercised, "never exercised: no run has what they speak of"),
    (RuleWorth::NeverDecided, "never decided: no run records what they need"),
];

impl RuleWorth {
    /// Returns the word in data.
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
/// If the stream cannot be written.
pub fn print_human(
    out: &mut dyn Write,
    found: &Discrimination,
    subjects: &[TestSubject],
    style: TextStyle,
) -> io::Result<()> {
    let runs = |count: u64| count_noun(usize::try_from(count).unwrap_or(usize::MAX), "run");
    let (good, bad) = (runs(found.good.runs), runs(found.bad.runs));
    // The name of a rule takes the width that the numbers leave.
    let width = style.width.saturating_sub(NUMBERS).clamp(16, 40);
    let head = format!("{:width$}{:^21}  {:^21}", "", format!("good: {good}"), format!("bad: {bad}"));
    writeln!(out, "{}", paint_text(style, TextColor::Bold, head.trim_end()))?;
    let heads = format!("{:>5}{:>5}{:>5}{:>6}", "pass", "fail", "vac.", "other");
    writeln!(out, "{:width$}{heads}  {heads}{:>8}{:>8}", "rule", "J", "chance")?;
    for row in &found.rows {
        print_row(out, row, subjects, style, width)?;
    }
    writeln!(
        out,
        "{}",
        paint_text(
            style,
            TextColor::Dim,
            "J: share of bad runs that fail minus share of good runs that fail; chance: of so much by luck"
        )
    )?;
    writeln!(out)?;
    for (worth, words) in LISTS {
        let rows: Vec<&DiscriminationRow> = found.rows.iter().filter(|row| row.rule_worth() == worth).collect();
        if rows.is_empty() {
            continue;
        }
        writeln!(out, "{}", paint_text(style, TextColor::Yellow, words))?;
        rows.iter().try_for_each(|row| writeln!(out, "  {}", row_name(row, subjects)))?;
        writeln!(out)?;
    }
    let all = super::ContingencyTable::from_totals(&found.whole.0, &found.whole.1);
    writeln!(
        out,
        "{}: {} of {} bad and {} of {} good runs fail `aver check`; J {}",
        paint_text(style, TextColor::Bold, "together"),
        all.caught,
        all.bad,
        all.alarms,
        all.good,
        signed_number(all.informedness())
    )
}

fn print_row(
    out: &mut dyn Write,
    row: &DiscriminationRow,
    subjects: &[TestSubject],
    style: TextStyle,
    width: usize,
) -> io::Result<()> {
    let table = row.contingency_table();
    let ink = match row.rule_worth() {
        RuleWorth::Tells if table.informedness() >= 0.5 => Some(TextColor::Green),
        RuleWorth::Tells => None,
        RuleWorth::Misleads | RuleWorth::AlwaysFalse => Some(TextColor::Red),
        _ => Some(TextColor::Dim),
    };
    let number = format!("{:>8}{:>8.3}", signed_number(table.informedness()), table.chance_probability());
    let number = ink.map_or_else(|| number.clone(), |ink| paint_text(style, ink, &number));
    writeln!(
        out,
        "{:width$}{}  {}{number}",
        cut_name(&row_name(row, subjects), width - 1),
        totals_text(&row.good),
        totals_text(&row.bad)
    )
}

fn totals_text(totals: &VerdictTotals) -> String {
    let [pass, fail, vacuous] =
        [Verdict::Pass, Verdict::Fail, Verdict::Vacuous].map(|verdict| totals.verdict_count(verdict));
    format!("{pass:>5}{fail:>5}{vacuous:>5}{:>6}", totals.total_count() - pass - fail - vacuous)
}

fn row_name(row: &DiscriminationRow, subjects: &[TestSubject]) -> String {
    match subjects.get(row.subject) {
        Some(subject) if subjects.len() > 1 => format!("{}: {}", one_line(subject.name()), one_line(&row.name)),
        _ => one_line(&row.name).into_owned(),
    }
}

fn cut_name(name: &str, most: usize) -> String {
    match name.char_indices().nth(most) {
        Some(_) => name.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => name.to_owned(),
    }
}

/// Returns `+0.67`, `-1.00`, `0.00`.
fn signed_number(number: f64) -> String {
    match format!("{number:+.2}") {
        zero if zero.ends_with("0.00") => "0.00".to_owned(),
        text => text,
    }
}

/// Prints one line per rule: `FILE:LINE:COLUMN: ID: informedness J (caught C of B, alarms A of G)`.
///
/// # Errors
/// If the stream cannot be written.
pub fn print_short(out: &mut dyn Write, found: &Discrimination, subjects: &[TestSubject]) -> io::Result<()> {
    for row in &found.rows {
        let Some(subject) = subjects.get(row.subject) else { continue };
        let (at, table) = (subject.sources.line_column(row.span), row.contingency_table());
        writeln!(
            out,
            "{}:{}:{}: {}[{}]: informedness {}, {} of {} bad and {} of {} good runs fail",
            one_line(subject.sources.file_name(row.span)),
            at.line,
            at.column,
            one_line(&row.id),
            row.rule_worth().as_str(),
            signed_number(table.informedness()),
            table.caught,
            table.bad,
            table.alarms,
            table.good
        )?;
    }
    Ok(())
}

/// Returns everything as one object.
#[must_use]
pub fn discrimination_data(found: &Discrimination, subjects: &[TestSubject]) -> Value {
    let rows: Vec<Value> = found.rows.iter().map(|row| row_data(row, subjects, true)).collect();
    let all = super::ContingencyTable::from_totals(&found.whole.0, &found.whole.1);
    let unreadable: Vec<String> =
        found.good.unreadable.iter().chain(&found.bad.unreadable).map(ToString::to_string).collect();
    json!({
        "version": 1,
        "runs": {"good": found.good.runs, "bad": found.bad.runs},
        "rules": rows,
        "together": table_data(&all),
        "unreadable": unreadable,
    })
}

fn table_data(table: &super::ContingencyTable) -> Value {
    json!({
        "informedness": round_number(table.informedness()),
        "chance": round_number(table.chance_probability()),
        "caught": table.caught,
        "alarms": table.alarms,
    })
}

/// Rounds a number, because logarithms differ in their last bits between machines.
fn round_number(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

fn row_data(row: &DiscriminationRow, subjects: &[TestSubject], with_parts: bool) -> Value {
    let totals = |totals: &VerdictTotals| -> Value {
        let counts =
            Verdict::ALL.into_iter().map(|verdict| (verdict.as_str().to_owned(), json!(totals.verdict_count(verdict))));
        Value::Object(counts.collect::<Map<_, _>>())
    };
    let place = subjects.get(row.subject).map(|subject| {
        let at = subject.sources.line_column(row.span);
        json!({"file": subject.sources.file_name(row.span), "line": at.line, "column": at.column})
    });
    let mut data = json!({
        "id": row.id,
        "text": row.name,
        "location": place,
        "good": totals(&row.good),
        "bad": totals(&row.bad),
        "worth": row.rule_worth().as_str(),
    });
    if let (Some(object), Value::Object(numbers)) = (data.as_object_mut(), table_data(&row.contingency_table())) {
        object.extend(numbers);
        if with_parts && !row.assertions.is_empty() {
            let parts: Vec<Value> = row.assertions.iter().map(|part| row_data(part, subjects, false)).collect();
            object.insert("assertions".to_owned(), json!(parts));
        }
    }
    data
}
