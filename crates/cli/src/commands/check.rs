//! `aver check RULES TRACE...`: judges recorded runs.

mod before_run;
mod broken_rules;
mod check_inputs;
mod ending;
mod options;
mod plan;
mod recorded_run;
mod request;
#[cfg(any(feature = "probe", feature = "run"))]
mod single;

use self::broken_rules::{print_diagnostics, report_broken};
use self::check_inputs::CheckInputs;
use self::options::parse_section;
use self::plan::CheckPlan;
use self::request::CheckRequest;
#[cfg(any(feature = "probe", feature = "run"))]
pub use self::single::check_rules;
use super::console::ColorChoice;
use super::deadline::Deadline;
use super::exit::{CommandError, Exit};
use super::project::{self, ProjectArguments};
use super::record::RecordArguments;
use super::targets::{self, ReportArguments};
use super::watch::{UsedPaths, WatchedCommand, watch_command};
use super::{help_headings, inputs, rules, units};
use averment_report::ReportedCommand;
use averment_report::show::Section;
use averment_traces::redact_path::RedactPath;
use clap::ValueEnum;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Help on `--report-dir`, with examples of file names.
const FOLDER: &str = "Write all reports for programs into a folder: report.json, junit.xml, report.sarif and more";

fn format_help() -> String {
    let formats = targets::format_help("What to print", ReportedCommand::Check);
    format!("{formats} [default: human, or the format of the project]")
}

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver check refunds.assert trace.json
  aver check refunds.assert runs/ --format summary
  aver check refunds.assert runs/ --show fail,undecided
  aver check rules/ runs/ --baseline known.txt --update-baseline
  aver check rules/ \"runs/**/*.jsonl\" --tag payments --param limit=250
  agent --json | aver check refunds.assert - --format jsonl
  aver check refunds.assert runs/ --report html=report.html --report json=report.json
  aver check rules/ runs/ --fail-fast         the first failure is enough
  aver check rules/ runs/ --last-failed       only the traces that failed, until they pass
  aver check rules/ runs/ --watch             again whenever something changes
  aver check rules/ runs/ --record runs.db    what aver trust and aver compare read
  aver check rules/ runs/ --profile           what each rule costs
  aver check skill.yaml --phase pre --input path=a.md   before a run
  aver check results.json                     results of promptfoo, by their own assertions
  aver check                                  rules and traces of averment.toml

Exit codes, the highest that applies:
  0 all holds                    3 the rules do not compile
  1 an assertion failed          4 a trace cannot be read
  2 wrong usage, nothing checked 5 an assertion could not be evaluated")]
