//! `--format junit`: XML as the schema of Jenkins (`junit-10.xsd`) has it. A suite per rule file, a case per assertion and run.
//!
//! Cases are written to memory as they come: a suite begins with counts that are known at the end.

use super::model::{ResultReport, RuleReport, RunReport, Unreadable};
use super::standing::{self, Standing};
use super::table::{Item, Table};
use super::{Command, Ending, Options, Report, by_rule::ByRule};
use averment_base::diagnostic::render::{one_line, steers};
use averment_engine::vm::select::not_of_case;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The report.
pub struct Junit {
    out: Box<dyn Write>,
    options: Options,
    suites: Vec<Suite>,
    by_rule: ByRule,
    /// Traces that could not be read, and runs that were not judged.
    traces: Suite,
}

/// A suite with the cases so far.
#[derive(Default)]
struct Suite {
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

/// What stands in a case.
struct Case<'a> {
    class: &'a str,
    name: &'a str,
    /// The element in it, its type, its message; `None` for a case that passes.
    outcome: Option<(&'static str, &'a str, String)>,
    details: String,
}

/// A message is cut to this many characters.
const MESSAGE: usize = 400;

impl Junit {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        let traces = Suite { name: "traces".to_owned(), ..Suite::default() };
        Self { out, options, suites: Vec::new(), by_rule: ByRule::default(), traces }
    }

    fn suite(&mut self, file: &str) -> &mut Suite {
        let known = self.suites.iter().position(|suite| suite.name == file);
        let at = known.unwrap_or_else(|| {
            self.suites.push(Suite { name: file.to_owned(), ..Suite::default() });
            self.suites.len() - 1
        });
        self.suites.get_mut(at).unwrap_or(&mut self.traces)
    }

    fn result(&mut self, table: &Table, run: &RunReport, result: &ResultReport) {
        let Some(item) = table.items.get(result.item) else { return };
        let standing = Standing::of(table, result, self.options.policy);
        // A test of another case has not been run here.
        let of_rule = table.rule_of(item).map(|rule| not_of_case(&rule.id));
        if standing == Standing::Skipped && of_rule.is_some_and(|other| other == result.reason) {
            return;
        }
        let message = || {
            standing::line(
                &standing::sentence(self.options.command, item, result, standing::first_violation(result)),
                MESSAGE,
            )
        };
        let outcome = match standing {
            Standing::Passed => None,
            Standing::Failed => Some(("failure", result.status.as_str(), message())),
            Standing::Broken => Some(("error", "error", message())),
            Standing::Tolerated if standing::fails(self.options.command, standing, item) => {
                Some(("failure", "warning", message()))
            }
            Standing::Tolerated => Some(("skipped", "warning", message())),
            Standing::Known => Some(("skipped", "known", message())),
            Standing::Expected | Standing::Vacuous | Standing::Skipped => {
                Some(("skipped", result.status.as_str(), message()))
            }
        };
        let details = if outcome.is_some() { details(self.options.command, item, run, result) } else { String::new() };
        // Tests and findings stand in other files, too: what was tested is one suite.
        let file = if self.options.command == Command::Check { &item.location.file } else { &run.file };
        let class = table.rule_of(item).map_or("", |rule| &rule.id);
        let class = if class.is_empty() { item.location.file.as_str() } else { class };
        let name = case_name(self.options.command, item, &run.run);
        self.suite(file).add(&Case { class, name: &name, outcome, details });
    }

    /// A rule with a threshold speaks for its assertions.
    fn rule(&mut self, table: &Table, run: &RunReport, rule: &RuleReport) {
        let Some(item) = table.rules.get(rule.rule) else { return };
        let fails = standing::rule_fails(table, rule, self.options.policy);
        let element = if fails { "failure" } else { "skipped" };
        let outcome = standing::missed(table, rule)
            .map(|message| (element, if rule.known { "known" } else { "threshold" }, message));
        let details = format!("{}\nrun: {}", item.location, one_line(&run.run));
        let details = if outcome.is_some() { details } else { String::new() };
        let name = format!("{} (score) in {}", item.id, run.run);
        self.suite(&item.location.file).add(&Case { class: &item.id, name: &name, outcome, details });
    }
}

