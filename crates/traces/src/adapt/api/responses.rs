//! OpenAI's Responses API: responses, requests with their responses, and streamed events. A call of a function does not say whether it
//! succeeded; what the provider itself runs does (`status`, `error`). There are no times.

use super::exit_codes::exit_code;
use super::{ApiKey, ExchangeMerger, is_exchange, response_stream};
use crate::adapt::content;
use crate::adapt::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use crate::adapt::fields::{FieldRecord, NodeShapes, is_true, key_table};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::nodes::{first_of, items_of, list_of, node_list, node_object, node_text, object_items, text_of};
use crate::adapt::run_builder::{RunBuilder, absent_node};
use crate::adapt::unknown::named_tool;
use averment_base::value::{Node, Object, ObjectEntry, Value, ValueText};
use averment_runs::normal::of_step;
use averment_runs::run::StepStatus;

key_table! {
    ItemKey {
        Type = "type",
        Id = "id",
        CallId = "call_id",
        CallIdToo = "callId",
        Name = "name",
        Arguments = "arguments",
        Input = "input",
        Action = "action",
        Operation = "operation",
        Code = "code",
        Queries = "queries",
        Output = "output",
        Outputs = "outputs",
        Results = "results",
        Result = "result",
        Found = "tools",
        Status = "status",
        Error = "error",
        Role = "role",
        Content = "content",
        Summary = "summary",
        Words = "text",
        Approval = "approval_request_id",
        Approved = "approve",
        End = "outcome",
        ExitCode = "exit_code",
    }
}

key_table! {
    ResponseEventKey {
        Type = "type",
        Number = "sequence_number",
        Id = "event_id",
        Response = "response",
        Item = "item",
        Of = "item_id",
        Index = "output_index",
        Arguments = "arguments",
        Input = "input",
        Why = "message",
    }
}

key_table! {
    ResponseItemType {
        Function = "function_call",
        /// Its input is any text.
        Custom = "custom_tool_call",
        Mcp = "mcp_call",
        Ask = "mcp_approval_request",
        Answer = "mcp_approval_response",
        Reasoning = "reasoning",
        /// Code of the model that calls tools; what it gave is a `program_output`.
        Program = "program",
        /// What a function gave back.
        Output = "function_call_output",
        /// Offers of a server, references, words of one agent to another: nothing was done.
        Silent = "mcp_list_tools" | "agent_message" | "ghost_snapshot" | "item_reference" | "additional_tools" | "compaction" | "message",
    }
}

key_table! {
    /// Calls of tools that a provider runs, by OpenAI, Azure and xAI. Another type may be a call of what stands somewhere in the item.
    HostedType {
        OpenAi = "web_search_call" | "file_search_call" | "computer_call" | "code_interpreter_call" | "image_generation_call"
            | "local_shell_call" | "shell_call" | "apply_patch_call" | "tool_search_call" | "web_search_preview_call",
        Azure = "bing_grounding_call" | "bing_custom_search_preview_call" | "azure_ai_search_call" | "azure_function_call"
            | "openapi_call" | "sharepoint_grounding_preview_call" | "fabric_dataagent_preview_call" | "a2a_preview_call"
            | "browser_automation_preview_call" | "memory_search_call",
        XAi = "x_search_call" | "collections_search_call" | "attachment_search_call" | "view_image_call" | "view_x_video_call",
    }
}

key_table! {
    /// Tools of a provider that have a name each: those of a search on X.
    NamedHostedType {
        Any = "x_search_call",
    }
}

key_table! {
    /// A type that names no tool, which is not the API's: whose call it is nobody knows.
    NamelessType {
        Any = "tool_call",
    }
}

key_table! {
    /// The status of a response that is whole: others are for the full reader.
    WholeStatus {
        Any = "completed",
    }
}

