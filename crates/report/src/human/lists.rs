//! Of a few runs: what stands behind the pictures, an assertion a line.

use super::tally::{Listed, NAMES};
use super::{Human, ItemTally, score_text};
use crate::Options;
use crate::gate::Policy;
use crate::show::Section;
use crate::table::{Item, Table};
use crate::unjudged::UnjudgedTotals;
use crate::{failure, value};
use averment_base::diagnostic::render::{Ink, one_line, paint};
use averment_engine::vm::outcome::Status;
use std::io::{self, Write};

/// Width of the column of ids.
const ID: usize = 30;
/// Characters of a reason.
pub(super) const REASON: usize = 400;

/// What is listed with a reason, gravest first.
pub(super) const LISTS: [(Section, Listed, &str); 6] = [
    (Section::Error, Listed::Status(Status::Error), "could not be evaluated"),
    (Section::Undecided, Listed::Status(Status::Undecided), "undecided: the run does not record what is needed"),
    (Section::Expected, Listed::Status(Status::ExpectedFailed), "failed, as expected"),
    (Section::Known, Listed::Known, "known: the baseline has it"),
    (Section::Vacuous, Listed::Status(Status::Vacuous), "vacuous: it holds, but nothing exercised it"),
    (Section::Pass, Listed::Status(Status::Passed), "passed"),
];

impl Human {
    /// Everything behind the pictures.
    pub(super) fn lists(&mut self, table: &Table, runs: u64) -> io::Result<()> {
        if self.shows(Section::Fail) {
            if runs > 1 {
                self.failed(table, runs)?
            } else {
                self.not_drawn(table)?
            }
            self.thresholds(table, runs > 1)?;
        }
        for (section, listed, title) in LISTS {
            if self.shows(section) {
                self.list(table, listed, &self.titled(listed, title), runs)?;
            }
        }
        if self.shows(Section::Unjudged) {
            unjudged(&mut self.out, table, &self.options, &self.unjudged, runs > 1)?;
        }
        Ok(())
    }

    /// In several runs: each assertion that failed, how often, and where first.
    fn failed(&mut self, table: &Table, runs: u64) -> io::Result<()> {
        let failed = || table.items.iter().zip(&self.items).filter(|(_, tally)| tally.failed() > 0);
        if failed().next().is_none() {
            return Ok(());
        }
        writeln!(self.out, "{}", paint(self.options.style, Ink::Bold, "failed"))?;
        for (item, tally) in failed() {
            let names = tally.failed_in.iter().map(|name| one_line(name)).collect::<Vec<_>>().join(", ");
            let more = if tally.failed() > u64::try_from(NAMES).unwrap_or(u64::MAX) { ", …" } else { "" };
            row(&mut self.out, item.name(), &format!("{} of {runs} runs: {names}{more}", tally.failed()))?;
        }
        let hidden: u64 = failed().map(|(_, tally)| tally.failed().saturating_sub(tally.drawn)).sum();
        if hidden > 0 {
            let hidden = format!("{hidden} failures are not drawn; --max-failures N draws more");
            writeln!(self.out, "  {}", paint(self.options.style, Ink::Dim, &hidden))?;
        }
        writeln!(self.out)
    }

    /// In a single run: what failed and is not drawn.
    fn not_drawn(&mut self, table: &Table) -> io::Result<()> {
        let hidden = |tally: &&ItemTally| tally.failed() > 0 && tally.drawn == 0;
        let count = self.items.iter().filter(hidden).count();
        if count == 0 {
            return Ok(());
        }
        let title = format!("failed, too; --max-failures {} draws all", self.items.len());
        writeln!(self.out, "{}", paint(self.options.style, Ink::Bold, &title))?;
        for (item, tally) in table.items.iter().zip(&self.items).filter(|(_, tally)| hidden(tally)) {
            let said = tally.example.as_ref().map_or(item.text.as_str(), |example| &example.said);
            let room = self.room();
            broken(&mut self.out, item.name(), &value::shortened(&one_line(said), REASON), room)?;
        }
        writeln!(self.out)
    }

    fn thresholds(&mut self, table: &Table, many: bool) -> io::Result<()> {
        let mut any = false;
        for (item, tally) in table.rules.iter().zip(&self.rules) {
            let (Some((run, score)), Some(threshold)) = (&tally.first, item.threshold) else { continue };
            if !any {
                writeln!(self.out, "{}", paint(self.options.style, Ink::Bold, "below the threshold"))?;
            }
            any = true;
            let place =
                if many { format!(" in {}, {} runs in all", one_line(run), tally.below) } else { String::new() };
            row(&mut self.out, &item.id, &format!("{}, threshold {threshold}{place}", scored(*score)))?;
        }
        if any { writeln!(self.out) } else { Ok(()) }
    }

