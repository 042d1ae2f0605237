//! Results of promptfoo: `results.json` and its lines in JSONL. Each result is a run; its trace, which stands at the end of the file, is joined to it by its id.
//!
//! What promptfoo said of a result stays in `meta`: whether it passed, its scores, and what each assertion gave.

use super::cutting::{JoinedRecords, RunCutting};
use super::fields::ShapeReader as _;
use super::fields::{FieldRecord as _, NodeShapes, ValueShape, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, list_of, node_list, node_object, node_text, object_items, object_of};
use super::otel::{SpanForm, SpanTrace, SpanValues};
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};

key_table! {
    ResultKey {
        /// The list of results, and the object around it.
        Results = "results",
        Traces = "traces",
        /// A result beside its trace.
        Result = "result",
        Id = "id",
        TestCase = "testCase",
        TestIndex = "testIdx",
        PromptIndex = "promptIdx",
        Prompt = "prompt",
        Provider = "provider",
        Vars = "vars",
        Response = "response",
        Error = "error",
        Reason = "failureReason",
        Success = "success",
        Score = "score",
        Latency = "latencyMs",
        Grading = "gradingResult",
        NamedScores = "namedScores",
        Tokens = "tokenUsage",
        TraceId = "traceId",
    }
}

key_table! {
    ResponseKey {
        Output = "output",
        Cost = "cost",
        Metadata = "metadata",
        Tokens = "tokenUsage",
        Finish = "finishReason",
        Guardrails = "guardrails",
        LogProbabilities = "logProbs",
        Cached = "cached",
        Raw = "raw",
        Label = "label",
        Id = "id",
        Description = "description",
        SkillCalls = "skillCalls",
        Spans = "spans",
        SpanId = "spanId",
        Start = "startTime",
        End = "endTime",
    }
}

key_table! {
    ResultTokens {
        Input = "prompt",
        Output = "completion",
        Total = "total",
    }
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "promptfoo result",
    known_by: "`testCase` beside `gradingResult`, `promptIdx` or `success`",
    description: "results of promptfoo (`results.json`, and JSONL), a run each result",
    marks: &[ResultKey::TestCase.key(), ResultKey::Traces.key()],
    near: &[ResultKey::TestCase.key()],
    // The test says what is expected, and the grading repeats it: a call there was not made.
    harmless_keys: &[ResultKey::TestCase.key(), ResultKey::Grading.key()],
    object: |object| row_of(object).is_some(),
    read: read_run,
    runs: &[RunCutting {
        within: ResultKey::Results.keys(),
        way: &[ResultKey::Results.keys()],
        by: &[],
        keeps: &[],
        joins: Some(JoinedRecords {
            list: ResultKey::Traces.key(),
            by: ResultKey::TraceId.key(),
            before: "{\"traces\":[",
            between: "],\"result\":",
        }),
    }],
    ..IN_FULL
};

fn is_row(row: Object<'_>) -> bool {
    object_of(row, ResultKey::TestCase).is_some()
        && [ResultKey::Grading, ResultKey::PromptIndex, ResultKey::Success]
            .into_iter()
            .any(|key| row.field(key).is_some())
}

