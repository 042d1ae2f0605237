//! A step that is made of a span, with its place among the others.

use super::tree::Tree;
use crate::adapt::draft::field;
use averment_base::value::{Entry, Node, Origin, Value};
use averment_runs::normal::of_step;
use averment_runs::run::{Kind, Status};

/// A step, with its place among the others.
pub(super) struct Timed<'run> {
    pub(super) time: Option<f64>,
    pub(super) kind: Kind,
    pub(super) fields: Vec<Entry<'run>>,
    pub(super) origin: Origin,
}

/// So many fields a step has at most that is made of a span.
pub(super) const FIELDS: usize = 10;

impl<'run> Timed<'run> {
    pub(super) fn new(time: Option<f64>, kind: Kind, fields: Vec<Entry<'run>>, origin: Origin) -> Self {
        Self { time, kind, fields, origin }
    }
}

pub(super) fn instant<'run>(time: Option<f64>) -> Option<Node<'run>> {
    time.map(|time| Node::computed(crate::time::value(time)))
}

/// How something ended, as a word.
pub(super) fn status<'run>(failed: bool) -> Option<Node<'run>> {
    let status = if failed { Status::Failed } else { Status::Ok };
    status.as_str().map(|word| Node::computed(Value::plain(word)))
}

/// When a span was, and whose it is.
pub(super) fn common<'run>(tree: &Tree<'run>, span: usize) -> impl Iterator<Item = Entry<'run>> + use<'run> {
    let one = tree.spans.get(span);
    let (start, end) = (one.and_then(|one| instant(one.start)), one.and_then(|one| instant(one.end)));
    let agent = tree.agent_name(span).map(|name| Node::computed(Value::plain(name)));
    let fields = [(of_step::START, start), (of_step::END, end), (of_step::AGENT, agent)];
    fields.into_iter().filter_map(|(key, node)| Some(field(key, node?)))
}
