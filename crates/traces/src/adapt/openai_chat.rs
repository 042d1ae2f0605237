//! Conversations in OpenAI's chat form: a list of role messages, alone, under `messages`, or in the requests and responses of an API.
//!
//! Calls stand in assistant messages, results in messages of role `tool`, paired by `tool_call_id`. The form does not say whether a
//! call succeeded, and has no times: both are not recorded. A turn is an assistant message.

use super::calls::{Unanswered, Usage, arguments, tools};
use super::draft::{Draft, StepId, count, field, withheld};
use super::fields::{Parsed, Record, Shape, Shapes, key_table};
use super::format::{Format, IN_FULL, InMessages, Projected};
use super::messages::{self, OfCall, OfMessage, Role, function, is_about_calls, is_message};
use super::nodes::{first_of, list_of, object, object_of, objects, text, text_of};
use super::{blocks, claude_code, content, native, printed};
use crate::error::Placed;
use averment_base::value::compare::equal;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{Expected, expected, of_run, of_step};
use averment_runs::run::Kind;

key_table! {
    /// An object with messages: a request to a chat API, its response, both together, or something of one's own.
    OfExchange {
        Messages = "messages",
        Choices = "choices",
        Request = "request",
        Response = "response",
        Tools = "tools",
        Functions = "functions",
        Usage = "usage",
        Id = "id",
        Model = "model",
        /// What the response cost, as LiteLLM and OpenHands write it beside the two.
        Cost = "cost",
        ResponseCost = "response_cost",
    }
}

key_table! {
    /// One of the answers in a response.
    OfChoice {
        Message = "message",
    }
}

