//! What the columns of a file are: the text of a run, the parts of a run, or a record of which several are a run.

use crate::column_error::ColumnError;
use crate::column_lines::ColumnOptions;
use crate::row_meta::RowMeta;
use crate::write_value::{check_type, is_text, text_at, write_text, write_value};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Schema};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Columns of text that hold whole runs, by their names in lower case.
const RUN_TEXTS: [&str; 7] = ["run", "trace", "transcript", "trajectory", "session", "run_json", "trace_json"];
/// Columns that hold what was said and done.
const STEP_LISTS: [&str; 16] = [
    "messages",
    "conversations",
    "conversation",
    "steps",
    "calls",
    "commands",
    "reads",
    "writes",
    "edits",
    "skills",
    "http",
    "spans",
    "usage",
    "turns",
    "handoffs",
    "traj",
];
/// The other keys of the normal form.
const RUN_KEYS: [&str; 12] =
    ["id", "inputs", "prompt", "output", "cost", "duration", "error", "meta", "env", "tools", "files", "complete"];
/// Columns of which one says that a row is a span or an event: several of them are a run.
const RECORD_MARKS: [&str; 11] = [
    "trace_id",
    "traceid",
    "run_type",
    "span_id",
    "spanid",
    "parentobservationid",
    "parent_observation_id",
    "dotted_order",
    "traceparent",
    "resourcespans",
    "sessionid",
];
/// The store of Inspect Scout.
const SCOUT: (&str, &str, &str) = ("transcript_id", "messages", "events");
/// The keys by which a transcript is known as a sample of Inspect, whose messages it has.
const SAMPLE_MARKS: &str = "\"epoch\":1,\"target\":\"\"";

/// How rows become JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowLayout {
    form: RowForm,
    /// The columns that are read, by their numbers in the file.
    read: Vec<usize>,
    /// For each of them, its name.
    names: Vec<String>,
    /// For each of them, whether it is text.
    texts: Vec<bool>,
}

/// Columns are numbers among those that are read.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RowForm {
    /// A column holds the run; others go into its `meta`.
    RunText { run: usize, meta: Vec<usize> },
    /// Columns are keys of the run, under the names they have there; the others go into its `meta`.
    RunParts { keys: Vec<(usize, String)>, meta: Vec<usize>, marks: &'static str },
    /// Each column is a key.
    Record { is_part: bool },
}

impl RowLayout {
    /// The layout of a file, by the names and types of its columns and by what somebody says of them.
    pub(crate) fn for_schema(schema: &Schema, options: &ColumnOptions) -> Result<Self, ColumnError> {
        let mut names = BTreeSet::new();
        if let Some(twice) = schema.fields().iter().find(|field| !names.insert(field.name())) {
            let message = format!("two columns are named `{}`", twice.name());
            return Err(ColumnError::new(message, "give each column a name of its own"));
        }
        let number = |name: &str| {
            schema.fields().iter().position(|field| field.name() == name).ok_or_else(|| {
                let names = schema.fields().iter().take(12).map(|field| format!("`{}`", field.name()));
                let help = format!("the columns are {}", names.collect::<Vec<_>>().join(", "));
                ColumnError::new(format!("there is no column `{name}`"), help)
            })
        };
        let meta = options.meta.iter().map(|name| number(name)).collect::<Result<Vec<_>, _>>()?;
        let run = options.run.as_deref().map(number).transpose()?;
        if let Some(run) = run.or_else(|| run_text_column(schema)) {
            return Self::of_run_text(schema, run, &meta);
        }
        let lower: Vec<String> = schema.fields().iter().map(|field| field.name().to_ascii_lowercase()).collect();
        let has = |name: &str| lower.iter().any(|one| one == name);
        let is_scout = has(SCOUT.0) && has(SCOUT.1);
        let is_record = !is_scout && RECORD_MARKS.into_iter().any(has);
        if is_record || !STEP_LISTS.into_iter().any(has) {
            let all: Vec<usize> = (0..schema.fields().len()).collect();
            return Self::with_columns(schema, all, |_| RowForm::Record { is_part: is_record });
        }
        let wanted = (0..lower.len()).filter(|column| {
            // The events of a store repeat its messages.
            !is_scout || lower.get(*column).is_none_or(|name| name != SCOUT.2)
        });
        Self::with_columns(schema, wanted.collect(), |names| run_parts(names, is_scout))
    }

