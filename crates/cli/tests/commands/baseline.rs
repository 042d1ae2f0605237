//! A baseline: known failures fail no run, new ones do.

use crate::folder::Folder;
use serde_json::{Value, json};

const RULES: &str = "\
rule limit { each refund: args.amount <= 100 }
rule answers { output is not empty }
rule quality threshold 0.9 { output contains \"thanks\" }
";

const LARGE: &str = "each refund: args.amount <= 100 more.json";
const EMPTY: &str = "output is not empty runs.jsonl:2";
const QUALITY: &str = "rule quality runs.jsonl:2";

/// Returns a run with `large` large refunds, and without an answer if `output` is null.
fn run(large: usize, output: &Value) -> String {
    let refund = |number: usize| json!({"tool": "refund", "args": {"id": format!("o-{number}"), "amount": 250}});
    let calls: Vec<Value> = (0..large).map(refund).collect();
    let mut run = json!({ "calls": calls });
    if !output.is_null() {
        run["output"] = output.clone();
    }
    run.to_string()
}

fn folder(runs: &[String]) -> Folder {
    Folder::new(&[("rules.assert", RULES), ("runs.jsonl", &runs.join("\n"))])
}

/// Returns a folder whose baseline knows two runs: one with two large refunds, and one without an answer.
fn known() -> Folder {
    let folder = folder(&[run(2, &json!("many thanks")), run(0, &Value::Null)]);
    assert_eq!(folder.aver("check rules.assert runs.jsonl").code, 1);
    let ran = folder.aver("check rules.assert runs.jsonl --baseline known.txt --update-baseline");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("note: 3 known failures in `known.txt`"), "{}", ran.err);
    folder
}

/// True if a check passes with a baseline that was made from earlier runs.
fn passes_with_known(rules: &str, before: &str, now: &str) -> bool {
    let folder = Folder::new(&[("rules.assert", rules), ("runs.jsonl", before)]);
    let ran = folder.aver("check rules.assert runs.jsonl --baseline known.txt --update-baseline");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        folder.aver("check rules.assert runs.jsonl --baseline known.txt").code,
        0,
        "{}",
        folder.read("known.txt")
    );
    folder.write("runs.jsonl", now.as_bytes());
    folder.aver("check rules.assert runs.jsonl --baseline known.txt").code == 0
}

