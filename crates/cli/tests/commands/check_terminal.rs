//! `aver check` in a terminal: the progress bar, and Ctrl-C.
//!
//! The terminal is created with `script` of util-linux. If it is missing, the test prints a message and skips.

#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::folder::Folder;

/// The progress bar is shown while runs arrive slowly. Ctrl-C removes it, prints a note, and prints the results so far.
#[test]
fn the_bar_goes_with_ctrl_c_and_what_is_done_is_printed() {
    let folder = Folder::new(&[("r.assert", "rule quiet { never refund }\n")]);
    let made = Command::new("mkfifo").arg(folder.path().join("runs.jsonl")).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe with a name");
    let command = format!(
        "exec {} check r.assert runs.jsonl --format summary --report json=out.json",
        env!("CARGO_BIN_EXE_aver")
    );
    let started = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .current_dir(folder.path())
        .env("SHELL", "/bin/sh")
        .env("TERM", "xterm")
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        eprintln!("SKIPPED: there is no `script` to make a terminal with");
        return;
    };
    let mut keys = child.stdin.take().expect("keys");
    let mut out = child.stdout.take().expect("a screen");
    let path = folder.path().join("runs.jsonl");
    // Writes runs for three seconds, and keeps the pipe open until the command has ended.
    let (ended, end) = std::sync::mpsc::channel::<()>();
    let feeder = std::thread::spawn(move || {
        let mut runs = std::fs::File::create(path).expect("the pipe");
        let start = Instant::now();
        let line = format!("{{\"calls\": [], \"output\": \"{}\"}}\n", "x".repeat(4_000));
        while start.elapsed() < Duration::from_secs(3) {
            for _ in 0..100 {
                runs.write_all(line.as_bytes()).expect("somebody reads");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        keys.write_all(b"\x03").expect("a key");
        let _ = end.recv();
    });
    let mut screen = String::new();
    out.read_to_string(&mut screen).expect("text");
    let status = child.wait().expect("an end");
    drop(ended);
    feeder.join().expect("fed");
    assert_eq!(status.code(), Some(130), "{screen:?}");
    let bar = screen.rfind("MiB").or_else(|| screen.rfind("KiB")).expect("a bar");
    let note = screen.find("note: interrupted; what is reported is what was done until then").expect("a note");
    assert!(
        screen[note..].contains("done until then; at least ") && screen[note..].contains(" not judged"),
        "{screen:?}"
    );
    let cleared = screen.rfind("\r\u{1b}[2K").expect("a cleared line");
    assert!(bar < cleared && cleared < note, "the bar is taken away before anything is said: {screen:?}");
    assert!(!screen[..note].contains("      "), "the rest of the line stays free: {screen:?}");
    assert!(screen[note..].contains("quiet"), "{screen:?}");
    let report = std::fs::read_to_string(folder.path().join("out.json")).expect("a report");
    let json: serde_json::Value = serde_json::from_str(&report).expect("a whole object");
    assert!(json["summary"]["runs"].as_u64().is_some_and(|runs| runs > 0), "{}", json["summary"]);
}
