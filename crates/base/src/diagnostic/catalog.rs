//! The one table of everything that can be said about rules: slug, severity, title.
//!
//! A row that names a family is a lint (or a warning of the checker) with a level that projects may choose; `off` behind the family means that it
//! is off unless somebody asks for it, and `certain` that `aver check` tells it, too: such an assertion never says what it seems to say, and one walk
//! of the text finds it. To add a diagnostic, add a row here, write its page `explain/SLUG.md`, and push it where it is found; tests ask for a golden
//! file that shows it, and compile both programs of its page.

use super::{Family, LintLevel, Severity};

macro_rules! catalog {
    ($($name:ident = $slug:literal, $severity:ident, $title:literal $(, $family:ident $($word:ident)?)?;)*) => {
        /// The kind of a diagnostic. `as_str` gives the slug that users see and write in `# allow: slug`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Slug { $(#[doc = $title] $name,)* }

        impl Slug {
            /// All slugs in the order of the table.
            pub const ALL: &'static [Slug] = &[$(Slug::$name,)*];

            /// The slug as text, for example `unknown-tool`.
            #[must_use]
            pub fn as_str(self) -> &'static str { match self { $(Slug::$name => $slug,)* } }

            /// The severity unless a place says otherwise.
            #[must_use]
            pub fn severity(self) -> Severity { match self { $(Slug::$name => Severity::$severity,)* } }

            /// One sentence: what the diagnostic is about.
            #[must_use]
            pub fn title(self) -> &'static str { match self { $(Slug::$name => $title,)* } }

            /// The page of `aver explain`, as Markdown: avoid, prefer, why.
            #[must_use]
            pub fn page(self) -> &'static str {
                match self { $(Slug::$name => include_str!(concat!("explain/", $slug, ".md")),)* }
            }

            /// The slug of a text, for `# allow:`.
            #[must_use]
            pub fn parse(text: &str) -> Option<Slug> { match text { $($slug => Some(Slug::$name),)* _ => None } }

            /// The family of a lint; `None` for what is wrong with the language itself.
            #[must_use]
            pub fn family(self) -> Option<Family> {
                match self { $(Slug::$name => { let families: &[Family] = &[$(Family::$family)?]; families.first().copied() })* }
            }

            /// The word behind the family of a lint.
            fn family_word(self) -> Option<&'static str> {
                match self { $(Slug::$name => { let words: &[&str] = &[$($(stringify!($word))?)?]; words.first().copied() })* }
            }
        }
    };
}

impl Slug {
    /// The level of a lint unless a project or the command line says otherwise.
    #[must_use]
    pub fn lint_level(self) -> LintLevel {
        match self.severity() {
            _ if self.family_word() == Some("off") => LintLevel::Allow,
            Severity::Info => LintLevel::Info,
            Severity::Warning => LintLevel::Warn,
            // `impossible` is an error where the checker says it, and a lint elsewhere.
            Severity::Error if self.is_lint() => LintLevel::Warn,
            Severity::Error => LintLevel::Error,
        }
    }

    /// True for a lint that is certain: `check` tells it before it judges any run.
    #[must_use]
    pub fn is_certain(self) -> bool {
        self.family_word() == Some("certain")
    }

    /// True for what `lint` finds, beside what `check` says of every file that it compiles.
    #[must_use]
    pub fn is_lint(self) -> bool {
        let from_check = [
            Self::BareNumber,
            Self::UnlistedTool,
            Self::UnknownKeyword,
            Self::UnusedAllow,
            Self::UnknownAllow,
            Self::UnusedLet,
        ];
        self.family().is_some() && !from_check.contains(&self)
    }

    /// True when a level can be chosen for it.
    #[must_use]
    pub fn is_configurable(self) -> bool {
        self.family().is_some()
    }
}

