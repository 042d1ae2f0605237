//! Expressions: one small function per form. Each leaves exactly one value on the stack.

use super::constants::ConstantPool;
use super::{ProgramCompiler, to_number};
use crate::bytecode::ops::{
    Amount, BindingCount, BindingRef, CodeRef, DefRef, LetRef, Op, Parameter, Pattern, SchemaRef, SelectionRef, Slot,
    Target,
};
use crate::vm::folds::FoldFunction;
use averment_base::source::Span;
use averment_checker::ir::{
    CollectMode, Constant, ExprKind, LocalId, OperandTranslator, StepSelection, TypedExpr, TypedTest, ValueTest,
};
use averment_syntax::ast::{BinaryOperator, ExprQuantifier, TestKind};

pub(super) struct CodeBody {
    pub(super) ops: Vec<Op>,
    pub(super) spans: Vec<Span>,
    pub(super) locals: u32,
}

pub(super) fn compile_body(expr: &TypedExpr, compiler: &mut ProgramCompiler) -> CodeBody {
    let mut emitter = CodeEmitter { body: CodeBody { ops: Vec::new(), spans: Vec::new(), locals: 0 }, compiler };
    emitter.emit_expr(expr);
    emitter.body
}

struct CodeEmitter<'a> {
    body: CodeBody,
    compiler: &'a mut ProgramCompiler,
}

