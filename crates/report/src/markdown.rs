//! `--format markdown`: a comment on a pull request, or a step summary: the most frequent failures in a table, with collapsed details. Untrusted text
//! is shown as code, so that it is neither markup nor a mention of a user.

use super::model::{RunReport, UnreadableTrace};
use super::standing::{self, FindingLevel};
use super::table::ReportTable;
use super::worst_findings::{WorstFindings, WorstRow};
use super::{Options, Report, ReportEnding, ReportedCommand};
use averment_base::diagnostic::render::one_line;
use averment_base::words::count_noun;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The `markdown` report.
pub struct MarkdownReport {
    out: Box<dyn Write>,
    options: Options,
    worst: WorstFindings,
    unread: Vec<UnreadableTrace>,
}

/// Maximum size in bytes, since GitHub limits comments to 65,536 characters. Rows beyond it are only counted.
const MOST: usize = 60_000;
/// Maximum number of table rows.
const ROWS: usize = 50;
/// Maximum number of unreadable traces that are named.
const UNREAD: usize = 10;
/// Maximum length of a sentence, in characters.
const SENTENCE: usize = 600;
/// Maximum length of a name, in characters.
const NAME: usize = 80;

impl MarkdownReport {
    /// Creates a report that writes to `out`.
    pub fn new(out: Box<dyn Write>, options: Options) -> Self {
        Self { out, options, worst: WorstFindings::default(), unread: Vec::new() }
    }

    fn headline_text(&self, ending: &ReportEnding<'_>) -> String {
        let totals = ending.totals;
        let mark = if ending.passed { "passed" } else { "failed" };
        let what = match self.options.command {
            ReportedCommand::Check => format!("{} of {} failed", totals.runs_failed, count_noun(totals.runs, "run")),
            ReportedCommand::Test => {
                format!(
                    "{} of {} did not come out as stated",
                    totals.counts.fail,
                    count_noun(totals.counts.all_results(), "test")
                )
            }
            ReportedCommand::Lint => count_noun(totals.counts.fail, "finding"),
        };
        let mut text = format!("### `{}` {mark}: {what}\n\n", self.options.command.as_str());
        if self.options.command == ReportedCommand::Check && totals.counts.all_results() > 0 {
            let _ = writeln!(text, "{}\n", totals.counts.in_words());
        }
        if let Some(missing) = totals.missing_runs() {
            let _ = writeln!(text, "**{missing} not judged: the evaluation broke down or was interrupted.**\n");
        }
        text
    }

    fn unread_text(&self, ending: &ReportEnding<'_>) -> String {
        let mut text = String::new();
        if self.unread.is_empty() {
            return text;
        }
        let _ = writeln!(text, "**{} cannot be read:**\n", count_noun(ending.totals.unreadable, "trace"));
        for one in &self.unread {
            let place = code_text(&format!("{}:{}:{}", one.file, one.line, one.column), SENTENCE);
            let _ = writeln!(text, "- {place}: {}", code_text(&one.message, SENTENCE));
        }
        let rest = ending.totals.unreadable.saturating_sub(self.unread.len() as u64);
        if rest > 0 {
            let _ = writeln!(text, "- {rest} more");
        }
        text.push('\n');
        text
    }

    fn rules_table(&self) -> String {
        let mut rows: Vec<_> = self.worst.by_rule.rows.iter().filter(|row| row.counts.all_results() > 0).collect();
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
                cell_text(&row.name),
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

    fn failure_details(&self, table: &ReportTable, row: &WorstRow, ending: &ReportEnding<'_>) -> String {
        let Some(item) = table.items.get(row.item) else { return String::new() };
        let word = match row.level {
            FindingLevel::Error => "error",
            FindingLevel::Warning => "warning",
            FindingLevel::Note => "note",
        };
        let times = match self.options.command {
            ReportedCommand::Check => format!(" — {} of {}", row.count, count_noun(ending.totals.runs, "run")),
            ReportedCommand::Test | ReportedCommand::Lint => String::new(),
        };
        let name = escape_html(&standing::shorten_line(item.display_name(), NAME));
        let mut text = format!("<details><summary>{word}: <code>{name}</code>{times}</summary>\n\n");
        let _ = writeln!(text, "{}\n", code_text(&item.location.to_string(), SENTENCE));
        for one in &row.examples {
            let run = match self.options.command {
                ReportedCommand::Check => format!("{}: ", code_text(&one.run, NAME)),
                ReportedCommand::Test | ReportedCommand::Lint => String::new(),
            };
            let _ = writeln!(text, "- {run}{}", code_text(&one.sentence, SENTENCE));
        }
        text.push_str("\n</details>\n");
        text
    }
}

fn code_text(text: &str, length: usize) -> String {
    let text = standing::shorten_line(text, length);
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let text = text.trim();
    match (text.is_empty(), text.starts_with('`') || text.ends_with('`')) {
        (true, _) => "` `".to_owned(),
        (false, true) => format!("{fence} {text} {fence}"),
        (false, false) => format!("{fence}{text}{fence}"),
    }
}

/// Returns text for a table row. `|` is replaced, because it would end the cell.
fn cell_text(text: &str) -> String {
    code_text(&text.replace('|', "¦"), NAME)
}

/// Escapes untrusted text for HTML and Markdown.
fn escape_html(text: &str) -> String {
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

impl Report for MarkdownReport {
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
        let mut text = self.headline_text(ending) + &self.unread_text(ending);
        if self.options.command == ReportedCommand::Check {
            text.push_str(&self.rules_table());
        }
        for (rule, count, example) in &self.worst.rules {
            let Some(item) = table.rules.get(*rule) else { continue };
            let times = count_noun(*count, "run");
            let _ = writeln!(
                text,
                "- {} misses its threshold in {times}: {}",
                code_text(&item.id, NAME),
                code_text(example, SENTENCE)
            );
        }
        if !self.worst.rules.is_empty() {
            text.push('\n');
        }
        let rows = self.worst.sorted_rows();
        let mut length = text.chars().count();
        for (shown, row) in rows.iter().enumerate() {
            let details = self.failure_details(table, row, ending);
            length += details.chars().count();
            if length > MOST {
                let _ = writeln!(
                    text,
                    "\n{} more are not shown here.",
                    count_noun((rows.len() - shown) as u64, "assertion")
                );
                break;
            }
            text.push_str(&details);
        }
        let idle = self.worst.never_exercised(table);
        if !idle.is_empty() && self.options.command == ReportedCommand::Check {
            let named: Vec<String> = idle.iter().take(ROWS).map(|name| code_text(name, NAME)).collect();
            let rest = idle.len().saturating_sub(ROWS);
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            let _ = writeln!(text, "\nNever exercised: {}{more}", named.join(", "));
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}
