//! `aver import FILE`: converts a rule file of another system into rules.

use super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::exit::{CommandError, Exit};
use super::{inputs, params, rules};
use averment::stages::load::ForeignOptions;
use averment_base::limits::Limits;
use averment_syntax::fmt;
use std::io::Write as _;
use std::path::PathBuf;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver import skill.yaml > skill.assert
  aver import pack.yaml --param tool=divide
  aver import mcp-eval.yaml | aver check -r - trace.jsonl
  aver import promptfooconfig.yaml > evals.assert
  aver import basic-suite.ts > basic.assert      a suite of SkillGym, with skillgym.config.* beside it

`aver check` takes these files as they are, too. Of a program in TypeScript what stands in its text is
written, and the rest listed on stderr and as remarks. Exit codes: 0, 2 wrong usage, 3 the file cannot be used")]
pub struct ImportArgs {
    /// A rule file of STOP, wallfacer, Assay, Runsight, SkillGym, promptfoo, agentv, tolokaforge, Dogwood, Google ADK, pydantic-evals or DeepEval; `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Set a parameter of the file
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Set parameters from a file with one JSON object
    #[arg(long, value_name = "FILE")]
    param_file: Vec<PathBuf>,
    #[command(flatten)]
    compat: rules::CompatFlag,
    #[command(flatten)]
    read: rules::ReadFlag,
}

/// Prints the converted rules.
pub fn run_import(arguments: &ImportArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let limits = Limits::default();
    let values = params::ParamValues::new(&arguments.param_file, &arguments.param)?;
    let found = inputs::rule_inputs(std::slice::from_ref(&arguments.file))?;
    let Some(input) = found.first() else {
        let message = format!("`{}` is a folder", arguments.file.display());
        return Err(CommandError::usage(message, "name one file"));
    };
    // The result may be partial. It lists the parts that were not converted.
    let foreign = ForeignOptions {
        partly: true,
        keep_params: true,
        ..arguments.compat.refuse_trace_compat()?.foreign_options(&values.texts)
    };
    let reading = arguments.read.read_options(limits).with_foreign(foreign);
    let mut loaded = rules::load_alone(input, reading)?;
    let lowered = loaded.lowered.take();
    let name = input.display_name();
    let rules = rules::from_loaded(loaded);
    if rules.is_broken() {
        eprint_redacted(&rules.drawn_diagnostics(OutputStream::Err.style(color)));
        return Err(CommandError::AlreadyReported(Exit::Rules));
    }
    let Some(lowered) = lowered else {
        return Err(CommandError::usage(
            format!("`{name}` holds rules of this language"),
            "`aver check` takes it as it is",
        ));
    };
    values.check_declared(&rules.programs)?;
    eprint_redacted(&rules.drawn_diagnostics(OutputStream::Err.style(color)));
    // Long lines are broken. Text that the formatter rejects stays as generated.
    let options = fmt::FormatOptions { limits, ..fmt::FormatOptions::default() };
    let text = fmt::format_text(&lowered.written.text, &options).unwrap_or(lowered.written.text);
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Holds)
}
