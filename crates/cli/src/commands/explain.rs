//! `aver explain SLUG`: the page of a diagnostic. `aver explain RULES TRACE`: the derivation of each verdict on a run.

use super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::docs;
use super::exclude::ExcludePatterns;
use super::exit::{CommandError, Exit};
use super::{inputs, params, project, rules};
use averment::stages::{JudgeSettings, select};
use averment_base::diagnostic::Slug;
use averment_base::diagnostic::render::TextStyle;
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::limits::Limits;
use averment_bulk::feed::{self, RunReadOptions};
use averment_engine::vm::select::RuleSelection;
use averment_engine::vm::world::Permissions;
use averment_report::derivation::{self, DerivationView, StepChoice};
use averment_report::model::UnreadableTrace;
use averment_report::tell_unreadable;
use averment_traces::read::RawRun;
use averment_traces::redact_path::{RedactPath, unmatched_warnings};
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
pub struct ExplainArgs {
    /// The word in the brackets of a message; or rules, if a trace follows
    #[arg(value_name = "SLUG|RULES")]
    what: Option<String>,
    /// A trace with the run whose verdicts are explained
    trace: Option<String>,
    /// Explain only this rule or assertion
    #[arg(long, value_name = "NAME", requires = "trace")]
    rule: Vec<String>,
    /// Which run of the trace: its number, from 1, or its id [default: the first]
    #[arg(long, value_name = "N|ID", requires = "trace")]
    run: Option<String>,
    /// What to print: human, html, json
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    format: DerivationFormat,
    /// Write it to this file
    #[arg(long, value_name = "FILE", requires = "trace")]
    out: Option<PathBuf>,
    /// Show every step of the run, not only those that count
    #[arg(long, requires = "trace")]
    all: bool,
    /// Set a parameter of the rules: limit=250
    #[arg(long, value_name = "NAME=VALUE", requires = "trace")]
    param: Vec<String>,
    /// Set parameters from a file with one JSON object
    #[arg(long, value_name = "FILE", requires = "trace")]
    param_file: Vec<PathBuf>,
    /// Let rules read files in this folder, as well as in the working directory
    #[arg(long, value_name = "DIR", requires = "trace")]
    allow_read: Vec<PathBuf>,
    /// Let rules run commands
    #[arg(long, requires = "trace")]
    allow_run: bool,
    #[command(flatten)]
    compat: rules::CompatFlag,
    /// Hide the values at this path: `inputs.customer[**]`
    #[arg(long, value_name = "PATH", requires = "trace", value_parser = RedactPath::parse)]
    redact: Vec<RedactPath>,
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

/// Prints a page, the list of pages, or derivations.
pub fn run_explain(arguments: &ExplainArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    match (&arguments.what, &arguments.trace) {
        (Some(rules), Some(trace)) => explain_verdicts(arguments, rules, trace, color),
        (Some(word), None) => print_page(word, color),
        (None, _) => list_pages(),
    }
}

fn list_pages() -> Result<Exit, CommandError> {
    let mut out = std::io::stdout();
    for slug in Slug::ALL {
        writeln!(out, "{:23}  {}", slug.as_str(), slug.title())?;
    }
    Ok(Exit::Holds)
}

fn print_page(word: &str, color: ColorChoice) -> Result<Exit, CommandError> {
    let plain = word.trim_matches(['[', ']', '`']);
    let Some(slug) = Slug::parse(plain) else {
        if Path::new(word).exists() {
            let message = format!("`{word}` is a file: to explain verdicts, name a trace, too");
            return Err(CommandError::usage(message, format!("write `aver explain {word} trace.json`")));
        }
        // Words of reports that are not diagnostics: verdicts, statuses, statements.
        if let Some(page) = docs::word_page(plain) {
            std::io::stdout().write_all(page.as_bytes())?;
            return Ok(Exit::Holds);
        }
        let near = suggest_name(plain, Slug::ALL.iter().map(|slug| slug.as_str()));
        let help = near.map_or("`aver explain` lists all".to_owned(), |near| format!("did you mean `{near}`?"));
        return Err(CommandError::usage(format!("there is no diagnostic `{plain}`"), help));
    };
    std::io::stdout().write_all(docs::styled_page(slug.page(), OutputStream::Out.style(color)).as_bytes())?;
    Ok(Exit::Holds)
}

fn explain_verdicts(
    arguments: &ExplainArgs,
    given: &str,
    trace: &str,
    color: ColorChoice,
) -> Result<Exit, CommandError> {
    let limits = Limits::default();
    let values = params::ParamValues::new(&arguments.param_file, &arguments.param)?;
    let foreign = arguments.compat.foreign_options(&values.texts);
    let reading = rules::RuleReadOptions { read: &arguments.allow_read, ..rules::RuleReadOptions::with_limits(limits) }
        .with_foreign(foreign);
    let mut rules = load_rules(given, trace, reading)?;
    rules.report_errors(color)?;
    values.apply_to(&mut rules.programs)?;
    let selection = RuleSelection { rules: arguments.rule.clone(), ..RuleSelection::default() };
    select::check_names(&rules.programs, &selection)?;
    if !select::selects_any(&rules.programs, &selection) {
        return Err(CommandError::usage("there is nothing to explain: the rules hold no assertion", ""));
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
    let settings = JudgeSettings {
        selection,
        permissions,
        limits,
        redact: Arc::clone(&redact),
        as_skillgym,
        ..JudgeSettings::default()
    };
    let reading = RunReadOptions { limits, redact: Arc::clone(&redact), as_skillgym, ..RunReadOptions::default() };
    let wanted = find_run(trace, arguments.run.as_deref(), &reading, color)?;
    let choice = if arguments.all { StepChoice::All } else { StepChoice::Around };
    let rules = averment::Rules::of_programs(rules.programs, rules.diagnostics, settings);
    let explanation =
        rules.explain_run(wanted.raw_run()?, choice).map_err(|_| CommandError::AlreadyReported(Exit::Trace))?;
    let exit = write_derivations(arguments, explanation.derivation_view(), color)?;
    eprint_redacted(&unmatched_warnings(&redact));
    Ok(exit)
}

fn load_rules(
    given: &str,
    trace: &str,
    reading: rules::RuleReadOptions<'_>,
) -> Result<rules::CompiledRules, CommandError> {
    let is_trace = |name: &str| name.ends_with(".json") || name.ends_with(".jsonl");
    if is_trace(given) && trace.ends_with(".assert") {
        let help = format!("write `aver explain {trace} {given}`");
        return Err(CommandError::usage(format!("`{given}` is a trace, but the rules come first"), help));
    }
    if given == "-" && trace == "-" {
        return Err(CommandError::usage(
            "rules and traces cannot both come from standard input",
            "name one of them as a file",
        ));
    }
    // The project's facts about tools apply here too, because this explains the verdicts of `aver check`.
    let path = PathBuf::from(given);
    let project = project::find_beside(std::slice::from_ref(&path));
    let files = inputs::some_rule_inputs(&[path])?;
    let tools = rules::project_tools(project.as_ref(), reading.limits)?;
    rules::load_rules(&files, reading.with_tools(&tools))
}

fn write_derivations(arguments: &ExplainArgs, view: &DerivationView, color: ColorChoice) -> Result<Exit, CommandError> {
    let style = match arguments.out {
        Some(_) => TextStyle { width: OutputStream::Out.style(color).width, ..TextStyle::PLAIN },
        None => OutputStream::Out.style(color),
    };
    let mut text = Vec::new();
    match arguments.format {
        DerivationFormat::Human => derivation::human(&mut text, view, style)?,
        DerivationFormat::Html => {
            text.extend(derivation::render_html(view).map_err(|error| CommandError::usage(error, ""))?.bytes())
        }
        DerivationFormat::Json => text.extend(derivation::view_json(view).bytes()),
    }
    match &arguments.out {
        None => std::io::stdout().write_all(&text)?,
        Some(file) => super::draft_file::write_file(file, &text).map_err(|error| {
            CommandError::usage(
                format!("`{}` cannot be written: {}", file.display(), super::write_error_text(file, &error)),
                "",
            )
        })?,
    }
    Ok(Exit::Holds)
}

struct SelectedRun {
    document: feed::RunChunk,
    place: usize,
}

impl SelectedRun {
    fn raw_run(&self) -> Result<&RawRun, CommandError> {
        let raw = self.document.raw_runs().nth(self.place).and_then(Result::ok);
        raw.ok_or(CommandError::AlreadyReported(Exit::Trace))
    }
}

fn find_run(
    trace: &str,
    wanted: Option<&str>,
    reading: &RunReadOptions,
    color: ColorChoice,
) -> Result<SelectedRun, CommandError> {
    let inputs = inputs::trace_inputs(&[trace.to_owned()], &ExcludePatterns::default())?;
    let (mut number, mut unread) = (0_usize, None);
    for document in inputs.iter().flat_map(|input| feed::run_chunks(input, reading)) {
        let mut found = None;
        for (place, raw) in document.raw_runs().enumerate() {
            number += 1;
            let arena = Bump::new();
            let by_number = wanted.is_none_or(|wanted| wanted.parse() == Ok(number));
            match raw.and_then(|raw| reading.parse_run(raw, &arena).map_err(UnreadableTrace::from)) {
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
            return Ok(SelectedRun { document, place });
        }
        if unread.is_some() && wanted.is_none() {
            break;
        }
    }
    if let Some(error) = unread {
        tell_unreadable(&mut std::io::stderr(), OutputStream::Err.style(color), &error)?;
        return Err(CommandError::AlreadyReported(Exit::Trace));
    }
    Err(match wanted {
        Some(wanted) if number > 0 => CommandError::usage(
            format!("there is no run `{wanted}` in `{trace}`"),
            format!("`--run` takes a number from 1 to {number}, or the id of a run"),
        ),
        _ => CommandError::usage(format!("there is no run in `{trace}`"), ""),
    })
}
