//! The text of a regular expression with its parsed form, which checker, linter, compiler and prefilter share.

use crate::pattern::{automaton_bytes, is_heavy};
use regex_syntax::hir::Hir;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A regular expression in the syntax of the `regex` crate. It is serialized and compared as text.
#[derive(Clone, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct RegexPattern {
    text: String,
    /// The parsed form, computed on first use and shared by clones.
    parsed: OnceLock<Arc<Result<Hir, regex_syntax::Error>>>,
}

impl RegexPattern {
    /// Returns the parsed form.
    ///
    /// # Errors
    /// Returns an error if the library cannot parse it, such as for backtracking patterns, which have their own syntax.
    pub fn parsed(&self) -> Result<&Hir, &regex_syntax::Error> {
        self.parsed.get_or_init(|| Arc::new(regex_syntax::parse(&self.text))).as_ref().as_ref()
    }

    /// Returns the approximate memory of its automaton ([`automaton_bytes`]); `None` if it cannot be parsed.
    #[must_use]
    pub fn automaton_bytes(&self) -> Option<u64> {
        self.parsed().ok().map(automaton_bytes)
    }

    /// True if matching a large text is expensive enough to be charged.
    #[must_use]
    pub fn is_heavy(&self) -> bool {
        is_heavy(&self.text, || self.parsed().ok())
    }
}

impl From<String> for RegexPattern {
    fn from(text: String) -> Self {
        Self { text, parsed: OnceLock::new() }
    }
}

impl From<RegexPattern> for String {
    fn from(pattern: RegexPattern) -> Self {
        pattern.text
    }
}

impl Deref for RegexPattern {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for RegexPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl PartialEq for RegexPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for RegexPattern {}

impl Hash for RegexPattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_its_text_and_is_read_once_for_all_clones() {
        let pattern = RegexPattern::from("a[0-9]+".to_owned());
        let parsed = std::ptr::from_ref(pattern.parsed().unwrap());
        let clone = pattern.clone();
        assert!(std::ptr::eq(parsed, clone.parsed().unwrap()));
        assert_eq!((&*clone, &clone), ("a[0-9]+", &RegexPattern::from("a[0-9]+".to_owned())));
        assert_eq!(serde_json::to_string(&pattern).unwrap(), r#""a[0-9]+""#);
        assert!(RegexPattern::from("(".to_owned()).parsed().is_err());
    }
}
