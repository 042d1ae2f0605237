//! Case files: recorded runs beside the rules, each with its expected verdict.
//!
//! For `refunds.assert`, these are the traces in the folder `refunds.cases`, whose names give the expected verdict (see [`run_name`]), and the lines
//! of the table `refunds.cases.jsonl` (see `table`).

pub mod name;
mod table;

use super::trial::{FilePlace, TestTrial, TrialInput, TrialProblem};
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::files::{lies_in, resolve_path};
use averment_base::limits::Limits;
use averment_engine::bytecode::program::Program;
use averment_traces::read::TraceRuns;
use std::path::{Path, PathBuf};

/// A folder or file of cases that cannot be read.
#[derive(Debug)]
pub struct UnreadableCases {
    /// The path.
    pub path: PathBuf,
    /// The reason.
    pub error: std::io::Error,
}

/// Replaces the extension of the rule file.
const FOLDER: &str = "cases";
const TABLE: &str = "cases.jsonl";
const ENDINGS: [&str; 2] = ["json", "jsonl"];
/// Maximum folder depth.
const DEPTH: usize = 64;
const TOO_DEEP: &str = "its folders lie more than 64 deep in each other";

/// Returns the folder of the cases of a rule file.
#[must_use]
pub fn folder_of(rules: &Path) -> PathBuf {
    rules.with_extension(FOLDER)
}

/// Returns the table of the cases of a rule file.
#[must_use]
pub fn table_of(rules: &Path) -> PathBuf {
    rules.with_extension(TABLE)
}

pub(super) fn read_cases(
    program: &Program,
    rules: Option<&Path>,
    more: &[PathBuf],
    readable: &[PathBuf],
    limits: &Limits,
) -> Result<Vec<TestTrial>, UnreadableCases> {
    let mut trials = Vec::new();
    let beside = rules.map(folder_of).filter(|folder| folder.is_dir());
    let table = rules.map(table_of).filter(|path| path.is_file());
    // Cases beside the rules come with them, so they must be readable by rules. Cases named explicitly are the user's own choice.
    for place in beside.iter().chain(&table) {
        if !is_readable(place, readable) {
            return Err(UnreadableCases { path: place.clone(), error: std::io::Error::other(OUTSIDE) });
        }
    }
    for place in beside.iter().chain(more).chain(&table) {
        let readable = &[readable, std::slice::from_ref(place)].concat();
        if place.to_string_lossy().ends_with(TABLE) {
            table::read_table(program, place, ReadReach { readable, limits }, &mut trials)?;
        } else if place.is_file() {
            recorded_trials(
                program,
                place.parent().unwrap_or(place),
                place,
                ReadReach { readable, limits },
                &mut trials,
            );
        } else {
            for path in case_files(place)? {
                recorded_trials(program, place, &path, ReadReach { readable, limits }, &mut trials);
            }
        }
    }
    Ok(trials)
}

#[derive(Clone, Copy)]
struct ReadReach<'a> {
    readable: &'a [PathBuf],
    limits: &'a Limits,
}

const OUTSIDE: &str = "it leads out of the folders that these rules may read";

fn is_readable(path: &Path, readable: &[PathBuf]) -> bool {
    resolve_path(path).is_ok_and(|place| lies_in(&place, readable))
}

fn runs_of(file: &str, reach: ReadReach<'_>) -> Result<TraceRuns, TrialProblem> {
    if !is_readable(Path::new(file), reach.readable) {
        let help = "copy the run beside the rules, or name its folder with `--allow-read`";
        return Err(TrialProblem::new(format!("`{file}` cannot be read: {OUTSIDE}"), help));
    }
    TraceRuns::open_file(file, reach.limits).map_err(|error| TrialProblem::unreadable_run(&error, true))
}

/// Returns the case files of a folder, sorted by name; hidden folders and links to folders are skipped.
fn case_files(folder: &Path) -> Result<Vec<PathBuf>, UnreadableCases> {
    let (mut found, mut open) = (Vec::new(), vec![(folder.to_path_buf(), DEPTH)]);
    while let Some((folder, depth)) = open.pop() {
        let failed = |error| UnreadableCases { path: folder.clone(), error };
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if kind.is_dir() {
                if !hidden {
                    let deeper = depth.checked_sub(1).ok_or_else(|| failed(std::io::Error::other(TOO_DEEP)))?;
                    open.push((path, deeper));
                }
            } else if !path.is_dir() && !hidden && has_ending(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn has_ending(path: &Path) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| ENDINGS.contains(&ending))
}

fn recorded_trials(program: &Program, folder: &Path, path: &Path, reach: ReadReach<'_>, trials: &mut Vec<TestTrial>) {
    let inside = path.strip_prefix(folder).unwrap_or(path);
    let top = folder.file_name().map_or_else(|| folder.to_path_buf(), PathBuf::from);
    let name = top.join(inside).to_string_lossy().replace('\\', "/");
    let file = path.to_string_lossy().into_owned();
    let stated = name::read_name(inside).and_then(|stated| Ok((stated.expect, rule_numbers(program, &stated.rules)?)));
    let (expect, rules) = match stated {
        Ok(stated) => stated,
        Err(trouble) => return trials.push(without_run(name, FilePlace::start_of(file), None, trouble)),
    };
    match runs_of(&file, reach) {
        Err(trouble) => trials.push(without_run(name.clone(), FilePlace::start_of(file), Some(expect), trouble)),
        Ok(runs) => {
            for run in runs {
                trials.push(match run {
                    Ok(raw) => TestTrial {
                        name: format!("{name}{}", raw.source.run_name().trim_start_matches(file.as_str())),
                        place: FilePlace { file: file.clone(), line: raw.source.line.max(1), column: 1 },
                        expect: Some(expect),
                        rules: rules.clone(),
                        tags: Vec::new(),
                        input: TrialInput::Recorded(raw),
                    },
                    Err(error) => {
                        let trouble = TrialProblem::unreadable_run(&error, true);
                        without_run(name.clone(), FilePlace::start_of(file.clone()), Some(expect), trouble)
                    }
                });
            }
        }
    }
}

fn without_run(
    name: String,
    place: FilePlace,
    expect: Option<averment_base::truth::Verdict>,
    trouble: TrialProblem,
) -> TestTrial {
    TestTrial { name, place, expect, rules: Vec::new(), tags: Vec::new(), input: TrialInput::None(trouble) }
}

fn rule_numbers(program: &Program, names: &[String]) -> Result<Vec<u32>, TrialProblem> {
    names.iter().map(|name| rule_number(program, name)).collect()
}

fn rule_number(program: &Program, name: &str) -> Result<u32, TrialProblem> {
    let known = program.rules.iter().position(|rule| rule.id == name);
    if let Some(number) = known.and_then(|number| u32::try_from(number).ok()) {
        return Ok(number);
    }
    let ids = || program.rules.iter().map(|rule| rule.id.as_str());
    let help = match suggest_name(name, ids()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if program.rules.is_empty() => "the file has no rule; leave the name out to speak of all".to_owned(),
        None => format!("the rules are {}", ids().collect::<Vec<_>>().join(", ")),
    };
    Err(TrialProblem::new(format!("there is no rule `{name}`"), help))
}
