//! The one place that keeps secrets out of reports.

use crate::builtins::detect::Detector;
use crate::limits::{Limits, Meter};
use crate::trace::run::Run;
use crate::value::Value;
use std::borrow::Cow;
use std::ops::Range;

/// What stands in a report instead of a secret.
pub const REDACTED: &str = "[redacted]";

/// No text shorter than this holds a secret that the detectors know.
const SHORTEST: usize = 8;

/// Where the detectors of the language find secrets in a text: sorted, not overlapping.
/// A text too large to look through is hidden as a whole.
pub fn secrets(text: &str) -> Vec<Range<usize>> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    match Detector::Secrets.find(text, &mut Meter::new(&Limits::default())) {
        Ok(found) => found.into_iter().map(|finding| finding.range).collect(),
        Err(_) => std::iter::once(0..text.len()).collect(),
    }
}

/// The text without what a detector recognises as a secret.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    without(text, &secrets(text))
}

/// The text with ranges of it replaced. Ranges are sorted, do not overlap and lie on character borders; others are left out.
pub fn without<'a>(text: &'a str, ranges: &[Range<usize>]) -> Cow<'a, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        let Some(before) = text.get(at..range.start) else { continue };
        clean.push_str(before);
        clean.push_str(REDACTED);
        at = range.end;
    }
    clean.push_str(text.get(at..).unwrap_or(""));
    Cow::Owned(clean)
}

/// Shorter values of the environment are words such as `true` or `xterm`, and none of them is a secret.
const SHORTEST_VALUE: usize = 6;
/// Variables of a recorded environment that are looked at.
const VARIABLES: usize = 2_000;

/// The places of the recorded environment and its texts. They are shown nowhere, wherever else the run repeats them.
pub fn environment(run: &Run<'_>) -> (Vec<Range<usize>>, Vec<String>) {
    let root = run.root("env");
    let mut places: Vec<Range<usize>> = root.origin.range().into_iter().collect();
    let Value::Object(variables) = root.value else { return (places, Vec::new()) };
    let mut texts = Vec::new();
    for entry in variables.entries().iter().take(VARIABLES) {
        let Value::Text(value) = entry.node.value else { continue };
        if value.as_str().trim().len() < SHORTEST_VALUE {
            continue;
        }
        // Without the quotes around it: elsewhere it may stand inside a longer text.
        places.extend(entry.node.origin.range().map(|place| place.start + 1..place.end.saturating_sub(1)));
        texts.push(value.as_str().trim().to_owned());
    }
    texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
    (places, texts)
}

/// Text about a run, such as its timeline, without secrets and without the texts of its environment.
#[must_use]
pub fn of_run(run: &Run<'_>, text: &str) -> String {
    let (_, withheld) = environment(run);
    withheld.iter().fold(redact(text).into_owned(), |text, hidden| {
        if text.contains(hidden.as_str()) { text.replace(hidden.as_str(), REDACTED) } else { text }
    })
}

/// JSON without the texts of the environment, as they are written there.
pub fn withheld<'a>(json: &'a str, texts: &[String]) -> Cow<'a, str> {
    texts.iter().fold(Cow::Borrowed(json), |json, text| {
        let written = serde_json::to_string(text).unwrap_or_default();
        match written.get(1..written.len().saturating_sub(1)) {
            Some(inner) if !inner.is_empty() && json.contains(inner) => Cow::Owned(json.replace(inner, REDACTED)),
            _ => json,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_detector_recognises_is_not_shown() {
        let token = format!("ghp_{}", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R");
        assert_eq!(redact(&format!("token {token} used")), "token [redacted] used");
        assert_eq!(redact("an ordinary sentence"), "an ordinary sentence");
    }

    #[test]
    fn ranges_are_replaced_and_the_rest_stays() {
        assert_eq!(without("key=abc; next=def", &[4..7, 14..17]), "key=[redacted]; next=[redacted]");
        assert_eq!(without("nothing", &[]), "nothing");
    }
}
