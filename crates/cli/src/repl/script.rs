//! A REPL session with inputs from a file or a pipe. Each input is echoed before its answer, so that a transcript looks like a terminal session.

use super::highlight::{goes_on, transcript_input};
use super::session::{ReplFlow, ReplSession};
use crate::commands::exit::Exit;
use std::io::{self, BufRead, Read as _};

/// After this many lines, only closing lines trigger the completeness check, because it reads the whole input.
const ASKED: usize = 64;

/// Runs a session on lines. Calls `working` before and after each input.
///
/// # Errors
/// Returns the error of the writer, or of a read.
pub fn run_script(session: &mut ReplSession<'_>, lines: &mut dyn BufRead, working: &dyn Fn(bool)) -> io::Result<()> {
    let mut input = String::new();
    let mut count = 0;
    loop {
        working(false);
        let Some(line) = read_line(session, lines)? else { break };
        input.push_str(&line);
        count += 1;
        let may_end = count < ASKED || line.trim().is_empty() || line.contains(['}', ')', ']', '"']);
        let goes_on = !may_end || goes_on(&input, &session.limits());
        if goes_on && input.len() <= session.limits().rule_file_bytes {
            continue;
        }
        working(true);
        count = 0;
        if take_input(session, &std::mem::take(&mut input))? == ReplFlow::Quit {
            return Ok(());
        }
    }
    working(true);
    take_input(session, &input).map(|_| ())
}

/// Maximum length of an input that is echoed.
const REPEATED: usize = 10_000;

fn take_input(session: &mut ReplSession<'_>, input: &str) -> io::Result<ReplFlow> {
    let text = input.trim_end_matches('\n');
    if text.trim().is_empty() {
        return Ok(ReplFlow::Continue);
    }
    let end = text.floor_char_boundary(REPEATED);
    let (start, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    session.write_text(&transcript_input(start))?;
    if !rest.is_empty() {
        session.write_text(&format!("… {} more bytes\n", rest.len()))?;
    }
    session.enter_input(text)
}

/// Returns the next line, up to the maximum length of rules. A line that is not UTF-8 is reported and skipped.
fn read_line(session: &mut ReplSession<'_>, lines: &mut dyn BufRead) -> io::Result<Option<String>> {
    loop {
        let mut bytes = Vec::new();
        let most = u64::try_from(session.limits().rule_file_bytes).unwrap_or(u64::MAX).saturating_add(1);
        if lines.take(most).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        match String::from_utf8(bytes) {
            Ok(line) => return Ok(Some(line.replace('\r', ""))),
            Err(_) => session.refuse_input("a line is no UTF-8 text", Exit::Usage)?,
        }
    }
}
