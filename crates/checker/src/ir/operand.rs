//! The operands of statements: the parts that patterns and expressions stand in.
//!
//! A statement is declared once with the kind of each of its parts ([`temporal!`]). Its type, its translation to other patterns and expressions and
//! the list of its operands are made from that, so that nothing that only looks at operands knows the statements.

use super::{CallFlow, StepDistance, WindowScope};

/// An operand of a statement, in the order in which they are written.
#[derive(Debug)]
pub enum StatementOperand<'c, P, E> {
    /// A pattern of steps.
    Pattern(&'c P),
    /// An expression and its purpose.
    Code(&'c E, OperandPurpose),
    /// A bound between two steps.
    Within(&'c StepDistance),
}

/// The purpose of an expression in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandPurpose {
    /// A condition that a step has to meet.
    Condition,
    /// A comparison on a number, which is its first local.
    Comparison,
    /// A predicate that must not hold for any part of a value, which is its first local.
    Predicate,
    /// A value to inspect.
    Value,
}

impl OperandPurpose {
    /// Number of locals that are set when it starts.
    #[must_use]
    pub fn given_locals(self) -> u32 {
        match self {
            Self::Condition | Self::Value => 0,
            Self::Comparison | Self::Predicate => 1,
        }
    }
}

/// Declares statements: `FIELD: TYPE = KIND`, with a kind of `operands!`.
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
            pub fn translated<T: super::OperandTranslator<P, E>>(&self, by: &mut T) -> $name<T::TargetPattern, T::TargetCode> {
                match self {
                    $(Self::$variant { $($field),* } => $name::$variant {
                        $($field: super::operand::translated!(by, $field, $kind)),*
                    },)*
                }
            }

            /// Its operands.
            #[must_use]
            pub fn operands(&self) -> Vec<super::operand::StatementOperand<'_, P, E>> {
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
                    super::operand::StatementOperand::Pattern(pattern) => Some(pattern),
                    super::operand::StatementOperand::Code(..) | super::operand::StatementOperand::Within(_) => None,
                })
            }
        }
    };
}

macro_rules! translated {
    ($by:ident, $part:ident, pattern) => {
        $by.translate_pattern($part)
    };
    ($by:ident, $part:ident, patterns) => {
        $by.translate_patterns($part)
    };
    ($by:ident, $part:ident, optional) => {
        $part.as_ref().map(|one| $by.translate_pattern(one))
    };
    ($by:ident, $part:ident, flow) => {
        $part.translated($by)
    };
    ($by:ident, $part:ident, condition) => {
        $by.translate_code($part, super::operand::OperandPurpose::Condition.given_locals())
    };
    ($by:ident, $part:ident, comparison) => {
        $by.translate_code($part, super::operand::OperandPurpose::Comparison.given_locals())
    };
    ($by:ident, $part:ident, predicate) => {
        $by.translate_code($part, super::operand::OperandPurpose::Predicate.given_locals())
    };
    ($by:ident, $part:ident, value) => {
        $by.translate_code($part, super::operand::OperandPurpose::Value.given_locals())
    };
    ($by:ident, $part:ident, within) => {
        *$part
    };
    ($by:ident, $part:ident, plain) => {
        *$part
    };
    ($by:ident, $part:ident, setting) => {
        $part.clone()
    };
}

macro_rules! operands {
    ($found:ident, $part:ident, pattern) => {
        $found.push(super::operand::StatementOperand::Pattern($part))
    };
    ($found:ident, $part:ident, patterns) => {
        $found.extend($part.iter().map(super::operand::StatementOperand::Pattern))
    };
    ($found:ident, $part:ident, optional) => {
        $found.extend($part.iter().map(super::operand::StatementOperand::Pattern))
    };
    ($found:ident, $part:ident, flow) => {
        $found.extend($part.flow_patterns().into_iter().map(super::operand::StatementOperand::Pattern))
    };
    ($found:ident, $part:ident, condition) => {
        $found.push(super::operand::StatementOperand::Code($part, super::operand::OperandPurpose::Condition))
    };
    ($found:ident, $part:ident, comparison) => {
        $found.push(super::operand::StatementOperand::Code($part, super::operand::OperandPurpose::Comparison))
    };
    ($found:ident, $part:ident, predicate) => {
        $found.push(super::operand::StatementOperand::Code($part, super::operand::OperandPurpose::Predicate))
    };
    ($found:ident, $part:ident, value) => {
        $found.push(super::operand::StatementOperand::Code($part, super::operand::OperandPurpose::Value))
    };
    ($found:ident, $part:ident, within) => {
        $found.extend($part.iter().map(super::operand::StatementOperand::Within))
    };
    ($found:ident, $part:ident, plain) => {
        let _ = $part;
    };
    ($found:ident, $part:ident, setting) => {
        let _ = $part;
    };
}

pub(super) use {operands, temporal, translated};

impl<P> CallFlow<P> {
    /// Its patterns from left to right.
    #[must_use]
    pub fn flow_patterns(&self) -> Vec<&P> {
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

impl<P> WindowScope<P> {
    /// The patterns of a block's header, in the order in which they are written.
    pub fn header_patterns(&self) -> impl Iterator<Item = &P> {
        let (first, second, others) = match self {
            Self::After { open, until } => (Some(open), until.as_ref(), [].as_slice()),
            Self::Between { open, close } => (Some(open), Some(close), [].as_slice()),
            Self::Before { close: only } | Self::Each { step: only } => (Some(only), None, [].as_slice()),
            Self::Values { steps } => (None, None, steps.as_slice()),
        };
        first.into_iter().chain(second).chain(others)
    }
}
