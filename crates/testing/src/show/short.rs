//! Prints one line per test with an unexpected result, for editors.

use crate::outcome::TrialReport;
use averment_base::diagnostic::render::one_line;
use std::io::{self, Write};

/// Prints `FILE:LINE:COLUMN: error[test]: "NAME": why`.
///
/// # Errors
/// If the stream cannot be written.
pub fn print_short(out: &mut dyn Write, tested: &[TrialReport]) -> io::Result<()> {
    for test in tested.iter().filter(|test| !test.passed) {
        let (file, name, reason) = (one_line(&test.place.file), one_line(&test.name), one_line(&test.reason));
        let help = if test.help.is_empty() { String::new() } else { format!("; help: {}", one_line(&test.help)) };
        writeln!(out, "{file}:{}:{}: error[test]: \"{name}\": {reason}{help}", test.place.line, test.place.column)?;
    }
    Ok(())
}
