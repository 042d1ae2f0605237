//! Formats a trust report as a text table.

use super::groups::POINTS;
use super::{TrustGroup, TrustReport};
use averment_base::diagnostic::render::one_line;
use averment_base::words::count_noun;
use std::fmt::Write as _;

/// Maximum length of a group name in characters.
const NAME: usize = 40;
/// Maximum number of listed flaky results, and of listed regressions.
const NAMED: usize = 10;

impl TrustReport {
    /// Returns the report as text; if `unicode` is false, in ASCII only.
    #[must_use]
    pub fn to_human(&self, unicode: bool) -> String {
        let each = if self.by.is_some() { " of each group" } else { "" };
        let mut text = format!("trust over the last {}{each}\n\n", count_noun(self.last, "run"));
        let rows: Vec<&TrustGroup> = self.groups.iter().chain([&self.all]).collect();
        let heads = [self.by.as_deref().unwrap_or(""), "runs", "passed", "score", "95% interval", "trend", ""];
        let cells = rows.iter().map(|group| group_cells(group, unicode));
        text.push_str(&format_table(&[heads.map(str::to_owned)].into_iter().chain(cells).collect::<Vec<_>>()));
        let _ = writeln!(text, "\n{}", self.trend_words(unicode));
        if !self.flaky.is_empty() {
            let _ = writeln!(
                text,
                "\nflaky: {} of the same bytes under the same rules",
                count_noun(self.flaky.len(), "result")
            );
        }
        for one in self.flaky.iter().take(NAMED) {
            let words: Vec<&str> = one.statuses.iter().map(|status| status.as_str()).collect();
            let _ = writeln!(text, "  {} in {}: {}", display_name(&one.id), display_name(&one.run), words.join(", "));
        }
        write_more(&mut text, self.flaky.len());
        if !self.regressions.is_empty() {
            let _ = writeln!(
                text,
                "\nregressions: {} that passed before the latest recording",
                count_noun(self.regressions.len(), "assertion")
            );
        }
        for one in self.regressions.iter().take(NAMED) {
            let first = one.runs.first().map(|run| display_name(run)).unwrap_or_default();
            let others = if one.runs.len() > 1 { format!(" and {} more", one.runs.len() - 1) } else { String::new() };
            let before = count_noun(one.passed_before, "run");
            let _ =
                writeln!(text, "  {} passed in the last {before}, fails now in {first}{others}", display_name(&one.id));
        }
        write_more(&mut text, self.regressions.len());
        text
    }
}

impl TrustReport {
    /// Explains the signs of a trend, and how many runs each sign represents.
    pub(super) fn trend_words(&self, unicode: bool) -> String {
        let sign = |score| sparkline(&[Some(score)], unicode);
        let gap = if self.groups.iter().chain([&self.all]).any(|group| group.trend.contains(&None)) {
            "; a gap is runs without a result that counts"
        } else {
            ""
        };
        let most = self.groups.iter().chain([&self.all]).map(|group| group.runs).max().unwrap_or(0);
        let each = match most.div_ceil(POINTS) {
            0 | 1 => "each sign is 1 run".to_owned(),
            size => format!("a sign is up to {size} runs"),
        };
        format!("trend: oldest runs first, {each}; its score is from {} (0) to {} (1){gap}", sign(0.0), sign(1.0))
    }
}

fn write_more(text: &mut String, count: usize) {
    if count > NAMED {
        let _ = writeln!(text, "  and {} more: `--format json` lists all", count - NAMED);
    }
}

fn display_name(name: &str) -> String {
    let name = one_line(name);
    match name.char_indices().nth(NAME * 2) {
        Some((end, _)) => format!("{}...", name.get(..end).unwrap_or_default()),
        None => name.into_owned(),
    }
}

fn group_cells(group: &TrustGroup, unicode: bool) -> [String; 7] {
    let name: String = one_line(&group.name).chars().take(NAME).collect();
    [
        name,
        group.runs.to_string(),
        format!("{}/{}", group.passed, group.total),
        group.score.map_or("-".to_owned(), round_score),
        interval_text(group),
        sparkline(&group.trend, unicode),
        group.label.as_str().to_owned(),
    ]
}

/// Formats the interval of a group's score.
pub(super) fn interval_text(group: &TrustGroup) -> String {
    group.interval.map_or("-".to_owned(), |(low, high)| format!("{low:.2} to {high:.2}"))
}

/// Formats a score with three digits, rounded down so that 0.9499 is not shown as 0.95.
pub(super) fn round_score(score: f64) -> String {
    format!("{:.3}", (score * 1000.0 + 1e-9).floor() / 1000.0)
}

pub(super) fn sparkline(trend: &[Option<f64>], unicode: bool) -> String {
    let steps = if unicode {
        ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
    } else {
        ['_', '.', ',', '-', '=', '+', '*', '#']
    };
    let step = |score: f64| steps.iter().rev().zip((0..8).rev()).find(|(_, at)| score * 7.0 + 1e-9 >= f64::from(*at));
    trend.iter().map(|one| one.and_then(step).map_or(' ', |(step, _)| *step)).collect()
}

/// Formats a table. The first and the last two columns are left-aligned, the others right-aligned.
fn format_table(rows: &[[String; 7]]) -> String {
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(width(column).unwrap_or(0).saturating_sub(cell.chars().count()));
            let right = (1..5).contains(&column);
            line.push_str(if column == 0 { "" } else { "  " });
            line.push_str(&if right { padding.clone() + cell } else { format!("{cell}{padding}") });
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