impl CodeEmitter<'_> {
    fn constant_pool(&mut self) -> &mut ConstantPool {
        &mut self.compiler.constants
    }

    fn emit(&mut self, op: Op, span: Span) {
        self.body.ops.push(op);
        self.body.spans.push(span);
    }

    fn next_target(&self) -> Target {
        Target(to_number(self.body.ops.len()))
    }

    /// Emits a jump whose target is set later by [`CodeEmitter::land_jump`].
    fn emit_jump(&mut self, op: Op, span: Span) -> usize {
        self.emit(op, span);
        self.body.ops.len() - 1
    }

    fn land_jump(&mut self, from: usize) {
        let here = self.next_target();
        if let Some(
            Op::SkipIfFalse(target)
            | Op::SkipIfTrue(target)
            | Op::SkipIfUnmet(target)
            | Op::SkipThen(target)
            | Op::SkipElse(target)
            | Op::Next(_, target),
        ) = self.body.ops.get_mut(from)
        {
            *target = here;
        }
    }

    fn local_slot(&mut self, local: LocalId) -> Slot {
        self.body.locals = self.body.locals.max(local.0.saturating_add(1));
        Slot(local.0)
    }

    /// Operator chains nest as deep as they are long, so the stack grows on demand.
    fn emit_expr(&mut self, expr: &TypedExpr) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.emit_form(expr));
    }

    fn emit_form(&mut self, expr: &TypedExpr) {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Not(inner) => self.emit_not(inner, span),
            ExprKind::Binary(operator, left, right) => self.emit_binary(*operator, left, right, span),
            ExprKind::Exercised(left, right) => self.emit_exercised(left, right, span),
            ExprKind::Range(start, end) => self.emit_range(start.as_deref(), end.as_deref(), span),
            ExprKind::Test(tested) => self.emit_test(tested, span),
            ExprKind::If(condition, then, otherwise) => self.emit_choice(condition, then, otherwise, span),
            ExprKind::Quantifier(quantifier, local, source, body) => {
                self.emit_quantifier(*quantifier, *local, source, body, span);
            }
            ExprKind::Builtin(name, arguments) => {
                if let ([TypedExpr { kind: ExprKind::Select(selection), .. }], Some(_)) =
                    (arguments.as_slice(), FoldFunction::from_name(name))
                {
                    return self.emit_fold(name, selection, span);
                }
                let name = self.constant_pool().add_name(name);
                let count = self.emit_all(arguments);
                self.emit(Op::Call(name, count), span);
            }
            ExprKind::Def(def, arguments) => {
                let count = self.emit_all(arguments);
                self.emit(Op::CallDef(DefRef(*def), count), span);
            }
            ExprKind::List(items) => self.emit_list(items, expr),
            ExprKind::Object(entries) => self.emit_object(entries, expr),
            ExprKind::Join(parts) => {
                let count = self.emit_all(parts);
                self.emit(Op::Join(count), span);
            }
            ExprKind::Select(selection) => self.emit_selection(selection, span),
            ExprKind::Collect(collecting, local, source, body) => {
                self.emit_collect(*collecting, *local, source, body, span)
            }
            ExprKind::Negate(inner) => self.emit_unary(inner, Op::Negate(), span),
            ExprKind::Field(base, key) => {
                let key = self.constant_pool().add_name(key);
                self.emit_unary(base, Op::Field(key, has_spread(base)), span);
            }
            ExprKind::Every(base) => self.emit_unary(base, Op::Every(has_spread(base)), span),
            ExprKind::Deep(base) => self.emit_unary(base, Op::Deep(has_spread(base)), span),
            ExprKind::Index(base, index) => {
                self.emit_expr(base);
                self.emit_unary(index, Op::Index(has_spread(base)), span);
            }
            other => self.emit_leaf(other, span),
        }
    }

    fn emit_leaf(&mut self, kind: &ExprKind, span: Span) {
        let op = match kind {
            ExprKind::Constant(constant) => Op::Constant(self.constant_pool().add_constant(constant.clone())),
            ExprKind::Regex(regex) => Op::Regex(Pattern(*regex)),
            ExprKind::Root(name) => Op::Root(self.constant_pool().add_name(name)),
            ExprKind::Run => Op::Run(),
            ExprKind::StepField(name) => Op::StepField(self.constant_pool().add_name(name)),
            ExprKind::StepOrRoot(name) => Op::StepOrRoot(self.constant_pool().add_name(name)),
            ExprKind::StepOwn(name) => Op::StepOwn(self.constant_pool().add_name(name)),
            ExprKind::Response => Op::Response(),
            ExprKind::Param(param) => Op::Param(Parameter(*param)),
            ExprKind::Let(value) => Op::Let(LetRef(*value)),
            ExprKind::Local(local) => Op::Local(self.local_slot(*local)),
            ExprKind::Binding(binding) => Op::Binding(BindingRef(binding.0)),
            // `Step` and, so that the match stays total without a panic, nothing else: `form` took every form with parts.
            _ => Op::Step(),
        };
        self.emit(op, span);
    }

    fn emit_all(&mut self, exprs: &[TypedExpr]) -> Amount {
        exprs.iter().for_each(|expr| self.emit_expr(expr));
        Amount(to_number(exprs.len()))
    }

    fn emit_unary(&mut self, operand: &TypedExpr, op: Op, span: Span) {
        self.emit_expr(operand);
        self.emit(op, span);
    }

    fn emit_condition(&mut self, expr: &TypedExpr) {
        self.emit_expr(expr);
        if !gives_truth(expr) {
            self.emit(Op::Condition(), expr.span);
        }
    }

    fn emit_not(&mut self, inner: &TypedExpr, span: Span) {
        self.emit_condition(inner);
        self.emit(Op::Not(), span);
    }

    fn emit_binary(&mut self, operator: BinaryOperator, left: &TypedExpr, right: &TypedExpr, span: Span) {
        match operator {
            BinaryOperator::And => self.emit_logic(left, right, Op::SkipIfFalse(Target(0)), Op::And(), span),
            BinaryOperator::Or => self.emit_logic(left, right, Op::SkipIfTrue(Target(0)), Op::Or(), span),
            BinaryOperator::Implies => self.emit_implies(left, right, span),
            BinaryOperator::Add => self.emit_arithmetic(left, right, Op::Add(), span),
            BinaryOperator::Subtract => self.emit_arithmetic(left, right, Op::Subtract(), span),
            BinaryOperator::Multiply => self.emit_arithmetic(left, right, Op::Multiply(), span),
            BinaryOperator::Divide => self.emit_arithmetic(left, right, Op::Divide(), span),
            BinaryOperator::Remainder => self.emit_arithmetic(left, right, Op::Remainder(), span),
        }
    }

    fn emit_arithmetic(&mut self, left: &TypedExpr, right: &TypedExpr, op: Op, span: Span) {
        self.emit_expr(left);
        self.emit_unary(right, op, span);
    }

    fn emit_logic(&mut self, left: &TypedExpr, right: &TypedExpr, skip: Op, join: Op, span: Span) {
        self.emit_condition(left);
        let skip = self.emit_jump(skip, span);
        self.emit_condition(right);
        self.emit(join, span);
        self.land_jump(skip);
    }

    /// `a implies b` is `not a or b`.
    fn emit_implies(&mut self, left: &TypedExpr, right: &TypedExpr, span: Span) {
        self.emit_condition(left);
        self.emit(Op::Not(), left.span);
        let skip = self.emit_jump(Op::SkipIfTrue(Target(0)), span);
        self.emit_condition(right);
        self.emit(Op::Or(), span);
        self.land_jump(skip);
    }

    /// Like an implication, but vacuous unless its premise holds.
    fn emit_exercised(&mut self, left: &TypedExpr, right: &TypedExpr, span: Span) {
        self.emit_condition(left);
        self.emit(Op::Premise(), left.span);
        let skip = self.emit_jump(Op::SkipIfUnmet(Target(0)), span);
        self.emit_condition(right);
        self.emit(Op::Or(), span);
        self.land_jump(skip);
    }

    /// Each branch is emitted once, so `else if` chains stay linear in size.
    fn emit_choice(&mut self, condition: &TypedExpr, then: &TypedExpr, otherwise: &TypedExpr, span: Span) {
        self.emit_condition(condition);
        let skip_then = self.emit_jump(Op::SkipThen(Target(0)), span);
        self.emit_expr(then);
        self.land_jump(skip_then);
        let skip_else = self.emit_jump(Op::SkipElse(Target(0)), span);
        self.emit_expr(otherwise);
        self.land_jump(skip_else);
        self.emit(Op::Choose(), span);
    }

    fn emit_quantifier(
        &mut self,
        quantifier: ExprQuantifier,
        local: LocalId,
        source: &TypedExpr,
        body: &TypedExpr,
        span: Span,
    ) {
        self.emit_unary(source, Op::Begin(quantifier), source.span);
        let slot = self.local_slot(local);
        let next = self.next_target();
        let exit = self.emit_jump(Op::Next(slot, Target(0)), span);
        self.emit_condition(body);
        self.emit(Op::Repeat(next), body.span);
        self.land_jump(exit);
        self.emit(Op::End(), span);
    }

    /// The binding values are on the stack; the value taken of each step is a separate chunk.
    fn emit_selection(&mut self, selection: &StepSelection, span: Span) {
        let (number, count) = self.add_selection(selection);
        self.emit(Op::Select(number, count), span);
    }

    /// Extends the result of a shorter list, without materializing the list.
    fn emit_fold(&mut self, function: &str, selection: &StepSelection, span: Span) {
        let (number, count) = self.add_selection(selection);
        let function = self.constant_pool().add_name(function);
        self.emit(Op::Fold(function, number, count), span);
    }

    fn add_selection(&mut self, selection: &StepSelection) -> (SelectionRef, BindingCount) {
        for (_, value) in &selection.given {
            self.emit_expr(value);
        }
        let given: Vec<u32> = selection.given.iter().map(|(binding, _)| binding.0).collect();
        let count = BindingCount(u16::try_from(given.len()).unwrap_or(u16::MAX));
        (SelectionRef(self.compiler.compile_selection(selection, given)), count)
    }

    /// The body is a separate chunk that shares this one's locals.
    fn emit_collect(
        &mut self,
        collecting: CollectMode,
        local: LocalId,
        source: &TypedExpr,
        body: &TypedExpr,
        span: Span,
    ) {
        self.emit_expr(source);
        let slot = self.local_slot(local);
        let code = self.compiler.translate_code(body, local.0.saturating_add(1));
        self.emit(Op::Collect(CodeRef(code.0), slot, collecting == CollectMode::Where), span);
    }

    fn emit_range(&mut self, start: Option<&TypedExpr>, end: Option<&TypedExpr>, span: Span) {
        for expr in start.into_iter().chain(end) {
            self.emit_expr(expr);
        }
        self.emit(Op::Range(start.is_some(), end.is_some()), span);
    }

    fn emit_list(&mut self, items: &[TypedExpr], whole: &TypedExpr) {
        if let Some(constant) = literal_constant(whole) {
            let literal = self.constant_pool().add_constant(constant);
            return self.emit(Op::Constant(literal), whole.span);
        }
        let count = self.emit_all(items);
        self.emit(Op::List(count), whole.span);
    }

    fn emit_object(&mut self, entries: &[(String, TypedExpr)], whole: &TypedExpr) {
        if let Some(constant) = literal_constant(whole) {
            let literal = self.constant_pool().add_constant(constant);
            return self.emit(Op::Constant(literal), whole.span);
        }
        entries.iter().for_each(|(_, value)| self.emit_expr(value));
        let keys = entries.iter().map(|(key, _)| Constant::Text(key.clone())).collect();
        let keys = self.constant_pool().add_constant(Constant::List(keys));
        self.emit(Op::Object(Amount(to_number(entries.len())), keys), whole.span);
    }

    fn emit_test(&mut self, tested: &TypedTest, span: Span) {
        let TypedTest { kind, negated, subject, operand } = tested;
        self.emit_expr(subject);
        let op = match *kind {
            ValueTest::IsType(ty) => Op::IsType(ty, *negated),
            ValueTest::IsSchema(schema) => Op::IsSchema(SchemaRef(schema), *negated),
            ValueTest::IsJsonSchema(schema) => Op::IsJsonSchema(SchemaRef(schema), *negated),
            ValueTest::ContainsJsonSchema(schema) => Op::ContainsJsonSchema(SchemaRef(schema), *negated),
            ValueTest::Plain(kind) => match operand {
                Some(operand) => {
                    self.emit_expr(operand);
                    Op::Test(kind, *negated)
                }
                None => inspection_op(kind, *negated, has_spread(subject)),
            },
        };
        self.emit(op, span);
    }
}

