//! Factory Droid: sessions as it stores them (`session_start`, `message`), and the events of `droid exec --output-format stream-json`.

use super::block_session::{self, UserWords};
use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, is_true, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::messages::{BlockKey, ChatMessageKey, MessageRole};
use super::nodes::{first_of, items_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::failure_words::reads_like_failure;
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::StepStatus;

key_table! {
    DroidKey {
        Type = "type",
        Id = "id",
        Session = "session_id",
        Title = "title",
        Folder = "cwd",
        Version = "version",
        Time = "timestamp",
        Message = "message",
        /// Whom a message is for: the program writes those for the model alone, and its notices for the person, in the user's name.
        Audience = "visibility",
        Parent = "parentId",
        Role = "role",
        Words = "text",
        Model = "model",
        Tool = "toolName",
        ToolId = "toolId",
        /// The id of a call in events that have ids of their own.
        Call = "toolCallId",
        Args = "parameters",
        Failed = "isError",
        Value = "value",
        Error = "error",
        Answer = "finalText",
        Usage = "usage",
        Duration = "durationMs",
    }
}

key_table! {
    DroidLineType {
        Start = "session_start",
        Message = "message",
        /// The list of what is to do, which a tool has written, where a summary took the place of messages, and how a turn ended.
        Silent = "todo_state" | "compaction_state" | "session_end" | "agent_turn_outcome",
    }
}

key_table! {
    DroidEventType {
        Start = "system",
        Message = "message",
        Thinking = "reasoning",
        Call = "tool_call",
        Result = "tool_result",
        End = "completion",
        Error = "error",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Factory Droid session",
    known_by: "a `session_start` line, and lines of type `message` with `parentId` whose `message` holds tool blocks",
    description: "sessions of Factory Droid as it stores them (JSONL)",
    marks: &[DroidKey::Parent.key()],
    item_marks: &[DroidKey::Title.key(), DroidKey::Folder.key(), DroidKey::Message.key()],
    element: is_line,
    line: is_line,
    beside: |line| line_type(line).is_some(),
    record_ids: RecordIds::unique(&[&[DroidKey::Id.key()]]),
    read: read_session,
    ..IN_FULL
};

pub(crate) const STREAM: TraceFormat = TraceFormat {
    name: "Factory Droid events",
    known_by: "events of type `tool_call` or `tool_result` with `toolId`, `message` with `session_id` and `text`, or `completion` with `finalText`",
    description: "events of Factory Droid (`droid exec --output-format stream-json`)",
    marks: &[DroidKey::ToolId.key()],
    item_marks: &[DroidKey::ToolId.key(), DroidKey::Tool.key(), DroidKey::Answer.key(), DroidKey::Words.key()],
    element: is_event,
    line: is_event,
    beside: |event| event_type(event).is_some(),
    record_ids: RecordIds::shared(&[&[DroidKey::Id.key()]]),
    read: read_stream,
    ..IN_FULL
};

fn line_type(line: Object<'_>) -> Option<DroidLineType> {
    text_of(line, DroidKey::Type).and_then(DroidLineType::from_key)
}

fn event_type(event: Object<'_>) -> Option<DroidEventType> {
    text_of(event, DroidKey::Type).and_then(DroidEventType::from_key)
}

fn is_line(line: Object<'_>) -> bool {
    let has = |field| line.field(field).is_some();
    match line_type(line) {
        Some(DroidLineType::Start) => has(DroidKey::Id),
        Some(DroidLineType::Message) => {
            has(DroidKey::Id)
                && object_of(line, DroidKey::Message).is_some_and(|message| {
                    let blocks = list_of(message, ChatMessageKey::Content).unwrap_or_default();
                    object_items(blocks).any(|(_, block)| blocks::is_of_tools(block))
                })
        }
        _ => false,
    }
}

const CALL_IDS: [DroidKey; 2] = [DroidKey::Call, DroidKey::Id];

fn is_event(event: Object<'_>) -> bool {
    let has = |field| event.field(field).is_some();
    match event_type(event) {
        Some(DroidEventType::Call) => has(DroidKey::Tool) && has(DroidKey::Id),
        Some(DroidEventType::Result) => (has(DroidKey::ToolId) || has(DroidKey::Call)) && has(DroidKey::Id),
        Some(DroidEventType::End) => has(DroidKey::Answer),
        Some(DroidEventType::Message) => has(DroidKey::Role) && has(DroidKey::Words) && has(DroidKey::Session),
        _ => false,
    }
}

fn set_id<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, id: Option<Node<'run>>) {
    if !conversation.builder.has_entry(of_run::ID) {
        conversation.builder.set_some(of_run::ID, id.filter(|id| NodeShapes.is_text(*id)));
    }
}

fn read_session<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    for node in items_of::<DroidKey>(root, &[]) {
        conversation.builder.count_record();
        match node_object(*node).and_then(|line| Some((line, line_type(line)?))) {
            Some((line, DroidLineType::Start)) => {
                set_id(&mut conversation, line.field(DroidKey::Id));
                conversation.add_meta(of_meta::CWD, line.field(DroidKey::Folder));
                conversation.add_meta(of_meta::VERSION, line.field(DroidKey::Version));
            }
            Some((line, DroidLineType::Message)) => read_message(&mut conversation, *node, line),
            Some((_, DroidLineType::Silent)) => {}
            None => conversation.builder.skip_value(node, "a line of unknown type is skipped"),
        }
    }
    conversation.finish_with_tools();
    Ok(())
}

