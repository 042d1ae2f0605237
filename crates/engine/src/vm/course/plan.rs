//! What the monitors need of a program, built once per process: distinct patterns, the way from a step's name to them, the
//! statements by slots.

use super::alike;
use super::by_name::{ByNames, Named, NamedCalls, NamedOperand};
use super::closed::Asks;
use super::members::Member;
use super::names::Table;
use super::statements::{self, Operand, Statement};
use super::view::Slot;
use crate::bytecode::ops::{BindingRef, Op};
use crate::bytecode::program::{CodeId, CourseId, PatternId, Program};
use crate::ir::Alternative;
use crate::vm::prepare::Prepared;
use averment_runs::run::Kind;
use rustc_hash::FxHashMap;

/// The patterns and statements of a program, prepared for monitoring.
#[derive(Debug)]
pub struct Plan {
    shapes: Vec<Shape>,
    patterns: Vec<ShapeId>,
    table: Table,
    statements: Vec<Statement>,
    /// Each as one about the names of calls, where it is one.
    named: Vec<Option<Named>>,
    /// The slots of each statement where no block header gives values.
    slots: Vec<Vec<Slot>>,
    /// The bindings that each test on other patterns' bindings uses.
    asked: FxHashMap<CodeId, Vec<u32>>,
    /// Those of the tests that can be looked up.
    members: FxHashMap<CodeId, Member>,
    /// The first assertion that says the same as each, where there are several.
    alike: Vec<Option<u32>>,
}

/// The number of a distinct pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ShapeId(pub(super) u32);

/// A pattern as far as matching goes. Patterns of several statements that match the same steps with the same bindings share one,
/// so that a step is classified once for all of them.
#[derive(Debug)]
pub(super) struct Shape {
    /// The alternatives; equal code has one number.
    pub(super) alternatives: Vec<Alternative<CodeId>>,
    /// The bindings that some alternative binds, sorted.
    pub(super) names: Vec<u32>,
    /// The bindings that its tests on other patterns' bindings use, sorted; empty when it has none.
    pub(super) asks: Vec<u32>,
    /// Whether an alternative has tests on bindings that it does not bind.
    pub(super) joined: bool,
    /// Whether nothing but kind, name and execution decides whether a step matches.
    pub(super) plain: bool,
    /// The kinds of its alternatives.
    pub(super) kinds: Kinds,
    /// Whether every alternative looks at calls that were not executed.
    pub(super) proposed: bool,
}

/// A set of kinds of step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    /// Adds a kind.
    pub(super) fn add(&mut self, kind: Kind) {
        self.0 |= 1 << (kind as u8);
    }

    /// Adds all kinds of another set.
    pub(super) fn join(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// The kinds, in their order.
    pub(super) fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |kind| self.0 & (1 << (*kind as u8)) != 0)
    }
}

