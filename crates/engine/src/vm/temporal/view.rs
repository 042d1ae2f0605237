//! What a monitor looks at: the hits of its operands, the answers it assumes where the run does not tell, and whether two steps match
//! under one environment.

use super::call_knowledge::{UnknownCause, unknown_cause};
use super::plan::{TemporalPlan, UniquePattern};
use super::statements::{Polarity, StatementDefinition};
use super::timeline::{Env, Timeline, ValueId, to_index};
use crate::bytecode::program::CodeId;
use crate::bytecode::program::{PatternId, TemporalEntry};
use crate::ir::PatternAlternative;
use crate::vm::context::{JudgeContext, ExpressionScope};
use crate::vm::fault::Fault;
use crate::vm::machine::Machine;
use aho_corasick::AhoCorasick;
use averment_base::value::Node;
use averment_runs::run::Step;
use smallvec::SmallVec;

/// Bindings by number: mostly one or two.
pub(super) type BindingNames = SmallVec<[u32; 2]>;

/// How a replica of a monitor answers what is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplicaMode {
    /// As is best for the statement.
    Optimistic,
    /// As is worst for it.
    Pessimistic,
}

/// Whether two steps match under one environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairFit {
    /// They do.
    Yes,
    /// The run does not tell.
    Unknown,
    /// They do not.
    No,
}

impl PairFit {
    /// Both fit.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Yes, Self::Yes) => Self::Yes,
            _ => Self::Unknown,
        }
    }
}

/// A match as a monitor sees it.
#[derive(Debug, Clone)]
pub(super) struct Hit {
    /// Which pattern of the statement.
    pub(super) operand: usize,
    /// The step, by its index in the run.
    pub(super) step: u32,
    /// The number of the event among those of its pattern.
    pub(super) event: u32,
    /// False when the match is unknown.
    pub(super) sure: bool,
    /// Its position in the call list of the window; `None` for a step that is not in it.
    pub(super) call: Option<u32>,
    /// The values that it binds, by binding of the assertion; those of the block's header are open here.
    pub(super) env: Env,
}

impl Hit {
    /// The same with values of its own for what is not recorded: nothing else has them.
    pub(super) fn fresh_env(&self) -> Env {
        self.env.iter().map(|id| if *id == ValueId::ABSENT { ValueId::FRESH } else { *id }).collect()
    }
}

/// A pattern of the statement in its window.
#[derive(Debug, Clone)]
pub(super) struct WindowOperand {
    /// The pattern, for reports.
    pub(super) pattern: PatternId,
    /// Its unique pattern.
    pub(super) unique: super::plan::UniquePatternId,
    /// What an unknown match does.
    pub(super) polarity: Polarity,
    /// The names that it binds and the header does not, sorted.
    pub(super) names: BindingNames,
    /// Whether it has tests on bindings that it does not bind.
    pub(super) joined: bool,
}

/// Everything that monitors look at beside their own state.
pub(super) struct MonitorView<'a, 'run> {
    /// Evaluates tests.
    pub(super) machine: &'a mut Machine<'run>,
    /// The matches.
    pub(super) timeline: &'a Timeline<'run>,
    /// The patterns.
    pub(super) plan: &'a TemporalPlan,
    /// The statement; none while a block's header is read.
    pub(super) entry: Option<&'a TemporalEntry>,
    /// Its definition.
    pub(super) statement: Option<&'a StatementDefinition>,
    /// The window and the header's values.
    pub(super) context: &'a JudgeContext<'run>,
    /// The header's values as numbers; open where it gives none.
    pub(super) header: Env,
    /// The patterns of the statement.
    pub(super) operands: &'a [WindowOperand],
    /// The call list of the window, by step.
    pub(super) calls: &'a [u32],
    /// Whether the statement asks where in the call list a step stands.
    pub(super) places: bool,
    /// How unknown answers are taken.
    pub(super) mode: ReplicaMode,
    /// Set when an unknown answer was taken: the other replica may say something else.
    pub(super) unknown: bool,
    /// How many places are listed where the statement fails; none where the first is enough.
    pub(super) listed: usize,
}

/// One side of a question for a common environment: an event with its values, or values alone.
#[derive(Clone, Copy)]
pub(super) struct PairSide<'e> {
    /// Operand and event, where it stands for one.
    pub(super) event: Option<(usize, u32)>,
    /// The values.
    pub(super) env: &'e Env,
}

impl Hit {
    /// The hit as one side of a pair.
    pub(super) fn as_side(&self) -> PairSide<'_> {
        PairSide { event: Some((self.operand, self.event)), env: &self.env }
    }
}

