//! `aver new`: a rule file to begin with, from a template or from recorded runs.

use super::console::{ColorChoice, say};
use super::exit::{Exit, Stop};
use super::inputs::{self, Input};
use super::left_out::Excluded;
use super::replace;
use averment_base::diagnostic::render::one_line;
use averment_base::diagnostic::suggest::nearest;
use averment_base::limits::Limits;
use averment_bulk::feed::{self, Reading};
use averment_report::model::Unreadable;
use averment_testing::propose::{CandidateTrial, Survey, TrialTotals, write};
use averment_traces::read::RawRun;
use bumpalo::Bump;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver new                                    rules.assert, a commented start
  aver new refunds --template approval        refunds.assert from another template
  aver new refunds --from runs/               rules that held on every run in runs/
  aver new --list                             the templates

Rules that are proposed from runs were judged on every one of them before they were written, and each says on how many runs it was exercised.
They have the tag `proposed`: read them, and keep what is meant. Values that look like credentials or personal data are never written.")]
pub struct Arguments {
    /// The name of the file; `.assert` is added where it has no ending [default: rules]
    #[arg(value_name = "NAME")]
    name: Option<PathBuf>,
    /// The template: basic, approval, coding-agent, research-agent, mcp, suite [default: basic]
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "from")]
    template: Option<String>,
    /// Recorded runs: files, folders, patterns in quotes
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    from: Vec<String>,
    /// Overwrites a file that exists
    #[arg(long)]
    force: bool,
    /// Prints the file instead of writing it
    #[arg(long)]
    stdout: bool,
    /// Lists the templates
    #[arg(long, exclusive = true)]
    list: bool,
}

/// A template: its name, its text, what it is for.
struct Template(&'static str, &'static str, &'static str);

const TEMPLATES: &[Template] = &[
    Template("basic", include_str!("../../../../templates/basic.assert"), "the first rules of any agent"),
    Template("approval", include_str!("../../../../templates/approval.assert"), "what needs an approval, and of whom"),
    Template(
        "coding-agent",
        include_str!("../../../../templates/coding-agent.assert"),
        "reading, editing and testing in a repository",
    ),
    Template(
        "research-agent",
        include_str!("../../../../templates/research-agent.assert"),
        "answers that rest on what was found",
    ),
    Template(
        "mcp",
        include_str!("../../../../templates/mcp.assert"),
        "the tools of an MCP server: schemas, invariants",
    ),
    Template(
        "suite",
        include_str!("../../../../templates/suite.assert"),
        "prompts to run, and what has to come of each",
    ),
];

/// Writes the file.
pub fn run(arguments: &Arguments, _: ColorChoice) -> Result<Exit, Stop> {
    if arguments.list {
        let lines: String = TEMPLATES.iter().map(|Template(name, _, about)| format!("{name:16}{about}\n")).collect();
        std::io::stdout().write_all(lines.as_bytes())?;
        return Ok(Exit::Holds);
    }
    let path = path(arguments)?;
    if !arguments.stdout {
        free(&path, arguments.force)?;
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (text, from) = if arguments.from.is_empty() {
        let template = template(arguments.template.as_deref().unwrap_or("basic"))?;
        (template.1.replace("{name}", &label(&name)), format!("from the template `{}`", template.0))
    } else {
        proposed(&label(&name), &arguments.from)?
    };
    if arguments.stdout {
        std::io::stdout().write_all(text.as_bytes())?;
        return Ok(Exit::Holds);
    }
    store(&path, &text, arguments.force)?;
    let shown = path.display().to_string();
    writeln!(std::io::stdout(), "wrote {} {from}", one_line(&shown))?;
    let first = arguments.from.first().map_or("run.json", String::as_str);
    say(&next(arguments, &one_line(&shown), &one_line(first)));
    Ok(Exit::Holds)
}

/// What to do with the file. Cases judge only runs that say which case they are of: a suite is tried by its tests first.
fn next(arguments: &Arguments, path: &str, trace: &str) -> String {
    if arguments.template.as_deref() == Some("suite") {
        return format!(
            "next: read it, then `aver test {path}`; a recorded run says its case: `\"meta\": {{\"case\": \"finds-the-skill\"}}`\n"
        );
    }
    format!("next: read it, then `aver check {path} {trace}`\n")
}

fn path(arguments: &Arguments) -> Result<PathBuf, Stop> {
    let mut path = arguments.name.clone().unwrap_or_else(|| PathBuf::from("rules"));
    if path.is_dir() {
        let example = path.join("rules.assert");
        return Err(Stop::usage(
            format!("`{}` is a folder", path.display()),
            format!("write `aver new {}`", example.display()),
        ));
    }
    match path.extension() {
        None => {
            path.set_extension("assert");
        }
        Some(ending) if ending == "assert" => {}
        Some(_) => {
            let message = format!("`{}` has another ending than `.assert`", path.display());
            return Err(Stop::usage(message, format!("write `aver new {}`", path.with_extension("assert").display())));
        }
    }
    if path.file_name().is_none() {
        return Err(Stop::usage(
            format!("`{}` is no name of a file", path.display()),
            "write a name such as `refunds`",
        ));
    }
    Ok(path)
}

/// The name as it stands in the file: whatever it holds, it ends no line and no string.
fn label(name: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | '.' | ' ');
    name.chars().filter(|&character| plain(character)).collect()
}

fn free(path: &Path, force: bool) -> Result<(), Stop> {
    if path.symlink_metadata().is_ok() && !force {
        let message = format!("`{}` exists already", path.display());
        return Err(Stop::usage(message, "name another file, or overwrite it with `--force`"));
    }
    Ok(())
}

fn store(path: &Path, text: &str, force: bool) -> Result<(), Stop> {
    let failed = |error: std::io::Error| {
        Stop::usage(format!("`{}` cannot be written: {}", path.display(), super::said(&error)), String::new())
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    // Another program may have made the file in the meantime.
    let write = if force { replace::write } else { replace::create };
    write(path, text.as_bytes()).map_err(failed)
}

fn template(name: &str) -> Result<&'static Template, Stop> {
    TEMPLATES.iter().find(|template| template.0 == name).ok_or_else(|| {
        let names = TEMPLATES.iter().map(|template| template.0);
        let help = match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`aver new --list` lists them".to_owned(),
        };
        Stop::usage(format!("there is no template `{name}`"), help)
    })
}