    fn of_run_text(schema: &Schema, run: usize, meta: &[usize]) -> Result<Self, ColumnError> {
        let field = schema.fields().get(run);
        if let Some(field) = field.filter(|field| !is_text(field.data_type()) && !field.data_type().is_nested()) {
            let message = format!("the column `{}` is of type {}, which holds no run", field.name(), field.data_type());
            return Err(ColumnError::new(message, "name a column of JSON text, of structs or of lists"));
        }
        let all: BTreeSet<usize> = meta.iter().copied().chain([run]).collect();
        let all: Vec<usize> = all.into_iter().collect();
        let among = |column: usize| all.iter().position(|one| *one == column).unwrap_or_default();
        let form = RowForm::RunText { run: among(run), meta: meta.iter().map(|column| among(*column)).collect() };
        Self::with_columns(schema, all.clone(), |_| form)
    }

    fn with_columns(
        schema: &Schema,
        read: Vec<usize>,
        form: impl FnOnce(&[String]) -> RowForm,
    ) -> Result<Self, ColumnError> {
        let fields = read.iter().filter_map(|column| schema.fields().get(*column)).collect::<Vec<_>>();
        fields.iter().try_for_each(|field| check_type(field))?;
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        let texts = fields.iter().map(|field| is_text(field.data_type())).collect();
        Ok(Self { form: form(&names), read, names, texts })
    }

    /// True where a row is a span or an event, of which several are a run.
    pub(crate) fn holds_records(&self) -> bool {
        self.form == RowForm::Record { is_part: true }
    }

    /// The columns that are read, by their numbers in the file.
    pub(crate) fn columns(&self) -> Vec<usize> {
        self.read.clone()
    }

    fn column<'a>(&self, batch: &'a RecordBatch, column: usize) -> Result<&'a ArrayRef, ColumnError> {
        // Where other columns were left out before they were decoded, only these are there.
        let number = if batch.num_columns() == self.read.len() { Some(column) } else { self.read.get(column).copied() };
        let found = number.and_then(|number| batch.columns().get(number));
        found.ok_or_else(|| ColumnError::damaged_file("a column is missing"))
    }

    /// Which columns of text hold JSON: all of their texts here are objects or lists.
    pub(crate) fn json_columns(&self, batch: &RecordBatch) -> Vec<bool> {
        let is_json = |(column, is_text): (usize, &bool)| {
            *is_text && self.column(batch, column).is_ok_and(|values| holds_json(values.as_ref()))
        };
        self.texts.iter().enumerate().map(is_json).collect()
    }

    /// Appends a row.
    pub(crate) fn write_row(
        &self,
        batch: &RecordBatch,
        row: usize,
        meta: &RowMeta,
        json: &[bool],
        out: &mut Vec<u8>,
    ) -> Result<(), ColumnError> {
        let mut writer = FieldWriter { layout: self, batch, row, json, out };
        match &self.form {
            RowForm::RunText { run, meta: columns } => {
                let mut meta = Cow::Borrowed(meta);
                for column in columns {
                    let mut value = Vec::new();
                    let written = FieldWriter { out: &mut value, ..writer.reborrow() }.write_column(*column)?;
                    if written {
                        let name = self.names.get(*column).cloned().unwrap_or_default();
                        let value = String::from_utf8(value).unwrap_or_default();
                        meta.to_mut().entries.push((name, value));
                    }
                }
                writer.write_run_text(*run, &meta)
            }
            RowForm::RunParts { keys, meta: columns, marks } => {
                writer.write_parts(keys, columns, RunAdditions { meta, marks })
            }
            RowForm::Record { .. } => {
                writer.out.push(b'{');
                let mut first = true;
                for column in 0..self.read.len() {
                    let name = self.names.get(column).map_or("", String::as_str);
                    writer.write_field(name, column, &mut first)?;
                    if writer.is_null(column)? {
                        // By the keys that are there a record is known.
                        writer.write_null(name, &mut first)?;
                    }
                }
                writer.out.push(b'}');
                Ok(())
            }
        }
    }
}