key_table! {
    /// How a response was asked for and made, of which no run tells.
    Setting {
        Any = "created_at" | "completed_at" | "incomplete_details" | "max_output_tokens" | "max_tool_calls"
            | "parallel_tool_calls" | "reasoning" | "store" | "temperature" | "text" | "tool_choice" | "top_p" | "top_logprobs"
            | "truncation" | "user" | "metadata" | "background" | "service_tier" | "prompt_cache_key" | "safety_identifier"
            | "billing",
    }
}

/// The fields of a response; other keys may tell another format.
pub(crate) const OF_RESPONSE: [ApiKey; 11] = {
    use ApiKey::{Conversation, Error, Id, Instructions, Model, Object, Output, Previous, Status, Tools, Usage};
    [Object, Output, Error, Previous, Conversation, Id, Instructions, Model, Status, Tools, Usage]
};

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "OpenAI Responses",
    known_by: "responses whose `object` is `response`, with a list of `output` items, or their streamed events",
    description: "requests and responses of OpenAI's Responses API, streamed events included",
    marks: &[ApiKey::Object.key(), ApiKey::Request.key()],
    near: &[ApiKey::Previous.key()],
    object: |object| is_response(object) || is_exchange(object, is_response, is_event),
    item_marks: &[
        ApiKey::Response.key(),
        ApiKey::Object.key(),
        ResponseEventKey::Number.key(),
        ResponseEventKey::Index.key(),
        ItemKey::CallId.key(),
    ],
    element: |object| is_item(object) || is_part(object),
    line: is_part,
    alone: |object| is_response(object) && !is_continued(object),
    read: read_run,
    ..IN_FULL
};

fn is_part(object: Object<'_>) -> bool {
    is_response(object) || is_exchange(object, is_response, is_event) || is_event(object)
}

/// True if the response belongs to a conversation of several.
fn is_continued(response: Object<'_>) -> bool {
    first_of(response, &[ApiKey::Previous, ApiKey::Conversation]).is_some()
}

pub(crate) fn is_response(object: Object<'_>) -> bool {
    text_of(object, ApiKey::Object) == Some(RESPONSE) && list_of(object, ApiKey::Output).is_some()
}

/// What a request asks, in a span that keeps the request as it was sent.
pub(crate) fn request_input(request: Object<'_>) -> Option<Node<'_>> {
    request.field(ApiKey::Model).and(request.field(ApiKey::Input)).filter(|_| request.field(ApiKey::Messages).is_none())
}

pub(crate) const RESPONSE: &str = ApiKey::Response.key();

pub(super) fn is_event(event: Object<'_>) -> bool {
    text_of(event, ResponseEventKey::Type).is_some_and(|word| word.starts_with("response."))
        // Some servers do not count their events. Those of the Realtime API have ids.
        && [ResponseEventKey::Number, ResponseEventKey::Index, ResponseEventKey::Response]
            .into_iter()
            .any(|field| event.field(field).is_some())
        && event.field(ResponseEventKey::Id).is_none()
}

/// True for a call or result in a list of items: by its type and call id.
pub(crate) fn is_item(item: Object<'_>) -> bool {
    is_result(item).is_some() && text_of(item, ItemKey::CallId).is_some() && text_of(item, ItemKey::Type).is_some()
}

/// True for a result, false for a call, `None` for other items.
pub(super) fn is_result(item: Object<'_>) -> Option<bool> {
    let word = text_of(item, ItemKey::Type)?;
    if word.ends_with("_call") {
        return Some(false);
    }
    RESULTS.iter().any(|end| word.ends_with(end)).then_some(true)
}

/// A call that the program around the model carries out.
pub(super) fn is_function_call(item: Object<'_>) -> bool {
    let kind = text_of(item, ItemKey::Type).and_then(ResponseItemType::from_key);
    matches!(kind, Some(ResponseItemType::Function | ResponseItemType::Custom))
}

/// An item of a type that nobody knows, as far as its name tells nothing.
pub(super) fn is_unknown(item: Object<'_>) -> bool {
    is_result(item).is_none() && text_of(item, ItemKey::Type).and_then(ResponseItemType::from_key).is_none()
}

pub(super) fn unknown_item(item: Object<'_>) -> String {
    let word = text_of(item, ItemKey::Type).unwrap_or_default();
    format!("an item of unknown type `{word}` is skipped")
}

/// In a response, the provider ran the tool of such a result.
pub(super) fn is_hosted_result(item: Object<'_>) -> bool {
    let of_function = |word: &str| word.starts_with("function_") || word.starts_with("custom_");
    is_result(item) == Some(true) && !text_of(item, ItemKey::Type).is_some_and(of_function)
}

/// Suffixes of result types: in the API, and in the JavaScript SDK.
const RESULTS: [&str; 2] = ["_output", "_call_result"];

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let items = items_of::<ApiKey>(root, &[]);
    if items.iter().any(|item| node_object(*item).is_some_and(is_event)) {
        response_stream::read_stream(items, builder);
    } else if items.iter().any(|item| node_object(*item).is_some_and(is_part)) {
        super::read_exchanges(items, builder);
    } else {
        let mut pieces = Vec::new();
        items.iter().filter(|item| node_object(**item).is_some()).for_each(|_| builder.count_record());
        super::push_items(items, &mut pieces, builder);
        ExchangeMerger { pieces, ..ExchangeMerger::default() }.finish_run(builder);
    }
    Ok(())
}

