//! `aver compile RULES -o FILE`: writes a compiled program, whole or not at all.

use super::console::ColorChoice;
use super::exit::{Exit, Stop};
use super::{inputs, replace, rules, said};
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
pub struct Arguments {
    /// A rule file; `-` reads standard input
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// The file to write; beside the rules, with the ending `.assertc`, unless given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    read: rules::ReadFlag,
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
    let found = inputs::rules(std::slice::from_ref(&arguments.rules))?;
    let loaded = rules::load(&found, arguments.read.reading(Limits::default()))?;
    loaded.tell(color)?;
    // The rules themselves, under whatever name, and what they import.
    let read = loaded.files().map(Path::new).chain([arguments.rules.as_path()]);
    if replace::is_one_of(&output, read) {
        let message = format!("`{}` would overwrite the rules", output.display());
        return Err(Stop::usage(message, "name another file with `-o`"));
    }
    for program in &loaded.programs {
        replace::write(&output, &codec::encode(program)).map_err(|error| {
            Stop::usage(format!("`{}` cannot be written: {}", output.display(), said(&error)), String::new())
        })?;
    }
    Ok(Exit::Holds)
}
