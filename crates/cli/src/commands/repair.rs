//! `aver lint --fix`: changes files. A file is changed only as a whole, only where it still compiles afterwards, and never through a link that
//! would be replaced.

use super::exit::Stop;
use super::inputs::{self, Input};
use super::replace::replace;
use super::rules::{self, Linted, Reading};
use averment_base::diagnostic::Diagnostics;
use averment_base::diagnostic::render::{one_line, printable};
use averment_ide::lint::{LintOptions, fix};
use averment_report::redact::redact;
use averment_syntax::difference::unified;
use std::fmt::Write as _;
use std::path::Path;

/// Fixes that are tried one by one where all together do not go.
const ALONE: usize = 50;
/// How often a file is looked at again: a fix may uncover another finding.
const ROUNDS: usize = 16;

/// Fixes every file; gives what to say, or the differences when nothing is to be written.
pub fn run(inputs: &[Input], reading: Reading<'_>, options: &LintOptions, diff: bool) -> Result<String, Stop> {
    let mut said = String::new();
    for input in inputs {
        let Input::File(path) = input else {
            return Err(Stop::usage("standard input cannot be changed", "name a file, or leave `--fix` out"));
        };
        let Some((before, after, count)) = fixed(input, reading, options)? else { continue };
        let name = input.name();
        inputs::stays(path, path.parent().unwrap_or(Path::new("")))?;
        if diff {
            said.push_str(&printable(&redact(&unified(&one_line(&name), &before, &after))));
        } else {
            replace(path, after.as_bytes()).map_err(|error| {
                Stop::usage(format!("`{name}` cannot be written: {}", super::said(&error)), String::new())
            })?;
            let _ = writeln!(said, "{}: {count} fixed", one_line(&name));
        }
    }
    Ok(said)
}

/// The text of a file before and after all its fixes, and how many there were; `None` when there is nothing to change.
fn fixed(input: &Input, reading: Reading<'_>, options: &LintOptions) -> Result<Option<(String, String, usize)>, Stop> {
    let mut source = rules::linted(input, None, reading, options)?;
    let Some(before) = source.text.clone() else { return Ok(None) };
    let mut count = 0_usize;
    for _ in 0..ROUNDS {
        let Some((next, applied)) = round(input, &source, reading, options)? else { break };
        count = count.saturating_add(applied);
        source = next;
    }
    let after = source.text.unwrap_or_default();
    Ok((count > 0 && after != before).then_some((before, after, count)))
}

/// All fixes of what was found, or, where the rules do not compile with all of them, the first that leaves them whole.
fn round(
    input: &Input,
    source: &Linted,
    reading: Reading<'_>,
    options: &LintOptions,
) -> Result<Option<(Linted, usize)>, Stop> {
    let Some(text) = source.text.as_deref().filter(|_| !source.broken) else { return Ok(None) };
    let single = source.diagnostics.0.iter().filter(|one| one.fix.is_some()).take(ALONE);
    let tries = std::iter::once(source.diagnostics.clone()).chain(single.map(|one| Diagnostics(vec![one.clone()])));
    for found in tries {
        let change = fix::apply(text, source.root, &found);
        if change.applied == 0 {
            continue;
        }
        let next = rules::linted(input, Some(change.text), reading, options)?;
        if !next.broken {
            return Ok(Some((next, change.applied)));
        }
    }
    Ok(None)
}
