//! The texts of rules, looked for in the text of a run before that is evaluated for them: most runs have none of them, not even nearly.

use super::near_regexes::asked_words;
use super::near_texts::{is_asked, is_misspelt_value, is_order, is_plain_name, is_share, kind_of_items};
use crate::bytecode::ops::Op;
use crate::bytecode::program::Program;
use aho_corasick::AhoCorasick;
use averment_base::source::Span;
use averment_checker::ir::{Constant, NameTest};
use averment_syntax::ast::TestKind;
use std::collections::BTreeSet;

/// Letters between two words of a text that a run nearly has.
const LONGEST_GAP: usize = 200;

/// The texts that rules look for.
#[derive(Debug, Default)]
pub struct AskedTexts {
    texts: Vec<AskedText>,
    /// Finds the first words of the texts, in their order.
    finder: Option<AhoCorasick>,
    /// What every run may nearly have.
    always: BTreeSet<String>,
    /// Names that values are compared with as a whole, which a run may have with a typo.
    names: BTreeSet<String>,
}

/// A text of the rules, with the words that stand in a run one behind the other wherever the text nearly does, however it is escaped.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct AskedText {
    text: String,
    first: String,
    rest: Vec<String>,
    is_regex: bool,
    /// A name that values are compared with as a whole.
    is_name: bool,
}

impl AskedText {
    fn of_text(kind: TestKind, text: &str) -> Option<Self> {
        let plain = text.split_once("://").map_or(text, |(_, rest)| rest);
        let words = plain.split(|sign: char| !sign.is_alphanumeric()).filter(|word| !word.is_empty());
        // A sign alone stands everywhere.
        let mut words = words.skip_while(|word| word.len() == 1).map(str::to_owned);
        let first = words.next().filter(|_| is_asked(kind, text))?;
        let is_name = kind == TestKind::Equal && is_plain_name(text);
        Some(Self { text: text.to_owned(), first, rest: words.collect(), is_regex: false, is_name })
    }

    /// True if the other words stand behind the first one.
    fn goes_on(&self, behind: &str) -> bool {
        let mut behind = Some(behind);
        for word in &self.rest {
            behind = behind.and_then(|behind| after_word(behind, word));
        }
        behind.is_some()
    }
}

/// What stands behind a word, in any letter case, where only separators, escapes of JSON and options of a command stand in front of it.
fn after_word<'r>(text: &'r str, word: &str) -> Option<&'r str> {
    let (mut before, mut is_option, mut escaped) = ('"', false, 0_u8);
    for (at, sign) in text.char_indices().take(LONGEST_GAP) {
        if !sign.is_alphanumeric() {
            is_option = if sign == '-' { is_option || !before.is_alphanumeric() } else { is_option && sign != ' ' };
        } else {
            let (found, behind) = text.split_at_checked(at)?.1.split_at_checked(word.len()).unwrap_or_default();
            if found.eq_ignore_ascii_case(word) {
                return Some(behind);
            }
            let begins_escape = before == '\\' && "nrtu".contains(sign);
            if !is_option && !begins_escape && escaped == 0 {
                return None;
            }
            escaped = if begins_escape && sign == 'u' { 4 } else { escaped.saturating_sub(1) };
        }
        before = sign;
    }
    None
}

impl AskedTexts {
    /// The texts that conditions and patterns of the programs look for.
    #[must_use]
    pub fn of_programs(programs: &[Program]) -> Self {
        let (mut texts, mut always) = (BTreeSet::new(), BTreeSet::new());
        for program in programs {
            let of_steps = step_texts(program).chain(command_texts(program).map(|(text, _)| text));
            texts.extend(of_steps.filter_map(|text| AskedText::of_text(TestKind::Contains, text)));
            texts.extend(asked_texts(program).chain(texts_in_front(program)));
            for regex in &program.regexes {
                let of_word = |first| AskedText {
                    text: regex.text.clone(),
                    first,
                    rest: Vec::new(),
                    is_regex: true,
                    is_name: false,
                };
                texts.extend(asked_words(regex).into_iter().map(of_word));
            }
            always.extend(shares(program));
        }
        let names = texts.iter().filter(|text: &&AskedText| text.is_name).map(|text| text.text.clone()).collect();
        let texts: Vec<AskedText> = texts.into_iter().collect();
        let words = texts.iter().map(|text| &text.first);
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok();
        Self { finder: finder.filter(|_| !texts.is_empty()), texts, always, names }
    }

    /// The words by which a regular expression of the rules is found.
    pub fn words_of_regex<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t str> {
        self.texts.iter().filter(move |one| one.is_regex && one.text == text).map(|one| one.first.as_str())
    }

