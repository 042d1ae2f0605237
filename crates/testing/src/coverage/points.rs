//! The coverage points of a program: what runs can cover, and where.

use super::PointGroup;
use averment_base::source::Span;
use averment_base::truth::Verdict;
use averment_builtins::stdlib;
use averment_checker::ir::{OperandPurpose, StatementOperand, WindowScope};
use averment_engine::bytecode::ops::{DefRef, LetRef, Op};
use averment_engine::bytecode::program::{CodeId, CompiledAssertion, CompiledCheck, PatternId, Program};
use averment_engine::vm::coverage::{BranchCoverage, CoverageRecord};
use averment_engine::vm::prepare::PreparedProgram;
use std::collections::BTreeSet;

/// A part of the rules that runs can cover.
#[derive(Debug, Clone)]
pub struct CoveragePoint {
    /// Its location in the rules.
    pub span: Span,
    /// Its kind.
    pub kind: PointKind,
    /// The id of its assertion (of the first one if several share the point); empty inside of a `let` or `def`.
    pub id: String,
    /// Number of runs with the first outcome: true, matched, opened; for an assertion, passed.
    pub yes: u64,
    /// Number of runs with the other outcome.
    pub no: u64,
    /// Number of runs in which it was evaluated.
    pub looked: u64,
    /// For an assertion: number of runs with each verdict, in the order of [`Verdict::ALL`].
    pub verdicts: [u64; 6],
    sources: Vec<PointSource>,
}

/// The kind of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointKind {
    /// An assertion: passes or fails.
    Assertion,
    /// The window of a block: opens and, if its header has a closing step, closes.
    Window {
        /// True if it has a closing step.
        closes: bool,
    },
    /// A member of a group: passes or fails.
    Member,
    /// A step pattern: matches.
    Pattern,
    /// A test or condition: true or false.
    Test,
}

impl PointKind {
    /// Returns the group in which it is counted.
    #[must_use]
    pub fn point_group(self) -> PointGroup {
        match self {
            Self::Assertion => PointGroup::Assertions,
            Self::Pattern => PointGroup::Patterns,
            Self::Window { .. } | Self::Member | Self::Test => PointGroup::Branches,
        }
    }

    /// Returns the word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assertion => "assertion",
            Self::Window { .. } => "window",
            Self::Member => "member",
            Self::Pattern => "pattern",
            Self::Test => "test",
        }
    }

    fn way_words(self) -> (Option<&'static str>, Option<&'static str>) {
        match self {
            Self::Assertion | Self::Member => (Some("pass"), Some("fail")),
            Self::Window { closes: true } => (Some("open"), Some("close")),
            Self::Window { closes: false } => (Some("open"), None),
            Self::Pattern => (Some("match"), None),
            Self::Test => (Some("true"), Some("false")),
        }
    }
}

/// Where the outcome of a point is observed. A pattern is matched in every run, but counts only if its assertion was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PointSource {
    Assertion(u32),
    Instruction(Option<u32>, usize),
    Pattern(u32, PatternId),
    Member(u32, Span),
    Window(u32, PatternId),
}

pub(super) struct EvaluationView<'v> {
    pub(super) judged: &'v [(u32, Verdict)],
    pub(super) seen: &'v CoverageRecord,
}

impl EvaluationView<'_> {
    fn assertion_verdict(&self, assertion: u32) -> Option<Verdict> {
        let at = self.judged.binary_search_by_key(&assertion, |(number, _)| *number).ok()?;
        self.judged.get(at).map(|(_, verdict)| *verdict)
    }

    fn source_ways(&self, source: PointSource) -> (BranchCoverage, bool) {
        let owned = |owner: u32| self.assertion_verdict(owner).is_some();
        let looked = |ways: BranchCoverage| (ways, ways.yes || ways.no);
        match source {
            PointSource::Assertion(number) => {
                let verdict = self.assertion_verdict(number);
                let ways = BranchCoverage { yes: verdict == Some(Verdict::Pass), no: verdict == Some(Verdict::Fail) };
                (ways, verdict.is_some_and(|verdict| verdict != Verdict::Skipped))
            }
            PointSource::Instruction(Some(owner), _) if !owned(owner) => (BranchCoverage::default(), false),
            PointSource::Instruction(_, at) => looked(self.seen.test_branches(at)),
            PointSource::Pattern(owner, pattern) => {
                let judged = self.assertion_verdict(owner).is_some_and(|verdict| verdict != Verdict::Skipped);
                let matched = judged && self.seen.is_matched(pattern);
                (BranchCoverage { yes: matched, no: false }, judged)
            }
            PointSource::Member(owner, place) if owned(owner) => looked(self.seen.member_branches(place)),
            PointSource::Window(owner, header) if owned(owner) => (self.seen.window_branches(header), true),
            PointSource::Member(..) | PointSource::Window(..) => (BranchCoverage::default(), false),
        }
    }
}

