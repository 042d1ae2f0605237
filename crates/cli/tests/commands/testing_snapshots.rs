//! `aver test` with `--snapshots`, `--update` and `--watch`.

use crate::folder::{Folder, golden};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

const RULES: &str = "\
rule approval {
  before approve(id: $id) -> refund(id: $id, amount > 100)
  never cancel
}
output.status == \"refunded\"
test \"without approval\" expect fail approval { calls: [{ tool: \"refund\", args: { id: \"o-1\", amount: 250 } }] }
test \"all\" expect fail { calls: [], output: { status: \"open\" } }
";

#[test]
fn a_snapshot_keeps_reasons_and_evidence_and_a_change_fails_with_a_difference() {
    let folder = Folder::new(&[("refunds.assert", RULES)]);
    let ran = folder.aver("test refunds.assert --snapshots");
    assert_eq!(ran.code, 1, "a test without a snapshot is no success: {ran:?}");
    assert!(ran.out.contains("it has no snapshot yet") && ran.out.contains("`aver test --update`"), "{}", ran.out);
    let ran = folder.aver("test refunds.assert --update");
    assert_eq!((ran.code, ran.err.as_str()), (0, "note: refunds.snap written, 2 snapshots changed\n"), "{ran:?}");
    let _scope = averment_fixtures::exact_snapshots();
    insta::assert_snapshot!(folder.read("refunds.snap"), @r#"
    # What each test finds, written by `aver test --update`. A difference fails the test; read it before accepting it.

    === all
    vacuous approval.1
      there is no `refund(id: $id, amount > 100)`
    passed approval.2
    failed output.status == "refunded"
      `output.status` is "open"
      /output/status `output.status` is "open"

    === without approval
    failed approval.1
      refund at call 1 has no earlier approve with id "o-1"
      step 1 /calls/0 this has no earlier approve with id "o-1"
      step 1 /calls/0/args/id `$id` is "o-1"
    passed approval.2
    "#);
    assert_eq!(folder.aver("test refunds.assert --snapshots").code, 0);
    assert_eq!(folder.aver("test refunds.assert --update").err, "note: refunds.snap stays as it is\n");

    // The verdicts stay the same, but the reason changes.
    folder.write("refunds.assert", RULES.replace("amount: 250", "amount: 300").replace("o-1", "o-9").as_bytes());
    let ran = folder.aver("test refunds.assert");
    assert_eq!(ran.code, 1, "a file of snapshots that is there is compared without being asked for");
    golden("snapshot-differs", &ran.out);
    assert_eq!(folder.aver("test refunds.assert --update").code, 0);
    assert_eq!(folder.aver("test refunds.assert").code, 0);
}

#[test]
fn snapshots_without_a_test_are_told_and_removed() {
    let folder = Folder::new(&[("refunds.assert", RULES)]);
    assert_eq!(folder.aver("test refunds.assert --update").code, 0);
    folder.write("refunds.assert", RULES.replace("test \"all\"", "test \"everything\"").as_bytes());
    let ran = folder.aver("test refunds.assert");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("refunds.snap: no test is called \"all\""), "{}", ran.err);
    let ran = folder.aver("test refunds.assert --filter without");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "a selection says nothing about the others: {ran:?}");
    assert_eq!(folder.aver("test refunds.assert --filter everything --update").code, 0);
    assert!(folder.read("refunds.snap").contains("=== all"), "a selection removes nothing");
    assert_eq!(folder.aver("test refunds.assert --update").code, 0);
    assert!(!folder.read("refunds.snap").contains("=== all"));
    assert_eq!(folder.aver("test refunds.assert").code, 0);
}

