//! The semantics and aliases with which a rule is read.

use super::select::ToolAliases;

/// The source that defines what a rule means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleSemantics {
    /// Assay's documentation: a rule is a statement about the whole run.
    Documented,
    /// The Assay program: a rule is about the recorded steps, even if the run is unfinished.
    Program,
}

/// Semantics and aliases for reading a rule.
#[derive(Clone, Copy)]
pub(super) struct RuleContext<'r> {
    pub(super) form: RuleSemantics,
    pub(super) aliases: &'r ToolAliases,
}
