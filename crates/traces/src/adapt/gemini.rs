//! Gemini CLI: the file of a session (`messages` of type `user` and `gemini`), and the events of `--output-format stream-json`.

mod events;
pub(super) mod json_output;
pub(super) mod saved_chat;
pub(super) mod telemetry;
mod user_words;

use events::read_stream;

use super::calls::TokenUsage;
use super::content;
use super::conversation::{
    CallResult, ConversationBuilder, Speaker, StepMeta, TextMarkers, ToolCall, build_markers, number_behind,
};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::StepStatus;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

/// Text before an exit code.
pub(super) static EXIT_CODE: TextMarkers = LazyLock::new(|| build_markers(["Exit Code:"]));

key_table! {
    GeminiSessionKey {
        Id = "sessionId",
        Project = "projectHash",
        Messages = "messages",
        /// In line files: session changes, and that the user went back.
        Set = "$set",
        Rewind = "$rewindTo",
    }
}

key_table! {
    GeminiKey {
        Id = "id",
        Type = "type",
        Time = "timestamp",
        Content = "content",
        /// What the user typed, where the program put more behind it.
        Shown = "displayContent",
        Thoughts = "thoughts",
        Calls = "toolCalls",
        Model = "model",
        Tokens = "tokens",
        Description = "description",
        /// As in the API, beside or in place of `content`.
        Parts = "parts",
        Words = "text",
    }
}

key_table! {
    GeminiCallKey {
        Id = "id",
        Name = "name",
        Args = "args",
        Result = "result",
        Display = "resultDisplay",
        Status = "status",
        Time = "timestamp",
        Answer = "functionResponse",
        Response = "response",
        Output = "output",
        Error = "error",
    }
}

key_table! {
    GeminiUsageKey {
        Input = "input",
        Output = "output",
        Cached = "cached",
        Thoughts = "thoughts",
        Total = "total",
    }
}

key_table! {
    GeminiEventKey {
        Type = "type",
        Time = "timestamp",
        Session = "session_id",
        Model = "model",
        Role = "role",
        Content = "content",
        Delta = "delta",
        Tool = "tool_name",
        Call = "tool_id",
        Args = "parameters",
        Status = "status",
        Output = "output",
        Error = "error",
        Stats = "stats",
        Duration = "duration_ms",
        Message = "message",
        Severity = "severity",
    }
}

key_table! {
    GeminiSayer {
        Model = "gemini" | "model",
        User = "user",
        Program = "info" | "error" | "warning" | "system" | "about" | "help" | "stats" | "quit" | "compression",
    }
}

key_table! {
    ErrorSeverity {
        /// The program goes on.
        Warning = "warning",
    }
}

