//! `aver check RULES TRACE...`: judges recorded runs.

mod before_run;
mod broken_rules;
mod check_inputs;
mod options;
mod recorded_run;
#[cfg(any(feature = "probe", feature = "run"))]
mod single;

use self::broken_rules::{print_diagnostics, report_broken};
use self::check_inputs::{CheckInputs, load_rules, refuse_overlaps, select_traces};
use self::options::{
    add_requested, draw_options, open_baseline, parse_section, profile_target, redacted_paths, refuse_times,
    rule_permissions,
};
#[cfg(any(feature = "probe", feature = "run"))]
pub use self::single::check_rules;
use super::console::ColorChoice;
use super::deadline::Deadline;
use super::exclude::ExcludePatterns;
use super::exit::{CommandError, Exit};
use super::outputs::ReportOutputs;
use super::pipeline;
use super::profile::ProfileTarget;
use super::project::{self, ProjectArguments};
use super::record::RecordArguments;
use super::skipped_files::SkippedFiles;
use super::targets::{self, ReportArguments};
use super::{help_headings, inputs, params, rules, sizes, units};
use averment::load::ForeignOptions;
use averment::stages::{JudgeSettings, ReportNeeds, select};
use averment_base::memory;
use averment_base::rates::{percent_beside, percent_text};
use averment_bulk::faults::FaultPoint;
use averment_bulk::pipeline::Pipeline;
use averment_engine::vm::select::RuleSelection;
use averment_engine::vm::world;
use averment_report::ReportedCommand;
use averment_report::gate::Gate;
use averment_report::show::Section;
use averment_report::table::ReportTable;
use averment_report::totals::RunTotals;
use averment_traces::redact_path::RedactPath;
use clap::ValueEnum;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Help on `--report-dir`, with the names of some files.
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
    /// Show only these sections, in full: fail, error, undecided, expected, vacuous, unjudged, pass, warnings
    #[arg(help_heading = help_headings::OUTPUT, long, value_name = "WHAT", value_delimiter = ',', value_parser = parse_section)]
    show: Vec<Section>,
    /// Print failures only
    #[arg(help_heading = help_headings::OUTPUT, short, long, conflicts_with = "show")]
    quiet: bool,
    /// Do not fail on the failures in this file, which --update-baseline writes, or in an earlier json report
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
    /// name that no run has, while some run has a similar one)
    #[arg(help_heading = help_headings::FAILING, long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    deny: Vec<CheckDeny>,
    /// Do not fail on: undecided, empty (nothing to check), unread (assertions of TypeScript suites that cannot be read)
    #[arg(help_heading = help_headings::FAILING, long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    allow: Vec<CheckAllow>,
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
    /// Rules on what was made.
    pub rules: inputs::TraceInput,
    /// The recorded runs.
    pub runs: inputs::TraceInput,
    /// Texts that no report shows.
    pub withheld: Vec<String>,
    /// Tags have chosen what was made, and all rules judge it.
    pub is_chosen: bool,
}

