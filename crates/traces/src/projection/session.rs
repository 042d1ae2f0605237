//! A session of Claude Code: an event on each line, some of which hold a message.
//!
//! This says what `adapt::claude_code::session` says, as far as projections hold it.

use super::call::parse_number;
use super::keys::{KeyReader, TableKey};
use super::messages::{ConversationReader, MessageReader};
use super::run_keys::fits_expected;
use super::texts::join_texts;
use super::{RawValue, ReadSet, RunProjection, ScannedChunk};
use crate::adapt::claude_code::{
    self, ClaudeKey, ClaudeLineType, LineAgent, PERMISSION_DENIED, SUMMED_UP, SessionTimes, is_no_answer, line_agent,
    session_of, summed_up,
};
use crate::adapt::fields::{ByteSpan, FieldRecord, FieldSpans, ShapeReader, ValueShape};
use crate::adapt::format::FIRST_ITEMS;
use crate::adapt::messages::LastWords;
use crate::adapt::registry::item_marks_before;
use crate::time;
use averment_base::value::Value;
use averment_base::value::compare::values_equal;
use averment_runs::normal::{entry_type, of_run};
use rustc_hash::{FxHashMap, FxHashSet};

/// Messages compared at one time; beyond that the full reader decides.
const MANY: usize = 32;

#[derive(Debug)]
pub(super) struct SessionReader {
    lines: KeyReader<TableKey<ClaudeKey>>,
    data: KeyReader<TableKey<ClaudeKey>>,
}

#[derive(Debug, Default)]
struct SessionLines<'a> {
    /// Number of lines, and whether an early one has a session mark.
    lines: usize,
    is_session: bool,
    with_main: bool,
    times: SessionTimes,
    unread: Vec<ByteSpan>,
    summary: Option<FieldSpans<ClaudeKey>>,
    is_told: bool,
    /// Without a message the run may be empty: the full reader decides.
    is_spoken: bool,
    /// Line ids and the session id: duplicates and other sessions go to the full reader.
    ids: FxHashSet<&'a str>,
    session: Option<&'a str>,
    /// Messages by time: the same at the same time is a copy.
    messages: FxHashMap<&'a str, ByteSpan>,
    more: FxHashMap<&'a str, Vec<ByteSpan>>,
}

impl SessionReader {
    pub(super) fn new() -> Self {
        let refused = item_marks_before(&claude_code::FORMAT).map(|key| (key, TableKey::Refused));
        let harmless = claude_code::FORMAT.harmless_keys.iter().map(|key| (*key, TableKey::Harmless));
        // The fields of the table come first.
        let others = refused.chain(harmless).filter(|(key, _)| ClaudeKey::from_key(key).is_none());
        Self { lines: KeyReader::with_others(others), data: KeyReader::of_table() }
    }

    /// `None` for the full reader: then the projection is unusable.
    pub(super) fn read_session<'a>(
        &mut self,
        messages: &mut MessageReader,
        chunk: ScannedChunk<'a>,
        lines: impl Iterator<Item = ByteSpan>,
        read_set: &ReadSet,
        projection: &mut RunProjection<'a>,
    ) -> Option<()> {
        let timed = read_set.times || read_set.roots.iter().any(|root| root == of_run::DURATION);
        let mut session = SessionLines::default();
        let mut conversation = ConversationReader::new(messages, chunk, read_set, &mut *projection);
        for (start, end) in lines {
            let from = chunk.cursor.blank_in_line(start, end);
            if from >= end {
                continue;
            }
            let mut line = FieldSpans::default();
            let behind = self.lines.read_spans(chunk.cursor, from, &mut line)?;
            if chunk.cursor.skip_blank(behind) < end {
                return None;
            }
            if self.is_for_full_reader(chunk, &line)? {
                return None;
            }
            session.read_line(chunk, line, &mut conversation, timed)?;
        }
        if !session.is_session || !session.is_spoken || session.summary.is_some() && !session.is_told {
            return None;
        }
        let found = conversation.in_blocks()?;
        session.check_duration(chunk)?;
        projection.records_calls = true;
        projection.settle_fields(|field| found.records.get(field as usize) == Some(&true));
        for name in &read_set.roots {
            projection.roots.push(session.root_value(chunk, name, &found.words)?);
        }
        Some(())
    }
}

impl SessionReader {
    /// True if it affects other lines' calls, a sub-agent, or a failed answer.
    fn is_for_full_reader(&mut self, chunk: ScannedChunk<'_>, line: &FieldSpans<ClaudeKey>) -> Option<bool> {
        let cursor = chunk.cursor;
        let subtype = line.field(ClaudeKey::Subtype).map(|subtype| chunk.plain_text(subtype));
        let denies = matches!(subtype, Some(None | Some(Some(PERMISSION_DENIED))));
        let denials = line.field(ClaudeKey::Denials).filter(|denials| cursor.slice(denials.0, denials.1) != b"[]");
        let tells = match line.field(ClaudeKey::Data).filter(|data| cursor.has_shape(*data, ValueShape::Object)) {
            Some((start, _)) => {
                let mut data = FieldSpans::default();
                self.data.read_spans(cursor, start, &mut data)?;
                data.field(ClaudeKey::Message).is_some()
            }
            None => false,
        };
        let has_error = line.field(ClaudeKey::Why).is_some_and(|why| cursor.is_text(why));
        Some(denies || denials.is_some() || tells || has_error || is_no_answer(line, &cursor))
    }
}

