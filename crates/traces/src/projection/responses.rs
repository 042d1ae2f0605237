//! A response of OpenAI's Responses API on a line of its own.
//!
//! This says what `adapt::api::responses` says, as far as projections hold it: calls of functions, what they gave back, messages and
//! thoughts. Where anything else stands in the line, or anything would give a warning, the line is for the full reader.

use super::keys::{KeyReader, TableKey, read_list};
use super::texts::{join_texts, take_texts};
use super::{CallField, ProjectedCall, RawValue, ReadSet, RunProjection, ScannedChunk};
use crate::adapt::api::ApiKey;
use crate::adapt::api::responses::{ItemKey, OF_RESPONSE, RESPONSE, ResponseItemType, Setting, WholeStatus};
use crate::adapt::calls::PendingCalls;
use crate::adapt::fields::{ByteSpan, FieldRecord, FieldSpans, ShapeReader, ValueShape};
use crate::adapt::messages::{BlockKey, MessageRole, text_in};
use averment_base::value::Value;
use averment_runs::normal::of_run;
use averment_runs::run::CallTimes;

#[derive(Debug)]
pub(super) struct ResponsesReader {
    line: KeyReader<TableKey<ApiKey>>,
    /// Calls and results have other keys, and mostly alternate: the even and the odd items are expected apart.
    items: [KeyReader<TableKey<ItemKey>>; 2],
    blocks: KeyReader<TableKey<BlockKey>>,
}

struct ResponseReader<'c, 'a> {
    items: &'c mut [KeyReader<TableKey<ItemKey>>; 2],
    is_odd: bool,
    blocks: &'c mut KeyReader<TableKey<BlockKey>>,
    chunk: ScannedChunk<'a>,
    read_set: &'c ReadSet,
    projection: &'c mut RunProjection<'a>,
    unanswered: PendingCalls<'a, usize>,
    /// Some call has arguments; some call has a result.
    records: [bool; 2],
    turn: u32,
    /// The assistant's next action is a new turn.
    heard: bool,
    /// The assistant's words, one message.
    said: Vec<ByteSpan>,
}

/// All keys of a response: with any other one a line is none.
pub(super) fn known_keys() -> impl Iterator<Item = &'static str> {
    OF_RESPONSE.map(ApiKey::key).into_iter().chain(Setting::Any.keys().iter().copied())
}

impl ResponsesReader {
    pub(super) fn new() -> Self {
        let fields = OF_RESPONSE.map(|field| (field.key().to_owned(), TableKey::Field(field)));
        let settings = Setting::Any.keys().iter().map(|key| ((*key).to_owned(), TableKey::Other));
        Self {
            // Another key may tell another format.
            line: KeyReader::new(fields.into_iter().chain(settings), TableKey::Refused),
            items: [KeyReader::of_table(), KeyReader::of_table()],
            blocks: KeyReader::of_table(),
        }
    }

    /// `None` for the full reader: then the projection is unusable.
    pub(super) fn read_line<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        (start, end): ByteSpan,
        read_set: &ReadSet,
        projection: &mut RunProjection<'a>,
    ) -> Option<()> {
        let cursor = chunk.cursor;
        let mut line = FieldSpans::default();
        let behind = self.line.read_spans(cursor, start, &mut line)?;
        let known = |field| line.field(field).filter(|value| !cursor.has_shape(*value, ValueShape::Null));
        let alone =
            [ApiKey::Error, ApiKey::Previous, ApiKey::Conversation].into_iter().all(|field| known(field).is_none());
        let kind = chunk.plain_text(known(ApiKey::Object)?)?;
        let is_whole = match known(ApiKey::Status) {
            Some(status) => chunk.plain_text(status)?.and_then(WholeStatus::from_key).is_some(),
            None => true,
        };
        if cursor.skip_blank(behind) < end || kind != Some(RESPONSE) || !alone || !is_whole {
            return None;
        }
        chunk.pass_fields(&line, &[ApiKey::Output, ApiKey::Tools])?;
        projection.clear_run();
        let mut reader = ResponseReader {
            items: &mut self.items,
            is_odd: false,
            blocks: &mut self.blocks,
            chunk,
            read_set,
            projection,
            unanswered: PendingCalls::new(),
            records: [false; 2],
            turn: 0,
            heard: true,
            said: Vec::new(),
        };
        read_list(cursor, known(ApiKey::Output)?.0, |at| reader.read_item(at))?;
        reader.finish_response()
    }
}

