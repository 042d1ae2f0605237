//! `aver trace shrink TRACE`: makes a smaller trace to share, without texts and names, that is read and judged in the same way.

mod placeholders;
mod run_image;
mod search;
mod trace_tree;

use self::run_image::ImageReader;
use self::search::{ShrinkGoal, ShrinkSearch};
use self::trace_tree::{TraceTree, written};
use super::super::console::{ColorChoice, eprint_redacted};
use super::super::exit::{CommandError, Exit};
use super::super::{draft_file, inputs, io_error_text, params, project, rules, write_error_text};
use averment::Rules;
use averment::stages::JudgeSettings;
use averment_base::diagnostic::render::{one_line, printable};
use averment_base::files;
use averment_base::limits::Limits;
use averment_bulk::feed::RunReadOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Maximum size of a trace, in bytes. Larger ones take too long.
const LARGEST: usize = 64 << 20;
/// Maximum number of kept texts that a note lists.
const KEPT_SHOWN: usize = 40;

/// Arguments of `trace shrink`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver trace shrink session.jsonl > small.jsonl
  aver trace shrink session.jsonl --rules refunds.assert --out small.jsonl
  aver trace shrink runs.jsonl --run 3 --rules refunds.assert --smallest

The smaller trace has the same format, steps and, with `--rules`, verdicts. Texts become `text1` wherever reading and verdicts stay the same; equal
ones stay equal. Numbers, dates, keys and words of the format stay. A note lists the texts that stay: read it before you publish the file.")]
pub(super) struct ShrinkArgs {
    /// A trace as JSON or JSONL; `-` for standard input
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Keep the verdicts of these rules: files and folders
    #[arg(long, value_name = "RULES")]
    rules: Vec<PathBuf>,
    /// Set a parameter of the rules: limit=250
    #[arg(long, value_name = "NAME=VALUE", requires = "rules")]
    param: Vec<String>,
    /// Keep only this run, from 1
    #[arg(long, value_name = "N")]
    run: Option<usize>,
    /// Keep this text as it is
    #[arg(long, value_name = "TEXT")]
    keep: Vec<String>,
    /// Remove everything that the verdicts do not need, steps as well
    #[arg(long, requires = "rules")]
    smallest: bool,
    /// Write the trace to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run_shrink(shrink: &ShrinkArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let text = read_trace(&shrink.trace)?;
    let limits = Limits::default();
    let documents = TraceTree::parse_all(&text, &limits).map_err(|error| {
        let message = format!("`{}` is not JSON: {}", shrink.trace.display(), error.message);
        CommandError::usage(message, "`aver trace convert` writes any trace as JSONL, which can be shrunk")
    })?;
    if documents.is_empty() {
        return Err(CommandError::usage(format!("`{}` holds no run", shrink.trace.display()), "name a trace"));
    }
    let reader = ImageReader {
        name: shrink.trace.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        reading: RunReadOptions { limits, ..RunReadOptions::default() },
        rules: load_rules(shrink, limits, color)?,
        keeps_steps: !shrink.smallest,
    };
    let goal = find_goal(shrink, &reader, &text)?;
    let mut search = ShrinkSearch::new(documents, &reader, goal, &shrink.keep);
    if !search.holds() {
        let message = format!("`{}` is read in another way when its JSON is written again", shrink.trace.display());
        return Err(CommandError::usage(message, "shorten it by hand, and compare `aver trace show` of both files"));
    }
    search.shrink(shrink.smallest);
    // An incomplete result may contain texts that were not checked, so it must not be shared.
    if search.is_cut_short() {
        let message = format!("`{}` is too large to be shrunk", shrink.trace.display());
        return Err(CommandError::usage(message, "take one run of it, such as with `aver trace convert --run 1`"));
    }
    let smaller = written(&search.documents, &search.names);
    write_trace(shrink, &smaller)?;
    eprint_redacted(&summary(&search, text.len(), smaller.len()));
    Ok(Exit::Holds)
}

fn read_trace(path: &Path) -> Result<String, CommandError> {
    let text = if path.as_os_str() == "-" { files::text_of_stdin(LARGEST) } else { files::text_of(path, LARGEST) };
    text.map_err(|error| {
        let message = format!("`{}` cannot be read: {}", path.display(), io_error_text(&error));
        CommandError::usage(message, "name a JSON or JSONL file of at most 64 MiB")
    })
}

fn load_rules(shrink: &ShrinkArgs, limits: Limits, color: ColorChoice) -> Result<Option<Rules>, CommandError> {
    if shrink.rules.is_empty() {
        return Ok(None);
    }
    let files = inputs::rule_inputs(&shrink.rules)?;
    if files.is_empty() {
        return Err(CommandError::usage("`--rules` names no `.assert` file", "name a rule file"));
    }
    let project = project::find_beside(&shrink.rules);
    let tools = rules::project_tools(project.as_ref(), limits)?;
    let reading = rules::RuleReadOptions::with_limits(limits).with_tools(&tools);
    let mut loaded = rules::load_rules(&files, reading)?;
    loaded.report_errors(color)?;
    params::ParamValues::new(&[], &shrink.param)?.apply_to(&mut loaded.programs)?;
    let settings = JudgeSettings { limits, ..JudgeSettings::default() };
    Ok(Some(Rules::of_programs(loaded.programs, loaded.diagnostics, settings)))
}

fn find_goal(shrink: &ShrinkArgs, reader: &ImageReader, text: &str) -> Result<ShrinkGoal, CommandError> {
    let mut images = reader.read_images(text);
    let count = images.len();
    let Some(number) = shrink.run else { return Ok(ShrinkGoal::AllRuns(images)) };
    match number.checked_sub(1).filter(|at| *at < count) {
        Some(at) => Ok(ShrinkGoal::OneRun(Box::new(images.swap_remove(at)))),
        None => Err(CommandError::usage(
            format!("there is no run {number} in `{}`", shrink.trace.display()),
            format!("`--run` takes a number from 1 to {count}"),
        )),
    }
}

fn write_trace(shrink: &ShrinkArgs, text: &str) -> Result<(), CommandError> {
    let Some(file) = &shrink.out else { return Ok(std::io::stdout().write_all(text.as_bytes())?) };
    draft_file::write_file(file, text.as_bytes()).map_err(|error| {
        let message = format!("`{}` cannot be written: {}", file.display(), write_error_text(file, &error));
        CommandError::usage(message, "")
    })
}

/// Returns the note that helps a person to review the file before sharing it.
fn summary(search: &ShrinkSearch<'_>, before: usize, after: usize) -> String {
    let kept = search.kept_texts();
    let shown: Vec<String> =
        kept.iter().take(KEPT_SHOWN).map(|text| format!("  {}\n", one_line(&printable(text)))).collect();
    let mut lines = format!("note: {before} bytes became {after}\n");
    if !kept.is_empty() {
        lines.push_str("note: these texts stay: words of the format, and what reading or verdicts depend on:\n");
        lines.push_str(&shown.concat());
    }
    if let more @ 1.. = kept.len().saturating_sub(KEPT_SHOWN) {
        lines.push_str(&format!("  and {more} more\n"));
    }
    lines
}
