//! `aver lint RULES`: compiles rules without a run and looks for what is probably not meant.

use super::console::{ColorChoice, Stream, say};
use super::converted::{self, Converted};
use super::exit::{Exit, Stop};
use super::project::{self, ProjectArguments};
use super::rules::{self, Rules};
use super::targets::{self, OutputTarget, ReportArguments};
use super::{inputs, repair};
use averment_base::diagnostic::render::Style;
use averment_base::diagnostic::suggest::nearest;
use averment_base::diagnostic::{Family, Slug};
use averment_base::limits::Limits;
use averment_ide::lint::{Level, Levels, LintOptions};
use averment_report::escaped;
use averment_report::{Command, Format};
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

A level is chosen for a lint or a whole family, here or in the section [lint] of averment.toml; `# allow: SLUG`
on a line or above it silences a lint there. `aver explain SLUG` says what a lint is about.

Exit codes: 0 nothing found (remarks are no findings), 1 findings, 2 wrong usage, 3 the rules do not compile.")]
#[command(mut_arg("format", |format| format.help(targets::format_help("How findings are printed", Command::Lint))))]
pub struct Arguments {
    /// Rule files, or folders of them; `-` reads standard input [default: the rules of the project]
    #[arg(value_name = "RULES")]
    rules: Vec<PathBuf>,
    #[command(flatten)]
    reports: ReportArguments,
    /// Take this lint or family for an error
    #[arg(long, value_name = "LINT")]
    deny: Vec<String>,
    /// Take this lint or family for a finding
    #[arg(long, value_name = "LINT")]
    warn: Vec<String>,
    /// Only remark on this lint or family
    #[arg(long, value_name = "LINT")]
    info: Vec<String>,
    /// Say nothing of this lint or family
    #[arg(long, value_name = "LINT")]
    allow: Vec<String>,
    /// Remark on everything, also on what is off by default
    #[arg(long)]
    all: bool,
    /// Change what can be changed by machine; files are replaced as a whole
    #[arg(long)]
    fix: bool,
    /// With --fix: show the changes and write nothing
    #[arg(long, requires = "fix")]
    diff: bool,
    /// List every lint with its level and what it is about
    #[arg(long)]
    list: bool,
    /// How long all of it may take: then it ends with exit code 5
    #[arg(long, value_name = "TIME")]
    max_time: Option<String>,
    #[command(flatten)]
    read: rules::ReadFlag,
    #[command(flatten)]
    project: ProjectArguments,
}

/// Compiles the rules and prints what is to be said.
pub fn run(arguments: &Arguments, color: ColorChoice) -> Result<Exit, Stop> {
    super::deadline::Deadline::start_hard(arguments.max_time.as_deref())?;
    let project = arguments.project.load(&arguments.rules, color)?;
    let folder = arguments.project.reports(arguments.reports.report_dir.as_deref(), project.as_ref(), color);
    let targets = arguments.reports.targets(Command::Lint, None, folder)?;
    let of_project = project.as_ref().map(|project| project.lint.clone()).unwrap_or_default();
    let options = LintOptions { levels: of_project.with(&levels(arguments)?) };
    if arguments.list {
        std::io::stdout().write_all(
            list(&options.levels, arguments.reports.format.as_deref() == Some(Format::Json.as_str())).as_bytes(),
        )?;
        return Ok(Exit::Holds);
    }
    let named = project::rules(&arguments.rules, project.as_ref())?;
    let inputs = inputs::rules(&named)?;
    if inputs.is_empty() {
        return Err(Stop::usage("there is no `.assert` file in these folders", "name a rule file"));
    }
    targets::refuse(targets::files_of(&targets), targets::paths(&inputs))?;
    let limits = Limits::default();
    let tools = rules::tools(project.as_ref(), limits)?;
    let reading = arguments.read.reading(limits).with(&tools);
    if arguments.fix {
        let changes = repair::run(&inputs, reading, &options, arguments.diff)?;
        match arguments.diff {
            true => std::io::stdout().write_all(changes.as_bytes())?,
            false => say(&changes),
        }
    }
    let rules = rules::load_linted(&inputs, reading, &options)?;
    targets::refuse(targets::files_of(&targets), rules.files().map(Path::new))?;
    let exit = match (rules.broken(), rules.has_findings()) {
        (true, _) => Exit::Rules,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Holds,
    };
    // With `--diff` the changes stand on standard output.
    let printed = |target: &OutputTarget| target.file.is_some() || !arguments.diff;
    let printed = targets.into_iter().filter(printed);
    let (own, shared) = printed.partition::<Vec<_>, _>(|target| is_own(target.format));
    for target in own {
        let style = if target.file.is_some() { Style::PLAIN } else { Stream::Out.style(color) };
        target.put(&text(&rules, target.format, style))?;
    }
    if !shared.is_empty() {
        Converted::of_diagnostics(&rules.said).report(&shared, converted::drawing(Command::Lint), exit)?;
    }
    Ok(exit)
}

