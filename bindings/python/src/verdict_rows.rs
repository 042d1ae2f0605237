//! Verdicts as a table: one row for each assertion of each run, and one for each unreadable row of the data.

use arrow_array::builder::{Float64Builder, StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use averment::Outcome;
use std::sync::Arc;

/// A table that is being built.
pub struct VerdictRows {
    first: u64,
    names: Vec<Option<String>>,
    judged: Vec<bool>,
    row: UInt64Builder,
    run: StringBuilder,
    rule: StringBuilder,
    assertion: StringBuilder,
    severity: StringBuilder,
    verdict: StringBuilder,
    status: StringBuilder,
    score: Float64Builder,
    violations: UInt64Builder,
    reason: StringBuilder,
    message: StringBuilder,
}

/// The cells that differ between rows with and without a verdict.
struct VerdictCells<'a> {
    rule: Option<&'a str>,
    assertion: Option<&'a str>,
    severity: Option<&'a str>,
    verdict: Option<&'a str>,
    status: &'a str,
    score: Option<f64>,
    violations: Option<u64>,
    reason: Option<&'a str>,
    message: Option<&'a str>,
}

impl VerdictRows {
    /// Returns the columns. Only `row` and `status` are set in every row, except that `row` is null for results over all runs.
    pub fn schema() -> SchemaRef {
        let text = |name| Field::new(name, DataType::Utf8, true);
        Arc::new(Schema::new(vec![
            Field::new("row", DataType::UInt64, true),
            text("run"),
            text("rule"),
            text("assertion"),
            text("severity"),
            text("verdict"),
            Field::new("status", DataType::Utf8, false),
            Field::new("score", DataType::Float64, true),
            Field::new("violations", DataType::UInt64, true),
            text("reason"),
            text("message"),
        ]))
    }

    /// Creates a table for the data rows from this number on, with their names.
    pub fn new(first: u64, names: Vec<Option<String>>) -> Self {
        Self {
            first,
            judged: vec![false; names.len()],
            names,
            row: UInt64Builder::new(),
            run: StringBuilder::new(),
            rule: StringBuilder::new(),
            assertion: StringBuilder::new(),
            severity: StringBuilder::new(),
            verdict: StringBuilder::new(),
            status: StringBuilder::new(),
            score: Float64Builder::new(),
            violations: UInt64Builder::new(),
            reason: StringBuilder::new(),
            message: StringBuilder::new(),
        }
    }

    fn place(&self, row: u64) -> Option<usize> {
        row.checked_sub(self.first).and_then(|place| usize::try_from(place).ok())
    }

    fn mark_judged(&mut self, row: Option<u64>) {
        let place = row.and_then(|row| self.place(row));
        if let Some(judged) = place.and_then(|place| self.judged.get_mut(place)) {
            *judged = true;
        }
    }

    fn add(&mut self, row: Option<u64>, cells: &VerdictCells<'_>) {
        self.mark_judged(row);
        let place = row.and_then(|row| self.place(row));
        let name = place.and_then(|place| self.names.get(place)).and_then(Option::as_deref);
        self.row.append_option(row);
        self.run.append_option(name);
        self.rule.append_option(cells.rule);
        self.assertion.append_option(cells.assertion);
        self.severity.append_option(cells.severity);
        self.verdict.append_option(cells.verdict);
        self.status.append_value(cells.status);
        self.score.append_option(cells.score);
        self.violations.append_option(cells.violations);
        self.reason.append_option(cells.reason);
        self.message.append_option(cells.message);
    }

    /// Adds the results of a run, or those over all runs.
    pub fn add_outcome(&mut self, row: Option<u64>, outcome: &Outcome) {
        self.mark_judged(row);
        for result in outcome.results() {
            self.add(
                row,
                &VerdictCells {
                    rule: result.rule(),
                    assertion: Some(result.id()),
                    severity: Some(result.assertion().severity().as_str()),
                    verdict: Some(result.verdict().as_str()),
                    status: result.status().as_str(),
                    score: result.score(),
                    violations: Some(result.violation_count()),
                    reason: Some(result.reason()).filter(|reason| !reason.is_empty()),
                    message: result.message(),
                },
            );
        }
    }

    /// Adds a data row that contains no run.
    pub fn add_unreadable(&mut self, row: u64, reason: &str) {
        self.add_unreadable_of(Some(row), reason);
    }

    /// Adds an unreadable data row whose number may be unknown.
    pub fn add_unreadable_of(&mut self, row: Option<u64>, reason: &str) {
        self.add_without_verdict(row, "unreadable", reason);
    }

    fn add_without_verdict(&mut self, row: Option<u64>, status: &str, reason: &str) {
        self.add(
            row,
            &VerdictCells {
                rule: None,
                assertion: None,
                severity: None,
                verdict: None,
                status,
                score: None,
                violations: None,
                reason: Some(reason),
                message: None,
            },
        );
    }

    /// Adds a row for each data row that was not judged, so that it is not mistaken for a passed one.
    pub fn add_missing(&mut self) {
        let missing: Vec<u64> =
            (self.first..).zip(&self.judged).filter(|(_, judged)| !**judged).map(|(row, _)| row).collect();
        for row in missing {
            self.add_without_verdict(Some(row), "not_judged", "the run was not judged");
        }
    }

    /// Returns the table.
    pub fn finish_batch(mut self) -> Result<RecordBatch, ArrowError> {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(self.row.finish()),
            Arc::new(self.run.finish()),
            Arc::new(self.rule.finish()),
            Arc::new(self.assertion.finish()),
            Arc::new(self.severity.finish()),
            Arc::new(self.verdict.finish()),
            Arc::new(self.status.finish()),
            Arc::new(self.score.finish()),
            Arc::new(self.violations.finish()),
            Arc::new(self.reason.finish()),
            Arc::new(self.message.finish()),
        ];
        RecordBatch::try_new(Self::schema(), columns)
    }
}
