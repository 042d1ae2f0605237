//! Spans of OpenInference as the distribution of AWS exports them: without its attributes, but with an event whose body holds what went in
//! and came out. What came out tells what the span is: the generations of a model, the answer of a tool, or the state of a graph.

use super::attributes::Fact;
use super::exchange::SpanMessage;
use super::{SpanAct, TraceSpan, span_messages};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_list, node_object, node_text};
use crate::adapt::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_step, role};

key_table! {
    BodyKey {
        Input = "input",
        Output = "output",
        Messages = "messages",
        Content = "content",
        Generations = "generations",
        Text = "text",
        Message = "message",
        Calls = "tool_calls",
        Type = "type",
        Name = "name",
        Call = "tool_call_id",
        Status = "status",
        About = "llm_output",
        Model = "model_name" | "model",
        Usage = "token_usage" | "usage",
        TokensIn = "prompt_tokens" | "input_tokens",
        TokensOut = "completion_tokens" | "output_tokens",
        TokensAll = "total_tokens",
    }
}

const EVENT: &str = "openinference.instrumentation";
const TOOL: &str = of_step::TOOL;
const ERROR: &str = of_step::ERROR;

fn messages_of<'run>(body: Object<'run>, side: BodyKey) -> Option<&'run [Node<'run>]> {
    value_of(value_of(body, side).and_then(node_object)?, BodyKey::Messages).and_then(node_list)
}

fn first_message<'run>(body: Object<'run>, side: BodyKey) -> Option<Node<'run>> {
    let messages = messages_of(body, side)?;
    value_of(node_object(*messages.first()?)?, BodyKey::Content)
}

pub(crate) fn take_body<'run>(
    span: &mut TraceSpan<'run>,
    event: &str,
    body: Node<'run>,
    builder: &RunBuilder<'run, '_>,
) {
    let Some(body) = node_object(body).filter(|_| event.starts_with(EVENT)) else { return };
    let Some(given) = first_message(body, BodyKey::Output) else { return };
    let Some(output) = node_object(span_messages::read_node(given, builder)) else { return };
    let text = |object: Object<'run>, word| value_of(object, word).filter(|node| node_text(*node).is_some());
    span.act = SpanAct::Part;
    for other in messages_of(body, BodyKey::Output).unwrap_or_default().iter().skip(1) {
        builder.note_unknown(other.origin, "an output beside the first one of a span is skipped");
    }
    if let Some(first) = value_of(output, BodyKey::Generations).and_then(node_list).and_then(first_of_all) {
        span.act = SpanAct::Inference;
        span.exchange.output.push(read_generation(first, builder));
        span.exchange.records_output = true;
        if let Some(asked) = first_message(body, BodyKey::Input) {
            span.exchange.input = vec![SpanMessage {
                role: Some(role::USER),
                texts: vec![asked],
                place: Some(asked),
                ..SpanMessage::default()
            }];
        }
        value_of(output, BodyKey::About).and_then(node_object).into_iter().for_each(|about| read_usage(about, span));
    } else if let Some(tool) = text(output, BodyKey::Name).filter(|_| is_word(output, BodyKey::Type, TOOL)) {
        span.act = SpanAct::Tool;
        span.take_fact(Fact::Tool, Some(tool));
        span.take_fact(Fact::CallId, text(output, BodyKey::Call));
        span.take_fact(Fact::Result, value_of(output, BodyKey::Content));
        // Arguments in the notation of a language are told by the model, too, and in JSON.
        let args = first_message(body, BodyKey::Input)
            .filter(|args| node_object(span_messages::read_node(*args, builder)).is_some());
        span.take_fact(Fact::Args, args);
        span.failed = if is_word(output, BodyKey::Status, ERROR) { Some(true) } else { span.failed };
    }
}

fn is_word(object: Object<'_>, word: BodyKey, wanted: &str) -> bool {
    value_of(object, word).and_then(node_text) == Some(wanted)
}

/// Generations are nested lists: per prompt, those requested.
fn first_of_all<'run>(lists: &'run [Node<'run>]) -> Option<Object<'run>> {
    let first = lists.first()?;
    node_object(*node_list(*first).and_then(<[_]>::first).unwrap_or(first))
}

fn read_generation<'run>(one: Object<'run>, builder: &RunBuilder<'run, '_>) -> SpanMessage<'run> {
    let message = value_of(one, BodyKey::Message).and_then(node_object);
    let words = value_of(one, BodyKey::Text).or_else(|| value_of(message?, BodyKey::Content));
    let calls = message
        .and_then(|message| value_of(message, BodyKey::Calls))
        .filter(|calls| matches!(calls.value, Value::List(_)));
    let mut entries = vec![field_entry(of_step::ROLE, Node::computed(Value::plain_text(role::ASSISTANT)))];
    entries.extend(words.map(|words| field_entry(BodyKey::Content.key(), words)));
    entries.extend(calls.map(|calls| field_entry(BodyKey::Calls.key(), calls)));
    span_messages::read_message(builder.object_node(&entries), role::ASSISTANT, builder)
}

fn read_usage<'run>(about: Object<'run>, span: &mut TraceSpan<'run>) {
    span.take_fact(Fact::Model, value_of(about, BodyKey::Model));
    let Some(usage) = value_of(about, BodyKey::Usage).and_then(node_object) else { return };
    let counts = [
        (Fact::TokensIn, BodyKey::TokensIn),
        (Fact::TokensOut, BodyKey::TokensOut),
        (Fact::TokensAll, BodyKey::TokensAll),
    ];
    counts.into_iter().for_each(|(fact, word)| span.take_fact(fact, value_of(usage, word)));
}
