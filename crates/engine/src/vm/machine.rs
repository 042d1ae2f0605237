//! The machine: evaluates chunks of code in a scope.
//!
//! One loop dispatches; what the instructions do stands in small functions beside it, by family: `paths`, `compute`, `tests`, `logic`.
//! The machine trusts no program: a stack that runs empty, a number out of range or a chain of definitions without end is a [`Fault`].

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::context::ExpressionScope;
use super::coverage::CoverageRecord;
use super::derive::{Recording, Tracer};
use super::doubtful_elements::Doubts;
use super::facts;
use super::fault::Fault;
use super::frame::{Frame, Loop};
use super::near_names::NearName;
use super::observe::Recorder;
use super::outcome::MemberGate;
use super::places::Places;
use super::prepare::Prepared;
use super::profile::CostNotes;
use super::selections::Selections;
use crate::bytecode::ops::Op;
use crate::bytecode::program::{Chunk, CodeId, Program};
use crate::bytecode::verify::STACK_LIMIT;
use averment_base::limits::{Limits, Meter};
use averment_base::source::Span;
use averment_base::truth::Truth;
use averment_base::value::{Node, Value};
use averment_builtins::json::Cache;
use averment_runs::run::Run;
use bumpalo::Bump;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Evaluates the code of one program on one run. It keeps what the whole run shares: the values of `let`s, lists and objects of the
/// program as values, converted documents, and the memory that computed values took.
pub struct Machine<'run> {
    /// The program.
    pub program: &'run Program,
    /// What was built from the program once per process.
    pub prepared: &'run Prepared,
    /// The run.
    pub run: &'run Run<'run>,
    /// Where computed values live.
    pub arena: &'run Bump,
    /// The limits of the evaluation.
    pub limits: Limits,
    /// What the evaluation may still use.
    pub meter: Meter,
    /// Compiled paths and converted values of this run.
    pub cache: Cache<'run>,
    pub(super) stack: Vec<Node<'run>>,
    pub(super) locals: Vec<Node<'run>>,
    pub(super) loops: Vec<Loop<'run>>,
    pub(super) depth: usize,
    /// Windows of blocks that the assertion at hand was judged in so far.
    pub(super) windows: u64,
    pub(super) lets: Vec<LetState<'run>>,
    pub(super) literals: FxHashMap<u32, Node<'run>>,
    /// What selections of steps found in this run.
    pub(super) selections: Selections<'run>,
    /// Where values stand in long lists.
    pub(super) places: Places<'run>,
    /// Notes what was tested, while evidence is collected.
    pub(super) recorder: Option<Recorder<'run>>,
    /// Notes which ways were taken, while somebody asks for coverage.
    pub(super) seen: Option<Box<CoverageRecord>>,
    /// Notes what everything costs, while somebody asks for a profile.
    pub(super) profile: Option<CostNotes<'run>>,
    /// Notes the value of every part of an expression, while a derivation is recorded.
    pub(super) tracer: Option<Tracer>,
    /// The parts of the assertion in work, while a derivation is recorded.
    pub(super) recording: Option<Recording>,
    /// The scores of the values on the stack, while an assertion with a score function is graded.
    pub(super) grades: Option<super::grade::Grades>,
    /// Notes keys that paths nearly find, while somebody asks for them.
    pub(super) near_keys: Option<BTreeSet<NearName>>,
    /// What the conditions of members of groups did.
    pub(super) gates: BTreeSet<MemberGate>,
    /// What something missing decided of elements.
    pub(super) doubts: Doubts,
    /// Whether every match of every statement is played and every assertion judged by itself, although some of that is known in shorter ways.
    pub(super) plays_all: bool,
    /// True while a message for people is made: a missing part becomes a word instead of making the whole text missing.
    pub(super) lenient: bool,
}

/// The value of a `let`.
#[derive(Debug, Clone, Copy)]
pub(super) enum LetState<'run> {
    /// Nobody has asked yet.
    Unknown,
    /// It is being computed: asking again would go round in a circle.
    Open,
    /// Known.
    Known(Node<'run>),
}