pub(in crate::adapt) fn add_item<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let word = text_of(item, ItemKey::Type).unwrap_or_default();
    match ResponseItemType::from_key(word) {
        Some(ResponseItemType::Function | ResponseItemType::Custom) => {
            add_call(conversation, node, item, item.field(ItemKey::Name), meta);
        }
        Some(ResponseItemType::Mcp) => mcp_call(conversation, node, item, meta),
        Some(ResponseItemType::Ask) => {
            if let Some(step) = add_call(conversation, node, item, item.field(ItemKey::Name), meta) {
                conversation.set_status(step, StepStatus::Pending);
            }
        }
        Some(ResponseItemType::Answer) => {
            let asked = text_of(item, ItemKey::Approval).and_then(|id| conversation.find_call(id));
            if let Some(step) = asked.filter(|_| !is_true(&item, &NodeShapes, ItemKey::Approved)) {
                conversation.set_status(step, StepStatus::Denied);
            }
        }
        Some(ResponseItemType::Reasoning) => add_reasoning(conversation, node, item, meta),
        Some(ResponseItemType::Output) => add_result(conversation, node, item, meta),
        Some(ResponseItemType::Program) => add_hosted(conversation, node, item, word, meta),
        Some(ResponseItemType::Silent) => {}
        None => match is_result(item) {
            Some(true) => add_result(conversation, node, item, meta),
            Some(false) if NamelessType::from_key(word).is_none() => add_hosted(conversation, node, item, word, meta),
            _ => conversation.builder.skip_value(node, unknown_item(item)),
        },
    }
}

fn add_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    tool: Option<Node<'run>>,
    meta: &StepMeta<'run>,
) -> Option<crate::adapt::run_builder::StepId> {
    let tool = tool.unwrap_or(Node::computed(Value::Null));
    let args = call_arguments(conversation, item);
    let id = first_of(item, &[ItemKey::CallId, ItemKey::CallIdToo, ItemKey::Id]);
    conversation.add_call(ToolCall { tool, args, id, origin: node.origin }, meta)
}

/// One value, or the type-specific fields under their names.
fn call_arguments<'run>(conversation: &ConversationBuilder<'_, 'run, '_>, item: Object<'run>) -> Option<Node<'run>> {
    use ItemKey::{Action, Arguments, Code, Input, Operation, Queries};
    if let Some(whole) = first_of(item, &[Arguments, Input, Action]) {
        return Some(whole);
    }
    let parts = [Code, Queries, Operation];
    let entries: Vec<ObjectEntry<'run>> =
        parts.into_iter().filter_map(|part| Some(ObjectEntry { key: part.key(), node: item.field(part)? })).collect();
    (!entries.is_empty()).then(|| conversation.builder.object_node(&entries))
}

