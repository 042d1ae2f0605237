//! Labelled texts: what the detectors find and what they leave alone.
//!
//! `cargo test --test builtins labelled -- --nocapture` prints precision and recall. The first sets name the kind that is to be found and were
//! there while the detectors were written; the second ones say only whether something is to be found and were written by somebody who had
//! not seen the detectors.

use crate::builtins::templates::{Draw, filled, wrapped};
use averment_base::limits::{FuelMeter, Limits};
use averment_builtins::detect::Detector;
use serde_json::Value as Json;

/// Counts of a detector over labelled texts.
#[derive(Default)]
struct Counts {
    right: usize,
    found: usize,
    labelled: usize,
    missed: Vec<String>,
    wrong: Vec<String>,
}

fn judge(detector: Detector, file: &str) -> Counts {
    let mut counts = Counts::default();
    for (number, line) in file.lines().enumerate() {
        let item: Json = serde_json::from_str(line).unwrap();
        let mut draw = Draw::of_line(number);
        let mut text = filled(item["text"].as_str().unwrap(), &mut draw);
        for wrap in item["wrap"].as_array().into_iter().flatten() {
            text = wrapped(&text, wrap.as_str().unwrap());
        }
        let found = detector.find(&text, &mut FuelMeter::new(&Limits::default())).unwrap();
        for finding in &found {
            assert!(text.get(finding.range.clone()).is_some_and(|part| !part.is_empty()), "{finding:?} in {text:?}");
        }
        let kinds: Vec<&str> = found.iter().map(|finding| finding.kind).collect();
        let wanted = item["kind"].as_str().or_else(|| item["found"].as_bool().filter(|&found| found).map(|_| "any"));
        counts.labelled += usize::from(wanted.is_some());
        counts.found += usize::from(!kinds.is_empty());
        match wanted {
            Some("any") if !kinds.is_empty() => counts.right += 1,
            Some(kind) if kinds.contains(&kind) => counts.right += 1,
            Some(kind) => counts.missed.push(format!("line {}: {kind}, found {kinds:?} in {text:?}", number + 1)),
            None if kinds.is_empty() => {}
            None => counts.wrong.push(format!("line {}: {kinds:?} in {text:?}", number + 1)),
        }
    }
    counts
}

/// Prints precision and recall and demands them.
fn demand(name: &str, counts: &Counts, most_missed: usize) {
    #[expect(clippy::cast_precision_loss, reason = "a few hundred texts")]
    let share = |part: usize, whole: usize| part as f64 / whole as f64;
    println!(
        "{name}: precision {:.3}, recall {:.3} ({} labelled, {} found)",
        share(counts.right, counts.found),
        share(counts.right, counts.labelled),
        counts.labelled,
        counts.found,
    );
    counts.missed.iter().for_each(|missed| println!("  missed {missed}"));
    counts.wrong.iter().for_each(|wrong| println!("  wrong {wrong}"));
    assert!(counts.wrong.is_empty(), "found where nothing is:\n{}", counts.wrong.join("\n"));
    assert!(counts.missed.len() <= most_missed, "missed:\n{}", counts.missed.join("\n"));
}

#[test]
fn credentials_are_found_and_their_likes_are_not() {
    let counts = judge(Detector::Secrets, include_str!("../../../tests/data/secrets.jsonl"));
    // Two that no check can tell from words and ids: they stay in the set so that the number is honest.
    demand("secrets", &counts, 2);
}

#[test]
fn personal_data_is_found_and_its_likes_are_not() {
    let counts = judge(Detector::Pii, include_str!("../../../tests/data/pii.jsonl"));
    demand("personal data", &counts, 0);
}

#[test]
fn labelled_by_another_hand_credentials_are_found_and_their_likes_are_not() {
    let counts = judge(Detector::Secrets, include_str!("../../../tests/data/secrets-second.jsonl"));
    // A login without a name for what follows it, and a password of letters that chance drew with too few small ones.
    demand("secrets, second set", &counts, 2);
}

#[test]
fn labelled_by_another_hand_personal_data_is_found_and_its_likes_are_not() {
    let counts = judge(Detector::Pii, include_str!("../../../tests/data/pii-second.jsonl"));
    demand("personal data, second set", &counts, 0);
}
