//! Braintrust: spans of logs and experiments, as they are fetched and exported (`events`, `data`, a list, one a line).

use super::cutting::RunCutting;
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{are_mostly, node_list, node_object, node_text};
use super::run_builder::RunBuilder;
use super::spans::attributes::Fact;
use super::spans::{RunEntries, SpanAct, TraceSpan, build_run, ways};
use crate::error::PlacedError;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use rustc_hash::{FxHashMap, FxHashSet};

key_table! {
    BraintrustKey {
        Events = "events",
        Data = "data",
        Span = "span_id",
        Root = "root_span_id",
        Parents = "span_parents",
        About = "span_attributes",
        Metrics = "metrics",
        Metadata = "metadata",
        Input = "input",
        Output = "output",
        Error = "error",
        /// A change of a row that was sent before.
        Merges = "_is_merge",
        Row = "id",
    }
}

key_table! {
    BraintrustInnerKey {
        Name = "name",
        Type = "type",
        Purpose = "purpose",
        Start = "start",
        End = "end",
        TokensIn = "prompt_tokens",
        TokensOut = "completion_tokens",
        TokensAll = "tokens" | "total_tokens",
        CacheRead = "prompt_cached_tokens",
        CacheWrite = "prompt_cache_creation_tokens",
        Reasoning = "completion_reasoning_tokens",
        Cost = "estimated_cost",
        Model = "model",
        Tool = "gen_ai.tool.name",
        CallId = "gen_ai.tool.call.id",
        /// What Vercel's AI SDK gives to a tool behind its arguments.
        Call = "toolCallId",
    }
}

key_table! {
    BraintrustType {
        Model = "llm",
        Tool = "tool",
        Part = "task" | "function" | "eval",
        /// Somebody judges or prepares what the agent did: what happens inside is not the agent's.
        Judge = "score" | "automation" | "facet" | "preprocessor" | "classifier" | "review",
    }
}

key_table! {
    /// The purpose of a span that judges.
    BraintrustPurpose {
        Judge = "scorer",
    }
}

key_table! {
    BraintrustList {
        Any = "events" | "data",
    }
}

key_table! {
    BraintrustMark {
        Any = "events" | "data" | "span_attributes" | "root_span_id",
    }
}

key_table! {
    BraintrustNearMark {
        Any = "span_attributes",
    }
}

ways! {
    ROOT = [["root_span_id"]];
}

pub(super) const FORMAT: TraceFormat = TraceFormat {
    name: "Braintrust spans",
    description: "spans of Braintrust's logs and experiments (a list, one a line, `events`, `data`)",
    known_by: "`span_id` and `root_span_id` beside `span_attributes`",
    marks: BraintrustMark::Any.keys(),
    near: BraintrustNearMark::Any.keys(),
    object: |object| is_span(object) || is_page(object),
    item_marks: BraintrustMark::Any.keys(),
    element: |object| is_span(object) || is_page(object),
    read: read_run,
    runs: &[
        RunCutting { within: &[], way: &[BraintrustList::Any.keys()], by: ROOT, keeps: &[], joins: None },
        RunCutting { within: &[], way: &[], by: ROOT, keeps: &[], joins: None },
    ],
    ..IN_FULL
};

fn is_span(object: Object<'_>) -> bool {
    let is_text = |key| value_of(object, key).and_then(node_text).is_some();
    is_text(BraintrustKey::Span)
        && is_text(BraintrustKey::Root)
        && [BraintrustKey::About, BraintrustKey::Metrics].into_iter().any(|key| object_in(object, key).is_some())
}

