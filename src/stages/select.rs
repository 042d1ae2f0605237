//! Selection of the assertions to check. An unknown name is an error.

use crate::error::Problem;
use averment_base::diagnostic::suggest::suggest_name;
use averment_checker::ir::RuleRole;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::select::RuleSelection;
use std::collections::BTreeSet;

/// True if at least one assertion is selected.
#[must_use]
pub fn selects_any(programs: &[Program], selection: &RuleSelection) -> bool {
    let selects = |program: &Program| program.assertions.iter().any(|one| selection.is_selected(program, one));
    programs.iter().any(selects)
}

/// Checks that every name is known.
///
/// # Errors
/// Returns an error for the first unknown name.
pub fn check_names(programs: &[Program], selection: &RuleSelection) -> Result<(), Problem> {
    let rules = programs.iter().flat_map(|program| {
        let ids = program.assertions.iter().map(|assertion| assertion.id.as_str());
        program.rules.iter().map(|rule| rule.id.as_str()).chain(ids)
    });
    check_known("rule or assertion", &selection.rules, &rules.collect())?;
    let cases =
        programs.iter().flat_map(|program| &program.rules).filter(|rule| matches!(rule.role, RuleRole::Case { .. }));
    check_known("case", &selection.cases, &cases.map(|rule| rule.id.as_str()).collect())?;
    let tags = programs.iter().flat_map(|program| {
        let of_assertions = program.assertions.iter().flat_map(|assertion| &assertion.settings.tags);
        program.rules.iter().flat_map(|rule| &rule.tags).chain(of_assertions)
    });
    check_known("tag", &selection.tags, &tags.map(String::as_str).collect())
}

/// Maximum number of known names to list if there is no similar one.
const LISTED: usize = 12;

fn check_known(what: &str, names: &[String], known: &BTreeSet<&str>) -> Result<(), Problem> {
    let Some(unknown) = names.iter().find(|name| !known.contains(name.as_str())) else { return Ok(()) };
    let listed: Vec<String> = known.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    let more = if known.len() > LISTED { ", …" } else { "" };
    let help = match suggest_name(unknown, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => format!("the rules have no {what}"),
        None => format!("there are {}{more}", listed.join(", ")),
    };
    Err(Problem::new(format!("there is no {what} `{unknown}`"), help))
}
