//! Regular expressions that no value matches, while some value would in another letter case: `/error/` beside `Error`.

use super::near_texts::{SHORTEST, SHORTEST_CASED, is_mixed};
use crate::bytecode::program::Program;
use averment_checker::ir::RegexSource;
use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::sync::OnceLock;

/// Bytes of a regular expression that is built a second time.
const LARGEST: usize = 1 << 20;
/// Words by which a regular expression is found in the text of a run.
const MOST: usize = 64;

/// The regular expressions of a program without letter case, each built when it is first asked for.
#[derive(Debug, Default)]
pub(in crate::vm) struct FoldedRegexes(Vec<OnceLock<Option<Regex>>>);

impl FoldedRegexes {
    pub(in crate::vm) fn of_program(program: &Program) -> Self {
        Self(program.regexes.iter().map(|_| OnceLock::new()).collect())
    }

    /// `None` where another letter case would be no sign of a slip.
    pub(in crate::vm) fn regex(&self, number: u32, source: &RegexSource) -> Option<&Regex> {
        self.0.get(number as usize)?.get_or_init(|| folded_regex(source)).as_ref()
    }
}

fn folded_regex(regex: &RegexSource) -> Option<Regex> {
    if asked_words(regex).is_empty() {
        return None;
    }
    RegexBuilder::new(&regex.pattern).case_insensitive(true).size_limit(LARGEST).build().ok()
}

/// Words of which one stands, in some letter case, in whatever the expression nearly matches. None where the author thought of letter case: with
/// the flag `i`, a class of capitals, or words in capitals.
pub(super) fn asked_words(regex: &RegexSource) -> Vec<String> {
    if regex.backtracks || is_folded(&regex.pattern) || is_location_glob(regex) {
        return Vec::new();
    }
    let mut words = Vec::new();
    let Ok(tree) = regex.pattern.parsed() else { return words };
    // A word beside classes and choices is a short sign more often than a word: `/xox[bp]-/`.
    let shortest = if matches!(tree.kind(), HirKind::Literal(_)) { SHORTEST_CASED } else { SHORTEST };
    if !add_words(tree, shortest, &mut words) || !is_mixed(&regex.text) {
        return Vec::new();
    }
    words.sort_unstable();
    words.dedup();
    words.truncate(MOST);
    words
}

/// Flags stand in front.
fn is_folded(pattern: &str) -> bool {
    let flags = pattern.strip_prefix("(?").and_then(|rest| rest.split_once([')', ':']));
    flags.is_some_and(|(flags, _)| flags.split('-').next().unwrap_or_default().contains('i'))
}

/// A glob from the root of the file system, which the checker turned into an expression.
pub(super) fn is_location_glob(regex: &RegexSource) -> bool {
    regex.pattern.starts_with("(?s)^") && regex.pattern.ends_with("/?$") && !regex.text.starts_with("/^")
}

/// False where a class has a capital without its small letter. The tree is as deep as the parser allows.
fn add_words(tree: &Hir, shortest: usize, words: &mut Vec<String>) -> bool {
    match tree.kind() {
        HirKind::Literal(literal) => {
            let text = String::from_utf8_lossy(&literal.0);
            let long = text
                .split(|sign: char| !sign.is_alphanumeric())
                .filter(|word| word.chars().filter(|sign| sign.is_alphabetic()).count() >= shortest);
            words.extend(long.take(MOST).map(str::to_owned));
            true
        }
        HirKind::Class(class) => !has_lone_capital(class),
        HirKind::Repetition(repeated) => repeated.min == 0 || add_words(&repeated.sub, shortest, words),
        HirKind::Capture(capture) => add_words(&capture.sub, shortest, words),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().all(|part| add_words(part, shortest, words))
        }
        HirKind::Empty | HirKind::Look(_) => true,
    }
}

fn has_lone_capital(class: &Class) -> bool {
    let holds = |letter: u8| match class {
        Class::Unicode(class) => class.iter().any(|range| (range.start()..=range.end()).contains(&char::from(letter))),
        Class::Bytes(class) => class.iter().any(|range| (range.start()..=range.end()).contains(&letter)),
    };
    (b'A'..=b'Z').any(|capital| holds(capital) && !holds(capital.to_ascii_lowercase()))
}
