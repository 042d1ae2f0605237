//! `aver test RULES...`: runs the tests of rules.

mod coverage;
mod discriminate;
mod mutants;
mod snapshots;
mod test_inputs;

use super::console::{ColorChoice, OutputStream, RedactingWriter, eprint_redacted};
use super::exit::{CommandError, Exit};
use super::project::ProjectArguments;
use super::runless_report::{self, RunlessReport};
use super::signals;
use super::targets::{self, OutputTarget, ReportArguments};
use super::watch::{UsedPaths, WatchedCommand, watch_command};
use crate::commands::help_headings;

use averment_base::diagnostic::render::{TextColor, TextStyle, one_line, paint_text};
use averment_base::limits::Limits;
use averment_engine::vm::select::RuleSelection;
use averment_report::json_escape;
use averment_report::redact::{redact, redact_json};
use averment_report::{Format, ReportedCommand};
use averment_testing::outcome::{self, TrialReport};
use averment_testing::show;
use averment_testing::subject::{TestSelection, TestSubject};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use test_inputs::TestInputs;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver test refunds.assert                 its `test` blocks and the cases in refunds.cases/
  aver test rules/ --filter approval
  aver test rules/ --format short          a line per test that does not come out as stated
  aver test rules/ --coverage              and what the tests leave untried
  aver test rules/ --coverage-out cov.info --coverage-min 90%
  aver test rules/ --mutants               and which small changes of the rules they do not notice
  aver test rules/ --update                keep what the tests find in files for review
  aver test rules/ --watch                 again whenever something changes
  aver test rules/ --discriminate good/ bad/   which rules tell two folders of runs apart

Case files: traces in a folder next to the rules. Their names say what must come out:
  refunds.cases/large.fail.json            something fails
  refunds.cases/large.fail.approval.json   the rule `approval` fails
  refunds.cases/approval/fail/large.json   the same, by folders
  refunds.cases.jsonl                      a table, one case a line

Exit codes, the highest that applies:
  0 all tests come out as stated       2 wrong usage, no test
  1 a test does not come out as        3 the rules do not compile
    stated, a snapshot differs, or     4 a run cannot be read
    coverage or mutants fall short     130 Ctrl-C")]
#[command(mut_arg("format", |format| format.help(targets::format_help("How to print results", ReportedCommand::Test))))]
pub struct TestArgs {
    /// Rule files, or folders of them; `-` reads standard input [default: the rules of the project]
    #[arg(value_name = "RULES")]
    rules: Vec<PathBuf>,
    /// A folder with more case files; with several rule files, those of NAME.assert are in DIR/NAME
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "DIR")]
    cases: Vec<PathBuf>,
    /// Run only tests whose name contains this
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "TEXT")]
    filter: Option<String>,
    /// Run only tests that name this rule
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "NAME")]
    rule: Vec<String>,
    /// Run only tests of this tag, or of rules with it, or any of several: smoke,auth
    #[arg(help_heading = help_headings::SELECTION, long, value_name = "TAG", value_delimiter = ',', value_parser = crate::commands::project::parse_tag)]
    tag: Vec<String>,
    #[command(flatten, next_help_heading = help_headings::OUTPUT)]
    reports: ReportArguments,
    /// Print only tests that do not come out as stated
    #[arg(help_heading = help_headings::OUTPUT, short, long)]
    quiet: bool,
    /// Set a parameter of the rules
    #[arg(help_heading = help_headings::VALUES, long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Set parameters from a file with one JSON object
    #[arg(help_heading = help_headings::VALUES, long, value_name = "FILE")]
    param_file: Vec<PathBuf>,
    /// Do not fail on: empty (no test)
    #[arg(help_heading = help_headings::FAILING, long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    allow: Vec<TestAllow>,
    /// Also fail on: survivors (mutants that no test notices)
    #[arg(help_heading = help_headings::FAILING, long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    deny: Vec<TestDeny>,
    /// Run again whenever a rule, run, schema or catalogue changes
    #[arg(long, conflicts_with = "update")]
    watch: bool,
    /// Show which rules tell two folders of runs apart, instead of running tests
    #[arg(long, num_args = 2, value_names = ["GOOD", "BAD"], conflicts_with_all = NOT_WITH_FOLDERS)]
    discriminate: Vec<String>,
    #[command(flatten)]
    coverage: coverage::CoverageFlags,
    #[command(flatten)]
    mutants: mutants::MutantFlags,
    #[command(flatten)]
    snapshots: snapshots::SnapshotFlags,
    #[command(flatten, next_help_heading = help_headings::LIMITS)]
    read: crate::commands::rules::ReadFlag,
    #[command(flatten, next_help_heading = help_headings::READING)]
    compat: crate::commands::rules::CompatFlag,
    #[command(flatten)]
    project: ProjectArguments,
}

