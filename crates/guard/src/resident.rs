//! What a resident guard keeps of its sessions, so that a decision costs what its rules look back at and not what has happened.
//!
//! The log on the disk is the session; what is kept is a copy of it, with notes of what its lines touch. It counts only as long as the file
//! is the same, so that other processes may write into it. Notes say which lines need not be read again. What they leave is judged by the
//! rules like any run, and what breaks one there is judged once more with all that happened.

use crate::judge::{GuardMode, RuleBreach, judge_call};
use crate::log_lines::{LineHead, LogLines};
use averment::growing::{AssertionSet, EarlierSteps, GrowthIndex, GrowthNeed, GrowthVerdict};
use averment::{Rules, RunError, Status};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The most bytes of all sessions that are kept; those that were not asked for the longest go first, and are read again when they come.
const MAX_KEPT: usize = 256 << 20;
/// A longer log is judged as a whole: nobody has to trust that its parts fit the limits which the whole does not.
const MAX_LINES: usize = 20_000;
/// The most bytes of such a log.
const MAX_TEXT: usize = 64 << 20;
/// What a set of assertions takes, about.
const SET_BYTES: usize = 512;

/// The sessions of a resident guard.
#[derive(Debug)]
pub struct ResidentSessions {
    index: Option<GrowthIndex>,
    kept: Mutex<KeptLogs>,
}

#[derive(Debug, Default)]
struct KeptLogs {
    logs: HashMap<PathBuf, KeptLog>,
    bytes: usize,
    clock: u64,
}

#[derive(Debug)]
struct KeptLog {
    stamp: FileStamp,
    memory: LogMemory,
    bytes: usize,
    asked: u64,
}

/// By what a file is known to be the same, with the same content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStamp {
    file: (u64, u64),
    length: u64,
    modified: Option<SystemTime>,
}

impl FileStamp {
    pub(crate) fn of(file: &File) -> Option<Self> {
        let about = file.metadata().ok()?;
        Some(Self { file: file_number(&about), length: about.len(), modified: about.modified().ok() })
    }
}

#[cfg(unix)]
fn file_number(about: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (about.dev(), about.ino())
}

