//! Building rules: what is given beside their text, and what is said where it cannot be used.

use averment::{Disk, Limits, Memory, Rules, RulesBuilder, RulesError, Verdict};

fn problem(builder: RulesBuilder) -> String {
    let error = builder.build().unwrap_err();
    assert!(error.problem().is_some(), "{error}");
    error.to_string()
}

fn verdict(rules: &Rules, run: &str) -> Verdict {
    rules.check_one(run).unwrap().results().next().unwrap().verdict()
}

#[test]
fn several_texts_are_rules_of_one_kind() {
    let rules =
        Rules::builder().text("a.assert", "never a").text("b.assert", "rule b { never b\nnever c }").build().unwrap();
    let texts: Vec<&str> = rules.assertions().map(|assertion| assertion.text()).collect();
    assert_eq!(texts, ["never a", "never b", "never c"]);
    let second = rules.assertion("b.2").unwrap();
    assert_eq!(
        (second.rule(), second.text(), second.place().to_string()),
        (Some("b"), "never c", "b.assert:2:1".to_owned())
    );
    assert!(rules.assertion("b.3").is_none());
}

#[test]
fn what_does_not_compile_is_data_and_lines() {
    let error = Rules::from_text("r.assert", "never refund\nnevr refund\n").unwrap_err();
    assert!(error.problem().is_none());
    let all: Vec<_> = error.diagnostics().iter().collect();
    let first = &all[0];
    assert_eq!((first.place.file.as_str(), first.place.line, first.place.column), ("r.assert", 2, 1));
    assert!(first.help.is_some());
    let line = format!("r.assert:2:1: error[{}]: {}", first.id, first.message);
    assert!(error.to_string().starts_with(&line), "{error}");
    let json = serde_json::to_value(error.diagnostics()).unwrap();
    assert_eq!((&json[0]["slug"], &json[0]["location"]["line"]), (&first.id.into(), &2.into()));
}

#[test]
fn warnings_stay_with_rules_that_compile() {
    let rules = Rules::from_text("r.assert", "param unused: number = 1\nnever refund").unwrap();
    assert!(!rules.diagnostics().has_errors());
}

