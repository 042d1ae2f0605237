//! `--discriminate GOOD BAD`: which rules tell two folders of runs apart.

use crate::commands::console::{ColorChoice, Hiding, Stream, say};
use crate::commands::exit::{Exit, Stop};
use crate::commands::inputs::{self, Input};
use crate::commands::left_out::Excluded;
use averment_base::diagnostic::render::one_line;
use averment_base::limits::Limits;
use averment_engine::vm::select::Selection;
use averment_report::Format;
use averment_testing::discriminate::{self, Discrimination};
use averment_testing::subject::Subject;
use std::io::{self, Write};

/// Judges both folders and prints the table.
pub fn run(
    subjects: &[Subject],
    selection: &Selection,
    folders: &[String],
    format: Format,
    color: ColorChoice,
) -> Result<Exit, Stop> {
    let [good, bad] = folders else {
        return Err(Stop::usage("`--discriminate` takes two folders", "write `--discriminate good/ bad/`"));
    };
    let found = discriminate::discriminate(subjects, selection, &traces(good)?, &traces(bad)?, &Limits::default());
    for error in found.good.unreadable.iter().chain(&found.bad.unreadable) {
        say(&format!("error: {}\n", one_line(&error.to_string())));
    }
    let unreadable = !found.good.unreadable.is_empty() || !found.bad.unreadable.is_empty();
    for (reading, name) in [(&found.good, good), (&found.bad, bad)] {
        if reading.runs == 0 && unreadable {
            return Ok(Exit::Trace);
        }
        if reading.runs == 0 {
            return Err(Stop::usage(format!("there is no run in `{name}`"), "name a folder with traces in it"));
        }
    }
    if found.rows.is_empty() {
        return Err(Stop::usage(
            "nothing was checked: the rules hold no assertion",
            "name rules that assert something",
        ));
    }
    print(&found, subjects, format, color)?;
    Ok(if unreadable { Exit::Trace } else { Exit::Holds })
}

fn traces(name: &str) -> Result<Vec<String>, Stop> {
    let inputs = inputs::traces(&[name.to_owned()], &Excluded::default())?;
    let path = |input: &Input| match input {
        Input::File(path) => path.to_string_lossy().into_owned(),
        Input::Stdin => "-".to_owned(),
        Input::Made { name, .. } => name.clone(),
    };
    Ok(inputs.iter().map(path).collect())
}

fn print(found: &Discrimination, subjects: &[Subject], format: Format, color: ColorChoice) -> Result<(), Stop> {
    let mut out = Hiding::new(io::BufWriter::new(io::stdout()));
    match format {
        Format::Human => discriminate::human(&mut out, found, subjects, Stream::Out.style(color))?,
        Format::Short => discriminate::short(&mut out, found, subjects)?,
        Format::Json => writeln!(out, "{}", discriminate::data(found, subjects))?,
        other => {
            let message = format!("`--discriminate` has no format {}", other.as_str());
            return Err(Stop::usage(message, "write human, short or json"));
        }
    }
    out.flush()?;
    Ok(())
}
