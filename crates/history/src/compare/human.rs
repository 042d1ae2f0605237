//! A comparison as text.

use super::Comparison;
use super::changes::{AssertionChange, ChangeKind, MeasureChange, ResultChange};
use averment_base::diagnostic::render::one_line;
use averment_base::words::count_noun;
use std::fmt::Write as _;

/// Maximum number of named entries in each list.
pub(super) const NAMED: usize = 20;

impl Comparison {
    /// Returns the comparison as text.
    #[must_use]
    pub fn to_human(&self) -> String {
        let mut text = format!("{}\n\n", self.heading_line());
        for one in self.measures.iter().filter(|one| one.base.is_some() || one.new.is_some()) {
            let [before, after, change] = measure_cells(one);
            let _ = writeln!(text, "  {:<9} {before:>12} -> {after:<12} {change}", measure_word(one.name));
        }
        write_list(&mut text, "assertions that pass less or more often", &self.assertions, assertion_line);
        write_list(&mut text, "results that changed", &self.results, result_line);
        write_list(&mut text, "what became worse by far", &self.worse, |one| {
            let block = one.block.as_ref().map(|block| format!("{} in ", one_line(block))).unwrap_or_default();
            format!("{block}{}: {}", one_line(&one.run), one.regression.in_words())
        });
        write_list(&mut text, "runs of the base that are missing", &self.missing, |run| one_line(run).into_owned());
        write_list(&mut text, "runs that the base does not have", &self.added, |run| one_line(run).into_owned());
        write_list(&mut text, "gates", &self.gates, |gate| {
            format!("{:<6} {}: {}", if gate.holds { "holds" } else { "FAILS" }, gate.gate, gate.why)
        });
        text
    }

    pub(super) fn heading_line(&self) -> String {
        let side = |name: &str, runs: usize| format!("{} ({})", one_line(name), count_noun(runs, "run"));
        let by = self.matched_by.map(|by| format!(", {}", by.in_words())).unwrap_or_default();
        let matched = match self.matched {
            0 => "no run is in both".to_owned(),
            1 => format!("1 run is in both{by}"),
            more => format!("{more} runs are in both{by}"),
        };
        format!("{} -> {}: {matched}", side(&self.base.name, self.base.runs), side(&self.new.name, self.new.runs))
    }
}

fn write_list<T>(text: &mut String, title: &str, all: &[T], line: impl Fn(&T) -> String) {
    if all.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}:");
    for one in all.iter().take(NAMED) {
        let _ = writeln!(text, "  {}", line(one));
    }
    if all.len() > NAMED {
        let _ = writeln!(text, "  and {} more: `--format json` lists all", all.len() - NAMED);
    }
}

pub(super) fn measure_word(name: &str) -> &str {
    name.split('_').find(|part| *part != "total").unwrap_or(name)
}

pub(super) fn measure_cells(one: &MeasureChange) -> [String; 3] {
    let shown = |value: Option<f64>| match (value, one.name) {
        (None, _) => "-".to_owned(),
        (Some(value), "score") => format!("{value:.3}"),
        (Some(value), "cost_usd") => format!("${value:.4}"),
        (Some(value), "duration_ms") => format!("{:.2}s", value / 1000.0),
        (Some(value), _) => format!("{value:.0}"),
    };
    let change = match (one.name, one.change, one.percent) {
        ("score", Some(change), _) => format!("{change:+.3}"),
        (_, _, Some(percent)) => format!("{percent:+.1}%"),
        _ => "-".to_owned(),
    };
    [shown(one.base), shown(one.new), change]
}

pub(super) fn significance_text(one: &AssertionChange) -> String {
    match one.p {
        None => "too few runs to say more".to_owned(),
        Some(p) if one.significant => format!("significant, p = {p:.4}"),
        Some(p) => format!("not significant, p = {p:.2}"),
    }
}

fn assertion_line(one: &AssertionChange) -> String {
    let (base, new) = (one.base, one.new);
    let counts = format!("{}/{} -> {}/{}", base.passed, base.total, new.passed, new.total);
    format!("{}: {counts} ({})", one_line(&one.id), significance_text(one))
}

fn result_line(one: &ResultChange) -> String {
    let kind = match one.kind {
        ChangeKind::Regression => "regression",
        ChangeKind::Improvement => "improvement",
        ChangeKind::Other => "change",
    };
    let (id, run) = (one_line(&one.id), one_line(&one.run));
    format!("{kind}: {id} in {run}: {} -> {}", one.base.as_str(), one.new.as_str())
}
