//! The profile as tables for people, the most expensive first.

use super::super::value::{count_words, shorten_text};
use super::{CheckCosts, CostRow, ProfilePhase, ProfileReport, RuleRow};
use averment_base::diagnostic::render::{TextColor, TextStyle, paint_text, printable};
use averment_engine::vm::profile::PartCost;
use std::cmp::Reverse;

/// Maximum lines of one table.
const LINES: usize = 15;
/// In characters.
const NAME: usize = 48;
/// Named rules that the first look cannot decide.
const NAMED: usize = 3;

/// The profile as tables.
#[must_use]
pub fn profile_tables(report: &ProfileReport, style: TextStyle) -> String {
    let costs = &report.costs;
    let mut out = format!(
        "{}: {}, {} in {} on {}\n  every run was read in full and every assertion evaluated, with clocks on: the check takes longer than without\n",
        paint_text(style, TextColor::Bold, "profile"),
        count_words(costs.runs, "run"),
        size_text(costs.total_bytes()),
        time_text(report.elapsed),
        count_words(costs.threads, "thread"),
    );
    out.push_str(&phase_table(costs));
    out.push_str(&format_table(costs));
    out.push_str(&rule_table(report));
    let evaluating = costs.phase_time(ProfilePhase::Evaluating);
    out.push_str(&part_table("pattern", &report.patterns, evaluating));
    out.push_str(&part_table("function", &report.functions, evaluating));
    out
}

fn phase_table(costs: &CheckCosts) -> String {
    let all: u64 = costs.phases.iter().sum();
    let mut grid = TextGrid::new(&["time", "share"], &["phase"]);
    for (phase, spent) in ProfilePhase::ALL.into_iter().zip(costs.phases) {
        grid.add_row(&[time_text(spent), share_text(spent, all)], &[phase.as_str().to_owned()]);
    }
    grid.render_grid(ProfilePhase::ALL.len())
}

fn format_table(costs: &CheckCosts) -> String {
    let mut readings: Vec<_> = costs.formats.iter().collect();
    readings.sort_by_key(|(_, reading)| Reverse(reading.time));
    let mut grid = TextGrid::new(&["time", "runs", "bytes"], &["format"]);
    for (name, reading) in readings {
        grid.add_row(
            &[time_text(reading.time), reading.runs.to_string(), size_text(reading.bytes)],
            &[(*name).to_owned()],
        );
    }
    grid.render_grid(LINES)
}

fn rule_table(report: &ProfileReport) -> String {
    let evaluating = report.costs.phase_time(ProfilePhase::Evaluating);
    let mut grid = TextGrid::new(&["time", "share", "self", "fuel", "most", "runs", "early"], &["rule", "place"]);
    let mut add = |cost: &PartCost, runs: u64, decided: u64, name: String, place: String| {
        let mut numbers = vec![time_text(cost.time), share_text(cost.time, evaluating), time_text(cost.own_time)];
        numbers.extend([cost.fuel, cost.most_fuel, runs].map(|number| number.to_string()));
        numbers.push(share_text(decided, runs));
        grid.add_row(&numbers, &[name, place]);
    };
    let mut rows: Vec<(&RuleRow, PartCost)> = report.rules.iter().map(|row| (row, row.rule_cost())).collect();
    rows.sort_by_key(|(_, cost)| Reverse(cost.time));
    for (row, cost) in rows {
        add(&cost, row.evaluated_runs(), row.decided_runs(), shown_name(&row.name), row.location.to_string());
        let mut parts: Vec<_> = row.assertions.iter().filter(|_| row.assertions.len() > 1).collect();
        parts.sort_by_key(|part| Reverse(part.cost.time));
        for part in parts {
            let name = format!("  {}", shown_name(&part.id));
            add(&part.cost, part.cost.calls, part.decided, name, part.location.to_string());
        }
    }
    let mut out = grid.render_grid(LINES);
    if !report.rules.is_empty() {
        out.push_str(&early_text(report));
    }
    out
}

