//! How far an assertion looks while a run goes on: the steps that can break it when they come, and the earlier ones that it looks at again.
//!
//! This says what need not be read or judged once more and decides nothing: what is judged is judged by the evaluator, and what is not known
//! here is read in full.

use super::count_tests::{CountedSteps, find_count_limit};
use super::plan::TemporalPlan;
use super::step_marks::MarkedPattern;
use crate::bytecode::ops::{CodeRef, DefRef, Op, SelectionRef};
use crate::bytecode::program::{CodeId, CompiledAssertion, CompiledCheck, PatternId, Program, TemporalId};
use crate::vm::prepare::PreparedProgram;
use averment_checker::ir::{RuleRole, SelectionReach, StepDistance, Temporal};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::StepKind;
use averment_syntax::ast::{Quantifier, SequenceMode};
use step_triggers::StepTrigger;

pub mod flow_states;
mod single_steps;
pub mod step_triggers;

pub(super) use single_steps::is_of_steps_alone;

/// Which of the earlier steps have to be there when an assertion is judged again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookBack {
    /// None: every step breaks it by itself or not at all.
    Nothing,
    /// Those that its patterns name.
    Matches,
    /// Of those that its patterns name, the ones that have a mark in common with the new step: another value of this binding is another matter.
    Alike(u32),
    /// The last calls, so many of them, and what stands between them.
    Calls(u64),
    /// All of them.
    Everything,
}

/// More calls are taken for all of them.
const MOST_CALLS: u64 = 1_000;

impl LookBack {
    fn joined_with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, one) | (one, Self::Nothing) => one,
            (Self::Alike(one), Self::Alike(other)) if one == other => self,
            (Self::Matches | Self::Alike(_), Self::Matches | Self::Alike(_)) => Self::Matches,
            (Self::Calls(one), Self::Calls(other)) => Self::Calls(one.max(other)),
            // Within a part of the calls that patterns name, others would stand nearer to each other than they do.
            _ => Self::Everything,
        }
    }

    /// What has to be there for a distance of so many calls: those beside it, too.
    fn of_distance(calls: u64) -> Self {
        if calls <= MOST_CALLS { Self::Calls(calls + 2) } else { Self::Everything }
    }
}

/// What an assertion looks at while a run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunReach {
    /// Whether any step can break it, whatever its name.
    pub any_step: bool,
    /// The unique patterns that it looks at, by number, sorted: where `any_step` is false a step that none of them names does not touch it.
    pub patterns: Vec<u32>,
    /// Which earlier steps it looks at.
    pub look_back: LookBack,
    /// It cannot fail for good as long as no more steps are there.
    pub limit: Option<ReachLimit>,
    /// The new steps that can break it, with what is to be looked at then; `None` if these are all that its patterns name.
    pub triggers: Option<Vec<StepTrigger>>,
    /// It cannot be broken before a step matches this pattern.
    pub opener: Option<MarkedPattern>,
}

/// An upper bound of a number of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReachLimit {
    /// The pattern that they match; all calls without one.
    pub counted: Option<MarkedPattern>,
    /// How many may be there.
    pub most: u64,
}

impl RunReach {
    const EVERYTHING: Self = Self {
        any_step: true,
        patterns: Vec::new(),
        look_back: LookBack::Everything,
        limit: None,
        triggers: None,
        opener: None,
    };

    /// How far an assertion looks.
    #[must_use]
    pub fn of_assertion(program: &Program, prepared: &PreparedProgram, assertion: &CompiledAssertion) -> Self {
        let rule = assertion.rule.and_then(|rule| program.rules.get(rule as usize));
        let is_plain = rule.is_none_or(|rule| rule.role == RuleRole::Rule);
        // What a catalogue says of how calls ended is code that may look anywhere.
        if !is_plain || prepared.concludes_endings() || assertion.settings.threshold.is_some() {
            return Self::EVERYTHING;
        }
        let mut reader = ReachReader::new(program, prepared);
        reader.add_codes(&assertion.settings.when);
        reader.add_check(&assertion.check, true);
        let limit = reader.count_limit(&assertion.check);
        // What is expected to fail is wrong where it holds, which other steps decide.
        let triggers = reader.step_triggers(&assertion.check).filter(|_| assertion.settings.expect_fail.is_none());
        let opener = reader.opener(&assertion.check).filter(|_| assertion.settings.expect_fail.is_none());
        RunReach { limit, triggers, opener, ..reader.into_reach() }
    }

