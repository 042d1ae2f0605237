//! Incremental judging of a run that grows. Only the assertions that a new step can affect are judged, on the steps that they look at.
//!
//! One evaluator decides every verdict. Steps and assertions are skipped only if they cannot change its result.

use crate::error::RunError;
use crate::outcome::{Status, Verdict};
use crate::rules::{Rules, SharedRules};
use crate::trace::Trace;
use averment_engine::vm::evaluate::evaluate_some;
use averment_engine::vm::machine::Machine;
use averment_engine::vm::temporal::run_reach::flow_states::FlowStates;
use averment_engine::vm::temporal::run_reach::{LookBack, RunReach};
use averment_engine::vm::temporal::step_marks::{MarkedPattern, count_calls, mark_steps};
use averment_engine::vm::temporal::step_sums::SumLimit;
use averment_report::model::UnreadableTrace;
use bumpalo::Bump;
use std::collections::BTreeSet;
use triggers::TriggeredAssertion;

mod assertion_set;
mod flows;
mod triggers;

pub use assertion_set::AssertionSet;
pub use averment_engine::vm::temporal::run_reach::flow_states::FlowState;
pub use averment_engine::vm::temporal::step_sums::StepSum;
pub use flows::IndexedFlow;
pub use triggers::{ClosedMarks, TakenMarks};

/// The verdict of one assertion on an unfinished run, without texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrowthVerdict {
    /// Index of the assertion in the rules.
    pub place: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// The status: the verdict after expected failures and the like are considered.
    pub status: Status,
    /// Number of violations of a failure.
    pub violations: u64,
}

/// Distinguishes lines that affect the same assertions: by a pattern, and by the value of a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineMark {
    /// Index of the pattern in [`GrowthIndex`].
    pub slot: u32,
    /// Digest of the value; `None` if it may be any value.
    pub value: Option<u64>,
}

/// A mark of one line of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TouchMark {
    /// The mark.
    pub mark: LineMark,
    /// True if the line has the mark whatever the result of its call is.
    pub sure: bool,
    /// Number of steps of the line with this mark; [`u64::MAX`] if unknown.
    pub steps: u64,
}

/// The assertions, marks and sums that the steps of a line affect.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LineTouch {
    /// Assertions that look at steps of these kinds and names.
    pub assertions: AssertionSet,
    /// The marks of the line.
    pub marks: Vec<TouchMark>,
    /// The contribution of the line to each limited sum.
    pub sums: Vec<StepSum>,
}

#[derive(Debug)]
struct IndexedSum {
    place: usize,
    program: usize,
    limit: SumLimit,
}

/// The earlier steps that are needed to judge assertions again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EarlierSteps {
    /// Steps that affect these assertions.
    Touching(AssertionSet),
    /// Steps with one of these marks.
    Marked(BTreeSet<LineMark>),
    /// Steps that triggers need.
    Taken(BTreeSet<TakenMarks>),
    /// This number of last calls, and everything between them.
    LastCalls(u64),
    /// All steps.
    All,
}

/// Assertions that new steps may break, with the earlier steps that they need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrowthNeed {
    /// The assertions.
    pub wanted: AssertionSet,
    /// The earlier steps that they need.
    pub earlier: EarlierSteps,
}

/// Index from steps of an unfinished run to the assertions that look at them. Contains only assertions whose failure is final.
#[derive(Debug)]
pub struct GrowthIndex {
    rules: Rules,
    /// For each program and each of its unique patterns, the assertions that look at it.
    of_patterns: Vec<Vec<AssertionSet>>,
    of_any_step: AssertionSet,
    by_matches: AssertionSet,
    by_last_calls: AssertionSet,
    last_calls: u64,
    by_all: AssertionSet,
    settling: AssertionSet,
    slots: Vec<MarkSlot>,
    /// Assertions that look only at steps with a mark of these slots.
    by_marks: Vec<(usize, Vec<u32>)>,
    limits: Vec<StepLimit>,
    /// Assertions that only some of their matching steps can break.
    triggered: Vec<TriggeredAssertion>,
    closed: Vec<ClosedMarks>,
    flows: Vec<IndexedFlow>,
    sums: Vec<IndexedSum>,
    /// Slots whose marks are used to look up earlier lines.
    evidence: BTreeSet<u32>,
}

