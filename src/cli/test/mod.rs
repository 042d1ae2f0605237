//! `aver test RULES...`: runs the tests of rules.

mod coverage;
mod discriminate;
mod mutants;

use super::console::{ColorChoice, Stream, say};
use super::exit::{Exit, Stop};
use super::{inputs, params, rules, select};
use crate::limits::Limits;
use crate::testing::outcome::{self, Tested};
use crate::testing::show;
use crate::testing::subject::{Chosen, Subject};
use crate::vm::select::Selection;
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::PathBuf;

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
  aver test rules/ --discriminate good/ bad/   which rules tell two folders of runs apart

Case files: traces in a folder beside the rules, which their names speak for:
  refunds.cases/large.fail.json            something fails
  refunds.cases/large.fail.approval.json   the rule `approval` fails
  refunds.cases/approval/fail/large.json   the same, by folders
  refunds.cases.jsonl                      a table: {\"name\", \"expect\", \"rules\", \"tags\", \"run\"} in each line

Exit codes, the highest that applies:
  0 all tests come out as stated   3 the rules do not compile
  1 one does not, or the coverage  4 a run cannot be read
    is below --coverage-min        2 wrong usage, no test")]
pub struct Arguments {
    /// Rule files, or folders of them; `-` reads standard input
    #[arg(required = true, value_name = "RULES")]
    rules: Vec<PathBuf>,
    /// A folder with more case files, for one rule file
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,
    /// Run only tests whose name contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Run only tests that name this rule
    #[arg(long, value_name = "NAME")]
    rule: Vec<String>,
    /// Run only tests with this tag, or of a rule with it
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// How results are printed: human, short, json, junit
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    format: Format,
    /// Print only tests that do not come out as stated
    #[arg(short, long)]
    quiet: bool,
    /// A value for a parameter of the rules
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Values for parameters: a file with one JSON object
    #[arg(long, value_name = "FILE")]
    param_file: Vec<PathBuf>,
    /// What does not fail: empty (no test)
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    allow: Vec<Allow>,
    /// What fails beside tests: survivors (a mutant that no test notices)
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    deny: Vec<Deny>,
    /// Show which rules tell two folders of runs apart, in place of tests
    #[arg(long, num_args = 2, value_names = ["GOOD", "BAD"])]
    discriminate: Vec<String>,
    #[command(flatten)]
    coverage: coverage::Flags,
    #[command(flatten)]
    mutants: mutants::Flags,
}

/// `--allow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Allow {
    /// No test
    Empty,
}

/// `--deny`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Deny {
    /// A mutant that no test notices
    Survivors,
}

/// Formats of the command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A line per test, and what went wrong
    #[default]
    Human,
    /// A line per test that does not come out as stated
    Short,
    /// One JSON object
    Json,
    /// XML for CI services
    Junit,
}

