//! Traces of DeepEval: spans in a list for each kind.

use super::block_session;
use super::blocks::{BlockCall, BlockResult};
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::cutting::RunCutting;
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{are_mostly, node_list, node_object, node_text, object_items, object_of};
use super::run_builder::RunBuilder;
use super::spans::attributes::Fact;
use super::spans::{
    ActWord, InstantUnit, RunEntries, SpanAct, TraceSpan, build_run, instant_milliseconds, of_word, tool_name,
};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::of_run;
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::{FxHashMap, FxHashSet};

key_table! {
    DeepEvalKey {
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
        Cases = "testCases",
        Trace = "trace",
        /// The calls that a span, or the whole trace, counts as its own.
        Called = "toolsCalled" | "tools_called",
    }
}

key_table! {
    /// The steps of LlamaIndex's workflow that call a tool: what they are given, and what they give back.
    LlamaStepKey {
        Event = "ev",
        Tool = "tool_name",
        Id = "tool_id",
        Output = "tool_output",
    }
}

key_table! {
    LlamaSpanName {
        /// Of a call of LlamaIndex that failed: the name of its tool is only told with what it gave.
        Unnamed = "Tool",
    }
}

key_table! {
    /// A case that was tested without a trace.
    DeepEvalCaseKey {
        Input = "input",
        Output = "actualOutput" | "actual_output",
        Args = "inputParameters" | "input_parameters",
        Gave = "output",
    }
}

key_table! {
    DeepEvalTraceKey {
        Part = "baseSpans" | "retrieverSpans",
        Agent = "agentSpans",
        Inference = "llmSpans",
        Tool = "toolSpans",
    }
}

key_table! {
    DeepEvalMark {
        Any = "agentSpans" | "llmSpans" | "toolSpans" | "baseSpans" | "testCases" | "actualOutput" | "actual_output",
    }
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "DeepEval trace",
    description: "DeepEval traces (`agentSpans`, `llmSpans`, `toolSpans`), and test runs with one for each of their `testCases`",
    known_by: "lists of spans with `uuid` under `agentSpans`, `llmSpans`, `toolSpans` or `baseSpans`",
    marks: DeepEvalMark::Any.keys(),
    object: |object| {
        is_trace(object)
            || run_cases(object).any(|(_, case)| trace_of(case).is_some() || is_case(case))
            || is_case(object)
    },
    read: read_run,
    runs: &[RunCutting { within: &[], way: &[DeepEvalKey::Cases.keys()], by: &[], keeps: &[], joins: None }],
    ..IN_FULL
};

fn is_trace(trace: Object<'_>) -> bool {
    let lists = trace.entries().iter().filter(|entry| DeepEvalTraceKey::from_key(entry.key).is_some());
    are_mostly(lists.filter_map(|entry| node_list(entry.node)).flatten(), |span| {
        value_of(span, DeepEvalKey::Id).is_some()
    })
}

fn run_cases(run: Object<'_>) -> impl Iterator<Item = (Node<'_>, Object<'_>)> {
    object_items(value_of(run, DeepEvalKey::Cases).and_then(node_list).unwrap_or_default())
}

fn trace_of(case: Object<'_>) -> Option<Object<'_>> {
    value_of(case, DeepEvalKey::Trace).and_then(node_object).filter(|trace| is_trace(*trace))
}

/// A case without a trace, which tells its calls itself.
fn is_case(case: Object<'_>) -> bool {
    value_of(case, DeepEvalCaseKey::Output).is_some()
        && case.field(DeepEvalKey::Called).is_some()
        && trace_of(case).is_none()
}

fn read_case<'run>(case: Object<'run>, builder: &mut RunBuilder<'run, '_>) {
    let mut conversation = ConversationBuilder::new(builder);
    let meta = StepMeta::default();
    if let Some(asked) = value_of(case, DeepEvalCaseKey::Input) {
        conversation.add_content(Speaker::User, asked, &meta, asked.origin);
    }
    let called = value_of(case, DeepEvalKey::Called).and_then(node_list);
    for (node, call) in conversation.builder.record_objects(called.unwrap_or_default()) {
        conversation.builder.count_record();
        let answer = value_of(call, DeepEvalCaseKey::Gave).map(|gave| BlockResult {
            result: Some(gave),
            is_value: true,
            status: Some(StepStatus::Unknown),
            ..BlockResult::default()
        });
        let (tool, args) = (value_of(call, DeepEvalKey::Name), value_of(call, DeepEvalCaseKey::Args));
        block_session::add_call(&mut conversation, node, BlockCall { tool, args, id: None, answer }, &meta);
    }
    if let Some(answer) = value_of(case, DeepEvalCaseKey::Output) {
        conversation.add_content(Speaker::Assistant, answer, &meta, answer.origin);
        conversation.builder.set_entry(of_run::OUTPUT, answer);
    }
    let builder = conversation.finish_without_turns();
    if called.is_none() {
        builder.mark_unrecorded(StepKind::Call);
    }
}

