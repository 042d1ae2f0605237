//! Conversations in OpenAI's chat form: a list of role messages, alone, under `messages`, or in the requests and responses of an API.
//!
//! Calls stand in assistant messages, results in messages of role `tool`, paired by `tool_call_id`. The form does not say whether a
//! call succeeded, and has no times: both are not recorded. A turn is an assistant message.

use super::calls::{Unanswered, Usage, arguments, tools};
use super::claude_code;
use super::draft::{Draft, count, field, withheld};
use super::{Format, list_of, object_of, objects, text_of};
use crate::content;
use crate::error::Placed;
use averment_base::value::compare::equal;
use averment_base::value::{Node, Object, Value};
use averment_runs::run::Kind;

/// Role messages.
pub(super) const FORMAT: Format = Format {
    name: "chat messages",
    description: "chat messages with `role` and `content` (a list, or under `messages`), requests and responses of a chat API",
    object: is_chat,
    element: |object| is_message(object) || is_exchange(object),
    line: |object| is_message(object) && object.get("type").is_none() || is_exchange(object),
    read,
};

/// A role message: what stands in the list of a conversation.
pub(super) fn is_message(object: Object<'_>) -> bool {
    text_of(object, "role").is_some()
        && ["content", "tool_calls", "function_call"].iter().any(|key| object.get(key).is_some())
        && object.get("messages").is_none()
}

/// A request to a chat API and its response.
fn is_exchange(object: Object<'_>) -> bool {
    object_of(object, "request").is_some_and(|request| list_of(request, "messages").is_some())
        && object.get("response").is_some()
}

fn is_chat(object: Object<'_>) -> bool {
    let native = ["calls", "steps", "tool_calls"].iter().any(|key| object.get(key).is_some());
    let messages = || list_of(object, "messages").unwrap_or_default();
    is_message(object)
        || is_exchange(object)
        || !native && (has_choices(object) || objects(messages()).any(|(_, message)| is_message(message)))
}

fn has_choices(object: Object<'_>) -> bool {
    list_of(object, "choices")
        .is_some_and(|choices| objects(choices).any(|(_, choice)| choice.get("message").is_some()))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let mut usage = Usage::default();
    let mut messages = Vec::new();
    match root.value {
        Value::List(items) => items.iter().for_each(|item| collect(*item, &mut messages, &mut usage, draft)),
        Value::Object(object) => {
            collect(root, &mut messages, &mut usage, draft);
            draft.set_some("id", object.get("id").filter(|id| matches!(id.value, Value::Text(_))));
        }
        _ => {}
    }
    if messages.iter().any(claude_code::has_tool_blocks) {
        claude_code::conversation(&messages, draft);
    } else {
        if speaks_of_tools(root) || messages.iter().any(is_about_calls) {
            draft.records(&[Kind::Call]);
        } else {
            draft.warn(
                root.origin,
                "calls count as not recorded: no message has `tool_calls`, and no `tools` are listed (an empty list is enough)",
            );
        }
        conversation(messages, draft);
    }
    usage.set(draft);
    Ok(())
}

/// Some agents write their actions into the text. That nothing was called is only evidence where calls would have been seen:
/// where the run lists its tools or is what an API was asked and answered.
fn speaks_of_tools(root: Node<'_>) -> bool {
    let speaks =
        |object: Object<'_>| ["tools", "functions", "choices", "request"].iter().any(|key| object.get(key).is_some());
    match root.value {
        Value::Object(object) => speaks(object),
        Value::List(items) => objects(items).any(|(_, object)| speaks(object)),
        _ => false,
    }
}

/// A message with calls or a result, or one that says that it has none (`"tool_calls": null`).
fn is_about_calls(message: &Node<'_>) -> bool {
    let Value::Object(message) = message.value else { return false };
    let has = |key| message.get(key).is_some();
    has("tool_calls") || has("function_call") || matches!(text_of(message, "role"), Some("tool" | "function"))
}

/// Adds the messages of one element: a message, an exchange, or an object with messages.
fn collect<'run>(node: Node<'run>, messages: &mut Vec<Node<'run>>, usage: &mut Usage, draft: &mut Draft<'run, '_>) {
    let Value::Object(object) = node.value else {
        draft.warn(node.origin, format!("a message is an object, found {}: passed over", node.value.type_name()));
        return;
    };
    if is_message(object) {
        messages.push(node);
    } else if is_exchange(object) {
        if let Some(request) = object_of(object, "request") {
            exchange(request, messages, usage, draft);
        }
        response(object, node, messages, usage, draft);
    } else {
        exchange(object, messages, usage, draft);
        choices(object, messages);
    }
}

/// The messages of a request. It repeats the conversation so far; only what is new is added.
fn exchange<'run>(
    request: Object<'run>,
    messages: &mut Vec<Node<'run>>,
    usage: &mut Usage,
    draft: &mut Draft<'run, '_>,
) {
    let list = list_of(request, "messages").unwrap_or_default();
    let known = list.iter().zip(messages.iter()).take_while(|(a, b)| same_message(a, b)).count();
    if known < messages.len() {
        let origin = list.first().map_or(averment_base::value::Origin::COMPUTED, |node| node.origin);
        draft.warn(origin, "a request does not repeat the conversation so far: its other messages are added behind it");
    }
    messages.extend(list.get(known..).unwrap_or_default());
    if let Some(counts) = object_of(request, "usage") {
        usage.add(counts);
    }
    if let Some(list) = list_of(request, "tools").filter(|_| !draft.has("tools")) {
        let list = tools(draft, list);
        draft.set("tools", list);
    }
}