#[cfg(not(unix))]
fn file_number(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

impl ResidentSessions {
    /// Keeps nothing yet.
    #[must_use]
    pub fn new(rules: &Rules) -> Self {
        Self { index: GrowthIndex::new(rules), kept: Mutex::default() }
    }

    /// What is kept of a log; whoever takes it has the lock of its file.
    pub(crate) fn take(&self, path: &Path) -> Option<(FileStamp, LogMemory)> {
        let mut kept = self.lock();
        let KeptLog { stamp, memory, bytes, .. } = kept.logs.remove(path)?;
        kept.bytes = kept.bytes.saturating_sub(bytes);
        Some((stamp, memory))
    }

    pub(crate) fn keep(&self, path: &Path, stamp: FileStamp, memory: LogMemory) {
        let bytes = memory.bytes();
        // What was not written whole is read again.
        if stamp.length != memory.text.len() as u64 || bytes > MAX_KEPT {
            return;
        }
        let mut kept = self.lock();
        kept.clock += 1;
        let asked = kept.clock;
        kept.bytes += bytes;
        if let Some(before) = kept.logs.insert(path.to_owned(), KeptLog { stamp, memory, bytes, asked }) {
            kept.bytes = kept.bytes.saturating_sub(before.bytes);
        }
        while kept.bytes > MAX_KEPT {
            let Some(oldest) = kept.logs.iter().min_by_key(|(_, log)| log.asked).map(|(path, _)| path.clone()) else {
                return;
            };
            let gone = kept.logs.remove(&oldest).map_or(0, |log| log.bytes);
            kept.bytes = kept.bytes.saturating_sub(gone);
        }
    }

    fn lock(&self) -> MutexGuard<'_, KeptLogs> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`judge_call`] of the log and the log with a line behind it, without reading what the rules do not look at.
    ///
    /// # Errors
    /// A run that cannot be read.
    pub(crate) fn judge_line(
        &self,
        rules: &Rules,
        mode: GuardMode,
        log: &mut LogMemory,
        line: &str,
    ) -> Result<JudgedLine, RunError> {
        if let Some(index) = &self.index
            && let Some(judged) = log.look_at_line(index, line)
            && !judged.breaks
        {
            return Ok(judged);
        }
        let with = [log.text(), line].concat();
        Ok(JudgedLine::of_breaches(judge_call(rules, mode, log.open_text(), &with)?))
    }
}

/// What is found of a proposed call.
#[derive(Debug, Default)]
pub(crate) struct JudgedLine {
    pub(crate) breaches: Vec<RuleBreach>,
    /// Whether it breaks a rule by the lines that were looked at.
    breaks: bool,
    /// What the call touches, and what nothing breaks any more once it is made.
    touched: Option<AssertionSet>,
    settled: AssertionSet,
}

impl JudgedLine {
    pub(crate) fn of_breaches(breaches: Vec<RuleBreach>) -> Self {
        Self { breaches, ..Self::default() }
    }
}

/// A log as it stands on the disk, with notes of its lines.
#[derive(Debug, Default)]
pub(crate) struct LogMemory {
    text: String,
    lines: LogLines,
    touches: TouchNotes,
}

/// Which assertions the groups of lines touch: groups that touch the same ones share a set.
#[derive(Debug, Default)]
struct TouchNotes {
    /// The lines that are noted.
    noted: usize,
    of_groups: Vec<u32>,
    sets: Vec<AssertionSet>,
    numbers: HashMap<AssertionSet, u32>,
    settled: AssertionSet,
    is_broken: bool,
}

impl TouchNotes {
    fn add(&mut self, group: usize, touched: &AssertionSet) {
        let nothing = self.number_of(AssertionSet::default());
        if self.of_groups.len() <= group {
            self.of_groups.resize(group + 1, nothing);
        }
        let known = self.of_groups.get(group).copied().unwrap_or(nothing);
        let mut set = self.sets.get(known as usize).cloned().unwrap_or_default();
        set.add_all(touched);
        let number = self.number_of(set);
        if let Some(place) = self.of_groups.get_mut(group) {
            *place = number;
        }
    }

    fn number_of(&mut self, set: AssertionSet) -> u32 {
        if let Some(number) = self.numbers.get(&set) {
            return *number;
        }
        let number = u32::try_from(self.sets.len()).unwrap_or(u32::MAX);
        self.sets.push(set.clone());
        self.numbers.insert(set, number);
        number
    }

    /// Which of the sets hold one of these assertions.
    fn holding(&self, wanted: &AssertionSet) -> Vec<bool> {
        self.sets.iter().map(|set| !set.is_apart(wanted)).collect()
    }
}

impl LogMemory {
    /// A log that was read; what was known of it before counts as far as it goes on from there.
    pub(crate) fn new(text: String, known: Option<Self>) -> Self {
        let known = known.filter(|known| text.starts_with(&known.text)).unwrap_or_default();
        let mut memory = Self { text: String::with_capacity(text.len()), ..known };
        let read_to = memory.lines.line(memory.lines.count().saturating_sub(1)).map_or(0, |(place, _)| place.end);
        memory.text.push_str(text.get(..read_to).unwrap_or_default());
        text.get(read_to..).unwrap_or_default().split_inclusive('\n').for_each(|line| memory.push_line(line));
        memory
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// All lines but the stops at the end.
    pub(crate) fn open_text(&self) -> &str {
        let is_stop =
            |place: &Range<usize>| LineHead::of(self.text.get(place.clone()).unwrap_or_default()).event == "stop";
        let places = (0..self.lines.count()).rev().filter_map(|number| Some(self.lines.line(number)?.0));
        let end = places.take_while(is_stop).last().map_or(self.text.len(), |place| place.start);
        self.text.get(..end).unwrap_or_default()
    }

    pub(crate) fn lines(&self) -> &LogLines {
        &self.lines
    }

    pub(crate) fn push_line(&mut self, line: &str) {
        self.lines.add_line(line, self.text.len());
        self.text.push_str(line);
    }

    /// Notes what was found of a call whose line was written.
    pub(crate) fn note_judged(&mut self, judged: &JudgedLine, is_admitted: bool) {
        let Some(touched) = &judged.touched else { return };
        if let Some((_, Some(group))) = self.lines.line(self.touches.noted) {
            self.touches.add(group, touched);
            self.touches.noted += 1;
        }
        if is_admitted {
            self.touches.settled.add_all(&judged.settled);
        }
    }

    fn bytes(&self) -> usize {
        let of_groups = self.touches.of_groups.capacity() * size_of::<u32>();
        self.text.capacity() + self.lines.bytes() + of_groups + self.touches.sets.len() * SET_BYTES
    }

    fn is_short(&self) -> bool {
        self.lines.count() <= MAX_LINES && self.text.len() <= MAX_TEXT
    }

    fn first_line(&self) -> &str {
        self.lines.line(0).and_then(|(place, _)| self.text.get(place)).unwrap_or_default()
    }

    /// What a line behind the log breaks, by no more of the log than is looked at; `None` where all of it has to be read.
    fn look_at_line(&mut self, index: &GrowthIndex, line: &str) -> Option<JudgedLine> {
        if !LineHead::of(line).is_plain() || !self.lines.is_regular() || !self.is_short() {
            return None;
        }
        self.note_touches(index)?;
        let touched = index.touched(&[self.first_line(), line].concat()).ok()?;
        let needs = index.needs_of(&touched, &self.touches.settled);
        let mut judged = JudgedLine { touched: Some(touched), ..JudgedLine::default() };
        for need in &needs {
            let before = self.excerpt(need);
            let after = index.judge(&[&before, line].concat(), &need.wanted).ok()?;
            if need.earlier == EarlierSteps::All {
                judged.settled = index.settled_by(&after);
            }
            let broken: Vec<GrowthVerdict> = after.into_iter().filter(is_broken).collect();
            if !broken.is_empty() {
                let earlier = index.judge(&before, &need.wanted).ok()?;
                judged.breaks |= broken.iter().any(|one| is_new(one, &earlier));
            }
        }
        Some(judged)
    }

    /// Notes what the lines touch that were written since.
    fn note_touches(&mut self, index: &GrowthIndex) -> Option<()> {
        while let Some((place, group)) = self.lines.line(self.touches.noted) {
            let line = self.text.get(place).unwrap_or_default();
            if let Some(group) = group.filter(|_| LineHead::of(line).event != "result") {
                let touched = index.touched(&[self.first_line(), line].concat());
                self.touches.is_broken |= touched.is_err();
                let touched = touched.unwrap_or_default();
                self.touches.add(group, &touched);
            }
            self.touches.noted += 1;
        }
        (!self.touches.is_broken).then_some(())
    }

    /// The lines that assertions look at, in their order.
    fn excerpt(&self, need: &GrowthNeed) -> Cow<'_, str> {
        let touching = match &need.earlier {
            EarlierSteps::All => return Cow::Borrowed(self.open_text()),
            EarlierSteps::LastCalls(calls) => {
                let from = self.lines.start_of_last(*calls).max(self.first_line().len());
                return Cow::Owned([self.first_line(), self.open_text().get(from..).unwrap_or_default()].concat());
            }
            EarlierSteps::Touching(touching) => touching,
        };
        let mut excerpt = self.first_line().to_owned();
        let holding = self.touches.holding(touching);
        if holding.contains(&true) {
            for number in 1..self.lines.count() {
                let Some((place, Some(group))) = self.lines.line(number) else { continue };
                let set = self.touches.of_groups.get(group);
                if set.and_then(|set| holding.get(*set as usize)).copied().unwrap_or(false) {
                    excerpt.push_str(self.text.get(place).unwrap_or_default());
                }
            }
        }
        Cow::Owned(excerpt)
    }
}

fn is_broken(one: &GrowthVerdict) -> bool {
    matches!(one.status, Status::Failed | Status::Error)
}

fn is_new(broken: &GrowthVerdict, earlier: &[GrowthVerdict]) -> bool {
    let before = earlier.iter().find(|one| one.place == broken.place && is_broken(one));
    before.is_none_or(|before| broken.violations > before.violations)
}
