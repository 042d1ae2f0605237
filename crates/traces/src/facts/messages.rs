//! A conversation: a list of messages whose calls and results stand apart from each other, in OpenAI's form or with Anthropic's blocks.
//!
//! This says what `adapt::openai_chat` and `adapt::claude_code` say of the same list, for as far as facts go; where anything would give a
//! warning, the line is for the full reader.

use super::keys::{Keys, Named, list};
use super::parts::{
    Block, Message, OF_BLOCK, OF_CALL, OF_MESSAGE, OfBlock, OfCall, OfMessage, Span, parts_of_block, parts_of_call,
    parts_of_message,
};
use super::{Call, Demand, Facts, Field, Held, Stretch, call};
use crate::adapt;
use crate::build::word_status;
use crate::content;
use crate::scan::Cursor;
use averment_base::value::{Value, json};

/// Reads lists of messages.
#[derive(Debug)]
pub(super) struct Messages {
    messages: Keys<Named<OfMessage>>,
    calls: Keys<Named<OfCall>>,
    functions: Keys<Named<OfCall>>,
    blocks: Keys<Named<OfBlock>>,
    /// Blocks inside of results.
    inner: Keys<Named<OfBlock>>,
}

/// What a conversation was found to be.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    /// Some element is a message.
    pub(super) has_message: bool,
    /// Every element is one.
    pub(super) all_messages: bool,
    /// Calls and results stand in blocks.
    pub(super) in_blocks: bool,
    /// Some message has calls or is a result, or says that it has none.
    pub(super) about_calls: bool,
    /// Some call has arguments, and some call has a result.
    pub(super) records: [bool; 2],
    /// The answer.
    pub(super) output: Option<Held<'a>>,
}

impl Messages {
    pub(super) fn new() -> Self {
        Self {
            messages: Keys::of_parts(&OF_MESSAGE),
            calls: Keys::of_parts(&OF_CALL),
            functions: Keys::of_parts(&OF_CALL),
            blocks: Keys::of_parts(&OF_BLOCK),
            inner: Keys::of_parts(&OF_BLOCK),
        }
    }

    /// Reads the list at an offset. `None` where it is for the full reader.
    pub(super) fn read<'a>(
        &mut self,
        stretch: Stretch<'a>,
        start: usize,
        demand: &Demand,
        facts: &mut Facts<'a>,
    ) -> Option<Found<'a>> {
        let mut conversation = Conversation::new(self, stretch, demand, facts);
        list(stretch.cursor, start, |at| conversation.message(at))?;
        conversation.finish()
    }
}

/// The last words of the assistant.
#[derive(Debug, Clone, Copy)]
enum Said {
    Text(Span),
    /// Blocks that may hold some.
    Blocks(Span),
}

/// A conversation while it is read.
pub(super) struct Conversation<'c, 'a> {
    keys: &'c mut Messages,
    stretch: Stretch<'a>,
    cursor: Cursor<'a>,
    demand: &'c Demand,
    facts: &'c mut Facts<'a>,
    /// The calls that have no result yet, by id.
    waiting: Vec<(&'a [u8], usize)>,
    found: Found<'a>,
    /// Something was seen that only OpenAI's form has.
    of_chat: bool,
    /// A result in a block has no content.
    bare: bool,
    /// The answer in OpenAI's form, and with blocks.
    said: Option<Said>,
    spoken: Option<Span>,
}

/// A result looks for its call among so many that have none.
const MOST_WAITING: usize = 256;

impl<'c, 'a> Conversation<'c, 'a> {
    pub(super) fn new(
        keys: &'c mut Messages,
        stretch: Stretch<'a>,
        demand: &'c Demand,
        facts: &'c mut Facts<'a>,
    ) -> Self {
        Self {
            keys,
            stretch,
            cursor: stretch.cursor,
            demand,
            facts,
            waiting: Vec::new(),
            found: Found { all_messages: true, ..Found::default() },
            of_chat: false,
            bare: false,
            said: None,
            spoken: None,
        }
    }

    /// The words of the assistant since the last question.
    pub(super) fn take_spoken(&mut self) -> Option<Span> {
        self.spoken.take()
    }

    /// What was found, where nothing but blocks was.
    pub(super) fn in_blocks(self) -> Option<Found<'a>> {
        (!self.of_chat && !self.bare).then_some(self.found)
    }

