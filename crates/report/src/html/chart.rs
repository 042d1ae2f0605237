//! Small charts: places and lengths of what the template draws, and the same in words.

use crate::human::score_text;
use serde::Serialize;

/// A piece of a bar, in hundredths of its length.
#[derive(Serialize)]
pub(super) struct Bar {
    verdict: &'static str,
    count: u64,
    from: f64,
    width: f64,
}

/// A bar of counts.
pub(super) fn bar(counts: &[(&'static str, u64)]) -> Vec<Bar> {
    let all: u64 = counts.iter().map(|(_, count)| count).sum();
    let mut from = 0.0;
    let mut bar = Vec::new();
    for (verdict, count) in counts.iter().copied().filter(|(_, count)| *count > 0) {
        let width = 100.0 * count as f64 / all as f64;
        bar.push(Bar { verdict, count, from: hundredths(from), width: hundredths(width) });
        from += width;
    }
    bar
}

fn hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// Columns of a histogram.
const COLUMNS: usize = 20;
/// How high the highest is.
const HEIGHT: f64 = 40.0;

/// How scores between 0 and 1 are spread.
#[derive(Default)]
pub(super) struct Histogram {
    columns: [u64; COLUMNS],
    sum: f64,
    count: u64,
    ends: Option<(f64, f64)>,
}

/// A histogram as it is drawn.
#[derive(Serialize)]
pub(super) struct Drawn {
    name: String,
    mean: String,
    /// Where the mean stands, in hundredths of the width.
    at: f64,
    low: String,
    high: String,
    count: u64,
    columns: Vec<Column>,
}

#[derive(Serialize)]
struct Column {
    x: usize,
    y: f64,
    height: f64,
    from: String,
    to: String,
    count: u64,
}

impl Histogram {
    pub(super) fn add(&mut self, score: f64) {
        let score = if score.is_finite() { score.clamp(0.0, 1.0) } else { 0.0 };
        let place = (0..COLUMNS - 1).find(|at| score < edge(at + 1)).unwrap_or(COLUMNS - 1);
        self.columns.get_mut(place).into_iter().for_each(|count| *count += 1);
        self.sum += score;
        self.count += 1;
        let (low, high) = self.ends.unwrap_or((score, score));
        self.ends = Some((low.min(score), high.max(score)));
    }

    /// The chart; `None` where there is nothing to draw.
    pub(super) fn drawn(&self, name: &str) -> Option<Drawn> {
        let (low, high) = self.ends?;
        let mean = self.sum / self.count as f64;
        let highest = self.columns.iter().copied().max().unwrap_or(1).max(1);
        let column = |at: usize, count: u64| {
            // Something that is there is seen.
            let height = if count == 0 { 0.0 } else { (HEIGHT * count as f64 / highest as f64).max(1.5) };
            Column {
                x: at * 5,
                y: hundredths(HEIGHT - height),
                height: hundredths(height),
                from: format!("{:.2}", edge(at)),
                to: format!("{:.2}", edge(at + 1)),
                count,
            }
        };
        Some(Drawn {
            name: name.to_owned(),
            mean: score_text(mean),
            at: hundredths(100.0 * mean),
            low: score_text(low),
            high: score_text(high),
            count: self.count,
            columns: self.columns.iter().enumerate().map(|(at, count)| column(at, *count)).collect(),
        })
    }
}

/// Where a column begins.
fn edge(at: usize) -> f64 {
    at as f64 / COLUMNS as f64
}
