//! What `check` makes of the syntax tree: every name resolved, every pattern in one form, every statement one of [`Temporal`].
//!
//! Foreign rule files lower to the same. From here on nothing knows how a rule was written. `compile` turns expressions into code and
//! patterns into classifiers; [`Temporal`] keeps its shape (it is generic over what stands for a pattern and for an expression), so that there is
//! one list of statements.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

mod expr;
mod inputs;
mod operand;
mod over_runs;
mod suite;
mod temporal;
mod translate;

pub use averment_base::types::Type;
pub use expr::*;
pub use inputs::{GeneratedCall, InputsSpec, SeedNamePart, ToolNamePart, ValueKind, ValueSpec};
pub use operand::{OperandPurpose, StatementOperand};
pub use over_runs::{OverRunsCheck, OverRunsQuestion, RateBound, RateSubject, RunFold, RunFoldFunction};
pub use suite::{CasePlan, SessionSettings, SettingContent, SettingValue, SuitePlan};
pub use temporal::*;
pub use translate::OperandTranslator;

use averment_base::source::Span;

use averment_base::truth::Verdict;
use averment_builtins::regex_pattern::RegexPattern;
use serde::{Deserialize, Serialize};

/// A checked compilation: the rule file with all that it imports.
#[derive(Debug, Clone, Default)]
pub struct CheckedModule {
    /// Parameters of all files, by number.
    pub params: Vec<DeclaredParam>,
    /// `let`s by number; evaluated at most once per run.
    pub lets: Vec<LetDef>,
    /// `def`s by number; no definition uses itself.
    pub defs: Vec<FunctionDef>,
    /// Regular expressions by number, each pattern with its flags once.
    pub regexes: Vec<RegexSource>,
    /// Schemas by number, as JSON text; compiled and found good.
    pub schemas: Vec<ProgramSchema>,
    /// The declared tool catalogue: JSON Schemas of arguments.
    pub tools: Vec<CatalogTool>,
    /// Facts that the rules state about tools.
    pub tool_facts: Vec<ToolFact<TypedExpr>>,
    /// Rules, cases and invariants, in file order. A bare top-level assertion belongs to none.
    pub rules: Vec<ProgramRule>,
    /// All assertions in file order; groups and blocks hold theirs inside.
    pub assertions: Vec<CheckedAssertion>,
    /// Tests in file order.
    pub tests: Vec<RuleTest>,
    /// Suites in file order.
    pub suites: Vec<ProgramSuite>,
    /// Settings for running the cases of suites, in file order; no recorded run is judged by them.
    pub plans: Vec<SuitePlan>,
    /// The lines `classify`, by number.
    pub classifiers: Vec<MessageClassifier>,
    /// The calls of invariants for which inputs are made, in file order. No run is judged by them.
    pub inputs: Vec<GeneratedCall>,
}

/// `classify "id" "Label" when message contains "…"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageClassifier {
    /// The id of the class.
    pub id: String,
    /// Its label.
    pub label: Option<String>,
    /// The test applied to a failure's message.
    pub test: MessageTest,
}

/// A test applied to a failure's message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageTest {
    /// It holds this text.
    Contains(String),
    /// A match of the regular expression with this number.
    Matches(u32),
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeclaredParam {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its default; a parameter without one has to be given.
    pub default: Option<Constant>,
    /// Its declaration.
    pub span: Span,
}

/// A `let`.
#[derive(Debug, Clone)]
pub struct LetDef {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: TypedExpr,
    /// False for an implication that was derived from a written definition for use in assertions.
    pub is_written: bool,
}

/// A `def`: a function or predicate. Its parameters are the locals `0..parameters`.
#[derive(Debug, Clone)]
pub struct FunctionDef {
    /// Its name.
    pub name: String,
    /// How many parameters.
    pub parameters: u32,
    /// Its value.
    pub body: TypedExpr,
    /// False for an implication that was derived from a written definition for use in assertions.
    pub is_written: bool,
}

/// A regular expression in the syntax of the `regex` crate, flags in front (`(?i)`), ASCII classes unless flag `u`; with flag `b` it may
/// hold look-around and back-references.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RegexSource {
    /// The pattern for the library.
    pub pattern: RegexPattern,
    /// As the author wrote it, for reports.
    pub text: String,
    /// True if it is matched by backtracking: flag `b`.
    pub backtracks: bool,
}

/// A JSON Schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramSchema {
    /// Its name; the tool's name for the schema of a tool's arguments.
    pub name: String,
    /// The schema as JSON text, all `$ref`s to files resolved into it.
    pub json: String,
    /// Where it is written: the literal in the rules, or the whole of the file that they name.
    pub place: Option<Span>,
}

