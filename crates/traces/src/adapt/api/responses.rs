//! OpenAI's Responses API: responses, requests with their responses, and streamed events. A call of a function does not say whether it
//! succeeded; what the provider itself runs does (`status`, `error`). There are no times.

use super::{Exchanges, OfApi, is_exchange};
use crate::adapt::content;
use crate::adapt::draft::Draft;
use crate::adapt::fields::{Parsed, Record, Shape, Shapes, is_true, key_table};
use crate::adapt::format::{Format, IN_FULL};
use crate::adapt::nodes::{first_of, items_of, list, list_of, object, object_of, objects, text, text_of};
use crate::adapt::talk::{About, Made, Markers, Outcome, Speaker, Talk, markers, number_behind};
use crate::build::word_status;
use averment_base::value::compare::equal;
use averment_base::value::{Entry, Node, Object, Text, Value};
use averment_runs::normal::of_run;
use averment_runs::run::Status;
use std::sync::LazyLock;

key_table! {
    /// An item: a message, a call, what a call gave back.
    OfItem {
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
    /// A streamed event.
    OfEvent {
        Type = "type",
        Number = "sequence_number",
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
    /// The types of items that need a word of their own.
    ItemType {
        Function = "function_call",
        /// What it is given is any text.
        Custom = "custom_tool_call",
        Mcp = "mcp_call",
        Ask = "mcp_approval_request",
        Answer = "mcp_approval_response",
        Reasoning = "reasoning",
        /// What a function gave back.
        Output = "function_call_output",
        /// A list of what a server offers, a name of what is elsewhere: nothing was done.
        Silent = "mcp_list_tools" | "ghost_snapshot" | "item_reference" | "additional_tools" | "compaction" | "message",
    }
}

key_table! {
    /// The events that are read.
    EventType {
        Item = "response.output_item.done",
        /// An item that is not whole yet, and its arguments when they are.
        Added = "response.output_item.added",
        Arguments = "response.function_call_arguments.done" | "response.mcp_call_arguments.done"
            | "response.custom_tool_call_input.done",
        Failed = "error",
        End = "response.completed" | "response.incomplete" | "response.failed" | "response.done",
    }
}

key_table! {
    /// How a response was asked for and made, of which no run tells.
    Setting {
        Any = "created_at" | "completed_at" | "status" | "incomplete_details" | "max_output_tokens" | "max_tool_calls"
            | "parallel_tool_calls" | "reasoning" | "store" | "temperature" | "text" | "tool_choice" | "top_p" | "top_logprobs"
            | "truncation" | "user" | "metadata" | "background" | "service_tier" | "prompt_cache_key" | "safety_identifier"
            | "billing",
    }
}

/// The fields of a response; other keys may tell another format.
pub(crate) const OF_RESPONSE: [OfApi; 10] = {
    use OfApi::{Conversation, Error, Id, Instructions, Model, Object, Output, Previous, Tools, Usage};
    [Object, Output, Error, Previous, Conversation, Id, Instructions, Model, Tools, Usage]
};

/// Requests and responses.
pub(crate) const FORMAT: Format = Format {
    name: "OpenAI Responses",
    known_by: "responses whose `object` is `response`, with a list of `output` items, or their streamed events",
    description: "requests and responses of OpenAI's Responses API, streamed events included",
    marks: &[OfApi::Object.key(), OfApi::Request.key()],
    near: &[OfApi::Previous.key()],
    object: |object| is_response(object) || is_exchange(object, is_response),
    item_marks: &[OfApi::Response.key(), OfApi::Object.key(), OfEvent::Number.key(), OfItem::CallId.key()],
    element: |object| is_item(object) || is_part(object),
    line: is_part,
    alone: |object| is_response(object) && !goes_on(object),
    read,
    ..IN_FULL
};

fn is_part(object: Object<'_>) -> bool {
    is_response(object) || is_exchange(object, is_response) || is_event(object)
}

/// Whether a response says that it is one of several in a conversation.
fn goes_on(response: Object<'_>) -> bool {
    first_of(response, &[OfApi::Previous, OfApi::Conversation]).is_some()
}

fn is_response(object: Object<'_>) -> bool {
    text_of(object, OfApi::Object) == Some(RESPONSE) && list_of(object, OfApi::Output).is_some()
}

/// What the `object` of a response says.
pub(crate) const RESPONSE: &str = OfApi::Response.key();

fn is_event(event: Object<'_>) -> bool {
    text_of(event, OfEvent::Type).is_some_and(|word| word.starts_with("response."))
        && event.field(OfEvent::Number).is_some()
}

/// Whether an object is a call or what one gave back, in a list of items: its type says so, and it names the call.
pub(crate) fn is_item(item: Object<'_>) -> bool {
    is_result(item).is_some() && text_of(item, OfItem::CallId).is_some() && text_of(item, OfItem::Type).is_some()
}

/// Whether an item is the result of a call, or a call (`false`); `None` for any other.
pub(super) fn is_result(item: Object<'_>) -> Option<bool> {
    let word = text_of(item, OfItem::Type)?;
    if word.ends_with("_call") {
        return Some(false);
    }
    RESULTS.iter().any(|end| word.ends_with(end)).then_some(true)
}

/// Whether an item is the result of a tool that has a type of its own: in a response the provider ran it.
pub(super) fn is_hosted_result(item: Object<'_>) -> bool {
    let of_function = |word: &str| word.starts_with("function_") || word.starts_with("custom_");
    is_result(item) == Some(true) && !text_of(item, OfItem::Type).is_some_and(of_function)
}

/// With what the type of a result ends: in the API, and in the SDK for JavaScript.
const RESULTS: [&str; 2] = ["_output", "_call_result"];

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let items = items_of::<OfApi>(root, &[]);
    if items.iter().any(|item| object(*item).is_some_and(is_event)) {
        stream(items, draft);
    } else if items.iter().any(|item| object(*item).is_some_and(is_part)) {
        super::read(items, draft);
    } else {
        let mut pieces = Vec::new();
        items.iter().filter(|item| object(**item).is_some()).for_each(|_| draft.record());
        super::items_into(items, &mut pieces, draft);
        Exchanges { pieces, ..Exchanges::default() }.finish(draft);
    }
    Ok(())
}

/// Of streamed events the whole response counts, and where it is missing the items: those that are whole, and of the others the calls
/// whose arguments are. Without its end more may come.
fn stream<'run>(events: &'run [Node<'run>], draft: &mut Draft<'run, '_>) {
    let mut exchanges = Exchanges::default();
    let mut items = Vec::new();
    let mut open: Vec<Growing<'run>> = Vec::new();
    let mut is_over = false;
    for (node, event) in draft.objects(events) {
        draft.record();
        let kind = text_of(event, OfEvent::Type).and_then(EventType::from_key);
        match kind {
            Some(EventType::Item) => {
                open.retain(|growing| !growing.is_of(event));
                items.extend(event.field(OfEvent::Item));
            }
            Some(EventType::Added) => open.extend(Growing::of(event)),
            Some(EventType::Arguments) => {
                let args = first_of(event, &[OfEvent::Arguments, OfEvent::Input]);
                open.iter_mut().filter(|growing| growing.is_of(event)).for_each(|growing| growing.args = args);
            }
            Some(EventType::Failed) => draft.set_some(of_run::ERROR, first_of(event, &[OfEvent::Why])),
            Some(EventType::End) => {
                let response = object_of(event, OfEvent::Response);
                if let Some(response) =
                    response.filter(|response| list_of(*response, OfApi::Output).is_some_and(|items| !items.is_empty()))
                {
                    items.clear();
                    open.clear();
                    exchanges.add(node, response, draft);
                }
            }
            None if is_event(event) => {}
            None => draft.not_understood(node.origin, "what is no event of a response is passed over"),
        }
        is_over = kind == Some(EventType::End);
    }
    items.extend(open.into_iter().filter_map(|growing| growing.whole(draft)));
    if !items.is_empty() {
        exchanges.pieces.push(super::Piece::Turn);
    }
    let items = draft.arena.alloc_slice_copy(&items);
    super::items_into(items, &mut exchanges.pieces, draft);
    exchanges.finish(draft);
    if !is_over {
        draft.set(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
}

/// An item whose end has not come yet.
struct Growing<'run> {
    place: Option<Node<'run>>,
    node: Node<'run>,
    item: Object<'run>,
    args: Option<Node<'run>>,
}

impl<'run> Growing<'run> {
    fn of(event: Object<'run>) -> Option<Self> {
        let node = event.field(OfEvent::Item)?;
        Some(Self { place: event.field(OfEvent::Index), node, item: object(node)?, args: None })
    }

    /// Whether an event is about it: by its id, else by its place.
    fn is_of(&self, event: Object<'run>) -> bool {
        let id =
            text_of(event, OfEvent::Of).or(object_of(event, OfEvent::Item).and_then(|item| text_of(item, OfItem::Id)));
        match (id, text_of(self.item, OfItem::Id)) {
            (Some(id), Some(own)) => id == own,
            _ => {
                self.place.zip(event.field(OfEvent::Index)).is_some_and(|(own, place)| equal(&own.value, &place.value))
            }
        }
    }

    /// The call that it is, where its arguments are known.
    fn whole(self, draft: &Draft<'run, '_>) -> Option<Node<'run>> {
        let args = self.args?;
        let keys = [OfItem::Arguments.key(), OfItem::Input.key()];
        let others = self.item.entries().iter().filter(|entry| !keys.contains(&entry.key)).copied();
        let entries: Vec<Entry<'run>> = others.chain([Entry { key: OfItem::Arguments.key(), node: args }]).collect();
        Some(Node::new(draft.object(&entries).value, self.node.origin))
    }
}

/// Adds an item to the run.
pub(in crate::adapt) fn item<'run>(
    talk: &mut Talk<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    about: &About<'run>,
) {
    let word = text_of(item, OfItem::Type).unwrap_or_default();
    match ItemType::from_key(word) {
        Some(ItemType::Function | ItemType::Custom) => {
            call(talk, node, item, item.field(OfItem::Name), about);
        }
        Some(ItemType::Mcp) => mcp_call(talk, node, item, about),
        Some(ItemType::Ask) => {
            if let Some(step) = call(talk, node, item, item.field(OfItem::Name), about) {
                talk.mark(step, Status::Pending);
            }
        }
        Some(ItemType::Answer) => {
            let asked = text_of(item, OfItem::Approval).and_then(|id| talk.called(id));
            if let Some(step) = asked.filter(|_| !is_true(&item, &Parsed, OfItem::Approved)) {
                talk.mark(step, Status::Denied);
            }
        }
        Some(ItemType::Reasoning) => reasoning(talk, node, item, about),
        Some(ItemType::Output) => result(talk, node, item, about),
        Some(ItemType::Silent) => {}
        None => match is_result(item) {
            Some(true) => result(talk, node, item, about),
            Some(false) => hosted(talk, node, item, word, about),
            None => talk.draft.not_understood(node.origin, format!("an item of unknown type `{word}` is passed over")),
        },
    }
}