/// The pattern by which lines get a mark; without a pattern, all calls get it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct MarkSlot {
    program: usize,
    pattern: Option<MarkedPattern>,
}

/// An assertion that cannot break while at most `most` steps have a mark of a slot.
#[derive(Debug)]
struct StepLimit {
    place: usize,
    slot: u32,
    most: u64,
}

impl GrowthIndex {
    /// Indexes all assertions of rules. Returns `None` if the reading options need the whole run.
    #[must_use]
    pub fn new(rules: &Rules) -> Option<Self> {
        let SharedRules { programs, prepared, table, options, reading, .. } = &*rules.inner;
        if reading.is_in_full() || reading.names.is_some() {
            return None;
        }
        let mut index = Self {
            rules: rules.clone(),
            of_patterns: Vec::new(),
            of_any_step: AssertionSet::default(),
            by_matches: AssertionSet::default(),
            by_last_calls: AssertionSet::default(),
            last_calls: 0,
            by_all: AssertionSet::default(),
            settling: AssertionSet::default(),
            slots: Vec::new(),
            by_marks: Vec::new(),
            limits: Vec::new(),
            triggered: Vec::new(),
            closed: Vec::new(),
            flows: Vec::new(),
            sums: Vec::new(),
            evidence: BTreeSet::new(),
        };
        for (number, (program, prepared)) in programs.iter().zip(prepared).enumerate() {
            let plan = prepared.temporal_plan(program);
            let mut of_patterns = vec![AssertionSet::default(); plan.pattern_count()];
            for (at, assertion) in (0_u32..).zip(&program.assertions) {
                let place =
                    table.item_index(number, at).filter(|_| options.selection.is_judged(program, at, assertion));
                let Some(place) = place else { continue };
                if !table.items.get(place).is_some_and(|item| item.online.fails_for_good) {
                    continue;
                }
                let reach = RunReach::of_assertion(program, prepared, assertion);
                index.add_reach(place, &reach, &mut of_patterns);
                index.add_marks(place, number, &reach);
                index.sums.extend(SumLimit::of_assertion(program, prepared, assertion).map(|limit| IndexedSum {
                    place,
                    program: number,
                    limit,
                }));
                if let Some(states) = FlowStates::of_assertion(program, prepared, assertion, &reach) {
                    index.add_flow(place, number, states);
                }
                if RunReach::passes_for_good(program, prepared, assertion) {
                    index.settling.insert(place);
                }
            }
            index.of_patterns.push(of_patterns);
        }
        Some(index)
    }

    fn add_reach(&mut self, place: usize, reach: &RunReach, of_patterns: &mut [AssertionSet]) {
        for pattern in &reach.patterns {
            if let Some(set) = of_patterns.get_mut(*pattern as usize) {
                set.insert(place);
            }
        }
        if reach.any_step {
            self.of_any_step.insert(place);
        }
        match reach.look_back {
            LookBack::Nothing => {}
            LookBack::Matches | LookBack::Alike(_) => self.by_matches.insert(place),
            LookBack::Calls(calls) => {
                self.by_last_calls.insert(place);
                self.last_calls = self.last_calls.max(calls);
            }
            LookBack::Everything => self.by_all.insert(place),
        }
    }

    fn add_marks(&mut self, place: usize, program: usize, reach: &RunReach) {
        if let LookBack::Alike(binding) = reach.look_back {
            let marked =
                reach.patterns.iter().map(|pattern| MarkedPattern { pattern: *pattern, binding: Some(binding) });
            let slots: Vec<u32> = marked.map(|pattern| self.slot_of(program, Some(pattern))).collect();
            self.evidence.extend(&slots);
            self.by_marks.push((place, slots));
        }
        if let Some(limit) = reach.limit {
            let slot = self.slot_of(program, limit.counted);
            self.limits.push(StepLimit { place, slot, most: limit.most });
        }
        self.add_triggers(place, program, reach);
    }

