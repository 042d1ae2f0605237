//! SkillGym's features: classes of failures by message, known failures, and tags selected by a project.

use crate::folder::Folder;
use averment_fixtures::{lines, quote, shared};
use serde_json::{Value, json};

const RULES: &str = r#"
classify "alias" "Wrong alias" when message contains "cursr"
classify "time" when message matches /duration/i

output not matches /cursr\s+agent/i
output not contains "open" message "no file is opened (cursr)"
duration <= 1s class "slow" "Too slow"
cost <= $1 class "dear" "Too dear"
not output contains "ready" expect fail "it says so"
rule tools {
  class "tools"
  classify "deploy" "Never deployed" when message contains "no deploy"
  require deploy
  require search
}
"#;

const RUN: &str = r#"{"output": "ready: cursr agent opens", "duration": 5000, "cost": 2, "calls": []}"#;

/// Returns the class ids of the results of a check.
fn classes(folder: &Folder, rules: &str) -> Vec<Option<String>> {
    let report = folder.aver(&format!("check {rules} run.json --format json")).json();
    let results = report["runs"][0]["results"].as_array().unwrap().clone();
    results.iter().map(|one| one["class"]["id"].as_str().map(str::to_owned)).collect()
}

fn owned(ids: &[Option<&str>]) -> Vec<Option<String>> {
    ids.iter().map(|id| id.map(str::to_owned)).collect()
}

#[test]
fn a_failure_has_the_class_of_the_first_line_whose_words_its_message_has() {
    let folder = Folder::new(&[("rules.assert", RULES), ("run.json", RUN)]);
    let wanted = [
        Some("alias"),
        Some("alias"),
        // Replaces the class that follows the assertion.
        Some("time"),
        // The assertion's class stays if no message matches.
        Some("dear"),
        // Known failures have a class, too.
        Some("alias"),
        // A rule's own message class has precedence over its class.
        Some("deploy"),
        Some("tools"),
    ];
    assert_eq!(classes(&folder, "rules.assert"), owned(&wanted));
    assert_eq!(folder.aver("compile rules.assert -o rules.assertc").code, 0);
    assert_eq!(classes(&folder, "rules.assertc"), owned(&wanted));
    // The class table may be after its use, at the end of the file, and between assertions.
    let (head, rest) = RULES.split_once("\n\n").unwrap();
    folder.write("last.assert", format!("{rest}{head}\n").as_bytes());
    assert_eq!(classes(&folder, "last.assert"), owned(&wanted));
}

#[test]
fn a_run_that_holds_has_no_class_by_its_message() {
    let run = r#"{"output": "done", "duration": 5, "cost": 0, "calls": [{"tool": "deploy"}, {"tool": "search"}]}"#;
    let folder = Folder::new(&[("rules.assert", RULES), ("run.json", run)]);
    // An unexpected pass has a class, too.
    let wanted = [None, None, Some("slow"), Some("dear"), None, Some("tools"), Some("tools")];
    assert_eq!(classes(&folder, "rules.assert"), owned(&wanted));
}

