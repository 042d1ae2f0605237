//! `aver test RULES...`: runs the tests that stand in rule files.

use super::console::{ColorChoice, Stream};
use super::exit::{Exit, Stop};
use super::{inputs, params, rules};
use crate::bytecode::program::{Program, Test};
use crate::diagnostic::render::{Ink, Style, one_line, paint};
use crate::limits::Limits;
use crate::report::redact;
use crate::source::{Position, SourceFile, SourceMap};
use crate::truth::Verdict;
use crate::vm::outcome::Status;
use crate::vm::prepare::Prepared;
use crate::vm::testing::{TestResult, run_tests};
use clap::ValueEnum;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver test refunds.assert
  aver test rules/ --filter approval
  aver test rules/ --format short          a line per test that does not come out as stated

Exit codes: 0 all tests come out as stated, 1 one does not, 2 there is no test, 3 the rules do not compile.")]
pub struct Arguments {
    /// Rule files, or folders of them; `-` reads standard input
    #[arg(required = true, value_name = "RULES")]
    rules: Vec<PathBuf>,
    /// Run only tests whose name contains this
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// How results are printed: human, short, json
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", hide_possible_values = true)]
    format: Format,
    /// A value for a parameter of the rules
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Values for parameters: a file with one JSON object
    #[arg(long, value_name = "FILE")]
    param_file: Vec<PathBuf>,
    /// What does not fail: empty (no test)
    #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
    allow: Vec<Allow>,
}

/// `--allow`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Allow {
    /// No test
    Empty,
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
}

/// Runs the tests.
pub fn run(arguments: &Arguments, color: ColorChoice) -> Result<Exit, Stop> {
    let inputs = inputs::rules(&arguments.rules)?;
    let mut loaded = rules::load(&inputs, Limits::default())?;
    loaded.tell(color)?;
    params::apply(&mut loaded.programs, &arguments.param_file, &arguments.param)?;
    let mut tested: Vec<Tested> = Vec::new();
    for program in &mut loaded.programs {
        if let Some(text) = &arguments.filter {
            program.tests.retain(|test| test.name.contains(text.as_str()));
        }
        let results = run_tests(program, &Prepared::new(program), &Limits::default());
        tested.extend(results.into_iter().filter_map(|result| Tested::new(program, result)));
    }
    if tested.is_empty() && arguments.allow.is_empty() {
        let message =
            if arguments.filter.is_some() { "no test has this text in its name" } else { "the rules hold no test" };
        return Err(Stop::usage(
            message,
            "write one: `test \"name\" expect fail RULE { calls: [{ tool: \"refund\" }] }`",
        ));
    }
    let mut out = io::BufWriter::new(io::stdout());
    match arguments.format {
        Format::Human => human(&mut out, &tested, Stream::Out.style(color))?,
        Format::Short => tested.iter().filter(|test| !test.passed).try_for_each(|test| short(&mut out, test))?,
        Format::Json => writeln!(out, "{}", data(&tested))?,
    }
    out.flush()?;
    Ok(if tested.iter().all(|test| test.passed) { Exit::Holds } else { Exit::Failed })
}

/// A test with what came of it.
struct Tested {
    name: String,
    file: String,
    at: Position,
    expect: Verdict,
    /// What the whole came out as.
    observed: Option<Verdict>,
    passed: bool,
    reason: String,
    found: Vec<(String, Verdict)>,
    /// Assertions that did not pass, with their reasons.
    why: Vec<(String, Status, String)>,
}

impl Tested {
    fn new(program: &Program, result: TestResult) -> Option<Self> {
        let test = program.tests.get(result.test as usize)?;
        let mut sources = SourceMap::default();
        for source in &program.sources {
            sources.add(SourceFile::new(source.name.as_str(), None, source.text.as_str()));
        }
        let why = result.outcome.results.iter().filter(|one| one.status != Status::Passed).filter_map(|one| {
            let assertion = program.assertions.get(one.assertion as usize)?;
            Some((assertion.id.clone(), one.status, redact(&one.reason).into_owned()))
        });
        Some(Self {
            name: test.name.clone(),
            file: sources.name(test.span).to_owned(),
            at: sources.position(test.span),
            expect: test.expect,
            observed: observed(test, &result),
            passed: result.passed,
            reason: redact(&result.reason).into_owned(),
            why: why.collect(),
            found: result.found,
        })
    }
}

