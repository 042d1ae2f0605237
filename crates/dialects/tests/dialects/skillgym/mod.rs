//! SkillGym suites, compared with verdicts recorded from SkillGym itself. Each vector is written as a case in TypeScript.

mod followed;
mod generated;
mod observed;
mod programs;

use crate::judged::Given;
use crate::tally::{Tally, few_decisions};
use averment::Verdict;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_dialects::{ForeignOptions, LoweringInputs, compile_foreign};
use averment_fixtures::{lines, shared};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Returns a value of a vector as TypeScript.
fn typescript(value: &Value) -> String {
    let Some(object) = value.as_object() else {
        return match value {
            Value::Array(items) => format!("[{}]", items.iter().map(typescript).collect::<Vec<_>>().join(", ")),
            other => other.to_string(),
        };
    };
    if let Some(pattern) = object.get("$regex").and_then(Value::as_str) {
        let flags = object.get("$flags").and_then(Value::as_str).unwrap_or_default();
        // Half of the regular expressions are created from a text.
        return match pattern.len() % 2 == 0 && !pattern.is_empty() && !pattern.contains('\n') {
            true => format!("/{}/{flags}", pattern.replace("\\/", "/").replace('/', "\\/")),
            false => format!("new RegExp({}, {})", json!(pattern), json!(flags)),
        };
    }
    if let Some(matcher) = object.get("$matcher") {
        return typescript(matcher);
    }
    if let Some(conditions) = object.get("$where").and_then(Value::as_array) {
        let tests: Vec<String> = conditions.iter().map(condition).collect();
        return format!("(args) => {}", tests.join(" && "));
    }
    let entry = |(key, value): (&String, &Value)| format!("{}: {}", json!(key), typescript(value));
    format!("{{ {} }}", object.iter().map(entry).collect::<Vec<_>>().join(", "))
}

/// Returns a condition on arguments.
fn condition(condition: &Value) -> String {
    let subject = match condition["path"].as_str().unwrap_or_default() {
        "" => "args".to_owned(),
        index if index.parse::<u32>().is_ok() => format!("args[{index}]"),
        key => format!("args?.{key}"),
    };
    if let Some(part) = condition["contains"].as_str() {
        return format!("{subject}.includes({})", json!(part));
    }
    match condition["matches"].as_str() {
        Some(pattern) => format!("new RegExp({}).test({subject})", json!(pattern)),
        None => format!("{subject} === {}", condition["equals"]),
    }
}

/// Returns the run of a report. Reads are taken from the events, or from the observed reads if there are no such events.
fn run(report: &Value) -> Value {
    let events = |kind: &str| -> Vec<&Value> {
        report["events"].as_array().into_iter().flatten().filter(|event| event["type"] == kind).collect()
    };
    let calls: Vec<Value> =
        events("toolCall").iter().map(|event| json!({ "tool": event["tool"], "args": event["args"] })).collect();
    let commands: Vec<Value> = events("command").iter().map(|event| json!({ "command": event["command"] })).collect();
    let mut reads: Vec<Value> = events("fileRead").iter().map(|event| event["path"].clone()).collect();
    if reads.is_empty() {
        reads = report["files"]["observedReads"].as_array().cloned().unwrap_or_default();
    }
    let detected = report["detectedSkills"].as_array().into_iter().flatten();
    let skills: Vec<Value> =
        detected.map(|skill| json!({ "name": skill["skill"], "confidence": skill["confidence"] })).collect();
    json!({
        "prompt": "p", "calls": calls, "commands": commands, "reads": reads, "skills": skills, "output": report["finalOutput"]
    })
}

/// Returns a suite of one case.
fn suite(assertion: &str) -> String {
    format!(
        "import {{ assert, type Case }} from \"skillgym\";\n\nconst suite: Case[] = [\n  {{ id: \"c\", prompt: \"p\", async assert(report, ctx) {{\n    {assertion};\n  }} }},\n];\n\nexport default suite;\n"
    )
}

