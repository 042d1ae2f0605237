//! Judges Arrow data over the PyCapsule interface: reads rows and returns verdicts, batch by batch.

#![expect(unsafe_code, reason = "the C stream interface of Arrow is a pointer")]

use crate::errors::{catch_panic, given_error, internal_error, rules_error};
use crate::verdict_rows::VerdictRows;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use averment::{Rules, RulesError, RunError, RunsSubtotal, Status, Trace};
use averment_columns::{ColumnError, ColumnOptions, RowWriter, text_cell};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

const STREAM: &CStr = c"arrow_array_stream";
/// Number of rows that are judged together.
const ROWS: usize = 4096;

/// Options of `check_arrow`.
pub struct ArrowOptions {
    /// Columns that are read.
    pub columns: ColumnOptions,
    /// Column that names the runs.
    pub id: Option<String>,
    /// Statuses of the verdicts to return; empty returns all.
    pub statuses: Vec<Status>,
    pub threads: usize,
}

/// Verdicts that are computed when read. They can be taken once.
#[pyclass(frozen, module = "averment._averment")]
pub struct RawVerdicts {
    stream: Mutex<Option<VerdictStream>>,
}

#[pymethods]
impl RawVerdicts {
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Consumers convert the data themselves if they need another schema.
        let _ = requested_schema;
        let stream = self.stream.lock().ok().and_then(|mut stream| stream.take());
        let stream =
            stream.ok_or_else(|| given_error(py, "these verdicts were taken already", "call `check_arrow` again"))?;
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(stream)), STREAM)
    }
}

/// Starts judging an object that exports Arrow data.
pub fn check_arrow(
    py: Python<'_>,
    rules: &Rules,
    data: &Bound<'_, PyAny>,
    options: ArrowOptions,
) -> PyResult<RawVerdicts> {
    catch_panic(py, || {
        let (rules, whole) = (rules.clone(), rules.speaks_of_all_runs());
        let source = RowSource::open(py, data, options, whole)?;
        let stream = VerdictStream { source, rules, schema: VerdictRows::schema() };
        Ok(RawVerdicts { stream: Mutex::new(Some(stream)) })
    })
}

/// Returns the subtotal of an object's rows for the rules over all runs.
pub fn arrow_subtotal(
    py: Python<'_>,
    rules: &Rules,
    data: &Bound<'_, PyAny>,
    options: ArrowOptions,
) -> PyResult<RunsSubtotal> {
    catch_panic(py, || {
        let batch = rules.batch().threads(options.threads);
        let mut source = RowSource::open(py, data, options, false)?;
        let mut all = RunsSubtotal::new(rules).map_err(|error| rules_error(py, &error))?;
        let gathered = py.detach(|| {
            while let Some(runs) = source.next_runs().map_err(SubtotalError::Input)? {
                let part = batch.subtotal_of_traces(runs.traces()).map_err(SubtotalError::Rules)?;
                all.append(part).map_err(SubtotalError::Rules)?;
            }
            Ok(all)
        });
        gathered.map_err(|error| match error {
            SubtotalError::Input(error) => input_error(py, &error),
            SubtotalError::Rules(error) => rules_error(py, &error),
        })
    })
}

enum SubtotalError {
    Input(ArrowError),
    Rules(RulesError),
}

fn input_error(py: Python<'_>, error: &ArrowError) -> PyErr {
    given_error(py, &format!("the Arrow data cannot be read: {error}"), "")
}

fn import_stream(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    if !data.hasattr("__arrow_c_stream__")? {
        let message = format!("`check_arrow` takes Arrow data, not {}", data.get_type().name()?);
        return Err(pyo3::exceptions::PyTypeError::new_err(message));
    }
    let capsule = data.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>().map_err(|error| internal_error(py, &error.to_string()))?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: the PyCapsule interface guarantees that a capsule of this name contains a stream. It is moved out, which leaves the capsule's stream
    // released.
    let stream = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr()) };
    stream.map_err(|error| input_error(py, &error))
}

/// The rows of Arrow data, read in parts of about `ROWS` rows.
struct RowSource {
    input: RecordBatchStreamReader,
    writer: Arc<Mutex<RowWriter>>,
    options: ArrowOptions,
    /// True if all rows are returned at once.
    whole: bool,
    next_row: u64,
    /// A batch of the input with unjudged rows, and the index of the first one.
    waiting: Option<(RecordBatch, usize)>,
    ended: bool,
}

/// A part of the rows. Their runs are created while others are judged.
struct RowRuns {
    rows: VecDeque<(RecordBatch, Range<usize>)>,
    /// Name of each row.
    names: Vec<Option<String>>,
    first: u64,
    writer: Arc<Mutex<RowWriter>>,
    unreadable: UnreadableRows,
}

/// Rows that contain no run, in order, with the reason.
type UnreadableRows = Arc<Mutex<VecDeque<(u64, String)>>>;

impl RowRuns {
    fn traces(&self) -> RowTraces {
        let (writer, unreadable) = (Arc::clone(&self.writer), Arc::clone(&self.unreadable));
        RowTraces { rows: self.rows.clone(), next_row: self.first, writer, unreadable }
    }

    /// Returns the unreadable rows before this row, or all of them for `None`. Each is returned once.
    fn unreadable_before(&self, row: Option<u64>) -> Vec<(u64, String)> {
        let mut unreadable = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
        let end = row.map_or(unreadable.len(), |row| unreadable.partition_point(|(before, _)| *before < row));
        unreadable.drain(..end).collect()
    }
}

