//! Traces of DeepEval: spans in a list for each kind.

use super::draft::Draft;
use super::spans::attributes::Fact;
use super::spans::{Act, ActWord, Span, Unit, Whole, instant, names, of_word, tell, text_of_node};
use super::{Format, IN_FULL, are_mostly, list};
use crate::error::Placed;
use averment_base::value::{Node, Object, Value};

names! {
    /// A trace, and a span.
    Of {
        Id = ["uuid"],
        Parent = ["parentUuid"],
        Name = ["name"],
        Type = ["type"],
        Start = ["startTime"],
        End = ["endTime"],
        Input = ["input"],
        Output = ["output"],
        Error = ["error"],
        Status = ["status"],
        Model = ["model"],
        TokensIn = ["inputTokenCount"],
        TokensOut = ["outputTokenCount"],
        Tools = ["availableTools"],
        Thread = ["threadId"],
        Metadata = ["metadata"],
        Content = ["content"],
        CallId = ["tool_call_id"],
        PriceIn = ["costPerInputToken"],
        PriceOut = ["costPerOutputToken"],
    }
}

names! {
    /// The lists of spans.
    OfTrace {
        Part = ["baseSpans", "retrieverSpans"],
        Agent = ["agentSpans"],
        Inference = ["llmSpans"],
        Tool = ["toolSpans"],
    }
}

names! {
    /// Keys of which a trace has one.
    Mark {
        Any = ["agentSpans", "llmSpans", "toolSpans", "baseSpans"],
    }
}

fn of<'run>(object: Object<'run>, wanted: Of) -> Option<Node<'run>> {
    wanted.find(object)
}

/// A trace of DeepEval.
pub(super) const FORMAT: Format = Format {
    name: "DeepEval trace",
    description: "DeepEval traces (`agentSpans`, `llmSpans`, `toolSpans`)",
    known_by: "lists of spans with `uuid` under `agentSpans`, `llmSpans`, `toolSpans` or `baseSpans`",
    marks: Mark::Any.names(),
    object: is_trace,
    read,
    ..IN_FULL
};

fn is_trace(trace: Object<'_>) -> bool {
    let lists = trace.entries().iter().filter(|entry| OfTrace::of(entry.key).is_some());
    are_mostly(lists.filter_map(|entry| list(entry.node)).flatten(), |span| of(span, Of::Id).is_some())
}

fn lists(trace: Object<'_>) -> impl Iterator<Item = (OfTrace, Node<'_>)> {
    trace.entries().iter().filter_map(|entry| Some((OfTrace::of(entry.key)?.0, entry.node)))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let Value::Object(trace) = root.value else { return Ok(()) };
    let mut spans = Vec::new();
    for (kind, items) in lists(trace) {
        for (node, object) in draft.objects(list(items).unwrap_or_default()) {
            draft.record();
            match of(object, Of::Id) {
                Some(_) => spans.push(span(node, object, kind, draft)),
                None => draft.not_understood(node.origin, "a span without `uuid` is passed over"),
            }
        }
    }
    let at = |word| of(trace, word).and_then(|node| instant(node, Unit::NanosecondsByLength));
    let duration = at(Of::Start).zip(at(Of::End)).map(|(start, end)| end - start);
    let whole = Whole {
        id: of(trace, Of::Id).filter(|id| text_of_node(*id).is_some()),
        input: of(trace, Of::Input),
        output: of(trace, Of::Output),
        error: of(trace, Of::Error),
        duration,
        session: of(trace, Of::Thread),
        ..Whole::default()
    };
    tell(spans, whole, draft);
    Ok(())
}

fn span<'run>(node: Node<'run>, object: Object<'run>, kind: OfTrace, draft: &mut Draft<'run, '_>) -> Span<'run> {
    let mut span = Span::new(node.origin);
    span.id = of(object, Of::Id).and_then(text_of_node);
    span.parent = of(object, Of::Parent).and_then(text_of_node);
    span.name = of(object, Of::Name);
    let at = |word| of(object, word).and_then(|node| instant(node, Unit::NanosecondsByLength));
    (span.start, span.end) = (at(Of::Start), at(Of::End));
    span.failed = of(object, Of::Status).and_then(text_of_node).and_then(of_word);
    span.error = of(object, Of::Error);
    span.attributes = of(object, Of::Metadata);
    span.act = match kind {
        OfTrace::Agent => Act::Agent,
        OfTrace::Inference => Act::Inference,
        OfTrace::Tool => Act::Tool,
        OfTrace::Part => of(object, Of::Type).and_then(text_of_node).and_then(ActWord::act).unwrap_or(Act::Part),
    };
    let (input, output) = (of(object, Of::Input), of(object, Of::Output));
    let (given, gave) = match span.act {
        Act::Tool => (Fact::Args, Fact::Result),
        Act::Inference => (Fact::MessagesIn, Fact::MessagesOut),
        _ => (Fact::Input, Fact::Output),
    };
    span.tell(given, input);
    // A tool may give a message.
    let message =
        output.and_then(super::object).filter(|message| span.act == Act::Tool && of(*message, Of::CallId).is_some());
    match message {
        Some(message) => {
            span.tell(Fact::CallId, of(message, Of::CallId));
            span.tell(Fact::Result, of(message, Of::Content));
        }
        None => span.tell(gave, output),
    }
    for (fact, word) in [(Fact::Model, Of::Model), (Fact::TokensIn, Of::TokensIn), (Fact::TokensOut, Of::TokensOut)] {
        span.tell(fact, of(object, word));
    }
    let price = |tokens, price| span.facts.number(tokens)?.multiply(number(of(object, price)?)?);
    if let Some(cost) =
        price(Fact::TokensIn, Of::PriceIn).zip(price(Fact::TokensOut, Of::PriceOut)).and_then(|(a, b)| a.add(b))
    {
        span.tell(Fact::Cost, Some(Node::computed(Value::Number(cost))));
    }
    span.conclude(draft);
    span
}

fn number(node: Node<'_>) -> Option<averment_base::value::Number<'_>> {
    match node.value {
        Value::Number(number) => Some(number),
        _ => None,
    }
}