fn object_in(object: Object<'_>, key: BraintrustKey) -> Option<Object<'_>> {
    value_of(object, key).and_then(node_object)
}

fn spans_of(page: Object<'_>) -> Option<&[Node<'_>]> {
    [BraintrustKey::Events, BraintrustKey::Data].into_iter().find_map(|key| node_list(value_of(page, key)?))
}

fn is_page(page: Object<'_>) -> bool {
    spans_of(page).is_some_and(|spans| are_mostly(spans.iter(), is_span))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    let root = builder.arena.alloc(root);
    let mut records: Vec<(Node<'run>, Object<'run>)> = Vec::new();
    let items = node_list(*root).unwrap_or(std::slice::from_ref(root));
    for node in items {
        let page = node_object(*node).filter(|page| is_page(*page)).and_then(spans_of);
        for node in page.unwrap_or(std::slice::from_ref(node)) {
            builder.count_record();
            let is_whole = |span: &Object<'run>| {
                !matches!(value_of(*span, BraintrustKey::Merges), Some(Node { value: Value::Boolean(true), .. }))
            };
            match node_object(*node) {
                Some(span) if is_span(span) && is_whole(&span) => records.push((*node, span)),
                Some(change) if !is_whole(&change) && merge_row(&mut records, change, builder) => {}
                _ => builder.skip_value(node, "what is no whole span is skipped"),
            }
        }
    }
    let judges = spans_of_judges(&records);
    let id = records.first().and_then(|(_, span)| value_of(*span, BraintrustKey::Root));
    let mut spans = Vec::new();
    for (node, record) in records {
        let is_judged = value_of(record, BraintrustKey::Span).and_then(node_text).is_some_and(|id| judges.contains(id));
        spans.push(read_span(node, record, is_judged, builder));
    }
    build_run(spans, RunEntries { id, ..RunEntries::default() }, builder);
    Ok(())
}

/// Puts a change into the row that it is of; false if that was not sent.
fn merge_row<'run>(
    records: &mut [(Node<'run>, Object<'run>)],
    change: Object<'run>,
    builder: &RunBuilder<'run, '_>,
) -> bool {
    let id = |row: Object<'run>| value_of(row, BraintrustKey::Row).and_then(node_text);
    let known = records.iter_mut().find(|(_, row)| id(change).is_some() && id(*row) == id(change));
    let Some((_, row)) = known else { return false };
    *row = merged(*row, change, builder);
    true
}

/// What a change says replaces what stood there, but for what stands beside it in objects.
fn merged<'run>(row: Object<'run>, change: Object<'run>, builder: &RunBuilder<'run, '_>) -> Object<'run> {
    let changed = |entry: &ObjectEntry<'run>| {
        let node = match change.get(entry.key).map(|node| (node, node_object(entry.node), node_object(node))) {
            None => entry.node,
            Some((node, Some(row), Some(change))) => {
                Node::new(Value::Object(merged(row, change, builder)), node.origin)
            }
            Some((node, ..)) => node,
        };
        ObjectEntry { key: entry.key, node }
    };
    let new = change.entries().iter().filter(|entry| row.get(entry.key).is_none()).copied();
    let entries: Vec<_> = row.entries().iter().map(changed).chain(new).collect();
    Object::new(builder.arena, builder.arena.alloc_slice_copy(&entries))
}

fn parent_of(span: Object<'_>) -> Option<&str> {
    node_list(value_of(span, BraintrustKey::Parents)?)?.first().copied().and_then(node_text)
}

fn word_of<'run>(span: Object<'run>, key: BraintrustInnerKey) -> Option<&'run str> {
    node_text(value_of(object_in(span, BraintrustKey::About)?, key)?)
}

/// The ids of spans in which somebody judges, and of all inside of them.
fn spans_of_judges<'run>(records: &[(Node<'run>, Object<'run>)]) -> FxHashSet<&'run str> {
    let judges = |span: Object<'run>| {
        let kind = word_of(span, BraintrustInnerKey::Type).and_then(BraintrustType::from_key);
        let purpose = word_of(span, BraintrustInnerKey::Purpose).and_then(BraintrustPurpose::from_key);
        kind == Some(BraintrustType::Judge) || purpose.is_some()
    };
    let mut found = FxHashSet::default();
    let id = |span: Object<'run>| value_of(span, BraintrustKey::Span).and_then(node_text);
    found.extend(records.iter().filter(|(_, span)| judges(*span)).filter_map(|(_, span)| id(*span)));
    let mut children: FxHashMap<&str, Vec<&'run str>> = FxHashMap::default();
    for (parent, child) in records.iter().filter_map(|(_, span)| Some((parent_of(*span)?, id(*span)?))) {
        children.entry(parent).or_default().push(child);
    }
    let mut open: Vec<&'run str> = found.iter().copied().collect();
    while let Some(judge) = open.pop() {
        for child in children.get(judge).into_iter().flatten() {
            if found.insert(*child) {
                open.push(child);
            }
        }
    }
    found
}

