//! What the compiler says of rules, in every format.

use crate::commands::console::ColorChoice;
use crate::commands::converted::{self, Converted};
use crate::commands::exit::{Exit, Stop};
use crate::commands::outputs::{Drawing, Outputs};
use crate::commands::rules::Rules;
use crate::commands::targets::OutputTarget;
use averment_report::gate::Policy;
use averment_report::table::Table;
use averment_report::{Command, Format, Reader};
use std::io::Write as _;

/// The rules do not compile: machines get their report, people the pictures.
pub fn broken(rules: &Rules, targets: &[OutputTarget], color: ColorChoice) -> Result<Exit, Stop> {
    let machines = targets.iter().filter(|target| target.format.is_data()).cloned();
    let (lists, services) = machines.partition::<Vec<_>, _>(|target| target.format.lists_diagnostics());
    let table = Table::default();
    let mut outputs = Outputs::open(&lists, color, Policy::default(), Drawing::default(), &rules.data())?;
    outputs.begin(&table)?;
    outputs.end(&table, Exit::Rules)?;
    // What services show are results: here, what does not compile.
    if !services.is_empty() {
        Converted::of_diagnostics(&rules.said).report(&services, converted::drawing(Command::Lint), Exit::Rules)?;
    }
    say(rules, targets, color)?;
    Ok(Exit::Rules)
}

/// What the compiler says: in the report where it is for machines, a line each in `short`, else beside the report.
pub fn say(rules: &Rules, targets: &[OutputTarget], color: ColorChoice) -> Result<(), Stop> {
    match targets.first().map(|target| target.format) {
        Some(Format::Short) => std::io::stdout().write_all(rules.lines().as_bytes())?,
        Some(format) if format.reader() == Reader::Programs => {}
        _ => rules.tell(color)?,
    }
    Ok(())
}
