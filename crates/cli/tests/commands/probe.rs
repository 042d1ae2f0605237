//! `aver probe`: the calls to a live server, the verdicts on its answers, and the cleanup afterward.

use super::folder::{Folder, Ran};
use std::path::Path;
use std::time::{Duration, Instant};

/// Rules for a server with the tool `echo`.
pub(super) const RULES: &str = "invariant echoes { call echo generate { a: integer 0..9 } cases 3 seed 7\n  response.a >= 0\n}\ninvariant unknown { call nothing {}\n  expect error\n}\n";

/// Probes a server that misbehaves in the given way, with additional arguments.
pub(super) fn probed(folder: &Folder, how: &str, more: &str) -> Ran {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/probe_server.py");
    folder.aver(&format!("probe r.assert --server 'python3 {} {how} sent.jsonl' --allow-run {more}", server.display()))
}

/// A folder with the rules.
pub(super) fn folder() -> Folder {
    Folder::new(&[("r.assert", RULES)])
}

#[test]
fn a_good_server_is_asked_and_passes() {
    let folder = folder();
    let ran = probed(&folder, "good", "--format short");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("4 calls for 2 invariants"), "{ran:?}");
    let sent = folder.read("sent.jsonl");
    let printed = folder.aver("inputs r.assert").out;
    let made = |text: &str| -> Vec<serde_json::Value> {
        let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.filter(|line| line["name"] != "nothing").map(|line| line["arguments"].clone()).collect()
    };
    assert_eq!(made(&sent), made(&printed));
    assert!(sent.contains("nothing"), "{sent}");
    // Repeats the probe with the same seed, and with another one.
    probed(&folder, "good", "--quiet");
    assert_eq!(folder.read("sent.jsonl"), format!("{sent}{sent}"));
    probed(&folder, "good", "--quiet --seed 8 --cases 9");
    assert_eq!(folder.read("sent.jsonl").lines().count(), 18);
}

#[test]
fn what_a_server_does_wrong_is_a_finding_in_time() {
    for (how, id, said) in [
        ("hangs", "hang", "no answer within 1s"),
        ("floods", "protocol", "more than 1000 messages"),
        ("closes", "crash", "it closed its output"),
        ("wrong-id", "protocol", "id 4711"),
        ("twice", "protocol", "which no request has"),
        ("no-utf8", "protocol", "no UTF-8"),
        ("no-json", "protocol", "no JSON"),
        ("large", "protocol", "more than 1048576 bytes"),
        ("dies-between", "crash", "closed its output before it answered; it ended with the exit code 3"),
        ("dies-behind", "crash", "it ended with the exit code 7; it wrote last: `starting / boom ?[31m of "),
        ("closes-behind", "crash", "behind call 1 of `echo`: it closed its output"),
        ("twice-late", "protocol", "which no request has"),
        ("second-call-kills", "crash", "the signal 11 ended it"),
        ("deep", "protocol", "values in it are nested too deeply"),
        ("large-number", "protocol", "a number in it is too large"),
        ("half-character", "protocol", "a text in it has half of a character"),
    ] {
        let folder = folder();
        let started = Instant::now();
        let ran = probed(&folder, how, "--format short --timeout 1s --max-answer 1MiB --save out");
        assert!(started.elapsed() < Duration::from_secs(20), "{how}: {:?}", started.elapsed());
        assert_eq!(ran.code, 1, "{how}: {ran:?}");
        assert!(ran.out.contains(&format!("[{id}]")) && ran.out.contains(said), "{how}: {ran:?}");
        assert_eq!(ran.out.contains("[hang]"), id == "hang", "{how}: {ran:?}");
        // A server that ends because the probe closed its pipes did not crash.
        assert_eq!(ran.out.contains("[crash]"), id == "crash", "{how}: {ran:?}");
        assert!(!folder.read("out/runs.jsonl").contains("sk-ant"), "{how}");
        // Judging the recording again gives the same verdicts.
        let again = folder.aver("check r.assert -r out/server.assert out/runs.jsonl --format short");
        assert_eq!((again.code, last(&again)), (1, last(&ran)), "{how}");
    }
}

