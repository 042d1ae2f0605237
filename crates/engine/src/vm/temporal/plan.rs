//! What the decisions need of a program, built once per process: unique patterns, the way from a step's name to them, the
//! statements by operands.

use super::by_name::{NamedCalls, NamedOperand, NamedStatement, NamesVerdict};
use super::duplicates;
use super::members::LookupTest;
use super::names::NameIndex;
use super::search::ConditionOracle;
use super::statements::{self, StatementDefinition, StatementOperand};
use super::view::WindowOperand;
use crate::bytecode::ops::{BindingRef, Op};
use crate::bytecode::program::{CodeId, PatternId, Program, TemporalId};
use crate::vm::course_growth::{CourseGrowth, looks_at_course};
use crate::vm::prepare::PreparedProgram;
use averment_base::value::Node;
use averment_checker::ir::PatternAlternative;
use averment_runs::run::StepKind;
use rustc_hash::FxHashMap;

/// The patterns and statements of a program, prepared for judging.
#[derive(Debug)]
pub struct TemporalPlan {
    unique_patterns: Vec<UniquePattern>,
    patterns: Vec<UniquePatternId>,
    table: NameIndex,
    statements: Vec<StatementDefinition>,
    named: Vec<Option<NamedStatement>>,
    operands: Vec<Vec<WindowOperand>>,
    asked: FxHashMap<CodeId, Vec<u32>>,
    members: FxHashMap<CodeId, LookupTest>,
    duplicates: Vec<Option<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct UniquePatternId(pub(super) u32);

/// Equivalent patterns of several statements share one, so that a step is classified once for all of them.
#[derive(Debug)]
pub(super) struct UniquePattern {
    pub(super) alternatives: Vec<PatternAlternative<CodeId>>,
    pub(super) names: Vec<u32>,
    pub(super) asks: Vec<u32>,
    pub(super) joined: bool,
    /// True if kind, name and execution alone decide a match.
    pub(super) plain: bool,
    pub(super) kinds: StepKindSet,
    /// True if every alternative matches calls that were not executed.
    pub(super) proposed: bool,
    /// True if it asks for something that a longer run may change.
    pub(super) looks_at_course: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StepKindSet(u16);

impl StepKindSet {
    pub(super) fn add_kind(&mut self, kind: StepKind) {
        self.0 |= 1 << (kind as u16);
    }

    pub(super) fn add_all(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) fn iter(self) -> impl Iterator<Item = StepKind> {
        StepKind::ALL.into_iter().filter(move |kind| self.0 & (1 << (*kind as u16)) != 0)
    }
}

impl TemporalPlan {
    /// The plan of a program.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let mut builder = PlanBuilder { program, code: FxHashMap::default(), known: FxHashMap::default() };
        let mut unique_patterns = Vec::new();
        let patterns: Vec<UniquePatternId> = program
            .patterns
            .iter()
            .map(|pattern| builder.unique_pattern(&pattern.alternatives, &mut unique_patterns))
            .collect();
        let unique_of = |pattern: PatternId| patterns.get(pattern.0 as usize).copied();
        let duplicates = duplicates::duplicate_groups(program, unique_of, |code| builder.representative_code(code));
        let joins =
            unique_patterns.iter().flat_map(|unique| &unique.alternatives).flat_map(|alternative| &alternative.joins);
        let codes: Vec<CodeId> = joins.copied().collect();
        let asked = codes.iter().map(|&code| (code, builder.used_bindings(code))).collect();
        let member = |&code: &CodeId| Some((code, LookupTest::from_code(builder.code_ops(code))?));
        let members = codes.iter().filter_map(member).collect();
        let table = NameIndex::new(&unique_patterns);
        let statements = program.temporals.iter().map(|entry| {
            let statement = statements::define_statement(&entry.temporal);
            let is_course = |code| CourseGrowth::of_code(program, code) != CourseGrowth::Fixed;
            StatementDefinition { looks_at_course: statement.condition.is_some_and(is_course), ..statement }
        });
        let statements = statements.collect();
        let (operands, named) = (Vec::new(), Vec::new());
        let mut plan =
            Self { unique_patterns, patterns, table, statements, named, operands, asked, members, duplicates };
        plan.operands =
            plan.statements.iter().map(|statement| plan.window_operands(&statement.operands, |_| true)).collect();
        let operand = |pattern: PatternId| plan.named_operand(pattern);
        plan.named = plan.statements.iter().map(|statement| NamedStatement::new(statement, operand)).collect();
        plan
    }