/// Returns the imported rules of a case with this body, with the unread parts, and the text of the rules.
fn imported_rules(body: &str) -> (averment::Rules, String) {
    let mut sources = SourceMap::default();
    let text = suite(body);
    let root = sources.add_file(SourceFile::new("demo-suite.ts", Some(Path::new("")), text.as_str()));
    let options = ForeignOptions { partly: true, ..ForeignOptions::default() };
    let how = LoweringInputs { files: &Memory::new(std::iter::empty::<(&str, &str)>()), options };
    let compiled = compile_foreign(&mut sources, root, &[], Limits::default(), how);
    let text = compiled.lowered.map(|lowered| lowered.written.text).unwrap_or_default();
    let rules = averment::Rules::builder().text("demo.assert", text.as_str()).build();
    (rules.unwrap_or_else(|error| panic!("{error}\n{text}")), text)
}

/// Returns true if a run passes in SkillGym; a vacuous assertion passes.
fn passes(text: &str, run: &Value) -> Result<bool, String> {
    let given = Given { name: "v-suite.ts", text, ..Given::default() };
    let judged = given.judge(&run.to_string())?;
    let holds = |verdict: &Verdict| match verdict {
        Verdict::Pass | Verdict::Vacuous => Ok(true),
        Verdict::Fail => Ok(false),
        other => Err(format!("{other:?}")),
    };
    let verdicts: Result<Vec<bool>, String> = judged.results.iter().map(|(_, verdict, _)| holds(verdict)).collect();
    Ok(verdicts?.iter().all(|holds| *holds))
}

fn compare(file: &str, vectors: impl Iterator<Item = (String, Value, bool)>) -> (usize, usize) {
    let mut tally = Tally::of(file);
    for (assertion, run, expected) in vectors {
        match passes(&suite(&assertion), &run) {
            Ok(passed) if passed == expected => tally.agrees(),
            other => tally.wrong(format!("expected {expected}, found {other:?}: {assertion}\n  {run}")),
        }
    }
    tally.end()
}

/// Returns the call of an assertion.
fn call(vector: &Value) -> String {
    let arguments = vector["args"].as_array().into_iter().flatten().map(typescript);
    let arguments: Vec<String> = ["report".to_owned()].into_iter().chain(arguments).collect();
    let (group, method) = (vector["group"].as_str().unwrap(), vector["method"].as_str().unwrap());
    format!("assert.{group}.{method}({})", arguments.join(", "))
}

/// Returns a structured matcher, written with its builder.
fn builder(matcher: &Map<String, Value>) -> String {
    let mut out = "commandMatcher()".to_owned();
    for (key, value) in matcher {
        let of = |method: &str, value: &Value| format!(".{method}({})", typescript(value));
        let all = |value: &Value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        match key.as_str() {
            "executable" => out.push_str(&of("executable", value)),
            "positionals" => all(value).iter().for_each(|value| out.push_str(&of("arg", value))),
            // A builder cannot express an option without a value.
            "options" if value.as_object().unwrap().values().all(|values| *values != json!([])) => {
                for (name, values) in value.as_object().unwrap() {
                    for value in all(values) {
                        let value = if value == true { String::new() } else { format!(", {}", typescript(&value)) };
                        out.push_str(&format!(".option({}{value})", json!(name)));
                    }
                }
            }
            "endOfOptions" if *value == true => out.push_str(".endOfOptions()"),
            "exact" | "strict" if *value == true => out.push_str(".strict()"),
            _ => return typescript(&Value::Object(matcher.clone())),
        }
    }
    format!("{out}.build()")
}

/// Returns the vectors of a file.
fn vectors(folder: &Path, file: &str) -> Vec<Value> {
    lines(&folder.join(file))
}

