//! Assertions, their modifiers, statements (language reference, sections 4, 6, 7, 9).

use super::{Expr, FlowExpr, Name, NumberLiteral, RegexLiteral, StepPattern, SyntaxItem, TextLiteral, ValueTest};
use averment_base::source::Span;

/// An assertion: a statement with its modifiers.
#[derive(Debug, Clone, PartialEq)]
pub struct Assertion {
    /// The statement.
    pub statement: Statement,
    /// The modifiers after it.
    pub modifiers: Vec<Modifier>,
    /// From its first to its last character, including modifiers.
    pub span: Span,
}

/// A modifier with its whole span.
#[derive(Debug, Clone, PartialEq)]
pub struct Modifier {
    /// The modifier and its value.
    pub kind: ModifierKind,
    /// From its word to the end of its value.
    pub span: Span,
}

/// Modifiers of section 7.
#[derive(Debug, Clone, PartialEq)]
pub enum ModifierKind {
    /// `weight 2`.
    Weight(NumberLiteral),
    /// `severity warn`; the checker validates the name.
    Severity(Name),
    /// `must`.
    Must,
    /// `threshold 0.8`.
    Threshold(NumberLiteral),
    /// `message "…"`.
    Message(TextLiteral),
    /// `as metric`.
    As(Name),
    /// `class "id" "Label"`.
    Class(TextLiteral, Option<TextLiteral>),
    /// `tags a, b`.
    Tags(Vec<Name>),
    /// `when cond`.
    When(Expr),
    /// `id name`.
    Id(Name),
    /// `expect fail "why"`.
    ExpectFail(Option<TextLiteral>),
    /// `deny vacuous, unjudged`; the checker validates the names.
    Deny(Vec<Name>),
    /// `allow undecided`.
    Allow(Vec<Name>),
}

/// A statement with its location (without modifiers).
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The kind of statement.
    pub kind: StatementKind,
    /// From its first to its last character.
    pub span: Span,
}

