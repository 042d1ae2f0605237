//! Tests as data.

use super::failed_count;
use crate::cells::VerdictMatrix;
use crate::outcome::TrialReport;
use averment_base::truth::Verdict;
use serde_json::{Value, json};

/// Returns the object of `--format json`, without the parts that the command adds.
#[must_use]
pub fn tests_data(tested: &[TrialReport]) -> Value {
    let tests: Vec<Value> = tested.iter().map(test_data).collect();
    let failed = failed_count(tested);
    json!({
        "version": 1,
        "tests": tests,
        "cells": VerdictMatrix::from_tests(tested).matrix_data(),
        "summary": {"tests": tested.len(), "passed": tested.len() - failed, "failed": failed},
    })
}

fn test_data(test: &TrialReport) -> Value {
    let found: Vec<Value> =
        test.found.iter().map(|(id, verdict)| json!({"id": id, "verdict": verdict.as_str()})).collect();
    let why: Vec<Value> =
        test.why.iter().map(|why| json!({"id": why.id, "status": why.status.as_str(), "reason": why.reason})).collect();
    json!({
        "name": test.name,
        "location": {"file": test.place.file, "line": test.place.line, "column": test.place.column},
        "expect": test.expect.map(Verdict::as_str),
        "observed": test.observed.map(Verdict::as_str),
        "passed": test.passed,
        "reason": test.reason,
        "help": test.help,
        "found": found,
        "assertions": why,
        "snapshot_changes": test.changes,
    })
}
