//! Small files in the shape of what many producers write, each with what it holds: tools in order, results, answer, tokens.

use averment_base::limits::Limits;
use averment_base::value::Value;
use averment_base::value::json::to_json;
use averment_fixtures::shared;
use averment_runs::normal::of_run;
use averment_runs::run::{Run, StepKind, StepStatus};
use averment_traces::{TraceRuns, parse_run};
use bumpalo::Bump;
use serde_json::{Value as Json, json};
use std::path::Path;

pub(super) fn json_of(value: Value<'_>) -> Json {
    match value {
        Value::Absent | Value::Missing => Json::Null,
        value => serde_json::from_str(&to_json(&value)).unwrap(),
    }
}

/// What a run says, in the words of the files.
fn told(run: &Run<'_>) -> Json {
    let calls: Vec<_> = run.steps.iter().filter(|step| step.kind == StepKind::Call).collect();
    let field = |key: &str| -> Vec<Json> {
        calls.iter().map(|call| call.object.get(key).map_or(Json::Null, |node| json_of(node.value))).collect()
    };
    let said = run.steps.iter().filter(|step| step.kind == StepKind::Message && step.name == "user");
    let usage = json_of(run.root_value(of_run::USAGE).value);
    json!({
        "tools": calls.iter().map(|call| call.name).collect::<Vec<_>>(),
        "calls": calls.len(),
        "errors": calls.iter().filter(|call| call.status == StepStatus::Failed).count(),
        "output": json_of(run.root_value(of_run::OUTPUT).value),
        "tokens": if usage.is_null() { Json::Null } else { json!([usage["input_tokens"], usage["output_tokens"]]) },
        "results": field("result"),
        "args": field("args"),
        "user": said.map(|step| step.object.get("text").map_or(Json::Null, |node| json_of(node.value))).collect::<Vec<_>>(),
    })
}

/// Why a file is not read as it should be.
fn disagreement(path: &Path, expected: &Json) -> Option<String> {
    let limits = Limits::default();
    let raws: Result<Vec<_>, _> = TraceRuns::open_file(path.to_str().unwrap(), &limits).unwrap().collect();
    let raws = match raws {
        Ok(raws) => raws,
        Err(error) => return (!expected["tools"].is_null()).then(|| format!("refused: {}", error.message)),
    };
    let [raw] = &raws[..] else { return Some(format!("{} runs", raws.len())) };
    let arena = Bump::new();
    let run = match parse_run(raw, &arena, &limits) {
        Ok(run) => run,
        Err(error) => return (!expected["tools"].is_null()).then(|| format!("refused: {}", error.message)),
    };
    let records = run.recorded.get(StepKind::Call as usize) == Some(&true);
    let is_open = !run.complete || !records;
    let told = told(&run);
    if let Some(words) = expected["not_said_by_user"].as_array() {
        let said = told["user"].as_array().unwrap();
        if let Some(word) = words.iter().find(|word| said.contains(word)) {
            return Some(format!("the user said {word}"));
        }
    }
    let mut keys = vec!["output", "tokens"];
    if expected["tools"].is_null() {
        if !is_open {
            return Some("calls count as recorded".to_owned());
        }
        keys.clear();
    } else {
        keys.extend(["tools", "calls", "errors"]);
        keys.extend(["results", "args"].into_iter().filter(|key| expected.get(*key).is_some()));
        if !records || !run.complete && expected["complete"] != json!(false) {
            return Some(format!("calls recorded: {records}, complete: {}", run.complete));
        }
    }
    // The answer of a run whose file tells none is not compared.
    keys.retain(|key| !["output", "tokens"].contains(key) || !expected[*key].is_null());
    let wrong = keys.into_iter().find(|key| told[*key] != expected[*key])?;
    let (ours, theirs) = (&told[wrong], &expected[wrong]);
    // The results of some calls may be what is told.
    if wrong == "results"
        && ours.as_array().unwrap().iter().take(theirs.as_array().unwrap().len()).eq(theirs.as_array().unwrap())
    {
        return None;
    }
    Some(format!("{wrong}: {ours} instead of {theirs}"))
}

#[test]
fn conformance_of_traces_with_files_of_many_producers() {
    let Some(folder) = shared("traces/wild") else { return };
    let (mut agreed, mut wrong) = (0, Vec::new());
    for path in averment_fixtures::files(&folder) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(stem) = name.strip_suffix(".expect.json") else { continue };
        let expected: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        match disagreement(&folder.join(format!("{stem}.json")), &expected) {
            None => agreed += 1,
            Some(why) => {
                eprintln!("{stem}: {why}");
                wrong.push(stem.to_owned());
            }
        }
    }
    eprintln!("wild: {agreed} files agree, {} do not", wrong.len());
    assert!(wrong.is_empty(), "{wrong:?}");
}