/// Formats in which findings have a form of their own.
fn is_own(format: Format) -> bool {
    matches!(format, Format::Human | Format::Short | Format::Json)
}

fn text(rules: &Rules, format: Format, style: Style) -> String {
    match format {
        Format::Short => rules.lines(),
        Format::Json => {
            let data = json!({"version": 1, "diagnostics": rules.data()}).to_string();
            format!("{}\n", escaped::json(&data))
        }
        _ => rules.drawn(style),
    }
}

/// The levels of the command line. What is milder wins where one lint is named twice.
fn levels(arguments: &Arguments) -> Result<Levels, Stop> {
    let mut levels = Levels { least: arguments.all.then_some(Level::Info), ..Levels::default() };
    let given = [
        (&arguments.deny, Level::Error),
        (&arguments.warn, Level::Warn),
        (&arguments.info, Level::Info),
        (&arguments.allow, Level::Allow),
    ];
    for (words, level) in given {
        for word in words.iter().flat_map(|words| words.split(',')).map(str::trim) {
            match (Slug::parse(word).filter(|slug| slug.is_configurable()), Family::parse(word)) {
                (Some(slug), _) => levels.slugs.push((slug, level)),
                (None, Some(family)) => levels.families.push((family, level)),
                (None, None) => return Err(unknown(word)),
            }
        }
    }
    Ok(levels)
}

fn unknown(word: &str) -> Stop {
    if Slug::parse(word).is_some() {
        return Stop::usage(
            format!("`{word}` is an error of the language and has no level"),
            "`aver lint --list` shows what has one",
        );
    }
    let lints = Slug::ALL.iter().filter(|slug| slug.is_configurable()).map(|slug| slug.as_str());
    let families = Family::ALL.iter().map(|family| family.as_str());
    let help = match nearest(word, families.chain(lints)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`aver lint --list` shows all".to_owned(),
    };
    Stop::usage(format!("there is no lint or family of lints `{word}`"), help)
}

/// Every lint with its level, family by family.
fn list(levels: &Levels, data: bool) -> String {
    let of = |family: Family| Slug::ALL.iter().filter(move |slug| slug.family() == Some(family));
    if data {
        let all: Vec<_> = Family::ALL
            .iter()
            .flat_map(|&family| of(family))
            .map(|slug| {
                json!({"slug": slug.as_str(), "family": slug.family().map(Family::as_str), "level": levels.of(*slug).as_str(),
                    "default": slug.level().as_str(), "title": slug.title()})
            })
            .collect();
        return format!("{}\n", json!({"version": 1, "lints": all}));
    }
    let mut out = String::new();
    for &family in Family::ALL {
        let _ = writeln!(out, "{}: {}", family.as_str(), family.title());
        for slug in of(family) {
            let _ = writeln!(out, "  {:24} {:6} {}", slug.as_str(), levels.of(*slug).as_str(), slug.title());
        }
    }
    out
}