    /// Whether the pass of an assertion on a run that goes on is one for good: its statement looks at what does not change any more.
    #[must_use]
    pub fn passes_for_good(program: &Program, prepared: &PreparedProgram, assertion: &CompiledAssertion) -> bool {
        let CompiledCheck::Temporal(number) = assertion.check else { return false };
        let mut reader = ReachReader::new(program, prepared);
        prepared.temporal_plan(program).patterns_of(number).for_each(|pattern| reader.add_pattern(pattern));
        let is_fixed = reader.reach.look_back == LookBack::Nothing && reader.is_steady;
        let is_named = matches!(
            program.temporals.get(number.0 as usize).map(|entry| &entry.temporal),
            Some(Temporal::First { .. })
        );
        is_fixed && is_named && assertion.settings.when.is_empty() && assertion.settings.threshold.is_none()
    }
}

/// Entries of a run that stay as they are from its first step.
const STEADY_ENTRIES: [&str; 5] = [of_run::ID, of_run::INPUTS, of_run::META, of_run::ENV, of_run::FILES];

/// Entries that change with the run and have the name of a field that a step may lack.
const MOVING_ENTRIES: [&str; 8] = [
    of_run::PROMPT,
    of_run::OUTPUT,
    of_run::STEPS,
    of_run::USAGE,
    of_run::DURATION,
    of_run::TURNS,
    of_run::TOOLS,
    of_run::COMPLETE,
];

/// Fields that say where a step stands among the others, or depend on them.
const PLACED_FIELDS: [&str; 5] = [of_step::INDEX, of_step::TURN, of_step::AGENT, of_step::DEPTH, of_step::PARENT_ID];

/// Definitions, selections and `let`s within each other that are looked into.
const DEEPEST: u32 = 16;

struct ReachReader<'p> {
    program: &'p Program,
    prepared: &'p PreparedProgram,
    plan: &'p TemporalPlan,
    reach: RunReach,
    /// False once something was met that may change with steps of any name.
    is_steady: bool,
    /// True as long as all that was met asks for nothing but the step at hand.
    is_local: bool,
    /// The patterns of lists of steps before the one at hand; `None` if others are asked for, too.
    so_far: Option<Vec<PatternId>>,
}

impl<'p> ReachReader<'p> {
    fn new(program: &'p Program, prepared: &'p PreparedProgram) -> Self {
        let reach = RunReach { any_step: false, look_back: LookBack::Nothing, ..RunReach::EVERYTHING };
        Self {
            program,
            prepared,
            plan: prepared.temporal_plan(program),
            reach,
            is_steady: true,
            is_local: true,
            so_far: Some(Vec::new()),
        }
    }

    fn into_reach(self) -> RunReach {
        if !self.is_steady {
            return RunReach::EVERYTHING;
        }
        let mut reach = self.reach;
        reach.patterns.sort_unstable();
        reach.patterns.dedup();
        reach
    }

    fn look_back(&mut self, at: LookBack) {
        self.reach.look_back = self.reach.look_back.joined_with(at);
    }

    /// `is_whole` says that the check is all that the assertion says: within something else no step is judged by itself.
    fn add_check(&mut self, check: &'p CompiledCheck, is_whole: bool) {
        match check {
            CompiledCheck::Expression(code) if is_whole && self.is_of_each_element(*code) => {
                self.look_at_all(LookBack::Nothing);
            }
            CompiledCheck::Expression(code) => self.add_code(*code, 0),
            CompiledCheck::Temporal(number) => self.add_statement(*number, is_whole),
            CompiledCheck::Not(inner) => self.add_part(inner),
            CompiledCheck::Group { members, .. } => {
                for member in members {
                    self.add_codes(&member.when);
                    self.add_part(&member.check);
                }
            }
            CompiledCheck::Scoped { scope, body, .. } => {
                scope.header_patterns().for_each(|pattern| self.add_pattern(*pattern));
                self.add_part(body);
            }
            CompiledCheck::World(_) | CompiledCheck::OverRuns(_) => self.is_steady = false,
        }
    }

    fn add_part(&mut self, check: &'p CompiledCheck) {
        self.look_back(LookBack::Matches);
        self.add_check(check, false);
        if self.reach.any_step {
            self.look_back(LookBack::Everything);
        }
    }