    /// Reads a message; gives the offset behind it.
    pub(super) fn message(&mut self, at: usize) -> Option<usize> {
        let cursor = self.cursor;
        let (message, behind) = parts_of_message(&mut self.keys.messages, cursor, at)?;
        let Message { role, content, calls, call, answers, status, nested } = message;
        let role = plain(cursor, role?)?;
        if nested.is_some() {
            return None;
        }
        let is_message = content.or(calls).or(call).is_some();
        self.found.has_message |= is_message;
        self.found.all_messages &= is_message;
        self.found.about_calls |= calls.or(call).is_some();
        match role {
            b"assistant" => {
                self.content(content, true)?;
                if let Some((start, _)) = calls.filter(|span| !is_null(cursor, *span)) {
                    self.of_chat = true;
                    list(cursor, start, |at| self.call(at))?;
                }
                if let Some((start, _)) = call.filter(|span| !is_null(cursor, *span)) {
                    self.of_chat = true;
                    self.call(start)?;
                }
            }
            b"tool" | b"function" => {
                (self.of_chat, self.found.about_calls) = (true, true);
                self.result(plain(cursor, answers?)?, content, status)?;
            }
            _ => self.content(content, false)?,
        }
        Some(behind)
    }

    /// The content of a message.
    fn content(&mut self, content: Option<Span>, of_assistant: bool) -> Option<()> {
        let cursor = self.cursor;
        let Some(span) = content else {
            // With blocks that would be a warning.
            self.of_chat = true;
            return Some(());
        };
        match cursor.byte(span.0) {
            b'"' => self.say(span, of_assistant),
            b'n' if is_null(cursor, span) => {}
            b'[' => {
                if of_assistant {
                    self.said = Some(Said::Blocks(span));
                }
                list(cursor, span.0, |at| self.block(at, of_assistant))?;
            }
            _ => return None,
        }
        Some(())
    }

    /// A text that stands for a message.
    fn say(&mut self, span: Span, of_assistant: bool) {
        if of_assistant && span.1.wrapping_sub(span.0) > 2 {
            (self.said, self.spoken) = (Some(Said::Text(span)), Some(span));
        }
    }

    /// A call in OpenAI's form.
    fn call(&mut self, at: usize) -> Option<usize> {
        let cursor = self.cursor;
        let (outer, behind) = parts_of_call(&mut self.keys.calls, cursor, at)?;
        let is_object = |span: &Span| cursor.byte(span.0) == b'{';
        let function = match outer.function.filter(is_object).or(outer.custom.filter(is_object)) {
            Some((start, _)) => parts_of_call(&mut self.keys.functions, cursor, start)?.0,
            None => outer,
        };
        let args = function.arguments.or(function.args).or(function.input).map(|(start, end)| {
            if cursor.byte(start) == b'"' { Held::Written(start, end) } else { Held::Bytes(start, end) }
        });
        self.add(function.name?, args, outer.id)?;
        Some(behind)
    }

    /// Adds a call.
    fn add(&mut self, name: Span, args: Option<Held<'a>>, id: Option<Span>) -> Option<()> {
        let cursor = self.cursor;
        plain(cursor, name)?;
        let name = self.stretch.text.get(name.0.wrapping_add(1)..name.1.wrapping_sub(1))?;
        if let Some(id) = id {
            // What is no text counts as no id: then the order decides, and the full reader.
            self.waiting.push((plain(cursor, id)?, self.facts.calls.len()));
        }
        let held = args.unwrap_or(Held::Value(Value::Missing));
        if args.is_some() {
            *self.found.records.get_mut(Field::Args as usize)? = true;
            self.texts(Field::Args, held)?;
        }
        self.facts.calls.push(Call { name, fields: [held, Held::Value(Value::Missing)], place: None });
        Some(())
    }

    /// Gives the texts of a field to those who ask for them.
    fn texts(&mut self, field: Field, held: Held<'a>) -> Option<()> {
        if self.demand.texts.get(field as usize) != Some(&true) {
            return Some(());
        }
        let texts = self.facts.texts.get_mut(field as usize)?;
        match held {
            Held::Bytes(start, end) if is_null(self.cursor, (start, end)) => {}
            Held::Bytes(start, end) => call::take_texts(self.cursor, self.stretch.text, start, end, texts)?,
            held => texts.walk(self.stretch.read(held)?),
        }
        Some(())
    }

    /// The call that waits for a result with this id.
    fn answered(&mut self, id: &[u8]) -> Option<usize> {
        let place = self.waiting.iter().take(MOST_WAITING).position(|(known, _)| *known == id)?;
        Some(self.waiting.remove(place).1)
    }

    /// A result in OpenAI's form. Some write how the call ended, too.
    fn result(&mut self, id: &[u8], content: Option<Span>, status: Option<Span>) -> Option<()> {
        let call = self.answered(id)?;
        if let Some(content) = content {
            self.set_result(call, content)?;
        }
        if let Some(status) = status.filter(|span| self.cursor.byte(span.0) == b'"') {
            let word = std::str::from_utf8(plain(self.cursor, status)?).ok()?;
            self.facts.unusual |= !word_status(word)?.executed();
            *self.found.records.get_mut(Field::Result as usize)? = true;
        }
        Some(())
    }