/// Role messages.
pub(super) const FORMAT: Format = Format {
    name: "chat messages",
    known_by: "messages with `role` and `content` or `tool_calls`",
    description: "chat messages with `role` and `content` (a list, or under `messages`), requests and responses of a chat API",
    marks: &[OfMessage::Role.key(), OfExchange::Request.key(), OfExchange::Choices.key(), OfExchange::Messages.key()],
    object: is_chat,
    item_marks: &[OfMessage::Role.key(), OfExchange::Request.key()],
    element: |object| is_one(object) || is_exchange(object),
    line: |object| is_one(object) && object.field(OfMessage::Type).is_none() || is_exchange(object),
    read,
    projected: Projected::Messages(InMessages {
        list: OfExchange::Messages.key(),
        every: false,
        beside_calls: false,
        in_full_beside: &[OfExchange::Response.key()],
        tell_of_calls: &[OfExchange::Tools.key(), OfExchange::Functions.key()],
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

/// A request to a chat API and its response.
fn is_exchange(object: Object<'_>) -> bool {
    object_of(object, OfExchange::Request).is_some_and(|request| list_of(request, OfExchange::Messages).is_some())
        && object.field(OfExchange::Response).is_some()
}

fn is_chat(object: Object<'_>) -> bool {
    let other = [Kind::Call.list_key(), of_run::STEPS, OfMessage::Calls.key()];
    let messages = || list_of(object, OfExchange::Messages).unwrap_or_default();
    is_one(object)
        || is_exchange(object)
        || !other.iter().any(|key| object.get(key).is_some())
            && (has_choices(object) || objects(messages()).any(|(_, message)| is_one(message)))
}

/// A message, in any form.
fn is_one(object: Object<'_>) -> bool {
    is_message(&object, &Parsed) || blocks::is_for_page(object)
}

fn has_choices(object: Object<'_>) -> bool {
    list_of(object, OfExchange::Choices)
        .is_some_and(|choices| objects(choices).any(|(_, choice)| choice.field(OfChoice::Message).is_some()))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let mut usage = Usage::default();
    let mut messages = Vec::new();
    match root.value {
        Value::List(items) => items.iter().for_each(|item| collect(*item, &mut messages, &mut usage, draft)),
        Value::Object(object) => {
            collect(root, &mut messages, &mut usage, draft);
            draft.set_some(of_run::ID, object.field(OfExchange::Id).filter(|id| Parsed.is_text(*id)));
            let cost = first_of(object, &[OfExchange::ResponseCost, OfExchange::Cost]).filter(|_| is_answered(object));
            draft.set_some(of_run::COST, cost.filter(|cost| Parsed.is(*cost, Shape::Number)));
        }
        _ => {}
    }
    let in_blocks = messages.iter().any(blocks::has_tools);
    let tells = in_blocks || messages.iter().any(tells_of_calls);
    let unknown = messages.iter().filter_map(|message| object(*message)).any(|one| blocks::unknown_in(one).is_some());
    let records = tells || speaks_of_tools(root) && !unknown;
    if !records {
        draft.warn(root.origin, if unknown { NOT_ALL_KNOWN } else { NO_CALLS });
    }
    if in_blocks || messages.iter().filter_map(|message| object(*message)).any(blocks::is_for_page) {
        claude_code::conversation(&messages, draft);
        let in_both = blocks::lack_calls(&messages);
        if in_both {
            draft.warn(root.origin, IN_BOTH);
        }
        if in_both || !records {
            draft.unrecord(Kind::Call);
        }
    } else {
        if records {
            draft.records(&[Kind::Call]);
        }
        conversation(messages, draft);
    }
    usage.set(draft);
    if let Value::Object(object) = root.value {
        keep_own(object, draft);
    }
    Ok(())
}

/// Why calls are not recorded.
const NO_CALLS: &str =
    "calls count as not recorded: no message has `tool_calls`, and no `tools` are listed (an empty list is enough)";
const IN_BOTH: &str =
    "calls count as not recorded: some stand in blocks and others in `tool_calls`, and nothing says which are all";
const NOT_ALL_KNOWN: &str = "calls count as not recorded: a block of a message is of no known type, and may be a call";

/// What a run says of itself under the keys of the normal form. The chat form knows none of them.
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

/// A run with no keys but those of the normal form means them as they are meant there: what it says itself stands above what its messages
/// tell.
fn keep_own<'run>(object: Object<'run>, draft: &mut Draft<'run, '_>) {
    if !object.entries().iter().all(|entry| native::is_key(entry.key)) {
        return;
    }
    for entry in object.entries().iter().filter(|entry| OWN.contains(&entry.key)) {
        let fits = match (expected(entry.key), entry.node.value) {
            (_, Value::Null | Value::Absent) => false,
            (Expected::Number, value) => matches!(value, Value::Number(number) if number.to_f64().is_finite()),
            (Expected::Object, value) => matches!(value, Value::Object(_)),
            (Expected::Boolean, value) => matches!(value, Value::Boolean(_)),
            (Expected::Any | Expected::TextOrNumber, _) => true,
        };
        if fits {
            draft.set(entry.key, entry.node);
        }
    }
}

/// Some agents write their actions into the text. That nothing was called is only evidence where calls would have been seen:
/// where the run lists its tools or is what an API was asked and answered.
fn speaks_of_tools(root: Node<'_>) -> bool {
    use OfExchange::{Choices, Functions, Request, Tools};
    let speaks = |object: Object<'_>| {
        [Tools, Functions, Choices, Request].iter().any(|field| object.field(*field).is_some()) || is_answered(object)
    };
    match root.value {
        Value::Object(object) => speaks(object),
        Value::List(items) => objects(items).any(|(_, object)| speaks(object)),
        _ => false,
    }
}

fn tells_of_calls(message: &Node<'_>) -> bool {
    object(*message).is_some_and(|message| is_about_calls(&message, role(message)))
}

/// Who says a message.
fn role(message: Object<'_>) -> Option<Role> {
    text_of(message, OfMessage::Role).and_then(Role::from_key)
}

/// Adds the messages of one element: a message, an exchange, or an object with messages.
fn collect<'run>(node: Node<'run>, messages: &mut Vec<Node<'run>>, usage: &mut Usage, draft: &mut Draft<'run, '_>) {
    let Value::Object(object) = node.value else {
        draft.record();
        draft.not_understood(
            node.origin,
            format!("a message is an object, found {}: passed over", node.value.type_name()),
        );
        return;
    };
    if is_one(object) {
        messages.push(node);
    } else if is_exchange(object) {
        if let Some(request) = object_of(object, OfExchange::Request) {
            exchange(request, messages, usage, draft);
        }
        response(object, node, messages, usage, draft);
    } else if [OfExchange::Messages, OfExchange::Choices].into_iter().any(|field| object.field(field).is_some()) {
        exchange(object, messages, usage, draft);
        if object.field(OfExchange::Choices).is_some() {
            choices(object, messages);
        }
        if first_of(object, &[OfExchange::Response]).is_some() {
            response(object, node, messages, usage, draft);
        }
    } else {
        draft.record();
        draft.not_understood(node.origin, "a message without `role` is passed over");
    }
}

