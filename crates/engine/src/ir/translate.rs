//! The same statement with other forms of its patterns and expressions: what the checker found becomes what the machine runs, and what
//! the machine runs becomes what two statements are compared by.

use super::{Flow, Scope};

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

impl<P> Flow<P> {
    /// The flow with other patterns. Its depth is limited by that of the brackets it is written with.
    pub(super) fn translated<E, T: Translate<P, E>>(&self, by: &mut T) -> Flow<T::Pattern> {
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
            Self::Values { steps } => Scope::Values { steps: by.patterns(steps) },
        }
    }
}
