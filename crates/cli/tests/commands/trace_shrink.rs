//! `aver trace shrink`: the smaller trace is read and judged in the same way, and loses texts and names.

use crate::folder::Folder;
use serde_json::Value;

const CHAT: &str = r#"{"id": "thread-77", "user": "alice@example.com", "messages": [
  {"role": "user", "content": "Alice wants her money for order o-1 back"},
  {"role": "assistant", "content": null, "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "approve", "arguments": "{\"order\": \"o-2\", \"by\": \"Bob\"}"}}]},
  {"role": "tool", "tool_call_id": "c1", "content": "approved by Bob"},
  {"role": "assistant", "content": null, "tool_calls": [
    {"id": "c2", "type": "function", "function": {"name": "refund", "arguments": "{\"order\": \"o-1\", \"amount\": 250}"}}]},
  {"role": "tool", "tool_call_id": "c2", "content": "sent to Alice"},
  {"role": "assistant", "content": "Dear Alice, it is refunded."}
]}"#;
const RULES: &str =
    "rule approval {\n  before approve(order: $o) -> refund(order: $o, amount > 100)\n}\ncount refund <= 1\n";

fn verdicts(folder: &Folder, trace: &str) -> Vec<Vec<String>> {
    let report = folder.aver(&format!("check rules.assert {trace} --format json --allow empty")).json();
    let of_run = |run: &Value| {
        let results = run["results"].as_array().unwrap().iter();
        results.map(|one| format!("{} {}", one["id"], one["verdict"])).collect()
    };
    let runs: Vec<Vec<String>> = report["runs"].as_array().unwrap().iter().map(of_run).collect();
    assert!(runs.iter().all(|run| !run.is_empty()) && !runs.is_empty(), "{report}");
    runs
}

/// Returns format and steps, without their texts.
fn outline(folder: &Folder, trace: &str) -> (String, Vec<String>) {
    let shown = folder.aver(&format!("trace show {trace}")).out;
    let format = shown.lines().find(|line| line.starts_with("format")).unwrap_or_default().to_owned();
    let run: Value = serde_json::from_str(&folder.aver(&format!("trace convert {trace}")).out).unwrap();
    let lists = run.as_object().unwrap().iter().filter(|(_, value)| value.is_array());
    (format, lists.map(|(key, value)| format!("{key} {}", value.as_array().unwrap().len())).collect())
}

#[test]
fn texts_and_names_go_and_the_reading_stays() {
    let folder = Folder::new(&[("chat.json", CHAT)]);
    let ran = folder.aver("trace shrink chat.json --out small.json");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    let small = folder.read("small.json");
    for gone in ["Alice", "alice", "Bob", "o-1", "o-2", "refund", "approve", "thread"] {
        assert!(!small.contains(gone), "{gone}: {small}");
    }
    for stays in ["\"role\"", "tool_calls", "\\\"order\\\"", "250"] {
        assert!(small.contains(stays), "{stays}: {small}");
    }
    assert_eq!(outline(&folder, "small.json"), outline(&folder, "chat.json"));
    // The kept texts are listed.
    assert!(ran.err.contains("bytes became") && ran.err.contains("  assistant\n"), "{}", ran.err);
    assert_eq!(folder.aver("trace shrink small.json").out, small, "a smaller one has no smaller one");
}

/// Records that were not understood keep their structure, because a bug report about the reader needs it.
#[test]
fn what_was_not_read_keeps_its_form() {
    let run = r#"{"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "bye"}],
        "unknown": {"type": "super_call", "tool_name": "wipe", "for": {"bob@example.com": 1}}}"#;
    let folder = Folder::new(&[("run.json", run)]);
    let small = folder.aver("trace shrink run.json").out;
    assert!(small.contains("super_call") && small.contains("tool_name"), "{small}");
    assert!(!small.contains("wipe") && !small.contains("bob"), "{small}");
}

