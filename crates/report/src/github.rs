//! `--format github`: workflow commands of GitHub Actions. GitHub shows at most ten annotations of each level per step. So there is one annotation
//! per assertion, at its location in the rule file, most failures first.

use super::model::{RunReport, UnreadableTrace};
use super::standing::{self, FindingLevel};
use super::table::{ReportItem, ReportTable};
use super::worst_findings::{FindingExample, WorstFindings};
use super::{Options, Report, ReportEnding, ReportedCommand};
use averment_base::diagnostic::render::{one_line, printable};
use averment_base::words::count_noun;
use std::cmp::Reverse;
use std::io::{self, Write};

/// The `github` report.
pub struct GithubReport {
    out: Box<dyn Write>,
    options: Options,
    worst: WorstFindings,
    unread: Vec<UnreadableTrace>,
}

/// Maximum number of annotations for unreadable traces; the others are counted.
const UNREAD: usize = 3;
/// Maximum length of a sentence, in characters.
const SENTENCE: usize = 400;

impl GithubReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, worst: WorstFindings::default(), unread: Vec::new() }
    }

    fn write_annotation(&mut self, level: FindingLevel, place: &str, title: &str, lines: &[String]) -> io::Result<()> {
        let word = match level {
            FindingLevel::Error => "error",
            FindingLevel::Warning => "warning",
            FindingLevel::Note => "notice",
        };
        let message: Vec<String> = lines.iter().map(|line| escape_data(line)).collect();
        let comma = if place.is_empty() { "" } else { "," };
        writeln!(self.out, "::{word} {place}{comma}title={}::{}", escape_property(title), message.join("%0A"))
    }

    fn write_assertions(&mut self, table: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        let worst = std::mem::take(&mut self.worst);
        let runs = || count_noun(ending.totals.runs, "run");
        let mut annotations = Vec::new();
        for row in worst.sorted_rows() {
            let Some(item) = table.items.get(row.item) else { continue };
            let mut lines = Vec::new();
            if ending.totals.runs > 1 && self.options.command == ReportedCommand::Check {
                lines.push(format!("{} of {}", row.count, runs()));
            }
            let mut classes: Vec<&str> = row.examples.iter().filter_map(|one| one.class.as_deref()).collect();
            classes.dedup();
            if !classes.is_empty() {
                lines.push(format!("failure class: {}", classes.join(", ")));
            }
            lines.extend(row.examples.iter().map(|one| example_text(self.options.command, one)));
            annotations.push((row.level, row.failing, assertion_place(table, item), item.display_name(), lines));
        }
        for (rule, count, example) in &worst.rules {
            let Some(item) = table.rules.get(*rule) else { continue };
            let place = format!("file={},line={}", escape_property(&item.location.file), item.location.line);
            let lines = vec![format!("{count} of {}", runs()), example.clone()];
            annotations.push((FindingLevel::Error, *count, place, item.id.as_str(), lines));
        }
        // GitHub shows only the first ten annotations of a step, so they are sorted by importance.
        annotations.sort_by_key(|(level, failing, ..)| (Reverse(*level), Reverse(*failing)));
        for (level, _, place, title, lines) in annotations {
            self.write_annotation(level, &place, title, &lines)?;
        }
        let idle = worst.never_exercised(table);
        if !idle.is_empty() && self.options.command == ReportedCommand::Check {
            self.write_annotation(FindingLevel::Note, "", "never exercised", &[idle.join(", ")])?;
        }
        Ok(())
    }
}

fn example_text(command: ReportedCommand, example: &FindingExample) -> String {
    match command {
        ReportedCommand::Check => standing::shorten_line(&format!("{}: {}", example.run, example.sentence), SENTENCE),
        ReportedCommand::Test | ReportedCommand::Lint => standing::shorten_line(&example.sentence, SENTENCE),
    }
}

fn assertion_place(table: &ReportTable, item: &ReportItem) -> String {
    let end = table.sources.line_column(item.span.at_end());
    let (file, at) = (escape_property(&item.location.file), &item.location);
    match end.line >= at.line && table.sources.get(item.span.file).is_some() {
        true => {
            format!("file={file},line={},col={},endLine={},endColumn={}", at.line, at.column, end.line, end.column)
        }
        false => format!("file={file},line={},col={}", at.line, at.column),
    }
}

/// Escapes text in a workflow command, because a line break would start another command.
fn escape_data(text: &str) -> String {
    printable(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(&one_line(text)).replace(':', "%3A").replace(',', "%2C")
}

impl Report for GithubReport {
    fn begin_report(&mut self, table: &ReportTable) -> io::Result<()> {
        self.worst = WorstFindings::new(table, &self.options);
        Ok(())
    }

    fn add_run(&mut self, table: &ReportTable, run: &RunReport) -> io::Result<()> {
        self.worst.add_run(table, run);
        Ok(())
    }

    fn add_unreadable(&mut self, what: &UnreadableTrace) -> io::Result<()> {
        if self.unread.len() < UNREAD {
            self.unread.push(what.clone());
        }
        Ok(())
    }

    fn finish_report(&mut self, table: &ReportTable, ending: &ReportEnding<'_>) -> io::Result<()> {
        for one in std::mem::take(&mut self.unread) {
            let place = format!("file={},line={},col={}", escape_property(&one.file), one.line, one.column);
            self.write_annotation(FindingLevel::Error, &place, "cannot be read", &[one.message, one.help])?;
        }
        let rest = ending.totals.unreadable.saturating_sub(UNREAD as u64);
        if rest > 0 {
            self.write_annotation(FindingLevel::Error, "", "cannot be read", &[format!("{rest} more")])?;
        }
        if let Some(line) = ending.totals.missing_runs() {
            self.write_annotation(
                FindingLevel::Error,
                "",
                "not judged",
                &[format!("{line}: the evaluation broke down or was interrupted")],
            )?;
        }
        self.write_assertions(table, ending)?;
        if self.options.command == ReportedCommand::Check {
            writeln!(self.out, "{}: {}", count_noun(ending.totals.runs, "run"), ending.totals.counts.in_words())?;
        }
        self.out.flush()
    }
}
