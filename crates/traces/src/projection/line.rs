//! The projection of one line, from its bytes.

use super::beside::Beside;
use super::call::{self, Order};
use super::keys::{self, Keys};
use super::messages::Messages;
use super::responses::Responses;
use super::roots::{self, Special, fits};
use super::session::Sessions;
use super::spans::Traces;
use super::{Chunk, Held, Projection, ReadSet};
use crate::adapt::fields::Span;
use crate::adapt::format::InMessages;
use crate::adapt::generic::{Best, in_milliseconds};
use crate::names::Names;
use crate::scan::Cursor;
use averment_base::value::{Node, Value};
use averment_runs::normal::of_run;
use averment_runs::run::Kind;

/// Reads lines. It remembers which keys came in which order, and makes use of it on the next line.
#[derive(Debug)]
pub struct LineReader {
    read_set: ReadSet,
    /// The entries that are looked at: those that are asked for, and the duration.
    looked_at: Vec<String>,
    runs: Keys<roots::RunKey>,
    generic: Keys<call::CallKey>,
    native: Keys<call::CallKey>,
    messages: Messages,
    beside: Beside,
    responses: Responses,
    sessions: Sessions,
    /// Where the names are somebody's own, they tell what such a text is.
    traces: Option<Traces>,
    /// The rank from which on a duration stands in seconds.
    seconds: u8,
    /// Whether `null` is a value of each entry, by the form of the run.
    nulls: Vec<(bool, bool)>,
    /// Where the entries of a line stand, in a home-grown format with the rank of their name and in the normal form.
    found: Vec<EntrySpans>,
}

#[derive(Debug, Clone, Copy, Default)]
struct EntrySpans {
    generic: Best<Span>,
    native: Option<Span>,
    /// It stands there as `null`, under a name of the home-grown shape, and under its own.
    generic_null: bool,
    native_null: bool,
}

/// What the keys of a line say of it.
#[derive(Debug, Default)]
struct LineKeys {
    marks: u128,
    form: Option<Form>,
    /// The rank of the name of the calls.
    rank: u8,
    /// The calls have to stand under the first of their names.
    first_needed: bool,
    /// Where a conversation stands, and of which form it is.
    messages: Option<(usize, &'static InMessages)>,
    /// Where messages stand that may be some beside calls.
    beside: Option<usize>,
    /// Such a one is the run also where calls stand beside it.
    beside_calls: bool,
    /// A conversation would be for the full reader.
    no_chat: bool,
    /// Something beside a conversation tells of calls.
    tells_of_calls: bool,
    /// Types that were not as the full reader wants them.
    wrong_generic: bool,
    wrong_native: bool,
}

/// The form of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Generic,
    Native,
}

impl LineReader {
    /// A reader for what is asked for; `None` where only the full reader can give that.
    #[must_use]
    pub fn new(read_set: &ReadSet, names: &Names) -> Option<Self> {
        if read_set.roots.iter().any(|root| is_composed(root)) || names.need_the_run() {
            return None;
        }
        // Whether a recorded duration is to be believed is looked at in every run, whoever asks for it.
        let mut looked_at = read_set.roots.clone();
        if !looked_at.iter().any(|root| root == of_run::DURATION) {
            looked_at.push(of_run::DURATION.to_owned());
        }
        Some(Self {
            runs: roots::keys(&looked_at, names)?,
            generic: call::keys(Some(names))?,
            native: call::keys(None)?,
            messages: Messages::new(),
            beside: Beside::new(),
            responses: Responses::new(),
            sessions: Sessions::new(),
            traces: std::ptr::eq(names, Names::known()).then(Traces::new),
            seconds: roots::milliseconds(names),
            nulls: looked_at.iter().map(|root| roots::null_counts(root, names)).collect(),
            looked_at,
            found: Vec::new(),
            read_set: read_set.clone(),
        })
    }

