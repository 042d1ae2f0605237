//! Tests as data.

use super::failed;
use crate::cells::Cells;
use crate::outcome::Tested;
use averment_base::truth::Verdict;
use serde_json::{Value, json};

/// The object of `--format json`, without what other parts of the command add to it.
#[must_use]
pub fn data(tested: &[Tested]) -> Value {
    let tests: Vec<Value> = tested.iter().map(test).collect();
    let failed = failed(tested);
    json!({
        "version": 1,
        "tests": tests,
        "cells": Cells::of(tested).data(),
        "summary": {"tests": tested.len(), "passed": tested.len() - failed, "failed": failed},
    })
}

fn test(test: &Tested) -> Value {
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
