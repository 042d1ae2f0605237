//! What stands in contents: texts, as the full reader joins them.

use super::ConversationReader;
use crate::adapt::claude_code::holds_tool_blocks;
use crate::adapt::content;
use crate::adapt::fields::{ByteSpan, FieldRecord, FieldSpans};
use crate::adapt::messages::{BlockKey, BlockType, text_in};
use crate::adapt::printed_messages;
use crate::projection::keys::read_list;
use crate::projection::{RawValue, ScannedChunk};
use averment_base::value::compare::values_equal;
use averment_base::value::{Value, json};

impl<'a> ConversationReader<'_, 'a> {
    /// True if it may be a copy within the same message.
    pub(super) fn may_be_copy(&self, words: ByteSpan, turn: usize) -> Option<bool> {
        let read = |(start, end): ByteSpan| self.chunk.read_value(RawValue::Bytes(start, end));
        for known in self.found.words.said_in(turn) {
            if values_equal(&read(*known)?, &read(words)?) {
                return Some(true);
            }
        }
        Some(self.turns[1] < self.last_turn)
    }

    pub(super) fn note_words(&mut self, text: ByteSpan) {
        let inside = || self.cursor.slice(text.0.wrapping_add(1), text.1.wrapping_sub(1));
        self.found.has_words =
            self.found.has_words || !self.cursor.has_escape(text.0, text.1) && !inside().trim_ascii().is_empty();
    }

    /// Python-printed tool messages go to the full reader.
    pub(super) fn may_be_printed(&self, (start, end): ByteSpan) -> bool {
        let may_begin = matches!(self.cursor.byte_at(start.wrapping_add(1)), b'c' | b'T' | b'\\');
        let read = || self.chunk.read_value(RawValue::Bytes(start, end));
        self.cursor.byte_at(start) == b'"'
            && may_begin
            && read().is_none_or(|value| matches!(value, Value::Text(text) if printed_messages::may_be(text.as_str())))
    }

    pub(super) fn says_or_is_silent(&mut self, at: usize) -> Option<usize> {
        let mut block = FieldSpans::default();
        let behind = self.keys.inner.read_spans(self.cursor, at, &mut block)?;
        let kind = BlockType::of_block(self.chunk.plain_text(block.field(BlockKey::Type)?)??)?;
        matches!(kind, BlockType::Text | BlockType::OtherText | BlockType::Silent).then_some(behind)
    }

    /// The content itself if it holds no text.
    pub(super) fn text_of(&mut self, (start, end): ByteSpan) -> Option<RawValue<'a>> {
        if !matches!(self.cursor.byte_at(start), b'[' | b'{') {
            return Some(RawValue::Bytes(start, end));
        }
        let single = self.single_text(start);
        Some(match single {
            Some((start, end)) => RawValue::Bytes(start, end),
            None => RawValue::Value(self.read_text((start, end))?),
        })
    }

    /// Only for a list of exactly one text block.
    fn single_text(&mut self, start: usize) -> Option<ByteSpan> {
        let (mut count, mut found) = (0, None);
        let cursor = self.cursor;
        read_list(cursor, start, |at| {
            count += 1;
            let mut block = FieldSpans::default();
            let behind = self.keys.inner.read_spans(cursor, at, &mut block)?;
            let kind = self.field_text(block.field(BlockKey::Type))?;
            found = text_in(&block, &cursor, |_| kind);
            Some(behind)
        })?;
        found.filter(|_| count == 1)
    }

    pub(super) fn read_text(&self, (start, end): ByteSpan) -> Option<Value<'a>> {
        let ScannedChunk { text, arena, limits, .. } = self.chunk;
        let document = json::parse(text.get(start..end)?, start, arena, limits).ok()?;
        if !document.duplicates.is_empty() || holds_tool_blocks(&document.node) {
            return None;
        }
        Some(content::content_text(document.node, arena).unwrap_or(document.node).value)
    }

    pub(super) fn answer_words(&self, span: ByteSpan) -> Option<Value<'a>> {
        match self.read_text(span)? {
            Value::Text(text) if !text.is_empty() => Some(Value::Text(text)),
            _ => None,
        }
    }
}
