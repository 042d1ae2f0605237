//! `aver repl` in a terminal: line editing, multiple lines, pasting, completion, history, Ctrl-C, Ctrl-D.
//!
//! The terminal is created with `script` of util-linux. If it is missing, the tests print a message and skip.

#![cfg(target_os = "linux")]

use crate::folder::Folder;
use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const RUN: &str = "{\"output\":{\"status\":\"done\"},\"calls\":[{\"tool\":\"refund\",\"args\":{\"amount\":250}}]}";

/// A session in a terminal.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    seen: Arc<Mutex<String>>,
    /// Offset after the last text that was waited for.
    at: usize,
}

impl Terminal {
    fn new(folder: &Folder, arguments: &str) -> Option<Self> {
        // With `exec`, because a shell in between would catch Ctrl-C and return 130 instead of the session's exit code.
        let command = format!("exec {} repl {arguments}", env!("CARGO_BIN_EXE_aver"));
        let started = Command::new("script")
            .args(["-qefc", &command, "/dev/null"])
            .current_dir(folder.path())
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm")
            .env("NO_COLOR", "1")
            .env("XDG_STATE_HOME", folder.path().join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = started else {
            eprintln!("SKIPPED: there is no `script` to make a terminal with");
            return None;
        };
        let (keys, mut out) = (child.stdin.take()?, child.stdout.take()?);
        let seen = Arc::new(Mutex::new(String::new()));
        let writer = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut bytes = [0_u8; 4096];
            while let Ok(count) = out.read(&mut bytes) {
                if count == 0 {
                    break;
                }
                writer.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        Some(Self { child, keys, seen, at: 0 })
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Waits until the terminal shows a text after the last one that was waited for.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            let seen = self.seen.lock().unwrap().clone();
            if let Some(found) = seen.get(self.at..).and_then(|rest| rest.find(text)) {
                self.at += found + text.len();
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("`{text}` does not come; the terminal shows {:?}", self.seen.lock().unwrap());
    }

    #[track_caller]
    fn ends(mut self) {
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {:?}", self.seen.lock().unwrap());
    }
}

#[test]
fn lines_are_edited_completed_and_remembered() {
    let folder = Folder::new(&[("run.json", RUN)]);
    let Some(mut terminal) = Terminal::new(&folder, "--on run.json") else { return };
    terminal.wait_for("`:help` lists");
    terminal.wait_for("> ");
    // A typo that is deleted.
    terminal.press("1 + 3\u{8}2\r");
    terminal.wait_for("\n3\r\n");
    terminal.wait_for("> ");
    // Tab completes a root name and a key of the run.
    terminal.press("outpu\t.sta\t\r");
    terminal.wait_for("\n\"done\"\r\n");
    terminal.wait_for("> ");
    // An open bracket continues the input on the next line.
    terminal.press("[1,\r2]\r");
    terminal.wait_for("\n[1, 2]\r\n");
    terminal.wait_for("> ");
    // The up key recalls the last input with all its lines.
    terminal.press("\u{1b}[A\r");
    terminal.wait_for("\n[1, 2]\r\n");
    terminal.wait_for("> ");
    // Pasted text is one input: a rule followed by an expression.
    terminal.press("\u{1b}[200~rule r {\n  require refund\n\n  never cancel\n}\u{1b}[201~\r");
    terminal.wait_for("pass  r.1\r\npass  r.2\r\ndefined `r`\r\n");
    terminal.wait_for("> ");
    terminal.press(":exp\tr\r");
    terminal.wait_for("passed  r.1");
    terminal.wait_for("> ");
    terminal.press("20 + 2\r");
    terminal.wait_for("\n22\r\n");
    terminal.wait_for("> ");
    terminal.press("\u{4}");
    terminal.ends();
    let history = folder.read("state/averment/history");
    assert!(history.contains("output.status") && history.contains("require refund"), "{history}");

    // The next session has the history.
    let Some(mut terminal) = Terminal::new(&folder, "--on run.json") else { return };
    terminal.wait_for("> ");
    terminal.press("\u{1b}[A");
    terminal.wait_for("20 + 2");
    terminal.press("0\r");
    terminal.wait_for("\n40\r\n");
    terminal.wait_for("> ");
    terminal.press(":quit\r");
    terminal.ends();
}

#[test]
fn ctrl_c_gives_up_a_line_or_an_evaluation_and_no_history_leaves_no_trace() {
    let folder = Folder::new(&[("run.json", RUN)]);
    let Some(mut terminal) = Terminal::new(&folder, "--on run.json --no-history") else { return };
    terminal.wait_for("> ");
    terminal.press("(1 +");
    terminal.wait_for("(1 +");
    terminal.press("\u{3}");
    terminal.wait_for("> ");
    terminal.press("2 + 2\r");
    terminal.wait_for("\n4\r\n");
    terminal.wait_for("> ");
    // The editor redraws the line for each piece, so the line stays short.
    let big = (0..60).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    terminal.press(&format!("let big = [{big}]\r"));
    terminal.wait_for("defined `big`");
    terminal.wait_for("> ");
    terminal.press(":fuel 1_000_000_000_000\r");
    terminal.wait_for("the limit is 1000000000000");
    terminal.wait_for("> ");
    terminal.press("all a in big: all b in big: all c in big: all d in big: all e in big: a + b + c + d + e != -1\r");
    // Ctrl-C during line editing would only discard the line, so the test waits until the editor is done.
    terminal.wait_for("\u{1b}[?2004l");
    std::thread::sleep(Duration::from_millis(500));
    terminal.press("\u{3}");
    terminal.wait_for("the evaluation was ended");
    terminal.wait_for("> ");
    terminal.press("3 + 3\r");
    terminal.wait_for("\n6\r\n");
    terminal.wait_for("> ");
    terminal.press("\u{4}");
    terminal.ends();
    assert!(!folder.path().join("state").exists());
}
