//! What an assertion does while a run goes on: it denies a call before it is made, something is owed when the run stops, or it only reports.
//!
//! This only foretells, for who writes rules: what a guard does is decided by evaluating the unfinished run. The kinds are those of runtime
//! verification: a call is denied where it makes the run a bad prefix (Bauer, Leucker, Schallhart: Runtime verification for LTL and TLTL, 2011).

use super::course_growth::{fails_for_good, grows_with_run};
use crate::bytecode::ops::{CodeRef, DefRef, Literal, Op};
use crate::bytecode::program::{CodeId, CompiledAssertion, CompiledCheck, CompiledMember, PatternId, Program};
use averment_checker::ir::{
    Constant, GroupKind, PatternAlternative, SelectionReach, StepDistance, Temporal, TimesRange, WindowScope,
};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::StepKind;
use averment_syntax::ast::{MatchExtent, Quantifier, SequenceMode};

/// What an assertion does while a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OnlineUse {
    /// No step to come can mend its failure.
    pub fails_for_good: bool,
    /// A call that breaks it is denied before it is made.
    pub denies: bool,
    /// It may want something that is missing when the run stops.
    pub owed: bool,
}

impl OnlineUse {
    /// What an assertion does.
    #[must_use]
    pub fn of_assertion(program: &Program, assertion: &CompiledAssertion) -> Self {
        let reader = OnlineReader { program, depth: 0 };
        let used = if reader.are_early(&assertion.settings.when) { reader.use_of(&assertion.check) } else { NOTHING };
        let fails_for_good = fails_for_good(program, &assertion.check);
        Self { fails_for_good, denies: used.denies && fails_for_good, ..used }
    }

    /// In one word, or two: `denies`, `owed`, `denies, owed`, `reports`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match (self.denies, self.owed) {
            (true, true) => "denies, owed",
            (true, false) => "denies",
            (false, true) => "owed",
            (false, false) => "reports",
        }
    }

    /// As a sentence without its subject.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match (self.denies, self.owed) {
            (true, true) => {
                "denies a call that breaks it, and holds the agent back once if something is missing when it stops"
            }
            (true, false) => "denies a call that breaks it",
            (false, true) => "denies no call; the agent is held back once if something is missing when it stops",
            (false, false) => "denies no call; it asks for what is known later, or not at all, and only reports",
        }
    }

    const fn new(denies: bool, owed: bool) -> Self {
        Self { fails_for_good: false, denies, owed }
    }

    const fn joined_with(self, other: Self) -> Self {
        Self::new(self.denies || other.denies, self.owed || other.owed)
    }
}

const NOTHING: OnlineUse = OnlineUse::new(false, false);

/// The steps that can break a statement when they come.
enum BreakingSteps<'p> {
    None,
    AnyCall,
    Of(Vec<&'p PatternId>),
}

/// Entries of a call that are known when it has ended.
const AFTERWARDS: [&str; 9] = [
    of_step::RESULT,
    of_step::ERROR,
    of_step::OK,
    of_step::STATUS,
    of_step::END,
    of_step::DURATION,
    of_step::EXIT_CODE,
    of_step::OUTPUT,
    of_step::RESPONSE,
];

/// Entries of a run that the log of a session does not have while it goes on.
const NOT_IN_A_SESSION: [&str; 10] = [
    of_run::INPUTS,
    of_run::OUTPUT,
    of_run::USAGE,
    of_run::COST,
    of_run::DURATION,
    of_run::ERROR,
    of_run::META,
    of_run::ENV,
    of_run::FILES,
    of_run::TOOLS,
];

/// Definitions, selections and `let`s within each other that are looked into.
const DEEPEST: u32 = 16;

#[derive(Clone, Copy)]
struct OnlineReader<'p> {
    program: &'p Program,
    depth: u32,
}

impl<'p> OnlineReader<'p> {
    fn use_of(self, check: &'p CompiledCheck) -> OnlineUse {
        match check {
            CompiledCheck::Expression(code) => self.use_of_expression(*code, fails_for_good(self.program, check)),
            CompiledCheck::Temporal(number) => self
                .program
                .temporals
                .get(number.0 as usize)
                .map_or(NOTHING, |one| self.use_of_statement(&one.temporal)),
            CompiledCheck::Not(inner) => turned_around(self.use_of(inner)),
            CompiledCheck::Group { kind, members } => self.use_of_group(*kind, members),
            CompiledCheck::Scoped { scope, body, .. } => self.use_in_window(scope, body),
            CompiledCheck::World(_) | CompiledCheck::OverRuns(_) => NOTHING,
        }
    }

    fn use_of_expression(self, code: CodeId, is_final: bool) -> OnlineUse {
        if !self.is_early(code) || !grows_with_run(self.program, code) {
            return NOTHING;
        }
        OnlineUse::new(is_final, !is_final)
    }

