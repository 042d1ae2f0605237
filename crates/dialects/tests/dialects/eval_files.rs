//! Eval sets of Google ADK, data sets of pydantic-evals and test cases of DeepEval: verdicts of their cases on runs, and diagnostics of broken files.

use crate::judged::Given;
use crate::promptfoo::{Imported, import_file};
use averment::Verdict::{self, Fail, Pass, Undecided};
use serde_json::{Value as Json, json};

/// Returns the verdicts of a file on a run.
fn judge(name: &str, text: &str, beside: &[(&str, &str)], run: &Json) -> Vec<Verdict> {
    match import_file(name, text, beside, false) {
        Imported::Refused(said) => panic!("{text}: {said}"),
        Imported::Rules { rules, text } => {
            let outcome = rules.check_one(run.to_string()).unwrap_or_else(|error| panic!("{error}\n{text}"));
            outcome.results().map(|one| one.verdict()).filter(|verdict| *verdict != Verdict::Skipped).collect()
        }
    }
}

fn refused(name: &str, text: &str, beside: &[(&str, &str)]) -> String {
    match import_file(name, text, beside, false) {
        Imported::Refused(said) => said,
        Imported::Rules { text, .. } => panic!("it was read: {text}"),
    }
}

fn turn(calls: &Json, answer: &str) -> Json {
    json!({
        "user_content": {"parts": [{"text": "refund o-1"}]},
        "intermediate_data": {"tool_uses": calls},
        "final_response": {"parts": [{"text": answer}]},
    })
}

fn eval_set(turns: &[Json]) -> String {
    json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "one", "conversation": turns}]}).to_string()
}

/// Returns a run of the case with these calls: names with arguments.
fn run_with(calls: &[(&str, Json)], output: &Json) -> Json {
    let calls: Vec<Json> =
        calls.iter().map(|(tool, args)| json!({"tool": tool, "args": args, "result": 1, "status": "ok"})).collect();
    json!({"prompt": "refund o-1", "output": output, "calls": calls})
}

#[test]
fn an_eval_set_compares_trajectories_as_its_criteria_say() {
    let (a, b) = (("a", json!({"x": 1})), ("b", json!({})));
    let wanted = json!([{"name": "a", "args": {"x": 1}}, {"name": "b", "args": {}}]);
    let set = eval_set(&[turn(&wanted, "Done.")]);
    let config = |criterion: &Json| json!({"criteria": {"tool_trajectory_avg_score": criterion}}).to_string();
    let order = |order: &str| config(&json!({"threshold": 1.0, "match_type": order}));
    let names = config(&json!({"threshold": 1.0, "ignore_args": true}));
    let other = ("c", json!({}));
    let other_args = ("a", json!({"x": 2}));
    let rows = [
        (config(&json!(1.0)), vec![a.clone(), b.clone()], Pass),
        (config(&json!(1.0)), vec![a.clone(), b.clone(), other.clone()], Fail),
        (config(&json!(1.0)), vec![b.clone(), a.clone()], Fail),
        (order("IN_ORDER"), vec![a.clone(), other.clone(), b.clone()], Pass),
        (order("in-order"), vec![b.clone(), other.clone(), a.clone()], Fail),
        (order("ANY_ORDER"), vec![b.clone(), other.clone(), a.clone()], Pass),
        (order("ANY_ORDER"), vec![b.clone(), other_args.clone()], Fail),
        (names.clone(), vec![other_args.clone(), b.clone()], Pass),
        (names, vec![b.clone()], Fail),
    ];
    for (criteria, calls, verdict) in rows {
        let found =
            judge("s.evalset.json", &set, &[("test_config.json", &criteria)], &run_with(&calls, &json!("Done.")));
        assert_eq!(found, [verdict], "{criteria} {calls:?}");
    }
    // Equal calls are counted.
    let twice = eval_set(&[turn(&json!([{"name": "b", "args": {}}, {"name": "b", "args": {}}]), "Done.")]);
    let beside = [("test_config.json", order("ANY_ORDER"))];
    let beside: Vec<(&str, &str)> = beside.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert_eq!(judge("s.evalset.json", &twice, &beside, &run_with(std::slice::from_ref(&b), &json!("Done."))), [Fail]);
    assert_eq!(judge("s.evalset.json", &twice, &beside, &run_with(&[b.clone(), b.clone()], &json!("Done."))), [Pass]);
}