/// Rules that hold on all runs of these traces, and a line that says how many.
fn proposed(name: &str, traces: &[String]) -> Result<(String, String), Stop> {
    if traces.iter().any(|trace| trace == "-") {
        return Err(Stop::usage(
            "runs are read twice, and standard input can be read once",
            "write the runs into a file first",
        ));
    }
    let inputs = inputs::traces(traces, &Excluded::default())?;
    let mut survey = Survey::default();
    each_run(&inputs, |raw, reading| {
        let arena = Bump::new();
        survey.add(&reading.parse(raw, &arena)?);
        Ok(())
    })?;
    let runs = survey.runs();
    if runs == 0 {
        return Err(Stop::usage("there is no run in these traces", "name files or folders with recorded runs"));
    }
    let trial = CandidateTrial::new(survey.candidates());
    let mut totals = TrialTotals::default();
    each_run(&inputs, |raw, reading| {
        let arena = Bump::new();
        let run = reading.parse(raw, &arena)?;
        totals.record(&trial.judge(&run, &arena));
        Ok(())
    })?;
    let proposals = trial.proposals(&totals);
    let runs_in_words = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
    let rules = if proposals.len() == 1 { "1 proposal".to_owned() } else { format!("{} proposals", proposals.len()) };
    Ok((write(name, &proposals, runs), format!("with {rules} from {runs_in_words}")))
}

/// Gives every run of the inputs to `look`. What cannot be read ends the command: a rule that holds on all runs has seen all runs.
fn each_run(inputs: &[Input], mut look: impl FnMut(&RawRun, &Reading) -> Result<(), Unreadable>) -> Result<(), Stop> {
    let reading = Reading { limits: Limits::default(), names: inputs::names(None)?, ..Reading::default() };
    for input in inputs {
        for document in feed::documents(input, &reading) {
            for raw in document.runs() {
                raw.and_then(|raw| look(raw, &reading)).map_err(|error| unreadable(&error))?;
            }
        }
    }
    Ok(())
}

fn unreadable(error: &Unreadable) -> Stop {
    let Unreadable { file, line, column, message, help, no_trace: _ } = error;
    say(&format!("cannot be read: {}:{line}:{column}: {}\n", one_line(file), one_line(message)));
    if !help.is_empty() {
        say(&format!("  help: {}\n", one_line(help)));
    }
    Stop::Said(Exit::Trace)
}
