//! Maps lints to the functions that find them.

use super::context::LintContext;
use super::{
    cost, denials, empty, kinds, misreadings, named_units, names, order, pairs, regex, shapes, style, tests, text,
    text_patterns, truth, vacuity,
};
use averment_base::diagnostic::Slug;

/// A function that runs lints.
pub struct Pass {
    /// The lints that it can find.
    pub slugs: &'static [Slug],
    /// True if it examines the text or single statements, so that errors elsewhere in the file do not matter.
    pub of_text: bool,
    /// Runs the lints on a file.
    pub run: fn(&mut LintContext<'_>),
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
    truth::single_conditions: Impossible, AlwaysTrue, CountAlwaysTrue, ConstantCondition, RedundantOperand;
    pairs::assertion_pairs: Contradictory, Shadowed, DuplicateAssertion;
    truth::letter_case: LetterCase;
    shapes::lists_of_lists: ListOfLists;
    shapes::globs_as_text: GlobAsText;
    named_units::named_units: UnitInName;
    text_patterns::patterns_as_text: RegexAsText, GlobAsText;
    #[of_text] empty::empty_values: EmptyNeedle, ZeroBound, EmptySchema;
    vacuity::missing_existence: OrderWithoutExistence;
    vacuity::vacuous_quantifiers: VacuousQuantifier;
    vacuity::missing_values: MissingOnly;
    #[of_text] order::same_steps: SelfPrecedence, SameSteps;
    order::failing_guards: GuardMayFail;
    order::window_ends: WindowNeverCloses, WindowMayStayOpen;
    misreadings::globs_in_flows: GlobInFlow;
    misreadings::two_scopes: TwoScopes;
    order::idle_conditions: NotAboutStep;
    order::covered_alternatives: UnreachableAlternative;
    #[of_text] order::zero_bounds: WithinNothing;
    names::unused_names: UnusedParam, UnusedDef, UnusedStep, UnusedSchema, UnusedUse;
    #[of_text] names::local_names: UnusedVariable, UnusedArgument, Shadowing;
    #[of_text] names::single_use_bindings: BindingUsedOnce;
    kinds::near_kind_names: NearlyAKind;
    names::naming_style: Naming;
    #[of_text] text::invisible_characters: BidiCharacter, InvisibleCharacter;
    #[of_text] text::confusable_words: Confusable;
    #[of_text] regex::regex_lints: RegexIsLiteral, RegexMatchesEmpty, UnanchoredId, RedundantFlag, RedundantWildcard, UnescapedDot, ExpensiveRegex,
        Backtracking;
    #[of_text] cost::wide_globs: WideGlob, DeepWildcard;
    #[of_text] style::expression_style: DoubleNegation, YodaCondition, BooleanComparison, RedundantParentheses, RedundantIf, SingleItemIn, MixedLogic;
    style::statement_style: EmptyRule, LongRule, MissingSentence, MustWithoutThreshold, TrivialGroup, RedundantTimes, StarForAny;
    denials::useless_denials: IdleDeny;
    tests::tests: UntestedRule, TestOfNothing, DuplicateTest, OneSidedTests;
}
