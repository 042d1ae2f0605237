//! `--format junit`: XML in the schema of Jenkins (`junit-10.xsd`), with a suite per rule file and a case per assertion and run.
//!
//! Cases are kept in memory, because a suite starts with counts that are known only at the end.

use super::model::{ResultReport, RuleReport, RunReport, UnreadableTrace};
use super::standing::{self, ResultStanding};
use super::table::{ReportItem, ReportTable};
use super::{Options, Report, ReportEnding, ReportedCommand, by_rule::ByRule};
use averment_base::diagnostic::render::{is_steering, one_line};
use averment_engine::vm::select::not_of_case_reason;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The `junit` report.
pub struct JunitReport {
    out: Box<dyn Write>,
    options: Options,
    suites: Vec<JunitSuite>,
    by_rule: ByRule,
    traces: JunitSuite,
}

#[derive(Default)]
struct JunitSuite {
    name: String,
    counts: CaseCounts,
    cases: String,
}

#[derive(Default, Clone, Copy)]
struct CaseCounts {
    tests: u64,
    failures: u64,
    errors: u64,
    skipped: u64,
}

struct JunitCase<'a> {
    class: &'a str,
    name: &'a str,
    outcome: Option<(&'static str, &'a str, String)>,
    details: String,
}

/// Maximum length of a message, in characters.
const MESSAGE: usize = 400;

impl JunitReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        let traces = JunitSuite { name: "traces".to_owned(), ..JunitSuite::default() };
        Self { out, options, suites: Vec::new(), by_rule: ByRule::default(), traces }
    }

    fn file_suite(&mut self, file: &str) -> &mut JunitSuite {
        let known = self.suites.iter().position(|suite| suite.name == file);
        let at = known.unwrap_or_else(|| {
            self.suites.push(JunitSuite { name: file.to_owned(), ..JunitSuite::default() });
            self.suites.len() - 1
        });
        self.suites.get_mut(at).unwrap_or(&mut self.traces)
    }

    fn add_result(&mut self, table: &ReportTable, run: &RunReport, result: &ResultReport) {
        let Some(item) = table.items.get(result.item) else { return };
        let standing = ResultStanding::of_result(table, result, self.options.policy);
        // Results that were skipped because they belong to another case are left out.
        let of_rule = table.rule_of(item).map(|rule| not_of_case_reason(&rule.id));
        if standing == ResultStanding::Skipped && of_rule.is_some_and(|other| other == result.reason) {
            return;
        }
        let message = || {
            standing::shorten_line(
                &standing::result_sentence(self.options.command, item, result, crate::model::first_violation(result)),
                MESSAGE,
            )
        };
        let outcome = match standing {
            ResultStanding::Passed => None,
            ResultStanding::Failed => Some(("failure", result.status.as_str(), message())),
            ResultStanding::Broken => Some(("error", "error", message())),
            ResultStanding::Tolerated if standing::fails_command(self.options.command, standing, item) => {
                Some(("failure", "warning", message()))
            }
            ResultStanding::Tolerated => Some(("skipped", "warning", message())),
            ResultStanding::Known => Some(("skipped", "known", message())),
            ResultStanding::Expected | ResultStanding::Vacuous | ResultStanding::Skipped => {
                Some(("skipped", result.status.as_str(), message()))
            }
        };
        let details =
            if outcome.is_some() { result_details(self.options.command, item, run, result) } else { String::new() };
        // Tests and findings may be in imported files; the suite is the file that was tested.
        let file = if self.options.command == ReportedCommand::Check { &item.location.file } else { &run.file };
        let class = table.rule_of(item).map_or("", |rule| &rule.id);
        let class = if class.is_empty() { item.location.file.as_str() } else { class };
        let name = case_name(self.options.command, item, &run.run);
        self.file_suite(file).add_case(&JunitCase { class, name: &name, outcome, details });
    }

    /// Adds the result of a threshold rule, which replaces its assertions.
    fn add_rule(&mut self, table: &ReportTable, run: &RunReport, rule: &RuleReport) {
        let Some(item) = table.rules.get(rule.rule) else { return };
        let fails = standing::rule_fails(table, rule, self.options.policy);
        let element = if fails { "failure" } else { "skipped" };
        let outcome = standing::missed_threshold(table, rule)
            .map(|message| (element, if rule.known { "known" } else { "threshold" }, message));
        let details = format!("{}\nrun: {}", item.location, one_line(&run.run));
        let details = if outcome.is_some() { details } else { String::new() };
        let name = format!("{} (score) in {}", item.id, run.run);
        self.file_suite(&item.location.file).add_case(&JunitCase { class: &item.id, name: &name, outcome, details });
    }
}

