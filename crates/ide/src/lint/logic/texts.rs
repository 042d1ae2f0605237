//! Sets of texts: finitely many, or all but finitely many, restricted further by tests.

use regex_syntax::hir::literal::Extractor;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A test of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum TextTest {
    /// `contains`.
    Contains(String),
    /// `icontains`, with the text in lowercase.
    ContainsIgnoringCase(String),
    /// `starts with`.
    Starts(String),
    /// `ends with`.
    Ends(String),
    /// `matches`.
    Matches(Rc<RegexPattern>),
}

/// A regular expression, and the literals that every match contains.
#[derive(Debug)]
pub struct RegexPattern {
    text: String,
    regex: regex::Regex,
    demands: Vec<TextTest>,
}

impl PartialEq for RegexPattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// Maximum size in bytes of an automaton built by a lint.
const REGEX_BYTES: usize = 1 << 20;

impl RegexPattern {
    /// Compiles a pattern in the syntax of the `regex` crate; returns `None` if it is too large.
    #[must_use]
    pub fn new(pattern: &str, text: &str) -> Option<Self> {
        let regex = regex::RegexBuilder::new(pattern).size_limit(REGEX_BYTES).build().ok()?;
        Some(Self { text: text.to_owned(), demands: regex_demands(pattern), regex })
    }
}

/// Returns the literals that every match of a pattern contains: one, at the start if it is anchored.
fn regex_demands(pattern: &str) -> Vec<TextTest> {
    let Ok(hir) = regex_syntax::parse(pattern) else { return Vec::new() };
    let anchored = |looks: regex_syntax::hir::LookSet| looks.contains(regex_syntax::hir::Look::Start);
    let Some(literals) = Extractor::new().extract(&hir).literals().map(<[_]>::to_vec) else { return Vec::new() };
    let [only] = literals.as_slice() else { return Vec::new() };
    let Ok(text) = std::str::from_utf8(only.as_bytes()) else { return Vec::new() };
    if text.is_empty() {
        return Vec::new();
    }
    let at_start = anchored(hir.properties().look_set_prefix());
    let at_start = if at_start { Some(TextTest::Starts(text.to_owned())) } else { None };
    at_start.into_iter().chain([TextTest::Contains(text.to_owned())]).collect()
}

impl TextTest {
    /// Returns true if a text passes.
    #[must_use]
    pub fn accepts_text(&self, text: &str) -> bool {
        match self {
            Self::Contains(part) => text.contains(part.as_str()),
            Self::ContainsIgnoringCase(part) => text.to_lowercase().contains(part.as_str()),
            Self::Starts(start) => text.starts_with(start.as_str()),
            Self::Ends(end) => text.ends_with(end.as_str()),
            Self::Matches(pattern) => pattern.regex.is_match(text),
        }
    }

    /// True if passing this test implies passing the other; false if unknown.
    fn implies_test(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        let literal = match self {
            Self::Contains(text) | Self::Starts(text) | Self::Ends(text) => text,
            Self::ContainsIgnoringCase(part) => {
                return matches!(other, Self::ContainsIgnoringCase(wanted) if part.contains(wanted.as_str()));
            }
            Self::Matches(pattern) => return pattern.demands.iter().any(|demand| demand.implies_test(other)),
        };
        match (self, other) {
            (_, Self::Contains(part)) => literal.contains(part.as_str()),
            // Outside of ASCII, lowercase depends on adjacent characters.
            (_, Self::ContainsIgnoringCase(part)) => {
                literal.is_ascii() && literal.to_ascii_lowercase().contains(part.as_str())
            }
            (Self::Starts(_), Self::Starts(start)) => literal.starts_with(start.as_str()),
            (Self::Ends(_), Self::Ends(end)) => literal.ends_with(end.as_str()),
            _ => false,
        }
    }

    fn excludes_test(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Starts(a), Self::Starts(b)) => !a.starts_with(b.as_str()) && !b.starts_with(a.as_str()),
            (Self::Ends(a), Self::Ends(b)) => !a.ends_with(b.as_str()) && !b.ends_with(a.as_str()),
            (Self::Matches(pattern), other) | (other, Self::Matches(pattern)) => {
                pattern.demands.iter().any(|demand| !matches!(demand, Self::Matches(_)) && demand.excludes_test(other))
            }
            _ => false,
        }
    }
}

/// A set of texts. Separate tests may restrict it further.
#[derive(Debug, Clone, PartialEq)]
pub enum TextSet {
    /// Only these texts.
    Only(BTreeSet<String>),
    /// All texts except these.
    Except(BTreeSet<String>),
}

impl TextSet {
    /// Returns the empty set.
    #[must_use]
    pub fn empty_set() -> Self {
        Self::Only(BTreeSet::new())
    }

