//! Step patterns and expressions: what statements are made of.

use super::{ProgramCompiler, expr, to_number};
use crate::bytecode::program::{CodeChunk, CodeId, CompiledPattern, CompiledSelection, PatternId};
use crate::bytecode::verify;
use averment_checker::ir::{self, OperandTranslator, PatternAlternative, TypedExpr};

impl OperandTranslator<ir::CheckedPattern, TypedExpr> for ProgramCompiler {
    type TargetPattern = PatternId;
    type TargetCode = CodeId;

    fn translate_pattern(&mut self, pattern: &ir::CheckedPattern) -> PatternId {
        let alternatives =
            pattern.alternatives.iter().map(|alternative| self.compile_alternative(alternative)).collect();
        self.program.patterns.push(CompiledPattern { text: pattern.text.clone(), span: pattern.span, alternatives });
        PatternId(to_number(self.program.patterns.len() - 1))
    }

    fn translate_code(&mut self, expr: &TypedExpr, given: u32) -> CodeId {
        let body = expr::compile_body(expr, self);
        let start = to_number(self.program.code.len());
        let locals = body.locals.max(given);
        let stack = verify::stack_depth(&body.ops).unwrap_or(0);
        self.program.code.extend(body.ops);
        self.program.spans.extend(body.spans);
        let end = to_number(self.program.code.len());
        self.program.chunks.push(CodeChunk { start, end, locals, stack, span: expr.span });
        CodeId(to_number(self.program.chunks.len() - 1))
    }
}

impl ProgramCompiler {
    pub(super) fn compile_selection(&mut self, selection: &ir::StepSelection, given: Vec<u32>) -> u32 {
        let pattern = self.translate_pattern(&selection.pattern);
        let value = selection.value.as_ref().map(|value| self.translate_code(value, 0));
        self.program.selections.push(CompiledSelection { pattern, value, reach: selection.reach, given });
        to_number(self.program.selections.len() - 1)
    }

    fn compile_alternative(&mut self, alternative: &PatternAlternative<TypedExpr>) -> PatternAlternative<CodeId> {
        let joins = self.compile_codes(&alternative.joins);
        // A text that waits for a binding is the same code as the join.
        let text = alternative.text.as_ref().map(|text| {
            let place = alternative.joins.iter().position(|join| join == text);
            let join = place.and_then(|place| joins.get(place).copied());
            join.unwrap_or_else(|| self.translate_code(text, 0))
        });
        PatternAlternative {
            kind: alternative.kind,
            name: alternative.name.clone(),
            proposed: alternative.proposed,
            succeeded: alternative.succeeded,
            text,
            condition: alternative.condition.as_ref().map(|condition| self.translate_code(condition, 0)),
            binds: alternative.binds.iter().map(|(binding, path)| (*binding, self.translate_code(path, 0))).collect(),
            joins,
        }
    }
}
