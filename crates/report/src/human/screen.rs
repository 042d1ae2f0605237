//! Of many runs: what to fix first, on one screen.
//!
//! Every assertion that fails runs has a line, the commonest first; as long as there is room each shows an example, and the first its whole
//! picture. What else fails runs follows, grouped by its reason, then what failed and fails none.

use super::lists::{LISTS, marked, said, scored, unjudged_by_its_rule, unjudged_title};
use super::tally::Listed;
use super::{Human, ItemTally};
use crate::show::Section;
use crate::table::{Item, Table};
use crate::{failure, value};
use averment_base::diagnostic::render::{Ink, one_line, paint};
use averment_engine::vm::outcome::Status;
use std::cmp::Reverse;

/// Lines of a screen, with the last one that says it all.
const LINES: usize = 40;
/// Lines of a list, at most: less where the whole would not fit.
const ROWS: [usize; 5] = [8, 5, 3, 2, 1];
/// Assertions that failed and are named.
const FAILED: usize = 20;
/// Lines that name what nothing exercised.
const NAMES: usize = 2;
/// Lines of an example behind the line of its assertion.
const EXAMPLE: usize = 2;
/// What stands above what cannot be read.
const UNREADABLE: &str = "cannot be read; --format short names every one, and what to do about it";
/// The sections of what fails runs.
const FAILING: [Section; 4] = [Section::Fail, Section::Unreadable, Section::Error, Section::Undecided];
/// Columns that an example is set in.
const INDENT: usize = 6;

/// A titled list.
struct List {
    section: Section,
    title: String,
    rows: Vec<String>,
}

/// What a list may take.
#[derive(Clone, Copy)]
struct Room {
    rows: usize,
    failed: usize,
}

impl Human {
    /// The screen without its last line.
    pub(super) fn screen(&self, table: &Table, runs: u64) -> String {
        let failing = self.most_failing(table).into_iter();
        let (failed, open) = failing.partition::<Vec<_>, _>(|(_, tally)| tally.gating > 0);
        let mut lists = self.all_lists(table, runs);
        let place = lists.iter().position(|list| !FAILING.contains(&list.section)).unwrap_or(lists.len());
        lists.insert(place, self.open_failures(&open, runs));
        lists.retain(|list| !list.rows.is_empty());
        let whole = self.options.show.is_whole();
        let fixed = |room: &Room| self.height(&failed, &lists, *room);
        // Examples are worth more than long lists.
        let examples = failed.len().min(FAILED) * EXAMPLE;
        let rooms = ROWS.map(|rows| Room { rows, failed: FAILED });
        let fits = rooms.iter().find(|room| fixed(room) + examples <= LINES);
        let room = match (whole, fits.or(rooms.last())) {
            (false, Some(room)) => *room,
            _ => Room { rows: usize::MAX, failed: usize::MAX },
        };
        let left = if whole { usize::MAX } else { LINES.saturating_sub(fixed(&room)) };
        let mut text = self.failures(&failed, runs, room, left);
        for list in &lists {
            text.push_str(&self.listed(list, room));
        }
        text.push_str(&self.names(table, runs));
        text
    }

