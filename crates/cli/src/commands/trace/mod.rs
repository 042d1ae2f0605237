//! `aver trace`: shows traces, without any rules.

mod convert;
mod facts;
mod fields;
mod map;
mod schema;
mod show;
mod shrink;
mod stats;

use super::console::{ColorChoice, OutputStream};
use super::exclude::ExcludePatterns;
use super::exit::{CommandError, Exit};
use super::inputs;
use super::project::ProjectArguments;
use super::skipped_files::SkippedFiles;
use averment_base::limits::Limits;
use averment_bulk::feed::{self, RunReadOptions};
use averment_bulk::reading_notes::{FileRecords, ReadingNotes};
use averment_report::model::UnreadableTrace;
use averment_report::tell_unreadable;
use averment_runs::run::Run;
use bumpalo::Bump;
use facts::ToolFacts;
use std::io::{self, Write};
use std::path::PathBuf;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver trace show run.json             what `aver` reads from a trace
  aver trace stats runs/               calls, failures, tokens and cost of all runs in a folder
  aver trace convert run.json          the run in the normal form")]
pub struct TraceArgs {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, clap::Subcommand)]
enum TraceCommand {
    /// Show runs step by step: format, what they record, what they lack, warnings
    Show(show::ShowArgs),
    /// Write runs in the normal form, one a line
    Convert(convert::ConvertArgs),
    /// Count what runs did: calls and failures of each tool, tokens, cost, what was not understood
    Stats(stats::StatsArgs),
    /// Write a smaller trace without texts and names, which is read and judged alike
    Shrink(shrink::ShrinkArgs),
    /// Propose a file for `--map` from a trace in a custom format
    Map(map::MapArgs),
    /// Print the JSON Schema of the normal form
    #[command(after_help = "\
Examples:
  aver trace schema > run.schema.json")]
    Schema,
}

/// Options that select the runs to read, and their format.
#[derive(Debug, clap::Args)]
pub(super) struct TraceInputs {
    /// Traces: files, folders, patterns in quotes, `-` for standard input
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<String>,
    /// Only this run of each file, from 1
    #[arg(long, value_name = "N")]
    run: Option<usize>,
    /// Read a custom format with the names in this TOML or JSON file
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Compute missing costs from this TOML or JSON file with the prices of models
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Skip files and folders with this name or path: `package.json`, `drafts/`, `"*.bak.json"`
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Read transcripts of agents as this program does: skillgym
    #[arg(long, value_enum, value_name = "WHICH", hide_possible_values = true)]
    compat: Option<TraceCompat>,
    /// Treat trace warnings, and files in folders that are not traces, as errors
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    project: ProjectArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum TraceCompat {
    /// As SkillGym reads them
    Skillgym,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallStatusSource {
    /// Statuses as recorded.
    AsRecorded,
    /// Statuses that follow the project's facts about tools, as rules see them.
    AsJudged,
}

/// Runs one of the subcommands.
pub fn run_trace(arguments: &TraceArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    match &arguments.command {
        TraceCommand::Show(show) => show::run_show(show, color),
        TraceCommand::Convert(convert) => convert::run_convert(convert, color),
        TraceCommand::Stats(stats) => stats::run_stats(stats, color),
        TraceCommand::Shrink(shrink) => shrink::run_shrink(shrink, color),
        TraceCommand::Map(map) => map::run_map(map),
        TraceCommand::Schema => schema::run_schema(),
    }
}

impl TraceInputs {
    /// Reads runs one at a time and passes them on; reports unreadable ones in order, after `out`.
    pub(super) fn for_each_run<W: Write>(
        &self,
        color: ColorChoice,
        told: CallStatusSource,
        out: &mut W,
        mut look: impl FnMut(&Run<'_>, &mut W) -> io::Result<()>,
    ) -> Result<Exit, CommandError> {
        let traces = inputs::trace_inputs(&self.traces, &ExcludePatterns::new(&self.exclude)?)?;
        let names = inputs::read_names(self.map.as_deref())?;
        let project = self.project.load_project(&[], color)?;
        let of_project = project.as_ref().and_then(|project| project.prices.as_deref());
        let prices = inputs::read_prices(self.prices.as_deref().or(of_project))?;
        let tools = project.as_ref().filter(|_| told == CallStatusSource::AsJudged);
        let facts = ToolFacts::of_project(tools, Limits::default(), color)?;
        let as_skillgym = self.compat.is_some();
        let reading = RunReadOptions {
            limits: Limits::default(),
            names,
            prices,
            strict: self.strict,
            as_skillgym,
            ..RunReadOptions::default()
        };
        let mut skipped = SkippedFiles::new(&self.traces, self.strict);
        let (mut read, mut exit, mut arena) = (0_usize, Exit::Holds, Bump::new());
        for trace in &traces {
            let documents = feed::run_chunks(trace, &reading);
            let mut number = 0;
            for document in documents {
                let mut records = FileRecords::default();
                for raw in document.raw_runs() {
                    match &raw {
                        Ok(raw) => records.add_records(&raw.source.file, 1),
                        Err(unreadable) => records.add_records(&unreadable.file, 1),
                    }
                    number += 1;
                    if self.run.is_some_and(|wanted| wanted != number) {
                        continue;
                    }
                    let looked = match raw.and_then(|raw| reading.parse_run(raw, &arena).map_err(UnreadableTrace::from))
                    {
                        Ok(run) => {
                            read += 1;
                            match &facts {
                                Some(facts) => facts.with_facts(&run, &arena, |run| look(run, out)),
                                None => look(&run, out),
                            }
                        }
                        Err(unreadable) if skipped.skips_unreadable(&unreadable) => Ok(()),
                        Err(unreadable) => {
                            exit = Exit::Trace;
                            out.flush()?;
                            tell_unreadable(&mut io::stderr(), OutputStream::Err.style(color), &unreadable)
                        }
                    };
                    looked?;
                    arena.reset();
                }
                skipped.count_records(&records);
            }
        }
        out.flush()?;
        super::console::eprint_redacted(&skipped.skipped_note());
        let understood = ReadingNotes::default();
        skipped.note_records(&understood);
        super::console::eprint_redacted(&understood.warning_lines());
        match (read, exit) {
            (0, Exit::Holds) => Err(CommandError::usage("there is no such run in these traces", "")),
            (_, exit) => Ok(exit),
        }
    }
}