impl<'a> SessionLines<'a> {
    fn read_line(
        &mut self,
        chunk: ScannedChunk<'a>,
        line: FieldSpans<ClaudeKey>,
        conversation: &mut ConversationReader<'_, 'a>,
        timed: bool,
    ) -> Option<()> {
        let cursor = chunk.cursor;
        let kind = ClaudeLineType::from_key(chunk.plain_text(line.field(ClaudeKey::Type)?)??)?;
        let of_message = if kind == ClaudeLineType::Spoken { ClaudeKey::Message } else { ClaudeKey::Type };
        use ClaudeKey::{Details, DetailsOfStream, Tools};
        chunk.pass_fields(&line, &[of_message, Details, DetailsOfStream, Tools])?;
        self.lines += 1;
        self.is_session = self.is_session || self.lines <= FIRST_ITEMS && kind.is_sure(&line);
        if let Some(id) = line.field(ClaudeKey::Line).map(|id| chunk.plain_text(id))
            && !self.ids.insert(id??)
        {
            return None;
        }
        if let Some(id) = session_of(&line).map(|id| chunk.plain_text(id))
            && *self.session.get_or_insert(id??) != id??
        {
            return None;
        }
        self.is_told |= matches!(kind, ClaudeLineType::Spoken | ClaudeLineType::System);
        match kind {
            ClaudeLineType::Spoken => {
                self.is_spoken = true;
                let main = matches!(line_agent(&line, &cursor), LineAgent::Main);
                self.with_main |= main;
                let written = match line.field(ClaudeKey::Time) {
                    Some(span) if timed => parse_instant(chunk, span)?,
                    unread => {
                        self.unread.extend(unread);
                        None
                    }
                };
                written.into_iter().for_each(|time| self.times.add_time(time));
                conversation.set_meta(written, main);
                let message = line.field(ClaudeKey::Message)?;
                let time = line.field(ClaudeKey::Time).map_or(Some(None), |time| chunk.plain_text(time))?;
                if let Some(time) = time
                    && self.is_copy(chunk, time, message)?
                {
                    return None;
                }
                conversation.read_message(message.0)?;
            }
            ClaudeLineType::Result => {
                let fits = |entry: &&str| {
                    summed_up(&line, &cursor, entry)
                        .is_none_or(|(start, end)| fits_expected(entry_type(entry), cursor.slice(start, end)))
                };
                if !SUMMED_UP.iter().all(fits) || self.summary.replace(line).is_some() {
                    return None;
                }
            }
            ClaudeLineType::System
            | ClaudeLineType::Progress
            | ClaudeLineType::Attached
            | ClaudeLineType::Silent
            | ClaudeLineType::SilentToo => {}
        }
        Some(())
    }

    fn is_copy(&mut self, chunk: ScannedChunk<'a>, time: &'a str, message: ByteSpan) -> Option<bool> {
        let first = *self.messages.entry(time).or_insert(message);
        if first == message {
            return Some(false);
        }
        let read = |(start, end): ByteSpan| chunk.read_value(RawValue::Bytes(start, end));
        let more = self.more.entry(time).or_default();
        for known in std::iter::once(&first).chain(&*more) {
            if values_equal(&read(*known)?, &read(message)?) {
                return Some(true);
            }
        }
        more.push(message);
        (more.len() < MANY).then_some(false)
    }

    /// `None` if the duration is implausible: the full reader reports that.
    fn check_duration(&mut self, chunk: ScannedChunk<'a>) -> Option<()> {
        let told = self.summary.and_then(|line| summed_up(&line, &chunk.cursor, of_run::DURATION));
        let Some((start, end)) = told else { return Some(()) };
        for span in std::mem::take(&mut self.unread) {
            parse_instant(chunk, span)?.into_iter().for_each(|time| self.times.add_time(time));
        }
        self.times.fit_into(parse_number(chunk.cursor, start, end)?).then_some(())
    }

    fn root_value(&self, chunk: ScannedChunk<'a>, name: &str, words: &LastWords<ByteSpan>) -> Option<RawValue<'a>> {
        let bytes = |(start, end): ByteSpan| RawValue::Bytes(start, end);
        let found = self.summary.and_then(|line| summed_up(&line, &chunk.cursor, name)).map(bytes);
        let found = match name {
            of_run::OUTPUT if found.is_none() => join_texts(chunk, words.output_words(self.with_main))?,
            of_run::DURATION => found.or_else(|| self.times.session_duration().map(RawValue::Value)),
            // The full reader puts them together.
            of_run::ID | of_run::META | of_run::TOOLS | of_run::TURNS | of_run::USAGE => return None,
            _ => found,
        };
        Some(found.unwrap_or(RawValue::Value(if name == of_run::ERROR { Value::Missing } else { Value::Absent })))
    }
}

/// The outer `None` is for an unreadable time.
fn parse_instant(chunk: ScannedChunk<'_>, (start, end): ByteSpan) -> Option<Option<f64>> {
    Some(time::to_milliseconds(&chunk.read_value(RawValue::Bytes(start, end))?))
}
