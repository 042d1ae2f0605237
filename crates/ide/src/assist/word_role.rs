//! The roles of words of the language.

/// The role of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum Role {
    Statement,
    Declaration,
    Modifier,
    Setting,
    Root,
    Kind,
    Test,
    Operator,
    StepClause,
    List,
    MatchClause,
    MatchExtent,
    LikeClause,
    Type,
    Field,
    Verdict,
    Severity,
    Constant,
}

impl Role {
    /// All roles. A word with several roles is explained in this order.
    pub const ALL: [Self; 18] = [
        Self::Statement,
        Self::Declaration,
        Self::Modifier,
        Self::Root,
        Self::Kind,
        Self::StepClause,
        Self::Test,
        Self::Operator,
        Self::List,
        Self::MatchClause,
        Self::MatchExtent,
        Self::LikeClause,
        Self::Setting,
        Self::Field,
        Self::Verdict,
        Self::Severity,
        Self::Type,
        Self::Constant,
    ];

    /// Returns the display name: `statement`.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Statement => "statement",
            Self::Declaration => "declaration",
            Self::Modifier => "modifier",
            Self::Setting => "setting",
            Self::Root => "of the run",
            Self::Kind => "kind of step",
            Self::Test => "test",
            Self::Operator => "operator",
            Self::StepClause => "behind a step",
            Self::List => "list of steps or values",
            Self::MatchClause | Self::MatchExtent => "clause of `calls match`",
            Self::LikeClause => "clause of `like`",
            Self::Type => "type",
            Self::Field => "field",
            Self::Verdict => "verdict",
            Self::Severity => "severity",
            Self::Constant => "constant",
        }
    }
}
