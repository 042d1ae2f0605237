//! LangSmith: the runs of a trace as its API and its SDKs give them, and payloads in which a run is begun (`post`) and ended (`patch`).

use super::cutting::RunCutting;
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{are_mostly, node_list, node_object, node_text};
use super::run_builder::RunBuilder;
use super::spans::attributes::Fact;
use super::spans::{InstantUnit, RunEntries, SpanAct, TraceSpan, build_run, instant_milliseconds, of_word, ways};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

key_table! {
    LangSmithKey {
        Id = "id" | "run_id",
        Trace = "trace_id",
        Parent = "parent_run_id",
        Order = "dotted_order",
        Name = "name",
        Type = "run_type",
        Start = "start_time",
        End = "end_time",
        Inputs = "inputs",
        Outputs = "outputs",
        Error = "error",
        Status = "status",
        Children = "child_runs",
        TokensIn = "prompt_tokens",
        TokensOut = "completion_tokens",
        TokensAll = "total_tokens",
        Cost = "total_cost",
        Extra = "extra",
        Session = "session_id" | "thread_id",
    }
}

key_table! {
    LangSmithPayloadKey {
        Runs = "runs",
        Begun = "post",
        Ended = "patch",
    }
}

key_table! {
    LangSmithInnerKey {
        Metadata = "metadata",
        Model = "ls_model_name" | "model_name" | "model",
        Usage = "usage_metadata" | "usage" | "token_usage",
        Output = "output",
        LlmOutput = "llm_output",
        Input = "input",
        Parameters = "invocation_params",
        Tools = "tools",
        TokensIn = "input_tokens" | "prompt_tokens",
        TokensOut = "output_tokens" | "completion_tokens",
        TokensAll = "total_tokens",
        Kwargs = "kwargs",
        Generations = "generations",
        Message = "message",
        /// What a program of agents says of a chain.
        Agent = "ls_agent_type",
    }
}

key_table! {
    LangSmithAgent {
        Any = "root" | "subagent",
    }
}

key_table! {
    RunListKey {
        Any = "runs" | "post" | "patch",
    }
}

key_table! {
    LangSmithNearMark {
        Any = "run_type",
    }
}

key_table! {
    LangSmithMark {
        Any = "run_type" | "post" | "patch" | "runs",
    }
}

key_table! {
    HarmlessKey {
        /// When a stream gave which piece: outputs hold the whole.
        Any = "events",
    }
}

ways! {
    TRACE = [["trace_id"]];
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "LangSmith runs",
    description: "LangSmith runs (`run_type`), a list of them, `runs`, or payloads with `post` and `patch`",
    known_by: "`run_type` beside `dotted_order`, `trace_id` or `child_runs`",
    marks: LangSmithMark::Any.keys(),
    near: LangSmithNearMark::Any.keys(),
    object: |object| is_run(object) || holds_runs(object),
    item_marks: LangSmithMark::Any.keys(),
    element: |object| is_run(object) || holds_runs(object),
    read: read_run,
    runs: &[
        RunCutting { within: &[], way: &[RunListKey::Any.keys()], by: TRACE, keeps: &[], joins: None },
        RunCutting { within: &[], way: &[], by: TRACE, keeps: &[], joins: None },
    ],
    harmless_keys: HarmlessKey::Any.keys(),
    ..IN_FULL
};

fn is_run(object: Object<'_>) -> bool {
    let kind = value_of(object, LangSmithKey::Type).and_then(node_text);
    kind.is_some()
        && [LangSmithKey::Order, LangSmithKey::Trace, LangSmithKey::Children]
            .into_iter()
            .any(|word| value_of(object, word).is_some())
}

