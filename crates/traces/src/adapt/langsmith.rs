//! LangSmith: the runs of a trace as its API and its SDKs give them, and payloads in which a run is begun (`post`) and ended (`patch`).

use super::cutting::Cutting;
use super::draft::Draft;
use super::fields::{key_table, value_of};
use super::format::{Format, IN_FULL};
use super::nodes::{are_mostly, list, object};
use super::spans::attributes::Fact;
use super::spans::{ActWord, Span, Unit, Whole, instant, of_word, tell, text_of_node, ways};
use crate::error::Placed;
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

key_table! {
    /// A run of LangSmith, which is a span here.
    OfRun {
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
    /// What holds runs.
    OfPayload {
        Runs = "runs",
        Begun = "post",
        Ended = "patch",
    }
}

key_table! {
    /// What stands inside of runs.
    Inside {
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
    }
}

key_table! {
    /// The keys of lists of runs.
    Lists {
        Any = "runs" | "post" | "patch",
    }
}

key_table! {
    /// Those that nothing else has.
    Near {
        Any = "run_type",
    }
}

key_table! {
    /// Keys of which a run has one.
    Mark {
        Any = "run_type" | "post" | "patch" | "runs",
    }
}

ways! {
    TRACE = [["trace_id"]];
}

/// Runs of LangSmith.
pub(super) const FORMAT: Format = Format {
    name: "LangSmith runs",
    description: "LangSmith runs (`run_type`), a list of them, `runs`, or payloads with `post` and `patch`",
    known_by: "`run_type` beside `dotted_order`, `trace_id` or `child_runs`",
    marks: Mark::Any.keys(),
    near: Near::Any.keys(),
    object: |object| is_run(object) || holds_runs(object),
    item_marks: Mark::Any.keys(),
    element: |object| is_run(object) || holds_runs(object),
    read,
    runs: &[
        Cutting { within: &[], way: &[Lists::Any.keys()], by: TRACE, keeps: &[] },
        Cutting { within: &[], way: &[], by: TRACE, keeps: &[] },
    ],
    ..IN_FULL
};

fn is_run(object: Object<'_>) -> bool {
    let kind = value_of(object, OfRun::Type).and_then(text_of_node);
    kind.is_some()
        && [OfRun::Order, OfRun::Trace, OfRun::Children].into_iter().any(|word| value_of(object, word).is_some())
}

/// The lists of runs that an object holds.
fn lists(object: Object<'_>) -> impl Iterator<Item = Node<'_>> {
    object.entries().iter().filter(|entry| OfPayload::from_key(entry.key).is_some()).map(|entry| entry.node)
}

fn holds_runs(object: Object<'_>) -> bool {
    let runs = object.entries().iter().filter(|entry| OfPayload::from_key(entry.key).is_some());
    are_mostly(runs.filter_map(|entry| list(entry.node)).flatten(), is_record)
}

/// What ends a run need not say again what it is.
fn is_record(object: Object<'_>) -> bool {
    is_run(object) || value_of(object, OfRun::Order).is_some()
}

/// Finds the records, and what stands among them and is none (`Err`).
fn collect<'run>(node: Node<'run>, found: &mut Vec<Result<Object<'run>, Node<'run>>>, depth: usize) {
    const DEEP: usize = 200;
    match node.value {
        Value::List(items) if depth < DEEP && (depth == 0 || !items.is_empty()) => {
            items.iter().for_each(|item| collect(*item, found, depth + 1))
        }
        Value::Object(object) if holds_runs(object) => lists(object).for_each(|list| collect(list, found, depth + 1)),
        Value::Object(object) if is_record(object) => {
            found.push(Ok(object));
            if let Some(children) = value_of(object, OfRun::Children)
                .filter(|runs| depth < DEEP && list(*runs).is_some_and(|runs| !runs.is_empty()))
            {
                collect(children, found, depth + 1);
            }
        }
        _ => found.push(Err(node)),
    }
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let mut records = Vec::new();
    collect(root, &mut records, 0);
    // A run may be told of several times: begun, and ended.
    let (mut order, mut by_id): (Vec<Vec<Object<'run>>>, FxHashMap<&str, usize>) = (Vec::new(), FxHashMap::default());
    for record in records {
        draft.record();
        let record = match record {
            Ok(record) => record,
            Err(node) => {
                draft.not_understood(node.origin, "what is no run of LangSmith is passed over");
                continue;
            }
        };
        let id = value_of(record, OfRun::Id).and_then(text_of_node);
        match id.and_then(|id| by_id.get(id)).and_then(|place| order.get_mut(*place)) {
            Some(known) => known.push(record),
            None => {
                by_id.extend(id.map(|id| (id, order.len())));
                order.push(vec![record]);
            }
        }
    }
    let first = order.first().and_then(|records| records.first());
    let id = first.and_then(|record| value_of(*record, OfRun::Trace).or(value_of(*record, OfRun::Id)));
    let spans = order.iter().map(|records| span(records, draft)).collect();
    tell(spans, Whole { id: id.filter(|id| text_of_node(*id).is_some()), ..Whole::default() }, draft);
    Ok(())
}

/// The last value that says something.
fn last<'run>(records: &[Object<'run>], wanted: OfRun) -> Option<Node<'run>> {
    let says = |node: &Node<'run>| object(*node).is_none_or(|object| !object.entries().is_empty());
    records.iter().rev().find_map(|record| value_of(*record, wanted).filter(says))
}

