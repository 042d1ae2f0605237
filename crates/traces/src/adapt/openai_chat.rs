//! Conversations in OpenAI's chat form: a list of role messages, alone, under `messages`, or in the requests and responses of an API.
//!
//! Calls stand in assistant messages, results in messages of role `tool`, paired by `tool_call_id`. The form does not say whether a
//! call succeeded, and has no times: both are not recorded. A turn is an assistant message.

mod conversation;
mod repeated_messages;
mod swarm_stream;

pub(super) use conversation::read_conversation;
use repeated_messages::{first_call_id, repeats_message, repeats_some_calls, same_calls, same_message, says_something};

use super::api::{KnownAnswers, cut_calls};
use super::calls::{PendingCalls, TokenUsage, parse_arguments, tool_list};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use super::format::{IN_FULL, LineProjection, MessageLayout, TraceFormat};
use super::messages::{self, ChatMessageKey, MessageRole, ToolCallKey, WrittenRole, is_about_calls, is_message};
use super::nested_conversations::{CallPlaces, NestedConversations, RepeatedPart};
use super::nodes::{first_of, list_of, node_object, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, StepId, absent_node, count_node, field_entry};
use super::unknown::UNKNOWN_ROLE;
use super::{blocks, claude_code, content, executed_tools, native, printed_messages, streamed_answers};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{EntryType, entry_type, of_run, of_step};
use averment_runs::run::StepKind;

key_table! {
    /// A chat API request, its response, both, or a custom object with messages.
    ChatExchangeKey {
        Messages = "messages",
        /// The messages as the agent had them, where those of the request write calls and results as text (OpenHands).
        WithCalls = "raw_messages",
        Choices = "choices",
        Request = "request",
        Response = "response",
        Tools = "tools",
        Functions = "functions",
        Usage = "usage",
        Id = "id",
        Model = "model",
        Error = "error",
        /// The response's cost, as LiteLLM and OpenHands write it.
        Cost = "cost",
        ResponseCost = "response_cost",
    }
}

key_table! {
    ChoiceKey {
        Message = "message",
    }
}

/// The key of the message of a choice.
pub(super) const MESSAGE: &str = ChoiceKey::Message.key();

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "chat messages",
    known_by: "messages with `role` and `content` or `tool_calls`",
    description: "chat messages with `role` and `content` (a list, or under `messages`), requests and responses of a chat API",
    marks: &[
        ChatMessageKey::Role.key(),
        ChatExchangeKey::Request.key(),
        ChatExchangeKey::Choices.key(),
        ChatExchangeKey::Messages.key(),
    ],
    object: is_chat,
    item_marks: &[ChatMessageKey::Role.key(), ChatExchangeKey::Request.key()],
    element: |object| is_chat_message(object) || is_exchange(object),
    line: |object| is_chat_message(object) && object.field(ChatMessageKey::Type).is_none() || is_exchange(object),
    record_ids: RecordIds::of_call(&[
        &[ChatMessageKey::Calls.key(), ChatMessageKey::Id.key()],
        &[ChatMessageKey::Answers.key()],
        &[ChatMessageKey::Content.key(), ChatMessageKey::Id.key()],
    ]),
    read: read_run,
    projected: LineProjection::Messages(MessageLayout {
        list: ChatExchangeKey::Messages.key(),
        every: false,
        beside_calls: false,
        in_full_beside: &[ChatExchangeKey::Response.key(), ChatExchangeKey::WithCalls.key()],
        tell_of_calls: &[ChatExchangeKey::Tools.key(), ChatExchangeKey::Functions.key()],
        texts: &[of_run::ID],
        composed: &[],
        composed_where_there: &[
            of_run::TOOLS,
            of_run::INPUTS,
            of_run::OUTPUT,
            of_run::DURATION,
            of_run::ERROR,
            of_run::META,
            of_run::ENV,
            of_run::FILES,
        ],
    }),
    ..IN_FULL
};

/// What requests and responses told so far.
#[derive(Default)]
struct MergedRequests<'run> {
    messages: Vec<Node<'run>>,
    usage: TokenUsage,
    answers: KnownAnswers<'run>,
    conversations: NestedConversations,
    places: CallPlaces<'run>,
    /// Of the last request nobody knows what was answered.
    lacks_answer: bool,
    /// The places of messages that a limit cut off.
    cut: Vec<usize>,
}

fn is_exchange(object: Object<'_>) -> bool {
    object_of(object, ChatExchangeKey::Request)
        .is_some_and(|request| list_of(request, ChatExchangeKey::Messages).is_some())
        && object.field(ChatExchangeKey::Response).is_some()
}

