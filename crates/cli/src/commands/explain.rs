//! `aver explain SLUG`: the page of a diagnostic. `aver explain RULES TRACE`: how each verdict on a run came about.

use super::console::{ColorChoice, Stream};
use super::docs;
use super::exit::{Exit, Stop};
use super::left_out::Excluded;
use super::{inputs, params, project, rules};
use averment::stages::{Settings, select};
use averment_base::diagnostic::Slug;
use averment_base::diagnostic::render::Style;
use averment_base::diagnostic::suggest::nearest;
use averment_base::limits::Limits;
use averment_bulk::feed::{self, Reading};
use averment_engine::vm::select::Selection;
use averment_engine::vm::world::Permissions;
use averment_report::derivation::{self, Choice, DerivationView};
use averment_report::model::Unreadable;
use averment_report::tell_unreadable;
use averment_traces::read::RawRun;
use averment_traces::redact_path::RedactPath;
use bumpalo::Bump;
use clap::ValueEnum;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver explain                                 list everything that can be said about rules
  aver explain unknown-tool                    what to avoid, what to prefer, and why
  aver explain refunds.assert trace.json       how every verdict came about
  aver explain refunds.assert runs.jsonl --run 3 --rule approval
  aver explain refunds.assert trace.json --format html --out why.html")]
pub struct Arguments {
    /// The word in the brackets of a message; or rules, when a trace follows
    #[arg(value_name = "SLUG|RULES")]
    what: Option<String>,
    /// A trace: the run to explain the verdicts on
    trace: Option<String>,
    /// Explain only this rule or assertion
    #[arg(long, value_name = "NAME", requires = "trace")]
    rule: Vec<String>,
    /// Which run of the trace: its number, from 1, or its id [default: the first]
    #[arg(long, value_name = "N|ID", requires = "trace")]
    run: Option<String>,
    /// What is printed: human, html, json
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    format: DerivationFormat,
    /// Write it to this file
    #[arg(long, value_name = "FILE", requires = "trace")]
    out: Option<PathBuf>,
    /// Show every step of the run, not only those that count
    #[arg(long, requires = "trace")]
    all: bool,
    /// A value for a parameter of the rules: limit=250
    #[arg(long, value_name = "NAME=VALUE", requires = "trace")]
    param: Vec<String>,
    /// Values for parameters: a file with one JSON object
    #[arg(long, value_name = "FILE", requires = "trace")]
    param_file: Vec<PathBuf>,
    /// Rules may look at files in this folder, beside the working directory
    #[arg(long, value_name = "DIR", requires = "trace")]
    allow_read: Vec<PathBuf>,
    /// Rules may run commands
    #[arg(long, requires = "trace")]
    allow_run: bool,
    #[command(flatten)]
    compat: rules::CompatFlag,
    /// A path whose values are not shown, such as `inputs.customer[**]`
    #[arg(long, value_name = "PATH", requires = "trace", value_parser = RedactPath::parse)]
    redact: Vec<RedactPath>,
    /// How long all of it may take: then it ends with exit code 5
    #[arg(long, value_name = "TIME")]
    max_time: Option<String>,
}

/// Formats of a derivation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum DerivationFormat {
    /// For people, in a terminal
    #[default]
    Human,
    /// A page for a browser
    Html,
    /// Data
    Json,
}

/// Prints a page, the list of pages, or a derivation.
pub fn run(arguments: &Arguments, color: ColorChoice) -> Result<Exit, Stop> {
    super::deadline::Deadline::start_hard(arguments.max_time.as_deref())?;
    match (&arguments.what, &arguments.trace) {
        (Some(rules), Some(trace)) => verdicts(arguments, rules, trace, color),
        (Some(word), None) => page(word, color),
        (None, _) => list(),
    }
}

fn list() -> Result<Exit, Stop> {
    let mut out = std::io::stdout();
    for slug in Slug::ALL {
        writeln!(out, "{:23}  {}", slug.as_str(), slug.title())?;
    }
    Ok(Exit::Holds)
}

fn page(word: &str, color: ColorChoice) -> Result<Exit, Stop> {
    let plain = word.trim_matches(['[', ']', '`']);
    let Some(slug) = Slug::parse(plain) else {
        if Path::new(word).exists() {
            let message = format!("`{word}` is a file: to explain verdicts, name a trace, too");
            return Err(Stop::usage(message, format!("write `aver explain {word} trace.json`")));
        }
        // What reports say beside diagnostics: a verdict, a status, a statement.
        if let Some(page) = docs::word(plain) {
            std::io::stdout().write_all(page.as_bytes())?;
            return Ok(Exit::Holds);
        }
        let near = nearest(plain, Slug::ALL.iter().map(|slug| slug.as_str()));
        let help = near.map_or("`aver explain` lists all".to_owned(), |near| format!("did you mean `{near}`?"));
        return Err(Stop::usage(format!("there is no diagnostic `{plain}`"), help));
    };
    std::io::stdout().write_all(docs::page(slug.page(), Stream::Out.style(color)).as_bytes())?;
    Ok(Exit::Holds)
}

