//! What a resident guard keeps of its sessions, so that a decision costs what its rules look back at and not what has happened.
//!
//! The log on the disk is the session; what is kept is a copy of it, with notes of what its lines touch. It counts only as long as the file
//! is the same, so that other processes may write into it. Notes say which lines need not be read again. What they leave is judged by the
//! rules like any run, and what breaks one there is judged once more with all that happened.

use crate::judge::{GuardMode, RuleBreach, judge_call};
use crate::log_lines::{LineHead, LogLines};
use crate::touch_notes::TouchNotes;
use averment::growing::{AssertionSet, EarlierSteps, GrowthIndex, GrowthNeed, GrowthVerdict, LineTouch};
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
    touched: Option<LineTouch>,
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
    pub(crate) fn note_judged(&mut self, resident: &ResidentSessions, judged: &JudgedLine, is_admitted: bool) {
        let (Some(touched), Some(index)) = (&judged.touched, &resident.index) else { return };
        if let Some((_, Some(group))) = self.lines.line(self.touches.noted) {
            self.touches.add_line(group, touched, index);
        }
        if is_admitted {
            self.touches.settled.add_all(&judged.settled);
        }
    }

    fn bytes(&self) -> usize {
        self.text.capacity() + self.lines.bytes() + self.touches.bytes()
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
        let needs = index.needs_of(&touched, &self.touches.settled, self.touches.totals());
        let mut judged = JudgedLine { touched: Some(touched), ..JudgedLine::default() };
        for need in &needs {
            let before = self.excerpt(need);
            let after = index.judge(&[&before, line].concat(), &need.wanted).ok()?;
            judged.settled.add_all(&index.settled_by(&after));
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
            match group.filter(|_| LineHead::of(line).event != "result") {
                Some(group) => {
                    // A line that cannot be read by itself is one that is read with all others.
                    let touched = index.touched(&[self.first_line(), line].concat()).ok()?;
                    self.touches.add_line(group, &touched, index);
                }
                None => self.touches.noted += 1,
            }
        }
        Some(())
    }

    /// The lines that assertions look at, in their order.
    fn excerpt(&self, need: &GrowthNeed) -> Cow<'_, str> {
        let groups = match &need.earlier {
            EarlierSteps::All => return Cow::Borrowed(self.open_text()),
            EarlierSteps::LastCalls(calls) => {
                let from = self.lines.start_of_last(*calls).max(self.first_line().len());
                return Cow::Owned([self.first_line(), self.open_text().get(from..).unwrap_or_default()].concat());
            }
            EarlierSteps::Touching(touching) => self.touches.touching(touching),
            EarlierSteps::Marked(marks) => self.touches.marked(marks),
        };
        let mut numbers: Vec<u32> = groups.into_iter().flat_map(|group| self.lines.of_group(group)).copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut excerpt = self.first_line().to_owned();
        // The first line is there already.
        for number in numbers.into_iter().filter(|number| *number > 0) {
            let place = self.lines.line(number as usize).map(|(place, _)| place);
            excerpt.push_str(place.and_then(|place| self.text.get(place)).unwrap_or_default());
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
