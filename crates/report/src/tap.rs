//! `--format tap`: the Test Anything Protocol, version 14, and `tap13` for those that know no later one: the same lines. A test point per
//! assertion and run, written as runs come.

use super::by_rule::ByRule;
use super::model::{ResultReport, RunReport, Unreadable};
use super::standing::{self, Standing};
use super::table::{Item, Location, Table};
use super::{Command, Ending, Options, Report};
use averment_base::diagnostic::render::{one_line, printable};
use serde_json::{Value, json};
use std::io::{self, Write};

/// The report.
pub struct Tap {
    out: Box<dyn Write>,
    options: Options,
    by_rule: ByRule,
    points: u64,
    version: u8,
}

/// The same under the version that older consumers know, such as `prove` of Perl 5.36.
pub struct Tap13;

impl Tap13 {
    /// A report into a writer.
    #[expect(clippy::new_ret_no_self, reason = "what differs is a number")]
    pub fn new(out: Box<dyn Write>, options: Options) -> Tap {
        Tap { version: 13, ..Tap::new(out, options) }
    }
}

/// Exit code of an interrupted check.
const INTERRUPTED: u8 = 130;
/// A sentence is cut to this many characters.
const SENTENCE: usize = 1_000;

/// A test point.
struct Point<'a> {
    ok: bool,
    name: String,
    /// `SKIP` or `TODO`, and why.
    directive: Option<(&'static str, String)>,
    /// The block below it.
    block: Vec<(&'a str, Value)>,
}

impl Tap {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, by_rule: ByRule::default(), points: 0, version: 14 }
    }

    fn point(&mut self, point: &Point<'_>) -> io::Result<()> {
        self.points += 1;
        let word = if point.ok { "ok" } else { "not ok" };
        write!(self.out, "{word} {} - {}", self.points, described(&point.name))?;
        if let Some((directive, why)) = &point.directive {
            write!(self.out, " # {directive} {}", described(why))?;
        }
        writeln!(self.out)?;
        if point.block.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "  ---")?;
        for (key, value) in &point.block {
            writeln!(self.out, "  {key}: {value}")?;
        }
        writeln!(self.out, "  ...")
    }

    fn result(&mut self, table: &Table, run: &RunReport, result: &ResultReport) -> io::Result<()> {
        let Some(item) = table.items.get(result.item) else { return Ok(()) };
        let standing = Standing::of(table, result, self.options.policy);
        let command = self.options.command;
        let sentence =
            || standing::line(&standing::sentence(command, item, result, standing::first_violation(result)), SENTENCE);
        let directive = match standing {
            Standing::Passed | Standing::Failed | Standing::Broken => None,
            Standing::Vacuous | Standing::Skipped => Some(("SKIP", sentence())),
            Standing::Expected => {
                Some(("TODO", format!("a failure is expected {}", item.expected.as_deref().unwrap_or_default())))
            }
            Standing::Known => Some(("TODO", "the baseline knows it".to_owned())),
            Standing::Tolerated if standing::fails(command, standing, item) => None,
            Standing::Tolerated => Some(("TODO", "it does not fail the run".to_owned())),
        };
        let ok = matches!(standing, Standing::Passed | Standing::Vacuous | Standing::Skipped);
        let name = match command {
            Command::Check => format!("{} in {}", item.name(), run.run),
            Command::Test | Command::Lint => item.name().to_owned(),
        };
        let block = if ok { Vec::new() } else { block(item, run, result, &sentence()) };
        self.point(&Point { ok, name, directive, block })
    }
}

/// What is said of a point that does not hold. JSON is YAML.
fn block<'a>(item: &Item, run: &RunReport, result: &ResultReport, sentence: &str) -> Vec<(&'a str, Value)> {
    let violation = |standing::ViolationView { reason, evidence }| {
        let line = evidence.iter().find_map(|one| one.source).map(|at| at.line);
        json!({"reason": printable(reason), "step": evidence.iter().find_map(|one| one.step), "line": line})
    };
    let mut block = vec![
        ("message", json!(sentence)),
        ("severity", json!(item.severity.as_str())),
        ("verdict", json!(result.verdict.as_str())),
        ("run", json!(one_line(&run.run))),
        ("at", at(&item.location)),
    ];
    if result.has_failed() {
        block.push(("violations", standing::violations(result).map(violation).collect()));
    }
    if standing::not_listed(result) > 0 {
        block.push(("violation_count", json!(result.violation_count())));
    }
    block
}

fn at(location: &Location) -> Value {
    json!({"file": one_line(&location.file), "line": location.line, "column": location.column})
}

/// Foreign text on the line of a point: `#` would begin a directive.
fn described(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('#', "\\#")
}

impl Report for Tap {
    fn begin(&mut self, table: &Table) -> io::Result<()> {
        self.by_rule = ByRule::new(table);
        writeln!(self.out, "TAP version {}", self.version)
    }

    fn run(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        self.by_rule.add(run);
        run.results.iter().try_for_each(|result| self.result(table, run, result))?;
        for rule in standing::judged_rules(table, run) {
            let Some(item) = table.rules.get(rule.rule) else { continue };
            let fails = standing::rule_fails(table, rule, self.options.policy);
            let missed = standing::missed(table, rule);
            let directive = (missed.is_some() && !fails).then(|| {
                ("TODO", if rule.known { "the baseline knows it" } else { "it does not fail the run" }.to_owned())
            });
            let block = missed.iter().map(|why| ("message", json!(why))).collect();
            let name = format!("{} (score) in {}", item.id, run.run);
            self.point(&Point { ok: missed.is_none(), name, directive, block })?;
        }
        Ok(())
    }

    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()> {
        let at = at(&Location { file: what.file.clone(), line: what.line, column: what.column });
        let block = vec![("message", json!(one_line(&what.message))), ("at", at)];
        let name = format!("{}:{} can be read", what.file, what.line);
        self.point(&Point { ok: false, name, directive: None, block })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn end(&mut self, _: &Table, ending: &Ending<'_>) -> io::Result<()> {
        if let Some(missing) = ending.totals.missing_runs() {
            let message = format!("{missing} not judged: the evaluation broke down or was interrupted");
            let block = vec![("message", json!(message))];
            self.point(&Point { ok: false, name: "every run was judged".to_owned(), directive: None, block })?;
        }
        if self.options.command == Command::Check {
            for row in self.by_rule.rows.iter().filter(|row| row.counts.all() > 0) {
                writeln!(self.out, "# {}: {}", described(&row.name), row.counts.in_words())?;
            }
        }
        if ending.exit == INTERRUPTED {
            writeln!(self.out, "Bail out! interrupted")?;
        } else {
            writeln!(self.out, "1..{}", self.points)?;
        }
        self.out.flush()
    }
}