/// A declared tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CatalogTool {
    /// Its name.
    pub name: String,
    /// The schema of its arguments, by number; none when the catalogue gives none.
    pub arguments: Option<u32>,
    /// Other catalog entries of the tool (`annotations`, …) as JSON text.
    pub annotations: Option<String>,
}

/// A fact about the tools with these names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolFact<E> {
    /// Their names.
    pub tools: Vec<NameTest>,
    /// The fact.
    pub says: ToolClaim<E>,
}

/// Something that is said of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ToolClaim<E> {
    /// A call failed if this is true and succeeded if it is false, unless the run itself says.
    Fails(E),
    /// Its tags.
    Tagged(Vec<String>),
    /// It is another name of this tool.
    Named(String),
}

/// A rule, case, invariant, `pre` or `post`: assertions under one id with one score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramRule {
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
    /// `deny` and `allow` for its own verdict (relevant with a threshold).
    pub denied: DenySettings,
    /// Tags.
    pub tags: Vec<String>,
    /// `as name`: records the rule's score under it.
    pub metric: Option<String>,
    /// True if a statement over all runs counts it; it then fails no run by itself.
    pub over_runs: bool,
    /// Its header.
    pub span: Span,
}

/// The kind of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum RuleRole {
    Rule,
    Case { prompt: Option<String> },
    Invariant,
    Pre,
    Post,
}

/// A suite: the cases that are judged together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramSuite {
    /// Its name.
    pub name: String,
    /// Its threshold.
    pub threshold: Option<f64>,
    /// The rules (cases) in it, by number.
    pub cases: Vec<u32>,
}

/// The effect of a failure on the run (language reference, section 7).
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
pub struct CheckedAssertion {
    /// `approval.1`, the `id` given, or the file and the words of the text for a bare one: `refunds:never-drop_table`.
    pub id: String,
    /// Its rule, by number.
    pub rule: Option<u32>,
    /// Its text without modifiers, white space folded.
    pub text: String,
    /// Its place without modifiers.
    pub span: Span,
    /// Its settings.
    pub settings: AssertionSettings<TypedExpr>,
    /// The names of its bindings by [`Binding`], without `$`, those of block headers around it included.
    pub bindings: Vec<String>,
    /// The check.
    pub check: AssertionCheck<CheckedPattern, TypedExpr>,
}

/// The modifiers of an assertion, inherited ones included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssertionSettings<E> {
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
    /// The lines `classify` around it, by number, the nearest first: the first that fits gives a failure its class, in the place of that one.
    pub classifiers: Vec<u32>,
    /// `tags`, with those of the rule.
    pub tags: Vec<String>,
    /// `when`, of the assertion itself and of every rule or block around it: all have to be true.
    pub when: Vec<E>,
    /// `expect fail`, with its reason.
    pub expect_fail: Option<Option<String>>,
    /// True if a statement over all runs counts it; it then fails no run by itself.
    pub over_runs: bool,
    /// `deny` and `allow`.
    pub denied: DenySettings,
}

/// The `deny` and `allow` settings: whether a verdict fails the run. `None` leaves it to the caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DenySettings {
    /// A verdict `vacuous`.
    pub vacuous: Option<bool>,
    /// A verdict `undecided`.
    pub undecided: Option<bool>,
    /// A pass that says nothing of some steps.
    pub unjudged: Option<bool>,
    /// No run of a whole check that exercises it.
    pub unexercised: Option<bool>,
}

impl DenySettings {
    /// Fills in missing settings from the outer ones.
    #[must_use]
    pub fn or_outer(self, outer: Self) -> Self {
        Self {
            vacuous: self.vacuous.or(outer.vacuous),
            undecided: self.undecided.or(outer.undecided),
            unjudged: self.unjudged.or(outer.unjudged),
            unexercised: self.unexercised.or(outer.unexercised),
        }
    }
}

impl<E> Default for AssertionSettings<E> {
    /// Those of an assertion without modifiers: weight 1, severity `error`.
    fn default() -> Self {
        Self {
            weight: 1.0,
            severity: Severity::Error,
            must: false,
            threshold: None,
            message: None,
            metric: None,
            class: None,
            classifiers: Vec::new(),
            tags: Vec::new(),
            when: Vec::new(),
            expect_fail: None,
            over_runs: false,
            denied: DenySettings::default(),
        }
    }
}

/// A test of the rules on a run of their own (section 10).
#[derive(Debug, Clone)]
pub struct RuleTest {
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