/// What would be read in full without a profile.
fn early_text(report: &ProfileReport) -> String {
    let CheckCosts { runs, decided, .. } = report.costs;
    let mut text = "  early: how often the first look decides it, without reading the run in full; ".to_owned();
    text.push_str(&format!("it decides all rules in {decided} of {}\n", count_words(runs, "run")));
    let never: Vec<&RuleRow> =
        report.rules.iter().filter(|row| row.evaluated_runs() > 0 && row.decided_runs() == 0).collect();
    if !never.is_empty() {
        let names = never.iter().take(NAMED).map(|row| format!("`{}` ({})", shown_name(&row.name), row.location));
        let names: Vec<String> = names.collect();
        let more = never.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text.push_str(&format!("  every run has to be read in full for {}{more}\n", names.join(", ")));
    }
    text
}

fn part_table(title: &'static str, rows: &[CostRow], evaluating: u64) -> String {
    let mut rows: Vec<&CostRow> = rows.iter().collect();
    rows.sort_by_key(|row| Reverse(row.cost.time));
    let mut grid = TextGrid::new(&["time", "share", "self", "fuel", "calls", "uses"], &["kind", title, "place"]);
    for row in rows {
        let cost = &row.cost;
        let place = row.location.as_ref().map(ToString::to_string).unwrap_or_default();
        let uses = if row.uses == 0 { String::new() } else { row.uses.to_string() };
        let numbers = [
            time_text(cost.time),
            share_text(cost.time, evaluating),
            time_text(cost.own_time),
            cost.fuel.to_string(),
            cost.calls.to_string(),
            uses,
        ];
        grid.add_row(&numbers, &[row.kind.to_owned(), shown_name(&row.name), place]);
    }
    grid.render_grid(LINES)
}

struct TextGrid {
    lines: Vec<Vec<String>>,
    numbers: usize,
}

impl TextGrid {
    fn new(numbers: &[&str], words: &[&str]) -> Self {
        let head = numbers.iter().chain(words).map(|title| (*title).to_owned()).collect();
        Self { lines: vec![head], numbers: numbers.len() }
    }

    fn add_row(&mut self, numbers: &[String], words: &[String]) {
        self.lines.push(numbers.iter().chain(words).cloned().collect());
    }

    fn render_grid(self, most: usize) -> String {
        let all = self.lines.len() - 1;
        let shown = self.lines.get(..self.lines.len().min(most + 1)).unwrap_or_default();
        if all == 0 {
            return String::new();
        }
        let length = |line: &Vec<String>, column: usize| line.get(column).map_or(0, |cell| cell.chars().count());
        let columns = shown.first().map_or(0, Vec::len);
        let widths: Vec<usize> =
            (0..columns).map(|column| shown.iter().map(|line| length(line, column)).max().unwrap_or(0)).collect();
        let mut out = String::from("\n");
        for line in shown {
            let mut text = String::new();
            for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
                let cell = if column < self.numbers { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
                text.push_str("  ");
                text.push_str(&cell);
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
        if all > most {
            out.push_str(&format!("  … and {} more, all in `--profile=FILE.json`\n", all - most));
        }
        out
    }
}

fn shown_name(name: &str) -> String {
    shorten_text(&printable(name), NAME)
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn scale_number(number: u64, units: &[(u64, &str)], last: &str) -> String {
    let Some((unit, name)) = units.iter().find(|(unit, _)| number >= *unit) else { return format!("{number} {last}") };
    let scaled = number as f64 / *unit as f64;
    let digits = match scaled {
        _ if scaled < 9.995 => 2,
        _ if scaled < 99.95 => 1,
        _ => 0,
    };
    format!("{scaled:.digits$} {name}")
}

fn time_text(nanoseconds: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    scale_number(nanoseconds, &units, "ns")
}

fn size_text(bytes: u64) -> String {
    scale_number(bytes, &[(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")], "B")
}

fn share_text(part: u64, whole: u64) -> String {
    let percent = part.saturating_mul(100) + whole / 2;
    percent.checked_div(whole).map_or_else(|| "-".to_owned(), |percent| format!("{percent}%"))
}
