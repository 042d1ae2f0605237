//! Step patterns and expressions: what statements are made of.

use super::{Compiler, expr, number};
use crate::bytecode::program::{Chunk, CodeId, Pattern, PatternId, Selection};
use crate::bytecode::verify;
use crate::ir::{self, Alternative, Expr, Translate};

impl Translate<ir::Pattern, Expr> for Compiler {
    type Pattern = PatternId;
    type Code = CodeId;

    fn pattern(&mut self, pattern: &ir::Pattern) -> PatternId {
        let alternatives = pattern.alternatives.iter().map(|alternative| self.alternative(alternative)).collect();
        self.program.patterns.push(Pattern { text: pattern.text.clone(), span: pattern.span, alternatives });
        PatternId(number(self.program.patterns.len() - 1))
    }

    fn code(&mut self, expr: &Expr, given: u32) -> CodeId {
        let body = expr::body(expr, self);
        let start = number(self.program.code.len());
        let locals = body.locals.max(given);
        let stack = verify::stack_depth(&body.ops).unwrap_or(0);
        self.program.code.extend(body.ops);
        self.program.spans.extend(body.spans);
        let end = number(self.program.code.len());
        self.program.chunks.push(Chunk { start, end, locals, stack, span: expr.span });
        CodeId(number(self.program.chunks.len() - 1))
    }
}

impl Compiler {
    /// The number of a selection; `given` are the bindings that it is given values of.
    pub(super) fn selection(&mut self, selection: &ir::Selection, given: Vec<u32>) -> u32 {
        let pattern = self.pattern(&selection.pattern);
        let value = selection.value.as_ref().map(|value| self.code(value, 0));
        self.program.selections.push(Selection { pattern, value, reach: selection.reach, given });
        number(self.program.selections.len() - 1)
    }

    fn alternative(&mut self, alternative: &Alternative<Expr>) -> Alternative<CodeId> {
        Alternative {
            kind: alternative.kind,
            name: alternative.name.clone(),
            proposed: alternative.proposed,
            succeeded: alternative.succeeded,
            text: alternative.text.as_ref().map(|text| self.code(text, 0)),
            condition: alternative.condition.as_ref().map(|condition| self.code(condition, 0)),
            binds: alternative.binds.iter().map(|(binding, path)| (*binding, self.code(path, 0))).collect(),
            joins: self.codes(&alternative.joins),
        }
    }
}
