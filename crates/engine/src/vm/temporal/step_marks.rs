//! By what the matches of patterns in a few steps are told apart: a mark for each value that a match binds.
//!
//! A guard reads a new step by itself and asks which earlier steps have the same marks. The patterns have to be local: they ask for nothing but
//! the step, so that what they say of it alone they say of it within a run. What is not known yet, such as a result, is a match that may be.

use super::classify::classify_steps;
use super::step_sums::{StepSum, SumLimit};
use super::timeline::{DecidedBy, PatternMatches, to_index};
use crate::vm::machine::Machine;
use averment_base::value::compare::ValueKey;
use averment_runs::run::StepKind;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher as _;

/// A pattern, and the binding by whose values its matches are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MarkedPattern {
    /// The unique pattern, by number.
    pub pattern: u32,
    /// The binding; without one all matches are alike.
    pub binding: Option<u32>,
}

/// The matches of a pattern that bind one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StepMark {
    /// A digest of the value: equal values have equal ones. `None` if it may be any value.
    pub value: Option<u64>,
    /// Whether they match whatever is recorded later, with this value.
    pub sure: bool,
    /// How many steps match, or may; [`u64::MAX`] where that cannot be said.
    pub steps: u64,
}

/// The marks that the steps of a run have by each of these patterns, and what they add to each of these sums.
#[must_use]
pub fn mark_steps(
    machine: &mut Machine<'_>,
    patterns: &[MarkedPattern],
    sums: &[SumLimit],
) -> (Vec<Vec<StepMark>>, Vec<StepSum>) {
    let plan = machine.prepared.temporal_plan(machine.program);
    let timeline = classify_steps(machine, plan);
    let marks_of = |marked: &MarkedPattern| {
        let unique = plan.unique_patterns().get(marked.pattern as usize);
        let (Some(unique), Some(matches)) = (unique, timeline.matches.get(marked.pattern as usize)) else {
            return vec![StepMark { value: None, sure: false, steps: u64::MAX }];
        };
        let position = marked.binding.and_then(|name| unique.names.binary_search(&name).ok());
        let value_of = |event: u32| {
            let id = *matches.value_ids(event, unique.names.len()).get(position?)?;
            let node = timeline.values.value_node(id).filter(|_| id.is_value())?;
            Some(FxBuildHasher.hash_one(ValueKey(node.value)))
        };
        let events = (0..to_index(matches.events.len())).zip(&matches.events).map(|(number, event)| {
            let value = value_of(number);
            StepMark { value, sure: event.sure && !unique.joined && (value.is_some() || position.is_none()), steps: 1 }
        });
        let unknown = unknown_steps(matches);
        events.chain((unknown > 0).then_some(StepMark { value: None, sure: false, steps: unknown })).collect()
    };
    let marks = patterns.iter().map(marks_of).collect();
    let matches_of = |sum: &SumLimit| timeline.matches.get(plan.number_of(sum.pattern)? as usize);
    let sums = sums.iter().map(|sum| sum.sum_matches(machine, matches_of(sum))).collect();
    (marks, sums)
}

/// How many calls a run has, made or not.
#[must_use]
pub fn count_calls(machine: &Machine<'_>) -> u64 {
    machine.run.steps.iter().filter(|step| step.kind == StepKind::Call).count() as u64
}

/// Steps of which something else than evidence says that they do not match.
pub(super) fn unknown_steps(matches: &PatternMatches) -> u64 {
    if matches.fault.is_some() {
        return u64::MAX;
    }
    let is_known = |decided: DecidedBy| matches!(decided, DecidedBy::Evidence | DecidedBy::EarlierTest);
    let unknown = matches.looked_at.iter().filter(|looked| !looked.matches && !is_known(looked.decided));
    unknown.count() as u64
}