    /// What failed, the most often first.
    fn most_failing<'a>(&'a self, table: &'a Table) -> Vec<(&'a Item, &'a ItemTally)> {
        let all = table.items.iter().zip(&self.items);
        let mut failed: Vec<_> = all.filter(|(_, tally)| tally.failed() > 0 && self.shows(Section::Fail)).collect();
        failed.sort_by_key(|(_, tally)| Reverse(tally.failed()));
        failed
    }

    /// The lines that are needed in any case.
    fn height(&self, failed: &[(&Item, &ItemTally)], lists: &[List], room: Room) -> usize {
        let block = |rows: usize, most: usize| match rows {
            0 => 0,
            _ => rows.min(most) + usize::from(rows > most) + 2,
        };
        let lists: usize = lists.iter().map(|list| block(list.rows.len(), room.rows)).sum();
        // The names, and the last line.
        block(failed.len(), room.failed) + lists + NAMES + 1 + 1
    }

    fn failures(&self, failed: &[(&Item, &ItemTally)], runs: u64, room: Room, left: usize) -> String {
        if failed.is_empty() {
            return String::new();
        }
        let shown = failed.len().min(room.failed);
        let examples = shown.min(left / EXAMPLE);
        let left = left.saturating_sub(examples.saturating_mul(EXAMPLE));
        let mut text = format!("{}\n", paint(self.options.style, Ink::Bold, "failed, what fails most runs first"));
        for (number, (item, tally)) in failed.iter().take(shown).enumerate() {
            text.push_str(&self.failure_line(item, tally, runs));
            let Some(example) = tally.example.as_ref().filter(|_| number < examples) else { continue };
            // What it is headed with stands above it.
            let picture = example.picture.trim_end().split_once('\n').map_or("", |(_, rest)| rest);
            let lines = picture.lines().count();
            // The first is shown whole where that fits, too.
            if number == 0 && lines > 0 && lines <= left.saturating_add(EXAMPLE) && !self.options.show.is_whole() {
                text.extend(picture.lines().map(|line| format!("    {line}\n")));
                continue;
            }
            text.push_str(&self.placed(&item.text, &item.location.to_string()));
            text.push_str(&self.placed(&example.step, &example.place));
        }
        if shown < failed.len() {
            text.push_str(&format!("  {} more assertions failed; --show fail lists them\n", failed.len() - shown));
        }
        text.push('\n');
        text
    }

    fn failure_line(&self, item: &Item, tally: &ItemTally, runs: u64) -> String {
        let said = tally.example.as_ref().map_or(item.text.as_str(), |example| &example.said);
        let head = often(tally.failed(), runs);
        let line = self.cut(&format!("{}: {said}", item.name()), head.chars().count() + 2);
        format!("  {}{line}\n", paint(self.options.style, Ink::Red, &head))
    }

    /// What failed and fails no run.
    fn open_failures(&self, open: &[(&Item, &ItemTally)], runs: u64) -> List {
        let rows = open.iter().map(|(item, tally)| {
            let said = tally.example.as_ref().map_or(item.text.as_str(), |example| &example.said);
            let line = format!("{}{}: {said}", often(tally.failed(), runs), item.name());
            self.told_first(&line, tally.example.as_ref().map_or("", |example| &example.place))
        });
        List { section: Section::Fail, title: "failed, without failing a run".to_owned(), rows: rows.collect() }
    }

    /// A line of an example, with its place at the end.
    fn placed(&self, what: &str, place: &str) -> String {
        let used = INDENT + 2 + place.chars().count();
        if what.is_empty() {
            return format!("{:INDENT$}{}\n", "", paint(self.options.style, Ink::Dim, &format!("in {place}")));
        }
        let what = value::shortened(&one_line(what), self.options.style.width.saturating_sub(used).max(30));
        format!("{:INDENT$}{what}  {}\n", "", paint(self.options.style, Ink::Dim, place))
    }

    fn all_lists(&self, table: &Table, runs: u64) -> Vec<List> {
        let mut lists = vec![self.thresholds_below(table, runs), self.unreadable_kinds()];
        for (section, listed, title) in LISTS {
            lists.push(self.grouped(table, section, listed, title, runs));
        }
        let unjudged = self.unjudged.iter().filter_map(|(item, sum)| {
            let item = table.items.get(item)?;
            let name = marked(unjudged_by_its_rule(item, self.options.policy), item.name());
            let words = format!("{name}: {}", one_line(&sum.in_words(true)));
            Some(self.cut(&words, 2))
        });
        let title = unjudged_title(self.options.policy).to_owned();
        lists.push(List { section: Section::Unjudged, title, rows: unjudged.collect() });
        lists.push(self.odd());
        lists.retain(|list| !list.rows.is_empty() && self.shows(list.section));
        lists
    }

    fn thresholds_below(&self, table: &Table, runs: u64) -> List {
        let below = table.rules.iter().zip(&self.rules).filter_map(|(item, tally)| {
            let ((run, score), threshold) = (tally.first.as_ref()?, item.threshold?);
            let score = scored(*score);
            let (head, run) = (often(tally.below, runs), one_line(run));
            Some(self.cut(&format!("{head}{}: {score}, threshold {threshold} in {run}", item.id), 2))
        });
        List { section: Section::Fail, title: "below the threshold".to_owned(), rows: below.collect() }
    }

    /// What nothing exercised is named in a line, unless it fails runs or was asked for.
    fn lists_vacuous(&self, item: &Item) -> bool {
        let policy = self.options.policy;
        self.options.show.is_whole() || policy.deny_vacuous || policy.with(item.denied).deny_vacuous
    }

    /// What came out in one way, grouped by reason: what fails in most runs first.
    fn grouped(&self, table: &Table, section: Section, listed: Listed, title: &str, runs: u64) -> List {
        let mut groups: Vec<(u64, &str, &str, Vec<String>)> = Vec::new();
        let told = |item: &Item| listed != Listed::Status(Status::Vacuous) || self.lists_vacuous(item);
        for (item, tally) in table.items.iter().zip(&self.items).filter(|(item, _)| told(item)) {
            let name = marked(self.by_its_rule(item, listed), item.name());
            let Some((_, run, reason)) = tally.reasons.iter().find(|(one, ..)| *one == listed) else { continue };
            let (count, reason) = (tally.count(listed), said(item, listed, reason));
            match groups.iter_mut().find(|(many, known, ..)| (*many, *known) == (count, reason)) {
                Some((.., names)) => names.push(name),
                None => groups.push((count, reason, run, vec![name])),
            }
        }
        groups.sort_by_key(|(count, ..)| Reverse(*count));
        let rows = groups.iter().map(|(count, reason, run, names)| {
            // What says what to do about it is not cut: it may have to be copied.
            if listed == Listed::Status(Status::Error) {
                return format!("{}{}: {}", often(*count, runs), one_line(reason), one_line(&names.join(", ")));
            }
            let reason = value::shortened(&one_line(reason), self.options.style.width / 2);
            let line = format!("{}{reason}: {}", often(*count, runs), names.join(", "));
            self.told_first(&line, if listed == Listed::Status(Status::Passed) { "" } else { run })
        });
        List { section, title: self.titled(listed, title), rows: rows.collect() }
    }

    fn unreadable_kinds(&self) -> List {
        let kinds = self.unread.kinds();
        let rows = kinds
            .iter()
            .map(|(message, count, first)| self.told_first(&format!("{count} times  {}", one_line(message)), first));
        List { section: Section::Unreadable, title: UNREADABLE.to_owned(), rows: rows.collect() }
    }

    /// What was odd in traces, the commonest first.
    fn odd(&self) -> List {
        let kinds = self.warnings.commonest();
        let rows = kinds
            .iter()
            .map(|(message, count, first)| self.told_first(&format!("{count} times  {}", one_line(message)), first));
        let more = (self.warnings.others > 0).then(|| format!("{} more, each in another way", self.warnings.others));
        List { section: Section::Warnings, title: "odd in the traces".to_owned(), rows: rows.chain(more).collect() }
    }

    fn listed(&self, list: &List, room: Room) -> String {
        let mut text = format!("{}\n", paint(self.options.style, Ink::Bold, &list.title));
        text.extend(list.rows.iter().take(room.rows).map(|row| format!("  {row}\n")));
        let rest = list.rows.len().saturating_sub(room.rows);
        if rest > 0 {
            text.push_str(&format!("  and {rest} more; --show {} lists them\n", list.section.as_str()));
        }
        text.push('\n');
        text
    }

    /// The assertions that no run exercised: nobody knows whether they can fail.
    fn names(&self, table: &Table, runs: u64) -> String {
        let idle = table.items.iter().zip(&self.items);
        let idle = idle.filter(|(item, tally)| tally.never_exercised() && !self.lists_vacuous(item));
        let names: Vec<&str> = idle.map(|(item, _)| item.name()).collect();
        if names.is_empty() || !self.shows(Section::Vacuous) {
            return String::new();
        }
        let text = format!("never exercised in {runs} runs: {}", one_line(&names.join(", ")));
        let lines = failure::wrapped(&text, self.options.style.width);
        let mut shown: String = lines.lines().take(NAMES).map(|line| format!("{line}\n")).collect();
        if lines.lines().count() > NAMES {
            shown.truncate(shown.len() - 1);
            shown.push_str(" …; --show vacuous\n");
        }
        shown.push('\n');
        shown
    }

    /// A line of a list with where that was first, which is left out where it does not fit.
    fn told_first(&self, line: &str, first: &str) -> String {
        let whole = format!("{line} (first {})", one_line(first));
        if first.is_empty() || whole.chars().count() + 2 > self.options.style.width {
            return self.cut(line, 2);
        }
        one_line(&whole).into_owned()
    }

    /// A text that fits the line behind `used` columns.
    fn cut(&self, text: &str, used: usize) -> String {
        value::shortened(&one_line(text), self.options.style.width.saturating_sub(used).max(40))
    }
}

/// ` 36 of 513 runs`, so that such lines stand in columns.
fn often(count: u64, runs: u64) -> String {
    let all = runs.to_string();
    format!("{count:>width$} of {all} runs  ", width = all.len())
}
