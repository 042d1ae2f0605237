//! Roles whose words a run leaves out: what somebody may have said could decide a statement otherwise, so it is undecided.

use super::explain;
use super::names::NameMatcher;
use super::statements::Polarity;
use super::view::WindowView;
use crate::vm::machine::Machine;
use crate::vm::outcome::CheckFinding;
use averment_base::truth::Verdict;
use averment_checker::ir::{NameTest, PatternAlternative};
use averment_runs::run::StepKind;

/// A finding, unless words that the run leaves out could turn it around.
pub(super) fn doubt_finding(view: &WindowView<'_, '_>, finding: CheckFinding) -> CheckFinding {
    let trusted = match finding.verdict {
        Verdict::Pass => Polarity::Helps,
        Verdict::Fail => Polarity::Hurts,
        _ => return finding,
    };
    let doubtful = |operand: &usize| view.operands.get(*operand).is_some_and(|own| own.polarity != trusted);
    let operands = (0..view.operands.len()).filter(doubtful);
    undecided_by(view, operands, |_| true).unwrap_or(finding)
}

/// Windows that are opened or closed by words which the run leaves out.
pub(super) fn doubt_header(view: &WindowView<'_, '_>) -> Option<CheckFinding> {
    undecided_by(view, 0..view.operands.len(), |test| *test != NameTest::Any)
}

fn undecided_by(
    view: &WindowView<'_, '_>,
    mut operands: impl Iterator<Item = usize>,
    asks: impl Fn(&NameTest) -> bool,
) -> Option<CheckFinding> {
    let (operand, role) = operands.find_map(|operand| {
        let mut asking = view.unique_pattern(operand)?.alternatives.iter().filter(|one| asks(&one.name));
        Some((operand, asking.find_map(|one| unrecorded_role(view.machine, one))?))
    })?;
    Some(CheckFinding::new(Verdict::Undecided, explain::absent_role(view, operand, role)))
}

/// A role that a pattern looks for and that the run leaves out.
pub(in crate::vm) fn unrecorded_role<'run, T>(
    machine: &Machine<'run>,
    alternative: &PatternAlternative<T>,
) -> Option<&'run str> {
    if alternative.kind != StepKind::Message {
        return None;
    }
    let matcher = NameMatcher::from_test(alternative.kind, &alternative.name);
    machine.run.unrecorded_role(|role| matcher.matches_name(role, machine.prepared))
}
