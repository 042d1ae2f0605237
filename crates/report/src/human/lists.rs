//! Lists after the drawings, for few runs: one assertion per line.

use super::tally::{NAMES, ResultList};
use super::{HumanReport, ItemTally, score_text};
use crate::Options;
use crate::gate::GatePolicy;
use crate::show::Section;
use crate::table::{ReportItem, ReportTable};
use crate::unjudged::UnjudgedTotals;
use crate::{failure, value};
use averment_base::diagnostic::render::{TextColor, one_line, paint_text};
use averment_engine::vm::outcome::Status;
use std::io::{self, Write};

/// Width of the column with ids, in columns.
const ID: usize = 30;
/// Maximum length of a reason, in characters.
pub(super) const REASON: usize = 400;

/// Statuses that are listed with a reason, most severe first.
pub(super) const LISTS: [(Section, ResultList, &str); 6] = [
    (Section::Error, ResultList::Status(Status::Error), "could not be evaluated"),
    (Section::Undecided, ResultList::Status(Status::Undecided), "undecided: the run does not record what is needed"),
    (Section::Expected, ResultList::Status(Status::ExpectedFailed), "failed, as expected"),
    (Section::Known, ResultList::Known, "known: the baseline has it"),
    (Section::Vacuous, ResultList::Status(Status::Vacuous), "vacuous: it holds, but nothing exercised it"),
    (Section::Pass, ResultList::Status(Status::Passed), "passed"),
];

impl HumanReport {
    pub(super) fn write_lists(&mut self, table: &ReportTable, runs: u64) -> io::Result<()> {
        if self.shows_section(Section::Fail) {
            if runs > 1 {
                self.write_failed(table, runs)?
            } else {
                self.not_drawn(table)?
            }
            self.write_thresholds(table, runs > 1)?;
        }
        for (section, listed, title) in LISTS {
            if self.shows_section(section) {
                self.write_list(table, listed, &self.list_title(listed, title), runs)?;
            }
        }
        if self.shows_section(Section::Unjudged) {
            write_unjudged(&mut self.out, table, &self.options, &self.unjudged, runs > 1)?;
        }
        Ok(())
    }

    fn write_failed(&mut self, table: &ReportTable, runs: u64) -> io::Result<()> {
        let failed = || table.items.iter().zip(&self.items).filter(|(_, tally)| tally.failed_count() > 0);
        if failed().next().is_none() {
            return Ok(());
        }
        writeln!(self.out, "{}", paint_text(self.options.style, TextColor::Bold, "failed"))?;
        for (item, tally) in failed() {
            let names = tally.failed_in.iter().map(|name| one_line(name)).collect::<Vec<_>>().join(", ");
            let more = if tally.failed_count() > u64::try_from(NAMES).unwrap_or(u64::MAX) { ", …" } else { "" };
            write_row(
                &mut self.out,
                item.display_name(),
                &format!("{} of {runs} runs: {names}{more}", tally.failed_count()),
            )?;
        }
        let hidden: u64 = failed().map(|(_, tally)| tally.failed_count().saturating_sub(tally.drawn)).sum();
        if hidden > 0 {
            let hidden = format!("{hidden} failures are not drawn; --max-failures N draws more");
            writeln!(self.out, "  {}", paint_text(self.options.style, TextColor::Dim, &hidden))?;
        }
        writeln!(self.out)
    }

    fn not_drawn(&mut self, table: &ReportTable) -> io::Result<()> {
        let hidden = |tally: &&ItemTally| tally.failed_count() > 0 && tally.drawn == 0;
        let count = self.items.iter().filter(hidden).count();
        if count == 0 {
            return Ok(());
        }
        let title = format!("failed, too; --max-failures {} draws all", self.items.len());
        writeln!(self.out, "{}", paint_text(self.options.style, TextColor::Bold, &title))?;
        for (item, tally) in table.items.iter().zip(&self.items).filter(|(_, tally)| hidden(tally)) {
            let said = tally.example.as_ref().map_or(item.text.as_str(), |example| &example.said);
            let room = self.text_room();
            write_broken(&mut self.out, item.display_name(), &value::shorten_text(&one_line(said), REASON), room)?;
        }
        writeln!(self.out)
    }

    fn write_thresholds(&mut self, table: &ReportTable, many: bool) -> io::Result<()> {
        let mut any = false;
        for (item, tally) in table.rules.iter().zip(&self.rules) {
            let (Some((run, score)), Some(threshold)) = (&tally.first, item.threshold) else { continue };
            if !any {
                writeln!(self.out, "{}", paint_text(self.options.style, TextColor::Bold, "below the threshold"))?;
            }
            any = true;
            let place =
                if many { format!(" in {}, {} runs in all", one_line(run), tally.below) } else { String::new() };
            write_row(&mut self.out, &item.id, &format!("{}, threshold {threshold}{place}", scored_text(*score)))?;
        }
        if any { writeln!(self.out) } else { Ok(()) }
    }

