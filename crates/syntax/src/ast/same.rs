//! Compares two trees by meaning: everything except spans.
//!
//! Every type is compared by the table in [`super::parts`], so that a new field cannot be forgotten.

use super::*;
use crate::grammar::with_stack;

/// Stack reserve in grammar levels. It is large because nested parts take more stack than a comparison.
const LEVELS: usize = 64;

/// Returns true if two files have the same items, documentation and silenced lints, wherever they are located.
#[must_use]
pub fn same_meaning(left: &RuleFile, right: &RuleFile) -> bool {
    with_stack(LEVELS, || left.means_same(right))
}

trait SameMeaning {
    fn means_same(&self, other: &Self) -> bool;
}

impl<T: SameMeaning> SameMeaning for Vec<T> {
    fn means_same(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other).all(|(left, right)| left.means_same(right))
    }
}

impl<T: SameMeaning> SameMeaning for Option<T> {
    fn means_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Some(left), Some(right)) => left.means_same(right),
            (None, None) => true,
            _ => false,
        }
    }
}

impl<T: SameMeaning> SameMeaning for Box<T> {
    fn means_same(&self, other: &Self) -> bool {
        (**self).means_same(other)
    }
}

impl<T: SameMeaning> SameMeaning for &T {
    fn means_same(&self, other: &Self) -> bool {
        (**self).means_same(other)
    }
}

macro_rules! tuples {
    ($(($($ty:ident $number:tt),*))*) => {
        $(impl<$($ty: SameMeaning),*> SameMeaning for ($($ty,)*) {
            fn means_same(&self, _other: &Self) -> bool {
                true $(&& self.$number.means_same(&_other.$number))*
            }
        })*
    };
}

tuples! {
    () (A 0) (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) (A 0, B 1, C 2, D 3, E 4) (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
}

/// Spans do not affect meaning.
impl SameMeaning for Span {
    fn means_same(&self, _: &Self) -> bool {
        true
    }
}

/// Types without spans are compared by `==`.
macro_rules! plain {
    ($($ty:ty),* $(,)?) => {
        $(impl SameMeaning for $ty {
            fn means_same(&self, other: &Self) -> bool {
                self == other
            }
        })*
    };
}

macro_rules! fields {
    ($($ty:ident { $($field:ident),* })*) => {
        $(impl SameMeaning for $ty {
            fn means_same(&self, other: &Self) -> bool {
                let Self { $($field),* } = self;
                $($field.means_same(&other.$field))&&*
            }
        })*
    };
}

/// A variant that is not listed equals nothing, so that the formatter rejects the file.
macro_rules! variants {
    ($($(#[$about:meta])* $ty:ident {
        $($(#[$doc:meta])* $variant:ident $(($($part:ident $(: $of:ty)?),*))? $({ $($field:ident $(: $holds:ty)?),* })?;)*
    })*) => {
        $(impl SameMeaning for $ty {
            fn means_same(&self, other: &Self) -> bool {
                match self {
                    $(Self::$variant $(($($part),*))? $({ $($field),* })? => {
                        let left = ($($($part,)*)? $($($field,)*)?);
                        match other {
                            Self::$variant $(($($part),*))? $({ $($field),* })? => left.means_same(&($($($part,)*)? $($($field,)*)?)),
                            _ => false,
                        }
                    })*
                }
            }
        })*
    };
}

super::parts::parts!(plain, fields, variants);
