//! Files, declarations, settings (language reference, sections 3, 8, 9, 10).

use super::{Assertion, Expr, Modifier, Name, NumberLiteral, RegexLiteral, StatementKind, StepPattern, TextLiteral};
use averment_base::source::Span;

/// One rule file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RuleFile {
    /// The items in order. Items that could not be read are omitted (a diagnostic says why).
    pub items: Vec<SyntaxItem>,
    /// `# allow: slug` comments.
    pub allows: Vec<AllowComment>,
    /// Names of declarations that have errors. Uses of these names are not reported again.
    pub unread: Vec<Name>,
}

/// `# allow: slug`: silences a lint on its line, or on the next line if it is a line of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct AllowComment {
    /// The slugs named.
    pub slugs: Vec<Name>,
    /// The comment.
    pub span: Span,
}

/// A declaration, a statement or a setting with the doc comment above it.
#[derive(Debug, Clone, PartialEq)]
pub struct SyntaxItem {
    /// The kind of item.
    pub kind: ItemKind,
    /// From its first to its last character, without the doc comment.
    pub span: Span,
    /// The text of the `##` lines above it.
    pub doc: Option<String>,
}

/// Items of a file or body (sections 3, 6, 8, 9, 10); `check` decides where each is allowed.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
#[allow(clippy::large_enum_variant, reason = "a file has few items, and each is read once")]
pub enum ItemKind {
    /// `use std.secrets`, `use "./other.assert" (name, name)`.
    Use(UseItem),
    /// `param NAME: type = default`.
    Param(ParamItem),
    /// `let NAME = expr`.
    Let { name: Name, value: Expr },
    /// `def NAME(a, b) = expr`.
    Def { name: Name, parameters: Vec<Name>, body: Expr },
    /// `def step paid(limit, $id) = step`. A parameter's text starts with `$` when it is a binding.
    DefStep { name: Name, parameters: Vec<Name>, body: StepPattern },
    /// `schema Name = {…}` or `schema Name from "file"`.
    Schema { name: Name, source: SchemaSource },
    /// `tools from "file"`.
    ToolsFrom { path: Name },
    /// `tool NAME {…}`.
    Tool { name: Name, schema: Expr },
    /// `tool a, b* fails when cond also c tagged d`: facts about the calls of some tools.
    ToolFacts { tools: Vec<ToolName>, facts: Vec<ToolFact> },
    /// `rule NAME "sentence" {…}`.
    Rule(RuleBlock),
    /// `suite "name" {…}`.
    Suite { name: Name, modifiers: Vec<Modifier>, body: Vec<SyntaxItem> },
    /// `case NAME {…}`.
    Case { name: Name, modifiers: Vec<Modifier>, body: Vec<SyntaxItem> },
    /// `workspace isolated {…}` in a suite.
    Workspace { mode: Name, settings: Vec<BodySetting> },
    /// `runner NAME {…}` in a suite.
    Runner { name: Name, settings: Vec<BodySetting> },
    /// `pre {…}`.
    Pre { body: Vec<SyntaxItem> },
    /// `post {…}`.
    Post { body: Vec<SyntaxItem> },
    /// `test "name" expect …`.
    Test(TestItem),
    /// `invariant NAME {…}`.
    Invariant(RuleBlock),
    /// `call TOOL …` in an invariant.
    Call(InvariantCall),
    /// `for each tool where … {…}` in an invariant.
    ForEachTool { condition: Option<Expr>, body: Vec<SyntaxItem> },
    /// A standalone modifier: a setting of the body it opens.
    Setting(BodySetting),
    /// An assertion.
    Assertion(Assertion),
}

/// The name of a tool as a rule writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolName {
    /// The name.
    pub name: Name,
    /// True if quoted: `*` and `?` in it are literal.
    pub quoted: bool,
}

/// A declared fact about the calls of some tools.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolFact {
    /// `fails when cond`.
    Fails(Expr),
    /// `also name, name`: other names of the tool.
    Also(Vec<ToolName>),
    /// `tagged destructive, slow`.
    Tagged(Vec<Name>),
}

impl ItemKind {
    /// Returns true if the item or its body asserts something about runs.
    #[must_use]
    pub fn has_assertions(&self) -> bool {
        matches!(
            self,
            Self::Assertion(_)
                | Self::Rule(_)
                | Self::Suite { .. }
                | Self::Case { .. }
                | Self::Invariant(_)
                | Self::Pre { .. }
                | Self::Post { .. }
        )
    }

    /// Returns true if it only declares something for other items.
    #[must_use]
    pub fn is_declaration(&self) -> bool {
        matches!(
            self,
            Self::Use(_)
                | Self::Param(_)
                | Self::Let { .. }
                | Self::Def { .. }
                | Self::DefStep { .. }
                | Self::Schema { .. }
                | Self::ToolsFrom { .. }
                | Self::Tool { .. }
                | Self::ToolFacts { .. }
        )
    }

    /// Returns the items in its braces; `None` if it has no body.
    #[must_use]
    pub fn body(&self) -> Option<&[SyntaxItem]> {
        match self {
            Self::Rule(rule) | Self::Invariant(rule) => Some(&rule.body),
            Self::Suite { body, .. }
            | Self::Case { body, .. }
            | Self::Pre { body }
            | Self::Post { body }
            | Self::ForEachTool { body, .. } => Some(body),
            Self::Assertion(assertion) => {
                let mut statement = &assertion.statement;
                loop {
                    statement = match &statement.kind {
                        StatementKind::Not(inner) => inner,
                        StatementKind::Block { body, .. } | StatementKind::Group { body, .. } => return Some(body),
                        _ => return None,
                    };
                }
            }
            _ => None,
        }
    }

