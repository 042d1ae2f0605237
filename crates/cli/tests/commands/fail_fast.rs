//! `aver check --fail-fast` stops after the first failed run. `--last-failed` repeats the failed traces until they pass.

use super::folder::Folder;

const GOOD: &str = r#"{"calls": [{"tool": "search"}]}"#;
const BAD: &str = r#"{"calls": [{"tool": "delete"}]}"#;

/// Creates a file of 300 runs whose first failure is run 120, and another file of 50 runs.
fn folder() -> Folder {
    let line = |number: u32| if number == 120 || number.is_multiple_of(130) { BAD } else { GOOD };
    let lines: String = (1..=300).map(|number| format!("{}\n", line(number))).collect();
    let more = format!("{GOOD}\n").repeat(50);
    Folder::new(&[("r.assert", "never delete\n"), ("a.jsonl", &lines), ("b.jsonl", &more), ("good.jsonl", &more)])
}

#[test]
fn the_first_failure_in_order_ends_the_check_whatever_the_threads() {
    let folder = folder();
    let mut seen = Vec::new();
    for more in ["--threads 1", "--threads 2 --chunk 1KiB", "--threads 8 --chunk 1KiB"] {
        let ran = folder.aver(&format!("check r.assert a.jsonl b.jsonl --fail-fast --format json {more}"));
        assert_eq!(ran.code, 1, "{more}: {}", ran.err);
        assert!(
            ran.err.contains("note: --fail-fast ends at the first failure; 230 runs were not judged\n"),
            "{}",
            ran.err
        );
        let report: serde_json::Value = serde_json::from_str(&ran.out).expect("a report");
        let summary = &report["summary"];
        assert_eq!((summary["runs"].as_u64(), summary["not_judged"].as_u64()), (Some(120), Some(230)), "{more}");
        assert!(summary.get("not_judged_at_least").is_none(), "{summary}");
        seen.push(ran.out);
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
    for format in ["human", "summary", "jsonl"] {
        let ran = folder.aver(&format!("check r.assert a.jsonl b.jsonl --fail-fast --format {format}"));
        assert!(ran.code == 1 && ran.err.contains("; 230 runs were not judged"), "{format}: {}", ran.err);
    }
}

#[test]
fn fail_fast_changes_nothing_where_nothing_new_fails() {
    let folder = folder();
    let [with, without] = [" --fail-fast", ""].map(|flag| folder.aver(&format!("check r.assert good.jsonl{flag}")));
    assert_eq!((with.code, &with.out, &with.err), (0, &without.out, &without.err));
    let known = "check r.assert a.jsonl b.jsonl --baseline known.txt";
    assert_eq!(folder.aver(&format!("{known} --update-baseline")).code, 0);
    let ran = folder.aver(&format!("{known} --fail-fast"));
    assert!(ran.code == 0 && !ran.err.contains("not judged"), "what is known fails no run: {}", ran.err);
    let refused = folder.aver(&format!("{known} --update-baseline --fail-fast"));
    assert_eq!(refused.code, 2, "a baseline needs every run");
}

#[test]
fn fail_fast_waits_for_no_pipe() {
    use std::io::Write as _;
    let folder = folder();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_aver"))
        .args(["check", "r.assert", "-", "--fail-fast", "--chunk", "1KiB"])
        .current_dir(folder.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("a child");
    let mut runs = child.stdin.take().expect("a pipe");
    // Writes more than the command reads at a time. The command may close the pipe before all is written.
    let line = format!("{{\"calls\": [{{\"tool\": \"delete\"}}], \"output\": \"{}\"}}\n", "x".repeat(8_000));
    let _ = runs.write_all(line.repeat(60).as_bytes());
    let ended = child.wait_with_output().expect("an end");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{err}");
    assert!(err.contains("at least") && err.contains("not judged"), "{err}");
    drop(runs);
}

/// Creates a folder of two good traces and two bad ones.
fn mixed_folder() -> Folder {
    let traces = [("runs/a.json", GOOD), ("runs/b.json", BAD), ("runs/c.json", GOOD), ("runs/d.json", BAD)];
    let folder = Folder::new(&traces);
    folder.write("r.assert", b"never delete\nin at least 90% of runs: never delete\n");
    folder
}

/// Returns the exit code, the traces with verdicts, and standard error.
fn last_failed(folder: &Folder, words: &str) -> (i32, Vec<String>, String) {
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_aver"))
        .args(["check", "r.assert", "runs", "--last-failed", "--format", "json"])
        .args(words.split_whitespace())
        .env("XDG_STATE_HOME", folder.path().join("state"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
    let runs = report["runs"].as_array().into_iter().flatten();
    let names = runs.filter_map(|run| run["run"].as_str()).map(str::to_owned).collect();
    (out.status.code().unwrap(), names, String::from_utf8(out.stderr).unwrap())
}

#[test]
fn only_the_traces_that_failed_are_judged_until_they_pass() {
    let folder = mixed_folder();
    let (code, runs, said) = last_failed(&folder, "");
    assert!(code == 1 && runs.len() >= 4, "{runs:?}");
    assert!(said.contains("no earlier check of these rules and traces had --last-failed"), "{said}");
    let (code, runs, said) = last_failed(&folder, "");
    assert_eq!((code, runs), (1, vec!["runs/b.json".to_owned(), "runs/d.json".to_owned()]), "{said}");
    assert!(said.contains("--last-failed judges 2 of 4 traces"), "{said}");
    // Failures are stored separately for other rules on the same traces.
    folder.write("more.assert", b"never search\n");
    assert!(last_failed(&folder, "-r more.assert").1.len() >= 4);
    folder.write("runs/d.json", GOOD.as_bytes());
    assert_eq!(last_failed(&folder, "").1, ["runs/b.json", "runs/d.json"]);
    folder.write("runs/b.json", GOOD.as_bytes());
    let (code, runs, said) = last_failed(&folder, "");
    assert_eq!((code, runs), (0, vec!["runs/b.json".to_owned()]), "{said}");
    assert!(said.contains("what failed passes now"), "{said}");
    folder.write("runs/a.json", b"{");
    let (code, runs, said) = last_failed(&folder, "");
    assert!(code == 4 && runs.len() >= 3, "all of them again: {runs:?}");
    assert!(said.contains("none of these traces failed in the last check with --last-failed"), "{said}");
    folder.write("runs/a.json", GOOD.as_bytes());
    assert_eq!(last_failed(&folder, "").1, ["runs/a.json"], "what could not be read is looked at again");
}

#[test]
fn a_damaged_memory_of_failures_leaves_nothing_out() {
    let folder = mixed_folder();
    last_failed(&folder, "");
    let kept = std::fs::read_dir(folder.path().join("state/averment/last-failed")).unwrap().next().unwrap().unwrap();
    std::fs::write(kept.path(), "{\"check\": [], \"failed\": [\"runs/a.json\"]}").unwrap();
    assert!(last_failed(&folder, "").1.len() >= 4);
    for refused in ["--min-pass-rate 50%", "--record h.db", "--baseline b.txt --update-baseline"] {
        assert_eq!(last_failed(&folder, refused).0, 2, "{refused}");
    }
    let plain = folder.aver("check r.assert runs --format json");
    assert!(plain.json()["runs"].as_array().unwrap().len() >= 4, "a check without the flag judges all");
}
