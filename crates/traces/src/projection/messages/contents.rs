//! What stands in contents: texts, as the full reader joins them.

use super::ConversationReader;
use crate::adapt::claude_code::holds_tool_blocks;
use crate::adapt::content;
use crate::adapt::fields::{Record, Span};
use crate::adapt::messages::{BlockType, OfBlock, text_in};
use crate::adapt::printed;
use crate::projection::keys::list;
use crate::projection::{Chunk, Held};
use averment_base::value::compare::equal;
use averment_base::value::{Value, json};

impl<'a> ConversationReader<'_, 'a> {
    /// Whether the words in work may be a copy of others of the same message.
    pub(super) fn may_be_copy(&self, words: Span, turn: usize) -> Option<bool> {
        let read = |(start, end): Span| self.chunk.read(Held::Bytes(start, end));
        for known in self.found.words.said_in(turn) {
            if equal(&read(*known)?, &read(words)?) {
                return Some(true);
            }
        }
        Some(self.turns[1] < self.last_turn)
    }

    /// Whether a content may be the message of a tool as Python prints it, which only the full reader reads.
    pub(super) fn may_be_printed(&self, (start, end): Span) -> bool {
        let may_begin = matches!(self.cursor.byte(start.wrapping_add(1)), b'c' | b'T' | b'\\');
        let read = || self.chunk.read(Held::Bytes(start, end));
        self.cursor.byte(start) == b'"'
            && may_begin
            && read().is_none_or(|value| matches!(value, Value::Text(text) if printed::may_be(text.as_str())))
    }

    /// A block of a result that is neither a call nor a result itself.
    pub(super) fn says_or_is_silent(&mut self, at: usize) -> Option<usize> {
        let (block, behind) = self.keys.inner.spans(self.cursor, at)?;
        let kind = BlockType::of_block(self.chunk.plain(block.field(OfBlock::Type)?)??)?;
        matches!(kind, BlockType::Text | BlockType::OtherText | BlockType::Silent).then_some(behind)
    }

    /// The text of a content, or the content itself where it holds none.
    pub(super) fn text_of(&mut self, (start, end): Span) -> Option<Held<'a>> {
        if !matches!(self.cursor.byte(start), b'[' | b'{') {
            return Some(Held::Bytes(start, end));
        }
        let single = self.single_text(start);
        Some(match single {
            Some((start, end)) => Held::Bytes(start, end),
            None => Held::Value(self.read_text((start, end))?),
        })
    }

    /// The text of a list that holds one block of text and nothing else.
    fn single_text(&mut self, start: usize) -> Option<Span> {
        let (mut count, mut found) = (0, None);
        let cursor = self.cursor;
        list(cursor, start, |at| {
            count += 1;
            let (block, behind) = self.keys.inner.spans(cursor, at)?;
            let kind = self.word(block.field(OfBlock::Type))?;
            found = text_in(&block, &cursor, |_| kind);
            Some(behind)
        })?;
        found.filter(|_| count == 1)
    }

    /// The same of any content, read in full.
    pub(super) fn read_text(&self, (start, end): Span) -> Option<Value<'a>> {
        let Chunk { text, arena, limits, .. } = self.chunk;
        let document = json::parse(text.get(start..end)?, start, arena, limits).ok()?;
        if !document.duplicates.is_empty() || holds_tool_blocks(&document.node) {
            return None;
        }
        Some(content::text(document.node, arena).unwrap_or(document.node).value)
    }

    /// The words of an answer in blocks.
    pub(super) fn answer(&self, span: Span) -> Option<Value<'a>> {
        match self.read_text(span)? {
            Value::Text(text) if !text.is_empty() => Some(Value::Text(text)),
            _ => None,
        }
    }
}