/// Options about tests, which conflict with `--discriminate`.
const NOT_WITH_FOLDERS: [&str; 9] =
    ["filter", "cases", "quiet", "coverage", "coverage_out", "coverage_min", "mutants", "snapshots", "update"];

/// `--allow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TestAllow {
    /// No test
    Empty,
}

/// `--deny`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TestDeny {
    /// A mutant that no test notices
    Survivors,
}

/// Runs the tests, once or with `--watch`.
pub fn run_tests(arguments: &TestArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    if arguments.watch {
        let named = arguments.named_paths();
        let once = |used: &mut UsedPaths| check_once(arguments, color, used);
        return watch_command(&WatchedCommand { name: "aver test", named, once: &once }, color);
    }
    check_once(arguments, color, &mut UsedPaths::default())
}

impl TestArgs {
    /// Returns the paths that the command line names.
    fn named_paths(&self) -> UsedPaths {
        let mut named = UsedPaths::default();
        for path in self.rules.iter().chain(&self.cases).chain(&self.param_file) {
            named.add_path(path);
        }
        for text in self.coverage.trace_names().iter().chain(&self.discriminate) {
            named.add_path(Path::new(text));
        }
        named
    }

    /// Returns an error if an output is also an input or another output.
    fn refuse_overlaps(&self, targets: &[OutputTarget], subjects: &[TestSubject]) -> Result<(), CommandError> {
        let rules = || subjects.iter().filter_map(|subject| subject.path.as_deref());
        let snapshots: Vec<PathBuf> = rules().map(averment_testing::snapshot::path_of).collect();
        let on: Vec<&Path> = self.coverage.trace_names().iter().map(Path::new).collect();
        let outputs: Vec<&Path> = targets::target_files(targets).chain(self.coverage.output_file()).collect();
        targets::refuse_overwrite(outputs.iter().copied(), rules().chain(on))?;
        targets::refuse_overwrite(outputs.iter().copied(), snapshots.iter().map(PathBuf::as_path))?;
        targets::refuse_same_file(outputs.into_iter().chain(snapshots.iter().map(PathBuf::as_path)), "outputs")
    }
}