fn call<'run>(
    talk: &mut Talk<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    tool: Option<Node<'run>>,
    about: &About<'run>,
) -> Option<crate::adapt::draft::StepId> {
    let tool = tool.unwrap_or(Node::computed(Value::Null));
    let args = arguments(talk, item);
    let id = first_of(item, &[OfItem::CallId, OfItem::CallIdToo, OfItem::Id]);
    talk.call(Made { tool, args, id, origin: node.origin }, about)
}

/// The arguments of a call: one value, or what its type has in their place, under its names.
fn arguments<'run>(talk: &Talk<'_, 'run, '_>, item: Object<'run>) -> Option<Node<'run>> {
    use OfItem::{Action, Arguments, Code, Input, Operation, Queries};
    if let Some(whole) = first_of(item, &[Arguments, Input, Action]) {
        return Some(whole);
    }
    let parts = [Code, Queries, Operation];
    let entries: Vec<Entry<'run>> =
        parts.into_iter().filter_map(|part| Some(Entry { key: part.key(), node: item.field(part)? })).collect();
    (!entries.is_empty()).then(|| talk.draft.object(&entries))
}

/// A call of a server's tool holds its result. Where somebody was asked first, that was the call already.
fn mcp_call<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, item: Object<'run>, about: &About<'run>) {
    let asked = text_of(item, OfItem::Approval).and_then(|id| talk.called(id));
    let Some(step) = asked.or_else(|| call(talk, node, item, item.field(OfItem::Name), about)) else { return };
    let error = first_of(item, &[OfItem::Error]);
    let result = first_of(item, &[OfItem::Output]);
    let status = if error.is_some() { Some(Status::Failed) } else { status_of(item) };
    let status = status.or(result.map(|_| Status::Ok));
    talk.end_within(step, Outcome { result, error, status, ..Outcome::default() }, about);
}

