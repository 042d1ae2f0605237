//! The syntax tree: what the author wrote, with a span on every node and nothing resolved.
//!
//! One small type per concept. `check` turns it into [`crate::ir`]; the formatter and the editor read it as it is.
//! Sections named in the comments are those of the language reference.

use crate::source::Span;

/// Text of the source with its place: a name, a word, a label.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    /// The text, unquoted.
    pub text: String,
    /// Where it stands, with quotes where it has some.
    pub span: Span,
}

/// One rule file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct File {
    /// Everything in it, in order. Items that could not be read are left out (a diagnostic says why).
    pub items: Vec<Item>,
    /// `# allow: slug` comments.
    pub allows: Vec<Allow>,
    /// Names that declarations with a mistake were to declare: what uses them is not wrong on top of that.
    pub unread: Vec<Name>,
}

/// `# allow: slug`: silences a lint on its line, or on the next one when it stands alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Allow {
    /// The slugs named.
    pub slugs: Vec<Name>,
    /// The comment.
    pub span: Span,
}

/// A declaration, a statement or a setting with the doc comment above it.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// From its first to its last character, without the doc comment.
    pub span: Span,
    /// The text of the `##` lines above it.
    pub doc: Option<String>,
}

/// What can stand in a file or in a body (sections 3, 6, 8, 9, 10). Whether it *may* stand there is `check`'s question.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum ItemKind {
    /// `use std.secrets`, `use "./other.assert" (name, name)`.
    Use(Use),
    /// `param NAME: type = default`.
    Param(Param),
    /// `let NAME = expr`.
    Let { name: Name, value: Expr },
    /// `def NAME(a, b) = expr`.
    Def { name: Name, parameters: Vec<Name>, body: Expr },
    /// `def step paid(limit, $id) = step`. A parameter's text starts with `$` when it is a binding.
    DefStep { name: Name, parameters: Vec<Name>, body: Step },
    /// `schema Name = {…}` or `schema Name from "file"`.
    Schema { name: Name, source: Literal },
    /// `tools from "file"`.
    ToolsFrom { path: Name },
    /// `tool NAME {…}`.
    Tool { name: Name, schema: Expr },
    /// `rule NAME "sentence" {…}`.
    Rule(Rule),
    /// `suite "name" {…}`.
    Suite { name: Name, modifiers: Vec<Modifier>, body: Vec<Item> },
    /// `case NAME {…}`.
    Case { name: Name, modifiers: Vec<Modifier>, body: Vec<Item> },
    /// `workspace isolated {…}` in a suite.
    Workspace { mode: Name, settings: Vec<Setting> },
    /// `runner NAME {…}` in a suite.
    Runner { name: Name, settings: Vec<Setting> },
    /// `pre {…}`.
    Pre { body: Vec<Item> },
    /// `post {…}`.
    Post { body: Vec<Item> },
    /// `test "name" expect …`.
    Test(Test),
    /// `invariant NAME {…}`.
    Invariant(Rule),
    /// `call TOOL …` in an invariant.
    Call(Call),
    /// `for each tool where … {…}` in an invariant.
    ForEachTool { condition: Option<Expr>, body: Vec<Item> },
    /// A modifier that stands alone: a setting of the body it opens.
    Setting(Setting),
    /// An assertion.
    Assertion(Assertion),
}

impl ItemKind {
    /// The items in its braces; `None` for what has no body.
    pub fn body_mut(&mut self) -> Option<&mut Vec<Item>> {
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
pub struct Use {
    /// The dotted name or the quoted path.
    pub target: Name,
    /// True for `use "./path"`.
    pub is_path: bool,
    /// The chosen names; `None` for all.
    pub names: Option<Vec<Name>>,
}

/// `param NAME: type = default`.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// The type as written.
    pub ty: Name,
    /// The default; without one the parameter has to be given.
    pub default: Option<Expr>,
}

/// The source of a schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// An object literal.
    Inline(Expr),
    /// `from "path"`.
    File(Name),
}

