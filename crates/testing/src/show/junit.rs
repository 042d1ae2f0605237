//! Tests as JUnit XML, which every CI service shows.

use super::failed;
use crate::outcome::Tested;
use averment_base::diagnostic::render::printable;
use std::io::{self, Write};

/// Prints one `testsuites` with a suite per file.
///
/// # Errors
/// The stream cannot be written.
pub fn junit(out: &mut dyn Write, suites: &[(String, &[Tested])]) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    let tests: usize = suites.iter().map(|(_, tested)| tested.len()).sum();
    let failures: usize = suites.iter().map(|(_, tested)| failed(tested)).sum();
    writeln!(out, "<testsuites name=\"aver test\" tests=\"{tests}\" failures=\"{failures}\">")?;
    for (name, tested) in suites {
        let (tests, failures) = (tested.len(), failed(tested));
        writeln!(out, "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\">", text(name))?;
        tested.iter().try_for_each(|test| case(out, name, test))?;
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

fn case(out: &mut dyn Write, suite: &str, test: &Tested) -> io::Result<()> {
    let (name, file) = (text(&test.name), text(&test.place.file));
    let head =
        format!("<testcase classname=\"{}\" name=\"{name}\" file=\"{file}\" line=\"{}\"", text(suite), test.place.line);
    if test.passed {
        return writeln!(out, "    {head}/>");
    }
    writeln!(out, "    {head}>")?;
    write!(out, "      <failure message=\"{}\">", text(&test.reason))?;
    for why in &test.why {
        let reason = if why.reason.is_empty() { String::new() } else { format!(": {}", why.reason) };
        writeln!(out)?;
        write!(out, "{} {}{}", text(&why.id), why.status.as_str(), text(&reason))?;
    }
    writeln!(out, "</failure>")?;
    writeln!(out, "    </testcase>")
}

/// Text of an attribute or element. Signs that XML does not know are replaced.
fn text(plain: &str) -> String {
    let mut escaped = String::with_capacity(plain.len());
    for letter in printable(plain).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            '\t' => escaped.push_str("&#9;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            letter if letter.is_control() => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}