/// The table of statements and their parts; it generates the enum and all tree walks (see [`super::parts`]).
macro_rules! statements {
    ($variants:ident) => {
        $variants! {
            /// The statements of sections 4, 6 and 9.
            StatementKind {
                /// Any expression.
                Expression(one: Expr);
                /// `not STATEMENT` (an expression behind `not` is an [`super::ExprKind::Not`]).
                Not(one: Box<Statement>);
                /// `require A`, `require A 1..3 times`. A single number is a range of one.
                Require { step: StepPattern, times: Option<StepCount> };
                /// `never A, B`, with a window and a `within`.
                Never { steps: Vec<StepPattern>, window: Option<NeverWindow>, within: Option<WithinBound> };
                /// `only A, B`.
                Only { steps: Vec<StepPattern> };
                /// `count A <= 10`: the test has no subject.
                Count { step: StepPattern, test: ValueTest };
                /// `first A`.
                First { step: StepPattern };
                /// `last A`.
                Last { step: StepPattern };
                /// `before A -> B, C`, `starts before A -> B`; `B only after A` is read into this (`reversed`).
                Before { each: bool, immediately: bool, starts: bool, step: StepPattern, targets: Vec<StepPattern>, within: Option<WithinBound>, reversed: bool };
                /// `after A -> B, C`.
                After { each: bool, immediately: bool, step: StepPattern, targets: Vec<StepPattern>, within: Option<WithinBound> };
                /// `sequence [only|exactly] A -> B`.
                Sequence { mode: SequenceMode, steps: Vec<StepPattern>, within: Option<WithinBound> };
                /// `nested A -> B`.
                Nested { open: StepPattern, close: StepPattern };
                /// `together A, B`.
                Together { left: StepPattern, right: StepPattern };
                /// `apart A, B`.
                Apart { left: StepPattern, right: StepPattern };
                /// `if A then B`.
                IfThen { condition: StepPattern, consequence: StepPattern };
                /// `A iff B`.
                Iff { left: StepPattern, right: StepPattern };
                /// `either A or B or C`.
                Either { steps: Vec<StepPattern> };
                /// `not both A, B`.
                NotBoth { left: StepPattern, right: StepPattern };
                /// `never repeat A more than 3 times`.
                Repeat { step: StepPattern, limit: NumberLiteral };
                /// `flow …`.
                Flow { flow: FlowExpr };
                /// `each A: cond`, `some A: cond`, `no A: cond`.
                Each { quantifier: Quantifier, step: StepPattern, condition: Expr };
                /// `count A <= 5 within 10s`, `sum(E of A) <= 5 in a row`: a condition around every match.
                Sliding { condition: Expr, over: SlidingExtent };
                /// `no PREDICATE in EXPR` or `no PREDICATE in A`.
                NoPredicate { predicate: Name, target: PredicateTarget };
                /// `args valid [strict] [for A]`.
                ArgsValid { step: Option<StepPattern>, strict: bool };
                /// `calls match [subset of] VALUE [in any order] [arguments named] [folded] [ignoring [id]] [score >= 0.8]`.
                CallsMatch { expected: Expr, extent: MatchExtent, order: Option<MatchOrder>, arguments: ArgumentMatch, folded: bool, ignored: Vec<Name>, score: Option<NumberLiteral> };
                /// `after A until C {…}`, `each A {…}`, `when COND {…}` and the others.
                Block { scope: BlockScope, body: Vec<SyntaxItem> };
                /// `any of {…}`, `at least 2 of {…}`.
                Group { kind: GroupKind, body: Vec<SyntaxItem> };
                /// `file "PATH" exists` and the other checks of section 9.
                World(one: WorldCheck);
                /// `in at least 95% of runs by meta.model with confidence 95%: rule approval`: how many of all runs it holds in.
                Rate { share: RunShare, by: Option<Expr>, confidence: Option<NumberLiteral>, rated: RatedSubject };
            }
        }
    };
}

pub(super) use statements;

macro_rules! declare {
    ($(#[$about:meta])* $ty:ident {
        $($(#[$doc:meta])* $variant:ident $(($part:ident: $of:ty))? $({ $($field:ident: $holds:ty),* })?;)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
        pub enum $ty {
            $($(#[$doc])* $variant $(($of))? $({ $($field: $holds),* })?,)*
        }
    };
}

statements!(declare);

/// A range of counts, both ends included; a missing end is open.
#[derive(Debug, Clone, PartialEq)]
pub struct StepCount {
    /// The minimum.
    pub least: Option<NumberLiteral>,
    /// The maximum.
    pub most: Option<NumberLiteral>,
    /// The location of the numbers and their dots.
    pub span: Span,
}

/// The window of a `never`.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum NeverWindow {
    /// `after A [until C]`.
    After { open: StepPattern, until: Option<StepPattern> },
    /// `before A`.
    Before { close: StepPattern },
    /// `between A and C`.
    Between { open: StepPattern, close: StepPattern },
}

/// `within 3 calls`, `within 2 turns`, `within 5s`.
#[derive(Debug, Clone, PartialEq)]
pub struct WithinBound {
    /// The number, or the duration with its unit.
    pub number: NumberLiteral,
    /// `calls` or `turns`; `None` for a duration.
    pub unit: Option<WithinUnit>,
    /// From `within` to its end.
    pub span: Span,
}

/// The range of a condition around every match.
#[derive(Debug, Clone, PartialEq)]
pub enum SlidingExtent {
    /// `within …`: the steps after a match, up to that bound.
    Within(WithinBound),
    /// `in a row`: neighboring matches.
    Row(Span),
}

/// The unit that `within` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithinUnit {
    /// Tool calls.
    Calls,
    /// Assistant turns.
    Turns,
}

/// The three modes of `sequence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum SequenceMode {
    /// The steps in this order, with any calls between them.
    Gaps,
    /// `only`: the calls that match any of the steps are exactly this sequence.
    Only,
    /// `exactly`: all calls are exactly this sequence.
    Exactly,
}

/// The set of calls that `calls match` compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum MatchExtent {
    /// Every expected call is made, and no other call.
    Exactly,
    /// `subset of`: only expected calls are made.
    Subset,
    /// `superset of`: every expected call is made.
    Superset,
}

/// The rules for the order and number of expected calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum MatchOrder {
    /// `in order`.
    Kept,
    /// `in any order`.
    Any,
    /// `repeats ignored`: one call may match several expected ones, and several calls one expected call.
    Repeated,
}

