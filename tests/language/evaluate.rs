//! Judging runs: selection, cases, limits, permissions, tests of the rules, definitions.

use averment_base::limits::Limits;
use averment_base::truth::Verdict::{self, Error, Fail, Pass, Skipped, Undecided};
use averment_engine::vm::evaluate::EvaluateOptions;
use averment_engine::vm::select::RuleSelection;
use averment_engine::vm::world::Permissions;
use averment_fixtures::Rules;

fn rules(text: &str) -> Rules {
    Rules::from_text("test.assert", text).unwrap_or_else(|error| panic!("{error}"))
}

fn verdicts_with(text: &str, run: &str, options: &EvaluateOptions) -> Vec<Verdict> {
    let outcome = rules(text).check_json_with(run, options).unwrap();
    outcome.results.iter().map(|result| result.verdict).collect()
}

fn verdicts(text: &str, run: &str) -> Vec<Verdict> {
    verdicts_with(text, run, &EvaluateOptions::default())
}

/// The reason of the only assertion.
fn reason(text: &str, run: &str, options: &EvaluateOptions) -> (Verdict, String) {
    let outcome = rules(text).check_json_with(run, options).unwrap();
    let [result] = outcome.results.as_slice() else { panic!("not one assertion") };
    (result.verdict, result.reason.clone())
}

fn limited(fuel: u64, computed_bytes: usize) -> EvaluateOptions {
    EvaluateOptions { limits: Limits { fuel, computed_bytes, ..Limits::default() }, ..EvaluateOptions::default() }
}

