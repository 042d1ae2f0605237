//! A session of Claude Code: an event on each line, some of which hold a message.
//!
//! This says what `adapt::claude_code::session` says, as far as projections hold it.

use super::call::number;
use super::keys::{Key, Keys};
use super::messages::{ConversationReader, Messages};
use super::roots::fits;
use super::texts::joined;
use super::{Chunk, Held, Projection, ReadSet};
use crate::adapt::claude_code::{
    self, Agent, LineType, OfLine, PERMISSION_DENIED, SUMMED_UP, Times, agent, is_no_answer, session_of, summed_up,
};
use crate::adapt::fields::{Record, Shape, Shapes, Span, Spans};
use crate::adapt::format::FIRST_ITEMS;
use crate::adapt::messages::LastWords;
use crate::adapt::registry::item_marks_before;
use crate::time;
use averment_base::value::Value;
use averment_base::value::compare::equal;
use averment_runs::normal::{expected, of_run};
use rustc_hash::{FxHashMap, FxHashSet};

/// So many messages are compared that were written at the same time; of more the full reader says what they are.
const MANY: usize = 32;

/// Reads sessions.
#[derive(Debug)]
pub(super) struct Sessions {
    lines: Keys<Key<OfLine>>,
    /// What lines about the progress of something hold.
    data: Keys<Key<OfLine>>,
}

/// What the lines say together.
#[derive(Debug, Default)]
struct SessionLines<'a> {
    /// Lines so far, and whether one of the first has a mark that only sessions have.
    lines: usize,
    is_session: bool,
    /// The main agent speaks, or somebody to it.
    with_main: bool,
    times: Times,
    /// Where times stand that nobody asks for.
    unread: Vec<Span>,
    /// The line that sums the run up.
    summary: Option<Spans<OfLine>>,
    /// A message or the beginning of a stream stands in some line.
    is_told: bool,
    /// A message stands in some line: without one the run may be empty, which the full reader tells.
    is_spoken: bool,
    /// The ids of the lines so far, and that of their session: what comes again, or of another session, is for the full reader.
    ids: FxHashSet<&'a str>,
    session: Option<&'a str>,
    /// The messages by when they were written: the same at the same time is a copy.
    messages: FxHashMap<&'a str, Span>,
    more: FxHashMap<&'a str, Vec<Span>>,
}

impl Sessions {
    pub(super) fn new() -> Self {
        Self { lines: Keys::of_table(item_marks_before(&claude_code::FORMAT)), data: Keys::of_table([]) }
    }

    /// Reads the lines of a session. `None` where it is for the full reader; the projection is not to be used then.
    pub(super) fn read<'a>(
        &mut self,
        messages: &mut Messages,
        chunk: Chunk<'a>,
        lines: impl Iterator<Item = Span>,
        read_set: &ReadSet,
        projection: &mut Projection<'a>,
    ) -> Option<()> {
        let timed = read_set.times || read_set.roots.iter().any(|root| root == of_run::DURATION);
        let mut session = SessionLines::default();
        let mut conversation = ConversationReader::new(messages, chunk, read_set, &mut *projection);
        for (start, end) in lines {
            let from = chunk.cursor.blank_in_line(start, end);
            if from >= end {
                continue;
            }
            let (line, behind) = self.lines.spans(chunk.cursor, from)?;
            if chunk.cursor.blank(behind) < end {
                return None;
            }
            if self.is_for_full_reader(chunk, &line)? {
                return None;
            }
            session.line(chunk, line, &mut conversation, timed)?;
        }
        if !session.is_session || !session.is_spoken || session.summary.is_some() && !session.is_told {
            return None;
        }
        let found = conversation.in_blocks()?;
        session.believe(chunk)?;
        projection.records_calls = true;
        projection.settle(|field| found.records.get(field as usize) == Some(&true));
        for name in &read_set.roots {
            projection.roots.push(session.root(chunk, name, &found.words)?);
        }
        Some(())
    }
}

impl Sessions {
    /// Whether a line says how calls of other lines ended, what a sub-agent did, or that the model gave no answer.
    fn is_for_full_reader(&mut self, chunk: Chunk<'_>, line: &Spans<OfLine>) -> Option<bool> {
        let cursor = chunk.cursor;
        let subtype = line.field(OfLine::Subtype).map(|subtype| chunk.plain(subtype));
        let denies = matches!(subtype, Some(None | Some(Some(PERMISSION_DENIED))));
        let denials = line.field(OfLine::Denials).filter(|denials| cursor.slice(denials.0, denials.1) != b"[]");
        let tells = match line.field(OfLine::Data).filter(|data| cursor.is(*data, Shape::Object)) {
            Some((start, _)) => self.data.spans(cursor, start)?.0.field(OfLine::Message).is_some(),
            None => false,
        };
        let has_error = line.field(OfLine::Why).is_some_and(|why| cursor.is_text(why));
        Some(denies || denials.is_some() || tells || has_error || is_no_answer(line, &cursor))
    }
}