impl<'a> ResponseReader<'_, 'a> {
    fn read_item(&mut self, at: usize) -> Option<usize> {
        let mut item = FieldSpans::default();
        let [even, odd] = self.items;
        let keys = if self.is_odd { odd } else { even };
        let behind = keys.read_spans(self.chunk.cursor, at, &mut item)?;
        self.is_odd = !self.is_odd;
        let kind = self.chunk.plain_text(item.field(ItemKey::Type)?)??;
        let is_message = item.field(ItemKey::Role).is_some();
        self.chunk.pass_fields(&item, if is_message { &[ItemKey::Content] } else { &[] })?;
        if is_message {
            self.read_message(&item)?;
            return Some(behind);
        }
        match ResponseItemType::from_key(kind) {
            Some(ResponseItemType::Function) => self.read_call(&item)?,
            Some(ResponseItemType::Reasoning) => self.read_reasoning(&item)?,
            Some(ResponseItemType::Output) => self.read_result(&item)?,
            _ => return None,
        }
        Some(behind)
    }

    /// After external input this starts a new turn.
    fn ensure_turn(&mut self) {
        if self.heard {
            self.turn = self.turn.saturating_add(1);
            self.heard = false;
        }
    }

    fn read_message(&mut self, item: &FieldSpans<ItemKey>) -> Option<()> {
        let (chunk, cursor) = (self.chunk, self.chunk.cursor);
        let role = MessageRole::from_key(chunk.plain_text(item.field(ItemKey::Role)?)??);
        let content = item.field(ItemKey::Content).filter(|content| cursor.has_shape(*content, ValueShape::List))?;
        let (mut count, mut found) = (0_usize, None);
        read_list(cursor, content.0, |at| {
            count = count.saturating_add(1);
            let mut block = FieldSpans::default();
            let behind = self.blocks.read_spans(cursor, at, &mut block)?;
            chunk.pass_fields(&block, &[])?;
            let kind = chunk.plain_text(block.field(BlockKey::Type)?)?;
            found = text_in(&block, &cursor, |_| kind);
            Some(behind)
        })?;
        let words = found.filter(|_| count == 1 && role == Some(MessageRole::Assistant))?;
        if cursor.has_shape(words, ValueShape::Text) {
            self.ensure_turn();
            self.said.push(words);
        }
        Some(())
    }

    /// Readable reasoning counts as a turn.
    fn read_reasoning(&mut self, item: &FieldSpans<ItemKey>) -> Option<()> {
        let cursor = self.chunk.cursor;
        for part in [ItemKey::Content, ItemKey::Summary].into_iter().filter_map(|field| item.field(field)) {
            if cursor.byte_at(part.0) == b'[' {
                read_list(cursor, part.0, |at| {
                    let mut thought = FieldSpans::default();
                    let [parts, _] = &mut *self.items;
                    let behind = parts.read_spans(cursor, at, &mut thought)?;
                    if thought.field(ItemKey::Words).is_some_and(|words| cursor.has_shape(words, ValueShape::Text)) {
                        self.ensure_turn();
                    }
                    Some(behind)
                })?;
            } else if !cursor.has_shape(part, ValueShape::Null) {
                return None;
            }
        }
        Some(())
    }

    fn read_call(&mut self, item: &FieldSpans<ItemKey>) -> Option<()> {
        let name = self.chunk.plain_text(item.field(ItemKey::Name)?)?.filter(|name| !name.is_empty())?;
        let id = self.chunk.plain_text(item.field(ItemKey::CallId)?)??;
        let others = [ItemKey::Input, ItemKey::Action, ItemKey::Code, ItemKey::Queries, ItemKey::Operation];
        if others.into_iter().any(|field| item.field(field).is_some()) {
            return None;
        }
        let args = self.read_arguments(item.field(ItemKey::Arguments)?)?;
        self.ensure_turn();
        self.unanswered.push_call(Some(id), name, usize::try_from(self.turn).ok()?, self.projection.calls.len());
        *self.records.get_mut(CallField::Args as usize)? = true;
        take_texts(self.chunk, self.read_set, self.projection, CallField::Args, args)?;
        let times = CallTimes { start: None, end: None, turn: Some(self.turn) };
        let fields = [args, RawValue::Value(Value::Missing)];
        self.projection.calls.push(ProjectedCall {
            name,
            fields,
            times: Some(times),
            may_have_parent: true,
            ending: None,
            place: None,
        });
        Some(())
    }

    /// An object in a text.
    fn read_arguments(&self, (start, end): ByteSpan) -> Option<RawValue<'a>> {
        let inner = self.chunk.text.get(start.wrapping_add(1)..end.wrapping_sub(1))?;
        let is_object = self.chunk.cursor.byte_at(start) == b'"' && inner.starts_with('{');
        is_object.then_some(RawValue::Written(start, end))
    }

    fn read_result(&mut self, item: &FieldSpans<ItemKey>) -> Option<()> {
        let id = self.chunk.plain_text(item.field(ItemKey::CallId)?)??;
        let output = item.field(ItemKey::Output).filter(|output| self.chunk.cursor.is_text(*output))?;
        if !self.said.is_empty() {
            // Which of the texts before and behind a result are the answer is for the full reader.
            return None;
        }
        let call = self.unanswered.take_answered(Some(id), None)?;
        self.heard = true;
        *self.records.get_mut(CallField::Result as usize)? = true;
        let held = RawValue::Bytes(output.0, output.1);
        let wanted = |list: &[bool; 2]| list.get(CallField::Result as usize) == Some(&true);
        if wanted(&self.read_set.fields) || wanted(&self.read_set.texts) {
            take_texts(self.chunk, self.read_set, self.projection, CallField::Result, held)?;
            *self.projection.calls.get_mut(call)?.fields.get_mut(CallField::Result as usize)? = held;
        }
        Some(())
    }

    fn finish_response(self) -> Option<()> {
        let Self { chunk, projection, records, said, read_set, .. } = self;
        if projection.calls.is_empty() && said.is_empty() {
            // That nothing is in it is told by the full reader.
            return None;
        }
        (projection.records_calls, projection.conversation) = (true, true);
        projection.settle_fields(|field| records.get(field as usize) == Some(&true));
        for name in &read_set.roots {
            projection.roots.push(match name.as_str() {
                of_run::OUTPUT => join_texts(chunk, &said)?.unwrap_or(RawValue::Value(Value::Absent)),
                of_run::ERROR => RawValue::Value(Value::Missing),
                // The full reader puts them together.
                of_run::ID | of_run::META | of_run::TOOLS | of_run::TURNS | of_run::USAGE | of_run::COST => {
                    return None;
                }
                _ => RawValue::Value(Value::Absent),
            });
        }
        Some(())
    }
}
