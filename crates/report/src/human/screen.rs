//! The report about many runs: what to fix first, on one screen.
//!
//! Every assertion that fails runs has a line, most frequent first. If there is space, each has an example, and the first one has a complete drawing.
//! Other causes of failed runs follow, grouped by reason, and then failures that fail no run.

use super::lists::{LISTS, marked_name, result_words, scored_text, unjudged_by_its_rule, unjudged_title};
use super::tally::ResultList;
use super::{HumanReport, ItemTally};
use crate::gate::Gate;
use crate::show::Section;
use crate::table::{ReportItem, ReportTable};
use crate::{failure, value};
use averment_base::diagnostic::render::{TextColor, one_line, paint_text};
use averment_engine::vm::outcome::Status;
use std::cmp::Reverse;

/// Number of lines on a screen, including the summary line.
const LINES: usize = 40;
/// Maximum numbers of lines in a list. Smaller ones are tried until the output fits.
const ROWS: [usize; 5] = [8, 5, 3, 2, 1];
/// Maximum number of failed assertions that are named.
const FAILED: usize = 20;
/// Number of lines for the names of unexercised assertions.
const NAMES: usize = 2;
/// Number of lines for an example below its assertion.
const EXAMPLE: usize = 2;
const UNREADABLE: &str = "cannot be read; --format short names every one, and what to do about it";
/// Sections with results that fail runs.
const FAILING: [Section; 4] = [Section::Fail, Section::Unreadable, Section::Error, Section::Undecided];
/// Indentation of examples, in columns.
const INDENT: usize = 6;

struct TitledList {
    section: Section,
    title: String,
    rows: Vec<String>,
}

#[derive(Clone, Copy)]
struct ListRoom {
    rows: usize,
    failed: usize,
}

impl HumanReport {
    pub(super) fn screen_text(&self, table: &ReportTable, runs: u64) -> String {
        let failing = self.most_failing(table).into_iter();
        let (failed, open) = failing.partition::<Vec<_>, _>(|(item, tally)| self.fails_runs(table, item, tally));
        let mut lists = self.all_lists(table, runs);
        let place = lists.iter().position(|list| !FAILING.contains(&list.section)).unwrap_or(lists.len());
        lists.insert(place, self.open_failures(&open, runs));
        lists.retain(|list| !list.rows.is_empty());
        let whole = self.options.show.is_whole();
        let fixed = |room: &ListRoom| self.needed_height(&failed, &lists, *room);
        // Lists are shortened first, because examples are more helpful.
        let examples = failed.len().min(FAILED) * EXAMPLE;
        let rooms = ROWS.map(|rows| ListRoom { rows, failed: FAILED });
        let fits = rooms.iter().find(|room| fixed(room) + examples <= LINES);
        let room = match (whole, fits.or(rooms.last())) {
            (false, Some(room)) => *room,
            _ => ListRoom { rows: usize::MAX, failed: usize::MAX },
        };
        let left = if whole { usize::MAX } else { LINES.saturating_sub(fixed(&room)) };
        let mut text = self.failures_text(&failed, runs, room, left);
        for list in &lists {
            text.push_str(&self.list_text(list, room));
        }
        text.push_str(&self.unexercised_names(table, runs));
        text
    }

