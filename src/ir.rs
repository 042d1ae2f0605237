//! What `check` makes of the syntax tree: every name resolved, every pattern in one form, every statement one of [`Course`].
//!
//! Foreign rule files lower to the same. From here on nothing knows how a rule was written. `compile` turns expressions into code and
//! patterns into classifiers; [`Course`] keeps its shape (it is generic over what stands for a pattern and for an expression), so that there is
//! one list of statements.

use crate::source::Span;
use crate::syntax::ast::{BinaryOperator, ExprQuantifier, Quantifier, SequenceMode, TestKind};
use crate::trace::run::Kind;
use crate::truth::Verdict;
use serde::{Deserialize, Serialize};

/// A checked compilation: the rule file with all that it imports.
#[derive(Debug, Clone, Default)]
pub struct Module {
    /// Parameters of all files, by number.
    pub params: Vec<Param>,
    /// `let`s by number; evaluated at most once per run.
    pub lets: Vec<Let>,
    /// `def`s by number; no definition uses itself.
    pub defs: Vec<Def>,
    /// Regular expressions by number, each pattern with its flags once.
    pub regexes: Vec<Regex>,
    /// Schemas by number, as JSON text; compiled and found good.
    pub schemas: Vec<Schema>,
    /// The declared tool catalogue: JSON Schemas of arguments.
    pub tools: Vec<Tool>,
    /// Rules, cases and invariants, in file order. A bare top-level assertion belongs to none.
    pub rules: Vec<Rule>,
    /// All assertions in file order; groups and blocks hold theirs inside.
    pub assertions: Vec<Assertion>,
    /// Tests in file order.
    pub tests: Vec<Test>,
    /// Suites with their settings, for a runner of agents.
    pub suites: Vec<Suite>,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its default; a parameter without one has to be given.
    pub default: Option<Constant>,
    /// Its declaration.
    pub span: Span,
}

/// The types of section 3 and those that the checker tells apart beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum Type {
    Any,
    String,
    Number,
    Integer,
    Boolean,
    Duration,
    Money,
    Size,
    List,
    Object,
    Null,
    Range,
    Regex,
}

/// A `let`.
#[derive(Debug, Clone)]
pub struct Let {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Expr,
}

/// A `def`: a function or predicate. Its parameters are the locals `0..parameters`.
#[derive(Debug, Clone)]
pub struct Def {
    /// Its name.
    pub name: String,
    /// How many parameters.
    pub parameters: u32,
    /// Its value.
    pub body: Expr,
}

/// A regular expression in the syntax of the `regex` crate, flags in front (`(?i)`), ASCII classes unless flag `u`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Regex {
    /// The pattern for the library.
    pub pattern: String,
    /// As the author wrote it, for reports.
    pub text: String,
}

/// A JSON Schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// Its name; the tool's name for the schema of a tool's arguments.
    pub name: String,
    /// The schema as JSON text, all `$ref`s to files resolved into it.
    pub json: String,
}

/// A declared tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The schema of its arguments, by number; none when the catalogue gives none.
    pub arguments: Option<u32>,
    /// What else the catalogue says of it (`annotations`, …) as JSON text.
    pub annotations: Option<String>,
}

/// A rule, case, invariant, `pre` or `post`: assertions under one id with one score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Its id.
    pub id: String,
    /// What it is.
    pub role: RuleRole,
    /// The sentence behind its name.
    pub sentence: Option<String>,
    /// Its settings; assertions in it have inherited severity, tags and class already.
    pub weight: f64,
    /// `threshold`, between 0 and 1.
    pub threshold: Option<f64>,
    /// Severity of the rule itself (counts when it has a threshold).
    pub severity: Severity,
    /// Tags.
    pub tags: Vec<String>,
    /// `as name`: records the rule's score under it.
    pub metric: Option<String>,
    /// Its header.
    pub span: Span,
}

/// What a [`Rule`] was written as.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum RuleRole {
    /// `rule`.
    Rule,
    /// `case`: judges runs whose `meta.case` is its name or whose prompt is its own.
    Case {
        /// Its prompt.
        prompt: Option<String>,
    },
    /// `invariant`: judges every call of its tools; `response` is the call's result.
    Invariant,
    /// `pre`.
    Pre,
    /// `post`.
    Post,
}

