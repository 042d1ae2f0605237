//! Builds formulas from assertions: conditions of the run, and the number of steps that match a pattern.

use super::build::FormulaBuilder;
use super::formula::{Formula, FormulaBounds, SubjectId, SubjectLiteral, WitnessPlace};
use super::key;
use super::numbers::{IntervalEnd, NumberSet};
use super::patterns::{is_disjoint, is_free, is_subset};
use super::solve::ClauseSet;
use super::values::ValueSet;
use crate::lint::lint_semantics::{StepClaim, statement_semantics};
use averment_checker::ir::{AssertionCheck, CheckedPattern, GroupKind, GroupMember, Temporal, TypedExpr};
use std::rc::Rc;

/// Maximum number of counted patterns, because each pair is compared.
const COUNTED: usize = 64;

/// The formulas of the assertions of one file, and the relations between their patterns.
pub struct AssertionFormulas<'m> {
    /// The builder of the formulas.
    pub builder: FormulaBuilder<'m>,
    counted: Vec<(SubjectId, &'m CheckedPattern)>,
    only: Vec<(SubjectLiteral, &'m [CheckedPattern])>,
}

impl<'m> AssertionFormulas<'m> {
    /// Starts without assertions.
    #[must_use]
    pub fn new(module: &'m averment_checker::ir::CheckedModule) -> Self {
        Self { builder: FormulaBuilder::new(module), counted: Vec::new(), only: Vec::new() }
    }

    /// Returns the bounds of an assertion; `text` is its text.
    pub fn assertion_bounds(
        &mut self,
        check: &'m AssertionCheck<CheckedPattern, TypedExpr>,
        text: &str,
    ) -> FormulaBounds {
        match check {
            AssertionCheck::Expression(expr) => self.builder.condition_bounds(expr),
            AssertionCheck::Temporal(temporal) => self.temporal_bounds(temporal, text),
            AssertionCheck::Group { kind, members } if members.iter().all(|member| member.when.is_empty()) => {
                self.group_bounds(*kind, members, text)
            }
            // A vacuous statement stays vacuous after `not`, and a window judges only a part of the run.
            AssertionCheck::Not(_)
            | AssertionCheck::Group { .. }
            | AssertionCheck::Scoped { .. }
            | AssertionCheck::World(_)
            | AssertionCheck::OverRuns(_) => self.opaque_bounds(text),
        }
    }

    fn opaque_bounds(&mut self, text: &str) -> FormulaBounds {
        FormulaBounds::exact(self.builder.unknown_formula(format!("!{text}"), true))
    }

    fn group_bounds(
        &mut self,
        kind: GroupKind,
        members: &'m [GroupMember<CheckedPattern, TypedExpr>],
        text: &str,
    ) -> FormulaBounds {
        if !matches!(kind, GroupKind::All | GroupKind::Any) {
            return self.opaque_bounds(text);
        }
        let bounds: Vec<FormulaBounds> = members
            .iter()
            .enumerate()
            .map(|(index, member)| self.assertion_bounds(&member.check, &format!("{text}\u{0}{index}")))
            .collect();
        let parts = bounds.into_iter().map(|one| (one.possible, one.certain));
        let (possible, certain) = parts.unzip::<_, _, Vec<_>, Vec<_>>();
        match kind {
            GroupKind::All => FormulaBounds { possible: Formula::And(possible), certain: Formula::And(certain) },
            // A vacuous member holds but does not count; then the others decide.
            _ => FormulaBounds { possible: Formula::Or(possible), certain: Formula::Known(false) },
        }
    }

    fn implied_bounds(&mut self, text: &str, implied: Vec<Formula>) -> FormulaBounds {
        let FormulaBounds { possible, certain } = self.opaque_bounds(text);
        let all = std::iter::once(possible).chain(implied).collect();
        FormulaBounds { possible: Formula::And(all), certain }
    }

    fn temporal_bounds(&mut self, temporal: &'m Temporal<CheckedPattern, TypedExpr>, text: &str) -> FormulaBounds {
        match statement_semantics(temporal).claim {
            StepClaim::Times(steps, least, most) => {
                self.count_bounds(text, steps, |counts| all_counts(counts, least, most))
            }
            StepClaim::AnyOf(steps) => self.count_bounds(text, steps, |counts| {
                Formula::Or(counts.iter().map(|count| count_formula(*count, 1, None)).collect())
            }),
            StepClaim::Number(step, test) => match self.count_subject(step) {
                Some(count) => {
                    let before = self.builder.counted.replace(count);
                    let bounds = self.builder.condition_bounds(test);
                    self.builder.counted = before;
                    bounds
                }
                None => self.opaque_bounds(text),
            },
            StepClaim::Implies(first, second) => self.pair_bounds(text, first, second, |a, b| {
                Formula::Or(vec![count_formula(a, 0, Some(0)), count_formula(b, 1, None)])
            }),
            StepClaim::Excludes(left, right) => self.pair_bounds(text, left, right, |a, b| {
                Formula::Or(vec![count_formula(a, 0, Some(0)), count_formula(b, 0, Some(0))])
            }),
            StepClaim::Has(steps) => self.with_steps(text, steps),
            StepClaim::Needs(pairs) => {
                let implied =
                    pairs.into_iter().filter_map(|(trigger, needed)| self.need_formula(trigger, needed)).collect();
                self.implied_bounds(text, implied)
            }
            StepClaim::Only(steps) => {
                let bounds = self.opaque_bounds(text);
                if let Formula::Literal(holds) = &bounds.possible {
                    self.only.push((holds.clone(), steps));
                }
                bounds
            }
            StepClaim::Opaque => self.opaque_bounds(text),
        }
    }

    fn count_bounds(
        &mut self,
        text: &str,
        steps: &'m [CheckedPattern],
        formula: impl FnOnce(&[SubjectId]) -> Formula,
    ) -> FormulaBounds {
        let counts: Option<Vec<SubjectId>> = steps.iter().map(|step| self.count_subject(step)).collect();
        match counts {
            Some(counts) => FormulaBounds::exact(formula(&counts)),
            None => self.opaque_bounds(text),
        }
    }

    fn pair_bounds(
        &mut self,
        text: &str,
        left: &'m CheckedPattern,
        right: &'m CheckedPattern,
        formula: impl FnOnce(SubjectId, SubjectId) -> Formula,
    ) -> FormulaBounds {
        match (self.count_subject(left), self.count_subject(right)) {
            (Some(left), Some(right)) => FormulaBounds::exact(formula(left, right)),
            _ => self.opaque_bounds(text),
        }
    }

    fn with_steps(&mut self, text: &str, steps: &'m [CheckedPattern]) -> FormulaBounds {
        let implied = steps.iter().filter_map(|step| Some(count_formula(self.count_subject(step)?, 1, None))).collect();
        self.implied_bounds(text, implied)
    }

    /// Returns a formula: if a `trigger` occurs, a `needed` step occurs.
    fn need_formula(&mut self, trigger: &'m CheckedPattern, needed: &'m CheckedPattern) -> Option<Formula> {
        let (trigger, needed) = (self.count_subject(trigger)?, self.count_subject(needed)?);
        Some(Formula::Or(vec![count_formula(trigger, 0, Some(0)), count_formula(needed, 1, None)]))
    }

    /// Returns the subject for the number of a pattern's steps; `None` with bindings, since the number differs for each value.
    fn count_subject(&mut self, pattern: &'m CheckedPattern) -> Option<SubjectId> {
        if !is_free(pattern) {
            return None;
        }
        let numbers = || NumberSet::between(Some(IntervalEnd { at: 0.0, closed: true }), None);
        let universe = || ValueSet { whole: true, ..ValueSet::from_numbers(numbers()) };
        let subject =
            self.builder
                .subjects
                .intern_subject(format!("# {}", key::pattern_key(pattern)), universe, || WitnessPlace::Count);
        if self.counted.len() < COUNTED && !self.counted.iter().any(|(known, _)| *known == subject) {
            self.counted.push((subject, pattern));
        }
        Some(subject)
    }

    /// Returns facts that hold in every run: subset relations between patterns, and the limits that `only` sets.
    #[must_use]
    pub fn known_clauses(&self) -> ClauseSet {
        let mut facts = ClauseSet::default();
        for (small, pattern) in &self.counted {
            for (large, other) in &self.counted {
                if small != large && is_subset(pattern, other) {
                    facts.add_clause(vec![count_literal(*small, 0, Some(0)), count_literal(*large, 1, None)]);
                }
            }
            for (holds, steps) in &self.only {
                let calls = pattern
                    .alternatives
                    .iter()
                    .all(|one| one.kind == averment_runs::run::StepKind::Call && !one.proposed);
                if calls && steps.iter().all(|step| is_disjoint(pattern, step)) {
                    facts.add_clause(vec![holds.clone().negated(), count_literal(*small, 0, Some(0))]);
                }
            }
        }
        facts
    }
}

/// Returns a formula for a count within inclusive bounds.
fn count_formula(count: SubjectId, least: u64, most: Option<u64>) -> Formula {
    Formula::Literal(count_literal(count, least, most))
}

/// Returns a literal for a count within inclusive bounds.
fn count_literal(count: SubjectId, least: u64, most: Option<u64>) -> SubjectLiteral {
    #[expect(clippy::cast_precision_loss, reason = "numbers of steps beyond the digits of a double do not occur")]
    let end = |at: u64| Some(IntervalEnd { at: at as f64, closed: true });
    let numbers = NumberSet::between(end(least), most.and_then(end));
    let (holds, fails) = (ValueSet::from_numbers(numbers.clone()), ValueSet::from_numbers(numbers.complement()));
    SubjectLiteral { subject: count, holds: Rc::new(holds), fails: Rc::new(fails) }
}

fn all_counts(counts: &[SubjectId], least: u64, most: Option<u64>) -> Formula {
    Formula::And(counts.iter().map(|count| count_formula(*count, least, most)).collect())
}