/// `rule` and `invariant`: a named group of assertions.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its id.
    pub name: Name,
    /// The sentence behind the name.
    pub sentence: Option<Text>,
    /// Modifiers between the name and `{`.
    pub modifiers: Vec<Modifier>,
    /// What stands in it.
    pub body: Vec<Item>,
}

/// `test "name" expect VERDICT NAMES {…}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// The quoted name.
    pub name: Name,
    /// `pass`, `fail`, `vacuous`, `undecided` or `error`.
    pub expect: Name,
    /// The rules it speaks of; empty for all.
    pub rules: Vec<Name>,
    /// The run.
    pub run: TestRun,
}

/// The run of a test.
#[derive(Debug, Clone, PartialEq)]
pub enum TestRun {
    /// Written in place: an [`ExprKind::Object`].
    Inline(Expr),
    /// `from "run.json"`.
    File(Name),
}

/// `call TOOL {…}`, `call TOOL generate {…} cases N seed M`, with `as NAME` and `expect ok|error`.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool's name; `tool` inside `for each tool`.
    pub tool: Name,
    /// The arguments.
    pub input: CallInput,
    /// `as made`.
    pub alias: Option<Name>,
    /// `expect ok` or `expect error`.
    pub expect: Option<Name>,
}

/// What a `call` is given.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum CallInput {
    /// An object literal.
    Object(Expr),
    /// Generators per argument.
    Generate { arguments: Vec<Generator>, cases: Number, seed: Number },
}

/// `a: integer 0..9`.
#[derive(Debug, Clone, PartialEq)]
pub struct Generator {
    /// The argument.
    pub name: Name,
    /// The kind of value.
    pub ty: Name,
    /// The range or list behind it.
    pub bounds: Option<Expr>,
}

/// `prompt "…"`, `timeout 120s`, `template "…"`, and every modifier that opens a body.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum Setting {
    /// A modifier as a setting: `severity error`, `threshold 0.8`.
    Modifier(Modifier),
    /// Any other key with its value: `prompt`, `timeout`, `template`, `bootstrap` (with its own timeout), `model`, `agent`,
    /// `command`, `env`, `expect ok`.
    Key { key: Name, value: Option<Expr>, timeout: Option<Number> },
}

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
}

/// A statement with its place (without modifiers).
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Which one.
    pub kind: StatementKind,
    /// From its first to its last character.
    pub span: Span,
}

