//! `aver check --profile`: the items that costs are measured for, the output, and the values that are the same every time.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const RULES: &str = r#"use std.secrets
let spent = sum(calls[*].args.amount)
def heavy(text) = text matches /([a-z]+ )+[0-9]{3}/ or length(text) > 4000
def twice(text) = heavy(text) or heavy(upper(text))
rule approval "Refunds need an approval" {
  before approve(id: $id) -> refund(id: $id, amount > 10)
  count refund <= 3
}
rule words { no twice in calls[*].result }
rule order { before approve(id: $id) -> refund(id: $id, amount > 10) }
schema Refund = { properties: { status: { type: "string" } } }
output is Refund
spent <= 100 and spent >= 0
no secrets in calls[*].result
"#;
/// Rules for which some runs are read in full, some partly, and some not at all.
const PARTLY: &str = "each approve: duration < 5s\nrule few { count refund <= 3 }\noutput.status == \"refunded\"\neach approve: args.id == \"o-1\"\n";
const GOOD: &str = r#"{"calls":[{"tool":"approve","args":{"id":"o-1"},"result":"fine"},{"tool":"refund","args":{"id":"o-1","amount":25},"result":"some words 123"}],"output":{"status":"refunded"}}"#;
const BAD: &str = r#"{"calls":[{"tool":"approve","args":{"id":"o-2"},"result":"fine"},{"tool":"refund","args":{"id":"o-1","amount":250},"result":"none"}],"output":{"status":7}}"#;
const CHAT: &str = r#"{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"refund","arguments":"{\"id\":\"o-1\",\"amount\":5}"}}]},{"role":"tool","tool_call_id":"c1","content":"done"}]}"#;

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let lines: String = (0..600).map(|number| format!("{}\n", [GOOD, BAD, CHAT][number % 3])).collect();
    for (name, text) in [("r.assert", RULES), ("runs.jsonl", &lines), ("good.json", GOOD)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

fn aver(folder: &Path, line: &str) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_aver"))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("COLUMNS", "140")
        .args(shell_words::split(line).expect("words"))
        .output()
        .expect("aver starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn profile(folder: &Path, line: &str) -> Value {
    let ran = aver(folder, line);
    serde_json::from_str(&ran.err).unwrap_or_else(|error| panic!("{error}: {}", ran.err))
}

/// Removes all times and the number of threads.
fn without_seconds(value: &Value) -> Value {
    match value {
        Value::Object(entries) => {
            let timed = |key: &str| key.ends_with("seconds") || key == "threads";
            let kept = entries.iter().filter(|(key, _)| !timed(key));
            Value::Object(kept.map(|(key, value)| (key.clone(), without_seconds(value))).collect())
        }
        Value::Array(items) => items.iter().map(without_seconds).collect(),
        other => other.clone(),
    }
}

/// Returns the element of a list with this name or id.
#[track_caller]
fn named<'a>(profile: &'a Value, list: &str, name: &str) -> &'a Value {
    let items = profile[list].as_array().expect("a list");
    let is_it = |item: &&Value| item["name"] == name || item["id"] == name || item["format"] == name;
    items.iter().find(is_it).unwrap_or_else(|| panic!("no {name} in {list}: {}", profile[list]))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