/// Returns the line with the counts.
fn last(ran: &Ran) -> String {
    ran.out.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn nothing_of_a_server_is_left_behind() {
    let folder = folder();
    let ran = probed(&folder, "forks-and-hangs", "--timeout 1s --quiet");
    assert_eq!(ran.code, 1, "{ran:?}");
    let here = folder.path().to_string_lossy().into_owned();
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let place = std::fs::read_link(process.path().join("cwd")).unwrap_or_default();
        assert!(!place.starts_with(&here), "{} lives on", String::from_utf8_lossy(&line));
    }
}

#[test]
fn what_may_destroy_something_is_called_only_by_name() {
    let folder = folder();
    let rules = "invariant wiped { call delete_all {}\n  envelope.content is list\n}\n";
    folder.write("r.assert", rules.as_bytes());
    let ran = probed(&folder, "good", "");
    ran.refused(&["nothing was called", "--allow-tool"]);
    assert_eq!(folder.read("sent.jsonl"), "");
    let ran = probed(&folder, "good", "--allow-tool 'delete_*'");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(folder.read("sent.jsonl").contains("delete_all"));
    folder.write("r.assert", format!("{RULES}{rules}").as_bytes());
    let ran = probed(&folder, "good", "--format short");
    assert!(ran.out.contains("[skipped]") && ran.out.contains("`delete_all`: its name"), "{ran:?}");
}

#[test]
fn all_pages_of_tools_are_read_and_not_endlessly_many() {
    let folder = folder();
    folder.write("r.assert", b"invariant each { for each tool where annotations.readOnlyHint == true { call tool {}\n  envelope.content is list\n } }\n");
    let ran = probed(&folder, "pages", "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(folder.read("sent.jsonl").contains("echo"));
    probed(&folder, "endless-pages", "").refused(&["lists tools without end"]);
}

#[test]
fn nothing_runs_without_permission_and_a_dry_run_calls_nothing() {
    let folder = folder();
    folder.aver("probe r.assert --server 'touch ran'").refused(&["no permission was given", "--allow-run"]);
    assert!(!folder.path().join("ran").exists());
    let ran = probed(&folder, "good", "--dry-run");
    assert_eq!((ran.code, ran.out.lines().count()), (0, 4), "{ran:?}");
    assert_eq!(folder.read("sent.jsonl"), "");
    folder.aver("probe r.assert --server 'no-such-server' --allow-run").refused(&["there is no such program"]);
    folder.aver("probe r.assert --server 'true' --allow-run").refused(&["does not begin to speak MCP"]);
    folder.aver("probe r.assert --server \"a 'b\" --allow-run").refused(&["cannot be split into words"]);
}

#[test]
fn sequences_of_packs_hand_on_what_was_answered() {
    let pack = "version: 3\nmetadata: { name: p }\ninvariants: []\nsequences:\n  - name: chain\n    steps:\n      - { call: echo, with: { a: 3 }, bind: made }\n      - { call: echo, with: { a: \"{{steps.made.response.structuredContent.a}}\" } }\n      - { call: nothing, with: {}, expect: error }\n";
    let folder = Folder::new(&[("p.yaml", pack), ("r.assert", RULES)]);
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/probe_server.py");
    let ran = folder.aver(&format!("probe p.yaml --server 'python3 {} good sent.jsonl' --allow-run", server.display()));
    assert_eq!(ran.code, 0, "{ran:?}");
    let text = folder.read("sent.jsonl");
    let sent: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sent: Vec<_> = sent.iter().map(|one| (one["name"].as_str().unwrap(), one["arguments"].to_string())).collect();
    let wanted = [("echo", "{\"a\":3}"), ("echo", "{\"a\":3}"), ("nothing", "{}")];
    assert_eq!(sent, wanted.map(|(name, arguments)| (name, arguments.to_owned())));
}

#[test]
fn the_example_finds_what_is_wrong_with_its_server() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/probe");
    let folder = Folder::new(&[]);
    for name in ["notes.assert", "server.py"] {
        folder.write(name, &std::fs::read(place.join(name)).unwrap());
    }
    let ran = folder.aver("probe notes.assert --server 'python3 server.py' --allow-run --format short");
    assert_eq!(ran.code, 1, "{ran:?}");
    let mut failed: Vec<&str> = ran.out.split("error[").skip(1).filter_map(|part| part.split(']').next()).collect();
    failed.dedup();
    assert_eq!(failed, ["words-are-counted.1"], "{ran:?}");
}

/// An HTTP server that is killed when this value is dropped.
struct Served(std::process::Child, String);

