//! The one place that decides what missing values, absent evidence, `not`, `and`, `or`, groups and verdicts do to each other.
//!
//! Nobody else matches on pairs of truths or verdicts.
//!
//! A test of a value is true or false. Beside that it remembers whether it was *decided by something missing*: a path that leads
//! nowhere makes a positive test false and a negated one true (language reference, section 4). Such a truth is what Kleene's logic
//! would call unknown, with the plain answer beside it; the pair makes the tables below.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use serde::{Deserialize, Serialize};

/// The outcome of a test or of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Truth {
    /// True by recorded data.
    True,
    /// False by recorded data.
    False,
    /// True only because something was missing.
    TrueByMissing,
    /// False only because something was missing.
    FalseByMissing,
    /// The run does not record what is needed to decide.
    Undecided,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kleene {
    False,
    Unknown,
    True,
}

impl Truth {
    /// From a plain answer.
    #[must_use]
    pub fn from_bool(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }

    /// A positive test on something missing is false; its negation is true.
    #[must_use]
    pub fn from_missing(negated: bool) -> Self {
        if negated { Self::TrueByMissing } else { Self::FalseByMissing }
    }

    /// The answer used plainly, as in the condition of a step; `None` when undecided.
    #[must_use]
    pub fn plain_answer(self) -> Option<bool> {
        match self {
            Self::True | Self::TrueByMissing => Some(true),
            Self::False | Self::FalseByMissing => Some(false),
            Self::Undecided => None,
        }
    }

    /// True when only something missing decided it.
    #[must_use]
    pub fn by_missing(self) -> bool {
        matches!(self, Self::TrueByMissing | Self::FalseByMissing)
    }

    fn kleene_pair(self) -> (Kleene, Kleene) {
        let answer = match self.plain_answer() {
            Some(true) => Kleene::True,
            Some(false) => Kleene::False,
            None => Kleene::Unknown,
        };
        (answer, if self.by_missing() { Kleene::Unknown } else { answer })
    }

    fn from_pair(answer: Kleene, sure: Kleene) -> Self {
        match (answer, sure) {
            (Kleene::True, Kleene::True) => Self::True,
            (Kleene::False, Kleene::False) => Self::False,
            (Kleene::True, _) => Self::TrueByMissing,
            (Kleene::False, _) => Self::FalseByMissing,
            (Kleene::Unknown, _) => Self::Undecided,
        }
    }

    /// Conjunction: the less true one, both for the plain answer and for the one without missing values.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let ((a, b), (c, d)) = (self.kleene_pair(), other.kleene_pair());
        Self::from_pair(a.min(c), b.min(d))
    }

    /// Disjunction: the truer one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let ((a, b), (c, d)) = (self.kleene_pair(), other.kleene_pair());
        Self::from_pair(a.max(c), b.max(d))
    }

    /// The premise of `a implies b` where that is the assertion, to be joined with `b` by `or`: what does not hold of `a` says nothing of
    /// `b`, so that the whole holds only because nothing was there to judge.
    #[must_use]
    pub fn as_premise(self) -> Self {
        if self.plain_answer() == Some(false) { Self::TrueByMissing } else { !self }
    }

    /// `if self then a else b` for truths: `self and a or not self and b`, or both branches where they agree whatever `self` is.
    #[must_use]
    pub fn choose_branch(self, then: Self, otherwise: Self) -> Self {
        self.and(then).or((!self).and(otherwise)).or(then.and(otherwise))
    }

    /// Marks the truth as decided by something missing if `cause` was; undecided stays.
    #[must_use]
    pub fn marked_by(self, cause: Self) -> Self {
        match self.plain_answer() {
            Some(answer) if cause.by_missing() => Self::from_missing(answer),
            _ => self,
        }
    }

    /// The verdict of an assertion with this truth.
    #[must_use]
    pub fn verdict(self) -> Verdict {
        match self {
            Self::True => Verdict::Pass,
            Self::False | Self::FalseByMissing => Verdict::Fail,
            Self::TrueByMissing => Verdict::Vacuous,
            Self::Undecided => Verdict::Undecided,
        }
    }
}

impl std::ops::Not for Truth {
    type Output = Self;

    /// Keeps the mark of a truth decided by something missing.
    fn not(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::TrueByMissing => Self::FalseByMissing,
            Self::FalseByMissing => Self::TrueByMissing,
            Self::Undecided => Self::Undecided,
        }
    }
}

/// The five verdicts (language reference, section 7), and `skipped` for an assertion whose `when` is false.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It holds.
    Pass,
    /// It does not hold.
    Fail,
    /// It holds, but nothing exercised it.
    Vacuous,
    /// The run does not record what is needed to decide it.
    Undecided,
    /// A limit was hit, or a permission is missing.
    Error,
    /// Its `when` is false.
    Skipped,
}

impl Verdict {
    /// All verdicts, in the order of reports.
    pub const ALL: [Verdict; 6] = [Self::Pass, Self::Fail, Self::Vacuous, Self::Undecided, Self::Error, Self::Skipped];

