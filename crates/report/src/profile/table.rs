//! The profile as tables for people, the most expensive first.

use super::super::value::shorten_text;
use super::{AssertionRow, CheckCosts, CostRow, FullReadFor, OtherCause, ProfilePhase, ProfileReport, RuleRow};
use averment_base::diagnostic::render::{TextColor, TextStyle, paint_text, printable};
use averment_base::words::count_noun;
use averment_engine::vm::profile::PartCost;
use std::cmp::Reverse;

/// Maximum number of lines in one table.
const LINES: usize = 15;
/// Maximum length of a name, in characters.
const NAME: usize = 48;
/// Maximum number of named assertions for which runs were read in full.
const NAMED: usize = 5;

/// Returns the profile as tables.
#[must_use]
pub fn profile_tables(report: &ProfileReport, style: TextStyle) -> String {
    let costs = &report.costs;
    let mut out = format!(
        "{}: {}, {} in {} on {}\n",
        paint_text(style, TextColor::Bold, "profile"),
        count_noun(costs.reads.runs(), "run"),
        size_text(costs.bytes),
        time_text(report.elapsed),
        count_noun(costs.threads, "thread"),
    );
    out.push_str(&reads(report));
    out.push_str(&phase_table(costs));
    out.push_str(&format_table(costs));
    out.push_str(&rule_table(report));
    let judging = costs.judging();
    out.push_str(&part_table("pattern", &report.patterns, judging));
    out.push_str(&part_table("function", &report.functions, judging));
    out
}

/// Returns how much of the runs was read, and the purposes of full reads.
fn reads(report: &ProfileReport) -> String {
    let CheckCosts { reads, other_full_reads, .. } = &report.costs;
    let mut out = format!(
        "  {} in full, {} in part, {} decided by default\n",
        counted_read(reads.full),
        reads.in_part(),
        reads.by_default
    );
    let mut causes = report.full_reads();
    causes.sort_by_key(|cause| (!cause.blocks_partial_reading(), Reverse(cause.runs)));
    for cause in causes.iter().take(NAMED) {
        let assertion = format!("`{}` ({})", shown_name(cause.name), cause.assertion.location);
        let needs = &cause.assertion.reading.needs;
        out.push_str(&match cause.what_for {
            FullReadFor::Verdict if cause.blocks_partial_reading() => {
                format!("  partial reading is off because {assertion} needs {needs}\n")
            }
            FullReadFor::Verdict => {
                format!("  {} in full because {assertion} needs {needs}\n", counted_read(cause.runs))
            }
            FullReadFor::Reason => format!("  {} in full for the reason of {assertion}\n", counted_read(cause.runs)),
            FullReadFor::Excerpt => {
                format!("  {} in full to draw a failure of {assertion}\n", counted_read(cause.runs))
            }
        });
    }
    if causes.len() > NAMED {
        out.push_str(&format!("  … and {} more, all in `--profile=FILE.json`\n", causes.len() - NAMED));
    }
    for (cause, runs) in OtherCause::ALL.into_iter().zip(other_full_reads).filter(|(_, runs)| **runs > 0) {
        out.push_str(&format!("  {} in full because of {}\n", counted_read(*runs), cause.as_str()));
    }
    out
}

/// Returns words such as `1 run was read`.
fn counted_read(runs: u64) -> String {
    format!("{} {} read", count_noun(runs, "run"), if runs == 1 { "was" } else { "were" })
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
    let (judging, runs) = (report.costs.judging(), report.costs.reads.runs());
    let mut grid = TextGrid::new(&["time", "share", "self", "fuel", "most", "calls", "early"], &["rule", "place"]);
    let mut add = |cost: &PartCost, decided: u64, name: String, place: String| {
        let mut numbers = vec![time_text(cost.time), share_text(cost.time, judging), time_text(cost.own_time)];
        numbers.extend([cost.fuel, cost.most_fuel, cost.calls].map(|number| number.to_string()));
        numbers.push(share_text(decided, runs));
        grid.add_row(&numbers, &[name, place]);
    };
    let mut rows: Vec<(&RuleRow, PartCost)> = report.rules.iter().map(|row| (row, row.rule_cost())).collect();
    rows.sort_by_key(|(_, cost)| Reverse(cost.time));
    for (row, cost) in rows {
        add(&cost, row.decided_runs(), shown_name(&row.name), row.location.to_string());
        let mut parts: Vec<&AssertionRow> = row.assertions.iter().filter(|_| row.assertions.len() > 1).collect();
        parts.sort_by_key(|part| Reverse(part.cost.time));
        for part in parts {
            add(&part.cost, part.reading.decided, format!("  {}", shown_name(&part.id)), part.location.to_string());
        }
    }
    let mut out = grid.render_grid(LINES);
    if !report.rules.is_empty() {
        out.push_str("  early: the share of runs in which the first look decides it\n");
    }
    out
}

fn part_table(title: &'static str, rows: &[CostRow], judging: u64) -> String {
    let mut rows: Vec<&CostRow> = rows.iter().collect();
    rows.sort_by_key(|row| Reverse(row.cost.time));
    let mut grid = TextGrid::new(&["time", "share", "self", "fuel", "calls", "uses"], &["kind", title, "place"]);
    for row in rows {
        let cost = &row.cost;
        let place = row.location.as_ref().map(ToString::to_string).unwrap_or_default();
        let uses = if row.uses == 0 { String::new() } else { row.uses.to_string() };
        let numbers = [
            time_text(cost.time),
            share_text(cost.time, judging),
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
