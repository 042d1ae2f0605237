//! A table of cases, one per line: `{"name", "expect", "rules", "tags", "run"}`, or `from` with the path of a trace in place of `run`.

use super::{ReadReach, UnreadableCases, name, rule_numbers, runs_of, without_run};
use crate::trial::{FilePlace, TestTrial, TrialInput, TrialProblem};
use averment_base::files::text_of;
use averment_engine::bytecode::program::Program;
use averment_runs::run::RunSource;
use averment_traces::read::RawRun;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseLine {
    name: Option<String>,
    expect: String,
    #[serde(default)]
    rules: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
    run: Option<Box<RawValue>>,
    from: Option<String>,
}

const LINE: &str = "write `{\"name\": \"…\", \"expect\": \"fail\", \"rules\": [\"…\"], \"run\": {…}}` in one line";

/// Reads a table; an unreadable line becomes a failing test.
pub(super) fn read_table(
    program: &Program,
    path: &Path,
    reach: ReadReach<'_>,
    trials: &mut Vec<TestTrial>,
) -> Result<(), UnreadableCases> {
    let failed = |error| UnreadableCases { path: path.to_path_buf(), error };
    let text = text_of(path, reach.limits.run_bytes).map_err(failed)?;
    let short = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let place = FilePlace { file: path.to_string_lossy().into_owned(), line: number, column: 1 };
        let name = format!("{short}:{number}");
        match serde_json::from_str::<CaseLine>(line) {
            Ok(case) => trials.push(line_trial(program, path, case, name, place, reach)),
            Err(error) => {
                let said = error.to_string();
                let reason = format!("it is no case: {}", said.split(" at line ").next().unwrap_or(&said));
                trials.push(without_run(name, place, None, TrialProblem::new(reason, LINE)));
            }
        }
    }
    Ok(())
}

fn line_trial(
    program: &Program,
    path: &Path,
    case: CaseLine,
    name: String,
    place: FilePlace,
    reach: ReadReach<'_>,
) -> TestTrial {
    let name = case.name.clone().unwrap_or(name);
    let expect = name::stated_verdict(&case.expect);
    let stated = match expect {
        Some(expect) => rule_numbers(program, &case.rules).map(|rules| (expect, rules)),
        None => Err(TrialProblem::new(
            format!("`{}` is no verdict that a test can state", case.expect),
            "write pass, fail, vacuous, undecided or error",
        )),
    };
    let found = stated.and_then(|(_, rules)| Ok((rules, line_run(path, &case, &place, reach)?)));
    match found {
        Ok((rules, raw)) => TestTrial { name, place, expect, rules, tags: case.tags, input: TrialInput::Recorded(raw) },
        Err(trouble) => TestTrial { tags: case.tags, ..without_run(name, place, expect, trouble) },
    }
}

/// Returns the run in the line itself, or the first run of a trace.
fn line_run(path: &Path, case: &CaseLine, place: &FilePlace, reach: ReadReach<'_>) -> Result<RawRun, TrialProblem> {
    match (&case.run, &case.from) {
        (Some(run), None) => {
            let source = RunSource { file: place.file.clone(), line: place.line, column: 1, ..RunSource::default() };
            Ok(RawRun::new(run.get().to_owned(), source))
        }
        (None, Some(from)) if Path::new(from).has_root() => Err(TrialProblem::new(
            format!("`{from}` is not a relative path"),
            "write the path from the folder of the table",
        )),
        (None, Some(from)) => {
            let file = path.parent().unwrap_or(Path::new("")).join(from).to_string_lossy().into_owned();
            match runs_of(&file, reach)?.next() {
                Some(run) => run.map_err(|error| TrialProblem::unreadable_run(&error, true)),
                None => Err(TrialProblem::new(format!("`{from}` holds no run"), "name a trace with a run in it")),
            }
        }
        _ => Err(TrialProblem::new(
            "it needs either `run` or `from`".to_owned(),
            "write the run, or the path of a trace",
        )),
    }
}
