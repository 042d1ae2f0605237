//! What a longer run can do to an expression: lists of steps only get longer, and what is counted or summed up over a run only gets larger.
//!
//! Of a run that is not complete this says which answers stay; of one that died before its first step, which had nothing to look at.

use crate::bytecode::ops::{CodeRef, DefRef, Op, SelectionRef};
use crate::bytecode::program::{CodeId, CompiledCheck, Program};
use averment_checker::ir::{Constant, PatternAlternative, SelectionReach, WindowScope};
use averment_runs::normal::of_run;
use averment_runs::run::StepKind;
use averment_syntax::ast::{ExprQuantifier, TestKind};

/// How a value changes while the run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::vm) enum CourseGrowth {
    /// It does not look at the course of the run.
    Fixed,
    /// It looks at one of the first steps: fixed once that is there.
    EarlyStep,
    /// A list that steps are added to.
    LongerList,
    /// A number that does not become smaller.
    LargerNumber,
    /// The run itself, whose entries are told apart.
    WholeRun,
    /// A truth that stays true.
    TrueStays,
    /// A truth that stays false.
    FalseStays,
    /// Anything may become of it.
    Changing,
}

/// Definitions, selections and `let`s within each other that are looked into.
const DEEPEST: u32 = 16;

impl CourseGrowth {
    pub(in crate::vm) fn of_code(program: &Program, code: CodeId) -> Self {
        CodeReader { program, depth: 0, only_adds: false }.read_code(code)
    }

    /// True if no longer run changes this answer.
    pub(in crate::vm) fn keeps(self, answer: bool) -> bool {
        match self {
            Self::Fixed | Self::EarlyStep => true,
            Self::TrueStays => answer,
            Self::FalseStays => !answer,
            _ => false,
        }
    }

    fn negated(self) -> Self {
        match self {
            Self::TrueStays => Self::FalseStays,
            Self::FalseStays => Self::TrueStays,
            other => other,
        }
    }

    /// `and`, `or`.
    fn joined_with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fixed, one) | (one, Self::Fixed) => one,
            (a, b) if a == b => a,
            _ => Self::Changing,
        }
    }

    fn of_root(name: &str) -> Self {
        match name {
            of_run::STEPS => Self::LongerList,
            of_run::TURNS | of_run::DURATION | of_run::COST | of_run::USAGE => Self::LargerNumber,
            name if StepKind::ALL.iter().any(|kind| kind.list_key() == name) => Self::LongerList,
            _ => Self::Fixed,
        }
    }

    fn of_test(kind: TestKind, negated: bool, subject: Self, operand: Self) -> Self {
        use TestKind as T;
        let growth = match (kind, subject, operand) {
            (_, Self::Fixed, Self::Fixed) => Self::Fixed,
            (_, Self::Fixed | Self::EarlyStep, Self::Fixed | Self::EarlyStep) => Self::EarlyStep,
            (T::Greater | T::GreaterOrEqual, Self::LargerNumber, Self::Fixed)
            | (T::Less | T::LessOrEqual, Self::Fixed, Self::LargerNumber)
            | (
                T::Contains | T::ContainsIgnoringCase | T::ContainsAll | T::ContainsAny,
                Self::LongerList,
                Self::Fixed,
            )
            | (T::In, Self::Fixed, Self::LongerList) => Self::TrueStays,
            (T::Less | T::LessOrEqual, Self::LargerNumber, Self::Fixed)
            | (T::Greater | T::GreaterOrEqual, Self::Fixed, Self::LargerNumber)
            | (T::ContainsNone, Self::LongerList, Self::Fixed) => Self::FalseStays,
            _ => Self::Changing,
        };
        if negated { growth.negated() } else { growth }
    }

    fn of_loop(quantifier: ExprQuantifier, list: Self, body: Self) -> Self {
        match (quantifier, list, body) {
            (_, Self::Fixed, Self::Fixed) => Self::Fixed,
            (ExprQuantifier::Any, Self::LongerList, Self::Fixed) => Self::TrueStays,
            (ExprQuantifier::All | ExprQuantifier::No, Self::LongerList, Self::Fixed) => Self::FalseStays,
            (ExprQuantifier::Count, Self::LongerList, Self::Fixed) => Self::LargerNumber,
            _ => Self::Changing,
        }
    }
}

