//! `aver test`: tests in rule files and in case files beside them.

use crate::folder::Folder;

const RULES: &str = "\
rule approval \"Refunds above the limit need an approval\" {
  tags payments
  before approve(id: $id) -> refund(id: $id, amount > 100)
}
never drop_table
test \"a large refund without approval is caught\" expect fail approval {
  calls: [{ tool: \"refund\", args: { id: \"o-1\", amount: 250 } }]
}
";
const LARGE: &str = r#"{"calls":[{"tool":"refund","args":{"id":"o-1","amount":250}}]}"#;
const APPROVED: &str =
    r#"{"calls":[{"tool":"approve","args":{"id":"o-1"}},{"tool":"refund","args":{"id":"o-1","amount":250}}]}"#;

#[test]
fn case_files_say_with_their_names_what_they_have_to_come_out_as() {
    let lines = format!("{APPROVED}\n{APPROVED}\n");
    let table = "{\"name\":\"idle\",\"expect\":\"vacuous\",\"rules\":[\"approval\"],\"tags\":[\"slow\"],\"run\":{\"calls\":[]}}\n\n{\"expect\":\"fail\",\"from\":\"refunds.cases/large.fail.json\"}\n";
    let folder = Folder::new(&[
        ("refunds.assert", RULES),
        ("refunds.cases/large.fail.json", LARGE),
        ("refunds.cases/large.fail.approval.json", LARGE),
        ("refunds.cases/approval/fail/large.json", LARGE),
        ("refunds.cases/pass/two.jsonl", &lines),
        ("refunds.cases/notes.md", "not a case"),
        ("refunds.cases.jsonl", table),
    ]);
    let ran = folder.aver("test refunds.assert");
    assert_eq!(ran.code, 0, "{ran:?}");
    let _scope = averment_fixtures::exact_snapshots();
    insta::assert_snapshot!(ran.out, @r"
    ok      a large refund without approval is caught
    ok      refunds.cases/approval/fail/large.json
    ok      refunds.cases/large.fail.approval.json
    ok      refunds.cases/large.fail.json
    ok      refunds.cases/pass/two.jsonl:1
    ok      refunds.cases/pass/two.jsonl:2
    ok      idle
    ok      refunds.cases.jsonl:3

    expected \ found         pass       fail    vacuous
      pass                      2          0          0
      fail                      0          5          0
      vacuous                   0          0          1

    passed: 8 tests came out as stated
    ");
    assert_eq!(
        folder.aver("test refunds.assert --filter approval/fail").out.lines().next(),
        Some("ok      refunds.cases/approval/fail/large.json")
    );
    assert_eq!(folder.aver("test refunds.assert --tag slow --format json").json()["summary"]["tests"], 1);
    assert_eq!(folder.aver("test refunds.assert --tag payments --format json").json()["summary"]["tests"], 4);
    assert_eq!(folder.aver("test refunds.assert --rule approval --format json").json()["summary"]["tests"], 4);
}

#[test]
fn the_matrix_shows_what_was_missed_and_what_was_a_false_alarm() {
    let folder = Folder::new(&[
        ("refunds.assert", RULES),
        ("refunds.cases/missed.fail.json", APPROVED),
        ("refunds.cases/alarm.pass.json", LARGE),
        ("refunds.cases/idle.pass.approval.json", "{\"calls\":[]}"),
    ]);
    let ran = folder.aver("test refunds.assert");
    assert_eq!(ran.code, 1);
    let _scope = averment_fixtures::exact_snapshots();
    insta::assert_snapshot!(ran.out, @r#"
    ok      a large refund without approval is caught
    failed  refunds.cases/alarm.pass.json
            refunds.cases/alarm.pass.json:1:1: `approval` failed
              approval.1 failed: refund at call 1 has no earlier approve with id "o-1"
    failed  refunds.cases/idle.pass.approval.json
            refunds.cases/idle.pass.approval.json:1:1: `approval` is vacuous, not pass
              approval.1 vacuous: there is no `refund(id: $id, amount > 100)`
    failed  refunds.cases/missed.fail.json
            refunds.cases/missed.fail.json:1:1: nothing is fail

    expected \ found         pass       fail    vacuous
      pass                      0          1          1
      fail                      1          1          0
      vacuous                   0          0          0

    failed: 3 of 4 tests did not come out as stated: 1 missed, 1 false alarm
    "#);
    let data = folder.aver("test refunds.assert --format json").json();
    assert_eq!(data["cells"]["fail"]["pass"], 1, "missed");
    assert_eq!(data["cells"]["pass"]["fail"], 1, "false alarm");
    assert_eq!(data["cells"]["fail"]["fail"], 1);
    assert_eq!(data["cells"]["pass"]["vacuous"], 1);
    assert_eq!(folder.aver("test refunds.assert --quiet").out.matches("ok ").count(), 0);
    assert_eq!(folder.aver("test refunds.assert --format short").out.lines().count(), 3);
}

#[test]
fn a_case_that_cannot_be_used_never_passes() {
    let folder = Folder::new(&[
        ("refunds.assert", RULES),
        ("refunds.cases/none.json", LARGE),
        ("refunds.cases/x.fail.aproval.json", LARGE),
        ("refunds.cases/pass/y.fail.json", LARGE),
        (
            "refunds.cases.jsonl",
            "{\"expect\":\"maybe\",\"run\":{}}\n{\"expect\":\"fail\"}\n{\"expct\":1}\n{\"expect\":\"fail\",\"from\":\"/etc/passwd\"}\n",
        ),
    ]);
    let ran = folder.aver("test refunds.assert --format short");
    assert_eq!(ran.code, 1);
    let _scope = averment_fixtures::exact_snapshots();
    insta::assert_snapshot!(ran.out, @r#"
    refunds.cases/none.json:1:1: error[test]: "refunds.cases/none.json": its name does not say what it has to come out as; help: name it `none.fail.json`, or put it into a folder `fail`
    refunds.cases/pass/y.fail.json:1:1: error[test]: "refunds.cases/pass/y.fail.json": its name says `fail` and its folder `pass`; help: let one of them say it
    refunds.cases/x.fail.aproval.json:1:1: error[test]: "refunds.cases/x.fail.aproval.json": there is no rule `aproval`; help: did you mean `approval`?
    refunds.cases.jsonl:1:1: error[test]: "refunds.cases.jsonl:1": `maybe` is no verdict that a test can state; help: write pass, fail, vacuous, undecided or error
    refunds.cases.jsonl:2:1: error[test]: "refunds.cases.jsonl:2": it needs either `run` or `from`; help: write the run, or the path of a trace
    refunds.cases.jsonl:3:1: error[test]: "refunds.cases.jsonl:3": it is no case: unknown field `expct`, expected one of `name`, `expect`, `rules`, `tags`, `run`, `from`; help: write `{"name": "…", "expect": "fail", "rules": ["…"], "run": {…}}` in one line
    refunds.cases.jsonl:4:1: error[test]: "refunds.cases.jsonl:4": `/etc/passwd` is not a relative path; help: write the path from the folder of the table
    "#);
    folder.write("refunds.cases/cut.fail.json", b"{\"calls\": [");
    folder.write("refunds.cases/empty.fail.jsonl", b"");
    let ran = folder.aver("test refunds.assert --format short");
    assert_eq!(ran.code, 4, "a run that cannot be read");
    assert!(ran.out.contains("refunds.cases/cut.fail.json:1:12: error[test]"), "{}", ran.out);
    assert!(ran.out.contains("the file is empty"), "{}", ran.out);
}

#[test]
fn cases_come_in_every_format_that_traces_come_in() {
    let chat = r#"{"messages":[{"role":"user","content":"refund o-1"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"refund","arguments":"{\"id\":\"o-1\",\"amount\":250}"}}]}]}"#;
    let folder = Folder::new(&[("refunds.assert", RULES), ("elsewhere/chat.fail.approval.json", chat)]);
    let ran = folder.aver("test refunds.assert --cases elsewhere");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("ok      elsewhere/chat.fail.approval.json"), "{}", ran.out);
    folder.write("other.assert", b"never x\n");
    folder.aver("test . --cases elsewhere").refused(&["no folder of a rule file's name", "elsewhere/other"]);
    folder.write("elsewhere/refunds/large.fail.json", LARGE.as_bytes());
    let ran = folder.aver("test . --cases elsewhere");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("ok      refunds/large.fail.json"), "{}", ran.out);
    folder.aver("test refunds.assert --cases nowhere").refused(&["nowhere", "there is no such file"]);
}

#[test]
fn a_selection_that_selects_nothing_is_wrong_usage() {
    let folder = Folder::new(&[("refunds.assert", RULES)]);
    folder.aver("test refunds.assert --filter nothing").refused(&["no test has this text in its name"]);
    folder.aver("test refunds.assert --tag nothing").refused(&["no test has this tag"]);
    folder.aver("test refunds.assert --rule aproval").refused(&["did you mean `approval`?"]);
    assert_eq!(folder.aver("test refunds.assert --filter nothing --allow empty").code, 0);
}

#[test]
fn junit_names_the_file_of_each_test_and_the_place_of_those_that_fail() {
    let folder = Folder::new(&[
        ("refunds.assert", RULES),
        ("other.assert", "rule r { never a }\ntest \"<&\\\"\" expect pass r { calls: [{ tool: \"a\" }] }\n"),
    ]);
    let ran = folder.aver("test . --format junit");
    assert_eq!(ran.code, 1);
    let _scope = averment_fixtures::exact_snapshots();
    insta::assert_snapshot!(ran.out, @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="aver test" tests="2" failures="1" errors="0">
      <testsuite name="other.assert" tests="1" failures="1" errors="0" skipped="0">
        <testcase classname="other.assert" name="&lt;&amp;&quot;">
          <failure type="failed" message="`r` is fail, not pass">
    other.assert:2:1
    `r` is fail, not pass
      r.1 failed: there is a at call 1
    </failure>
        </testcase>
      </testsuite>
      <testsuite name="refunds.assert" tests="1" failures="0" errors="0" skipped="0">
        <testcase classname="refunds.assert" name="a large refund without approval is caught"/>
      </testsuite>
    </testsuites>
    "#);
}

#[test]
fn data_is_what_its_schemas_say() {
    let folder = Folder::new(&[
        ("refunds.assert", RULES),
        ("refunds.cases/odd.json", LARGE),
        ("refunds.snap", "=== gone\n"),
        ("good/a.json", APPROVED),
        ("bad/a.json", LARGE),
    ]);
    let check = |schema: &str, line: &str| {
        let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        let data = folder.aver(line).json();
        let errors: Vec<String> =
            schema.iter_errors(&data).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "aver {line}: {errors:#?}");
        data
    };
    let tests = include_str!("../../../../docs/schema/test.schema.json");
    let data = check(tests, "test refunds.assert --format json --coverage");
    assert!(
        data["orphans"][0].as_str().unwrap().contains("gone") && data["coverage"]["total"]["all"].as_u64() > Some(5)
    );
    let data = check(tests, "test refunds.assert --format json --mutants --filter caught --update");
    assert!(data["mutants"][0]["killed"].as_u64() > Some(0));
    check(
        include_str!("../../../../docs/schema/discriminate.schema.json"),
        "test refunds.assert --discriminate good bad --format json",
    );
}

/// The guide and the code list the same kinds of mutants.
#[test]
fn the_guide_lists_every_kind_of_mutant() {
    let guide = include_str!("../../../../docs/testing.md");
    for (_, word, doc) in averment_testing::mutants::MutantKind::ALL {
        assert!(guide.contains(&format!("| `{word}` | {doc} |")), "docs/testing.md has no row for `{word}`");
    }
    assert!(guide.contains(&format!("{} kinds", averment_testing::mutants::MutantKind::ALL.len())));
}

#[test]
fn a_project_names_rules_cases_parameters_and_the_coverage_it_wants() {
    let rules = RULES
        .replace("amount > 100", "amount > limit")
        .replace("rule approval", "param limit: number = 1000\nrule approval");
    let folder = Folder::new(&[
        ("averment.toml", "rules = [\"rules\"]\n[params]\nlimit = 100\n[test]\ncases = [\"cases\"]\n"),
        ("rules/refunds.assert", &rules),
        ("rules/other.assert", "rule other { never x }\n"),
        ("cases/refunds/approval/fail/large.json", LARGE),
        ("cases/other/x.fail.other.json", r#"{"calls":[{"tool":"x"}]}"#),
    ]);
    let ran = folder.aver("test");
    assert_eq!(ran.code, 0, "{ran:?}");
    for test in [
        "ok      a large refund without approval is caught",
        "ok      refunds/approval/fail/large.json",
        "ok      other/x.fail.other.json",
    ] {
        assert!(ran.out.contains(test), "{test}: {}", ran.out);
    }
    let with = std::fs::read_to_string(folder.path().join("averment.toml")).unwrap() + "minimum-coverage = \"90%\"\n";
    folder.write("averment.toml", with.as_bytes());
    let ran = folder.aver("test");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains(", below 90.0%") && !ran.out.contains("coverage of"), "{ran:?}");
    assert_eq!(folder.aver("test --coverage-min 10%").code, 0, "the command line wins");
    assert_eq!(folder.aver("test --filter large").code, 0, "a selection of tests is not held against it");
    assert_eq!(folder.aver("test --no-project").code, 2);
}

/// Tests inside invariants work like all other tests.
#[test]
fn invariants_are_tested_covered_and_mutated() {
    let rules = "invariant refund_answers {\n  call refund { id: \"o-1\", amount: 5 }\n  response.status == \"refunded\" and response.amount == 5\n  \
        test \"refunded\" expect pass { response: { status: \"refunded\", amount: 5 } }\n  \
        test \"another amount\" expect fail { response: { status: \"refunded\", amount: 6 } }\n}\n";
    let folder = Folder::new(&[("i.assert", rules)]);
    let ran = folder.aver("test i.assert --coverage");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("`response.status == \"refunded\"` is never false"), "{}", ran.out);
    let out = folder.aver("test i.assert --mutants").out;
    assert!(out.contains("+   response.amount == 5"), "nothing tells that the status matters: {out}");
    assert!(!out.contains("+   response.status == \"refunded\"\n"), "the amount matters: {out}");
}
