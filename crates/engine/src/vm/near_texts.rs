//! Texts in the rules that no value of a run is or holds, while some value nearly does: `note == "Evil Corp"` beside `gift for Evil Corp`, and
//! `contains "Password"` beside `password`. The answer of such a test is right, and rarely what was meant.

use super::asked_texts::command_texts;
use super::prepare::PreparedProgram;
use super::temporal::names::NameMatcher;
use super::why::near_keys::{NameCategory, NearKeys};
use crate::bytecode::program::Program;
use averment_base::near::{self, NearMiss};
use averment_base::value::{Number, Value};
use averment_builtins::token::mentions_text;
use averment_checker::ir::NameTest;
use averment_runs::run::{Run, StepKind};
use averment_syntax::ast::TestKind;

/// Bytes; longer texts are no names of anything, and longer values are not looked through.
const LONGEST_WANTED: usize = 80;
pub(in crate::vm) const LONGEST_VALUE: usize = 64 << 10;
/// Letters; shorter words stand in many texts by chance.
pub(in crate::vm) const SHORTEST: usize = 4;
/// Letters of a text that is looked for in another letter case; its word stands as a whole there.
pub(in crate::vm) const SHORTEST_CASED: usize = 3;
/// Words of a text that is no single name or state.
const PROSE_WORDS: usize = 3;
/// Bytes of a name of a set, such as a status.
const LONGEST_NAME: usize = 32;

/// A test of a value, and its answer.
pub(in crate::vm) struct SeenTest<'v, 'run> {
    pub(in crate::vm) kind: TestKind,
    pub(in crate::vm) value: Value<'run>,
    pub(in crate::vm) operand: Value<'run>,
    pub(in crate::vm) holds: bool,
    pub(in crate::vm) rule_text: &'v str,
}

/// A test of a text with a literal, and its answer.
pub(in crate::vm) struct SeenText<'v> {
    pub(in crate::vm) kind: TestKind,
    pub(in crate::vm) value: &'v str,
    pub(in crate::vm) wanted: &'v str,
    pub(in crate::vm) holds: bool,
}

/// How near a value is to what a rule looks for, with that as it is written.
pub(in crate::vm) enum TextNearness {
    Far,
    Met(String),
    Near(NameCategory, String),
}

/// What a run has in place of a text that a test looked for.
pub(in crate::vm) fn near_text(seen: &SeenText<'_>) -> TextNearness {
    let SeenText { kind, value, wanted, holds } = *seen;
    if !is_asked(kind, wanted) {
        return TextNearness::Far;
    }
    if holds {
        return TextNearness::Met(wanted.to_owned());
    }
    let near = (value.len() <= LONGEST_VALUE).then(|| nearness(kind, value, wanted)).flatten();
    near.map_or(TextNearness::Far, |what| TextNearness::Near(what, wanted.to_owned()))
}

fn nearness(kind: TestKind, value: &str, wanted: &str) -> Option<NameCategory> {
    let (folded, small) = (value.to_lowercase(), wanted.to_lowercase());
    if other_scheme(&small).is_some_and(|other| folded.contains(&other)) {
        return Some(NameCategory::Scheme);
    }
    let is_mentioned = mentions_text(&folded, &small) || !is_equality(kind) && stands_as_word(&folded, &small);
    if is_equality(kind) {
        let is_mentioned = is_mentioned && (is_phrase(wanted) || is_prose(value));
        // What `@shop.example` is compared with ends so: its own sign joins it.
        let is_part = is_mentioned || is_joined(&folded, small.trim_matches(['@', '.', '-', '/', '#', ':']));
        return match () {
            () if value == wanted => None,
            () if is_part => Some(NameCategory::Part),
            () => is_misspelt_value(wanted, value).then_some(NameCategory::Value),
        };
    }
    if is_mentioned {
        return match kind {
            TestKind::StartsWith if mentions_text(value, wanted) => Some(NameCategory::NotAtStart),
            TestKind::EndsWith if mentions_text(value, wanted) => Some(NameCategory::NotAtEnd),
            TestKind::StartsWith if !folded.starts_with(&small) => None,
            TestKind::EndsWith if !folded.ends_with(&small) => None,
            _ => (letter_count(wanted) >= SHORTEST_CASED && is_mixed(wanted) && value.len() >= wanted.len())
                .then_some(NameCategory::LetterCase),
        };
    }
    if letter_count(wanted) < SHORTEST && !wanted.contains('"') {
        return None;
    }
    // Most values lack a word of it: then nothing has to be written anew.
    if !small.split(|sign: char| !sign.is_alphanumeric()).all(|word| folded.contains(word)) {
        return None;
    }
    let is_spaced = wanted.contains([' ', '"', ':']) && without_spaces(value).contains(&without_spaces(wanted));
    let is_optioned = wanted.contains(' ') && without_options(value).contains(wanted);
    match () {
        () if is_spaced => Some(NameCategory::WhiteSpace),
        () if is_optioned => Some(NameCategory::Options),
        () => None,
    }
}