impl<'a> SessionLines<'a> {
    fn line(
        &mut self,
        chunk: Chunk<'a>,
        line: Spans<OfLine>,
        conversation: &mut ConversationReader<'_, 'a>,
        timed: bool,
    ) -> Option<()> {
        let cursor = chunk.cursor;
        let kind = LineType::from_key(chunk.plain(line.field(OfLine::Type)?)??)?;
        self.lines += 1;
        self.is_session = self.is_session || self.lines <= FIRST_ITEMS && kind.is_sure(&line);
        if let Some(id) = line.field(OfLine::Line).map(|id| chunk.plain(id))
            && !self.ids.insert(id??)
        {
            return None;
        }
        if let Some(id) = session_of(&line).map(|id| chunk.plain(id))
            && *self.session.get_or_insert(id??) != id??
        {
            return None;
        }
        self.is_told |= matches!(kind, LineType::Spoken | LineType::System);
        match kind {
            LineType::Spoken => {
                self.is_spoken = true;
                let main = matches!(agent(&line, &cursor), Agent::Main);
                self.with_main |= main;
                let written = match line.field(OfLine::Time) {
                    Some(span) if timed => instant(chunk, span)?,
                    unread => {
                        self.unread.extend(unread);
                        None
                    }
                };
                written.into_iter().for_each(|time| self.times.add(time));
                conversation.about(written, main);
                let message = line.field(OfLine::Message)?;
                let time = line.field(OfLine::Time).map_or(Some(None), |time| chunk.plain(time))?;
                if let Some(time) = time
                    && self.is_copy(chunk, time, message)?
                {
                    return None;
                }
                conversation.message(message.0)?;
            }
            LineType::Result => {
                let fits = |entry: &&str| {
                    summed_up(&line, &cursor, entry)
                        .is_none_or(|(start, end)| fits(expected(entry), cursor.slice(start, end)))
                };
                if !SUMMED_UP.iter().all(fits) || self.summary.replace(line).is_some() {
                    return None;
                }
            }
            LineType::System | LineType::Progress | LineType::Silent | LineType::SilentToo => {}
        }
        Some(())
    }

    /// Whether the same message was written at the same time.
    fn is_copy(&mut self, chunk: Chunk<'a>, time: &'a str, message: Span) -> Option<bool> {
        let first = *self.messages.entry(time).or_insert(message);
        if first == message {
            return Some(false);
        }
        let read = |(start, end): Span| chunk.read(Held::Bytes(start, end));
        let more = self.more.entry(time).or_default();
        for known in std::iter::once(&first).chain(&*more) {
            if equal(&read(*known)?, &read(message)?) {
                return Some(true);
            }
        }
        more.push(message);
        (more.len() < MANY).then_some(false)
    }

    /// Whether the duration is to be believed, whoever asks for it. `None` where it is not: the full reader tells that.
    fn believe(&mut self, chunk: Chunk<'a>) -> Option<()> {
        let told = self.summary.and_then(|line| summed_up(&line, &chunk.cursor, of_run::DURATION));
        let Some((start, end)) = told else { return Some(()) };
        for span in std::mem::take(&mut self.unread) {
            instant(chunk, span)?.into_iter().for_each(|time| self.times.add(time));
        }
        self.times.fit_into(number(chunk.cursor, start, end)?).then_some(())
    }

    /// An entry of the run.
    fn root(&self, chunk: Chunk<'a>, name: &str, words: &LastWords<Span>) -> Option<Held<'a>> {
        let bytes = |(start, end): Span| Held::Bytes(start, end);
        let found = self.summary.and_then(|line| summed_up(&line, &chunk.cursor, name)).map(bytes);
        let found = match name {
            of_run::OUTPUT if found.is_none() => joined(chunk, words.output(self.with_main))?,
            of_run::DURATION => found.or_else(|| self.times.duration().map(Held::Value)),
            // The full reader puts them together.
            of_run::ID | of_run::META | of_run::TOOLS | of_run::TURNS | of_run::USAGE => return None,
            _ => found,
        };
        Some(found.unwrap_or(Held::Value(if name == of_run::ERROR { Value::Missing } else { Value::Absent })))
    }
}

/// The point in time that stands somewhere, where one does. The outer `None` is for what cannot be read.
fn instant(chunk: Chunk<'_>, (start, end): Span) -> Option<Option<f64>> {
    Some(time::milliseconds(&chunk.read(Held::Bytes(start, end))?))
}
