//! A step that is made of a span, with its place among the others.

use super::tree::SpanTree;
use crate::adapt::run_builder::field_entry;
use averment_base::value::{Node, ObjectEntry, TextOrigin, Value};
use averment_runs::normal::of_step;
use averment_runs::run::{StepKind, StepStatus};

/// A step, with its place among the others.
pub(super) struct TimedStep<'run> {
    pub(super) time: Option<f64>,
    pub(super) kind: StepKind,
    pub(super) fields: Vec<ObjectEntry<'run>>,
    pub(super) origin: TextOrigin,
}

/// So many fields a step has at most that is made of a span.
pub(super) const FIELDS: usize = 10;

impl<'run> TimedStep<'run> {
    pub(super) fn new(time: Option<f64>, kind: StepKind, fields: Vec<ObjectEntry<'run>>, origin: TextOrigin) -> Self {
        Self { time, kind, fields, origin }
    }
}

pub(super) fn instant_node<'run>(time: Option<f64>) -> Option<Node<'run>> {
    time.map(|time| Node::computed(crate::time::milliseconds_value(time)))
}

/// How something ended, as a word.
pub(super) fn status_node<'run>(failed: bool) -> Option<Node<'run>> {
    let status = if failed { StepStatus::Failed } else { StepStatus::Ok };
    status.as_str().map(|word| Node::computed(Value::plain_text(word)))
}

/// When a span was, and whose it is.
pub(super) fn common_fields<'run>(
    tree: &SpanTree<'run>,
    span: usize,
) -> impl Iterator<Item = ObjectEntry<'run>> + use<'run> {
    let one = tree.spans.get(span);
    let (start, end) = (one.and_then(|one| instant_node(one.start)), one.and_then(|one| instant_node(one.end)));
    let agent = tree.agent_name(span).map(|name| Node::computed(Value::plain_text(name)));
    let fields = [(of_step::START, start), (of_step::END, end), (of_step::AGENT, agent)];
    fields.into_iter().filter_map(|(key, node)| Some(field_entry(key, node?)))
}