impl Plan {
    /// The plan of a program.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let mut builder = Builder { program, code: FxHashMap::default(), known: FxHashMap::default() };
        let mut shapes = Vec::new();
        let patterns: Vec<ShapeId> =
            program.patterns.iter().map(|pattern| builder.shape(&pattern.alternatives, &mut shapes)).collect();
        let shape_of = |pattern: PatternId| patterns.get(pattern.0 as usize).copied();
        let alike = alike::groups(program, shape_of, |code| builder.first_alike(code));
        let joins = shapes.iter().flat_map(|shape| &shape.alternatives).flat_map(|alternative| &alternative.joins);
        let codes: Vec<CodeId> = joins.copied().collect();
        let asked = codes.iter().map(|&code| (code, builder.asked(code))).collect();
        let member = |&code: &CodeId| Some((code, Member::of(builder.ops(code))?));
        let members = codes.iter().filter_map(member).collect();
        let table = Table::new(&shapes);
        let statements = program.courses.iter().map(|entry| statements::of(&entry.course)).collect();
        let (slots, named) = (Vec::new(), Vec::new());
        let mut plan = Self { shapes, patterns, table, statements, named, slots, asked, members, alike };
        plan.slots = plan.statements.iter().map(|statement| plan.slots_of(&statement.operands, |_| true)).collect();
        let operand = |pattern: PatternId| plan.named_operand(pattern);
        plan.named = plan.statements.iter().map(|statement| Named::new(statement, operand)).collect();
        plan
    }

    /// All distinct patterns.
    pub(super) fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// A distinct pattern by number.
    pub(super) fn shape(&self, id: ShapeId) -> Option<&Shape> {
        self.shapes.get(id.0 as usize)
    }

    /// The distinct pattern of a pattern.
    pub(super) fn shape_of(&self, pattern: PatternId) -> Option<ShapeId> {
        self.patterns.get(pattern.0 as usize).copied()
    }

    /// The number of the distinct pattern that a pattern is.
    #[must_use]
    pub fn number_of(&self, pattern: PatternId) -> Option<u32> {
        self.shape_of(pattern).map(|shape| shape.0)
    }

    /// The alternatives of a pattern with the code that is evaluated for them: that of the first pattern of the same content.
    #[must_use]
    pub fn evaluated(&self, pattern: PatternId) -> &[Alternative<CodeId>] {
        self.shape_of(pattern).and_then(|shape| self.shape(shape)).map_or(&[], |shape| &shape.alternatives)
    }

    /// The patterns of a statement, in the order in which they are written.
    pub fn patterns_of(&self, course: CourseId) -> impl Iterator<Item = PatternId> {
        self.statement(course)
            .into_iter()
            .flat_map(|statement| statement.operands.iter().map(|operand| operand.pattern))
    }

    /// A pattern as one of calls, where all that it can match are executed calls.
    fn named_operand(&self, pattern: PatternId) -> Option<NamedOperand> {
        let id = self.shape_of(pattern)?;
        let shape = self.shape(id)?;
        let call = |one: &Alternative<CodeId>| one.kind == Kind::Call && !one.proposed;
        shape.alternatives.iter().all(call).then_some(NamedOperand { pattern: id.0, is_sure: shape.plain })
    }

    /// A statement as one about the names of calls; `None` for one that names say nothing of.
    #[must_use]
    pub fn named(&self, course: CourseId) -> Option<&Named> {
        self.named.get(course.0 as usize)?.as_ref()
    }

    /// What the names of the executed calls say of a statement, in a complete run that records calls.
    pub fn by_names(&self, course: CourseId, calls: &NamedCalls<'_>, asks: &mut dyn Asks) -> ByNames {
        match (self.statement(course), self.named(course)) {
            (Some(statement), Some(named)) => named.decide(statement, calls, asks),
            _ => ByNames::Open,
        }
    }

    /// How many distinct patterns there are.
    pub fn count(&self) -> usize {
        self.shapes.len()
    }

    /// The distinct patterns that a call of this name may match, each once.
    pub fn of_name(&self, name: &str, prepared: &Prepared) -> Vec<u32> {
        let mut found: Vec<u32> =
            self.table.candidates(Kind::Call, name, prepared).into_iter().map(|at| at.shape.0).collect();
        found.dedup();
        found
    }

    /// The bindings that a test on other patterns' bindings uses.
    pub(super) fn asked(&self, code: CodeId) -> &[u32] {
        self.asked.get(&code).map_or(&[], Vec::as_slice)
    }

    /// A test on another pattern's binding as one that can be looked up.
    pub(super) fn member(&self, code: CodeId) -> Option<&Member> {
        self.members.get(&code)
    }

    /// The slots of a statement where no block header gives values.
    pub(super) fn free_slots(&self, course: CourseId) -> &[Slot] {
        self.slots.get(course.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Operands as slots; `open` says which names are not given from outside.
    pub(super) fn slots_of(&self, operands: &[Operand], open: impl Fn(u32) -> bool) -> Vec<Slot> {
        let slot = |operand: &Operand| {
            let shape = self.shape_of(operand.pattern)?;
            let of_shape = self.shape(shape)?;
            let names = of_shape.names.iter().copied().filter(|name| open(*name)).collect();
            Some(Slot { pattern: operand.pattern, shape, polarity: operand.polarity, names, joined: of_shape.joined })
        };
        operands.iter().filter_map(slot).collect()
    }

    /// The first assertion that says the same as this one, itself included; `None` where no other one does.
    #[must_use]
    pub fn alike(&self, assertion: u32) -> Option<u32> {
        self.alike.get(assertion as usize).copied().flatten()
    }

    /// From names of steps to patterns.
    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// A statement by number.
    pub(super) fn statement(&self, course: CourseId) -> Option<&Statement> {
        self.statements.get(course.0 as usize)
    }
}

/// The content of an alternative, code written out: equal contents match alike.
type Content = Vec<u8>;

struct Builder<'p> {
    program: &'p Program,
    /// The first chunk with each content.
    code: FxHashMap<Content, CodeId>,
    known: FxHashMap<Content, ShapeId>,
}