impl CoveragePoint {
    pub(super) fn add_view(&mut self, view: &EvaluationView<'_>) {
        let mut all = BranchCoverage::default();
        let mut looked = false;
        for &source in &self.sources {
            let (ways, was) = view.source_ways(source);
            all.yes |= ways.yes;
            all.no |= ways.no;
            looked |= was;
            if let (PointSource::Assertion(number), true) = (source, self.kind == PointKind::Assertion)
                && let Some(verdict) = view.assertion_verdict(number)
                && let Some(at) = Verdict::ALL.iter().position(|one| *one == verdict)
                && let Some(count) = self.verdicts.get_mut(at)
            {
                *count += 1;
            }
        }
        self.yes += u64::from(all.yes);
        self.no += u64::from(all.no);
        self.looked += u64::from(looked);
    }

    /// Returns its possible outcomes, each with its number of runs.
    pub fn outcome_counts(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let (yes, no) = self.kind.way_words();
        yes.map(|word| (word, self.yes)).into_iter().chain(no.map(|word| (word, self.no)))
    }
}

pub(super) fn collect_points(program: &Program, prepared: &PreparedProgram) -> Vec<CoveragePoint> {
    let mut collector =
        PointCollector { program, prepared, points: Vec::new(), defined: BTreeSet::new(), owner: (0, "") };
    for (number, assertion) in (0..).zip(&program.assertions) {
        collector.owner = (number, &assertion.id);
        collector.collect_assertion(assertion);
    }
    let mut points = collector.points;
    points.sort_by_key(|point| (point.span.file, point.span.start, point.kind, point.span.end));
    points.dedup_by(|later, first| {
        let same = (later.span, later.kind) == (first.span, first.kind);
        if same {
            first.sources.append(&mut later.sources);
        }
        same
    });
    points
}

struct PointCollector<'p> {
    program: &'p Program,
    prepared: &'p PreparedProgram,
    points: Vec<CoveragePoint>,
    defined: BTreeSet<CodeId>,
    owner: (u32, &'p str),
}

impl<'p> PointCollector<'p> {
    /// Adds a point; locations in the standard library or without a file are skipped.
    fn push_point(&mut self, kind: PointKind, span: Span, source: PointSource) {
        let file = self.program.sources.get(span.file.0 as usize);
        let own = file.is_some_and(|file| !stdlib::is_module_file(&file.name));
        if !own || span.is_empty() {
            return;
        }
        let in_definition = matches!(source, PointSource::Instruction(None, _));
        let id = if in_definition { String::new() } else { self.owner.1.to_owned() };
        let sources = vec![source];
        self.points.push(CoveragePoint { span, kind, id, yes: 0, no: 0, looked: 0, verdicts: [0; 6], sources });
    }

    fn collect_assertion(&mut self, assertion: &'p CompiledAssertion) {
        self.push_point(PointKind::Assertion, assertion.span, PointSource::Assertion(self.owner.0));
        assertion.settings.when.iter().for_each(|&code| self.collect_condition(code, code));
        // If the assertion is a single test, the test has the outcomes of the assertion.
        let before = self.points.len();
        self.collect_check(&assertion.check);
        let is_whole = |point: &CoveragePoint| point.kind == PointKind::Test && point.span == assertion.span;
        let own = self.points.split_off(before);
        self.points.extend(own.into_iter().filter(|point| !is_whole(point)));
    }

    /// Collects the points of a check. The brackets of the source bound the recursion.
    fn collect_check(&mut self, check: &'p CompiledCheck) {
        match check {
            CompiledCheck::Expression(code) => self.collect_condition(*code, *code),
            CompiledCheck::Temporal(temporal) => {
                let patterns: Vec<PatternId> =
                    self.prepared.temporal_plan(self.program).patterns_of(*temporal).collect();
                patterns.into_iter().for_each(|pattern| self.collect_pattern(pattern));
                let entry = self.program.temporals.get(temporal.0 as usize);
                for operand in entry.into_iter().flat_map(|entry| entry.temporal.operands()) {
                    if let StatementOperand::Code(&code, OperandPurpose::Condition | OperandPurpose::Predicate) =
                        operand
                    {
                        self.collect_condition(code, code);
                    }
                }
            }
            CompiledCheck::Not(inner) => self.collect_check(inner),
            CompiledCheck::Group { members, .. } => {
                for member in members {
                    self.push_point(PointKind::Member, member.span, PointSource::Member(self.owner.0, member.span));
                    member.when.iter().for_each(|&code| self.collect_condition(code, code));
                    self.collect_check(&member.check);
                }
            }
            CompiledCheck::Scoped { scope, body, .. } => {
                self.collect_scope(scope);
                self.collect_check(body);
            }
            // Tests never examine the world.
            CompiledCheck::World(_) | CompiledCheck::OverRuns(_) => {}
        }
    }

