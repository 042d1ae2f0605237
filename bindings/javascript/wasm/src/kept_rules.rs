//! Compiled rules, which JavaScript refers to by number.

use crate::answer::{Refusal, json_bytes};
use crate::exchange::Slot;
use crate::settings::RuleSettings;
use averment::{Assertion, Outcome, ReadError, Rules, RunError, TestOutcome, Trace};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

#[derive(Default)]
struct KeptRules {
    all: BTreeMap<u32, Rules>,
    last: u32,
}

thread_local! {
    static KEPT: RefCell<KeptRules> = RefCell::default();
}

pub fn compile_rules(settings: RuleSettings) -> Result<Vec<u8>, Refusal> {
    let rules = settings.into_builder().build()?;
    let of_all_runs: Vec<bool> = rules.report_table().items.iter().map(|item| item.of_all_runs).collect();
    let assertions = rules.assertions().zip(of_all_runs).map(|(one, of_all)| assertion_data(&one, of_all));
    let assertions: Vec<Value> = assertions.collect();
    let diagnostics = rules.diagnostics().data();
    let number = KEPT.with_borrow_mut(|kept| {
        kept.last = kept.last.wrapping_add(1);
        kept.all.insert(kept.last, rules);
        kept.last
    });
    json_bytes(&json!({"rules": number, "assertions": assertions, "diagnostics": diagnostics}))
}

pub fn forget_rules(number: u32) {
    KEPT.with_borrow_mut(|kept| kept.all.remove(&number));
}

/// Returns a clone that shares its data with the kept rules.
pub fn find_rules(number: u32) -> Result<Rules, Refusal> {
    KEPT.with_borrow(|kept| kept.all.get(&number).cloned()).ok_or(Refusal::Unknown)
}

/// Returns the run in the input slot, with the name in the settings slot.
fn given_trace() -> Trace {
    let name = String::from_utf8_lossy(&Slot::Settings.take()).into_owned();
    Trace::from(Slot::Input.take()).named(name)
}

pub fn check_one(number: u32) -> Result<Vec<u8>, Refusal> {
    json_bytes(&find_rules(number)?.check_one(given_trace())?)
}

/// A judged trace, in the JSON form of `aver check --format json`.
#[derive(Default, Serialize)]
struct JudgedTrace {
    runs: Vec<Outcome>,
    unreadable: Vec<ReadError>,
}

pub fn check_all(number: u32) -> Result<Vec<u8>, Refusal> {
    let mut judged = JudgedTrace::default();
    for outcome in find_rules(number)?.check(given_trace()) {
        match outcome {
            Ok(outcome) => judged.runs.push(outcome),
            Err(RunError::Read(error)) => judged.unreadable.push(error),
            Err(other) => return Err(other.into()),
        }
    }
    json_bytes(&judged)
}

pub fn explain_one(number: u32) -> Result<Vec<u8>, Refusal> {
    let explanation = find_rules(number)?.explain_one(given_trace())?;
    json_bytes(&json!({"text": explanation.to_string(), "data": explanation}))
}

pub fn run_tests(number: u32) -> Result<Vec<u8>, Refusal> {
    json_bytes(&find_rules(number)?.run_tests().iter().map(test_data).collect::<Vec<Value>>())
}

fn assertion_data(one: &Assertion<'_>, of_all_runs: bool) -> Value {
    let place = one.place();
    json!({
        "id": one.id(), "rule": one.rule(), "sentence": one.sentence(), "text": one.text(),
        "severity": one.severity().as_str(), "weight": one.weight(), "tags": one.tags(),
        "file": place.file, "line": place.line, "column": place.column, "ofAllRuns": of_all_runs,
    })
}

fn test_data(test: &TestOutcome) -> Value {
    let verdicts: Map<String, Value> =
        test.verdicts.iter().map(|(id, verdict)| (id.clone(), verdict.as_str().into())).collect();
    json!({
        "name": test.name, "file": test.place.file, "line": test.place.line, "column": test.place.column,
        "passed": test.passed, "reason": test.reason, "verdicts": verdicts,
    })
}
