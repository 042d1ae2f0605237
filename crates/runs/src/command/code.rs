//! Code of other languages on a command line: what it starts is not told by the words of the line.

use super::word::ShellWord;

/// Programs that run code which is handed to them.
const INTERPRETERS: [&str; 14] = [
    "python",
    "pypy",
    "node",
    "nodejs",
    "deno",
    "bun",
    "perl",
    "ruby",
    "php",
    "lua",
    "Rscript",
    "osascript",
    "awk",
    "gawk",
];

/// Calls by which their code starts programs.
const CALLS: [&str; 14] = [
    "os.system",
    "os.exec",
    "os.spawn",
    "os.popen",
    "subprocess",
    "pty.spawn",
    "child_process",
    "Bun.spawn",
    "Deno.Command",
    "exec(",
    "system(",
    "system \"",
    "popen(",
    "do shell script",
];

/// The interpreter whose code, in an argument or in its input, starts programs.
pub(super) fn starts_programs<'a>(words: &'a [ShellWord], input: Option<&str>) -> Option<&'a str> {
    let (program, arguments) = words.split_first()?;
    let name = program.program()?;
    // `python3.12`
    let plain = name.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    if !INTERPRETERS.contains(&plain) {
        return None;
    }
    let starts = |code: &str| CALLS.iter().any(|call| code.contains(call));
    (arguments.iter().any(|word| starts(&word.text)) || input.is_some_and(starts)).then_some(name)
}