#[test]
fn a_snapshot_holds_no_secret() {
    let token = format!("ghp_{}", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R");
    let rules = format!("rule r {{ output == \"fine\" }}\ntest \"t\" expect fail r {{ output: \"token {token}\" }}\n");
    let folder = Folder::new(&[("r.assert", &rules)]);
    assert_eq!(folder.aver("test r.assert --update").code, 0);
    let text = folder.read("r.snap");
    assert!(!text.contains(&token) && text.contains("[redacted]"), "{text}");
}

/// Starts a command with `--watch`. The receiver gets a line of standard error at the end of each round.
fn watched(folder: &Folder, words: &[&str]) -> (Child, Receiver<String>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_aver"))
        .args(words)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (tell, rounds) = std::sync::mpsc::channel();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    std::thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(tell.send(line))));
    (child, rounds)
}

fn next_round(rounds: &Receiver<String>, what: &str) -> String {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let line = rounds.recv_timeout(until - Instant::now()).unwrap_or_else(|_| panic!("no round: {what}"));
        if line.starts_with("watching ") {
            return line;
        }
    }
}

/// Ends the command with Ctrl-C, and returns its output.
fn interrupted(mut child: Child) -> String {
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut out = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut out).unwrap();
    out
}

#[test]
fn a_check_is_done_again_when_a_rule_or_a_trace_changes() {
    let good = r#"{"calls": [{"tool": "search"}]}"#;
    let folder = Folder::new(&[("r.assert", "never delete\n"), ("runs/a.json", good)]);
    let (child, rounds) = watched(&folder, &["check", "r.assert", "runs", "--watch", "--format", "summary"]);
    assert_eq!(next_round(&rounds, "the first"), "watching 2 files; Ctrl-C ends");
    folder.write("runs/a.json", br#"{"calls": [{"tool": "delete"}]}"#);
    next_round(&rounds, "a changed trace");
    folder.write("runs/b.json.gz", b"no trace");
    assert_eq!(next_round(&rounds, "a new trace"), "watching 3 files; Ctrl-C ends");
    folder.write("r.assert", b"nevr delete\n");
    next_round(&rounds, "rules that do not compile");
    folder.write("r.assert", b"never search\n");
    next_round(&rounds, "rules that compile again");
    folder.write("r.assert", b"never search\n");
    std::thread::sleep(Duration::from_millis(300));
    assert!(rounds.try_recv().is_err(), "what did not change is no reason to check again");
    let out = interrupted(child);
    assert!(out.contains("passed") && out.contains("failed"), "{out}");
    folder.aver("check r.assert - --watch").refused(&["standard input cannot be watched"]);
    folder.aver("check r.assert runs --watch --record h.db").refused(&["--record"]);
}

/// The rounds of `--watch`, step by step.
#[test]
fn watching_runs_again_only_when_something_changed_and_ctrl_c_ends_it() {
    let folder = Folder::new(&[("refunds.assert", RULES)]);
    let (child, rounds) = watched(&folder, &["test", "refunds.assert", "--watch", "--quiet"]);
    let round = |what: &str| next_round(&rounds, what);
    assert_eq!(round("the first"), "watching 1 file; Ctrl-C ends");
    folder.write("refunds.assert", b"rule broken {\n");
    round("rules that do not compile");
    folder.write("refunds.assert", RULES.replace("expect fail approval", "expect pass approval").as_bytes());
    round("a test that fails");
    folder.write("refunds.assert", RULES.as_bytes());
    round("the test as it was");
    folder.write("refunds.cases/more/cancel.fail.approval.json", br#"{"calls":[{"tool":"cancel"}]}"#);
    assert_eq!(round("a case in a folder that was not there"), "watching 2 files; Ctrl-C ends");
    folder.write("refunds.cases/more/cancel.fail.approval.json", br#"{"calls":[]}"#);
    round("a changed case");
    folder.write("notes.txt", b"nothing to do with it");
    folder.write("refunds.assert", RULES.as_bytes());
    std::thread::sleep(Duration::from_millis(400));
    assert!(rounds.try_recv().is_err(), "what did not change is no reason to run again");
    let out = interrupted(child);
    assert!(out.contains("failed  without approval") && out.contains("passed: 2 tests"), "{out}");
    assert!(out.contains("failed  refunds.cases/more/cancel.fail.approval.json"), "{out}");
    assert!(!out.contains('\u{1b}'), "no control codes where nobody looks: {out:?}");
}
