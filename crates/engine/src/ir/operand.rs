//! The operands of statements: the parts that patterns and expressions stand in.
//!
//! A statement is declared once with the kind of each of its parts ([`temporal!`]). Its type, its translation to other patterns and expressions and
//! the list of its operands are made from that, so that nothing that only looks at operands knows the statements.

use super::{Flow, Scope, Within};

/// An operand of a statement, in the order in which they are written.
#[derive(Debug)]
pub enum Operand<'c, P, E> {
    /// A pattern of steps.
    Pattern(&'c P),
    /// An expression, and what it is for.
    Code(&'c E, Purpose),
    /// A bound between two steps.
    Within(&'c Within),
}

/// What an expression of a statement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A condition that a step has to meet.
    Condition,
    /// A comparison that a number has to meet; the number is its first local.
    Comparison,
    /// A predicate that has to find nothing in a value; the value is its first local.
    Predicate,
    /// A value that is looked at.
    Value,
}

impl Purpose {
    /// How many locals have values when it starts.
    #[must_use]
    pub fn given(self) -> u32 {
        match self {
            Self::Condition | Self::Value => 0,
            Self::Comparison | Self::Predicate => 1,
        }
    }
}

/// Declares statements: `FIELD: TYPE = KIND`, where the kind is one of those of [`operands!`].
macro_rules! temporal {
    ($(#[$about:meta])* $name:ident {
        $($(#[$doc:meta])* $variant:ident { $($field:ident: $ty:ty = $kind:ident),* $(,)? };)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "fields are named like the parts of the statement")]
        pub enum $name<P, E> {
            $($(#[$doc])* $variant { $($field: $ty),* },)*
        }

        impl<P, E> $name<P, E> {
            /// The statement with other patterns and expressions.
            pub fn translated<T: super::Translate<P, E>>(&self, by: &mut T) -> $name<T::Pattern, T::Code> {
                match self {
                    $(Self::$variant { $($field),* } => $name::$variant {
                        $($field: super::operand::translated!(by, $field, $kind)),*
                    },)*
                }
            }

            /// Its operands.
            #[must_use]
            pub fn operands(&self) -> Vec<super::operand::Operand<'_, P, E>> {
                let mut found = Vec::new();
                match self {
                    $(Self::$variant { $($field),* } => {
                        $(super::operand::operands!(found, $field, $kind);)*
                    })*
                }
                found
            }

            /// Its patterns.
            pub fn patterns(&self) -> impl Iterator<Item = &P> {
                self.operands().into_iter().filter_map(|operand| match operand {
                    super::operand::Operand::Pattern(pattern) => Some(pattern),
                    super::operand::Operand::Code(..) | super::operand::Operand::Within(_) => None,
                })
            }
        }
    };
}

/// A part with other patterns and expressions, by its kind.
macro_rules! translated {
    ($by:ident, $part:ident, pattern) => {
        $by.pattern($part)
    };
    ($by:ident, $part:ident, patterns) => {
        $by.patterns($part)
    };
    ($by:ident, $part:ident, optional) => {
        $part.as_ref().map(|one| $by.pattern(one))
    };
    ($by:ident, $part:ident, flow) => {
        $part.translated($by)
    };
    ($by:ident, $part:ident, condition) => {
        $by.code($part, super::operand::Purpose::Condition.given())
    };
    ($by:ident, $part:ident, comparison) => {
        $by.code($part, super::operand::Purpose::Comparison.given())
    };
    ($by:ident, $part:ident, predicate) => {
        $by.code($part, super::operand::Purpose::Predicate.given())
    };
    ($by:ident, $part:ident, value) => {
        $by.code($part, super::operand::Purpose::Value.given())
    };
    ($by:ident, $part:ident, within) => {
        *$part
    };
    ($by:ident, $part:ident, plain) => {
        *$part
    };
}

/// The operands in a part, by its kind.
macro_rules! operands {
    ($found:ident, $part:ident, pattern) => {
        $found.push(super::operand::Operand::Pattern($part))
    };
    ($found:ident, $part:ident, patterns) => {
        $found.extend($part.iter().map(super::operand::Operand::Pattern))
    };
    ($found:ident, $part:ident, optional) => {
        $found.extend($part.iter().map(super::operand::Operand::Pattern))
    };
    ($found:ident, $part:ident, flow) => {
        $found.extend($part.leaves().into_iter().map(super::operand::Operand::Pattern))
    };
    ($found:ident, $part:ident, condition) => {
        $found.push(super::operand::Operand::Code($part, super::operand::Purpose::Condition))
    };
    ($found:ident, $part:ident, comparison) => {
        $found.push(super::operand::Operand::Code($part, super::operand::Purpose::Comparison))
    };
    ($found:ident, $part:ident, predicate) => {
        $found.push(super::operand::Operand::Code($part, super::operand::Purpose::Predicate))
    };
    ($found:ident, $part:ident, value) => {
        $found.push(super::operand::Operand::Code($part, super::operand::Purpose::Value))
    };
    ($found:ident, $part:ident, within) => {
        $found.extend($part.iter().map(super::operand::Operand::Within))
    };
    ($found:ident, $part:ident, plain) => {
        let _ = $part;
    };
}

pub(super) use {operands, temporal, translated};

impl<P> Flow<P> {
    /// Its patterns from left to right.
    #[must_use]
    pub fn leaves(&self) -> Vec<&P> {
        let (mut found, mut open) = (Vec::new(), vec![self]);
        while let Some(part) = open.pop() {
            match part {
                Self::Step(step) => found.push(step),
                Self::Sequence(parts) | Self::Choice(parts) => open.extend(parts.iter().rev()),
                Self::Repeat { body, .. } => open.push(body),
            }
        }
        found
    }
}

impl<P> Scope<P> {
    /// The patterns of a block's header, in the order in which they are written.
    pub fn patterns(&self) -> impl Iterator<Item = &P> {
        let (first, second, others) = match self {
            Self::After { open, until } => (Some(open), until.as_ref(), [].as_slice()),
            Self::Between { open, close } => (Some(open), Some(close), [].as_slice()),
            Self::Before { close: only } | Self::Each { step: only } => (Some(only), None, [].as_slice()),
            Self::Values { steps } => (None, None, steps.as_slice()),
        };
        first.into_iter().chain(second).chain(others)
    }
}
