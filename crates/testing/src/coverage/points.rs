//! What there is to try in a program, and where.

use super::Group;
use averment_base::source::Span;
use averment_base::truth::Verdict;
use averment_builtins::stdlib;
use averment_engine::bytecode::ops::{DefRef, LetRef, Op};
use averment_engine::bytecode::program::{Assertion, Check, CodeId, PatternId, Program};
use averment_engine::ir::{Operand, Purpose, Scope};
use averment_engine::vm::coverage::{CoverageRecord, Ways};
use averment_engine::vm::prepare::Prepared;
use std::collections::BTreeSet;

/// Something that runs can try.
#[derive(Debug, Clone)]
pub struct Point {
    /// Its place in the rules.
    pub span: Span,
    /// What it is.
    pub kind: PointKind,
    /// The id of its assertion (of the first, where several share it); empty for what stands in a `let` or `def`.
    pub id: String,
    /// In how many runs it went the first way: true, matched, opened; for an assertion, passed.
    pub yes: u64,
    /// In how many runs it went the other way.
    pub no: u64,
    /// In how many runs it was looked at.
    pub looked: u64,
    /// For an assertion: in how many runs it had each verdict, in the order of [`Verdict::ALL`].
    pub verdicts: [u64; 6],
    sources: Vec<Source>,
}

/// What a point is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PointKind {
    /// An assertion: passes, fails.
    Assertion,
    /// A block's window: opens, and where its header has a closing step, closes.
    Window {
        /// Whether it has a closing step.
        closes: bool,
    },
    /// A member of a group: passes, fails.
    Member,
    /// A step pattern: matches.
    Pattern,
    /// A test or condition: true, false.
    Test,
}

impl PointKind {
    /// What it is counted with.
    #[must_use]
    pub fn group(self) -> Group {
        match self {
            Self::Assertion => Group::Assertions,
            Self::Pattern => Group::Patterns,
            Self::Window { .. } | Self::Member | Self::Test => Group::Branches,
        }
    }

    /// The word in reports.
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

    /// The words for its two ways, each as far as it has it.
    fn ways(self) -> (Option<&'static str>, Option<&'static str>) {
        match self {
            Self::Assertion | Self::Member => (Some("pass"), Some("fail")),
            Self::Window { closes: true } => (Some("open"), Some("close")),
            Self::Window { closes: false } => (Some("open"), None),
            Self::Pattern => (Some("match"), None),
            Self::Test => (Some("true"), Some("false")),
        }
    }
}

/// Where it is seen what a point does. What belongs to an assertion counts only where the assertion was judged: a pattern is looked for
/// in every run, also for assertions that nobody asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Assertion(u32),
    Instruction(Option<u32>, usize),
    Pattern(u32, PatternId),
    Member(u32, Span),
    Window(u32, PatternId),
}

/// What one evaluation has to say.
pub(super) struct View<'v> {
    pub(super) program: &'v Program,
    pub(super) prepared: &'v Prepared,
    pub(super) judged: &'v [(u32, Verdict)],
    pub(super) seen: &'v CoverageRecord,
}

impl View<'_> {
    fn verdict(&self, assertion: u32) -> Option<Verdict> {
        let at = self.judged.binary_search_by_key(&assertion, |(number, _)| *number).ok()?;
        self.judged.get(at).map(|(_, verdict)| *verdict)
    }

    /// How a source went, and whether it was looked at.
    fn ways(&self, source: Source) -> (Ways, bool) {
        let owned = |owner: u32| self.verdict(owner).is_some();
        let looked = |ways: Ways| (ways, ways.yes || ways.no);
        match source {
            Source::Assertion(number) => {
                let verdict = self.verdict(number);
                let ways = Ways { yes: verdict == Some(Verdict::Pass), no: verdict == Some(Verdict::Fail) };
                (ways, verdict.is_some_and(|verdict| verdict != Verdict::Skipped))
            }
            Source::Instruction(Some(owner), _) if !owned(owner) => (Ways::default(), false),
            Source::Instruction(_, at) => looked(self.seen.test(at)),
            Source::Pattern(owner, pattern) => {
                let judged = self.verdict(owner).is_some_and(|verdict| verdict != Verdict::Skipped);
                let matched = judged && self.seen.matched(self.program, self.prepared, pattern);
                (Ways { yes: matched, no: false }, judged)
            }
            Source::Member(owner, place) if owned(owner) => looked(self.seen.member(place)),
            Source::Window(owner, header) if owned(owner) => (self.seen.window(header), true),
            Source::Member(..) | Source::Window(..) => (Ways::default(), false),
        }
    }
}