    /// Returns the items in its braces, mutably; `None` if it has no body.
    pub fn body_mut(&mut self) -> Option<&mut Vec<SyntaxItem>> {
        match self {
            Self::Rule(rule) | Self::Invariant(rule) => Some(&mut rule.body),
            Self::Suite { body, .. }
            | Self::Case { body, .. }
            | Self::Pre { body }
            | Self::Post { body }
            | Self::ForEachTool { body, .. } => Some(body),
            Self::Assertion(assertion) => {
                let mut statement = &mut assertion.statement;
                loop {
                    statement = match &mut statement.kind {
                        StatementKind::Not(inner) => inner,
                        StatementKind::Block { body, .. } | StatementKind::Group { body, .. } => return Some(body),
                        _ => return None,
                    };
                }
            }
            _ => None,
        }
    }
}

/// `use …`.
#[derive(Debug, Clone, PartialEq)]
pub struct UseItem {
    /// The dotted name or the quoted path.
    pub target: Name,
    /// True for `use "./path"`.
    pub is_path: bool,
    /// The chosen names; `None` for all.
    pub names: Option<Vec<Name>>,
}

/// `param NAME: type = default`.
#[derive(Debug, Clone, PartialEq)]
pub struct ParamItem {
    /// Its name.
    pub name: Name,
    /// The type as written.
    pub ty: Name,
    /// The default value; without one, the parameter is required.
    pub default: Option<Expr>,
}

/// The source of a schema.
#[derive(Debug, Clone, PartialEq)]
pub enum SchemaSource {
    /// An object literal.
    Inline(Expr),
    /// `from "path"`.
    File(Name),
}

/// `rule` and `invariant`: a named group of assertions.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleBlock {
    /// Its id.
    pub name: Name,
    /// The sentence after the name.
    pub sentence: Option<TextLiteral>,
    /// Modifiers between the name and `{`.
    pub modifiers: Vec<Modifier>,
    /// The items in its body.
    pub body: Vec<SyntaxItem>,
}

/// `test "name" expect VERDICT NAMES {…}`.
#[derive(Debug, Clone, PartialEq)]
pub struct TestItem {
    /// The quoted name.
    pub name: Name,
    /// `pass`, `fail`, `vacuous`, `undecided` or `error`.
    pub expect: Name,
    /// The rules that it tests; empty for all.
    pub rules: Vec<Name>,
    /// The run.
    pub run: TestRun,
}

/// The run of a test.
#[derive(Debug, Clone, PartialEq)]
pub enum TestRun {
    /// Written inline: an [`super::ExprKind::Object`].
    Inline(Expr),
    /// `from "run.json"`.
    File(Name),
}

/// `call TOOL {…}`, `call TOOL generate {…} cases N seed M for "NAME"`, with `as NAME` and `expect ok|error`.
#[derive(Debug, Clone, PartialEq)]
pub struct InvariantCall {
    /// The name of the tool; `tool` inside of `for each tool`. If [`Self::tool_text`] is set, this is the text as written, with its `${…}`.
    pub tool: Name,
    /// A name that contains parameters: `"${witness}"`.
    pub tool_text: Option<TextLiteral>,
    /// The arguments.
    pub input: CallInput,
    /// `as made`.
    pub alias: Option<Name>,
    /// `expect ok` or `expect error`.
    pub expect: Option<Name>,
}

/// The arguments of a `call`.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum CallInput {
    /// An object literal.
    Object(Expr),
    /// Generated inputs: count, seed, and the seed's name if it differs from the invariant's.
    Generate { inputs: GeneratedInputs, cases: NumberLiteral, seed: NumberLiteral, seed_name: Option<TextLiteral> },
}

/// The source of generated inputs.
#[derive(Debug, Clone, PartialEq)]
pub enum GeneratedInputs {
    /// `{ a: integer 0..9 }`: a generator for each argument.
    Arguments(Vec<InputGenerator>),
    /// `from schema`: the schema that the tool declares, with the location of these words.
    Schema(Span),
}

/// `a: integer 0..9`, `a: list 1..3 of integer 0..9`.
#[derive(Debug, Clone, PartialEq)]
pub struct InputGenerator {
    /// The argument.
    pub name: Name,
    /// The kind of its value.
    pub value: GeneratedKind,
    /// The kind of a list's elements, then of their elements, and so on.
    pub elements: Vec<GeneratedKind>,
}

/// `integer 0..9`.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedKind {
    /// The kind of value.
    pub ty: Name,
    /// The range after it: the values of numbers, or the lengths of texts and lists.
    pub bounds: Option<Expr>,
}

/// `prompt "…"`, `timeout 120s`, `template "…"`, and every modifier that is a setting of a body.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum BodySetting {
    /// A modifier as a setting: `severity error`, `threshold 0.8`.
    Modifier(Modifier),
    /// Any other key with its value: `prompt`, `timeout`, `template`, `bootstrap` (with its own timeout), `model`, `agent`,
    /// `command`, `env`, `expect ok`.
    Key { key: Name, value: Option<Expr>, timeout: Option<NumberLiteral> },
    /// `classify "id" "Label" when message contains "…"`: the class of enclosing failures with such a message.
    Classify { id: TextLiteral, label: Option<TextLiteral>, test: MessageTest },
}

/// The test of a failure message in `classify`.
#[derive(Debug, Clone, PartialEq)]
pub enum MessageTest {
    /// `contains "…"`.
    Contains(TextLiteral),
    /// `matches /…/`.
    Matches(RegexLiteral),
}
