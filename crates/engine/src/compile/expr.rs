//! Expressions: one small function per form. Each leaves exactly one value on the stack.

use super::constants::ConstantPool;
use super::{Compiler, number};
use crate::bytecode::ops::{
    Amount, BindingRef, CodeRef, DefRef, Given, LetRef, Op, Parameter, Pattern, SchemaRef, SelectionRef, Slot, Target,
};
use crate::ir::{Collecting, Constant, Expr, ExprKind, Local, Selection, Tested, Translate, ValueTest};
use crate::vm::folds::Fold;
use averment_base::source::Span;
use averment_syntax::ast::{BinaryOperator, ExprQuantifier, TestKind};

/// The instructions of one expression, each with the part of the rule that it stands for.
pub(super) struct CodeBody {
    pub(super) ops: Vec<Op>,
    pub(super) spans: Vec<Span>,
    /// How many locals it uses.
    pub(super) locals: u32,
}

/// Compiles an expression.
pub(super) fn body(expr: &Expr, compiler: &mut Compiler) -> CodeBody {
    let mut emitter = Emitter { body: CodeBody { ops: Vec::new(), spans: Vec::new(), locals: 0 }, compiler };
    emitter.expr(expr);
    emitter.body
}

struct Emitter<'a> {
    body: CodeBody,
    compiler: &'a mut Compiler,
}

