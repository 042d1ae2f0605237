//! Who reads a rule, and what with.

use super::select::ToolAliases;

/// Who reads a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleSemantics {
    /// The documents: a statement about the whole run.
    Documented,
    /// The program: what is recorded, in an unfinished run, too.
    Program,
}

/// What a rule is read with.
#[derive(Clone, Copy)]
pub(super) struct RuleContext<'r> {
    pub(super) form: RuleSemantics,
    pub(super) aliases: &'r ToolAliases,
}
