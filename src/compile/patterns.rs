//! Step patterns.

use super::{Compiler, number};
use crate::bytecode::program::{CodeId, Pattern, PatternId};
use crate::ir::{self, Alternative, Expr};

impl Compiler {
    /// The number of a pattern.
    pub(super) fn pattern(&mut self, pattern: &ir::Pattern) -> PatternId {
        let alternatives = pattern.alternatives.iter().map(|alternative| self.alternative(alternative)).collect();
        self.program.patterns.push(Pattern { text: pattern.text.clone(), span: pattern.span, alternatives });
        PatternId(number(self.program.patterns.len() - 1))
    }

    /// The numbers of several patterns.
    pub(super) fn patterns(&mut self, patterns: &[ir::Pattern]) -> Vec<PatternId> {
        patterns.iter().map(|pattern| self.pattern(pattern)).collect()
    }

    fn alternative(&mut self, alternative: &Alternative<Expr>) -> Alternative<CodeId> {
        Alternative {
            kind: alternative.kind,
            name: alternative.name.clone(),
            proposed: alternative.proposed,
            succeeded: alternative.succeeded,
            condition: alternative.condition.as_ref().map(|condition| self.code(condition, 0)),
            binds: alternative.binds.iter().map(|(binding, path)| (*binding, self.code(path, 0))).collect(),
            joins: self.codes(&alternative.joins),
        }
    }
}
