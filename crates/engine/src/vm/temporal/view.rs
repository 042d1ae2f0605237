//! A window as a statement sees it: its operands, its calls, and whether two steps match under one environment.

use super::call_knowledge::{UnknownCause, unknown_cause};
use super::plan::{TemporalPlan, UniquePattern};
use super::search::is_by_place;
use super::statements::{Polarity, StatementDefinition};
use super::step_lists::Certainty;
use super::timeline::{Env, PatternMatches, Timeline, ValueId, to_index};
use super::window_events::{EventSelection, WindowHits, event_hit};
use crate::bytecode::program::{CodeId, CompiledPattern, PatternId, TemporalEntry};
use crate::vm::context::{ExpressionScope, JudgeContext};
use crate::vm::fault::Fault;
use crate::vm::machine::Machine;
use aho_corasick::AhoCorasick;
use averment_base::value::Node;
use averment_checker::ir::PatternAlternative;
use averment_runs::run::Step;
use smallvec::SmallVec;

pub(super) type BindingNames = SmallVec<[u32; 2]>;

/// Of two that both have to fit the lower one counts, of two that may the higher one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PairFit {
    No,
    Unknown,
    Yes,
}

#[derive(Debug, Clone)]
pub(super) struct Hit {
    pub(super) operand: usize,
    pub(super) step: u32,
    pub(super) event: u32,
    pub(super) sure: bool,
    /// Bound values; those given by the header are open.
    pub(super) env: Env,
}

impl Hit {
    /// Whether it is a match at all.
    fn own_fit(&self) -> PairFit {
        if self.sure { PairFit::Yes } else { PairFit::Unknown }
    }

    /// Replaces unrecorded values by distinct new ones.
    pub(super) fn fresh_env(&self) -> Env {
        self.env.iter().map(|id| if *id == ValueId::ABSENT { ValueId::FRESH } else { *id }).collect()
    }
}

#[derive(Debug, Clone)]
pub(super) struct WindowOperand {
    pub(super) pattern: PatternId,
    pub(super) unique: super::plan::UniquePatternId,
    pub(super) polarity: Polarity,
    pub(super) names: BindingNames,
    pub(super) joined: bool,
}

pub(super) struct WindowView<'a, 'run> {
    pub(super) machine: &'a mut Machine<'run>,
    pub(super) timeline: &'a Timeline<'run>,
    pub(super) plan: &'a TemporalPlan,
    /// The statement; `None` while a block header is read.
    pub(super) entry: Option<&'a TemporalEntry>,
    pub(super) statement: Option<&'a StatementDefinition>,
    pub(super) context: &'a JudgeContext<'run>,
    /// The header's values as numbers; open if not given.
    pub(super) header: Env,
    pub(super) operands: &'a [WindowOperand],
    /// For each operand the events of the window that the header's values allow.
    pub(super) selected: &'a [EventSelection],
    pub(super) calls: &'a [u32],
    /// Set where tests on bindings that something missing decides are unknown.
    pub(super) doubts_tests: bool,
    /// Failures listed; with 0 the first is enough.
    pub(super) listed: usize,
}

/// Which tests of a match on bindings leave it open whether it fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountedTests {
    All,
    /// Those that the values of the header answer: they tell whether it is a match at all.
    Given,
    /// Those that ask for a value of the other match.
    Relating,
}

/// An event with its values, or values alone.
#[derive(Clone, Copy)]
pub(super) struct PairSide<'e> {
    pub(super) event: Option<(usize, u32)>,
    pub(super) env: &'e Env,
}

impl Hit {
    pub(super) fn as_side(&self) -> PairSide<'_> {
        PairSide { event: Some((self.operand, self.event)), env: &self.env }
    }
}

impl<'a, 'run> WindowView<'a, 'run> {
    pub(super) fn step(&self, number: u32) -> Option<&'run Step<'run>> {
        self.machine.run.steps.get(number as usize)
    }

    pub(super) fn unknown_cause(&self, earlier: u32, later: u32) -> Option<UnknownCause> {
        unknown_cause(self.step(earlier)?, self.step(later)?)
    }

