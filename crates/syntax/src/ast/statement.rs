//! Assertions, their modifiers, statements (language reference, sections 4, 6, 7, 9).

use super::{Expr, Flow, Item, Name, Number, Regex, Step, Text, ValueTest};
use averment_base::source::Span;

/// An assertion: a statement with its modifiers.
#[derive(Debug, Clone, PartialEq)]
pub struct Assertion {
    /// What is asserted.
    pub statement: Statement,
    /// Modifiers behind it.
    pub modifiers: Vec<Modifier>,
    /// From its first to its last character, modifiers included.
    pub span: Span,
}

/// A modifier with the span of all of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Modifier {
    /// Which one, with its value.
    pub kind: ModifierKind,
    /// From its word to the end of its value.
    pub span: Span,
}

/// Modifiers of section 7.
#[derive(Debug, Clone, PartialEq)]
pub enum ModifierKind {
    /// `weight 2`.
    Weight(Number),
    /// `severity warn`; whether it is one is `check`'s question.
    Severity(Name),
    /// `must`.
    Must,
    /// `threshold 0.8`.
    Threshold(Number),
    /// `message "…"`.
    Message(Text),
    /// `as metric`.
    As(Name),
    /// `class "id" "Label"`.
    Class(Text, Option<Text>),
    /// `tags a, b`.
    Tags(Vec<Name>),
    /// `when cond`.
    When(Expr),
    /// `id name`.
    Id(Name),
    /// `expect fail "why"`.
    ExpectFail(Option<Text>),
    /// `deny vacuous, unjudged`; whether it is one of those is `check`'s question.
    Deny(Vec<Name>),
    /// `allow undecided`.
    Allow(Vec<Name>),
}

/// A statement with its place (without modifiers).
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Which one.
    pub kind: StatementKind,
    /// From its first to its last character.
    pub span: Span,
}

/// The table of statements with their parts: the enum is made from it, and so is all that goes through the parts of a tree (see [`super::parts`]).
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
                Require { step: Step, times: Option<Times> };
                /// `never A, B`, with a window and a `within`.
                Never { steps: Vec<Step>, window: Option<Window>, within: Option<Within> };
                /// `only A, B`.
                Only { steps: Vec<Step> };
                /// `count A <= 10`: the test has no subject.
                Count { step: Step, test: ValueTest };
                /// `first A`.
                First { step: Step };
                /// `last A`.
                Last { step: Step };
                /// `before A -> B, C`, `starts before A -> B`; `B only after A` is read into this (`reversed`).
                Before { each: bool, immediately: bool, starts: bool, step: Step, targets: Vec<Step>, within: Option<Within>, reversed: bool };
                /// `after A -> B, C`.
                After { each: bool, immediately: bool, step: Step, targets: Vec<Step>, within: Option<Within> };
                /// `sequence [only|exactly] A -> B`.
                Sequence { mode: SequenceMode, steps: Vec<Step>, within: Option<Within> };
                /// `nested A -> B`.
                Nested { open: Step, close: Step };
                /// `together A, B`.
                Together { left: Step, right: Step };
                /// `apart A, B`.
                Apart { left: Step, right: Step };
                /// `if A then B`.
                IfThen { condition: Step, consequence: Step };
                /// `A iff B`.
                Iff { left: Step, right: Step };
                /// `either A or B or C`.
                Either { steps: Vec<Step> };
                /// `not both A, B`.
                NotBoth { left: Step, right: Step };
                /// `never repeat A more than 3 times`.
                Repeat { step: Step, limit: Number };
                /// `flow …`.
                Flow { flow: Flow };
                /// `each A: cond`, `some A: cond`, `no A: cond`.
                Each { quantifier: Quantifier, step: Step, condition: Expr };
                /// `count A <= 5 within 10s`, `sum(E of A) <= 5 in a row`: a condition around every match.
                Sliding { condition: Expr, over: Over };
                /// `no PREDICATE in EXPR` or `no PREDICATE in A`.
                NoPredicate { predicate: Name, target: PredicateTarget };
                /// `args valid [strict] [for A]`.
                ArgsValid { step: Option<Step>, strict: bool };
                /// `after A until C {…}`, `each A {…}`, `when COND {…}` and the others.
                Block { scope: Scope, body: Vec<Item> };
                /// `any of {…}`, `at least 2 of {…}`.
                Group { kind: GroupKind, body: Vec<Item> };
                /// `file "PATH" exists` and the other checks of section 9.
                World(one: World);
                /// `in at least 95% of runs by meta.model with confidence 95%: rule approval`: how many of all runs it holds in.
                Rate { share: RunShare, by: Option<Expr>, confidence: Option<Number>, rated: Rated };
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

