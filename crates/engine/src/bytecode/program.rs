//! A compiled program: code for expressions, the patterns and parts of statements, and everything that reports need.
//!
//! It is what `aver compile` writes. Everything in it is data; what has to be built from it before a run (automata, compiled regular
//! expressions) is built once per process by `vm::prepare`, and only when it is needed.

use super::ops::Op;
use averment_base::source::{FileId, Span};
use averment_base::truth::Verdict;
use averment_checker::ir::{
    self, AssertionSettings, Constant, GroupKind, OverRunsCheck, PatternAlternative, Temporal, WindowScope,
    WorldCondition,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;

/// The number of a chunk of code: one expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CodeId(pub u32);

/// The number of a pattern. Equal patterns of one assertion are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PatternId(pub u32);

/// The number of a temporal statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TemporalId(pub u32);

/// A compiled program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The sources that it was compiled from, by `FileId`.
    pub sources: Vec<ProgramSource>,
    /// Parameters; their defaults are replaced by what the command line gives.
    pub params: Vec<ir::DeclaredParam>,
    /// Literals, each once.
    pub constants: Vec<Constant>,
    /// Texts that instructions name (keys, builtin names), each once.
    pub names: Vec<String>,
    /// All instructions; chunks are ranges of it.
    pub code: Vec<super::ops::Op>,
    /// The place of every instruction.
    pub spans: Vec<Span>,
    /// Expressions.
    pub chunks: Vec<CodeChunk>,
    /// The chunk of each `let`.
    pub lets: Vec<CodeId>,
    /// Each `def`.
    pub defs: Vec<CompiledDef>,
    /// Regular expressions.
    pub regexes: Vec<ir::RegexSource>,
    /// JSON Schemas.
    pub schemas: Vec<ir::ProgramSchema>,
    /// The tool catalogue.
    pub tools: Vec<ir::CatalogTool>,
    /// Facts that the rules state about tools.
    pub tool_facts: Vec<ir::ToolFact<CodeId>>,
    /// Step patterns.
    pub patterns: Vec<CompiledPattern>,
    /// Values taken of the steps that match a pattern.
    pub selections: Vec<CompiledSelection>,
    /// Temporal statements.
    pub temporals: Vec<TemporalEntry>,
    /// Rules, cases and invariants.
    pub rules: Vec<ir::ProgramRule>,
    /// Suites.
    pub suites: Vec<ir::ProgramSuite>,
    /// The lines `classify`.
    pub classifiers: Vec<ir::MessageClassifier>,
    /// Assertions in file order.
    pub assertions: Vec<CompiledAssertion>,
    /// Tests in file order.
    pub tests: Vec<CompiledTest>,
    /// Where the text of the rules comes from, where it was made of another file.
    pub origin: Option<ForeignOrigin>,
    /// Verdict names of the system whose file the rules were translated from.
    pub own_verdicts: Option<ForeignVerdicts>,
}

/// Verdict names of another system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForeignVerdicts {
    /// Its name.
    pub system: Cow<'static, str>,
    /// `pass`.
    pub pass: ForeignVerdict,
    /// `fail`.
    pub fail: ForeignVerdict,
    /// `vacuous`.
    pub vacuous: ForeignVerdict,
    /// `undecided`.
    pub undecided: ForeignVerdict,
    /// `error`.
    pub error: ForeignVerdict,
}

/// A verdict of another system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForeignVerdict {
    /// Its word.
    pub word: Cow<'static, str>,
    /// Its score where the assertion has none of its own; `None` where that system knows no scores.
    pub score: Option<f64>,
}

impl ForeignVerdict {
    /// From its word and its score.
    #[must_use]
    pub const fn new(word: &'static str, score: Option<f64>) -> Self {
        Self { word: Cow::Borrowed(word), score }
    }
}

impl ForeignVerdicts {
    /// The name of a verdict; `None` for `skipped`.
    #[must_use]
    pub fn word_for(&self, verdict: Verdict) -> Option<&ForeignVerdict> {
        Some(match verdict {
            Verdict::Pass => &self.pass,
            Verdict::Fail => &self.fail,
            Verdict::Vacuous => &self.vacuous,
            Verdict::Undecided => &self.undecided,
            Verdict::Error => &self.error,
            Verdict::Skipped => return None,
        })
    }
}

/// A source file inside a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramSource {
    /// Its name as the user wrote it.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The source that holds the text that was made, and where its pieces come from. Reasons quote the text; reports name the places.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ForeignOrigin {
    source: FileId,
    /// Sorted by start, larger pieces first; pieces nested in others are more precise.
    pieces: Vec<(Range<u32>, Span)>,
}

impl ForeignOrigin {
    /// Maps pieces of a source to places in another one.
    #[must_use]
    pub fn new(source: FileId, mut pieces: Vec<(Range<u32>, Span)>) -> Self {
        pieces.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        Self { source, pieces }
    }

    /// The place that a piece of the text was made of: that of the smallest piece around it, or the start of the file. A place in another source
    /// is what it is.
    #[must_use]
    pub fn foreign_place(&self, span: Span) -> Span {
        if span.file != self.source {
            return span;
        }
        let behind = self.pieces.partition_point(|(range, _)| range.start <= span.start);
        let around = self.pieces.get(..behind).unwrap_or_default().iter().rev();
        let found = around.filter(|(range, _)| span.end <= range.end).min_by_key(|(range, _)| range.len());
        found.map_or(Span::default(), |(_, place)| *place)
    }
}