/// What the provider runs itself: its tool is named by the type, and its status is that of the work.
fn hosted<'run>(
    talk: &mut Talk<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    word: &'run str,
    about: &About<'run>,
) {
    let tool = word.strip_suffix("_call").unwrap_or(word);
    let origin = item.field(OfItem::Type).map_or(node.origin, |word| word.origin);
    let name = Node::new(Value::Text(Text::Plain(tool)), origin);
    let Some(step) = call(talk, node, item, Some(name), about) else { return };
    let result = first_of(item, &[OfItem::Results, OfItem::Outputs, OfItem::Result, OfItem::Output]);
    let status = status_of(item).filter(|_| first_of(item, &[OfItem::CallId, OfItem::CallIdToo]).is_none());
    if result.is_some() || status.is_some() {
        talk.end_within(
            step,
            Outcome { result, status, error: first_of(item, &[OfItem::Error]), ..Outcome::default() },
            about,
        );
    }
}

fn status_of(item: Object<'_>) -> Option<Status> {
    text_of(item, OfItem::Status).and_then(word_status).filter(|status| *status != Status::Unknown)
}

/// What a call gave back, and the exit code where it is known.
fn result<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, item: Object<'run>, about: &About<'run>) {
    let Some(id) = first_of(item, &[OfItem::CallId, OfItem::CallIdToo]).and_then(text) else {
        // What the provider found for itself belongs to the call before it, which has an id of its own.
        return;
    };
    let output = first_of(item, &[OfItem::Output, OfItem::Found]);
    let result = output.map(|output| content::of_blocks(output, talk.draft.arena).unwrap_or(output));
    let exit_code = output.and_then(exit_code);
    let status = status_of(item).filter(|_| is_hosted_result(item) && exit_code.is_none());
    talk.answer(Some(id), None, Outcome { result, exit_code, status, ..Outcome::default() }, about, node.origin);
}