fn span<'run>(records: &[Object<'run>], draft: &mut Draft<'run, '_>) -> Span<'run> {
    let name = last(records, OfRun::Name);
    let origin = name.map_or(averment_base::value::Origin::COMPUTED, |name| name.origin);
    let mut span = Span::new(origin);
    span.id = last(records, OfRun::Id).and_then(text_of_node);
    span.parent = last(records, OfRun::Parent).and_then(text_of_node);
    span.name = name;
    let at = |word| last(records, word).and_then(|node| instant(node, Unit::NanosecondsByLength));
    (span.start, span.end) = (at(OfRun::Start), at(OfRun::End));
    span.act =
        last(records, OfRun::Type).and_then(text_of_node).and_then(ActWord::act).unwrap_or(super::spans::Act::Part);
    span.error = last(records, OfRun::Error).filter(|error| text_of_node(*error).is_none_or(|text| !text.is_empty()));
    span.failed = match last(records, OfRun::Status).and_then(text_of_node).and_then(of_word) {
        None if span.error.is_some() => Some(true),
        told => told,
    };
    let (inputs, outputs) = (last(records, OfRun::Inputs), last(records, OfRun::Outputs));
    let metadata =
        |record: &Object<'run>| value_of(object(value_of(*record, OfRun::Extra)?)?, Inside::Metadata).and_then(object);
    let metadata = records.iter().rev().find_map(metadata);
    span.attributes = metadata.map(|metadata| Node::computed(Value::Object(metadata)));
    let parameters = |record: &Object<'run>| {
        value_of(object(value_of(*record, OfRun::Extra)?)?, Inside::Parameters).and_then(object)
    };
    let parameters = records.iter().find_map(parameters);
    let model = metadata.into_iter().chain(parameters).find_map(|object| value_of(object, Inside::Model));
    let facts = [
        (Fact::Model, model),
        (Fact::Tools, parameters.and_then(|parameters| value_of(parameters, Inside::Tools))),
        (Fact::Conversation, metadata.and_then(|metadata| value_of(metadata, OfRun::Session))),
        (Fact::TokensIn, last(records, OfRun::TokensIn)),
        (Fact::TokensOut, last(records, OfRun::TokensOut)),
        (Fact::TokensAll, last(records, OfRun::TokensAll)),
        (Fact::Cost, last(records, OfRun::Cost)),
    ];
    facts.into_iter().for_each(|(fact, node)| span.tell(fact, node));
    match span.act {
        super::spans::Act::Tool => {
            span.tell(Fact::Args, inputs.map(|inputs| only(inputs, Inside::Input)));
            span.tell(Fact::Result, outputs.map(|outputs| only(outputs, Inside::Output)));
        }
        super::spans::Act::Inference => {
            span.tell(Fact::MessagesIn, inputs);
            span.tell(Fact::MessagesOut, outputs);
            usage(outputs, &mut span);
        }
        _ => {
            span.tell(Fact::Input, inputs);
            span.tell(Fact::Output, outputs.map(|outputs| only(outputs, Inside::Output)));
        }
    }
    span.conclude(draft);
    span
}

/// The value under a key that is the only one, else the whole.
fn only(node: Node<'_>, wanted: Inside) -> Node<'_> {
    match object(node) {
        Some(object) if object.entries().len() == 1 => value_of(object, wanted).unwrap_or(node),
        _ => node,
    }
}

/// Tokens that stand beside what a model said, where the run does not count them itself.
fn usage<'run>(outputs: Option<Node<'run>>, span: &mut Span<'run>) {
    let Some(outputs) = outputs.and_then(object) else { return };
    let generated = || {
        let first = value_of(outputs, Inside::Generations).and_then(list)?.first()?;
        let first = list(*first).and_then(|inner| inner.first()).unwrap_or(first);
        let message = object(value_of(object(*first)?, Inside::Message)?)?;
        value_of(value_of(message, Inside::Kwargs).and_then(object).unwrap_or(message), Inside::Usage)
    };
    let provider = || value_of(object(value_of(outputs, Inside::LlmOutput)?)?, Inside::Usage);
    let Some(usage) = value_of(outputs, Inside::Usage).or_else(generated).or_else(provider).and_then(object) else {
        return;
    };
    for (fact, word) in
        [(Fact::TokensIn, Inside::TokensIn), (Fact::TokensOut, Inside::TokensOut), (Fact::TokensAll, Inside::TokensAll)]
    {
        if span.facts.get(fact).is_none() {
            span.tell(fact, value_of(usage, word));
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
            super::super::registry::detect(&node).is_some_and(|format| format.name == FORMAT.name)
        };
        assert!(is(r#"{"run_type": "tool", "trace_id": "t"}"#));
        assert!(is(
            r#"{"post": [{"run_type": "tool", "trace_id": "t"}], "patch": [{"id": "a", "dotted_order": "b"}]}"#
        ));
        assert!(!is(r#"{"run_type": "tool"}"#) && !is(r#"{"post": []}"#) && !is(r#"{"runs": [{"id": 1}]}"#));
    }
}