#[test]
fn rules_patterns_functions_and_formats_have_costs() {
    let folder = folder();
    let profile = profile(folder.path(), "check r.assert runs.jsonl --format summary --profile=json");
    assert_eq!((number(&profile["runs"]), number(&named(&profile, "formats", "chat messages")["runs"])), (600, 200));
    assert_eq!(number(&named(&profile, "formats", "normal form")["bytes"]), 200 * (GOOD.len() + BAD.len()) as u64);
    let rule = named(&profile, "rules", "approval");
    assert_eq!(number(&rule["location"]["line"]), 5);
    let assertions = rule["assertions"].as_array().expect("assertions");
    let sum = |key: &str| assertions.iter().map(|one| number(&one[key])).sum::<u64>();
    assert_eq!(assertions.len(), 2);
    for key in ["fuel", "self_fuel", "calls"] {
        assert_eq!(number(&rule[key]), sum(key), "{key}");
    }
    // Rules that only count a tool's calls are decided early, and their results for few calls are shared. Rules about arguments are not.
    assert_eq!((number(&assertions[0]["decided_early"]), number(&assertions[1]["decided_early"])), (0, 600));
    assert!(number(&assertions[0]["calls"]) >= 600 && number(&assertions[1]["calls"]) == 0, "{assertions:?}");
    // A pattern that occurs in two rules is evaluated once.
    let step = named(&profile, "patterns", "refund(id: $id, amount > 10)");
    assert_eq!((step["kind"].as_str(), number(&step["uses"]), number(&step["calls"])), (Some("step"), 2, 600));
    let text = named(&profile, "patterns", "/([a-z]+ )+[0-9]{3}/");
    assert_eq!((text["kind"].as_str(), number(&text["location"]["line"])), (Some("text"), 3));
    let find = |name: &str| named(&profile, "functions", name);
    assert_eq!(find("Refund")["kind"], "schema");
    assert_eq!((find("spent")["kind"].as_str(), number(&find("spent")["location"]["line"])), (Some("let"), 2));
    assert!(number(&find("secrets")["calls"]) >= 600, "{}", find("secrets"));
    assert_eq!(find("length")["location"]["line"], 3);
    // The cost of a definition itself, and of the definitions that it calls.
    let (outer, inner) = (find("twice"), find("heavy"));
    assert!(number(&outer["fuel"]) > number(&outer["self_fuel"]));
    assert!(number(&inner["calls"]) > number(&outer["calls"]));
    let parts = number(&outer["self_fuel"]) + number(&inner["fuel"]) + number(&find("upper")["fuel"]);
    assert_eq!(number(&outer["fuel"]), parts);
    assert!(number(&inner["fuel"]) > number(&text["fuel"]) && number(&text["fuel"]) > 0);
}