    fn use_of_group(self, kind: GroupKind, members: &'p [CompiledMember]) -> OnlineUse {
        let uses =
            || members.iter().map(|one| if self.are_early(&one.when) { self.use_of(&one.check) } else { NOTHING });
        let any = uses().fold(NOTHING, OnlineUse::joined_with);
        match kind {
            GroupKind::All => any,
            GroupKind::None => turned_around(any),
            GroupKind::Any | GroupKind::AtLeast(_) => {
                let denies = uses().all(|one| one.denies);
                OnlineUse::new(denies, any.owed || any.denies && !denies)
            }
        }
    }

    fn use_in_window(self, scope: &'p WindowScope<PatternId>, body: &'p CompiledCheck) -> OnlineUse {
        let within = match body {
            CompiledCheck::Expression(code) if !self.is_early(*code) => NOTHING,
            CompiledCheck::Expression(_) => OnlineUse::new(false, true),
            body => self.use_of(body),
        };
        let closed_by = |close: &PatternId| {
            // What is missing when a window closes is missing for good.
            let denies = within.owed && self.is_early_pattern(*close);
            OnlineUse::new(within.denies || denies, within.owed && !denies)
        };
        match scope {
            WindowScope::Values { .. } => match body {
                CompiledCheck::Expression(code) => self.use_of_expression(*code, fails_for_good(self.program, body)),
                _ => within,
            },
            WindowScope::Each { step } => match body {
                CompiledCheck::Expression(code) => {
                    OnlineUse::new(self.is_early(*code) && self.is_early_pattern(*step), false)
                }
                _ => within,
            },
            WindowScope::After { until: None, .. } => match body {
                CompiledCheck::Expression(code) => self.use_of_expression(*code, fails_for_good(self.program, body)),
                _ => within,
            },
            WindowScope::After { until: Some(close), .. }
            | WindowScope::Before { close }
            | WindowScope::Between { close, .. } => closed_by(close),
        }
    }

    fn use_of_statement(self, statement: &'p Temporal<PatternId, CodeId>) -> OnlineUse {
        let (breaking, owed) = self.breaking_steps(statement);
        let denies = match breaking {
            BreakingSteps::None => false,
            BreakingSteps::AnyCall => true,
            BreakingSteps::Of(patterns) => patterns.into_iter().any(|one| self.is_early_pattern(*one)),
        };
        OnlineUse::new(denies, owed)
    }

    /// The steps that can break a statement, and whether something can be missing at the end.
    fn breaking_steps(self, statement: &'p Temporal<PatternId, CodeId>) -> (BreakingSteps<'p>, bool) {
        use BreakingSteps as B;
        match statement {
            Temporal::Require { step, times: Some(TimesRange { least, most: Some(_) }) } => {
                (B::Of(vec![step]), *least > 0)
            }
            Temporal::Require { .. } => (B::None, true),
            Temporal::Never { steps } | Temporal::NeverAfter { steps, .. } => (B::Of(steps.iter().collect()), false),
            Temporal::NeverBefore { close, .. } | Temporal::NeverBetween { close, .. } => (B::Of(vec![close]), false),
            Temporal::Only { .. } | Temporal::First { .. } => (B::AnyCall, false),
            Temporal::Count { step, test } => {
                let (bounded, owed) = self.count_bounds(*test);
                (if bounded { B::Of(vec![step]) } else { B::None }, owed)
            }
            Temporal::Last { .. } => (B::None, true),
            Temporal::Before { targets, .. } => (B::Of(targets.iter().collect()), false),
            Temporal::After { immediately, within, .. } => {
                let has_deadline = matches!(within, Some(StepDistance::Calls(_) | StepDistance::Turns(_)));
                (if *immediately || has_deadline { B::AnyCall } else { B::None }, true)
            }
            Temporal::Sequence { mode: SequenceMode::Gaps, .. } => (B::None, true),
            Temporal::Sequence { mode: SequenceMode::Only, steps, .. } => (B::Of(steps.iter().collect()), true),
            Temporal::Sequence { mode: SequenceMode::Exactly, .. } | Temporal::Flow { .. } => (B::AnyCall, true),
            Temporal::Nested { close, .. } => (B::Of(vec![close]), true),
            Temporal::Together { .. } | Temporal::IfThen { .. } | Temporal::Iff { .. } => (B::None, true),
            Temporal::Either { steps } => (B::None, !steps.is_empty()),
            Temporal::Apart { left, right } | Temporal::NotBoth { left, right } => (B::Of(vec![left, right]), false),
            Temporal::Repeat { step, .. } => (B::Of(vec![step]), false),
            Temporal::Each { quantifier: Quantifier::Some, .. } => (B::None, true),
            Temporal::Each { step, condition, .. } if self.is_early(*condition) => (B::Of(vec![step]), false),
            Temporal::Each { .. } => (B::None, false),
            Temporal::NoneIn { values, .. } if self.is_early(*values) && grows_with_run(self.program, *values) => {
                (B::AnyCall, false)
            }
            Temporal::NoneIn { .. } => (B::None, false),
            Temporal::NoneInSteps { step, .. } | Temporal::ArgsValid { step: Some(step), .. } => {
                (B::Of(vec![step]), false)
            }
            Temporal::ArgsValid { step: None, .. } => (B::AnyCall, false),
            Temporal::CallsMatch { expected, .. } if !self.is_early(*expected) => (B::None, false),
            Temporal::CallsMatch { matching, .. } => {
                let denies = matching.extent != MatchExtent::Superset && matching.least_score.is_none();
                (if denies { B::AnyCall } else { B::None }, matching.extent != MatchExtent::Subset)
            }
        }
    }

