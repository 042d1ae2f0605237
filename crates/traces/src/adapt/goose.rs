//! Goose: sessions (a line about the session, then a message a line), exports of a session (`conversation`), what `goose run` prints with
//! `--output-format json` and `stream-json`.

use super::block_session::{self, UserWords};
use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::calls::TokenUsage;
use super::content;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{
    first_of, list_of, node_list, node_object, node_text, object_items, object_of, objects_of, text_of,
};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Number, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::StepStatus;

key_table! {
    GooseSessionKey {
        Folder = "working_dir",
        Count = "message_count",
        Id = "id",
        Conversation = "conversation",
        Messages = "messages",
        Input = "accumulated_input_tokens",
        Output = "accumulated_output_tokens",
        Total = "accumulated_total_tokens",
        /// What a run took, at its end: the input counts what came from a cache, too.
        EndInput = "input_tokens",
        EndOutput = "output_tokens",
        EndTotal = "total_tokens",
        EndRead = "cache_read_input_tokens",
        EndWrite = "cache_write_input_tokens",
        /// An event, and the message in it.
        Type = "type",
        Message = "message",
        Error = "error",
    }
}

key_table! {
    GooseMessageKey {
        Role = "role",
        /// Pieces of one message have it in common.
        Id = "id",
        Created = "created",
        Content = "content",
        Metadata = "metadata",
        Visible = "userVisible",
    }
}

key_table! {
    GooseBlockKey {
        Type = "type",
        Id = "id",
        Call = "toolCall",
        Result = "toolResult",
        Status = "status",
        Value = "value",
        Error = "error",
        Name = "name",
        Args = "arguments",
        Content = "content",
        Text = "text",
        Failed = "isError",
    }
}

key_table! {
    GooseBlockType {
        Call = "toolRequest" | "frontendToolRequest",
        Result = "toolResponse",
        /// Questions to the user, notes on the screen, and what was asked to be summed up: a call that is approved is a block of its own.
        Silent = "toolConfirmationRequest" | "actionRequired" | "systemNotification" | "redactedThinking"
            | "contextLengthExceeded" | "summarizationRequested",
    }
}

key_table! {
    GooseEventType {
        Message = "message",
        /// What tools tell while they run, and changes of the model.
        Silent = "notification" | "model_change" | "modelChange",
        End = "complete",
        Error = "error",
    }
}

