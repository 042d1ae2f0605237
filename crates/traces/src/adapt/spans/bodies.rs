//! Spans of OpenInference as the distribution of AWS exports them: without its attributes, but with an event whose body holds what went in
//! and came out. What came out tells what the span is: the generations of a model, the answer of a tool, or the state of a graph.

use super::attributes::Fact;
use super::exchange::Said;
use super::{Act, Span, said, text_of_node};
use crate::adapt::draft::{Draft, field};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{list, object};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_step, role};

key_table! {
    /// A body, and what stands in it.
    OfBody {
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

/// How the names of such events begin.
const EVENT: &str = "openinference.instrumentation";
/// What an answer of a tool says that it is.
const TOOL: &str = of_step::TOOL;
/// How it says that it went wrong.
const ERROR: &str = of_step::ERROR;

/// What the first message on one side of a body holds.
fn held<'run>(body: Object<'run>, side: OfBody) -> Option<Node<'run>> {
    let messages = value_of(value_of(body, side).and_then(object)?, OfBody::Messages).and_then(list)?;
    value_of(object(*messages.first()?)?, OfBody::Content)
}

/// Takes in the body of an event, where it is one of these.
pub(crate) fn take<'run>(span: &mut Span<'run>, event: &str, body: Node<'run>, draft: &Draft<'run, '_>) {
    let Some(body) = object(body).filter(|_| event.starts_with(EVENT)) else { return };
    let Some(given) = held(body, OfBody::Output) else { return };
    let Some(output) = object(said::read(given, draft)) else { return };
    let text = |object: Object<'run>, word| value_of(object, word).filter(|node| text_of_node(*node).is_some());
    span.act = Act::Part;
    if let Some(first) = value_of(output, OfBody::Generations).and_then(list).and_then(first_of_all) {
        span.act = Act::Inference;
        span.exchange.said.push(generation(first, draft));
        span.exchange.tells = true;
        if let Some(asked) = held(body, OfBody::Input) {
            span.exchange.given =
                vec![Said { role: Some(role::USER), texts: vec![asked], place: Some(asked), ..Said::default() }];
        }
        value_of(output, OfBody::About).and_then(object).into_iter().for_each(|about| usage(about, span));
    } else if let Some(tool) = text(output, OfBody::Name).filter(|_| is(output, OfBody::Type, TOOL)) {
        span.act = Act::Tool;
        span.tell(Fact::Tool, Some(tool));
        span.tell(Fact::CallId, text(output, OfBody::Call));
        span.tell(Fact::Result, value_of(output, OfBody::Content));
        // Arguments in the notation of a language are told by the model, too, and in JSON.
        let args = held(body, OfBody::Input).filter(|args| object(said::read(*args, draft)).is_some());
        span.tell(Fact::Args, args);
        span.failed = if is(output, OfBody::Status, ERROR) { Some(true) } else { span.failed };
    }
}

fn is(object: Object<'_>, word: OfBody, wanted: &str) -> bool {
    value_of(object, word).and_then(text_of_node) == Some(wanted)
}

/// Generations are lists of lists: for each prompt those that were asked for.
fn first_of_all<'run>(lists: &'run [Node<'run>]) -> Option<Object<'run>> {
    let first = lists.first()?;
    object(*list(*first).and_then(<[_]>::first).unwrap_or(first))
}

fn generation<'run>(one: Object<'run>, draft: &Draft<'run, '_>) -> Said<'run> {
    let message = value_of(one, OfBody::Message).and_then(object);
    let words = value_of(one, OfBody::Text).or_else(|| value_of(message?, OfBody::Content));
    let calls = message
        .and_then(|message| value_of(message, OfBody::Calls))
        .filter(|calls| matches!(calls.value, Value::List(_)));
    let mut entries = vec![field(of_step::ROLE, Node::computed(Value::plain(role::ASSISTANT)))];
    entries.extend(words.map(|words| field(OfBody::Content.key(), words)));
    entries.extend(calls.map(|calls| field(OfBody::Calls.key(), calls)));
    said::message(draft.object(&entries), role::ASSISTANT, draft)
}

fn usage<'run>(about: Object<'run>, span: &mut Span<'run>) {
    span.tell(Fact::Model, value_of(about, OfBody::Model));
    let Some(usage) = value_of(about, OfBody::Usage).and_then(object) else { return };
    let counts = [
        (Fact::TokensIn, OfBody::TokensIn),
        (Fact::TokensOut, OfBody::TokensOut),
        (Fact::TokensAll, OfBody::TokensAll),
    ];
    counts.into_iter().for_each(|(fact, word)| span.tell(fact, value_of(usage, word)));
}
