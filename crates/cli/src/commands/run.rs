//! `aver run SUITE`: runs agents on the cases of a suite, and judges their runs as `aver check` does.

mod explain;
mod judge;
mod progress_messages;

use self::judge::{judge_session, observe_world};
use self::progress_messages::SessionProgress;
use super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::exit::{CommandError, Exit};
use super::inputs::TraceInput;
use super::judge_flags::JudgeFlags;
use super::{check, draft_file, help_headings, rules, signals, units};
use averment::stages::load::LoadedRuleFile;
use averment_base::diagnostic::Diagnostics;
use averment_base::diagnostic::render::one_line;
use averment_base::limits::Limits;
use averment_report::diagnostic::draw_diagnostics;
use averment_suite::{
    AllowedVariables, FolderError, PlanError, PlannedSuite, Schedule, SettingOverrides, SuiteContext, SuiteFolder,
    SuiteSelection, Supervisor, TokenSnapshots, folder_name, plan_suites, private_values, session_rules,
};
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The hidden command that supervises another program.
pub const SUPERVISE: &str = "__supervise";

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver run skills.assert --dry-run                  what would be run
  aver run skills.assert --allow-run
  aver run skills.assert --allow-run --case find-skills --runner fast
  aver run skills.assert --allow-run --repeat 3 --retries 1 --schedule parallel
  aver run skills.assert --allow-run --resume       go on where it was stopped
  aver run skills.assert --allow-run --report junit=junit.xml
  aver run skills.assert --allow-run --explain skills.runs/1/find-skills
  aver check skills.assert -r skills.runs/1/session.assert skills.runs/1/runs.jsonl

A suite names runners (claude-code, codex, copilot, cursor-agent, opencode, or any command that
writes a trace of a known format) and cases: a prompt, and what has to be so of each run of it.

Exit codes: those of aver check; 2 where nothing can be run; 130 where it was stopped")]
pub struct RunArgs {
    /// A rule file with a suite
    #[arg(value_name = "SUITE")]
    suite: PathBuf,
    /// Allow agents, bootstrap commands and commands of rules to run
    #[arg(help_heading = help_headings::LIMITS, long)]
    allow_run: bool,
    /// Print the sessions, a line of JSON each, without running them
    #[arg(help_heading = help_headings::OUTPUT, long, conflicts_with_all = ["resume", "explain"])]
    dry_run: bool,
    /// Keep everything in this folder [default: NAME.runs/N, the next free number]
    #[arg(help_heading = help_headings::OUTPUT, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continue the sessions that have not ended, and judge all again
    #[arg(help_heading = help_headings::SESSIONS, long)]
    resume: bool,
    /// Ask the agents of failed sessions why, and keep the answers; DIR is the folder of a session or one above it
    #[arg(help_heading = help_headings::SESSIONS, long, value_name = "DIR", conflicts_with = "resume")]
    explain: Option<PathBuf>,
    /// Ask again, even if there is an answer
    #[arg(help_heading = help_headings::SESSIONS, long, requires = "explain")]
    again: bool,
    /// Run only this case
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "NAME")]
    case: Vec<String>,
    /// Run only cases with this tag, or any of several: smoke,auth [default: `select` of the suite, or `tags` of the project]
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "TAG", value_delimiter = ',', value_parser = super::project::parse_tag)]
    tag: Vec<String>,
    /// Run only with this runner
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "NAME")]
    runner: Vec<String>,
    /// How often each case is run
    #[arg(help_heading = help_headings::SESSIONS, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    repeat: Option<u64>,
    /// How often a failed session is repeated
    #[arg(help_heading = help_headings::SESSIONS, long, value_name = "N", value_parser = clap::value_parser!(u64).range(0..=100_000))]
    retries: Option<u64>,
    /// The order of sessions: serial, parallel, isolated_by_runner
    #[arg(help_heading = help_headings::SESSIONS, long, value_name = "HOW", value_parser = parse_schedule)]
    schedule: Option<Schedule>,
    /// How many sessions run at the same time [default: all processors, unless the schedule is serial]
    #[arg(help_heading = help_headings::SESSIONS, long, value_name = "N", value_parser = units::parse_threads)]
    parallel: Option<std::num::NonZeroUsize>,
    /// The longest time for a session, unless its case or runner sets it [default: 120s]
    #[arg(help_heading = help_headings::SESSIONS, long, value_name = "TIME")]
    timeout: Option<String>,
    /// The most steps of a session, unless its case or runner sets it
    #[arg(help_heading = help_headings::SESSIONS, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_steps: Option<u64>,
    /// The folder in which agents work, if the suite makes no workspace
    #[arg(help_heading = help_headings::SESSIONS, long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The file of snapshots, instead of the suite's
    #[arg(help_heading = help_headings::FAILING, long, value_name = "FILE")]
    snapshots: Option<PathBuf>,
    /// Accept the current cost of cases
    #[arg(help_heading = help_headings::FAILING, long)]
    update_snapshots: bool,
    /// Pass this variable to agents; `NAME*` for all with this beginning
    #[arg(help_heading = help_headings::LIMITS, long, value_name = "NAME")]
    allow_env: Vec<String>,
    /// How much a program may write to each of its streams
    #[arg(help_heading = help_headings::LIMITS, long, value_name = "SIZE", default_value = "256MiB")]
    max_output: String,
    #[command(flatten)]
    judging: JudgeFlags,
}