key_table! {
    GooseStatus {
        Failed = "error",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Goose session",
    known_by: "`working_dir` and `message_count`, or messages with `toolRequest` or `toolResponse` blocks",
    description: "sessions and exports of Goose (`conversation`, or a message a line)",
    marks: &[GooseSessionKey::Folder.key()],
    object: |object| is_header(object) && list_of(object, GooseSessionKey::Conversation).is_some(),
    item_marks: &[GooseSessionKey::Folder.key(), GooseMessageKey::Role.key(), GooseSessionKey::Message.key()],
    element: is_item,
    line: is_item,
    beside: |line| message_of(line).is_some() || event_type(line).is_some(),
    record_ids: RecordIds::shared(&[&[GooseMessageKey::Created.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_header(line: Object<'_>) -> bool {
    text_of(line, GooseSessionKey::Folder).is_some()
        && line.field(GooseSessionKey::Count).or(line.field(GooseSessionKey::Conversation)).is_some()
}

fn event_type(line: Object<'_>) -> Option<GooseEventType> {
    text_of(line, GooseSessionKey::Type).and_then(GooseEventType::from_key)
}

/// The message that a line is, or that an event holds.
fn message_of(line: Object<'_>) -> Option<Object<'_>> {
    let is_message = |one: &Object<'_>| {
        text_of(*one, GooseMessageKey::Role).is_some() && list_of(*one, GooseMessageKey::Content).is_some()
    };
    let event =
        || (event_type(line) == Some(GooseEventType::Message)).then(|| object_of(line, GooseSessionKey::Message));
    Some(line).filter(is_message).or_else(|| event().flatten().filter(is_message))
}

fn is_item(line: Object<'_>) -> bool {
    let is_own = |message: Object<'_>| {
        let blocks = list_of(message, GooseMessageKey::Content).unwrap_or_default();
        let seen = object_of(message, GooseMessageKey::Metadata).and_then(|seen| seen.field(GooseMessageKey::Visible));
        seen.is_some() && message.field(GooseMessageKey::Created).is_some()
            || object_items(blocks).any(|(_, block)| block_type(block).is_some())
    };
    is_header(line) && line.field(GooseSessionKey::Conversation).is_none() || message_of(line).is_some_and(is_own)
}

fn block_type(block: Object<'_>) -> Option<GooseBlockType> {
    text_of(block, GooseBlockKey::Type).and_then(GooseBlockType::from_key)
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut run = GooseRun { conversation: ConversationBuilder::from_parts(builder), last: None, open: None };
    let conversation = node_object(*root).and_then(|object| list_of(object, GooseSessionKey::Conversation));
    let items = match root.value {
        Value::List(items) => items,
        _ => conversation.unwrap_or(std::slice::from_ref(root)),
    };
    if let (Some(_), Some(session)) = (conversation, node_object(*root)) {
        read_header(&mut run.conversation, session);
    }
    for node in items {
        run.conversation.builder.count_record();
        match node_object(*node) {
            Some(line) => run.read_line(*node, line),
            None => run.conversation.builder.skip_value(node, "what is no message is skipped"),
        }
    }
    run.close_text();
    let conversation = run.conversation;
    // A header alone, as lists of sessions have it, says nothing of what was done.
    let header = items.first().copied().filter(|node| node_object(*node).is_some_and(counts_messages));
    if let (0, Some(header)) = (conversation.builder.step_count(), header) {
        conversation.builder.skip_record(header.origin, "the messages that the session counts are not there");
    }
    conversation.finish_with_tools();
    Ok(())
}

fn counts_messages(header: Object<'_>) -> bool {
    let count = header.field(GooseSessionKey::Count);
    count.is_some_and(|count| matches!(count.value, Value::Number(count) if count != Number::Integer(0)))
}

fn read_header<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, session: Object<'run>) {
    conversation.builder.set_some(of_run::ID, session.field(GooseSessionKey::Id).filter(|id| NodeShapes.is_text(*id)));
    conversation.add_meta(of_meta::CWD, session.field(GooseSessionKey::Folder));
    let mut usage = TokenUsage::default();
    usage.add_count(of_usage::INPUT, value_of(session, GooseSessionKey::Input));
    usage.add_count(of_usage::OUTPUT, value_of(session, GooseSessionKey::Output));
    usage.add_count(of_usage::TOTAL, value_of(session, GooseSessionKey::Total));
    conversation.usage.merge_usage(&usage);
}

/// A text of a message that comes in pieces.
struct OpenText<'run> {
    speaker: Speaker,
    pieces: Vec<Node<'run>>,
    meta: StepMeta<'run>,
}

struct GooseRun<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// The message that was read last.
    last: Option<&'run str>,
    open: Option<OpenText<'run>>,
}

impl<'run> GooseRun<'_, 'run, '_> {
    fn read_line(&mut self, node: Node<'run>, line: Object<'run>) {
        if let Some(message) = message_of(line) {
            return self.read_message(node, message);
        }
        if is_header(line) {
            return read_header(&mut self.conversation, line);
        }
        match event_type(line) {
            Some(GooseEventType::Silent) => {}
            Some(GooseEventType::End) => read_end(&mut self.conversation, line),
            Some(GooseEventType::Error) => {
                self.conversation.builder.set_some(of_run::ERROR, first_of(line, &[GooseSessionKey::Error]));
            }
            _ => self.conversation.builder.skip_value(node, "what is no message with `role` and `content` is skipped"),
        }
    }

    fn read_message(&mut self, node: Node<'run>, message: Object<'run>) {
        let role = text_of(message, GooseMessageKey::Role).and_then(MessageRole::from_key);
        if role.is_none() {
            self.conversation.builder.skip_record(node.origin, super::unknown::UNKNOWN_ROLE);
            return;
        }
        let hidden = object_of(message, GooseMessageKey::Metadata)
            .and_then(|seen| seen.field(GooseMessageKey::Visible))
            .is_some_and(|seen| NodeShapes.has_shape(seen, ValueShape::False));
        let speaker = match Speaker::from_role(role) {
            // What the user does not see the program wrote for the model.
            Speaker::User if hidden => Speaker::System,
            speaker => speaker,
        };
        let meta =
            StepMeta { time: message.field(GooseMessageKey::Created).and_then(instant_node), ..StepMeta::default() };
        let id = text_of(message, GooseMessageKey::Id);
        let goes_on = id.is_some() && self.last == id;
        self.last = id;
        if !goes_on {
            self.close_text();
        }
        if speaker == Speaker::Assistant && !goes_on {
            self.conversation.begin_turn();
        }
        let Some(content) = message.field(GooseMessageKey::Content) else { return };
        let blocks = node_list(content).filter(|_| id.is_some()).unwrap_or(std::slice::from_ref(&content));
        for (place, block) in blocks.iter().enumerate() {
            match only_text(*block) {
                Some((thinks, words)) => {
                    // Two texts of one message are no pieces of each other.
                    if place > 0 {
                        self.close_text();
                    }
                    self.add_piece(if thinks { Speaker::Thinking } else { speaker }, words, meta);
                }
                None => {
                    self.close_text();
                    let words = &UserWords::PLAIN;
                    block_session::add_content(&mut self.conversation, *block, speaker, words, &meta, classify_block);
                }
            }
        }
    }

    /// The first text of a message goes on with the text that the one before it of its id ended with.
    fn add_piece(&mut self, speaker: Speaker, words: Node<'run>, meta: StepMeta<'run>) {
        match &mut self.open {
            Some(open) if open.speaker == speaker => open.pieces.push(words),
            _ => {
                self.close_text();
                self.open = Some(OpenText { speaker, pieces: vec![words], meta });
            }
        }
    }

    fn close_text(&mut self) {
        let Some(open) = self.open.take() else { return };
        if let Some(words) = content::concat_pieces(&open.pieces, self.conversation.builder.arena) {
            self.conversation.add_message(open.speaker, words, &open.meta, words.origin);
        }
    }
}

/// The text that a block is, and whether it is a thought.
fn only_text(block: Node<'_>) -> Option<(bool, Node<'_>)> {
    match classify_block(node_object(block)?) {
        ContentBlock::Says(words) => Some((false, words)),
        ContentBlock::Thinks(words) => Some((true, words)),
        _ => None,
    }
}

fn read_end<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, end: Object<'run>) {
    let counts = [
        (of_usage::INPUT, GooseSessionKey::EndInput),
        (of_usage::OUTPUT, GooseSessionKey::EndOutput),
        (of_usage::TOTAL, GooseSessionKey::EndTotal),
        (of_usage::CACHE_READ, GooseSessionKey::EndRead),
        (of_usage::CACHE_WRITE, GooseSessionKey::EndWrite),
    ];
    let mut usage = TokenUsage::default();
    counts.into_iter().for_each(|(name, key)| usage.add_count(name, value_of(end, key)));
    if !usage.known_counts().is_empty() {
        conversation.usage = usage;
    }
}