fn is_chat(object: Object<'_>) -> bool {
    let other = [StepKind::Call.list_key(), of_run::STEPS, ChatMessageKey::Calls.key()];
    let messages = || list_of(object, ChatExchangeKey::Messages).unwrap_or_default();
    is_chat_message(object)
        || is_exchange(object)
        || !other.iter().any(|key| object.get(key).is_some())
            && (has_choices(object) || object_items(messages()).any(|(_, message)| is_chat_message(message)))
}

fn is_chat_message(object: Object<'_>) -> bool {
    is_message(&object, &NodeShapes) || blocks::is_for_page(object)
}

fn has_choices(object: Object<'_>) -> bool {
    list_of(object, ChatExchangeKey::Choices)
        .is_some_and(|choices| object_items(choices).any(|(_, choice)| choice.field(ChoiceKey::Message).is_some()))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let mut merged = MergedRequests::default();
    match root.value {
        Value::List(items) if swarm_stream::is_stream(items) => {
            merged.messages = swarm_stream::collect_messages(items, builder);
        }
        Value::List(items) => items.iter().for_each(|item| collect_messages(*item, &mut merged, builder)),
        Value::Object(object) => {
            collect_messages(root, &mut merged, builder);
            builder.set_some(of_run::ID, object.field(ChatExchangeKey::Id).filter(|id| NodeShapes.is_text(*id)));
            let cost = first_of(object, &[ChatExchangeKey::ResponseCost, ChatExchangeKey::Cost])
                .filter(|_| is_answered(object));
            builder.set_some(of_run::COST, cost.filter(|cost| NodeShapes.has_shape(*cost, ValueShape::Number)));
        }
        _ => {}
    }
    let MergedRequests { mut messages, usage, lacks_answer, cut, .. } = merged;
    cut_calls::drop_cut_from(&mut messages, &cut, builder);
    let in_blocks = messages.iter().any(blocks::has_tools);
    let tells = in_blocks || messages.iter().any(tells_of_calls);
    let unknown =
        messages.iter().filter_map(|message| node_object(*message)).any(|one| blocks::unknown_in(one).is_some());
    let records = tells || speaks_of_tools(root) && !unknown || messages.iter().any(is_written_call);
    if !records {
        builder.add_warning(root.origin, if unknown { NOT_ALL_KNOWN } else { NO_CALLS });
    }
    if in_blocks || messages.iter().filter_map(|message| node_object(*message)).any(blocks::is_for_page) {
        claude_code::read_conversation(&messages, builder);
        let in_both = blocks::lack_calls(&messages);
        if in_both {
            builder.add_warning(root.origin, IN_BOTH);
        }
        if in_both || !records {
            builder.mark_unrecorded(StepKind::Call);
        }
    } else {
        if records {
            builder.mark_recorded(&[StepKind::Call]);
        }
        read_conversation(messages, builder);
    }
    usage.set_usage(builder);
    if lacks_answer {
        builder.leave_output_open();
    }
    if let Value::Object(object) = root.value {
        keep_own(object, builder);
    }
    Ok(())
}

const NO_CALLS: &str =
    "calls count as not recorded: no message has `tool_calls`, and no `tools` are listed (an empty list is enough)";
const IN_BOTH: &str =
    "calls count as not recorded: some stand in blocks and others in `tool_calls`, and nothing says which are all";
const NOT_ALL_KNOWN: &str = "calls count as not recorded: a block of a message is of no known type, and may be a call";

/// Normal-form keys, none of which the chat form has.
const OWN: [&str; 11] = [
    of_run::INPUTS,
    of_run::PROMPT,
    of_run::OUTPUT,
    of_run::COST,
    of_run::DURATION,
    of_run::TURNS,
    of_run::ERROR,
    of_run::META,
    of_run::ENV,
    of_run::FILES,
    of_run::COMPLETE,
];

/// A run with only normal-form keys means them: its statements win over its messages.
fn keep_own<'run>(object: Object<'run>, builder: &mut RunBuilder<'run, '_>) {
    if !object.entries().iter().all(|entry| native::is_key(entry.key)) {
        return;
    }
    for entry in object.entries().iter().filter(|entry| OWN.contains(&entry.key)) {
        let fits = match (entry_type(entry.key), entry.node.value) {
            (_, Value::Null | Value::Absent) => false,
            (EntryType::Number, value) => matches!(value, Value::Number(number) if number.to_f64().is_finite()),
            (EntryType::Object, value) => matches!(value, Value::Object(_)),
            (EntryType::Boolean, value) => matches!(value, Value::Boolean(_)),
            (EntryType::Any | EntryType::TextOrNumber, _) => true,
        };
        if fits {
            builder.set_entry(entry.key, entry.node);
        }
    }
}