#[test]
fn an_eval_set_never_passes_what_it_cannot_tell() {
    let none = json!([]);
    let judged = |set: &str, calls: &[(&str, Json)], output: &str| {
        judge("s.evalset.json", set, &[], &run_with(calls, &json!(output)))
    };
    let set = eval_set(&[turn(&none, "Your refund is on its way.")]);
    assert_eq!(judged(&set, &[], "Your refund is on its way."), [Pass, Pass]);
    assert_eq!(judged(&set, &[("a", json!({}))], "Your refunds went."), [Fail, Undecided]);
    // ADK fails an answer if none is expected.
    let silent = eval_set(&[turn(&none, "")]);
    assert_eq!(judged(&silent, &[], "words"), [Pass, Fail]);
    let foreign = eval_set(&[turn(&none, "Grüße")]);
    assert_eq!(judged(&foreign, &[], "Grüße"), [Pass, Undecided]);
    // A run does not record which turn made a call.
    let call = json!([{"name": "a", "args": {}}]);
    let two = eval_set(&[turn(&call, "x"), turn(&none, "y")]);
    assert_eq!(judged(&two, &[("a", json!({}))], "y"), [Undecided, Undecided]);
    assert_eq!(judged(&two, &[("b", json!({}))], "y"), [Fail, Undecided]);
    let judge_asked = ("test_config.json", r#"{"criteria": {"final_response_match_v2": 0.5}}"#);
    assert_eq!(judge("s.evalset.json", &set, &[judge_asked], &run_with(&[], &json!("x"))), [Undecided]);
}

#[test]
fn other_spellings_of_eval_sets_are_read() {
    let calls = [("roll", json!({"sides": 6}))];
    let older = r#"[{"name": "dice", "data": [{"query": "refund o-1", "expected_tool_use": [{"tool_name": "roll", "tool_input": {"sides": 6}}], "reference": "Six."}]}]"#;
    assert_eq!(judge("a.test.json", older, &[], &run_with(&calls, &json!("Six."))), [Pass, Pass]);
    let events = r#"{"evalCases": [{"evalId": "one", "conversation": [{"userContent": {"parts": [{"text": "refund o-1"}]}, "intermediateData": {"invocationEvents": [{"author": "a", "content": {"parts": [{"functionCall": {"name": "roll", "args": {"sides": 6}}}]}}]}, "finalResponse": {"parts": [{"text": "Six."}]}}]}]}"#;
    assert_eq!(judge("a.evalset.json", events, &[], &run_with(&calls, &json!("Six."))), [Pass, Pass]);
    assert_eq!(judge("a.evalset.json", events, &[], &run_with(&[], &json!("Six."))), [Fail, Pass]);
}

#[test]
fn broken_eval_sets_are_refused_at_their_place() {
    let case = |turn: &str| format!("{{\"eval_cases\": [\n{{\"eval_id\": \"one\", \"conversation\": [\n{turn}]}}]}}");
    let asked = r#""user_content": {"parts": [{"text": "a"}]}"#;
    for (text, message) in [
        (case(r#"{"final_response": {}}"#), "3:1: a turn has no `user_content`"),
        (case(&format!("{{{asked}, \"tool_uses\": []}}")), "3:46: a turn has no key `tool_uses`"),
        (case(&format!("{{{asked}, \"intermediate_data\": {{\"tool_uses\": {{}}}}}}")), "is a mapping"),
        (
            case(&format!("{{{asked}, \"intermediate_data\": {{\"tool_uses\": [{{\"args\": {{}}}}]}}}}")),
            "has no `name`",
        ),
        ("{\"eval_cases\": []}".to_owned(), "1:1: the eval set has no cases"),
        ("{\"eval_cases\": [{\"eval_id\": \"a\"}]}".to_owned(), "1:17: `a` has no `conversation`"),
    ] {
        let said = refused("s.evalset.json", &text, &[]);
        assert!(said.contains(message) && said.contains("s.evalset.json:"), "{text}: {said}");
    }
    let set = eval_set(&[turn(&json!([]), "a")]);
    for (config, message) in [
        (
            r#"{"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "EXAKT"}}}"#,
            "did you mean `EXACT`",
        ),
        (r#"{"criteria": {"tool_trajectory_avg_score": "all"}}"#, "test_config.json:1:44: "),
        (r#"{"criteria": {"tool_trajectory_avg_score": 0}}"#, "scores are from 0 to 1"),
        ("{}", "the config has no `criteria`"),
    ] {
        let said = refused("s.evalset.json", &set, &[("test_config.json", config)]);
        assert!(said.contains(message), "{config}: {said}");
    }
}

fn dataset(evaluator: &str) -> String {
    format!(
        "name: d\ncases:\n  - name: one\n    inputs: refund o-1\n    expected_output: Done.\n    evaluators:\n      - {evaluator}\n"
    )
}

#[test]
fn built_in_evaluators_of_a_data_set_are_judged() {
    let calls = [("a", json!({"x": 1, "y": 2})), ("b", json!({})), ("a", json!({"x": 3}))];
    let text = run_with(&calls, &json!("Done."));
    let object = run_with(&calls, &json!({"k": "v", "n": [1]}));
    let list = run_with(&calls, &json!(["a", 2]));
    let rows = [
        ("EqualsExpected", &text, Pass),
        ("EqualsExpected", &list, Fail),
        ("Equals: Done.", &text, Pass),
        ("Equals: {value: {k: v, n: [1]}}", &object, Pass),
        ("Contains: one", &text, Pass),
        ("Contains: ONE", &text, Fail),
        ("Contains: {value: ONE, case_sensitive: false}", &text, Pass),
        ("Contains: k", &object, Pass),
        ("Contains: v", &object, Fail),
        ("Contains: {value: {k: v}}", &object, Pass),
        ("Contains: {value: {k: w}}", &object, Fail),
        ("Contains: {value: 2}", &list, Pass),
        ("Contains: {value: 2}", &text, Fail),
        ("Contains: {value: \"'v'\", as_strings: true}", &object, Pass),
        ("IsInstance: str", &text, Pass),
        ("IsInstance: dict", &text, Fail),
        ("IsInstance: Answer", &text, Undecided),
        ("MaxDuration: 2", &text, Undecided),
        ("LLMJudge: {rubric: kind}", &text, Undecided),
        ("PoliteTone", &text, Undecided),
        ("ToolCorrectness: [a, b, a]", &text, Pass),
        ("ToolCorrectness: [a, b]", &text, Fail),
        ("ToolCorrectness: {expected_tools: [a, b], allow_extra: true}", &text, Pass),
        ("ToolCorrectness: {expected_tools: [b, b], allow_extra: true}", &text, Fail),
        ("TrajectoryMatch: {expected_trajectory: [a, b, a], order: exact}", &text, Pass),
        ("TrajectoryMatch: {expected_trajectory: [b, a, a]}", &text, Fail),
        ("TrajectoryMatch: {expected_trajectory: [b, a, a], order: any_order}", &text, Pass),
        ("ArgumentCorrectness: {tool_name: a, expected_arguments: {x: 1}}", &text, Pass),
        ("ArgumentCorrectness: {tool_name: a, expected_arguments: {x: 1}, match_mode: exact}", &text, Fail),
        ("ArgumentCorrectness: {tool_name: a, expected_arguments: {x: 3}, occurrence: last}", &text, Pass),
        ("ArgumentCorrectness: {tool_name: a, expected_arguments: {x: 3}, occurrence: 1}", &text, Pass),
        ("ArgumentCorrectness: {tool_name: z, expected_arguments: {x: 3}}", &text, Fail),
        ("MaxToolCalls: 3", &text, Pass),
        ("MaxToolCalls: 2", &text, Fail),
        ("MaxModelRequests: 2", &text, Undecided),
    ];
    for (evaluator, run, verdict) in rows {
        assert_eq!(judge("d.yaml", &dataset(evaluator), &[], run), [verdict], "{evaluator} {run}");
    }
    let timed = |duration: u32| json!({"prompt": "refund o-1", "output": "Done.", "duration": duration});
    for (duration, verdict) in [(1500, Pass), (1501, Fail)] {
        assert_eq!(judge("d.yaml", &dataset("MaxDuration: {seconds: 1.5}"), &[], &timed(duration)), [verdict]);
    }
}

#[test]
fn evaluators_of_the_whole_set_look_at_each_case() {
    let text = "cases:\n  - inputs: refund o-1\n  - {name: two, inputs: other}\nevaluators:\n  - Contains: Done\n  - Equals: {value: Done., evaluation_name: exact}\n";
    assert_eq!(judge("d.yaml", text, &[], &run_with(&[], &json!("Done."))), [Pass, Pass]);
    // A failed call does not count unless failed calls are included.
    let failed =
        json!({"prompt": "refund o-1", "output": "x", "calls": [{"tool": "a", "args": {}, "status": "failed"}]});
    for (evaluator, verdict) in [
        ("ToolCorrectness: [a]", Fail),
        ("ToolCorrectness: {expected_tools: [a], include_failed: true}", Pass),
        ("MaxToolCalls: {max_calls: 0}", Fail),
        ("MaxToolCalls: {max_calls: 0, include_failed: false}", Verdict::Vacuous),
    ] {
        assert_eq!(judge("d.yaml", &dataset(evaluator), &[], &failed), [verdict], "{evaluator}");
    }
}

#[test]
fn broken_data_sets_are_refused_at_their_place() {
    for (evaluator, message) in [
        ("Contain: a", "7:9: there is no evaluator `Contain` (did you mean `Contains`?)"),
        ("Contains", "7:9: `Contains` has no `value`"),
        ("Contains: {valeu: a}", "7:20: `Contains` has no key `valeu`"),
        ("Contains: {value: a, as_strings: 3}", "7:42: `as_strings` of `Contains` is a number"),
        ("[Contains, a]", "7:9: an evaluator is a list"),
        ("MaxDuration: soon", "7:22: `seconds` of `MaxDuration` is a text"),
        ("ToolCorrectness: a", "7:26: `expected_tools` of `ToolCorrectness` is a text"),
        ("TrajectoryMatch: {expected_trajectory: [a], order: exakt}", "did you mean `exact`"),
        ("ArgumentCorrectness: {tool_name: a, expected_arguments: []}", "`expected_arguments` is a list"),
        ("ArgumentCorrectness: {tool_name: a, expected_arguments: {}, occurrence: -1}", "`occurrence` is a number"),
    ] {
        let said = refused("d.yaml", &dataset(evaluator), &[]);
        assert!(said.contains(message) && said.contains("d.yaml:7:"), "{evaluator}: {said}");
    }
    let said = refused("d.yaml", "cases:\n  - inputs: a\n    expectd_output: b\n", &[]);
    assert!(said.contains("d.yaml:3:5: a case has no key `expectd_output`"), "{said}");
}

/// Expected tools, the given parameters, and the verdict.
type ToolsRow<'a> = (Json, Vec<(&'a str, &'a str)>, Verdict);

fn given_case<'a>(text: &'a str, params: &'a [(&'a str, &'a str)]) -> Given<'a> {
    Given { name: "cases.json", text, params, ..Given::default() }
}

#[test]
fn expected_tools_of_a_test_case_are_judged_as_their_metric_does() {
    let tool = |name: &str, args: Json| json!({"name": name, "inputParameters": args});
    let made = [("a", json!({"x": 1, "y": 2})), ("b", json!({})), ("a", json!({"x": 3})), ("b", json!({}))];
    let run = run_with(&made, &json!("Done.")).to_string();
    let (one, other) = (tool("a", json!({"x": 1, "y": 2})), tool("b", json!({})));
    let part = tool("a", json!({"x": 1}));
    let missing = tool("z", json!({}));
    const FULL: (&str, &str) = ("threshold", "1");
    const ARGS: (&str, &str) = ("evaluation_params", "input_parameters");
    const ORDER: (&str, &str) = ("should_consider_ordering", "true");
    const EXACT: (&str, &str) = ("should_exact_match", "true");
    let rows: Vec<ToolsRow<'_>> = vec![
        (json!([one, missing]), vec![], Pass),
        (json!([one, missing]), vec![FULL], Fail),
        (json!([one, missing]), vec![("strict_mode", "true")], Fail),
        (json!([one, missing, missing]), vec![], Fail),
        (json!([other, one]), vec![FULL], Pass),
        (json!([other, one]), vec![FULL, ARGS], Pass),
        // The calls of `b` are equal, so they count once.
        (json!([one, one]), vec![FULL], Pass),
        (json!([other, other]), vec![FULL], Fail),
        (json!([other, other]), vec![FULL, ORDER], Pass),
        (json!([part]), vec![FULL, ARGS], Fail),
        (json!([part]), vec![ARGS], Undecided),
        (json!([missing]), vec![ARGS], Fail),
        (json!([one, other]), vec![FULL, ARGS, ORDER], Pass),
        (json!([other, one]), vec![FULL, ARGS, ORDER], Fail),
        (json!([missing, other, missing, one]), vec![ORDER], Pass),
        (json!([one, other]), vec![EXACT], Fail),
        (json!([one, other, one, other]), vec![EXACT], Pass),
        (json!([one, other, one, other]), vec![EXACT, ARGS], Fail),
        (json!([{"name": "b", "output": 1}]), vec![FULL, ("evaluation_params", "output")], Pass),
        (json!([{"name": "b", "output": 2}]), vec![("evaluation_params", "output")], Fail),
        (json!([{"name": "b", "type": "MCP"}]), vec![], Undecided),
        (json!([]), vec![], Fail),
    ];
    for (expected, params, verdict) in rows {
        let text = json!([{"input": "refund o-1", "expected_tools": expected}]).to_string();
        let judged = given_case(&text, &params).judge(&run).unwrap_or_else(|said| panic!("{text}: {said}"));
        let found: Vec<Verdict> = judged.results.iter().map(|one| one.1).collect();
        assert_eq!(found, [verdict], "{text} {params:?}");
    }
    // Without any call, no threshold is reached.
    let text = json!([{"input": "refund o-1", "expectedTools": [one, other]}]).to_string();
    let judged = given_case(&text, &[]).judge(&run_with(&[], &json!("x")).to_string()).unwrap();
    assert_eq!(judged.results.iter().map(|one| one.1).collect::<Vec<_>>(), [Fail]);
}

#[test]
fn broken_test_cases_are_refused_at_their_place() {
    for (tools, message) in [
        ("\"a\"", "2:34: `expected_tools` of a test case is a text"),
        ("[\"a\"]", "2:35: an expected tool is a text"),
        ("[{}]", "2:35: an expected tool has no `name`"),
        ("[{\"name\": \"a\", \"args\": {}}]", "2:49: an expected tool has no key `args`"),
        ("[{\"name\": \"a\", \"input_parameters\": []}]", "2:69: `input_parameters` of an expected tool is a list"),
        ("[{\"name\": \"a\", \"type\": \"MPC\"}]", "did you mean `MCP`?"),
        ("[], \"expectd_tools\": []", "2:38: a test case has no key `expectd_tools`"),
    ] {
        let text = format!("[\n{{\"input\": \"a\", \"expected_tools\": {tools}}}]");
        let said = refused("cases.json", &text, &[]);
        assert!(said.contains(message) && said.contains("cases.json:2:"), "{tools}: {said}");
    }
    let text = "[{\"input\": \"a\", \"expected_tools\": []}, {\"expected_tools\": []}]";
    let said = refused("cases.json", text, &[]);
    assert!(said.contains("1:40: a test case has no `input`"), "{said}");
    let text = "[{\"input\": \"a\", \"expected_tools\": []}]";
    for (param, message) in [
        (("treshold", "1"), "did you mean `threshold`?"),
        (("threshold", "0"), "scores are from 0 to 1"),
        (("evaluation_params", "args"), "write `input_parameters`"),
        (("strict_mode", "yes"), "give `true` or `false`"),
    ] {
        let said = given_case(text, &[param]).imported().unwrap_err();
        assert!(said.contains(message), "{param:?}: {said}");
    }
}