fn classify_block(block: Object<'_>) -> ContentBlock<'_> {
    let held = |key| object_of(block, key);
    match block_type(block) {
        None => blocks::classify_block(block),
        Some(GooseBlockType::Silent) => ContentBlock::Silent,
        Some(GooseBlockType::Call) => {
            let call = held(GooseBlockKey::Call);
            let call = call.map(|call| object_of(call, GooseBlockKey::Value).unwrap_or(call));
            ContentBlock::Calls(BlockCall {
                tool: call.and_then(|call| call.field(GooseBlockKey::Name)),
                args: call.and_then(|call| call.field(GooseBlockKey::Args)),
                id: block.field(GooseBlockKey::Id),
                answer: None,
            })
        }
        Some(GooseBlockType::Result) => {
            let told = held(GooseBlockKey::Result);
            let value = told.and_then(|told| first_of(told, &[GooseBlockKey::Value, GooseBlockKey::Error]));
            let inner = value.and_then(node_object);
            let failed =
                told.and_then(|told| text_of(told, GooseBlockKey::Status)).and_then(GooseStatus::from_key).is_some()
                    || inner.is_some_and(|inner| is_true(&inner, &NodeShapes, GooseBlockKey::Failed));
            let result = inner.and_then(|inner| first_of(inner, &[GooseBlockKey::Content])).or(value);
            let denied = result.is_some_and(is_declined);
            let status = match (denied, failed) {
                (true, _) => StepStatus::Denied,
                (false, true) => StepStatus::Failed,
                (false, false) => StepStatus::Ok,
            };
            ContentBlock::Answers(BlockResult {
                id: text_of(block, GooseBlockKey::Id),
                result,
                status: Some(status),
                failed: failed && !denied,
                ..BlockResult::default()
            })
        }
    }
}

/// Only these words show that the user did not let a call through (`DECLINED_RESPONSE` of `block/goose`).
fn is_declined(result: Node<'_>) -> bool {
    let words = match result.value {
        Value::List(items) => objects_of(items).next().and_then(|first| text_of(first, GooseBlockKey::Text)),
        _ => node_text(result),
    };
    words.is_some_and(|words| words.starts_with("The user has declined to run this tool"))
}
