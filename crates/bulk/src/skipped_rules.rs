//! Rules, and members of groups, that judged no run because their `when` reads something missing.

use crate::near_words::one_line;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::outcome::MemberGate;
use averment_report::table::ReportTable;
use std::collections::BTreeSet;

/// Rules that no run reached because their `when` reads something missing: a line per condition.
pub(crate) fn skipped_rules(
    table: &ReportTable,
    skipped: &BTreeSet<(usize, u32)>,
    judged: impl Fn(usize) -> bool,
    programs: &[Program],
) -> Vec<String> {
    let mut told = BTreeSet::new();
    let mut lines = Vec::new();
    for (program, assertion) in skipped {
        let Some(item) = table.item_index(*program, *assertion).filter(|item| !judged(*item)) else { continue };
        let Some(item) = table.items.get(item) else { continue };
        let owner = item.rule.map_or(item.id.clone(), |rule| format!("rule {rule}"));
        if !told.insert((*program, owner)) {
            continue;
        }
        let when =
            programs.get(*program).and_then(|program| Some((program, program.assertions.get(*assertion as usize)?)));
        let text = when.and_then(|(program, assertion)| {
            let code = assertion.settings.when.first()?;
            program.source_text(program.chunks.get(code.0 as usize)?.span)
        });
        let name = table.rule_of(item).map_or(item.display_name(), |rule| &rule.id);
        let when = text.map_or_else(|| "its `when`".to_owned(), |text| format!("its `when {}`", one_line(text)));
        let place = &item.location;
        lines.push(format!(
            "warning: {place}: `{}` judged no run: {when} needs something that is missing\n",
            one_line(name)
        ));
    }
    lines
}

/// Group members that were skipped in every run because something is missing.
pub(crate) fn skipped_members(
    table: &ReportTable,
    gates: &BTreeSet<(usize, u32, MemberGate)>,
    programs: &[Program],
) -> Vec<String> {
    let skipped = gates.iter().filter(|(program, assertion, gate)| {
        !gate.judged && !gates.contains(&(*program, *assertion, MemberGate { judged: true, ..*gate }))
    });
    let said = skipped.filter_map(|(number, _, gate)| {
        let program = programs.get(*number)?;
        let (text, when) = (program.source_text(gate.member)?, program.source_text(gate.when)?);
        let place = table.span_location(table.source_span(*number, gate.member));
        Some(format!(
            "warning: {place}: `{}` judged no run: its `when {}` needs something that is missing\n",
            one_line(text),
            one_line(when)
        ))
    });
    said.collect()
}