/// The call holds its result. If approval was requested, that was the call already.
fn mcp_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let asked = text_of(item, ItemKey::Approval).and_then(|id| conversation.find_call(id));
    let Some(step) = asked.or_else(|| add_call(conversation, node, item, item.field(ItemKey::Name), meta)) else {
        return;
    };
    let error = first_of(item, &[ItemKey::Error]);
    let result = first_of(item, &[ItemKey::Output]);
    let status = if error.is_some() { Some(StepStatus::Failed) } else { status_of(item) };
    let status = status.or(result.map(|_| StepStatus::Ok));
    conversation.end_within(step, CallResult { result, error, status, ..CallResult::default() }, meta);
}

/// Run by the provider: its type names the tool, and its status is that of the work.
fn add_hosted<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    word: &'run str,
    meta: &StepMeta<'run>,
) {
    let tool = word.strip_suffix("_call").unwrap_or(word);
    let own = item.field(ItemKey::Name).filter(|_| NamedHostedType::from_key(word).is_some());
    let is_known = HostedType::from_key(word).is_some() || ResponseItemType::from_key(word).is_some();
    // The type of what the provider runs names the tool; what names another one beside it is none of these.
    if !is_known {
        conversation.builder.note_unknown(
            node.origin,
            "an item of unknown type is a call, and may be one of a tool that it names otherwise",
        );
    } else if own.is_none() && named_tool(item).is_some() {
        conversation
            .builder
            .note_unknown(node.origin, "an item of unknown type names a tool: it may be a call of that");
    }
    let origin = item.field(ItemKey::Type).map_or(node.origin, |word| word.origin);
    let name = own.unwrap_or(Node::new(Value::Text(ValueText::Plain(tool)), origin));
    let Some(step) = add_call(conversation, node, item, Some(name), meta) else { return };
    let result = first_of(item, &[ItemKey::Results, ItemKey::Outputs, ItemKey::Result, ItemKey::Output]);
    let status = status_of(item).filter(|_| first_of(item, &[ItemKey::CallId, ItemKey::CallIdToo]).is_none());
    // What the provider found it keeps, unless it was asked for: an item of an output would name the call.
    if result.is_none() && first_of(item, &[ItemKey::CallId, ItemKey::CallIdToo]).is_none() {
        conversation.builder.set_field(step, of_step::RESULT, absent_node());
    }
    if result.is_some() || status.is_some() {
        conversation.end_within(
            step,
            CallResult { result, status, error: first_of(item, &[ItemKey::Error]), ..CallResult::default() },
            meta,
        );
    }
}

fn status_of(item: Object<'_>) -> Option<StepStatus> {
    text_of(item, ItemKey::Status).and_then(StepStatus::from_word).filter(|status| *status != StepStatus::Unknown)
}

fn add_result<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let Some(id) = first_of(item, &[ItemKey::CallId, ItemKey::CallIdToo]).and_then(node_text) else {
        // What the provider found for itself belongs to the call before it, which has an id of its own.
        return;
    };
    let output = first_of(item, &[ItemKey::Output, ItemKey::Result, ItemKey::Found]);
    let result = output.map(|output| content::of_blocks(output, conversation.builder.arena).unwrap_or(output));
    let exit_code = output.and_then(exit_code);
    let status = status_of(item).filter(|_| is_hosted_result(item) && exit_code.is_none());
    conversation.add_result(
        Some(id),
        None,
        CallResult { result, exit_code, status, ..CallResult::default() },
        meta,
        node.origin,
    );
}

/// Readable reasoning: its text, or a summary.
fn add_reasoning<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    meta: &StepMeta<'run>,
) {
    for part in [ItemKey::Content, ItemKey::Summary].into_iter().filter_map(|field| item.field(field)) {
        match node_list(part) {
            Some(parts) => {
                for (at, thought) in object_items(parts) {
                    if let Some(words) = thought.field(ItemKey::Words) {
                        conversation.add_message(Speaker::Thinking, words, meta, at.origin);
                    }
                }
            }
            None => conversation.add_message(Speaker::Thinking, part, meta, node.origin),
        }
    }
}