impl Point {
    /// Adds what one run did.
    pub(super) fn add(&mut self, view: &View<'_>) {
        let mut all = Ways::default();
        let mut looked = false;
        for &source in &self.sources {
            let (ways, was) = view.ways(source);
            all.yes |= ways.yes;
            all.no |= ways.no;
            looked |= was;
            if let (Source::Assertion(number), true) = (source, self.kind == PointKind::Assertion)
                && let Some(verdict) = view.verdict(number)
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

    /// What can come of it, with the number of runs in which it did.
    pub fn outcomes(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let (yes, no) = self.kind.ways();
        yes.map(|word| (word, self.yes)).into_iter().chain(no.map(|word| (word, self.no)))
    }
}

/// Everything there is to try, by place.
pub(super) fn collect(program: &Program, prepared: &Prepared) -> Vec<Point> {
    let mut collector = Collector { program, prepared, points: Vec::new(), defined: BTreeSet::new(), owner: (0, "") };
    for (number, assertion) in (0..).zip(&program.assertions) {
        collector.owner = (number, &assertion.id);
        collector.assertion(assertion);
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

struct Collector<'p> {
    program: &'p Program,
    prepared: &'p Prepared,
    points: Vec<Point>,
    /// The `let`s and `def`s that were looked at.
    defined: BTreeSet<CodeId>,
    /// The assertion in work: its number and id.
    owner: (u32, &'p str),
}

impl<'p> Collector<'p> {
    /// Adds a point, unless its place is in the standard set or nowhere.
    fn push(&mut self, kind: PointKind, span: Span, source: Source) {
        let file = self.program.sources.get(span.file.0 as usize);
        let own = file.is_some_and(|file| !stdlib::MODULES.iter().any(|module| module.file == file.name));
        if !own || span.is_empty() {
            return;
        }
        let in_definition = matches!(source, Source::Instruction(None, _));
        let id = if in_definition { String::new() } else { self.owner.1.to_owned() };
        let sources = vec![source];
        self.points.push(Point { span, kind, id, yes: 0, no: 0, looked: 0, verdicts: [0; 6], sources });
    }

    fn assertion(&mut self, assertion: &'p Assertion) {
        self.push(PointKind::Assertion, assertion.span, Source::Assertion(self.owner.0));
        assertion.settings.when.iter().for_each(|&code| self.condition(code, code));
        // A single test says no more than the assertion itself.
        let before = self.points.len();
        self.check(&assertion.check);
        let is_whole = |point: &Point| point.kind == PointKind::Test && point.span == assertion.span;
        let own = self.points.split_off(before);
        self.points.extend(own.into_iter().filter(|point| !is_whole(point)));
    }

    /// Groups and blocks are nested as deep as the brackets they are written with.
    fn check(&mut self, check: &'p Check) {
        match check {
            Check::Expression(code) => self.condition(*code, *code),
            Check::Temporal(temporal) => {
                let patterns: Vec<PatternId> = self.prepared.plan(self.program).patterns_of(*temporal).collect();
                patterns.into_iter().for_each(|pattern| self.pattern(pattern));
                let entry = self.program.temporals.get(temporal.0 as usize);
                for operand in entry.into_iter().flat_map(|entry| entry.temporal.operands()) {
                    if let Operand::Code(&code, Purpose::Condition | Purpose::Predicate) = operand {
                        self.condition(code, code);
                    }
                }
            }
            Check::Not(inner) => self.check(inner),
            Check::Group { members, .. } => {
                for member in members {
                    self.push(PointKind::Member, member.span, Source::Member(self.owner.0, member.span));
                    member.when.iter().for_each(|&code| self.condition(code, code));
                    self.check(&member.check);
                }
            }
            Check::Scoped { scope, body, .. } => {
                self.scope(scope);
                self.check(body);
            }
            // Tests never look at the world.
            Check::World(_) | Check::OverRuns(_) => {}
        }
    }

    fn scope(&mut self, scope: &Scope<PatternId>) {
        let closes = match scope {
            Scope::After { until, .. } => until.is_some(),
            Scope::Between { .. } => true,
            Scope::Before { .. } | Scope::Each { .. } | Scope::Values { .. } => false,
        };
        for &pattern in scope.patterns() {
            self.pattern(pattern);
        }
        let Some(&first) = scope.patterns().next() else { return };
        if let Some(header) = self.program.patterns.get(first.0 as usize) {
            self.push(PointKind::Window { closes }, header.span, Source::Window(self.owner.0, first));
        }
    }

    fn pattern(&mut self, pattern: PatternId) {
        let Some(written) = self.program.patterns.get(pattern.0 as usize) else { return };
        self.push(PointKind::Pattern, written.span, Source::Pattern(self.owner.0, pattern));
        let evaluated = self.prepared.plan(self.program).evaluated(pattern);
        for (own, evaluated) in written.alternatives.iter().zip(evaluated) {
            if let (Some(own), Some(evaluated)) = (own.condition, evaluated.condition) {
                self.condition(own, evaluated);
            }
            for (own, evaluated) in own.joins.iter().zip(&evaluated.joins) {
                self.condition(*own, *evaluated);
            }
        }
    }

    /// The tests in an expression that is used as a condition. Its place is that of `own`, what it does is seen at `evaluated`.
    fn condition(&mut self, own: CodeId, evaluated: CodeId) {
        let owner = Some(self.owner.0);
        self.tests(own, evaluated, owner);
        let Some((chunk, ops)) = self.code(own) else { return };
        let Some((seen_in, _)) = self.code(evaluated) else { return };
        // An expression that ends with a value instead of a test is a condition as a whole.
        if ops.last().is_some_and(|op| !gives_truth(*op) && !matches!(op, Op::Constant(_))) {
            let last = (seen_in.end as usize).saturating_sub(1);
            self.push(PointKind::Test, chunk.span, Source::Instruction(owner, last));
        }
    }

    fn code(&self, code: CodeId) -> Option<(averment_engine::bytecode::program::Chunk, &'p [Op])> {
        let chunk = *self.program.chunks.get(code.0 as usize)?;
        Some((chunk, self.program.code.get(chunk.start as usize..chunk.end as usize)?))
    }

    fn tests(&mut self, own: CodeId, evaluated: CodeId, owner: Option<u32>) {
        let Some((chunk, ops)) = self.code(own) else { return };
        let Some((seen_in, _)) = self.code(evaluated) else { return };
        for (offset, op) in ops.iter().enumerate() {
            let constant = offset.checked_sub(1).and_then(|before| ops.get(before));
            match op {
                Op::Condition() if matches!(constant, Some(Op::Constant(_))) => {}
                Op::Condition() => self.instruction(chunk.start, seen_in.start, offset, owner),
                op if is_test(*op) => self.instruction(chunk.start, seen_in.start, offset, owner),
                Op::Let(LetRef(number)) => self.definition(self.program.lets.get(*number as usize).copied()),
                Op::CallDef(DefRef(number), _) => {
                    self.definition(self.program.defs.get(*number as usize).map(|def| def.code));
                }
                _ => {}
            }
        }
    }

    fn instruction(&mut self, own: u32, evaluated: u32, offset: usize, owner: Option<u32>) {
        let Some(&span) = self.program.spans.get((own as usize).saturating_add(offset)) else { return };
        self.push(PointKind::Test, span, Source::Instruction(owner, (evaluated as usize).saturating_add(offset)));
    }

    /// The tests of a `let` or `def`, once for all that use it.
    fn definition(&mut self, code: Option<CodeId>) {
        if let Some(code) = code
            && self.defined.insert(code)
        {
            self.tests(code, code, None);
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

/// Whether what an expression ends with is made of tests that are points of their own.
fn gives_truth(op: Op) -> bool {
    is_test(op) || matches!(op, Op::Condition() | Op::Not() | Op::Premise() | Op::And() | Op::Or() | Op::End())
}
