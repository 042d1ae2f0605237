//! `--format github`: workflow commands of GitHub Actions. GitHub shows ten annotations of each level and step, so there is one per
//! assertion, at its place in the rule file, the ones that fail most first.

use super::model::{RunReport, Unreadable};
use super::standing::{self, Level};
use super::table::{Item, Table};
use super::value::counted;
use super::worst::{Example, Worst};
use super::{Command, Ending, Options, Report};
use averment_base::diagnostic::render::{one_line, printable};
use std::cmp::Reverse;
use std::io::{self, Write};

/// The report.
pub struct Github {
    out: Box<dyn Write>,
    options: Options,
    worst: Worst,
    unread: Vec<Unreadable>,
}

/// Traces that cannot be read, each with an annotation; the others are counted.
const UNREAD: usize = 3;
/// A sentence is cut to this many characters.
const SENTENCE: usize = 400;

impl Github {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, worst: Worst::default(), unread: Vec::new() }
    }

    fn annotation(&mut self, level: Level, place: &str, title: &str, lines: &[String]) -> io::Result<()> {
        let word = match level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let message: Vec<String> = lines.iter().map(|line| data(line)).collect();
        let comma = if place.is_empty() { "" } else { "," };
        writeln!(self.out, "::{word} {place}{comma}title={}::{}", property(title), message.join("%0A"))
    }

    fn assertions(&mut self, table: &Table, ending: &Ending<'_>) -> io::Result<()> {
        let worst = std::mem::take(&mut self.worst);
        let runs = || counted(ending.totals.runs, "run");
        let mut annotations = Vec::new();
        for row in worst.sorted() {
            let Some(item) = table.items.get(row.item) else { continue };
            let mut lines = Vec::new();
            if ending.totals.runs > 1 && self.options.command == Command::Check {
                lines.push(format!("{} of {}", row.count, runs()));
            }
            let mut classes: Vec<&str> = row.examples.iter().filter_map(|one| one.class.as_deref()).collect();
            classes.dedup();
            if !classes.is_empty() {
                lines.push(format!("failure class: {}", classes.join(", ")));
            }
            lines.extend(row.examples.iter().map(|one| said(self.options.command, one)));
            annotations.push((row.level, row.failing, place(table, item), item.name(), lines));
        }
        for (rule, count, example) in &worst.rules {
            let Some(item) = table.rules.get(*rule) else { continue };
            let place = format!("file={},line={}", property(&item.location.file), item.location.line);
            let lines = vec![format!("{count} of {}", runs()), example.clone()];
            annotations.push((Level::Error, *count, place, item.id.as_str(), lines));
        }
        // GitHub shows the first ten of a step.
        annotations.sort_by_key(|(level, failing, ..)| (Reverse(*level), Reverse(*failing)));
        for (level, _, place, title, lines) in annotations {
            self.annotation(level, &place, title, &lines)?;
        }
        let idle = worst.never_exercised(table);
        if !idle.is_empty() && self.options.command == Command::Check {
            self.annotation(Level::Note, "", "never exercised", &[idle.join(", ")])?;
        }
        Ok(())
    }
}

fn said(command: Command, example: &Example) -> String {
    match command {
        Command::Check => standing::line(&format!("{}: {}", example.run, example.sentence), SENTENCE),
        Command::Test | Command::Lint => standing::line(&example.sentence, SENTENCE),
    }
}

/// Where an assertion stands, from its first to its last character.
fn place(table: &Table, item: &Item) -> String {
    let end = table.sources.position(item.span.at_end());
    let (file, at) = (property(&item.location.file), &item.location);
    match end.line >= at.line && table.sources.get(item.span.file).is_some() {
        true => {
            format!("file={file},line={},col={},endLine={},endColumn={}", at.line, at.column, end.line, end.column)
        }
        false => format!("file={file},line={},col={}", at.line, at.column),
    }
}

/// Text in a command: a line break in it would start another command.
fn data(text: &str) -> String {
    printable(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text in a property of a command.
fn property(text: &str) -> String {
    data(&one_line(text)).replace(':', "%3A").replace(',', "%2C")
}

impl Report for Github {
    fn begin(&mut self, table: &Table) -> io::Result<()> {
        self.worst = Worst::new(table, &self.options);
        Ok(())
    }

    fn run(&mut self, table: &Table, run: &RunReport) -> io::Result<()> {
        self.worst.add(table, run);
        Ok(())
    }

    fn unreadable(&mut self, what: &Unreadable) -> io::Result<()> {
        if self.unread.len() < UNREAD {
            self.unread.push(what.clone());
        }
        Ok(())
    }

    fn end(&mut self, table: &Table, ending: &Ending<'_>) -> io::Result<()> {
        for one in std::mem::take(&mut self.unread) {
            let place = format!("file={},line={},col={}", property(&one.file), one.line, one.column);
            self.annotation(Level::Error, &place, "cannot be read", &[one.message, one.help])?;
        }
        let rest = ending.totals.unreadable.saturating_sub(UNREAD as u64);
        if rest > 0 {
            self.annotation(Level::Error, "", "cannot be read", &[format!("{rest} more")])?;
        }
        if let Some(line) = ending.totals.missing_runs() {
            self.annotation(
                Level::Error,
                "",
                "not judged",
                &[format!("{line}: the evaluation broke down or was interrupted")],
            )?;
        }
        self.assertions(table, ending)?;
        if self.options.command == Command::Check {
            writeln!(self.out, "{}: {}", counted(ending.totals.runs, "run"), ending.totals.counts.in_words())?;
        }
        self.out.flush()
    }
}
