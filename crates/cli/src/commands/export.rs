//! `aver export SYSTEM FILE`: exports rules as policies of another system.

use super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::exit::{CommandError, Exit};
use super::{inputs, rules};
use averment_base::limits::Limits;
use std::io::Write as _;
use std::path::PathBuf;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver export dogwood rules.assert > policy.dw
  aver export dogwood rules.assert --namespace Shop

Rules that can deny a call before it is made become policies. Every other rule becomes a remark that says
why it cannot be enforced there. Exit codes: 0, 2 wrong usage, 3 the file cannot be used")]
pub struct ExportArgs {
    /// The system
    #[arg(value_enum, value_name = "SYSTEM")]
    system: ExportSystem,
    /// A rule file; `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The namespace of the actions
    #[arg(long, value_name = "NAME", default_value = "App")]
    namespace: String,
    #[command(flatten)]
    read: rules::ReadFlag,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ExportSystem {
    /// Policies of Dogwood (`.dw`)
    Dogwood,
}

/// Prints the policies.
pub fn run_export(arguments: &ExportArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let limits = Limits::default();
    let ExportSystem::Dogwood = arguments.system;
    let is_word = |word: &str| {
        word.starts_with(|sign: char| sign.is_ascii_alphabetic())
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let is_name = |name: &str| name.split("::").all(is_word);
    if !is_name(&arguments.namespace) {
        let message = format!("`{}` is no namespace", arguments.namespace);
        return Err(CommandError::usage(message, "write names joined by `::`: `--namespace Shop`"));
    }
    let found = inputs::rule_inputs(std::slice::from_ref(&arguments.file))?;
    let [input] = found.as_slice() else {
        let message = format!("`{}` is a folder", arguments.file.display());
        return Err(CommandError::usage(message, "name one file"));
    };
    // Rules that do not compile are reported as in every other command.
    let loaded = rules::load_alone(input, arguments.read.read_options(limits))?;
    if loaded.lowered.is_some() {
        let message = format!("`{}` is a file of another system", input.display_name());
        return Err(CommandError::usage(message, "`aver import` makes rules of it"));
    }
    let sources = loaded.sources.clone();
    let rules = rules::from_loaded(loaded);
    eprint_redacted(&rules.drawn_diagnostics(OutputStream::Err.style(color)));
    if rules.is_broken() {
        return Err(CommandError::AlreadyReported(Exit::Rules));
    }
    let Some((root, _)) = sources.iter().next() else { return Ok(Exit::Holds) };
    let (file, _, _) = averment_syntax::parse(&sources, root, &limits);
    let exported = averment::stages::load::export_dogwood(&sources, root, &file, &arguments.namespace);
    std::io::stdout().write_all(exported.text.as_bytes())?;
    Ok(Exit::Holds)
}
