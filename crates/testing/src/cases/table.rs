//! A table of cases: a line each, `{"name", "expect", "rules", "tags", "run"}`, or `from` with the path of a trace in place of `run`.

use super::{Reach, Unreadable, name, rules, runs_of, without_run};
use crate::trial::{Input, Place, Trial, Trouble};
use averment_base::files::text_of;
use averment_engine::bytecode::program::Program;
use averment_runs::run::RunSource;
use averment_traces::read::RawRun;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::Path;

/// A line of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: Option<String>,
    expect: String,
    #[serde(default)]
    rules: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
    run: Option<Box<RawValue>>,
    from: Option<String>,
}

/// What a line looks like.
const LINE: &str = "write `{\"name\": \"…\", \"expect\": \"fail\", \"rules\": [\"…\"], \"run\": {…}}` in one line";

/// Reads a table. A line that cannot be read is a test that does not pass.
pub(super) fn read(
    program: &Program,
    path: &Path,
    reach: Reach<'_>,
    trials: &mut Vec<Trial>,
) -> Result<(), Unreadable> {
    let failed = |error| Unreadable { path: path.to_path_buf(), error };
    let text = text_of(path, reach.limits.run_bytes).map_err(failed)?;
    let short = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let place = Place { file: path.to_string_lossy().into_owned(), line: number, column: 1 };
        let name = format!("{short}:{number}");
        match serde_json::from_str::<Line>(line) {
            Ok(case) => trials.push(trial(program, path, case, name, place, reach)),
            Err(error) => {
                let said = error.to_string();
                let reason = format!("it is no case: {}", said.split(" at line ").next().unwrap_or(&said));
                trials.push(without_run(name, place, None, Trouble::new(reason, LINE)));
            }
        }
    }
    Ok(())
}

fn trial(program: &Program, path: &Path, case: Line, name: String, place: Place, reach: Reach<'_>) -> Trial {
    let name = case.name.clone().unwrap_or(name);
    let expect = name::verdict(&case.expect);
    let stated = match expect {
        Some(expect) => rules(program, &case.rules).map(|rules| (expect, rules)),
        None => Err(Trouble::new(
            format!("`{}` is no verdict that a test can state", case.expect),
            "write pass, fail, vacuous, undecided or error",
        )),
    };
    let found = stated.and_then(|(_, rules)| Ok((rules, raw(path, &case, &place, reach)?)));
    match found {
        Ok((rules, raw)) => Trial { name, place, expect, rules, tags: case.tags, input: Input::Recorded(raw) },
        Err(trouble) => Trial { tags: case.tags, ..without_run(name, place, expect, trouble) },
    }
}

/// The run of a line: in the line itself, or the first of a trace.
fn raw(path: &Path, case: &Line, place: &Place, reach: Reach<'_>) -> Result<RawRun, Trouble> {
    match (&case.run, &case.from) {
        (Some(run), None) => {
            let source = RunSource { file: place.file.clone(), line: place.line, column: 1, ..RunSource::default() };
            Ok(RawRun::new(run.get().to_owned(), source))
        }
        (None, Some(from)) if Path::new(from).has_root() => {
            Err(Trouble::new(format!("`{from}` is not a relative path"), "write the path from the folder of the table"))
        }
        (None, Some(from)) => {
            let file = path.parent().unwrap_or(Path::new("")).join(from).to_string_lossy().into_owned();
            match runs_of(&file, reach)?.next() {
                Some(run) => run.map_err(|error| Trouble::unreadable(&error, true)),
                None => Err(Trouble::new(format!("`{from}` holds no run"), "name a trace with a run in it")),
            }
        }
        _ => Err(Trouble::new("it needs either `run` or `from`".to_owned(), "write the run, or the path of a trace")),
    }
}