/// The statements of sections 4, 6 and 9.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum StatementKind {
    /// Any expression.
    Expression(Expr),
    /// `not STATEMENT` (an expression behind `not` is an [`ExprKind::Not`]).
    Not(Box<Statement>),
    /// `require A`, `require A 1..3 times`. A single number is a range of one.
    Require { step: Step, times: Option<Times> },
    /// `never A, B`, with a window and a `within`.
    Never { steps: Vec<Step>, window: Option<Window>, within: Option<Within> },
    /// `only A, B`.
    Only { steps: Vec<Step> },
    /// `count A <= 10`: the test has no subject.
    Count { step: Step, test: ValueTest },
    /// `first A`.
    First { step: Step },
    /// `last A`.
    Last { step: Step },
    /// `before A -> B, C`; `B only after A` is read into this (`reversed`).
    Before { each: bool, immediately: bool, step: Step, targets: Vec<Step>, within: Option<Within>, reversed: bool },
    /// `after A -> B, C`.
    After { each: bool, immediately: bool, step: Step, targets: Vec<Step>, within: Option<Within> },
    /// `sequence [only|exactly] A -> B`.
    Sequence { mode: SequenceMode, steps: Vec<Step>, within: Option<Within> },
    /// `together A, B`.
    Together { left: Step, right: Step },
    /// `apart A, B`.
    Apart { left: Step, right: Step },
    /// `if A then B`.
    IfThen { condition: Step, consequence: Step },
    /// `A iff B`.
    Iff { left: Step, right: Step },
    /// `either A or B or C`.
    Either { steps: Vec<Step> },
    /// `not both A, B`.
    NotBoth { left: Step, right: Step },
    /// `never repeat A more than 3 times`.
    Repeat { step: Step, limit: Number },
    /// `flow …`.
    Flow { flow: Flow },
    /// `each A: cond`, `some A: cond`, `no A: cond`.
    Each { quantifier: Quantifier, step: Step, condition: Expr },
    /// `no PREDICATE in EXPR` or `no PREDICATE in A`.
    NoPredicate { predicate: Name, target: PredicateTarget },
    /// `args valid [strict] [for A]`.
    ArgsValid { step: Option<Step>, strict: bool },
    /// `after A until C {…}`, `each A {…}`, `when COND {…}` and the others.
    Block { scope: Scope, body: Vec<Item> },
    /// `any of {…}`, `at least 2 of {…}`.
    Group { kind: GroupKind, body: Vec<Item> },
    /// `file "PATH" exists` and the other checks of section 9.
    World(World),
}

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
    /// `env NAME is [not] set`.
    Env { name: Name, negated: bool },
    /// `tool NAME is [not] available`.
    Tool { name: Name, negated: bool },
    /// `http "URL" status TEST`.
    Http { url: TextOrRegex, test: ValueTest },
    /// `run "COMMAND" exits N`.
    Run { command: Text, code: Number },
}

/// A string or a regular expression.
#[derive(Debug, Clone, PartialEq)]
pub enum TextOrRegex {
    /// A string.
    Text(Text),
    /// A regular expression.
    Regex(Regex),
}

// ---- steps (section 5)

/// A step pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Which form.
    pub kind: StepKind,
    /// From its first to its last character.
    pub span: Span,
}

/// The forms of a step pattern.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum StepKind {
    /// One pattern: a tool call or a step of another kind.
    Atom(Atom),
    /// `A | B`.
    Choice(Vec<Step>),
    /// `A where cond`; the parentheses, if any, are not kept.
    Where { step: Box<Step>, condition: Expr },
    /// `proposed A` before a parenthesis; before a plain pattern it is [`Atom::proposed`].
    Proposed(Box<Step>),
}

/// `refund(amount > 100) failed`, `command /npm/`, `read "src/**"`.
#[derive(Debug, Clone, PartialEq)]
pub struct Atom {
    /// What it names.
    pub subject: Subject,
    /// The entries in parentheses; `None` without parentheses.
    pub arguments: Option<Vec<Argument>>,
    /// `ok` or `failed` behind it.
    pub status: Option<StatusWord>,
    /// `proposed` in front of it.
    pub proposed: bool,
}

/// What an atom names.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum Subject {
    /// A bare name with `*` and `?` as globs; `any` is one too. May turn out to be a `def step`.
    Tool(Name),
    /// A quoted name, literal.
    QuotedTool(Name),
    /// `command`, `read`, `user`, …, with what stands behind it.
    Kind { kind: StepWord, word: Span, text: Option<KindText> },
}

/// What stands behind a kind word.
#[derive(Debug, Clone, PartialEq)]
pub enum KindText {
    /// A string: a substring, a path glob or a name, by kind.
    Text(Text),
    /// A regular expression.
    Regex(Regex),
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
pub enum Argument {
    /// `path: literal | regex | range | [list] | $var`. The path's root is a plain name or a quoted key.
    Matches { path: Expr, value: Expr, span: Span },
    /// Any test: `amount > 100`, `note is not empty`, `id == $id`.
    Test(Expr),
}

/// A flow expression: a regular expression over calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// Which form.
    pub kind: FlowKind,
    /// From its first to its last character.
    pub span: Span,
}