/// Explains the verdicts on one run.
fn verdicts(arguments: &Arguments, given: &str, trace: &str, color: ColorChoice) -> Result<Exit, Stop> {
    let limits = Limits::default();
    let values = params::Values::new(&arguments.param_file, &arguments.param)?;
    let foreign = arguments.compat.reading(&values.texts);
    let reading = rules::Reading { read: &arguments.allow_read, ..rules::Reading::plain(limits) }.foreign(foreign);
    let mut rules = load(given, trace, reading)?;
    rules.tell(color)?;
    values.apply(&mut rules.programs)?;
    let selection = Selection { rules: arguments.rule.clone(), ..Selection::default() };
    select::known(&rules.programs, &selection)?;
    if !select::selects_any(&rules.programs, &selection) {
        return Err(Stop::usage("there is nothing to explain: the rules hold no assertion", ""));
    }
    let folder = std::env::current_dir().unwrap_or_default();
    let permissions = Permissions {
        read: arguments.allow_read.clone(),
        run: arguments.allow_run,
        ..Permissions::of_command_line(folder)
    };
    super::signals::may_run(arguments.allow_run);
    super::signals::end_with_commands(false)?;
    let redact: Arc<[RedactPath]> = arguments.redact.clone().into();
    let as_skillgym = arguments.compat.is_skillgym();
    let settings =
        Settings { selection, permissions, limits, redact: Arc::clone(&redact), as_skillgym, ..Settings::default() };
    let reading = Reading { limits, redact, as_skillgym, ..Reading::default() };
    let wanted = find(trace, arguments.run.as_deref(), &reading, color)?;
    let choice = if arguments.all { Choice::All } else { Choice::Around };
    let rules = averment::Rules::of_programs(rules.programs, rules.said, settings);
    let explanation = rules.explain_run(wanted.raw()?, choice).map_err(|_| Stop::Said(Exit::Trace))?;
    write(arguments, explanation.view(), color)
}

fn load(given: &str, trace: &str, reading: rules::Reading<'_>) -> Result<rules::Rules, Stop> {
    let is_trace = |name: &str| name.ends_with(".json") || name.ends_with(".jsonl");
    if is_trace(given) && trace.ends_with(".assert") {
        let help = format!("write `aver explain {trace} {given}`");
        return Err(Stop::usage(format!("`{given}` is a trace, and rules stand first"), help));
    }
    if given == "-" && trace == "-" {
        return Err(Stop::usage("rules and traces cannot both come from standard input", "name one of them as a file"));
    }
    // What the project says of tools holds here, too: this is about the verdicts of `check`.
    let path = PathBuf::from(given);
    let project = project::beside(std::slice::from_ref(&path));
    let files = inputs::rules(&[path])?;
    if files.is_empty() {
        return Err(Stop::usage(format!("there is no `.assert` file in `{given}`"), "name a rule file"));
    }
    let tools = rules::tools(project.as_ref(), reading.limits)?;
    rules::load(&files, reading.with(&tools))
}

/// Writes the derivations on a run.
fn write(arguments: &Arguments, view: &DerivationView, color: ColorChoice) -> Result<Exit, Stop> {
    let style = match arguments.out {
        Some(_) => Style { width: Stream::Out.style(color).width, ..Style::PLAIN },
        None => Stream::Out.style(color),
    };
    let mut text = Vec::new();
    match arguments.format {
        DerivationFormat::Human => derivation::human(&mut text, view, style)?,
        DerivationFormat::Html => text.extend(derivation::html(view).map_err(|error| Stop::usage(error, ""))?.bytes()),
        DerivationFormat::Json => text.extend(derivation::json(view).bytes()),
    }
    match &arguments.out {
        None => std::io::stdout().write_all(&text)?,
        Some(file) => super::replace::write(file, &text).map_err(|error| {
            Stop::usage(format!("`{}` cannot be written: {}", file.display(), super::said(&error)), "")
        })?,
    }
    Ok(Exit::Holds)
}

/// A piece of a trace, with the number of the run in it that is asked for.
struct Wanted {
    document: feed::Document,
    place: usize,
}

impl Wanted {
    fn raw(&self) -> Result<&RawRun, Stop> {
        let raw = self.document.runs().nth(self.place).and_then(Result::ok);
        raw.ok_or(Stop::Said(Exit::Trace))
    }
}

/// Finds the run that is asked for, by number or by id.
fn find(trace: &str, wanted: Option<&str>, reading: &Reading, color: ColorChoice) -> Result<Wanted, Stop> {
    let inputs = inputs::traces(&[trace.to_owned()], &Excluded::default())?;
    let (mut number, mut unread) = (0_usize, None);
    for document in inputs.iter().flat_map(|input| feed::documents(input, reading)) {
        let mut found = None;
        for (place, raw) in document.runs().enumerate() {
            number += 1;
            let arena = Bump::new();
            let by_number = wanted.is_none_or(|wanted| wanted.parse() == Ok(number));
            match raw.and_then(|raw| reading.parse(raw, &arena).map_err(Unreadable::from)) {
                Ok(run) if by_number || wanted == run.id => {
                    found = Some(place);
                    break;
                }
                Ok(_) => {}
                Err(error) => {
                    unread = Some(error);
                    if by_number {
                        break;
                    }
                }
            }
        }
        if let Some(place) = found {
            return Ok(Wanted { document, place });
        }
        if unread.is_some() && wanted.is_none() {
            break;
        }
    }
    if let Some(error) = unread {
        tell_unreadable(&mut std::io::stderr(), Stream::Err.style(color), &error)?;
        return Err(Stop::Said(Exit::Trace));
    }
    Err(match wanted {
        Some(wanted) if number > 0 => Stop::usage(
            format!("there is no run `{wanted}` in `{trace}`"),
            format!("`--run` takes a number from 1 to {number}, or the id of a run"),
        ),
        _ => Stop::usage(format!("there is no run in `{trace}`"), ""),
    })
}