#[cfg(any(feature = "probe", feature = "run"))]
impl CheckArgs {
    /// The arguments that words of a command line stand for, with what another command has made.
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
    let limits = sizes::run_limits(arguments.max_run_size.as_deref())?;
    let limits = averment::Limits { cancel: deadline.map(Deadline::cancel), ..limits };
    let given = CheckInputs::new(arguments, color)?;
    let before = before_run::upcoming_run(arguments, &given)?;
    let project = given.project.as_ref();
    let format = project.and_then(|project| project.format.as_deref());
    let folder = arguments.project.report_folder(arguments.reports.report_dir.as_deref(), project, color);
    let targets = arguments.reports.targets(ReportedCommand::Check, format, folder)?;
    refuse_times(arguments, &targets)?;
    let profile = profile_target(arguments)?;
    let named = inputs::traces_by_name(&given.traces, &ExcludePatterns::new(&arguments.exclude)?)?;
    let profiled = profile.as_ref().and_then(ProfileTarget::file_path);
    let kept = profiled.into_iter().chain(arguments.record.output_file());
    let written: Vec<&Path> = targets::target_files(&targets).chain(kept.clone()).collect();
    refuse_overlaps(&given, &written, &named)?;
    let started = Instant::now();
    let values = params::ParamValues::new(&arguments.param_file, &arguments.param)?;
    let foreign = ForeignOptions {
        in_folder: folder.folder.is_some(),
        undecided: given.is_allowed(CheckAllow::Unread),
        ..arguments.compat.foreign_options(&values.texts)
    };
    let mut rules = load_rules(&given, limits, foreign)?;
    let targets = add_requested(targets, arguments, format, folder, &rules)?;
    let written: Vec<&Path> = targets::target_files(&targets).chain(kept).collect();
    refuse_overlaps(&given, &written, &named)?;
    let costs = profile.as_ref().map(|_| averment_bulk::judge::observer::begin_costs(&rules.programs, started));
    targets::refuse_overwrite(written.iter().copied(), rules.file_names().map(Path::new))?;
    if rules.is_broken() {
        return report_broken(&rules, &targets, color);
    }
    print_diagnostics(&rules, &targets, color)?;
    if let Some(project) = project {
        params::apply_project(&mut rules.programs, project, given.uses_project_rules)?;
    }
    values.apply_to(&mut rules.programs)?;
    let mut selection = RuleSelection {
        rules: arguments.rule.clone(),
        cases: arguments.case.clone(),
        tags: match &arguments.supplied {
            Some(made) if made.is_chosen => Vec::new(),
            _ => project::selected_tags(&arguments.tag, project),
        },
        phases: before_run::selected_phases(arguments),
    };
    select::check_names(&rules.programs, &selection)?;
    let made = match before {
        _ if arguments.supplied.is_some() => arguments.supplied.as_ref().map(|made| made.runs.clone()),
        None if given.traces.is_empty() => recorded_run::recorded_run(&rules.programs, &mut selection),
        before => before,
    };
    let selects_any = select::selects_any(&rules.programs, &selection);
    let traces = select_traces(arguments, &given, named, made, selects_any)?;
    let drawing = draw_options(arguments);
    let policy = given.gate_policy();
    let baseline = open_baseline(arguments, project)?;
    let recording = arguments.record.open_recording(&rules.programs)?;
    let outputs = ReportOutputs::open_targets(&targets, color, policy, drawing, &rules.diagnostics_data())?;
    let passing = SkippedFiles::new(&given.traces, arguments.strict);
    let mut outputs = outputs.with_baseline(baseline).with_skipped_files(passing);
    outputs = outputs.with_recording(recording, arguments.measures);
    let names = inputs::read_names(arguments.map.as_deref())?;
    let prices = arguments.prices.as_deref().or_else(|| project?.prices.as_deref());
    let prices = inputs::read_prices(prices)?;
    let permissions = rule_permissions(arguments, project)?;
    let redact = redacted_paths(&arguments.redact, project)?;
    let expected = inputs::read_expected(arguments.expected.as_deref())?;
    let withheld = arguments.supplied.iter().flat_map(|made| made.withheld.iter().cloned()).collect();
    let strict = arguments.strict;
    let as_skillgym = arguments.compat.is_skillgym();
    let settings = JudgeSettings {
        selection,
        permissions,
        limits,
        policy,
        strict,
        names,
        prices,
        expected,
        redact,
        withheld,
        as_skillgym,
        ..JudgeSettings::default()
    };
    let rules = averment::Rules::of_programs(rules.programs, rules.diagnostics, settings);
    let batch = rules
        .batch()
        .threads(arguments.threads.map_or(0, NonZeroUsize::get))
        .chunk(sizes::chunk_size(arguments.chunk.as_deref())?);
    let pipeline =
        batch.build_pipeline(ReportNeeds { profile: costs, timed: arguments.timings, ..outputs.batch_wants() });
    let judged = judge_traces(&pipeline, traces, &mut outputs, &given, deadline);
    // A thread that is left may hold the costs.
    if let Some(target) = profile.filter(|_| !memory::is_exhausted()) {
        target.write_profile(&pipeline, started, color)?;
    }
    let exit = judged?;
    if exit == Exit::Error {
        arguments.project.tell_request(project, color);
    }
    Ok(exit)
}

