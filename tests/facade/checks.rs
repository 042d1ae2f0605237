//! Judging the runs of one trace.

use averment::{Permissions, Rules, RunError, Status, Trace, Verdict};
use serde_json::json;

fn rules(text: &str) -> Rules {
    Rules::from_text("r.assert", text).unwrap()
}

#[test]
fn an_outcome_says_what_where_and_why() {
    let rules = rules(
        "rule approval \"Refunds are approved\" {\n  before approve(id: $id) -> refund(id: $id) message \"ask first\"\n}\nnever cancel",
    );
    let run = r#"{"calls": [{"tool": "approve", "args": {"id": "o-2"}}, {"tool": "refund", "args": {"id": "o-1"}}]}"#;
    let outcome = rules.check_one(Trace::from(run).named("run.json")).unwrap();
    assert_eq!((outcome.run(), outcome.trace(), outcome.passed()), ("run.json", "run.json", false));
    assert_eq!(outcome.results().count(), 2);
    let found: Vec<_> = outcome.findings().collect();
    let first = found[0];
    assert_eq!(
        (first.id(), first.rule(), first.verdict(), first.status()),
        ("approval.1", Some("approval"), Verdict::Fail, Status::Failed)
    );
    assert_eq!((first.message(), first.score()), (Some("ask first"), Some(0.0)));
    assert_eq!(first.assertion().sentence(), Some("Refunds are approved"));
    assert_eq!(rules.assertion(first.id()).unwrap().text(), first.text());
    assert!(first.reason().contains("o-1"), "{}", first.reason());
    let decisive = first.evidence().find(|one| one.step() == Some(2)).unwrap();
    let place = decisive.place().unwrap();
    let text = run.get(place.start as usize..place.end as usize).unwrap();
    assert!(place.line == 1 && text.contains("refund") || text.contains("o-1"), "{text}");
    let rule = outcome.rules().next().unwrap();
    assert_eq!((rule.id(), rule.verdict(), rule.passed()), ("approval", Verdict::Fail, false));
    assert_eq!(outcome.result("approval.1").unwrap().reason(), first.reason());
}

#[test]
fn one_run_is_the_same_from_text_bytes_a_value_and_a_reader() {
    let rules = rules("never refund\noutput.n == 1");
    let value = json!({"calls": [{"tool": "refund"}], "output": {"n": 1}});
    let text = value.to_string();
    let all = [
        Trace::from(text.as_str()),
        Trace::from(text.as_bytes()),
        Trace::from(&value),
        Trace::from(text.clone()),
        Trace::reader(std::io::Cursor::new(text.clone())),
    ];
    let said = all.map(|trace| serde_json::to_string(&rules.check_one(trace.named("x")).unwrap()).unwrap());
    assert!(said.windows(2).all(|pair| pair[0] == pair[1]), "{said:#?}");
}

#[test]
fn a_trace_of_several_runs_is_judged_run_by_run() {
    let rules = rules("never refund");
    let text = "{\"calls\": []}\nno json\n{\"calls\": [{\"tool\": \"refund\"}]}\n";
    let all: Vec<_> = rules.check(Trace::from(text).named("t")).collect();
    assert_eq!(all.len(), 3);
    assert_eq!(all[0].as_ref().unwrap().run(), "t:1");
    let Err(RunError::Read(error)) = &all[1] else { panic!("{:?}", all[1]) };
    assert_eq!((error.file.as_str(), error.line), ("t", 2));
    assert!(!all[2].as_ref().unwrap().passed());
    let error = rules.check_one(Trace::from(text).named("t")).unwrap_err();
    assert_eq!(error.to_string(), "t:1:1: more than one run");
    let error = rules.check_one(Trace::from("").named("t")).unwrap_err();
    assert_eq!(error.to_string(), "t:1:1: no run: the file is empty");
}

#[test]
fn what_cannot_be_read_is_an_error_with_its_place() {
    let rules = rules("never refund");
    let error = rules.check_one(Trace::from("{\"calls\":\n [}").named("t")).unwrap_err();
    assert!(error.to_string().starts_with("t:2:"), "{error}");
    let error = rules.check_one(Trace::file("/no/such/file")).unwrap_err();
    assert_eq!(error.to_string(), "/no/such/file:1:1: there is no such file");
}