impl<'run> Machine<'run> {
    /// A machine for one program and one run, with what is said of the tools of the run.
    #[must_use]
    pub fn new(
        program: &'run Program,
        prepared: &'run Prepared,
        run: &'run Run<'run>,
        arena: &'run Bump,
        limits: Limits,
    ) -> Self {
        let mut machine = Self::on_recorded(program, prepared, run, arena, limits);
        let needs = prepared.facts();
        if needs.any() {
            let run = facts::applied(&mut machine, needs);
            machine = Self::on_recorded(program, prepared, run, arena, limits);
        }
        machine
    }

    /// The run as rules see it: with what is said of its tools.
    #[must_use]
    pub fn run(&self) -> &'run Run<'run> {
        self.run
    }

    /// The same on nothing but what the run records.
    fn on_recorded(
        program: &'run Program,
        prepared: &'run Prepared,
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
            meter: Meter::new(&limits),
            cache: Cache::default(),
            stack: Vec::new(),
            locals: Vec::new(),
            loops: Vec::new(),
            depth: 0,
            windows: 0,
            lets: vec![LetState::Unknown; program.lets.len()],
            literals: FxHashMap::default(),
            selections: Selections::default(),
            places: Places::default(),
            recorder: None,
            seen: None,
            profile: None,
            tracer: None,
            recording: None,
            grades: None,
            near_keys: None,
            gates: BTreeSet::new(),
            doubts: Doubts::default(),
            plays_all: false,
            lenient: false,
        }
    }

    /// Gives the next assertion its full share of fuel.
    pub fn refuel(&mut self) {
        self.windows = 0;
        self.meter.refuel(&self.limits);
    }

    /// Takes fuel for work outside the machine (a match, a step of an automaton): one unit is about one instruction.
    pub fn spend(&mut self, units: u64) -> Result<(), Fault> {
        Ok(self.meter.charge(units)?)
    }

    /// The value of an expression. Test outcomes come as [`Value::Truth`].
    pub fn evaluate(&mut self, code: CodeId, scope: &ExpressionScope<'_, 'run>) -> Result<Node<'run>, Fault> {
        if let Some(node) = self.plain_path(code, scope)? {
            return Ok(node);
        }
        let given = scope.locals;
        self.enter(code, scope, |locals| locals.extend_from_slice(given))
    }

    /// The truth of a condition: missing is [`Truth::FalseByMissing`], absent is undecided, any other value that is
    /// no boolean is [`Fault::NotBoolean`].
    pub fn truth(&mut self, code: CodeId, scope: &ExpressionScope<'_, 'run>) -> Result<Truth, Fault> {
        if let Some(truth) = self.plain_test(code, scope)? {
            return Ok(truth);
        }
        let node = self.evaluate(code, scope)?;
        let truth = super::logic::condition(&node, self.code_span(code))?;
        self.see_condition(code, truth);
        Ok(truth)
    }

    /// The place of an expression in the rules.
    #[must_use]
    pub fn code_span(&self, code: CodeId) -> Span {
        self.chunk(code).map_or_else(Span::default, |chunk| chunk.span)
    }

    fn chunk(&self, code: CodeId) -> Option<Chunk> {
        self.program.chunks.get(code.0 as usize).copied()
    }

    /// Runs a chunk on a frame of its own; `give` pushes the locals that have a value at its start.
    pub(super) fn enter(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
        give: impl FnOnce(&mut Vec<Node<'run>>),
    ) -> Result<Node<'run>, Fault> {
        let chunk = self.chunk(code).ok_or_else(broken)?;
        self.enter_chunk(chunk, scope, give)
    }

    /// The value of a part of an expression: instructions from the first to behind the last, counted from its start. They have to be an
    /// expression by themselves, at the start of the whole or without jumps.
    pub(super) fn evaluate_part(
        &mut self,
        code: CodeId,
        part: std::ops::Range<u32>,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<Node<'run>, Fault> {
        let chunk = self.chunk(code).ok_or_else(broken)?;
        let part = Chunk {
            start: chunk.start.saturating_add(part.start),
            end: chunk.start.saturating_add(part.end).min(chunk.end),
            ..chunk
        };
        self.enter_chunk(part, scope, |_| {})
    }

    fn enter_chunk(
        &mut self,
        chunk: Chunk,
        scope: &ExpressionScope<'_, 'run>,
        give: impl FnOnce(&mut Vec<Node<'run>>),
    ) -> Result<Node<'run>, Fault> {
        if self.depth >= self.limits.call_depth
            || self.stack.len().saturating_add(chunk.stack as usize) > STACK_LIMIT as usize
        {
            return Err(Fault::Depth);
        }
        let frame = Frame { stack: self.stack.len(), locals: self.locals.len(), loops: self.loops.len() };
        give(&mut self.locals);
        self.locals.resize(frame.locals.saturating_add(chunk.locals as usize), Node::computed(Value::Missing));
        self.depth = self.depth.saturating_add(1);
        let outcome = self.execute(chunk, frame, scope);
        self.depth = self.depth.saturating_sub(1);
        self.keep_grade();
        let value = outcome.and_then(|()| self.pop());
        self.stack.truncate(frame.stack);
        self.locals.truncate(frame.locals);
        self.loops.truncate(frame.loops);
        value
    }

    fn execute(&mut self, chunk: Chunk, frame: Frame, scope: &ExpressionScope<'_, 'run>) -> Result<(), Fault> {
        let program = self.program;
        let ops = program.code.get(chunk.start as usize..chunk.end as usize).ok_or_else(broken)?;
        if self.tracer.is_some() {
            return self.execute_traced(ops, chunk, frame, scope);
        }
        let mut at = 0;
        while let Some(&op) = ops.get(at) {
            self.meter.charge(u64::from(op.cost()))?;
            at = match self.step(op, (chunk.start as usize).wrapping_add(at), frame, scope)? {
                // There is an instruction here, so that the number of the next one is no wrap.
                Transfer::Next => at.wrapping_add(1),
                Transfer::Jump(target) => target as usize,
            };
        }
        Ok(())
    }

    /// One instruction. `at` is its number in the program.
    #[inline]
    pub(super) fn step(
        &mut self,
        op: Op,
        at: usize,
        frame: Frame,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<Transfer, Fault> {
        match op {
            Op::Constant(literal) => self.literal(literal.0)?,
            Op::Regex(pattern) => self.push_value(Value::Regex(pattern.0)),
            Op::Root(name) => self.root(name)?,
            Op::Run() => self.push_value(Value::Object(self.run.object)),
            Op::Step() => self.push(scope.step.map_or(Node::computed(Value::Missing), |step| step.node)),
            Op::StepField(name) => self.step_field(name, at, scope)?,
            Op::StepOrRoot(name) => self.step_or_root(name, scope)?,
            Op::StepOwn(name) => self.step_own(name, scope)?,
            Op::Response() => self.response(scope),
            Op::Param(parameter) => self.parameter(parameter)?,
            Op::Let(number) => self.let_value(number, at)?,
            Op::Local(slot) => self.local(slot, frame)?,
            Op::Binding(binding) => self.binding(binding, scope),
            Op::Field(name, spread) => self.field(name, spread, at)?,
            Op::Index(spread) => self.index(spread, at)?,
            Op::Every(spread) => self.every(spread)?,
            Op::Deep(spread) => self.deep(spread)?,
            Op::Negate() => self.negate()?,
            Op::Add() | Op::Subtract() | Op::Multiply() | Op::Divide() | Op::Remainder() => self.arithmetic(op, at)?,
            Op::Range(start, end) => self.range(start, end)?,
            Op::List(count) => self.list(count)?,
            Op::Object(count, keys) => self.object(count, keys)?,
            Op::Join(count) => self.join(count)?,
            Op::Select(selection, count) => self.select(selection, count.into(), scope)?,
            Op::Fold(function, selection, count) => self.fold(function, selection, count.into(), at, scope)?,
            Op::Collect(code, slot, filter) => self.collect(code, slot, filter, at, frame, scope)?,
            Op::Call(function, count) => self.call(function, count, at)?,
            Op::CallDef(number, count) => self.call_def(number, count, at, scope)?,
            Op::Test(kind, negated) => self.test(kind, negated, at)?,
            Op::Inspect(kind, negated) => self.inspect(kind, negated, at)?,
            Op::IsType(ty, negated) => self.is_type(ty, negated, at)?,
            Op::IsSchema(schema, negated) => self.is_schema(schema, negated, at)?,
            Op::IsJsonSchema(schema, negated) => self.is_json_schema(schema, negated, at)?,
            Op::ContainsJsonSchema(schema, negated) => self.contains_json_schema(schema, negated, at)?,
            Op::Condition() => self.make_truth(at)?,
            Op::Not() => self.not(at)?,
            Op::And() => self.join_truths(at, Truth::and, f64::min)?,
            Op::Or() => self.join_truths(at, Truth::or, f64::max)?,
            Op::SkipIfFalse(target) => return self.skip_if(Truth::False, target),
            Op::SkipIfTrue(target) => return self.skip_if(Truth::True, target),
            Op::Premise() => self.premise(at)?,
            Op::SkipIfUnmet(target) => return self.skip_unmet(target),
            Op::SkipThen(target) => return self.skip_branch(0, Truth::False, target),
            Op::SkipElse(target) => return self.skip_branch(1, Truth::True, target),
            Op::Choose() => self.choose(at)?,
            Op::Begin(quantifier) => self.begin(quantifier, at)?,
            Op::Next(slot, exit) => return self.next(slot, exit, frame),
            Op::Repeat(next) => return self.repeat(next, at),
            Op::End() => self.end()?,
        }
        Ok(Transfer::Next)
    }

    /// The first assertion that says the same as this one, where several do; not while somebody notes what each goes through.
    pub(super) fn representative(&self, assertion: u32) -> Option<u32> {
        let alone = self.seen.is_some() || self.plays_all || self.recording.is_some();
        if alone { None } else { self.prepared.plan(self.program).representative(assertion) }
    }

    /// Whether somebody notes what an expression goes through, not only its value.
    pub(super) fn is_watched(&self) -> bool {
        self.recorder.is_some() || self.tracer.is_some() || self.grades.is_some() || self.near_keys.is_some()
    }

    #[inline]
    pub(super) fn push(&mut self, node: Node<'run>) {
        self.stack.push(node);
        if let Some(grades) = &mut self.grades {
            grades.pushed(self.stack.len());
        }
    }

    #[inline]
    pub(super) fn push_value(&mut self, value: Value<'run>) {
        self.push(Node::computed(value));
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Result<Node<'run>, Fault> {
        self.stack.pop().ok_or_else(broken)
    }

    /// The value that lies `below` values under the top.
    pub(super) fn peek(&self, below: usize) -> Result<&Node<'run>, Fault> {
        let at = self.stack.len().checked_sub(below).and_then(|at| at.checked_sub(1)).ok_or_else(broken)?;
        self.stack.get(at).ok_or_else(broken)
    }

    /// Takes the topmost values, in the order in which they were pushed.
    pub(super) fn take(&mut self, count: usize) -> Result<SmallVec<[Node<'run>; 4]>, Fault> {
        let from = self.stack.len().checked_sub(count).ok_or_else(broken)?;
        let taken = self.stack.get(from..).ok_or_else(broken)?.into();
        self.stack.truncate(from);
        Ok(taken)
    }

    /// The place of an instruction in the rules.
    pub(super) fn span(&self, at: usize) -> Span {
        self.program.spans.get(at).copied().unwrap_or_default()
    }
}

/// Where to go on.
pub(super) enum Transfer {
    /// With the next instruction.
    Next,
    /// With this one, counted from the start of the chunk.
    Jump(u32),
}

/// Only a program that was not verified gets here.
pub(super) fn broken() -> Fault {
    Fault::Other("the compiled program is not valid".to_owned())
}
