//! Requests to models as gateways and platforms log them: what was asked and what was answered, under keys of their own. They are read as
//! the exchange of a chat API that they are.

use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::ChatMessageKey;
use super::nodes::{list_of, node_list, node_object, node_text, object_of, objects_of, text_of};
use super::openai_chat::{self, ChatExchangeKey};
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, ObjectEntry};
use averment_runs::normal::of_run;

key_table! {
    LoggedKey {
        Id = "id" | "trace_id" | "unique_id",
        /// What Parea keeps of a request.
        Settings = "configuration",
        Messages = "prompt_messages" | "messages",
        Answer = "output_message" | "completion_message",
        /// Bodies as they were sent.
        Request = "reqPayload" | "request_body" | "inputs" | "proxy_server_request",
        Response = "respPayload" | "response_body" | "outputs" | "response",
        /// Cohere answers with one message.
        Ended = "finish_reason",
        Message = "message",
        Choices = "choices",
        Output = "output",
        Tools = "tools" | "functions",
        Model = "model",
        Cost = "cost",
        TokensIn = "prompt_tokens" | "input_tokens",
        TokensOut = "completion_tokens" | "output_tokens",
    }
}

key_table! {
    /// The usage of a chat API.
    ChatUsageKey {
        In = "prompt_tokens",
        Out = "completion_tokens",
    }
}

key_table! {
    LoggedMark {
        Any = "output_message" | "completion_message" | "reqPayload" | "request_body" | "outputs" | "configuration" | "finish_reason"
            | "proxy_server_request",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "logged requests",
    known_by: "`output_message` or `completion_message` beside messages, a request with messages beside a response with `choices` (`reqPayload`, `request_body`, `inputs`), or `configuration` with `output`",
    description: "requests to models as Humanloop, Keywords AI, Parea, OpenPipe and MLflow log them, answers of Cohere",
    marks: LoggedMark::Any.keys(),
    near: &[LoggedKey::Request.key()],
    object: is_logged,
    read: read_run,
    ..IN_FULL
};

fn holds_messages(object: Object<'_>) -> bool {
    let is_message = |message: Object<'_>| text_of(message, ChatMessageKey::Role).is_some();
    list_of(object, LoggedKey::Messages).is_some_and(|list| objects_of(list).any(is_message))
}

fn is_logged(log: Object<'_>) -> bool {
    let answer = object_of(log, LoggedKey::Answer).is_some_and(|it| text_of(it, ChatMessageKey::Role).is_some());
    let settings = object_of(log, LoggedKey::Settings).is_some_and(holds_messages);
    answer && holds_messages(log)
        || settings && log.field(LoggedKey::Output).is_some()
        || object_of(log, LoggedKey::Request).is_some_and(holds_messages)
            && object_of(log, LoggedKey::Response).is_some_and(|it| list_of(it, LoggedKey::Choices).is_some())
        || is_lone_answer(log)
}

fn is_lone_answer(answer: Object<'_>) -> bool {
    text_of(answer, LoggedKey::Ended).is_some()
        && object_of(answer, LoggedKey::Message).is_some_and(|it| text_of(it, ChatMessageKey::Role).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(log) = node_object(root) else { return Ok(()) };
    let exchange = exchange_of(log, builder);
    let exchange = Node::new(builder.object_node(&exchange).value, root.origin);
    (openai_chat::FORMAT.read)(exchange, builder)?;
    builder.set_some(of_run::ID, value_of(log, LoggedKey::Id).filter(|id| node_text(*id).is_some()));
    builder.set_some(of_run::COST, value_of(log, LoggedKey::Cost));
    Ok(())
}

/// The sides of an exchange.
fn sent<'run>(request: Node<'run>, response: Node<'run>) -> Vec<ObjectEntry<'run>> {
    vec![field_entry(ChatExchangeKey::Request.key(), request), field_entry(ChatExchangeKey::Response.key(), response)]
}

/// An answer with a message, whose request is not written down.
pub(super) fn lone_exchange<'run>(answer: Node<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    let nothing = field_entry(ChatExchangeKey::Messages.key(), builder.list_node(&[]));
    builder.object_node(&sent(builder.object_node(&[nothing]), answer))
}

fn exchange_of<'run>(log: Object<'run>, builder: &RunBuilder<'run, '_>) -> Vec<ObjectEntry<'run>> {
    if is_lone_answer(log) {
        let exchange = lone_exchange(builder.object_node(log.entries()), builder);
        return node_object(exchange).map(|exchange| exchange.entries().to_vec()).unwrap_or_default();
    }
    if let Some((request, response)) = value_of(log, LoggedKey::Request).zip(value_of(log, LoggedKey::Response)) {
        return sent(request, response);
    }
    let asked = object_of(log, LoggedKey::Settings).unwrap_or(log);
    let messages = value_of(asked, LoggedKey::Messages).map(|list| field_entry(ChatExchangeKey::Messages.key(), list));
    let is_list = |tools: &Node<'run>| node_list(*tools).is_some();
    let tools = value_of(asked, LoggedKey::Tools).filter(is_list);
    let tools = tools.map(|tools| field_entry(ChatExchangeKey::Tools.key(), tools));
    let request: Vec<_> = messages.into_iter().chain(tools).collect();
    let words = || {
        let role = Node::computed(averment_base::value::Value::plain_text(averment_runs::normal::role::ASSISTANT));
        let content = value_of(log, LoggedKey::Output)?;
        Some(builder.object_node(&[
            field_entry(ChatMessageKey::Role.key(), role),
            field_entry(ChatMessageKey::Content.key(), content),
        ]))
    };
    let answer = value_of(log, LoggedKey::Answer).or_else(words);
    let answer = answer.map(|answer| field_entry(openai_chat::MESSAGE, answer));
    let choice: Vec<_> = answer.into_iter().collect();
    let choices = builder.list_node(&[builder.object_node(&choice)]);
    let counts = [(ChatUsageKey::In, LoggedKey::TokensIn), (ChatUsageKey::Out, LoggedKey::TokensOut)];
    let counts = counts.iter().filter_map(|(name, key)| Some(field_entry(name.key(), value_of(log, *key)?)));
    let usage = builder.object_node(&counts.collect::<Vec<_>>());
    let mut response =
        vec![field_entry(ChatExchangeKey::Choices.key(), choices), field_entry(ChatExchangeKey::Usage.key(), usage)];
    response.extend(value_of(log, LoggedKey::Model).map(|model| field_entry(ChatExchangeKey::Model.key(), model)));
    sent(builder.object_node(&request), builder.object_node(&response))
}