key_table! {
    GeminiEventType {
        Start = "init",
        Said = "message",
        Call = "tool_use",
        Result = "tool_result",
        Error = "error",
        End = "result",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Gemini CLI session",
    known_by: "`sessionId` beside `messages` of type `user` or `gemini`, or with `projectHash` in front of such on lines",
    description: "sessions of Gemini CLI (`projectHash`, `messages`, or a message a line)",
    marks: &[GeminiSessionKey::Project.key(), GeminiSessionKey::Id.key()],
    object: |object| {
        let messages = list_of(object, GeminiSessionKey::Messages);
        let is_of_model = |message: Object<'_>| text_of(message, GeminiKey::Type) == Some(MODEL);
        object.field(GeminiSessionKey::Id).is_some()
            && messages.is_some_and(|messages| {
                object.field(GeminiSessionKey::Project).is_some()
                    || object_items(messages).any(|(_, message)| is_of_model(message))
            })
    },
    item_marks: &[
        GeminiSessionKey::Project.key(),
        GeminiSessionKey::Set.key(),
        GeminiSessionKey::Rewind.key(),
        GeminiKey::Calls.key(),
        GeminiKey::Thoughts.key(),
    ],
    element: is_record,
    line: is_record,
    read: read_run,
    ..IN_FULL
};

fn is_record(line: Object<'_>) -> bool {
    let has = |field| line.field(field).is_some();
    has(GeminiSessionKey::Project) && has(GeminiSessionKey::Id) && !has(GeminiSessionKey::Messages)
        || changed_messages(line).is_some()
        || text_of(line, GeminiKey::Type) == Some(MODEL) && text_of(line, GeminiKey::Id).is_some()
}

const MODEL: &str = "gemini";

/// Session changes, and the messages they hold.
fn changed_messages(line: Object<'_>) -> Option<&[Node<'_>]> {
    let only = line.entries().len() == 1;
    let changed = object_of(line, GeminiSessionKey::Set).filter(|_| only);
    let went_back = line.field(GeminiSessionKey::Rewind).filter(|_| only);
    let messages = changed.and_then(|changed| list_of(changed, GeminiSessionKey::Messages));
    changed.map(|_| ()).or(went_back.map(|_| ())).map(|()| messages.unwrap_or_default())
}

pub(crate) const STREAM: TraceFormat = TraceFormat {
    name: "Gemini CLI events",
    known_by: "`tool_use` events with `tool_name` and `tool_id`, or an `init` event with `session_id` and `timestamp`",
    description: "events of Gemini CLI (`--output-format stream-json`)",
    marks: &[GeminiEventKey::Call.key()],
    item_marks: &[GeminiEventKey::Call.key(), GeminiEventKey::Session.key()],
    element: is_event,
    line: is_event,
    record_ids: RecordIds::of_call(&[&[GeminiEventKey::Call.key()]]),
    read: read_stream,
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    let has = |field| event.field(field).is_some();
    match text_of(event, GeminiEventKey::Type).and_then(GeminiEventType::from_key) {
        Some(GeminiEventType::Start) => {
            has(GeminiEventKey::Session) && has(GeminiEventKey::Time) && has(GeminiEventKey::Model)
        }
        Some(GeminiEventType::Call) => has(GeminiEventKey::Call) && has(GeminiEventKey::Tool),
        Some(GeminiEventType::Result) => has(GeminiEventKey::Call) && has(GeminiEventKey::Status),
        _ => false,
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let mut conversation = ConversationBuilder::new(builder);
    let messages = match root.value {
        Value::Object(session) if !is_record(session) => {
            begin_session(&mut conversation, session);
            let messages = list_of(session, GeminiSessionKey::Messages).unwrap_or_default();
            messages.iter().for_each(|_| conversation.builder.count_record());
            messages.to_vec()
        }
        Value::List(lines) => read_lines(&mut conversation, lines),
        _ => read_lines(&mut conversation, &[root]),
    };
    let called = called_ids(&messages);
    for node in &messages {
        let said = node_object(*node);
        let sayer = said.and_then(|message| text_of(message, GeminiKey::Type)).and_then(GeminiSayer::from_key);
        let (Some(message), Some(sayer)) = (said, sayer) else {
            conversation.builder.skip_value(node, "a message of unknown type is skipped");
            continue;
        };
        let meta = StepMeta { time: message.field(GeminiKey::Time), ..StepMeta::default() };
        match sayer {
            GeminiSayer::Model => add_answer(&mut conversation, *node, message, &meta),
            GeminiSayer::User if repeats_results(message, &called) => {}
            GeminiSayer::User | GeminiSayer::Program => {
                let of_user = sayer == GeminiSayer::User && !is_of_program(message);
                match message.field(GeminiKey::Content) {
                    Some(content) if of_user => {
                        user_words::add_words(&mut conversation, message, content, (&meta, *node))
                    }
                    Some(content) => add_words(&mut conversation, Speaker::System, content, (&meta, *node)),
                    None => {}
                }
            }
        }
    }
    conversation.finish_with_tools();
    Ok(())
}

fn begin_session<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, session: Object<'run>) {
    conversation.builder.set_some(of_run::ID, session.field(GeminiSessionKey::Id).filter(|id| NodeShapes.is_text(*id)));
}

/// The last message of an id wins, in the first one's place. Actions stay when the user goes back or history is summarized.
fn read_lines<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, lines: &[Node<'run>]) -> Vec<Node<'run>> {
    let mut messages: Vec<Node<'run>> = Vec::new();
    let mut places = FxHashMap::default();
    for node in lines {
        conversation.builder.count_record();
        let line = node_object(*node);
        if let Some(session) = line.filter(|line| line.field(GeminiSessionKey::Project).is_some()) {
            begin_session(conversation, session);
            continue;
        }
        let changed = line.and_then(changed_messages);
        for message in changed.unwrap_or(std::slice::from_ref(node)) {
            let id = node_object(*message).and_then(|message| text_of(message, GeminiKey::Id));
            let place = id.map_or(messages.len(), |id| *places.entry(id).or_insert(messages.len()));
            match messages.get_mut(place) {
                // A summary of the session repeats messages, and may leave their calls out.
                Some(known) if changed.is_none() => *known = *message,
                Some(_) => {}
                None => messages.push(*message),
            }
        }
    }
    messages
}

/// A summary of the conversation, facts about the machine, a reminder, or what a command of the user printed, in the user's name.
fn is_of_program(message: Object<'_>) -> bool {
    let content = message.field(GeminiKey::Content);
    let first = content.and_then(|content| match content.value {
        Value::List([first, ..]) => text_of(node_object(*first)?, GeminiKey::Words),
        _ => node_text(content),
    });
    let begins = |mark: &&str| first.is_some_and(|words| words.trim_start().starts_with(*mark));
    ["<state_snapshot>", "<session_context>", "System: ", "I ran the following shell command:"].iter().any(begins)
}

/// The ids of the calls of all answers.
fn called_ids<'run>(messages: &[Node<'run>]) -> FxHashSet<&'run str> {
    let answers = messages.iter().filter_map(|node| node_object(*node));
    let calls = answers.filter_map(|message| list_of(message, GeminiKey::Calls)).flat_map(object_items);
    calls.filter_map(|(_, call)| text_of(call, GeminiCallKey::Id)).collect()
}