    /// Reads the line from `start` to `end`. `None` where it is for the full reader; the projection is not to be used then.
    pub fn read<'a>(
        &mut self,
        chunk: Chunk<'a>,
        start: usize,
        end: usize,
        projection: &mut Projection<'a>,
    ) -> Option<()> {
        let known = self.read_run(chunk, start, end, projection);
        known.or_else(|| self.responses.read(chunk, (start, end), &self.read_set, projection))
    }

    /// The same of a run in normal form, of a home-grown shape, or of a conversation.
    fn read_run<'a>(
        &mut self,
        chunk: Chunk<'a>,
        start: usize,
        end: usize,
        projection: &mut Projection<'a>,
    ) -> Option<()> {
        projection.clear();
        self.found.clear();
        self.found.resize(self.looked_at.len(), EntrySpans::default());
        let cursor = chunk.cursor;
        let mut order = Order::new();
        let (keys_seen, behind) = self.keys(chunk, start, projection, &mut order)?;
        if cursor.blank(behind) < end {
            return None;
        }
        match (keys_seen.form, keys_seen.messages) {
            (Some(form), _) => self.finish(chunk, form, &keys_seen, &order, projection)?,
            (None, Some((start, form))) if !keys_seen.no_chat => {
                self.conversation(chunk, start, form, keys_seen.tells_of_calls, projection)?;
            }
            _ => return None,
        }
        for (root, name) in projection.roots.iter_mut().zip(&self.read_set.roots) {
            if name == of_run::ERROR && matches!(root, Held::Value(Value::Absent)) {
                *root = Held::Value(Value::Missing);
            }
        }
        Some(())
    }

    /// Reads a whole session, whose line ends are given. `None` where it is for the full reader; the projection is not to be used then.
    pub fn read_session<'a>(
        &mut self,
        chunk: Chunk<'a>,
        ends: impl Iterator<Item = usize>,
        projection: &mut Projection<'a>,
    ) -> Option<()> {
        projection.clear();
        let mut start = 0;
        let lines = ends.chain([chunk.text.len()]).map(|end| (std::mem::replace(&mut start, end.wrapping_add(1)), end));
        self.sessions.read(&mut self.messages, chunk, lines, &self.read_set, projection)
    }

    /// Whether a text that is no session may be read by [`Self::read_trace`].
    #[must_use]
    pub fn is_trace(text: &str) -> bool {
        Traces::begins(text)
    }

    /// Reads the spans of a whole trace. `None` where it is for the full reader; the projection is not to be used then.
    pub fn read_trace<'a>(&mut self, chunk: Chunk<'a>, projection: &mut Projection<'a>) -> Option<()> {
        projection.clear();
        self.traces.as_mut()?.read(chunk, &self.read_set, projection)
    }

    /// Reads the keys of a line, and its calls where they stand in a list of their own. Gives the offset behind it.
    #[inline]
    fn keys<'a>(
        &mut self,
        chunk: Chunk<'a>,
        start: usize,
        projection: &mut Projection<'a>,
        order: &mut Order,
    ) -> Option<(LineKeys, usize)> {
        let cursor = chunk.cursor;
        let Self { read_set, runs, generic, native, found, .. } = self;
        let mut keys_seen = LineKeys::default();
        let behind = runs.object(cursor, start, |role, at| {
            if keys_seen.marks & role.mark != 0 {
                return None;
            }
            keys_seen.marks |= role.mark;
            let end = match role.special {
                Special::Generic(_) | Special::Native => {
                    let (this, keys) = match role.special {
                        Special::Native => (Form::Native, &mut *native),
                        _ => (Form::Generic, &mut *generic),
                    };
                    if let Special::Generic(rank) = role.special {
                        keys_seen.rank = rank;
                    }
                    if keys_seen.form.replace(this).is_some() {
                        return None;
                    }
                    calls(keys, chunk, at, read_set, projection, order)?
                }
                special => {
                    keys_seen.note(special, cursor.byte(at), at)?;
                    cursor.value(at)?
                }
            };
            if role.messages && cursor.byte(at) != b'n' && keys_seen.beside.replace(at).is_some() {
                return None;
            }
            if role.mark != 0 {
                note(role, cursor, (at, end), found, &mut keys_seen)?;
            }
            Some(end)
        })?;
        Some((keys_seen, behind))
    }

    /// Settles what depends on the whole line, where it has a list of calls.
    fn finish<'a>(
        &mut self,
        chunk: Chunk<'a>,
        form: Form,
        keys_seen: &LineKeys,
        order: &Order,
        projection: &mut Projection<'a>,
    ) -> Option<()> {
        let wrong = if form == Form::Generic { keys_seen.wrong_generic } else { keys_seen.wrong_native };
        let hidden = keys_seen.first_needed && form == Form::Generic && keys_seen.rank > 0;
        if wrong || hidden || keys_seen.beside_calls || !order.is_plain() {
            return None;
        }
        if let Some(at) = keys_seen.beside
            && self.beside.look(chunk, at)?
            && self.has_duration(form)
        {
            // What the messages span counts, too.
            return None;
        }
        if self.needs_the_run(chunk.cursor, form, order) {
            return None;
        }
        projection.settle(|field| order.records(field));
        let asked = self.found.iter().zip(&self.nulls).take(self.read_set.roots.len());
        projection.roots.extend(asked.map(|(found, nulls)| {
            let (place, null) = match form {
                Form::Generic => (found.generic.value(), found.generic_null && nulls.0),
                Form::Native => (found.native, found.native_null && nulls.1),
            };
            match place {
                Some((start, end)) => Held::Bytes(start, end),
                None if null => Held::Value(Value::Null),
                None => Held::Value(Value::Absent),
            }
        }));
        for ((found, root), name) in self.found.iter().zip(&mut projection.roots).zip(&self.read_set.roots) {
            let in_seconds = found.generic.value().is_some() && found.generic.rank() >= self.seconds;
            if form == Form::Generic && name == of_run::DURATION && in_seconds {
                let value = Node::computed(chunk.read(*root)?);
                *root = Held::Value(in_milliseconds(value).map_or(Value::Absent, |node| node.value));
            }
        }
        Some(())
    }

    /// Whether the run records how long it lasted.
    fn has_duration(&self, form: Form) -> bool {
        let mut entries = self.looked_at.iter().zip(&self.found);
        entries.any(|(name, found)| {
            let place = if form == Form::Generic { found.generic.value() } else { found.native };
            name == of_run::DURATION && place.is_some()
        })
    }

    /// Whether an entry is not what it says: a duration that is too short, or an output of content blocks.
    fn needs_the_run(&self, cursor: Cursor<'_>, form: Form, order: &Order) -> bool {
        let mut entries = self.looked_at.iter().zip(&self.found);
        entries.any(|(name, found)| {
            let place = if form == Form::Generic { found.generic.value() } else { found.native };
            let Some((start, end)) = place else { return false };
            match name.as_str() {
                of_run::OUTPUT => cursor.byte(start) == b'[',
                of_run::DURATION => {
                    let in_seconds = form == Form::Generic && found.generic.rank() >= self.seconds;
                    let unit = if in_seconds { 1000.0 } else { 1.0 };
                    call::number(cursor, start, end).is_none_or(|duration| !order.fits_into(duration * unit))
                }
                _ => false,
            }
        })
    }

    /// Reads the conversation that a line holds.
    fn conversation<'a>(
        &mut self,
        chunk: Chunk<'a>,
        start: usize,
        form: &InMessages,
        told: bool,
        projection: &mut Projection<'a>,
    ) -> Option<()> {
        let read = self.messages.read(chunk, start, &self.read_set, projection)?;
        let plain = match form.every {
            // That there are none makes an empty run, of which the full reader tells.
            true => read.has_message && read.all_messages && !read.in_blocks,
            // That it records no calls would be a warning.
            false => read.has_message && (read.in_blocks || told || read.about_calls),
        };
        if !plain {
            return None;
        }
        (projection.records_calls, projection.conversation) = (true, true);
        projection.settle(|field| read.records.get(field as usize) == Some(&true));
        for (found, name) in self.found.iter().zip(&self.read_set.roots) {
            projection.roots.push(match (name.as_str(), found.native) {
                (of_run::OUTPUT, found) if !form.composes(of_run::OUTPUT, found.is_some()) => {
                    read.output.unwrap_or(Held::Value(Value::Absent))
                }
                (name, Some((start, end))) if form.texts.contains(&name) && chunk.cursor.byte(start) == b'"' => {
                    Held::Bytes(start, end)
                }
                (name, found) if form.composes(name, found.is_some()) => return None,
                _ => Held::Value(Value::Absent),
            });
        }
        Some(())
    }
}