/// How the names of spans of tools begin that say in `metadata` which tool it is.
const TOOL_HEAD: &str = "tool: ";

fn read_span<'run>(
    node: Node<'run>,
    record: Object<'run>,
    is_judged: bool,
    builder: &mut RunBuilder<'run, '_>,
) -> TraceSpan<'run> {
    let mut span = TraceSpan::new(node.origin);
    span.id = value_of(record, BraintrustKey::Span).and_then(node_text);
    span.parent = parent_of(record);
    let about = object_in(record, BraintrustKey::About);
    span.name = about.and_then(|about| value_of(about, BraintrustInnerKey::Name));
    let metrics = object_in(record, BraintrustKey::Metrics);
    let metric = |key| metrics.and_then(|metrics| value_of(metrics, key));
    let seconds = |key| match metric(key).map(|node| node.value) {
        Some(Value::Number(seconds)) => Some(seconds.to_f64() * 1e3).filter(|time| time.is_finite()),
        _ => None,
    };
    (span.start, span.end) = (seconds(BraintrustInnerKey::Start), seconds(BraintrustInnerKey::End));
    let word = word_of(record, BraintrustInnerKey::Type);
    span.act = match word.map(BraintrustType::from_key) {
        _ if is_judged => SpanAct::Part,
        Some(Some(BraintrustType::Model)) => SpanAct::Inference,
        Some(Some(BraintrustType::Tool)) => SpanAct::Tool,
        Some(Some(BraintrustType::Part | BraintrustType::Judge)) | None => SpanAct::Part,
        Some(None) => span.act_of_word(word, builder),
    };
    span.error = value_of(record, BraintrustKey::Error);
    span.failed = span.error.map(|_| true);
    let metadata = object_in(record, BraintrustKey::Metadata);
    span.attributes = metadata.map(|metadata| Node::computed(Value::Object(metadata)));
    let told = |key| metadata.and_then(|metadata| value_of(metadata, key)).filter(|node| node_text(*node).is_some());
    let (mut input, output) = (value_of(record, BraintrustKey::Input), value_of(record, BraintrustKey::Output));
    let tool = told(BraintrustInnerKey::Tool).filter(|_| span.act == SpanAct::Tool);
    let is_headed = span.name.and_then(node_text).is_some_and(|name| name.starts_with(TOOL_HEAD));
    if span.act == SpanAct::Tool && tool.is_none() && is_headed {
        builder.note_unknown(node.origin, "a span of a tool does not say which: it may be a call of any");
    }
    span.take_fact(Fact::Tool, tool);
    span.take_fact(Fact::CallId, told(BraintrustInnerKey::CallId));
    if let Some((args, id)) = input.filter(|_| span.act == SpanAct::Tool).and_then(vercel_input) {
        input = Some(args);
        span.take_fact(Fact::CallId, Some(id));
    }
    let (given, gave) = match span.act {
        SpanAct::Tool => (Fact::Args, Fact::Result),
        SpanAct::Inference => (Fact::MessagesIn, Fact::MessagesOut),
        _ => (Fact::Input, Fact::Output),
    };
    span.take_fact(given, input.filter(|_| !is_judged));
    span.take_fact(gave, output.filter(|_| !is_judged));
    if span.act == SpanAct::Inference {
        span.take_fact(Fact::Model, told(BraintrustInnerKey::Model));
        for (fact, key) in [
            (Fact::TokensIn, BraintrustInnerKey::TokensIn),
            (Fact::TokensOut, BraintrustInnerKey::TokensOut),
            (Fact::TokensAll, BraintrustInnerKey::TokensAll),
            (Fact::TokensCacheRead, BraintrustInnerKey::CacheRead),
            (Fact::TokensCacheWrite, BraintrustInnerKey::CacheWrite),
            (Fact::TokensReasoning, BraintrustInnerKey::Reasoning),
            (Fact::Cost, BraintrustInnerKey::Cost),
        ] {
            span.take_fact(fact, metric(key));
        }
    }
    span.conclude_span(builder);
    span
}

/// The arguments of a tool of Vercel's AI SDK, and the id of its call: both are given to it, one behind the other.
fn vercel_input(input: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let [args, beside] = node_list(input)? else { return None };
    let id = value_of(node_object(*beside)?, BraintrustInnerKey::Call)?;
    node_text(id).map(|_| (*args, id))
}