/// A message that only gives back results, which the calls of the answer before it already have.
fn repeats_results(message: Object<'_>, called: &FxHashSet<&str>) -> bool {
    let parts = list_of(message, GeminiKey::Content).unwrap_or_default();
    let is_known = |part: &Node<'_>| {
        let answer = node_object(*part).and_then(|part| object_of(part, GeminiCallKey::Answer));
        answer.and_then(|answer| text_of(answer, GeminiCallKey::Id)).is_some_and(|id| called.contains(id))
    };
    !parts.is_empty() && parts.iter().all(is_known)
}

fn add_answer<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
    meta: &StepMeta<'run>,
) {
    conversation.begin_turn();
    conversation.add_meta(of_meta::MODEL, message.field(GeminiKey::Model));
    for (at, thought) in conversation.builder.record_objects(list_of(message, GeminiKey::Thoughts).unwrap_or_default())
    {
        if let Some(words) = thought.field(GeminiKey::Description) {
            let meta = StepMeta { time: thought.field(GeminiKey::Time), ..*meta };
            conversation.add_message(Speaker::Thinking, words, &meta, at.origin);
        }
    }
    if let Some(content) = message.field(GeminiKey::Content) {
        add_words(conversation, Speaker::Assistant, content, (meta, node));
    }
    if list_of(message, GeminiKey::Parts).is_some() {
        super::adk::add_parts(conversation, message, Speaker::Assistant, meta);
    }
    for (at, call) in conversation.builder.record_objects(list_of(message, GeminiKey::Calls).unwrap_or_default()) {
        one_call(conversation, at, call, meta);
    }
    if let Some(tokens) = object_of(message, GeminiKey::Tokens) {
        count_usage(conversation, tokens);
    }
}

