//! `aver compile RULES -o FILE`: writes a compiled program, whole or not at all.

use super::console::ColorChoice;
use super::exit::{Exit, Stop};
use super::{inputs, replace, rules, said};
use averment_base::limits::Limits;
use averment_engine::bytecode::codec;
use std::path::PathBuf;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver compile refunds.assert                 writes refunds.assertc
  aver compile refunds.assert -o build/r.assertc
  aver check refunds.assertc trace.json")]
pub struct Arguments {
    /// A rule file; `-` reads standard input
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// The file to write; beside the rules, with the ending `.assertc`, unless given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Compiles one file.
pub fn run(arguments: &Arguments, color: ColorChoice) -> Result<Exit, Stop> {
    if arguments.rules.is_dir() {
        return Err(Stop::usage(
            format!("`{}` is a folder", arguments.rules.display()),
            "compile one rule file at a time",
        ));
    }
    let output = match (&arguments.output, arguments.rules.as_os_str() == "-") {
        (Some(output), _) => output.clone(),
        (None, false) => arguments.rules.with_extension("assertc"),
        (None, true) => return Err(Stop::usage("rules from standard input have no file name", "add `-o FILE`")),
    };
    if output == arguments.rules {
        return Err(Stop::usage(
            format!("`{}` would overwrite the rules", output.display()),
            "name another file with `-o`",
        ));
    }
    let loaded = rules::load(&inputs::rules(std::slice::from_ref(&arguments.rules))?, Limits::default(), &[])?;
    loaded.tell(color)?;
    for program in &loaded.programs {
        replace::write(&output, &codec::encode(program)).map_err(|error| {
            Stop::usage(format!("`{}` cannot be written: {}", output.display(), said(&error)), String::new())
        })?;
    }
    Ok(Exit::Holds)
}