#[test]
fn conformance_skillgym() {
    let Some(folder) = shared("conformance/skillgym") else { return };
    let reports = std::fs::read_to_string(folder.join("golden_reports.json")).unwrap();
    let reports: Value = serde_json::from_str(&reports).unwrap();
    let assertions = vectors(&folder, "golden_assertions.jsonl");
    let assertions = assertions.iter().map(|vector| {
        (call(vector), run(&reports[vector["report"].as_str().unwrap()]), vector["expected_passed"] == true)
    });
    let own = vectors(&folder, "unit_test_assertions.jsonl");
    let own = own.iter().filter(|vector| vector["report"].is_object());
    let own = own.map(|vector| (call(vector), run(&vector["report"]), vector["expected_passed"] == true));
    let matched = vectors(&folder, "golden_structured_match.jsonl");
    let matched = matched.iter().flat_map(|vector| {
        let run = json!({ "prompt": "p", "commands": [{ "command": vector["command"] }] });
        let object = vector["matcher"].as_object().unwrap();
        let texts = [typescript(&vector["matcher"]), builder(object)];
        texts.map(|text| (format!("assert.commands.includes(report, {text})"), run.clone(), vector["expected"] == true))
    });
    few_decisions(
        "SkillGym",
        [
            compare("golden_assertions.jsonl", assertions),
            compare("unit_test_assertions.jsonl", own),
            compare("golden_structured_match.jsonl", matched),
            configurations(&folder),
            expected_failures(&folder),
        ],
    );
}

/// Tests valid and invalid configurations.
fn configurations(folder: &Path) -> (usize, usize) {
    let mut tally = Tally::of("golden_config.jsonl, golden_workspace_validation.jsonl");
    let configurations = vectors(folder, "golden_config.jsonl");
    let of_config = configurations.iter().map(|vector| (vector["config"].clone(), vector["expected_error"].is_null()));
    let workspaces = vectors(folder, "golden_workspace_validation.jsonl");
    let runners = json!({ "a": { "agent": { "type": "codex", "model": "m" } } });
    let of_workspace = workspaces
        .iter()
        .map(|vector| (json!({ "runners": runners, "run": { "workspace": vector["config"] } }), vector["ok"] == true));
    for (config, taken) in of_config.chain(of_workspace) {
        let text = format!("export default {};\n", typescript(&config));
        let suite = suite("assert.output.notEmpty(report)");
        let given = Given { name: "v.ts", text: &suite, beside: &[("skillgym.config.mjs", &text)], ..Given::default() };
        match given.imported() {
            Ok(_) if taken => tally.agrees(),
            Err(_) if !taken => tally.agrees(),
            other => tally.wrong(format!("taken: {taken}, here {other:?}: {config}")),
        }
    }
    tally.end()
}

/// Tests cases whose failure is expected.
fn expected_failures(folder: &Path) -> (usize, usize) {
    let mut tally = Tally::of("golden_expected_fail.jsonl");
    for vector in vectors(folder, "golden_expected_fail.jsonl") {
        let raw = &vector["raw"];
        // Sessions that ended for another reason are not about assertions.
        if raw["passed"] != true && raw["failureOrigin"] != "assertion" {
            continue;
        }
        let expected = if vector["expectedFail"].is_null() {
            String::new()
        } else {
            format!("expectedFail: {}, ", vector["expectedFail"])
        };
        for assertions in [
            "assert.match(report.finalOutput, /a/)",
            "assert.output.notEmpty(report); assert.match(report.finalOutput, /a/)",
        ] {
            let text = format!(
                "import {{ assert }} from 'skillgym'\nexport default {{ one: {{ id: 'c', prompt: 'p', {expected}assert(report) {{ {assertions} }} }} }}\n"
            );
            let output = if raw["passed"] == true { "a" } else { "b" };
            let given = Given { name: "v.ts", text: &text, ..Given::default() };
            let judged = given.judge(&json!({ "prompt": "p", "output": output }).to_string()).unwrap();
            match judged.passed == (vector["expected"]["passed"] == true) {
                true => tally.agrees(),
                false => tally.wrong(format!("{vector}: {assertions}")),
            }
        }
    }
    tally.end()
}