/// Runs the pipeline and ends every report.
fn judge_traces(
    pipeline: &Arc<Pipeline>,
    traces: Vec<inputs::TraceInput>,
    outputs: &mut ReportOutputs,
    given: &CheckInputs<'_>,
    deadline: Option<&Deadline>,
) -> Result<Exit, CommandError> {
    outputs.begin_reports(&pipeline.table)?;
    let inputs = traces.clone();
    let end = pipeline::run_pipeline(pipeline, traces, outputs, deadline)?;
    if end.interrupted {
        world::end_all();
        super::console::eprint_redacted("note: interrupted; what is reported is what was done until then\n");
    }
    if let Some(deadline) = deadline.filter(|_| end.late) {
        world::end_all();
        super::console::eprint_redacted(&format!(
            "{}: what is reported is what was done until then\n",
            deadline.in_words()
        ));
    }
    super::console::eprint_redacted(&end.in_words());
    super::console::eprint_redacted(&outputs.skipped_files().skipped_note());
    outputs.not_judged(end.not_judged());
    let totals = outputs.totals();
    // Of traces without a run nothing was read under any name: why is said of each.
    if totals.runs > 0 && !end.is_cut() && !end.exhausted {
        super::console::eprint_redacted(&pipeline.unused.warning_lines());
        outputs.skipped_files().note_records(&pipeline.understood);
        super::console::eprint_redacted(&pipeline.understood.warning_lines());
        super::console::eprint_redacted(
            &pipeline.reading.expected.as_ref().map(|rows| rows.unmatched_warnings()).unwrap_or_default(),
        );
        let judged = |item| outputs.has_judged(item);
        let warnings = pipeline.near_names.warning_lines(&pipeline.table, &inputs, judged, &pipeline.programs);
        super::console::eprint_redacted(&warnings);
    }
    let (runs, unreadable) = (totals.runs, totals.unreadable > 0);
    outputs.save_baseline(&pipeline.table, end.is_complete() && !end.is_cut() && !unreadable)?;
    let recorded = outputs.save_recording(&pipeline.table);
    let totals = outputs.totals();
    // What a `when` skips in every run was asked, as what is vacuous was: that is said in the first line.
    let asked = totals.counts.skipped > 0 && pipeline.table.asks_every_run();
    let nothing = totals.counts.all_results() == totals.counts.skipped && !asked && !unreadable && end.is_complete();
    let exits = [
        (end.interrupted, Exit::Interrupted),
        (end.late || !end.is_complete() || totals.gate == Some(Gate::Error), Exit::Error),
        (unreadable, Exit::Trace),
        (!recorded || nothing && !given.is_allowed(CheckAllow::Empty), Exit::Usage),
        (check_fails(totals, given.arguments.min_pass_rate), Exit::Failed),
    ];
    let exit = exits.into_iter().find(|(applies, _)| *applies).map_or(Exit::Holds, |(_, exit)| exit);
    pipeline.faults.reach_point(FaultPoint::Ending);
    outputs.end_reports(&pipeline.table, exit)?;
    match exit {
        Exit::Usage if recorded => {
            Err(CommandError::usage(nothing_checked(&pipeline.table, runs), "`--allow empty` lets it pass"))
        }
        exit => Ok(exit),
    }
}

/// True if the check fails: failed runs beyond the allowed share, or a statement over all runs.
fn check_fails(totals: &RunTotals, least: Option<f64>) -> bool {
    let Some(least) = least.filter(|_| totals.runs > 0) else { return totals.gate == Some(Gate::Failed) };
    let asked = percent_text(least);
    let exercised = totals.runs.saturating_sub(totals.runs_idle);
    if exercised == 0 {
        super::console::eprint_redacted(&format!(
            "error: no run exercises anything, and --min-pass-rate asks for {asked}\n"
        ));
        return true;
    }
    let passed = exercised.saturating_sub(totals.runs_failed);
    let rate = passed as f64 / exercised as f64;
    let idle = match totals.runs_idle {
        0 => String::new(),
        1 => "; nothing exercised 1 more".to_owned(),
        more => format!("; nothing exercised {more} more"),
    };
    let (word, than) = if rate < least { ("error", "fewer than") } else { ("note", "no fewer than") };
    super::console::eprint_redacted(&format!(
        "{word}: {passed} of {exercised} runs pass ({}), {than} the {asked} of --min-pass-rate{idle}\n",
        percent_beside(rate, least),
    ));
    rate < least || totals.over_runs == Some(Gate::Failed)
}

fn nothing_checked(table: &ReportTable, runs: u64) -> &'static str {
    match (table.items.is_empty(), runs) {
        (true, _) => "nothing was checked: no assertion is selected",
        (false, 0) => "nothing was checked: the traces hold no run",
        (false, _) => "nothing was checked: no assertion applies to these runs",
    }
}
