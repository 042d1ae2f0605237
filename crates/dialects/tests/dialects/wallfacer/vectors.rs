//! The test vectors: each assertion is judged as a fixture and as a call of a recorded run.

use crate::judged::Given;
use crate::tally::{Tally, few_decisions};
use averment::Verdict;
use averment_fixtures::shared;
use serde_json::{Value as Json, json};
use std::path::Path;

const EVAL: &str = "conformance/wallfacer/wallfacer_eval_parse_vectors.json";
pub const COURSE: &str = "conformance/wallfacer/wallfacer_sequence_fixture_generator_vectors.json";

/// The expected behavior where Wallfacer's program deviates from its documentation.
enum Asked {
    /// The file is rejected with these words.
    Refused(&'static str),
    /// These tools are called, in this order.
    Calls(&'static [&'static str]),
}

/// The vectors with such a deviation: label, documented promise and expected behavior.
const SURPRISES: [(&str, &str, Asked); 11] = [
    ("unknown extra keys silently ignored", "keys that mean nothing are told", Asked::Refused("has no key `message`")),
    ("unknown top-level key ignored", "keys that mean nothing are told", Asked::Refused("has no key `whatever`")),
    (
        "typo for_each_tools silently ignored",
        "keys that mean nothing are told",
        Asked::Refused("did you mean `for_each_tool`?"),
    ),
    ("unknown annotation key ignored", "keys that mean nothing are told", Asked::Refused("has no key `titleHint`")),
    ("override containing double quote breaks yaml", "parameters are values", Asked::Calls(&[r#"a\"b"#])),
    ("override containing backslash in dq scalar", "parameters are values", Asked::Calls(&[r"\\d"])),
    (
        "override containing newline / yaml injection",
        "parameters are values",
        Asked::Calls(&[r#"a\"\n    cases: 7\n    input: schema_valid\n    # "#]),
    ),
    (
        "extends: collision keeps both, parent first; parent sequences DROPPED",
        "the pack itself has the last word, and what is inherited is all",
        Asked::Calls(&["childtool", "tool"]),
    ),
    (
        "extends override declared only in child => parent errors",
        "the parameters of a pack can be given",
        Asked::Calls(&["childtool", "tool"]),
    ),
    ("extends override declared in both", "the pack itself has the last word", Asked::Calls(&["childtool", "tool"])),
    ("same parent listed twice", "the pack itself has the last word", Asked::Calls(&["childtool", "tool"])),
];

/// Vectors that differ by decision: label and reason.
const DECISIONS: [(&str, &str); 7] = [
    ("any_of short-circuit: pass before bad regex", "a bad expression is an error of the file"),
    ("all_of short-circuit: fail before structural", "a bad expression is an error of the file"),
    ("at_most rhs .inf", "infinity is no JSON"),
    ("schema pattern lookahead (fancy regex)", "expressions of schemas are linear"),
    ("schema format email not asserted", "`format` is asserted in every draft"),
    ("steps placeholder survives", "a step that nothing binds is an error of the file"),
    ("failing step stops; later steps not evaluated", "a step that nothing binds is an error of the file"),
];

fn text(path: &Path) -> Json {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns Wallfacer's word for a verdict.
pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass | Verdict::Vacuous => "pass",
        Verdict::Fail => "fail",
        Verdict::Error | Verdict::Undecided => "structural",
        Verdict::Skipped => "skipped",
    }
}

/// Counts a vector. If the program deviates from its documentation, the documented behavior is expected.
fn settle(tally: &mut Tally, label: &str, good: bool, given: &Given<'_>, what: String) {
    if let Some((_, promise, asked)) = SURPRISES.iter().find(|(known, ..)| *known == label) {
        let kept = match (asked, given.imported()) {
            (Asked::Refused(words), Err(said)) => said.contains(words),
            (Asked::Calls(tools), Ok(text)) => called(&text) == *tools,
            _ => false,
        };
        println!("    as documented, not as run: {label}: {promise}");
        return if kept { tally.agrees() } else { tally.wrong(format!("{label}: {:?}", given.imported())) };
    }
    match (good, DECISIONS.iter().find(|(known, _)| *known == label)) {
        (true, _) => tally.agrees(),
        (false, Some((_, why))) => tally.decided(why),
        (false, None) => tally.wrong(format!("{label}: {what}")),
    }
}

/// Returns a pack with one invariant, from a vector.
fn pack(vector: &Json) -> String {
    let asserted = vector["assert_yaml"].as_str().unwrap().replace('\n', "\n      ");
    let fixture = json!({"name": "f", "input": vector["input"], "response": vector["response"], "expect": "pass"});
    format!(
        "version: 3\ninvariants:\n  - name: v\n    tool: t\n    fixed: {{}}\n    assert:\n      {asserted}\n    test_fixtures: [{fixture}]\n"
    )
}

fn eval(vectors: &Json) -> (usize, usize) {
    let mut tally = Tally::of("eval");
    for vector in vectors["eval"].as_array().unwrap() {
        let (label, status) = (vector["label"].as_str().unwrap(), vector["status"].as_str().unwrap());
        let text = pack(vector);
        let given = Given { name: "pack.yaml", text: &text, ..Given::default() };
        let run =
            json!({"tools": [], "calls": [{"tool": "t", "args": vector["input"], "response": vector["response"]}]});
        let (tested, judged) = match (given.tested(), given.judge(&run.to_string())) {
            (Ok(tested), Ok(judged)) => {
                given.imports_cleanly();
                let verdict = tested[0].2[0].1;
                // A fixture has exactly three outcomes.
                assert!(verdict != Verdict::Vacuous, "{label}: {}", given.imported().unwrap());
                (word(verdict), word(judged.rules[0].1))
            }
            (Err(said), Err(_)) => {
                assert!(said.starts_with("pack.yaml:"), "{said}");
                let good = ["structural", "parse_error"].contains(&status);
                settle(&mut tally, label, good, &given, format!("{status}, here {said}"));
                continue;
            }
            (tested, judged) => panic!("{label}: {tested:?} {judged:?}"),
        };
        let good = tested == status && judged == status;
        settle(
            &mut tally,
            label,
            good,
            &given,
            format!("{status}, here {tested} as a fixture, {judged} of a run\n{}", given.imported().unwrap()),
        );
    }
    tally.end()
}

/// Returns the tools that invariants call, in order.
fn called(text: &str) -> Vec<String> {
    let calls = text.lines().filter_map(|line| line.trim().strip_prefix("call "));
    calls
        .map(|call| call.split(" {").next().unwrap().to_owned())
        .map(|call| match call.strip_prefix('"') {
            Some(quoted) => quoted.strip_suffix('"').unwrap().to_owned(),
            None => call,
        })
        .collect()
}

fn parse(vectors: &Json) -> (usize, usize) {
    let mut tally = Tally::of("parse");
    for vector in vectors["parse"].as_array().unwrap() {
        let label = vector["label"].as_str().unwrap();
        let entries = |key: &str, name: fn(&str) -> String| -> Vec<(String, String)> {
            let entries = vector[key].as_object().unwrap().iter();
            entries.map(|(key, value)| (name(key), value.as_str().unwrap().to_owned())).collect()
        };
        let beside = entries("packs", |name| format!("packs/{name}.yaml"));
        let params = entries("overrides", str::to_owned);
        let beside: Vec<(&str, &str)> = beside.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let params: Vec<(&str, &str)> = params.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let text = vector["yaml"].as_str().unwrap();
        let given = Given { name: "pack.yaml", text, beside: &beside, params: &params, ..Given::default() };
        let found = given.imported();
        let good = match (&found, vector["ok"].as_bool().unwrap()) {
            (Err(said), false) => {
                said.lines().all(|line| line.split(':').nth(2).is_some_and(|column| column.parse::<u32>().is_ok()))
            }
            (Ok(text), true) => {
                given.imports_cleanly();
                let tools = vector["file"]["invariants"].as_array().unwrap().iter();
                let tools: Vec<&str> = tools.map(|one| one["tool"].as_str().unwrap()).collect();
                let here: Vec<String> = called(text).into_iter().filter(|tool| tool != "tool").collect();
                here == tools
            }
            _ => false,
        };
        settle(&mut tally, label, good, &given, format!("{}, here {found:?}", vector["ok"]));
    }
    tally.end()
}

/// Returns the outcomes of fixtures, in order: matched, mismatched, structural.
fn outcomes(given: &Given<'_>) -> Result<Vec<&'static str>, String> {
    let outcome = |(_, passed, verdicts): &crate::judged::Tested| match (passed, verdicts.first()) {
        (true, _) => "Match",
        (false, Some((_, Verdict::Pass | Verdict::Fail))) => "Mismatch",
        (false, _) => "Structural",
    };
    Ok(given.tested()?.iter().map(outcome).collect())
}

fn fixtures(vectors: &Json, key: &'static str) -> (usize, usize) {
    let mut tally = Tally::of(key);
    for vector in vectors[key].as_array().unwrap() {
        let label = vector["label"].as_str().unwrap();
        let given = Given { name: "pack.yaml", text: vector["yaml"].as_str().unwrap(), ..Given::default() };
        let wanted = vector["result"].as_array().unwrap().iter().map(|one| one["outcome"].as_str().unwrap());
        let wanted: Vec<&str> = wanted.map(|outcome| outcome.split(' ').next().unwrap()).collect();
        let found = outcomes(&given);
        let good = match &found {
            Ok(found) => {
                given.imports_cleanly();
                *found == wanted
            }
            Err(_) => wanted.iter().all(|outcome| *outcome == "Structural"),
        };
        settle(
            &mut tally,
            label,
            good,
            &given,
            format!("{wanted:?}, here {found:?}\n{}", given.imported().unwrap_or_default()),
        );
    }
    tally.end()
}

/// Tests which tools a block applies to, with one call of each tool in the run.
fn for_each_tool(vectors: &Json) -> (usize, usize) {
    let mut tally = Tally::of("for_each_tool");
    for vector in vectors["for_each_tool"].as_array().unwrap() {
        let label = vector["label"].as_str().unwrap();
        let given = Given { name: "pack.yaml", text: vector["yaml"].as_str().unwrap(), ..Given::default() };
        let mut here = Vec::new();
        let mut refused = None;
        for tool in vector["tools"].as_array().unwrap() {
            let name = &tool["name"];
            let wanted = vector["result"].as_array().and_then(|all| all.iter().find(|one| one["tool"] == *name));
            let args = wanted.map(|one| one["fixed"].clone()).filter(Json::is_object).unwrap_or(json!({"e": name}));
            let run = json!({"tools": vector["tools"], "calls": [{"tool": name, "args": args, "response": vector["response"]}]});
            match given.judge(&run.to_string()) {
                Ok(judged) if judged.rules[0].1 == Verdict::Skipped => {}
                Ok(judged) => here.push(format!("{}: {}", name.as_str().unwrap(), word(judged.rules[0].1))),
                Err(said) => refused = Some(said),
            }
        }
        let good = match (vector["result"].as_array(), refused.is_some()) {
            (Some(all), false) => {
                given.imports_cleanly();
                let wanted = all
                    .iter()
                    .map(|one| format!("{}: {}", one["tool"].as_str().unwrap(), one["eval"].as_str().unwrap()));
                here == wanted.collect::<Vec<_>>()
            }
            (all, refused) => all.is_none() && refused,
        };
        settle(
            &mut tally,
            label,
            good,
            &given,
            format!("{}, here {here:?} {refused:?}\n{}", vector["result"], given.imported().unwrap_or_default()),
        );
    }
    tally.end()
}

/// Tests the substitution in step arguments: the call with the substituted argument is the one that is judged.
fn substitution(vectors: &Json) -> (usize, usize) {
    let mut tally = Tally::of("substitution");
    for vector in vectors["substitution"].as_array().unwrap() {
        let label = vector["label"].as_str().unwrap();
        let bound = &vector["bindings"]["x"];
        let steps = json!([
            {"call": "a", "with": bound["input"], "bind": "x"},
            {"call": "b", "with": {"v": vector["value"]}, "assert": [{"kind": "equals", "lhs": "$.response.seen", "rhs": true}]}
        ]);
        let fixture = json!({"name": "f", "responses": [bound["response"], {"seen": true}], "expect": "pass"});
        let text = json!({"version": 3, "invariants": [], "sequences": [{"name": "s", "steps": steps, "test_fixtures": [fixture]}]}).to_string();
        let given = Given { name: "pack.yaml", text: &text, ..Given::default() };
        let called = |value: &Json| {
            json!({"calls": [
                {"tool": "a", "args": bound["input"], "response": bound["response"]},
                {"tool": "b", "args": {"v": value}, "response": {"seen": false}}
            ]})
        };
        let found = outcomes(&given);
        let good = match (vector["result"].get("ok"), &found) {
            (Some(value), Ok(found)) => {
                given.imports_cleanly();
                let own = given.judge(&called(value).to_string()).unwrap();
                let other = given.judge(&called(&json!("another")).to_string()).unwrap();
                *found == ["Match"] && word(own.rules[0].1) == "fail" && word(other.rules[0].1) == "pass"
            }
            (None, Ok(found)) => *found == ["Structural"],
            (value, Err(_)) => value.is_none(),
        };
        settle(
            &mut tally,
            label,
            good,
            &given,
            format!("{}, here {found:?}\n{}", vector["result"], given.imported().unwrap_or_default()),
        );
    }
    tally.end()
}

#[test]
fn conformance_wallfacer() {
    let (Some(first), Some(second)) = (shared(EVAL), shared(COURSE)) else { return };
    let (first, second) = (text(&first), text(&second));
    let mut files = vec![eval(&first), parse(&first), fixtures(&second, "fixtures"), fixtures(&second, "sequences")];
    files.extend([for_each_tool(&second), substitution(&second)]);
    files.extend([super::generated::generators(&second), super::generated::reported_seeds()]);
    files.extend(super::packs::packs());
    few_decisions("wallfacer", files);
}