impl<'run> MonitorView<'_, 'run> {
    /// A step of the run.
    pub(super) fn step(&self, number: u32) -> Option<&'run Step<'run>> {
        self.machine.run.steps.get(number as usize)
    }

    /// What says that an earlier step was not known to a later one.
    pub(super) fn unknown_cause(&self, earlier: u32, later: u32) -> Option<UnknownCause> {
        unknown_cause(self.step(earlier)?, self.step(later)?)
    }

    /// The unique pattern of an operand.
    pub(super) fn unique_pattern(&self, operand: usize) -> Option<&UniquePattern> {
        self.plan.unique_pattern(self.operands.get(operand)?.unique)
    }

    /// The names that an operand binds.
    pub(super) fn operand_names(&self, operand: usize) -> &[u32] {
        self.operands.get(operand).map_or(&[], |operand| operand.names.as_slice())
    }

    /// The names that two operands both bind.
    pub(super) fn shared_names(&self, a: usize, b: usize) -> BindingNames {
        self.operand_names(a).iter().copied().filter(|name| self.operand_names(b).contains(name)).collect()
    }

    /// The names that tests of an operand on other patterns' bindings use, without those of the header.
    pub(super) fn asked_names(&self, operand: usize) -> BindingNames {
        let open = |name: &u32| self.header.get(*name as usize).is_none_or(|id| *id == ValueId::OPEN);
        self.unique_pattern(operand)
            .map_or_else(BindingNames::new, |unique| unique.asks.iter().copied().filter(open).collect())
    }

    /// Whether an operand has tests on bindings that it does not bind.
    pub(super) fn has_joins(&self, operand: usize) -> bool {
        self.operands.get(operand).is_some_and(|operand| operand.joined)
    }

    /// Whether a match counts under this mode.
    pub(super) fn counts_match(&mut self, hit: &Hit) -> bool {
        let polarity = self.operands.get(hit.operand).map_or(Polarity::Mixed, |operand| operand.polarity);
        hit.sure || self.assume_answer(polarity)
    }

    /// The answer to something unknown: yes when that is what the mode wants.
    pub(super) fn assume_answer(&mut self, polarity: Polarity) -> bool {
        self.unknown = true;
        match polarity {
            Polarity::Helps => self.mode == ReplicaMode::Optimistic,
            Polarity::Hurts => self.mode == ReplicaMode::Pessimistic,
            Polarity::Mixed => true,
        }
    }

    /// Whether a fit counts under this mode.
    pub(super) fn accepts_fit(&mut self, fit: PairFit, polarity: Polarity) -> bool {
        match fit {
            PairFit::Yes => true,
            PairFit::No => false,
            PairFit::Unknown => self.assume_answer(polarity),
        }
    }

    /// The fault that ended the classification of one of the patterns.
    pub(super) fn check_faults(&self) -> Result<(), Fault> {
        let mut faults = self.operands.iter().filter_map(|operand| self.timeline.matches_of(operand.unique)?.fault.clone());
        faults.next().map_or(Ok(()), Err)
    }

    /// The values that occur for a name in the run, and one that occurs nowhere (not recorded, where some step does not record its own).
    pub(super) fn values_of(&self, name: u32) -> Vec<ValueId> {
        let mut values = Vec::new();
        for operand in self.operands {
            let (Some(unique), Some(matches)) =
                (self.plan.unique_pattern(operand.unique), self.timeline.matches_of(operand.unique))
            else {
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

    /// Takes fuel.
    pub(super) fn spend_fuel(&mut self, units: usize) -> Result<(), Fault> {
        self.machine.spend(u64::from(to_index(units)))
    }

    /// Whether both match under one environment: equal values where both bind, and the tests of each with the other's values.
    pub(super) fn pair_fit(&mut self, a: PairSide<'_>, b: PairSide<'_>) -> Result<PairFit, Fault> {
        self.spend_fuel(1)?;
        let values = same_values(a.env, b.env);
        if values == PairFit::No {
            return Ok(PairFit::No);
        }
        let fit = values.and(self.test_fit(a, b)?);
        if fit == PairFit::No { Ok(PairFit::No) } else { Ok(fit.and(self.test_fit(b, a)?)) }
    }

    /// The tests of `own` on bindings of other patterns, with the values of both.
    pub(super) fn test_fit(&mut self, own: PairSide<'_>, other: PairSide<'_>) -> Result<PairFit, Fault> {
        let Some((operand, event)) = own.event else { return Ok(PairFit::Yes) };
        if !self.has_joins(operand) {
            return Ok(PairFit::Yes);
        }
        let merged = merge_envs(own.env, other.env);
        self.joins_of(operand, event, &merged)
    }

    /// The tests of an event on bindings of other patterns under an environment; tests on what nothing binds are left aside.
    pub(super) fn joins_of(&mut self, operand: usize, event: u32, env: &Env) -> Result<PairFit, Fault> {
        let plan = self.plan;
        let Some((alternative, step)) = self.matched_alternative(plan, operand, event) else { return Ok(PairFit::Yes) };
        let bindings = self.binding_values(env);
        let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
        let mut fit = PairFit::Yes;
        for &code in &alternative.joins {
            if plan.used_bindings(code).iter().any(|name| bindings.get(*name as usize).is_none_or(Option::is_none)) {
                continue;
            }
            fit = fit.and(match self.machine.evaluate_truth(code, &scope)?.plain_answer() {
                Some(true) => PairFit::Yes,
                Some(false) => return Ok(PairFit::No),
                None => PairFit::Unknown,
            });
        }
        Ok(fit)
    }

    /// The marks of an event for its tests on another pattern's binding; `None` where every value has to be tried.
    pub(super) fn members_of(
        &mut self,
        operand: usize,
        event: u32,
        name: u32,
        texts: &AhoCorasick,
    ) -> Result<Option<Vec<u64>>, Fault> {
        let plan = self.plan;
        let Some((alternative, step)) = self.matched_alternative(plan, operand, event) else { return Ok(None) };
        let [code] = alternative.joins.as_slice() else { return Ok(None) };
        match plan.lookup_test(*code).filter(|member| member.name == name) {
            Some(member) => member.step_marks(*code, &ExpressionScope::of_step(step), texts, self),
            None => Ok(None),
        }
    }

    /// The binding that the tests of an operand on other patterns' bindings can be looked up by, and whether its value holds the step's.
    pub(super) fn looked_up_by(&self, operand: usize) -> Option<(u32, bool)> {
        let unique = self.unique_pattern(operand)?;
        let codes = unique.alternatives.iter().flat_map(|alternative| &alternative.joins);
        let mut members =
            codes.filter_map(|code| self.plan.lookup_test(*code)).map(|member| (member.name, member.is_held()));
        let first = members.next()?;
        let alike = members.all(|other| other == first);
        (alike && self.header.get(first.0 as usize) == Some(&ValueId::OPEN)).then_some(first)
    }

    /// The alternative that an event matched, and its step.
    pub(super) fn matched_alternative<'p>(
        &self,
        plan: &'p TemporalPlan,
        operand: usize,
        event: u32,
    ) -> Option<(&'p PatternAlternative<CodeId>, &'run Step<'run>)> {
        let unique = self.operands.get(operand)?.unique;
        let event = self.timeline.matches_of(unique)?.events.get(event as usize)?;
        let alternative = plan.unique_pattern(unique)?.alternatives.get(usize::from(event.alternative))?;
        Some((alternative, self.step(event.step)?))
    }

    /// The values of all bindings: the header's and those of an environment.
    pub(super) fn binding_values(&self, env: &Env) -> Vec<Option<Node<'run>>> {
        let given = self.context.bindings.iter().copied().chain(std::iter::repeat(None));
        let values = env.iter().zip(given).map(|(id, given)| given.or_else(|| self.timeline.values.value_node(*id)));
        values.collect()
    }
}

/// Whether two environments give no name two values.
pub(super) fn same_values(a: &Env, b: &Env) -> PairFit {
    a.iter().zip(b).fold(PairFit::Yes, |fit, (a, b)| {
        fit.and(match (*a, *b) {
            (ValueId::OPEN, _) | (_, ValueId::OPEN) => PairFit::Yes,
            (ValueId::ABSENT, _) | (_, ValueId::ABSENT) => PairFit::Unknown,
            (a, b) if a == b => PairFit::Yes,
            _ => PairFit::No,
        })
    })
}

/// The values of both; where both have one, a known one.
pub(super) fn merge_envs(a: &Env, b: &Env) -> Env {
    a.iter().zip(b).map(|(a, b)| if a.is_value() || !(b.is_value() || *a == ValueId::OPEN) { *a } else { *b }).collect()
}

/// The values of some names.
pub(super) fn env_key(env: &Env, names: &[u32]) -> Env {
    names.iter().map(|name| env.get(*name as usize).copied().unwrap_or(ValueId::OPEN)).collect()
}
