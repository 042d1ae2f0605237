//! `--format tap`: the Test Anything Protocol, version 14, and `tap13` with the same lines for older consumers. A test point per assertion and run,
//! written while runs arrive.

use super::by_rule::ByRule;
use super::model::{ResultReport, RunReport, UnreadableTrace};
use super::standing::{self, ResultStanding};
use super::table::{Location, ReportItem, ReportTable};
use super::{Options, Report, ReportEnding, ReportedCommand};
use averment_base::diagnostic::render::{one_line, printable};
use serde_json::{Value, json};
use std::io::{self, Write};

/// The `tap` report.
pub struct TapReport {
    out: Box<dyn Write>,
    options: Options,
    by_rule: ByRule,
    points: u64,
    version: u8,
}

/// TAP version 13, which older consumers need, such as `prove` of Perl 5.36.
pub struct Tap13Report;

impl Tap13Report {
    /// Creates a report that writes to `out`.
    #[expect(clippy::new_ret_no_self, reason = "what differs is a number")]
    pub fn new(out: Box<dyn Write>, options: Options) -> TapReport {
        TapReport { version: 13, ..TapReport::new(out, options) }
    }
}

const INTERRUPTED: u8 = 130;
/// Maximum length of a sentence, in characters.
const SENTENCE: usize = 1_000;

struct TapPoint<'a> {
    ok: bool,
    name: String,
    /// The directive `SKIP` or `TODO`, and its reason.
    directive: Option<(&'static str, String)>,
    block: Vec<(&'a str, Value)>,
}

impl TapReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, by_rule: ByRule::default(), points: 0, version: 14 }
    }

    fn write_point(&mut self, point: &TapPoint<'_>) -> io::Result<()> {
        self.points += 1;
        let word = if point.ok { "ok" } else { "not ok" };
        write!(self.out, "{word} {} - {}", self.points, describe_point(&point.name))?;
        if let Some((directive, why)) = &point.directive {
            write!(self.out, " # {directive} {}", describe_point(why))?;
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

    fn write_result(&mut self, table: &ReportTable, run: &RunReport, result: &ResultReport) -> io::Result<()> {
        let Some(item) = table.items.get(result.item) else { return Ok(()) };
        let standing = ResultStanding::of_result(table, result, self.options.policy);
        let command = self.options.command;
        let sentence = || {
            standing::shorten_line(
                &standing::result_sentence(command, item, result, crate::model::first_violation(result)),
                SENTENCE,
            )
        };
        let directive = match standing {
            ResultStanding::Passed | ResultStanding::Failed | ResultStanding::Broken => None,
            ResultStanding::Vacuous | ResultStanding::Skipped => Some(("SKIP", sentence())),
            ResultStanding::Expected => {
                Some(("TODO", format!("a failure is expected {}", item.expected.as_deref().unwrap_or_default())))
            }
            ResultStanding::Known => Some(("TODO", "the baseline knows it".to_owned())),
            ResultStanding::Tolerated if standing::fails_command(command, standing, item) => None,
            ResultStanding::Tolerated => Some(("TODO", "it does not fail the run".to_owned())),
        };
        let ok = matches!(standing, ResultStanding::Passed | ResultStanding::Vacuous | ResultStanding::Skipped);
        let name = match command {
            ReportedCommand::Check => format!("{} in {}", item.display_name(), run.run),
            ReportedCommand::Test | ReportedCommand::Lint => item.display_name().to_owned(),
        };
        let block = if ok { Vec::new() } else { point_block(item, run, result, &sentence()) };
        self.write_point(&TapPoint { ok, name, directive, block })
    }
}

/// Returns the YAML block of a failing test point. It is written as JSON, which is valid YAML.
fn point_block<'a>(item: &ReportItem, run: &RunReport, result: &ResultReport, sentence: &str) -> Vec<(&'a str, Value)> {
    let violation = |crate::model::ViolationView { reason, evidence }| {
        let line = evidence.iter().find_map(|one| one.source).map(|at| at.line);
        json!({"reason": printable(reason), "step": evidence.iter().find_map(|one| one.step), "line": line})
    };
    let mut block = vec![
        ("message", json!(sentence)),
        ("severity", json!(item.severity.as_str())),
        ("verdict", json!(result.verdict.as_str())),
        ("run", json!(one_line(&run.run))),
        ("at", location_value(&item.location)),
    ];
    if result.has_failed() {
        block.push(("violations", crate::model::listed_violations(result).map(violation).collect()));
    }
    if standing::not_listed(result) > 0 {
        block.push(("violation_count", json!(result.violation_count())));
    }
    block
}

fn location_value(location: &Location) -> Value {
    json!({"file": one_line(&location.file), "line": location.line, "column": location.column})
}

/// Returns untrusted text for a test point. `#` is escaped, because it would start a directive.
fn describe_point(text: &str) -> String {
    one_line(text).replace('\\', "\\\\").replace('#', "\\#")
}

impl Report for TapReport {
    fn begin_report(&mut self, table: &ReportTable) -> io::Result<()> {
        self.by_rule = ByRule::new(table);
        writeln!(self.out, "TAP version {}", self.version)
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.by_rule.add_run(run);
        run.results.iter().try_for_each(|result| self.write_result(table, run, result))?;
        for rule in standing::judged_rules(table, run) {
            let Some(item) = table.rules.get(rule.rule) else { continue };
            let fails = standing::rule_fails(table, rule, self.options.policy);
            let missed = standing::missed_threshold(table, rule);
            let directive = (missed.is_some() && !fails).then(|| {
                ("TODO", if rule.known { "the baseline knows it" } else { "it does not fail the run" }.to_owned())
            });
            let block = missed.iter().map(|why| ("message", json!(why))).collect();
            let name = format!("{} (score) in {}", item.id, run.run);
            self.write_point(&TapPoint { ok: missed.is_none(), name, directive, block })?;
        }
        Ok(())
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        let at = location_value(&Location { file: what.file.clone(), line: what.line, column: what.column });
        let block = vec![("message", json!(one_line(&what.message))), ("at", at)];
        let name = format!("{}:{} can be read", what.file, what.line);
        self.write_point(&TapPoint { ok: false, name, directive: None, block })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn finish_report(&mut self, _: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        if let Some(missing) = ending.totals.missing_runs() {
            let message = format!("{missing} not judged: the evaluation broke down or was interrupted");
            let block = vec![("message", json!(message))];
            self.write_point(&TapPoint { ok: false, name: "every run was judged".to_owned(), directive: None, block })?;
        }
        if self.options.command == ReportedCommand::Check {
            for row in self.by_rule.rows.iter().filter(|row| row.counts.all_results() > 0) {
                writeln!(self.out, "# {}: {}", describe_point(&row.name), row.counts.in_words())?;
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