    fn most_failing<'a>(&'a self, table: &'a ReportTable) -> Vec<(&'a ReportItem, &'a ItemTally)> {
        let all = table.items.iter().zip(&self.items);
        let mut failed: Vec<_> =
            all.filter(|(_, tally)| tally.failed_count() > 0 && self.shows_section(Section::Fail)).collect();
        failed.sort_by_key(|(_, tally)| Reverse(tally.failed_count()));
        failed
    }

    /// True if a failure of the assertion fails its run.
    fn fails_runs(&self, table: &ReportTable, item: &ReportItem, tally: &ItemTally) -> bool {
        let statuses = [Status::Failed, Status::UnexpectedPassed].into_iter();
        let mut there = statuses.filter(|status| tally.counts.with_status(*status) > 0);
        there.any(|status| table.status_gate(item, status, self.options.policy) != Gate::Open)
    }

    fn needed_height(&self, failed: &[(&ReportItem, &ItemTally)], lists: &[TitledList], room: ListRoom) -> usize {
        let block = |rows: usize, most: usize| match rows {
            0 => 0,
            _ => rows.min(most) + usize::from(rows > most) + 2,
        };
        let lists: usize = lists.iter().map(|list| block(list.rows.len(), room.rows)).sum();
        // The names, and the summary line.
        block(failed.len(), room.failed) + lists + NAMES + 1 + 1
    }

    fn failures_text(&self, failed: &[(&ReportItem, &ItemTally)], runs: u64, room: ListRoom, left: usize) -> String {
        if failed.is_empty() {
            return String::new();
        }
        let shown = failed.len().min(room.failed);
        let examples = shown.min(left / EXAMPLE);
        let left = left.saturating_sub(examples.saturating_mul(EXAMPLE));
        let mut text =
            format!("{}\n", paint_text(self.options.style, TextColor::Bold, "failed, what fails most runs first"));
        for (number, (item, tally)) in failed.iter().take(shown).enumerate() {
            text.push_str(&self.failure_line(item, tally, runs));
            let Some(example) = tally.example.as_ref().filter(|_| number < examples) else { continue };
            // The heading of the drawing repeats the line above it, so it is removed.
            let picture = example.picture.trim_end().split_once('\n').map_or("", |(_, rest)| rest);
            let lines = picture.lines().count();
            // The first drawing is shown completely if it fits.
            if number == 0 && lines > 0 && lines <= left.saturating_add(EXAMPLE) && !self.options.show.is_whole() {
                text.extend(picture.lines().map(|line| format!("    {line}\n")));
                continue;
            }
            text.push_str(&self.place_at_end(&item.text, &item.location.to_string()));
            text.push_str(&self.place_at_end(&example.step, &example.place));
        }
        if shown < failed.len() {
            text.push_str(&format!("  {} more assertions failed; --show fail lists them\n", failed.len() - shown));
        }
        text.push('\n');
        text
    }

    fn failure_line(&self, item: &ReportItem, tally: &ItemTally, runs: u64) -> String {
        let said = tally.example.as_ref().map_or(item.text.as_str(), |example| &example.said);
        let head = run_share(tally.failed_count(), runs);
        let line = self.cut_text(&format!("{}: {said}", item.display_name()), head.chars().count() + 2);
        format!("  {}{line}\n", paint_text(self.options.style, TextColor::Red, &head))
    }

    fn open_failures(&self, open: &[(&ReportItem, &ItemTally)], runs: u64) -> TitledList {
        let rows = open.iter().map(|(item, tally)| {
            let said = tally.example.as_ref().map_or(item.text.as_str(), |example| &example.said);
            let line = format!("{}{}: {said}", run_share(tally.failed_count(), runs), item.display_name());
            self.told_first(&line, tally.example.as_ref().map_or("", |example| &example.place))
        });
        TitledList { section: Section::Fail, title: "failed, without failing a run".to_owned(), rows: rows.collect() }
    }

    fn place_at_end(&self, what: &str, place: &str) -> String {
        let used = INDENT + 2 + place.chars().count();
        if what.is_empty() {
            return format!(
                "{:INDENT$}{}\n",
                "",
                paint_text(self.options.style, TextColor::Dim, &format!("in {place}"))
            );
        }
        let what = value::shorten_text(&one_line(what), self.options.style.width.saturating_sub(used).max(30));
        format!("{:INDENT$}{what}  {}\n", "", paint_text(self.options.style, TextColor::Dim, place))
    }

    fn all_lists(&self, table: &ReportTable, runs: u64) -> Vec<TitledList> {
        let mut lists = vec![self.thresholds_below(table, runs), self.unreadable_kinds()];
        for (section, listed, title) in LISTS {
            lists.push(self.grouped_list(table, section, listed, title, runs));
        }
        let unjudged = self.unjudged.iter().filter_map(|(item, sum)| {
            let item = table.items.get(item)?;
            let name = marked_name(unjudged_by_its_rule(item, self.options.policy), item.display_name());
            let words = format!("{name}: {}", one_line(&sum.in_words(true)));
            Some(self.cut_text(&words, 2))
        });
        let title = unjudged_title(self.options.policy).to_owned();
        lists.push(TitledList { section: Section::Unjudged, title, rows: unjudged.collect() });
        lists.push(self.warning_list());
        lists.retain(|list| !list.rows.is_empty() && self.shows_section(list.section));
        lists
    }

    fn thresholds_below(&self, table: &ReportTable, runs: u64) -> TitledList {
        let below = table.rules.iter().zip(&self.rules).filter_map(|(item, tally)| {
            let ((run, score), threshold) = (tally.first.as_ref()?, item.threshold?);
            let score = scored_text(*score);
            let (head, run) = (run_share(tally.below, runs), one_line(run));
            Some(self.cut_text(&format!("{head}{}: {score}, threshold {threshold} in {run}", item.id), 2))
        });
        TitledList { section: Section::Fail, title: "below the threshold".to_owned(), rows: below.collect() }
    }

    /// True if vacuous assertions are listed: they fail runs or were requested.
    fn lists_vacuous(&self, item: &ReportItem) -> bool {
        let policy = self.options.policy;
        self.options.show.is_whole() || policy.deny_vacuous || policy.with_denied(item.denied).deny_vacuous
    }

    fn grouped_list(
        &self,
        table: &ReportTable,
        section: Section,
        listed: ResultList,
        title: &str,
        runs: u64,
    ) -> TitledList {
        let mut groups: Vec<(u64, &str, &str, Vec<String>)> = Vec::new();
        let told = |item: &ReportItem| listed != ResultList::Status(Status::Vacuous) || self.lists_vacuous(item);
        for (item, tally) in table.items.iter().zip(&self.items).filter(|(item, _)| told(item)) {
            let name = marked_name(self.by_its_rule(item, listed), item.display_name());
            let Some((_, run, reason)) = tally.reasons.iter().find(|(one, ..)| *one == listed) else { continue };
            let (count, reason) = (tally.listed_count(listed), result_words(item, listed, reason));
            match groups.iter_mut().find(|(many, known, ..)| (*many, *known) == (count, reason)) {
                Some((.., names)) => names.push(name),
                None => groups.push((count, reason, run, vec![name])),
            }
        }
        groups.sort_by_key(|(count, ..)| Reverse(*count));
        let rows = groups.iter().map(|(count, reason, run, names)| {
            // Errors contain a suggestion that the user may copy, so they are not cut.
            if listed == ResultList::Status(Status::Error) {
                return format!("{}{}: {}", run_share(*count, runs), one_line(reason), one_line(&names.join(", ")));
            }
            let reason = value::shorten_text(&one_line(reason), self.options.style.width / 2);
            let line = format!("{}{reason}: {}", run_share(*count, runs), names.join(", "));
            self.told_first(&line, if listed == ResultList::Status(Status::Passed) { "" } else { run })
        });
        TitledList { section, title: self.list_title(listed, title), rows: rows.collect() }
    }

    fn unreadable_kinds(&self) -> TitledList {
        let kinds = self.unread.counted_kinds();
        let rows = kinds
            .iter()
            .map(|(message, count, first)| self.told_first(&format!("{count} times  {}", one_line(message)), first));
        TitledList { section: Section::Unreadable, title: UNREADABLE.to_owned(), rows: rows.collect() }
    }

    fn warning_list(&self) -> TitledList {
        let kinds = self.warnings.most_common();
        let rows = kinds
            .iter()
            .map(|(message, count, first)| self.told_first(&format!("{count} times  {}", one_line(message)), first));
        let more = (self.warnings.others > 0).then(|| format!("{} more, each in another way", self.warnings.others));
        TitledList {
            section: Section::Warnings,
            title: "odd in the traces".to_owned(),
            rows: rows.chain(more).collect(),
        }
    }

    fn list_text(&self, list: &TitledList, room: ListRoom) -> String {
        let mut text = format!("{}\n", paint_text(self.options.style, TextColor::Bold, &list.title));
        text.extend(list.rows.iter().take(room.rows).map(|row| format!("  {row}\n")));
        let rest = list.rows.len().saturating_sub(room.rows);
        if rest > 0 {
            text.push_str(&format!("  and {rest} more; --show {} lists them\n", list.section.as_str()));
        }
        text.push('\n');
        text
    }

    fn unexercised_names(&self, table: &ReportTable, runs: u64) -> String {
        let idle = table.items.iter().zip(&self.items);
        let idle = idle.filter(|(item, tally)| tally.never_exercised() && !self.lists_vacuous(item));
        let names: Vec<&str> = idle.map(|(item, _)| item.display_name()).collect();
        if names.is_empty() || !self.shows_section(Section::Vacuous) {
            return String::new();
        }
        let text = format!("never exercised in {runs} runs: {}", one_line(&names.join(", ")));
        let lines = failure::wrap_text(&text, self.options.style.width);
        let mut shown: String = lines.lines().take(NAMES).map(|line| format!("{line}\n")).collect();
        if lines.lines().count() > NAMES {
            shown.truncate(shown.len() - 1);
            shown.push_str(" …; --show vacuous\n");
        }
        shown.push('\n');
        shown
    }

    fn told_first(&self, line: &str, first: &str) -> String {
        let whole = format!("{line} (first {})", one_line(first));
        if first.is_empty() || whole.chars().count() + 2 > self.options.style.width {
            return self.cut_text(line, 2);
        }
        one_line(&whole).into_owned()
    }

    fn cut_text(&self, text: &str, used: usize) -> String {
        value::shorten_text(&one_line(text), self.options.style.width.saturating_sub(used).max(40))
    }
}

/// Returns a share of runs, such as ` 36 of 513 runs`, padded for alignment.
fn run_share(count: u64, runs: u64) -> String {
    let all = runs.to_string();
    format!("{count:>width$} of {all} runs  ", width = all.len())
}