fn run_lists(object: Object<'_>) -> impl Iterator<Item = Node<'_>> {
    object.entries().iter().filter(|entry| LangSmithPayloadKey::from_key(entry.key).is_some()).map(|entry| entry.node)
}

fn holds_runs(object: Object<'_>) -> bool {
    let runs = object.entries().iter().filter(|entry| LangSmithPayloadKey::from_key(entry.key).is_some());
    are_mostly(runs.filter_map(|entry| node_list(entry.node)).flatten(), is_record)
}

/// An end record need not repeat the run type.
fn is_record(object: Object<'_>) -> bool {
    is_run(object) || value_of(object, LangSmithKey::Order).is_some()
}

/// Collects records; other elements become `Err`.
fn collect_records<'run>(node: Node<'run>, found: &mut Vec<Result<Object<'run>, Node<'run>>>, depth: usize) {
    const DEEP: usize = 200;
    match node.value {
        Value::List(items) if depth < DEEP && (depth == 0 || !items.is_empty()) => {
            items.iter().for_each(|item| collect_records(*item, found, depth + 1))
        }
        Value::Object(object) if holds_runs(object) => {
            run_lists(object).for_each(|list| collect_records(list, found, depth + 1))
        }
        Value::Object(object) if is_record(object) => {
            found.push(Ok(object));
            if let Some(children) = value_of(object, LangSmithKey::Children)
                .filter(|runs| depth < DEEP && node_list(*runs).is_some_and(|runs| !runs.is_empty()))
            {
                collect_records(children, found, depth + 1);
            }
        }
        _ => found.push(Err(node)),
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let mut records = Vec::new();
    collect_records(root, &mut records, 0);
    // A run may be told of several times: begun, and ended.
    let (mut order, mut by_id): (Vec<Vec<Object<'run>>>, FxHashMap<&str, usize>) = (Vec::new(), FxHashMap::default());
    for record in records {
        builder.count_record();
        let record = match record {
            Ok(record) => record,
            Err(node) => {
                builder.skip_value(node, "what is no run of LangSmith is skipped");
                continue;
            }
        };
        let id = value_of(record, LangSmithKey::Id).and_then(node_text);
        match id.and_then(|id| by_id.get(id)).and_then(|place| order.get_mut(*place)) {
            Some(known) => known.push(record),
            None => {
                by_id.extend(id.map(|id| (id, order.len())));
                order.push(vec![record]);
            }
        }
    }
    let first = order.first().and_then(|records| records.first());
    let id = first.and_then(|record| value_of(*record, LangSmithKey::Trace).or(value_of(*record, LangSmithKey::Id)));
    let spans = order.iter().map(|records| read_span(records, builder)).collect();
    build_run(spans, RunEntries { id: id.filter(|id| node_text(*id).is_some()), ..RunEntries::default() }, builder);
    Ok(())
}

/// The last informative value.
fn last_value<'run>(records: &[Object<'run>], wanted: LangSmithKey) -> Option<Node<'run>> {
    let says = |node: &Node<'run>| node_object(*node).is_none_or(|object| !object.entries().is_empty());
    records.iter().rev().find_map(|record| value_of(*record, wanted).filter(says))
}

fn read_span<'run>(records: &[Object<'run>], builder: &mut RunBuilder<'run, '_>) -> TraceSpan<'run> {
    let name = last_value(records, LangSmithKey::Name);
    let origin = name.map_or(averment_base::value::TextOrigin::COMPUTED, |name| name.origin);
    let mut span = TraceSpan::new(origin);
    span.id = last_value(records, LangSmithKey::Id).and_then(node_text);
    span.parent = last_value(records, LangSmithKey::Parent).and_then(node_text);
    span.name = name;
    let at =
        |word| last_value(records, word).and_then(|node| instant_milliseconds(node, InstantUnit::NanosecondsByLength));
    (span.start, span.end) = (at(LangSmithKey::Start), at(LangSmithKey::End));
    let kind = last_value(records, LangSmithKey::Type).and_then(node_text);
    if kind.is_none_or(str::is_empty) {
        builder.note_unknown(span.origin, "a run without `run_type`: it may be a call");
    }
    span.act = span.act_of_word(kind, builder);
    span.error =
        last_value(records, LangSmithKey::Error).filter(|error| node_text(*error).is_none_or(|text| !text.is_empty()));
    span.failed = match last_value(records, LangSmithKey::Status).and_then(node_text).and_then(of_word) {
        None if span.error.is_some() => Some(true),
        told => told,
    };
    let (inputs, outputs) = (last_value(records, LangSmithKey::Inputs), last_value(records, LangSmithKey::Outputs));
    let metadata = |record: &Object<'run>| {
        value_of(node_object(value_of(*record, LangSmithKey::Extra)?)?, LangSmithInnerKey::Metadata)
            .and_then(node_object)
    };
    let metadata = records.iter().rev().find_map(metadata);
    span.attributes = metadata.map(|metadata| Node::computed(Value::Object(metadata)));
    let agent = metadata.and_then(|metadata| value_of(metadata, LangSmithInnerKey::Agent)).and_then(node_text);
    if span.act == SpanAct::Part && agent.and_then(LangSmithAgent::from_key).is_some() {
        span.act = SpanAct::Agent;
    }
    let parameters = |record: &Object<'run>| {
        value_of(node_object(value_of(*record, LangSmithKey::Extra)?)?, LangSmithInnerKey::Parameters)
            .and_then(node_object)
    };
    let parameters = records.iter().find_map(parameters);
    let model = metadata.into_iter().chain(parameters).find_map(|object| value_of(object, LangSmithInnerKey::Model));
    let facts = [
        (Fact::Model, model),
        (Fact::Tools, parameters.and_then(|parameters| value_of(parameters, LangSmithInnerKey::Tools))),
        (Fact::Conversation, metadata.and_then(|metadata| value_of(metadata, LangSmithKey::Session))),
        (Fact::TokensIn, last_value(records, LangSmithKey::TokensIn)),
        (Fact::TokensOut, last_value(records, LangSmithKey::TokensOut)),
        (Fact::TokensAll, last_value(records, LangSmithKey::TokensAll)),
        (Fact::Cost, last_value(records, LangSmithKey::Cost)),
    ];
    facts.into_iter().for_each(|(fact, node)| span.take_fact(fact, node));
    match span.act {
        SpanAct::Tool => {
            span.take_fact(Fact::Args, inputs.map(|inputs| only_value(inputs, LangSmithInnerKey::Input)));
            span.take_fact(Fact::Result, outputs.map(|outputs| only_value(outputs, LangSmithInnerKey::Output)));
        }
        SpanAct::Inference => {
            span.take_fact(Fact::MessagesIn, inputs);
            span.take_fact(Fact::MessagesOut, outputs);
            read_usage(outputs, &mut span);
        }
        _ => {
            span.take_fact(Fact::Input, inputs);
            span.take_fact(Fact::Output, outputs.map(|outputs| only_value(outputs, LangSmithInnerKey::Output)));
        }
    }
    span.conclude_span(builder);
    span
}

