//! Why a group stands as it does: the reasons and the violations of the members that made it so.

use super::machine::Machine;
use super::outcome::{CheckFinding, VerdictEvidence, ViolationList};
use crate::bytecode::program::CompiledMember;
use averment_base::truth::Verdict;
use averment_checker::ir::GroupKind;

/// Violations of the members that failed the group; a member without a list counts as one.
pub(super) fn group_violations(
    machine: &Machine<'_>,
    kind: GroupKind,
    members: &[CompiledMember],
    findings: Vec<CheckFinding>,
    verdict: Verdict,
    most: usize,
) -> ViolationList {
    let mut all = ViolationList::default();
    if verdict != Verdict::Fail || most == 0 {
        return all;
    }
    let decisive = members.iter().zip(findings).filter(|(_, found)| decides_group(kind, verdict, found.verdict));
    for (member, found) in decisive {
        let text = machine.rule_text(member.span);
        let mut violations =
            if found.violations.listed.is_empty() { ViolationList::one_of(&found) } else { found.violations };
        for one in violations.listed.iter_mut().filter(|_| members.len() > 1) {
            one.reason = match one.reason.as_str() {
                "" => format!("`{text}` holds"),
                reason => format!("`{text}`: {reason}"),
            };
        }
        all.append_limited(violations, most);
    }
    all
}

pub(super) fn explain_group(
    machine: &Machine<'_>,
    kind: GroupKind,
    members: &[CompiledMember],
    findings: &[CheckFinding],
    finding: &mut CheckFinding,
) {
    let decisive = |found: Verdict| decides_group(kind, finding.verdict, found);
    let mut clauses = Vec::new();
    let mut evidence: Vec<VerdictEvidence> = Vec::new();
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

fn decides_group(kind: GroupKind, group: Verdict, member: Verdict) -> bool {
    match (kind, group) {
        (_, Verdict::Error | Verdict::Undecided | Verdict::Vacuous | Verdict::Skipped) => member == group,
        (GroupKind::None, Verdict::Pass) => member == Verdict::Fail,
        (GroupKind::None, _) | (_, Verdict::Pass) => member == Verdict::Pass,
        _ => member == Verdict::Fail,
    }
}
