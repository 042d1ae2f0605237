//! Traces of DeepEval: spans in a list for each kind.

use super::cutting::Cutting;
use super::draft::Draft;
use super::fields::{key_table, value_of};
use super::format::{Format, IN_FULL};
use super::nodes::{are_mostly, list, object, objects};
use super::spans::attributes::Fact;
use super::spans::{Act, ActWord, Span, Unit, Whole, instant, of_word, tell, text_of_node};
use crate::error::Placed;
use averment_base::value::{Node, Object, Value};

key_table! {
    /// A trace, and a span.
    Of {
        Id = "uuid",
        Parent = "parentUuid",
        Name = "name",
        Type = "type",
        Start = "startTime",
        End = "endTime",
        Input = "input",
        Output = "output",
        Error = "error",
        Status = "status",
        Model = "model",
        TokensIn = "inputTokenCount",
        TokensOut = "outputTokenCount",
        Thread = "threadId",
        Metadata = "metadata",
        Content = "content",
        CallId = "tool_call_id",
        PriceIn = "costPerInputToken",
        PriceOut = "costPerOutputToken",
        /// The cases of a test run, each with its trace.
        Cases = "testCases",
        Trace = "trace",
    }
}

key_table! {
    /// The lists of spans.
    OfTrace {
        Part = "baseSpans" | "retrieverSpans",
        Agent = "agentSpans",
        Inference = "llmSpans",
        Tool = "toolSpans",
    }
}

key_table! {
    /// Keys of which a trace has one.
    Mark {
        Any = "agentSpans" | "llmSpans" | "toolSpans" | "baseSpans" | "testCases",
    }
}

/// A trace of DeepEval.
pub(super) const FORMAT: Format = Format {
    name: "DeepEval trace",
    description: "DeepEval traces (`agentSpans`, `llmSpans`, `toolSpans`), and test runs with one for each of their `testCases`",
    known_by: "lists of spans with `uuid` under `agentSpans`, `llmSpans`, `toolSpans` or `baseSpans`",
    marks: Mark::Any.keys(),
    object: |object| is_trace(object) || cases(object).any(|(_, case)| trace_of(case).is_some()),
    read,
    runs: &[Cutting { within: &[], way: &[Of::Cases.keys()], by: &[], keeps: &[] }],
    ..IN_FULL
};

fn is_trace(trace: Object<'_>) -> bool {
    let lists = trace.entries().iter().filter(|entry| OfTrace::from_key(entry.key).is_some());
    are_mostly(lists.filter_map(|entry| list(entry.node)).flatten(), |span| value_of(span, Of::Id).is_some())
}

/// The cases of a test run.
fn cases(run: Object<'_>) -> impl Iterator<Item = (Node<'_>, Object<'_>)> {
    objects(value_of(run, Of::Cases).and_then(list).unwrap_or_default())
}

/// The trace of a case.
fn trace_of(case: Object<'_>) -> Option<Object<'_>> {
    value_of(case, Of::Trace).and_then(object).filter(|trace| is_trace(*trace))
}

fn lists(trace: Object<'_>) -> impl Iterator<Item = (OfTrace, Node<'_>)> {
    trace.entries().iter().filter_map(|entry| Some((OfTrace::from_key(entry.key)?, entry.node)))
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let Value::Object(root) = root.value else { return Ok(()) };
    let trace = cases(root).find_map(|(_, case)| trace_of(case)).unwrap_or(root);
    let mut spans = Vec::new();
    for (kind, items) in lists(trace) {
        for (node, object) in draft.objects(list(items).unwrap_or_default()) {
            draft.record();
            match value_of(object, Of::Id) {
                Some(_) => spans.push(span(node, object, kind, draft)),
                None => draft.not_understood(node.origin, "a span without `uuid` is passed over"),
            }
        }
    }
    let at = |word| value_of(trace, word).and_then(|node| instant(node, Unit::NanosecondsByLength));
    let duration = at(Of::Start).zip(at(Of::End)).map(|(start, end)| end - start);
    let whole = Whole {
        id: value_of(trace, Of::Id).filter(|id| text_of_node(*id).is_some()),
        input: value_of(trace, Of::Input),
        output: value_of(trace, Of::Output),
        error: value_of(trace, Of::Error),
        failed: value_of(trace, Of::Status).filter(|word| text_of_node(*word).and_then(of_word) == Some(true)),
        duration,
        session: value_of(trace, Of::Thread),
        ..Whole::default()
    };
    tell(spans, whole, draft);
    Ok(())
}

fn span<'run>(node: Node<'run>, record: Object<'run>, kind: OfTrace, draft: &mut Draft<'run, '_>) -> Span<'run> {
    let mut span = Span::new(node.origin);
    span.id = value_of(record, Of::Id).and_then(text_of_node);
    span.parent = value_of(record, Of::Parent).and_then(text_of_node);
    span.name = value_of(record, Of::Name);
    let at = |word| value_of(record, word).and_then(|node| instant(node, Unit::NanosecondsByLength));
    (span.start, span.end) = (at(Of::Start), at(Of::End));
    span.failed = value_of(record, Of::Status).and_then(text_of_node).and_then(of_word);
    span.error = value_of(record, Of::Error);
    span.attributes = value_of(record, Of::Metadata);
    span.act = match kind {
        OfTrace::Agent => Act::Agent,
        OfTrace::Inference => Act::Inference,
        OfTrace::Tool => Act::Tool,
        OfTrace::Part => value_of(record, Of::Type).and_then(text_of_node).and_then(ActWord::act).unwrap_or(Act::Part),
    };
    let (input, output) = (value_of(record, Of::Input), value_of(record, Of::Output));
    let (given, gave) = match span.act {
        Act::Tool => (Fact::Args, Fact::Result),
        Act::Inference => (Fact::MessagesIn, Fact::MessagesOut),
        _ => (Fact::Input, Fact::Output),
    };
    span.tell(given, input);
    // A tool may give a message.
    let message =
        output.and_then(object).filter(|message| span.act == Act::Tool && value_of(*message, Of::CallId).is_some());
    match message {
        Some(message) => {
            span.tell(Fact::CallId, value_of(message, Of::CallId));
            span.tell(Fact::Result, value_of(message, Of::Content));
        }
        None => span.tell(gave, output),
    }
    for (fact, word) in [(Fact::Model, Of::Model), (Fact::TokensIn, Of::TokensIn), (Fact::TokensOut, Of::TokensOut)] {
        span.tell(fact, value_of(record, word));
    }
    let price = |tokens, price| span.facts.number(tokens)?.multiply(number(value_of(record, price)?)?);
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
