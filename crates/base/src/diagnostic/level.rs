//! Families of lints and the levels that projects choose for them.

use super::Severity;

macro_rules! families {
    ($($name:ident = $word:literal, $title:literal;)*) => {
        /// The subject of a lint.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Family { $(#[doc = $title] $name,)* }

        impl Family {
            /// All families in the order of the reference.
            pub const ALL: &'static [Family] = &[$(Family::$name,)*];

            /// The word for it in `averment.toml`.
            #[must_use]
            pub fn as_str(self) -> &'static str { match self { $(Family::$name => $word,)* } }

            /// What its lints are about.
            #[must_use]
            pub fn title(self) -> &'static str { match self { $(Family::$name => $title,)* } }

            /// The family of a word.
            #[must_use]
            pub fn parse(word: &str) -> Option<Family> { match word { $($word => Some(Family::$name),)* _ => None } }
        }
    };
}

families! {
    Truth = "truth", "what is always or never true, whatever the run";
    Vacuity = "vacuity", "what holds because nothing exercised it";
    Order = "order", "statements about the course of a run that say something else than they seem to";
    Names = "names", "names that nothing uses, or that hide others";
    Text = "text", "regular expressions and characters that are not what they look like";
    Cost = "cost", "what makes checking slow";
    Style = "style", "what can be said more simply";
    Tests = "tests", "rules without tests, and tests without meaning";
}

/// The level of a lint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LintLevel {
    /// Not reported.
    Allow,
    /// Reported without consequences.
    Info,
    /// A finding.
    Warn,
    /// A finding, reported as an error.
    Error,
}

impl LintLevel {
    /// The words of the levels, the mildest first.
    pub const WORDS: [&'static str; 4] = ["allow", "info", "warn", "error"];

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }

    /// The level of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Allow, Self::Info, Self::Warn, Self::Error].into_iter().find(|level| level.as_str() == word)
    }

    /// The severity of what is said at it; `None` when nothing is.
    #[must_use]
    pub fn severity(self) -> Option<Severity> {
        match self {
            Self::Allow => None,
            Self::Info => Some(Severity::Info),
            Self::Warn => Some(Severity::Warning),
            Self::Error => Some(Severity::Error),
        }
    }
}
