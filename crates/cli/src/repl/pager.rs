//! Shows answers that are longer than the terminal in a pager, as `man` and `git` do.

use std::io::{self, Write};
use std::process::{Command, Stdio};

/// Lines kept free for the input and the next prompt.
const FREE: usize = 2;
/// Maximum size of a paged answer, in bytes. Longer answers are written directly.
const LARGEST: usize = 16 << 20;
/// The default pager, if `PAGER` is not set. The flags keep colors, and leave the text on the terminal.
const USUAL: &str = "less -RX";

/// Buffers the output until it is flushed, when the answer is complete.
pub struct PagedOutput<W: Write> {
    out: W,
    answer: Vec<u8>,
    /// The pager program and its arguments; empty without a pager.
    pager: Vec<String>,
    height: fn() -> Option<usize>,
}

/// Returns the words of the pager from `PAGER`, unless `NO_PAGER` is set. Empty if `PAGER` is empty, `cat` or invalid.
#[must_use]
pub fn wanted_pager() -> Vec<String> {
    if std::env::var_os("NO_PAGER").is_some_and(|value| !value.is_empty()) {
        return Vec::new();
    }
    let named = std::env::var("PAGER").unwrap_or_else(|_| USUAL.to_owned());
    shell_words::split(&named).ok().filter(|words| words.first().is_some_and(|one| one != "cat")).unwrap_or_default()
}

/// Returns the height of the terminal, in lines.
#[must_use]
pub fn terminal_height() -> Option<usize> {
    terminal_size::terminal_size().map(|(_, height)| usize::from(height.0))
}

impl<W: Write> PagedOutput<W> {
    /// Creates an output that shows answers in a pager. Without pager words, all output goes directly to `out`.
    pub fn new(out: W, pager: Vec<String>, height: fn() -> Option<usize>) -> Self {
        Self { out, answer: Vec::new(), pager, height }
    }

    fn is_long(&self) -> bool {
        let lines = self.answer.iter().filter(|&&byte| byte == b'\n').count();
        (self.height)().is_some_and(|height| height > FREE && lines > height.saturating_sub(FREE))
    }

    /// True if the pager showed the answer, at least as much of it as the reader wanted.
    fn show_paged(&self) -> bool {
        let Some((program, words)) = self.pager.split_first() else { return false };
        let Ok(mut child) = Command::new(program).args(words).stdin(Stdio::piped()).spawn() else { return false };
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all(&self.answer);
        }
        child.wait().is_ok()
    }
}

impl<W: Write> Write for PagedOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.answer.extend_from_slice(bytes);
        if self.pager.is_empty() || self.answer.len() > LARGEST {
            self.out.write_all(&std::mem::take(&mut self.answer))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.is_long() || !self.show_paged() {
            self.out.write_all(&self.answer)?;
        }
        self.answer.clear();
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::PagedOutput;
    use std::io::Write as _;

    fn written(pager: &[&str], lines: usize) -> String {
        let mut shown = Vec::new();
        let mut out = PagedOutput::new(&mut shown, pager.iter().map(|&word| word.to_owned()).collect(), || Some(10));
        out.write_all("x\n".repeat(lines).as_bytes()).unwrap();
        out.flush().unwrap();
        drop(out);
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn only_a_long_answer_goes_through_the_pager_and_none_is_lost() {
        assert_eq!(written(&["true"], 8), "x\n".repeat(8), "short answers stay");
        assert_eq!(written(&["true"], 9), "", "a long one is the pager's");
        assert_eq!(written(&[], 500), "x\n".repeat(500), "without a pager");
        assert_eq!(written(&["/no/such/pager"], 500), "x\n".repeat(500), "a pager that cannot be started");
    }
}