#[test]
fn verdicts_stay_and_so_do_the_names_that_they_need() {
    let folder = Folder::new(&[("chat.json", CHAT), ("rules.assert", RULES)]);
    folder.write("small.json", folder.aver("trace shrink chat.json --rules rules.assert").out.as_bytes());
    let small = folder.read("small.json");
    assert_eq!(verdicts(&folder, "small.json"), verdicts(&folder, "chat.json"));
    assert_eq!(outline(&folder, "small.json"), outline(&folder, "chat.json"));
    for (part, stays) in [("refund", true), ("amount", true), ("Alice", false), ("Bob", false), ("o-1", false)] {
        assert_eq!(small.contains(part), stays, "{part}: {small}");
    }
    // Without the steps that no verdict needs.
    let smallest = folder.aver("trace shrink chat.json --rules rules.assert --smallest");
    folder.write("smallest.json", smallest.out.as_bytes());
    assert_eq!(verdicts(&folder, "smallest.json"), verdicts(&folder, "chat.json"));
    assert!(smallest.out.len() < small.len() && !smallest.out.contains("250000"), "{smallest:?}");
    let kept = folder.aver("trace shrink chat.json --keep 'Dear Alice' --keep o-2").out;
    assert!(kept.contains("Dear Alice") && kept.contains("o-2") && !kept.contains("Bob"), "{kept}");
}

#[test]
fn one_run_of_many_is_kept() {
    let runs = "{\"calls\": [{\"tool\": \"search\"}]}\n{\"calls\": [{\"tool\": \"refund\", \"args\": {\"amount\": 7}}]}\n\
                {\"calls\": []}\n";
    let folder = Folder::new(&[("runs.jsonl", runs), ("rules.assert", "never refund\n")]);
    let ran = folder.aver("trace shrink runs.jsonl --run 2 --rules rules.assert --smallest");
    folder.write("small.jsonl", ran.out.as_bytes());
    assert_eq!(ran.out.lines().count(), 1, "{ran:?}");
    assert_eq!(verdicts(&folder, "small.jsonl"), [verdicts(&folder, "runs.jsonl")[1].clone()]);
    let all = folder.aver("trace shrink runs.jsonl --rules rules.assert").out;
    assert_eq!(all.lines().count(), 3, "{all}");
    folder.aver("trace shrink runs.jsonl --run 4").refused(&["there is no run 4", "from 1 to 3"]);
}

#[test]
fn a_text_that_matters_loses_its_words() {
    let run = r#"{"commands": [{"command": "cd /home/alice/payroll && npm test"}], "output": "all tests pass"}"#;
    let folder = Folder::new(&[("run.json", run), ("rules.assert", "require command \"npm test\"\n")]);
    let small = folder.aver("trace shrink run.json --rules rules.assert").out;
    assert!(small.contains("npm test") && !small.contains("alice") && !small.contains("payroll"), "{small}");
}

#[test]
fn what_cannot_be_shrunk_is_refused() {
    let folder = Folder::new(&[("run.csv", "tool,args\nrefund,1\n"), ("none.json", ""), ("a.json", "{\"calls\": []}")]);
    folder.aver("trace shrink run.csv").refused(&["is not JSON", "aver trace convert"]);
    folder.aver("trace shrink none.json").refused(&["holds no run"]);
    folder.aver("trace shrink missing.json").refused(&["`missing.json` cannot be read"]);
    folder.aver("trace shrink a.json --smallest").refused(&["--rules"]);
    folder.aver("trace shrink a.json --rules missing.assert").refused(&["missing.assert"]);
    folder.aver("trace shrink a.json --out a.json").refused(&["a.json"]);
}

/// Runs from the project's examples, in the formats of many tools.
#[test]
fn traces_of_many_formats_are_judged_alike() {
    let rules = "each \"*\": args exists\ncount any <= 1\nnever \"*delete*\"\nbefore \"*approve*\" -> \"*refund*\"\n\
                 output exists\ncost <= $1\noutput matches /refund/\neach \"*\": result does not match /error/i\n";
    let folder = Folder::new(&[("rules.assert", rules)]);
    let traces = averment_fixtures::root().join("examples/your-stack/traces");
    let mut tried = 0;
    for entry in std::fs::read_dir(traces).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        if !name.contains(".json") || bytes.len() > 12_000 {
            continue;
        }
        let text = String::from_utf8(bytes).unwrap();
        folder.write(&name, text.as_bytes());
        let small = folder.aver(&format!("trace shrink {name} --rules rules.assert --out small-{name}"));
        assert_eq!(small.code, 0, "{name}: {small:?}");
        assert_eq!(verdicts(&folder, &format!("small-{name}")), verdicts(&folder, &name), "{name}");
        assert!(folder.read(&format!("small-{name}")).len() < text.len(), "{name}");
        tried += 1;
    }
    assert!(tried >= 10, "{tried}");
}