#[test]
fn parameters_are_read_by_their_type() {
    let text = "param limit: number\nparam patience: duration\noutput.a <= limit and output.b <= patience";
    let with =
        |limit: serde_json::Value| Rules::builder().text("r", text).param("limit", limit).param("patience", "1m30s");
    assert_eq!(verdict(&with(5.into()).build().unwrap(), r#"{"output": {"a": 5, "b": 90000}}"#), Verdict::Pass);
    assert_eq!(verdict(&with(4.into()).build().unwrap(), r#"{"output": {"a": 5, "b": 90000}}"#), Verdict::Fail);
    let by_text = Rules::builder().text("r", text).param_text("limit", "1_000").param_text("patience", "90s");
    assert_eq!(verdict(&by_text.build().unwrap(), r#"{"output": {"a": 1000, "b": 90001}}"#), Verdict::Fail);
    assert!(problem(with("many".into())).contains("does not fit the parameter `limit`"));
    assert!(problem(with(5.into()).param("limt", 5)).ends_with("help: did you mean `limit`?"));
    assert!(problem(Rules::builder().text("r", text)).contains("the parameter `limit` has no value"));
}

#[test]
fn a_catalogue_is_known_to_all_files() {
    let tools =
        r#"[{"name": "refund", "inputSchema": {"type": "object", "properties": {"amount": {"type": "number"}}}}]"#;
    let with = |text: &str| {
        Rules::builder().text("a.assert", "never refund").text("r.assert", text).tools("tools.json", tools).build()
    };
    assert!(with("never refund(amount > 1)").is_ok());
    let ids = |result: Result<Rules, RulesError>| {
        let error = result.unwrap_err();
        error.diagnostics().iter().map(|one| (one.id, one.place.file.clone())).collect::<Vec<_>>()
    };
    assert_eq!(ids(with("require refnd")), [("unknown-tool", "r.assert".to_owned())]);
    let broken = Rules::builder().text("r.assert", "never refund").tools("tools.json", "[{]").build();
    assert_eq!(ids(broken), [("bad-json", "tools.json".to_owned())]);
    let none = Rules::builder().text("r.assert", "never refund").tools("tools.json", "7").build();
    assert_eq!(ids(none), [("bad-schema", "tools.json".to_owned())]);
}

#[test]
fn text_reads_no_file_unless_files_are_given() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lib.assert"), "def big(n) = n > 100").unwrap();
    let text = "use \"./lib.assert\" (big)\nbig(output.n)";
    let name = folder.path().join("r.assert").to_string_lossy().into_owned();
    let error = Rules::from_text(&name, text).unwrap_err();
    assert_eq!(error.diagnostics().iter().next().unwrap().id, "missing-file");
    let from_disk = Rules::builder().text(&name, text).files(Disk::anywhere(1 << 20)).build();
    let from_memory = Rules::builder()
        .text("rules/r.assert", text)
        .files(Memory::new([("rules/lib.assert", "def big(n) = n > 100")]));
    for built in [from_disk, from_memory.build()] {
        assert_eq!(verdict(&built.unwrap(), r#"{"output": {"n": 101}}"#), Verdict::Pass);
    }
}

#[test]
fn files_are_read_where_they_are_given() {
    let files = || Memory::new([("rules/r.assert", "never refund"), ("rules/lib.assert", "")]);
    let rules = Rules::builder().files(files()).file("rules/r.assert").build().unwrap();
    assert_eq!(rules.assertions().next().unwrap().place().file, "rules/r.assert");
    assert!(
        problem(Rules::builder().files(files()).file("rules/x.assert")).contains("`rules/x.assert` does not exist")
    );
    assert!(problem(Rules::builder().file("/no/such/file")).contains("`/no/such/file` cannot be read"));
}

#[test]
fn a_selection_selects_what_is_there() {
    let text = "rule a { tags x\nnever a }\nrule b { never b }";
    let with = || Rules::builder().text("r", text);
    let ids = |builder: RulesBuilder| {
        builder.build().unwrap().assertions().map(|one| one.id().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(with().only_rule("b")), ["b.1"]);
    assert_eq!(ids(with().only_tag("x")), ["a.1"]);
    assert!(problem(with().only_rule("c")).contains("there is no rule or assertion `c`"));
    assert!(problem(with().only_tag("x").only_rule("b")).contains("no assertion is selected"));
}

#[test]
fn nothing_is_never_green_unless_that_is_wanted() {
    assert!(problem(Rules::builder()).contains("there are no rules"));
    assert!(problem(Rules::builder().text("r", "# nothing\n")).contains("no assertion is selected"));
    let empty = Rules::builder().text("r", "# nothing\n").allow_empty(true).build().unwrap();
    assert!(empty.check_one("{\"calls\": []}").unwrap().passed());
}

#[test]
fn limits_hold_for_rules_and_runs() {
    let few = Limits { rule_tokens: 3, ..Limits::default() };
    assert!(Rules::builder().text("r", "never refund\nnever cancel").limits(few).build().is_err());
    let short = Limits { run_bytes: 10, ..Limits::default() };
    let rules = Rules::builder().text("r", "never refund").limits(short).build().unwrap();
    assert!(rules.check_one("{\"calls\": [      ]}").unwrap_err().to_string().contains("more than 10 bytes"));
    let tired = Limits { fuel: 1, ..Limits::default() };
    let rules = Rules::builder().text("r", "output.a + output.b + output.c == 6").limits(tired).build().unwrap();
    assert_eq!(verdict(&rules, r#"{"calls": [], "output": {"a": 1, "b": 2, "c": 3}}"#), Verdict::Error);
}

#[test]
fn a_compiled_program_is_rules_too() {
    let text = "rule a { never refund }";
    let program = Rules::from_text("r.assert", text).unwrap();
    let bytes = averment_engine::bytecode::codec::encode(&program.compiled_programs()[0]);
    let rules = Rules::builder().bytes("r.assertc", bytes.clone()).build().unwrap();
    assert_eq!(rules.assertion("a.1").unwrap().place().to_string(), "r.assert:1:10");
    assert!(problem(Rules::builder().bytes("r.assertc", &bytes[..20])).contains("`r.assertc`"));
}

#[test]
fn a_program_adds_metrics_that_suites_name() {
    let suite = "suite: refunds\ntests:\n  - id: small\n    metric: small_refunds\n  - id: cheap\n    metric: cheap\n    tags: [cost]\n";
    let with = || Rules::builder().text("mcp-eval.yaml", suite).metric("cheap", "cost <= $1");
    let sentences = "each refund: args.amount <= 100\n# Twice is too often.\ncount refund <= 1\n";
    let rules = with().metric("small_refunds", sentences).build().unwrap();
    let run = r#"{"calls": [{"tool": "refund", "args": {"amount": 250}}], "cost": 2}"#;
    let outcome = rules.check_one(run).unwrap();
    let found: Vec<(&str, Verdict, String)> =
        outcome.results().map(|one| (one.id(), one.verdict(), one.assertion().place().to_string())).collect();
    let wanted = [
        ("small.1", Verdict::Fail, "mcp-eval.yaml:4:13".to_owned()),
        ("small.2", Verdict::Pass, "mcp-eval.yaml:4:13".to_owned()),
        ("cheap.1", Verdict::Fail, "mcp-eval.yaml:6:13".to_owned()),
    ];
    assert_eq!(found, wanted);
    let unknown = with().build().unwrap_err().to_string();
    assert!(unknown.contains("there is no metric `small_refunds`") && unknown.contains("cheap"), "{unknown}");
    let broken = with().metric("small_refunds", "each refund args.amount").build().unwrap_err().to_string();
    assert!(broken.starts_with("mcp-eval.yaml:4:13: error"), "{broken}");
    assert!(problem(with().metric("cheap", "never a")).contains("there is a metric `cheap` already"));
    assert!(problem(with().metric("args_valid", "never a")).contains("there is a metric `args_valid` already"));
}
