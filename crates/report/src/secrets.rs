//! Finds credentials in a text, and removes them.

use averment_base::limits::{FuelMeter, Limits};
use averment_builtins::detect::{self, REDACTED};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

/// Minimum length of secrets that the detectors find.
const SHORTEST: usize = 8;

/// Maximum length of texts that are cached if they contain no secret, and maximum number of cached texts.
const REMEMBERED: (usize, usize) = (160, 4_096);

thread_local! {
    /// Texts without secrets. Reasons and labels of many runs consist of few texts (`there is no refund`), so the cache saves searches.
    static CLEAN: RefCell<FxHashSet<Box<str>>> = RefCell::default();
}

/// Initializes the thread-local data now, instead of at the first use.
pub(crate) fn register_thread_storage() {
    CLEAN.with_borrow(|_| ());
}

/// Returns the ranges of secrets in a text, sorted and without overlaps. A text that is too large to search is one secret.
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

/// Returns the text without detected secrets.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    remove_ranges(text, &find_secrets(text))
}

/// Replaces ranges of the text. Ranges must be sorted, must not overlap, and must lie on character boundaries; others are ignored.
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

/// Minimum length of hidden environment values. Shorter ones are words such as `true` or `xterm`, not secrets.
pub(crate) const SHORTEST_VALUE: usize = 6;

/// True if a text is long enough to be removed from other texts. Short texts may occur by chance.
pub fn is_long_enough_to_hide(text: &str) -> bool {
    text.trim().len() >= SHORTEST_VALUE
}