/// A word between other signs: `ann` in `ann@shop.example`, and `@shop` there, because its own sign separates it.
fn stands_as_word(value: &str, word: &str) -> bool {
    let is_edge = |inside: Option<char>, outside: Option<char>| {
        ![inside, outside].iter().all(|sign| sign.is_some_and(char::is_alphanumeric))
    };
    value.match_indices(word).any(|(at, _)| {
        let (before, rest) = value.split_at_checked(at).unwrap_or_default();
        let behind = rest.get(word.len()..).and_then(|rest| rest.chars().next());
        is_edge(word.chars().next(), before.chars().next_back()) && is_edge(word.chars().next_back(), behind)
    })
}

/// True if a value that is compared as a whole is a literal with a typo: `open` beside `"opne"`. Numbered names (`gpt-4`, `gpt-4o`) and sentences are
/// excluded, because different ones often differ by a letter.
pub(super) fn is_misspelt_value(wanted: &str, value: &str) -> bool {
    let is_typo = || near::near_miss(wanted, value) == Some(NearMiss::Slip) || near::is_other_number(wanted, value);
    is_plain_name(wanted) && is_plain_name(value) && is_typo()
}

/// A word of a set, such as a status or a category: one or two words of letters.
pub(super) fn is_plain_name(text: &str) -> bool {
    let is_of_name = |sign: char| sign.is_alphabetic() || matches!(sign, '_' | '-' | ' ');
    text.len() <= LONGEST_NAME
        && letter_count(text) >= SHORTEST
        && text.chars().all(is_of_name)
        && text.split(' ').count() < PROSE_WORDS
}

/// A command line without what begins with `-`.
fn without_options(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !(word.len() > 1 && word.starts_with('-')));
    words.collect::<Vec<_>>().join(" ")
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|sign| !sign.is_whitespace()).collect()
}

/// The same address under the other scheme; `None` where no host is named.
fn other_scheme(wanted: &str) -> Option<String> {
    let (rest, other) = match wanted.strip_prefix("https://") {
        Some(rest) => (rest, "http://"),
        None => (wanted.strip_prefix("http://")?, "https://"),
    };
    rest.starts_with(char::is_alphanumeric).then(|| format!("{other}{rest}"))
}

fn is_equality(kind: TestKind) -> bool {
    matches!(kind, TestKind::Equal | TestKind::Identical)
}

fn letter_count(text: &str) -> usize {
    text.chars().filter(|sign| sign.is_alphabetic()).count()
}

/// More than a word. A word alone also stands in other words' company: `ok` in `not ok`.
fn is_phrase(wanted: &str) -> bool {
    letter_count(wanted) >= 3 && wanted.chars().any(|sign| !sign.is_alphabetic() && sign != '_')
}

/// Sentences, in which a word is a part: they are no member of a set of words.
fn is_prose(value: &str) -> bool {
    value.split_whitespace().count() >= PROSE_WORDS || value.contains(": ")
}

/// A part of a name of several: `prod` in `prod-eu`, `latest` in `x@latest`.
fn is_joined(value: &str, wanted: &str) -> bool {
    let joins = |sign: Option<char>| sign.is_some_and(|sign| "@-:/#.".contains(sign));
    let stands = |(at, _): (usize, &str)| {
        let (before, rest) = value.split_at_checked(at).unwrap_or_default();
        let behind = rest.get(wanted.len()..).unwrap_or_default();
        let (before, behind) = (before.chars().next_back(), behind.chars().next());
        let ends = [before, behind].into_iter().flatten().all(|sign| !sign.is_alphanumeric());
        ends && (joins(before) || joins(behind))
    };
    letter_count(wanted) >= SHORTEST && value.match_indices(wanted).any(stands)
}

