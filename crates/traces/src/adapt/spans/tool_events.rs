//! BeeAI writes a span for each event of a tool (`tool.search.wiki.start`, `….success`, `….finish`): together they are one call. In Python a
//! call has a span, and so have its errors and retries inside of it, which are no calls.

use super::attributes::Fact;
use super::{SpanAct, TraceSpan};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_object, node_text};
use averment_base::value::{Node, Value};
use rustc_hash::FxHashMap;

key_table! {
    ToolEvent {
        Start = "start",
        Success = "success",
        Error = "error",
        /// The tool is tried once more: what begins then is a call of its own.
        Retry = "retry",
        Over = "finish",
    }
}

const FRONT: &str = "tool.";

key_table! {
    /// Where the span of an event says which one it is.
    EventKey {
        Path = "metadata.path",
        /// Langfuse has the attributes of a span one level deeper.
        Attributes = "attributes",
    }
}

/// True for the span of an event inside of a call's own: its path is that of the tool, and ends with its name.
fn is_inner_event(span: &TraceSpan<'_>) -> bool {
    if span.act != SpanAct::Tool || span.facts.has_any(&[Fact::Tool]) {
        return false;
    }
    let outer = span.attributes.and_then(node_object);
    let inner = outer.and_then(|outer| value_of(outer, EventKey::Attributes)).and_then(node_object);
    let path = [outer, inner].into_iter().flatten().find_map(|held| value_of(held, EventKey::Path));
    let path = path.and_then(node_text).and_then(|path| path.strip_prefix(FRONT)?.rsplit_once('.'));
    path.is_some_and(|(_, event)| span.name.and_then(node_text) == Some(event))
}

/// The tool and the event in a name such as `tool.search.wiki.start-1`.
fn parse_event<'run>(span: &TraceSpan<'run>) -> Option<(&'run str, ToolEvent)> {
    let name = node_text(span.name.filter(|_| span.act == SpanAct::Tool)?)?;
    let (path, event) = name.strip_prefix(FRONT)?.rsplit_once('.')?;
    let event = event.split_once('-').map_or(event, |(event, _)| event);
    Some((path.rsplit_once('.').map_or(path, |(_, tool)| tool), ToolEvent::from_key(event)?))
}

/// The first event of a call stands for it, with what the others say of its end.
pub(super) fn merge_events(spans: &mut [TraceSpan<'_>]) {
    spans.iter_mut().filter(|span| is_inner_event(span)).for_each(|span| span.act = SpanAct::Part);
    let mut events: Vec<usize> =
        (0..spans.len()).filter(|span| spans.get(*span).and_then(parse_event).is_some()).collect();
    let start = |span: &usize| spans.get(*span).and_then(|span| span.start).unwrap_or(f64::MAX);
    // A call that ended at the same instant as it gave its result gave it first.
    let is_over =
        |span: &usize| spans.get(*span).and_then(parse_event).is_some_and(|(_, event)| event == ToolEvent::Over);
    events.sort_by(|a, b| start(a).total_cmp(&start(b)).then(is_over(a).cmp(&is_over(b))));
    let mut open: FxHashMap<&str, usize> = FxHashMap::default();
    for place in events {
        let Some((tool, event)) = spans.get(place).and_then(parse_event) else { continue };
        let first = match event {
            ToolEvent::Start => None,
            ToolEvent::Over => open.remove(tool),
            ToolEvent::Success | ToolEvent::Error | ToolEvent::Retry => open.get(tool).copied(),
        };
        let Some(span) = spans.get_mut(place) else { continue };
        let Some(first) = first else {
            if !matches!(event, ToolEvent::Over | ToolEvent::Retry) {
                span.take_fact(Fact::Tool, Some(Node::computed(Value::plain_text(tool))));
                open.insert(tool, place);
            } else {
                span.act = SpanAct::Part;
            }
            continue;
        };
        span.act = SpanAct::Part;
        let gave = [Fact::Result, Fact::Output].into_iter().find_map(|fact| span.facts.fact_node(fact));
        let (error, end, failed) = (span.error, span.end, event == ToolEvent::Error);
        let Some(first) = spans.get_mut(first) else { continue };
        first.take_fact(Fact::Result, gave.filter(|_| !first.facts.has_any(&[Fact::Result])));
        first.failed = if failed { Some(true) } else { first.failed };
        first.error = first.error.or(error);
        first.end = end.or(first.end);
    }
}
