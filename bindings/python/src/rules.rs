//! Compiled rules.

use crate::arrow::{ArrowOptions, RawVerdicts, arrow_subtotal, check_arrow};
use crate::batch::RawBatch;
use crate::encode::read_trace;
use crate::errors::{catch_panic, diagnostics_json, given_error, internal_error, rules_error, run_error};
use crate::outcome::{RawOutcome, json_text};
use crate::settings::RuleSettings;
use averment::{Assertion, Rules, RulesError, RunsSubtotal, Status, TestOutcome};
use averment_columns::ColumnOptions;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The arguments of `check_arrow` except the data, by name.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct AskedVerdicts {
    run: Option<String>,
    id: Option<String>,
    meta: Vec<String>,
    statuses: Vec<String>,
    threads: usize,
}

/// Compiled rules. Threads may share them.
#[pyclass(frozen, module = "averment._averment")]
pub struct RawRules {
    rules: Rules,
}

impl RawRules {
    pub fn rules(&self) -> &Rules {
        &self.rules
    }
}

#[pymethods]
impl RawRules {
    /// Compiles rules from files; a file without given bytes is read.
    #[new]
    fn new(py: Python<'_>, sources: Vec<(PathBuf, Option<Vec<u8>>)>, settings: &str) -> PyResult<Self> {
        catch_panic(py, || {
            let settings: RuleSettings =
                serde_json::from_str(settings).map_err(|error| given_error(py, &error.to_string(), ""))?;
            let rules = py.detach(|| {
                let builder = sources.into_iter().fold(Rules::builder(), |builder, (name, bytes)| match bytes {
                    Some(bytes) => builder.bytes(name.to_string_lossy(), bytes),
                    None => builder.file(name),
                });
                settings.apply_to(builder).build()
            });
            Ok(Self { rules: rules.map_err(|error| rules_error(py, &error))? })
        })
    }

    fn check(&self, py: Python<'_>, run: &Bound<'_, PyAny>, name: Option<String>) -> PyResult<RawOutcome> {
        catch_panic(py, || {
            let trace = read_trace(run, name)?;
            let outcome = py.detach(|| self.rules.check_one(trace));
            outcome.map(RawOutcome::new).map_err(|error| run_error(py, &error))
        })
    }

    /// Starts judging traces. Traces that are no files are named by their index. Returns the batch, the number of traces taken, and the exception of
    /// the next argument if it is no trace.
    fn check_batch(
        &self,
        py: Python<'_>,
        runs: &Bound<'_, PyList>,
        first: usize,
        threads: usize,
    ) -> PyResult<(RawBatch, usize, Option<PyErr>)> {
        catch_panic(py, || {
            let mut traces = Vec::with_capacity(runs.len());
            let mut failed = None;
            for (number, run) in runs.iter().enumerate() {
                let is_file = run.hasattr("__fspath__")?;
                // A run in memory is named by its index.
                let name = (!is_file).then(|| format!("runs[{}]", first.saturating_add(number)));
                match read_trace(&run, name) {
                    Ok(trace) => traces.push(trace),
                    Err(error) => failed = Some(error),
                }
                if failed.is_some() {
                    break;
                }
            }
            let (batch, taken) = (self.rules.batch().threads(threads), traces.len());
            Ok((RawBatch::new(py.detach(|| batch.outcomes_of_traces(traces))), taken, failed))
        })
    }

    /// Returns verdicts on the rows of Arrow data, as Arrow data.
    fn check_arrow(&self, py: Python<'_>, data: &Bound<'_, PyAny>, asked: AskedVerdicts) -> PyResult<RawVerdicts> {
        let AskedVerdicts { run, id, meta, statuses, threads } = asked;
        let columns = ColumnOptions { run, meta, ..ColumnOptions::default() };
        let statuses = statuses.iter().map(|name| status_named(py, name)).collect::<PyResult<_>>()?;
        check_arrow(py, &self.rules, data, ArrowOptions { columns, id, statuses, threads })
    }

