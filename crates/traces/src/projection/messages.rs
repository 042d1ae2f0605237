//! A conversation: a list of messages whose calls and results stand apart from each other, in OpenAI's form or with Anthropic's blocks.
//!
//! What the fields of messages say stands in `adapt::messages`. Here they are walked without a parser, and only what is asked for is
//! taken; where anything would give a warning, the line is for the full reader.

mod contents;

use super::keys::{Key, Keys, list};
use super::texts::{joined, take_texts};
use super::{Call, Chunk, Field, Held, Projection, ReadSet};
use crate::adapt::calls::Unanswered;
use crate::adapt::content::Piece;
use crate::adapt::fields::{Record, Shape, Shapes, Span, Spans, is_true};
use crate::adapt::messages::{
    self, BlockType, LastWords, OfBlock, OfCall, OfMessage, Role, ended, function, is_about_calls, is_message,
};
use crate::build::word_status;
use crate::scan::Cursor;
use averment_base::value::Value;
use averment_runs::run::CallTimes;
use rustc_hash::{FxHashMap, FxHashSet};

/// Reads lists of messages.
#[derive(Debug)]
pub(super) struct Messages {
    messages: Keys<Key<OfMessage>>,
    calls: Keys<Key<OfCall>>,
    functions: Keys<Key<OfCall>>,
    blocks: Keys<Key<OfBlock>>,
    /// Blocks inside of results.
    inner: Keys<Key<OfBlock>>,
}

/// What a conversation was found to be.
#[derive(Debug, Default)]
pub(super) struct ConversationFindings<'a> {
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
    /// What was said last, with blocks.
    pub(super) words: LastWords<Span>,
}

impl Messages {
    pub(super) fn new() -> Self {
        Self {
            messages: Keys::of_table([]),
            calls: Keys::of_table([]),
            functions: Keys::of_table([]),
            blocks: Keys::of_table([]),
            inner: Keys::of_table([]),
        }
    }

    /// Reads the list at an offset. `None` where it is for the full reader.
    pub(super) fn read<'a>(
        &mut self,
        chunk: Chunk<'a>,
        start: usize,
        read_set: &ReadSet,
        projection: &mut Projection<'a>,
    ) -> Option<ConversationFindings<'a>> {
        let mut conversation = ConversationReader::new(self, chunk, read_set, projection);
        list(chunk.cursor, start, |at| conversation.message(at))?;
        conversation.finish()
    }
}

/// The last words of the assistant.
#[derive(Debug, Clone, Copy)]
enum LastAnswer {
    Text(Span),
    /// Blocks that may hold some.
    Blocks(Span),
}

/// A conversation while it is read.
pub(super) struct ConversationReader<'c, 'a> {
    keys: &'c mut Messages,
    chunk: Chunk<'a>,
    cursor: Cursor<'a>,
    read_set: &'c ReadSet,
    projection: &'c mut Projection<'a>,
    unanswered: Unanswered<'a, usize>,
    found: ConversationFindings<'a>,
    /// Something was seen that only OpenAI's form has.
    of_chat: bool,
    /// A result in a block has no content.
    bare: bool,
    /// The turn of the message in work: an assistant message each, and with blocks one for each id.
    turns: [u32; 2],
    /// The last turn with blocks.
    last_turn: u32,
    /// The turns with blocks by the ids of their messages.
    by_id: FxHashMap<&'a str, u32>,
    /// When the message in work was written, in milliseconds, and whether it is the main agent's.
    time: Option<f64>,
    of_main: bool,
    /// The ids of calls so far, in a session: what stands there twice may be a copy.
    ids: Option<FxHashSet<&'a str>>,
    /// The text of the block before, of which the next one may be more.
    before: Option<Piece>,
    /// The answer in OpenAI's form.
    said: Option<LastAnswer>,
}