#[test]
fn every_format_that_tells_classes_tells_those_of_messages() {
    let folder = Folder::new(&[("rules.assert", RULES), ("run.json", RUN)]);
    let told = |format: &str| folder.aver(&format!("check rules.assert run.json --format {format}")).out;
    let lines = told("jsonl");
    let run: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(run["findings"][0]["class"], json!({"id": "alias", "label": "Wrong alias"}), "{lines}");
    let of_cost =
        run["findings"].as_array().unwrap().iter().find(|one| one["message"].is_null() && one["class"].is_null());
    assert!(of_cost.is_some(), "the class of an assertion stands in the header alone: {lines}");
    let sarif: Value = serde_json::from_str(&told("sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["properties"]["class"]["id"], "alias");
    let rows = told("csv");
    assert!(rows.lines().nth(1).unwrap().contains(",\"alias\","), "{rows}");
    let annotations = told("github");
    assert!(annotations.contains("::failure class: Wrong alias%0A"), "{annotations}");
    assert!(annotations.contains("::failure class: Never deployed%0A"), "{annotations}");
    // Checks of few and of many runs agree.
    folder.write("runs.jsonl", format!("{RUN}\n").repeat(30).as_bytes());
    let many = folder.aver("check rules.assert runs.jsonl --format jsonl --threads 2").out;
    for line in many.lines().skip(1).take(30) {
        let one: Value = serde_json::from_str(line).unwrap();
        let class = |at: usize| one["findings"][at]["class"]["id"].clone();
        assert_eq!((class(0), class(2), class(5)), (json!("alias"), json!("time"), json!("deploy")), "{line}");
    }
}

#[test]
fn known_failures_and_their_classes_are_those_of_the_vectors() {
    let Some(folder) = shared("conformance/skillgym") else { return };
    let (mut compared, mut of_runner) = (0, 0);
    for vector in lines(&folder.join("golden_expected_fail.jsonl")) {
        let raw = &vector["raw"];
        let passed = raw["passed"] == true;
        if !passed && raw["failureOrigin"] != "assertion" {
            // Crashes, timeouts and workspace errors: no recorded value failed.
            of_runner += 1;
            continue;
        }
        let returned = &vector["classifyFailureReturns"];
        let (id, label) = (returned["id"].as_str().or(returned.as_str()), returned["label"].as_str());
        let label = label.map(quote).unwrap_or_default();
        let classify = id.map(|id| format!("classify {} {label} when message contains \"is \"\n", quote(id)));
        let expect = if vector["expectedFail"] == true { "expect fail" } else { "" };
        let rules = format!("{}output == \"ready\" {expect}\n", classify.unwrap_or_default());
        let output = if passed { "ready" } else { "not yet" };
        let run = Folder::new(&[("rules.assert", &rules), ("run.json", &json!({ "output": output }).to_string())]);
        let ran = run.aver("check rules.assert run.json --format json");
        let (report, expected) = (ran.json(), &vector["expected"]);
        let result = &report["runs"][0]["results"][0];
        assert_eq!(result["status"], expected["status"], "{vector}");
        assert_eq!(report["passed"], expected["passed"], "{vector}");
        assert_eq!(ran.code == 0, expected["passed"] == true, "{vector}");
        // SkillGym assigns other failures a class by their kind, which is the status here.
        let by_message = id.filter(|_| !passed);
        assert_eq!(result["class"]["id"].as_str(), by_message, "{vector}");
        if by_message.is_some() {
            assert_eq!(result["class"]["id"], expected["failureClass"]["id"], "{vector}");
            assert_eq!(result["class"]["label"], expected["failureClass"]["label"], "{vector}");
        }
        compared += 1;
    }
    println!("golden_expected_fail.jsonl: {compared} agree, {of_runner} are about the runner");
    assert!(compared >= 10, "{compared}");
}

#[test]
fn classes_are_those_of_the_vectors() {
    let Some(folder) = shared("conformance/skillgym") else { return };
    let (mut compared, mut of_runner) = (0, 0);
    for vector in lines(&folder.join("golden_failure_class.jsonl")) {
        let origin = vector["failureOrigin"].as_str();
        if origin.is_some_and(|origin| origin != "assertion") {
            of_runner += 1;
            continue;
        }
        let attached = vector["attached"].as_str();
        let rules = match attached {
            Some(id) => format!("classify {} when message contains \"is \"\noutput == \"ready\"\n", quote(id)),
            None => "output == \"ready\"\n".to_owned(),
        };
        let output = if origin.is_some() { "not yet" } else { "ready" };
        let run = Folder::new(&[("rules.assert", &rules), ("run.json", &json!({ "output": output }).to_string())]);
        let found = classes(&run, "rules.assert");
        assert_eq!(found, [vector["expected"]["id"].as_str().map(str::to_owned)], "{vector}");
        compared += 1;
    }
    println!("golden_failure_class.jsonl: {compared} agree, {of_runner} are about the runner");
    assert!(compared >= 2, "{compared}");
}

/// Rules with one tag each.
const TAGGED: &str = "\
rule one tags smoke { output exists }
rule two tags auth { output exists }
rule three tags a { output exists }
rule four tags A { output exists }
";

fn judged(folder: &Folder, flags: &str) -> Vec<String> {
    let report = folder.aver(&format!("check rules.assert run.json --format json {flags}")).json();
    let rules = report["runs"][0]["rules"].as_array().unwrap().clone();
    rules.iter().map(|rule| rule["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn tags_of_the_command_line_are_read_as_in_the_vectors() {
    let Some(vectors) = shared("conformance/skillgym") else { return };
    let folder = Folder::new(&[("rules.assert", TAGGED), ("run.json", "{\"output\": \"x\"}")]);
    for vector in lines(&vectors.join("golden_tag_option.jsonl")) {
        let flags = match vector["input"].as_array() {
            Some(given) => given.iter().map(|tag| format!("--tag '{}' ", tag.as_str().unwrap())).collect::<String>(),
            None => "--tag".to_owned(),
        };
        if vector.get("expected_error").is_some() {
            folder.aver(&format!("check rules.assert run.json {flags}")).refused(&["--tag"]);
            continue;
        }
        let names = [("smoke", "one"), ("auth", "two"), ("a", "three"), ("A", "four")];
        let asked = vector["expected"].as_array().unwrap();
        let wanted: Vec<&str> =
            names.iter().filter(|(tag, _)| asked.contains(&json!(tag))).map(|(_, rule)| *rule).collect();
        assert_eq!(judged(&folder, &flags), wanted, "{vector}");
    }
}

#[test]
fn a_project_chooses_tags_and_the_command_line_wins() {
    let folder = Folder::new(&[
        ("rules.assert", TAGGED),
        ("run.json", "{\"output\": \"x\"}"),
        ("averment.toml", "tags = [\"smoke\", \"auth\"]\n"),
    ]);
    assert_eq!(judged(&folder, ""), ["one", "two"]);
    assert_eq!(judged(&folder, "--tag a"), ["three"]);
    assert_eq!(judged(&folder, "--no-project"), ["one", "two", "three", "four"]);
    folder.write("averment.toml", b"tags = [\"smoke test\"]\n");
    folder.aver("check rules.assert run.json").refused(&["averment.toml", "`smoke test` is no tag"]);
}
