//! What spans of tools tell of calls. What one tool does may be a span where it is called and another where it is carried out: it is one
//! call, and what either of them says is said of it.

use super::attributes::Fact;
use super::exchange::ToolResult;
use super::tree::{SpanTree, plain_name, tool_name};
use super::{ActWord, SpanAct, TraceSpan, wrapped_values};
use crate::adapt::nodes::{node_object, node_text};
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::{Node, compare};

#[derive(Clone, Copy)]
pub(super) struct ToolExecution<'run> {
    pub(super) span: usize,
    pub(super) tool: Node<'run>,
    pub(super) id: Option<Node<'run>>,
    pub(super) args: Option<Node<'run>>,
    pub(super) result: Option<Node<'run>>,
    pub(super) failed: Option<bool>,
    pub(super) error: Option<Node<'run>>,
    /// Made by another tool.
    pub(super) is_inside: bool,
    is_told_inside: bool,
}

impl<'run> ToolExecution<'run> {
    fn from_span(
        number: usize,
        span: &TraceSpan<'run>,
        as_written: bool,
        builder: &mut RunBuilder<'run, '_>,
    ) -> Option<Self> {
        let Some(tool) = tool_name(span) else {
            builder.skip_record(span.origin, "a span of a tool without a name is skipped");
            return None;
        };
        if is_nameless(span) {
            builder.note_unknown(span.origin, "a span of a tool does not say which: it may be a call of any");
        }
        let written = span.facts.fact_node(Fact::Args).filter(|args| as_written && wrapped_values::are_written(*args));
        let args = written.or_else(|| wrapped_values::unwrap_args(&span.facts, builder));
        let gave = wrapped_values::tool_result(&span.facts, builder);
        let id = span.facts.fact_node(Fact::CallId).filter(|id| node_text(*id).is_some_and(|id| !id.is_empty()));
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

    pub(super) fn id_text(&self) -> Option<&'run str> {
        self.id.and_then(node_text)
    }

    pub(super) fn tool_text(&self) -> &'run str {
        node_text(self.tool).unwrap_or_default()
    }

    pub(super) fn apply_result(&mut self, told: ToolResult<'run>) {
        self.result = Some(told.result);
        self.failed = told.failed.filter(|failed| *failed).or(self.failed).or(told.failed);
    }

    /// True if another span of the tool may be the same call: by id, else by arguments.
    fn may_be_same(&self, other: &Self) -> bool {
        match (self.id_text(), other.id_text()) {
            (Some(own), Some(id)) => own == id,
            _ => self.args.zip(other.args).is_none_or(|(own, args)| may_be_equal(own, args)),
        }
    }

    /// Merges an inner span of the call, which alone may know an error; the last attempt wins.
    fn merge_inner(&mut self, inner: &Self) {
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

/// Whether a span with the operation of the convention, or with the schema of its tool, leaves out which tool: its own name may be that of the
/// work.
fn is_nameless(span: &TraceSpan<'_>) -> bool {
    let told = |fact| span.facts.fact_node(fact).and_then(node_text).filter(|text| !text.is_empty());
    let name = span.name.and_then(node_text);
    (told(Fact::Operation) == Some(EXECUTE_TOOL) || span.facts.fact_node(Fact::Parameters).is_some())
        && told(Fact::Tool).is_none()
        && told(Fact::Entity).is_none()
        && plain_name(span) == name
}

const EXECUTE_TOOL: &str = ActWord::Tool.key();

/// What a tool was given, where that is what the model asked for under one key (`{"input": {…}}`).
pub(super) fn wrapped_args<'run>(asked: Node<'run>, given: Node<'run>) -> Option<Node<'run>> {
    match node_object(given)?.entries() {
        [only] if compare::values_equal(&only.node.value, &asked.value) => Some(only.node),
        _ => None,
    }
}

/// Equal as far as comparable: some write as text what others write as an object.
pub(super) fn may_be_equal(own: Node<'_>, other: Node<'_>) -> bool {
    node_object(own).is_some() != node_object(other).is_some() || compare::values_equal(&own.value, &other.value)
}

/// In order of start. If nothing compares arguments, `as_written` leaves text unparsed.
pub(super) fn find_executions<'run>(
    tree: &SpanTree<'run>,
    as_written: bool,
    builder: &mut RunBuilder<'run, '_>,
) -> Vec<ToolExecution<'run>> {
    let around = tree.fold_down(None, |parent, above| match tree.act_of(parent) {
        SpanAct::Tool => Some(parent),
        SpanAct::Agent | SpanAct::Inference => None,
        SpanAct::Part | SpanAct::Other => above,
    });
    let around = |span: usize| around.get(span).copied().flatten();
    let tools = || tree.spans.iter().enumerate().filter(|(_, span)| span.act == SpanAct::Tool);
    let as_written = as_written && !tools().any(|(number, _)| around(number).is_some());
    let mut told: Vec<Option<ToolExecution<'run>>> = vec![None; tree.spans.len()];
    for (number, span) in tools() {
        if let Some(slot) = told.get_mut(number) {
            *slot = ToolExecution::from_span(number, span, as_written, builder);
        }
    }
    // Innermost first: what is inside of what tells of the same call has been taken in there.
    for number in tree.outermost_first().rev() {
        let (Some(outer), Some(inner)) = (around(number), told.get(number).copied().flatten()) else { continue };
        let Some(outer) = told.get_mut(outer).and_then(Option::as_mut) else { continue };
        if outer.tool_text() == inner.tool_text() && outer.may_be_same(&inner) {
            outer.merge_inner(&inner);
            told.get_mut(number).into_iter().for_each(|slot| *slot = None);
        } else if let Some(inner) = told.get_mut(number).and_then(Option::as_mut) {
            inner.is_inside = true;
        }
    }
    told.into_iter().flatten().collect()
}