/// The only column of text that is named like a run.
fn run_text_column(schema: &Schema) -> Option<usize> {
    let is_run = |field: &arrow_schema::Field| {
        let named = RUN_TEXTS.contains(&field.name().to_ascii_lowercase().as_str());
        named && (is_text(field.data_type()) || matches!(field.data_type(), DataType::Struct(_)))
    };
    if let [only] = schema.fields().as_ref()
        && is_text(only.data_type())
    {
        return Some(0);
    }
    let mut found = schema.fields().iter().enumerate().filter(|(_, field)| is_run(field));
    found.next().filter(|_| found.next().is_none()).map(|(number, _)| number)
}

fn run_parts(names: &[String], is_scout: bool) -> RowForm {
    let (mut keys, mut meta) = (Vec::new(), Vec::new());
    let has_id = names.iter().any(|name| name == "id");
    for (column, name) in names.iter().enumerate() {
        if is_scout && !has_id && name == SCOUT.0 {
            keys.push((column, "id".to_owned()));
        } else if STEP_LISTS.contains(&name.as_str()) || RUN_KEYS.contains(&name.as_str()) {
            keys.push((column, name.clone()));
        } else {
            meta.push(column);
        }
    }
    RowForm::RunParts { keys, meta, marks: if is_scout { SAMPLE_MARKS } else { "" } }
}

/// Texts that are looked at to tell whether a column holds JSON.
const SAMPLES: usize = 64;

fn holds_json(values: &dyn Array) -> bool {
    let texts = (0..values.len()).filter(|row| !values.is_null(*row)).take(SAMPLES);
    let mut any = false;
    for row in texts {
        any = true;
        if !text_at(values, row).is_ok_and(|text| text.is_some_and(is_json_text)) {
            return false;
        }
    }
    any
}

fn is_json_text(text: &str) -> bool {
    text.trim_ascii_start().starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// What stands in a run beside its columns.
struct RunAdditions<'a> {
    meta: &'a RowMeta,
    marks: &'static str,
}

struct FieldWriter<'a> {
    layout: &'a RowLayout,
    batch: &'a RecordBatch,
    row: usize,
    json: &'a [bool],
    out: &'a mut Vec<u8>,
}

