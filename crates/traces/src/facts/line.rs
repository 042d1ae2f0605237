//! The facts of one line, from its bytes.

use super::call::{self, Order};
use super::keys::{self, Keys};
use super::messages::Messages;
use super::roots::{self, Special, fits};
use super::said::Beside;
use super::session::Sessions;
use super::{Demand, Facts, Held, Stretch};
use crate::adapt::InMessages;
use crate::adapt::fields::{Span, is_composed};
use crate::adapt::generic::{Best, in_milliseconds};
use crate::names::Names;
use crate::scan::Cursor;
use averment_base::value::{Node, Value};
use averment_runs::normal::of_run;

/// Reads lines. It remembers which keys came in which order, and makes use of it on the next line.
#[derive(Debug)]
pub struct LineReader {
    demand: Demand,
    runs: Keys<roots::Role>,
    generic: Keys<call::Role>,
    native: Keys<call::Role>,
    messages: Messages,
    beside: Beside,
    sessions: Sessions,
    /// The rank from which on a duration stands in seconds.
    seconds: u8,
    /// Whether `null` is a value of each entry, by the form of the run.
    nulls: Vec<(bool, bool)>,
    /// Where the entries of a line stand, in a home-grown format with the rank of their name and in the normal form.
    found: Vec<Found>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Found {
    generic: Best<Span>,
    native: Option<Span>,
    /// It stands there as `null`, under a name of the home-grown shape, and under its own.
    generic_null: bool,
    native_null: bool,
}

/// What the keys of a line say of it.
#[derive(Debug, Default)]
struct Seen {
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
    pub fn new(demand: &Demand, names: &Names) -> Option<Self> {
        if demand.roots.iter().any(|root| is_composed(root)) {
            return None;
        }
        Some(Self {
            runs: roots::keys(&demand.roots, names)?,
            generic: call::keys(Some(names))?,
            native: call::keys(None)?,
            messages: Messages::new(),
            beside: Beside::new(),
            sessions: Sessions::new(),
            seconds: roots::milliseconds(names),
            nulls: demand.roots.iter().map(|root| roots::null_counts(root, names)).collect(),
            found: Vec::new(),
            demand: demand.clone(),
        })
    }

    /// Reads the line from `start` to `end`. `None` where it is for the full reader; the facts hold anything then.
    pub fn read<'a>(&mut self, stretch: Stretch<'a>, start: usize, end: usize, facts: &mut Facts<'a>) -> Option<()> {
        facts.clear();
        self.found.clear();
        self.found.resize(self.demand.roots.len(), Found::default());
        let cursor = stretch.cursor;
        let mut order = Order::new();
        let (seen, behind) = self.keys(stretch, start, facts, &mut order)?;
        if cursor.blank(behind) < end {
            return None;
        }
        match (seen.form, seen.messages) {
            (Some(form), _) => self.finish(stretch, (form, &seen), &order, facts)?,
            (None, Some((start, form))) if !seen.no_chat => {
                self.conversation(stretch, start, (form, seen.tells_of_calls), facts)?;
            }
            _ => return None,
        }
        for (root, name) in facts.roots.iter_mut().zip(&self.demand.roots) {
            if name == of_run::ERROR && matches!(root, Held::Value(Value::Absent)) {
                *root = Held::Value(Value::Missing);
            }
        }
        Some(())
    }

