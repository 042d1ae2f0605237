//! `aver disasm RULES`: prints the bytecode listing of a program.

use super::console::ColorChoice;
use super::exit::{CommandError, Exit};
use super::{inputs, rules};
use averment_base::diagnostic::render::printable;
use averment_base::limits::Limits;
use averment_engine::bytecode::disasm;
use averment_report::redact::redact;
use std::io::Write as _;
use std::path::PathBuf;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver disasm refunds.assert      compiles first
  aver disasm refunds.assertc")]
pub struct DisasmArgs {
    /// A rule file or a compiled one
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    #[command(flatten)]
    read: rules::ReadFlag,
}

/// Prints the bytecode of a rule file.
pub fn run_disasm(arguments: &DisasmArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let found = inputs::rule_inputs(std::slice::from_ref(&arguments.rules))?;
    let loaded = rules::load_rules(&found, arguments.read.read_options(Limits::default()))?;
    loaded.report_errors(color)?;
    let mut out = std::io::stdout();
    for program in &loaded.programs {
        out.write_all(printable(&redact(&disasm::list_program(program))).as_bytes())?;
    }
    Ok(Exit::Holds)
}
