//! The log of a session in memory, with notes about the effects of its lines. With them, the cost of a decision depends on the lines that the rules
//! look at, not on the length of the session.
//!
//! Notes select the lines to read again. The rules judge these lines like any run. If a rule breaks there, the call is judged again on the whole
//! session.

use super::judge::{RuleBreach, is_broken};
use super::log_lines::{CallCounts, LineHead, LogLines};
use super::touch_notes::TouchNotes;
use crate::growing::{AssertionSet, EarlierSteps, GrowthIndex, GrowthNeed, GrowthVerdict, LineTouch};
use crate::outcome::Status;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// Maximum number of lines for judging parts of a log. A longer log is judged as a whole, because it could exceed limits that its parts meet.
const MAX_LINES: usize = 20_000;
/// Maximum size of such a log, in bytes.
const MAX_TEXT: usize = 64 << 20;

/// The result of judging a proposed call.
#[derive(Debug, Default)]
pub struct JudgedLine {
    pub(super) breaches: Vec<RuleBreach>,
    /// True if it breaks a rule on the selected lines.
    pub(super) breaks: bool,
    /// The effects of the call; `None` if the call was judged on the whole session.
    touched: Option<LineTouch>,
    settled: AssertionSet,
}

impl JudgedLine {
    /// Creates the result of a call that was judged on the whole session.
    pub(super) fn of_breaches(breaches: Vec<RuleBreach>) -> Self {
        Self { breaches, ..Self::default() }
    }
}

/// Maximum size of a log, in bytes. A log is one run, and a run has this limit.
pub const MAX_LOG: usize = 256 << 20;

/// Checks the size of a log.
///
/// # Errors
/// Returns a message if the log is too large.
pub fn check_size(bytes: usize) -> Result<(), &'static str> {
    if bytes > MAX_LOG { Err("the log of the session is larger than 256 MiB") } else { Ok(()) }
}

/// A log as it is on the disk, with notes about its lines.
#[derive(Debug, Default)]
pub struct LogMemory {
    text: String,
    lines: LogLines,
    touches: TouchNotes,
}

impl LogMemory {
    /// Creates the memory of a log. Reuses the notes of `known` if the log continues its text.
    #[must_use]
    pub fn new(text: String, known: Option<Self>) -> Self {
        let known = known.filter(|known| text.starts_with(&known.text)).unwrap_or_default();
        let mut memory = Self { text: String::with_capacity(text.len()), ..known };
        let read_to = memory.lines.line(memory.lines.count().saturating_sub(1)).map_or(0, |(place, _)| place.end);
        memory.text.push_str(text.get(..read_to).unwrap_or_default());
        text.get(read_to..).unwrap_or_default().split_inclusive('\n').for_each(|line| memory.push_line(line));
        memory
    }

    /// Returns all lines so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns all lines except the stops at the end, so that unmet obligations are no failures before the next call.
    #[must_use]
    pub fn open_text(&self) -> &str {
        let is_stop =
            |place: &Range<usize>| LineHead::of(self.text.get(place.clone()).unwrap_or_default()).event == "stop";
        let places = (0..self.lines.count()).rev().filter_map(|number| Some(self.lines.line(number)?.0));
        let end = places.take_while(is_stop).last().map_or(self.text.len(), |place| place.start);
        self.text.get(..end).unwrap_or_default()
    }

    /// Counts the calls with an id, or those of a tool if there is no id.
    #[must_use]
    pub fn count_calls(&self, id: Option<&str>, tool: &str) -> CallCounts {
        self.lines.of_call(id, tool).map(|group| group.counts).unwrap_or_default()
    }

    /// Returns the lines of the calls with an id, and of their results.
    pub(super) fn lines_of(&self, id: &str) -> impl Iterator<Item = &str> {
        let numbers = self.lines.of_call(Some(id), "").map(|group| group.lines.as_slice()).unwrap_or_default();
        numbers.iter().filter_map(|number| self.text.get(self.lines.line(*number as usize)?.0))
    }

    /// Returns the time of the next line: the clock, but always later than the last line. Otherwise a clock that is set back would reorder steps, and
    /// two calls within one millisecond would have no order.
    #[must_use]
    pub fn next_time(&self, clock: u64) -> u64 {
        #[derive(Deserialize)]
        struct Timed {
            time: Option<u64>,
        }
        let last = self.lines.line(self.lines.count().saturating_sub(1));
        let last = last.and_then(|(place, _)| serde_json::from_str::<Timed>(self.text.get(place)?).ok());
        last.and_then(|line| line.time).map_or(clock, |last| clock.max(last.saturating_add(1)))
    }

