//! `aver import FILE`: a rule file of another system, as rules.

use super::console::{ColorChoice, Stream, say};
use super::exit::{Exit, Stop};
use super::{inputs, params, rules};
use averment::stages::load::Options;
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
  aver import basic-suite.ts > basic.assert      a suite of SkillGym, with skillgym.config.* beside it

`aver check` takes these files as they are, too. Of a program in TypeScript what stands in its text is
written, and the rest listed on stderr and as remarks. Exit codes: 0, 2 wrong usage, 3 the file cannot be used")]
pub struct Arguments {
    /// A rule file of STOP, wallfacer, Assay, Runsight or SkillGym; `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A value for a parameter of the file
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Values for parameters: a file with one JSON object
    #[arg(long, value_name = "FILE")]
    param_file: Vec<PathBuf>,
    #[command(flatten)]
    compat: rules::CompatFlag,
    #[command(flatten)]
    read: rules::ReadFlag,
}

/// Prints the rules that mean the same.
pub fn run(arguments: &Arguments, color: ColorChoice) -> Result<Exit, Stop> {
    let limits = Limits::default();
    let values = params::Values::new(&arguments.param_file, &arguments.param)?;
    let found = inputs::rules(std::slice::from_ref(&arguments.file))?;
    let Some(input) = found.first() else {
        let message = format!("`{}` is a folder", arguments.file.display());
        return Err(Stop::usage(message, "name one file"));
    };
    // What is read of a program is worth having, with a list of the rest.
    let foreign = Options { partly: true, ..arguments.compat.of_rules()?.reading(&values.texts) };
    let reading = arguments.read.reading(limits).foreign(foreign);
    let mut loaded = rules::load_alone(input, reading)?;
    let lowered = loaded.lowered.take();
    let name = input.name();
    let rules = rules::of_one(loaded);
    if rules.broken() {
        say(&rules.drawn(Stream::Err.style(color)));
        return Err(Stop::Said(Exit::Rules));
    }
    let Some(lowered) = lowered else {
        return Err(Stop::usage(format!("`{name}` holds rules of this language"), "`aver check` takes it as it is"));
    };
    values.known(&rules.programs)?;
    say(&rules.drawn(Stream::Err.style(color)));
    // What does not fit on a line is broken; text that the formatter cannot vouch for stays as it was made.
    let options = fmt::Options { limits, ..fmt::Options::default() };
    let text = fmt::format_text(&lowered.written.text, &options).unwrap_or(lowered.written.text);
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Holds)
}
