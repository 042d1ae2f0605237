//! `--discriminate GOOD BAD`: shows which rules distinguish two folders of runs.

use crate::commands::console::{ColorChoice, OutputStream, RedactingWriter, eprint_redacted};
use crate::commands::exclude::ExcludePatterns;
use crate::commands::exit::{CommandError, Exit};
use crate::commands::inputs::{self, TraceInput};
use averment_base::diagnostic::render::one_line;
use averment_base::limits::Limits;
use averment_engine::vm::select::RuleSelection;
use averment_report::Format;
use averment_testing::discriminate::{self, Discrimination};
use averment_testing::subject::TestSubject;
use std::io::{self, Write};

/// Judges both folders and prints the table.
pub fn run_discriminate(
    subjects: &[TestSubject],
    selection: &RuleSelection,
    folders: &[String],
    format: Format,
    color: ColorChoice,
) -> Result<Exit, CommandError> {
    let [good, bad] = folders else {
        return Err(CommandError::usage("`--discriminate` takes two folders", "write `--discriminate good/ bad/`"));
    };
    let found = discriminate::discriminate_runs(
        subjects,
        selection,
        &trace_paths(good)?,
        &trace_paths(bad)?,
        &Limits::default(),
    );
    for error in found.good.unreadable.iter().chain(&found.bad.unreadable) {
        eprint_redacted(&format!("error: {}\n", one_line(&error.to_string())));
    }
    let unreadable = !found.good.unreadable.is_empty() || !found.bad.unreadable.is_empty();
    for (reading, name) in [(&found.good, good), (&found.bad, bad)] {
        if reading.runs == 0 && unreadable {
            return Ok(Exit::Trace);
        }
        if reading.runs == 0 {
            return Err(CommandError::usage(format!("there is no run in `{name}`"), "name a folder with traces in it"));
        }
    }
    if found.rows.is_empty() {
        return Err(CommandError::usage(
            "nothing was checked: the rules hold no assertion",
            "name rules that assert something",
        ));
    }
    print_discrimination(&found, subjects, format, color)?;
    Ok(if unreadable { Exit::Trace } else { Exit::Holds })
}

fn trace_paths(name: &str) -> Result<Vec<String>, CommandError> {
    let inputs = inputs::trace_inputs(&[name.to_owned()], &ExcludePatterns::default())?;
    let path = |input: &TraceInput| match input {
        TraceInput::File(path) => path.to_string_lossy().into_owned(),
        TraceInput::Stdin => "-".to_owned(),
        TraceInput::Made { name, .. } => name.clone(),
    };
    Ok(inputs.iter().map(path).collect())
}

fn print_discrimination(
    found: &Discrimination,
    subjects: &[TestSubject],
    format: Format,
    color: ColorChoice,
) -> Result<(), CommandError> {
    let mut out = RedactingWriter::new(io::BufWriter::new(io::stdout()));
    match format {
        Format::Human => discriminate::print_human(&mut out, found, subjects, OutputStream::Out.style(color))?,
        Format::Short => discriminate::print_short(&mut out, found, subjects)?,
        Format::Json => writeln!(out, "{}", discriminate::discrimination_data(found, subjects))?,
        other => {
            let message = format!("`--discriminate` has no format {}", other.as_str());
            return Err(CommandError::usage(message, "write human, short or json"));
        }
    }
    out.flush()?;
    Ok(())
}
