//! `aver new`: writes a starter rule file, from a template or from recorded runs.

use super::console::{ColorChoice, eprint_redacted};
use super::draft_file;
use super::exclude::ExcludePatterns;
use super::exit::{CommandError, Exit};
use super::inputs::{self, TraceInput};
use averment_base::diagnostic::render::one_line;
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::limits::Limits;
use averment_bulk::feed::{self, RunReadOptions};
use averment_report::model::UnreadableTrace;
use averment_testing::propose::{CandidateTrial, RunSurvey, TrialTotals, write_proposals};
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
pub struct NewArgs {
    /// The name of the file; `.assert` is added if it has no ending [default: rules]
    #[arg(value_name = "NAME")]
    name: Option<PathBuf>,
    /// The template: basic, approval, coding-agent, research-agent, mcp, suite [default: basic]
    #[arg(long, value_name = "TEMPLATE", conflicts_with = "from")]
    template: Option<String>,
    /// Propose rules from these recorded runs: files, folders, patterns in quotes
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    from: Vec<String>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Print the file instead of writing it
    #[arg(long)]
    stdout: bool,
    /// List the templates
    #[arg(long, exclusive = true)]
    list: bool,
}

/// The name, the text and the purpose of a template.
pub(super) struct RuleTemplate(&'static str, &'static str, &'static str);

impl RuleTemplate {
    /// The value of `--template` that selects it.
    pub(super) fn name(&self) -> &'static str {
        self.0
    }

    /// Returns the template text for a rule file of this name.
    pub(super) fn text_for(&self, name: &str) -> String {
        self.1.replace("{name}", &safe_label(name))
    }
}

const TEMPLATES: &[RuleTemplate] = &[
    RuleTemplate("basic", include_str!("../../templates/basic.assert"), "the first rules of any agent"),
    RuleTemplate("approval", include_str!("../../templates/approval.assert"), "what needs an approval, and of whom"),
    RuleTemplate(
        "coding-agent",
        include_str!("../../templates/coding-agent.assert"),
        "reading, editing and testing in a repository",
    ),
    RuleTemplate(
        "research-agent",
        include_str!("../../templates/research-agent.assert"),
        "answers that rest on what was found",
    ),
    RuleTemplate("mcp", include_str!("../../templates/mcp.assert"), "the tools of an MCP server: schemas, invariants"),
    RuleTemplate("suite", include_str!("../../templates/suite.assert"), "prompts to run, and what has to come of each"),
];

