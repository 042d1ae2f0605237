//! The semantics of statements for lints. Each function here has an arm for every statement, so lints elsewhere never distinguish statements.

use averment_checker::ir::{CheckedPattern, Temporal, TypedExpr};
use averment_syntax::ast::{Quantifier, StatementKind, StepPattern};
use std::slice::from_ref;

/// The semantics of a checked statement, as far as lints need them.
pub struct LintSemantics<'c> {
    /// The statement's condition on step counts.
    pub claim: StepClaim<'c>,
    /// Steps that the statement explicitly requires, so they were not forgotten.
    pub demands: Vec<&'c CheckedPattern>,
    /// Steps without which the statement is vacuous, although it reads as if it required them; any one of them is enough.
    pub triggers: Vec<&'c CheckedPattern>,
    /// Independent patterns, of which one may make another redundant.
    pub list: &'c [CheckedPattern],
    /// The step that has to close a window.
    pub closes: Option<&'c CheckedPattern>,
}

/// A statement's condition on step counts.
pub enum StepClaim<'c> {
    /// Exactly: each occurs within these bounds.
    Times(&'c [CheckedPattern], u64, Option<u64>),
    /// Exactly: at least one occurs.
    AnyOf(&'c [CheckedPattern]),
    /// Exactly: their count satisfies the comparison.
    Number(&'c CheckedPattern, &'c TypedExpr),
    /// Exactly: if the first occurs, so does the second.
    Implies(&'c CheckedPattern, &'c CheckedPattern),
    /// Exactly: at most one of both occurs.
    Excludes(&'c CheckedPattern, &'c CheckedPattern),
    /// At least: each occurs.
    Has(&'c [CheckedPattern]),
    /// At least: for each pair, if the first occurs, so does the second.
    Needs(Vec<(&'c CheckedPattern, &'c CheckedPattern)>),
    /// At most: only these calls occur.
    Only(&'c [CheckedPattern]),
    /// Nothing that lints can use.
    Opaque,
}

impl<'c> LintSemantics<'c> {
    fn from_claim(says: StepClaim<'c>) -> Self {
        Self { claim: says, demands: Vec::new(), triggers: Vec::new(), list: &[], closes: None }
    }

    fn with_asked(self, asks: impl IntoIterator<Item = &'c CheckedPattern>) -> Self {
        Self { demands: asks.into_iter().collect(), ..self }
    }

    fn with_triggers(self, triggers: impl IntoIterator<Item = &'c CheckedPattern>) -> Self {
        Self { triggers: triggers.into_iter().collect(), ..self }
    }

    fn with_list(self, list: &'c [CheckedPattern]) -> Self {
        Self { list, ..self }
    }

    fn with_close(self, close: &'c CheckedPattern) -> Self {
        Self { closes: Some(close), ..self }
    }
}

/// Returns the semantics of a checked statement.
pub fn statement_semantics(temporal: &Temporal<CheckedPattern, TypedExpr>) -> LintSemantics<'_> {
    use LintSemantics as M;
    match temporal {
        Temporal::Require { step, times: None } => {
            M::from_claim(StepClaim::Times(from_ref(step), 1, None)).with_asked([step])
        }
        Temporal::Require { step, times: Some(times) } => {
            M::from_claim(StepClaim::Times(from_ref(step), times.least, times.most))
                .with_asked((times.least > 0).then_some(step))
        }
        Temporal::Never { steps } => M::from_claim(StepClaim::Times(steps, 0, Some(0))).with_list(steps),
        Temporal::NeverAfter { .. } | Temporal::NeverBefore { .. } => M::from_claim(StepClaim::Opaque),
        Temporal::NeverBetween { close, .. } => M::from_claim(StepClaim::Opaque).with_close(close),
        Temporal::Only { steps } => M::from_claim(StepClaim::Only(steps)).with_list(steps),
        Temporal::Count { step, test } => M::from_claim(StepClaim::Number(step, test)).with_asked([step]),
        Temporal::First { step } | Temporal::Last { step } => {
            M::from_claim(StepClaim::Has(from_ref(step))).with_asked([step])
        }
        Temporal::Before { step, targets, .. } => {
            M::from_claim(StepClaim::Needs(targets.iter().map(|target| (target, step)).collect()))
                .with_triggers(targets)
        }
        Temporal::After { step, targets, .. } => {
            M::from_claim(StepClaim::Needs(targets.iter().map(|target| (step, target)).collect())).with_triggers([step])
        }
        Temporal::Sequence { steps, .. } => M::from_claim(StepClaim::Has(steps)).with_asked(steps),
        Temporal::Nested { open, .. } => M::from_claim(StepClaim::Opaque).with_triggers([open]),
        Temporal::Together { left, right } => M::from_claim(StepClaim::Opaque).with_asked([left, right]),
        Temporal::Apart { .. } | Temporal::Iff { .. } => M::from_claim(StepClaim::Opaque),
        Temporal::IfThen { condition, consequence } => {
            M::from_claim(StepClaim::Implies(condition, consequence)).with_triggers([condition])
        }
        Temporal::Either { steps } => M::from_claim(StepClaim::AnyOf(steps)),
        Temporal::NotBoth { left, right } => M::from_claim(StepClaim::Excludes(left, right)),
        Temporal::Repeat { .. } => M::from_claim(StepClaim::Opaque),
        Temporal::Flow { flow } => M::from_claim(StepClaim::Opaque).with_asked(flow.flow_patterns()),
        Temporal::Each { quantifier: Quantifier::Each, step, .. } => {
            M::from_claim(StepClaim::Opaque).with_triggers([step])
        }
        Temporal::Each { quantifier: Quantifier::Some, step, .. } => {
            M::from_claim(StepClaim::Has(from_ref(step))).with_asked([step])
        }
        Temporal::Each { quantifier: Quantifier::No, .. } => M::from_claim(StepClaim::Opaque),
        Temporal::NoneIn { .. }
        | Temporal::NoneInSteps { .. }
        | Temporal::ArgsValid { .. }
        | Temporal::CallsMatch { .. } => M::from_claim(StepClaim::Opaque),
    }
}

/// The effect of equal steps on both sides of a statement.
pub enum SameSides<'a> {
    /// It fails in every run with that step: the `end` one has none `word` it.
    Fails { step: &'a StepPattern, targets: &'a [StepPattern], end: &'static str, word: &'static str },
    /// It means less than it seems to; the text gives its meaning.
    Says(&'a StepPattern, &'a StepPattern, &'static str),
    /// A list contains a step twice.
    Twice(&'a [StepPattern]),
    /// No problem, or not a statement with two sides.
    Fine,
}

/// Returns the effect of equal steps on both sides of a statement.
pub fn same_sides(statement: &StatementKind) -> SameSides<'_> {
    use StatementKind as K;
    match statement {
        K::Before { step, targets, .. } => SameSides::Fails { step, targets, end: "first", word: "before" },
        K::After { step, targets, .. } => SameSides::Fails { step, targets, end: "last", word: "after" },
        K::IfThen { condition: left, consequence: right } | K::Iff { left, right } => {
            SameSides::Says(left, right, "holds on every run")
        }
        K::NotBoth { left, right } => SameSides::Says(left, right, "says that there is none"),
        K::Nested { open, close } => {
            SameSides::Says(open, close, "fails wherever they occur: a step that matches both closes")
        }
        K::Either { steps } => SameSides::Twice(steps),
        K::Together { .. } | K::Apart { .. } | K::Sequence { .. } | K::Never { .. } | K::Only { .. } => SameSides::Fine,
        K::Require { .. } | K::Count { .. } | K::First { .. } | K::Last { .. } | K::Repeat { .. } => SameSides::Fine,
        K::Flow { .. }
        | K::Each { .. }
        | K::Sliding { .. }
        | K::NoPredicate { .. }
        | K::ArgsValid { .. }
        | K::CallsMatch { .. } => SameSides::Fine,
        K::Expression(_) | K::Not(_) | K::Block { .. } | K::Group { .. } | K::World(_) | K::Rate { .. } => {
            SameSides::Fine
        }
    }
}

/// Returns the steps without which a statement is vacuous, if it makes sense to suggest a `require` for them.
#[cfg_attr(not(feature = "editor"), expect(dead_code, reason = "code actions of editors alone propose it"))]
pub fn vacuous_without(statement: &StatementKind) -> &[StepPattern] {
    use StatementKind as K;
    match statement {
        K::Before { targets, .. } => targets,
        K::After { step, .. }
        | K::Nested { open: step, .. }
        | K::Each { step, .. }
        | K::IfThen { condition: step, .. } => from_ref(step),
        K::Never { .. } | K::Only { .. } | K::Apart { .. } | K::Iff { .. } | K::NotBoth { .. } | K::Repeat { .. } => {
            &[]
        }
        K::Require { .. } | K::Count { .. } | K::First { .. } | K::Last { .. } | K::Either { .. } => &[],
        K::Together { .. }
        | K::Sequence { .. }
        | K::Flow { .. }
        | K::Sliding { .. }
        | K::NoPredicate { .. }
        | K::ArgsValid { .. }
        | K::CallsMatch { .. } => &[],
        K::Expression(_) | K::Not(_) | K::Block { .. } | K::Group { .. } | K::World(_) | K::Rate { .. } => &[],
    }
}