/// Agents may write actions as text: no calls is evidence only if tools are listed, or where an answer stands without its request.
fn speaks_of_tools(root: Node<'_>) -> bool {
    use ChatExchangeKey::{Choices, Functions, Messages, Request, Tools};
    let lists = |object: Object<'_>| [Tools, Functions].iter().any(|field| object.field(*field).is_some());
    let speaks = |object: Object<'_>| {
        lists(object)
            || object_of(object, Request).is_some_and(lists)
            || object.field(Choices).is_some() && object.field(Messages).is_none() && object.field(Request).is_none()
    };
    match root.value {
        Value::Object(object) => speaks(object),
        Value::List(items) => object_items(items).any(|(_, object)| speaks(object)),
        _ => false,
    }
}

fn tells_of_calls(message: &Node<'_>) -> bool {
    node_object(*message).is_some_and(|one| is_about_calls(&one, message_role(one))) || tells_executed(message)
}

fn tells_executed(message: &Node<'_>) -> bool {
    node_object(*message).is_some_and(|message| !executed_tools::executed_in(message).is_empty())
}

fn is_written_call(message: &Node<'_>) -> bool {
    let role = node_object(*message).and_then(|message| text_of(message, ChatMessageKey::Role));
    role.and_then(WrittenRole::from_key).is_some()
}

fn message_role(message: Object<'_>) -> Option<MessageRole> {
    text_of(message, ChatMessageKey::Role).and_then(MessageRole::from_key)
}

fn collect_messages<'run>(node: Node<'run>, merged: &mut MergedRequests<'run>, builder: &mut RunBuilder<'run, '_>) {
    let Value::Object(object) = node.value else {
        builder.count_record();
        builder.skip_value(node, format!("a message is an object, found {}: skipped", node.value.type_name()));
        return;
    };
    if is_chat_message(object) {
        merged.messages.push(node);
    } else if is_exchange(object) {
        if let Some(request) = object_of(object, ChatExchangeKey::Request) {
            add_request(request, merged, builder);
        }
        add_response(object, node, merged, builder);
    } else if [ChatExchangeKey::Messages, ChatExchangeKey::Choices]
        .into_iter()
        .any(|field| object.field(field).is_some())
    {
        add_request(object, merged, builder);
        if object.field(ChatExchangeKey::Choices).is_some() {
            add_choices(object, merged, builder);
        }
        if first_of(object, &[ChatExchangeKey::Response]).is_some() {
            add_response(object, node, merged, builder);
        }
    } else {
        builder.count_record();
        // Hermes begins with its settings, which say nothing.
        if message_role(object) != Some(MessageRole::Other) {
            builder.skip_value(node, "a message without `role` is skipped");
        }
    }
}

/// True if an API response accompanies its request messages.
fn is_answered(object: Object<'_>) -> bool {
    object_of(object, ChatExchangeKey::Response).is_some()
}

/// Requests repeat the conversation: only what is new is added.
fn add_request<'run>(request: Object<'run>, merged: &mut MergedRequests<'run>, builder: &mut RunBuilder<'run, '_>) {
    let MergedRequests { messages, usage, conversations, places, .. } = merged;
    let given = [ChatExchangeKey::WithCalls, ChatExchangeKey::Messages];
    let list = given.into_iter().find_map(|field| list_of(request, field)).unwrap_or_default();
    // Others may have got other instructions, and some put empty messages in between: what is said is compared.
    let new: Vec<_> = list.iter().enumerate().filter(|(_, message)| says_something(message)).collect();
    conversations.take_said(messages.len());
    let says = |place: &usize| messages.get(*place).filter(|message| says_something(message));
    let repeated = conversations.go_on(list.len(), |conversation| {
        let said = conversation.iter().enumerate().filter_map(|(at, place)| Some((at, says(place)?)));
        let is_same = |nth: usize, said| new.get(nth).is_some_and(|(_, new)| repeats_message(said, new));
        let said = said.enumerate().map(|(nth, (at, said))| (at, is_same(nth, said)));
        RepeatedPart::count_repeated(conversation.len(), said)
    });
    let (goes_on, is_only) = (repeated.is_whole, repeated.is_whole && !repeated.has_others);
    let said: Vec<usize> = repeated.places.into_iter().filter(|place| says(place).is_some()).collect();
    let mut known = 0;
    for (place, (at, message)) in said.into_iter().zip(new) {
        let Some(before) = messages.get_mut(place) else { continue };
        // Results that come later name the call by the id that it has now.
        if !same_message(before, message) && !repeats_some_calls(before, message) && !tells_executed(before) {
            *before = *message;
            places.add_place(first_call_id(message), place);
        }
        known = at + 1;
    }
    // Of what stands before the words that repeat nothing is read again: what nobody knows is told here.
    for message in list.get(..known).unwrap_or_default().iter().filter(|message| is_of_nobody(message)) {
        builder.note_unknown(message.origin, UNKNOWN_ROLE);
    }
    if !goes_on && known < list.len() {
        let origin = list.first().map_or(averment_base::value::TextOrigin::COMPUTED, |node| node.origin);
        builder.add_warning(
            origin,
            "a request does not repeat the conversation so far: its other messages are added behind it",
        );
    }
    places.add_up_to(messages.len(), |place| first_call_id(messages.get(place)?));
    for message in list.get(known..).unwrap_or_default() {
        let is_known = |place: &usize| messages.get(*place).is_some_and(|known| same_calls(known, message));
        if is_only || !places.places_of(first_call_id(message)).iter().any(is_known) {
            messages.push(*message);
        }
    }
    let of_response =
        object_of(request, ChatExchangeKey::Response).and_then(|response| object_of(response, ChatExchangeKey::Usage));
    if let Some(counts) = object_of(request, ChatExchangeKey::Usage).filter(|_| of_response.is_none()) {
        add_usage(counts, request.field(ChatExchangeKey::Model), usage, builder);
    }
    if let Some(list) = list_of(request, ChatExchangeKey::Tools).filter(|_| !builder.has_entry(of_run::TOOLS)) {
        let list = tool_list(builder, list);
        builder.set_entry(of_run::TOOLS, list);
    }
}

