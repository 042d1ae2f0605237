//! Which function finds which lints.

use super::context::Context;
use super::{names, order, style, text, truth};
use crate::diagnostic::Slug;

/// A function that looks for lints.
pub struct Pass {
    /// The lints that it can find.
    pub slugs: &'static [Slug],
    /// True when it looks at the text or at single statements, so that a mistake elsewhere in the file does not matter to it.
    pub of_text: bool,
    /// Looks at a file.
    pub run: fn(&mut Context<'_>),
}

macro_rules! passes {
    ($($(#[$kind:ident])? $run:path: $($slug:ident),*;)*) => {
        /// All functions, family by family.
        pub const PASSES: &[Pass] = &[$(Pass {
            slugs: &[$(Slug::$slug),*],
            of_text: { let kinds: &[&str] = &[$(stringify!($kind))?]; !kinds.is_empty() },
            run: $run,
        },)*];
    };
}

passes! {
    truth::single: Impossible, AlwaysTrue, CountAlwaysTrue, ConstantCondition, RedundantOperand;
    truth::pairs: Contradictory, Shadowed, DuplicateAssertion;
    truth::letter_case: LetterCase;
    order::precedence: SelfPrecedence;
    names::unused: UnusedParam, UnusedDef, UnusedStep, UnusedSchema, UnusedUse;
    #[of_text] text::characters: BidiCharacter, InvisibleCharacter;
    #[of_text] style::expressions: DoubleNegation, YodaCondition, BooleanComparison;
}