    fn slot_of(&mut self, program: usize, pattern: Option<MarkedPattern>) -> u32 {
        let slot = MarkSlot { program, pattern };
        let known = self.slots.iter().position(|known| *known == slot);
        let place = known.unwrap_or_else(|| {
            self.slots.push(slot);
            self.slots.len() - 1
        });
        u32::try_from(place).unwrap_or(u32::MAX)
    }

    /// Returns true if lines are looked up by the marks of a slot, not only counted.
    #[must_use]
    pub fn asks_for(&self, slot: u32) -> bool {
        self.evidence.contains(&slot)
    }

    /// Returns the assertions, marks and sums that the steps of a run affect.
    ///
    /// # Errors
    /// Returns an error if the run cannot be read.
    pub fn touched(&self, text: &str) -> Result<LineTouch, RunError> {
        let SharedRules { programs, prepared, options, reading, .. } = &*self.rules.inner;
        let raw = self.rules.single_run(Trace::from(text).named("session"))?;
        let arena = Bump::new();
        let run = reading.parse_run(&raw, &arena).map_err(UnreadableTrace::from)?;
        let mut touched = AssertionSet::default();
        for step in run.steps {
            for ((program, prepared), of_patterns) in programs.iter().zip(prepared).zip(&self.of_patterns) {
                let patterns = prepared.temporal_plan(program).of_step(step.kind, step.name, prepared);
                let sets = patterns.iter().filter_map(|pattern| of_patterns.get(*pattern as usize));
                sets.for_each(|set| touched.add_all(set));
            }
        }
        let (mut marks, mut sums) = (Vec::new(), Vec::new());
        for (number, (program, prepared)) in programs.iter().zip(prepared).enumerate() {
            let machine = Machine::new(program, prepared, &run, &arena, options.limits);
            sums.extend(self.add_line_marks(number, machine, &mut marks));
        }
        Ok(LineTouch { assertions: touched, marks, sums })
    }

    /// Returns true if an assertion looks at a line.
    #[must_use]
    pub fn looks_at(&self, touch: &LineTouch, place: usize) -> bool {
        touch.assertions.contains(place) || self.of_any_step.contains(place)
    }

    /// Adds the marks that a program gives to steps, and returns their contribution to its sums.
    fn add_line_marks(&self, program: usize, mut machine: Machine<'_>, marks: &mut Vec<TouchMark>) -> Vec<StepSum> {
        let slots = || (0_u32..).zip(&self.slots).filter(|(_, slot)| slot.program == program);
        let calls = count_calls(&machine);
        let of_calls = slots().filter(|(_, slot)| calls > 0 && slot.pattern.is_none());
        let of_call = |slot| TouchMark { mark: LineMark { slot, value: None }, sure: true, steps: calls };
        marks.extend(of_calls.map(|(slot, _)| of_call(slot)));
        let (slots, patterns): (Vec<u32>, Vec<MarkedPattern>) =
            slots().filter_map(|(place, slot)| Some((place, slot.pattern?))).unzip();
        let own = self.sums.iter().filter(|sum| sum.program == program);
        let limits: Vec<SumLimit> = own.map(|sum| sum.limit).collect();
        if patterns.is_empty() && limits.is_empty() {
            return Vec::new();
        }
        let (found, sums) = mark_steps(&mut machine, &patterns, &limits);
        for (slot, found) in slots.into_iter().zip(found) {
            let mark = |value| LineMark { slot, value };
            let found = found.into_iter();
            marks.extend(found.map(|one| TouchMark { mark: mark(one.value), sure: one.sure, steps: one.steps }));
        }
        sums
    }