fn add_response<'run>(
    object: Object<'run>,
    node: Node<'run>,
    merged: &mut MergedRequests<'run>,
    builder: &mut RunBuilder<'run, '_>,
) {
    merged.lacks_answer = true;
    let Some(given) = first_of(object, &[ChatExchangeKey::Response]) else {
        if !streamed_answers::note_lost_answer(node, object, builder) {
            builder.add_warning(node.origin, "a request without a response");
        }
        return;
    };
    let whole = streamed_answers::whole_answer(given, builder);
    let Some((given, response)) = whole.and_then(|whole| Some((whole, node_object(whole)?))) else {
        builder.skip_record(node.origin, streamed_answers::UNKNOWN_ANSWER);
        return;
    };
    merged.lacks_answer = false;
    // A request that was sent or written down again has the answer that it had.
    if text_of(response, ChatExchangeKey::Id).is_some_and(|id| merged.answers.is_known(id, response)) {
        return;
    }
    // Ollama and Cohere answer with one message; Ollama counts beside it.
    let message = object_of(response, ChoiceKey::Message).filter(|message| message_role(*message).is_some());
    if let Some(counts) = object_of(response, ChatExchangeKey::Usage).or(message.map(|_| response)) {
        let request = object_of(object, ChatExchangeKey::Request).unwrap_or(object);
        let model = first_of(response, &[ChatExchangeKey::Model]).or_else(|| request.field(ChatExchangeKey::Model));
        add_usage(counts, model, &mut merged.usage, builder);
    }
    if is_chat_message(response) {
        merged.messages.push(given);
    } else if message.is_some() {
        merged.cut.extend(cut_calls::is_cut_end(response).then_some(merged.messages.len()));
        merged.messages.extend(response.field(ChoiceKey::Message));
    } else if response.field(ChatExchangeKey::Choices).is_some() {
        add_choices(response, merged, builder);
    } else if let Some(error) = response.field(ChatExchangeKey::Error) {
        builder.set_some(of_run::ERROR, Some(error).filter(|_| !builder.has_entry(of_run::ERROR)));
    } else {
        merged.lacks_answer = true;
        builder.skip_record(node.origin, streamed_answers::UNKNOWN_ANSWER);
    }
}

fn add_usage<'run>(
    counts: Object<'run>,
    model: Option<Node<'run>>,
    usage: &mut TokenUsage,
    builder: &mut RunBuilder<'run, '_>,
) {
    let mut of_request = TokenUsage::default();
    of_request.add_usage(counts);
    builder.add_usage(of_request.token_counts(), model);
    usage.merge_usage(&of_request);
}

/// The other choices are what the model could have said instead.
fn add_choices<'run>(response: Object<'run>, merged: &mut MergedRequests<'run>, builder: &mut RunBuilder<'run, '_>) {
    let choices = builder.record_objects(list_of(response, ChatExchangeKey::Choices).unwrap_or_default());
    if let Some((message, is_cut)) = builder.choice_messages(choices, ChoiceKey::Message).first() {
        merged.cut.extend(is_cut.then_some(merged.messages.len()));
        merged.messages.push(*message);
    }
}

/// Neither a speaker nor what a message has: it may be anything.
fn is_of_nobody(message: &Node<'_>) -> bool {
    node_object(*message).is_none_or(|message| message_role(message).is_none())
}