/// Whether no step to come can mend a failure of a check on a run that goes on. Statements fail for good or are open; an expression speaks of
/// what is recorded so far, and the files and commands of the world have no course. What is summed up is taken for amounts, which only add.
#[must_use]
pub fn fails_for_good(program: &Program, check: &CompiledCheck) -> bool {
    keeps_answer(program, check, false)
}

fn keeps_answer(program: &Program, check: &CompiledCheck, answer: bool) -> bool {
    match check {
        CompiledCheck::Expression(code) => {
            CodeReader { program, depth: 0, only_adds: true }.read_code(*code).keeps(answer)
        }
        CompiledCheck::Temporal(_) => true,
        CompiledCheck::Not(inner) => keeps_answer(program, inner, !answer),
        CompiledCheck::Group { members, .. } => {
            members.iter().all(|member| keeps_answer(program, &member.check, answer))
        }
        // A condition within a window speaks of what stands in it.
        CompiledCheck::Scoped { scope, body, .. } => match (scope, &**body) {
            (WindowScope::Values { .. }, body) => keeps_answer(program, body, answer),
            (_, CompiledCheck::Expression(_)) => true,
            (_, body) => keeps_answer(program, body, answer),
        },
        CompiledCheck::World(_) | CompiledCheck::OverRuns(_) => false,
    }
}

/// Whether an expression looks at steps, or at what is counted over a run.
pub(in crate::vm) fn grows_with_run(program: &Program, code: CodeId) -> bool {
    CourseGrowth::of_code(program, code) != CourseGrowth::Fixed
}

/// Whether a pattern asks for something that a longer run may change.
pub(in crate::vm) fn looks_at_course(program: &Program, alternatives: &[PatternAlternative<CodeId>]) -> bool {
    CodeReader { program, depth: 0, only_adds: false }.is_course_pattern(alternatives)
}

#[derive(Clone, Copy)]
struct CodeReader<'p> {
    program: &'p Program,
    depth: u32,
    /// A sum does not become smaller.
    only_adds: bool,
}

impl<'p> CodeReader<'p> {
    fn inside(self) -> Self {
        Self { depth: self.depth.saturating_add(1), ..self }
    }

    fn read_code(self, code: CodeId) -> CourseGrowth {
        let ops = self.program.code_ops(code).filter(|_| self.depth < DEEPEST);
        let Some(ops) = ops else { return CourseGrowth::Changing };
        // Control flow is structured: a walk that ignores jumps sees every value made and used.
        let mut stack: Vec<CourseGrowth> = Vec::new();
        let mut loops: Vec<(ExprQuantifier, CourseGrowth, CourseGrowth)> = Vec::new();
        for (at, op) in ops.iter().enumerate() {
            let (pops, pushes) = op.effect();
            let taken = stack.split_off(stack.len().saturating_sub(pops as usize));
            let first = taken.first().copied().unwrap_or(CourseGrowth::Fixed);
            let before = at.checked_sub(1).and_then(|before| ops.get(before));
            match (op, loops.last_mut()) {
                (Op::Begin(quantifier), _) => loops.push((*quantifier, first, CourseGrowth::Fixed)),
                (Op::Repeat(_), Some((.., body))) => *body = first,
                _ => {}
            }
            let made = match op {
                Op::End() => loops.pop().map_or(CourseGrowth::Changing, |(quantifier, list, body)| {
                    CourseGrowth::of_loop(quantifier, list, body)
                }),
                Op::Index(false) if first == CourseGrowth::LongerList && self.counts_from_start(before) => {
                    CourseGrowth::EarlyStep
                }
                op => self.value_of(*op, &taken),
            };
            stack.extend((0..pushes).map(|_| made));
        }
        stack.last().copied().unwrap_or(CourseGrowth::Changing)
    }

