//! Keys that paths do not find while an object has nearly the same one, and how other near names are told.

use super::evidence::ValueGap;
use crate::bytecode::ops::Op;
use crate::bytecode::program::Program;
use crate::vm::near_texts::{SeenText, is_asked, near_text};
use averment_base::near;
use averment_base::source::Span;
use averment_base::value::Value;
use std::collections::BTreeSet;

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
    /// A text that no value holds, while some value holds it in another letter case.
    LetterCase,
}

impl NameCategory {
    /// The word for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool | Self::NoTool => "tool",
            Self::Key => "key",
            Self::File => "path",
            Self::Skill => "skill",
            Self::Agent => "agent",
            Self::Handover => "handover",
            Self::Tag => "tag",
            Self::Role => "role",
            Self::Part | Self::LetterCase => "text",
        }
    }
}

impl NameCategory {
    /// True for a text that conditions look for, which is no name.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Part | Self::LetterCase)
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
}

impl NearKeys {
    /// A test of a text with a literal: met, or nearly.
    pub(in crate::vm) fn note_text(&mut self, program: &Program, at: usize, seen: SeenText<'_>) {
        let Some(literal) = at.checked_sub(1).filter(|at| matches!(program.code.get(*at), Some(Op::Constant(_))))
        else {
            return;
        };
        if self.found.len() >= MOST || self.met.len() >= MOST {
            return;
        }
        if seen.holds {
            if is_asked(seen.kind, seen.wanted) && !self.met.contains(seen.wanted) {
                self.met.insert(seen.wanted.to_owned());
            }
        } else if let Some(near) = near_text(&seen) {
            let wanted = seen.wanted.to_owned();
            self.found.insert(NearName { wanted, span: program.op_span(literal), ..near });
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