    pub(super) fn unique_patterns(&self) -> &[UniquePattern] {
        &self.unique_patterns
    }

    pub(super) fn unique_pattern(&self, id: UniquePatternId) -> Option<&UniquePattern> {
        self.unique_patterns.get(id.0 as usize)
    }

    fn shared_pattern(&self, pattern: PatternId) -> Option<&UniquePattern> {
        self.unique_pattern(self.unique_of(pattern)?)
    }

    pub(super) fn unique_of(&self, pattern: PatternId) -> Option<UniquePatternId> {
        self.patterns.get(pattern.0 as usize).copied()
    }

    /// The number of the unique pattern that a pattern is.
    #[must_use]
    pub fn number_of(&self, pattern: PatternId) -> Option<u32> {
        self.unique_of(pattern).map(|unique| unique.0)
    }

    /// The alternatives of a pattern with the code that is evaluated for them: that of the first pattern of the same content.
    #[must_use]
    pub fn evaluated_alternatives(&self, pattern: PatternId) -> &[PatternAlternative<CodeId>] {
        self.shared_pattern(pattern).map_or(&[], |unique| &unique.alternatives)
    }

    /// The bindings of a pattern, sorted.
    #[must_use]
    pub fn bound_names(&self, pattern: PatternId) -> &[u32] {
        self.shared_pattern(pattern).map_or(&[], |unique| &unique.names)
    }

    /// The patterns of a statement, in the order in which they are written.
    pub fn patterns_of(&self, temporal: TemporalId) -> impl Iterator<Item = PatternId> {
        self.statement(temporal)
            .into_iter()
            .flat_map(|statement| statement.operands.iter().map(|operand| operand.pattern))
    }

    /// `None` unless it only matches executed calls.
    fn named_operand(&self, pattern: PatternId) -> Option<NamedOperand> {
        let id = self.unique_of(pattern)?;
        let unique = self.unique_pattern(id)?;
        let call = |one: &PatternAlternative<CodeId>| one.kind == StepKind::Call && !one.proposed;
        unique.alternatives.iter().all(call).then_some(NamedOperand { pattern: id.0, is_sure: unique.plain })
    }

    /// A statement as one about the names of calls; `None` for one that names say nothing of.
    #[must_use]
    pub fn named_statement(&self, temporal: TemporalId) -> Option<&NamedStatement> {
        self.named.get(temporal.0 as usize)?.as_ref()
    }

    /// What the executed calls' names decide about a statement, in a complete run that records calls.
    pub fn by_names(
        &self,
        temporal: TemporalId,
        calls: &NamedCalls<'_>,
        asks: &mut dyn ConditionOracle,
    ) -> NamesVerdict {
        match (self.statement(temporal), self.named_statement(temporal)) {
            (Some(statement), Some(named)) => named.decide_by_names(statement, calls, asks),
            _ => NamesVerdict::Open,
        }
    }

    /// How many unique patterns there are.
    pub fn pattern_count(&self) -> usize {
        self.unique_patterns.len()
    }

    /// The unique patterns that a call of this name may match, each once.
    pub fn of_name(&self, name: &str, prepared: &PreparedProgram) -> Vec<u32> {
        self.of_step(StepKind::Call, name, prepared)
    }

    /// The unique patterns that a step of this kind and name may match, each once.
    pub fn of_step(&self, kind: StepKind, name: &str, prepared: &PreparedProgram) -> Vec<u32> {
        let alternatives = self.table.matching_alternatives(kind, name, prepared);
        let mut found: Vec<u32> = alternatives.into_iter().map(|at| at.unique.0).collect();
        found.dedup();
        found
    }

    pub(super) fn used_bindings(&self, code: CodeId) -> &[u32] {
        self.asked.get(&code).map_or(&[], Vec::as_slice)
    }

