//! Expressions, tests, literals (language reference, section 4).

use super::{Name, PredicateTarget, StepPattern};
use averment_base::source::Span;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// The form.
    pub kind: ExprKind,
    /// From its first to its last character (parentheses around it are not part of it).
    pub span: Span,
}

/// The forms of an expression.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum ExprKind {
    /// `null`.
    Null,
    /// `true`, `false`.
    Boolean(bool),
    /// `1`, `1.5`, `30s`, `$0.05`, `10KB`, `95%`.
    Number(NumberLiteral),
    /// A string of any kind.
    Text(TextLiteral),
    /// `/…/flags`.
    Regex(RegexLiteral),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `{ a: 1, "b-c": 2 }`.
    Object(Vec<(Name, Expr)>),
    /// A bare name.
    Name(String),
    /// `$x`.
    Binding(String),
    /// `a.b`.
    Field { base: Box<Expr>, name: Name },
    /// `a[0]`, `a["k y"]`.
    Index { base: Box<Expr>, index: Box<Expr> },
    /// `a[*]`.
    Every { base: Box<Expr> },
    /// `a[**]`.
    Deep { base: Box<Expr> },
    /// `f(a, b)`; also a pipe, with `piped` true if the first argument stood before the bar.
    Call { name: Name, arguments: Vec<Expr>, piped: bool },
    /// `-a`.
    Negate(Box<Expr>),
    /// `not a`.
    Not(Box<Expr>),
    /// `a and b`, `a + b` and other binary operators.
    Binary { operator: BinaryOperator, operator_span: Span, left: Box<Expr>, right: Box<Expr> },
    /// `1..3`, `50..`, `..10`.
    Range { start: Option<Box<Expr>>, end: Option<Box<Expr>> },
    /// A test.
    Test { subject: Box<Expr>, test: ValueTest },
    /// `if c then a else b`.
    If { condition: Box<Expr>, then: Box<Expr>, otherwise: Box<Expr> },
    /// `any x in xs: c` and other quantifiers.
    Quantifier { quantifier: ExprQuantifier, variable: Name, source: Box<Expr>, body: Box<Expr> },
    /// `count A` as a number.
    Counted { step: Box<StepPattern>, so_far: Option<SoFarReach> },
    /// `E of A`, `E of LIST`: the value for each of them.
    Of { value: Box<Expr>, target: Box<PredicateTarget>, so_far: Option<SoFarReach> },
    /// `E of runs`, `E of runs by GROUP`: the value of every run that is checked.
    OverRuns { value: Box<Expr>, by: Option<Box<Expr>> },
    /// `LIST where COND`: the elements that meet it.
    Filtered { list: Box<Expr>, condition: Box<Expr> },
    /// Parentheses, kept for the formatter.
    Group(Box<Expr>),
}

/// `any`, `all`, `no`, `count` before `x in xs:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum ExprQuantifier {
    Any,
    All,
    No,
    Count,
}

/// Operators between two expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs, reason = "each is the operator itself")]
pub enum BinaryOperator {
    Implies,
    Or,
    And,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A test without its subject: `== 3`, `not matches /x/`, `is empty`. Tests cannot be chained.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueTest {
    /// The test in its positive form.
    pub kind: TestKind,
    /// True for the negated form (`!=` is `Equal` negated).
    pub negated: bool,
    /// The right-hand side, if the test has one.
    pub operand: Option<Box<Expr>>,
    /// `is Refund`, `is json Refund`: a schema or a type name.
    pub name: Option<Name>,
    /// Location of the operator.
    pub operator: Span,
    /// From the operator to the end of its right-hand side.
    pub span: Span,
}

/// Defines the table of tests, each with its operator.
macro_rules! tests {
    ($($(#[$note:meta])* $test:ident = $words:literal,)+) => {
        /// The tests of section 4 in their positive form.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum TestKind {
            $($(#[$note])* #[doc = concat!("`", $words, "`")] $test,)+
        }

        impl TestKind {
            /// All tests.
            pub const ALL: &'static [Self] = &[$(Self::$test),+];

            /// Returns the operator as written.
            #[must_use]
            pub const fn written(self) -> &'static str {
                match self {
                    $(Self::$test => $words,)+
                }
            }
        }
    };
}

tests! {
    Equal = "==",
    Identical = "===",
    Less = "<",
    LessOrEqual = "<=",
    Greater = ">",
    GreaterOrEqual = ">=",
    In = "in",
    Contains = "contains",
    ContainsIgnoringCase = "icontains",
    ContainsAll = "contains all",
    ContainsAny = "contains any",
    ContainsNone = "contains none",
    /// A text holds the value as a whole token:
    Mentions = "mentions",
    StartsWith = "starts with",
    EndsWith = "ends with",
    Matches = "matches",
    /// A type or a schema, whose name follows:
    Is = "is",
    IsJson = "is json",
    ContainsJson = "contains json",
    IsEmpty = "is empty",
    IsMissing = "is missing",
    Exists = "exists",
}

impl TestKind {
    /// Returns the operator of the negated test: `not in`, `is not json`, `!=`.
    #[must_use]
    pub fn negated(self) -> String {
        match (self, self.written().strip_prefix("is")) {
            (Self::Equal | Self::Identical, _) => self.written().replacen('=', "!", 1),
            (_, Some(rest)) => format!("is not{rest}"),
            (_, None) => format!("not {}", self.written()),
        }
    }

    /// Returns true if a word occurs in an operator of a test; also `contain`, which follows `does not`.
    #[must_use]
    pub fn has_word(word: &str) -> bool {
        matches!(word, "does" | "contain" | "mention" | "match" | "start" | "end")
            || Self::ALL.iter().any(|test| test.written().split(' ').any(|known| known == word))
    }
}

/// A number as written.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberLiteral {
    /// The whole text with its unit, for example `1h30m`.
    pub text: String,
    /// The value in the base unit (milliseconds, USD, bytes; percent divided by 100) as decimal text that JSON accepts.
    pub value: String,
    /// The unit's family.
    pub unit: NumberUnit,
    /// The location.
    pub span: Span,
}

/// The family of a written unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum NumberUnit {
    /// No unit, or percent.
    None,
    /// Milliseconds.
    Duration,
    /// USD.
    Money,
    /// Bytes.
    Size,
}

/// A string, possibly with interpolations.
#[derive(Debug, Clone, PartialEq)]
pub struct TextLiteral {
    /// Literal text (unescaped) and interpolated expressions, in order. Adjacent literals are joined; an empty text has no parts.
    pub parts: Vec<TextPart>,
    /// The location, including the quotes.
    pub span: Span,
}

/// The range of earlier steps in a list with `so far`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SoFarReach {
    /// `so far`: the steps known when the step in scope was requested.
    Known,
    /// `started so far`: all steps that started before it.
    Started,
}

/// A part of a string.
#[derive(Debug, Clone, PartialEq)]
pub enum TextPart {
    /// Literal text, unescaped.
    Literal(String),
    /// `${expr}`.
    Interpolation(Expr),
}

impl TextLiteral {
    /// Returns the text if it has no interpolation.
    #[must_use]
    pub fn literal_text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [TextPart::Literal(text)] => Some(text),
            _ => None,
        }
    }
}

/// `/pattern/flags`.
#[derive(Debug, Clone, PartialEq)]
pub struct RegexLiteral {
    /// The pattern between the slashes as written (`\/` still escaped).
    pub pattern: String,
    /// The flags as written.
    pub flags: String,
    /// The location, including slashes and flags.
    pub span: Span,
    /// The location of the pattern alone, so that errors in it have a column.
    pub pattern_span: Span,
}