fn response<'run>(
    object: Object<'run>,
    node: Node<'run>,
    messages: &mut Vec<Node<'run>>,
    usage: &mut Usage,
    draft: &mut Draft<'run, '_>,
) {
    match object_of(object, "response") {
        Some(response) => {
            if let Some(counts) = object_of(response, "usage") {
                usage.add(counts);
            }
            choices(response, messages);
        }
        None => draft.warn(node.origin, "a response that is no object (a stream?) is passed over"),
    }
}

fn choices<'run>(response: Object<'run>, messages: &mut Vec<Node<'run>>) {
    if let Some((_, first)) = objects(list_of(response, "choices").unwrap_or_default()).next()
        && let Some(message) = first.get("message")
    {
        messages.push(message);
    }
}

/// The same message, as an answer and as its repetition in the next request.
fn same_message<'run>(a: &Node<'run>, b: &Node<'run>) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a.value, b.value) else { return false };
    let value = |object: Object<'run>, key: &str| object.get(key).map_or(Value::Null, |node| node.value);
    let ids = |object: Object<'run>| {
        let calls = objects(list_of(object, "tool_calls").unwrap_or_default());
        calls.map(|(_, call)| text_of(call, "id")).collect::<Vec<_>>()
    };
    ["role", "content", "tool_call_id"].iter().all(|key| equal(&value(a, key), &value(b, key))) && ids(a) == ids(b)
}

/// Adds a conversation to the run. Whether it records calls is for the caller to say.
pub(super) fn conversation<'run>(messages: Vec<Node<'run>>, draft: &mut Draft<'run, '_>) {
    draft.records(&[Kind::Message]);
    let mut reader = Conversation { draft, unanswered: Unanswered::default(), turn: 0, prompt: None, output: None };
    for node in messages {
        match node.value {
            Value::Object(message) if text_of(message, "role").is_some() => reader.message(node, message),
            _ => reader.draft.warn(node.origin, "a message without `role` is passed over"),
        }
    }
    let (turns, prompt, output) = (reader.turn, reader.prompt, reader.output);
    draft.set("turns", count(turns));
    draft.set_some("prompt", prompt);
    draft.set_some("output", output);
}

struct Conversation<'a, 'run, 'limits> {
    draft: &'a mut Draft<'run, 'limits>,
    unanswered: Unanswered<'run>,
    turn: usize,
    prompt: Option<Node<'run>>,
    output: Option<Node<'run>>,
}

impl<'run> Conversation<'_, 'run, '_> {
    fn message(&mut self, node: Node<'run>, message: Object<'run>) {
        let role = text_of(message, "role").unwrap_or_default();
        let text = message.get("content").and_then(|content| content::text(content, self.draft.arena));
        match role {
            "assistant" => {
                self.turn += 1;
                if let Some(text) = text.filter(is_said) {
                    self.output = Some(text);
                    self.say(node, message, text, self.turn);
                }
                self.calls(message);
            }
            "tool" | "function" => self.result(node, message),
            _ => {
                let text = text.unwrap_or(Node::computed(Value::Null));
                if role == "user" && self.prompt.is_none() && is_said(&text) {
                    self.prompt = Some(text);
                }
                self.say(node, message, text, self.turn + 1);
            }
        }
    }

    fn say(&mut self, node: Node<'run>, message: Object<'run>, text: Node<'run>, turn: usize) {
        let role = message.get("role").unwrap_or(text);
        let fields = vec![field("role", role), field("text", text), field("turn", count(turn))];
        self.draft.step(Kind::Message, fields, node.origin);
    }

    fn calls(&mut self, message: Object<'run>) {
        for (node, call) in objects(list_of(message, "tool_calls").unwrap_or_default()) {
            let function = object_of(call, "function").or_else(|| object_of(call, "custom")).unwrap_or(call);
            self.call(node, function, call.get("id"));
        }
        if let Some(node) = message.get("function_call")
            && let Value::Object(function) = node.value
        {
            self.call(node, function, None);
        }
    }

    fn call(&mut self, node: Node<'run>, function: Object<'run>, id: Option<Node<'run>>) {
        let Some(name) = function.get("name").filter(|name| matches!(name.value, Value::Text(_))) else {
            self.draft.warn(node.origin, "a call without the name of its tool is passed over");
            return;
        };
        let args = function.get("arguments").or_else(|| function.get("args")).or_else(|| function.get("input"));
        let args = args.map(|args| arguments(self.draft, args));
        let mut fields = vec![field("tool", name), field("turn", count(self.turn)), field("status", withheld())];
        fields.extend(args.map(|args| field("args", args)));
        fields.extend(id.filter(|id| matches!(id.value, Value::Text(_))).map(|id| field("id", id)));
        let step = self.draft.step(Kind::Call, fields, node.origin);
        let text = |node: Node<'run>| match node.value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        };
        self.unanswered.add(id.and_then(text), text(name).unwrap_or_default(), step);
    }

    fn result(&mut self, node: Node<'run>, message: Object<'run>) {
        let (id, tool) = (text_of(message, "tool_call_id"), text_of(message, "name"));
        let Some(call) = self.unanswered.answer(id, tool) else {
            self.draft.warn(node.origin, "a result that no call is waiting for is passed over");
            return;
        };
        if let Some(content) = message.get("content") {
            let result = content::text(content, self.draft.arena).unwrap_or(content);
            self.draft.amend(call, "result", result);
        }
        // Some write how it ended all the same.
        if let Some(status) = message.get("status").filter(|status| matches!(status.value, Value::Text(_))) {
            self.draft.replace(call, "status", status);
        }
    }
}

/// True for text that is not empty.
fn is_said(node: &Node<'_>) -> bool {
    matches!(node.value, Value::Text(text) if !text.is_empty())
}
