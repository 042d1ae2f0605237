//! ProjectedRun: a run that holds only what somebody looks at, put together from what is known of a line.
//!
//! Verdicts are given on runs whose values are cut down to the fields that are read. For reasons, the values are read as a whole and keep
//! the places where they stand, because what is said of a missing key names its neighbours.

use averment_base::value::{Node, Object, ObjectEntry, TextOrigin, Value, ValueText};
use averment_runs::run::{Run, RunSource, Step, StepKind, StepStatus};
use averment_traces::projection::{CallField, ProjectedCall, RawValue};
use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

/// Puts the parts of a run together.
pub struct ProjectedRun<'a> {
    arena: &'a Bump,
    entries: Items<'a, ObjectEntry<'a>>,
    steps: &'a [Step<'a>],
    with_calls: bool,
}

impl<'a> ProjectedRun<'a> {
    /// A run with nothing in it, and room for some entries.
    #[must_use]
    pub fn new(arena: &'a Bump, entries: usize) -> Self {
        Self { arena, entries: Items::with_capacity_in(entries, arena), steps: &[], with_calls: false }
    }

    /// Adds an entry.
    pub fn add_entry(&mut self, key: &'a str, node: Node<'a>) {
        self.entries.push(ObjectEntry { key, node });
    }

    /// Says which calls the run records, with what follows from them. They take the place of an entry of that name.
    pub fn set_calls(&mut self, steps: &'a [Step<'a>]) {
        (self.steps, self.with_calls) = (steps, true);
        self.entries.retain(|entry| entry.key != StepKind::Call.list_key());
        let calls = steps.iter().filter(|step| step.kind == StepKind::Call).map(|step| step.node);
        let nodes = Items::from_iter_in(calls, self.arena).into_bump_slice();
        self.entries.push(ObjectEntry { key: StepKind::Call.list_key(), node: Node::computed(Value::List(nodes)) });
    }

    /// The run. Its places count in `text`.
    #[must_use]
    pub fn into_run(self, text: &'a str, source: RunSource) -> Run<'a> {
        Run {
            text,
            source,
            object: Object::new(self.arena, self.entries.into_bump_slice()),
            steps: self.steps,
            recorded: std::array::from_fn(|kind| self.with_calls && kind == StepKind::Call as usize),
            ..Run::empty_run()
        }
    }
}

/// A run of these calls whose list of calls nobody reads, so that it is not made.
pub(super) fn run_of_calls<'a>(entries: Object<'a>, steps: &'a [Step<'a>]) -> Run<'a> {
    let recorded = std::array::from_fn(|kind| kind == StepKind::Call as usize);
    Run { object: entries, steps, recorded, ..Run::empty_run() }
}

/// An executed call with these fields, of which nothing else is known. `number` is its place among the calls.
#[must_use]
pub fn new_step<'a>(
    arena: &'a Bump,
    number: u32,
    name: &'a str,
    fields: impl Iterator<Item = (&'static str, Node<'a>)>,
    place: TextOrigin,
) -> Step<'a> {
    let mut entries = Items::with_capacity_in(CallField::ALL.len() + 1, arena);
    entries.extend(fields.map(|(key, node)| ObjectEntry { key, node }));
    named_step(number, name, Object::new(arena, entries.into_bump_slice()), place)
}

/// An executed call that holds no more than this object.
pub(super) fn named_step<'a>(number: u32, name: &'a str, object: Object<'a>, place: TextOrigin) -> Step<'a> {
    Step {
        kind: StepKind::Call,
        name,
        status: StepStatus::Unknown,
        object,
        node: Node::new(Value::Object(object), place),
        index: number,
        call_position: number,
        turn: None,
        start: None,
        end: None,
    }
}

/// A step that follows from a call, of which nothing is known but where it stands: what it is in a list of its kind is not asked for.
#[must_use]
pub fn step_behind<'a>(arena: &'a Bump, call: &Step<'a>, kind: StepKind) -> Step<'a> {
    let object = Object::new(arena, &[]);
    Step {
        kind,
        name: "",
        status: StepStatus::Unknown,
        object,
        node: Node::new(Value::Object(object), call.node.origin),
        index: 0,
        call_position: call.call_position.saturating_add(1),
        ..*call
    }
}

#[must_use]
pub(super) fn project_call<'a>(
    arena: &'a Bump,
    number: usize,
    call: &ProjectedCall<'a>,
    mut read: impl FnMut(CallField, RawValue<'a>) -> Option<Option<Value<'a>>>,
) -> Option<Step<'a>> {
    let tool = ("tool", Node::computed(Value::Text(ValueText::Plain(call.name))));
    let mut fields = [None; 2];
    for ((field, held), into) in CallField::ALL.into_iter().zip(call.fields).zip(&mut fields) {
        *into = read(field, held)?.map(|value| (field.as_str(), Node::computed(value)));
    }
    let all = std::iter::once(tool).chain(fields.into_iter().flatten());
    Some(new_step(arena, u32::try_from(number).ok()?, call.name, all, TextOrigin::COMPUTED))
}
