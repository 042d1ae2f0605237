//! What a longer run may change: conditions that look at the steps of the whole run, in runs that are not complete and in those that died.

use crate::model::{
    Comparison, Condition, Fold, Operand, Pattern, Right, Segment, Selected, Selection, Simple, Statement, Test,
};
use crate::run::{KINDS, Run};
use crate::truth::Verdict;

/// How the answer to a condition changes while the run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// It asks nothing of the whole run.
    Fixed,
    /// It asks for the first of the run's steps: settled once that is there.
    Early,
    TrueStays,
    FalseStays,
    Changing,
}

/// How a value does.
#[derive(Clone, Copy, PartialEq)]
enum Worth {
    Fixed,
    Early,
    Larger,
    Changing,
}

impl Growth {
    fn keeps(self, answer: bool) -> bool {
        match self {
            Growth::Fixed | Growth::Early => true,
            Growth::TrueStays => answer,
            Growth::FalseStays => !answer,
            Growth::Changing => false,
        }
    }

    fn negated(self) -> Growth {
        match self {
            Growth::TrueStays => Growth::FalseStays,
            Growth::FalseStays => Growth::TrueStays,
            other => other,
        }
    }

    fn joined(self, other: Growth) -> Growth {
        match (self, other) {
            (Growth::Fixed, one) | (one, Growth::Fixed) => one,
            (a, b) if a == b => a,
            _ => Growth::Changing,
        }
    }
}

/// The verdict of an expression on a run that may go on, or that died before its first step.
pub fn of_expression(condition: &Condition, on_step: bool, verdict: Verdict, run: &Run) -> Verdict {
    let growth = growth(condition, on_step);
    match verdict {
        Verdict::Pass if !run.complete && !growth.keeps(true) => Verdict::Undecided,
        Verdict::Fail if !run.complete && !growth.keeps(false) => Verdict::FailSoFar,
        Verdict::Pass if run.complete && run.died() && growth != Growth::Fixed => Verdict::Vacuous,
        Verdict::Fail if run.complete && run.died() && growth != Growth::Fixed => Verdict::FailByMissing,
        verdict => verdict,
    }
}

/// Whether a statement asks of some step something that a longer run may change.
pub fn looks_at_course(statement: &Statement) -> bool {
    let asks = matches!(statement, Statement::Quantified(_, _, condition) if growth(condition, true) != Growth::Fixed);
    asks || statement.patterns().into_iter().any(is_course_pattern)
}

pub fn is_course_pattern(pattern: &Pattern) -> bool {
    let asks = |simple: &Simple| simple.condition.as_ref().is_some_and(|one| growth(one, true) != Growth::Fixed);
    pattern.alternatives.iter().any(asks)
}

fn growth(condition: &Condition, on_step: bool) -> Growth {
    let of = |inner: &Condition| growth(inner, on_step);
    match condition {
        Condition::Test(path, test) => of_test(grows(&path.0, on_step), test),
        Condition::Bare(path) => {
            if grows(&path.0, on_step) {
                Growth::Changing
            } else {
                Growth::Fixed
            }
        }
        Condition::Selected(selected) => of_selected(selected),
        Condition::Not(inner) => of(inner).negated(),
        Condition::And(a, b) | Condition::Or(a, b) => of(a).joined(of(b)),
        Condition::Implies(a, b) => of(a).negated().joined(of(b)),
    }
}

/// Whether a path leads to the steps of the run, or to what is summed up over them.
fn grows(path: &[Segment], on_step: bool) -> bool {
    let names: Vec<&str> =
        path.iter().map(|segment| if let Segment::Key(key) = segment { key.as_str() } else { "" }).collect();
    let (name, own) = match names.as_slice() {
        ["run", name, ..] => (*name, false),
        // Where a step has none of its own, these are those of the run.
        [name @ ("cost" | "usage"), ..] => (*name, false),
        [name, ..] => (*name, on_step),
        [] => return false,
    };
    let sums = ["turns", "cost", "usage", "duration"].contains(&name) && !own;
    sums || name == "steps" || KINDS.iter().any(|kind| kind.list() == name)
}

fn of_test(grows: bool, test: &Test) -> Growth {
    match test {
        _ if !grows => Growth::Fixed,
        Test::Compare(comparison, Operand::Literal(_) | Operand::Path(_)) => {
            of_comparison(*comparison, Worth::Larger, Worth::Fixed)
        }
        _ => Growth::Changing,
    }
}

fn of_comparison(comparison: Comparison, left: Worth, right: Worth) -> Growth {
    use Comparison as C;
    match (comparison, left, right) {
        (_, Worth::Fixed, Worth::Fixed) => Growth::Fixed,
        (_, Worth::Fixed | Worth::Early, Worth::Fixed | Worth::Early) => Growth::Early,
        (C::Gt | C::Ge, Worth::Larger, Worth::Fixed) | (C::Lt | C::Le, Worth::Fixed, Worth::Larger) => {
            Growth::TrueStays
        }
        (C::Lt | C::Le, Worth::Larger, Worth::Fixed) | (C::Gt | C::Ge, Worth::Fixed, Worth::Larger) => {
            Growth::FalseStays
        }
        _ => Growth::Changing,
    }
}

fn of_selected(selected: &Selected) -> Growth {
    let right = match &selected.right {
        Right::Number(_) => Worth::Fixed,
        Right::Selection(selection) => of_selection(selection),
    };
    of_comparison(selected.comparison, of_selection(&selected.left), right)
}

fn of_selection(selection: &Selection) -> Worth {
    match &selection.value {
        _ if is_course_pattern(&selection.pattern) => Worth::Changing,
        _ if selection.so_far.is_some() || selection.over.is_some() => Worth::Fixed,
        None | Some((Fold::Length, _)) => Worth::Larger,
        Some((Fold::First, _)) => Worth::Early,
        Some(_) => Worth::Changing,
    }
}