impl<'c, 'a> ConversationReader<'c, 'a> {
    pub(super) fn new(
        keys: &'c mut Messages,
        chunk: Chunk<'a>,
        read_set: &'c ReadSet,
        projection: &'c mut Projection<'a>,
    ) -> Self {
        Self {
            keys,
            chunk,
            cursor: chunk.cursor,
            read_set,
            projection,
            unanswered: Unanswered::new(),
            found: ConversationFindings { all_messages: true, ..ConversationFindings::default() },
            of_chat: false,
            bare: false,
            turns: [0; 2],
            last_turn: 0,
            by_id: FxHashMap::default(),
            time: None,
            of_main: true,
            ids: None,
            before: None,
            said: None,
        }
    }

    /// Says when the next message of a session was written, and whether it is the main agent's.
    pub(super) fn about(&mut self, time: Option<f64>, of_main: bool) {
        (self.time, self.of_main) = (time, of_main);
        self.ids.get_or_insert_default();
    }

    /// The assistant says something, in a message with blocks.
    fn speak(&mut self, words: Span) -> Option<()> {
        let turn = usize::try_from(self.turns[1]).ok()?;
        if self.ids.is_some() && self.may_be_copy(words, turn)? {
            return None;
        }
        self.found.words.say(words, turn, self.of_main);
        Some(())
    }

    /// Counts a message of the assistant.
    fn count_turn(&mut self, message: &Spans<OfMessage>) -> Option<()> {
        let [plain, with_blocks] = &mut self.turns;
        *plain += 1;
        let id = match message.field(OfMessage::Id) {
            Some(span) => self.chunk.plain(span)?,
            None => None,
        };
        let next = self.last_turn + 1;
        *with_blocks = match id {
            Some(id) => *self.by_id.entry(id).or_insert(next),
            None => next,
        };
        self.last_turn = self.last_turn.max(*with_blocks);
        Some(())
    }

