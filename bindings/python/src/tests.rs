//! Finds and runs the tests of a rule file, as `aver test` does.

#![expect(clippy::disallowed_methods, reason = "it looks for the folders of case files")]

use crate::errors::{catch_panic, compile_error, given_error, internal_error};
use averment::Limits;
use averment::stages::load::{self, LoadSettings};
use averment::stages::params::{self, ParamValue, ValueSyntax};
use averment_ide::project::{self, LoadOptions, Project, ProjectSearch};
use averment_testing::outcome::{TrialReport, run_trial};
use averment_testing::subject::TestSubject;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A rule file with its tests: `test` blocks and case files.
#[pyclass(frozen, module = "averment._averment")]
pub struct RawTests {
    subject: TestSubject,
}

#[pymethods]
impl RawTests {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        catch_panic(py, || {
            let loaded = py.detach(|| load_subject(&path));
            loaded.map(|subject| Self { subject }).map_err(|failure| match failure {
                LoadFailure::Rules(diagnostics) => compile_error(py, &diagnostics),
                LoadFailure::Given(message, help) => given_error(py, &message, &help),
            })
        })
    }

    /// Returns the tests as JSON: names, places and tags.
    fn tests(&self) -> String {
        let program = &self.subject.program;
        let tests = self.subject.trials.iter().map(|trial| {
            let rules = trial.rules.iter().filter_map(|&rule| program.rules.get(rule as usize));
            let tags: Vec<&String> = trial.tags.iter().chain(rules.flat_map(|rule| &rule.tags)).collect();
            json!({
                "name": trial.name, "file": trial.place.file, "line": trial.place.line, "column": trial.place.column,
                "tags": tags,
            })
        });
        Value::Array(tests.collect()).to_string()
    }

    /// Runs a test and returns its result as JSON.
    fn run_test(&self, py: Python<'_>, number: usize) -> PyResult<String> {
        catch_panic(py, || {
            let report = py.detach(|| run_trial(&self.subject, number, &Limits::default()));
            let report = report.ok_or_else(|| internal_error(py, "there is no such test"))?;
            Ok(report_data(&report).to_string())
        })
    }
}

fn report_data(report: &TrialReport) -> Value {
    let found: serde_json::Map<String, Value> =
        report.found.iter().map(|(id, verdict)| (id.clone(), verdict.as_str().into())).collect();
    let why = report.why.iter().map(|one| json!({"id": one.id, "status": one.status.as_str(), "reason": one.reason}));
    json!({
        "name": report.name, "file": report.place.file, "line": report.place.line, "column": report.place.column,
        "passed": report.passed, "reason": report.reason, "help": report.help, "verdicts": found,
        "why": why.collect::<Vec<Value>>(),
    })
}

enum LoadFailure {
    Rules(averment::Diagnostics),
    Given(String, String),
}

impl From<averment::Problem> for LoadFailure {
    fn from(problem: averment::Problem) -> Self {
        Self::Given(problem.message, problem.help)
    }
}

/// Loads the rules of a file with the tools, parameters and cases of its project.
fn load_subject(path: &Path) -> Result<TestSubject, LoadFailure> {
    let limits = Limits::default();
    let unreadable = |path: &Path, error: &std::io::Error| {
        LoadFailure::Given(format!("`{}` cannot be read: {error}", path.display()), String::new())
    };
    let project = load_project(path)?;
    let mut tools = Vec::new();
    for tool in project.iter().flat_map(|project| &project.tools) {
        let bytes = load::read_limited(tool, limits).map_err(|error| unreadable(tool, &error))?;
        tools.push((tool.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut readable = project::readable_folders(folder);
    readable.push(PathBuf::new());
    let bytes = load::read_limited(path, limits).map_err(|error| unreadable(path, &error))?;
    let files = load::rule_disk(limits, readable.clone());
    let settings = LoadSettings { tools: &tools, ..LoadSettings::with_limits(&files, limits) };
    let loaded = load::load_rules(&path.to_string_lossy(), Some(folder), bytes, settings)?;
    let (mut programs, diagnostics) = load::join_programs(vec![loaded]);
    for (name, value) in project.iter().flat_map(|project| &project.params) {
        if params::is_declared(&programs, name) {
            let value = ValueSyntax::Json(value.clone());
            params::set_param(&mut programs, &ParamValue { name: name.clone(), value })?;
        }
    }
    let Some(program) = programs.pop().filter(|_| !diagnostics.has_errors()) else {
        return Err(LoadFailure::Rules(diagnostics));
    };
    let cases = project_cases(project.as_ref(), path);
    TestSubject::new(program, Some(path), &cases, &readable, &limits).map_err(|one| unreadable(&one.path, &one.error))
}

/// Returns the case folders of a rule file: in each case folder of the project, the one with the name of the file.
fn project_cases(project: Option<&Project>, path: &Path) -> Vec<PathBuf> {
    let folders = project.iter().flat_map(|project| &project.test.cases);
    let own = path.file_stem().map(|stem| folders.map(|folder| folder.join(stem)).filter(|own| own.is_dir()).collect());
    own.unwrap_or_default()
}

fn load_project(path: &Path) -> Result<Option<Project>, LoadFailure> {
    match project::find_for(&[path.to_path_buf()]) {
        ProjectSearch::File(file) => project::load_project(&file, LoadOptions { trusted: false })
            .map(Some)
            .map_err(|error| LoadFailure::Given(error.to_string().trim_end().to_owned(), String::new())),
        ProjectSearch::Nothing | ProjectSearch::Foreign(_) | ProjectSearch::Linked(_) => Ok(None),
    }
}