    /// Returns the assertions to judge for new steps, with the earlier steps that they need. `settled` are the assertions that nothing can break any
    /// more. `totals` are the numbers of earlier steps with a mark of each slot, and `sums` their sums.
    #[must_use]
    pub fn needs_of(
        &self,
        touch: &LineTouch,
        settled: &AssertionSet,
        totals: &[u64],
        sums: &[StepSum],
    ) -> Vec<GrowthNeed> {
        let mut named = touch.assertions.clone();
        named.add_all(&self.of_any_step);
        named.remove_all(settled);
        for limit in &self.limits {
            let before = totals.get(limit.slot as usize).copied().unwrap_or_default();
            let new = touch.marks.iter().filter(|one| one.mark.slot == limit.slot).map(|one| one.steps);
            if new.fold(before, u64::saturating_add) <= limit.most {
                named.remove(limit.place);
            }
        }
        for ((sum, before), new) in
            self.sums.iter().zip(sums.iter().chain(std::iter::repeat(&StepSum::default()))).zip(&touch.sums)
        {
            if sum.limit.is_kept(before.joined_with(*new)) {
                named.remove(sum.place);
            }
        }
        let (alike, marks) = self.take_marked(touch, &mut named);
        let (near, whole) = (named.common(&self.by_last_calls), named.common(&self.by_all));
        [&near, &whole].into_iter().for_each(|others| named.remove_all(others));
        let matching = named.common(&self.by_matches);
        let needs = [
            GrowthNeed { wanted: named, earlier: EarlierSteps::Touching(matching) },
            GrowthNeed { wanted: alike, earlier: EarlierSteps::Marked(marks) },
            GrowthNeed { wanted: near, earlier: EarlierSteps::LastCalls(self.last_calls) },
            GrowthNeed { wanted: whole, earlier: EarlierSteps::All },
        ];
        needs.into_iter().filter(|need| !need.wanted.is_empty()).collect()
    }

    /// Removes from `named` the assertions that find earlier steps by marks. Returns them with these marks.
    fn take_marked(&self, touch: &LineTouch, named: &mut AssertionSet) -> (AssertionSet, BTreeSet<LineMark>) {
        let (mut alike, mut marks) = (AssertionSet::default(), BTreeSet::new());
        for (place, slots) in &self.by_marks {
            if !named.contains(*place) {
                continue;
            }
            let own = touch.marks.iter().filter(|one| slots.contains(&one.mark.slot));
            // A step that may have any value concerns all others, so the assertion stays in `named`.
            let Some(values) = own.map(|one| one.mark.value).collect::<Option<BTreeSet<u64>>>() else { continue };
            named.remove(*place);
            if values.is_empty() {
                continue;
            }
            alike.insert(*place);
            let values = || values.iter().copied().map(Some).chain([None]);
            marks.extend(slots.iter().flat_map(|slot| values().map(|value| LineMark { slot: *slot, value })));
        }
        (alike, marks)
    }

    /// Returns the assertions that passed and can no longer fail.
    #[must_use]
    pub fn settled_by(&self, verdicts: &[GrowthVerdict]) -> AssertionSet {
        let mut settled = AssertionSet::default();
        let passed = verdicts.iter().filter(|one| one.verdict == Verdict::Pass && one.status == Status::Passed);
        passed.filter(|one| self.settling.contains(one.place)).for_each(|one| settled.insert(one.place));
        settled
    }

    /// Judges a run by some assertions.
    ///
    /// # Errors
    /// Returns an error if the run cannot be read.
    pub fn judge(&self, text: &str, wanted: &AssertionSet) -> Result<Vec<GrowthVerdict>, RunError> {
        let SharedRules { programs, prepared, table, options, reading, .. } = &*self.rules.inner;
        let raw = self.rules.single_run(Trace::from(text).named("session"))?;
        let arena = Bump::new();
        let run = reading.parse_run(&raw, &arena).map_err(UnreadableTrace::from)?;
        let mut verdicts = Vec::new();
        for (number, (program, prepared)) in programs.iter().zip(prepared).enumerate() {
            let place = |at: u32| table.item_index(number, at).filter(|place| wanted.contains(*place));
            let numbers = (0_u32..).zip(&program.assertions).map(|(at, _)| at);
            let numbers: Vec<u32> = numbers.filter(|at| place(*at).is_some()).collect();
            if numbers.is_empty() {
                continue;
            }
            let machine = Machine::new(program, prepared, &run, &arena, options.limits);
            let outcomes = evaluate_some(machine, options, &numbers);
            verdicts.extend(outcomes.into_iter().filter_map(|one| {
                let violations = if one.verdict == Verdict::Fail { one.violations.count.max(1) } else { 0 };
                Some(GrowthVerdict {
                    place: place(one.assertion)?,
                    verdict: one.verdict,
                    status: one.status,
                    violations,
                })
            }));
        }
        Ok(verdicts)
    }
}