#[command(mut_arg("format", |format| format.help(format_help())))]
#[command(mut_arg("report_dir", |folder| folder.help(FOLDER)))]
pub struct CheckArgs {
    /// A rule file, a folder of rule files, or a compiled program [default: the rules of the project]
    #[arg(value_name = "RULES")]
    rules: Option<PathBuf>,
    /// Traces: files, folders, patterns in quotes, `-` for standard input [default: the traces of the project]
    #[arg(value_name = "TRACE")]
    traces: Vec<String>,
    /// More rules
    #[arg(help_heading = help_headings::SELECTION, short = 'r', long = "rules", value_name = "RULES")]
    more_rules: Vec<PathBuf>,
    /// Check only this rule or assertion
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "NAME")]
    rule: Vec<String>,
    /// Check only this case
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "NAME")]
    case: Vec<String>,
    /// Check only what has this tag, or any of several: smoke,auth
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "TAG", value_delimiter = ',', value_parser = project::parse_tag)]
    tag: Vec<String>,
    /// Check only conditions on the world before (pre) or after (post) a run; `pre` needs no trace
    #[arg(help_heading = help_headings::SELECTION, long, value_enum, value_name = "PHASE", hide_possible_values = true)]
    phase: Vec<before_run::CheckPhase>,
    /// An input of the run that will start, as JSON or text; with `--phase pre` and without a trace
    #[arg(help_heading = help_headings::VALUES, long, value_name = "NAME=VALUE")]
    input: Vec<String>,
    /// Set a parameter of the rules: limit=250, budget=$0.05, patience=30s
    #[arg(help_heading = help_headings::VALUES, long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Set parameters from a file with one JSON object
    #[arg(help_heading = help_headings::VALUES, long, value_name = "FILE")]
    param_file: Vec<PathBuf>,
    /// Read a custom format with the names in this TOML or JSON file
    #[arg(help_heading = help_headings::READING, long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// Compute missing costs from this TOML or JSON file with the prices of models
    #[arg(help_heading = help_headings::READING, long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Skip files and folders with this name or path: `package.json`, `drafts/`, `"*.bak.json"`
    #[arg(help_heading = help_headings::READING, long, value_name = "GLOB")]
    exclude: Vec<String>,
    #[command(flatten, next_help_heading = help_headings::READING)]
    compat: rules::CompatFlag,
    #[command(flatten, next_help_heading = help_headings::OUTPUT)]
    reports: ReportArguments,
    /// Show at most N failures in full [default: 10, and 3 of the same assertion]
    #[arg(help_heading = help_headings::OUTPUT, long, value_name = "N")]
    max_failures: Option<usize>,
    /// Show all violations of a failure, not only the first 3
    #[arg(help_heading = help_headings::OUTPUT, long)]
    all_violations: bool,
    /// Show only these sections, in full: fail, error, undecided, expected, known, vacuous, unjudged, pass, unreadable, warnings
    #[arg(help_heading = help_headings::OUTPUT, long, value_name = "WHAT", value_delimiter = ',', value_parser = parse_section)]
    show: Vec<Section>,
    /// Print failures only
    #[arg(help_heading = help_headings::OUTPUT, short, long, conflicts_with = "show")]
    quiet: bool,
    /// Do not fail on the failures in this file, which --update-baseline writes; for workflows of Runsight, also in an earlier json report
    #[arg(help_heading = help_headings::FAILING, long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the current failures to the baseline
    #[arg(help_heading = help_headings::FAILING, long)]
    update_baseline: bool,
    #[command(flatten, next_help_heading = help_headings::HISTORY)]
    record: RecordArguments,
    /// Add the recorded cost, tokens and duration of each run to json and jsonl
    #[arg(help_heading = help_headings::OUTPUT, long)]
    measures: bool,
    /// Hide the values at this path in all reports: `inputs.customer[**]`, `calls[*].args.card`
    #[arg(help_heading = help_headings::OUTPUT, long, value_name = "PATH", value_parser = RedactPath::parse)]
    redact: Vec<RedactPath>,
    /// Also fail on: vacuous, unjudged (a pass that could not judge every step), unexercised (vacuous in every run), near-names (a
    /// name that no run has, while some run has a similar one), undecided (also where a rule allows it)
    #[arg(help_heading = help_headings::FAILING, long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    deny: Vec<CheckDeny>,
    /// Do not fail on: undecided, empty (nothing to check), unread (assertions of TypeScript suites that cannot be read)
    #[arg(help_heading = help_headings::FAILING, long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    allow: Vec<CheckAllow>,
    /// Judge no more runs after the first that fails, and say how many were not judged
    #[arg(help_heading = help_headings::FAILING, long, conflicts_with_all = ["update_baseline", "min_pass_rate"])]
    fail_fast: bool,
    /// Judge only the traces in which a run failed in the last check with this flag; all, if none did
    #[arg(help_heading = help_headings::SELECTION, long, conflicts_with_all = ["update_baseline", "min_pass_rate", "record"])]
    last_failed: bool,
    /// Check again whenever a file that was used changes
    #[arg(help_heading = help_headings::OUTPUT, long, conflicts_with_all = ["update_baseline", "record"])]
    watch: bool,
    /// Treat trace warnings, such as a duplicate key, as errors
    #[arg(help_heading = help_headings::FAILING, long)]
    strict: bool,
    /// Let rules read files in this folder, as well as in the working directory
    #[arg(help_heading = help_headings::LIMITS, long, value_name = "DIR")]
    allow_read: Vec<PathBuf>,
    /// Let rules run commands
    #[arg(help_heading = help_headings::LIMITS, long)]
    allow_run: bool,
    /// Stop a command of a rule after this time, with everything it started [default: 60s]
    #[arg(help_heading = help_headings::LIMITS, long, value_name = "TIME")]
    run_timeout: Option<String>,
    /// How many threads check runs [default: all processors]
    #[arg(help_heading = help_headings::PERFORMANCE, long, value_name = "N", value_parser = units::parse_threads, allow_negative_numbers = true)]
    threads: Option<NonZeroUsize>,
    /// Give each run its row of this CSV or JSONL file, by `id`; rules read it as `meta.expected`
    #[arg(help_heading = help_headings::VALUES, long, value_name = "FILE")]
    expected: Option<PathBuf>,
    /// Pass if at least this share of the runs passes: 0.95, 95%
    #[arg(help_heading = help_headings::FAILING, long, value_name = "SHARE", value_parser = units::parse_share)]
    min_pass_rate: Option<f64>,
    /// Print the cost of each phase, rule, pattern and function; `=json` or `=FILE.json` for data
    #[arg(help_heading = help_headings::PERFORMANCE, long, value_name = "WHERE", num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    profile: Option<String>,
    /// Add the time for each run to the format `assay`
    #[arg(help_heading = help_headings::OUTPUT, long)]
    timings: bool,
    /// How many bytes a thread takes at a time [default: 256KiB]
    #[arg(help_heading = help_headings::PERFORMANCE, long, value_name = "SIZE", allow_negative_numbers = true)]
    chunk: Option<String>,
    /// Read no run larger than this [default: 256MiB]
    #[arg(help_heading = help_headings::LIMITS, long, value_name = "SIZE", allow_negative_numbers = true)]
    max_run_size: Option<String>,
    #[command(flatten)]
    project: ProjectArguments,
    /// What another command has made, in the place of traces.
    #[arg(skip)]
    supplied: Option<SuppliedRuns>,
}

