//! Small charts: the coordinates that the template draws, and the same values in words.

use crate::human::score_text;
use serde::Serialize;

/// A piece of a bar; `from` and `width` are in percent of the bar's length.
#[derive(Serialize)]
pub(super) struct BarPiece {
    verdict: &'static str,
    count: u64,
    from: f64,
    width: f64,
}

pub(super) fn bar_pieces(counts: &[(&'static str, u64)]) -> Vec<BarPiece> {
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let mut from = 0.0;
    let mut bar = Vec::new();
    for (verdict, count) in counts.iter().copied().filter(|(_, count)| *count > 0) {
        let width = 100.0 * count as f64 / all as f64;
        bar.push(BarPiece { verdict, count, from: to_hundredths(from), width: to_hundredths(width) });
        from += width;
    }
    bar
}

fn to_hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

const COLUMNS: usize = 20;
/// Height of the tallest column.
const HEIGHT: f64 = 40.0;

#[derive(Default)]
pub(super) struct ScoreHistogram {
    columns: [u64; COLUMNS],
    sum: f64,
    count: u64,
    ends: Option<(f64, f64)>,
}

#[derive(Serialize)]
pub(super) struct HistogramChart {
    name: String,
    mean: String,
    /// Position of the mean, in percent of the width.
    at: f64,
    low: String,
    high: String,
    count: u64,
    columns: Vec<ChartColumn>,
}

#[derive(Serialize)]
struct ChartColumn {
    x: usize,
    y: f64,
    height: f64,
    from: String,
    to: String,
    count: u64,
}

impl ScoreHistogram {
    pub(super) fn add_score(&mut self, score: f64) {
        let score = if score.is_finite() { score.clamp(0.0, 1.0) } else { 0.0 };
        let place = (0..COLUMNS - 1).find(|at| score < column_edge(at + 1)).unwrap_or(COLUMNS - 1);
        self.columns.get_mut(place).into_iter().for_each(|count| *count += 1);
        self.sum += score;
        self.count += 1;
        let (low, high) = self.ends.unwrap_or((score, score));
        self.ends = Some((low.min(score), high.max(score)));
    }

    pub(super) fn draw_chart(&self, name: &str) -> Option<HistogramChart> {
        let (low, high) = self.ends?;
        let mean = self.sum / self.count as f64;
        let highest = self.columns.iter().copied().max().unwrap_or(1).max(1);
        let column = |at: usize, count: u64| {
            // A nonzero count is always visible.
            let height = if count == 0 { 0.0 } else { (HEIGHT * count as f64 / highest as f64).max(1.5) };
            ChartColumn {
                x: at * 5,
                y: to_hundredths(HEIGHT - height),
                height: to_hundredths(height),
                from: format!("{:.2}", column_edge(at)),
                to: format!("{:.2}", column_edge(at + 1)),
                count,
            }
        };
        Some(HistogramChart {
            name: name.to_owned(),
            mean: score_text(mean),
            at: to_hundredths(100.0 * mean),
            low: score_text(low),
            high: score_text(high),
            count: self.count,
            columns: self.columns.iter().enumerate().map(|(at, count)| column(at, *count)).collect(),
        })
    }
}

fn column_edge(at: usize) -> f64 {
    at as f64 / COLUMNS as f64
}