/// The forms of a flow expression.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum FlowKind {
    /// One call.
    Step(Step),
    /// `A -> B`.
    Sequence(Vec<Flow>),
    /// `A | B`.
    Choice(Vec<Flow>),
    /// `(A)*`, `(A)+`, `(A)?`, `(A){2,3}`; an open upper end is `None`.
    Repeat { body: Box<Flow>, least: u32, most: Option<u32> },
}

// ---- expressions (section 4)

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// Which form.
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
    Number(Number),
    /// A string of any kind.
    Text(Text),
    /// `/…/flags`.
    Regex(Regex),
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
    /// `f(a, b)`; also what a pipe becomes (`piped`: the first argument stood before the bar).
    Call { name: Name, arguments: Vec<Expr>, piped: bool },
    /// `-a`.
    Negate(Box<Expr>),
    /// `not a`.
    Not(Box<Expr>),
    /// `a and b`, `a + b` and the others.
    Binary { operator: BinaryOperator, operator_span: Span, left: Box<Expr>, right: Box<Expr> },
    /// `1..3`, `50..`, `..10`.
    Range { start: Option<Box<Expr>>, end: Option<Box<Expr>> },
    /// A test.
    Test { subject: Box<Expr>, test: ValueTest },
    /// `if c then a else b`.
    If { condition: Box<Expr>, then: Box<Expr>, otherwise: Box<Expr> },
    /// `any x in xs: c` and the others.
    Quantifier { quantifier: ExprQuantifier, variable: Name, source: Box<Expr>, body: Box<Expr> },
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

/// A test without its subject: `== 3`, `not matches /x/`, `is empty`. One, because tests do not chain.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueTest {
    /// Which test, in its positive form.
    pub kind: TestKind,
    /// True for the negated form (`!=` is `Equal` negated).
    pub negated: bool,
    /// The right-hand side, where the test has one.
    pub operand: Option<Box<Expr>>,
    /// `is Refund`, `is json Refund`: a schema or a type name.
    pub name: Option<Name>,
    /// The words or the sign of the operator.
    pub operator: Span,
    /// From the operator to the end of its right-hand side.
    pub span: Span,
}

/// The tests of section 4 in their positive form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs, reason = "each is the operator itself")]
pub enum TestKind {
    Equal,
    Identical,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    Contains,
    ContainsIgnoringCase,
    ContainsAll,
    ContainsAny,
    ContainsNone,
    StartsWith,
    EndsWith,
    Matches,
    /// `is string`, `is Refund`: the name decides.
    Is,
    IsJson,
    ContainsJson,
    IsEmpty,
    IsMissing,
    Exists,
}

/// A number as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// The whole text with its unit, for example `1h30m`.
    pub text: String,
    /// The value in the base unit (milliseconds, USD, bytes; percent divided by 100) as decimal text that JSON accepts.
    pub value: String,
    /// The unit's family.
    pub unit: Unit,
    /// Where it stands.
    pub span: Span,
}

/// The family of a written unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Unit {
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
pub struct Text {
    /// Literal text (unescaped) and interpolated expressions, in order. Neighbouring literals are joined; the empty text has none.
    pub parts: Vec<TextPart>,
    /// With its quotes.
    pub span: Span,
}

/// A part of a string.
#[derive(Debug, Clone, PartialEq)]
pub enum TextPart {
    /// Literal text, unescaped.
    Literal(String),
    /// `${expr}`.
    Interpolation(Expr),
}

impl Text {
    /// The text, when it has no interpolation.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [TextPart::Literal(text)] => Some(text),
            _ => None,
        }
    }
}

/// `/pattern/flags`.
#[derive(Debug, Clone, PartialEq)]
pub struct Regex {
    /// The pattern between the slashes as written (`\/` still escaped).
    pub pattern: String,
    /// The flags behind it as written.
    pub flags: String,
    /// With its slashes and flags.
    pub span: Span,
    /// The place of the pattern alone, so that errors in it have a column.
    pub pattern_span: Span,
}