/// Runs the tests once, and adds the files that were read to `used`.
fn check_once(arguments: &TestArgs, color: ColorChoice, used: &mut UsedPaths) -> Result<Exit, CommandError> {
    let given = TestInputs::new(arguments, color)?;
    let folder =
        arguments.project.report_folder(arguments.reports.report_dir.as_deref(), given.project.as_ref(), color);
    let targets = arguments.reports.targets(ReportedCommand::Test, None, folder)?;
    let format = targets.first().map_or(Format::Human, |target| target.format);
    let limits = Limits::default();
    // Mutants take long, so Ctrl-C at any time prints the results so far.
    let stop = match arguments.mutants.mutants {
        true => signals::interruption_flag()?,
        false => Arc::default(),
    };
    let mut subjects = given.load_subjects(color, &limits, used)?;
    arguments.refuse_overlaps(&targets, &subjects)?;
    if !arguments.discriminate.is_empty() {
        let selection =
            RuleSelection { rules: arguments.rule.clone(), tags: arguments.tag.clone(), ..RuleSelection::default() };
        return discriminate::run_discriminate(&subjects, &selection, &arguments.discriminate, format, color);
    }
    let chosen =
        TestSelection { text: arguments.filter.clone(), rules: arguments.rule.clone(), tags: arguments.tag.clone() };
    let all: usize = subjects.iter().map(|subject| subject.trials.len()).sum();
    subjects.iter_mut().for_each(|subject| subject.choose_trials(&chosen));
    let coverage = arguments.coverage.requested_coverage(given.least_coverage(&chosen))?;
    let none = subjects.iter().all(|subject| subject.trials.is_empty());
    let on_traces = coverage.as_ref().is_some_and(coverage::CoverageRequest::has_traces);
    if none && !on_traces && !arguments.allow.contains(&TestAllow::Empty) {
        return Err(no_tests_error(&chosen, all));
    }
    let mut coverage = coverage.map(|asked| asked.start_run(&subjects));
    let (mut tested, mut ends, mut orphans): (Vec<TrialReport>, Vec<usize>, Vec<String>) = Default::default();
    for (number, subject) in subjects.iter().enumerate() {
        let coverage = coverage.as_mut().and_then(|work| work.all.get_mut(number));
        let mut of_subject = outcome::run_tests(subject, &limits, coverage);
        orphans.extend(arguments.snapshots.apply_snapshots(subject, &mut of_subject, chosen.is_all())?);
        tested.extend(of_subject);
        ends.push(tested.len());
    }
    if let Some(work) = &mut coverage {
        work.read_traces(&subjects, &limits);
    }
    let trying = arguments.mutants.mutants && tested.iter().all(|test| test.passed);
    let mutants =
        trying.then(|| arguments.mutants.try_all(&subjects, &limits, &arguments.read.allow_read, &stop)).transpose()?;
    let done = TestRound { subjects, tested, ends, orphans, coverage, mutants };
    done.print_results(arguments, format, color)?;
    done.write_reports(&targets, done.tests_exit(arguments))?;
    Ok(done.round_exit(arguments, color))
}

struct TestRound {
    subjects: Vec<TestSubject>,
    tested: Vec<TrialReport>,
    /// End indexes of each subject's tests.
    ends: Vec<usize>,
    /// Snapshots without a test.
    orphans: Vec<String>,
    coverage: Option<coverage::CoverageRun>,
    mutants: Option<mutants::MutantRun>,
}

impl TestRound {
    fn write_reports(&self, targets: &[OutputTarget], exit: Exit) -> Result<(), CommandError> {
        let files = targets.iter().filter(|target| target.file.is_some());
        let (own, shared) = files.cloned().partition::<Vec<_>, _>(|target| is_own(target.format));
        for target in own {
            let mut text = Vec::new();
            match target.format {
                Format::Short => show::print_short(&mut text, &self.tested)?,
                Format::Json => writeln!(text, "{}", json_escape::escape_json(&self.results_data().to_string()))?,
                _ => show::print_human(&mut text, &self.tested, TextStyle::PLAIN, false)?,
            }
            target.write_text(&redact(&String::from_utf8_lossy(&text)))?;
        }
        self.convert_results(&shared, exit)
    }

    fn convert_results(&self, targets: &[OutputTarget], exit: Exit) -> Result<(), CommandError> {
        if targets.is_empty() {
            return Ok(());
        }
        RunlessReport::from_tests(&self.tested_suites()).write_report(
            targets,
            runless_report::command_drawing(ReportedCommand::Test),
            exit,
        )
    }