fn parse_schedule(word: &str) -> Result<Schedule, String> {
    Schedule::parse(&word.replace('-', "_")).ok_or_else(|| "it is serial, parallel or isolated_by_runner".to_owned())
}

/// Arguments of the hidden command under which `aver run` supervises an agent.
#[derive(Debug, clap::Args)]
pub struct SuperviseArgs {
    /// A file that is taken away when the program has ended.
    #[arg(long)]
    forget: Vec<PathBuf>,
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// Runs the supervised program; returns its exit code.
pub fn supervise_program(supervised: &SuperviseArgs) -> std::process::ExitCode {
    let code = averment_engine::vm::world::supervise(&supervised.words);
    for file in &supervised.forget {
        let _gone_already = std::fs::remove_file(file);
    }
    u8::try_from(code).unwrap_or(u8::MAX).into()
}

/// Runs a suite.
pub fn run_suites(arguments: &RunArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let suites = select_suites(arguments, color)?;
    refuse_silent(arguments, &suites)?;
    if arguments.dry_run {
        return print_plan(arguments, &suites);
    }
    if !arguments.allow_run {
        let message = "agents would be started, but no permission was given";
        return Err(CommandError::usage(message, "add `--allow-run`; `--dry-run` prints what would be run"));
    }
    let supervisor = supervisor_command()?;
    let allowed = AllowedVariables(arguments.allow_env.clone());
    signals::may_run(true);
    let stop = signals::interruption_flag()?;
    if let Some(session) = &arguments.explain {
        return explain::explain_failures(session, arguments.again, &suites, &supervisor, &allowed, &stop);
    }
    let bytes = units::parse_bytes(&arguments.max_output).filter(|bytes| *bytes > 0).ok_or_else(|| {
        CommandError::usage(format!("`{}` is no size", arguments.max_output), "write a size such as `256MiB`")
    })?;
    let update = arguments.update_snapshots;
    let open = |suite: &PlannedSuite| {
        suite.snapshots.as_ref().map(|rules| TokenSnapshots::open_file(rules, update)).transpose()
    };
    let mut snapshots: Vec<Option<TokenSnapshots>> = suites
        .iter()
        .map(|suite| open(suite).map_err(|why| CommandError::usage(why, "name another file: `--snapshots FILE`")))
        .collect::<Result<_, _>>()?;
    if update && snapshots.iter().all(Option::is_none) {
        let help = "write `snapshots { percent: 10 }` into the suite";
        return Err(CommandError::usage("the suite has no snapshots to update", help));
    }
    // Checks the rules and flags without a run, so that mistakes are reported before an agent is started.
    let text = session_rules(&suites);
    let withheld = private_values(&suites, &allowed);
    let nothing =
        supplied_runs("session.assert", &text, "runs.jsonl", averment_suite::SuiteResults::default(), &withheld);
    let judge = check::check_rules(&arguments.check_args(nothing)?, color)?;
    let folder = run_folder(arguments, &suites)?;
    let told = SessionProgress::new(&suites, &withheld, color);
    let runs = SuiteContext {
        supervisor: &supervisor,
        allowed: &allowed,
        bytes: bytes as u64,
        as_skillgym: arguments.judging.compat.is_skillgym(),
        stop: &stop,
        judge: &|run| judge_session(&judge, run),
        look: &|run, folder| observe_world(&judge, run, folder),
        on_event: &|event| told.report_event(&event),
    };
    let done = averment_suite::run_suites(&suites, &folder, &mut snapshots, &runs)?;
    told.clear_status();
    let shown = shown_path(folder.path());
    let Some(done) = done else {
        let help = format!("note: stopped; what has ended is kept in `{shown}`, and `--resume` goes on\n");
        eprint_redacted(&help);
        return Ok(Exit::Interrupted);
    };
    for snapshots in snapshots.iter().flatten().filter(|snapshots| snapshots.changed) {
        draft_file::write_file(snapshots.path(), snapshots.snapshot_text().as_bytes())?;
        print_note(&format!("`{}` has been written", snapshots.path().display()));
    }
    let (rules, lines) = (folder.path().join("session.assert"), folder.path().join("runs.jsonl"));
    draft_file::write_file(&rules, text.as_bytes())?;
    draft_file::write_file(&lines, done.lines.as_bytes())?;
    let again = if done.retried > 0 { format!(", {} of them tried again", done.retried) } else { String::new() };
    let kept = if done.kept > 0 { format!(", {} from before", done.kept) } else { String::new() };
    print_note(&format!("{} sessions{again}{kept}; everything is kept in `{shown}`", done.sessions));
    let recorded = supplied_runs(&self::shown_path(&rules), &text, &self::shown_path(&lines), done, &withheld);
    check::run_check(&arguments.check_args(recorded)?, color, None)
}

impl RunArgs {
    fn check_args(&self, made: check::SuppliedRuns) -> Result<check::CheckArgs, CommandError> {
        self.judging.check_args(&self.suite, made, &["--allow-run"])
    }
}

fn supplied_runs(
    rules: &str,
    text: &str,
    name: &str,
    done: averment_suite::SuiteResults,
    withheld: &[String],
) -> check::SuppliedRuns {
    check::SuppliedRuns {
        rules: TraceInput::Made { name: rules.to_owned(), bytes: text.as_bytes().to_vec(), names: Vec::new() },
        runs: TraceInput::Made { name: name.to_owned(), bytes: done.lines.into_bytes(), names: done.names },
        withheld: withheld.to_vec(),
        is_chosen: true,
    }
}

fn refuse_silent(arguments: &RunArgs, suites: &[PlannedSuite]) -> Result<(), CommandError> {
    if arguments.snapshots.is_some() && suites.iter().all(|suite| suite.snapshots.is_none()) {
        let help = "write `snapshots { percent: 10 }` into the suite";
        return Err(CommandError::usage("`--snapshots` has no meaning: the suite has no snapshots", help));
    }
    Ok(())
}

fn select_suites(arguments: &RunArgs, color: ColorChoice) -> Result<Vec<PlannedSuite>, CommandError> {
    let input = TraceInput::File(arguments.suite.clone());
    let values = arguments.judging.param_values()?;
    let reading = arguments.judging.read.read_options(Limits::default());
    let reading = reading.with_foreign(arguments.judging.compat.foreign_options(&values.texts));
    let loaded = rules::load_alone(&input, reading)?;
    if loaded.is_broken() {
        rules::from_loaded(loaded).report_errors(color)?;
        return Err(CommandError::AlreadyReported(Exit::Rules));
    }
    if let Some(lowered) = &loaded.lowered {
        let name = arguments.suite.display();
        let help = format!("write it as a suite of this language first: `aver import {name} > suite.assert`");
        return Err(CommandError::usage(format!("`{name}` is a file of {}", lowered.dialect.name()), help));
    }
    let LoadedRuleFile { sources, checked: Some(checked), .. } = loaded else {
        let message = format!("`{}` is a compiled program, which has no runners", arguments.suite.display());
        return Err(CommandError::usage(message, "name the rule file that it was made of"));
    };
    let timeout = arguments.timeout.as_ref().map(|text| {
        if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(CommandError::usage("a timeout is a duration", format!("write `--timeout {text}s`")));
        }
        let time = units::parse_time(text)
            .ok_or_else(|| CommandError::usage(format!("`{text}` is no time"), "write a time such as `10s` or `2m`"))?;
        Ok::<u64, CommandError>(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    });
    let project = arguments.judging.project.load_project(std::slice::from_ref(&arguments.suite), color)?;
    let chosen = SuiteSelection {
        cases: arguments.case.clone(),
        tags: arguments.tag.clone(),
        usual_tags: project.map(|project| project.tags).unwrap_or_default(),
        runners: arguments.runner.clone(),
    };
    let over = SettingOverrides {
        repeat: arguments.repeat,
        retries: arguments.retries,
        schedule: arguments.schedule,
        parallel: arguments.parallel.map(std::num::NonZeroUsize::get),
        timeout: timeout.transpose()?,
        max_steps: arguments.max_steps,
        cwd: arguments.cwd.as_ref().map(|cwd| cwd.canonicalize().unwrap_or_else(|_| cwd.clone())),
        snapshots: arguments.snapshots.clone(),
    };
    let base = arguments.suite.canonicalize().unwrap_or_else(|_| arguments.suite.clone());
    let base = base.parent().map(Path::to_owned).unwrap_or_default();
    plan_suites(&checked.module.plans, &base, &chosen, &over).map_err(|error| match error {
        PlanError::Chosen(message, help) => CommandError::usage(message, help),
        PlanError::Rules(diagnostic) => {
            let said = Diagnostics(vec![*diagnostic]);
            eprint_redacted(&draw_diagnostics(&said, &sources, OutputStream::Err.style(color)));
            CommandError::AlreadyReported(Exit::Rules)
        }
    })
}

fn supervisor_command() -> Result<Supervisor, CommandError> {
    let program = std::env::current_exe()?;
    Ok(Supervisor(vec![program.into_os_string(), SUPERVISE.into()]))
}

fn run_folder(arguments: &RunArgs, suites: &[PlannedSuite]) -> Result<SuiteFolder, CommandError> {
    let path = folder_path(arguments, suites)?;
    let shown = shown_path(&path);
    SuiteFolder::take_folder(&path, &format!("{suites:?}"), arguments.resume).map_err(|error| match error {
        FolderError::Io(error) => {
            CommandError::usage(format!("`{shown}` cannot be used: {error}"), "name another folder: `--out DIR`")
        }
        FolderError::Used => CommandError::usage(
            format!("there is something in `{shown}` already"),
            "go on with it: `--resume`; or name another folder",
        ),
        FolderError::Empty => {
            CommandError::usage(format!("there is nothing in `{shown}` to go on with"), "leave `--resume` out")
        }
        FolderError::Other => CommandError::usage(
            format!("`{shown}` was made of another suite, or of another choice of it"),
            "give the same flags again, or leave `--resume` out",
        ),
        FolderError::Locked => CommandError::usage(
            format!("another `aver run` works in `{shown}`"),
            "wait for its end, or name another folder",
        ),
    })
}

/// Returns the path of the output folder. Refuses one inside a template, which would be copied into itself.
fn folder_path(arguments: &RunArgs, suites: &[PlannedSuite]) -> Result<PathBuf, CommandError> {
    let path = match &arguments.out {
        Some(path) => path.clone(),
        None => numbered_folder(arguments)?,
    };
    let path = std::env::current_dir()?.join(path);
    let real = averment_base::files::resolve_path(&path)?;
    match suites.iter().find(|suite| suite.copies_folder(&real)) {
        Some(suite) => Err(CommandError::usage(
            format!("`{}` lies in the template of the suite `{}`", shown_path(&path), suite.name),
            "name a folder outside of it: `--out DIR`; or make the template a folder of its own",
        )),
        None => Ok(path),
    }
}

/// Returns the folder `NAME.runs/N`: the next number, or the last one with `--resume`.
fn numbered_folder(arguments: &RunArgs) -> Result<PathBuf, CommandError> {
    let name = arguments.suite.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = PathBuf::from(format!("{}.runs", if name == folder_name(&name) { name } else { folder_name(&name) }));
    let numbers = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<u64>().ok());
    match (numbers.max(), arguments.resume) {
        (None, true) => Err(CommandError::usage(
            format!("there is no `{}` to go on with", folder.display()),
            "leave `--resume` out, or name the folder: `--out DIR`",
        )),
        (Some(last), true) => Ok(folder.join(last.to_string())),
        (last, false) => Ok(folder.join(last.unwrap_or(0).saturating_add(1).to_string())),
    }
}

fn print_plan(arguments: &RunArgs, suites: &[PlannedSuite]) -> Result<Exit, CommandError> {
    let allowed = AllowedVariables(arguments.allow_env.clone());
    let folder = folder_path(arguments, suites)?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in averment_suite::would_run(suites, &folder, &allowed) {
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    Ok(Exit::Holds)
}

fn shown_path(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&here).unwrap_or(path).display().to_string()
}

fn print_note(text: &str) {
    eprint_redacted(&format!("note: {}\n", one_line(text)));
}

fn is_stopped(stop: &AtomicBool) -> bool {
    stop.load(std::sync::atomic::Ordering::Relaxed)
}