    fn set_result(&mut self, call: usize, content: Span) -> Option<()> {
        *self.found.records.get_mut(Field::Result as usize)? = true;
        let wanted = |list: &[bool; 2]| list.get(Field::Result as usize) == Some(&true);
        if wanted(&self.demand.fields) || wanted(&self.demand.texts) {
            let held = self.text_of(content)?;
            self.texts(Field::Result, held)?;
            *self.facts.calls.get_mut(call)?.fields.get_mut(Field::Result as usize)? = held;
        }
        Some(())
    }

    /// The text of a content, or the content itself where it holds none.
    fn text_of(&mut self, (start, end): Span) -> Option<Held<'a>> {
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
            let (block, behind) = parts_of_block(&mut self.keys.inner, cursor, at)?;
            found = block.text.filter(|_| plain_text(cursor, block.kind) == Some(b"text"));
            Some(behind)
        })?;
        found.filter(|(start, _)| count == 1 && cursor.byte(*start) == b'"')
    }

    /// The same of any content, read in full.
    fn read_text(&self, (start, end): Span) -> Option<Value<'a>> {
        let Stretch { text, arena, limits, .. } = self.stretch;
        let document = json::parse(text.get(start..end)?, start, arena, limits).ok()?;
        if !document.duplicates.is_empty() || adapt::holds_tool_blocks(&document.node) {
            return None;
        }
        Some(content::text(document.node, arena).unwrap_or(document.node).value)
    }

    /// A block of a content: a text, or an object.
    fn block(&mut self, at: usize, of_assistant: bool) -> Option<usize> {
        let cursor = self.cursor;
        if cursor.byte(at) == b'"' {
            let end = cursor.value(at)?;
            if of_assistant && end.wrapping_sub(at) > 2 {
                self.spoken = Some((at, end));
            }
            return Some(end);
        }
        let (block, behind) = parts_of_block(&mut self.keys.blocks, cursor, at)?;
        match plain(cursor, block.kind?)? {
            b"text" => {
                let said = |span: &Span| cursor.byte(span.0) == b'"' && span.1.wrapping_sub(span.0) > 2;
                if let Some(text) = block.text.filter(said).filter(|_| of_assistant) {
                    self.spoken = Some(text);
                }
            }
            b"tool_use" | b"server_tool_use" | b"mcp_tool_use" => {
                self.found.in_blocks = true;
                let args = block.input.map(|(start, end)| Held::Bytes(start, end));
                self.add(block.name?, args, block.id)?;
            }
            kind if kind.ends_with(b"tool_result") => {
                self.found.in_blocks = true;
                self.block_result(&block)?;
            }
            _ => {}
        }
        Some(behind)
    }

    /// A result in a block.
    fn block_result(&mut self, block: &Block) -> Option<()> {
        let cursor = self.cursor;
        let call = self.answered(plain(cursor, block.answers?)?)?;
        // That it is there says how the call ended.
        *self.found.records.get_mut(Field::Result as usize)? = true;
        let failed = block.error.is_some_and(|(start, end)| cursor.slice(start, end) == b"true");
        let Some(content) = block.content else {
            // In a session the line around it may say more.
            self.bare = true;
            return Some(());
        };
        self.set_result(call, content)?;
        if failed {
            let held = self.text_of(content)?;
            self.facts.unusual |= adapt::is_refusal(self.stretch.read(held)?);
        }
        Some(())
    }

    fn finish(mut self) -> Option<Found<'a>> {
        if self.found.in_blocks && self.of_chat {
            return None;
        }
        let bytes = |(start, end)| Held::Bytes(start, end);
        self.found.output = match self.said {
            _ if self.found.in_blocks => self.spoken.map(bytes),
            Some(Said::Blocks(span)) => Some(Held::Value(self.answer(span)?)),
            Some(Said::Text(span)) => Some(bytes(span)),
            None => None,
        };
        Some(self.found)
    }

    /// The words of an answer in blocks.
    fn answer(&self, span: Span) -> Option<Value<'a>> {
        match self.read_text(span)? {
            Value::Text(text) if !text.is_empty() => Some(Value::Text(text)),
            _ => None,
        }
    }
}

pub(super) fn is_null(cursor: Cursor<'_>, (start, end): Span) -> bool {
    cursor.is_null(start, end) == Some(true)
}

/// What stands between the quotes of a text without escapes.
pub(super) fn plain<'a>(cursor: Cursor<'a>, (start, end): Span) -> Option<&'a [u8]> {
    if cursor.byte(start) != b'"' || cursor.has_escape(start, end) {
        return None;
    }
    Some(cursor.slice(start.wrapping_add(1), end.wrapping_sub(1)))
}

fn plain_text<'a>(cursor: Cursor<'a>, span: Option<Span>) -> Option<&'a [u8]> {
    plain(cursor, span?)
}