/// One verdict for all that was judged: what was expected when the test passed, otherwise the first that differs.
fn observed(test: &Test, result: &TestResult) -> Option<Verdict> {
    if result.passed {
        return Some(test.expect);
    }
    let verdicts = || result.found.iter().map(|(_, verdict)| *verdict);
    verdicts()
        .find(|&verdict| verdict == Verdict::Fail && test.expect == Verdict::Pass)
        .or_else(|| verdicts().find(|&verdict| verdict != test.expect))
}

fn human(out: &mut impl Write, tested: &[Tested], style: Style) -> io::Result<()> {
    for test in tested {
        let (ink, word) = if test.passed { (Ink::Green, "ok    ") } else { (Ink::Red, "failed") };
        writeln!(out, "{}  {}", paint(style, ink, word), one_line(&test.name))?;
        if !test.passed {
            writeln!(
                out,
                "        {}:{}:{}: {}",
                one_line(&test.file),
                test.at.line,
                test.at.column,
                one_line(&test.reason)
            )?;
            for (id, status, reason) in &test.why {
                let reason = if reason.is_empty() { String::new() } else { format!(": {}", one_line(reason)) };
                writeln!(out, "          {} {}{reason}", one_line(id), status.as_str())?;
            }
        }
    }
    writeln!(out)?;
    cells(out, tested)?;
    let failed = tested.iter().filter(|test| !test.passed).count();
    let count = format!("{} test{}", tested.len(), if tested.len() == 1 { "" } else { "s" });
    match failed {
        0 => writeln!(out, "{}: {count} came out as stated", paint(style, Ink::Green, "passed")),
        _ => writeln!(out, "{}: {failed} of {count} did not come out as stated", paint(style, Ink::Red, "failed")),
    }
}

/// How often each verdict was expected and came out. Those of pass and fail are always shown: rules that are tested on one side only are
/// half tested.
fn cells(out: &mut impl Write, tested: &[Tested]) -> io::Result<()> {
    let used = |verdict: &Verdict| {
        matches!(verdict, Verdict::Pass | Verdict::Fail)
            || tested.iter().any(|test| test.expect == *verdict || test.observed == Some(*verdict))
    };
    let verdicts: Vec<Verdict> = Verdict::ALL.into_iter().filter(used).collect();
    write!(out, "{:18}", "expected \\ found")?;
    for verdict in &verdicts {
        write!(out, "{:>11}", verdict.as_str())?;
    }
    writeln!(out)?;
    for expected in verdicts.iter().filter(|verdict| **verdict != Verdict::Skipped) {
        write!(out, "  {:16}", expected.as_str())?;
        for found in &verdicts {
            let count = tested.iter().filter(|test| test.expect == *expected && test.observed == Some(*found)).count();
            write!(out, "{count:>11}")?;
        }
        writeln!(out)?;
    }
    writeln!(out)
}

fn short(out: &mut impl Write, test: &Tested) -> io::Result<()> {
    let (file, name, reason) = (one_line(&test.file), one_line(&test.name), one_line(&test.reason));
    writeln!(out, "{file}:{}:{}: error[test]: \"{name}\": {reason}", test.at.line, test.at.column)
}

fn data(tested: &[Tested]) -> Value {
    let tests: Vec<Value> = tested
        .iter()
        .map(|test| {
            let found: Vec<Value> =
                test.found.iter().map(|(id, verdict)| json!({"id": id, "verdict": verdict.as_str()})).collect();
            json!({
                "name": test.name,
                "location": {"file": test.file, "line": test.at.line, "column": test.at.column},
                "expect": test.expect.as_str(),
                "observed": test.observed.map(Verdict::as_str),
                "passed": test.passed,
                "reason": test.reason,
                "found": found,
            })
        })
        .collect();
    let passed = tested.iter().filter(|test| test.passed).count();
    json!({"version": 1, "tests": tests, "summary": {"tests": tested.len(), "passed": passed, "failed": tested.len() - passed}})
}