/// A suite and its runners, for a runner of agents; `check` judges its cases.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Its threshold.
    pub threshold: Option<f64>,
    /// The rules (cases) in it, by number.
    pub cases: Vec<u32>,
}

/// Severities of section 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Recorded only.
    Info,
    /// Reported; does not fail the run.
    Warn,
    /// Fails the run.
    Error,
}

impl Severity {
    /// The word of the language.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// An assertion with everything that its modifiers, its rule and its blocks say.
#[derive(Debug, Clone)]
pub struct Assertion {
    /// `approval.1`, the `id` given, or an id from file and text for a bare one.
    pub id: String,
    /// Its rule, by number.
    pub rule: Option<u32>,
    /// Its text without modifiers, white space folded.
    pub text: String,
    /// Its place without modifiers.
    pub span: Span,
    /// Its settings.
    pub settings: Settings<Expr>,
    /// The names of its bindings by [`Binding`], without `$`, those of block headers around it included.
    pub bindings: Vec<String>,
    /// What has to hold.
    pub check: Check<Pattern, Expr>,
}

/// The modifiers of an assertion, inherited ones included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings<E> {
    /// `weight`, at least 0.
    pub weight: f64,
    /// `severity`.
    pub severity: Severity,
    /// `must`.
    pub must: bool,
    /// `threshold` behind a single assertion.
    pub threshold: Option<f64>,
    /// `message`: an expression that gives text.
    pub message: Option<E>,
    /// `as`.
    pub metric: Option<String>,
    /// `class`: id and label.
    pub class: Option<(String, Option<String>)>,
    /// `tags`, with those of the rule.
    pub tags: Vec<String>,
    /// `when`, of the assertion itself and of every rule or block around it: all have to be true.
    pub when: Vec<E>,
    /// `expect fail`, with its reason.
    pub expect_fail: Option<Option<String>>,
}

/// What an assertion asserts. `P` stands for a pattern, `E` for an expression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum Check<P, E> {
    /// An expression that is true.
    Expression(E),
    /// A statement about the course of the run.
    Course(Course<P, E>),
    /// `not` before a statement.
    Not(Box<Check<P, E>>),
    /// A group; every member with its own settings does not count: weights and severities of members shape the group's score only.
    Group {
        /// Which.
        kind: GroupKind,
        /// The statements.
        members: Vec<Member<P, E>>,
    },
    /// A statement checked in each window of a scope.
    Scoped {
        /// The window.
        scope: Scope<P>,
        /// What is checked in it.
        body: Box<Check<P, E>>,
    },
    /// A check of the world.
    World(World<E>),
}

/// A statement in a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member<P, E> {
    /// Its place.
    pub span: Span,
    /// Its weight in the group's score.
    pub weight: f64,
    /// Its own and inherited conditions.
    pub when: Vec<E>,
    /// What has to hold.
    pub check: Check<P, E>,
}

/// Kinds of group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum GroupKind {
    Any,
    All,
    None,
    AtLeast(u32),
}

/// The window of a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum Scope<P> {
    /// From the first `open` (with `until`: from each) to the next `until` or the run's end; ends outside.
    After {
        /// Opens.
        open: P,
        /// Closes.
        until: Option<P>,
    },
    /// Everything before the first.
    Before {
        /// Closes.
        close: P,
    },
    /// From each `open` to the next `close`.
    Between {
        /// Opens.
        open: P,
        /// Closes.
        close: P,
    },
    /// Once for each matching step; expressions see the step, course statements see the whole run.
    Each {
        /// The steps.
        step: P,
    },
}