/// The result: the object itself, or what stands beside its trace.
fn row_of(object: Object<'_>) -> Option<Object<'_>> {
    let beside = || object_of(object, ResultKey::Result).filter(|row| is_row(*row));
    if is_row(object) { Some(object) } else { beside() }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(object) = node_object(root) else { return Ok(()) };
    let Some(row) = row_of(object) else { return Ok(()) };
    builder.count_record();
    let spans = spans_in_order(object);
    read_spans(root, spans.as_deref().unwrap_or_default(), builder);
    let response = object_of(row, ResultKey::Response);
    builder.set_some(of_run::ID, row.field(ResultKey::Id).filter(|id| NodeShapes.is_text(*id)));
    builder.set_some(
        of_run::PROMPT,
        object_of(row, ResultKey::Prompt).and_then(|prompt| value_of(prompt, ResponseKey::Raw)),
    );
    builder.set_some(of_run::INPUTS, row.field(ResultKey::Vars));
    builder.set_some(of_run::OUTPUT, response.and_then(|response| value_of(response, ResponseKey::Output)));
    builder.set_some(of_run::COST, response.and_then(|response| value_of(response, ResponseKey::Cost)));
    builder.set_some(of_run::DURATION, first_of(row, &[ResultKey::Latency]));
    builder.set_some(of_run::USAGE, usage_of(row, response, builder));
    // Where an assertion failed, its reason stands there.
    let failed = row.field(ResultKey::Grading).is_none_or(|grading| matches!(grading.value, Value::Null));
    builder.set_some(of_run::ERROR, first_of(row, &[ResultKey::Error]).filter(|_| failed));
    let meta = meta_of(row, response, spans.as_deref(), builder);
    builder.set_entry(of_run::META, meta);
    Ok(())
}

/// The spans of a result's traces in the order in which promptfoo takes them: by their start, then by their end. `None` without a trace.
fn spans_in_order<'run>(object: Object<'run>) -> Option<Vec<Node<'run>>> {
    let traces = list_of(object, ResultKey::Traces).unwrap_or_default();
    let lists: Vec<_> =
        object_items(traces).filter_map(|(_, trace)| value_of(trace, ResponseKey::Spans).and_then(node_list)).collect();
    let mut spans: Vec<Node<'run>> = lists.iter().flat_map(|list| list.iter().copied()).collect();
    let time = |span: &Node<'run>, key| match value_of(node_object(*span)?, key)?.value {
        Value::Number(number) => Some(number.to_f64()),
        _ => None,
    };
    spans.sort_by(|one, other| {
        let times = |span| {
            let start = time(span, ResponseKey::Start).unwrap_or(0.0);
            (start, time(span, ResponseKey::End).unwrap_or(start))
        };
        let (one, other) = (times(one), times(other));
        one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    (!lists.is_empty()).then_some(spans)
}

fn read_spans<'run>(root: Node<'run>, spans: &[Node<'run>], builder: &mut RunBuilder<'run, '_>) {
    let mut trace = SpanTrace::default();
    for node in spans {
        match node_object(*node).filter(|span| value_of(*span, ResponseKey::SpanId).is_some()) {
            Some(span) => trace.add_span(&SpanValues::of_span(span), SpanForm::Promptfoo, span, builder),
            None => builder.skip_value(*node, "what is no span is skipped"),
        }
    }
    if !trace.is_empty() {
        trace.build_run(root.origin, builder);
    }
}

fn usage_of<'run>(
    row: Object<'run>,
    response: Option<Object<'run>>,
    builder: &RunBuilder<'run, '_>,
) -> Option<Node<'run>> {
    let usage = response
        .and_then(|response| value_of(response, ResponseKey::Tokens))
        .or_else(|| row.field(ResultKey::Tokens))
        .and_then(node_object)?;
    let counts = [
        (of_usage::INPUT, ResultTokens::Input),
        (of_usage::OUTPUT, ResultTokens::Output),
        (of_usage::TOTAL, ResultTokens::Total),
    ];
    let counts: Vec<ObjectEntry<'run>> =
        counts.into_iter().filter_map(|(name, key)| Some(field_entry(name, value_of(usage, key)?))).collect();
    (!counts.is_empty()).then(|| builder.object_node(&counts))
}

/// What promptfoo says of the result.
fn meta_of<'run>(
    row: Object<'run>,
    response: Option<Object<'run>>,
    spans: Option<&[Node<'run>]>,
    builder: &RunBuilder<'run, '_>,
) -> Node<'run> {
    let mut meta = Vec::new();
    let mut put = |key, node: Option<Node<'run>>| {
        meta.extend(
            node.filter(|node| !NodeShapes.has_shape(*node, ValueShape::Null)).map(|node| field_entry(key, node)),
        );
    };
    put(of_meta::CASE, row.field(ResultKey::TestIndex).and_then(|index| case_name(index, builder)));
    let provider = object_of(row, ResultKey::Provider);
    put(of_meta::MODEL, provider.and_then(|provider| value_of(provider, ResponseKey::Id)));
    put(
        ResponseKey::Label.key(),
        object_of(row, ResultKey::Prompt).and_then(|prompt| value_of(prompt, ResponseKey::Label)),
    );
    put("test", row.field(ResultKey::TestIndex));
    put("column", row.field(ResultKey::PromptIndex));
    let test = object_of(row, ResultKey::TestCase);
    put(ResponseKey::Description.key(), test.and_then(|test| value_of(test, ResponseKey::Description)));
    for key in [ResultKey::Success, ResultKey::Score, ResultKey::Grading, ResultKey::NamedScores, ResultKey::Reason] {
        put(key.key(), row.field(key));
    }
    let metadata = response.and_then(|response| value_of(response, ResponseKey::Metadata));
    put(ResponseKey::Metadata.key(), metadata);
    put(
        ResponseKey::SkillCalls.key(),
        metadata.and_then(node_object).and_then(|inner| value_of(inner, ResponseKey::SkillCalls)),
    );
    for key in [ResponseKey::Finish, ResponseKey::Guardrails, ResponseKey::LogProbabilities, ResponseKey::Cached] {
        put(key.key(), response.and_then(|response| value_of(response, key)));
    }
    put(ResponseKey::Spans.key(), spans.map(|spans| builder.list_node(spans)));
    builder.object_node(&meta)
}

/// `test-3`, the case of all results of one test.
fn case_name<'run>(index: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let name = match index.value {
        Value::Number(number) => format!("test-{}", number.as_i64()?),
        _ => format!("test-{}", node_text(index)?),
    };
    Some(Node::new(Value::plain_text(builder.arena.alloc_str(&name)), index.origin))
}