/// The texts of a content are pieces of one text.
fn add_words<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    speaker: Speaker,
    content: Node<'run>,
    (meta, node): (&StepMeta<'run>, Node<'run>),
) {
    conversation.builder.note_parts(content);
    if let Some(words) = text_of_parts(content, conversation) {
        conversation.add_message(speaker, words, meta, node.origin);
    }
}

fn text_of_parts<'run>(content: Node<'run>, conversation: &ConversationBuilder<'_, 'run, '_>) -> Option<Node<'run>> {
    let Value::List(parts) = content.value else { return content::content_text(content, conversation.builder.arena) };
    let pieces: Vec<_> = parts.iter().filter_map(content::block_text).collect();
    content::concat_pieces(&pieces, conversation.builder.arena)
}

/// The total includes thinking, input plus output do not.
fn count_usage(conversation: &mut ConversationBuilder<'_, '_, '_>, tokens: Object<'_>) {
    let counts = [
        (of_usage::INPUT, GeminiUsageKey::Input),
        (of_usage::OUTPUT, GeminiUsageKey::Output),
        (of_usage::CACHE_READ, GeminiUsageKey::Cached),
        (of_usage::REASONING, GeminiUsageKey::Thoughts),
        (of_usage::TOTAL, GeminiUsageKey::Total),
    ];
    let mut usage = TokenUsage::default();
    for (name, field) in counts {
        usage.add_count(name, tokens.field(field));
    }
    conversation.usage.merge_usage(&usage);
}

fn one_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    call: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let tool = call.field(GeminiCallKey::Name).unwrap_or(Node::computed(Value::Null));
    let made = ToolCall {
        tool,
        args: call.field(GeminiCallKey::Args),
        id: call.field(GeminiCallKey::Id),
        origin: node.origin,
    };
    let Some(step) = conversation.add_call(made, &StepMeta { time: None, ..*meta }) else { return };
    let result = call.field(GeminiCallKey::Result).and_then(|result| result_node(conversation, result));
    let result =
        result.or_else(|| first_of(call, &[GeminiCallKey::Display]).filter(|shown| NodeShapes.is_text(*shown)));
    let status = text_of(call, GeminiCallKey::Status).and_then(status_of);
    let exit_code = result.and_then(|result| number_behind(result, &EXIT_CODE));
    let status = exit_outcome(status, exit_code);
    conversation.end_within(
        step,
        CallResult { result, exit_code, status, ..CallResult::default() },
        &StepMeta { time: call.field(GeminiCallKey::Time), ..*meta },
    );
}

/// For Gemini CLI a nonzero exit code is still a success.
pub(super) fn exit_outcome(status: Option<StepStatus>, exit_code: Option<Node<'_>>) -> Option<StepStatus> {
    let failed = exit_code.is_some_and(|code| !matches!(code.value, Value::Number(code) if code.as_i64() == Some(0)));
    if failed { Some(StepStatus::Failed) } else { status }
}

/// A canceled call was denied by the user.
fn status_of(word: &str) -> Option<StepStatus> {
    match word {
        "cancelled" => Some(StepStatus::Denied),
        word => StepStatus::from_word(word).filter(|status| *status != StepStatus::Unknown),
    }
}

/// The answer's output or error, else the answer, else the text of its parts.
fn result_node<'run>(conversation: &ConversationBuilder<'_, 'run, '_>, result: Node<'run>) -> Option<Node<'run>> {
    let Value::List(parts) = result.value else { return Some(result) };
    let answer = object_items(parts)
        .find_map(|(_, part)| object_of(part, GeminiCallKey::Answer)?.field(GeminiCallKey::Response));
    match answer {
        Some(answer) => Some(
            node_object(answer)
                .and_then(|answer| first_of(answer, &[GeminiCallKey::Output, GeminiCallKey::Error]))
                .unwrap_or(answer),
        ),
        None => text_of_parts(result, conversation),
    }
}