/// Whether what an API answered stands beside the messages that it was asked with.
fn is_answered(object: Object<'_>) -> bool {
    object_of(object, OfExchange::Response).is_some()
}

/// The messages of a request. It repeats the conversation so far; only what is new is added.
fn exchange<'run>(
    request: Object<'run>,
    messages: &mut Vec<Node<'run>>,
    usage: &mut Usage,
    draft: &mut Draft<'run, '_>,
) {
    let list = list_of(request, OfExchange::Messages).unwrap_or_default();
    let known = list.iter().zip(messages.iter()).take_while(|(a, b)| same_message(a, b)).count();
    if known < messages.len() {
        let origin = list.first().map_or(averment_base::value::Origin::COMPUTED, |node| node.origin);
        draft.warn(origin, "a request does not repeat the conversation so far: its other messages are added behind it");
    }
    messages.extend(list.get(known..).unwrap_or_default());
    let of_response =
        object_of(request, OfExchange::Response).and_then(|response| object_of(response, OfExchange::Usage));
    if let Some(counts) = object_of(request, OfExchange::Usage).filter(|_| of_response.is_none()) {
        spends(counts, request.field(OfExchange::Model), usage, draft);
    }
    if let Some(list) = list_of(request, OfExchange::Tools).filter(|_| !draft.has(of_run::TOOLS)) {
        let list = tools(draft, list);
        draft.set(of_run::TOOLS, list);
    }
}

fn response<'run>(
    object: Object<'run>,
    node: Node<'run>,
    messages: &mut Vec<Node<'run>>,
    usage: &mut Usage,
    draft: &mut Draft<'run, '_>,
) {
    let Some(response) = object_of(object, OfExchange::Response) else {
        draft.warn(node.origin, "a response that is no object (a stream?) is passed over");
        return;
    };
    if let Some(counts) = object_of(response, OfExchange::Usage) {
        let request = object_of(object, OfExchange::Request).unwrap_or(object);
        let model = first_of(response, &[OfExchange::Model]).or_else(|| request.field(OfExchange::Model));
        spends(counts, model, usage, draft);
    }
    if is_one(response) {
        messages.extend(object.field(OfExchange::Response));
    } else {
        choices(response, messages);
    }
}

/// What a request used, by the model that was asked.
fn spends<'run>(counts: Object<'run>, model: Option<Node<'run>>, usage: &mut Usage, draft: &mut Draft<'run, '_>) {
    let mut of_request = Usage::default();
    of_request.add(counts);
    draft.spends(of_request.counts(), model);
    usage.join(&of_request);
}

fn choices<'run>(response: Object<'run>, messages: &mut Vec<Node<'run>>) {
    if let Some((_, first)) = objects(list_of(response, OfExchange::Choices).unwrap_or_default()).next()
        && let Some(message) = first.field(OfChoice::Message)
    {
        messages.push(message);
    }
}

/// The same message, as an answer and as its repetition in the next request.
fn same_message<'run>(a: &Node<'run>, b: &Node<'run>) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a.value, b.value) else { return false };
    let value = |object: Object<'run>, field| object.field(field).map_or(Value::Null, |node: Node<'run>| node.value);
    let ids = |object: Object<'run>| {
        let calls = objects(list_of(object, OfMessage::Calls).unwrap_or_default());
        calls.map(|(_, call)| text_of(call, OfCall::Id)).collect::<Vec<_>>()
    };
    [OfMessage::Role, OfMessage::Content, OfMessage::Answers]
        .into_iter()
        .all(|field| equal(&value(a, field), &value(b, field)))
        && ids(a) == ids(b)
}

/// Adds a conversation to the run. Whether it records calls is for the caller to say.
pub(super) fn conversation<'run>(messages: Vec<Node<'run>>, draft: &mut Draft<'run, '_>) {
    draft.records(&[Kind::Message]);
    let mut reader = Conversation { draft, unanswered: Unanswered::new(), turn: 0, prompt: None, output: None };
    for node in messages {
        reader.draft.record();
        match node.value {
            Value::Object(message) if text_of(message, OfMessage::Role).is_some() => {
                if let Some(block) = blocks::unknown_in(message) {
                    reader.draft.not_understood(block.origin, blocks::UNKNOWN);
                }
                reader.message(node, message);
            }
            _ => reader.draft.not_understood(node.origin, "a message without `role` is passed over"),
        }
    }
    let (turns, prompt, output) = (reader.turn, reader.prompt, reader.output);
    draft.set(of_run::TURNS, count(turns));
    draft.set_some(of_run::PROMPT, prompt);
    draft.set_some(of_run::OUTPUT, output);
}

