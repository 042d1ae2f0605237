//! `aver trace`: what is read of traces, without any rules.

mod convert;
mod facts;
mod fields;
mod map;
mod schema;
mod show;
mod stats;

use super::console::{ColorChoice, Stream};
use super::exit::{Exit, Stop};
use super::inputs;
use super::left_out::Excluded;
use super::passed_over::PassedOver;
use super::project::ProjectArguments;
use averment_base::limits::Limits;
use averment_bulk::feed::{self, Reading};
use averment_bulk::understood::{FileRecords, Understood};
use averment_report::model::Unreadable;
use averment_report::tell_unreadable;
use averment_runs::run::Run;
use bumpalo::Bump;
use facts::ToolFacts;
use std::io::{self, Write};
use std::path::PathBuf;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: TraceCommand,
}

#[derive(Debug, clap::Subcommand)]
enum TraceCommand {
    /// Shows runs step by step: their format, what they record, what they lack, what was odd while reading
    Show(show::Show),
    /// Writes runs in the normal form, one a line
    Convert(convert::Convert),
    /// Counts what runs did: calls and failures of each tool, tokens, cost, what was not understood
    Stats(stats::Stats),
    /// Proposes a file for `--map` from a trace of one's own format
    Map(map::Map),
    /// Prints the JSON Schema of the normal form
    #[command(after_help = "\
Examples:
  aver trace schema > run.schema.json")]
    Schema,
}

/// Which runs are read, and how.
#[derive(Debug, clap::Args)]
struct Given {
    /// Traces: files, folders, patterns in quotes, `-` for standard input
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<String>,
    /// Only this run of each file, from 1
    #[arg(long, value_name = "N")]
    run: Option<usize>,
    /// Names of the parts of a run in a format of one's own: a TOML or JSON file
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// What tokens cost: a TOML or JSON file with the prices of models, for runs that do not record their cost
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Of folders and patterns, leave out what has this name or path: `package.json`, `drafts/`, `"*.bak.json"`
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Whose adapters transcripts of agents are read with: skillgym
    #[arg(long, value_enum, value_name = "WHICH", hide_possible_values = true)]
    compat: Option<CompatOfTraces>,
    /// What is odd in a trace is an error, and so is a file of a folder that is no trace
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    project: ProjectArguments,
}

/// `--compat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CompatOfTraces {
    /// As SkillGym reads them
    Skillgym,
}

/// How the calls of a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// As the run records it.
    AsRecorded,
    /// With what the project says of tools, as rules see it.
    AsJudged,
}

/// Runs one of the commands.
pub fn run(arguments: &Arguments, color: ColorChoice) -> Result<Exit, Stop> {
    match &arguments.command {
        TraceCommand::Show(show) => show::run(show, color),
        TraceCommand::Convert(convert) => convert::run(convert, color),
        TraceCommand::Stats(stats) => stats::run(stats, color),
        TraceCommand::Map(map) => map::run(map),
        TraceCommand::Schema => schema::run(),
    }
}

impl Given {
    /// Reads every run, one at a time, and hands it on. What cannot be read is told when its turn comes, behind what was written to `out`.
    fn each<W: Write>(
        &self,
        color: ColorChoice,
        told: Told,
        out: &mut W,
        mut look: impl FnMut(&Run<'_>, &mut W) -> io::Result<()>,
    ) -> Result<Exit, Stop> {
        let traces = inputs::traces(&self.traces, &Excluded::new(&self.exclude)?)?;
        let names = inputs::names(self.map.as_deref())?;
        let project = self.project.load(&[], color)?;
        let of_project = project.as_ref().and_then(|project| project.prices.as_deref());
        let prices = inputs::prices(self.prices.as_deref().or(of_project))?;
        let tools = project.as_ref().filter(|_| told == Told::AsJudged);
        let facts = ToolFacts::of(tools, Limits::default(), color)?;
        let as_skillgym = self.compat.is_some();
        let reading = Reading {
            limits: Limits::default(),
            names,
            prices,
            strict: self.strict,
            as_skillgym,
            ..Reading::default()
        };
        let mut passed_over = PassedOver::new(&self.traces, self.strict);
        let (mut read, mut exit, mut arena) = (0_usize, Exit::Holds, Bump::new());
        for trace in &traces {
            let documents = feed::documents(trace, &reading);
            let mut number = 0;
            for document in documents {
                let mut records = FileRecords::default();
                for raw in document.runs() {
                    match &raw {
                        Ok(raw) => records.add(&raw.source.file, 1),
                        Err(unreadable) => records.add(&unreadable.file, 1),
                    }
                    number += 1;
                    if self.run.is_some_and(|wanted| wanted != number) {
                        continue;
                    }
                    let looked = match raw.and_then(|raw| reading.parse(raw, &arena).map_err(Unreadable::from)) {
                        Ok(run) => {
                            read += 1;
                            match &facts {
                                Some(facts) => facts.with(&run, &arena, |run| look(run, out)),
                                None => look(&run, out),
                            }
                        }
                        Err(unreadable) if passed_over.takes(&unreadable) => Ok(()),
                        Err(unreadable) => {
                            exit = Exit::Trace;
                            out.flush()?;
                            tell_unreadable(&mut io::stderr(), Stream::Err.style(color), &unreadable)
                        }
                    };
                    looked?;
                    arena.reset();
                }
                passed_over.count(&records);
            }
        }
        out.flush()?;
        super::console::say(&passed_over.note());
        let understood = Understood::default();
        passed_over.tell(&understood);
        super::console::say(&understood.warnings());
        match (read, exit) {
            (0, Exit::Holds) => Err(Stop::usage("there is no such run in these traces", "")),
            (_, exit) => Ok(exit),
        }
    }
}