/// A single word in capitals is meant so; several are a statement of another language, such as `DROP TABLE`.
pub(in crate::vm) fn is_mixed(wanted: &str) -> bool {
    wanted.chars().any(char::is_lowercase) || wanted.trim().contains(char::is_whitespace)
}

/// Whether a near text would be a sign of a slip.
pub(super) fn is_asked(kind: TestKind, wanted: &str) -> bool {
    let plain = wanted.len() <= LONGEST_WANTED && wanted.chars().all(|sign| !sign.is_control());
    plain
        && match kind {
            TestKind::Equal | TestKind::Identical => letter_count(wanted) >= 3,
            TestKind::StartsWith | TestKind::EndsWith => letter_count(wanted) >= 2,
            TestKind::Contains => letter_count(wanted) >= if wanted.contains('"') { 2 } else { SHORTEST_CASED },
            _ => false,
        }
}

/// Endings of names whose values are shares.
const SHARE_NAMES: &[&str] =
    &["rate", "score", "percent", "pct", "share", "ratio", "confidence", "accuracy", "coverage", "probability"];

/// Whether a number of the rules is a share of 1: a percent, or `0.8` beside a field whose name says so. Any other `0.8` may be an amount.
pub(super) fn is_share(written: &str, field: Option<&str>) -> bool {
    let is_decimal = written.strip_prefix("0.").is_some_and(|rest| rest.bytes().all(|sign| sign.is_ascii_digit()));
    let field = field.unwrap_or_default().to_ascii_lowercase();
    written.ends_with('%') || is_decimal && SHARE_NAMES.iter().any(|ending| field.ends_with(ending))
}

pub(super) fn is_order(kind: TestKind) -> bool {
    matches!(kind, TestKind::Greater | TestKind::GreaterOrEqual | TestKind::Less | TestKind::LessOrEqual)
}

/// `score >= 50%` where the score is 40: a percent is a hundredth. `field` is the last name of the path that is compared.
pub(in crate::vm) fn share_beside_number(seen: &SeenTest<'_, '_>, field: Option<&str>) -> TextNearness {
    let (Value::Number(value), Value::Number(share)) = (seen.value, seen.operand) else { return TextNearness::Far };
    let one = Number::Integer(1);
    if !is_order(seen.kind) || !is_share(seen.rule_text, field) || share.compare(one).is_gt() {
        return TextNearness::Far;
    }
    let written = seen.rule_text.to_owned();
    if value.compare(one).is_gt() {
        TextNearness::Near(NameCategory::Percent, written)
    } else {
        TextNearness::Met(written)
    }
}

/// How each text of a list is looked for.
pub(in crate::vm) fn kind_of_items(kind: TestKind) -> Option<TestKind> {
    match kind {
        TestKind::In => Some(TestKind::Equal),
        TestKind::ContainsAny | TestKind::ContainsAll | TestKind::ContainsNone => Some(TestKind::Contains),
        _ => None,
    }
}

/// What the steps of a run have in place of texts and regular expressions that patterns look for in their names.
pub(in crate::vm) fn near_step_texts(
    program: &Program,
    prepared: &PreparedProgram,
    run: &Run<'_>,
    near: &mut NearKeys,
) {
    for (wanted, span) in command_texts(program) {
        for step in run.steps.iter().filter(|step| step.kind == StepKind::Command) {
            let seen =
                SeenText { kind: TestKind::Contains, value: step.name, wanted, holds: step.name.contains(wanted) };
            // Other spellings of a program with its words are found as such.
            if !matches!(near_text(&seen), TextNearness::Near(what, _) if what != NameCategory::LetterCase) {
                near.note_near(near_text(&seen), span);
            }
        }
    }
    for pattern in &program.patterns {
        for one in &pattern.alternatives {
            if !matches!(one.name, NameTest::Contains(_) | NameTest::Matches(_)) {
                continue;
            }
            let matcher = NameMatcher::from_test(one.kind, &one.name);
            for step in run.steps.iter().filter(|step| step.kind == one.kind) {
                let (value, holds) = (step.name, matcher.matches_name(step.name, prepared));
                match &one.name {
                    NameTest::Contains(wanted) => {
                        let seen = SeenText { kind: TestKind::Contains, value, wanted, holds };
                        near.note_near(near_text(&seen), pattern.span);
                    }
                    NameTest::Matches(number) => near.note_regex(program, *number, value, holds, pattern.span),
                    _ => {}
                }
            }
        }
    }
}