    fn add_statement(&mut self, number: TemporalId, is_whole: bool) {
        let Some(entry) = self.program.temporals.get(number.0 as usize) else {
            self.is_steady = false;
            return;
        };
        self.plan.patterns_of(number).for_each(|pattern| self.add_pattern(pattern));
        let by_itself = if is_whole { LookBack::Nothing } else { LookBack::Matches };
        match &entry.temporal {
            Temporal::Never { .. } => self.look_back(by_itself),
            Temporal::Each { quantifier, condition, .. } => {
                self.add_code(*condition, 0);
                self.look_back(if *quantifier == Quantifier::Some { LookBack::Matches } else { by_itself });
            }
            Temporal::NoneInSteps { predicate, .. } => {
                self.add_code(*predicate, 0);
                self.look_back(by_itself);
            }
            Temporal::Only { .. } => self.look_at_all(by_itself),
            Temporal::ArgsValid { step: Some(_), .. } => self.look_back(by_itself),
            Temporal::ArgsValid { step: None, .. } => self.look_at_all(by_itself),
            Temporal::NoneIn { values, predicate } if self.is_of_each_step(*values) => {
                self.add_code(*predicate, 0);
                self.look_at_all(by_itself);
            }
            Temporal::Count { test, .. } => {
                self.add_code(*test, 0);
                self.look_at_alike(number, is_whole);
            }
            // No call is the last one for good.
            Temporal::Last { .. } if is_whole => {}
            Temporal::Repeat { limit, .. } => self.look_back(LookBack::of_distance(u64::from(*limit))),
            Temporal::Before { immediately: true, .. } => self.look_back(LookBack::of_distance(1)),
            Temporal::After { immediately: true, .. } => self.look_at_all(LookBack::of_distance(1)),
            Temporal::Before { within: Some(StepDistance::Calls(calls)), .. }
            | Temporal::NeverAfter { within: Some(StepDistance::Calls(calls)), .. } => {
                self.look_back(LookBack::of_distance(*calls));
            }
            // A step of any name can be too late.
            Temporal::After { within: Some(StepDistance::Calls(calls)), .. } => {
                self.look_at_all(LookBack::of_distance(*calls));
            }
            Temporal::Before { within, .. }
            | Temporal::NeverAfter { within, .. }
            | Temporal::NeverBefore { within, .. }
            | Temporal::NeverBetween { within, .. } => match within {
                None | Some(StepDistance::Time(_)) => self.look_at_alike(number, is_whole),
                // Logs of sessions record no turns, so that none is a matter of what stands between.
                Some(StepDistance::Turns(_)) => self.look_back(LookBack::Matches),
                Some(StepDistance::Calls(_)) => self.look_back(LookBack::Everything),
            },
            Temporal::After { within: Some(StepDistance::Time(_) | StepDistance::Turns(_)), .. } => {
                self.look_at_all(LookBack::Matches);
            }
            // Something that may still come is no failure for good.
            Temporal::Require { times: None, .. }
            | Temporal::After { within: None, .. }
            | Temporal::Sequence { mode: SequenceMode::Gaps, within: None, .. }
            | Temporal::IfThen { .. }
            | Temporal::Iff { .. }
            | Temporal::Either { .. }
            | Temporal::Together { .. } => self.look_back(by_itself),
            Temporal::Require { .. } | Temporal::Nested { .. } | Temporal::Apart { .. } => {
                self.look_back(LookBack::Matches);
            }
            Temporal::Sequence { mode: SequenceMode::Only, within: None, .. } => self.look_back(LookBack::Matches),
            Temporal::NotBoth { .. } => self.look_at_alike(number, is_whole),
            Temporal::Sequence { .. }
            | Temporal::First { .. }
            | Temporal::Last { .. }
            | Temporal::Flow { .. }
            | Temporal::NoneIn { .. }
            | Temporal::CallsMatch { .. } => self.look_at_all(LookBack::Everything),
        }
    }

    fn look_at_all(&mut self, back: LookBack) {
        self.reach.any_step = true;
        self.look_back(back);
    }

    /// A statement that holds if it holds for each value of a binding: of the patterns that have one in common most is told apart.
    fn look_at_alike(&mut self, number: TemporalId, is_whole: bool) {
        let mut names: Vec<u32> = self.pattern_names(number).flatten().copied().collect();
        names.sort_unstable();
        let most = names.chunk_by(|one, other| one == other).max_by_key(|alike| alike.len());
        // A value that one of several patterns binds tells nothing apart.
        let most = most.filter(|alike| alike.len() > 1 || self.pattern_names(number).count() == 1);
        let name = most.and_then(|alike| alike.first()).filter(|_| is_whole && self.is_local);
        self.look_back(name.map_or(LookBack::Matches, |name| LookBack::Alike(*name)));
    }

