//! Keys that paths do not find while an object has nearly the same one, and how other near names are told.

use super::evidence::ValueGap;
use crate::bytecode::ops::Op;
use crate::bytecode::program::Program;
use crate::vm::asked_texts::literal_in_front;
use crate::vm::near_regexes::FoldedRegexes;
use crate::vm::near_texts::{
    LONGEST_VALUE, SeenTest, SeenText, TextNearness, kind_of_items, near_text, share_beside_number,
};
use averment_base::near;
use averment_base::source::Span;
use averment_base::value::Value;
use averment_checker::ir::Constant;
use averment_syntax::ast::TestKind;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A name in the rules, and what a run has instead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NearName {
    /// The name in the rules.
    pub wanted: String,
    /// The name in the run.
    pub found: String,
    /// The kind of name.
    pub what: NameCategory,
    /// Where the rules say it.
    pub span: Span,
}

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameCategory {
    /// A tool.
    Tool,
    /// A part of the names of tools.
    ToolText,
    /// A word for something else of a run where the name of a tool stands.
    NoTool,
    /// A key of an object.
    Key,
    /// A file.
    File,
    /// A skill.
    Skill,
    /// An agent.
    Agent,
    /// An agent that is handed over to.
    Handover,
    /// A tag of a tool.
    Tag,
    /// Who says a message.
    Role,
    /// A text that no value is, while some value holds it.
    Part,
    /// A text that no value is, while some value differs from it by a typo.
    Value,
    /// A text that no value holds, while some value holds it in another letter case.
    LetterCase,
    /// A text that no value holds, while some value holds it with other white space.
    WhiteSpace,
    /// A command that no value holds, while some value holds it with options between its words.
    Options,
    /// A text that no value begins with, while some value holds it further in.
    NotAtStart,
    /// A text that no value ends with, while some value holds it further in front.
    NotAtEnd,
    /// An address that no value has, while some value has it under another scheme.
    Scheme,
    /// A share that is compared with a number above 1.
    Percent,
    /// A glob of files that no path matches, while some path leads further down.
    Folder,
    /// A glob from the root that no path matches, while some path without a root ends as the glob does.
    Rooted,
}

impl NameCategory {
    /// The word for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool | Self::ToolText | Self::NoTool => "tool",
            Self::Key => "key",
            Self::File => "path",
            Self::Skill => "skill",
            Self::Agent => "agent",
            Self::Handover => "handover",
            Self::Tag => "tag",
            Self::Role => "role",
            Self::Part | Self::Value | Self::LetterCase | Self::WhiteSpace | Self::Options => "text",
            Self::NotAtStart | Self::NotAtEnd => "text",
            Self::Scheme => "address",
            Self::Percent => "number",
            Self::Folder | Self::Rooted => "path",
        }
    }
}

impl NameCategory {
    /// True for what conditions and globs look for, which is no name: it counts where no run has it.
    #[must_use]
    pub fn is_text(self) -> bool {
        match self {
            Self::Part | Self::Value | Self::LetterCase | Self::WhiteSpace | Self::Scheme => true,
            Self::NotAtStart | Self::NotAtEnd => true,
            Self::Options | Self::Percent | Self::Folder | Self::Rooted => true,
            Self::Tool | Self::ToolText | Self::NoTool | Self::Key | Self::File | Self::Role => false,
            Self::Skill | Self::Agent | Self::Handover | Self::Tag => false,
        }
    }
}

/// Near names kept per run.
const MOST: usize = 200;

/// The near names of a run.
#[derive(Debug, Default)]
pub(in crate::vm) struct NearKeys {
    pub(in crate::vm) found: BTreeSet<NearName>,
    /// Texts of the rules that some value of the run is or holds.
    pub(in crate::vm) met: BTreeSet<String>,
    /// The regular expressions of the program without letter case.
    pub(in crate::vm) folded: Arc<FoldedRegexes>,
}

fn holds_text(constant: &Constant, text: &str) -> bool {
    match constant {
        Constant::Text(known) => known == text,
        Constant::List(items) => items.iter().any(|item| holds_text(item, text)),
        _ => false,
    }
}

fn text_of<'v>(value: &Value<'v>) -> Option<&'v str> {
    match value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}