    /// Whether all bindings have a value that a test asks for.
    pub(super) fn is_answerable(&self, code: CodeId, bindings: &[Option<Node<'_>>]) -> bool {
        self.used_bindings(code).iter().all(|name| bindings.get(*name as usize).is_some_and(Option::is_some))
    }

    pub(super) fn lookup_test(&self, code: CodeId) -> Option<&LookupTest> {
        self.members.get(&code)
    }

    pub(super) fn free_operands(&self, temporal: TemporalId) -> &[WindowOperand] {
        self.operands.get(temporal.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// `open` tells which names are not given from outside.
    pub(super) fn window_operands(
        &self,
        operands: &[StatementOperand],
        open: impl Fn(u32) -> bool,
    ) -> Vec<WindowOperand> {
        let operand = |operand: &StatementOperand| {
            let unique = self.unique_of(operand.pattern)?;
            let unique_pattern = self.unique_pattern(unique)?;
            let names = unique_pattern.names.iter().copied().filter(|name| open(*name)).collect();
            Some(WindowOperand {
                pattern: operand.pattern,
                unique,
                polarity: operand.polarity,
                names,
                joined: unique_pattern.joined,
            })
        };
        operands.iter().filter_map(operand).collect()
    }

    /// The first assertion that says the same as this one, itself included; `None` where no other one does.
    #[must_use]
    pub fn first_duplicate(&self, assertion: u32) -> Option<u32> {
        self.duplicates.get(assertion as usize).copied().flatten()
    }

    pub(super) fn name_index(&self) -> &NameIndex {
        &self.table
    }

    pub(super) fn statement(&self, temporal: TemporalId) -> Option<&StatementDefinition> {
        self.statements.get(temporal.0 as usize)
    }
}

/// An alternative with its code inlined: equal contents match alike.
type AlternativeContent = Vec<u8>;

struct PlanBuilder<'p> {
    program: &'p Program,
    code: FxHashMap<AlternativeContent, CodeId>,
    known: FxHashMap<AlternativeContent, UniquePatternId>,
}

impl PlanBuilder<'_> {
    fn unique_pattern(
        &mut self,
        alternatives: &[PatternAlternative<CodeId>],
        unique_patterns: &mut Vec<UniquePattern>,
    ) -> UniquePatternId {
        let alternatives: Vec<_> =
            alternatives.iter().map(|alternative| self.canonical_alternative(alternative)).collect();
        let next = UniquePatternId(u32::try_from(unique_patterns.len()).unwrap_or(u32::MAX));
        // A pattern whose content cannot be written out is one of its own.
        let id = match postcard::to_stdvec(&alternatives) {
            Ok(content) => *self.known.entry(content).or_insert(next),
            Err(_) => next,
        };
        if id == next {
            unique_patterns.push(self.describe_pattern(alternatives));
        }
        id
    }

    fn canonical_alternative(&mut self, alternative: &PatternAlternative<CodeId>) -> PatternAlternative<CodeId> {
        PatternAlternative {
            text: alternative.text.map(|code| self.representative_code(code)),
            condition: alternative.condition.map(|code| self.representative_code(code)),
            binds: alternative.binds.iter().map(|&(name, code)| (name, self.representative_code(code))).collect(),
            joins: alternative.joins.iter().map(|&code| self.representative_code(code)).collect(),
            ..alternative.clone()
        }
    }

    fn representative_code(&mut self, code: CodeId) -> CodeId {
        match postcard::to_stdvec(self.code_ops(code)) {
            Ok(content) => *self.code.entry(content).or_insert(code),
            Err(_) => code,
        }
    }

    fn code_ops(&self, code: CodeId) -> &[Op] {
        self.program.code_ops(code).unwrap_or(&[])
    }

    fn used_bindings(&self, code: CodeId) -> Vec<u32> {
        sort_unique(self.code_ops(code).iter().filter_map(|op| match op {
            Op::Binding(BindingRef(name)) => Some(*name),
            _ => None,
        }))
    }

    fn describe_pattern(&self, alternatives: Vec<PatternAlternative<CodeId>>) -> UniquePattern {
        let names = alternatives.iter().flat_map(|a| a.binds.iter().map(|&(name, _)| name));
        let joins = alternatives.iter().flat_map(|a| a.joins.iter());
        let asks = joins.flat_map(|&code| self.used_bindings(code));
        let mut kinds = StepKindSet::default();
        alternatives.iter().for_each(|alternative| kinds.add_kind(alternative.kind));
        let conditional =
            |a: &PatternAlternative<CodeId>| a.condition.is_some() || !a.binds.is_empty() || !a.joins.is_empty();
        let plain = !alternatives.iter().any(|a| conditional(a) || a.succeeded.is_some());
        UniquePattern {
            plain,
            names: sort_unique(names),
            asks: sort_unique(asks),
            joined: alternatives.iter().any(|alternative| !alternative.joins.is_empty()),
            proposed: alternatives.iter().all(|alternative| alternative.proposed),
            kinds,
            looks_at_course: looks_at_course(self.program, &alternatives),
            alternatives,
        }
    }
}

fn sort_unique(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}
