//! Hostile rule files: every command reports the problem in a few lines, in time, and with the documented exit code.

#![cfg(unix)]

use crate::folder::Folder;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

const RUN: &str = r#"{"output":{"a":1},"calls":[{"tool":"x","args":{}}]}"#;

/// Commands that read rules, each with drawn diagnostics.
const COMMANDS: [&str; 6] = [
    "check r.assert t.json",
    "lint r.assert",
    "test r.assert",
    "explain r.assert t.json",
    "disasm r.assert",
    "fmt r.assert",
];

#[test]
fn what_stands_far_out_on_a_line_is_shown_in_a_window() {
    let far = " ".repeat(100_000);
    for (rules, code, shown) in [
        (format!("output.a ==\t{far}\"a\u{1b}\n"), 3, "not closed"),
        (format!("output{} == 1", "[0]".repeat(70_000)), 3, ""),
        (format!("output.a == 1 {far}and outputt == 1\n"), 3, "did you mean"),
        ("\"".repeat(100_001), 3, "not closed"),
        ("{".repeat(200_000), 3, "not closed"),
        (
            format!(
                "use std.text\nrule a {{ output.a == 1 }}\nrule b {{ output.a == 1 }} # {far}\nlet a = 3 {far} let b = 4"
            ),
            3,
            "",
        ),
    ] {
        let folder = Folder::new(&[("r.assert", &rules), ("t.json", RUN)]);
        for command in COMMANDS {
            let ran = folder.aver(command);
            let said = format!("{}{}", ran.out, ran.err);
            if command.starts_with("fmt") && ran.code == 0 {
                // A readable file can be formatted.
                continue;
            }
            assert_eq!(ran.code, code, "{command}: {}", said.chars().take(2_000).collect::<String>());
            assert!(said.len() < 20_000, "{command}: {} bytes", said.len());
            assert!(said.contains(shown) && said.contains("r.assert:"), "{command}: {said}");
            assert!(!said.contains('\u{1b}'), "{command}: {said}");
        }
    }
}

#[test]
fn a_failed_assertion_on_a_long_line_is_shown_in_a_window() {
    let long = format!("{}output.a == 2{} and true != false\n", "(".repeat(9), ")".repeat(9) + &" ".repeat(100_000));
    let folder = Folder::new(&[("r.assert", &long), ("t.json", RUN)]);
    for command in ["check r.assert t.json", "explain r.assert t.json", "check r.assert t.json --format short"] {
        let ran = folder.aver(command);
        assert!(ran.out.len() < 10_000, "{command}: {} bytes", ran.out.len());
        assert!(ran.out.contains("r.assert:1"), "{command}: {}", ran.out);
    }
}

#[test]
fn nobody_waits_for_a_pipe_that_a_rule_file_names() {
    let folder = Folder::new(&[("r.assert", "use \"pipe\"\noutput.a == 1\n"), ("t.json", RUN)]);
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    symlink("pipe", folder.path().join("r.snap")).unwrap();
    let started = Instant::now();
    for command in COMMANDS {
        let ran = folder.aver(command);
        assert!(
            command.starts_with("fmt") || ran.code == 3 && format!("{}{}", ran.out, ran.err).contains("is not a file"),
            "{command}: {ran:?}"
        );
    }
    folder.write("r.assert", b"output.a == 1\ntest \"t\" expect pass { output: { a: 1 } }\n");
    let ran = folder.aver("test r.assert --snapshots");
    assert!(ran.code != 0 && ran.err.contains("no regular file"), "{ran:?}");
    assert!(started.elapsed() < Duration::from_secs(60));
}

fn fifo(folder: &Folder, name: &str) -> bool {
    std::process::Command::new("mkfifo").arg(folder.path().join(name)).status().is_ok_and(|status| status.success())
}

/// Creates pipes without a writer beside rules and a run.
fn with_pipes() -> Folder {
    let folder = Folder::new(&[("r.assert", "never y\n"), ("t.json", RUN), ("runs/t.json", RUN)]);
    assert!(["pipe.json", "pipe.assert", "runs/pipe.json", "runs/second.json"].iter().all(|name| fifo(&folder, name)));
    folder
}

#[test]
fn nobody_waits_for_ever_for_a_pipe_in_the_place_of_a_file() {
    if !fifo(&Folder::new(&[]), "pipe.json") {
        return;
    }
    let folder = with_pipes();
    let started = Instant::now();
    let commands = [
        ("check r.assert pipe.json", 4),
        ("check r.assert runs", 4),
        ("trace show pipe.json", 4),
        ("explain r.assert pipe.json", 4),
        ("new x --from pipe.json", 4),
        ("check pipe.assert t.json", 2),
        ("check r.assert t.json --map pipe.json", 2),
        ("check r.assert t.json --param-file pipe.json", 2),
        ("check r.assert t.json --baseline pipe.json", 2),
        ("check r.assert t.json --project pipe.json", 2),
        ("test r.assert --coverage pipe.json --allow empty", 2),
    ];
    // Each command waits for some seconds, so they run in parallel, each with its own pipes.
    std::thread::scope(|scope| {
        for (command, code) in commands {
            scope.spawn(move || {
                let folder = with_pipes();
                let ran = folder.aver(command);
                assert!(ran.code == code || command.starts_with("test") && ran.code != 0, "{command}: {ran:?}");
            });
        }
    });
    let ran = folder.aver("check r.assert runs");
    assert!(ran.out.contains("nobody writes into it") && ran.out.contains("2 traces"), "{ran:?}");
    assert!(started.elapsed() < Duration::from_secs(100), "{:?}", started.elapsed());
}

#[test]
fn what_a_folder_holds_is_judged_or_told() {
    let folder = Folder::new(&[("r.assert", "never y\n"), ("runs/t.json", RUN), ("elsewhere/t.json", RUN)]);
    symlink("nowhere.json", folder.path().join("runs/gone.json")).unwrap();
    let ran = folder.aver("check r.assert runs");
    assert!(ran.code == 4 && ran.out.contains("gone.json"), "{ran:?}");
    std::fs::remove_file(folder.path().join("runs/gone.json")).unwrap();
    symlink("../elsewhere", folder.path().join("runs/linked")).unwrap();
    let ran = folder.aver("check r.assert runs");
    assert!(ran.code == 0 && ran.err.contains("1 link to a folder in `runs` is not followed"), "{ran:?}");
    std::fs::remove_file(folder.path().join("runs/linked")).unwrap();
    folder.write(&format!("runs{}/t.json", "/d".repeat(70)), RUN.as_bytes());
    for command in ["check r.assert runs", "trace show runs", "lint runs", "check r.assert 'runs/**/*.json'"] {
        let ran = folder.aver(command);
        assert!(ran.code == 2 && ran.err.contains("more than 64 folders deep"), "{command}: {ran:?}");
    }
}
