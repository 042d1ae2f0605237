//! Which new steps can break a statement, and which of the earlier ones have to be there to see it.
//!
//! What is left out either contributes the same with the new step and without it, or could only keep the new step from breaking the
//! statement. So what is not broken among the steps that are taken is not broken among all of them; what is broken there is judged again.

use super::{LookBack, ReachReader};
use crate::bytecode::program::{CodeId, CompiledCheck, PatternId};
use crate::vm::temporal::step_marks::MarkedPattern;
use averment_checker::ir::{StepDistance, Temporal, WindowScope};
use averment_syntax::ast::Quantifier;

/// New steps that can break a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepTrigger {
    /// The pattern that they match; without one any step can.
    pub pattern: Option<MarkedPattern>,
    /// The earlier steps that have to be there.
    pub evidence: Vec<StepEvidence>,
}

/// Earlier steps that have to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepEvidence {
    /// The pattern that they match.
    pub pattern: MarkedPattern,
    /// Which of them.
    pub taken: TakenSteps,
}

/// Which of the steps that match a pattern have to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenSteps {
    /// All of them.
    All,
    /// A few: each can only keep a new step from breaking the statement.
    Few,
    /// Those that may match, and a few of those that do for sure: one of these breaks it like another.
    FewSure,
    /// Those that do not stand before the last sure match of this pattern.
    SinceLast(MarkedPattern),
    /// Those that are still open where each match of this pattern closes the last open one. Nothing else may be there.
    Open(MarkedPattern),
}

impl ReachReader<'_> {
    /// The new steps that can break a check; `None` if all that its patterns name can.
    pub(super) fn step_triggers(&self, check: &CompiledCheck) -> Option<Vec<StepTrigger>> {
        let CompiledCheck::Temporal(number) = check else { return None };
        if let Some(Temporal::Each { quantifier, step, .. }) =
            self.program.temporals.get(number.0 as usize).map(|entry| &entry.temporal)
        {
            return self.trigger_of_each(*step).filter(|_| *quantifier != Quantifier::Some);
        }
        let binding = match self.reach.look_back {
            LookBack::Matches => None,
            LookBack::Alike(binding) => Some(binding),
            _ => return None,
        };
        let temporal = &self.program.temporals.get(number.0 as usize)?.temporal;
        let marks = PatternMarks { reader: self, binding };
        (self.is_steady && self.is_local).then(|| marks.triggers_of(temporal)).flatten()
    }

    /// What is asked of a step and of lists of what came before it changes for no earlier step.
    fn trigger_of_each(&self, step: PatternId) -> Option<Vec<StepTrigger>> {
        let lists = self.so_far.as_ref().filter(|_| !self.is_local && self.is_steady)?;
        let marked = |pattern: PatternId| {
            let mut own = ReachReader::new(self.program, self.prepared);
            own.add_pattern(pattern);
            let pattern = MarkedPattern { pattern: self.plan.number_of(pattern)?, binding: None };
            (own.is_local && own.is_steady).then_some(pattern)
        };
        let evidence = |list: &PatternId| Some(StepEvidence { pattern: marked(*list)?, taken: TakenSteps::All });
        let evidence = lists.iter().map(evidence).collect::<Option<_>>()?;
        Some(vec![StepTrigger { pattern: Some(marked(step)?), evidence }])
    }

    /// The pattern that opens the windows of a block: nothing is broken where there is none.
    pub(super) fn opener(&self, check: &CompiledCheck) -> Option<MarkedPattern> {
        let CompiledCheck::Scoped { scope, .. } = check else { return None };
        let (WindowScope::After { open, .. } | WindowScope::Between { open, .. } | WindowScope::Each { step: open }) =
            scope
        else {
            return None;
        };
        let mut own = ReachReader::new(self.program, self.prepared);
        own.add_pattern(*open);
        let is_plain = self.is_steady && own.is_steady && own.is_local;
        is_plain.then_some(MarkedPattern { pattern: self.plan.number_of(*open)?, binding: None })
    }

    fn is_joined(&self, pattern: PatternId) -> bool {
        self.plan.evaluated_alternatives(pattern).iter().any(|one| !one.joins.is_empty())
    }
}

/// The patterns of a statement, told apart by a binding.
struct PatternMarks<'a, 'p> {
    reader: &'a ReachReader<'p>,
    binding: Option<u32>,
}