impl Builder<'_> {
    fn shape(&mut self, alternatives: &[Alternative<CodeId>], shapes: &mut Vec<Shape>) -> ShapeId {
        let alternatives: Vec<_> = alternatives.iter().map(|alternative| self.canonical(alternative)).collect();
        let next = ShapeId(u32::try_from(shapes.len()).unwrap_or(u32::MAX));
        // A pattern whose content cannot be written out is one of its own.
        let id = match postcard::to_stdvec(&alternatives) {
            Ok(content) => *self.known.entry(content).or_insert(next),
            Err(_) => next,
        };
        if id == next {
            shapes.push(self.describe(alternatives));
        }
        id
    }

    fn canonical(&mut self, alternative: &Alternative<CodeId>) -> Alternative<CodeId> {
        Alternative {
            condition: alternative.condition.map(|code| self.first_alike(code)),
            binds: alternative.binds.iter().map(|&(name, code)| (name, self.first_alike(code))).collect(),
            joins: alternative.joins.iter().map(|&code| self.first_alike(code)).collect(),
            ..alternative.clone()
        }
    }

    fn first_alike(&mut self, code: CodeId) -> CodeId {
        match postcard::to_stdvec(self.ops(code)) {
            Ok(content) => *self.code.entry(content).or_insert(code),
            Err(_) => code,
        }
    }

    fn ops(&self, code: CodeId) -> &[Op] {
        let chunk = self.program.chunks.get(code.0 as usize);
        chunk.and_then(|chunk| self.program.code.get(chunk.start as usize..chunk.end as usize)).unwrap_or(&[])
    }

    /// The bindings that code uses, sorted.
    fn asked(&self, code: CodeId) -> Vec<u32> {
        sorted(self.ops(code).iter().filter_map(|op| match op {
            Op::Binding(BindingRef(name)) => Some(*name),
            _ => None,
        }))
    }

    fn describe(&self, alternatives: Vec<Alternative<CodeId>>) -> Shape {
        let names = alternatives.iter().flat_map(|a| a.binds.iter().map(|&(name, _)| name));
        let joins = alternatives.iter().flat_map(|a| a.joins.iter());
        let asks = joins.flat_map(|&code| self.asked(code));
        let mut kinds = Kinds::default();
        alternatives.iter().for_each(|alternative| kinds.add(alternative.kind));
        let conditional = |a: &Alternative<CodeId>| a.condition.is_some() || !a.binds.is_empty() || !a.joins.is_empty();
        let plain = !alternatives.iter().any(|a| conditional(a) || a.succeeded.is_some());
        Shape {
            plain,
            names: sorted(names),
            asks: sorted(asks),
            joined: alternatives.iter().any(|alternative| !alternative.joins.is_empty()),
            proposed: alternatives.iter().all(|alternative| alternative.proposed),
            kinds,
            alternatives,
        }
    }
}

/// Numbers in order, each once.
fn sorted(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
