//! After any panic, exit code 0 requires that every run was judged, and no report claims more than is known.

#![cfg(unix)]

use crate::folder::Folder;
use averment_report::Format;
use serde_json::Value;
use std::process::{Command, Output, Stdio};

/// Fault points of the judging threads and of the writing thread.
const JUDGING: [&str; 6] = ["Preparing", "Reading", "Chunk", "Line", "Run", "Judged"];
const WRITING: [&str; 3] = ["Merging", "Writing", "Ending"];
/// Number of runs in the folder.
const RUNS: u64 = 400 + 1 + 2;

/// Creates a folder with rules that hold, and runs in three layouts: JSON Lines, one object, and a list.
fn folder() -> Folder {
    let run = r#"{"calls": [{"tool": "search", "args": {"q": "rust"}}]}"#;
    Folder::new(&[
        ("r.assert", "rule r {\n never delete\n}\n"),
        ("a.jsonl", &format!("{run}\n").repeat(400)),
        ("b.json", run),
        ("c.json", &format!("[{run}, {run}]")),
    ])
}

/// Checks the folder with every report while a fault is injected.
fn checked(folder: &Folder, fault: &str, threads: &str) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("aver"));
    command.current_dir(folder.path()).env("AVERMENT_FAULT", fault);
    command.args(["check", "r.assert", "a.jsonl", "b.json", "c.json", "--chunk", "1KiB", "--threads", threads]);
    command.args(["--format", "summary", "--allow", "empty"]);
    for format in Format::ALL.map(Format::as_str) {
        let path = folder.path().join(format);
        if path.exists() {
            std::fs::remove_file(path).unwrap();
        }
        command.arg(format!("--report={format}={format}"));
    }
    command.output().unwrap()
}

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.read(name)).unwrap()
}