    fn collect_scope(&mut self, scope: &WindowScope<PatternId>) {
        let closes = match scope {
            WindowScope::After { until, .. } => until.is_some(),
            WindowScope::Between { .. } => true,
            WindowScope::Before { .. } | WindowScope::Each { .. } | WindowScope::Values { .. } => false,
        };
        for &pattern in scope.header_patterns() {
            self.collect_pattern(pattern);
        }
        let Some(&first) = scope.header_patterns().next() else { return };
        if let Some(header) = self.program.patterns.get(first.0 as usize) {
            self.push_point(PointKind::Window { closes }, header.span, PointSource::Window(self.owner.0, first));
        }
    }

    fn collect_pattern(&mut self, pattern: PatternId) {
        let Some(written) = self.program.patterns.get(pattern.0 as usize) else { return };
        self.push_point(PointKind::Pattern, written.span, PointSource::Pattern(self.owner.0, pattern));
        let evaluated = self.prepared.temporal_plan(self.program).evaluated_alternatives(pattern);
        for (own, evaluated) in written.alternatives.iter().zip(evaluated) {
            if let (Some(own), Some(evaluated)) = (own.condition, evaluated.condition) {
                self.collect_condition(own, evaluated);
            }
            for (own, evaluated) in own.joins.iter().zip(&evaluated.joins) {
                self.collect_condition(*own, *evaluated);
            }
        }
    }

    /// Collects a condition; the point is located at `own`, its outcome is observed at `evaluated`.
    fn collect_condition(&mut self, own: CodeId, evaluated: CodeId) {
        let owner = Some(self.owner.0);
        self.collect_tests(own, evaluated, owner);
        let Some((chunk, ops)) = self.code_ops(own) else { return };
        let Some((seen_in, _)) = self.code_ops(evaluated) else { return };
        // An expression that ends with a value instead of a test is a condition as a whole.
        if ops.last().is_some_and(|op| !gives_truth(*op) && !matches!(op, Op::Constant(_))) {
            let last = (seen_in.end as usize).saturating_sub(1);
            self.push_point(PointKind::Test, chunk.span, PointSource::Instruction(owner, last));
        }
    }

    fn code_ops(&self, code: CodeId) -> Option<(averment_engine::bytecode::program::CodeChunk, &'p [Op])> {
        let chunk = *self.program.chunks.get(code.0 as usize)?;
        Some((chunk, self.program.code.get(chunk.start as usize..chunk.end as usize)?))
    }

    fn collect_tests(&mut self, own: CodeId, evaluated: CodeId, owner: Option<u32>) {
        let Some((chunk, ops)) = self.code_ops(own) else { return };
        let Some((seen_in, _)) = self.code_ops(evaluated) else { return };
        for (offset, op) in ops.iter().enumerate() {
            let constant = offset.checked_sub(1).and_then(|before| ops.get(before));
            match op {
                Op::Condition() if matches!(constant, Some(Op::Constant(_))) => {}
                Op::Condition() => self.push_instruction(chunk.start, seen_in.start, offset, owner),
                op if is_test(*op) => self.push_instruction(chunk.start, seen_in.start, offset, owner),
                Op::Let(LetRef(number)) => self.collect_definition(self.program.lets.get(*number as usize).copied()),
                Op::CallDef(DefRef(number), _) => {
                    self.collect_definition(self.program.defs.get(*number as usize).map(|def| def.code));
                }
                _ => {}
            }
        }
    }

    fn push_instruction(&mut self, own: u32, evaluated: u32, offset: usize, owner: Option<u32>) {
        let Some(&span) = self.program.spans.get((own as usize).saturating_add(offset)) else { return };
        self.push_point(
            PointKind::Test,
            span,
            PointSource::Instruction(owner, (evaluated as usize).saturating_add(offset)),
        );
    }

    /// Collects the tests of a `let` or `def`, once for all uses.
    fn collect_definition(&mut self, code: Option<CodeId>) {
        if let Some(code) = code
            && self.defined.insert(code)
        {
            self.collect_tests(code, code, None);
        }
    }
}

fn is_test(op: Op) -> bool {
    matches!(
        op,
        Op::Test(..)
            | Op::Inspect(..)
            | Op::IsType(..)
            | Op::IsSchema(..)
            | Op::IsJsonSchema(..)
            | Op::ContainsJsonSchema(..)
    )
}

/// True if the result of an instruction comes from tests that are points of their own.
fn gives_truth(op: Op) -> bool {
    is_test(op) || matches!(op, Op::Condition() | Op::Not() | Op::Premise() | Op::And() | Op::Or() | Op::End())
}
