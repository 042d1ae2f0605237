//! What is asserted: temporal statements, step patterns, groups, windows, checks of the world.

use super::operand::temporal;
use super::{OverRunsCheck, TypedExpr};
use averment_base::source::Span;
use averment_runs::run::StepKind;
use averment_syntax::ast::{ArgumentMatch, MatchExtent, Quantifier, SequenceMode};
use serde::{Deserialize, Serialize};

/// The content of an assertion. `P` is the type of patterns, `E` of expressions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum AssertionCheck<P, E> {
    Expression(E),
    Temporal(Temporal<P, E>),
    Not(Box<AssertionCheck<P, E>>),
    /// A group. Weights and severities of its members only affect its score.
    Group {
        kind: GroupKind,
        members: Vec<GroupMember<P, E>>,
    },
    Scoped {
        scope: WindowScope<P>,
        /// The check made in each window.
        body: Box<AssertionCheck<P, E>>,
    },
    World(WorldCondition<E>),
    /// A question about all runs together; no single run is judged by it.
    OverRuns(Box<OverRunsCheck<E>>),
}

/// A statement in a group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupMember<P, E> {
    /// Its place.
    pub span: Span,
    /// Its weight in the group's score.
    pub weight: f64,
    /// Its own and inherited conditions.
    pub when: Vec<E>,
    /// The check.
    pub check: AssertionCheck<P, E>,
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
pub enum WindowScope<P> {
    /// From the first `open` (with `until`: each one) to the next `until` or the run's end; ends excluded.
    After {
        open: P,
        until: Option<P>,
    },
    /// Everything before the first `close`.
    Before {
        close: P,
    },
    Between {
        open: P,
        close: P,
    },
    /// Once per matching step; expressions see the step, temporal statements the whole run.
    Each {
        step: P,
    },
    /// The whole run, once for each combination of binding values that these steps bring.
    Values {
        steps: Vec<P>,
    },
}

temporal! {
    /// Every temporal statement (section 6). Bindings are numbered per assertion, see [`super::Binding`].
    Temporal {
        /// `require A` has `times` 1 or more.
        Require { step: P = pattern, times: Option<TimesRange> = plain };
        /// `never A, B`.
        Never { steps: Vec<P> = patterns };
        /// `never B after A [until C]`.
        NeverAfter { steps: Vec<P> = patterns, open: P = pattern, until: Option<P> = optional, within: Option<StepDistance> = within };
        /// `never B before A`.
        NeverBefore { steps: Vec<P> = patterns, close: P = pattern, within: Option<StepDistance> = within };
        /// `never B between A and C`.
        NeverBetween { steps: Vec<P> = patterns, open: P = pattern, close: P = pattern, within: Option<StepDistance> = within };
        /// `only A, B`.
        Only { steps: Vec<P> = patterns };
        /// `count A TEST`: `test` is an expression over [`super::Local::COUNT`].
        Count { step: P = pattern, test: E = comparison };
        /// `first A`.
        First { step: P = pattern };
        /// `last A`.
        Last { step: P = pattern };
        /// `before A -> B, C`.
        Before {
            each: bool = plain,
            immediately: bool = plain,
            starts: bool = plain,
            step: P = pattern,
            targets: Vec<P> = patterns,
            within: Option<StepDistance> = within
        };
        /// `after A -> B, C`.
        After {
            each: bool = plain,
            immediately: bool = plain,
            step: P = pattern,
            targets: Vec<P> = patterns,
            within: Option<StepDistance> = within
        };
        /// `sequence [only|exactly] A -> B`.
        Sequence { mode: SequenceMode = plain, steps: Vec<P> = patterns, within: Option<StepDistance> = within };
        /// `nested A -> B`.
        Nested { open: P = pattern, close: P = pattern };
        /// `together A, B`.
        Together { left: P = pattern, right: P = pattern };
        /// `apart A, B`.
        Apart { left: P = pattern, right: P = pattern };
        /// `if A then B`.
        IfThen { condition: P = pattern, consequence: P = pattern };
        /// `A iff B`.
        Iff { left: P = pattern, right: P = pattern };
        /// `either A or B`.
        Either { steps: Vec<P> = patterns };
        /// `not both A, B`.
        NotBoth { left: P = pattern, right: P = pattern };
        /// `never repeat A more than 3 times`.
        Repeat { step: P = pattern, limit: u32 = plain };
        /// `flow …`.
        Flow { flow: CallFlow<P> = flow };
        /// `each A: cond`: the condition sees the step.
        Each { quantifier: Quantifier = plain, step: P = pattern, condition: E = condition };
        /// `no PREDICATE in EXPR`: `values` gives the value, `predicate` sees each text or value of it in [`super::Local::VALUE`].
        NoneIn { values: E = value, predicate: E = predicate };
        /// `no PREDICATE in A`: the same for every matching step as a value.
        NoneInSteps { step: P = pattern, predicate: E = predicate };
        /// `args valid`: `step` is `None` for all calls.
        ArgsValid { step: Option<P> = optional, strict: bool = plain };
        /// `calls match VALUE`: `expected` gives the expected calls.
        CallsMatch { expected: E = value, matching: CallMatching = setting };
    }
}

