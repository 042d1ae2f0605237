//! Texts in the rules that no value of a run is or holds, while some value nearly does: `note == "Evil Corp"` beside `gift for Evil Corp`, and
//! `contains "Password"` beside `password`. The answer of such a test is right, and rarely what was meant.

use super::near_regexes::asked_words;
use super::prepare::PreparedProgram;
use super::temporal::names::NameMatcher;
use super::why::near_keys::{NameCategory, NearKeys};
use crate::bytecode::ops::Op;
use crate::bytecode::program::Program;
use aho_corasick::AhoCorasick;
use averment_base::source::Span;
use averment_base::value::{Number, Value};
use averment_builtins::token::mentions_text;
use averment_checker::ir::{Constant, NameTest};
use averment_runs::run::{Run, StepKind};
use averment_syntax::ast::TestKind;
use std::collections::BTreeSet;

/// Bytes; longer texts are no names of anything, and longer values are not looked through.
const LONGEST_WANTED: usize = 80;
pub(in crate::vm) const LONGEST_VALUE: usize = 64 << 10;
/// Letters; shorter words stand in many texts by chance.
pub(in crate::vm) const SHORTEST: usize = 4;
/// Words of a text that is no single name or state.
const PROSE_WORDS: usize = 3;

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
    let is_mentioned = mentions_text(&folded, &small);
    if is_equality(kind) {
        let is_mentioned = is_mentioned && (is_phrase(wanted) || is_prose(value));
        return (value != wanted && (is_mentioned || is_joined(&folded, &small))).then_some(NameCategory::Part);
    }
    if is_mentioned {
        return (is_mixed(wanted) && value.len() >= wanted.len()).then_some(NameCategory::LetterCase);
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
fn is_asked(kind: TestKind, wanted: &str) -> bool {
    let plain = wanted.len() <= LONGEST_WANTED && wanted.chars().all(|sign| !sign.is_control());
    plain
        && match kind {
            TestKind::Equal | TestKind::Identical => letter_count(wanted) >= 3,
            TestKind::Contains | TestKind::StartsWith | TestKind::EndsWith => {
                letter_count(wanted) >= if wanted.contains('"') { 2 } else { SHORTEST }
            }
            _ => false,
        }
}

/// `score >= 50%` where the score is 40: a percent is a hundredth.
pub(in crate::vm) fn share_beside_number(seen: &SeenTest<'_, '_>) -> TextNearness {
    let is_above = matches!(seen.kind, TestKind::Greater | TestKind::GreaterOrEqual);
    let (Value::Number(value), Value::Number(share)) = (seen.value, seen.operand) else { return TextNearness::Far };
    let one = Number::Integer(1);
    if !is_above || !seen.rule_text.ends_with('%') || share.compare(one).is_gt() {
        return TextNearness::Far;
    }
    let written = seen.rule_text.to_owned();
    if value.compare(one).is_gt() {
        TextNearness::Near(NameCategory::Percent, written)
    } else {
        TextNearness::Met(written)
    }
}

/// The texts of rules, looked for in the text of a run before that is evaluated for them.
#[derive(Debug, Default)]
pub struct AskedTexts {
    /// A word that stands wherever a text of the rules nearly does, with that text.
    words: Vec<(String, String)>,
    finder: Option<AhoCorasick>,
    /// What every run may nearly have.
    always: BTreeSet<String>,
}

impl AskedTexts {
    /// The texts that conditions and patterns of the programs look for.
    #[must_use]
    pub fn of_programs(programs: &[Program]) -> Self {
        let (mut words, mut always) = (BTreeSet::new(), BTreeSet::new());
        for program in programs {
            let of_steps = step_texts(program).chain(command_texts(program).map(|(text, _)| text));
            let asked = asked_texts(program).chain(of_steps.filter_map(|text| asked_text(TestKind::Contains, text)));
            words.extend(asked.chain(texts_in_front(program)));
            words.extend(
                program
                    .regexes
                    .iter()
                    .flat_map(|regex| asked_words(regex).into_iter().map(|word| (word, regex.text.clone()))),
            );
            always.extend(shares(program));
        }
        let words: Vec<(String, String)> = words.into_iter().collect();
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(words.iter().map(|(word, _)| word)).ok();
        Self { finder: finder.filter(|_| !words.is_empty()), words, always }
    }

    /// The words by which a text or regular expression of the rules is found.
    pub fn words_of<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.words.iter().filter(move |(_, of)| of == text).map(|(word, _)| word.as_str())
    }

    /// True if a text that `is_open` says is still looked for may stand in the run, in any letter case.
    pub fn stand_in(&self, run: &str, mut is_open: impl FnMut(&str) -> bool) -> bool {
        if self.always.iter().any(|share| is_open(share)) {
            return true;
        }
        let Some(finder) = &self.finder else { return false };
        let mut found =
            finder.find_overlapping_iter(run).filter_map(|found| self.words.get(found.pattern().as_usize()));
        found.any(|(_, text)| is_open(text))
    }
}