/// Runs the tests.
pub fn run(arguments: &Arguments, color: ColorChoice) -> Result<Exit, Stop> {
    let limits = Limits::default();
    let coverage = arguments.coverage.asked()?;
    let mut subjects = subjects(arguments, color, &limits)?;
    if !arguments.discriminate.is_empty() {
        let selection =
            Selection { rules: arguments.rule.clone(), tags: arguments.tag.clone(), ..Selection::default() };
        return discriminate::run(&subjects, &selection, &arguments.discriminate, arguments.format, color);
    }
    let chosen = Chosen { text: arguments.filter.clone(), rules: arguments.rule.clone(), tags: arguments.tag.clone() };
    let all: usize = subjects.iter().map(|subject| subject.trials.len()).sum();
    subjects.iter_mut().for_each(|subject| subject.choose(&chosen));
    let none = subjects.iter().all(|subject| subject.trials.is_empty());
    let on_traces = coverage.as_ref().is_some_and(coverage::Asked::has_traces);
    if none && !on_traces && !arguments.allow.contains(&Allow::Empty) {
        return Err(nothing(&chosen, all));
    }
    let mut coverage = coverage.map(|asked| asked.start(&subjects));
    let mut tested: Vec<Tested> = Vec::new();
    let mut ends = Vec::new();
    for (number, subject) in subjects.iter().enumerate() {
        let coverage = coverage.as_mut().and_then(|work| work.all.get_mut(number));
        tested.extend(outcome::run(subject, &limits, coverage));
        ends.push(tested.len());
    }
    if let Some(work) = &mut coverage {
        work.read_traces(&subjects, &limits);
    }
    let trying = arguments.mutants.mutants && tested.iter().all(|test| test.passed);
    let mutants = trying.then(|| arguments.mutants.try_all(&subjects, &limits)).transpose()?;
    let mut out = io::BufWriter::new(io::stdout());
    match arguments.format {
        Format::Human if tested.is_empty() => {}
        Format::Human => show::human(&mut out, &tested, Stream::Out.style(color), arguments.quiet)?,
        Format::Short => show::short(&mut out, &tested)?,
        Format::Json => {
            let mut data = show::data(&tested);
            if let (Some(data), Some(coverage)) =
                (data.as_object_mut(), coverage.as_ref().and_then(|work| work.inside(&subjects)))
            {
                data.insert("coverage".to_owned(), coverage);
            }
            if let (Some(data), Some(mutants)) = (data.as_object_mut(), &mutants) {
                data.insert("mutants".to_owned(), mutants.data());
            }
            writeln!(out, "{data}")?;
        }
        Format::Junit => show::junit(&mut out, &suites(&subjects, &tested, &ends))?,
    }
    let beside = matches!(arguments.format, Format::Json | Format::Junit);
    if let Some(work) = &coverage {
        work.print(&mut out, &subjects, beside, color)?;
    }
    if let Some(work) = mutants.as_ref().filter(|_| !beside) {
        work.print(&mut out, arguments.format == Format::Short, color)?;
    }
    out.flush()?;
    if arguments.mutants.mutants && mutants.is_none() {
        say("note: no mutant was tried: that needs tests that come out as stated\n");
    }
    let of_coverage = coverage.map_or(Exit::Holds, |work| work.exit(color));
    let denied = arguments.deny.contains(&Deny::Survivors) && mutants.is_some_and(|work| work.any_survived());
    let of_mutants = if denied { Exit::Failed } else { Exit::Holds };
    Ok(exit(&tested).max(of_coverage).max(of_mutants))
}

/// The rules with their tests.
fn subjects(arguments: &Arguments, color: ColorChoice, limits: &Limits) -> Result<Vec<Subject>, Stop> {
    let inputs = inputs::rules(&arguments.rules)?;
    if arguments.cases.is_some() && inputs.len() != 1 {
        return Err(Stop::usage("`--cases` is for one rule file", "name the file, or put the cases beside each"));
    }
    let mut loaded = rules::load(&inputs, *limits)?;
    loaded.tell(color)?;
    params::apply(&mut loaded.programs, &arguments.param_file, &arguments.param)?;
    let selection = Selection { rules: arguments.rule.clone(), ..Selection::default() };
    select::known(&loaded.programs, &selection)?;
    let mut subjects = Vec::new();
    for (input, program) in inputs.iter().zip(loaded.programs) {
        let path = match input {
            inputs::Input::File(path) => Some(path.as_path()),
            inputs::Input::Stdin => None,
        };
        let subject = Subject::new(program, path, arguments.cases.as_deref(), limits).map_err(|unreadable| {
            let said = super::said(&unreadable.error);
            Stop::usage(format!("the cases in `{}` cannot be read: {said}", unreadable.path.display()), "")
        })?;
        subjects.push(subject);
    }
    Ok(subjects)
}

/// No test is no success.
fn nothing(chosen: &Chosen, all: usize) -> Stop {
    if all == 0 {
        return Stop::usage(
            "the rules hold no test",
            "write one: `test \"name\" expect fail RULE { calls: [{ tool: \"refund\" }] }`",
        );
    }
    let message = match chosen {
        Chosen { text: Some(_), rules, tags } if rules.is_empty() && tags.is_empty() => {
            "no test has this text in its name"
        }
        Chosen { text: None, rules, .. } if rules.is_empty() => "no test has this tag",
        Chosen { text: None, tags, .. } if tags.is_empty() => "no test names this rule",
        _ => "no test is selected",
    };
    Stop::usage(message, format!("there are {all} tests; leave the selection out to run them"))
}

fn suites<'t>(subjects: &[Subject], tested: &'t [Tested], ends: &[usize]) -> Vec<(String, &'t [Tested])> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let ranges = starts.zip(ends.iter().copied());
    let named = subjects.iter().zip(ranges);
    named.filter_map(|(subject, (start, end))| Some((subject.name().to_owned(), tested.get(start..end)?))).collect()
}

fn exit(tested: &[Tested]) -> Exit {
    if tested.iter().any(|test| test.unreadable) {
        Exit::Trace
    } else if tested.iter().all(|test| test.passed) {
        Exit::Holds
    } else {
        Exit::Failed
    }
}