impl Program {
    /// The text of the rules at a place; `None` for a place outside of them.
    #[must_use]
    pub fn source_text(&self, span: Span) -> Option<&str> {
        self.sources.get(span.file.0 as usize)?.text.get(span.as_range())
    }

    /// The instructions of an expression; `None` for a number that no expression has.
    #[must_use]
    pub fn code_ops(&self, code: CodeId) -> Option<&[Op]> {
        let chunk = self.chunks.get(code.0 as usize)?;
        self.code.get(chunk.start as usize..chunk.end as usize)
    }

    /// The expression that an instruction belongs to: the number of its first instruction, and all of them.
    #[must_use]
    pub fn chunk_around(&self, at: usize) -> Option<(usize, &[Op])> {
        let behind = self.chunks.partition_point(|chunk| chunk.start as usize <= at);
        let chunk = self.chunks.get(behind.checked_sub(1)?)?;
        Some((chunk.start as usize, self.code.get(chunk.start as usize..chunk.end as usize)?))
    }

    /// The key that an instruction takes of an object.
    #[must_use]
    pub fn key_at(&self, at: usize) -> Option<&str> {
        match self.code.get(at)? {
            Op::Field(name, _) | Op::StepField(name) => self.names.get(name.0 as usize).map(String::as_str),
            _ => None,
        }
    }

    /// The place of an instruction in the rules.
    #[must_use]
    pub fn op_span(&self, at: usize) -> Span {
        self.spans.get(at).copied().unwrap_or_default()
    }
}

/// One expression: a range of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeChunk {
    /// First instruction.
    pub start: u32,
    /// Behind the last instruction.
    pub end: u32,
    /// Number of locals, including those given on entry.
    pub locals: u32,
    /// The deepest stack it needs.
    pub stack: u32,
    /// The expression as a whole.
    pub span: Span,
}

/// A `def`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompiledDef {
    /// Its name, for faults and profiles.
    pub name: String,
    /// How many parameters: its first locals.
    pub parameters: u32,
    /// Its body.
    pub code: CodeId,
}

/// A step pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompiledPattern {
    /// As the author wrote it.
    pub text: String,
    /// Its place.
    pub span: Span,
    /// Its alternatives.
    pub alternatives: Vec<PatternAlternative<CodeId>>,
}

/// A value taken of each step that matches a pattern: `E of A`, `count A`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompiledSelection {
    /// The steps.
    pub pattern: PatternId,
    /// The value taken of each step; `None` counts the steps.
    pub value: Option<CodeId>,
    /// Which of them.
    pub reach: ir::SelectionReach,
    /// The bindings that it is given values of, in the order in which they lie on the stack.
    pub given: Vec<u32>,
}

/// A statement about the course of a run, with the codes and names that its decision needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TemporalEntry {
    /// The statement.
    pub temporal: Temporal<PatternId, CodeId>,
    /// Its place.
    pub span: Span,
    /// Number of bindings in its assertion, including those of block headers.
    pub bindings: u32,
    /// The names of the bindings, for reasons (`id` for `$id`).
    pub binding_names: Vec<String>,
}

/// An assertion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompiledAssertion {
    /// Its id.
    pub id: String,
    /// Its rule, by number.
    pub rule: Option<u32>,
    /// Its text.
    pub text: String,
    /// Its place.
    pub span: Span,
    /// Its settings.
    pub settings: AssertionSettings<CodeId>,
    /// The compiled check.
    pub check: CompiledCheck,
}

/// A compiled check: [`ir::AssertionCheck`] with numbers for expressions, patterns and statements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum CompiledCheck {
    /// An expression that is true.
    Expression(CodeId),
    /// A temporal statement.
    Temporal(TemporalId),
    /// `not`.
    Not(#[serde(deserialize_with = "averment_base::limits::nested::nested")] Box<CompiledCheck>),
    /// A group.
    Group {
        /// Which.
        kind: GroupKind,
        /// Its statements.
        #[serde(deserialize_with = "averment_base::limits::nested::nested")]
        members: Vec<CompiledMember>,
    },
    /// A statement in each window of a scope.
    Scoped {
        /// The window.
        scope: WindowScope<PatternId>,
        /// How many bindings the assertion has.
        bindings: u32,
        /// The check made in each window.
        #[serde(deserialize_with = "averment_base::limits::nested::nested")]
        body: Box<CompiledCheck>,
    },
    /// A check of the world.
    World(WorldCondition<CodeId>),
    /// A question about all runs together; no single run is judged by it.
    OverRuns(Box<OverRunsCheck<CodeId>>),
}

/// A statement in a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompiledMember {
    /// Its place.
    pub span: Span,
    /// Its weight in the group's score.
    pub weight: f64,
    /// Its conditions.
    pub when: Vec<CodeId>,
    /// The compiled check.
    pub check: CompiledCheck,
}

/// A test of the rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompiledTest {
    /// Its name.
    pub name: String,
    /// The verdict expected.
    pub expect: Verdict,
    /// The rules, by number; empty for all.
    pub rules: Vec<u32>,
    /// The run as JSON text.
    pub run: String,
    /// The file it was read from.
    pub run_file: Option<String>,
    /// Its header.
    pub span: Span,
}
