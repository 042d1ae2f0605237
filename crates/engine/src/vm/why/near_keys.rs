//! Keys that paths do not find while an object has nearly the same one, and how other near names are told.

use super::evidence::ValueGap;
use crate::bytecode::program::Program;
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
        }
    }
}

/// Near names kept per run.
const MOST: usize = 200;

/// The near names of a run.
#[derive(Debug, Default)]
pub(in crate::vm) struct NearKeys {
    pub(in crate::vm) found: BTreeSet<NearName>,
}

impl NearKeys {
    pub(in crate::vm) fn note_gap(&mut self, program: &Program, gap: &ValueGap<'_>) {
        let (Some(wanted), Value::Object(object)) = (program.key_at(gap.at), gap.base.value) else { return };
        if self.found.len() >= MOST {
            return;
        }
        if let Some(found) = near::nearest_name(wanted, object.entries().iter().map(|entry| entry.key)) {
            let (wanted, found, span) = (wanted.to_owned(), found.to_owned(), program.op_span(gap.at));
            self.found.insert(NearName { wanted, found, what: NameCategory::Key, span });
        }
    }
}
