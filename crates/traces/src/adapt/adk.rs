//! Google ADK: sessions (`events` with `author` and `content.parts`), and lists of such events. Keys are written with underscores or as
//! camel case; times are seconds.

pub(super) mod eval;
pub(super) mod server_tools;

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall, instant_node};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_object, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::StepStatus;

key_table! {
    AdkSessionKey {
        Id = "id",
        Events = "events",
        App = "app_name" | "appName",
    }
}

key_table! {
    AdkEventKey {
        Invocation = "invocation_id" | "invocationId",
        Author = "author",
        Content = "content",
        Partial = "partial",
        Time = "timestamp",
        Usage = "usage_metadata" | "usageMetadata",
        Model = "model_version" | "modelVersion",
        Error = "error_message" | "errorMessage",
    }
}

key_table! {
    /// The parts of Gemini's API.
    AdkPartKey {
        Parts = "parts",
        Words = "text",
        Thought = "thought",
        Call = "function_call" | "functionCall",
        Response = "function_response" | "functionResponse",
        Id = "id",
        Name = "name",
        Args = "args",
        Given = "response",
        Error = "error",
        Agent = "agent_name" | "agentName",
        /// Files that are shown, and how a part was made.
        Silent = "thought_signature" | "thoughtSignature" | "inline_data" | "inlineData" | "file_data" | "fileData"
            | "video_metadata" | "videoMetadata" | "media_resolution" | "mediaResolution" | "part_metadata" | "partMetadata",
    }
}

key_table! {
    AdkUsageKey {
        Prompt = "prompt_token_count" | "promptTokenCount",
        Candidates = "candidates_token_count" | "candidatesTokenCount",
        Thoughts = "thoughts_token_count" | "thoughtsTokenCount",
        Cached = "cached_content_token_count" | "cachedContentTokenCount",
        Total = "total_token_count" | "totalTokenCount",
    }
}

key_table! {
    AdkAuthor {
        User = "user",
    }
}

key_table! {
    ConfirmationTool {
        Waits = "This tool call requires confirmation, please approve or reject.",
        Rejected = "This tool call is rejected.",
    }
}

key_table! {
    TransferTool {
        Transfer = "transfer_to_agent" | "transfer_to_other_agent",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Google ADK session",
    known_by: "`events` with an `author`, an `invocation_id` and `content` of `parts`",
    description: "sessions of Google ADK (`events`, or a list of them)",
    marks: &[AdkSessionKey::Events.key()],
    near: AdkEventKey::Invocation.keys(),
    object: holds_events,
    item_marks: &[AdkEventKey::Author.key()],
    element: is_event,
    line: is_event,
    read: read_run,
    ..IN_FULL
};

fn holds_events(object: Object<'_>) -> bool {
    list_of(object, AdkSessionKey::Events).is_some_and(|events| object_items(events).any(|(_, event)| is_event(event)))
}

fn is_event(event: Object<'_>) -> bool {
    text_of(event, AdkEventKey::Author).is_some()
        && value_of(event, AdkEventKey::Invocation).is_some()
        && object_of(event, AdkEventKey::Content).is_some_and(|content| list_of(content, AdkPartKey::Parts).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let mut conversation = ConversationBuilder::from_parts(builder);
    read_session(&mut conversation, root);
    conversation.finish_run();
    Ok(())
}

fn read_session<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, root: Node<'run>) {
    let root = conversation.builder.arena.alloc(root);
    if let Some(session) = node_object(*root) {
        conversation
            .builder
            .set_some(of_run::ID, session.field(AdkSessionKey::Id).filter(|id| NodeShapes.is_text(*id)));
        conversation.add_meta(AdkSessionKey::App.key(), value_of(session, AdkSessionKey::App));
    }
    for node in items_of(root, &[AdkSessionKey::Events]) {
        conversation.builder.count_record();
        let Some(one) = node_object(*node).filter(|event| text_of(*event, AdkEventKey::Author).is_some()) else {
            conversation.builder.skip_value(node, "what is no event with an `author` is skipped");
            continue;
        };
        if !is_true(&one, &NodeShapes, AdkEventKey::Partial) {
            read_event(conversation, one);
        }
    }
}

/// The last words, whoever says them, are the answer.
fn read_event<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, event: Object<'run>) {
    let author = text_of(event, AdkEventKey::Author).unwrap_or_default();
    let of_user = AdkAuthor::from_key(author) == Some(AdkAuthor::User);
    let time = event.field(AdkEventKey::Time).and_then(instant_node);
    let agent = event.field(AdkEventKey::Author).filter(|_| !of_user);
    let meta = StepMeta { time, agent, aside: false };
    let error = value_of(event, AdkEventKey::Error);
    if let Some(error) = error {
        conversation.builder.set_entry(of_run::ERROR, error);
    }
    conversation.add_meta(of_meta::MODEL, value_of(event, AdkEventKey::Model));
    let mut grounding = server_tools::Grounding::default();
    grounding.take_from(event);
    grounding.add_calls(conversation, &meta);
    if let Some(content) = object_of(event, AdkEventKey::Content) {
        let speaker = if of_user { Speaker::User } else { Speaker::Assistant };
        add_parts(conversation, content, speaker, &meta);
    }
    if let Some(usage) = value_of(event, AdkEventKey::Usage).and_then(node_object) {
        count_usage(conversation, usage);
    }
}

