//! The one place that keeps secrets out of reports.

use crate::builtins::detect::{self, Detector};
use crate::limits::{Limits, Meter};
use crate::trace::run::Run;
use crate::value::{Node, Value};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

pub use crate::builtins::detect::REDACTED;

/// No text shorter than this holds a secret that the detectors know.
const SHORTEST: usize = 8;

/// Texts up to this length are remembered when nothing is found in them, and so many of them.
const REMEMBERED: (usize, usize) = (160, 4_096);

thread_local! {
    /// Reasons and labels of many runs are made of few texts (`there is no refund`): those in which nothing was found.
    static CLEAN: RefCell<FxHashSet<Box<str>>> = RefCell::default();
}

/// Where the detectors of the language find secrets in a text: sorted, not overlapping.
/// A text too large to look through is hidden as a whole.
pub fn secrets(text: &str) -> Vec<Range<usize>> {
    let (length, count) = REMEMBERED;
    if text.len() < SHORTEST || (text.len() <= length && CLEAN.with_borrow(|clean| clean.contains(text))) {
        return Vec::new();
    }
    let found: Vec<Range<usize>> = match Detector::Secrets.find(text, &mut Meter::new(&Limits::default())) {
        Ok(found) => found.into_iter().map(|finding| finding.range).collect(),
        Err(_) => std::iter::once(0..text.len()).collect(),
    };
    if found.is_empty() && text.len() <= length {
        CLEAN.with_borrow_mut(|clean| {
            if clean.len() >= count {
                clean.clear();
            }
            clean.insert(text.into());
        });
    }
    found
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

/// Values that only their name makes secrets (`password`) that are looked at.
const NAMED: usize = 1_000;

/// What of a run is shown nowhere, wherever else the run repeats it: its recorded environment, and values that their names make secrets.
/// The places and the texts, the longest first.
pub fn environment(run: &Run<'_>) -> (Vec<Range<usize>>, Vec<String>) {
    let root = run.root("env");
    let mut places: Vec<Range<usize>> = root.origin.range().into_iter().collect();
    let mut texts = Vec::new();
    let mut withhold = |node: &Node<'_>, text: &str| {
        if is_telling(text) {
            // Without the quotes around it: elsewhere it may stand inside a longer text.
            places.extend(node.origin.range().map(|place| place.start + 1..place.end.saturating_sub(1)));
            texts.push(text.trim().to_owned());
        }
    };
    if let Value::Object(variables) = root.value {
        for entry in variables.entries().iter().take(VARIABLES) {
            if let Value::Text(value) = entry.node.value {
                withhold(&entry.node, value.as_str());
            }
        }
    }
    let mut left = NAMED;
    detect::named(&Value::Object(run.object), &mut |node, text| {
        if left > 0 {
            withhold(node, text);
            left -= 1;
        }
    });
    longest_first(&mut texts);
    (places, texts)
}

/// The text in which a predicate has found something, by its JSON pointer, with its place: where it is not too short to be hidden elsewhere.
pub fn found(run: &Run<'_>, path: &str) -> Option<(Option<Range<usize>>, String)> {
    let mut node = Node::computed(Value::Object(run.object));
    for part in path.strip_prefix('/')?.split('/') {
        node = match node.value {
            Value::Object(object) => object.get(&part.replace("~1", "/").replace("~0", "~"))?,
            Value::List(items) => *items.get(part.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    let Value::Text(text) = node.value else { return None };
    let place = node.origin.range().map(|place| place.start + 1..place.end.saturating_sub(1));
    is_telling(text.as_str()).then(|| (place, text.as_str().trim().to_owned()))
}

/// Whether a text is long enough to be taken out of others: a short one stands there by chance.
pub fn is_telling(text: &str) -> bool {
    text.trim().len() >= SHORTEST_VALUE
}

/// Texts to be taken out of others: the longest first, so that no part of one stays; each once.
pub fn longest_first(texts: &mut Vec<String>) {
    texts.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    texts.dedup();
}

/// Words without some texts, and without the beginning of one where words were cut off in it.
#[must_use]
pub fn without_texts(words: String, texts: &[String]) -> String {
    texts.iter().fold(words, |words, text| {
        let words = if words.contains(text.as_str()) { words.replace(text, REDACTED) } else { words };
        without_beginning(words, text)
    })
}

/// What marks a cut.
const CUT: char = '…';

/// Words without the beginning of a text in front of a cut; less than half of the shortest value says nothing.
fn without_beginning(words: String, text: &str) -> String {
    let Some(first) = text.chars().next() else { return words };
    if !words.contains(CUT) || !words.contains(first) {
        return words;
    }
    let mut clean = String::with_capacity(words.len());
    let mut rest = words.as_str();
    while let Some((before, behind)) = rest.split_once(CUT) {
        let near = before.floor_char_boundary(before.len().saturating_sub(text.len()));
        let starts = before.get(near..).unwrap_or_default().match_indices(first).map(|(at, _)| near + at);
        let begins =
            |at: &usize| before.get(*at..).is_some_and(|end| end.len() >= SHORTEST_VALUE / 2 && text.starts_with(end));
        match starts.into_iter().find(begins).and_then(|at| before.get(..at)) {
            Some(kept) => {
                clean.push_str(kept);
                clean.push_str(REDACTED);
            }
            None => clean.push_str(before),
        }
        clean.push(CUT);
        rest = behind;
    }
    clean.push_str(rest);
    clean
}

/// Text about a run, such as its timeline, without secrets and without the texts of its environment.
#[must_use]
pub fn of_run(run: &Run<'_>, text: &str) -> String {
    let (_, withheld) = environment(run);
    without_texts(redact(text).into_owned(), &withheld)
}

/// JSON without the texts of the environment, as they are written there.
pub fn withheld<'a>(json: &'a str, texts: &[String]) -> Cow<'a, str> {
    texts.iter().fold(Cow::Borrowed(json), |json, text| {
        let written = serde_json::to_string(text).unwrap_or_default();
        match written.get(1..written.len().saturating_sub(1)).filter(|inner| !inner.is_empty()) {
            Some(inner) if json.contains(inner) => Cow::Owned(json.replace(inner, REDACTED)),
            // What caused a fault was cut before it came here.
            Some(inner) if json.ends_with(CUT) => Cow::Owned(without_beginning(json.into_owned(), inner)),
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
