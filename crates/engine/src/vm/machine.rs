//! The machine: evaluates chunks of code in a scope.
//!
//! One loop dispatches; what the instructions do stands in small functions beside it, by family: `paths`, `compute`, `tests`, `logic`.
//! The machine trusts no program: a stack that runs empty, a number out of range or a chain of definitions without end is a [`Fault`].

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::context::ExpressionScope;
use super::element_places::ElementPlaces;
use super::fault::{Fault, broken_program, condition_truth};
use super::frame::{QuantifierLoop, StackFrame};
use super::prepare::PreparedProgram;
use super::selections::SelectionCache;
use super::why::observer::Observer;
use super::why::profile::{CostCenter, CostNotes, Profile};
use crate::bytecode::ops::Op;
use crate::bytecode::program::{CodeChunk, CodeId, Program};
use crate::bytecode::verify::STACK_LIMIT;
use averment_base::limits::{FuelMeter, Limits};
use averment_base::source::Span;
use averment_base::truth::Truth;
use averment_base::value::{Node, Value};
use averment_builtins::json::JsonCache;
use averment_runs::run::Run;
use bumpalo::Bump;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cell::RefCell;

/// Evaluates the code of one program on one run. It keeps what the whole run shares: the values of `let`s, lists and objects of the
/// program as values, converted documents, and the memory that computed values took.
pub struct Machine<'run> {
    /// The program.
    pub program: &'run Program,
    /// Built from the program once per process.
    pub prepared: &'run PreparedProgram,
    /// The run.
    pub run: &'run Run<'run>,
    /// Where computed values live.
    pub arena: &'run Bump,
    /// The limits of the evaluation.
    pub limits: Limits,
    /// Remaining limits of the evaluation.
    pub meter: FuelMeter,
    /// Compiled paths and converted values of this run.
    pub cache: JsonCache<'run>,
    pub(super) stack: Vec<Node<'run>>,
    pub(super) locals: Vec<Node<'run>>,
    pub(super) loops: Vec<QuantifierLoop<'run>>,
    pub(super) depth: usize,
    pub(super) windows: u64,
    pub(super) lets: Vec<LetState<'run>>,
    pub(super) literals: FxHashMap<u32, Node<'run>>,
    pub(super) selections: SelectionCache<'run>,
    pub(super) places: ElementPlaces<'run>,
    /// Told what happens.
    pub(super) observer: Observer<'run>,
    /// Whether every match of every statement is played and every assertion judged by itself, although some of that is known in shorter ways.
    pub(super) plays_all: bool,
    /// True while building a message for people, where a missing part becomes a word.
    pub(super) lenient: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum LetState<'run> {
    Unknown,
    /// Being computed; another request would be a cycle.
    Open,
    Known(Node<'run>),
}

impl<'run> Machine<'run> {
    /// The run as rules see it: with what is said of its tools.
    #[must_use]
    pub fn judged_run(&self) -> &'run Run<'run> {
        self.run
    }

    /// A machine without tool facts, on the run as recorded.
    pub(super) fn new_unadjusted(
        program: &'run Program,
        prepared: &'run PreparedProgram,
        run: &'run Run<'run>,
        arena: &'run Bump,
        limits: Limits,
    ) -> Self {
        Self {
            program,
            prepared,
            run,
            arena,
            limits,
            meter: FuelMeter::new(&limits),
            cache: JsonCache::default(),
            stack: Vec::new(),
            locals: Vec::new(),
            loops: Vec::new(),
            depth: 0,
            windows: 0,
            lets: vec![LetState::Unknown; program.lets.len()],
            literals: FxHashMap::default(),
            selections: SelectionCache::default(),
            places: ElementPlaces::default(),
            observer: Observer::default(),
            plays_all: false,
            lenient: false,
        }
    }

    /// Gives the next assertion its full share of fuel.
    pub fn refuel(&mut self) {
        self.windows = 0;
        self.meter.refill_fuel(&self.limits);
    }

