//! Words for ranks: `low`, `medium` and `high` have an order that is not alphabetical.

use std::cmp::Ordering;

/// Scales from the lowest to the highest rank. Words of the same rank are in one string.
const SCALES: [&[&str]; 15] = [
    &[
        "none",
        "negligible",
        "informational info",
        "low minor",
        "medium moderate",
        "high major",
        "critical severe urgent",
    ],
    &["lowest", "low", "normal", "high", "highest", "urgent immediate"],
    &["trace", "debug", "info", "notice", "warn warning", "error", "critical", "alert", "fatal emergency"],
    &["tiny", "small", "medium", "large", "huge"],
    &["never", "rarely", "sometimes", "often", "always"],
    &["terrible", "bad poor", "fair okay", "good", "great", "excellent perfect"],
    &["beginner novice", "intermediate", "advanced", "expert"],
    &["junior", "mid", "senior", "staff", "principal"],
    &["bronze", "silver", "gold", "platinum", "diamond"],
    &["public", "internal", "confidential", "secret restricted", "top_secret"],
    &["dev development", "test testing", "staging", "prod production"],
    &["alpha", "beta", "rc", "stable"],
    &["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"],
    &["mon monday", "tue tuesday", "wed wednesday", "thu thursday", "fri friday", "sat saturday", "sun sunday"],
    &[
        "jan january",
        "feb february",
        "mar march",
        "apr april",
        "may",
        "jun june",
        "jul july",
        "aug august",
        "sep september",
        "oct october",
        "nov november",
        "dec december",
    ],
];

/// Maximum length of the words in all scales.
const LONGEST: usize = 13;

/// Returns the order of two words of one scale, in any case; `None` if there is no such scale.
pub(super) fn rank_order(a: &str, b: &str) -> Option<Ordering> {
    if a.len() > LONGEST || b.len() > LONGEST {
        return None;
    }
    let rank = |scale: &[&str], word: &str| {
        scale.iter().position(|words| words.split(' ').any(|known| known.eq_ignore_ascii_case(word.trim())))
    };
    SCALES.iter().find_map(|scale| Some(rank(scale, a)?.cmp(&rank(scale, b)?)))
}