    /// Returns the set of all texts.
    #[must_use]
    pub fn full_set() -> Self {
        Self::Except(BTreeSet::new())
    }

    /// Returns the texts in both sets.
    #[must_use]
    pub fn intersect_with(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Only(a), Self::Only(b)) => Self::Only(a.intersection(b).cloned().collect()),
            (Self::Only(only), Self::Except(except)) | (Self::Except(except), Self::Only(only)) => {
                Self::Only(only.difference(except).cloned().collect())
            }
            (Self::Except(a), Self::Except(b)) => Self::Except(a.union(b).cloned().collect()),
        }
    }

    /// Returns all other texts.
    #[must_use]
    pub fn complement(&self) -> Self {
        match self {
            Self::Only(texts) => Self::Except(texts.clone()),
            Self::Except(texts) => Self::Only(texts.clone()),
        }
    }

    /// Returns true if certainly no text passes all tests.
    #[must_use]
    pub fn is_empty(&self, tests: &[(TextTest, bool)]) -> bool {
        match self {
            Self::Only(texts) => {
                !texts.iter().any(|text| tests.iter().all(|(test, wanted)| test.accepts_text(text) == *wanted))
            }
            Self::Except(_) => tests_clash(tests),
        }
    }

    /// Returns some text of the set that passes the tests, if one is easily found.
    #[must_use]
    pub fn pick_text(&self, tests: &[(TextTest, bool)]) -> Option<String> {
        let fits = |text: &String| tests.iter().all(|(test, wanted)| test.accepts_text(text) == *wanted);
        match self {
            Self::Only(texts) => texts.iter().find(|text| fits(text)).cloned(),
            Self::Except(except) => {
                candidate_texts(tests).into_iter().find(|text| !except.contains(text) && fits(text))
            }
        }
    }
}

fn tests_clash(tests: &[(TextTest, bool)]) -> bool {
    tests.iter().enumerate().any(|(index, (a, a_wanted))| {
        tests.iter().skip(index.saturating_add(1)).any(|(b, b_wanted)| match (a_wanted, b_wanted) {
            (true, true) => a.excludes_test(b),
            (true, false) => a.implies_test(b),
            (false, true) => b.implies_test(a),
            (false, false) => false,
        })
    })
}

fn candidate_texts(tests: &[(TextTest, bool)]) -> Vec<String> {
    let (mut start, mut middle, mut end) = (String::new(), String::new(), String::new());
    for (test, _) in tests.iter().filter(|(_, wanted)| *wanted) {
        match test {
            TextTest::Contains(text) | TextTest::ContainsIgnoringCase(text) => middle.push_str(text),
            TextTest::Starts(text) if text.len() > start.len() => start.clone_from(text),
            TextTest::Ends(text) if text.len() > end.len() => end.clone_from(text),
            _ => {}
        }
    }
    let joined = format!("{start}{middle}{end}");
    let mut found = vec![joined.clone()];
    found.extend(["text", "a", "1", "other"].map(|word| format!("{start}{middle}{word}{end}")));
    found.push(String::new());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> TextTest {
        TextTest::Matches(Rc::new(RegexPattern::new(text, text).unwrap()))
    }

    fn contains(text: &str) -> TextTest {
        TextTest::Contains(text.to_owned())
    }

    #[test]
    fn tests_that_cannot_both_hold_are_known() {
        let all = TextSet::full_set();
        let starts = |text: &str| TextTest::Starts(text.to_owned());
        assert!(all.is_empty(&[(starts("ab"), true), (starts("b"), true)]));
        assert!(!all.is_empty(&[(starts("ab"), true), (starts("a"), true)]));
        assert!(all.is_empty(&[(contains("refund"), true), (contains("fun"), false)]));
        assert!(!all.is_empty(&[(contains("fun"), true), (contains("refund"), false)]));
        assert!(all.is_empty(&[(pattern("^https://shop"), true), (contains("https"), false)]));
        assert!(all.is_empty(&[(pattern("^https://shop"), true), (starts("ftp"), true)]));
        assert!(!all.is_empty(&[(pattern("https://shop"), true), (starts("ftp"), true)]));
        assert!(!all.is_empty(&[(pattern("(?i)refund"), true), (contains("refund"), false)]));
        assert!(!all.is_empty(&[(pattern("a|b"), true), (contains("a"), false)]));
    }

    #[test]
    fn finite_sets_are_tried_text_by_text() {
        let only = TextSet::Only(["EUR".to_owned(), "USD".to_owned()].into());
        assert!(only.is_empty(&[(pattern("^G"), true)]));
        assert_eq!(only.pick_text(&[(contains("S"), true)]).as_deref(), Some("USD"));
        assert_eq!(
            TextSet::full_set().pick_text(&[(contains("x"), true), (contains("y"), false)]).as_deref(),
            Some("x")
        );
    }
}