    /// What an instruction makes of the values that it takes.
    fn value_of(self, op: Op, taken: &[CourseGrowth]) -> CourseGrowth {
        use CourseGrowth as G;
        let is_fixed = taken.iter().all(|growth| *growth == G::Fixed);
        match (op, taken) {
            (Op::Root(name) | Op::StepOrRoot(name), _) => self.name_text(name.0).map_or(G::Changing, G::of_root),
            (Op::Run(), _) => G::WholeRun,
            (Op::Field(name, false), [G::WholeRun]) => self.name_text(name.0).map_or(G::Changing, G::of_root),
            (Op::Field(_, true) | Op::Every(_) | Op::Deep(_), [G::LongerList]) => G::LongerList,
            (Op::Field(_, false), [G::LargerNumber]) => G::LargerNumber,
            (Op::Index(true), [G::LongerList, G::Fixed]) => G::LongerList,
            (Op::Let(number), _) => {
                self.program.lets.get(number.0 as usize).map_or(G::Changing, |code| self.inside().read_code(*code))
            }
            (Op::CallDef(DefRef(number), _), _) if is_fixed => {
                self.program.defs.get(number as usize).map_or(G::Changing, |def| self.inside().read_code(def.code))
            }
            (Op::Call(function, _), [G::LongerList]) => match self.name_text(function.0) {
                Some("length") => G::LargerNumber,
                Some("sum") if self.only_adds => G::LargerNumber,
                Some("first") => G::EarlyStep,
                _ => G::Changing,
            },
            (Op::Select(selection, _), _) if is_fixed => self.selection_growth(selection),
            (Op::Fold(function, selection, _), _) if is_fixed => {
                match (self.selection_growth(selection), self.name_text(function.0)) {
                    (G::Fixed, _) => G::Fixed,
                    (G::LongerList, Some("first")) => G::EarlyStep,
                    (G::LongerList, Some("length")) => G::LargerNumber,
                    (G::LongerList, Some("sum" | "max")) if self.only_adds => G::LargerNumber,
                    _ => G::Changing,
                }
            }
            (Op::Collect(CodeRef(code), ..), [list]) => match self.inside().read_code(CodeId(code)) {
                G::Fixed => *list,
                _ => G::Changing,
            },
            (Op::Test(kind, negated), [subject, operand]) => G::of_test(kind, negated, *subject, *operand),
            (Op::Inspect(TestKind::IsEmpty, negated), [G::LongerList]) => {
                if negated {
                    G::TrueStays
                } else {
                    G::FalseStays
                }
            }
            (Op::Condition(), [truth]) => *truth,
            (Op::Not(), [truth]) => truth.negated(),
            // Where it does not hold any more, nothing is said.
            (Op::Premise(), [G::Fixed | G::EarlyStep]) => taken.first().copied().unwrap_or(G::Changing),
            (Op::Premise(), _) => G::Changing,
            (Op::And() | Op::Or(), [left, right]) => left.joined_with(*right),
            _ if is_fixed => G::Fixed,
            _ if taken.iter().all(|growth| matches!(growth, G::Fixed | G::EarlyStep)) => G::EarlyStep,
            _ => G::Changing,
        }
    }

    fn selection_growth(self, selection: SelectionRef) -> CourseGrowth {
        let Some(selection) = self.program.selections.get(selection.0 as usize) else { return CourseGrowth::Changing };
        let pattern = self.program.patterns.get(selection.pattern.0 as usize);
        let is_course = pattern.is_none_or(|pattern| self.inside().is_course_pattern(&pattern.alternatives));
        let is_fixed = |code: CodeId| self.inside().read_code(code) == CourseGrowth::Fixed;
        match (selection.reach, selection.value) {
            _ if is_course || !selection.value.is_none_or(is_fixed) => CourseGrowth::Changing,
            (SelectionReach::Run, None) => CourseGrowth::LargerNumber,
            (SelectionReach::Run, Some(_)) => CourseGrowth::LongerList,
            // What was there before a step stays, and a window or a row is looked at when it has closed.
            (_, _) => CourseGrowth::Fixed,
        }
    }

    fn is_course_pattern(self, alternatives: &[PatternAlternative<CodeId>]) -> bool {
        let is_course = |code: &CodeId| self.read_code(*code) != CourseGrowth::Fixed;
        alternatives.iter().any(|one| {
            let binds = one.binds.iter().map(|(_, code)| code);
            one.text.iter().chain(&one.condition).chain(binds).chain(&one.joins).any(is_course)
        })
    }

    fn counts_from_start(self, index: Option<&Op>) -> bool {
        let Some(Op::Constant(literal)) = index else { return false };
        let constant = self.program.constants.get(literal.0 as usize);
        matches!(constant, Some(Constant::Number(text)) if !text.starts_with('-'))
    }

    fn name_text(self, name: u32) -> Option<&'p str> {
        self.program.names.get(name as usize).map(String::as_str)
    }
}