#[test]
fn strictness_makes_an_error_of_what_is_odd() {
    let twice = r#"{"calls": [], "calls": []}"#;
    let lenient = rules("never refund").check_one(twice).unwrap();
    assert_eq!(lenient.warnings().count(), 1);
    let strict = Rules::builder().text("r", "never refund").strict(true).build().unwrap();
    assert!(strict.check_one(twice).unwrap_err().to_string().contains("more than once"));
}

#[test]
fn policies_change_what_fails_a_run() {
    let builder = || Rules::builder().text("r", "before approve -> refund\ncost <= 1");
    let run = r#"{"calls": []}"#;
    assert!(!builder().build().unwrap().check_one(run).unwrap().passed(), "the cost is not recorded");
    assert!(builder().allow_undecided(true).build().unwrap().check_one(run).unwrap().passed());
    assert!(!builder().allow_undecided(true).deny_vacuous(true).build().unwrap().check_one(run).unwrap().passed());
}

#[test]
fn nothing_outside_of_the_run_is_looked_at_without_permission() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("made.txt"), "x").unwrap();
    let text = "file \"made.txt\" exists";
    let run = r#"{"calls": []}"#;
    let verdict = |rules: Rules| rules.check_one(run).unwrap().results().next().unwrap().verdict();
    assert_eq!(verdict(rules(text)), Verdict::Error);
    let permissions = Permissions { working_directory: Some(folder.path().to_owned()), ..Permissions::default() };
    assert_eq!(verdict(Rules::builder().text("r", text).permissions(permissions).build().unwrap()), Verdict::Pass);
    for outside in ["env HOME is set", "run \"true\" exits 0"] {
        assert_eq!(verdict(rules(outside)), Verdict::Error, "{outside}");
    }
}

#[test]
fn secrets_of_a_run_stand_in_no_outcome() {
    let rules = rules("never login");
    let key = "AKIAABCDEFGHIJKLMNOP";
    let outcome = rules
        .check_one(&json!({"calls": [{"tool": "login", "args": {"password": "hunter2-hunter2", "key": key}}]}))
        .unwrap();
    let said = serde_json::to_string(&outcome).unwrap()
        + &format!("{:?}", outcome.findings().map(|one| one.reason().to_owned()).collect::<Vec<_>>());
    assert!(!said.contains(key) && !said.contains("hunter2"), "{said}");
}

#[test]
fn tests_in_rules_are_run() {
    let text = "rule no-refunds { never refund }\n\
                test \"seen\" expect fail no-refunds { calls: [{ tool: \"refund\" }] }\n\
                test \"missed\" expect pass no-refunds { calls: [{ tool: \"refund\" }] }\n";
    let all = rules(text).run_tests();
    let passed: Vec<(&str, bool, usize)> =
        all.iter().map(|test| (test.name.as_str(), test.passed, test.place.line)).collect();
    assert_eq!(passed, [("seen", true, 2), ("missed", false, 3)]);
    assert_eq!(all[1].verdicts, [("no-refunds".to_owned(), Verdict::Fail)]);
    assert!(!all[1].reason.is_empty());
}

#[test]
fn explanations_say_the_same_verdicts() {
    let rules = rules("never refund\nbefore a -> b");
    let text = "{\"calls\": [{\"tool\": \"refund\"}]}\n{\"calls\": [{\"tool\": \"b\"}]}\n";
    let explained: Vec<_> = rules.explain(text).map(|one| serde_json::to_value(one.unwrap()).unwrap()).collect();
    let judged: Vec<_> = rules.check(text).map(|one| serde_json::to_value(one.unwrap()).unwrap()).collect();
    let verdicts = |list: &serde_json::Value| {
        list.as_array().unwrap().iter().map(|one| one["verdict"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(explained.len(), 2);
    for (explained, judged) in explained.iter().zip(&judged) {
        assert_eq!(verdicts(&explained["assertions"]), verdicts(&judged["results"]));
    }
}

#[test]
fn threads_share_rules() {
    fn shared<T: Send + Sync>(_: &T) {}
    let rules = rules("never refund\noutput.text matches /a+b/");
    shared(&rules);
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let rules = rules.clone();
            std::thread::spawn(move || {
                rules.check_one(&json!({"calls": [], "output": {"text": "aab"}, "id": number})).unwrap().passed()
            })
        })
        .collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
}
