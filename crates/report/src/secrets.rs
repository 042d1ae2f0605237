//! Where credentials stand in a text, and the text without them.

use averment_base::limits::{FuelMeter, Limits};
use averment_builtins::detect::{self, REDACTED};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

/// No text shorter than this holds a secret that the detectors know.
const SHORTEST: usize = 8;

/// Texts up to this length are remembered when nothing is found in them, and so many of them.
const REMEMBERED: (usize, usize) = (160, 4_096);

thread_local! {
    /// Reasons and labels of many runs are made of few texts (`there is no refund`): those in which nothing was found.
    static CLEAN: RefCell<FxHashSet<Box<str>>> = RefCell::default();
}

/// Makes what this module keeps for the thread that calls it.
pub(crate) fn register_thread_storage() {
    CLEAN.with_borrow(|_| ());
}

/// Where the detectors of the language find secrets in a text: sorted, not overlapping.
/// A text too large to look through is hidden as a whole.
pub fn find_secrets(text: &str) -> Vec<Range<usize>> {
    let (length, count) = REMEMBERED;
    if text.len() < SHORTEST || (text.len() <= length && CLEAN.with_borrow(|clean| clean.contains(text))) {
        return Vec::new();
    }
    let found = detect::find_credentials(text, &mut FuelMeter::new(&Limits::default()));
    let found = found.unwrap_or_else(|_| std::iter::once(0..text.len()).collect());
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
    remove_ranges(text, &find_secrets(text))
}

/// The text with ranges of it replaced. Ranges are sorted, do not overlap and lie on character borders; others are left out.
pub fn remove_ranges<'a>(text: &'a str, ranges: &[Range<usize>]) -> Cow<'a, str> {
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
pub(crate) const SHORTEST_VALUE: usize = 6;

/// Whether a text is long enough to be taken out of others: a short one stands there by chance.
pub fn is_telling(text: &str) -> bool {
    text.trim().len() >= SHORTEST_VALUE
}