    /// Takes fuel for work outside the machine (a match, a step of an automaton): one unit is about one instruction.
    pub fn spend(&mut self, units: u64) -> Result<(), Fault> {
        Ok(self.meter.charge_fuel(units)?)
    }

    /// The value of an expression. Test outcomes come as [`Value::Truth`].
    pub fn evaluate_code(&mut self, code: CodeId, scope: &ExpressionScope<'_, 'run>) -> Result<Node<'run>, Fault> {
        if let Some(node) = self.plain_path(code, scope)? {
            return Ok(node);
        }
        let given = scope.locals;
        self.enter_code(code, scope, |locals| locals.extend_from_slice(given))
    }

    /// The truth of a condition: missing is [`Truth::FalseByMissing`], absent is undecided, any other value that is
    /// no boolean is [`Fault::NotBoolean`].
    pub fn evaluate_truth(&mut self, code: CodeId, scope: &ExpressionScope<'_, 'run>) -> Result<Truth, Fault> {
        if let Some(truth) = self.plain_test(code, scope)? {
            return Ok(truth);
        }
        let node = self.evaluate_code(code, scope)?;
        let truth = condition_truth(&node, self.code_span(code))?;
        // The outcome of an expression used as a condition is that of its last instruction.
        if self.observer.is_covering()
            && let Some(last) = self.code_chunk(code).and_then(|chunk| chunk.end.checked_sub(1))
        {
            self.observer.note_branch(last as usize, truth);
        }
        Ok(truth)
    }

    /// The place of an expression in the rules.
    #[must_use]
    pub fn code_span(&self, code: CodeId) -> Span {
        self.code_chunk(code).map_or_else(Span::default, |chunk| chunk.span)
    }

    fn code_chunk(&self, code: CodeId) -> Option<CodeChunk> {
        self.program.chunks.get(code.0 as usize).copied()
    }

    pub(super) fn enter_code(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
        give: impl FnOnce(&mut Vec<Node<'run>>),
    ) -> Result<Node<'run>, Fault> {
        let chunk = self.code_chunk(code).ok_or_else(broken_program)?;
        self.enter_chunk(chunk, scope, give)
    }

    /// Evaluates instructions `from..to` of an expression; they must form an expression and be jump-free or leading.
    pub(super) fn evaluate_part(
        &mut self,
        code: CodeId,
        part: std::ops::Range<u32>,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<Node<'run>, Fault> {
        let chunk = self.code_chunk(code).ok_or_else(broken_program)?;
        let part = CodeChunk {
            start: chunk.start.saturating_add(part.start),
            end: chunk.start.saturating_add(part.end).min(chunk.end),
            ..chunk
        };
        self.enter_chunk(part, scope, |_| {})
    }

    fn enter_chunk(
        &mut self,
        chunk: CodeChunk,
        scope: &ExpressionScope<'_, 'run>,
        give: impl FnOnce(&mut Vec<Node<'run>>),
    ) -> Result<Node<'run>, Fault> {
        if self.depth >= self.limits.call_depth
            || self.stack.len().saturating_add(chunk.stack as usize) > STACK_LIMIT as usize
        {
            return Err(Fault::Depth);
        }
        let frame = StackFrame { stack: self.stack.len(), locals: self.locals.len(), loops: self.loops.len() };
        give(&mut self.locals);
        self.locals.resize(frame.locals.saturating_add(chunk.locals as usize), Node::computed(Value::Missing));
        self.depth = self.depth.saturating_add(1);
        let outcome = self.execute_chunk(chunk, frame, scope);
        self.depth = self.depth.saturating_sub(1);
        self.keep_grade();
        let value = outcome.and_then(|()| self.pop());
        self.stack.truncate(frame.stack);
        self.locals.truncate(frame.locals);
        self.loops.truncate(frame.loops);
        value
    }

    fn execute_chunk(
        &mut self,
        chunk: CodeChunk,
        frame: StackFrame,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<(), Fault> {
        let program = self.program;
        let ops = program.code.get(chunk.start as usize..chunk.end as usize).ok_or_else(broken_program)?;
        if self.observer.is_tracing() {
            return self.execute_traced(ops, chunk, frame, scope);
        }
        let mut at = 0;
        while let Some(&op) = ops.get(at) {
            self.meter.charge_fuel(u64::from(op.cost()))?;
            at = match self.execute_op(op, (chunk.start as usize).wrapping_add(at), frame, scope)? {
                // There is an instruction here, so that the number of the next one is no wrap.
                ControlTransfer::Next => at.wrapping_add(1),
                ControlTransfer::Jump(target) => target as usize,
            };
        }
        Ok(())
    }

    #[inline]
    pub(super) fn execute_op(
        &mut self,
        op: Op,
        at: usize,
        frame: StackFrame,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<ControlTransfer, Fault> {
        match op {
            Op::Constant(literal) => self.push_literal(literal.0)?,
            Op::Regex(pattern) => self.push_value(Value::Regex(pattern.0)),
            Op::Root(name) => self.push_root(name)?,
            Op::Run() => self.push_value(Value::Object(self.run.object)),
            Op::Step() => self.push(scope.step.map_or(Node::computed(Value::Missing), |step| step.node)),
            Op::StepField(name) => self.step_field(name, at, scope)?,
            Op::StepOrRoot(name) => self.step_or_root(name, scope)?,
            Op::StepOwn(name) => self.step_own(name, scope)?,
            Op::Response() => self.push_response(scope),
            Op::Param(parameter) => self.push_parameter(parameter)?,
            Op::Let(number) => self.let_value(number, at)?,
            Op::Local(slot) => self.push_local(slot, frame)?,
            Op::Binding(binding) => self.push_binding(binding, scope),
            Op::Field(name, spread) => self.eval_field(name, spread, at)?,
            Op::Index(spread) => self.eval_index(spread, at)?,
            Op::Every(spread) => self.eval_every(spread)?,
            Op::Deep(spread) => self.eval_deep(spread)?,
            Op::Negate() => self.eval_negate()?,
            Op::Add() | Op::Subtract() | Op::Multiply() | Op::Divide() | Op::Remainder() => {
                self.eval_arithmetic(op, at)?
            }
            Op::Range(start, end) => self.eval_range(start, end)?,
            Op::List(count) => self.eval_list(count)?,
            Op::Object(count, keys) => self.eval_object(count, keys)?,
            Op::Join(count) => self.eval_join(count)?,
            Op::Select(selection, count) => self.eval_select(selection, count.into(), scope)?,
            Op::Fold(function, selection, count) => self.eval_fold(function, selection, count.into(), at, scope)?,
            Op::Collect(code, slot, filter) => self.eval_collect(code, slot, filter, at, frame, scope)?,
            Op::Call(function, count) => self.eval_call(function, count, at)?,
            Op::CallDef(number, count) => self.call_def(number, count, at, scope)?,
            Op::Test(kind, negated) => self.eval_test(kind, negated, at)?,
            Op::Inspect(kind, negated) => self.eval_inspect(kind, negated, at)?,
            Op::IsType(ty, negated) => self.is_type(ty, negated, at)?,
            Op::IsSchema(schema, negated) => self.is_schema(schema, negated, at)?,
            Op::IsJsonSchema(schema, negated) => self.is_json_schema(schema, negated, at)?,
            Op::ContainsJsonSchema(schema, negated) => self.contains_json_schema(schema, negated, at)?,
            Op::Condition() => self.make_truth(at)?,
            Op::Not() => self.eval_not(at)?,
            Op::And() => self.join_truths(at, Truth::and, f64::min)?,
            Op::Or() => self.join_truths(at, Truth::or, f64::max)?,
            Op::SkipIfFalse(target) => return self.skip_if(Truth::False, target),
            Op::SkipIfTrue(target) => return self.skip_if(Truth::True, target),
            Op::Premise() => self.eval_premise(at)?,
            Op::SkipIfUnmet(target) => return self.skip_unmet(target),
            Op::SkipThen(target) => return self.skip_branch(0, Truth::False, target),
            Op::SkipElse(target) => return self.skip_branch(1, Truth::True, target),
            Op::Choose() => self.eval_choose(at)?,
            Op::Begin(quantifier) => self.begin_loop(quantifier, at)?,
            Op::Next(slot, exit) => return self.next(slot, exit, frame),
            Op::Repeat(next) => return self.repeat_loop(next, at),
            Op::End() => self.end_loop()?,
        }
        Ok(ControlTransfer::Next)
    }

    /// The first of a group of duplicates; `None` while something is recorded per assertion.
    pub(super) fn representative(&self, assertion: u32) -> Option<u32> {
        let alone = self.plays_all || self.observer.tells_apart();
        if alone { None } else { self.prepared.temporal_plan(self.program).first_duplicate(assertion) }
    }

    /// The same machine, which notes in a profile what its work costs.
    #[must_use]
    pub fn noting_costs(mut self, profile: Option<&'run RefCell<Profile>>) -> Self {
        self.observer.costs = CostNotes::new(profile, self.meter.fuel_spent());
        self
    }

    /// Does the work of a part, whose cost is noted while somebody asks.
    pub(super) fn costing<T>(&mut self, center: CostCenter, work: impl FnOnce(&mut Self) -> T) -> T {
        if self.observer.costs.is_kept() { self.costing_noted(center, work) } else { work(self) }
    }

    /// Out of line, so that it costs nothing when no profile is requested.
    #[cold]
    #[inline(never)]
    fn costing_noted<T>(&mut self, center: CostCenter, work: impl FnOnce(&mut Self) -> T) -> T {
        self.begin_cost(center);
        let done = work(self);
        self.end_cost();
        done
    }

    pub(super) fn begin_cost(&mut self, center: CostCenter) {
        self.observer.costs.note(self.meter.fuel_spent(), |profile| profile.begin(center));
    }

    pub(super) fn end_cost(&mut self) {
        self.observer.costs.note(self.meter.fuel_spent(), Profile::end);
    }

    /// Reports the fuel that was used since the last report, so that it counts for a part that began outside of the machine.
    pub fn report_fuel(&mut self) {
        self.observer.costs.note(self.meter.fuel_spent(), |_| {});
    }

    #[inline]
    pub(super) fn push(&mut self, node: Node<'run>) {
        self.stack.push(node);
        if let Some(grades) = &mut self.observer.look.grades {
            grades.note_push(self.stack.len());
        }
    }

    #[inline]
    pub(super) fn push_value(&mut self, value: Value<'run>) {
        self.push(Node::computed(value));
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Result<Node<'run>, Fault> {
        self.stack.pop().ok_or_else(broken_program)
    }

    pub(super) fn peek(&self, below: usize) -> Result<&Node<'run>, Fault> {
        let at = self.stack.len().checked_sub(below).and_then(|at| at.checked_sub(1)).ok_or_else(broken_program)?;
        self.stack.get(at).ok_or_else(broken_program)
    }

    pub(super) fn take_nodes(&mut self, count: usize) -> Result<SmallVec<[Node<'run>; 4]>, Fault> {
        let from = self.stack.len().checked_sub(count).ok_or_else(broken_program)?;
        let taken = self.stack.get(from..).ok_or_else(broken_program)?.into();
        self.stack.truncate(from);
        Ok(taken)
    }

    pub(super) fn op_span(&self, at: usize) -> Span {
        self.program.op_span(at)
    }
}

pub(super) enum ControlTransfer {
    Next,
    Jump(u32),
}