#[test]
fn what_failed_is_known_and_nothing_else_in_its_place() {
    let call = |tool: &str, args: &str| format!(r#"{{"id": "r-1", "calls": [{{"tool": "{tool}", "args": {args}}}]}}"#);
    let known = call("delete_tmp", r#"{"path": "/tmp/a"}"#);
    let rules = "never delete_*";
    assert!(passes_with_known(rules, &known, &call("delete_tmp", r#"{"path": "/tmp/b"}"#)));
    assert!(!passes_with_known(rules, &known, &call("delete_prod", r#"{"path": "/tmp/a"}"#)));
    assert!(!passes_with_known(rules, &known, &call("delete_tmp", r#"{"path": "/tmp/a", "force": true}"#)));
    let answer = |output: &str| format!(r#"{{"calls": [], "output": {output}}}"#);
    let (rules, known) = ("output.a == 1\nno x in output.l: x == 1", answer(r#"{"a": 2, "l": [1, 2]}"#));
    assert!(passes_with_known(rules, &known, &answer(r#"{"a": 3, "l": [2, 1]}"#)));
    // A known run keeps its failures if a new run without failures is inserted before it.
    let (rules, known) = ("never delete_*", call("delete_tmp", "{}"));
    let harmless = r#"{"id": "r-0", "calls": [{"tool": "x"}]}"#;
    assert!(passes_with_known(rules, &known, &format!("{harmless}\n{known}")));
    let new = known.replace("r-1", "r-0");
    assert!(!passes_with_known(rules, &known, &format!("{new}\n{known}")));
}

#[test]
fn what_is_said_over_many_runs_is_taken_up() {
    let runs = |passed: usize| {
        let run =
            |number: usize| format!(r#"{{"id": "r-{number}", "calls": [], "output": {{"ok": {}}}}}"#, number < passed);
        (0..10).map(run).collect::<Vec<_>>().join("\n")
    };
    let rules = "in at least 90% of runs: output.ok";
    assert!(passes_with_known(rules, &runs(5), &runs(5)));
    assert!(passes_with_known(rules, &runs(5), &runs(6)));
}

#[test]
fn what_is_known_fails_no_run_and_is_said() {
    let folder = known();
    let file = folder.read("known.txt");
    let lines: Vec<&str> = file.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(lines.len(), 3, "{file}");
    assert!(
        lines[0].starts_with(
            "rules.assert | each refund: args.amount <= 100 | runs.jsonl:1 | fail 2 | refund(amount, id) | refund at call 1"
        ),
        "{file}"
    );
    assert!(lines[1].starts_with("rules.assert | output is not empty | runs.jsonl:2 | undecided | - | "), "{file}");
    assert_eq!(lines[2], "rules.assert | rule quality | runs.jsonl:2 | below | - | undecided", "{file}");
    // The reference quotes this file exactly.
    let page = std::fs::read_to_string(averment_fixtures::project("docs/reference/command-line.md")).unwrap();
    assert!(page.contains(&format!("```text\n{file}```\n")), "{file}");
    for format in ["human", "summary", "short", "json", "jsonl"] {
        let ran = folder.aver(&format!("check rules.assert runs.jsonl --baseline known.txt --format {format}"));
        assert_eq!(ran.code, 0, "{format}: {ran:?}");
        assert!(ran.out.contains("known"), "{format}: {}", ran.out);
        assert!(!ran.out.contains("error["), "{format}: {}", ran.out);
    }
    let report = folder.aver("check rules.assert runs.jsonl --baseline known.txt --format json").json();
    assert_eq!((&report["passed"], &report["summary"]["known"]), (&json!(true), &json!(2)));
    assert_eq!(report["runs"][0]["results"][0]["known"], json!(true));
    assert_eq!(report["runs"][0]["results"][1].get("known"), None);
}

#[test]
fn what_is_new_fails() {
    let folder = known();
    let again = |runs: &[String]| {
        folder.write("runs.jsonl", runs.join("\n").as_bytes());
        folder.aver("check rules.assert runs.jsonl --baseline known.txt --format short")
    };
    let old = [run(2, &json!("many thanks")), run(0, &Value::Null)];
    assert_eq!(again(&old).code, 0);
    assert_eq!(again(&old).err, "");
    let better = again(&[run(0, &json!("many thanks")), old[1].clone()]);
    assert!(better.err.contains("note: 1 line stands in `known.txt` for what fails no more"), "{}", better.err);
    // A better run passes; a worse run and an unknown run fail.
    assert_eq!(again(&[run(1, &json!("many thanks")), old[1].clone()]).code, 0);
    let worse = again(&[run(3, &json!("many thanks")), old[1].clone()]);
    assert_eq!(worse.code, 1);
    assert!(worse.out.contains("error[limit.1]") && worse.out.contains("info[answers.1]: known: "), "{}", worse.out);
    let other = again(&[old[0].clone(), old[1].clone(), run(1, &json!("thanks"))]);
    assert_eq!(other.code, 1);
    assert!(other.out.contains("fail in runs.jsonl:3"), "{}", other.out);
    // A different failure of a known assertion is new.
    assert_eq!(again(&[old[0].clone(), run(0, &json!(""))]).code, 1);
}

#[test]
fn an_update_keeps_what_was_not_checked_and_drops_what_holds_now() {
    let folder = known();
    folder.write("runs.jsonl", [run(0, &json!("thanks")), run(0, &Value::Null)].join("\n").as_bytes());
    folder.write("more.json", run(1, &json!("thanks")).as_bytes());
    let update = |what: &str| {
        let ran = folder.aver(&format!("check rules.assert {what} --baseline known.txt --update-baseline"));
        assert_eq!(ran.code, 0, "{ran:?}");
        let names = |line: &str| line.split(" | ").skip(1).take(2).collect::<Vec<_>>().join(" ");
        folder.read("known.txt").lines().filter(|line| !line.starts_with('#')).map(names).collect::<Vec<_>>()
    };
    let all = update("more.json");
    assert_eq!(all, [LARGE, "each refund: args.amount <= 100 runs.jsonl:1", EMPTY, QUALITY]);
    assert_eq!(update("runs.jsonl"), [LARGE, EMPTY, QUALITY]);
    // With a selection of rules, the entries of other rules are kept.
    folder.write("more.json", run(0, &json!("thanks")).as_bytes());
    assert_eq!(update("more.json --rule answers").len(), 3);
    assert_eq!(update("more.json").len(), 2);
}

#[test]
fn what_could_not_be_judged_is_never_known() {
    let folder = known();
    let before = folder.read("known.txt");
    folder.write("runs.jsonl", format!("{}\n{{broken\n", run(0, &json!("thanks"))).as_bytes());
    let ran = folder.aver("check rules.assert runs.jsonl --baseline known.txt --update-baseline");
    assert_eq!((ran.code, folder.read("known.txt")), (4, before));
    assert!(ran.err.contains("the baseline was not written"), "{}", ran.err);
    let error = Folder::new(&[("r.assert", "file \"/etc/hostname\" exists\n"), ("run.json", "{\"output\": 1}")]);
    assert_eq!(error.aver("check r.assert run.json --baseline k.txt --update-baseline").code, 5);
    assert_eq!(error.aver("check r.assert run.json --baseline k.txt").code, 5);
}

#[test]
fn mistakes_in_the_file_are_told_with_their_place() {
    let folder = known();
    let check = "check rules.assert runs.jsonl --baseline";
    folder.aver(&format!("{check} none.txt")).refused(&["`none.txt` cannot be read", "`--update-baseline` writes it"]);
    folder.write("known.txt", b"# fine\nr.assert | never x | runs.jsonl:1 | faild\n");
    folder.aver(&format!("{check} known.txt")).refused(&["known.txt:2: ", "`faild` is none of fail, "]);
    folder.aver("check rules.assert runs.jsonl --update-baseline").refused(&["needs a file", "--baseline FILE"]);
    folder.aver(&format!("{check} no/such.txt --update-baseline")).refused(&["`no/such.txt` cannot be written"]);
}

#[test]
fn a_project_names_its_baseline() {
    let folder = known();
    let project = "rules = [\"rules.assert\"]\ntraces = [\"runs.jsonl\"]\nbaseline = \"known.txt\"\n";
    folder.write("averment.toml", project.as_bytes());
    assert_eq!(folder.aver("check").code, 0);
    folder.write("averment.toml", project.replace("known.txt", "../known.txt").as_bytes());
    let ran = folder.aver("check");
    assert!(ran.code == 2 && ran.err.contains("leads out of the folder"), "{ran:?}");
}

#[test]
fn what_is_known_of_one_assertion_covers_no_other() {
    // Two files with rules of the same name, and an assertion that replaces another one in its place.
    let known =
        [("d/a.assert", "rule approval { each refund: args.amount <= 100 }\n"), ("run.json", &run(1, &json!("x")))];
    let folder = Folder::new(&known);
    folder.write("d/b.assert", b"rule approval { never drop_table }\n");
    assert_eq!(folder.aver("check d run.json --baseline k.txt --update-baseline").code, 0);
    assert_eq!(folder.aver("check ./d ./run.json --baseline k.txt").code, 0);
    folder.write("run.json", b"{\"calls\": [{\"tool\": \"drop_table\"}], \"output\": \"x\"}");
    let ran = folder.aver("check d run.json --baseline k.txt --format short");
    assert!(ran.code == 1 && ran.out.contains("d/b.assert:1:17: error[approval.1]: fail"), "{ran:?}");
    folder.write("d/b.assert", b"# none\n");
    folder.write("d/a.assert", b"rule approval { never drop_table }\n");
    assert_eq!(folder.aver("check d run.json --baseline k.txt").code, 1);
    // A file that is no baseline is not overwritten.
    folder.write("notes.md", b"# my notes\n");
    folder.aver("check d run.json --baseline notes.md --update-baseline").refused(&["`notes.md` is something else"]);
    assert_eq!(folder.read("notes.md"), "# my notes\n");
    // A report may not overwrite an input.
    folder.aver("check d run.json --baseline k.txt --report csv=k.txt").refused(&["`k.txt` is read by this command"]);
}

/// Ids of assertions without a rule are made of their words, so they stay when other lines change, and a baseline needs no line numbers.
#[test]
fn a_name_is_what_a_person_would_say_and_stays() {
    let run = r#"{"output": {"status": "open"}, "calls": [{"tool": "drop_table", "args": {}}]}"#;
    let rules = "output.status == \"refunded\"\nnever drop_table\n";
    let folder = Folder::new(&[("rules.assert", rules), ("runs.jsonl", run)]);
    let ids = || -> Vec<String> {
        let json = folder.aver("check rules.assert runs.jsonl --format json").json();
        let results = json["runs"][0]["results"].as_array().unwrap().clone();
        results.iter().map(|result| result["id"].as_str().unwrap().to_owned()).collect()
    };
    let before = ids();
    assert_eq!(before, ["rules:output.status-is-refunded", "rules:never-drop_table"]);
    assert_eq!(folder.aver("check rules.assert runs.jsonl --baseline known.txt --update-baseline").code, 0);
    let more = "never cancel\noutput.status matches /^ref/\nwhen output.status == \"open\" { never drop_table }\n";
    folder.write("rules.assert", format!("{more}{rules}never drop_table\n").as_bytes());
    let now = ids();
    assert!(before.iter().all(|id| now.contains(id)), "{now:?}");
    assert!(now.contains(&"rules:never-drop_table-2".to_owned()), "{now:?}");
    assert_eq!(folder.aver("check rules.assert runs.jsonl --rule rules:never-drop_table").code, 1);
    folder.write("rules.assert", rules.as_bytes());
    assert_eq!(folder.aver("check rules.assert runs.jsonl --baseline known.txt").code, 0);
    // If two ids would be equal, each gets its own digits, independent of their order.
    let alike = ["output.a == \"x-1\"", "output.a == \"x 1\""];
    folder.write("rules.assert", alike.join("\n").as_bytes());
    let mut one = ids();
    folder.write("rules.assert", [alike[1], alike[0]].join("\n").as_bytes());
    assert!(one.iter().all(|id| id.starts_with("rules:output.a-is-x-1-")) && one[0] != one[1], "{one:?}");
    one.reverse();
    assert_eq!(ids(), one);
}