impl NearKeys {
    /// A test of a value with literals that stand right behind it: met, or nearly.
    pub(in crate::vm) fn note_test(&mut self, program: &Program, at: usize, seen: &SeenTest<'_, '_>) {
        let Some(literal) = at.checked_sub(1) else { return };
        let span = program.op_span(literal);
        match (program.code.get(literal), seen.value, seen.operand) {
            (Some(Op::Constant(_)), Value::Number(_), Value::Number(_)) => {
                let field = literal.checked_sub(1).and_then(|path| program.key_at(path));
                self.note_near(share_beside_number(seen, field), span);
            }
            (Some(Op::Constant(_)), Value::Text(value), Value::Text(wanted)) => {
                let (value, wanted) = (value.as_str(), wanted.as_str());
                self.note_text(program, &SeenText { kind: seen.kind, value, wanted, holds: seen.holds }, span);
            }
            (Some(Op::Constant(_)), Value::Text(value), Value::List(items)) => {
                let (value, Some(kind)) = (value.as_str(), kind_of_items(seen.kind)) else { return };
                for wanted in items.iter().filter_map(|item| text_of(&item.value)) {
                    let holds = if kind == TestKind::Equal { value == wanted } else { value.contains(wanted) };
                    self.note_text(program, &SeenText { kind, value, wanted, holds }, span);
                }
            }
            (_, Value::Text(wanted), Value::List(items)) if seen.kind == TestKind::In => {
                let Some(literal) = literal_in_front(program, at) else { return };
                let (wanted, span) = (wanted.as_str(), program.op_span(literal));
                for value in items.iter().filter_map(|item| text_of(&item.value)) {
                    let holds = value == wanted;
                    self.note_text(program, &SeenText { kind: TestKind::Equal, value, wanted, holds }, span);
                }
            }
            (Some(Op::Regex(_)), Value::Text(value), Value::Regex(number)) => {
                self.note_regex(program, number, value.as_str(), seen.holds, span);
            }
            _ => {}
        }
    }

    /// Notes a literal that is compared with a text. Two literals of the rules that differ by a letter are two values.
    fn note_text(&mut self, program: &Program, seen: &SeenText<'_>, span: Span) {
        let near = near_text(seen);
        let is_other_literal = || program.constants.iter().any(|constant| holds_text(constant, seen.value));
        if !matches!(near, TextNearness::Near(NameCategory::Value, _)) || !is_other_literal() {
            self.note_near(near, span);
        }
    }

    /// A regular expression, found in a text or not.
    pub(in crate::vm) fn note_regex(&mut self, program: &Program, number: u32, value: &str, holds: bool, span: Span) {
        let Some(source) = program.regexes.get(number as usize) else { return };
        let Some(folded) = self.folded.regex(number, source) else { return };
        let near = match holds {
            true => TextNearness::Met(source.text.clone()),
            false if value.len() <= LONGEST_VALUE && folded.is_match(value) => {
                TextNearness::Near(NameCategory::LetterCase, source.text.clone())
            }
            false => TextNearness::Far,
        };
        self.note_near(near, span);
    }

    pub(in crate::vm) fn note_near(&mut self, near: TextNearness, span: Span) {
        if self.found.len() >= MOST || self.met.len() >= MOST {
            return;
        }
        match near {
            TextNearness::Met(wanted) => {
                self.met.insert(wanted);
            }
            TextNearness::Near(what, wanted) => {
                self.found.insert(NearName { wanted, found: String::new(), what, span });
            }
            TextNearness::Far => {}
        }
    }

    pub(in crate::vm) fn note_gap(&mut self, program: &Program, gap: &ValueGap<'_>) {
        let (Some(wanted), Value::Object(object)) = (program.key_at(gap.at), gap.base.value) else { return };
        if self.found.len() >= MOST {
            return;
        }
        let keys = || object.entries().iter().map(|entry| entry.key);
        let other_number = || keys().find(|key| near::is_other_number(wanted, key));
        if let Some(found) = near::nearest_name(wanted, keys()).or_else(other_number) {
            let (wanted, found, span) = (wanted.to_owned(), found.to_owned(), program.op_span(gap.at));
            self.found.insert(NearName { wanted, found, what: NameCategory::Key, span });
        }
    }
}
