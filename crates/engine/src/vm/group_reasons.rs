//! Why a group stands as it does: the reasons and the violations of the members that made it so.

use super::machine::Machine;
use super::outcome::{Evidence, Finding, Violations};
use crate::bytecode::program::Member;
use crate::ir::GroupKind;
use averment_base::truth::Verdict;

/// The violations of the members that made the group fail; a member without a list is one by itself.
pub(super) fn violations(
    machine: &Machine<'_>,
    kind: GroupKind,
    members: &[Member],
    findings: Vec<Finding>,
    verdict: Verdict,
    most: usize,
) -> Violations {
    let mut all = Violations::default();
    if verdict != Verdict::Fail || most == 0 {
        return all;
    }
    let decisive = members.iter().zip(findings).filter(|(_, found)| decides(kind, verdict, found.verdict));
    for (member, found) in decisive {
        let text = machine.rule_text(member.span);
        let mut violations =
            if found.violations.listed.is_empty() { Violations::one_of(&found) } else { found.violations };
        for one in violations.listed.iter_mut().filter(|_| members.len() > 1) {
            one.reason = match one.reason.as_str() {
                "" => format!("`{text}` holds"),
                reason => format!("`{text}`: {reason}"),
            };
        }
        all.add(violations, most);
    }
    all
}

/// The reasons of the members that made the group what it is.
pub(super) fn explain(
    machine: &Machine<'_>,
    kind: GroupKind,
    members: &[Member],
    findings: &[Finding],
    finding: &mut Finding,
) {
    let decisive = |found: Verdict| decides(kind, finding.verdict, found);
    let mut clauses = Vec::new();
    let mut evidence: Vec<Evidence> = Vec::new();
    for (member, found) in members.iter().zip(findings).filter(|(_, found)| decisive(found.verdict)) {
        let text = machine.rule_text(member.span);
        clauses.push(match found.reason.as_str() {
            reason if members.len() == 1 => reason.to_owned(),
            "" => format!("`{text}` holds"),
            // What is said of it proves that it holds, and it should not.
            reason if kind == GroupKind::None && finding.verdict == Verdict::Fail => {
                format!("`{text}` holds: {reason}")
            }
            reason => format!("`{text}`: {reason}"),
        });
        evidence.extend(found.evidence.iter().cloned());
    }
    if matches!(kind, GroupKind::Any | GroupKind::AtLeast(_))
        && matches!(finding.verdict, Verdict::Fail | Verdict::Undecided)
    {
        let vacuous = members.iter().zip(findings).filter(|(_, found)| found.verdict == Verdict::Vacuous);
        clauses.extend(vacuous.map(|(member, found)| {
            format!("`{}` is vacuous and left out: {}", machine.rule_text(member.span), found.reason)
        }));
    }
    if let (GroupKind::AtLeast(least), Verdict::Vacuous, true) = (kind, finding.verdict, clauses.is_empty()) {
        clauses.push(format!("fewer than {least} of {} can count, and none of them has been decided", members.len()));
    }
    finding.reason = clauses.join("; ");
    if let (GroupKind::AtLeast(least), Verdict::Fail) = (kind, finding.verdict) {
        let hold = findings.iter().filter(|found| found.verdict == Verdict::Pass).count();
        let verb = if hold == 1 { "holds" } else { "hold" };
        finding.reason = format!("{hold} of {} {verb}, wanted at least {least}: {}", members.len(), finding.reason);
    }
    finding.evidence = evidence;
}

/// Whether a member of this verdict made its group what it is.
fn decides(kind: GroupKind, group: Verdict, member: Verdict) -> bool {
    match (kind, group) {
        (_, Verdict::Error | Verdict::Undecided | Verdict::Vacuous | Verdict::Skipped) => member == group,
        (GroupKind::None, Verdict::Pass) => member == Verdict::Fail,
        (GroupKind::None, _) | (_, Verdict::Pass) => member == Verdict::Pass,
        _ => member == Verdict::Fail,
    }
}