impl Drop for Served {
    fn drop(&mut self) {
        let _ended_already = self.0.kill();
        let _waited = self.0.wait();
    }
}

fn served(folder: &Folder, how: &str) -> Served {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/probe_http_server.py");
    let mut python = std::process::Command::new("python3");
    python.arg(server).args([how, "port"]).current_dir(folder.path()).stderr(std::process::Stdio::null());
    let child = python.spawn().unwrap();
    let started = Instant::now();
    while !folder.path().join("port").exists() {
        assert!(started.elapsed() < Duration::from_secs(20), "the server does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    Served(child, format!("http://127.0.0.1:{}/mcp", folder.read("port")))
}

const HEADER: &str = "--header 'Authorization: Bearer abc'";

#[test]
fn a_server_behind_an_address_is_asked_over_http() {
    for how in ["good", "events", "asks-back", "slow-to-begin"] {
        let folder = folder();
        if how == "asks-back" {
            let rules = "invariant echoes { call echo generate { a: integer 0..9 } cases 100 seed 7\n  expect ok\n}\n";
            folder.write("r.assert", rules.as_bytes());
        }
        if how == "events" {
            folder.write("r.assert", RULES.split_inclusive("}\n").take(1).collect::<String>().as_bytes());
        }
        let server = served(&folder, how);
        let ran = folder.aver(&format!("probe r.assert --url {} {HEADER} --format short --save out", server.1));
        assert_eq!(ran.code, 0, "{how}: {ran:?}");
        assert!(folder.read("out/runs.jsonl").contains("\"structuredContent\""), "{how}");
        assert!(!folder.read("out/runs.jsonl").contains("Bearer"), "{how}");
        // The probe ended the session.
        assert_eq!(folder.read("port.deleted"), "session-1", "{how}");
    }
}

#[test]
fn what_a_server_does_wrong_over_http_is_a_finding_in_time() {
    for (how, id, said) in [
        ("hangs", "hang", "no answer within 1s"),
        ("status", "crash", "the HTTP status 500"),
        ("moved", "crash", "the HTTP status 307"),
        ("wrong-id", "protocol", "id 4711"),
        ("no-json", "protocol", "no JSON"),
        ("large", "protocol", "more than 1048576 bytes"),
        ("event-without-end", "protocol", "more than 1048576 bytes"),
        ("closes", "protocol", "no JSON"),
        ("silent", "crash", "closed its output before it answered"),
        ("html", "protocol", "the content type `text/html`"),
    ] {
        let folder = folder();
        let server = served(&folder, how);
        let flags = "--format short --timeout 1s --max-answer 1MiB --save out";
        let started = Instant::now();
        let ran = folder.aver(&format!("probe r.assert --url {} {HEADER} {flags}", server.1));
        assert!(started.elapsed() < Duration::from_secs(20), "{how}: {:?}", started.elapsed());
        assert_eq!(ran.code, 1, "{how}: {ran:?}");
        assert!(ran.out.contains(&format!("[{id}]")) && ran.out.contains(said), "{how}: {ran:?}");
        if how == "event-without-end" {
            let lines: u32 = folder.read("port.lines").parse().unwrap();
            assert!(lines < 1000, "{lines} lines of 64 KiB were read");
        }
        let again = folder.aver("check r.assert -r out/server.assert out/runs.jsonl --format short");
        assert_eq!((again.code, last(&again)), (1, last(&ran)), "{how}");
    }
}

#[test]
fn an_address_that_leads_nowhere_is_said() {
    let folder = folder();
    folder
        .aver("probe r.assert --url http://127.0.0.1:9/mcp")
        .refused(&["does not begin to speak MCP", "cannot be reached"]);
    folder.aver("probe r.assert --url ftp://here").refused(&["is no address of a server", "--url http://"]);
    folder.aver("probe r.assert --url http://h --header nothing").refused(&["`--header` takes a name and a value"]);
    folder.aver("probe r.assert").refused(&["--server"]);
    folder.aver("probe r.assert --url http://h --server x").refused(&["cannot be used with"]);
    let server = served(&folder, "good");
    folder.aver(&format!("probe r.assert --url {}", server.1)).refused(&["the HTTP status 400"]);
}

#[test]
fn an_invariant_judges_what_was_asked_for_it() {
    let folder = folder();
    let rules = "invariant small { call echo generate { a: integer 0..3 } cases 4 seed 1\n  response.a <= 3\n}\ninvariant large { call echo generate { a: integer 5..9 } cases 4 seed 1\n  response.a >= 5\n}\n";
    folder.write("r.assert", rules.as_bytes());
    let ran = probed(&folder, "good", "--format short --save out");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    // In a recording that names no invariant, each invariant judges all calls of its tool.
    let runs = folder.read("out/runs.jsonl").replace("\"invariant\"", "\"other\"");
    folder.write("all.jsonl", runs.as_bytes());
    for threads in ["1", "2"] {
        let all = folder.aver(&format!("check r.assert all.jsonl --format short --threads {threads}"));
        assert!(all.out.contains("[small.1]") && all.out.contains("[large.1]"), "{all:?}");
    }
}

/// Returns the arguments that the server received, call by call.
fn sent(folder: &Folder) -> Vec<serde_json::Value> {
    let text = folder.read("sent.jsonl");
    text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["arguments"].clone()).collect()
}

#[test]
fn the_smallest_input_that_fails_is_found_kept_and_asked_again() {
    let folder = folder();
    let rules = "invariant below { call echo generate { a: integer 0..1000, s: string 2..20 } cases 5 seed 3\n  response.a < 137\n}\n";
    folder.write("r.assert", rules.as_bytes());
    let ran = probed(&folder, "good", "--format json --save out --corpus found");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err.contains("`below` fails with a smaller input, too: `echo` {\"a\":137,\"s\":\"xx\"}"),
        "{}",
        ran.err
    );
    let runs = folder.read("out/runs.jsonl");
    let smallest: serde_json::Value = serde_json::from_str(runs.lines().nth(1).unwrap()).unwrap();
    assert_eq!(
        (smallest["id"].as_str(), &smallest["calls"][0]["args"]["a"]),
        (Some("below: smallest"), &serde_json::json!(137))
    );
    assert_eq!(folder.aver("check r.assert -r out/server.assert out/runs.jsonl").code, 1);
    // A repeated probe finds the same input.
    let first = sent(&folder);
    folder.write("sent.jsonl", b"");
    probed(&folder, "good", "--quiet");
    assert_eq!(sent(&folder), first);
    // Corpus inputs are called first, or alone with `--replay`.
    let files: Vec<_> = std::fs::read_dir(folder.path().join("found")).unwrap().flatten().collect();
    assert_eq!(files.len(), 1);
    folder.write("sent.jsonl", b"");
    let again = probed(&folder, "good", "--corpus found --replay --format short");
    assert!(again.code == 1 && again.out.contains("[below.1]"), "{again:?}");
    assert_eq!(sent(&folder)[0], serde_json::json!({"a": 137, "s": "xx"}));
    folder.write("r.assert", rules.replace("137", "2000").as_bytes());
    folder.write("sent.jsonl", b"");
    assert_eq!(probed(&folder, "good", "--corpus found --replay").code, 0);
    assert_eq!(sent(&folder).len(), 1);
    folder.write("r.assert", rules.replace("below", "other").as_bytes());
    probed(&folder, "good", "--corpus found --replay").refused(&["holds no input for these invariants"]);
    folder.write("found/x.json", b"[]");
    probed(&folder, "good", "--corpus found").refused(&["found/x.json", "no input that was kept"]);
    folder.write("sent.jsonl", b"");
    folder.write("r.assert", rules.as_bytes());
    probed(&folder, "good", "--quiet --no-shrink");
    assert_eq!(sent(&folder).len(), 5);
}

#[test]
fn an_input_with_which_a_server_dies_is_kept_and_made_smaller() {
    let folder = folder();
    folder.write(
        "r.assert",
        b"invariant lives { call echo generate { a: integer 0..9 } cases 3 seed 7\n  response exists\n}\n",
    );
    let ran = probed(&folder, "closes", "--timeout 2s --format short --corpus found");
    assert!(ran.code == 1 && ran.out.contains("[crash]"), "{ran:?}");
    let file = std::fs::read_dir(folder.path().join("found")).unwrap().flatten().next().unwrap().path();
    let kept: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!((&kept["arguments"], &kept["tool"]), (&serde_json::json!({"a": 0}), &serde_json::json!("echo")));
    assert!(kept["found"].as_array().unwrap().contains(&serde_json::json!("crash")), "{kept}");
}