/// Writes the file.
pub fn run_new(arguments: &NewArgs, _: ColorChoice) -> Result<Exit, CommandError> {
    if arguments.list {
        let lines: String =
            TEMPLATES.iter().map(|RuleTemplate(name, _, about)| format!("{name:16}{about}\n")).collect();
        std::io::stdout().write_all(lines.as_bytes())?;
        return Ok(Exit::Holds);
    }
    let path = target_path(arguments)?;
    if !arguments.stdout {
        check_free(&path, arguments.force)?;
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (text, from) = if arguments.from.is_empty() {
        let template = find_template(arguments.template.as_deref().unwrap_or("basic"))?;
        (template.text_for(&name), format!("from the template `{}`", template.name()))
    } else {
        let proposed = propose_rules(&safe_label(&name), &arguments.from)?;
        (proposed.text, proposed.about)
    };
    if arguments.stdout {
        std::io::stdout().write_all(text.as_bytes())?;
        return Ok(Exit::Holds);
    }
    write_rules(&path, &text, arguments.force)?;
    let settings = write_settings(&path)?;
    let shown = path.display().to_string();
    writeln!(std::io::stdout(), "wrote {} {from}", one_line(&shown))?;
    if let Some(settings) = settings {
        writeln!(
            std::io::stdout(),
            "wrote {}: a misspelt name fails the check",
            one_line(&settings.display().to_string())
        )?;
    }
    let first = arguments.from.first().map_or("run.json", String::as_str);
    eprint_redacted(&next(arguments, &one_line(&shown), &one_line(first)));
    Ok(Exit::Holds)
}

/// Returns the suggested next step. A suite starts with its tests, because its cases need runs that name their case.
fn next(arguments: &NewArgs, path: &str, trace: &str) -> String {
    if arguments.template.as_deref() == Some("suite") {
        return format!(
            "next: read it, then `aver test {path}`; a recorded run says its case: `\"meta\": {{\"case\": \"finds-the-skill\"}}`\n"
        );
    }
    format!("next: read it, then `aver check {path} {trace}`\n")
}

fn target_path(arguments: &NewArgs) -> Result<PathBuf, CommandError> {
    let mut path = arguments.name.clone().unwrap_or_else(|| PathBuf::from("rules"));
    if path.is_dir() {
        let example = path.join("rules.assert");
        return Err(CommandError::usage(
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
            return Err(CommandError::usage(
                message,
                format!("write `aver new {}`", path.with_extension("assert").display()),
            ));
        }
    }
    if path.file_name().is_none() {
        return Err(CommandError::usage(
            format!("`{}` is no name of a file", path.display()),
            "write a name such as `refunds`",
        ));
    }
    Ok(path)
}

/// Escapes the name for the file, so that it cannot end a line or a string.
fn safe_label(name: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_' | '.' | ' ');
    name.chars().filter(|&character| plain(character)).collect()
}

fn check_free(path: &Path, force: bool) -> Result<(), CommandError> {
    if path.symlink_metadata().is_ok() && !force {
        let message = format!("`{}` exists already", path.display());
        return Err(CommandError::usage(message, "name another file, or overwrite it with `--force`"));
    }
    Ok(())
}

fn write_rules(path: &Path, text: &str, force: bool) -> Result<(), CommandError> {
    let failed = |error: std::io::Error| {
        CommandError::usage(
            format!("`{}` cannot be written: {}", path.display(), super::io_error_text(&error)),
            String::new(),
        )
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    // Another program may have made the file in the meantime.
    let write = if force { draft_file::write_file } else { draft_file::create_file };
    write(path, text.as_bytes()).map_err(failed)
}

/// Initial settings. Not written if the project already has settings.
const SETTINGS: &str = "\
# Settings of `aver` for the rules in this folder.
# A name that no run has while some run has nearly it (`refnd`, `Refund`) fails `aver check`.
deny = [\"near-names\"]
";

/// Writes `averment.toml` beside the rules; `None` if there is already one in that folder or above.
fn write_settings(rules: &Path) -> Result<Option<PathBuf>, CommandError> {
    let folder = rules.parent().unwrap_or(Path::new(""));
    let whole = std::path::absolute(rules).unwrap_or_else(|_| rules.to_path_buf());
    if whole.ancestors().skip(1).any(|above| above.join("averment.toml").symlink_metadata().is_ok()) {
        return Ok(None);
    }
    let path = folder.join("averment.toml");
    write_rules(&path, SETTINGS, false)?;
    Ok(Some(path))
}

pub(super) fn find_template(name: &str) -> Result<&'static RuleTemplate, CommandError> {
    TEMPLATES.iter().find(|template| template.0 == name).ok_or_else(|| {
        let names = TEMPLATES.iter().map(|template| template.0);
        let help = match suggest_name(name, names) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`aver new --list` lists them".to_owned(),
        };
        CommandError::usage(format!("there is no template `{name}`"), help)
    })
}

pub(super) struct ProposedRules {
    pub(super) text: String,
    /// Number of rules and of runs, in words.
    pub(super) about: String,
    pub(super) rule_count: usize,
}

pub(super) fn propose_rules(name: &str, traces: &[String]) -> Result<ProposedRules, CommandError> {
    if traces.iter().any(|trace| trace == "-") {
        return Err(CommandError::usage(
            "runs are read twice, and standard input can be read once",
            "write the runs into a file first",
        ));
    }
    let inputs = inputs::trace_inputs(traces, &ExcludePatterns::default())?;
    let mut survey = RunSurvey::default();
    each_run(&inputs, |raw, reading| {
        let arena = Bump::new();
        survey.add_run(&reading.parse_run(raw, &arena)?);
        Ok(())
    })?;
    let runs = survey.run_count();
    if runs == 0 {
        return Err(CommandError::usage("there is no run in these traces", "name files or folders with recorded runs"));
    }
    let trial = CandidateTrial::new(survey.all_candidates());
    let mut totals = TrialTotals::default();
    each_run(&inputs, |raw, reading| {
        let arena = Bump::new();
        let run = reading.parse_run(raw, &arena)?;
        totals.record_run(&trial.judge_run(&run, &arena));
        Ok(())
    })?;
    let proposals = trial.held_proposals(&totals);
    let runs_in_words = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
    let rules = if proposals.len() == 1 { "1 proposal".to_owned() } else { format!("{} proposals", proposals.len()) };
    Ok(ProposedRules {
        text: write_proposals(name, &proposals, runs),
        about: format!("with {rules} from {runs_in_words}"),
        rule_count: proposals.len(),
    })
}

/// Calls `look` for every run. An unreadable trace is an error, since proposals must cover all runs.
fn each_run(
    inputs: &[TraceInput],
    mut look: impl FnMut(&RawRun, &RunReadOptions) -> Result<(), UnreadableTrace>,
) -> Result<(), CommandError> {
    let reading =
        RunReadOptions { limits: Limits::default(), names: inputs::read_names(None)?, ..RunReadOptions::default() };
    for input in inputs {
        for document in feed::run_chunks(input, &reading) {
            for raw in document.raw_runs() {
                raw.and_then(|raw| look(raw, &reading)).map_err(|error| unreadable_error(&error))?;
            }
        }
    }
    Ok(())
}

fn unreadable_error(error: &UnreadableTrace) -> CommandError {
    let UnreadableTrace { file, line, column, message, help, no_trace: _ } = error;
    eprint_redacted(&format!("cannot be read: {}:{line}:{column}: {}\n", one_line(file), one_line(message)));
    if !help.is_empty() {
        eprint_redacted(&format!("  help: {}\n", one_line(help)));
    }
    CommandError::AlreadyReported(Exit::Trace)
}