/// The exit code among what a shell gave back: in each of several outcomes, in JSON inside a text, or in the words of Codex.
pub(crate) fn exit_code(output: Node<'_>) -> Option<Node<'_>> {
    match output.value {
        Value::List(parts) => {
            let codes = objects(parts).filter_map(|(_, part)| object_of(part, OfItem::End)?.field(OfItem::ExitCode));
            codes.filter(|code| Parsed.is(*code, Shape::Number)).last()
        }
        Value::Text(_) => number_behind(output, &EXIT_CODES),
        _ => None,
    }
}

/// What stands before an exit code.
static EXIT_CODES: Markers =
    LazyLock::new(|| markers(["Process exited with code", "\"exit_code\":", "Exit code:", "exited with exit code"]));

/// Thoughts, where they can be read: their text, or a summary.
fn reasoning<'run>(talk: &mut Talk<'_, 'run, '_>, node: Node<'run>, item: Object<'run>, about: &About<'run>) {
    for part in [OfItem::Content, OfItem::Summary].into_iter().filter_map(|field| item.field(field)) {
        match list(part) {
            Some(parts) => {
                for (at, thought) in objects(parts) {
                    if let Some(words) = thought.field(OfItem::Words) {
                        talk.say(Speaker::Thinking, words, about, at.origin);
                    }
                }
            }
            None => talk.say(Speaker::Thinking, part, about, node.origin),
        }
    }
}