fn span_lists(trace: Object<'_>) -> impl Iterator<Item = (DeepEvalTraceKey, Node<'_>)> {
    trace.entries().iter().filter_map(|entry| Some((DeepEvalTraceKey::from_key(entry.key)?, entry.node)))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let Value::Object(root) = root.value else { return Ok(()) };
    let case = run_cases(root).find(|(_, case)| is_case(*case)).map_or(root, |(_, case)| case);
    if is_case(case) {
        read_case(case, builder);
        return Ok(());
    }
    let trace = run_cases(root).find_map(|(_, case)| trace_of(case)).unwrap_or(root);
    let mut spans = Vec::new();
    for (kind, items) in span_lists(trace) {
        for (node, object) in builder.record_objects(node_list(items).unwrap_or_default()) {
            builder.count_record();
            match value_of(object, DeepEvalKey::Id) {
                Some(_) => spans.push(read_span(node, object, kind, builder)),
                None => builder.skip_value(node, "a span without `uuid` is skipped"),
            }
        }
    }
    name_failed_calls(&mut spans);
    note_others(trace, &spans, builder);
    let at = |word| value_of(trace, word).and_then(|node| instant_milliseconds(node, InstantUnit::NanosecondsByLength));
    let duration = at(DeepEvalKey::Start).zip(at(DeepEvalKey::End)).map(|(start, end)| end - start);
    let whole = RunEntries {
        id: value_of(trace, DeepEvalKey::Id).filter(|id| node_text(*id).is_some()),
        input: value_of(trace, DeepEvalKey::Input),
        output: value_of(trace, DeepEvalKey::Output),
        error: value_of(trace, DeepEvalKey::Error),
        failed: value_of(trace, DeepEvalKey::Status).filter(|word| node_text(*word).and_then(of_word) == Some(true)),
        duration,
        session: value_of(trace, DeepEvalKey::Thread),
        ..RunEntries::default()
    };
    build_run(spans, whole, builder);
    Ok(())
}

/// A call of LlamaIndex inside of the step that makes it is one of the same tool.
fn name_failed_calls(spans: &mut [TraceSpan<'_>]) {
    let is_unnamed = |span: &TraceSpan<'_>| {
        let name = span.name.and_then(node_text).and_then(LlamaSpanName::from_key);
        span.act == SpanAct::Tool && name.is_some()
    };
    let named = spans.iter().filter(|span| span.act == SpanAct::Tool && !is_unnamed(span));
    let names: FxHashMap<&str, Node<'_>> = named.filter_map(|span| Some((span.id?, span.name?))).collect();
    for span in spans.iter_mut().filter(|span| is_unnamed(span)) {
        span.name = span.parent.and_then(|parent| names.get(parent).copied()).or(span.name);
    }
}

/// Lists of spans that nobody knows, and calls that a span says were made and that have no span of a tool.
fn note_others<'run>(trace: Object<'run>, spans: &[TraceSpan<'run>], builder: &RunBuilder<'run, '_>) {
    let is_span = |object: Object<'_>| value_of(object, DeepEvalKey::Id).is_some();
    let is_unknown = |entry: &&ObjectEntry<'run>| DeepEvalTraceKey::from_key(entry.key).is_none();
    for entry in trace.entries().iter().filter(is_unknown) {
        let items = node_list(entry.node).unwrap_or_default();
        let unknown = object_items(items).filter(|(_, one)| is_span(*one));
        unknown.for_each(|(node, _)| builder.note_unknown(node.origin, "a span in an unknown list is skipped"));
    }
    let tools: FxHashSet<&str> = spans
        .iter()
        .filter(|span| span.act == SpanAct::Tool)
        .filter_map(|span| tool_name(span).and_then(node_text))
        .collect();
    let records = span_lists(trace).flat_map(|(_, list)| object_items(node_list(list).unwrap_or_default()));
    for record in records.map(|(_, record)| record).chain([trace]) {
        let called = value_of(record, DeepEvalKey::Called).and_then(node_list).unwrap_or_default();
        for (node, called) in object_items(called) {
            let name = value_of(called, DeepEvalKey::Name).and_then(node_text);
            if name.is_none_or(|name| !tools.contains(name)) {
                builder.note_unknown(node.origin, "a call that a span counts has no span of a tool");
            }
        }
    }
}