    /// What was found, where nothing but blocks was.
    pub(super) fn in_blocks(self) -> Option<ConversationFindings<'a>> {
        (!self.of_chat && !self.bare).then_some(self.found)
    }

    /// Reads a message; gives the offset behind it.
    pub(super) fn message(&mut self, at: usize) -> Option<usize> {
        let cursor = self.cursor;
        let (message, behind) = self.keys.messages.spans(cursor, at)?;
        let role = Role::from_key(self.chunk.plain(message.field(OfMessage::Role)?)??);
        // In a session a message may go on with the next line.
        self.before = self.before.filter(|_| self.ids.is_some());
        if message.field(OfMessage::Invocations).or(message.field(OfMessage::Parts)).is_some() {
            return None;
        }
        let is_message = is_message(&message, &cursor);
        self.found.has_message |= is_message;
        self.found.all_messages &= is_message;
        self.found.about_calls |= is_about_calls(&message, role);
        match role {
            Some(Role::Assistant) => {
                self.count_turn(&message)?;
                self.content(message.field(OfMessage::Content), true)?;
                let known = |field| message.field(field).filter(|value| !cursor.is(*value, Shape::Null));
                if let Some((start, _)) = known(OfMessage::Calls) {
                    self.of_chat = true;
                    list(cursor, start, |at| self.call(at))?;
                }
                if let Some((start, _)) = known(OfMessage::Call) {
                    self.of_chat = true;
                    let (function, _) = self.keys.calls.spans(cursor, start)?;
                    self.add_function(&function, None)?;
                }
            }
            Some(Role::Result) => {
                self.of_chat = true;
                self.result(&message)?;
            }
            Some(Role::User) | None => {
                // What others say belongs to the turn that follows.
                self.turns[1] = self.last_turn + 1;
                self.content(message.field(OfMessage::Content), false)?;
            }
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
        match cursor.shape(span)? {
            Shape::Text if of_assistant => {
                self.said = Some(LastAnswer::Text(span));
                self.speak(span)?;
            }
            Shape::Text | Shape::Empty | Shape::Null => {}
            Shape::List => {
                if of_assistant {
                    self.said = Some(LastAnswer::Blocks(span));
                }
                list(cursor, span.0, |at| self.block(at, of_assistant))?;
            }
            _ => return None,
        }
        Some(())
    }

    /// A call in OpenAI's form.
    fn call(&mut self, at: usize) -> Option<usize> {
        let cursor = self.cursor;
        let (call, behind) = self.keys.calls.spans(cursor, at)?;
        let function = match function(&call, &cursor) {
            Some((start, _)) => self.keys.functions.spans(cursor, start)?.0,
            None => call,
        };
        self.add_function(&function, call.field(OfCall::Id))?;
        Some(behind)
    }

    /// Adds what is called in OpenAI's form.
    fn add_function(&mut self, function: &Spans<OfCall>, id: Option<Span>) -> Option<()> {
        let args = messages::arguments(function).map(|span| match self.cursor.is_text(span) {
            true => Held::Written(span.0, span.1),
            false => Held::Bytes(span.0, span.1),
        });
        self.add(function.field(OfCall::Name)?, args, id, self.turns[0])
    }

    /// Adds a call.
    fn add(&mut self, name: Span, args: Option<Held<'a>>, id: Option<Span>, turn: u32) -> Option<()> {
        let name = self.chunk.plain(name)??;
        let id = self.word(id)?;
        if let (Some(id), Some(ids)) = (id, &mut self.ids)
            && !ids.insert(id)
        {
            return None;
        }
        self.unanswered.add(id, name, usize::try_from(turn).ok()?, self.projection.calls.len());
        let held = args.unwrap_or(Held::Value(Value::Missing));
        if args.is_some() {
            *self.found.records.get_mut(Field::Args as usize)? = true;
            self.texts(Field::Args, held)?;
        }
        let times = CallTimes { start: self.time, end: None, turn: Some(turn) };
        let fields = [held, Held::Value(Value::Missing)];
        self.projection.calls.push(Call { name, fields, times: Some(times), place: None });
        Some(())
    }

    /// The text of a field, where it is there and text. The outer `None` is for one with escapes.
    fn word(&self, field: Option<Span>) -> Option<Option<&'a str>> {
        field.map_or(Some(None), |span| self.chunk.plain(span))
    }

    /// Gives the texts of a field to those who ask for them.
    fn texts(&mut self, field: Field, held: Held<'a>) -> Option<()> {
        take_texts(self.chunk, self.read_set, self.projection, field, held)
    }

    /// A result in OpenAI's form. Some write how the call ended, too.
    fn result(&mut self, message: &Spans<OfMessage>) -> Option<()> {
        if message.field(OfMessage::Content).is_some_and(|content| self.may_be_printed(content)) {
            return None;
        }
        let id = self.word(message.field(OfMessage::Answers))?;
        let tool = self.word(messages::answered_tool(message, &self.cursor))?;
        let call = self.unanswered.answer(id, tool)?;
        if let Some(content) = message.field(OfMessage::Content) {
            if self.cursor.is(content, Shape::List) {
                list(self.cursor, content.0, |at| self.says_or_is_silent(at))?;
            }
            self.set_result(call, content)?;
        }
        if let Some(status) = self.word(message.field(OfMessage::Status))? {
            self.projection.unusual |= !word_status(status)?.executed();
            *self.found.records.get_mut(Field::Result as usize)? = true;
        }
        Some(())
    }

    fn set_result(&mut self, call: usize, content: Span) -> Option<()> {
        *self.found.records.get_mut(Field::Result as usize)? = true;
        let wanted = |list: &[bool; 2]| list.get(Field::Result as usize) == Some(&true);
        if wanted(&self.read_set.fields) || wanted(&self.read_set.texts) {
            let held = self.text_of(content)?;
            self.texts(Field::Result, held)?;
            *self.projection.calls.get_mut(call)?.fields.get_mut(Field::Result as usize)? = held;
        }
        Some(())
    }

    /// A text begins; where it goes on with the one before it both are for the full reader, which makes one of them.
    fn goes_on(&mut self, piece: Piece) -> Option<()> {
        let goes_on = self.before.replace(piece).is_some_and(|before| piece.goes_on(before));
        (!goes_on).then_some(())
    }

    /// A block of a content: a text, or an object.
    fn block(&mut self, at: usize, of_assistant: bool) -> Option<usize> {
        let cursor = self.cursor;
        if cursor.byte(at) == b'"' {
            let end = cursor.value(at)?;
            self.goes_on(Piece::Alone)?;
            if of_assistant && cursor.is((at, end), Shape::Text) {
                self.speak((at, end))?;
            }
            return Some(end);
        }
        let (block, behind) = self.keys.blocks.spans(cursor, at)?;
        let word = self.chunk.plain(block.field(OfBlock::Type)?)??;
        let kind = BlockType::of_block(word);
        if !matches!(kind, Some(BlockType::Text | BlockType::OtherText)) {
            self.before = None;
        }
        match kind {
            Some(BlockType::Text | BlockType::OtherText) => {
                let citations = block.field(OfBlock::Citations).filter(|span| cursor.is(*span, Shape::List));
                let has_citations = citations.is_some_and(|(start, end)| cursor.slice(start, end) != b"[]");
                self.goes_on(Piece::of(Some(word), has_citations))?;
                let said = block.field(OfBlock::Text).filter(|text| cursor.is(*text, Shape::Text));
                if let Some(words) = said.filter(|_| of_assistant) {
                    self.speak(words)?;
                }
            }
            Some(BlockType::Call) => {
                self.found.in_blocks = true;
                let args = block.field(OfBlock::Input).map(|(start, end)| Held::Bytes(start, end));
                self.add(block.field(OfBlock::Name)?, args, block.field(OfBlock::Id), self.turns[1])?;
            }
            Some(BlockType::Result) => {
                self.found.in_blocks = true;
                self.block_result(&block)?;
            }
            Some(BlockType::Thinking) => {
                let fits = |value: Span| cursor.is_text(value) || cursor.is(value, Shape::Null);
                block.field(OfBlock::Thinking).is_none_or(fits).then_some(())?;
            }
            Some(BlockType::Silent) => {}
            // It may be a call in the words of another provider.
            None => return None,
        }
        Some(behind)
    }

    /// A result in a block.
    fn block_result(&mut self, block: &Spans<OfBlock>) -> Option<()> {
        let id = self.word(block.field(OfBlock::Answers))?;
        let call = self.unanswered.answer(id, None)?;
        if let (Some(time), Some(Call { times: Some(times), .. })) = (self.time, self.projection.calls.get_mut(call)) {
            times.end = Some(time);
        }
        // That it is there says how the call ended.
        *self.found.records.get_mut(Field::Result as usize)? = true;
        let Some(content) = block.field(OfBlock::Content) else {
            // In a session the line around it may say more.
            self.bare = true;
            return Some(());
        };
        self.set_result(call, content)?;
        if is_true(block, &self.cursor, OfBlock::Failed) {
            let held = self.text_of(content)?;
            self.projection.unusual |= !ended(true, Some(self.chunk.read(held)?)).executed();
        }
        Some(())
    }

    fn finish(mut self) -> Option<ConversationFindings<'a>> {
        if self.found.in_blocks && self.of_chat {
            return None;
        }
        let bytes = |(start, end)| Held::Bytes(start, end);
        self.found.output = match self.said {
            _ if self.found.in_blocks => joined(self.chunk, self.found.words.output(true))?,
            Some(LastAnswer::Blocks(span)) => Some(Held::Value(self.answer(span)?)),
            Some(LastAnswer::Text(span)) => Some(bytes(span)),
            None => None,
        };
        Some(self.found)
    }
}