/// Checks every report against the known counts. Returns the number of judged runs, of unjudged runs, and true if more may be missing.
fn honest(folder: &Folder, case: &str) -> (u64, u64, bool) {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let report = json(folder, "json");
    let (runs, missing) = (number(&report["summary"]["runs"]), number(&report["summary"]["not_judged"]));
    let least = report["summary"].get("not_judged_at_least").is_some();
    assert_eq!(report["passed"], false, "{case}");
    assert_eq!(report["runs"].as_array().unwrap().len() as u64, runs, "{case}");
    let lines: Vec<Value> = folder.read("jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let end = lines.last().unwrap();
    assert_eq!(end["passed"], false, "{case}");
    assert_eq!((number(&end["summary"]["runs"]), number(&end["summary"]["not_judged"])), (runs, missing), "{case}");
    assert_eq!(end["summary"].get("not_judged_at_least").is_some(), least, "{case}");
    assert_eq!(lines.iter().filter(|line| line.get("run").is_some()).count() as u64, runs, "{case}");
    let invocation = &json(folder, "sarif")["runs"][0]["invocations"][0];
    assert_eq!(
        (&invocation["executionSuccessful"], number(&invocation["exitCode"])),
        (&Value::Bool(false), 5),
        "{case}"
    );
    // If a thread panicked but all runs were judged, finding lists have nothing to report.
    if missing == 0 {
        return (runs, missing, least);
    }
    assert!(!json(folder, "gitlab").as_array().unwrap().is_empty(), "{case}");
    assert!(folder.read("spans").contains("averment.not_judged"), "{case}");
    for format in Format::ALL {
        let words = match format {
            Format::Human | Format::Summary | Format::Junit => "not judged",
            Format::Csv => "not_judged",
            Format::Github => "::error",
            Format::Tap | Format::Tap13 => "not ok",
            Format::Markdown => "failed",
            // Already checked above, or the format cannot hold the count.
            Format::Json | Format::Jsonl | Format::Sarif | Format::Gitlab | Format::Spans => continue,
            Format::Short | Format::Html | Format::StopTrace | Format::Assay => continue,
        };
        let format = format.as_str();
        let text = folder.read(format);
        assert_eq!(text.contains("at least"), least, "{case}: {format}");
        assert!(text.contains(words), "{case}: {format} does not say {words:?}:\n{}", text.get(..600).unwrap_or(&text));
    }
    (runs, missing, least)
}

#[test]
fn a_check_that_nothing_breaks_has_judged_every_run() {
    let folder = folder();
    let ran = checked(&folder, "", "2");
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    assert_eq!(
        (&json(&folder, "json")["passed"], &json(&folder, "json")["summary"]["runs"]),
        (&true.into(), &RUNS.into())
    );
}

#[test]
fn a_thread_that_panics_is_exit_5_and_every_report_counts_what_is_missing() {
    let folder = folder();
    for point in JUDGING {
        for (threads, passed, often) in [("1", 0, 1), ("1", 0, 1_000_000), ("3", 1, 1), ("3", 0, 1_000_000)] {
            let case = format!("{point} Panics {passed} {often}");
            let ran = checked(&folder, &case, threads);
            assert_eq!(ran.status.code(), Some(5), "{case} {threads}: {ran:?}");
            let (runs, missing, least) = honest(&folder, &case);
            assert_eq!((runs + missing, least), (RUNS, false), "{case} {threads}");
        }
    }
}

/// Options that use separate code on the threads: counts, lines, single findings, costs, duplicate detection, drawn failures, sessions over several
/// lines, compressed files, standard input.
const WAYS: [&str; 12] = [
    "--format summary",
    "--format jsonl",
    "--format short",
    "--format json",
    "--format summary --profile",
    "--format jsonl --profile=json",
    "--format summary --strict",
    "--format json --strict",
    "--format human --all-violations",
    "--format summary session.jsonl",
    "--format summary packed.gz",
    "--format summary -",
];

#[test]
fn no_way_of_judging_is_green_when_a_thread_breaks_down() {
    let folder = folder();
    let session: String = (0..30)
        .map(|number| format!("{{\"type\":\"user\",\"sessionId\":\"s\",\"uuid\":\"{number}\",\"message\":{{\"role\":\"user\",\"content\":\"hi\"}}}}\n"))
        .collect();
    folder.write("session.jsonl", session.as_bytes());
    let packed = Command::new("gzip").args(["-c", "a.jsonl"]).current_dir(folder.path()).output();
    folder.write("packed.gz", &packed.map_or_else(|_| Vec::new(), |packed| packed.stdout));
    for way in WAYS {
        for point in JUDGING {
            // At two points, a thread that starves (waits for memory) is also tested.
            let starves = if matches!(point, "Line" | "Run") { vec![("Starves", "1")] } else { Vec::new() };
            for (kind, threads) in [("Panics", "1"), ("Panics", "2")].into_iter().chain(starves) {
                let mut command = assert_cmd::Command::cargo_bin("aver").unwrap();
                command.current_dir(folder.path()).env("AVERMENT_FAULT", format!("{point} {kind} 0 1"));
                command.args(["check", "r.assert", "a.jsonl", "b.json", "--chunk", "1KiB", "--threads", threads]);
                command.args(["--allow", "empty"]).args(way.split(' '));
                let ran = command.write_stdin(folder.read("a.jsonl")).output().unwrap();
                assert_eq!(ran.status.code(), Some(5), "{way} {point} {kind} {threads}: {ran:?}");
                assert!(!ran.stdout.starts_with(b"passed"), "{way} {point} {kind} {threads}: {ran:?}");
            }
        }
    }
}

#[test]
fn a_thread_that_gets_no_memory_ends_the_check_with_what_is_known() {
    let folder = folder();
    for point in JUDGING {
        for (threads, passed) in [("1", 0), ("1", 2), ("3", 0), ("3", 1)] {
            let case = format!("{point} Starves {passed} 1");
            let ran = checked(&folder, &case, threads);
            // With more threads, each has already passed the point, so none is affected.
            assert_eq!(
                ran.status.code(),
                Some(if point == "Preparing" && passed == 2 { 0 } else { 5 }),
                "{case}: {ran:?}"
            );
            if ran.status.code() == Some(5) {
                let (runs, missing, least) = honest(&folder, &case);
                assert!(runs + missing <= RUNS, "{case} {threads}: {runs} {missing}");
                // If more runs may be missing than are counted, every report must say so.
                assert!(least || missing == 0 && runs == RUNS, "{case} {threads}: {runs} {missing}");
                assert_eq!(folder.read("spans").contains("not_judged_at_least"), least, "{case}");
                assert_eq!(folder.read("sarif").contains("notJudgedAtLeast"), least, "{case}");
                assert!(String::from_utf8_lossy(&ran.stderr).contains("there was no memory to go on"), "{ran:?}");
            }
        }
    }
}

#[test]
fn what_writes_the_reports_breaks_down_with_exit_5_and_leaves_no_report() {
    let folder = folder();
    for point in WRITING {
        for fault in [format!("{point} Panics 0 1"), format!("{point} Starves 0 1"), format!("{point} Panics 1 1")] {
            let ran = checked(&folder, &fault, "2");
            let passed = point == "Ending" && fault.ends_with("1 1");
            assert_eq!(ran.status.code(), Some(if passed { 0 } else { 5 }), "{fault}: {ran:?}");
            for format in Format::ALL.map(Format::as_str) {
                assert_eq!(folder.path().join(format).exists(), passed, "{fault}: {format}");
            }
            assert!(passed || !String::from_utf8_lossy(&ran.stdout).contains("passed:"), "{fault}: {ran:?}");
        }
    }
}

/// Runs the command with a limit on its address space, in MiB.
#[cfg(target_os = "linux")]
fn limited(folder: &Folder, mib: usize, words: &str) -> Output {
    let aver = assert_cmd::cargo::cargo_bin("aver");
    let script = format!("ulimit -c 0; ulimit -v {}; exec '{}' {words}", mib * 1024, aver.display());
    Command::new("sh").current_dir(folder.path()).args(["-c", &script]).output().unwrap()
}

/// Creates two small runs, a large one, and many small ones. The last run violates the rules.
#[cfg(target_os = "linux")]
fn much() -> (Folder, u64) {
    let small = r#"{"calls": [{"tool": "search", "args": {"q": "rust"}}]}"#;
    let call = format!(r#"{{"tool":"search","args":{{"q":"{}"}}}}"#, "x".repeat(100));
    let large = format!("{{\"calls\":[{}]}}", vec![call.as_str(); 40_000].join(","));
    let run = format!("{{\"calls\":[{}]}}\n", [call.as_str(); 4].join(","));
    let folder = Folder::new(&[
        ("holds.assert", "rule r {\n never delete\n count search <= 40000\n}\n"),
        ("r.assert", "rule r {\n never delete\n count search <= 4\n}\n"),
        ("a.jsonl", &format!("{small}\n{small}\n")),
        ("b.json", &large),
        ("c.jsonl", &run.repeat(2_500)),
    ]);
    (folder, 2 + 1 + 2_500)
}

/// glibc reserves a heap for each thread. If it cannot, it maps each block separately, which is slow.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn little_address_space_takes_no_time_to_allocate_in() {
    let (folder, _) = much();
    let least = (3..60).map(|step| step * 20).find(|mib| limited(&folder, *mib, "--version").status.success()).unwrap();
    let aver = assert_cmd::cargo::cargo_bin("aver");
    let system_seconds = (least..).step_by(20).take(8).map(|mib| {
        let check =
            format!("'{}' check r.assert c.jsonl --format json --threads 3 >out.json 2>err.txt", aver.display());
        let script = format!("TIMEFORMAT=%S; ulimit -c 0; ulimit -v {}; time {check}", mib * 1024);
        let ran = Command::new("bash").current_dir(folder.path()).args(["-c", &script]).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        said.lines().last().and_then(|line| line.parse::<f64>().ok()).unwrap_or_else(|| panic!("{mib} MiB: {said}"))
    });
    let all: Vec<f64> = system_seconds.collect();
    assert!(all.iter().sum::<f64>() < 1.0, "seconds in the system, from {least} MiB in steps of 20: {all:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn without_memory_no_check_passes_aborts_or_hangs() {
    let (folder, all) = much();
    let least = (3..60).map(|step| step * 20).find(|mib| limited(&folder, *mib, "--version").status.success()).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for mib in (least..).step_by(20).take(14) {
        for (rules, holds) in [("holds.assert", true), ("r.assert", false)] {
            for threads in [1, 3] {
                let words = format!("check {rules} a.jsonl b.json c.jsonl --format json --threads {threads}");
                let ran = limited(&folder, mib, &words);
                let case = format!("{mib} MiB, {words}: {:?} {}", ran.status, String::from_utf8_lossy(&ran.stderr));
                let code = ran.status.code().unwrap_or_else(|| panic!("{case}"));
                seen.insert(code);
                assert!(matches!((code, holds), (0, true) | (1, false) | (4 | 5, _)), "{case}");
                // The report of an aborted command is no valid JSON.
                let report: Option<Value> = serde_json::from_slice(&ran.stdout).ok();
                assert!(code > 1 || report.is_some(), "{case}");
                if let Some(report) = report {
                    assert_eq!(report["passed"], code == 0, "{case}");
                    assert!(code > 1 || report["summary"]["runs"] == all, "{case}");
                }
            }
        }
    }
    assert!(seen.contains(&5), "no limit was low enough: {seen:?}");
}

/// Returns the exit code of a command that gets SIGABRT while it reads its input.
#[cfg(target_os = "linux")]
fn aborted(folder: &Folder, arguments: &[&str]) -> Option<i32> {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("aver"));
    command.current_dir(folder.path()).args(arguments).stdin(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // Waits until the handler is installed, because before that the signal would kill the process.
    let listens = |status: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap() >> 5 & 1 == 1
    };
    while !listens(&std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap()) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::ABORT).unwrap();
    child.wait().unwrap().code()
}

