//! Step patterns and flows (language reference, section 5).

use super::{Expr, Name, RegexLiteral, TextLiteral};
use averment_base::source::Span;

/// A step pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct StepPattern {
    /// The form.
    pub kind: PatternForm,
    /// From its first to its last character.
    pub span: Span,
}

/// The forms of a step pattern.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum PatternForm {
    /// One pattern: a tool call or a step of another kind.
    Atom(Atom),
    /// `A | B`.
    Choice(Vec<StepPattern>),
    /// `A where cond`; parentheses are not kept.
    Where { step: Box<StepPattern>, condition: Expr },
    /// `proposed A` before a parenthesis; before a plain pattern it is [`Atom::proposed`].
    Proposed(Box<StepPattern>),
}

/// `refund(amount > 100) failed`, `command /npm/`, `read "src/**"`.
#[derive(Debug, Clone, PartialEq)]
pub struct Atom {
    /// The tool or kind that it names.
    pub subject: AtomSubject,
    /// The entries in parentheses; `None` without parentheses.
    pub arguments: Option<Vec<PatternArgument>>,
    /// `ok` or `failed` after it.
    pub status: Option<StatusWord>,
    /// `by researcher` after it.
    pub by: Option<ByAgent>,
    /// `tagged destructive` after it: a tag of the tool.
    pub tagged: Option<Name>,
    /// True if `proposed` precedes it.
    pub proposed: bool,
}

/// `by researcher`: the agent that takes the step.
#[derive(Debug, Clone, PartialEq)]
pub struct ByAgent {
    /// The agent.
    pub agent: AgentPattern,
    /// From the word to the last character of the agent.
    pub span: Span,
}

/// The agent that takes a step.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentPattern {
    /// The bare name of an agent, with `*` and `?` as globs.
    Name(Name),
    /// A quoted name, literal.
    Text(TextLiteral),
    /// A regular expression.
    Regex(RegexLiteral),
    /// `$a`: an [`super::ExprKind::Binding`].
    Binding(Expr),
}

/// The subject of an atom.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum AtomSubject {
    /// A bare name with `*` and `?` as globs; `any` is one of these. It may also be the name of a `def step`.
    Tool(Name),
    /// A quoted name, literal.
    QuotedTool(Name),
    /// A quoted name with `${…}` in it: `"${witness}"`.
    ToolText(TextLiteral),
    /// `command`, `read`, `user`, …, with the text after it. A text without a kind word has the kind of an earlier pattern in the list: `"mkfs"` in
    /// `never command "rm", "mkfs"`.
    Kind { kind: StepWord, word: Option<Span>, text: Option<KindText> },
}

/// The text after a kind word.
#[derive(Debug, Clone, PartialEq)]
pub enum KindText {
    /// A string: a substring, a path glob or a name, by kind.
    Text(TextLiteral),
    /// A regular expression.
    Regex(RegexLiteral),
    /// `command npm(…)`: the name of the parsed command.
    Command(Name),
}

/// The kind words of section 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum StepWord {
    Command,
    Read,
    Write,
    Skill,
    Http,
    User,
    Assistant,
    Thinking,
    Message,
    Span,
    Handover,
}

impl StepWord {
    /// All kind words.
    pub const ALL: [Self; 11] = [
        Self::Command,
        Self::Read,
        Self::Write,
        Self::Skill,
        Self::Http,
        Self::User,
        Self::Assistant,
        Self::Thinking,
        Self::Message,
        Self::Span,
        Self::Handover,
    ];

    /// The word itself.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Read => "read",
            Self::Write => "write",
            Self::Skill => "skill",
            Self::Http => "http",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Thinking => "thinking",
            Self::Message => "message",
            Self::Span => "span",
            Self::Handover => "handover",
        }
    }
}

/// `ok` or `failed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatusWord {
    /// The call succeeded.
    Ok,
    /// The call failed.
    Failed,
}

/// One entry in a pattern's parentheses.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum PatternArgument {
    /// `path: literal | regex | range | [list] | $var`. The path's root is a plain name or a quoted key.
    Matches { path: Expr, value: Expr, span: Span },
    /// Any test: `amount > 100`, `note is not empty`, `id == $id`.
    Test(Expr),
}

/// A flow expression: a regular expression over calls.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowExpr {
    /// The form.
    pub kind: FlowKind,
    /// From its first to its last character.
    pub span: Span,
}

/// The forms of a flow expression.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
#[allow(clippy::large_enum_variant, reason = "a file has few flows, and nearly all of one are calls")]
pub enum FlowKind {
    /// One call.
    Step(StepPattern),
    /// `A -> B`.
    Sequence(Vec<FlowExpr>),
    /// `A | B`.
    Choice(Vec<FlowExpr>),
    /// `(A)*`, `(A)+`, `(A)?`, `(A){2,3}`; an open upper end is `None`.
    Repeat { body: Box<FlowExpr>, least: u32, most: Option<u32> },
}