impl Emitter<'_> {
    fn constants(&mut self) -> &mut ConstantPool {
        &mut self.compiler.constants
    }

    fn emit(&mut self, op: Op, span: Span) {
        self.body.ops.push(op);
        self.body.spans.push(span);
    }

    /// The number of the next instruction.
    fn here(&self) -> Target {
        Target(number(self.body.ops.len()))
    }

    /// Emits a jump whose target is not known yet; [`Emitter::land`] gives it.
    fn jump(&mut self, op: Op, span: Span) -> usize {
        self.emit(op, span);
        self.body.ops.len() - 1
    }

    /// The jump at `from` leads here.
    fn land(&mut self, from: usize) {
        let here = self.here();
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

    fn slot(&mut self, local: Local) -> Slot {
        self.body.locals = self.body.locals.max(local.0.saturating_add(1));
        Slot(local.0)
    }

    /// Long chains of operators nest as deep as they are long: the stack grows where it has to.
    fn expr(&mut self, expr: &Expr) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.form(expr));
    }

    fn form(&mut self, expr: &Expr) {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Not(inner) => self.not(inner, span),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, span),
            ExprKind::Exercised(left, right) => self.exercised(left, right, span),
            ExprKind::Range(start, end) => self.range(start.as_deref(), end.as_deref(), span),
            ExprKind::Test(tested) => self.test(tested, span),
            ExprKind::If(condition, then, otherwise) => self.choice(condition, then, otherwise, span),
            ExprKind::Quantifier(quantifier, local, source, body) => {
                self.quantifier(*quantifier, *local, source, body, span);
            }
            ExprKind::Builtin(name, arguments) => {
                if let ([Expr { kind: ExprKind::Select(selection), .. }], Some(_)) =
                    (arguments.as_slice(), Fold::of(name))
                {
                    return self.fold(name, selection, span);
                }
                let name = self.constants().name(name);
                let count = self.all(arguments);
                self.emit(Op::Call(name, count), span);
            }
            ExprKind::Def(def, arguments) => {
                let count = self.all(arguments);
                self.emit(Op::CallDef(DefRef(*def), count), span);
            }
            ExprKind::List(items) => self.list(items, expr),
            ExprKind::Object(entries) => self.object(entries, expr),
            ExprKind::Join(parts) => {
                let count = self.all(parts);
                self.emit(Op::Join(count), span);
            }
            ExprKind::Select(selection) => self.selection(selection, span),
            ExprKind::Collect(collecting, local, source, body) => self.collect(*collecting, *local, source, body, span),
            ExprKind::Negate(inner) => self.unary(inner, Op::Negate(), span),
            ExprKind::Field(base, key) => {
                let key = self.constants().name(key);
                self.unary(base, Op::Field(key, spreads(base)), span);
            }
            ExprKind::Every(base) => self.unary(base, Op::Every(spreads(base)), span),
            ExprKind::Deep(base) => self.unary(base, Op::Deep(spreads(base)), span),
            ExprKind::Index(base, index) => {
                self.expr(base);
                self.unary(index, Op::Index(spreads(base)), span);
            }
            other => self.leaf(other, span),
        }
    }

    fn leaf(&mut self, kind: &ExprKind, span: Span) {
        let op = match kind {
            ExprKind::Constant(constant) => Op::Constant(self.constants().constant(constant.clone())),
            ExprKind::Regex(regex) => Op::Regex(Pattern(*regex)),
            ExprKind::Root(name) => Op::Root(self.constants().name(name)),
            ExprKind::Run => Op::Run(),
            ExprKind::StepField(name) => Op::StepField(self.constants().name(name)),
            ExprKind::StepOrRoot(name) => Op::StepOrRoot(self.constants().name(name)),
            ExprKind::StepOwn(name) => Op::StepOwn(self.constants().name(name)),
            ExprKind::Response => Op::Response(),
            ExprKind::Param(param) => Op::Param(Parameter(*param)),
            ExprKind::Let(value) => Op::Let(LetRef(*value)),
            ExprKind::Local(local) => Op::Local(self.slot(*local)),
            ExprKind::Binding(binding) => Op::Binding(BindingRef(binding.0)),
            // `Step` and, so that the match stays total without a panic, nothing else: `form` took every form with parts.
            _ => Op::Step(),
        };
        self.emit(op, span);
    }

    fn all(&mut self, exprs: &[Expr]) -> Amount {
        exprs.iter().for_each(|expr| self.expr(expr));
        Amount(number(exprs.len()))
    }

    fn unary(&mut self, operand: &Expr, op: Op, span: Span) {
        self.expr(operand);
        self.emit(op, span);
    }

    /// An expression as a truth.
    fn condition(&mut self, expr: &Expr) {
        self.expr(expr);
        if !gives_truth(expr) {
            self.emit(Op::Condition(), expr.span);
        }
    }

    fn not(&mut self, inner: &Expr, span: Span) {
        self.condition(inner);
        self.emit(Op::Not(), span);
    }

    fn binary(&mut self, operator: BinaryOperator, left: &Expr, right: &Expr, span: Span) {
        match operator {
            BinaryOperator::And => self.logic(left, right, Op::SkipIfFalse(Target(0)), Op::And(), span),
            BinaryOperator::Or => self.logic(left, right, Op::SkipIfTrue(Target(0)), Op::Or(), span),
            BinaryOperator::Implies => self.implies(left, right, span),
            BinaryOperator::Add => self.arithmetic(left, right, Op::Add(), span),
            BinaryOperator::Subtract => self.arithmetic(left, right, Op::Subtract(), span),
            BinaryOperator::Multiply => self.arithmetic(left, right, Op::Multiply(), span),
            BinaryOperator::Divide => self.arithmetic(left, right, Op::Divide(), span),
            BinaryOperator::Remainder => self.arithmetic(left, right, Op::Remainder(), span),
        }
    }

    fn arithmetic(&mut self, left: &Expr, right: &Expr, op: Op, span: Span) {
        self.expr(left);
        self.unary(right, op, span);
    }

    fn logic(&mut self, left: &Expr, right: &Expr, skip: Op, join: Op, span: Span) {
        self.condition(left);
        let skip = self.jump(skip, span);
        self.condition(right);
        self.emit(join, span);
        self.land(skip);
    }

    /// `a implies b` is `not a or b`.
    fn implies(&mut self, left: &Expr, right: &Expr, span: Span) {
        self.condition(left);
        self.emit(Op::Not(), left.span);
        let skip = self.jump(Op::SkipIfTrue(Target(0)), span);
        self.condition(right);
        self.emit(Op::Or(), span);
        self.land(skip);
    }

    /// The same where nothing exercises it unless its premise holds.
    fn exercised(&mut self, left: &Expr, right: &Expr, span: Span) {
        self.condition(left);
        self.emit(Op::Premise(), left.span);
        let skip = self.jump(Op::SkipIfUnmet(Target(0)), span);
        self.condition(right);
        self.emit(Op::Or(), span);
        self.land(skip);
    }

    /// Each branch stands in the code once, so that chains of `else if` stay as long as they are written.
    fn choice(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr, span: Span) {
        self.condition(condition);
        let skip_then = self.jump(Op::SkipThen(Target(0)), span);
        self.expr(then);
        self.land(skip_then);
        let skip_else = self.jump(Op::SkipElse(Target(0)), span);
        self.expr(otherwise);
        self.land(skip_else);
        self.emit(Op::Choose(), span);
    }

    fn quantifier(&mut self, quantifier: ExprQuantifier, local: Local, source: &Expr, body: &Expr, span: Span) {
        self.unary(source, Op::Begin(quantifier), source.span);
        let slot = self.slot(local);
        let next = self.here();
        let exit = self.jump(Op::Next(slot, Target(0)), span);
        self.condition(body);
        self.emit(Op::Repeat(next), body.span);
        self.land(exit);
        self.emit(Op::End(), span);
    }

    /// The values that it needs lie on the stack; what is taken of each step is code of its own.
    fn selection(&mut self, selection: &Selection, span: Span) {
        let (number, count) = self.selected(selection);
        self.emit(Op::Select(number, count), span);
    }

    /// A function that goes on from a shorter list: the list itself is never made.
    fn fold(&mut self, function: &str, selection: &Selection, span: Span) {
        let (number, count) = self.selected(selection);
        let function = self.constants().name(function);
        self.emit(Op::Fold(function, number, count), span);
    }

    fn selected(&mut self, selection: &Selection) -> (SelectionRef, Given) {
        for (_, value) in &selection.given {
            self.expr(value);
        }
        let given: Vec<u32> = selection.given.iter().map(|(binding, _)| binding.0).collect();
        let count = Given(u16::try_from(given.len()).unwrap_or(u16::MAX));
        (SelectionRef(self.compiler.selection(selection, given)), count)
    }

    /// The body is code of its own that has the locals of this one.
    fn collect(&mut self, collecting: Collecting, local: Local, source: &Expr, body: &Expr, span: Span) {
        self.expr(source);
        let slot = self.slot(local);
        let code = self.compiler.code(body, local.0.saturating_add(1));
        self.emit(Op::Collect(CodeRef(code.0), slot, collecting == Collecting::Where), span);
    }

    fn range(&mut self, start: Option<&Expr>, end: Option<&Expr>, span: Span) {
        for expr in start.into_iter().chain(end) {
            self.expr(expr);
        }
        self.emit(Op::Range(start.is_some(), end.is_some()), span);
    }

    fn list(&mut self, items: &[Expr], whole: &Expr) {
        if let Some(constant) = constant(whole) {
            let literal = self.constants().constant(constant);
            return self.emit(Op::Constant(literal), whole.span);
        }
        let count = self.all(items);
        self.emit(Op::List(count), whole.span);
    }

    fn object(&mut self, entries: &[(String, Expr)], whole: &Expr) {
        if let Some(constant) = constant(whole) {
            let literal = self.constants().constant(constant);
            return self.emit(Op::Constant(literal), whole.span);
        }
        entries.iter().for_each(|(_, value)| self.expr(value));
        let keys = entries.iter().map(|(key, _)| Constant::Text(key.clone())).collect();
        let keys = self.constants().constant(Constant::List(keys));
        self.emit(Op::Object(Amount(number(entries.len())), keys), whole.span);
    }

    fn test(&mut self, tested: &Tested, span: Span) {
        let Tested { kind, negated, subject, operand } = tested;
        self.expr(subject);
        let op = match *kind {
            ValueTest::IsType(ty) => Op::IsType(ty, *negated),
            ValueTest::IsSchema(schema) => Op::IsSchema(SchemaRef(schema), *negated),
            ValueTest::IsJsonSchema(schema) => Op::IsJsonSchema(SchemaRef(schema), *negated),
            ValueTest::ContainsJsonSchema(schema) => Op::ContainsJsonSchema(SchemaRef(schema), *negated),
            ValueTest::Plain(kind) => match operand {
                Some(operand) => {
                    self.expr(operand);
                    Op::Test(kind, *negated)
                }
                None => inspection(kind, *negated, spreads(subject)),
            },
        };
        self.emit(op, span);
    }
}

