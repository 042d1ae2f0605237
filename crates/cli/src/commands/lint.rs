//! `aver lint RULES`: compiles rules without a run, and reports probable mistakes.

use super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::exit::{CommandError, Exit};
use super::project::{self, ProjectArguments};
use super::rules::{self, CompiledRules};
use super::runless_report::{self, RunlessReport};
use super::targets::{self, OutputTarget, ReportArguments};
use super::{inputs, repair};
use averment_base::diagnostic::render::{TextStyle, one_line};
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::diagnostic::{Family, Slug};
use averment_base::limits::Limits;
use averment_engine::vm::select::RuleSelection;
use averment_ide::lint::{LintLevel, LintLevels, LintOptions};
use averment_report::json_escape;
use averment_report::table::ReportTable;
use averment_report::{Format, ReportedCommand};
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver lint refunds.assert                  one file with everything it imports
  aver lint                                 the rules of averment.toml
  aver lint rules/ --format short           a line per finding, for editors
  aver lint rules/ --fix                    changes what can be changed by machine
  aver lint rules/ --fix --diff             shows what --fix would change
  aver lint rules/ --deny style --allow yoda-condition
  aver lint --list                          every lint with its level
  aver lint rules/ --online                 what each assertion does under `aver guard`

A level is chosen for a lint or a whole family, here or in the section [lint] of averment.toml; `# allow: SLUG`
on a line or above it silences a lint there. `aver explain SLUG` says what a lint is about.

Exit codes: 0 nothing found, or only info, 1 findings, 2 wrong usage, 3 the rules do not compile.")]
#[command(mut_arg("format", |format| format.help(targets::format_help("How to print findings", ReportedCommand::Lint))))]
pub struct LintArgs {
    /// Rule files, or folders of them; `-` reads standard input [default: the rules of the project]
    #[arg(value_name = "RULES")]
    rules: Vec<PathBuf>,
    #[command(flatten)]
    reports: ReportArguments,
    /// Report this lint or family as an error
    #[arg(long, value_name = "LINT")]
    deny: Vec<String>,
    /// Report this lint or family as a warning
    #[arg(long, value_name = "LINT")]
    warn: Vec<String>,
    /// Report this lint or family as info
    #[arg(long, value_name = "LINT")]
    info: Vec<String>,
    /// Do not report this lint or family
    #[arg(long, value_name = "LINT")]
    allow: Vec<String>,
    /// Also report lints that are off by default, as info
    #[arg(long)]
    all: bool,
    /// Apply all fixes; a file is replaced as a whole
    #[arg(long)]
    fix: bool,
    /// With --fix: show the changes and write nothing
    #[arg(long, requires = "fix")]
    diff: bool,
    /// List every lint with its level and what it is about
    #[arg(long)]
    list: bool,
    /// List every assertion with what `aver guard` does by it: denies, owed, or reports
    #[arg(long, conflicts_with_all = ["fix", "list"])]
    online: bool,
    #[command(flatten)]
    read: rules::ReadFlag,
    #[command(flatten)]
    project: ProjectArguments,
}

/// Compiles the rules and prints their diagnostics.
pub fn run_lint(arguments: &LintArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let project = arguments.project.load_project(&arguments.rules, color)?;
    let folder = arguments.project.report_folder(arguments.reports.report_dir.as_deref(), project.as_ref(), color);
    let targets = arguments.reports.targets(ReportedCommand::Lint, None, folder)?;
    let of_project = project.as_ref().map(|project| project.lint.clone()).unwrap_or_default();
    let options = LintOptions { levels: of_project.overridden_by(&chosen_levels(arguments)?) };
    if arguments.list {
        std::io::stdout().write_all(
            list_lints(&options.levels, arguments.reports.format.as_deref() == Some(Format::Json.as_str())).as_bytes(),
        )?;
        return Ok(Exit::Holds);
    }
    let named = project::rule_paths(&arguments.rules, project.as_ref())?;
    let inputs = inputs::some_rule_inputs(&named)?;
    targets::refuse_overwrite(targets::target_files(&targets), targets::input_paths(&inputs))?;
    let limits = Limits::default();
    let tools = rules::project_tools(project.as_ref(), limits)?;
    let reading = arguments.read.read_options(limits).with_tools(&tools);
    if arguments.fix {
        let changes = repair::repair_files(&inputs, reading, &options, arguments.diff)?;
        match arguments.diff {
            true => std::io::stdout().write_all(changes.as_bytes())?,
            false => eprint_redacted(&changes),
        }
    }
    let rules = rules::load_linted(&inputs, reading, &options)?;
    targets::refuse_overwrite(targets::target_files(&targets), rules.file_names().map(Path::new))?;
    if arguments.online && !rules.is_broken() {
        return print_online(&rules, &targets);
    }
    let exit = match (rules.is_broken(), rules.has_findings()) {
        (true, _) => Exit::Rules,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Holds,
    };
    // With `--diff`, standard output shows the changes instead.
    let printed = |target: &OutputTarget| target.file.is_some() || !arguments.diff;
    let printed = targets.into_iter().filter(printed);
    let (own, shared) = printed.partition::<Vec<_>, _>(|target| is_own(target.format));
    for target in own {
        let style = if target.file.is_some() { TextStyle::PLAIN } else { OutputStream::Out.style(color) };
        target.write_text(&diagnostics_text(&rules, target.format, style))?;
    }
    if !shared.is_empty() {
        RunlessReport::from_diagnostics(&rules.diagnostics).write_report(
            &shared,
            runless_report::command_drawing(ReportedCommand::Lint),
            exit,
        )?;
    }
    Ok(exit)
}

