//! A conversation: a list of messages whose calls and results stand apart from each other, in OpenAI's form or with Anthropic's blocks.
//!
//! What the fields of messages say stands in `adapt::messages`. Here they are walked without a parser, and only what is asked for is
//! taken; where anything would give a warning, the line is for the full reader.

mod contents;

use super::keys::{KeyReader, TableKey, read_list};
use super::texts::{join_texts, take_texts};
use super::{CallField, ProjectedCall, RawValue, ReadSet, RunProjection, ScannedChunk};
use crate::adapt::calls::PendingCalls;
use crate::adapt::claude_code::NO_MODEL;
use crate::adapt::content::TextPiece;
use crate::adapt::fields::{ByteSpan, FieldRecord, FieldSpans, ShapeReader, ValueShape, is_true};
use crate::adapt::messages::{
    self, BlockKey, BlockType, ChatMessageKey, LastWords, MessageRole, ToolCallKey, function_object, is_about_calls,
    is_message, result_status,
};
use crate::scan::ScanCursor;
use averment_base::value::Value;
use averment_runs::run::CallTimes;
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Debug)]
pub(super) struct MessageReader {
    messages: KeyReader<TableKey<ChatMessageKey>>,
    calls: KeyReader<TableKey<ToolCallKey>>,
    functions: KeyReader<TableKey<ToolCallKey>>,
    blocks: KeyReader<TableKey<BlockKey>>,
    inner: KeyReader<TableKey<BlockKey>>,
}

#[derive(Debug, Default)]
pub(super) struct ConversationFindings<'a> {
    pub(super) has_message: bool,
    pub(super) all_messages: bool,
    pub(super) in_blocks: bool,
    /// Some message has calls, is a result, or says there are none.
    pub(super) about_calls: bool,
    /// Some message surely has words.
    pub(super) has_words: bool,
    /// Some call has arguments; some call has a result.
    pub(super) records: [bool; 2],
    pub(super) output: Option<RawValue<'a>>,
    pub(super) words: LastWords<ByteSpan>,
}

impl MessageReader {
    pub(super) fn new() -> Self {
        Self {
            messages: KeyReader::of_table(),
            calls: KeyReader::of_table(),
            functions: KeyReader::of_table(),
            blocks: KeyReader::of_table(),
            inner: KeyReader::of_table(),
        }
    }

    /// `None` for the full reader.
    pub(super) fn read_list<'a>(
        &mut self,
        chunk: ScannedChunk<'a>,
        start: usize,
        read_set: &ReadSet,
        projection: &mut RunProjection<'a>,
    ) -> Option<ConversationFindings<'a>> {
        let mut conversation = ConversationReader::new(self, chunk, read_set, projection);
        read_list(chunk.cursor, start, |at| conversation.read_message(at))?;
        conversation.finish_conversation()
    }
}

#[derive(Debug, Clone, Copy)]
enum LastAnswer {
    Text(ByteSpan),
    Blocks(ByteSpan),
}

pub(super) struct ConversationReader<'c, 'a> {
    keys: &'c mut MessageReader,
    chunk: ScannedChunk<'a>,
    cursor: ScanCursor<'a>,
    read_set: &'c ReadSet,
    projection: &'c mut RunProjection<'a>,
    unanswered: PendingCalls<'a, usize>,
    found: ConversationFindings<'a>,
    /// A feature that only OpenAI's form has.
    of_chat: bool,
    bare: bool,
    /// Current turn: per assistant message, or per id with blocks.
    turns: [u32; 2],
    last_turn: u32,
    by_id: FxHashMap<&'a str, u32>,
    /// In milliseconds, and whether the main agent speaks.
    time: Option<f64>,
    of_main: bool,
    /// Call ids in a session: duplicates may be copies.
    ids: Option<FxHashSet<&'a str>>,
    /// The previous block's text, which may continue.
    before: Option<TextPiece>,
    said: Option<LastAnswer>,
}