    /// Whether more of what is counted can break a test for good, and whether less can be missing.
    fn count_bounds(self, test: CodeId) -> (bool, bool) {
        use super::temporal::count_tests::TestGrowth as T;
        match T::of_test(self.program, test) {
            T::FalseStays => (true, false),
            T::TrueStays => (false, true),
            T::Interval | T::FalseAbove(_) => (true, !self.allows_none(test)),
            T::Unknown => (false, true),
        }
    }

    /// `in 0..2`, `== 0`.
    fn allows_none(self, test: CodeId) -> bool {
        let is_zero = |one: &Constant| matches!(one, Constant::Number(text) if text == "0");
        self.program.code_ops(test).unwrap_or(&[]).iter().any(|op| match op {
            Op::Constant(Literal(number)) => match self.program.constants.get(*number as usize) {
                // Of a list other numbers may be missing: `in [0, 2]`.
                Some(one) => is_zero(one),
                None => false,
            },
            _ => false,
        })
    }

    fn is_early_pattern(self, pattern: PatternId) -> bool {
        self.program
            .patterns
            .get(pattern.0 as usize)
            .is_some_and(|pattern| pattern.alternatives.iter().any(|one| self.is_early_alternative(one)))
    }

    /// A call whose proposal says that it matches.
    fn is_early_alternative(self, one: &PatternAlternative<CodeId>) -> bool {
        let codes =
            one.text.iter().chain(&one.condition).chain(one.binds.iter().map(|(_, code)| code)).chain(&one.joins);
        !matches!(one.kind, StepKind::Message | StepKind::Span)
            && one.succeeded.is_none()
            && codes.copied().all(|code| self.is_early(code))
    }

    fn are_early(self, codes: &[CodeId]) -> bool {
        codes.iter().all(|code| self.is_early(*code))
    }

    /// Whether an expression asks only for what is known when a call is proposed.
    fn is_early(self, code: CodeId) -> bool {
        let Some(ops) = self.program.code_ops(code).filter(|_| self.depth < DEEPEST) else { return false };
        let inside = Self { depth: self.depth + 1, ..self };
        let of_step = |name: u32| !AFTERWARDS.contains(&self.name_text(name));
        let of_run = |name: u32| !NOT_IN_A_SESSION.contains(&self.name_text(name));
        ops.iter().enumerate().all(|(at, op)| match op {
            Op::Root(name) => of_run(name.0),
            Op::StepField(name) | Op::StepOwn(name) => of_step(name.0),
            Op::StepOrRoot(name) => of_step(name.0) && of_run(name.0),
            Op::Field(name, _) => {
                let before = at.checked_sub(1).and_then(|before| ops.get(before));
                match before {
                    Some(Op::Step()) => of_step(name.0),
                    Some(Op::Run()) => of_run(name.0),
                    _ => true,
                }
            }
            Op::Response() => false,
            Op::Let(number) => self.program.lets.get(number.0 as usize).is_some_and(|code| inside.is_early(*code)),
            Op::CallDef(DefRef(number), _) => {
                self.program.defs.get(*number as usize).is_some_and(|def| inside.is_early(def.code))
            }
            Op::Collect(CodeRef(code), ..) => inside.is_early(CodeId(*code)),
            Op::Select(selection, _) | Op::Fold(_, selection, _) => {
                self.program.selections.get(selection.0 as usize).is_some_and(|one| {
                    // What lies behind is known; of the whole run it has to be known of the proposed call, too.
                    !matches!(one.reach, SelectionReach::Run)
                        || inside.is_early_pattern(one.pattern) && one.value.is_none_or(|value| inside.is_early(value))
                })
            }
            _ => true,
        })
    }

    fn name_text(self, name: u32) -> &'p str {
        self.program.names.get(name as usize).map_or("", String::as_str)
    }
}

/// What holds for good of a statement fails for good of its opposite.
fn turned_around(used: OnlineUse) -> OnlineUse {
    OnlineUse::new(used.owed, used.denies)
}