fn case_name(command: Command, item: &Item, run: &str) -> String {
    match command {
        Command::Check => format!("{} in {run}", item.name()),
        Command::Test => item.name().to_owned(),
        Command::Lint => format!("{} at {}", item.name(), item.location),
    }
}

/// Where the assertion stands, and each of its violations with the places that prove it.
fn details(command: Command, item: &Item, run: &RunReport, result: &ResultReport) -> String {
    let mut text = match command {
        Command::Check => format!("\n{}: {}\nrun: {}\n", item.location, item.text, one_line(&run.run)),
        Command::Test | Command::Lint => format!("\n{}\n", item.location),
    };
    for standing::ViolationView { reason, evidence } in standing::violations(result) {
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

impl Suite {
    fn add(&mut self, case: &Case<'_>) {
        let counts = &mut self.counts;
        counts.tests += 1;
        let _ = write!(self.cases, "    <testcase classname=\"{}\" name=\"{}\"", xml(case.class), xml(case.name));
        let Some((element, kind, message)) = &case.outcome else {
            self.cases.push_str("/>\n");
            return;
        };
        match *element {
            "failure" => counts.failures += 1,
            "error" => counts.errors += 1,
            _ => counts.skipped += 1,
        }
        let (message, details) = (xml(message), content(&case.details));
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

    fn write(&self, table: &Table, by_rule: Option<&ByRule>, out: &mut dyn Write) -> io::Result<()> {
        let CaseCounts { tests, failures, errors, skipped } = self.counts;
        writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">",
            xml(&self.name)
        )?;
        let of_suite = |item: usize| table.items.get(item).is_some_and(|item| item.location.file == self.name);
        let rows = by_rule.map(|by_rule| by_rule.rows.as_slice()).unwrap_or_default();
        let mut rows = rows.iter().filter(|row| of_suite(row.item) && row.counts.all() > 0).peekable();
        if rows.peek().is_some() {
            writeln!(out, "    <properties>")?;
            rows.try_for_each(|row| {
                let (name, counts) = (xml(&row.name), row.counts.in_words());
                writeln!(out, "      <property name=\"rule {name}\" value=\"{counts}\"/>")
            })?;
            writeln!(out, "    </properties>")?;
        }
        out.write_all(self.cases.as_bytes())?;
        writeln!(out, "  </testsuite>")
    }
}

/// Text in an attribute: its line breaks stay line breaks.
fn xml(text: &str) -> String {
    content(text).replace('\n', "&#10;").replace('\t', "&#9;")
}

/// Text in XML. What XML 1.0 cannot hold is replaced.
fn content(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(character),
            // Escaped, so that readers take it back and nobody who looks at the file is led astray.
            hidden if hidden != '\r' && !hidden.is_control() && steers(hidden) => {
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

impl Report for Junit {
    fn begin(&mut self, table: &Table) -> io::Result<()> {
        self.by_rule = ByRule::new(table);
        if self.options.command == Command::Check {
            for item in &table.items {
                self.suite(&item.location.file);
            }
        }
        Ok(())
    }

    fn run(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        self.by_rule.add(run);
        run.results.iter().for_each(|result| self.result(table, run, result));
        standing::judged_rules(table, run).for_each(|rule| self.rule(table, run, rule));
        Ok(())
    }

    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()> {
        let name = format!("{}:{}:{}", what.file, what.line, what.column);
        let outcome = Some(("error", "unreadable", standing::line(&what.message, MESSAGE)));
        self.traces.add(&Case { class: "trace", name: &name, outcome, details: what.help.clone() });
        Ok(())
    }

    fn end(&mut self, table: &Table, ending: &Ending<'_>) -> io::Result<()> {
        if let Some(missing) = ending.totals.missing() {
            let message =
                format!("{missing} of the runs were not judged: the evaluation broke down or was interrupted");
            let outcome = Some(("error", "not-judged", message));
            self.traces.add(&Case { class: "trace", name: "every run was judged", outcome, details: String::new() });
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
        let by_rule = Some(&self.by_rule).filter(|_| self.options.command == Command::Check);
        self.suites.iter().try_for_each(|suite| suite.write(table, by_rule, &mut self.out))?;
        writeln!(self.out, "</testsuites>")?;
        self.out.flush()
    }
}
