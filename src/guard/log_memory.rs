//! A log of a session with notes of what its lines touch, so that a decision costs what its rules look back at and not what has happened.
//!
//! Notes say which lines need not be read again. What they leave is judged by the rules like any run, and what breaks one there is judged once
//! more with all that happened.

use super::judge::{RuleBreach, is_broken};
use super::log_lines::{CallCounts, LineHead, LogLines};
use super::touch_notes::TouchNotes;
use crate::growing::{AssertionSet, EarlierSteps, GrowthIndex, GrowthNeed, GrowthVerdict, LineTouch};
use crate::outcome::Status;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// A longer log is judged as a whole: nobody has to trust that its parts fit the limits which the whole does not.
const MAX_LINES: usize = 20_000;
/// The most bytes of such a log.
const MAX_TEXT: usize = 64 << 20;

/// What is found of a proposed call.
#[derive(Debug, Default)]
pub struct JudgedLine {
    pub(super) breaches: Vec<RuleBreach>,
    /// Whether it breaks a rule by the lines that were looked at.
    pub(super) breaks: bool,
    /// What the call touches, and what nothing breaks any more once it is made.
    touched: Option<LineTouch>,
    settled: AssertionSet,
}

impl JudgedLine {
    /// Of a call that was judged with all that happened.
    pub(super) fn of_breaches(breaches: Vec<RuleBreach>) -> Self {
        Self { breaches, ..Self::default() }
    }
}

/// The most bytes of a log: it is one run, and a run has this limit.
pub const MAX_LOG: usize = 256 << 20;

/// Whether a log may have so many bytes.
///
/// # Errors
/// That it may not, in words.
pub fn check_size(bytes: usize) -> Result<(), &'static str> {
    if bytes > MAX_LOG { Err("the log of the session is larger than 256 MiB") } else { Ok(()) }
}

/// A log as it stands on the disk, with notes of its lines.
#[derive(Debug, Default)]
pub struct LogMemory {
    text: String,
    lines: LogLines,
    touches: TouchNotes,
}

impl LogMemory {
    /// A log that was read; what was known of it before counts as far as it goes on from there.
    #[must_use]
    pub fn new(text: String, known: Option<Self>) -> Self {
        let known = known.filter(|known| text.starts_with(&known.text)).unwrap_or_default();
        let mut memory = Self { text: String::with_capacity(text.len()), ..known };
        let read_to = memory.lines.line(memory.lines.count().saturating_sub(1)).map_or(0, |(place, _)| place.end);
        memory.text.push_str(text.get(..read_to).unwrap_or_default());
        text.get(read_to..).unwrap_or_default().split_inclusive('\n').for_each(|line| memory.push_line(line));
        memory
    }

    /// All lines so far.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All lines but the stops at the end: the session as one that goes on, so that what is owed at a stop is no failure before a call.
    #[must_use]
    pub fn open_text(&self) -> &str {
        let is_stop =
            |place: &Range<usize>| LineHead::of(self.text.get(place.clone()).unwrap_or_default()).event == "stop";
        let places = (0..self.lines.count()).rev().filter_map(|number| Some(self.lines.line(number)?.0));
        let end = places.take_while(is_stop).last().map_or(self.text.len(), |place| place.start);
        self.text.get(..end).unwrap_or_default()
    }

    /// Counts the calls with an id, or those of a tool where there is none.
    #[must_use]
    pub fn count_calls(&self, id: Option<&str>, tool: &str) -> CallCounts {
        self.lines.of_call(id, tool).map(|group| group.counts).unwrap_or_default()
    }

    /// The lines of the calls with an id, and of their results.
    pub(super) fn lines_of(&self, id: &str) -> impl Iterator<Item = &str> {
        let numbers = self.lines.of_call(Some(id), "").map(|group| group.lines.as_slice()).unwrap_or_default();
        numbers.iter().filter_map(|number| self.text.get(self.lines.line(*number as usize)?.0))
    }

    /// The time of the next line: that of the clock, but always behind the last line. A clock that is set back would put what comes next before
    /// what happened, and of two calls within a millisecond nobody could say which came first.
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

    /// Whether a line still fits.
    ///
    /// # Errors
    /// As of [`check_size`].
    pub(super) fn check_room(&self, line: &str) -> Result<(), &'static str> {
        check_size(self.text.len().saturating_add(line.len()))
    }

    /// Puts a line at the end.
    pub fn push_line(&mut self, line: &str) {
        self.lines.add_line(line, self.text.len());
        self.text.push_str(line);
    }

    /// Notes what was found of a call whose line was written.
    pub(super) fn note_judged(&mut self, index: &GrowthIndex, judged: &JudgedLine, is_admitted: bool) {
        // A call that was denied is another step than one that is made: its line is looked at when the next one comes.
        let Some(touched) = judged.touched.as_ref().filter(|_| is_admitted) else { return };
        if let Some((_, Some(group))) = self.lines.line(self.touches.noted) {
            self.touches.add_line(group, touched, index, true);
        }
        self.touches.settled.add_all(&judged.settled);
    }

    /// The bytes that it takes, about.
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

    /// What a line behind the log breaks, by no more of the log than is looked at; `None` where all of it has to be read.
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

    /// The assertions that a line does not break: those that nothing breaks any more, and those of which fewer earlier lines show it than
    /// they name.
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

    /// Notes what the lines touch that were written since.
    fn note_touches(&mut self, index: &GrowthIndex) -> Option<()> {
        while let Some((place, group)) = self.lines.line(self.touches.noted) {
            let line = self.text.get(place).unwrap_or_default();
            let event = LineHead::of(line).event;
            match group.filter(|_| event != "result") {
                Some(group) => {
                    // A line that cannot be read by itself is one that is read with all others.
                    let touched = index.touched(&[self.first_line(), line].concat()).ok()?;
                    self.touches.add_line(group, &touched, index, event == "call");
                }
                None => self.touches.noted += 1,
            }
        }
        Some(())
    }

    /// The lines that assertions look at, in their order; `None` where these are not known.
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
        // The first line is there already.
        for number in numbers.into_iter().filter(|number| *number > 0) {
            let place = self.lines.line(number as usize).map(|(place, _)| place);
            excerpt.push_str(place.and_then(|place| self.text.get(place)).unwrap_or_default());
        }
        Some(Cow::Owned(excerpt))
    }
}

/// The assertions that a line breaks which was judged behind others.
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
