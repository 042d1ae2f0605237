//! A response of OpenAI's Responses API on a line of its own.
//!
//! This says what `adapt::api::responses` says, as far as projections hold it: calls of functions, what they gave back, messages and
//! thoughts. Where anything else stands in the line, or anything would give a warning, the line is for the full reader.

use super::keys::{Key, Keys, list};
use super::texts::{joined, take_texts};
use super::{Call, Chunk, Field, Held, Projection, ReadSet};
use crate::adapt::api::OfApi;
use crate::adapt::api::responses::{ItemType, OF_RESPONSE, OfItem, RESPONSE, Setting};
use crate::adapt::calls::Unanswered;
use crate::adapt::fields::{Record, Shape, Shapes, Span, Spans};
use crate::adapt::messages::{OfBlock, Role, text_in};
use averment_base::value::Value;
use averment_runs::normal::of_run;
use averment_runs::run::CallTimes;

/// Reads responses.
#[derive(Debug)]
pub(super) struct Responses {
    line: Keys<Key<OfApi>>,
    items: Keys<Key<OfItem>>,
    blocks: Keys<Key<OfBlock>>,
}

/// A response while it is read.
struct ResponseReader<'c, 'a> {
    items: &'c mut Keys<Key<OfItem>>,
    blocks: &'c mut Keys<Key<OfBlock>>,
    chunk: Chunk<'a>,
    read_set: &'c ReadSet,
    projection: &'c mut Projection<'a>,
    unanswered: Unanswered<'a, usize>,
    /// Some call has arguments, and some call has a result.
    records: [bool; 2],
    turn: u32,
    /// What the assistant does next is a turn of its own.
    heard: bool,
    /// What the assistant says, which is one message.
    said: Vec<Span>,
}

impl Responses {
    pub(super) fn new() -> Self {
        let fields = OF_RESPONSE.map(|field| (field.key().to_owned(), Key::Field(field)));
        let settings = Setting::Any.keys().iter().map(|key| ((*key).to_owned(), Key::Other));
        Self {
            // Another key may tell another format.
            line: Keys::new(fields.into_iter().chain(settings), Key::Refused),
            items: Keys::of_table([]),
            blocks: Keys::of_table([]),
        }
    }

    /// Reads the line from `start` to `end`. `None` where it is for the full reader; the projection is not to be used then.
    pub(super) fn read<'a>(
        &mut self,
        chunk: Chunk<'a>,
        (start, end): Span,
        read_set: &ReadSet,
        projection: &mut Projection<'a>,
    ) -> Option<()> {
        let cursor = chunk.cursor;
        let (line, behind) = self.line.spans(cursor, start)?;
        let known = |field| line.field(field).filter(|value| !cursor.is(*value, Shape::Null));
        let alone =
            [OfApi::Error, OfApi::Previous, OfApi::Conversation].into_iter().all(|field| known(field).is_none());
        let kind = chunk.plain(known(OfApi::Object)?)?;
        if cursor.blank(behind) < end || kind != Some(RESPONSE) || !alone {
            return None;
        }
        projection.clear();
        let mut reader = ResponseReader {
            items: &mut self.items,
            blocks: &mut self.blocks,
            chunk,
            read_set,
            projection,
            unanswered: Unanswered::new(),
            records: [false; 2],
            turn: 0,
            heard: true,
            said: Vec::new(),
        };
        list(cursor, known(OfApi::Output)?.0, |at| reader.item(at))?;
        reader.finish()
    }
}

