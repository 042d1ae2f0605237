//! What is asserted: temporal statements, step patterns, groups, windows, checks of the world.

use super::operand::temporal;
use super::{TypedExpr, OverRunsCheck};
use averment_base::source::Span;
use averment_runs::run::StepKind;
use averment_syntax::ast::{Quantifier, SequenceMode};
use serde::{Deserialize, Serialize};

/// What an assertion asserts. `P` stands for a pattern, `E` for an expression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields of a variant are named like the parts it has")]
pub enum AssertionCheck<P, E> {
    /// An expression that is true.
    Expression(E),
    /// A temporal statement.
    Temporal(Temporal<P, E>),
    /// `not` before a statement.
    Not(Box<AssertionCheck<P, E>>),
    /// A group; every member with its own settings does not count: weights and severities of members shape the group's score only.
    Group {
        /// Which.
        kind: GroupKind,
        /// The statements.
        members: Vec<GroupMember<P, E>>,
    },
    /// A statement checked in each window of a scope.
    Scoped {
        /// The window.
        scope: WindowScope<P>,
        /// What is checked in it.
        body: Box<AssertionCheck<P, E>>,
    },
    /// A check of the world.
    World(WorldCondition<E>),
    /// What is asked of all runs together: no single run is judged by it.
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
    /// What has to hold.
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
    /// Once for each matching step; expressions see the step, temporal statements see the whole run.
    Each {
        /// The steps.
        step: P,
    },
    /// The whole run, once for all values of the bindings that some step of these brings.
    Values {
        /// The steps.
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
    }
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

/// How much of a file a test needs: the largest file exists and is not empty, whether it can be read or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileLook {
    /// Whether it is there.
    Presence,
    /// Whether there is anything in it.
    Size,
    /// Its text.
    Text,
}

/// A check of the world (section 9).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "fields are named like the parts of the statement")]
pub enum WorldCondition<E> {
    /// `test` sees the file's text in [`super::Local::VALUE`]; `exists` and `is empty` are tests as any other. `path` gives text.
    File {
        path: E,
        test: E,
        look: FileLook,
    },
    /// `empty` asks whether it is not set or set to an empty text, otherwise whether it is set.
    Env {
        name: String,
        empty: bool,
        negated: bool,
    },
    Tool {
        name: String,
        negated: bool,
    },
    /// `url` gives a text or a regular expression; `test` sees the status in [`super::Local::VALUE`].
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
    /// What its name has to be.
    pub name: NameTest,
    /// True to look at calls that were denied or are pending; otherwise only executed ones match.
    pub proposed: bool,
    /// `ok` (`true`) or `failed`.
    pub succeeded: Option<bool>,
    /// The text behind the word of a kind where that is no test of the name: a step that has another one is not meant. It is a part of the
    /// condition, too.
    pub text: Option<E>,
    /// Arguments and `where`, joined by `and`, the step in scope; without those that bind or use bindings.
    pub condition: Option<E>,
    /// `path: $x`: the number of the binding and the path, the step in scope. A missing or absent value does not match.
    pub binds: Vec<(u32, E)>,
    /// Tests that use a value bound by another pattern (or block header) of the statement.
    pub joins: Vec<E>,
}

/// What the name of a step has to be. See [`averment_runs::run::Step::name`].
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