/// The way in which arguments of actual calls are compared with those of expected ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum ArgumentMatch {
    /// All of them are equal.
    Exact,
    /// `arguments named`: the arguments that the expected call names are equal.
    Named,
    /// `arguments optional`: every argument of the call is expected; expected arguments may be missing.
    Optional,
    /// `arguments accepted`: each argument is one of a list of accepted values; an empty text in the list allows it to be missing.
    Accepted,
    /// `arguments ignored`: only the names of the tools count.
    Ignored,
}

/// `each`, `some`, `no`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Quantifier {
    /// Every match satisfies the condition.
    Each,
    /// At least one match does.
    Some,
    /// No match does.
    No,
}

/// The text after `in`. If it can be read both as an expression and as a step pattern, both are kept, and the checker decides by the names in scope.
#[derive(Debug, Clone, PartialEq)]
pub struct PredicateTarget {
    /// The text as an expression.
    pub expr: Option<Expr>,
    /// The text as a step pattern.
    pub step: Option<StepPattern>,
    /// The whole text.
    pub span: Span,
}

/// The header of a block (section 6).
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum BlockScope {
    /// `after A [until C]`.
    After { open: StepPattern, until: Option<StepPattern> },
    /// `before A`.
    Before { close: StepPattern },
    /// `between A and C`.
    Between { open: StepPattern, close: StepPattern },
    /// `each A`.
    Each { step: StepPattern },
    /// `when COND`.
    When { condition: Expr },
}

/// The groups of section 6.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupKind {
    /// `any of`.
    Any,
    /// `all of`.
    All,
    /// `none of`.
    None,
    /// `at least 2 of`.
    AtLeast(NumberLiteral),
}

/// The checks of section 9.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum WorldCheck {
    /// `file "PATH" TEST`: the test has no subject.
    File { path: TextLiteral, test: ValueTest },
    /// `env NAME is [not] set`, or `is [not] empty`.
    Env { name: Name, empty: bool, negated: bool },
    /// `tool NAME is [not] available`.
    Tool { name: Name, negated: bool },
    /// `http "URL" status TEST`.
    Http { url: TextOrRegex, test: ValueTest },
    /// `run "COMMAND" exits N`.
    Run { command: TextLiteral, code: NumberLiteral },
}

/// The required share of all runs.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum RunShare {
    /// `at least 95%`.
    Least(NumberLiteral),
    /// `at most 5%`.
    Most(NumberLiteral),
    /// `at least 2 of 3`: in each group of runs.
    LeastOf { passes: NumberLiteral, of: NumberLiteral },
    /// `pass^4 … >= 60%`: the probability that this many runs of a group all pass.
    Power { power: NumberLiteral, share: NumberLiteral },
}

/// The thing that is counted over all runs.
#[derive(Debug, Clone, PartialEq)]
pub enum RatedSubject {
    /// `rule NAME`: the runs in which the rule passes.
    Rule(Name),
    /// The runs in which a statement holds.
    Statement(Box<Statement>),
}

/// A string or a regular expression.
#[derive(Debug, Clone, PartialEq)]
pub enum TextOrRegex {
    /// A string.
    Text(TextLiteral),
    /// A regular expression.
    Regex(RegexLiteral),
}
