//! Which function finds which lints.

use super::context::Context;
use super::{cost, denials, empty, kinds, names, order, pairs, readings, regex, style, tests, text, truth, vacuity};
use averment_base::diagnostic::Slug;

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
    pairs::pairs: Contradictory, Shadowed, DuplicateAssertion;
    truth::letter_case: LetterCase;
    #[of_text] empty::empty: EmptyNeedle, ZeroBound, EmptySchema;
    vacuity::existence: OrderWithoutExistence;
    vacuity::quantifiers: VacuousQuantifier;
    vacuity::missing: MissingOnly;
    #[of_text] order::same_steps: SelfPrecedence, SameSteps;
    order::guards: GuardMayFail;
    order::windows: WindowNeverCloses, WindowMayStayOpen;
    readings::globs_in_flows: GlobInFlow;
    readings::two_scopes: TwoScopes;
    order::conditions: NotAboutStep;
    order::alternatives: UnreachableAlternative;
    #[of_text] order::bounds: WithinNothing;
    names::unused: UnusedParam, UnusedDef, UnusedStep, UnusedSchema, UnusedUse;
    #[of_text] names::locals: UnusedVariable, UnusedArgument, Shadowing;
    #[of_text] names::bindings: BindingUsedOnce;
    kinds::nearly: NearlyAKind;
    names::naming: Naming;
    #[of_text] text::characters: BidiCharacter, InvisibleCharacter;
    #[of_text] text::confusable: Confusable;
    #[of_text] regex::regexes: RegexIsLiteral, RegexMatchesEmpty, UnanchoredId, RedundantFlag, RedundantWildcard, UnescapedDot, ExpensiveRegex,
        Backtracking;
    #[of_text] cost::wide: WideGlob, DeepWildcard;
    #[of_text] style::expressions: DoubleNegation, YodaCondition, BooleanComparison, RedundantParentheses, RedundantIf, SingleItemIn, MixedLogic;
    style::statements: EmptyRule, LongRule, MissingSentence, MustWithoutThreshold, TrivialGroup, RedundantTimes, StarForAny;
    denials::denials: IdleDeny;
    tests::tests: UntestedRule, TestOfNothing, DuplicateTest, OneSidedTests;
}