    fn print_results(&self, arguments: &TestArgs, format: Format, color: ColorChoice) -> Result<(), CommandError> {
        let mut out = RedactingWriter::new(io::BufWriter::new(io::stdout()));
        let (tested, subjects) = (&self.tested, &self.subjects);
        let beside = format == Format::Json || !is_own(format);
        let aside = !beside && self.coverage.as_ref().is_some_and(coverage::CoverageRun::takes_output);
        let mut said = RedactingWriter::new(io::BufWriter::new(io::stderr()));
        let (told, stream): (&mut dyn Write, OutputStream) =
            if aside { (&mut said, OutputStream::Err) } else { (&mut out, OutputStream::Out) };
        match format {
            Format::Human if tested.is_empty() => {}
            Format::Human => show::print_human(told, tested, stream.style(color), arguments.quiet)?,
            Format::Short => show::print_short(told, tested)?,
            Format::Json => writeln!(told, "{}", json_escape::escape_json(&self.results_data().to_string()))?,
            _ => self.convert_results(&[OutputTarget::for_stdout(format)], self.tests_exit(arguments))?,
        }
        if let Some(work) = self.mutants.as_ref().filter(|_| !beside && aside) {
            work.print_mutants(told, subjects, format == Format::Short, color)?;
        }
        told.flush()?;
        if let Some(work) = &self.coverage {
            work.print_coverage(&mut out, subjects, beside, color)?;
        }
        if let Some(work) = self.mutants.as_ref().filter(|_| !beside && !aside) {
            work.print_mutants(&mut out, subjects, format == Format::Short, color)?;
        }
        out.flush()?;
        for orphan in &self.orphans {
            eprint_redacted(&format!(
                "{}: {}\n",
                paint_text(OutputStream::Err.style(color), TextColor::Red, "orphan"),
                one_line(orphan)
            ));
        }
        if !self.orphans.is_empty() {
            eprint_redacted("  help: `aver test --update` removes snapshots without a test\n");
        }
        if arguments.mutants.mutants && self.mutants.is_none() {
            eprint_redacted("note: no mutant was tried: that needs tests that come out as stated\n");
        }
        Ok(())
    }

    fn results_data(&self) -> Value {
        let mut data = show::tests_data(&self.tested);
        if let Some(data) = data.as_object_mut() {
            let coverage = self.coverage.as_ref().and_then(|work| work.inline_data(&self.subjects));
            data.extend(coverage.map(|coverage| ("coverage".to_owned(), coverage)));
            let mutants = self.mutants.as_ref().map(|work| work.mutant_data(&self.subjects));
            data.extend(mutants.map(|mutants| ("mutants".to_owned(), mutants)));
            if !self.orphans.is_empty() {
                data.insert("orphans".to_owned(), json!(self.orphans));
            }
        }
        redact_json(&mut data);
        data
    }

    fn tested_suites(&self) -> Vec<(String, &[TrialReport])> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(self.ends.iter().copied());
        let named = self.subjects.iter().zip(ranges);
        named
            .filter_map(|(subject, (start, end))| Some((subject.name().to_owned(), self.tested.get(start..end)?)))
            .collect()
    }

    fn round_exit(&self, arguments: &TestArgs, color: ColorChoice) -> Exit {
        let of_tests = self.tests_exit(arguments);
        match of_tests {
            Exit::Interrupted => of_tests,
            _ => of_tests.max(self.coverage.as_ref().map_or(Exit::Holds, |work| work.coverage_exit(color))),
        }
    }

    /// Returns the exit code, without that of the coverage.
    fn tests_exit(&self, arguments: &TestArgs) -> Exit {
        if self.mutants.as_ref().is_some_and(mutants::MutantRun::was_interrupted) {
            return Exit::Interrupted;
        }
        let survived = self.mutants.as_ref().is_some_and(mutants::MutantRun::any_survived);
        let findings = [
            self.tested.iter().any(|test| !test.passed),
            !self.orphans.is_empty(),
            survived && arguments.deny.contains(&TestDeny::Survivors),
        ];
        let unreadable = self.tested.iter().any(|test| test.unreadable);
        match (unreadable, findings.contains(&true)) {
            (true, _) => Exit::Trace,
            (false, true) => Exit::Failed,
            (false, false) => Exit::Holds,
        }
    }
}

/// True for formats that have their own layout for tests.
fn is_own(format: Format) -> bool {
    matches!(format, Format::Human | Format::Short | Format::Json)
}

/// Returns the error for a round without any test.
fn no_tests_error(chosen: &TestSelection, all: usize) -> CommandError {
    if all == 0 {
        return CommandError::usage(
            "the rules hold no test",
            "write one: `test \"name\" expect fail RULE { calls: [{ tool: \"refund\" }] }`",
        );
    }
    let message = match chosen {
        TestSelection { text: Some(_), rules, tags } if rules.is_empty() && tags.is_empty() => {
            "no test has this text in its name"
        }
        TestSelection { text: None, rules, .. } if rules.is_empty() => "no test has this tag",
        TestSelection { text: None, tags, .. } if tags.is_empty() => "no test names this rule",
        _ => "no test is selected",
    };
    CommandError::usage(message, format!("there are {all} tests; leave the selection out to run them"))
}