    fn list(&mut self, table: &Table, listed: Listed, title: &str, runs: u64) -> io::Result<()> {
        let room = self.room();
        let mut any = false;
        for (item, tally) in table.items.iter().zip(&self.items) {
            let Some((_, run, reason)) = tally.reasons.iter().find(|(one, ..)| *one == listed) else { continue };
            if !any {
                writeln!(self.out, "{}", paint(self.options.style, Ink::Bold, title))?;
            }
            any = true;
            // What fails a run has to be found; what is vacuous only has to be known.
            let found = !matches!(listed, Listed::Status(Status::Vacuous | Status::Passed));
            let place = if found { format!(" ({})", one_line(run)) } else { String::new() };
            let count = tally.count(listed);
            let often = if runs > 1 { format!("{count} of {runs} runs{place}: ") } else { String::new() };
            let text = value::shortened(&one_line(said(item, listed, reason)), REASON);
            let text = format!("{often}{text}{}", which(self.by_its_rule(item, listed)));
            // What says what to do about it is not broken: it may have to be copied.
            match listed {
                Listed::Status(Status::Error) => row(&mut self.out, item.name(), &text)?,
                _ => broken(&mut self.out, item.name(), &text, room)?,
            }
        }
        if any { writeln!(self.out) } else { Ok(()) }
    }

    /// The title of a list, with the flag that makes a failure of what stands there.
    pub(super) fn titled(&self, listed: Listed, title: &str) -> String {
        let denied = listed == Listed::Status(Status::Vacuous) && self.options.policy.deny_vacuous;
        if denied { format!("{title}, which --deny vacuous makes a failure") } else { title.to_owned() }
    }

    /// What its rule says of how an assertion came out, where that is not what the command line says.
    pub(super) fn by_its_rule(&self, item: &Item, listed: Listed) -> Option<OwnWord> {
        let policy = self.options.policy;
        let own = policy.with(item.denied);
        match listed {
            Listed::Status(Status::Vacuous) => {
                own_word(["deny vacuous", "allow vacuous"], policy.deny_vacuous, own.deny_vacuous)
            }
            Listed::Status(Status::Undecided) => {
                own_word(["deny undecided", "allow undecided"], !policy.allow_undecided, !own.allow_undecided)
            }
            _ => None,
        }
    }

    /// The width of what stands behind the names.
    fn room(&self) -> usize {
        self.options.style.width.max(60).saturating_sub(ID + 2).max(40)
    }
}

/// Why: what the author expects, what was found, else the assertion itself.
pub(super) fn said<'a>(item: &'a Item, listed: Listed, reason: &'a str) -> &'a str {
    let expected = listed == Listed::Status(Status::ExpectedFailed);
    let why = item.expected.as_deref().filter(|why| expected && !why.is_empty());
    why.unwrap_or(if reason.is_empty() { &item.text } else { reason })
}

/// `score 0.50`.
pub(super) fn scored(score: Option<f64>) -> String {
    score.map_or("no score".to_owned(), |score| format!("score {}", score_text(score)))
}

/// What stands above what could not be judged.
pub(super) fn unjudged_title(policy: Policy) -> &'static str {
    match policy.deny_unjudged {
        true => "passed, but did not judge every step, which --deny unjudged makes a failure",
        false => "passed, but did not judge every step",
    }
}

/// What a rule says of how its assertion came out, and what that does.
pub(super) type OwnWord = (&'static str, &'static str);

/// The word of a rule by which something fails, or passes, that would not by the command line.
fn own_word([deny, allow]: [&'static str; 2], fails: bool, fails_by_rule: bool) -> Option<OwnWord> {
    match (fails, fails_by_rule) {
        (false, true) => Some((deny, "makes a failure")),
        (true, false) => Some((allow, "lets pass")),
        _ => None,
    }
}

fn which(own: Option<OwnWord>) -> String {
    own.map_or(String::new(), |(word, does)| format!(", which `{word}` {does}"))
}

/// The same in front of a name, where lines are cut.
pub(super) fn marked(own: Option<OwnWord>, name: &str) -> String {
    own.map_or(name.to_owned(), |(word, _)| format!("({word}) {name}"))
}

/// The same for what could not be judged.
pub(super) fn unjudged_by_its_rule(item: &Item, policy: Policy) -> Option<OwnWord> {
    own_word(["deny unjudged", "allow unjudged"], policy.deny_unjudged, policy.with(item.denied).deny_unjudged)
}

/// What passes and could not judge every step, a line for each assertion.
pub fn unjudged(
    out: &mut dyn Write,
    table: &Table,
    options: &Options,
    all: &UnjudgedTotals,
    many: bool,
) -> io::Result<()> {
    let Options { style, policy, .. } = *options;
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", paint(style, Ink::Bold, unjudged_title(policy)))?;
    for (item, sum) in all.iter() {
        if let Some(item) = table.items.get(item) {
            let said = one_line(&sum.in_words(many)).into_owned();
            row(out, item.name(), &format!("{said}{}", which(unjudged_by_its_rule(item, policy))))?;
        }
    }
    writeln!(out)
}

fn broken(out: &mut dyn Write, id: &str, text: &str, room: usize) -> io::Result<()> {
    for (number, line) in failure::wrapped(text, room).lines().enumerate() {
        row(out, if number == 0 { id } else { "" }, line)?;
    }
    Ok(())
}

fn row(out: &mut dyn Write, id: &str, text: &str) -> io::Result<()> {
    let id = value::shortened(&one_line(id), ID - 2);
    let gap = ID.saturating_sub(id.chars().count());
    writeln!(out, "  {id}{:gap$}{text}", "")
}