    /// Reads a whole session, whose line ends are given. `None` where it is for the full reader; the facts hold anything then.
    pub fn read_session<'a>(
        &mut self,
        stretch: Stretch<'a>,
        ends: impl Iterator<Item = usize>,
        facts: &mut Facts<'a>,
    ) -> Option<()> {
        facts.clear();
        let mut start = 0;
        let lines =
            ends.chain([stretch.text.len()]).map(|end| (std::mem::replace(&mut start, end.wrapping_add(1)), end));
        self.sessions.read(&mut self.messages, stretch, lines, &self.demand, facts)
    }

    /// Reads the keys of a line, and its calls where they stand in a list of their own. Gives the offset behind it.
    #[inline]
    fn keys<'a>(
        &mut self,
        stretch: Stretch<'a>,
        start: usize,
        facts: &mut Facts<'a>,
        order: &mut Order,
    ) -> Option<(Seen, usize)> {
        let cursor = stretch.cursor;
        let Self { demand, runs, generic, native, found, .. } = self;
        let mut seen = Seen::default();
        let behind = runs.object(cursor, start, |role, at| {
            if seen.marks & role.mark != 0 {
                return None;
            }
            seen.marks |= role.mark;
            let end = match role.special {
                Special::Generic(_) | Special::Native => {
                    let (this, keys) = match role.special {
                        Special::Native => (Form::Native, &mut *native),
                        _ => (Form::Generic, &mut *generic),
                    };
                    if let Special::Generic(rank) = role.special {
                        seen.rank = rank;
                    }
                    if seen.form.replace(this).is_some() {
                        return None;
                    }
                    calls(keys, stretch, at, demand, facts, order)?
                }
                special => {
                    seen.note(special, cursor.byte(at), at)?;
                    cursor.value(at)?
                }
            };
            if role.messages && cursor.byte(at) != b'n' && seen.beside.replace(at).is_some() {
                return None;
            }
            if role.mark != 0 {
                note(role, cursor, (at, end), found, &mut seen)?;
            }
            Some(end)
        })?;
        Some((seen, behind))
    }

    /// Settles what depends on the whole line, where it has a list of calls.
    fn finish<'a>(
        &mut self,
        stretch: Stretch<'a>,
        (form, seen): (Form, &Seen),
        order: &Order,
        facts: &mut Facts<'a>,
    ) -> Option<()> {
        let wrong = if form == Form::Generic { seen.wrong_generic } else { seen.wrong_native };
        let hidden = seen.first_needed && form == Form::Generic && seen.rank > 0;
        if wrong || hidden || seen.beside_calls || !order.is_plain() {
            return None;
        }
        if let Some(at) = seen.beside {
            self.beside.look(stretch, at)?;
        }
        facts.settle(|field| order.records(field));
        facts.roots.extend(self.found.iter().zip(&self.nulls).map(|(found, nulls)| {
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
        for ((found, root), name) in self.found.iter().zip(&mut facts.roots).zip(&self.demand.roots) {
            let in_seconds = found.generic.value().is_some() && found.generic.rank() >= self.seconds;
            if form == Form::Generic && name == of_run::DURATION && in_seconds {
                let value = Node::computed(stretch.read(*root)?);
                *root = Held::Value(in_milliseconds(value).map_or(Value::Absent, |node| node.value));
            }
        }
        Some(())
    }

    /// Reads the conversation that a line holds.
    fn conversation<'a>(
        &mut self,
        stretch: Stretch<'a>,
        start: usize,
        (form, told): (&InMessages, bool),
        facts: &mut Facts<'a>,
    ) -> Option<()> {
        let read = self.messages.read(stretch, start, &self.demand, facts)?;
        let plain = match form.every {
            true => read.all_messages && !read.in_blocks,
            // That it records no calls would be a warning.
            false => read.has_message && (read.in_blocks || told || read.about_calls),
        };
        if !plain {
            return None;
        }
        (facts.records_calls, facts.conversation) = (true, true);
        facts.settle(|field| read.records.get(field as usize) == Some(&true));
        for (found, name) in self.found.iter().zip(&self.demand.roots) {
            facts.roots.push(match (name.as_str(), found.native) {
                (of_run::OUTPUT, _) => read.output.unwrap_or(Held::Value(Value::Absent)),
                (name, Some((start, end))) if form.texts.contains(&name) && stretch.cursor.byte(start) == b'"' => {
                    Held::Bytes(start, end)
                }
                (name, found) if form.composes(name, found.is_some()) => return None,
                _ => Held::Value(Value::Absent),
            });
        }
        Some(())
    }
}

impl Seen {
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
            Special::TellsOfCalls => self.tells_of_calls = true,
            Special::None | Special::Generic(_) | Special::Native => {}
        }
        Some(())
    }
}

/// Reads a list of calls; gives the offset behind it.
#[inline]
fn calls<'a>(
    keys: &mut Keys<call::Role>,
    stretch: Stretch<'a>,
    start: usize,
    demand: &Demand,
    facts: &mut Facts<'a>,
    order: &mut Order,
) -> Option<usize> {
    facts.records_calls = true;
    keys::list(stretch.cursor, start, |at| {
        let (call, executed, behind) = call::read(keys, stretch, at, demand, &mut facts.texts, order)?;
        facts.unusual |= !executed;
        facts.calls.push(call);
        Some(behind)
    })
}

/// Notes where an entry stands. `None` where it is no value of JSON.
#[inline]
fn note(
    role: &roots::Role,
    cursor: Cursor<'_>,
    (start, end): Span,
    found: &mut [Found],
    seen: &mut Seen,
) -> Option<()> {
    let value = cursor.slice(start, end);
    seen.wrong_generic |= !fits(role.generic_type, value);
    seen.wrong_native |= !fits(role.native_type, value);
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
