//! Truths and verdicts (sections 4 and 7), written out anew: the program's own tables are what is being checked.

use std::fmt;

/// The answer of a test, and the answer that it has without what is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truth {
    /// `None`: the evidence is absent.
    pub plain: Option<bool>,
    /// `None`: undecided without the missing value.
    pub sure: Option<bool>,
}

pub const UNDECIDED: Truth = Truth { plain: None, sure: None };

/// Decided on the evidence.
pub fn sure(answer: bool) -> Truth {
    Truth { plain: Some(answer), sure: Some(answer) }
}

/// Decided by something missing.
pub fn by_missing(answer: bool) -> Truth {
    Truth { plain: Some(answer), sure: None }
}

fn kleene_and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

impl Truth {
    pub fn and(self, other: Truth) -> Truth {
        Truth { plain: kleene_and(self.plain, other.plain), sure: kleene_and(self.sure, other.sure) }
    }

    pub fn or(self, other: Truth) -> Truth {
        self.not().and(other.not()).not()
    }

    pub fn not(self) -> Truth {
        Truth { plain: self.plain.map(|x| !x), sure: self.sure.map(|x| !x) }
    }

    pub fn is_by_missing(self) -> bool {
        self.plain.is_some() && self.sure.is_none()
    }

    pub fn verdict(self) -> Verdict {
        match self.plain {
            None => Verdict::Undecided,
            Some(false) if self.is_by_missing() => Verdict::FailByMissing,
            Some(false) => Verdict::Fail,
            Some(true) if self.is_by_missing() => Verdict::Vacuous,
            Some(true) => Verdict::Pass,
        }
    }
}

/// The verdicts of section 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    Pass,
    Fail,
    Vacuous,
    Undecided,
    Error,
    Skipped,
    /// A fail that something missing decided: told as a fail, and its opposite is vacuous.
    FailByMissing,
    /// A fail for good that something missing may yet come to decide: its opposite is undecided.
    FailSoFar,
}

impl Verdict {
    pub const ALL: [Verdict; 6] =
        [Verdict::Pass, Verdict::Fail, Verdict::Vacuous, Verdict::Undecided, Verdict::Error, Verdict::Skipped];

    pub fn negated(self) -> Verdict {
        match self {
            Verdict::Pass => Verdict::Fail,
            Verdict::Fail => Verdict::Pass,
            Verdict::FailByMissing => Verdict::Vacuous,
            Verdict::FailSoFar => Verdict::Undecided,
            other => other,
        }
    }

    /// As it is told.
    pub fn told(self) -> Verdict {
        if matches!(self, Verdict::FailByMissing | Verdict::FailSoFar) { Verdict::Fail } else { self }
    }

    pub fn parse(word: &str) -> Option<Verdict> {
        Verdict::ALL.into_iter().find(|verdict| verdict.to_string() == word)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Pass => "pass",
            Verdict::Fail | Verdict::FailByMissing | Verdict::FailSoFar => "fail",
            Verdict::Vacuous => "vacuous",
            Verdict::Undecided => "undecided",
            Verdict::Error => "error",
            Verdict::Skipped => "skipped",
        })
    }
}

/// `at least n of`. `None` for `all of`: as many as count. A fail that would not be one if what failed by missing were undecided is by missing.
pub fn at_least(n: Option<usize>, members: &[Verdict]) -> Verdict {
    let as_said = |open: Verdict| {
        let answer = |verdict: &Verdict| if verdict.told() == *verdict { *verdict } else { open };
        members.iter().map(answer).collect::<Vec<_>>()
    };
    match counted_at_least(n, &as_said(Verdict::Fail)) {
        Verdict::Fail if counted_at_least(n, &as_said(Verdict::Undecided)) != Verdict::Fail => {
            if members.contains(&Verdict::FailSoFar) { Verdict::FailSoFar } else { Verdict::FailByMissing }
        }
        verdict => verdict,
    }
}

fn counted_at_least(n: Option<usize>, members: &[Verdict]) -> Verdict {
    let count = |wanted: Verdict| members.iter().filter(|verdict| **verdict == wanted).count();
    let (passed, open) = (count(Verdict::Pass), count(Verdict::Undecided));
    let counted = passed + open + count(Verdict::Fail);
    let least = n.unwrap_or(counted);
    match () {
        () if count(Verdict::Error) > 0 => Verdict::Error,
        () if counted == 0 && count(Verdict::Vacuous) == 0 && !members.is_empty() => Verdict::Skipped,
        () if counted == 0 => Verdict::Vacuous,
        () if passed >= least => Verdict::Pass,
        () if passed + open < least => Verdict::Fail,
        () => Verdict::Undecided,
    }
}

pub fn all_of(members: &[Verdict]) -> Verdict {
    at_least(None, members)
}