/// A text with its longest word, by which it is found in the text of a run however that is escaped.
fn asked_text(kind: TestKind, text: &str) -> Option<(String, String)> {
    let plain = text.split_once("://").map_or(text, |(_, rest)| rest);
    let words = plain.split(|sign: char| !sign.is_alphanumeric());
    let word = words.max_by_key(|word| word.len()).filter(|word| word.len() > 1 && is_asked(kind, text))?;
    Some((word.to_owned(), text.to_owned()))
}

/// How each text of a list is looked for.
pub(in crate::vm) fn kind_of_items(kind: TestKind) -> Option<TestKind> {
    match kind {
        TestKind::In => Some(TestKind::Equal),
        TestKind::ContainsAny | TestKind::ContainsAll | TestKind::ContainsNone => Some(TestKind::Contains),
        _ => None,
    }
}

fn asked_texts(program: &Program) -> impl Iterator<Item = (String, String)> {
    let of_literal = |ops: &[Op]| {
        let &[Op::Constant(literal), Op::Test(kind, _)] = ops else { return Vec::new() };
        match program.constants.get(literal.0 as usize) {
            Some(Constant::Text(text)) => asked_text(kind, text).into_iter().collect(),
            Some(Constant::List(items)) => {
                let Some(kind) = kind_of_items(kind) else { return Vec::new() };
                let texts = items.iter().filter_map(|item| match item {
                    Constant::Text(text) => asked_text(kind, text),
                    _ => None,
                });
                texts.collect()
            }
            _ => Vec::new(),
        }
    };
    program.code.windows(2).flat_map(of_literal)
}

/// The literal in front of the path of a test: of `"Risk" in args.tags`.
pub(in crate::vm) fn literal_in_front(program: &Program, test: usize) -> Option<usize> {
    let mut at = test.checked_sub(1)?;
    while matches!(program.code.get(at)?, Op::Field(..) | Op::Every(_) | Op::Deep(_)) {
        at = at.checked_sub(1)?;
    }
    let is_base = matches!(
        program.code.get(at)?,
        Op::Root(_) | Op::StepField(_) | Op::StepOrRoot(_) | Op::StepOwn(_) | Op::Local(_) | Op::Let(_)
    );
    let literal = at.checked_sub(1).filter(|_| is_base)?;
    matches!(program.code.get(literal)?, Op::Constant(_)).then_some(literal)
}

/// Texts that are looked for in lists of a run.
fn texts_in_front(program: &Program) -> impl Iterator<Item = (String, String)> {
    let tests = program.code.iter().enumerate().filter(|(_, op)| matches!(op, Op::Test(TestKind::In, _)));
    let literals = tests.filter_map(|(at, _)| program.code.get(literal_in_front(program, at)?));
    literals.filter_map(|op| match op {
        Op::Constant(literal) => match program.constants.get(literal.0 as usize)? {
            Constant::Text(text) => asked_text(TestKind::Equal, text),
            _ => None,
        },
        _ => None,
    })
}

/// Texts that patterns look for in the names of steps: in command lines and addresses.
fn step_texts(program: &Program) -> impl Iterator<Item = &str> {
    let all = program.patterns.iter().flat_map(|pattern| &pattern.alternatives);
    all.filter_map(|one| match &one.name {
        NameTest::Contains(text) => Some(text.as_str()),
        _ => None,
    })
}

/// Texts that patterns look for as programs with their words: of `command "DROP TABLE"`.
fn command_texts(program: &Program) -> impl Iterator<Item = (&str, Span)> {
    let is_command = |name: u32| program.names.get(name as usize).is_some_and(|name| name == "runs_command");
    let calls = program.code.windows(4).zip(&program.spans);
    calls.filter_map(move |(ops, span)| match ops {
        [Op::StepField(_), Op::Constant(literal), Op::StepField(_), Op::Call(name, _)] if is_command(name.0) => {
            match program.constants.get(literal.0 as usize)? {
                Constant::Text(text) => Some((text.as_str(), *span)),
                _ => None,
            }
        }
        _ => None,
    })
}

/// Shares in percent that numbers are compared with.
fn shares(program: &Program) -> impl Iterator<Item = String> {
    let tests = program.code.windows(2).zip(&program.spans);
    tests.filter_map(|(ops, span)| match ops {
        [Op::Constant(_), Op::Test(TestKind::Greater | TestKind::GreaterOrEqual, _)] => {
            let text = program.sources.get(span.file.0 as usize)?.text.get(span.as_range())?;
            text.ends_with('%').then(|| text.to_owned())
        }
        _ => None,
    })
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