/// A path through `[*]` or `[**]` is always a list: it exists when it leads anywhere, and is missing when the list is empty.
fn inspection(kind: TestKind, negated: bool, spread: bool) -> Op {
    match kind {
        TestKind::Exists if spread => Op::Inspect(TestKind::IsEmpty, !negated),
        TestKind::IsMissing if spread => Op::Inspect(TestKind::IsEmpty, negated),
        kind => Op::Inspect(kind, negated),
    }
}

/// Whether a path has `[*]` or `[**]` in it: what stands behind them is taken in every element.
fn spreads(mut path: &Expr) -> bool {
    loop {
        match &path.kind {
            ExprKind::Every(_) | ExprKind::Deep(_) => return true,
            ExprKind::Field(base, _) | ExprKind::Index(base, _) => path = base,
            _ => return false,
        }
    }
}

/// Whether the last instruction of an expression leaves a truth.
fn gives_truth(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Not(_) | ExprKind::Test(_) | ExprKind::Exercised(..) => true,
        ExprKind::Binary(operator, ..) => {
            matches!(operator, BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Implies)
        }
        ExprKind::Quantifier(quantifier, ..) => *quantifier != ExprQuantifier::Count,
        _ => false,
    }
}

/// The literal that a list or object of literals is.
fn constant(expr: &Expr) -> Option<Constant> {
    match &expr.kind {
        ExprKind::Constant(constant) => Some(constant.clone()),
        ExprKind::List(items) => items.iter().map(constant).collect::<Option<_>>().map(Constant::List),
        ExprKind::Object(entries) => entries
            .iter()
            .map(|(key, value)| Some((key.clone(), constant(value)?)))
            .collect::<Option<_>>()
            .map(Constant::Object),
        _ => None,
    }
}