    /// Checks that a line still fits.
    ///
    /// # Errors
    /// Returns the error of [`check_size`].
    pub(super) fn check_room(&self, line: &str) -> Result<(), &'static str> {
        check_size(self.text.len().saturating_add(line.len()))
    }

    /// Appends a line.
    pub fn push_line(&mut self, line: &str) {
        self.lines.add_line(line, self.text.len());
        self.text.push_str(line);
    }

    /// Stores the result of judging a call whose line was written.
    pub(super) fn note_judged(&mut self, index: &GrowthIndex, judged: &JudgedLine, is_admitted: bool) {
        // A denied call is a different step than an allowed one, so its line is indexed when the next call comes.
        let Some(touched) = judged.touched.as_ref().filter(|_| is_admitted) else { return };
        if let Some((_, Some(group))) = self.lines.line(self.touches.noted) {
            self.touches.add_line(group, touched, index, true);
        }
        self.touches.settled.add_all(&judged.settled);
    }

    /// Returns the approximate memory use in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.capacity() + self.lines.bytes() + self.touches.bytes()
    }

    fn is_short(&self) -> bool {
        self.lines.count() <= MAX_LINES && self.text.len() <= MAX_TEXT
    }

    pub(super) fn first_line(&self) -> &str {
        self.lines.line(0).and_then(|(place, _)| self.text.get(place)).unwrap_or_default()
    }

    /// Judges a new line on the part of the log that the rules look at; `None` if the whole log must be read.
    pub(super) fn look_at_line(&mut self, index: &GrowthIndex, line: &str) -> Option<JudgedLine> {
        if !LineHead::of(line).is_plain() || !self.lines.is_regular() || !self.is_short() {
            return None;
        }
        self.note_touches(index)?;
        let touched = index.touched(&[self.first_line(), line].concat()).ok()?;
        let unbroken = self.find_unbroken(index, &touched, line)?;
        let needs = index.needs_of(&touched, &unbroken, self.touches.totals(), self.touches.sums());
        let mut judged = JudgedLine { touched: Some(touched), ..JudgedLine::default() };
        for need in &needs {
            let Some(before) = self.excerpt(need) else { continue };
            let after = index.judge(&[&before, line].concat(), &need.wanted).ok()?;
            judged.settled.add_all(&index.settled_by(&after));
            judged.breaks |= !breaks_of(index, need, &before, &after)?.is_empty();
        }
        Some(judged)
    }

    /// Returns the assertions that a line cannot break: those that nothing can break any more, and those whose triggers clear the line with few
    /// earlier lines.
    fn find_unbroken(&self, index: &GrowthIndex, touched: &LineTouch, line: &str) -> Option<AssertionSet> {
        let mut unbroken = self.touches.settled.clone();
        let triggered =
            index.triggered_needs(touched, &unbroken, self.touches.totals(), |list| self.touches.is_open(list));
        unbroken.add_all(&triggered.unbroken);
        for need in &triggered.needs {
            let Some(before) = self.excerpt(need) else { continue };
            let after = index.judge(&[&before, line].concat(), &need.wanted).ok()?;
            let broken = breaks_of(index, need, &before, &after)?;
            after.iter().filter(|one| !broken.contains(&one.place)).for_each(|one| unbroken.insert(one.place));
        }
        Some(unbroken)
    }

    /// Adds notes about the lines that were written since the last call.
    fn note_touches(&mut self, index: &GrowthIndex) -> Option<()> {
        while let Some((place, group)) = self.lines.line(self.touches.noted) {
            let line = self.text.get(place).unwrap_or_default();
            let event = LineHead::of(line).event;
            match group.filter(|_| event != "result") {
                Some(group) => {
                    // A line that cannot be read alone requires reading the whole log.
                    let touched = index.touched(&[self.first_line(), line].concat()).ok()?;
                    self.touches.add_line(group, &touched, index, event == "call");
                }
                None => self.touches.noted += 1,
            }
        }
        Some(())
    }

    /// Returns the lines that assertions look at, in order; `None` if they are unknown.
    fn excerpt(&self, need: &GrowthNeed) -> Option<Cow<'_, str>> {
        let of_group = |group: usize| self.lines.of_group(group).iter().copied();
        let group_of = |line: u32| self.lines.line(line as usize).and_then(|(_, group)| group);
        let mut numbers: Vec<u32> = match &need.earlier {
            EarlierSteps::All => return Some(Cow::Borrowed(self.open_text())),
            EarlierSteps::LastCalls(calls) => {
                let from = self.lines.start_of_last(*calls).max(self.first_line().len());
                let last = self.open_text().get(from..).unwrap_or_default();
                return Some(Cow::Owned([self.first_line(), last].concat()));
            }
            EarlierSteps::Touching(touching) => {
                self.touches.touching(touching).into_iter().flat_map(of_group).collect()
            }
            EarlierSteps::Marked(marks) => {
                let groups: BTreeSet<usize> = self.touches.marked(marks).into_iter().filter_map(group_of).collect();
                groups.into_iter().flat_map(of_group).collect()
            }
            EarlierSteps::Taken(marks) => {
                let lines: BTreeSet<u32> = self.touches.taken(marks)?.into_iter().collect();
                lines.into_iter().flat_map(|line| self.lines.part_of(line, &self.text)).collect()
            }
        };
        numbers.sort_unstable();
        numbers.dedup();
        let mut excerpt = self.first_line().to_owned();
        // The first line is already in the excerpt.
        for number in numbers.into_iter().filter(|number| *number > 0) {
            let place = self.lines.line(number as usize).map(|(place, _)| place);
            excerpt.push_str(place.and_then(|place| self.text.get(place)).unwrap_or_default());
        }
        Some(Cow::Owned(excerpt))
    }
}

/// Returns the assertions that a line breaks, given the verdicts before and after it.
fn breaks_of(index: &GrowthIndex, need: &GrowthNeed, before: &str, after: &[GrowthVerdict]) -> Option<BTreeSet<usize>> {
    let broken: Vec<&GrowthVerdict> = after.iter().filter(|one| is_broken(one.status)).collect();
    if broken.is_empty() {
        return Some(BTreeSet::new());
    }
    let earlier = index.judge(before, &need.wanted).ok()?;
    Some(broken.into_iter().filter(|one| is_new(one, &earlier)).map(|one| one.place).collect())
}

fn is_new(broken: &GrowthVerdict, earlier: &[GrowthVerdict]) -> bool {
    let before = earlier.iter().find(|one| one.place == broken.place && is_broken(one.status));
    before.is_none_or(|before| broken.violations > before.violations || broken.status == Status::Error)
}