impl<'a> ResponseReader<'_, 'a> {
    /// Reads an item; gives the offset behind it.
    fn item(&mut self, at: usize) -> Option<usize> {
        let (item, behind) = self.items.spans(self.chunk.cursor, at)?;
        let kind = self.chunk.plain(item.field(OfItem::Type)?)??;
        if item.field(OfItem::Role).is_some() {
            self.message(&item)?;
            return Some(behind);
        }
        match ItemType::from_key(kind) {
            Some(ItemType::Function) => self.call(&item)?,
            Some(ItemType::Reasoning) => self.reasoning(&item)?,
            Some(ItemType::Output) => self.result(&item)?,
            _ => return None,
        }
        Some(behind)
    }

    /// The assistant does something: behind what came from outside that is a new turn.
    fn speaks(&mut self) {
        if self.heard {
            self.turn = self.turn.saturating_add(1);
            self.heard = false;
        }
    }

    /// A message of the assistant with one text.
    fn message(&mut self, item: &Spans<OfItem>) -> Option<()> {
        let (chunk, cursor) = (self.chunk, self.chunk.cursor);
        let role = Role::from_key(chunk.plain(item.field(OfItem::Role)?)??);
        let content = item.field(OfItem::Content).filter(|content| cursor.is(*content, Shape::List))?;
        let (mut count, mut found) = (0_usize, None);
        list(cursor, content.0, |at| {
            count = count.saturating_add(1);
            let (block, behind) = self.blocks.spans(cursor, at)?;
            let kind = chunk.plain(block.field(OfBlock::Type)?)?;
            found = text_in(&block, &cursor, |_| kind);
            Some(behind)
        })?;
        let words = found.filter(|_| count == 1 && role == Some(Role::Assistant))?;
        if cursor.is(words, Shape::Text) {
            self.speaks();
            self.said.push(words);
        }
        Some(())
    }

    /// Thoughts that can be read are a turn.
    fn reasoning(&mut self, item: &Spans<OfItem>) -> Option<()> {
        let cursor = self.chunk.cursor;
        for part in [OfItem::Content, OfItem::Summary].into_iter().filter_map(|field| item.field(field)) {
            if cursor.byte(part.0) == b'[' {
                list(cursor, part.0, |at| {
                    let (thought, behind) = self.items.spans(cursor, at)?;
                    if thought.field(OfItem::Words).is_some_and(|words| cursor.is(words, Shape::Text)) {
                        self.speaks();
                    }
                    Some(behind)
                })?;
            } else if !cursor.is(part, Shape::Null) {
                return None;
            }
        }
        Some(())
    }

    /// A call of a function.
    fn call(&mut self, item: &Spans<OfItem>) -> Option<()> {
        let name = self.chunk.plain(item.field(OfItem::Name)?)?.filter(|name| !name.is_empty())?;
        let id = self.chunk.plain(item.field(OfItem::CallId)?)??;
        let others = [OfItem::Input, OfItem::Action, OfItem::Code, OfItem::Queries, OfItem::Operation];
        if others.into_iter().any(|field| item.field(field).is_some()) {
            return None;
        }
        let args = self.arguments(item.field(OfItem::Arguments)?)?;
        self.speaks();
        self.unanswered.add(Some(id), name, usize::try_from(self.turn).ok()?, self.projection.calls.len());
        *self.records.get_mut(Field::Args as usize)? = true;
        take_texts(self.chunk, self.read_set, self.projection, Field::Args, args)?;
        let times = CallTimes { start: None, end: None, turn: Some(self.turn) };
        let fields = [args, Held::Value(Value::Missing)];
        self.projection.calls.push(Call { name, fields, times: Some(times), place: None });
        Some(())
    }

    /// Arguments are an object in a text.
    fn arguments(&self, (start, end): Span) -> Option<Held<'a>> {
        let inner = self.chunk.text.get(start.wrapping_add(1)..end.wrapping_sub(1))?;
        let is_object = self.chunk.cursor.byte(start) == b'"' && inner.starts_with('{');
        is_object.then_some(Held::Written(start, end))
    }

    /// What a function gave back: a text.
    fn result(&mut self, item: &Spans<OfItem>) -> Option<()> {
        let id = self.chunk.plain(item.field(OfItem::CallId)?)??;
        let output = item.field(OfItem::Output).filter(|output| self.chunk.cursor.is_text(*output))?;
        let call = self.unanswered.answer(Some(id), None)?;
        self.heard = true;
        *self.records.get_mut(Field::Result as usize)? = true;
        let held = Held::Bytes(output.0, output.1);
        let wanted = |list: &[bool; 2]| list.get(Field::Result as usize) == Some(&true);
        if wanted(&self.read_set.fields) || wanted(&self.read_set.texts) {
            take_texts(self.chunk, self.read_set, self.projection, Field::Result, held)?;
            *self.projection.calls.get_mut(call)?.fields.get_mut(Field::Result as usize)? = held;
        }
        Some(())
    }

    fn finish(self) -> Option<()> {
        let Self { chunk, projection, records, said, read_set, .. } = self;
        if projection.calls.is_empty() && said.is_empty() {
            // That nothing is in it is told by the full reader.
            return None;
        }
        (projection.records_calls, projection.conversation) = (true, true);
        projection.settle(|field| records.get(field as usize) == Some(&true));
        for name in &read_set.roots {
            projection.roots.push(match name.as_str() {
                of_run::OUTPUT => joined(chunk, &said)?.unwrap_or(Held::Value(Value::Absent)),
                of_run::ERROR => Held::Value(Value::Missing),
                // The full reader puts them together.
                of_run::ID | of_run::META | of_run::TOOLS | of_run::TURNS | of_run::USAGE | of_run::COST => {
                    return None;
                }
                _ => Held::Value(Value::Absent),
            });
        }
        Some(())
    }
}