pub(super) fn add_parts<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    content: Object<'run>,
    speaker: Speaker,
    meta: &StepMeta<'run>,
) {
    conversation.begin_message();
    for (at, part) in conversation.builder.record_objects(list_of(content, AdkPartKey::Parts).unwrap_or_default()) {
        add_part(conversation, at, part, speaker, meta);
    }
}

/// A part of a content in the form of Gemini's API.
pub(super) fn add_part<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    at: Node<'run>,
    part: Object<'run>,
    speaker: Speaker,
    meta: &StepMeta<'run>,
) {
    let called = value_of(part, AdkPartKey::Call).and_then(node_object);
    let given = value_of(part, AdkPartKey::Response).and_then(node_object);
    if let Some(words) = part.field(AdkPartKey::Words) {
        let is_thought = is_true(&part, &NodeShapes, AdkPartKey::Thought) && speaker == Speaker::Assistant;
        conversation.add_message(if is_thought { Speaker::Thinking } else { speaker }, words, meta, at.origin);
    }
    if let Some(called) = called {
        add_call(conversation, at, called, meta);
    }
    if let Some(given) = given {
        add_result(conversation, at, given, meta);
    }
    server_tools::add_part(conversation, part, meta);
    if !is_known_part(part) {
        conversation.builder.note_unknown(at.origin, super::blocks::UNKNOWN);
    }
}

/// Whether nothing stands in a part but what is read, or says nothing.
pub(super) fn is_known_part(part: Object<'_>) -> bool {
    let is_set = |entry: &&ObjectEntry<'_>| !matches!(entry.node.value, Value::Null | Value::Boolean(_));
    part.entries().iter().filter(is_set).all(|entry| is_part_key(entry.key) || server_tools::is_server_key(entry.key))
}

/// Whether a part is its text alone, whatever says how it was made.
pub(super) fn is_plain_text(part: Object<'_>) -> bool {
    let of_text = |key| matches!(AdkPartKey::from_key(key), Some(AdkPartKey::Words | AdkPartKey::Silent));
    part.entries().iter().all(|entry| of_text(entry.key))
}

/// Whether a part is shown, and says nothing.
pub(super) fn is_silent(part: Object<'_>) -> bool {
    part.entries().iter().all(|entry| AdkPartKey::from_key(entry.key) == Some(AdkPartKey::Silent))
}

pub(super) fn is_part_key(key: &str) -> bool {
    use AdkPartKey::{Call, Response, Silent, Words};
    matches!(AdkPartKey::from_key(key), Some(Words | Call | Response | Silent))
}

pub(super) fn add_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    call: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let tool = call.field(AdkPartKey::Name).unwrap_or(Node::computed(averment_base::value::Value::Null));
    let made =
        ToolCall { tool, args: call.field(AdkPartKey::Args), id: call.field(AdkPartKey::Id), origin: node.origin };
    conversation.add_call(made, meta);
    let hands_over = super::nodes::node_text(tool).and_then(TransferTool::from_key).is_some();
    let to = call.field(AdkPartKey::Args).and_then(node_object);
    let to = to.and_then(|args| value_of(args, AdkPartKey::Agent));
    to.filter(|_| hands_over).into_iter().for_each(|to| conversation.hand_over(to, meta, node.origin));
}

/// An object that holds nothing but an error is no answer.
pub(super) fn add_result<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    given: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let result = given.field(AdkPartKey::Given);
    let error = result.and_then(node_object).filter(|answer| answer.entries().len() == 1);
    let error = error.and_then(|answer| value_of(answer, AdkPartKey::Error));
    let id = text_of(given, AdkPartKey::Id);
    let says = error.and_then(super::nodes::node_text).and_then(ConfirmationTool::from_key);
    let asked = id.and_then(|id| conversation.find_call(id)).filter(|_| says == Some(ConfirmationTool::Waits));
    if let Some(call) = asked {
        // The answer comes when somebody has approved it.
        conversation.note_input();
        conversation.set_status(call, StepStatus::Pending);
        return;
    }
    let status = says.filter(|says| *says == ConfirmationTool::Rejected).map(|_| StepStatus::Denied);
    let outcome = CallResult { result, error, status, ..CallResult::default() };
    let answered = conversation.add_result(id, text_of(given, AdkPartKey::Name), outcome, meta, node.origin);
    if let Some(call) = answered.filter(|_| error.is_none()) {
        conversation.set_status(call, StepStatus::Unknown);
    }
}

/// What a request was counted as, in its usage.
pub(super) fn prompt_tokens(usage: Object<'_>) -> Option<Node<'_>> {
    value_of(usage, AdkUsageKey::Prompt)
}

pub(super) fn count_usage(conversation: &mut ConversationBuilder<'_, '_, '_>, tokens: Object<'_>) {
    use AdkUsageKey::{Cached, Candidates, Prompt, Thoughts, Total};
    let counts = [
        (of_usage::INPUT, Prompt),
        (of_usage::OUTPUT, Candidates),
        (of_usage::REASONING, Thoughts),
        (of_usage::CACHE_READ, Cached),
        (of_usage::TOTAL, Total),
    ];
    let mut usage = TokenUsage::default();
    for (name, field) in counts {
        usage.add_count(name, value_of(tokens, field));
    }
    conversation.usage.merge_usage(&usage);
}
