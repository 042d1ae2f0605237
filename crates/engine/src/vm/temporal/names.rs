//! From the kind and name of a step to the alternatives of patterns that may match it.

use super::plan::{UniquePattern, UniquePatternId};
use crate::vm::prepare::PreparedProgram;
use averment_base::value::glob::matches_wildcard;
use averment_checker::ir::NameTest;
use averment_runs::run::StepKind;
use globset::{GlobBuilder, GlobMatcher};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AlternativeRef {
    pub(super) unique: UniquePatternId,
    pub(super) alternative: u16,
}

/// The alternatives of a step, in order: most steps have few.
pub(super) type AlternativeRefs = SmallVec<[AlternativeRef; 4]>;

/// Name tests by kind. Exact names cost one look-up, however many patterns there are.
#[derive(Debug, Default)]
pub(super) struct NameIndex {
    kinds: [NamesOfKind; StepKind::ALL.len()],
}

#[derive(Debug, Default)]
struct NamesOfKind {
    exact: FxHashMap<String, Vec<AlternativeRef>>,
    any: Vec<AlternativeRef>,
    tests: Vec<(NameMatcher, AlternativeRef)>,
}

#[derive(Debug)]
pub(in crate::vm) enum NameMatcher {
    Any,
    OneOf(Vec<String>),
    Glob(String),
    Path(Option<Box<GlobMatcher>>),
    Contains(String),
    /// A text in a URL, whose host has no letter case.
    Url(regex::Regex),
    Regex(u32),
}

impl NameIndex {
    pub(super) fn new(unique_patterns: &[UniquePattern]) -> Self {
        let mut table = Self::default();
        for (number, unique) in (0..).zip(unique_patterns) {
            for (alternative, test) in (0..).zip(&unique.alternatives) {
                let at = AlternativeRef { unique: UniquePatternId(number), alternative };
                if let Some(names) = table.kinds.get_mut(test.kind as usize) {
                    names.add_test(test.kind, &test.name, at);
                }
            }
        }
        table
    }

    /// True if more than one look-up tells which alternatives a name of the kind has.
    pub(super) fn has_tests(&self, kind: StepKind) -> bool {
        self.kinds.get(kind as usize).is_some_and(|names| !names.tests.is_empty())
    }

    /// The alternatives of a name where one look-up tells them; `None` where names of the kind are tested.
    pub(super) fn exact_alternatives(&self, kind: StepKind, name: &str) -> Option<&[AlternativeRef]> {
        let names = self.kinds.get(kind as usize).filter(|names| names.any.is_empty() && names.tests.is_empty())?;
        // They were added in order.
        Some(names.exact.get(name).map_or(&[], Vec::as_slice))
    }

    pub(super) fn matching_alternatives(
        &self,
        kind: StepKind,
        name: &str,
        prepared: &PreparedProgram,
    ) -> AlternativeRefs {
        let Some(names) = self.kinds.get(kind as usize) else { return AlternativeRefs::new() };
        let mut found = AlternativeRefs::from_slice(&names.any);
        found.extend(names.exact.get(name).into_iter().flatten().copied());
        found.extend(names.tests.iter().filter(|(test, _)| test.matches_name(name, prepared)).map(|(_, at)| *at));
        found.sort_unstable();
        found
    }
}

impl NamesOfKind {
    fn add_test(&mut self, kind: StepKind, test: &NameTest, at: AlternativeRef) {
        match test {
            NameTest::Any => self.any.push(at),
            NameTest::Exactly(name) => self.exact.entry(name.clone()).or_default().push(at),
            NameTest::OneOf(names) => {
                let mut names: Vec<&String> = names.iter().collect();
                names.sort_unstable();
                names.dedup();
                names.into_iter().for_each(|name| self.exact.entry(name.clone()).or_default().push(at));
            }
            NameTest::Glob(_) | NameTest::PathGlob(_) | NameTest::Contains(_) | NameTest::Matches(_) => {
                self.tests.push((NameMatcher::from_test(kind, test), at));
            }
        }
    }
}

