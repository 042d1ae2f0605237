//! The one table of everything that can be said about rules: slug, severity, title.
//!
//! To add a diagnostic, add a row here, write its page `explain/SLUG.md`, and push it where it is found; tests ask for a golden
//! file that shows it, and compile both programs of its page.

use super::Severity;

macro_rules! catalog {
    ($($name:ident = $slug:literal, $severity:ident, $title:literal;)*) => {
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
        }
    };
}

catalog! {
    // Reading the text.
    Syntax = "syntax", Error, "the text is not a statement of the language";
    Unclosed = "unclosed", Error, "a bracket, string, regular expression or interpolation is not closed";
    UnknownStatement = "unknown-statement", Error, "the first word is no statement";
    UnknownModifier = "unknown-modifier", Error, "the word behind an assertion is no modifier";
    UnknownUnit = "unknown-unit", Error, "the unit behind a number is not known";
    Misplaced = "misplaced", Error, "a declaration or setting stands where it has no meaning";
    TooDeep = "too-deep", Error, "brackets or operators are nested beyond the limit";
    TooLarge = "too-large", Error, "a file or text is larger than the limit";
    NotText = "not-text", Error, "the file is not UTF-8 text";
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
    UnknownSeverity = "unknown-severity", Error, "there is no such severity";
    Duplicate = "duplicate", Error, "a name or id is declared twice";
    Binding = "binding", Error, "a binding is used where nothing binds it";
    Import = "import", Error, "an imported file or name cannot be had";
    ImportCycle = "import-cycle", Error, "imports form a loop";
    MissingFile = "missing-file", Error, "a named file cannot be read";
    Recursion = "recursion", Error, "a definition uses itself";
    // Types and values.
    NotAnAssertion = "not-an-assertion", Error, "the value is neither true nor false";
    TypeMismatch = "type-mismatch", Error, "the types on both sides do not fit";
    MixedUnits = "mixed-units", Error, "durations, money and sizes are mixed";
    BareNumber = "bare-number", Warning, "a bare number is compared with a unit";
    ArgumentCount = "argument-count", Error, "a function has too few or too many arguments";
    Impossible = "impossible", Error, "the statement can never hold";
    BadRegex = "bad-regex", Error, "the regular expression cannot be used";
    BadJsonPath = "bad-jsonpath", Error, "the JSONPath cannot be used";
    BadSchema = "bad-schema", Error, "the JSON Schema cannot be used";
    BadJson = "bad-json", Error, "a named file is not JSON";
    BadPath = "bad-path", Error, "the path glob cannot be used";
    CallsOnly = "calls-only", Error, "the statement speaks of calls alone";
    NoCatalogue = "no-catalogue", Error, "tool schemas are needed and none are declared";
    UnlistedTool = "unlisted-tool", Warning, "the tool is not in the declared catalogue";
    UnusedAllow = "unused-allow", Warning, "a comment silences nothing";
    UnknownAllow = "unknown-allow", Warning, "a comment names no lint";
    UnusedLet = "unused-let", Warning, "a `let` is never used";
}