catalog! {
    // Reading the text.
    Syntax = "syntax", Error, "the text is not a statement of the language";
    Unclosed = "unclosed", Error, "a bracket, string, regular expression or interpolation is not closed";
    UnknownStatement = "unknown-statement", Error, "the first word is no statement";
    UnknownModifier = "unknown-modifier", Error, "the word after an assertion is not a modifier";
    UnknownUnit = "unknown-unit", Error, "the unit after a number is not known";
    Misplaced = "misplaced", Error, "a declaration or setting is in a place where it has no meaning";
    TooDeep = "too-deep", Error, "brackets or operators are nested beyond the limit";
    TooLarge = "too-large", Error, "a file or text is larger than the limit";
    NotText = "not-text", Error, "the file is not UTF-8 text";
    Unformatted = "unformatted", Error, "the formatter cannot show that its output has the same meaning";
    ReservedName = "reserved-name", Error, "a declaration takes a word of the language as its name";
    // Names.
    UnknownName = "unknown-name", Error, "a name is not declared";
    UnknownFunction = "unknown-function", Error, "there is no such function or predicate";
    UnknownTool = "unknown-tool", Error, "the tool is not in the declared catalogue";
    UnknownArgument = "unknown-argument", Error, "the tool or step has no such argument";
    UnknownField = "unknown-field", Error, "the value has no such field";
    UnknownRule = "unknown-rule", Error, "there is no such rule";
    UnknownType = "unknown-type", Error, "there is no such type";
    UnknownSchema = "unknown-schema", Error, "there is no such schema";
    UnknownWord = "unknown-word", Error, "a value is compared with a word that it never is";
    UnknownZone = "unknown-zone", Error, "there is no such time zone";
    UnknownSeverity = "unknown-severity", Error, "there is no such severity";
    Duplicate = "duplicate", Error, "a name or id is declared twice";
    Binding = "binding", Error, "a binding is used where nothing binds it";
    Import = "import", Error, "an imported file or name cannot be found";
    ImportCycle = "import-cycle", Error, "imports form a loop";
    MissingFile = "missing-file", Error, "a named file cannot be read";
    Recursion = "recursion", Error, "a definition uses itself";
    // Types and values.
    NotAnAssertion = "not-an-assertion", Error, "the value is neither true nor false";
    TypeMismatch = "type-mismatch", Error, "the types on both sides do not fit";
    ObjectAsText = "object-as-text", Error, "an object is tested as if it were text";
    PipedText = "piped-text", Error, "a text with a pipe matches only this one spelling";
    MixedUnits = "mixed-units", Error, "durations, money and sizes are mixed";
    BareNumber = "bare-number", Warning, "a bare number is compared with a unit", Style;
    ArgumentCount = "argument-count", Error, "a function has too few or too many arguments";
    Impossible = "impossible", Error, "the statement can never hold", Truth;
    BadRegex = "bad-regex", Error, "the regular expression cannot be used";
    BadJsonPath = "bad-jsonpath", Error, "the JSONPath cannot be used";
    BadSchema = "bad-schema", Error, "the JSON Schema cannot be used";
    BadJson = "bad-json", Error, "a named file is not JSON";
    BadPath = "bad-path", Error, "the path glob cannot be used";
    CallsOnly = "calls-only", Error, "the statement works only on calls";
    NoCatalogue = "no-catalogue", Error, "tool schemas are needed and none are declared";
    UnlistedTool = "unlisted-tool", Warning, "the tool is not in the declared catalogue", Names;
    UnknownKeyword = "unknown-keyword", Warning, "a schema has a key that JSON Schema does not know", Names;
    UnusedAllow = "unused-allow", Warning, "a comment silences nothing", Style;
    UnknownAllow = "unknown-allow", Warning, "a comment names no lint", Style;
    UnusedLet = "unused-let", Warning, "a `let` is never used", Names;
    // Lints: truth.
    Contradictory = "contradictory", Warning, "two assertions can never both hold", Truth;
    AlwaysTrue = "always-true", Warning, "an assertion can never fail", Truth;
    CountAlwaysTrue = "count-always-true", Warning, "any number of steps passes", Truth;
    ConstantCondition = "constant-condition", Warning, "a condition always comes out the same", Truth;
    RedundantOperand = "redundant-operand", Warning, "a part of a condition adds nothing to the others", Truth;
    Shadowed = "shadowed", Warning, "an assertion follows from another", Truth;
    DuplicateAssertion = "duplicate-assertion", Warning, "an assertion repeats another one", Truth;
    LetterCase = "letter-case", Warning, "text is compared in a case that it never has", Truth;
    ListOfLists = "list-of-lists", Warning, "a value is looked for in a list of lists", Truth certain;
    GlobAsText = "glob-as-text", Warning, "a glob is compared as plain text", Truth certain;
    RegexAsText = "regex-as-text", Warning, "a regular expression is compared as plain text", Truth certain;
    UnitInName = "unit-in-name", Warning, "a literal has another unit than the name says", Truth certain;
    EmptyNeedle = "empty-needle", Warning, "an empty text is looked for", Truth certain;
    ZeroBound = "zero-bound", Warning, "everything reaches a bound of 0", Truth certain;
    EmptySchema = "empty-schema", Warning, "a schema asks for nothing", Truth;
    // Lints: vacuity.
    OrderWithoutExistence = "order-without-existence", Info, "nothing requires the steps that a statement relates", Vacuity off;
    VacuousQuantifier = "vacuous-quantifier", Info, "`all` and `no` hold of an empty list", Vacuity off;
    MissingOnly = "missing-only", Info, "a negated test holds where its path is missing", Vacuity off;
    EmptyRule = "empty-rule", Warning, "a rule asserts nothing", Vacuity;
    // Lints: order.
    SameSteps = "same-steps", Warning, "a statement relates steps to themselves", Order;
    GuardMayFail = "guard-may-fail", Info, "a call that failed satisfies `before`", Order off;
    WindowNeverCloses = "window-never-closes", Warning, "the end of a window may not occur", Order;
    WindowMayStayOpen = "window-may-stay-open", Info, "nothing makes sure that a window closes", Order off;
    GlobInFlow = "glob-in-flow", Warning, "a star in a flow is part of a name, not a repetition", Order certain;
    TwoScopes = "two-scopes", Warning, "a name means an argument where a field of the step or the run seems meant", Order certain;
    NotAboutStep = "not-about-step", Warning, "the condition of `each` looks at nothing of the step", Order certain;
    UnreachableAlternative = "unreachable-alternative", Warning, "a pattern adds nothing to another one in the same list", Order;
    WithinNothing = "within-nothing", Warning, "nothing can be within 0 calls", Order certain;
    SelfPrecedence = "self-precedence", Warning, "an order statement has the same steps on both sides", Order certain;
    // Lints: names.
    UnusedParam = "unused-param", Info, "a parameter is never used", Names;
    UnusedDef = "unused-def", Warning, "a definition is never used", Names;
    UnusedStep = "unused-step", Warning, "a named step is never used", Names;
    UnusedSchema = "unused-schema", Warning, "a schema is never used", Names;
    UnusedUse = "unused-use", Warning, "an import is never used", Names;
    UnusedVariable = "unused-variable", Warning, "the variable of a quantifier is never used", Names;
    UnusedArgument = "unused-argument", Warning, "a parameter of a definition is never used", Names;
    Shadowing = "shadowing", Warning, "a name hides another", Names;
    BindingUsedOnce = "binding-used-once", Warning, "a binding relates nothing", Names certain;
    NearlyAKind = "nearly-a-kind", Warning, "the name of a tool is nearly a kind of step", Names;
    Naming = "naming", Info, "names of rules are not written alike", Names off;
    // Lints: text.
    Confusable = "confusable", Warning, "a word has letters that look like others", Text;
    RegexIsLiteral = "regex-is-literal", Info, "a regular expression is a plain text", Text off;
    RegexMatchesEmpty = "regex-matches-empty", Warning, "a regular expression matches every text", Text;
    UnanchoredId = "unanchored-id", Warning, "an id is compared with a part of it", Text;
    RedundantFlag = "redundant-flag", Info, "a flag of a regular expression changes nothing", Text;
    RedundantWildcard = "redundant-wildcard", Warning, "a wildcard at the end of a search adds nothing", Text;
    UnescapedDot = "unescaped-dot", Warning, "a dot in the name of a host matches any character", Text;
    BidiCharacter = "bidi-character", Warning, "a character changes the direction of the text", Text;
    InvisibleCharacter = "invisible-character", Warning, "a character cannot be seen", Text;
    // Lints: cost.
    ExpensiveRegex = "expensive-regex", Warning, "a regular expression has very many states", Cost;
    Backtracking = "backtracking", Info, "a regular expression tries one way to match after the other", Cost;
    WideGlob = "wide-glob", Warning, "a glob takes every file", Cost;
    DeepWildcard = "deep-wildcard", Info, "every value of the run is looked at", Cost off;
    // Lints: style.
    RedundantParentheses = "redundant-parentheses", Warning, "parentheses group nothing", Style;
    SingleItemIn = "single-item-in", Info, "a value is looked for in a list of one", Style;
    RedundantIf = "redundant-if", Warning, "a choice between `true` and `false` is its condition", Style;
    MixedLogic = "mixed-logic", Info, "`and` and `or` are mixed without parentheses", Style off;
    LongRule = "long-rule", Info, "a rule has very many assertions", Style off;
    MissingSentence = "missing-sentence", Info, "a rule has no sentence", Style off;
    MustWithoutThreshold = "must-without-threshold", Warning, "`must` has no effect", Style;
    IdleDeny = "idle-deny", Warning, "a `deny` or `allow` changes nothing", Style;
    TrivialGroup = "trivial-group", Warning, "a group changes nothing", Style;
    RedundantTimes = "redundant-times", Warning, "`require` has a number that is the default", Style;
    StarForAny = "star-for-any", Warning, "a star alone matches every call", Style;
    DoubleNegation = "double-negation", Warning, "two negations cancel each other", Style;
    YodaCondition = "yoda-condition", Warning, "a constant is on the left of the tested value", Style;
    BooleanComparison = "boolean-comparison", Warning, "a test is compared with `true` or `false`", Style;
    // Lints: tests.
    UntestedRule = "untested-rule", Info, "no test covers a rule", Tests off;
    OneSidedTests = "one-sided-tests", Info, "a rule is tested in one direction only", Tests off;
    TestOfNothing = "test-of-nothing", Warning, "the run of a test records nothing", Tests;
    DuplicateTest = "duplicate-test", Warning, "a test occurs twice", Tests;
    // The project.
    Project = "project", Error, "the project file cannot be used";
}
