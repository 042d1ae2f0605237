//! Diagnostics of the compiler, in every report format.

use crate::commands::console::{ColorChoice, eprint_redacted};
use crate::commands::exit::{CommandError, Exit};
use crate::commands::outputs::{DrawOptions, ReportOutputs};
use crate::commands::rules::CompiledRules;
use crate::commands::runless_report::{self, RunlessReport};
use crate::commands::targets::OutputTarget;
use averment_report::gate::GatePolicy;
use averment_report::table::ReportTable;
use averment_report::{Format, Reader, ReportedCommand};
use std::io::Write as _;

/// Reports rules that do not compile: reports for programs list the diagnostics, people see them drawn over the source.
pub fn report_broken(
    rules: &CompiledRules,
    targets: &[OutputTarget],
    color: ColorChoice,
) -> Result<Exit, CommandError> {
    let machines = targets.iter().filter(|target| target.format.is_data()).cloned();
    let (lists, services) = machines.partition::<Vec<_>, _>(|target| target.format.lists_diagnostics());
    let table = ReportTable::default();
    let mut outputs = ReportOutputs::open_targets(
        &lists,
        color,
        GatePolicy::default(),
        DrawOptions::default(),
        &rules.diagnostics_data(),
    )?;
    outputs.begin_reports(&table)?;
    outputs.end_reports(&table, Exit::Rules)?;
    // Formats for services, such as GitHub annotations, show results. Here the results are the diagnostics.
    if !services.is_empty() {
        RunlessReport::from_diagnostics(&rules.diagnostics).write_report(
            &services,
            runless_report::command_drawing(ReportedCommand::Lint),
            Exit::Rules,
        )?;
    }
    print_diagnostics(rules, targets, color)?;
    Ok(Exit::Rules)
}

/// Prints diagnostics: in machine-readable reports, as lines in `short`, otherwise beside the report.
pub fn print_diagnostics(
    rules: &CompiledRules,
    targets: &[OutputTarget],
    color: ColorChoice,
) -> Result<(), CommandError> {
    match targets.first().map(|target| target.format) {
        Some(Format::Short) => std::io::stdout().write_all(rules.diagnostics_lines().as_bytes())?,
        Some(format) if format.reader() == Reader::Programs => eprint_redacted(&rules.certain_warnings()),
        _ => {
            eprint_redacted(&rules.certain_warnings());
            rules.report_errors(color)?;
        }
    }
    Ok(())
}
