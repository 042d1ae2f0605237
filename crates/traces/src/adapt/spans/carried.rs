//! What spans of tools tell of calls. What one tool does may be a span where it is called and another where it is carried out: it is one
//! call, and what either of them says is said of it.

use super::attributes::Fact;
use super::exchange::Told;
use super::tree::{Tree, tool_name};
use super::{Act, Span, text_of_node, wrapped};
use crate::adapt::draft::Draft;
use crate::adapt::nodes::object;
use averment_base::value::{Node, compare};

/// A call that was carried out.
#[derive(Clone, Copy)]
pub(super) struct Carried<'run> {
    /// The outermost of its spans.
    pub(super) span: usize,
    pub(super) tool: Node<'run>,
    pub(super) id: Option<Node<'run>>,
    pub(super) args: Option<Node<'run>>,
    pub(super) result: Option<Node<'run>>,
    pub(super) failed: Option<bool>,
    pub(super) error: Option<Node<'run>>,
    /// It is the doing of another tool.
    pub(super) is_inside: bool,
    /// A span inside of it tells of the same call.
    is_told_inside: bool,
}

impl<'run> Carried<'run> {
    fn of(number: usize, span: &Span<'run>, as_written: bool, draft: &mut Draft<'run, '_>) -> Option<Self> {
        let Some(tool) = tool_name(span) else {
            draft.not_understood(span.origin, "a span of a tool without a name is passed over");
            return None;
        };
        let written = span.facts.get(Fact::Args).filter(|args| as_written && wrapped::are_written(*args));
        let args = written.or_else(|| wrapped::args(&span.facts, draft));
        let gave = wrapped::gave(&span.facts, draft);
        let id = span.facts.get(Fact::CallId).filter(|id| text_of_node(*id).is_some_and(|id| !id.is_empty()));
        let went_wrong = gave.and_then(|gave| gave.failed).filter(|failed| *failed);
        Some(Self {
            span: number,
            tool,
            id: id.or_else(|| gave?.id),
            args,
            result: gave.map(|gave| gave.result),
            failed: went_wrong.or(span.failed).or_else(|| gave?.failed),
            error: span.error.filter(|_| span.failed == Some(true)),
            is_inside: false,
            is_told_inside: false,
        })
    }

    pub(super) fn id(&self) -> Option<&'run str> {
        self.id.and_then(text_of_node)
    }

    pub(super) fn tool(&self) -> &'run str {
        text_of_node(self.tool).unwrap_or_default()
    }

    /// Takes in what a model was told of it.
    pub(super) fn hear(&mut self, told: Told<'run>) {
        self.result = Some(told.result);
        self.failed = told.failed.filter(|failed| *failed).or(self.failed).or(told.failed);
    }

    /// Whether another span of its tool may tell of the same call: ids tell, else arguments.
    fn is_told_by(&self, other: &Self) -> bool {
        match (self.id(), other.id()) {
            (Some(own), Some(id)) => own == id,
            _ => self.args.zip(other.args).is_none_or(|(own, args)| may_be_equal(own, args)),
        }
    }

    /// Takes in what a span inside of it says of the same call: that it went wrong may be known there alone. Of several attempts, which
    /// come last first, the last one counts.
    fn take(&mut self, inner: &Self) {
        if std::mem::replace(&mut self.is_told_inside, true) {
            return;
        }
        self.id = self.id.or(inner.id);
        self.args = self.args.or(inner.args);
        self.result = self.result.or(inner.result);
        self.error = self.error.or(inner.error);
        self.failed = if inner.failed == Some(true) { inner.failed } else { self.failed.or(inner.failed) };
    }
}

/// Whether arguments are the same as far as can be told: some write as text what others write as an object.
pub(super) fn may_be_equal(own: Node<'_>, other: Node<'_>) -> bool {
    object(own).is_some() != object(other).is_some() || compare::equal(&own.value, &other.value)
}

/// The calls that spans of tools tell, in the order of their starts. Where nothing compares their arguments, `as_written` lets those that
/// are written as text stay text.
pub(super) fn find<'run>(tree: &Tree<'run>, as_written: bool, draft: &mut Draft<'run, '_>) -> Vec<Carried<'run>> {
    let around = tree.downwards(None, |parent, above| match tree.act(parent) {
        Act::Tool => Some(parent),
        Act::Agent | Act::Inference => None,
        Act::Part | Act::Other => above,
    });
    let around = |span: usize| around.get(span).copied().flatten();
    let tools = || tree.spans.iter().enumerate().filter(|(_, span)| span.act == Act::Tool);
    let as_written = as_written && !tools().any(|(number, _)| around(number).is_some());
    let mut told: Vec<Option<Carried<'run>>> = vec![None; tree.spans.len()];
    for (number, span) in tools() {
        if let Some(slot) = told.get_mut(number) {
            *slot = Carried::of(number, span, as_written, draft);
        }
    }
    // Innermost first: what is inside of what tells of the same call has been taken in there.
    for number in tree.outermost_first().rev() {
        let (Some(outer), Some(inner)) = (around(number), told.get(number).copied().flatten()) else { continue };
        let Some(outer) = told.get_mut(outer).and_then(Option::as_mut) else { continue };
        if outer.tool() == inner.tool() && outer.is_told_by(&inner) {
            outer.take(&inner);
            told.get_mut(number).into_iter().for_each(|slot| *slot = None);
        } else if let Some(inner) = told.get_mut(number).and_then(Option::as_mut) {
            inner.is_inside = true;
        }
    }
    told.into_iter().flatten().collect()
}
