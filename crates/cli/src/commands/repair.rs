//! `aver lint --fix`: applies fixes to rule files. A file changes as a whole, only if it still compiles afterward, and never by replacing a link.

use super::draft_file::replace_file;
use super::exit::CommandError;
use super::inputs::{self, TraceInput};
use super::rules::{self, LintedFile, RuleReadOptions};
use averment_base::diagnostic::Diagnostics;
use averment_base::diagnostic::render::{one_line, printable};
use averment_ide::lint::{LintOptions, fix};
use averment_report::redact::redact;
use averment_syntax::difference::unified_diff;
use std::fmt::Write as _;
use std::path::Path;

/// Maximum number of fixes that are tried one by one if they do not work together.
const ALONE: usize = 50;
/// Maximum number of rounds for one file, because a fix may reveal another finding.
const ROUNDS: usize = 16;

/// Fixes every file. Returns the message to print, or the differences with `diff`, which writes nothing.
pub fn repair_files(
    inputs: &[TraceInput],
    reading: RuleReadOptions<'_>,
    options: &LintOptions,
    diff: bool,
) -> Result<String, CommandError> {
    let mut said = String::new();
    for input in inputs {
        let TraceInput::File(path) = input else {
            return Err(CommandError::usage("standard input cannot be changed", "name a file, or leave `--fix` out"));
        };
        let Some((before, after, count)) = fix_file(input, reading, options)? else { continue };
        let name = input.display_name();
        inputs::check_inside(path, path.parent().unwrap_or(Path::new("")))?;
        if diff {
            said.push_str(&printable(&redact(&unified_diff(&one_line(&name), &before, &after))));
        } else {
            replace_file(path, after.as_bytes()).map_err(|error| {
                CommandError::usage(
                    format!("`{name}` cannot be written: {}", super::io_error_text(&error)),
                    String::new(),
                )
            })?;
            let _ = writeln!(said, "{}: {count} fixed", one_line(&name));
        }
    }
    Ok(said)
}

/// The text before and after all fixes, and their number; `None` if nothing changes.
fn fix_file(
    input: &TraceInput,
    reading: RuleReadOptions<'_>,
    options: &LintOptions,
) -> Result<Option<(String, String, usize)>, CommandError> {
    let mut source = rules::lint_input(input, None, reading, options)?;
    let Some(before) = source.text.clone() else { return Ok(None) };
    let mut count = 0_usize;
    for _ in 0..ROUNDS {
        let Some((next, applied)) = fix_round(input, &source, reading, options)? else { break };
        count = count.saturating_add(applied);
        source = next;
    }
    let after = source.text.unwrap_or_default();
    Ok((count > 0 && after != before).then_some((before, after, count)))
}

/// Applies all fixes or, if the rules then do not compile, the first one that keeps them valid.
fn fix_round(
    input: &TraceInput,
    source: &LintedFile,
    reading: RuleReadOptions<'_>,
    options: &LintOptions,
) -> Result<Option<(LintedFile, usize)>, CommandError> {
    let Some(text) = source.text.as_deref().filter(|_| !source.broken) else { return Ok(None) };
    let single = source.diagnostics.0.iter().filter(|one| one.fix.is_some()).take(ALONE);
    let tries = std::iter::once(source.diagnostics.clone()).chain(single.map(|one| Diagnostics(vec![one.clone()])));
    for found in tries {
        let change = fix::apply_fixes(text, source.root, &found);
        if change.applied == 0 {
            continue;
        }
        let next = rules::lint_input(input, Some(change.text), reading, options)?;
        if !next.broken {
            return Ok(Some((next, change.applied)));
        }
    }
    Ok(None)
}
