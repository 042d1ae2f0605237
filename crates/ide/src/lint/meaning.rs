//! What the lints know of each statement. Every statement has its arm in each function here, and no lint elsewhere asks which one it has.

use averment_engine::ir::{Expr, Pattern, Temporal};
use averment_syntax::ast::{Quantifier, StatementKind, Step};
use std::slice::from_ref;

/// What a checked statement says, as far as lints look at it.
pub struct Meaning<'c> {
    /// What it says of the numbers of its steps.
    pub says: Says<'c>,
    /// Steps that whoever writes it asks for: they are not forgotten.
    pub asks: Vec<&'c Pattern>,
    /// Steps without which it is vacuous though it reads as if it asked for them; any one of them is enough.
    pub triggers: Vec<&'c Pattern>,
    /// Patterns that each stand for themselves, so that one may leave nothing to another.
    pub list: &'c [Pattern],
    /// The step that has to close a window.
    pub closes: Option<&'c Pattern>,
}

/// What a statement says of the numbers of its steps.
pub enum Says<'c> {
    /// That each occurs so often, and nothing else.
    Often(&'c [Pattern], u64, Option<u64>),
    /// That at least one occurs, and nothing else.
    AnyOf(&'c [Pattern]),
    /// That their number meets the comparison, and nothing else.
    Number(&'c Pattern, &'c Expr),
    /// That the second occurs where the first does, and nothing else.
    Implies(&'c Pattern, &'c Pattern),
    /// That one of both does not occur, and nothing else.
    Excludes(&'c Pattern, &'c Pattern),
    /// That each occurs, and more.
    Has(&'c [Pattern]),
    /// That for each pair the second occurs where the first does, and more.
    Needs(Vec<(&'c Pattern, &'c Pattern)>),
    /// That no other calls occur, and no more than that.
    Only(&'c [Pattern]),
    /// Nothing that is looked at.
    Unread,
}

impl<'c> Meaning<'c> {
    fn of(says: Says<'c>) -> Self {
        Self { says, asks: Vec::new(), triggers: Vec::new(), list: &[], closes: None }
    }

    fn asking(self, asks: impl IntoIterator<Item = &'c Pattern>) -> Self {
        Self { asks: asks.into_iter().collect(), ..self }
    }

    fn triggered(self, triggers: impl IntoIterator<Item = &'c Pattern>) -> Self {
        Self { triggers: triggers.into_iter().collect(), ..self }
    }

    fn listing(self, list: &'c [Pattern]) -> Self {
        Self { list, ..self }
    }

    fn closed_by(self, close: &'c Pattern) -> Self {
        Self { closes: Some(close), ..self }
    }
}

/// What a checked statement says.
pub fn meaning(temporal: &Temporal<Pattern, Expr>) -> Meaning<'_> {
    use Meaning as M;
    match temporal {
        Temporal::Require { step, times: None } => M::of(Says::Often(from_ref(step), 1, None)).asking([step]),
        Temporal::Require { step, times: Some(times) } => {
            M::of(Says::Often(from_ref(step), times.least, times.most)).asking((times.least > 0).then_some(step))
        }
        Temporal::Never { steps } => M::of(Says::Often(steps, 0, Some(0))).listing(steps),
        Temporal::NeverAfter { .. } | Temporal::NeverBefore { .. } => M::of(Says::Unread),
        Temporal::NeverBetween { close, .. } => M::of(Says::Unread).closed_by(close),
        Temporal::Only { steps } => M::of(Says::Only(steps)).listing(steps),
        Temporal::Count { step, test } => M::of(Says::Number(step, test)).asking([step]),
        Temporal::First { step } | Temporal::Last { step } => M::of(Says::Has(from_ref(step))).asking([step]),
        Temporal::Before { step, targets, .. } => {
            M::of(Says::Needs(targets.iter().map(|target| (target, step)).collect())).triggered(targets)
        }
        Temporal::After { step, targets, .. } => {
            M::of(Says::Needs(targets.iter().map(|target| (step, target)).collect())).triggered([step])
        }
        Temporal::Sequence { steps, .. } => M::of(Says::Has(steps)).asking(steps),
        Temporal::Nested { open, .. } => M::of(Says::Unread).triggered([open]),
        Temporal::Together { left, right } => M::of(Says::Unread).asking([left, right]),
        Temporal::Apart { .. } | Temporal::Iff { .. } => M::of(Says::Unread),
        Temporal::IfThen { condition, consequence } => {
            M::of(Says::Implies(condition, consequence)).triggered([condition])
        }
        Temporal::Either { steps } => M::of(Says::AnyOf(steps)),
        Temporal::NotBoth { left, right } => M::of(Says::Excludes(left, right)),
        Temporal::Repeat { .. } => M::of(Says::Unread),
        Temporal::Flow { flow } => M::of(Says::Unread).asking(flow.leaves()),
        Temporal::Each { quantifier: Quantifier::Each, step, .. } => M::of(Says::Unread).triggered([step]),
        Temporal::Each { quantifier: Quantifier::Some, step, .. } => M::of(Says::Has(from_ref(step))).asking([step]),
        Temporal::Each { quantifier: Quantifier::No, .. } => M::of(Says::Unread),
        Temporal::NoneIn { .. } | Temporal::NoneInSteps { .. } | Temporal::ArgsValid { .. } => M::of(Says::Unread),
    }
}

/// What comes of the same steps on both sides of a statement.
pub enum SameSides<'a> {
    /// It fails wherever they occur: the `end` one has none `word` it.
    Fails { step: &'a Step, targets: &'a [Step], end: &'static str, word: &'static str },
    /// It says less than it seems to: what it says.
    Says(&'a Step, &'a Step, &'static str),
    /// A list says something twice.
    Twice(&'a [Step]),
    /// It means what it says, or has no two sides.
    Fine,
}

/// What comes of the same steps on both sides of a statement.
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
        K::Flow { .. } | K::Each { .. } | K::Sliding { .. } | K::NoPredicate { .. } | K::ArgsValid { .. } => {
            SameSides::Fine
        }
        K::Expression(_) | K::Not(_) | K::Block { .. } | K::Group { .. } | K::World(_) | K::Rate { .. } => {
            SameSides::Fine
        }
    }
}

/// The steps that a statement needs in order to say anything, where a `require` of them beside it is worth proposing.
pub fn vacuous_without(statement: &StatementKind) -> &[Step] {
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
        | K::ArgsValid { .. } => &[],
        K::Expression(_) | K::Not(_) | K::Block { .. } | K::Group { .. } | K::World(_) | K::Rate { .. } => &[],
    }
}