impl NameMatcher {
    pub(in crate::vm) fn from_test(kind: StepKind, test: &NameTest) -> Self {
        match test {
            NameTest::Any => Self::Any,
            NameTest::Exactly(name) => Self::OneOf(vec![name.clone()]),
            NameTest::OneOf(names) => Self::OneOf(names.clone()),
            NameTest::Glob(glob) => Self::Glob(glob.clone()),
            NameTest::PathGlob(glob) => Self::Path(path_glob(glob, false).map(Box::new)),
            NameTest::Contains(part) => {
                let url = (kind == StepKind::Http).then(|| url_part(part)).flatten();
                url.map_or_else(|| Self::Contains(part.clone()), Self::Url)
            }
            NameTest::Matches(regex) => Self::Regex(*regex),
        }
    }

    pub(in crate::vm) fn matches_name(&self, name: &str, prepared: &PreparedProgram) -> bool {
        match self {
            Self::Any => true,
            Self::OneOf(names) => names.iter().any(|one| one == name),
            Self::Glob(glob) => matches_wildcard(glob, name),
            // A folder may be written with a `/` behind it.
            Self::Path(glob) => glob.as_ref().is_some_and(|glob| {
                glob.is_match(name) || name.strip_suffix('/').is_some_and(|folder| glob.is_match(folder))
            }),
            Self::Contains(part) => memchr::memmem::find(name.as_bytes(), part.as_bytes()).is_some(),
            Self::Url(part) => part.is_match(name),
            Self::Regex(number) => prepared.linear_regex(*number).is_some_and(|regex| regex.is_match(name)),
        }
    }
}

/// Finds a text in a URL, with the scheme and the host in any letter case; `None` if the text names no host.
fn url_part(text: &str) -> Option<regex::Regex> {
    let after_scheme = text.find("://").map_or(0, |at| at.saturating_add(3));
    let rest = text.get(after_scheme..)?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len()).saturating_add(after_scheme);
    let (host, path) = text.split_at_checked(end)?;
    let names_host = (host.contains('.') || after_scheme > 0) && host.contains(char::is_alphabetic);
    let pattern = format!("(?i:{}){}", regex_syntax::escape(host), regex_syntax::escape(path));
    if names_host { regex::Regex::new(&pattern).ok() } else { None }
}

/// Matches a whole path or a suffix at a folder boundary; the checker has rejected invalid globs.
pub(in crate::vm) fn path_glob(glob: &str, any_case: bool) -> Option<GlobMatcher> {
    let anywhere =
        if glob.starts_with('/') || glob.starts_with("**/") { glob.to_owned() } else { format!("**/{glob}") };
    let built = GlobBuilder::new(&anywhere).literal_separator(true).case_insensitive(any_case).build();
    built.ok().map(|glob| glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_no_letter_case() {
        for (text, url, expected) in [
            ("evil.com", "https://EVIL.com/x", true),
            ("Evil.com/a", "https://evil.COM/a", true),
            ("evil.com/a", "https://evil.com/A", false),
            ("HTTPS://evil.com", "https://evil.com/", true),
        ] {
            assert_eq!(url_part(text).unwrap().is_match(url), expected, "{text} {url}");
        }
        assert!(url_part("/admin").is_none() && url_part("admin?q=a.b").is_none());
    }

    #[test]
    fn path_globs_match_ends_that_start_at_a_folder() {
        for (glob, path, expected) in [
            ("src/**", "src/a/b.rs", true),
            ("src/**", "/work/src/a.rs", true),
            ("src/**", "mysrc/a.rs", false),
            ("**/SKILL.md", "SKILL.md", true),
            ("**/SKILL.md", "/x/y/SKILL.md", true),
            ("*.md", "docs/readme.md", true),
            ("docs/*.md", "docs/a/readme.md", false),
            ("/etc/*", "/etc/passwd", true),
            ("/etc/*", "/x/etc/passwd", false),
        ] {
            assert_eq!(path_glob(glob, false).unwrap().is_match(path), expected, "{glob} {path}");
        }
    }
}