/// Without a word of success a result may be that of a call that failed.
fn classify_block(block: Object<'_>) -> ContentBlock<'_> {
    let kind = blocks::classify_block(block);
    let ContentBlock::Answers(answer) = kind else { return kind };
    let speaks = answer.result.and_then(node_text).is_some_and(reads_like_failure);
    let is_open = speaks && !answer.failed && block.field(BlockKey::Failed).is_none();
    let status = if is_open { Some(StepStatus::Unknown) } else { answer.status };
    ContentBlock::Answers(BlockResult { status, ..answer })
}

fn read_message<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, line: Object<'run>) {
    let Some(message) = object_of(line, DroidKey::Message) else {
        conversation.builder.skip_value(node, "a line without `message` is skipped");
        return;
    };
    let role = text_of(message, ChatMessageKey::Role).and_then(MessageRole::from_key);
    if role.is_none() {
        conversation.builder.skip_record(node.origin, super::unknown::UNKNOWN_ROLE);
        return;
    }
    if role == Some(MessageRole::Assistant) {
        conversation.begin_turn();
        conversation.add_meta(of_meta::MODEL, message.field(ChatMessageKey::Model));
    }
    let meta = StepMeta { time: line.field(DroidKey::Time), ..StepMeta::default() };
    let speaker = Speaker::from_role(role);
    let has_audience = [line, message].into_iter().any(|holder| text_of(holder, DroidKey::Audience).is_some());
    if let Some(content) = message.field(ChatMessageKey::Content) {
        let blocks =
            super::nodes::node_list(content).unwrap_or(std::slice::from_ref(conversation.builder.arena.alloc(content)));
        for block in blocks {
            let of_program = speaker == Speaker::User && (has_audience || is_of_program(*block));
            let speaker = if of_program { Speaker::System } else { speaker };
            block_session::add_content(conversation, *block, speaker, &UserWords::PLAIN, &meta, classify_block);
        }
    }
}

/// What the program writes into the messages of the user.
fn is_of_program(block: Node<'_>) -> bool {
    let text = match node_object(block) {
        Some(block) => text_of(block, DroidKey::Words),
        None => node_text(block),
    };
    text.is_some_and(|text| text.trim_start().starts_with("<system-"))
}

fn read_stream<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    for node in items_of::<DroidKey>(root, &[]) {
        conversation.builder.count_record();
        match node_object(*node).and_then(|event| Some((event, event_type(event)?))) {
            Some((event, kind)) => read_event(&mut conversation, *node, event, kind),
            None => conversation.builder.skip_value(node, "an event of unknown type is skipped"),
        }
    }
    conversation.finish_with_tools();
    Ok(())
}

fn read_event<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    event: Object<'run>,
    kind: DroidEventType,
) {
    set_id(conversation, event.field(DroidKey::Session));
    let meta = StepMeta { time: first_of(event, &[DroidKey::Time]), ..StepMeta::default() };
    match kind {
        DroidEventType::Start => {
            conversation.add_meta(of_meta::CWD, event.field(DroidKey::Folder));
            conversation.add_meta(of_meta::MODEL, event.field(DroidKey::Model));
        }
        DroidEventType::Message => {
            let role = conversation.builder.role_of(node, text_of(event, DroidKey::Role));
            if let Some(words) = event.field(DroidKey::Words) {
                conversation.begin_message();
                conversation.add_message(Speaker::from_role(role), words, &meta, node.origin);
            }
        }
        DroidEventType::Thinking => {
            if let Some(words) = event.field(DroidKey::Words) {
                conversation.add_message(Speaker::Thinking, words, &meta, node.origin);
            }
        }
        DroidEventType::Call => {
            let tool = first_of(event, &[DroidKey::Tool, DroidKey::ToolId]);
            let call =
                BlockCall { tool, args: event.field(DroidKey::Args), id: first_of(event, &CALL_IDS), answer: None };
            block_session::add_call(conversation, node, call, &meta);
        }
        DroidEventType::Result => {
            let failed =
                is_true(&event, &NodeShapes, DroidKey::Failed) || first_of(event, &[DroidKey::Error]).is_some();
            let error = first_of(event, &[DroidKey::Error]);
            let words = error.and_then(node_object).and_then(|error| first_of(error, &[DroidKey::Message]));
            let result = first_of(event, &[DroidKey::Value]).or(words).or(error);
            let id = first_of(event, &CALL_IDS).and_then(node_text);
            let answer = BlockResult { id, result, failed, ..BlockResult::default() };
            block_session::add_result(conversation, node, &answer, None, &meta);
        }
        DroidEventType::End => {
            conversation.note_time(meta.time);
            conversation.builder.set_some(of_run::OUTPUT, first_of(event, &[DroidKey::Answer]));
            conversation.builder.set_some(of_run::DURATION, first_of(event, &[DroidKey::Duration]));
            if let Some(counts) = object_of(event, DroidKey::Usage) {
                let mut usage = TokenUsage::default();
                usage.add_usage(counts);
                usage.count_cache_as_input();
                conversation.usage.merge_usage(&usage);
            }
        }
        DroidEventType::Error => conversation.builder.set_some(of_run::ERROR, first_of(event, &[DroidKey::Message])),
    }
}