impl PatternMarks<'_, '_> {
    fn triggers_of(&self, temporal: &Temporal<PatternId, CodeId>) -> Option<Vec<StepTrigger>> {
        if !self.is_by_place(temporal) {
            return None;
        }
        match temporal {
            Temporal::Before { immediately: false, each, step, targets, .. } => {
                let evidence = |target: PatternId| {
                    if !*each {
                        return Some(vec![self.taken(*step, TakenSteps::Few)?]);
                    }
                    // A match of B uses up the A before it, also one of which that is not known yet.
                    Some(vec![self.since_last(*step, target)?, self.since_last(target, target)?])
                };
                targets.iter().map(|target| self.trigger(*target, evidence(*target)?)).collect()
            }
            Temporal::NeverAfter { steps, open, until, .. } => {
                let evidence = |step: PatternId| match until {
                    Some(close) => self.since_last(*open, *close),
                    None => self.few_sure(*open, step),
                };
                steps.iter().map(|step| self.trigger(*step, vec![evidence(*step)?])).collect()
            }
            Temporal::NeverBefore { steps, close, .. } => {
                let evidence = steps.iter().map(|step| self.few_sure(*step, *close));
                let evidence = evidence.chain([self.taken(*close, TakenSteps::Few)]).collect::<Option<_>>()?;
                Some(vec![self.trigger(*close, evidence)?])
            }
            Temporal::NeverBetween { steps, open, close, .. } => {
                let evidence = steps.iter().chain([open]).map(|step| self.since_last(*step, *close));
                Some(vec![self.trigger(*close, evidence.collect::<Option<_>>()?)?])
            }
            Temporal::NotBoth { left, right } => Some(vec![
                self.trigger(*left, vec![self.few_sure(*right, *left)?])?,
                self.trigger(*right, vec![self.few_sure(*left, *right)?])?,
            ]),
            Temporal::Nested { open, close } => {
                let evidence = self.taken(*open, TakenSteps::Open(self.marked(*close)?))?;
                Some(vec![self.trigger(*close, vec![evidence])?])
            }
            Temporal::After { immediately: false, within: Some(StepDistance::Time(_)), step, targets, .. } => {
                let marks = PatternMarks { binding: self.shared_name(*step, targets), ..*self };
                let evidence = targets.iter().map(|target| marks.since_last(*step, *target));
                Some(vec![StepTrigger { pattern: None, evidence: evidence.collect::<Option<_>>()? }])
            }
            _ => None,
        }
    }

    /// Whether no number of calls or turns between two steps matters.
    fn is_by_place(&self, temporal: &Temporal<PatternId, CodeId>) -> bool {
        match temporal {
            Temporal::Before { within, .. }
            | Temporal::NeverAfter { within, .. }
            | Temporal::NeverBefore { within, .. }
            | Temporal::NeverBetween { within, .. } => matches!(within, None | Some(StepDistance::Time(_))),
            _ => true,
        }
    }

    /// A binding that a pattern has in common with all of others.
    fn shared_name(&self, step: PatternId, others: &[PatternId]) -> Option<u32> {
        let has_it = |name: &&u32| others.iter().all(|other| self.names(*other).contains(name));
        self.names(step).iter().find(has_it).copied()
    }

    fn names(&self, pattern: PatternId) -> &[u32] {
        self.reader.plan.bound_names(pattern)
    }

    fn marked(&self, pattern: PatternId) -> Option<MarkedPattern> {
        Some(MarkedPattern { pattern: self.reader.plan.number_of(pattern)?, binding: self.binding })
    }

    fn trigger(&self, pattern: PatternId, evidence: Vec<StepEvidence>) -> Option<StepTrigger> {
        Some(StepTrigger { pattern: Some(self.marked(pattern)?), evidence })
    }

    fn taken(&self, pattern: PatternId, taken: TakenSteps) -> Option<StepEvidence> {
        Some(StepEvidence { pattern: self.marked(pattern)?, taken })
    }

    /// One of the steps breaks the statement with a match of `other` whatever else they bind.
    fn few_sure(&self, pattern: PatternId, other: PatternId) -> Option<StepEvidence> {
        let is_free = |name: &u32| Some(*name) == self.binding || !self.names(other).contains(name);
        let fits = !self.reader.is_joined(other) && self.names(pattern).iter().all(is_free);
        self.taken(pattern, if fits { TakenSteps::FewSure } else { TakenSteps::All })
    }

    /// A sure match of `closer` concerns all steps with the same value.
    fn since_last(&self, pattern: PatternId, closer: PatternId) -> Option<StepEvidence> {
        let fits = self.names(closer).iter().all(|name| Some(*name) == self.binding) && !self.reader.is_joined(closer);
        fits.then(|| self.taken(pattern, TakenSteps::SinceLast(self.marked(closer)?))).flatten()
    }
}
