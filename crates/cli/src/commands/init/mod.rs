//! `aver init`: writes rules, settings and a CI file for the project in a folder, based on the files found there.

mod folder_survey;
mod known_tools;

use self::folder_survey::{FolderSurvey, settings_paths};
use self::known_tools::KnownTool;
use super::console::ColorChoice;
use super::exit::{CommandError, Exit};
use super::{CliArgs, CliCommand, check, draft_file, new, test};
use averment_base::diagnostic::render::one_line;
use clap::Parser as _;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver init                  the project in this folder
  aver init agents/support   the project in another folder
  aver init --dry-run        what would be written

Where the folder holds runs, the rules are those that held on all of them, and packs for the tools that were found. Otherwise they come from a template.
Existing files are kept. The last step is a check of the runs, or the tests of the template.")]
pub struct InitArgs {
    /// The folder of the project [default: the working directory]
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Say what was found and what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Write no file for CI
    #[arg(long)]
    no_ci: bool,
}

/// A file to write, with its path relative to the folder.
struct PlannedFile {
    path: PathBuf,
    text: String,
    about: String,
}

const CI_FILE: &str = ".github/workflows/averment.yml";

/// Surveys the folder, writes the missing files, and runs a check.
pub fn run_init(arguments: &InitArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let folder = arguments.folder.clone().unwrap_or_else(|| PathBuf::from("."));
    if !folder.is_dir() {
        return Err(CommandError::usage(
            format!("there is no folder `{}`", folder.display()),
            "name the folder of a project, or go there and write `aver init`",
        ));
    }
    let survey = FolderSurvey::look_through(&folder);
    print_findings(&survey)?;
    let planned = plan_files(arguments, &folder, &survey)?;
    for file in &planned {
        place_file(&folder, file, arguments.dry_run)?;
    }
    if arguments.dry_run {
        return Ok(Exit::Holds);
    }
    let exit = check_project(&folder, &survey, color)?;
    print_next_steps(&survey, exit)?;
    // Recorded runs may break the new rules. That is a finding, so `aver init` still succeeds.
    Ok(if exit == Exit::Failed { Exit::Holds } else { exit })
}

fn print_line(line: &str) -> Result<(), CommandError> {
    Ok(writeln!(std::io::stdout(), "{}", one_line(line))?)
}

fn print_findings(survey: &FolderSurvey) -> Result<(), CommandError> {
    let formats: BTreeSet<&str> = survey.traces.values().copied().collect();
    match survey.traces.len() {
        0 => print_line("found no runs")?,
        count => {
            let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
            let places = settings_paths(survey.traces.keys()).join(", ");
            let formats: Vec<&str> = formats.into_iter().collect();
            print_line(&format!("found runs in {files} ({}): {places}", formats.join(", ")))?;
        }
    }
    for tool in &survey.tools {
        print_line(&format!("found {}", tool.name))?;
    }
    if survey.cut_short {
        print_line("note: the folder is large, and a part of it was not looked at")?;
    }
    Ok(())
}

fn plan_files(arguments: &InitArgs, folder: &Path, survey: &FolderSurvey) -> Result<Vec<PlannedFile>, CommandError> {
    let mut files = Vec::new();
    if survey.rules.is_empty() {
        files.extend(plan_rules(folder, survey)?);
    }
    files.push(PlannedFile {
        path: PathBuf::from("averment.toml"),
        text: settings_text(survey),
        about: "rules, runs and settings of `aver check`".to_owned(),
    });
    let uses_gitlab = folder.join(".gitlab-ci.yml").exists();
    if !arguments.no_ci && !uses_gitlab && !survey.traces.is_empty() {
        files.push(PlannedFile {
            path: PathBuf::from(CI_FILE),
            text: include_str!("../../../templates/averment.yml").to_owned(),
            about: "checks the runs on GitHub".to_owned(),
        });
    }
    Ok(files)
}

fn plan_rules(folder: &Path, survey: &FolderSurvey) -> Result<Vec<PlannedFile>, CommandError> {
    let traces: Vec<String> =
        survey.traces.keys().map(|path| folder.join(path).to_string_lossy().into_owned()).collect();
    // Runs without steps suggest no rule, but a check needs one.
    let proposed = match traces.as_slice() {
        [] => None,
        // Proposals must hold on all runs. After an unreadable run, which was reported, a template is used instead.
        some => match new::propose_rules("agent", some) {
            Err(CommandError::AlreadyReported(Exit::Trace)) => None,
            proposed => Some(proposed?),
        },
    };
    let (text, about) = match proposed.filter(|proposed| proposed.rule_count > 0) {
        Some(proposed) => (proposed.text, proposed.about),
        None => {
            let template = new::find_template(survey.tools.first().map_or("basic", |tool| tool.template))?;
            (template.text_for("agent"), format!("from the template `{}`", template.name()))
        }
    };
    let mut files = vec![PlannedFile { path: PathBuf::from("rules/agent.assert"), text, about }];
    files.extend(plan_packs(survey));
    Ok(files)
}

