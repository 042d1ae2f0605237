//! What an evaluation says: verdicts, scores and the evidence for everything that does not pass.

use averment_base::source::Span;
use averment_base::truth::Verdict;
use serde::Serialize;
use std::collections::BTreeSet;

/// The outcome of one program on one run.
#[derive(Debug, Clone, Default)]
pub struct RunOutcome {
    /// One per selected assertion, in file order.
    pub results: Vec<AssertionOutcome>,
    /// One per rule that has a selected assertion.
    pub rules: Vec<RuleOutcome>,
    /// The weighted mean of the file's assertions and rules; `None` when nothing counted.
    pub score: Option<f64>,
    /// True when nothing of severity `error` failed.
    pub passed: bool,
    /// Scores recorded with `as name`, in file order.
    pub named_scores: Vec<(String, f64)>,
}

/// The outcome of one assertion.
#[derive(Debug, Clone)]
pub struct AssertionOutcome {
    /// The assertion, by number in the program.
    pub assertion: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict as the report sees it, expected failures included.
    pub status: Status,
    /// Between 0 and 1; `None` for what does not count (vacuous, skipped).
    pub score: Option<f64>,
    /// Why, in words and for people; empty for a pass.
    pub reason: String,
    /// The author's `message`, where it has one.
    pub message: Option<String>,
    /// Evidence for the verdict.
    pub evidence: Vec<VerdictEvidence>,
    /// For a failure, each step, pair of steps or element that violates the assertion.
    pub violations: ViolationList,
    /// Steps that a pass says nothing of.
    pub unjudged: Option<Box<UnjudgedRecord>>,
    /// True if it is skipped because its `when` reads something missing.
    pub by_missing: bool,
    /// The members of its groups that have a `when` of their own, where that held or something missing made it false.
    pub gates: BTreeSet<MemberGate>,
    /// A further observation, in words.
    pub remark: Option<Box<str>>,
    /// What an undecided one waits for; `None` for any other verdict.
    pub because: Option<UndecidedCause>,
}

/// Why a verdict is undecided. Where several causes meet, the later one in this list speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndecidedCause {
    /// The run is not complete, and a longer one could still decide it.
    Open,
    /// The run is not complete, and something that has to follow has not followed yet.
    Owed,
    /// The run does not record what is needed.
    Missing,
}

impl UndecidedCause {
    /// The word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Owed => "owed",
            Self::Missing => "missing",
        }
    }
}

/// The outcome of a group member's `when`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberGate {
    /// The member.
    pub member: Span,
    /// The first condition.
    pub when: Span,
    /// True if the member was judged, false if something missing skipped it.
    pub judged: bool,
}

/// Steps that an assertion could not judge although it passes: something that its condition looks at is missing there, or is of a kind that
/// the condition can do nothing with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnjudgedRecord {
    /// Their plural noun: `refunds`, ``calls of `update_reservation` ``.
    pub things: String,
    /// Why, for the first of them: ``no `amount` ``.
    pub why: String,
    /// The steps, by their index in the run, sorted. Elements of a list that are no steps have numbers behind those.
    pub steps: Vec<u32>,
    /// All steps that the patterns in question look at, sorted.
    pub all: Vec<u32>,
}

impl UnjudgedRecord {
    /// Merges several parts of an assertion; each step occurs once.
    pub(super) fn join_parts(parts: impl IntoIterator<Item = Option<Box<Self>>>) -> Option<Box<Self>> {
        parts.into_iter().flatten().reduce(|mut all, other| {
            all.steps = merge_steps(&all.steps, other.steps);
            all.all = merge_steps(&all.all, other.all);
            if all.things != other.things {
                all.things = "steps".to_owned();
            }
            all
        })
    }
}

fn merge_steps(some: &[u32], mut others: Vec<u32>) -> Vec<u32> {
    others.extend_from_slice(some);
    others.sort_unstable();
    others.dedup();
    others
}

/// The outcome of a rule.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleOutcome {
    /// The rule, by number in the program.
    pub rule: u32,
    /// Its verdict: by its threshold, or that of all its assertions of severity `error` (of all, where it has none of those).
    pub verdict: Verdict,
    /// Whether it passed: by its threshold, or because none of its assertions of severity `error` failed.
    pub passed: bool,
    /// Its score; `None` when nothing counted.
    pub score: Option<f64>,
}

/// How a verdict counts if a failure may be expected (language reference, section 11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It failed as `expect fail` requires, which counts as passed.
    ExpectedFailed,
    /// It passed where a failure is expected; reported like a failure.
    UnexpectedPassed,
    /// It holds, but nothing exercised it.
    Vacuous,
    /// The run does not record what it needs.
    Undecided,
    /// It could not be evaluated: a limit, a permission, a fault.
    Error,
    /// Its `when` is false, or it belongs to another case.
    Skipped,
}

impl Status {
    /// Whether something in the run exercised the assertion.
    #[must_use]
    pub fn is_exercised(self) -> bool {
        !matches!(self, Self::Vacuous | Self::Skipped)
    }

    /// All statuses, in their order.
    pub const ALL: [Self; 8] = [
        Self::Passed,
        Self::Failed,
        Self::ExpectedFailed,
        Self::UnexpectedPassed,
        Self::Vacuous,
        Self::Undecided,
        Self::Error,
        Self::Skipped,
    ];