/// Iterates over the runs of some rows; each run contains the text of its row.
struct RowTraces {
    rows: VecDeque<(RecordBatch, Range<usize>)>,
    next_row: u64,
    writer: Arc<Mutex<RowWriter>>,
    unreadable: UnreadableRows,
}

impl Iterator for RowTraces {
    type Item = Trace;

    fn next(&mut self) -> Option<Trace> {
        loop {
            let (batch, range) = self.rows.front_mut()?;
            let Some(row) = range.next() else {
                self.rows.pop_front();
                continue;
            };
            let number = self.next_row;
            self.next_row = number.saturating_add(1);
            let mut text = Vec::new();
            let written = self.writer.lock().unwrap_or_else(PoisonError::into_inner).write_row(batch, row, &mut text);
            match written {
                Ok(()) => return Some(Trace::from(text).named(format!("row {number}"))),
                Err(error) => {
                    let mut unreadable = self.unreadable.lock().unwrap_or_else(PoisonError::into_inner);
                    unreadable.push_back((number, error.to_string()));
                }
            }
        }
    }
}

impl RowSource {
    fn open(py: Python<'_>, data: &Bound<'_, PyAny>, options: ArrowOptions, whole: bool) -> PyResult<Self> {
        let input = import_stream(py, data)?;
        let schema = input.schema();
        let column_error = |error: ColumnError| given_error(py, &error.message, &error.help);
        let writer = RowWriter::for_schema(&schema, &options.columns).map_err(column_error)?;
        if writer.writes_records() {
            let help = "group the rows by trace first (`averment.spark.gather`, `group_by`), or name the column of runs with `run`";
            return Err(given_error(py, "a row is a span or an event, and several are a run", help));
        }
        if let Some(id) = options.id.as_deref().filter(|id| schema.column_with_name(id).is_none()) {
            return Err(given_error(py, &format!("there is no column `{id}`"), "name a column of the data with `id`"));
        }
        let writer = Arc::new(Mutex::new(writer));
        Ok(Self { input, writer, options, whole, next_row: 0, waiting: None, ended: false })
    }

    /// Returns the next runs, or `None` at the end.
    fn next_runs(&mut self) -> Result<Option<RowRuns>, ArrowError> {
        let (mut rows, mut names, first_row) = (VecDeque::new(), Vec::new(), self.next_row);
        while !self.ended && (self.whole || names.len() < ROWS) {
            let (batch, first) = match self.waiting.take() {
                Some(waiting) => waiting,
                None => match self.input.next() {
                    Some(batch) => (batch?, 0),
                    None => {
                        self.ended = true;
                        break;
                    }
                },
            };
            let end = if self.whole { batch.num_rows() } else { batch.num_rows().min(first.saturating_add(ROWS)) };
            let id = self.options.id.as_deref();
            names.extend((first..end).map(|row| id.and_then(|id| text_cell(&batch, id, row))));
            if end < batch.num_rows() {
                self.waiting = Some((batch.clone(), end));
            }
            rows.push_back((batch, first..end));
        }
        self.next_row = first_row.saturating_add(names.len() as u64);
        let (writer, unreadable) = (Arc::clone(&self.writer), UnreadableRows::default());
        let runs = RowRuns { rows, names, first: first_row, writer, unreadable };
        Ok((!runs.names.is_empty()).then_some(runs))
    }
}

struct VerdictStream {
    source: RowSource,
    rules: Rules,
    schema: SchemaRef,
}

impl VerdictStream {
    fn next_verdicts(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        self.source.next_runs()?.map(|runs| self.judge_runs(runs)).transpose()
    }

    fn judge_runs(&self, runs: RowRuns) -> Result<RecordBatch, ArrowError> {
        let options = &self.source.options;
        let mut rows = VerdictRows::new(runs.first, runs.names.clone());
        let batch = self.rules.batch().threads(options.threads).results_with(&options.statuses);
        let mut outcomes = batch.outcomes_of_traces(runs.traces());
        for outcome in &mut outcomes {
            let row = match &outcome {
                Ok(outcome) => row_of(outcome.trace()),
                Err(RunError::Read(error)) => row_of(&error.file),
                Err(_) => None,
            };
            // Results are added in row order.
            let before = row.map_or_else(Vec::new, |row| runs.unreadable_before(Some(row)));
            before.into_iter().for_each(|(row, reason)| rows.add_unreadable(row, &reason));
            match outcome {
                Ok(outcome) => rows.add_outcome(row, &outcome),
                Err(RunError::Read(error)) => rows.add_unreadable_of(row, &error.message),
                Err(error) => rows.add_unreadable_of(None, &error.to_string()),
            }
        }
        for (row, reason) in runs.unreadable_before(None) {
            rows.add_unreadable(row, &reason);
        }
        if let Some(outcome) = outcomes.take_over_runs() {
            rows.add_outcome(None, &outcome);
        }
        rows.add_missing();
        rows.finish_batch()
    }
}

/// Parses the row number in the name of a trace.
fn row_of(trace: &str) -> Option<u64> {
    trace.strip_prefix("row ")?.parse().ok()
}

impl Iterator for VerdictStream {
    type Item = Result<RecordBatch, ArrowError>;

    /// Catches panics, because a panic would end the process that reads the stream.
    fn next(&mut self) -> Option<Self::Item> {
        let broken = || ArrowError::ComputeError("the evaluation broke down".to_owned());
        catch_unwind(AssertUnwindSafe(|| self.next_verdicts())).unwrap_or_else(|_| Err(broken())).transpose()
    }
}

impl RecordBatchReader for VerdictStream {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