    /// The word of the language.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Vacuous => "vacuous",
            Self::Undecided => "undecided",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }

    /// The verdict of a word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == text)
    }

    /// The verdict behind `not`: pass and fail change places, all others stay.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::Pass => Self::Fail,
            Self::Fail => Self::Pass,
            other => other,
        }
    }

    fn as_kleene(self) -> Option<Kleene> {
        match self {
            Self::Pass => Some(Kleene::True),
            Self::Fail => Some(Kleene::False),
            Self::Undecided => Some(Kleene::Unknown),
            Self::Vacuous | Self::Skipped | Self::Error => None,
        }
    }

    /// The verdict of `all of`: see [`VerdictCounts`].
    #[must_use]
    pub fn all_of(members: impl IntoIterator<Item = Verdict>) -> Verdict {
        let counts: VerdictCounts = members.into_iter().collect();
        counts.at_least(counts.counted_members())
    }

    /// The verdict of `any of`.
    #[must_use]
    pub fn any_of(members: impl IntoIterator<Item = Verdict>) -> Verdict {
        members.into_iter().collect::<VerdictCounts>().at_least(1)
    }

    /// The verdict of `none of`: no member passes.
    #[must_use]
    pub fn none_of(members: impl IntoIterator<Item = Verdict>) -> Verdict {
        Self::all_of(members.into_iter().map(Verdict::negated))
    }
}

/// Number of group members per verdict. Vacuous and skipped members are not counted (section 7).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerdictCounts {
    passed: usize,
    failed: usize,
    undecided: usize,
    errors: usize,
    vacuous: usize,
}

impl FromIterator<Verdict> for VerdictCounts {
    fn from_iter<I: IntoIterator<Item = Verdict>>(members: I) -> Self {
        let mut counts = Self::default();
        for member in members {
            let count = match (member, member.as_kleene()) {
                (Verdict::Error, _) => &mut counts.errors,
                (_, Some(Kleene::True)) => &mut counts.passed,
                (_, Some(Kleene::False)) => &mut counts.failed,
                (_, Some(Kleene::Unknown)) => &mut counts.undecided,
                (Verdict::Vacuous, _) => &mut counts.vacuous,
                _ => continue,
            };
            *count = count.saturating_add(1);
        }
        counts
    }
}

impl VerdictCounts {
    /// How many members count: neither vacuous nor skipped.
    #[must_use]
    pub fn counted_members(self) -> usize {
        self.passed.saturating_add(self.failed).saturating_add(self.undecided).saturating_add(self.errors)
    }

    /// The verdict of `at least n of`: an error dominates; with nothing counted, vacuous (skipped when nothing was vacuous either);
    /// then by bounds: enough passed, or not enough could still pass.
    #[must_use]
    pub fn at_least(self, least: usize) -> Verdict {
        if self.errors > 0 {
            Verdict::Error
        } else if self.counted_members() == 0 {
            if self.vacuous > 0 { Verdict::Vacuous } else { Verdict::Skipped }
        } else if self.passed >= least {
            Verdict::Pass
        } else if self.passed.saturating_add(self.undecided) < least {
            Verdict::Fail
        } else {
            Verdict::Undecided
        }
    }
}

impl VerdictCounts {
    /// The same of a run that may go on: where too few members count for it ever to pass, and none of them has passed or failed, a longer
    /// run may leave these out, too. Nothing was judged yet.
    #[must_use]
    pub fn at_least_so_far(self, least: usize) -> Verdict {
        let idle = self.passed == 0 && self.failed == 0 && self.undecided < least;
        match self.at_least(least) {
            Verdict::Fail if idle => Verdict::Vacuous,
            verdict => verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Truth; 5] = [Truth::True, Truth::False, Truth::TrueByMissing, Truth::FalseByMissing, Truth::Undecided];

    #[test]
    fn the_operators_obey_de_morgan_and_commute() {
        for a in ALL {
            assert_eq!(!!a, a);
            for b in ALL {
                assert_eq!(a.and(b), b.and(a));
                assert_eq!(!a.and(b), (!a).or(!b));
                assert_eq!((!a).or(b), !a.and(!b));
            }
        }
    }

    #[test]
    fn a_conjunction_that_needs_something_missing_is_vacuous() {
        assert_eq!(Truth::True.and(Truth::TrueByMissing).verdict(), Verdict::Vacuous);
        assert_eq!(Truth::True.or(Truth::TrueByMissing).verdict(), Verdict::Pass);
        assert_eq!(Truth::Undecided.and(Truth::FalseByMissing).verdict(), Verdict::Fail);
        assert_eq!(Truth::Undecided.or(Truth::TrueByMissing).verdict(), Verdict::Vacuous);
    }

    #[test]
    fn groups_leave_vacuous_members_out_and_let_errors_dominate() {
        use Verdict::{Error, Fail, Pass, Skipped, Undecided, Vacuous};
        assert_eq!(Verdict::all_of([Pass, Vacuous]), Pass);
        assert_eq!(Verdict::all_of([Vacuous, Skipped]), Vacuous);
        assert_eq!(Verdict::all_of([Fail, Undecided]), Fail);
        assert_eq!(Verdict::all_of([Fail, Error]), Error);
        assert_eq!(Verdict::any_of([Undecided, Pass]), Pass);
        assert_eq!(Verdict::any_of([Undecided, Fail]), Undecided);
        assert_eq!(Verdict::none_of([Fail, Vacuous]), Pass);
        assert_eq!([Pass, Undecided, Fail].into_iter().collect::<VerdictCounts>().at_least(2), Undecided);
        assert_eq!([Pass, Fail, Fail].into_iter().collect::<VerdictCounts>().at_least(2), Fail);
    }
}