/// How often: both ends included; absent ends are open.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// At least.
    pub least: Option<Number>,
    /// At most.
    pub most: Option<Number>,
    /// The numbers and their dots.
    pub span: Span,
}

/// The window of a `never`.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum Window {
    /// `after A [until C]`.
    After { open: Step, until: Option<Step> },
    /// `before A`.
    Before { close: Step },
    /// `between A and C`.
    Between { open: Step, close: Step },
}

/// `within 3 calls`, `within 2 turns`, `within 5s`.
#[derive(Debug, Clone, PartialEq)]
pub struct Within {
    /// How many, or the duration with its unit.
    pub number: Number,
    /// `calls` or `turns`; `None` for a duration.
    pub unit: Option<WithinUnit>,
    /// From `within` to its end.
    pub span: Span,
}

/// What a condition holds over that stands around every match.
#[derive(Debug, Clone, PartialEq)]
pub enum Over {
    /// `within …`: what follows a match up to there.
    Within(Within),
    /// `in a row`: the neighbouring matches.
    Row(Span),
}

/// What `within` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithinUnit {
    /// Tool calls.
    Calls,
    /// Assistant turns.
    Turns,
}

/// The three readings of `sequence`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum SequenceMode {
    /// In this order, anything between.
    Gaps,
    /// `only`: the calls that match any of them are exactly this.
    Only,
    /// `exactly`: all calls are exactly this.
    Exactly,
}

/// `each`, `some`, `no`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Quantifier {
    /// Every one meets it.
    Each,
    /// At least one does.
    Some,
    /// None does.
    No,
}

/// What stands behind `in`. Both readings are kept where the text allows both; `check` decides by the names in scope.
#[derive(Debug, Clone, PartialEq)]
pub struct PredicateTarget {
    /// The text as an expression.
    pub expr: Option<Expr>,
    /// The text as a step pattern.
    pub step: Option<Step>,
    /// The whole text.
    pub span: Span,
}

/// The header of a block (section 6).
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum Scope {
    /// `after A [until C]`.
    After { open: Step, until: Option<Step> },
    /// `before A`.
    Before { close: Step },
    /// `between A and C`.
    Between { open: Step, close: Step },
    /// `each A`.
    Each { step: Step },
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
    AtLeast(Number),
}

/// The checks of section 9.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum World {
    /// `file "PATH" TEST`: the test has no subject.
    File { path: Text, test: ValueTest },
    /// `env NAME is [not] set`, or `is [not] empty`.
    Env { name: Name, empty: bool, negated: bool },
    /// `tool NAME is [not] available`.
    Tool { name: Name, negated: bool },
    /// `http "URL" status TEST`.
    Http { url: TextOrRegex, test: ValueTest },
    /// `run "COMMAND" exits N`.
    Run { command: Text, code: Number },
}

/// In how many of all runs something has to hold.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum RunShare {
    /// `at least 95%`.
    Least(Number),
    /// `at most 5%`.
    Most(Number),
    /// `at least 2 of 3`: in each group of runs.
    LeastOf { passes: Number, of: Number },
    /// `pass^4 … >= 60%`: how likely it is that this many runs of a group all pass.
    Power { power: Number, share: Number },
}

/// What is counted over all runs.
#[derive(Debug, Clone, PartialEq)]
pub enum Rated {
    /// `rule NAME`: the runs that the rule passes in.
    Rule(Name),
    /// The runs that a statement holds in.
    Statement(Box<Statement>),
}

/// A string or a regular expression.
#[derive(Debug, Clone, PartialEq)]
pub enum TextOrRegex {
    /// A string.
    Text(Text),
    /// A regular expression.
    Regex(Regex),
}
