//! How a verdict came about: every part of an assertion with what came out of it, the steps that its patterns match, and where its
//! statements stood after each step.
//!
//! It is recorded while the assertion is judged, by the evaluator that judges it; nothing here decides anything.

use crate::vm::outcome::AssertionOutcome;
use averment_base::source::Span;
use averment_base::truth::{Truth, Verdict};
use averment_checker::ir::GroupKind;

/// The derivation of an assertion's verdict.
#[derive(Debug, Clone)]
pub struct Derivation {
    /// The verdict with its reason and evidence.
    pub outcome: AssertionOutcome,
    /// The parts of the assertion, outermost first.
    pub parts: Vec<DerivationPart>,
    /// True when there were too many parts to record all.
    pub cut: bool,
}

/// A part of an assertion.
#[derive(Debug, Clone, Default)]
pub struct DerivationPart {
    /// Its kind.
    pub kind: PartKind,
    /// Its place in the rules; `None` for one that is not written as such (a window).
    pub span: Option<Span>,
    /// Its result.
    pub found: PartResult,
    /// More, in words: why, or which window.
    pub note: String,
    /// The values that a block gives to its bindings in this window, by name without `$`.
    pub bindings: Vec<(String, ShownValue)>,
    /// The step of a window that is one, as an index into the run's steps.
    pub step: Option<u32>,
    /// For a temporal statement, or the header of a block: its patterns and its states.
    pub temporal: Option<Box<TemporalTrace>>,
    /// Its own parts, in order.
    pub parts: Vec<DerivationPart>,
    /// Parts that were left out because they are many and alike.
    pub more: usize,
}

/// The kind of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PartKind {
    /// A `when`.
    When,
    /// `not` before a statement.
    Not,
    /// A group.
    Group(GroupKind),
    /// A statement of a group.
    Member,
    /// A block with its windows.
    Block,
    /// One window of a block, or one step of `each A { … }`.
    Window,
    /// A temporal statement.
    Temporal,
    /// A check of the world.
    World,
    /// An expression that is an assertion or a condition.
    #[default]
    Expression,
    /// A literal, whose value is its text.
    Literal,
    /// A path or a name, and what it leads to.
    Value,
    /// Something computed: arithmetic, a function, a text, a list.
    Computed,
    /// A test.
    Test,
    /// `and`, `or`, `not`, `implies`, `if`.
    Logic,
    /// `any`, `all`, `no`, `count`.
    Quantifier,
    /// One element of a quantifier.
    Element,
    /// A `let` or `def` that is used, with its own expression below.
    Definition,
    /// A part that was not evaluated.
    Unseen,
}

/// The result of a part.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum PartResult {
    /// No result of its own.
    #[default]
    Nothing,
    /// A verdict.
    Verdict(Verdict),
    /// A value.
    Value(ShownValue),
}

/// A value, ready to be shown but for what reports hide.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShownValue {
    /// In the notation of the language, shortened.
    pub text: String,
    /// Its truth, where it is the outcome of a test or condition.
    pub truth: Option<Truth>,
    /// JSON pointer into the normal form; empty for a computed value.
    pub path: String,
}

/// The patterns of a statement in one window, and where it stood after each step.
#[derive(Debug, Clone, Default)]
pub struct TemporalTrace {
    /// Its patterns, as they are written.
    pub patterns: Vec<PatternTrace>,
    /// The steps that it looked at, as indices into the run's steps: first, and behind the last.
    pub window: (u32, u32),
    /// After each step that changed something.
    pub states: Vec<StateTrace>,
    /// True when not every step was followed: the run is too long.
    pub cut: bool,
}

/// A pattern and the steps of the window.
#[derive(Debug, Clone, Default)]
pub struct PatternTrace {
    /// Its place in the rules.
    pub span: Span,
    /// The steps that match, or may.
    pub hits: Vec<HitTrace>,
    /// Number of further matches.
    pub more_hits: usize,
    /// Steps that have its kind and name and do not match, the first ones.
    pub misses: Vec<MissTrace>,
    /// Number of further near misses.
    pub more_misses: usize,
}

/// A step that matches.
#[derive(Debug, Clone, Default)]
pub struct HitTrace {
    /// The step, as an index into the run's steps.
    pub step: u32,
    /// False when the run does not record what decides it.
    pub sure: bool,
    /// The values bound, by name without `$`.
    pub bindings: Vec<(String, ShownValue)>,
    /// The condition on each matching step (`each A: cond`).
    pub condition: Option<DerivationPart>,
}

/// A step that a pattern nearly matches.
#[derive(Debug, Clone, Default)]
pub struct MissTrace {
    /// The step, as an index into the run's steps.
    pub step: u32,
    /// Why it does not match, in words; empty when `condition` says it.
    pub why: String,
    /// The condition that it does not meet.
    pub condition: Option<DerivationPart>,
}

/// Where a statement stands after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateTrace {
    /// The step, as an index into the run's steps.
    pub step: u32,
    /// Where it stands.
    pub standing: TemporalStanding,
    /// The counts and the steps that the statement still waits for, in words; may be empty.
    pub words: String,
}

/// Where a statement stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemporalStanding {
    /// Nothing has exercised it yet.
    Idle,
    /// It would hold if the run ended here.
    Holds,
    /// It would fail if the run ended here.
    Open,
    /// The run does not record what is needed to tell.
    Unknown,
    /// It holds, whatever follows.
    HeldForGood,
    /// It fails, whatever follows.
    ViolatedForGood,
}

impl TemporalStanding {
    /// In words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "nothing to check yet",
            Self::Holds => "holds so far",
            Self::Open => "open",
            Self::Unknown => "undecided",
            Self::HeldForGood => "held for good",
            Self::ViolatedForGood => "violated for good",
        }
    }
}