impl FieldWriter<'_> {
    fn reborrow(&mut self) -> FieldWriter<'_> {
        FieldWriter { layout: self.layout, batch: self.batch, row: self.row, json: self.json, out: self.out }
    }

    /// False for a null, which is not written.
    fn write_column(&mut self, column: usize) -> Result<bool, ColumnError> {
        let values = self.layout.column(self.batch, column)?;
        if self.row >= values.len() || values.is_null(self.row) || *values.data_type() == DataType::Null {
            return Ok(false);
        }
        let in_column = |error: ColumnError| {
            let name = self.layout.names.get(column).map_or("", String::as_str);
            ColumnError { message: format!("column `{name}`: {}", error.message), ..error }
        };
        if self.json.get(column).copied().unwrap_or_default() {
            let text = text_at(values.as_ref(), self.row).map_err(in_column)?.unwrap_or_default();
            if is_json_text(text) {
                write_on_one_line(text.as_bytes(), self.out);
                return Ok(true);
            }
        }
        write_value(values.as_ref(), self.row, self.out).map_err(in_column)?;
        Ok(true)
    }

    fn is_null(&self, column: usize) -> Result<bool, ColumnError> {
        let values = self.layout.column(self.batch, column)?;
        Ok(values.is_null(self.row) || *values.data_type() == DataType::Null)
    }

    fn write_null(&mut self, name: &str, first: &mut bool) -> Result<(), ColumnError> {
        if !std::mem::take(first) {
            self.out.push(b',');
        }
        write_text(name, self.out)?;
        self.out.extend_from_slice(b":null");
        Ok(())
    }

    fn write_field(&mut self, name: &str, column: usize, first: &mut bool) -> Result<(), ColumnError> {
        let start = self.out.len();
        if !*first {
            self.out.push(b',');
        }
        write_text(name, self.out)?;
        self.out.push(b':');
        if self.write_column(column)? {
            *first = false;
        } else {
            self.out.truncate(start);
        }
        Ok(())
    }

    fn write_run_text(&mut self, run: usize, meta: &RowMeta) -> Result<(), ColumnError> {
        let values = self.layout.column(self.batch, run)?;
        let text: Cow<'_, [u8]> = if values.is_null(self.row) {
            Cow::Borrowed(b"null")
        } else if is_text(values.data_type()) {
            let in_column = |error: ColumnError| {
                let name = self.layout.names.get(run).map_or("", String::as_str);
                ColumnError { message: format!("column `{name}`: {}", error.message), ..error }
            };
            Cow::Borrowed(text_at(values.as_ref(), self.row).map_err(in_column)?.unwrap_or_default().as_bytes())
        } else {
            let mut text = Vec::new();
            write_value(values.as_ref(), self.row, &mut text)?;
            Cow::Owned(text)
        };
        if text.trim_ascii().is_empty() {
            // An empty line would not be missed: this one is no run, and said to be none.
            self.out.extend_from_slice(b"null");
            return Ok(());
        }
        write_on_one_line(&meta.add_to_run(&text), self.out);
        Ok(())
    }

    fn write_parts(
        &mut self,
        keys: &[(usize, String)],
        columns: &[usize],
        more: RunAdditions<'_>,
    ) -> Result<(), ColumnError> {
        let mut entries = more.meta.clone();
        for column in columns {
            let mut value = Vec::new();
            if (FieldWriter { out: &mut value, ..self.reborrow() }).write_column(*column)? {
                // A column counts more than the folder of its file.
                let name = self.layout.names.get(*column).cloned().unwrap_or_default();
                entries.entries.retain(|(known, _)| *known != name);
                entries.entries.push((name, String::from_utf8(value).unwrap_or_default()));
            }
        }
        let layout = self.layout;
        let mut run = vec![b'{'];
        run.extend_from_slice(more.marks.as_bytes());
        let mut first = more.marks.is_empty();
        let mut parts = FieldWriter { out: &mut run, ..self.reborrow() };
        for (column, name) in keys {
            parts.write_field(name, *column, &mut first)?;
        }
        if !entries.entries.is_empty() && !layout.names.iter().any(|name| name == "meta") {
            run.extend_from_slice(if first { b"\"meta\":{" } else { b",\"meta\":{" });
            entries.write_entries(&mut run);
            run.extend_from_slice(b"}}");
            self.out.append(&mut run);
            return Ok(());
        }
        run.push(b'}');
        write_on_one_line(&entries.add_to_run(&run), self.out);
        Ok(())
    }
}

/// Between values a line end means as much as a space. Within a text it is no JSON, and a tab there is none either: the reader says so.
fn write_on_one_line(text: &[u8], out: &mut Vec<u8>) {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
    if memchr::memchr2(b'\n', b'\r', text).is_none() {
        out.extend_from_slice(text);
        return;
    }
    let (mut inside, mut escaped) = (false, false);
    for byte in text {
        let written = match byte {
            end if is_end(end) => {
                if inside {
                    b'\t'
                } else {
                    b' '
                }
            }
            other => *other,
        };
        out.push(written);
        inside ^= *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && inside && !escaped;
    }
}

/// A cell as text: a text as it is, another value as JSON; `None` for a null and where there is no such column.
#[must_use]
pub fn text_cell(batch: &RecordBatch, column: &str, row: usize) -> Option<String> {
    let values = batch.column_by_name(column)?;
    if row >= values.len() || values.is_null(row) {
        return None;
    }
    if is_text(values.data_type()) {
        return text_at(values.as_ref(), row).ok().flatten().map(str::to_owned);
    }
    let mut text = Vec::new();
    write_value(values.as_ref(), row, &mut text).ok()?;
    String::from_utf8(text).ok()
}
