//! Files of every format that were cut off, or lost a line: nobody panics or hangs, and what is lost is told with its line.
//! `AVERMENT_DAMAGED_CASES=30000` tries so many.

use averment_base::limits::Limits;
use averment_fixtures as fixtures;
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use std::collections::BTreeSet;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// No file that small takes so long.
const LONG: Duration = Duration::from_secs(20);

fn samples() -> Vec<(PathBuf, String)> {
    fn below(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                below(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "json" || ending == "jsonl") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    below(&fixtures::project("tests/golden/trace"), &mut found);
    assert!(found.len() > 40, "samples of formats are gone");
    found
}

/// What is said of a file: how many runs it holds, and the lines that errors and warnings name.
struct Told {
    runs: usize,
    lines: BTreeSet<usize>,
}

fn told(text: &str) -> Told {
    let (limits, started) = (Limits::default(), Instant::now());
    let (mut runs, mut lines) = (0, BTreeSet::new());
    for raw in TraceRuns::new("t", Cursor::new(text.as_bytes().to_vec()), &limits) {
        let arena = Bump::new();
        match raw.as_ref().map_err(Clone::clone).and_then(|raw| parse_run(raw, &arena, &limits)) {
            Ok(run) => {
                runs += 1;
                lines.extend(run.warnings.iter().map(|warning| run.source.line_column(run.text, warning.offset).0));
            }
            Err(error) => {
                lines.insert(error.line);
            }
        }
    }
    assert!(started.elapsed() < LONG, "it takes {:?}", started.elapsed());
    Told { runs, lines }
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    /// A place between two characters.
    fn cut(&mut self, text: &str) -> usize {
        (0..=self.below(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap()
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

/// Whether a text holds whole values, one behind the other.
fn are_values(text: &str) -> bool {
    serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>().all(|value| value.is_ok())
}

fn cases() -> usize {
    std::env::var("AVERMENT_DAMAGED_CASES").map_or(1200, |text| text.parse().unwrap())
}

#[test]
fn what_is_cut_off_is_told() {
    let (samples, mut dice) = (samples(), Dice(0x9E37_79B9_7F4A_7C15));
    for _ in 0..cases() {
        let (path, text) = &samples[dice.below(samples.len())];
        let cut = &text[..dice.cut(text)];
        let last = cut.lines().last().unwrap_or_default().trim();
        let lines = cut.lines().count();
        let before = cut.lines().take(lines.saturating_sub(1));
        let by_line = before.clone().count() > 0 && before.clone().all(|line| line.trim().is_empty() || is_json(line));
        let is_whole = if by_line { last.is_empty() || is_json(last) } else { are_values(cut) };
        let said = told(cut);
        assert!(is_whole || !said.lines.is_empty(), "{}: nothing is said of `{cut}`", path.display());
    }
}

#[test]
fn a_line_that_is_broken_is_told_and_the_others_are_read() {
    let of_lines = |text: &str| text.lines().count() > 2 && text.lines().all(is_json);
    let samples: Vec<_> = samples().into_iter().filter(|(_, text)| of_lines(text)).collect();
    assert!(samples.len() > 10, "{}", samples.len());
    let mut dice = Dice(0xD1B5_4A32_D192_ED03);
    for _ in 0..cases() {
        let (path, text) = &samples[dice.below(samples.len())];
        let number = dice.below(text.lines().count());
        let broken = text.lines().nth(number).unwrap();
        let half = &broken[..dice.cut(broken)];
        // What begins with a bracket alone is a list, and not a line.
        if half.trim().is_empty() || half.trim() == "[" || is_json(half) {
            continue;
        }
        let lines = text.lines().enumerate().map(|(at, line)| if at == number { half } else { line });
        let damaged = lines.collect::<Vec<_>>().join("\n");
        let said = told(&damaged);
        assert!(
            said.lines.contains(&(number + 1)),
            "{}: line {} of `{damaged}`: {:?}",
            path.display(),
            number + 1,
            said.lines
        );
        assert!(said.runs > 0, "{}: nothing is left of `{damaged}`", path.display());
    }
}