/// The value of the only key, else the whole.
fn only_value(node: Node<'_>, wanted: LangSmithInnerKey) -> Node<'_> {
    match node_object(node) {
        Some(object) if object.entries().len() == 1 => value_of(object, wanted).unwrap_or(node),
        _ => node,
    }
}

/// Token counts beside the output, if the run has none.
fn read_usage<'run>(outputs: Option<Node<'run>>, span: &mut TraceSpan<'run>) {
    let Some(outputs) = outputs.and_then(node_object) else { return };
    let generated = || {
        let first = value_of(outputs, LangSmithInnerKey::Generations).and_then(node_list)?.first()?;
        let first = node_list(*first).and_then(|inner| inner.first()).unwrap_or(first);
        let message = node_object(value_of(node_object(*first)?, LangSmithInnerKey::Message)?)?;
        value_of(
            value_of(message, LangSmithInnerKey::Kwargs).and_then(node_object).unwrap_or(message),
            LangSmithInnerKey::Usage,
        )
    };
    let provider =
        || value_of(node_object(value_of(outputs, LangSmithInnerKey::LlmOutput)?)?, LangSmithInnerKey::Usage);
    let Some(usage) =
        value_of(outputs, LangSmithInnerKey::Usage).or_else(generated).or_else(provider).and_then(node_object)
    else {
        return;
    };
    for (fact, word) in [
        (Fact::TokensIn, LangSmithInnerKey::TokensIn),
        (Fact::TokensOut, LangSmithInnerKey::TokensOut),
        (Fact::TokensAll, LangSmithInnerKey::TokensAll),
    ] {
        if span.facts.fact_node(fact).is_none() {
            span.take_fact(fact, value_of(usage, word));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_needs_more_than_its_type() {
        let arena = bumpalo::Bump::new();
        let limits = averment_base::limits::Limits::default();
        let is = |text: &'static str| {
            let node = averment_base::value::json::parse(text, 0, &arena, &limits).expect("JSON").node;
            super::super::registry::detect_format(&node).is_some_and(|format| format.name == FORMAT.name)
        };
        assert!(is(r#"{"run_type": "tool", "trace_id": "t"}"#));
        assert!(is(
            r#"{"post": [{"run_type": "tool", "trace_id": "t"}], "patch": [{"id": "a", "dotted_order": "b"}]}"#
        ));
        assert!(!is(r#"{"run_type": "tool"}"#) && !is(r#"{"post": []}"#) && !is(r#"{"runs": [{"id": 1}]}"#));
    }
}