/// Prints how each assertion behaves while an agent runs: one line each, or JSON.
fn print_online(rules: &CompiledRules, targets: &[OutputTarget]) -> Result<Exit, CommandError> {
    let table = ReportTable::of_selection(&rules.programs, &RuleSelection::default());
    let rows = table.items.iter().map(|item| {
        let place = format!("{}:{}", item.location.file, item.location.line);
        (place, item)
    });
    for target in targets {
        let text = match target.format {
            Format::Json => {
                let all: Vec<_> = rows
                    .clone()
                    .map(|(place, item)| {
                        json!({"id": item.id, "text": item.text, "place": place, "denies": item.online.denies, "owed": item.online.owed})
                    })
                    .collect();
                let data = json!({"version": 1, "assertions": all}).to_string();
                format!("{}\n", json_escape::escape_json(&data))
            }
            _ => rows.clone().fold(String::new(), |mut text, (place, item)| {
                let _ = writeln!(
                    text,
                    "{:12}  {}  {}  {}",
                    item.online.word(),
                    one_line(&place),
                    one_line(&item.id),
                    one_line(&item.text)
                );
                text
            }),
        };
        target.write_text(&text)?;
    }
    Ok(Exit::Holds)
}

fn is_own(format: Format) -> bool {
    matches!(format, Format::Human | Format::Short | Format::Json)
}

fn diagnostics_text(rules: &CompiledRules, format: Format, style: TextStyle) -> String {
    match format {
        Format::Short => rules.diagnostics_lines(),
        Format::Json => {
            let data = json!({"version": 1, "diagnostics": rules.diagnostics_data()}).to_string();
            format!("{}\n", json_escape::escape_json(&data))
        }
        _ => rules.drawn_diagnostics(style),
    }
}

/// Returns the lint levels from the command line. If a lint is named twice, the milder level wins.
fn chosen_levels(arguments: &LintArgs) -> Result<LintLevels, CommandError> {
    let mut levels = LintLevels { least: arguments.all.then_some(LintLevel::Info), ..LintLevels::default() };
    let given = [
        (&arguments.deny, LintLevel::Error),
        (&arguments.warn, LintLevel::Warn),
        (&arguments.info, LintLevel::Info),
        (&arguments.allow, LintLevel::Allow),
    ];
    for (words, level) in given {
        for word in words.iter().flat_map(|words| words.split(',')).map(str::trim) {
            match (Slug::parse(word).filter(|slug| slug.is_configurable()), Family::parse(word)) {
                (Some(slug), _) => levels.slugs.push((slug, level)),
                (None, Some(family)) => levels.families.push((family, level)),
                (None, None) => return Err(unknown_lint(word)),
            }
        }
    }
    Ok(levels)
}

fn unknown_lint(word: &str) -> CommandError {
    if Slug::parse(word).is_some() {
        return CommandError::usage(
            format!("`{word}` is an error of the language and has no level"),
            "`aver lint --list` shows what has one",
        );
    }
    let lints = Slug::ALL.iter().filter(|slug| slug.is_configurable()).map(|slug| slug.as_str());
    let families = Family::ALL.iter().map(|family| family.as_str());
    let help = match suggest_name(word, families.chain(lints)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`aver lint --list` shows all".to_owned(),
    };
    CommandError::usage(format!("there is no lint or family of lints `{word}`"), help)
}

fn list_lints(levels: &LintLevels, data: bool) -> String {
    let of = |family: Family| Slug::ALL.iter().filter(move |slug| slug.family() == Some(family));
    if data {
        let all: Vec<_> = Family::ALL
            .iter()
            .flat_map(|&family| of(family))
            .map(|slug| {
                json!({"slug": slug.as_str(), "family": slug.family().map(Family::as_str), "level": levels.level_of(*slug).as_str(),
                    "default": slug.lint_level().as_str(), "title": slug.title()})
            })
            .collect();
        return format!("{}\n", json!({"version": 1, "lints": all}));
    }
    let mut out = String::new();
    for &family in Family::ALL {
        let _ = writeln!(out, "{}: {}", family.as_str(), family.title());
        for slug in of(family) {
            let _ = writeln!(out, "  {:24} {:6} {}", slug.as_str(), levels.level_of(*slug).as_str(), slug.title());
        }
    }
    out
}