/// Every statement about the course of a run (section 6). Bindings are numbered per assertion, see [`Binding`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "fields are named like the parts of the statement")]
pub enum Course<P, E> {
    /// `require A` has `times` 1 or more.
    Require {
        step: P,
        times: Option<TimesRange>,
    },
    Never {
        steps: Vec<P>,
    },
    NeverAfter {
        steps: Vec<P>,
        open: P,
        until: Option<P>,
        within: Option<Within>,
    },
    NeverBefore {
        steps: Vec<P>,
        close: P,
        within: Option<Within>,
    },
    NeverBetween {
        steps: Vec<P>,
        open: P,
        close: P,
        within: Option<Within>,
    },
    Only {
        steps: Vec<P>,
    },
    /// `test` is an expression over [`Local::COUNT`].
    Count {
        step: P,
        test: E,
    },
    First {
        step: P,
    },
    Last {
        step: P,
    },
    Before {
        each: bool,
        immediately: bool,
        step: P,
        targets: Vec<P>,
        within: Option<Within>,
    },
    After {
        each: bool,
        immediately: bool,
        step: P,
        targets: Vec<P>,
        within: Option<Within>,
    },
    Sequence {
        mode: SequenceMode,
        steps: Vec<P>,
        within: Option<Within>,
    },
    Together {
        left: P,
        right: P,
    },
    Apart {
        left: P,
        right: P,
    },
    IfThen {
        condition: P,
        consequence: P,
    },
    Iff {
        left: P,
        right: P,
    },
    Either {
        steps: Vec<P>,
    },
    NotBoth {
        left: P,
        right: P,
    },
    Repeat {
        step: P,
        limit: u32,
    },
    Flow {
        flow: Flow<P>,
    },
    /// The condition sees the step.
    Each {
        quantifier: Quantifier,
        step: P,
        condition: E,
    },
    /// `no PREDICATE in EXPR`: `values` gives the value, `predicate` sees each text or value of it in [`Local::VALUE`].
    NoneIn {
        values: E,
        predicate: E,
    },
    /// `no PREDICATE in A`: the same for every matching step as a value.
    NoneInSteps {
        step: P,
        predicate: E,
    },
    /// `args valid`: `step` is `None` for all calls.
    ArgsValid {
        step: Option<P>,
        strict: bool,
    },
}

/// How often; both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimesRange {
    /// At least.
    pub least: u64,
    /// At most; open when `None`.
    pub most: Option<u64>,
}

/// A bound between two steps, start to start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Within {
    /// Difference of positions among the calls.
    Calls(u64),
    /// Difference of turns.
    Turns(u64),
    /// Milliseconds.
    Time(f64),
}

/// A regular expression over all calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "fields are named like the parts of the expression")]
#[serde(bound(deserialize = "P: Deserialize<'de>"))]
pub enum Flow<P> {
    Step(P),
    Sequence(#[serde(deserialize_with = "crate::limits::nested::nested")] Vec<Flow<P>>),
    Choice(#[serde(deserialize_with = "crate::limits::nested::nested")] Vec<Flow<P>>),
    Repeat {
        #[serde(deserialize_with = "crate::limits::nested::nested")]
        body: Box<Flow<P>>,
        least: u32,
        most: Option<u32>,
    },
}

/// A check of the world (section 9).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "fields are named like the parts of the statement")]
pub enum World<E> {
    /// `test` sees the file's text in [`Local::VALUE`]; `exists` and `is empty` are tests as any other. `path` gives text.
    File {
        path: E,
        test: E,
    },
    Env {
        name: String,
        negated: bool,
    },
    Tool {
        name: String,
        negated: bool,
    },
    /// `url` gives a text or a regular expression; `test` sees the status in [`Local::VALUE`].
    Http {
        url: E,
        test: E,
    },
    /// `arguments` each give one argument; interpolated values are never split.
    Run {
        arguments: Vec<E>,
        code: i64,
    },
}

/// A step pattern in one form: a choice of alternatives.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// As the author wrote it.
    pub text: String,
    /// Its place.
    pub span: Span,
    /// Any of these; at least one.
    pub alternatives: Vec<Alternative<Expr>>,
}

/// One alternative of a pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Alternative<E> {
    /// The kind of step.
    pub kind: Kind,
    /// What its name has to be.
    pub name: NameTest,
    /// True to look at calls that were denied or are pending; otherwise only executed ones match.
    pub proposed: bool,
    /// `ok` (`true`) or `failed`.
    pub succeeded: Option<bool>,
    /// Arguments and `where`, joined by `and`, the step in scope; without those that bind or use bindings.
    pub condition: Option<E>,
    /// `path: $x`: the number of the binding and the path, the step in scope. A missing or absent value does not match.
    pub binds: Vec<(u32, E)>,
    /// Tests that use a value bound by another pattern (or block header) of the statement.
    pub joins: Vec<E>,
}