/// Runs and further rules supplied by another command.
#[derive(Debug, Clone)]
pub struct SuppliedRuns {
    /// Rules for the supplied runs.
    pub rules: inputs::TraceInput,
    /// The recorded runs.
    pub runs: inputs::TraceInput,
    /// Texts that reports must hide.
    pub withheld: Vec<String>,
    /// True if tags already selected the runs, so that all rules judge them.
    pub is_chosen: bool,
}

#[cfg(any(feature = "probe", feature = "run"))]
impl CheckArgs {
    /// Parses command-line words into check arguments, with runs supplied by another command.
    pub fn with_supplied(words: Vec<String>, made: SuppliedRuns) -> Result<Self, clap::Error> {
        use clap::{Args as _, FromArgMatches as _};
        let command = Self::augment_args(clap::Command::new("aver check").no_binary_name(true));
        let arguments = Self::from_arg_matches(&command.try_get_matches_from(words)?)?;
        Ok(Self { supplied: Some(made), ..arguments })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckDeny {
    /// An assertion that nothing exercised
    Vacuous,
    /// An assertion that passes and could not judge every step
    Unjudged,
    /// An assertion that none of the runs exercised
    Unexercised,
    /// A name that no run has while some run has nearly it
    NearNames,
    /// An assertion that the run does not record enough for, also where it has `allow undecided`
    Undecided,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckAllow {
    /// An assertion that the run does not record enough for
    Undecided,
    /// Nothing to check
    Empty,
    /// A program of which an assertion cannot be followed
    Unread,
}

/// Checks and reports.
pub fn run_check(arguments: &CheckArgs, color: ColorChoice, deadline: Option<&Deadline>) -> Result<Exit, CommandError> {
    if !arguments.watch {
        return check_once(arguments, color, deadline, &mut UsedPaths::default());
    }
    let once = |used: &mut UsedPaths| check_once(arguments, color, deadline, used);
    watch_command(&WatchedCommand { name: "aver check", named: arguments.named_paths(), once: &once }, color)
}

impl CheckArgs {
    /// Returns the paths that the command line names.
    fn named_paths(&self) -> UsedPaths {
        let mut named = UsedPaths::default();
        let files = self.map.iter().chain(&self.prices).chain(&self.expected).chain(&self.baseline);
        for path in self.rules.iter().chain(&self.more_rules).chain(&self.param_file).chain(files) {
            named.add_path(path);
        }
        // Standard input is added so that it can be refused. Loading adds the other traces.
        if self.traces.iter().any(|trace| trace == "-") {
            named.add_path(Path::new("-"));
        }
        named
    }
}

/// Checks once, and adds the files that were read to `used`.
fn check_once(
    arguments: &CheckArgs,
    color: ColorChoice,
    deadline: Option<&Deadline>,
    used: &mut UsedPaths,
) -> Result<Exit, CommandError> {
    let given = CheckInputs::new(arguments, color)?;
    given.add_used_paths(used);
    let request = CheckRequest::new(&given, color, deadline)?;
    let rules = request.load_rules()?;
    rules.file_names().for_each(|file| used.add_path(Path::new(file)));
    let targets = request.settle_targets(&rules)?;
    if rules.is_broken() {
        return report_broken(&rules, &targets, color);
    }
    print_diagnostics(&rules, &targets, color)?;
    let plan = CheckPlan::settle(request, rules, targets)?;
    let mut outputs = plan.open_outputs()?;
    plan.judge_traces(&mut outputs)
}