impl LineKeys {
    /// Notes a key that decides more than a value. `None` where the line is for the full reader.
    fn note(&mut self, special: Special, first: u8, at: usize) -> Option<()> {
        match special {
            Special::Steps => return None,
            Special::Refuse if first != b'n' => return None,
            Special::Refuse => self.no_chat = true,
            Special::Messages(form) => {
                self.first_needed |= !form.beside_calls;
                self.beside_calls |= form.beside_calls;
                self.no_chat |= self.messages.replace((at, form)).is_some();
            }
            Special::InFullBeside => self.no_chat = true,
            Special::TellsOfCalls => self.tells_of_calls = true,
            Special::None | Special::Generic(_) | Special::Native => {}
        }
        Some(())
    }
}

/// The entries of a run that only the full reader can give: they are put together from several parts.
fn is_composed(entry: &str) -> bool {
    matches!(entry, of_run::TURNS | of_run::USAGE | of_run::COST | of_run::STEPS | of_run::PROMPT | of_run::COMPLETE)
        || Kind::ALL.iter().any(|kind| kind.list_key() == entry)
}

/// Reads a list of calls; gives the offset behind it.
#[inline]
fn calls<'a>(
    keys: &mut Keys<call::CallKey>,
    chunk: Chunk<'a>,
    start: usize,
    read_set: &ReadSet,
    projection: &mut Projection<'a>,
    order: &mut Order,
) -> Option<usize> {
    projection.records_calls = true;
    keys::list(chunk.cursor, start, |at| {
        let (call, executed, behind) = call::read(keys, chunk, at, read_set, &mut projection.texts, order)?;
        projection.unusual |= !executed;
        projection.calls.push(call);
        Some(behind)
    })
}

/// Notes where an entry stands. `None` where it is no value of JSON.
#[inline]
fn note(
    role: &roots::RunKey,
    cursor: Cursor<'_>,
    (start, end): Span,
    found: &mut [EntrySpans],
    keys_seen: &mut LineKeys,
) -> Option<()> {
    let value = cursor.slice(start, end);
    keys_seen.wrong_generic |= !fits(role.generic_type, value) || role.without_unit;
    keys_seen.wrong_native |= !fits(role.native_type, value);
    let null = cursor.is_null(start, end)?;
    for (root, rank) in &role.generic {
        if let Some(found) = found.get_mut(usize::from(*root)) {
            match null {
                true => found.generic_null = true,
                false => found.generic.offer(*rank, (start, end)),
            }
        }
    }
    if let Some(found) = role.native.and_then(|root| found.get_mut(usize::from(root))) {
        found.native_null |= null;
        if !null {
            found.native = Some((start, end));
        }
    }
    Some(())
}