/// What the name of a step has to be. See [`crate::trace::run::Step::name`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum NameTest {
    /// Any.
    Any,
    /// Exactly this.
    Exactly(String),
    /// One of these, exactly (a message whose role is `user` or `human`).
    OneOf(Vec<String>),
    /// A glob of `*` and `?` over the whole name.
    Glob(String),
    /// A path glob (`**` over folders), over the whole path or an end of it that starts at a folder.
    PathGlob(String),
    /// A text that the name contains.
    Contains(String),
    /// A regular expression found in the name, by number.
    Matches(u32),
}

/// An expression with its place and type.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// Which form.
    pub kind: ExprKind,
    /// Its place.
    pub span: Span,
    /// What is known of its type.
    pub ty: Type,
}

/// Slots of local values. Parameters of a `def` and variables of quantifiers are numbered from 0 in each code body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Local(pub u32);

impl Local {
    /// The value that a `no PREDICATE in`, a `file` or an `http` test looks at.
    pub const VALUE: Local = Local(0);
    /// The number that a `count` tests.
    pub const COUNT: Local = Local(0);
}

/// The number of a binding `$x` in its assertion, block headers included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Binding(pub u32);

/// The forms of a checked expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A literal.
    Constant(Constant),
    /// A regular expression, by number.
    Regex(u32),
    /// A root name of section 4 (`output`, `calls`, …; never an alias).
    Root(&'static str),
    /// `run`.
    Run,
    /// The step in scope, as a value.
    Step,
    /// A field of the step in scope.
    StepField(String),
    /// The response of the call that an invariant judges.
    Response,
    /// A parameter, by number.
    Param(u32),
    /// A `let`, by number.
    Let(u32),
    /// A local value.
    Local(Local),
    /// A binding.
    Binding(Binding),
    /// `a.b` and `a["b"]` with a literal key.
    Field(Box<Expr>, String),
    /// `a[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `a[*]`: a list of all elements (or values); a field behind it maps over them.
    Every(Box<Expr>),
    /// `a[**]`: a list of the value and everything in it.
    Deep(Box<Expr>),
    /// `-a`.
    Negate(Box<Expr>),
    /// `not a`.
    Not(Box<Expr>),
    /// An operator; `and`, `or` and `implies` evaluate their right side only where it matters.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// A range.
    Range(Option<Box<Expr>>, Option<Box<Expr>>),
    /// A test.
    Test(Tested),
    /// `if c then a else b`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A quantifier; its variable is a local.
    Quantifier(ExprQuantifier, Local, Box<Expr>, Box<Expr>),
    /// A function of the builtins table, by name.
    Builtin(&'static str, Vec<Expr>),
    /// A `def`, by number.
    Def(u32, Vec<Expr>),
    /// A list literal.
    List(Vec<Expr>),
    /// An object literal.
    Object(Vec<(String, Expr)>),
    /// Text with interpolations: the parts' texts joined.
    Join(Vec<Expr>),
}

/// A test of a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Tested {
    /// Which test.
    pub kind: ValueTest,
    /// True for the negated form.
    pub negated: bool,
    /// What is tested.
    pub subject: Box<Expr>,
    /// The right-hand side, where there is one.
    pub operand: Option<Box<Expr>>,
}

/// Tests with their names resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ValueTest {
    /// A test that needs nothing but its sides.
    Plain(TestKind),
    /// `is TYPE`.
    IsType(Type),
    /// `is Schema`.
    IsSchema(u32),
    /// `is json Schema`.
    IsJsonSchema(u32),
    /// `contains json Schema`.
    ContainsJsonSchema(u32),
}

/// A literal value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Constant {
    /// `null`.
    Null,
    /// A boolean.
    Boolean(bool),
    /// A number, as JSON text in its base unit.
    Number(String),
    /// Text.
    Text(String),
    /// A list.
    List(#[serde(deserialize_with = "crate::limits::nested::nested")] Vec<Constant>),
    /// An object.
    Object(#[serde(deserialize_with = "crate::limits::nested::nested")] Vec<(String, Constant)>),
}

/// A test of the rules on a run of their own (section 10).
#[derive(Debug, Clone)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// The verdict expected.
    pub expect: Verdict,
    /// The rules it names, by number; empty for all.
    pub rules: Vec<u32>,
    /// The run as JSON text, with the place of the inline text or of the file's name.
    pub run: String,
    /// The file of `from`, for messages.
    pub run_file: Option<String>,
    /// Its header.
    pub span: Span,
}
