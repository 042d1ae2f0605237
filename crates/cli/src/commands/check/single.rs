//! The rules of a check, for commands that judge single runs before all runs are reported together.

use super::check_inputs::{CheckInputs, load_rules, refuse_overlaps};
use super::options::open_baseline;
use super::{CheckArgs, print_diagnostics};
use crate::commands::console::ColorChoice;
use crate::commands::draft_file::is_device;
use crate::commands::exit::{CommandError, Exit};
use crate::commands::outputs::{DrawOptions, ReportOutputs};
use crate::commands::targets::{self, OutputTarget};
use crate::commands::{inputs, params, rules};
use averment_base::limits::Limits;
use averment_engine::vm::select::RuleSelection;
use averment_report::ReportedCommand;
use std::path::Path;

/// Loads the rules exactly as `aver check` does with these arguments.
pub fn check_rules(arguments: &CheckArgs, color: ColorChoice) -> Result<averment::Rules, CommandError> {
    let limits = Limits::default();
    let given = CheckInputs::new(arguments, color)?;
    let project = given.project.as_ref();
    let values = params::ParamValues::new(&arguments.param_file, &arguments.param)?;
    let mut rules = load_rules(&given, limits, arguments.compat.foreign_options(&values.texts))?;
    if rules.is_broken() {
        print_diagnostics(&rules, &[], color)?;
        return Err(CommandError::AlreadyReported(Exit::Rules));
    }
    if let Some(project) = project {
        params::apply_project(&mut rules.programs, project, given.uses_project_rules)?;
    }
    values.apply_to(&mut rules.programs)?;
    check_writable(&given, &rules, color)?;
    let selection = RuleSelection { rules: arguments.rule.clone(), ..RuleSelection::default() };
    let settings = given.judge_settings(selection, limits)?;
    Ok(averment::Rules::of_programs(rules.programs, rules.diagnostics, settings))
}

/// Fails early if a report or baseline could not be written after judging.
fn check_writable(
    given: &CheckInputs<'_>,
    rules: &rules::CompiledRules,
    color: ColorChoice,
) -> Result<(), CommandError> {
    let (arguments, project) = (given.arguments, given.project.as_ref());
    // Refused requests of the project are reported after judging.
    let writes = project.filter(|_| arguments.reports.report_dir.is_some() || arguments.project.trust_project);
    let folder = arguments.project.report_folder(arguments.reports.report_dir.as_deref(), writes, color);
    let named = given.named_targets(folder)?;
    let targets = targets::add_folder(named, ReportedCommand::Check, folder.with_requested(&rules.reports))?;
    let written: Vec<&Path> = targets::target_files(&targets).collect();
    refuse_overlaps(given, &written, &inputs::NamedTraces { found: Vec::new(), notes: String::new() })?;
    targets::refuse_overwrite(written.iter().copied(), rules.file_names().map(Path::new))?;
    open_baseline(arguments, project)?;
    // Pipes are not opened here, because their reader would take the close for the end of the output.
    let is_file = |target: &OutputTarget| target.file.as_deref().is_some_and(|file| !is_device(file));
    let files: Vec<OutputTarget> = targets.into_iter().filter(is_file).collect();
    ReportOutputs::open_targets(&files, color, given.gate_policy(), DrawOptions::default(), &serde_json::Value::Null)
        .map(drop)
}
