//! The same statement with other forms of its patterns and expressions: what the checker found becomes what the machine runs, and what
//! the machine runs becomes what two statements are compared by.

use super::{CallFlow, WindowScope};

/// Gives patterns and expressions another form. They come in the order in which they are written.
pub trait OperandTranslator<P, E> {
    /// The translated pattern.
    type TargetPattern;
    /// The translated expression.
    type TargetCode;

    /// A pattern.
    fn translate_pattern(&mut self, pattern: &P) -> Self::TargetPattern;

    /// An expression whose first `given` locals are set when it starts.
    fn translate_code(&mut self, expr: &E, given: u32) -> Self::TargetCode;

    /// Several patterns.
    fn translate_patterns(&mut self, patterns: &[P]) -> Vec<Self::TargetPattern> {
        patterns.iter().map(|pattern| self.translate_pattern(pattern)).collect()
    }
}

impl<P> CallFlow<P> {
    /// Its depth is bounded by that of the brackets in the source.
    pub(super) fn translated<E, T: OperandTranslator<P, E>>(&self, by: &mut T) -> CallFlow<T::TargetPattern> {
        match self {
            Self::Step(step) => CallFlow::Step(by.translate_pattern(step)),
            Self::Sequence(parts) => CallFlow::Sequence(parts.iter().map(|part| part.translated(by)).collect()),
            Self::Choice(parts) => CallFlow::Choice(parts.iter().map(|part| part.translated(by)).collect()),
            Self::Repeat { body, least, most } => {
                CallFlow::Repeat { body: Box::new(body.translated(by)), least: *least, most: *most }
            }
        }
    }
}

impl<P> WindowScope<P> {
    /// The header of a block with other patterns.
    pub fn translated<E, T: OperandTranslator<P, E>>(&self, by: &mut T) -> WindowScope<T::TargetPattern> {
        match self {
            Self::After { open, until } => WindowScope::After {
                open: by.translate_pattern(open),
                until: until.as_ref().map(|until| by.translate_pattern(until)),
            },
            Self::Before { close } => WindowScope::Before { close: by.translate_pattern(close) },
            Self::Between { open, close } => {
                WindowScope::Between { open: by.translate_pattern(open), close: by.translate_pattern(close) }
            }
            Self::Each { step } => WindowScope::Each { step: by.translate_pattern(step) },
            Self::Values { steps } => WindowScope::Values { steps: by.translate_patterns(steps) },
        }
    }
}
