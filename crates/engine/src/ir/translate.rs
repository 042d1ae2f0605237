//! The same statement with other forms of its patterns and expressions: what the checker found becomes what the machine runs, and what
//! the machine runs becomes what two statements are compared by.

use super::{Course, Flow, Scope};

/// Gives patterns and expressions another form. They come in the order in which they are written.
pub trait Translate<P, E> {
    /// What a pattern becomes.
    type Pattern;
    /// What an expression becomes.
    type Code;

    /// A pattern.
    fn pattern(&mut self, pattern: &P) -> Self::Pattern;

    /// An expression whose first `given` locals have values when it starts.
    fn code(&mut self, expr: &E, given: u32) -> Self::Code;

    /// Several patterns.
    fn patterns(&mut self, patterns: &[P]) -> Vec<Self::Pattern> {
        patterns.iter().map(|pattern| self.pattern(pattern)).collect()
    }
}

impl<P, E> Course<P, E> {
    /// The statement with other patterns and expressions. One arm per statement, each only names its parts.
    pub fn translated<T: Translate<P, E>>(&self, by: &mut T) -> Course<T::Pattern, T::Code> {
        use Course as C;
        match self {
            C::Require { step, times } => C::Require { step: by.pattern(step), times: *times },
            C::Never { steps } => C::Never { steps: by.patterns(steps) },
            C::NeverAfter { steps, open, until, within } => {
                let (steps, open) = (by.patterns(steps), by.pattern(open));
                C::NeverAfter { steps, open, until: until.as_ref().map(|until| by.pattern(until)), within: *within }
            }
            C::NeverBefore { steps, close, within } => {
                C::NeverBefore { steps: by.patterns(steps), close: by.pattern(close), within: *within }
            }
            C::NeverBetween { steps, open, close, within } => {
                let (steps, open, close) = (by.patterns(steps), by.pattern(open), by.pattern(close));
                C::NeverBetween { steps, open, close, within: *within }
            }
            C::Only { steps } => C::Only { steps: by.patterns(steps) },
            C::Count { step, test } => C::Count { step: by.pattern(step), test: by.code(test, 1) },
            C::First { step } => C::First { step: by.pattern(step) },
            C::Last { step } => C::Last { step: by.pattern(step) },
            &C::Before { each, immediately, ref step, ref targets, within } => {
                C::Before { each, immediately, step: by.pattern(step), targets: by.patterns(targets), within }
            }
            &C::After { each, immediately, ref step, ref targets, within } => {
                C::After { each, immediately, step: by.pattern(step), targets: by.patterns(targets), within }
            }
            C::Sequence { mode, steps, within } => {
                C::Sequence { mode: *mode, steps: by.patterns(steps), within: *within }
            }
            C::Together { left, right } => C::Together { left: by.pattern(left), right: by.pattern(right) },
            C::Apart { left, right } => C::Apart { left: by.pattern(left), right: by.pattern(right) },
            C::IfThen { condition, consequence } => {
                C::IfThen { condition: by.pattern(condition), consequence: by.pattern(consequence) }
            }
            C::Iff { left, right } => C::Iff { left: by.pattern(left), right: by.pattern(right) },
            C::Either { steps } => C::Either { steps: by.patterns(steps) },
            C::NotBoth { left, right } => C::NotBoth { left: by.pattern(left), right: by.pattern(right) },
            C::Repeat { step, limit } => C::Repeat { step: by.pattern(step), limit: *limit },
            C::Flow { flow } => C::Flow { flow: flow.translated(by) },
            C::Each { quantifier, step, condition } => {
                C::Each { quantifier: *quantifier, step: by.pattern(step), condition: by.code(condition, 0) }
            }
            C::NoneIn { values, predicate } => {
                C::NoneIn { values: by.code(values, 0), predicate: by.code(predicate, 1) }
            }
            C::NoneInSteps { step, predicate } => {
                C::NoneInSteps { step: by.pattern(step), predicate: by.code(predicate, 1) }
            }
            C::ArgsValid { step, strict } => {
                C::ArgsValid { step: step.as_ref().map(|step| by.pattern(step)), strict: *strict }
            }
        }
    }
}

impl<P> Flow<P> {
    /// The flow with other patterns. Its depth is limited by that of the brackets it is written with.
    fn translated<E, T: Translate<P, E>>(&self, by: &mut T) -> Flow<T::Pattern> {
        match self {
            Self::Step(step) => Flow::Step(by.pattern(step)),
            Self::Sequence(parts) => Flow::Sequence(parts.iter().map(|part| part.translated(by)).collect()),
            Self::Choice(parts) => Flow::Choice(parts.iter().map(|part| part.translated(by)).collect()),
            Self::Repeat { body, least, most } => {
                Flow::Repeat { body: Box::new(body.translated(by)), least: *least, most: *most }
            }
        }
    }
}

impl<P> Scope<P> {
    /// The header of a block with other patterns.
    pub fn translated<E, T: Translate<P, E>>(&self, by: &mut T) -> Scope<T::Pattern> {
        match self {
            Self::After { open, until } => {
                Scope::After { open: by.pattern(open), until: until.as_ref().map(|until| by.pattern(until)) }
            }
            Self::Before { close } => Scope::Before { close: by.pattern(close) },
            Self::Between { open, close } => Scope::Between { open: by.pattern(open), close: by.pattern(close) },
            Self::Each { step } => Scope::Each { step: by.pattern(step) },
        }
    }
}