#[test]
fn rules_cases_and_tags_select_and_combine() {
    let text = "
rule one { tags smoke; require a }
rule two { require b tags slow; require c id two.c }
case three { tags smoke; prompt \"p\"; require d }
require e";
    let selected = |rules: &[&str], cases: &[&str], tags: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let selection =
            RuleSelection { rules: owned(rules), cases: owned(cases), tags: owned(tags), ..RuleSelection::default() };
        let options = EvaluateOptions { selection, ..EvaluateOptions::default() };
        let compiled = self::rules(text);
        let outcome = compiled.check_json_with(r#"{"prompt": "p", "calls": []}"#, &options).unwrap();
        let texts = outcome.results.iter().map(|result| result.assertion as usize);
        texts.map(|number| compiled.program().assertions[number].text.clone()).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(selected(&[], &[], &[]), "require a, require b, require c, require d, require e");
    assert_eq!(selected(&["two"], &[], &[]), "require b, require c");
    assert_eq!(selected(&["two.c", "one"], &[], &[]), "require a, require c");
    assert_eq!(selected(&[], &[], &["smoke"]), "require a, require d");
    assert_eq!(selected(&[], &[], &["slow", "smoke"]), "require a, require b, require d");
    assert_eq!(selected(&[], &["three"], &[]), "require d");
    assert_eq!(selected(&["one"], &["three"], &[]), "");
    assert_eq!(selected(&["nothing"], &[], &[]), "");
}

#[test]
fn a_case_is_known_by_name_before_its_prompt() {
    let text = "case mine { prompt \"do it\"; require a }";
    assert_eq!(verdicts(text, r#"{"prompt": "do it", "calls": []}"#), [Fail]);
    assert_eq!(verdicts(text, r#"{"meta": {"case": "mine"}, "prompt": "other", "calls": []}"#), [Fail]);
    assert_eq!(verdicts(text, r#"{"meta": {"case": "other"}, "prompt": "do it", "calls": []}"#), [Skipped]);
    assert_eq!(verdicts(text, r#"{"calls": []}"#), [Skipped]);
}

#[test]
fn every_limit_is_an_error_of_its_assertion_alone() {
    let items: Vec<String> = (0..200).map(|number| number.to_string()).collect();
    let run = format!(r#"{{"output": [{}], "calls": []}}"#, items.join(","));
    let slow = "output is list\nno a in output: any b in output: any c in output: any d in output: a + b + c + d < 0\noutput is list";
    assert_eq!(verdicts_with(slow, &run, &limited(100_000, 1 << 20)), [Pass, Error, Pass]);
    let (verdict, why) =
        reason("all a in output: \"${output}${output}${a}\" != \"\"", &run, &limited(10_000_000, 10_000));
    assert_eq!((verdict, why.contains("memory")), (Error, true), "{why}");
}

#[test]
fn a_value_that_is_no_boolean_fails_whatever_stands_around_it() {
    let run = r#"{"output": {"name": "a", "list": [1]}, "calls": [{"tool": "a", "args": {"flag": "yes"}}]}"#;
    for text in [
        "not output.name",
        "any of { output.name; output exists }",
        "none of { output.name }",
        "each a: args.flag",
        "not each a: args.flag",
        "no x in output.list: x",
        "output exists when output.name",
    ] {
        let (verdict, why) = reason(text, run, &EvaluateOptions::default());
        assert_eq!((verdict, why.contains("neither true nor false")), (Fail, true), "{text}: {why}");
    }
}

#[test]
fn a_condition_of_an_assertion_skips_or_leaves_undecided() {
    let run = r#"{"output": {"a": 1}}"#;
    assert_eq!(verdicts("output.a == 2 when output.a == 2", run), [Skipped]);
    assert_eq!(verdicts("output.a == 2 when output.gone == 2", run), [Skipped]);
    assert_eq!(verdicts("output.a == 2 when output.gone != 2", run), [Fail]);
    assert_eq!(verdicts("output.a == 2 when duration < 1s", run), [Undecided]);
    assert_eq!(verdicts("when output.a == 1 { output.a == 2; output.a == 1 }", run), [Fail, Pass]);
}

#[test]
fn the_world_is_looked_at_only_with_permission() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("report.md"), "total: 3").unwrap();
    let text = "file \"report.md\" matches /total: \\d/\nfile \"gone.md\" exists\nrun \"true\" exits 0";
    let run = r#"{"output": 1}"#;
    assert_eq!(verdicts(text, run), [Error, Error, Error]);
    let mut permissions = Permissions::of_command_line(folder.path().to_path_buf());
    let options = |permissions| EvaluateOptions { permissions, ..EvaluateOptions::default() };
    assert_eq!(verdicts_with(text, run, &options(permissions.clone())), [Pass, Fail, Error]);
    permissions.run = true;
    assert_eq!(verdicts_with(text, run, &options(permissions.clone())), [Pass, Fail, Pass]);
    let injected = "run \"test ${output} = 'a b; c'\" exits 0";
    assert_eq!(verdicts_with(injected, r#"{"output": "a b; c"}"#, &options(permissions)), [Pass]);
}

#[test]
fn a_parameter_without_a_value_is_an_error_that_says_how_to_give_it() {
    let (verdict, why) = reason("param limit: number\noutput < limit", r#"{"output": 1}"#, &EvaluateOptions::default());
    assert_eq!((verdict, why.contains("--param limit=")), (Error, true), "{why}");
}

#[test]
fn tests_say_which_verdict_came_out_instead() {
    let text = "
rule calm { never shout }
rule polite { output contains \"please\" }
test \"named\" expect fail calm { calls: [] }
test \"unnamed pass\" expect pass { output: \"please\", calls: [] }
test \"unnamed fail\" expect fail { output: \"please\", calls: [] }
test \"not a run\" expect pass calm { calls: 5 }
test \"in time\" expect vacuous { output: \"please\", calls: [] }";
    let compiled = rules(text);
    let results = compiled.run_tests();
    let shown: Vec<(bool, &str)> = results.iter().map(|result| (result.passed, result.reason.as_str())).collect();
    assert_eq!(shown[0], (false, "`calm` is pass, not fail"));
    assert_eq!(shown[1], (true, ""));
    assert_eq!(shown[2], (false, "nothing is fail"));
    assert!(!shown[3].0 && shown[3].1.starts_with("its run cannot be read"), "{:?}", shown[3]);
    assert_eq!(shown[4], (false, "nothing is vacuous"));
}

#[test]
fn a_rule_with_a_threshold_answers_for_its_assertions() {
    let text = "rule most { threshold 0.6; require a; require b; require c }\nrule mild { threshold 0.6; severity warn; require z }";
    let outcome = rules(text).check_json(r#"{"calls": [{"tool": "a"}, {"tool": "b"}]}"#).unwrap();
    assert_eq!(outcome.rules[0].verdict, Pass);
    assert_eq!(outcome.rules[1].verdict, Fail);
    assert!(outcome.passed, "one failed assertion is within the threshold, the other rule only warns");
}

#[test]
fn a_key_of_what_python_printed_is_told_to_stand_in_no_json() {
    let run = r#"{"calls": [{"tool": "create", "result": "{'id': 'x'}"}, {"tool": "use", "args": {"id": "x"}, "result": 1}]}"#;
    let outcome = rules("before create(result.id: $i) -> use(id: $i)").check_json(run).unwrap();
    let labels: Vec<&str> = outcome.results[0].evidence.iter().map(|proof| proof.label.as_str()).collect();
    let words = "create at call 1 does not fit: `result.id` is missing (the text around it is no JSON)";
    assert!(labels.contains(&words), "{labels:?}");
    let (verdict, why) = reason("before use(id: $i) -> create(result.id: $i)", run, &EvaluateOptions::default());
    assert_eq!(verdict, Verdict::Vacuous);
    assert!(why.ends_with("`result.id` is missing (the text around it is no JSON)"), "{why}");
}