/// Plans the file that imports the packs of the detected tools. Without runs there is none, because packs have no tests to try them.
fn plan_packs(survey: &FolderSurvey) -> Option<PlannedFile> {
    let packs: BTreeSet<&str> = survey.tools.iter().filter_map(|tool| tool.pack).collect();
    if packs.is_empty() || survey.traces.is_empty() {
        return None;
    }
    let mut text =
        "# packs.assert: rules that come with `aver`. `aver docs packs` says what each one holds.\n".to_owned();
    for pack in &packs {
        text.push_str("use std.packs.");
        text.push_str(pack);
        text.push('\n');
    }
    let names: Vec<&str> = packs.into_iter().collect();
    let about = format!("with the packs for what was found: {}", names.join(", "));
    Some(PlannedFile { path: PathBuf::from("rules/packs.assert"), text, about })
}

fn settings_text(survey: &FolderSurvey) -> String {
    let listed = |found: Vec<String>, otherwise: &str| {
        let found = if found.is_empty() { vec![otherwise.to_owned()] } else { found };
        // Strings in TOML use the same escapes as in JSON.
        let quoted: Vec<String> = found.iter().map(|path| serde_json::Value::from(path.as_str()).to_string()).collect();
        quoted.join(", ")
    };
    format!(
        "# Settings of `aver` for this project; `aver docs project` explains them.\n\
         rules = [{}]\n\
         traces = [{}]\n\
         # A name that no run has while some run has nearly it (`refnd`, `Refund`) fails `aver check`.\n\
         deny = [\"near-names\"]\n",
        listed(settings_paths(survey.rules.iter()), "rules/"),
        listed(settings_paths(survey.traces.keys()), "runs/"),
    )
}

/// Writes a file, unless it already exists.
fn place_file(folder: &Path, file: &PlannedFile, dry_run: bool) -> Result<(), CommandError> {
    let PlannedFile { path, text, about } = file;
    let (whole, shown) = (folder.join(path), path.display());
    if whole.symlink_metadata().is_ok() {
        return print_line(&format!("kept {shown}: it exists already"));
    }
    if dry_run {
        return print_line(&format!("would write {shown} {about}"));
    }
    let failed = |error: std::io::Error| {
        let message = format!("`{}` cannot be written: {}", whole.display(), super::io_error_text(&error));
        CommandError::usage(message, "name a folder in which files can be written")
    };
    if let Some(parent) = whole.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    draft_file::create_file(&whole, text.as_bytes()).map_err(failed)?;
    print_line(&format!("wrote {shown} {about}"))
}

/// Checks the runs with the new settings. Without runs, it runs the tests; existing rules may have none.
fn check_project(folder: &Path, survey: &FolderSurvey, color: ColorChoice) -> Result<Exit, CommandError> {
    let settings = folder.join("averment.toml").into_os_string();
    let command: &[&str] = match (survey.traces.is_empty(), survey.rules.is_empty()) {
        (false, _) => &["aver", "check"],
        (true, true) => &["aver", "test"],
        (true, false) => &["aver", "test", "--allow", "empty"],
    };
    print_line(&format!("\u{2192} {}", command.join(" ")))?;
    let mut words: Vec<OsString> = command.iter().chain(&["--project"]).map(OsString::from).collect();
    words.push(settings);
    let parsed = CliArgs::try_parse_from(words)
        .map_err(|error| CommandError::usage(error.to_string(), "run `aver check` in the folder"))?;
    match &parsed.command {
        CliCommand::Check(arguments) => check::run_check(arguments, color, None),
        CliCommand::Test(arguments) => test::run_tests(arguments, color),
        _ => Ok(Exit::Holds),
    }
}

fn print_next_steps(survey: &FolderSurvey, exit: Exit) -> Result<(), CommandError> {
    if survey.traces.is_empty() {
        print_line("next: put recorded runs into runs/, then `aver check`")?;
        let tools: &[&KnownTool] = &survey.tools;
        return tools.iter().try_for_each(|tool| print_line(&format!("  {}: {}", tool.name, tool.runs)));
    }
    if exit == Exit::Failed {
        return print_line(
            "next: `aver check --show fail` shows what failed; change the rule, or keep it as a finding",
        );
    }
    print_line("next: read the rules, and delete those that you do not mean; `aver check` checks again")
}
