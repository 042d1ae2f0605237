//! `aver check --fail-fast`: no more runs after the first that fails.

use super::folder::Folder;

const GOOD: &str = r#"{"calls": [{"tool": "search"}]}"#;
const BAD: &str = r#"{"calls": [{"tool": "delete"}]}"#;

/// A file whose run 120 of 300 fails first, and one of 50 runs behind it.
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
    // More than is read at a time; who ends meanwhile closes the pipe.
    let line = format!("{{\"calls\": [{{\"tool\": \"delete\"}}], \"output\": \"{}\"}}\n", "x".repeat(8_000));
    let _ = runs.write_all(line.repeat(60).as_bytes());
    let ended = child.wait_with_output().expect("an end");
    let err = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{err}");
    assert!(err.contains("at least") && err.contains("not judged"), "{err}");
    drop(runs);
}