    /// True if a text that `is_open` says is still looked for may stand in the run, in any letter case.
    pub fn stand_in(&self, run: &str, mut is_open: impl FnMut(&str) -> bool) -> bool {
        if self.always.iter().any(|share| is_open(share)) {
            return true;
        }
        if self.has_typo(run, &mut is_open) {
            return true;
        }
        let Some(finder) = &self.finder else { return false };
        finder.find_overlapping_iter(run).any(|found| {
            let text = self.texts.get(found.pattern().as_usize());
            let behind = run.get(found.end()..).unwrap_or_default();
            text.is_some_and(|text| text.goes_on(behind) && is_open(&text.text))
        })
    }
}

impl AskedTexts {
    /// True if a text between quotes is a name of the rules with a typo, and no name of them itself.
    fn has_typo(&self, run: &str, is_open: &mut dyn FnMut(&str) -> bool) -> bool {
        if self.names.is_empty() {
            return false;
        }
        let words = run.split('"').filter(|word| is_plain_name(word) && !self.names.contains(*word));
        words.into_iter().any(|word| {
            let first = word.chars().next();
            let alike = self.names.iter().filter(|name| name.chars().next() == first);
            alike.into_iter().any(|name| is_misspelt_value(name, word) && is_open(name))
        })
    }
}

fn asked_texts(program: &Program) -> impl Iterator<Item = AskedText> {
    let of_literal = |ops: &[Op]| {
        let &[Op::Constant(literal), Op::Test(kind, _)] = ops else { return Vec::new() };
        match program.constants.get(literal.0 as usize) {
            Some(Constant::Text(text)) => AskedText::of_text(kind, text).into_iter().collect(),
            Some(Constant::List(items)) => {
                let Some(kind) = kind_of_items(kind) else { return Vec::new() };
                let texts = items.iter().filter_map(|item| match item {
                    Constant::Text(text) => AskedText::of_text(kind, text),
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
fn texts_in_front(program: &Program) -> impl Iterator<Item = AskedText> {
    let tests = program.code.iter().enumerate().filter(|(_, op)| matches!(op, Op::Test(TestKind::In, _)));
    let literals = tests.filter_map(|(at, _)| program.code.get(literal_in_front(program, at)?));
    literals.filter_map(|op| match op {
        Op::Constant(literal) => match program.constants.get(literal.0 as usize)? {
            Constant::Text(text) => AskedText::of_text(TestKind::Equal, text),
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
pub(super) fn command_texts(program: &Program) -> impl Iterator<Item = (&str, Span)> {
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

/// Shares that numbers are compared with.
fn shares(program: &Program) -> impl Iterator<Item = String> {
    program.code.iter().enumerate().skip(1).filter_map(|(at, op)| {
        let literal = at.checked_sub(1)?;
        let is_compared = matches!(op, Op::Test(kind, _) if is_order(*kind));
        let is_literal = matches!(program.code.get(literal)?, Op::Constant(_));
        let span = program.op_span(literal);
        let text = program.source_text(span)?;
        let field = literal.checked_sub(1).and_then(|path| program.key_at(path));
        (is_compared && is_literal && is_share(text, field)).then(|| text.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::{AskedText, TestKind};

    /// Whether a run with these bytes is evaluated for the text.
    fn may_have(text: &str, run: &str) -> bool {
        let asked = AskedText::of_text(TestKind::Contains, text).unwrap();
        let begins =
            |at: usize| run[at..].get(..asked.first.len()).is_some_and(|word| word.eq_ignore_ascii_case(&asked.first));
        (0..run.len())
            .filter(|at| run.is_char_boundary(*at) && begins(*at))
            .any(|at| asked.goes_on(&run[at + asked.first.len()..]))
    }

    #[test]
    fn words_stand_behind_each_other_in_any_writing() {
        let near = [
            ("drop table users", r#"{"command": "DROP\n  Table users"}"#),
            ("drop table", r#"{"text": "drop\u00a0table"}"#),
            ("rm /tmp/build", r#"["rm -r --force /tmp/build"]"#),
            ("rm -rf build", r#"["rm -rf build"]"#),
            (r#""status": "ok""#, r#"{"output": "{\"status\":\"OK\"}"}"#),
            ("https://evil.example/x", "see http://evil.example/x"),
            ("in line", "main line, in main line"),
            ("a secret plan", "Secret plan"),
        ];
        for (text, run) in near {
            assert!(may_have(text, run), "{text} in {run}");
        }
        let far = [("drop table", "drop the table"), ("section currency", "section of currency, currency section")];
        for (text, run) in far {
            assert!(!may_have(text, run), "{text} in {run}");
        }
    }
}
