//! `aver compile RULES -o FILE`: writes a compiled program, whole or not at all.

use super::console::ColorChoice;
use super::exit::{CommandError, Exit};
use super::{draft_file, inputs, rules, write_error_text};
use averment_base::limits::Limits;
use averment_engine::bytecode::codec;
use std::path::{Path, PathBuf};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver compile refunds.assert                 writes refunds.assertc
  aver compile refunds.assert -o build/r.assertc
  aver check refunds.assertc trace.json")]
pub struct CompileArgs {
    /// A rule file; `-` reads standard input
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// The file to write; beside the rules, with the ending `.assertc`, unless given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    read: rules::ReadFlag,
}

/// Compiles one rule file.
pub fn run_compile(arguments: &CompileArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    if arguments.rules.is_dir() {
        return Err(CommandError::usage(
            format!("`{}` is a folder", arguments.rules.display()),
            "compile one rule file at a time",
        ));
    }
    let output = match (&arguments.output, arguments.rules.as_os_str() == "-") {
        (Some(output), _) => output.clone(),
        (None, false) => arguments.rules.with_extension("assertc"),
        (None, true) => {
            return Err(CommandError::usage("rules from standard input have no file name", "add `-o FILE`"));
        }
    };
    let found = inputs::rule_inputs(std::slice::from_ref(&arguments.rules))?;
    let loaded = rules::load_rules(&found, arguments.read.read_options(Limits::default()))?;
    loaded.report_errors(color)?;
    // Neither the rule file, under any name, nor its imports may be overwritten.
    let read = loaded.file_names().map(Path::new).chain([arguments.rules.as_path()]);
    if draft_file::is_one_of(&output, read) {
        let message = format!("`{}` would overwrite the rules", output.display());
        return Err(CommandError::usage(message, "name another file with `-o`"));
    }
    if let Some(program) = loaded.programs.first() {
        draft_file::write_file(&output, &codec::encode(program)).map_err(|error| {
            CommandError::usage(
                format!("`{}` cannot be written: {}", output.display(), write_error_text(&output, &error)),
                String::new(),
            )
        })?;
    }
    Ok(Exit::Holds)
}