    fn write_list(&mut self, table: &ReportTable, listed: ResultList, title: &str, runs: u64) -> io::Result<()> {
        let room = self.text_room();
        let mut any = false;
        for (item, tally) in table.items.iter().zip(&self.items) {
            let Some((_, run, reason)) = tally.reasons.iter().find(|(one, ..)| *one == listed) else { continue };
            if !any {
                writeln!(self.out, "{}", paint_text(self.options.style, TextColor::Bold, title))?;
            }
            any = true;
            // Users must locate results that fail a run, so these have a place. Vacuous and passed results have none.
            let found = !matches!(listed, ResultList::Status(Status::Vacuous | Status::Passed));
            let place = if found { format!(" ({})", one_line(run)) } else { String::new() };
            let count = tally.listed_count(listed);
            let often = if runs > 1 { format!("{count} of {runs} runs{place}: ") } else { String::new() };
            let text = value::shorten_text(&one_line(result_words(item, listed, reason)), REASON);
            let text = format!("{often}{text}{}", own_word_text(self.by_its_rule(item, listed)));
            // Errors contain a suggestion that the user may copy, so their lines are not wrapped.
            match listed {
                ResultList::Status(Status::Error) => write_row(&mut self.out, item.display_name(), &text)?,
                _ => write_broken(&mut self.out, item.display_name(), &text, room)?,
            }
        }
        if any { writeln!(self.out) } else { Ok(()) }
    }

    pub(super) fn list_title(&self, listed: ResultList, title: &str) -> String {
        let denied = listed == ResultList::Status(Status::Vacuous) && self.options.policy.deny_vacuous;
        if denied { format!("{title}, which --deny vacuous makes a failure") } else { title.to_owned() }
    }

    /// Returns the rule's own setting for an outcome, if it differs from the command line.
    pub(super) fn by_its_rule(&self, item: &ReportItem, listed: ResultList) -> Option<OwnWord> {
        let policy = self.options.policy;
        let own = policy.with_denied(item.denied);
        match listed {
            ResultList::Status(Status::Vacuous) => {
                own_word(["deny vacuous", "allow vacuous"], policy.deny_vacuous, own.deny_vacuous)
            }
            ResultList::Status(Status::Undecided) => {
                own_word(["deny undecided", "allow undecided"], !policy.allow_undecided, !own.allow_undecided)
            }
            _ => None,
        }
    }

    fn text_room(&self) -> usize {
        self.options.style.width.max(60).saturating_sub(ID + 2).max(40)
    }
}

/// Returns the explanation: the author's reason for an expected failure, otherwise the reason of the result, otherwise the assertion.
pub(super) fn result_words<'a>(item: &'a ReportItem, listed: ResultList, reason: &'a str) -> &'a str {
    let expected = listed == ResultList::Status(Status::ExpectedFailed);
    let why = item.expected.as_deref().filter(|why| expected && !why.is_empty());
    why.unwrap_or(if reason.is_empty() { &item.text } else { reason })
}

pub(super) fn scored_text(score: Option<f64>) -> String {
    score.map_or("no score".to_owned(), |score| format!("score {}", score_text(score)))
}

pub(super) fn unjudged_title(policy: GatePolicy) -> &'static str {
    match policy.deny_unjudged {
        true => "passed, but did not judge every step, which --deny unjudged makes a failure",
        false => "passed, but did not judge every step",
    }
}

pub(super) type OwnWord = (&'static str, &'static str);

fn own_word([deny, allow]: [&'static str; 2], fails: bool, fails_by_rule: bool) -> Option<OwnWord> {
    match (fails, fails_by_rule) {
        (false, true) => Some((deny, "makes a failure")),
        (true, false) => Some((allow, "lets pass")),
        _ => None,
    }
}

fn own_word_text(own: Option<OwnWord>) -> String {
    own.map_or(String::new(), |(word, does)| format!(", which `{word}` {does}"))
}

pub(super) fn marked_name(own: Option<OwnWord>, name: &str) -> String {
    own.map_or(name.to_owned(), |(word, _)| format!("({word}) {name}"))
}

pub(super) fn unjudged_by_its_rule(item: &ReportItem, policy: GatePolicy) -> Option<OwnWord> {
    own_word(["deny unjudged", "allow unjudged"], policy.deny_unjudged, policy.with_denied(item.denied).deny_unjudged)
}

/// Writes passing assertions that could not judge every step, one per line.
pub fn write_unjudged(
    out: &mut dyn Write,
    table: &ReportTable,
    options: &Options,
    all: &UnjudgedTotals,
    many: bool,
) -> io::Result<()> {
    let Options { style, policy, .. } = *options;
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", paint_text(style, TextColor::Bold, unjudged_title(policy)))?;
    for (item, sum) in all.iter() {
        if let Some(item) = table.items.get(item) {
            let said = one_line(&sum.in_words(many)).into_owned();
            write_row(
                out,
                item.display_name(),
                &format!("{said}{}", own_word_text(unjudged_by_its_rule(item, policy))),
            )?;
        }
    }
    writeln!(out)
}

fn write_broken(out: &mut dyn Write, id: &str, text: &str, room: usize) -> io::Result<()> {
    for (number, line) in failure::wrap_text(text, room).lines().enumerate() {
        write_row(out, if number == 0 { id } else { "" }, line)?;
    }
    Ok(())
}

fn write_row(out: &mut dyn Write, id: &str, text: &str) -> io::Result<()> {
    let id = value::shorten_text(&one_line(id), ID - 2);
    let gap = ID.saturating_sub(id.chars().count());
    writeln!(out, "  {id}{:gap$}{text}", "")
}