fn read_span<'run>(
    node: Node<'run>,
    record: Object<'run>,
    kind: DeepEvalTraceKey,
    builder: &mut RunBuilder<'run, '_>,
) -> TraceSpan<'run> {
    let mut span = TraceSpan::new(node.origin);
    span.id = value_of(record, DeepEvalKey::Id).and_then(node_text);
    span.parent = value_of(record, DeepEvalKey::Parent).and_then(node_text);
    span.name = value_of(record, DeepEvalKey::Name);
    let at =
        |word| value_of(record, word).and_then(|node| instant_milliseconds(node, InstantUnit::NanosecondsByLength));
    (span.start, span.end) = (at(DeepEvalKey::Start), at(DeepEvalKey::End));
    span.failed = value_of(record, DeepEvalKey::Status).and_then(node_text).and_then(of_word);
    span.error = value_of(record, DeepEvalKey::Error);
    span.attributes = value_of(record, DeepEvalKey::Metadata);
    span.act = match kind {
        DeepEvalTraceKey::Agent => SpanAct::Agent,
        DeepEvalTraceKey::Inference => SpanAct::Inference,
        DeepEvalTraceKey::Tool => SpanAct::Tool,
        DeepEvalTraceKey::Part => value_of(record, DeepEvalKey::Type)
            .and_then(node_text)
            .and_then(ActWord::parse_act)
            .unwrap_or(SpanAct::Part),
    };
    let (input, output) = (value_of(record, DeepEvalKey::Input), value_of(record, DeepEvalKey::Output));
    let (given, gave) = match span.act {
        SpanAct::Tool => (Fact::Args, Fact::Result),
        SpanAct::Inference => (Fact::MessagesIn, Fact::MessagesOut),
        _ => (Fact::Input, Fact::Output),
    };
    span.take_fact(given, input);
    let event = input.and_then(node_object).and_then(|input| object_of(input, LlamaStepKey::Event));
    if let Some(tool) =
        event.filter(|_| span.act == SpanAct::Tool).and_then(|event| value_of(event, LlamaStepKey::Tool))
    {
        span.name = Some(tool);
    }
    // A tool may give a message, and a step of LlamaIndex says which call it made.
    let told = output.and_then(node_object).filter(|_| span.act == SpanAct::Tool).and_then(|told| {
        let message = value_of(told, DeepEvalKey::CallId).map(|id| (id, value_of(told, DeepEvalKey::Content)));
        message.or_else(|| Some((value_of(told, LlamaStepKey::Id)?, Some(value_of(told, LlamaStepKey::Output)?))))
    });
    match told {
        Some((id, result)) => {
            span.take_fact(Fact::CallId, Some(id));
            span.take_fact(Fact::Result, result);
        }
        None => span.take_fact(gave, output),
    }
    for (fact, word) in [
        (Fact::Model, DeepEvalKey::Model),
        (Fact::TokensIn, DeepEvalKey::TokensIn),
        (Fact::TokensOut, DeepEvalKey::TokensOut),
    ] {
        span.take_fact(fact, value_of(record, word));
    }
    let price = |tokens, price| span.facts.fact_number(tokens)?.multiply(number_value(value_of(record, price)?)?);
    if let Some(cost) = price(Fact::TokensIn, DeepEvalKey::PriceIn)
        .zip(price(Fact::TokensOut, DeepEvalKey::PriceOut))
        .and_then(|(a, b)| a.add(b))
    {
        span.take_fact(Fact::Cost, Some(Node::computed(Value::Number(cost))));
    }
    span.conclude_span(builder);
    span
}

fn number_value(node: Node<'_>) -> Option<averment_base::value::Number<'_>> {
    match node.value {
        Value::Number(number) => Some(number),
        _ => None,
    }
}