    pub(super) fn unique_pattern(&self, operand: usize) -> Option<&'a UniquePattern> {
        self.plan.unique_pattern(self.operands.get(operand)?.unique)
    }

    /// All matches of an operand in the run, whatever the window.
    pub(super) fn matches_of(&self, operand: usize) -> Option<&'a PatternMatches> {
        self.timeline.matches_of(self.operands.get(operand)?.unique)
    }

    /// The pattern as it stands in the rules.
    pub(super) fn written_pattern(&self, operand: usize) -> Option<&'run CompiledPattern> {
        self.machine.program.patterns.get(self.operands.get(operand)?.pattern.0 as usize)
    }

    /// True if a pattern asks for something that a longer run may change.
    pub(super) fn looks_at_course(&self) -> bool {
        (0..self.operands.len()).any(|operand| self.unique_pattern(operand).is_some_and(|one| one.looks_at_course))
    }

    pub(super) fn operand_names(&self, operand: usize) -> &[u32] {
        self.operands.get(operand).map_or(&[], |operand| operand.names.as_slice())
    }

    pub(super) fn shared_names(&self, a: usize, b: usize) -> BindingNames {
        self.operand_names(a).iter().copied().filter(|name| self.operand_names(b).contains(name)).collect()
    }

    /// Names used by its tests on other patterns' bindings, without the header's.
    pub(super) fn asked_names(&self, operand: usize) -> BindingNames {
        let asks = self.unique_pattern(operand).map_or(&[][..], |unique| unique.asks.as_slice());
        asks.iter().copied().filter(|name| self.is_open(*name)).collect()
    }

    /// True if the header gives no value for a name.
    fn is_open(&self, name: u32) -> bool {
        self.header.get(name as usize).is_none_or(|id| *id == ValueId::OPEN)
    }

    pub(super) fn has_joins(&self, operand: usize) -> bool {
        self.operands.get(operand).is_some_and(|operand| operand.joined)
    }

    /// The same view of other matches, of which no failures are listed.
    pub(super) fn of_matches<'b>(
        &'b mut self,
        timeline: &'b Timeline<'run>,
        header: Env,
        selected: &'b [EventSelection],
    ) -> WindowView<'b, 'run> {
        WindowView {
            machine: &mut *self.machine,
            timeline,
            plan: self.plan,
            entry: self.entry,
            statement: self.statement,
            context: self.context,
            header,
            operands: self.operands,
            selected,
            calls: self.calls,
            doubts_tests: self.doubts_tests,
            listed: 0,
        }
    }

    /// The answers to one question about what is sure and about what is possible, asked once where nothing is unknown.
    pub(super) fn ask_both<T: Clone>(
        &mut self,
        hits: &WindowHits,
        mut ask: impl FnMut(&mut Self, Certainty) -> Result<T, Fault>,
    ) -> Result<(T, T), Fault> {
        let sure = ask(self, Certainty::Sure)?;
        let possible = if self.tells_all(hits) { sure.clone() } else { ask(self, Certainty::Possible)? };
        Ok((sure, possible))
    }

    /// True if nothing is unknown of these matches, so that what is sure and what is possible are the same.
    fn tells_all(&self, hits: &WindowHits) -> bool {
        !self.operands.iter().any(|operand| operand.joined)
            && is_by_place(self.statement_bound())
            && hits.all().iter().all(|hit| hit.sure)
    }

    pub(super) fn check_faults(&self) -> Result<(), Fault> {
        let mut faults = (0..self.operands.len()).filter_map(|operand| self.matches_of(operand)?.fault.clone());
        faults.next().map_or(Ok(()), Err)
    }

    /// Values that occur for a name, and one that does not (not recorded if some step does not record it).
    pub(super) fn values_of(&self, name: u32) -> Vec<ValueId> {
        let mut values = Vec::new();
        for operand in 0..self.operands.len() {
            let (Some(unique), Some(matches)) = (self.unique_pattern(operand), self.matches_of(operand)) else {
                continue;
            };
            if let Ok(position) = unique.names.binary_search(&name) {
                let events = 0..to_index(matches.events.len());
                values.extend(events.filter_map(|event| matches.value_ids(event, unique.names.len()).get(position)));
            }
        }
        values.sort_unstable();
        values.dedup();
        if !values.contains(&ValueId::ABSENT) {
            values.push(ValueId::NOWHERE);
        }
        values.retain(|id| *id != ValueId::OPEN);
        values
    }

    /// The hit once for each value that a name may have which this match leaves open: it has any value for it.
    pub(super) fn spread_open(&mut self, hit: &Hit) -> Result<SmallVec<[Hit; 1]>, Fault> {
        self.spread_where(hit, |id| id == ValueId::OPEN)
    }

    /// The same also for values that are not recorded: it may have any of them, and has none of them for sure.
    pub(super) fn spread_all(&mut self, hit: &Hit) -> Result<SmallVec<[Hit; 1]>, Fault> {
        let mut spread = self.spread_where(hit, |id| matches!(id, ValueId::OPEN | ValueId::ABSENT))?;
        if hit.env.contains(&ValueId::ABSENT) {
            spread.iter_mut().for_each(|hit| hit.sure = false);
        }
        Ok(spread)
    }

    fn spread_where(&mut self, hit: &Hit, has_any: fn(ValueId) -> bool) -> Result<SmallVec<[Hit; 1]>, Fault> {
        let mut spread: SmallVec<[Hit; 1]> = smallvec::smallvec![hit.clone()];
        for name in BindingNames::from_slice(self.operand_names(hit.operand)) {
            if !hit.env.get(name as usize).is_some_and(|id| has_any(*id)) {
                continue;
            }
            let mut values = self.values_of(name);
            self.spend_fuel(values.len().saturating_mul(spread.len()))?;
            values.retain(|id| id.is_value());
            values.push(ValueId::NOWHERE);
            values.dedup();
            let with = |hit: &Hit, value: ValueId| {
                let mut hit = hit.clone();
                hit.env.get_mut(name as usize).into_iter().for_each(|cell| *cell = value);
                hit
            };
            spread = spread.iter().flat_map(|hit| values.iter().map(move |value| with(hit, *value))).collect();
        }
        Ok(spread)
    }

    pub(super) fn spend_fuel(&mut self, units: usize) -> Result<(), Fault> {
        self.machine.spend(u64::from(to_index(units)))
    }

    /// Compares values that both bind and evaluates each side's tests with the other's values.
    pub(super) fn pair_fit(&mut self, a: PairSide<'_>, b: PairSide<'_>) -> Result<PairFit, Fault> {
        self.spend_fuel(1)?;
        let values = same_values(a.env, b.env);
        if values == PairFit::No {
            return Ok(PairFit::No);
        }
        let fit = values.min(self.test_fit(a, b)?);
        if fit == PairFit::No { Ok(PairFit::No) } else { Ok(fit.min(self.test_fit(b, a)?)) }
    }

    /// Whether the tests of `own` on the bindings of the other match hold, provided that its step is a match at all: what is unknown of that is
    /// told of the match already.
    pub(super) fn test_fit(&mut self, own: PairSide<'_>, other: PairSide<'_>) -> Result<PairFit, Fault> {
        let Some((operand, event)) = own.event else { return Ok(PairFit::Yes) };
        if !self.has_joins(operand) {
            return Ok(PairFit::Yes);
        }
        let merged = merge_envs(own.env, other.env);
        let of_step = self.sibling_events(operand, event);
        if of_step.len() <= 1 {
            return self.tests_of(operand, event, &merged, CountedTests::Relating);
        }
        let mut fits: Option<PairFit> = None;
        for sibling in of_step {
            let Some(hit) = event_hit(operand, sibling, self) else { continue };
            let values = if sibling == event { PairFit::Yes } else { same_values(&hit.env, &merged) };
            let known = values.min(hit.own_fit());
            let known = known.min(self.tests_of(operand, sibling, &merged, CountedTests::Given)?);
            if known == PairFit::No {
                continue;
            }
            let relates = self.tests_of(operand, sibling, &merged, CountedTests::Relating)?;
            if (known, relates) == (PairFit::Yes, PairFit::Yes) {
                return Ok(PairFit::Yes);
            }
            fits = fits.filter(|fits| *fits != relates).map_or(Some(relates), |_| Some(PairFit::Unknown));
        }
        Ok(fits.unwrap_or(PairFit::No))
    }

    /// Whether the step of an event matches under `env`: by the tests of this event on other patterns' bindings, or by those of another match
    /// of the step. Tests on unbound names are ignored.
    pub(super) fn joins_of(&mut self, operand: usize, event: u32, env: &Env) -> Result<PairFit, Fault> {
        let mut fit = self.tests_of(operand, event, env, CountedTests::All)?;
        for sibling in self.sibling_events(operand, event).filter(|sibling| *sibling != event) {
            let Some(hit) = event_hit(operand, sibling, self).filter(|_| fit != PairFit::Yes) else { continue };
            let known = same_values(&hit.env, env).min(hit.own_fit());
            if known != PairFit::No {
                fit = fit.max(known.min(self.tests_of(operand, sibling, env, CountedTests::All)?));
            }
        }
        Ok(fit)
    }

    /// The matches of the step of an event, this one included: where an alternative has tests on other bindings, a step may have several.
    fn sibling_events(&self, operand: usize, event: u32) -> std::ops::Range<u32> {
        let events = self.matches_of(operand).map_or(&[][..], |matches| matches.events.as_slice());
        let Some(at) = events.get(event as usize).map(|event| event.step) else { return event..event };
        let is_same = |one: &&super::timeline::MatchEvent| one.step == at;
        let before = events.get(..event as usize).unwrap_or(&[]).iter().rev().take_while(is_same).count();
        let behind = events.get(event as usize..).unwrap_or(&[]).iter().take_while(is_same).count();
        event.saturating_sub(to_index(before))..event.saturating_add(to_index(behind))
    }

    fn tests_of(&mut self, operand: usize, event: u32, env: &Env, counts: CountedTests) -> Result<PairFit, Fault> {
        let plan = self.plan;
        let Some((alternative, step)) = self.matched_alternative(operand, event) else { return Ok(PairFit::Yes) };
        let bindings = self.binding_values(env);
        let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
        let mut fit = PairFit::Yes;
        for &code in &alternative.joins {
            if !plan.is_answerable(code, &bindings) {
                continue;
            }
            let relates = plan.used_bindings(code).iter().any(|name| self.is_open(*name));
            let counted = match counts {
                CountedTests::All => true,
                CountedTests::Given => !relates,
                CountedTests::Relating => relates,
            };
            if !counted {
                continue;
            }
            let truth = self.machine.evaluate_truth(code, &scope)?;
            if self.doubts_tests && truth.by_missing() {
                fit = fit.min(PairFit::Unknown);
                continue;
            }
            fit = fit.min(match truth.plain_answer() {
                Some(true) => PairFit::Yes,
                Some(false) => return Ok(PairFit::No),
                None => PairFit::Unknown,
            });
        }
        Ok(fit)
    }

    /// `None` if every value has to be tried.
    pub(super) fn members_of(
        &mut self,
        operand: usize,
        event: u32,
        name: u32,
        texts: &AhoCorasick,
    ) -> Result<Option<Vec<u64>>, Fault> {
        let Some((alternative, step)) = self.matched_alternative(operand, event) else { return Ok(None) };
        let [code] = alternative.joins.as_slice() else { return Ok(None) };
        if self.sibling_events(operand, event).len() > 1 {
            return Ok(None);
        }
        match self.plan.lookup_test(*code).filter(|member| member.name == name) {
            Some(member) => member.step_marks(*code, &ExpressionScope::of_step(step), texts, self),
            None => Ok(None),
        }
    }

    pub(super) fn looked_up_by(&self, operand: usize) -> Option<(u32, bool)> {
        // What is looked up is equal, and what is unfit is not.
        if self.doubts_tests {
            return None;
        }
        let unique = self.unique_pattern(operand)?;
        let codes = unique.alternatives.iter().flat_map(|alternative| &alternative.joins);
        let mut members =
            codes.filter_map(|code| self.plan.lookup_test(*code)).map(|member| (member.name, member.is_held()));
        let first = members.next()?;
        let alike = members.all(|other| other == first);
        (alike && self.header.get(first.0 as usize) == Some(&ValueId::OPEN)).then_some(first)
    }

    pub(super) fn matched_alternative(
        &self,
        operand: usize,
        event: u32,
    ) -> Option<(&'a PatternAlternative<CodeId>, &'run Step<'run>)> {
        let event = self.matches_of(operand)?.events.get(event as usize)?;
        let alternative = self.unique_pattern(operand)?.alternatives.get(usize::from(event.alternative))?;
        Some((alternative, self.step(event.step)?))
    }

    pub(super) fn binding_values(&self, env: &Env) -> Vec<Option<Node<'run>>> {
        let given = self.context.bindings.iter().copied().chain(std::iter::repeat(None));
        let values = env.iter().zip(given).map(|(id, given)| given.or_else(|| self.timeline.values.value_node(*id)));
        values.collect()
    }
}

pub(super) fn same_values(a: &Env, b: &Env) -> PairFit {
    a.iter().zip(b).fold(PairFit::Yes, |fit, (a, b)| {
        fit.min(match (*a, *b) {
            (ValueId::OPEN, _) | (_, ValueId::OPEN) => PairFit::Yes,
            (ValueId::ABSENT, _) | (_, ValueId::ABSENT) => PairFit::Unknown,
            (a, b) if a == b => PairFit::Yes,
            _ => PairFit::No,
        })
    })
}

/// A known value wins over an unknown one.
pub(super) fn merge_envs(a: &Env, b: &Env) -> Env {
    a.iter().zip(b).map(|(a, b)| if a.is_value() || !(b.is_value() || *a == ValueId::OPEN) { *a } else { *b }).collect()
}

pub(super) fn env_key(env: &Env, names: &[u32]) -> Env {
    names.iter().map(|name| env.get(*name as usize).copied().unwrap_or(ValueId::OPEN)).collect()
}