#[test]
#[cfg(target_os = "linux")]
fn who_aborts_ends_as_after_any_breakdown() {
    let folder = folder();
    assert_eq!(aborted(&folder, &["check", "r.assert", "-", "--report=json=json"]), Some(5));
    assert!(!folder.path().join("json").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_hook_that_breaks_down_holds_its_call_back() {
    let folder = folder();
    // Agents take every exit code except 2 as permission.
    assert_eq!(aborted(&folder, &["guard", "hook", "claude", "r.assert", "--state", "state"]), Some(2));
    assert_eq!(
        aborted(&folder, &["guard", "hook", "claude", "r.assert", "--state", "state", "--mode", "log"]),
        Some(5)
    );
    let much = vec!["[1]"; 200_000].join(",");
    let event = format!(
        r#"{{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"delete","tool_input":{{"a":[{much}]}},"tool_use_id":"c"}}"#
    );
    let asked = |mib: usize, into: &str| {
        let words = format!("guard hook claude r.assert --state state <event {into}");
        let ran = limited(&folder, mib, &words);
        (
            ran.status.code(),
            String::from_utf8_lossy(&ran.stdout).into_owned(),
            String::from_utf8_lossy(&ran.stderr).into_owned(),
        )
    };
    std::fs::write(folder.path().join("event"), event).unwrap();
    let least = (3..60).map(|step| step * 20).find(|mib| limited(&folder, *mib, "--version").status.success()).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for mib in (least..).step_by(10).take(30) {
        let (code, out, err) = asked(mib, "");
        assert!(code == Some(2) || code == Some(0) && out.contains(r#""deny""#), "{mib} MiB: {code:?} {out} {err}");
        seen.insert(code);
    }
    assert_eq!(seen.len(), 2, "no limit was low enough, or none high enough: {seen:?}");
    assert_eq!(asked(4096, ">/dev/full").0, Some(2));
}