impl<'c, 'a> ConversationReader<'c, 'a> {
    pub(super) fn new(
        keys: &'c mut MessageReader,
        chunk: ScannedChunk<'a>,
        read_set: &'c ReadSet,
        projection: &'c mut RunProjection<'a>,
    ) -> Self {
        Self {
            keys,
            chunk,
            cursor: chunk.cursor,
            read_set,
            projection,
            unanswered: PendingCalls::new(),
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

    pub(super) fn set_meta(&mut self, time: Option<f64>, of_main: bool) {
        (self.time, self.of_main) = (time, of_main);
        self.ids.get_or_insert_default();
    }

    fn add_speech(&mut self, words: ByteSpan) -> Option<()> {
        let turn = usize::try_from(self.turns[1]).ok()?;
        if self.ids.is_some() && self.may_be_copy(words, turn)? {
            return None;
        }
        self.found.words.add_words(words, turn, self.of_main);
        Some(())
    }

    fn count_turn(&mut self, message: &FieldSpans<ChatMessageKey>) -> Option<()> {
        let [plain, with_blocks] = &mut self.turns;
        *plain += 1;
        let id = match message.field(ChatMessageKey::Id) {
            Some(span) => self.chunk.plain_text(span)?,
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

    /// `None` unless all is in blocks.
    pub(super) fn in_blocks(self) -> Option<ConversationFindings<'a>> {
        (!self.of_chat && !self.bare).then_some(self.found)
    }

    /// Whether a message is in the words of a program, or has what only the full reader reads; `None` for it, too.
    fn is_unusual(&self, message: &FieldSpans<ChatMessageKey>, role: Option<MessageRole>) -> Option<bool> {
        let is_text = |words: &ByteSpan| self.cursor.has_shape(*words, ValueShape::Text);
        let refusal = message.field(ChatMessageKey::Refusal).filter(is_text);
        let sender = message.field(ChatMessageKey::Sender).filter(|_| role == Some(MessageRole::Assistant));
        let other = message.has_any(&[ChatMessageKey::Invocations, ChatMessageKey::Parts]);
        let model = match message.field(ChatMessageKey::Model).filter(|_| self.ids.is_some()) {
            Some(model) => self.chunk.plain_text(model)?,
            None => None,
        };
        Some(other || refusal.or(sender).is_some() || model == Some(NO_MODEL))
    }

    pub(super) fn read_message(&mut self, at: usize) -> Option<usize> {
        use ChatMessageKey::{Call, Calls, Content, Invocations, Model, Parts, Refusal, Sender};
        let cursor = self.cursor;
        let mut message = FieldSpans::default();
        let behind = self.keys.messages.read_spans(cursor, at, &mut message)?;
        // A message of an unknown role may be anything: the full reader says so.
        let role = Some(MessageRole::from_key(self.chunk.plain_text(message.field(ChatMessageKey::Role)?)??)?);
        // In a session a message may go on with the next line.
        self.before = self.before.filter(|_| self.ids.is_some());
        if message.has_any(&[Invocations, Parts, Refusal, Sender, Model]) && self.is_unusual(&message, role)? {
            return None;
        }
        let is_message = is_message(&message, &cursor);
        self.found.has_message |= is_message;
        self.found.all_messages &= is_message;
        self.found.about_calls |= is_about_calls(&message, role);
        let known = |field| message.field(field).filter(|value| !cursor.has_shape(*value, ValueShape::Null));
        let read: &[_] = if role == Some(MessageRole::Assistant) { &[Content, Calls, Call] } else { &[Content] };
        self.chunk.pass_fields(&message, read)?;
        match role {
            Some(MessageRole::Assistant) => {
                self.count_turn(&message)?;
                self.read_content(message.field(ChatMessageKey::Content), true)?;
                if let Some((start, _)) = known(ChatMessageKey::Calls) {
                    self.of_chat = true;
                    read_list(cursor, start, |at| self.read_call(at))?;
                }
                if let Some((start, _)) = known(ChatMessageKey::Call) {
                    self.of_chat = true;
                    let mut function = FieldSpans::default();
                    self.keys.calls.read_spans(cursor, start, &mut function)?;
                    self.add_function(&function, None)?;
                }
            }
            Some(MessageRole::Result) => {
                self.of_chat = true;
                self.read_result(&message)?;
            }
            Some(MessageRole::User | MessageRole::Other) | None => {
                // What others say belongs to the turn that follows.
                self.turns[1] = self.last_turn + 1;
                // Calls beside blocks, whoever makes them: the full reader says that not all are recorded.
                self.of_chat |= known(ChatMessageKey::Calls).or_else(|| known(ChatMessageKey::Call)).is_some();
                self.read_content(message.field(ChatMessageKey::Content), false)?;
            }
        }
        Some(behind)
    }

    fn read_content(&mut self, content: Option<ByteSpan>, of_assistant: bool) -> Option<()> {
        let cursor = self.cursor;
        let Some(span) = content else {
            // With blocks that would be a warning.
            self.of_chat = true;
            return Some(());
        };
        let shape = cursor.value_shape(span)?;
        if shape == ValueShape::Text {
            self.note_words(span);
        }
        match shape {
            ValueShape::Text if of_assistant => {
                self.said = Some(LastAnswer::Text(span));
                self.add_speech(span)?;
            }
            ValueShape::Text | ValueShape::Empty | ValueShape::Null => {}
            ValueShape::List => {
                if of_assistant {
                    self.said = Some(LastAnswer::Blocks(span));
                }
                read_list(cursor, span.0, |at| self.read_block(at, of_assistant))?;
            }
            _ => return None,
        }
        Some(())
    }

    fn read_call(&mut self, at: usize) -> Option<usize> {
        let cursor = self.cursor;
        let (mut call, mut inner) = (FieldSpans::default(), FieldSpans::default());
        let behind = self.keys.calls.read_spans(cursor, at, &mut call)?;
        let function = match function_object(&call, &cursor) {
            Some((start, _)) => {
                self.keys.functions.read_spans(cursor, start, &mut inner)?;
                &inner
            }
            None => &call,
        };
        self.add_function(function, call.field(ToolCallKey::Id))?;
        Some(behind)
    }

    fn add_function(&mut self, function: &FieldSpans<ToolCallKey>, id: Option<ByteSpan>) -> Option<()> {
        let args = messages::call_arguments(function).map(|span| match self.cursor.is_text(span) {
            true => RawValue::Written(span.0, span.1),
            false => RawValue::Bytes(span.0, span.1),
        });
        self.add_call(function.field(ToolCallKey::Name)?, args, id, self.turns[0])
    }

    fn add_call(&mut self, name: ByteSpan, args: Option<RawValue<'a>>, id: Option<ByteSpan>, turn: u32) -> Option<()> {
        let name = self.chunk.plain_text(name)??;
        let id = self.field_text(id)?;
        if let (Some(id), Some(ids)) = (id, &mut self.ids)
            && !ids.insert(id)
        {
            return None;
        }
        self.unanswered.push_call(id, name, usize::try_from(turn).ok()?, self.projection.calls.len());
        let held = args.unwrap_or(RawValue::Value(Value::Missing));
        if args.is_some() {
            *self.found.records.get_mut(CallField::Args as usize)? = true;
            self.pool_texts(CallField::Args, held)?;
        }
        let times = CallTimes { start: self.time, end: None, turn: Some(turn) };
        let fields = [held, RawValue::Value(Value::Missing)];
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

    /// The outer `None` is for text with escapes.
    fn field_text(&self, field: Option<ByteSpan>) -> Option<Option<&'a str>> {
        field.map_or(Some(None), |span| self.chunk.plain_text(span))
    }

    fn pool_texts(&mut self, field: CallField, held: RawValue<'a>) -> Option<()> {
        take_texts(self.chunk, self.read_set, self.projection, field, held)
    }

    fn read_result(&mut self, message: &FieldSpans<ChatMessageKey>) -> Option<()> {
        if message.field(ChatMessageKey::Content).is_some_and(|content| self.may_be_printed(content)) {
            return None;
        }
        let id = self.field_text(message.field(ChatMessageKey::Answers))?;
        let tool = self.field_text(messages::answered_tool(message, &self.cursor))?;
        let call = self.unanswered.take_answered(id, tool)?;
        if let Some(content) = message.field(ChatMessageKey::Content) {
            if self.cursor.has_shape(content, ValueShape::List) {
                read_list(self.cursor, content.0, |at| self.says_or_is_silent(at))?;
            }
            self.set_result(call, content)?;
        }
        if let Some(status) = self.field_text(message.field(ChatMessageKey::Status))? {
            self.projection.unusual |= !averment_runs::run::StepStatus::from_word(status)?.is_executed();
            *self.found.records.get_mut(CallField::Result as usize)? = true;
        }
        Some(())
    }

    fn set_result(&mut self, call: usize, content: ByteSpan) -> Option<()> {
        *self.found.records.get_mut(CallField::Result as usize)? = true;
        let wanted = |list: &[bool; 2]| list.get(CallField::Result as usize) == Some(&true);
        if wanted(&self.read_set.fields) || wanted(&self.read_set.texts) {
            let held = self.text_of(content)?;
            self.pool_texts(CallField::Result, held)?;
            *self.projection.calls.get_mut(call)?.fields.get_mut(CallField::Result as usize)? = held;
        }
        Some(())
    }

    /// A continued text goes to the full reader, which joins them.
    fn goes_on(&mut self, piece: TextPiece) -> Option<()> {
        let goes_on = self.before.replace(piece).is_some_and(|before| piece.continues(before));
        (!goes_on).then_some(())
    }

    fn read_block(&mut self, at: usize, of_assistant: bool) -> Option<usize> {
        let cursor = self.cursor;
        if cursor.byte_at(at) == b'"' {
            let end = cursor.value_end(at)?;
            self.goes_on(TextPiece::Alone)?;
            if cursor.has_shape((at, end), ValueShape::Text) {
                self.note_words((at, end));
                if of_assistant {
                    self.add_speech((at, end))?;
                }
            }
            return Some(end);
        }
        let mut block = FieldSpans::default();
        let behind = self.keys.blocks.read_spans(cursor, at, &mut block)?;
        let word = self.chunk.plain_text(block.field(BlockKey::Type)?)??;
        let kind = BlockType::of_block(word);
        if !matches!(kind, Some(BlockType::Text | BlockType::OtherText)) {
            self.before = None;
        }
        let read = match kind {
            Some(BlockType::Call) => BlockKey::Input,
            Some(BlockType::Result) => BlockKey::Content,
            _ => BlockKey::Type,
        };
        self.chunk.pass_fields(&block, &[read])?;
        match kind {
            Some(BlockType::Text | BlockType::OtherText) => {
                let citations =
                    block.field(BlockKey::Citations).filter(|span| cursor.has_shape(*span, ValueShape::List));
                let has_citations = citations.is_some_and(|(start, end)| cursor.slice(start, end) != b"[]");
                self.goes_on(TextPiece::of_block(Some(word), has_citations))?;
                let said = block.field(BlockKey::Text).filter(|text| cursor.has_shape(*text, ValueShape::Text));
                if let Some(words) = said {
                    self.note_words(words);
                    if of_assistant {
                        self.add_speech(words)?;
                    }
                }
            }
            Some(BlockType::Call) => {
                self.found.in_blocks = true;
                let args = block.field(BlockKey::Input).map(|(start, end)| RawValue::Bytes(start, end));
                self.add_call(block.field(BlockKey::Name)?, args, block.field(BlockKey::Id), self.turns[1])?;
            }
            Some(BlockType::Result) => {
                self.found.in_blocks = true;
                self.block_result(&block)?;
            }
            Some(BlockType::Thinking) => {
                let fits = |value: ByteSpan| cursor.is_text(value) || cursor.has_shape(value, ValueShape::Null);
                block.field(BlockKey::Thinking).is_none_or(fits).then_some(())?;
            }
            Some(BlockType::Silent) => {}
            // It may be a call in the words of another provider. A refusal is seldom.
            Some(BlockType::Refusal) | None => return None,
        }
        Some(behind)
    }

    fn block_result(&mut self, block: &FieldSpans<BlockKey>) -> Option<()> {
        let id = self.field_text(block.field(BlockKey::Answers))?;
        let call = self.unanswered.take_answered(id, None)?;
        if let (Some(time), Some(ProjectedCall { times: Some(times), .. })) =
            (self.time, self.projection.calls.get_mut(call))
        {
            times.end = Some(time);
        }
        // That it is there says how the call ended.
        *self.found.records.get_mut(CallField::Result as usize)? = true;
        let Some(content) = block.field(BlockKey::Content) else {
            // In a session the line around it may say more.
            self.bare = true;
            return Some(());
        };
        self.set_result(call, content)?;
        if is_true(block, &self.cursor, BlockKey::Failed) {
            let held = self.text_of(content)?;
            self.projection.unusual |= !result_status(true, Some(self.chunk.read_value(held)?)).is_executed();
        }
        Some(())
    }

    fn finish_conversation(mut self) -> Option<ConversationFindings<'a>> {
        if self.found.in_blocks && self.of_chat {
            return None;
        }
        let bytes = |(start, end)| RawValue::Bytes(start, end);
        self.found.output = match self.said {
            _ if self.found.in_blocks => join_texts(self.chunk, self.found.words.output_words(true))?,
            Some(LastAnswer::Blocks(span)) => Some(RawValue::Value(self.answer_words(span)?)),
            Some(LastAnswer::Text(span)) => Some(bytes(span)),
            None => None,
        };
        Some(self.found)
    }
}