#[test]
fn what_a_let_computes_for_all_is_part_of_no_assertion() {
    let folder = folder();
    let rules = "let total = sum(calls[*].args.amount)\ntotal <= 100\ntotal >= 0\n";
    // A sum whose result left out a call is evaluated once more.
    let run = r#"{"calls":[{"tool":"refund","args":{"amount":25}},{"tool":"refund","args":{"amount":5}}]}"#;
    for (name, text) in [("let.assert", rules), ("let.json", run)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let profile = profile(folder.path(), "check let.assert let.json --format summary --profile=json");
    let rules = profile["rules"].as_array().expect("rules");
    assert_eq!(rules[0]["fuel"], rules[1]["fuel"], "the first to ask does not pay for the second");
    let total = named(&profile, "functions", "total");
    assert_eq!((number(&total["calls"]), number(&total["uses"])), (1, 2));
    assert!(number(&total["fuel"]) > number(&total["self_fuel"]), "the sum is inside");
}

#[test]
fn fuel_and_counts_of_one_thread_are_the_same_each_time_whatever_the_chunks_are() {
    let folder = folder();
    let line = "check r.assert runs.jsonl --format summary --profile=json --threads 1";
    let one = without_seconds(&profile(folder.path(), line));
    for other in ["", " --chunk 1KiB"] {
        let other = without_seconds(&profile(folder.path(), &format!("{line}{other}")));
        assert_eq!(serde_json::to_string(&one).ok(), serde_json::to_string(&other).ok());
    }
    assert!(number(&one["rules"][0]["fuel"]) > 0);
}

#[test]
fn how_much_is_read_for_counts_does_not_depend_on_threads() {
    let folder = folder();
    std::fs::write(folder.path().join("part.assert"), PARTLY).expect("a file");
    let reads = |threads: usize| {
        let line = format!("check part.assert runs.jsonl --format summary --profile=json --threads {threads}");
        let profile = profile(folder.path(), &line);
        let counts = ["read_in_full", "read_in_part", "decided_by_default"].map(|key| number(&profile[key]));
        assert_eq!(counts.iter().sum::<u64>(), 600, "{counts:?}");
        (counts, profile["full_reads"].clone())
    };
    let one = reads(1);
    assert!(one.0[0] < 600, "{one:?}");
    assert_eq!(one, reads(3));
}

#[test]
fn the_report_is_the_same_with_and_without_a_profile() {
    let folder = folder();
    std::fs::write(folder.path().join("part.assert"), PARTLY).expect("a file");
    for (rules, format) in ["r.assert", "part.assert"]
        .into_iter()
        .flat_map(|rules| ["human", "summary", "short", "json", "jsonl"].into_iter().map(move |format| (rules, format)))
    {
        let line = format!("check {rules} runs.jsonl good.json --format {format}");
        let (plain, profiled) = (aver(folder.path(), &line), aver(folder.path(), &format!("{line} --profile=p.json")));
        assert_eq!((plain.code, &plain.out, &plain.err), (profiled.code, &profiled.out, &profiled.err), "{line}");
        assert_eq!(plain.code, Some(1), "{line}: {}", plain.out);
    }
    let written = std::fs::read_to_string(folder.path().join("p.json")).expect("the profile");
    assert_eq!(serde_json::from_str::<Value>(&written).expect("JSON")["runs"], 601);
}

#[test]
fn the_object_is_what_its_schema_says() {
    let folder = folder();
    let schema: Value =
        serde_json::from_str(include_str!("../../../../docs/schema/check-profile.schema.json")).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    for line in ["check r.assert runs.jsonl --profile=json", "check r.assert --allow empty --profile=json"] {
        let profile = profile(folder.path(), &format!("{line} --format json"));
        let errors: Vec<String> = validator.iter_errors(&profile).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{line}: {errors:?}");
    }
}

/// Returns the lines without varying parts, sorted, because they are ordered by time.
fn masked(text: &str) -> Vec<String> {
    let time = regex::Regex::new(r"[0-9.]+ (s|ms|µs|ns)\b").expect("a pattern");
    let share = regex::Regex::new(r"([0-9]+%|-)( +T|  )").expect("a pattern");
    let standard = regex::Regex::new(r"(std/[a-z]+\.assert):[0-9:]+").expect("a pattern");
    let blanks = regex::Regex::new(r" +").expect("a pattern");
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| {
            let line = time.replace_all(line, "T");
            let line = share.replace_all(&line, "S$2");
            let line = standard.replace_all(&line, "$1");
            blanks.replace_all(&line, " ").trim().to_owned()
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn the_documented_table_is_what_the_example_prints() {
    let root = averment_fixtures::root();
    let page = std::fs::read_to_string(root.join("docs/reference/command-line.md")).expect("the reference");
    let section = page.split("### Profiles").nth(1).expect("a section on profiles");
    let block = section.split("```text\n$ ").nth(1).expect("an example").split("```").next().unwrap_or_default();
    let (command, documented) = block.split_once('\n').expect("a command and what it prints");
    let line = command.strip_prefix("aver ").expect("aver");
    let ran = aver(&root.join("examples/refund-agent"), line);
    let printed = format!("{}{}", ran.out, ran.err);
    assert_eq!(masked(documented), masked(&printed), "the example prints:\n{printed}");
}

#[test]
fn a_long_table_is_cut_and_says_where_the_rest_is() {
    let folder = folder();
    let rules: String = (0..40).map(|number| format!("rule r{number} {{ count refund <= {number} }}\n")).collect();
    std::fs::write(folder.path().join("many.assert"), rules).expect("a file");
    let ran = aver(folder.path(), "check many.assert good.json --format summary --profile");
    assert!(ran.err.contains("… and 25 more, all in `--profile=FILE.json`"), "{}", ran.err);
}

/// Returns the profile of the given rules.
fn said(folder: &Path, rules: &str, options: &str) -> String {
    std::fs::write(folder.join("n.assert"), rules).expect("a file");
    let ran = aver(folder, &format!("check n.assert runs.jsonl --profile {options}"));
    assert!(ran.err.contains("\nprofile: 600 runs, "), "{rules}: {}", ran.err);
    ran.err
}

#[test]
fn what_turns_partial_reading_off_is_named_with_its_place_and_what_it_needs() {
    let folder = folder();
    for (rules, named) in [
        (
            "use std.secrets\nrule r {\n  count refund <= 3\n  no secrets in calls[*].args\n}",
            "`r.2` (n.assert:4:3) needs every text in `args` of all calls: its predicate looks for no fixed text",
        ),
        ("length(messages) < 9", "`length(messages) < 9` (n.assert:1:1) needs the whole list `messages`"),
        ("rule g { any of { require a; require b } }", "`g` (n.assert:1:10) needs all steps, as a group does"),
        ("rule s { never assistant /x/ }", "`s` (n.assert:1:10) needs the whole list `messages`"),
        ("rule n { not require b }", "`n` (n.assert:1:10) needs all steps, as `not` before a statement does"),
        ("turns <= 9", "`turns <= 9` (n.assert:1:1) needs `turns`, which only the whole run tells"),
        (
            "rule p { count refund <= 3; prompt contains \"hello\" }",
            "`p.2` (n.assert:1:29) needs `prompt`, which only the whole run tells",
        ),
        ("text(run) contains \"zzz\"", "`text(run) contains \"zzz\"` (n.assert:1:1) needs the whole run"),
    ] {
        let said = said(folder.path(), rules, "--format summary");
        assert!(said.contains("\n  600 runs were read in full, 0 in part, 0 decided by default\n"), "{rules}: {said}");
        let line = format!("\n  partial reading is off because {named}\n");
        assert!(said.contains(&line), "{rules}: {said}");
    }
}

#[test]
fn what_some_runs_are_read_in_full_for_is_named() {
    let folder = folder();
    for (rules, options, line) in [
        (
            "rule f { never refund failed }",
            "--format summary",
            "200 runs were read in full because `f` (n.assert:1:10) needs `status` of steps",
        ),
        (
            "rule d { each approve: duration < 5s }",
            "--format summary",
            "400 runs were read in full because `d` (n.assert:1:10) needs `duration` of steps",
        ),
        (
            "rule r { before never_called -> refund message \"${output}\" }",
            "--format jsonl",
            "600 runs were read in full for the reason of `r` (n.assert:1:10)",
        ),
        (
            "rule r { never refund }",
            "--format human",
            "3 runs were read in full to draw a failure of `r` (n.assert:1:10)",
        ),
        (
            "never refund",
            "--strict --format summary",
            "600 runs were read in full because of an option of the command line",
        ),
        (
            "count refund <= 3",
            "--report html=page.html",
            "600 runs were read in full because of a report that shows whole runs",
        ),
    ] {
        let said = said(folder.path(), rules, options);
        assert!(said.contains(&format!("\n  {line}\n")), "{rules}: {said}");
        assert!(!said.contains("partial reading is off"), "{rules}: {said}");
    }
}

#[test]
fn runs_that_are_read_in_part_or_not_at_all_are_counted() {
    let folder = folder();
    for (rules, counts) in [
        ("rule names { count refund <= 3 }", "0 runs were read in full, 0 in part, 600 decided by default"),
        ("output.status == \"refunded\"", "0 runs were read in full, 600 in part, 0 decided by default"),
        ("each approve: args.id == \"o-1\"", "0 runs were read in full, 400 in part, 200 decided by default"),
        ("never approve failed", "0 runs were read in full, 400 in part, 200 decided by default"),
        ("before approve(id: $id) -> close(id: $id)", "0 runs were read in full, 0 in part, 600 decided by default"),
    ] {
        let said = said(folder.path(), rules, "--format summary");
        assert!(said.contains(&format!("\n  {counts}\n\n")), "{rules}: {said}");
        assert!(said.contains("  early: the share of runs in which the first look decides it\n"), "{said}");
    }
}

#[test]
fn of_many_runs_the_report_for_people_reads_the_first_ones_and_its_examples() {
    let folder = folder();
    let read_runs = |format: &str| -> u64 {
        let said = said(folder.path(), "never refund", &format!("--format {format}"));
        let line = said.lines().find(|line| line.contains("read in full, ")).unwrap_or_else(|| panic!("{said}"));
        line.split(", ").take(2).flat_map(|part| part.trim().split(' ').next()).map(|n| n.parse::<u64>().unwrap()).sum()
    };
    assert_eq!(read_runs("summary"), 0);
    assert!((3..=11).contains(&read_runs("human")), "{}", read_runs("human"));
    assert_eq!(read_runs("short"), 600);
}

#[test]
fn a_rule_about_cost_has_no_other_rule_read_in_full() {
    let folder = folder();
    let lines: String = (0..600).map(|number| format!("{}\n", [GOOD, BAD][number % 2])).collect();
    std::fs::write(folder.path().join("runs.jsonl"), lines.replace("\"output\"", "\"cost\":0.02,\"output\""))
        .expect("a file");
    let binds = "before approve(id: $id) -> refund(id: $id, amount > 10)\ncost <= $5";
    let reads_cost = "before approve(id: $id) -> refund(id: $id, amount > cost)\ncost <= $5";
    for (rules, counts) in [
        (binds, "0 runs were read in full, 600 in part, 0 decided by default"),
        (reads_cost, "600 runs were read in full, 0 in part, 0 decided by default"),
    ] {
        let said = said(folder.path(), rules, "--format jsonl");
        assert!(said.contains(&format!("\n  {counts}\n")), "{rules}: {said}");
    }
}

#[test]
fn cost_and_tokens_are_read_in_part() {
    let folder = folder();
    let priced = |tokens: u32| {
        format!(
            "{{\"calls\":[{{\"tool\":\"refund\"}}],\"cost\":0.02,\"usage\":{{\"input_tokens\":{tokens},\"output_tokens\":5}}}}\n"
        )
    };
    let lines: String = (0..600).map(|number| priced(number % 3 * 10)).collect();
    std::fs::write(folder.path().join("runs.jsonl"), lines).expect("a file");
    for rules in ["cost <= $0.05", "usage.input_tokens <= 20", "usage.total_tokens <= 30", "usage.output_tokens < 9"] {
        let said = said(folder.path(), rules, "--format summary");
        let counts = "  0 runs were read in full, 600 in part, 0 decided by default\n\n";
        assert!(said.contains(counts), "{rules}: {said}");
    }
    // Chats have no list of calls, and their cost is the sum over all answers.
    std::fs::write(folder.path().join("runs.jsonl"), format!("{CHAT}\n").repeat(600)).expect("a file");
    let said = said(folder.path(), "cost <= $0.05", "--format summary");
    assert!(said.contains("600 runs were read in full because of their format"), "{said}");
}

#[test]
fn a_profile_that_cannot_be_written_is_refused_before_anything_is_judged() {
    let folder = folder();
    for (word, said) in [
        ("=none/p.json", "`none/p.json` cannot be written"),
        ("=yaml", "a profile cannot be written as `yaml`"),
        ("=", "--profile"),
        (" json", "`json` is taken for the rules"),
    ] {
        let ran = aver(folder.path(), &format!("check --profile{word} r.assert good.json"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{word}: {}", ran.err);
        assert!(ran.err.contains(said), "{word}: {}", ran.err);
    }
    std::fs::write(folder.path().join("broken.assert"), "nevr x\n").expect("a file");
    assert_eq!(aver(folder.path(), "check broken.assert good.json --profile=p.json").code, Some(3));
    assert!(!folder.path().join("p.json").exists(), "no file where nothing was judged");
}