fn case_name(command: ReportedCommand, item: &ReportItem, run: &str) -> String {
    match command {
        ReportedCommand::Check => format!("{} in {run}", item.display_name()),
        ReportedCommand::Test => item.display_name().to_owned(),
        ReportedCommand::Lint => format!("{} at {}", item.display_name(), item.location),
    }
}

fn result_details(command: ReportedCommand, item: &ReportItem, run: &RunReport, result: &ResultReport) -> String {
    let mut text = match command {
        ReportedCommand::Check => format!("\n{}: {}\nrun: {}\n", item.location, item.text, one_line(&run.run)),
        ReportedCommand::Test | ReportedCommand::Lint => format!("\n{}\n", item.location),
    };
    for crate::model::ViolationView { reason, evidence } in crate::model::listed_violations(result) {
        let _ = writeln!(text, "{}", if reason.is_empty() { result.status.as_str() } else { reason });
        for one in evidence {
            let place = one.source.map(|at| format!("{}:{}", one_line(&run.file), at.line)).unwrap_or_default();
            let value = one.value.as_deref().map(|value| format!("{} = {}", one.path, value.get()));
            let parts = [place, value.unwrap_or_else(|| one.path.clone()), one.label.clone()];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let _ = writeln!(text, "  {}", parts.join("  "));
        }
    }
    let more = standing::not_listed(result);
    if more > 0 {
        let _ = writeln!(text, "{more} more violations");
    }
    text
}

impl JunitSuite {
    fn add_case(&mut self, case: &JunitCase<'_>) {
        let counts = &mut self.counts;
        counts.tests += 1;
        let _ = write!(
            self.cases,
            "    <testcase classname=\"{}\" name=\"{}\"",
            escape_attribute(case.class),
            escape_attribute(case.name)
        );
        let Some((element, kind, message)) = &case.outcome else {
            self.cases.push_str("/>\n");
            return;
        };
        match *element {
            "failure" => counts.failures += 1,
            "error" => counts.errors += 1,
            _ => counts.skipped += 1,
        }
        let (message, details) = (escape_attribute(message), escape_content(&case.details));
        let head = format!(">\n      <{element} type=\"{kind}\" message=\"{message}\"");
        self.cases.push_str(&head);
        match details.is_empty() {
            true => self.cases.push_str("/>\n"),
            false => {
                let _ = writeln!(self.cases, ">{details}</{element}>");
            }
        }
        self.cases.push_str("    </testcase>\n");
    }

    fn write_suite(&self, table: &ReportTable, by_rule: Option<&ByRule>, out: &mut dyn Write) -> io::Result<()> {
        let CaseCounts { tests, failures, errors, skipped } = self.counts;
        writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">",
            escape_attribute(&self.name)
        )?;
        let of_suite = |item: usize| table.items.get(item).is_some_and(|item| item.location.file == self.name);
        let rows = by_rule.map(|by_rule| by_rule.rows.as_slice()).unwrap_or_default();
        let mut rows = rows.iter().filter(|row| of_suite(row.item) && row.counts.all_results() > 0).peekable();
        if rows.peek().is_some() {
            writeln!(out, "    <properties>")?;
            rows.try_for_each(|row| {
                let (name, counts) = (escape_attribute(&row.name), row.counts.in_words());
                writeln!(out, "      <property name=\"rule {name}\" value=\"{counts}\"/>")
            })?;
            writeln!(out, "    </properties>")?;
        }
        out.write_all(self.cases.as_bytes())?;
        writeln!(out, "  </testsuite>")
    }
}