    /// Returns the subtotal of Arrow rows for the rules over all runs, as bytes that can be sent to another process.
    fn subtotal_arrow<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        run: Option<String>,
        meta: Vec<String>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let columns = ColumnOptions { run, meta, ..ColumnOptions::default() };
        let subtotal =
            arrow_subtotal(py, &self.rules, data, ArrowOptions { columns, id: None, statuses: Vec::new(), threads })?;
        Ok(PyBytes::new(py, &subtotal.to_bytes()))
    }

    /// Joins subtotals of parts of the runs, in this order.
    fn join_subtotals<'py>(&self, py: Python<'py>, subtotals: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
        catch_panic(py, || {
            let joined = py.detach(|| join_parts(&self.rules, subtotals).map(|all| all.to_bytes()));
            Ok(PyBytes::new(py, &joined.map_err(|error| rules_error(py, &error))?))
        })
    }

    /// Returns the outcome of the rules over all runs of a subtotal.
    fn conclude(&self, py: Python<'_>, subtotal: Vec<u8>) -> PyResult<Option<RawOutcome>> {
        catch_panic(py, || {
            let outcome = py.detach(|| RunsSubtotal::from_bytes(&subtotal)?.conclude(&self.rules));
            Ok(outcome.map_err(|error| rules_error(py, &error))?.map(RawOutcome::new))
        })
    }

    /// Explains each verdict, as text and as JSON.
    fn explain(&self, py: Python<'_>, run: &Bound<'_, PyAny>, name: Option<String>) -> PyResult<(String, String)> {
        catch_panic(py, || {
            let trace = read_trace(run, name)?;
            let explained = py.detach(|| {
                self.rules
                    .explain_one(trace)
                    .map(|explained| (explained.to_string(), serde_json::to_string(&explained)))
            });
            let (text, json) = explained.map_err(|error| run_error(py, &error))?;
            Ok((text, json.map_err(|error| internal_error(py, &error.to_string()))?))
        })
    }

    /// Runs the `test` blocks and returns their results as JSON.
    fn run_tests(&self, py: Python<'_>) -> PyResult<String> {
        catch_panic(py, || {
            let tests = py.detach(|| self.rules.run_tests());
            json_text(py, &tests.iter().map(test_data).collect::<Vec<Value>>())
        })
    }

    /// Returns the assertions as JSON.
    fn assertions(&self, py: Python<'_>) -> PyResult<String> {
        catch_panic(py, || {
            json_text(py, &self.rules.assertions().map(|one| assertion_data(&one)).collect::<Vec<Value>>())
        })
    }

    /// Returns warnings and remarks of the compiler as JSON.
    fn diagnostics(&self) -> String {
        diagnostics_json(self.rules.diagnostics())
    }

    /// Returns true if the rules have statements over all runs.
    #[getter]
    fn speaks_of_all_runs(&self) -> bool {
        self.rules.speaks_of_all_runs()
    }
}

fn status_named(py: Python<'_>, name: &str) -> PyResult<Status> {
    Status::ALL.into_iter().find(|status| status.as_str() == name).ok_or_else(|| {
        let all: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
        given_error(py, &format!("there is no status `{name}`"), &format!("the statuses are {}", all.join(", ")))
    })
}

fn join_parts(rules: &Rules, subtotals: Vec<Vec<u8>>) -> Result<RunsSubtotal, RulesError> {
    let mut all = RunsSubtotal::new(rules)?;
    subtotals.iter().try_for_each(|bytes| all.append(RunsSubtotal::from_bytes(bytes)?))?;
    Ok(all)
}

fn assertion_data(one: &Assertion<'_>) -> Value {
    let place = one.place();
    json!({
        "id": one.id(), "rule": one.rule(), "sentence": one.sentence(), "text": one.text(),
        "severity": one.severity().as_str(), "weight": one.weight(), "tags": one.tags(),
        "file": place.file, "line": place.line, "column": place.column,
    })
}

fn test_data(test: &TestOutcome) -> Value {
    let TestOutcome { name, place, passed, reason, verdicts, .. } = test;
    let verdicts: serde_json::Map<String, Value> =
        verdicts.iter().map(|(id, verdict)| (id.clone(), verdict.as_str().into())).collect();
    json!({
        "name": name, "file": place.file, "line": place.line, "column": place.column,
        "passed": passed, "reason": reason, "verdicts": verdicts,
    })
}