    /// The bindings of each pattern of a statement.
    fn pattern_names(&self, number: TemporalId) -> impl Iterator<Item = &'p [u32]> {
        self.plan.patterns_of(number).map(|pattern| self.plan.bound_names(pattern))
    }

    fn count_limit(&self, check: &CompiledCheck) -> Option<ReachLimit> {
        let (counted, most) = find_count_limit(self.program, check)?;
        let counted = match counted {
            CountedSteps::Calls => None,
            CountedSteps::Matches(pattern) if self.is_steady && self.is_local => {
                Some(MarkedPattern { pattern: self.plan.number_of(pattern)?, binding: None })
            }
            CountedSteps::Matches(_) => return None,
        };
        Some(ReachLimit { counted, most })
    }

    fn add_pattern(&mut self, pattern: PatternId) {
        self.add_nested_pattern(pattern, 0);
    }

    fn add_nested_pattern(&mut self, pattern: PatternId, depth: u32) {
        let Some(number) = self.plan.number_of(pattern) else {
            self.is_steady = false;
            return;
        };
        if self.reach.patterns.contains(&number) {
            return;
        }
        self.reach.patterns.push(number);
        for one in self.plan.evaluated_alternatives(pattern) {
            let binds = one.binds.iter().map(|(_, code)| code);
            one.text.iter().chain(&one.condition).chain(binds).chain(&one.joins).for_each(|code| {
                self.add_code(*code, depth);
            });
        }
    }

    fn add_codes(&mut self, codes: &[CodeId]) {
        codes.iter().for_each(|code| self.add_code(*code, 0));
    }

    fn add_code(&mut self, code: CodeId, depth: u32) {
        let ops = self.program.code_ops(code).filter(|_| depth < DEEPEST);
        let Some(ops) = ops.filter(|_| !self.prepared.is_graded(code)) else {
            self.is_steady = false;
            return;
        };
        for (at, op) in ops.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| ops.get(before));
            self.is_steady &= self.is_steady_op(*op, before, ops.get(at + 1));
            match *op {
                Op::Let(number) => match self.program.lets.get(number.0 as usize) {
                    Some(code) => self.add_code(*code, depth + 1),
                    None => self.is_steady = false,
                },
                Op::CallDef(DefRef(number), _) => match self.program.defs.get(number as usize) {
                    Some(def) => self.add_code(def.code, depth + 1),
                    None => self.is_steady = false,
                },
                Op::Collect(CodeRef(code), ..) => self.add_code(CodeId(code), depth + 1),
                Op::Select(selection, _) | Op::Fold(_, selection, _) => self.add_selection(selection, depth + 1),
                _ => {}
            }
        }
    }

    fn is_steady_op(&self, op: Op, before: Option<&Op>, next: Option<&Op>) -> bool {
        match op {
            Op::Root(name) => STEADY_ENTRIES.contains(&self.name_text(name.0)),
            Op::StepField(name) | Op::StepOwn(name) => !PLACED_FIELDS.contains(&self.name_text(name.0)),
            Op::StepOrRoot(name) => {
                let name = self.name_text(name.0);
                !PLACED_FIELDS.contains(&name) && !MOVING_ENTRIES.contains(&name) && !is_list(name)
            }
            // Deeper in a value a name is that of somebody else's key.
            Op::Field(name, _) => {
                let is_inner = matches!(before, Some(Op::StepField(_) | Op::StepOwn(_) | Op::StepOrRoot(_)));
                is_inner || !PLACED_FIELDS.contains(&self.name_text(name.0))
            }
            Op::Step() => matches!(next, Some(Op::Field(..))),
            Op::Run() | Op::Response() => false,
            _ => true,
        }
    }

    fn add_selection(&mut self, selection: SelectionRef, depth: u32) {
        self.is_local = false;
        self.look_back(LookBack::Matches);
        let Some(selection) = self.program.selections.get(selection.0 as usize) else {
            self.is_steady = false;
            return;
        };
        match (&mut self.so_far, selection.reach) {
            (Some(lists), SelectionReach::SoFar | SelectionReach::StartedSoFar) => lists.push(selection.pattern),
            _ => self.so_far = None,
        }
        // What stands behind a step or beside it is touched by steps of any name.
        if matches!(selection.reach, SelectionReach::Within(_) | SelectionReach::Row) {
            self.is_steady = false;
        }
        self.add_nested_pattern(selection.pattern, depth);
        if let Some(value) = selection.value {
            self.add_code(value, depth);
        }
    }

    fn name_text(&self, name: u32) -> &'p str {
        self.program.names.get(name as usize).map_or("", String::as_str)
    }
}

fn is_list(name: &str) -> bool {
    StepKind::ALL.iter().any(|kind| kind.list_key() == name)
}