struct Conversation<'a, 'run, 'limits> {
    draft: &'a mut Draft<'run, 'limits>,
    unanswered: Unanswered<'run, StepId>,
    turn: usize,
    prompt: Option<Node<'run>>,
    output: Option<Node<'run>>,
}

impl<'run> Conversation<'_, 'run, '_> {
    fn message(&mut self, node: Node<'run>, message: Object<'run>) {
        let role = role(message);
        let text = message.field(OfMessage::Content).and_then(|content| content::text(content, self.draft.arena));
        let is_said = |text: &Node<'run>| Parsed.is(*text, Shape::Text);
        match role {
            Some(Role::Assistant) => {
                self.turn += 1;
                if let Some(text) = text.filter(is_said) {
                    self.output = Some(text);
                    self.say(node, message, text, self.turn);
                }
                self.calls(message);
            }
            Some(Role::Result) => self.result(node, message),
            Some(Role::User) | None => {
                let text = text.unwrap_or(Node::computed(Value::Null));
                if role == Some(Role::User) && self.prompt.is_none() && is_said(&text) {
                    self.prompt = Some(text);
                }
                self.say(node, message, text, self.turn + 1);
            }
        }
    }

    fn say(&mut self, node: Node<'run>, message: Object<'run>, text: Node<'run>, turn: usize) {
        let role = message.field(OfMessage::Role).unwrap_or(text);
        let fields = vec![field(of_step::ROLE, role), field(of_step::TEXT, text), field(of_step::TURN, count(turn))];
        self.draft.step(Kind::Message, fields, node.origin);
    }

    fn calls(&mut self, message: Object<'run>) {
        for (node, call) in self.draft.objects(list_of(message, OfMessage::Calls).unwrap_or_default()) {
            let function = function(&call, &Parsed).and_then(object).unwrap_or(call);
            self.call(node, function, call.field(OfCall::Id));
        }
        if let Some((node, function)) = message.field(OfMessage::Call).and_then(|node| Some((node, object(node)?))) {
            self.call(node, function, None);
        }
    }

    fn call(&mut self, node: Node<'run>, function: Object<'run>, id: Option<Node<'run>>) {
        let Some((name, tool)) = function.field(OfCall::Name).and_then(|name| Some((name, text(name)?))) else {
            self.draft.not_understood(node.origin, "a call without the name of its tool is passed over");
            return;
        };
        let args = messages::arguments(&function).map(|args| arguments(self.draft, args));
        let id = id.filter(|id| Parsed.is_text(*id));
        let mut fields = vec![
            field(of_step::TOOL, name),
            field(of_step::TURN, count(self.turn)),
            field(of_step::STATUS, withheld()),
        ];
        fields.extend(args.map(|args| field(of_step::ARGS, args)));
        fields.extend(id.map(|id| field(of_step::ID, id)));
        let step = self.draft.step(Kind::Call, fields, node.origin);
        self.unanswered.add(id.and_then(text), tool, self.turn, step);
    }

    fn result(&mut self, node: Node<'run>, message: Object<'run>) {
        let content = message.field(OfMessage::Content);
        let printed = content.and_then(|content| printed::of(content, self.draft.arena, self.draft.limits));
        let id = text_of(message, OfMessage::Answers).or(printed.and_then(|printed| text(printed.id)));
        let tool =
            messages::answered_tool(&message, &Parsed).and_then(text).or(printed.and_then(|printed| printed.tool));
        let Some(call) = self.unanswered.answer(id, tool) else {
            self.draft.warn(node.origin, "a result that no call is waiting for is passed over");
            self.draft.lacks_call(id);
            return;
        };
        if let Some(content) = content {
            let result = || content::text(content, self.draft.arena).unwrap_or(content);
            let result = printed.map_or_else(result, |printed| printed.result);
            self.draft.amend(call, of_step::RESULT, result);
        }
        if let Some(status) = printed.and_then(|printed| printed.status?.as_str()) {
            self.draft.replace(call, of_step::STATUS, Node::computed(Value::plain(status)));
        }
        // Some write how it ended all the same.
        if let Some(status) = message.field(OfMessage::Status).filter(|status| Parsed.is_text(*status)) {
            self.draft.replace(call, of_step::STATUS, status);
        }
    }
}