fn escape_attribute(text: &str) -> String {
    escape_content(text).replace('\n', "&#10;").replace('\t', "&#9;")
}

/// Escapes text, and replaces characters that XML 1.0 cannot contain. The start of CI commands (`::error::`, `##[error]`) is escaped too, because a
/// CI could interpret them on standard output. XML readers restore escaped text.
fn escape_content(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let (mut begins_line, mut hashes) = (true, 0_u8);
    for character in text.chars() {
        let (begun, hashed) = (begins_line, hashes);
        begins_line = character == '\n' || (begun && character.is_whitespace());
        hashes = if character == '#' { hashed.saturating_add(1) } else { 0 };
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            ':' if begun => escaped.push_str("&#58;"),
            '[' if hashed >= 2 => escaped.push_str("&#91;"),
            // Escaped, so that readers restore it, but it cannot mislead people who look at the file.
            hidden if hidden != '\r' && !hidden.is_control() && is_steering(hidden) => {
                let _ = write!(escaped, "&#x{:x};", u32::from(hidden));
            }
            '\r' => escaped.push_str("&#13;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            control if control.is_control() => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

impl Report for JunitReport {
    fn begin_report(&mut self, table: &ReportTable) -> io::Result<()> {
        self.by_rule = ByRule::new(table);
        if self.options.command == ReportedCommand::Check {
            for item in &table.items {
                self.file_suite(&item.location.file);
            }
        }
        Ok(())
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.by_rule.add_run(run);
        run.results.iter().for_each(|result| self.add_result(table, run, result));
        standing::judged_rules(table, run).for_each(|rule| self.add_rule(table, run, rule));
        Ok(())
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        let name = format!("{}:{}:{}", what.file, what.line, what.column);
        let outcome = Some(("error", "unreadable", standing::shorten_line(&what.message, MESSAGE)));
        self.traces.add_case(&JunitCase { class: "trace", name: &name, outcome, details: what.help.clone() });
        Ok(())
    }

    fn finish_report(&mut self, table: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        if let Some(missing) = ending.totals.missing_count() {
            let message =
                format!("{missing} of the runs were not judged: the evaluation broke down or was interrupted");
            let outcome = Some(("error", "not-judged", message));
            self.traces.add_case(&JunitCase {
                class: "trace",
                name: "every run was judged",
                outcome,
                details: String::new(),
            });
        }
        if self.traces.counts.tests > 0 {
            self.suites.push(std::mem::take(&mut self.traces));
        }
        let sum = |of: fn(&CaseCounts) -> u64| self.suites.iter().map(|suite| of(&suite.counts)).sum::<u64>();
        writeln!(self.out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            self.out,
            "<testsuites name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
            self.options.command.as_str(),
            sum(|counts| counts.tests),
            sum(|counts| counts.failures),
            sum(|counts| counts.errors)
        )?;
        let by_rule = Some(&self.by_rule).filter(|_| self.options.command == ReportedCommand::Check);
        self.suites.iter().try_for_each(|suite| suite.write_suite(table, by_rule, &mut self.out))?;
        writeln!(self.out, "</testsuites>")?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::{escape_attribute, escape_content};

    /// True if GitHub's runner would interpret the line as a command.
    fn is_command(line: &str) -> bool {
        line.trim_start().starts_with("::") || line.contains("##[")
    }

    #[test]
    fn no_line_of_foreign_text_is_a_command() {
        const PIECES: [&str; 12] =
            [":", "::error::", "#", "##[error]", "[", "\r", "\n", " ", "\t", "\u{85}", "\u{2028}", "a"];
        for number in 0..PIECES.len().pow(4) {
            let text: String = (0..4).map(|digit| PIECES[number / PIECES.len().pow(digit) % PIECES.len()]).collect();
            let content = escape_content(&text);
            assert!(!content.split(['\r', '\n', '\u{85}', '\u{2028}']).any(is_command), "{content:?}");
            assert!(!escape_attribute(&text).contains(['\r', '\n']));
        }
        assert_eq!(escape_content("a: b::c\n::d ##[e"), "a: b::c\n&#58;:d ##&#91;e");
    }
}
