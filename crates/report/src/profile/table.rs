//! The profile as tables for people, the most expensive first.

use super::super::value::{counted, shortened};
use super::{CostRow, Costs, Phase, ProfileReport, RuleRow};
use averment_base::diagnostic::render::{Ink, Style, paint, printable};
use averment_engine::vm::profile::Cost;
use std::cmp::Reverse;

/// Lines of one table.
const LINES: usize = 15;
/// Names are cut to this many characters.
const NAME: usize = 48;
/// So many rules are named as those that decide nothing early.
const NAMED: usize = 3;

/// The profile as tables.
#[must_use]
pub fn table(report: &ProfileReport, style: Style) -> String {
    let costs = &report.costs;
    let mut out = format!(
        "{}: {}, {} in {} on {}\n  every run was read in full and every assertion evaluated, with clocks on: the check takes longer than without\n",
        paint(style, Ink::Bold, "profile"),
        counted(costs.runs, "run"),
        size(costs.bytes()),
        time(report.elapsed),
        counted(costs.threads, "thread"),
    );
    out.push_str(&phases(costs));
    out.push_str(&formats(costs));
    out.push_str(&rules(report));
    let evaluating = costs.phase(Phase::Evaluating);
    out.push_str(&parts("pattern", &report.patterns, evaluating));
    out.push_str(&parts("function", &report.functions, evaluating));
    out
}

fn phases(costs: &Costs) -> String {
    let all: u64 = costs.phases.iter().sum();
    let mut grid = Grid::new(&["time", "share"], &["phase"]);
    for (phase, spent) in Phase::ALL.into_iter().zip(costs.phases) {
        grid.row(&[time(spent), share(spent, all)], &[phase.as_str().to_owned()]);
    }
    grid.finish(Phase::ALL.len())
}

fn formats(costs: &Costs) -> String {
    let mut readings: Vec<_> = costs.formats.iter().collect();
    readings.sort_by_key(|(_, reading)| Reverse(reading.time));
    let mut grid = Grid::new(&["time", "runs", "bytes"], &["format"]);
    for (name, reading) in readings {
        grid.row(&[time(reading.time), reading.runs.to_string(), size(reading.bytes)], &[(*name).to_owned()]);
    }
    grid.finish(LINES)
}

fn rules(report: &ProfileReport) -> String {
    let evaluating = report.costs.phase(Phase::Evaluating);
    let mut grid = Grid::new(&["time", "share", "self", "fuel", "most", "runs", "early"], &["rule", "place"]);
    let mut add = |cost: &Cost, runs: u64, decided: u64, name: String, place: String| {
        let mut numbers = vec![time(cost.time), share(cost.time, evaluating), time(cost.own_time)];
        numbers.extend([cost.fuel, cost.most_fuel, runs].map(|number| number.to_string()));
        numbers.push(share(decided, runs));
        grid.row(&numbers, &[name, place]);
    };
    let mut rows: Vec<(&RuleRow, Cost)> = report.rules.iter().map(|row| (row, row.cost())).collect();
    rows.sort_by_key(|(_, cost)| Reverse(cost.time));
    for (row, cost) in rows {
        add(&cost, row.runs(), row.decided(), shown(&row.name), row.location.to_string());
        let mut parts: Vec<_> = row.assertions.iter().filter(|_| row.assertions.len() > 1).collect();
        parts.sort_by_key(|part| Reverse(part.cost.time));
        for part in parts {
            let name = format!("  {}", shown(&part.id));
            add(&part.cost, part.cost.calls, part.decided, name, part.location.to_string());
        }
    }
    let mut out = grid.finish(LINES);
    if !report.rules.is_empty() {
        out.push_str(&early(report));
    }
    out
}

/// What would be read without a profile.
fn early(report: &ProfileReport) -> String {
    let Costs { runs, decided, .. } = report.costs;
    let mut text = "  early: how often the first look decides it, without reading the run in full; ".to_owned();
    text.push_str(&format!("it decides all rules in {decided} of {}\n", counted(runs, "run")));
    let never: Vec<&RuleRow> = report.rules.iter().filter(|row| row.runs() > 0 && row.decided() == 0).collect();
    if !never.is_empty() {
        let names = never.iter().take(NAMED).map(|row| format!("`{}` ({})", shown(&row.name), row.location));
        let names: Vec<String> = names.collect();
        let more = never.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text.push_str(&format!("  every run has to be read in full for {}{more}\n", names.join(", ")));
    }
    text
}

fn parts(title: &'static str, rows: &[CostRow], evaluating: u64) -> String {
    let mut rows: Vec<&CostRow> = rows.iter().collect();
    rows.sort_by_key(|row| Reverse(row.cost.time));
    let mut grid = Grid::new(&["time", "share", "self", "fuel", "calls", "uses"], &["kind", title, "place"]);
    for row in rows {
        let cost = &row.cost;
        let place = row.location.as_ref().map(ToString::to_string).unwrap_or_default();
        let uses = if row.uses == 0 { String::new() } else { row.uses.to_string() };
        let numbers = [
            time(cost.time),
            share(cost.time, evaluating),
            time(cost.own_time),
            cost.fuel.to_string(),
            cost.calls.to_string(),
            uses,
        ];
        grid.row(&numbers, &[row.kind.to_owned(), shown(&row.name), place]);
    }
    grid.finish(LINES)
}

/// A table: numbers to the right, then words to the left.
struct Grid {
    lines: Vec<Vec<String>>,
    numbers: usize,
}

impl Grid {
    fn new(numbers: &[&str], words: &[&str]) -> Self {
        let head = numbers.iter().chain(words).map(|title| (*title).to_owned()).collect();
        Self { lines: vec![head], numbers: numbers.len() }
    }

    fn row(&mut self, numbers: &[String], words: &[String]) {
        self.lines.push(numbers.iter().chain(words).cloned().collect());
    }

    /// The first lines under their head; nothing where there are none.
    fn finish(self, most: usize) -> String {
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

fn shown(name: &str) -> String {
    shortened(&printable(name), NAME)
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn scaled(number: u64, units: &[(u64, &str)], last: &str) -> String {
    let Some((unit, name)) = units.iter().find(|(unit, _)| number >= *unit) else { return format!("{number} {last}") };
    let scaled = number as f64 / *unit as f64;
    let digits = match scaled {
        _ if scaled < 9.995 => 2,
        _ if scaled < 99.95 => 1,
        _ => 0,
    };
    format!("{scaled:.digits$} {name}")
}

fn time(nanoseconds: u64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    scaled(nanoseconds, &units, "ns")
}

fn size(bytes: u64) -> String {
    scaled(bytes, &[(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")], "B")
}

fn share(part: u64, whole: u64) -> String {
    let percent = part.saturating_mul(100) + whole / 2;
    percent.checked_div(whole).map_or_else(|| "-".to_owned(), |percent| format!("{percent}%"))
}
