//! `--format markdown`: a comment on a change, or the summary of a step: what failed most in a table, details folded. Foreign text stands in
//! code, where it is neither markup nor a mention of somebody.

use super::model::{RunReport, Unreadable};
use super::standing::{self, Level};
use super::table::Table;
use super::value::counted;
use super::worst::{Row, Worst};
use super::{Command, Ending, Options, Report};
use averment_base::diagnostic::render::one_line;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The report.
pub struct Markdown {
    out: Box<dyn Write>,
    options: Options,
    worst: Worst,
    unread: Vec<Unreadable>,
}

/// GitHub takes comments of 65,536 characters: what would go beyond this is counted instead.
const MOST: usize = 60_000;
/// Rows of the table.
const ROWS: usize = 50;
/// Traces that cannot be read that are named.
const UNREAD: usize = 10;
/// A sentence is cut to this many characters.
const SENTENCE: usize = 600;
/// A name is cut to this many characters.
const NAME: usize = 80;

impl Markdown {
    /// A report into a writer.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, worst: Worst::default(), unread: Vec::new() }
    }

    fn headline(&self, ending: &Ending<'_>) -> String {
        let totals = ending.totals;
        let mark = if ending.passed { "passed" } else { "failed" };
        let what = match self.options.command {
            Command::Check => format!("{} of {} failed", totals.runs_failed, counted(totals.runs, "run")),
            Command::Test => {
                format!("{} of {} did not come out as stated", totals.counts.fail, counted(totals.counts.all(), "test"))
            }
            Command::Lint => counted(totals.counts.fail, "finding"),
        };
        let mut text = format!("### `{}` {mark}: {what}\n\n", self.options.command.as_str());
        if self.options.command == Command::Check && totals.counts.all() > 0 {
            let _ = writeln!(text, "{}\n", totals.counts.in_words());
        }
        if let Some(missing) = totals.missing_runs() {
            let _ = writeln!(text, "**{missing} not judged: the evaluation broke down or was interrupted.**\n");
        }
        text
    }

    fn unread(&self, ending: &Ending<'_>) -> String {
        let mut text = String::new();
        if self.unread.is_empty() {
            return text;
        }
        let _ = writeln!(text, "**{} cannot be read:**\n", counted(ending.totals.unreadable, "trace"));
        for one in &self.unread {
            let place = code(&format!("{}:{}:{}", one.file, one.line, one.column), SENTENCE);
            let _ = writeln!(text, "- {place}: {}", code(&one.message, SENTENCE));
        }
        let rest = ending.totals.unreadable.saturating_sub(self.unread.len() as u64);
        if rest > 0 {
            let _ = writeln!(text, "- {rest} more");
        }
        text.push('\n');
        text
    }

    /// Counts of the rules, the one that failed most first.
    fn rules(&self) -> String {
        let mut rows: Vec<_> = self.worst.by_rule.rows.iter().filter(|row| row.counts.all() > 0).collect();
        rows.sort_by_key(|row| {
            let counts = row.counts;
            std::cmp::Reverse((counts.fail + counts.unexpected_passed + counts.error, counts.undecided))
        });
        let mut text = String::from(
            "| rule | fail | undecided | error | pass | vacuous | other |\n|---|--:|--:|--:|--:|--:|--:|\n",
        );
        for row in rows.iter().take(ROWS) {
            let counts = row.counts;
            let other = counts.skipped + counts.expected_failed + counts.unexpected_passed;
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {other} |",
                cell(&row.name),
                counts.fail,
                counts.undecided,
                counts.error,
                counts.pass,
                counts.vacuous
            );
        }
        if rows.len() > ROWS {
            let _ = writeln!(text, "\n{} more rules", rows.len() - ROWS);
        }
        text.push('\n');
        if rows.is_empty() { String::new() } else { text }
    }

    /// What is folded: the examples of an assertion.
    fn details(&self, table: &Table, row: &Row, ending: &Ending<'_>) -> String {
        let Some(item) = table.items.get(row.item) else { return String::new() };
        let word = match row.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        };
        let times = match self.options.command {
            Command::Check => format!(" — {} of {}", row.count, counted(ending.totals.runs, "run")),
            Command::Test | Command::Lint => String::new(),
        };
        let name = html(&standing::line(item.name(), NAME));
        let mut text = format!("<details><summary>{word}: <code>{name}</code>{times}</summary>\n\n");
        let _ = writeln!(text, "{}\n", code(&item.location.to_string(), SENTENCE));
        for one in &row.examples {
            let run = match self.options.command {
                Command::Check => format!("{}: ", code(&one.run, NAME)),
                Command::Test | Command::Lint => String::new(),
            };
            let _ = writeln!(text, "- {run}{}", code(&one.sentence, SENTENCE));
        }
        text.push_str("\n</details>\n");
        text
    }
}

/// Foreign text as code: nothing in it is markup.
fn code(text: &str, length: usize) -> String {
    let text = standing::line(text, length);
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let text = text.trim();
    match (text.is_empty(), text.starts_with('`') || text.ends_with('`')) {
        (true, _) => "` `".to_owned(),
        (false, true) => format!("{fence} {text} {fence}"),
        (false, false) => format!("{fence}{text}{fence}"),
    }
}

/// The same in a row of a table, which a bar would end.
fn cell(text: &str) -> String {
    code(&text.replace('\\', "/").replace('|', "¦"), NAME)
}

/// Foreign text in HTML: no sign in it is markup, of HTML or of Markdown.
fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in one_line(text).chars() {
        match character.is_ascii_punctuation() {
            true => {
                let _ = write!(escaped, "&#{};", u32::from(character));
            }
            false => escaped.push(character),
        }
    }
    escaped
}

impl Report for Markdown {
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
        let mut text = self.headline(ending) + &self.unread(ending);
        if self.options.command == Command::Check {
            text.push_str(&self.rules());
        }
        for (rule, count, example) in &self.worst.rules {
            let Some(item) = table.rules.get(*rule) else { continue };
            let times = counted(*count, "run");
            let _ = writeln!(
                text,
                "- {} misses its threshold in {times}: {}",
                code(&item.id, NAME),
                code(example, SENTENCE)
            );
        }
        if !self.worst.rules.is_empty() {
            text.push('\n');
        }
        let rows = self.worst.sorted();
        let mut length = text.chars().count();
        for (shown, row) in rows.iter().enumerate() {
            let details = self.details(table, row, ending);
            length += details.chars().count();
            if length > MOST {
                let _ =
                    writeln!(text, "\n{} more are not shown here.", counted((rows.len() - shown) as u64, "assertion"));
                break;
            }
            text.push_str(&details);
        }
        let idle = self.worst.never_exercised(table);
        if !idle.is_empty() && self.options.command == Command::Check {
            let named: Vec<String> = idle.iter().take(ROWS).map(|name| code(name, NAME)).collect();
            let rest = idle.len().saturating_sub(ROWS);
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            let _ = writeln!(text, "\nNever exercised: {}{more}", named.join(", "));
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}