/// How `calls match` compares the calls of a run with expected ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallMatching {
    /// Which calls have to have a partner.
    pub extent: MatchExtent,
    /// Whether partners have to come in one order.
    pub in_order: bool,
    /// How arguments are compared.
    pub arguments: ArgumentMatch,
    /// Whether texts are equal that differ in letter case, white space or look-alike characters.
    pub folded: bool,
    /// Keys that are not compared: at any depth, or (with dots) a path into the arguments.
    pub ignored: Vec<String>,
    /// Whether one call may stand for several expected ones, and several calls for one.
    pub repeats_ignored: bool,
    /// The share of matched calls that is enough; all of them without it.
    pub least_score: Option<f64>,
}

/// Number of times; both ends inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimesRange {
    /// At least.
    pub least: u64,
    /// At most; open when `None`.
    pub most: Option<u64>,
}

/// A bound between two steps, start to start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum StepDistance {
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
pub enum CallFlow<P> {
    Step(P),
    Sequence(#[serde(deserialize_with = "averment_base::limits::nested::nested")] Vec<CallFlow<P>>),
    Choice(#[serde(deserialize_with = "averment_base::limits::nested::nested")] Vec<CallFlow<P>>),
    Repeat {
        #[serde(deserialize_with = "averment_base::limits::nested::nested")]
        body: Box<CallFlow<P>>,
        least: u32,
        most: Option<u32>,
    },
}

/// How much of a file a test needs: existence and emptiness are known even if it is too large to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileLook {
    /// Whether the file exists.
    Presence,
    /// Whether the file is empty.
    Size,
    /// The file's text.
    Text,
}

/// A check of the world (section 9).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "fields are named like the parts of the statement")]
pub enum WorldCondition<E> {
    /// `test` sees the file's text in [`super::LocalId::VALUE`]; `path` yields text.
    File {
        path: E,
        test: E,
        look: FileLook,
    },
    /// With `empty`, tests whether the variable is unset or empty; otherwise whether it is set.
    Env {
        name: String,
        empty: bool,
        negated: bool,
    },
    Tool {
        name: String,
        negated: bool,
    },
    /// `url` is a text or a regular expression; `test` sees the status in [`super::LocalId::VALUE`].
    Http {
        url: E,
        test: E,
    },
    /// `arguments` yield one argument each; interpolated values are never split.
    Run {
        arguments: Vec<E>,
        code: i64,
    },
}

/// A step pattern in one form: a choice of alternatives.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedPattern {
    /// As the author wrote it.
    pub text: String,
    /// Its place.
    pub span: Span,
    /// Any of these; at least one.
    pub alternatives: Vec<PatternAlternative<TypedExpr>>,
}

/// One alternative of a pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PatternAlternative<E> {
    /// The kind of step.
    pub kind: StepKind,
    /// The test of the step's name.
    pub name: NameTest,
    /// True to look at calls that were denied or are pending; otherwise only executed ones match.
    pub proposed: bool,
    /// `ok` (`true`) or `failed`.
    pub succeeded: Option<bool>,
    /// The text behind the word of a kind where that is no test of the name, or the tool that a value names: a step that has another
    /// one is not meant. It is a part of the condition, too, or one of the joins where it asks for the binding of another pattern.
    pub text: Option<E>,
    /// Arguments and `where`, joined by `and`, the step in scope; without those that bind or use bindings.
    pub condition: Option<E>,
    /// `path: $x`: the number of the binding and the path, the step in scope. A missing or absent value does not match.
    pub binds: Vec<(u32, E)>,
    /// Tests that use a value bound by another pattern (or block header) of the statement.
    pub joins: Vec<E>,
}

/// A test of a step's name. See [`averment_runs::run::Step::name`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum NameTest {
    /// Any.
    Any,
    /// Exactly this.
    Exactly(String),
    /// Exactly one of these (a message with role `user` or `human`).
    OneOf(Vec<String>),
    /// A glob of `*` and `?` over the whole name.
    Glob(String),
    /// A path glob (`**` spans folders) over the whole path or a suffix that starts at a folder.
    PathGlob(String),
    /// A text that the name contains.
    Contains(String),
    /// A regular expression found in the name, by number.
    Matches(u32),
}