    /// The status of a verdict; `expected` says that a failure is expected.
    #[must_use]
    pub fn of_verdict(verdict: Verdict, expected: bool) -> Self {
        match (verdict, expected) {
            (Verdict::Pass, false) => Self::Passed,
            (Verdict::Pass, true) => Self::UnexpectedPassed,
            (Verdict::Fail, false) => Self::Failed,
            (Verdict::Fail, true) => Self::ExpectedFailed,
            (Verdict::Vacuous, _) => Self::Vacuous,
            (Verdict::Undecided, _) => Self::Undecided,
            (Verdict::Error, _) => Self::Error,
            (Verdict::Skipped, _) => Self::Skipped,
        }
    }

    /// The word in reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::ExpectedFailed => "expected-failed",
            Self::UnexpectedPassed => "unexpected-passed",
            Self::Vacuous => "vacuous",
            Self::Undecided => "undecided",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// What a check found, before modifiers.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckFinding {
    /// The verdict.
    pub verdict: Verdict,
    /// The value of a compared score function; otherwise the verdict decides the score.
    pub score: Option<f64>,
    /// Why; empty for a pass.
    pub reason: String,
    /// Evidence for the verdict.
    pub evidence: Vec<VerdictEvidence>,
    /// For a failure, each step, pair of steps or element that violates the assertion.
    pub violations: ViolationList,
    /// Steps that it says nothing of. Kept of a pass, and of a fail where that is what an assertion wants.
    pub unjudged: Option<Box<UnjudgedRecord>>,
    /// True if it is skipped because its `when` reads something missing.
    pub by_missing: bool,
    /// For a fail that proves nothing, the verdict of its opposite: vacuous, or undecided if it may still be proved.
    pub opposite: Option<Verdict>,
    /// A further observation, in words.
    pub remark: Option<Box<str>>,
    /// What an undecided one waits for; `None` where it is what the run does not record.
    pub because: Option<UndecidedCause>,
}

impl CheckFinding {
    /// A verdict with its reason and no evidence yet.
    #[must_use]
    pub fn new(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self {
            verdict,
            score: None,
            reason: reason.into(),
            evidence: Vec::new(),
            violations: ViolationList::default(),
            unjudged: None,
            by_missing: false,
            opposite: None,
            remark: None,
            because: None,
        }
    }

    /// Undecided, because a longer run could still decide it.
    pub(super) fn open_finding(reason: impl Into<String>) -> Self {
        Self { because: Some(UndecidedCause::Open), ..Self::new(Verdict::Undecided, reason) }
    }

    /// What an undecided finding waits for; `None` for any other verdict.
    pub(super) fn undecided_cause(&self) -> Option<UndecidedCause> {
        (self.verdict == Verdict::Undecided).then(|| self.because.unwrap_or(UndecidedCause::Missing))
    }

    /// Adds evidence.
    #[must_use]
    pub fn with_evidence(mut self, evidence: VerdictEvidence) -> Self {
        self.evidence.push(evidence);
        self
    }
}

/// One thing that fails an assertion: a step, a pair of steps, an element, a value. `docs/reference/course.md` says for each statement which.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssertionViolation {
    /// Why, in words.
    pub reason: String,
    /// Evidence for it, the decisive piece first.
    pub evidence: Vec<VerdictEvidence>,
}

/// The violations of a failure: the first ones, and how many there are.
///
/// A failure that is one violation lists none: its own reason and evidence are that violation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ViolationList {
    /// The total number if there is more than one, otherwise 0.
    pub count: u64,
    /// The first of them, in the order of the run.
    pub listed: Vec<AssertionViolation>,
}

impl ViolationList {
    /// Adds violations of a part of the assertion; keeps at most `most` in all.
    pub(super) fn append_limited(&mut self, other: Self, most: usize) {
        self.count = self.count.saturating_add(other.count);
        self.listed.extend(other.listed.into_iter().take(most.saturating_sub(self.listed.len())));
    }

    pub(super) fn one_of(finding: &CheckFinding) -> Self {
        let violation = AssertionViolation { reason: finding.reason.clone(), evidence: finding.evidence.clone() };
        Self { count: 1, listed: vec![violation] }
    }

    /// Empty if there is only the failure itself.
    pub(super) fn if_several(self) -> Self {
        if self.count > 1 { self } else { Self::default() }
    }
}

/// One thing that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VerdictEvidence {
    /// Its role for the verdict.
    pub role: Role,
    /// A remark for people: `this refund has no earlier approve with id "o-1"`.
    pub label: String,
    /// The step, as an index into `Run::steps`; reports count from 1.
    pub step: Option<u32>,
    /// JSON pointer into the normal form; empty when it is no single value.
    pub path: String,
    /// The value as JSON text, where there is one; shortened and redacted by the reports, not here.
    pub value: Option<String>,
    /// A text or number in which a predicate of `no … in` has found something: reports show it nowhere, whatever else holds it.
    pub found: Option<String>,
    /// The bytes of the run's text.
    pub origin: Option<std::ops::Range<usize>>,
    /// The part of the rule that it belongs to.
    pub rule_span: Option<Span>,
}

/// The role of a piece of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The step or value that decides.
    #[default]
    Decisive,
    /// A value that took part.
    Value,
    /// Where a window opened.
    Opening,
    /// Where a window closed.
    Closing,
    /// The candidate that came nearest to satisfying the assertion.
    NearMiss,
}