/// A path with `[*]` or `[**]` yields a list: it exists if not empty and is missing otherwise.
fn inspection_op(kind: TestKind, negated: bool, spread: bool) -> Op {
    match kind {
        TestKind::Exists if spread => Op::Inspect(TestKind::IsEmpty, !negated),
        TestKind::IsMissing if spread => Op::Inspect(TestKind::IsEmpty, negated),
        kind => Op::Inspect(kind, negated),
    }
}

fn has_spread(mut path: &TypedExpr) -> bool {
    loop {
        match &path.kind {
            ExprKind::Every(_) | ExprKind::Deep(_) => return true,
            ExprKind::Field(base, _) | ExprKind::Index(base, _) => path = base,
            _ => return false,
        }
    }
}

fn gives_truth(expr: &TypedExpr) -> bool {
    match &expr.kind {
        ExprKind::Not(_) | ExprKind::Test(_) | ExprKind::Exercised(..) => true,
        ExprKind::Binary(operator, ..) => {
            matches!(operator, BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies)
        }
        ExprKind::Quantifier(quantifier, ..) => *quantifier != ExprQuantifier::Count,
        _ => false,
    }
}

fn literal_constant(expr: &TypedExpr) -> Option<Constant> {
    match &expr.kind {
        ExprKind::Constant(constant) => Some(constant.clone()),
        ExprKind::List(items) => items.iter().map(literal_constant).collect::<Option<_>>().map(Constant::List),
        ExprKind::Object(entries) => entries
            .iter()
            .map(|(key, value)| Some((key.clone(), literal_constant(value)?)))
            .collect::<Option<_>>()
            .map(Constant::Object),
        _ => None,
    }
}
