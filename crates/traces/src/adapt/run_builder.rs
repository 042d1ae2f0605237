//! A run while an adapter fills it.

mod partial_roles;
mod recorded_kinds;

use crate::build::{NormalRun, too_large};
use crate::error::PlacedError;
use crate::prices::{ModelSpending, ModelTokens, UsageCounts};
use averment_base::limits::{Limits, RunMemory};
use averment_base::value::{Node, Number, Object, ObjectEntry, TextOrigin, Value};
use averment_runs::normal::{MAIN_AGENT, of_run, of_step};
use averment_runs::run::{CostSource, ReadWarning, RecordCounts, RunSource, StepKind};
use bumpalo::Bump;
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::cell::RefCell;

/// What a reader found that only looks at the run: a part without a meaning, or what is only worth a warning.
#[derive(Debug, Clone)]
pub(super) struct UnknownPart {
    pub(super) origin: TextOrigin,
    pub(super) message: Cow<'static, str>,
    pub(super) is_lost: bool,
}

/// A run in normal form under construction, steps in order of addition.
pub(crate) struct RunBuilder<'run, 'limits> {
    pub(crate) arena: &'run Bump,
    pub(crate) limits: &'limits Limits,
    root: Vec<ObjectEntry<'run>>,
    steps: Vec<PendingStep<'run>>,
    recorded: [bool; StepKind::ALL.len()],
    ordered: bool,
    pub(super) records: RecordCounts,
    /// Parts without a meaning, and warnings, so far.
    pub(super) unknown: RefCell<Vec<UnknownPart>>,
    names_agents: bool,
    warnings: Vec<ReadWarning>,
    spending: ModelSpending<'run>,
    assumes_success: bool,
    home_grown: bool,
    open_roles: Vec<&'static str>,
    /// Ids of results whose calls are missing.
    uncalled: Vec<Option<&'run str>>,
    /// The requested parts; `None` for everything.
    requested: Option<RequestedParts<'limits>>,
    /// Only the whole run can answer the request.
    needs_whole: bool,
    memory: RunMemory<'run>,
    /// Bytes that its steps take, here and when the run is built of them.
    draft_bytes: usize,
    /// The steps take more than a run may have: the rest was left out, and the run is refused.
    overfull: bool,
}

/// Fields that are added to a step behind its first ones, about.
const LATER_FIELDS: usize = 4;

/// In bytes, what a call takes while its result is looked for, about.
const CALL_BYTES: usize = 256;

const NO_OBJECT: &str = "what is no object is skipped";

/// What a projection requests: calls, and entries that are not composed of several parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestedParts<'a> {
    pub(crate) entries: &'a [String],
    /// Arguments may stay as text: somebody else parses them.
    pub(crate) args_as_written: bool,
}

pub(crate) struct PendingStep<'run> {
    pub(crate) kind: StepKind,
    pub(crate) fields: Vec<ObjectEntry<'run>>,
    origin: TextOrigin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct StepId(usize);

impl<'run, 'limits> RunBuilder<'run, 'limits> {
    pub(crate) fn new(
        arena: &'run Bump,
        limits: &'limits Limits,
        records: RecordCounts,
        warnings: Vec<ReadWarning>,
    ) -> Self {
        Self {
            arena,
            limits,
            root: Vec::new(),
            steps: Vec::new(),
            recorded: [false; StepKind::ALL.len()],
            ordered: true,
            records,
            unknown: RefCell::default(),
            names_agents: false,
            warnings,
            spending: ModelSpending::default(),
            assumes_success: false,
            home_grown: false,
            open_roles: Vec::new(),
            uncalled: Vec::new(),
            requested: None,
            needs_whole: false,
            memory: RunMemory::start(arena, limits, 0),
            draft_bytes: 0,
            overfull: false,
        }
    }

    /// Counts from the beginning of the reading on.
    pub(crate) fn under_memory(self, memory: RunMemory<'run>) -> Self {
        Self { memory, ..self }
    }

    /// Only what is requested; the rest may be left out.
    pub(crate) fn for_projection(arena: &'run Bump, limits: &'limits Limits, asked: RequestedParts<'limits>) -> Self {
        Self { requested: Some(asked), ..Self::new(arena, limits, RecordCounts::default(), Vec::new()) }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.requested.is_none()
    }

    /// The request depends on what was left out.
    pub(crate) fn needs_whole(&mut self) {
        self.needs_whole = true;
    }

    pub(crate) fn is_requested(&self, entry: &str) -> bool {
        self.requested.is_none_or(|asked| asked.entries.iter().any(|asked| asked == entry))
    }

    pub(crate) fn keeps_text_args(&self) -> bool {
        self.requested.is_some_and(|asked| asked.args_as_written)
    }

    /// `None` if only the finished run knows all steps, or there were warnings. True if calls are recorded.
    pub(crate) fn projected_steps(&self) -> Option<(&[PendingStep<'run>], bool)> {
        let plain =
            !self.needs_whole && !self.overfull && self.ordered && self.warnings.is_empty() && self.uncalled.is_empty();
        let plain = plain && self.unknown.borrow().is_empty();
        plain.then_some((&self.steps, self.is_recorded(StepKind::Call)))
    }

    pub(crate) fn run_entry(&self, key: &str) -> Option<Node<'run>> {
        self.root.iter().find(|entry| entry.key == key).map(|entry| entry.node)
    }

    /// The order of steps of different kinds means nothing.
    pub(crate) fn mark_unordered(&mut self) {
        self.ordered = false;
    }

    /// The format names all agents but the main one, which is named here.
    pub(crate) fn mark_agents_named(&mut self) {
        self.names_agents = true;
    }

    /// The last value wins.
    pub(crate) fn set_entry(&mut self, key: &'run str, node: Node<'run>) {
        self.root.retain(|entry| entry.key != key);
        self.root.push(ObjectEntry { key, node });
    }

    pub(crate) fn set_some(&mut self, key: &'run str, node: Option<Node<'run>>) {
        if let Some(node) = node {
            self.set_entry(key, node);
        }
    }

    pub(crate) fn add_step(&mut self, kind: StepKind, fields: Vec<ObjectEntry<'run>>, origin: TextOrigin) -> StepId {
        self.mark_recorded(&[kind]);
        self.draft_bytes += size_of::<PendingStep<'_>>() + (fields.len() + LATER_FIELDS) * size_of::<ObjectEntry<'_>>();
        self.draft_bytes += if kind == StepKind::Call { CALL_BYTES } else { 0 };
        if self.overfull || !self.memory.holds(self.draft_bytes) {
            self.overfull = true;
            return StepId(usize::MAX);
        }
        self.steps.push(PendingStep { kind, fields, origin });
        StepId(self.steps.len() - 1)
    }

    pub(crate) fn last_step(&self) -> Option<StepId> {
        self.steps.len().checked_sub(1).map(StepId)
    }

    /// Refuses a run with more steps than its memory holds.
    pub(crate) fn check_steps(&self) -> Result<(), PlacedError> {
        if self.overfull { Err(too_large(TextOrigin::COMPUTED, &self.memory)) } else { Ok(()) }
    }

    pub(crate) fn add_field(&mut self, step: StepId, key: &'run str, node: Node<'run>) {
        if let Some(step) = self.steps.get_mut(step.0) {
            step.fields.push(ObjectEntry { key, node });
        }
    }

    pub(crate) fn set_field(&mut self, step: StepId, key: &'run str, node: Node<'run>) {
        if let Some(step) = self.steps.get_mut(step.0) {
            step.fields.retain(|field| field.key != key);
            step.fields.push(ObjectEntry { key, node });
        }
    }

    /// Removes an entry and a step field that turned out not to be recorded.
    pub(crate) fn forget_field(&mut self, entry: &str, of_steps: &str) {
        self.root.retain(|known| known.key != entry);
        for step in &mut self.steps {
            step.fields.retain(|field| field.key != of_steps);
        }
    }

    pub(crate) fn has_entry(&self, key: &str) -> bool {
        self.root.iter().any(|entry| entry.key == key)
    }

    pub(crate) fn step_field(&self, step: StepId, key: &str) -> Option<Node<'run>> {
        let fields = &self.steps.get(step.0)?.fields;
        fields.iter().find(|field| field.key == key).map(|field| field.node)
    }

    pub(super) fn called_tools(&self) -> impl Iterator<Item = &'run str> {
        let calls = self.steps.iter().filter(|step| step.kind == StepKind::Call);
        let tool = |step: &PendingStep<'run>| {
            let field = step.fields.iter().find(|field| field.key == of_step::TOOL)?;
            super::nodes::node_text(field.node)
        };
        calls.filter_map(tool)
    }

    /// Where the values stand that steps and the run hold as they are, in order, none inside of another.
    pub(super) fn data_ranges(&self) -> Vec<std::ops::Range<usize>> {
        let nodes = self.steps.iter().flat_map(|step| &step.fields).chain(&self.root).map(|entry| entry.node);
        let is_held = |node: &Node<'run>| matches!(node.value, Value::List(_) | Value::Object(_));
        let mut ranges: Vec<_> = nodes.filter(is_held).filter_map(|node| node.origin.byte_range()).collect();
        ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        let mut outer: Vec<std::ops::Range<usize>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            if outer.last().is_none_or(|last| range.end > last.end) {
                outer.push(range);
            }
        }
        outer
    }

    pub(crate) fn step_count(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn steps_of_kind(&self, kind: StepKind) -> Vec<StepId> {
        let steps = self.steps.iter().enumerate().filter(|(_, step)| step.kind == kind);
        steps.map(|(index, _)| StepId(index)).collect()
    }

    /// The calls among the steps from this number on.
    pub(crate) fn calls_from(&self, first: usize) -> impl Iterator<Item = StepId> {
        let steps = self.steps.iter().enumerate().skip(first).filter(|(_, step)| step.kind == StepKind::Call);
        steps.map(|(index, _)| StepId(index))
    }

    /// Inserts derived steps right behind their origin.
    pub(crate) fn insert_derived(
        &mut self,
        derive: impl Fn(&Self, &[ObjectEntry<'run>]) -> Vec<(StepKind, Vec<ObjectEntry<'run>>)>,
    ) {
        let mut all = Vec::with_capacity(self.steps.len());
        let steps = std::mem::take(&mut self.steps);
        for step in steps {
            let derived = if step.kind == StepKind::Call { derive(self, &step.fields) } else { Vec::new() };
            let origin = step.origin;
            all.push(step);
            for (kind, fields) in derived {
                self.mark_recorded(&[kind]);
                all.push(PendingStep { kind, fields, origin });
            }
        }
        self.steps = all;
    }

    pub(crate) fn count_record(&mut self) {
        self.records.seen += 1;
    }

    /// Elements that are no objects count as not understood.
    pub(crate) fn record_objects(
        &mut self,
        items: &'run [Node<'run>],
    ) -> impl Iterator<Item = (Node<'run>, Object<'run>)> + use<'run> {
        for node in items.iter().filter(|node| super::nodes::node_object(**node).is_none()) {
            self.count_record();
            self.skip_value(node, NO_OBJECT);
        }
        super::nodes::object_items(items)
    }

    /// See [`Self::record_objects`]: for readers that do not change the run.
    pub(super) fn known_objects(
        &self,
        items: &'run [Node<'run>],
    ) -> impl Iterator<Item = (Node<'run>, Object<'run>)> + use<'run> {
        for node in items.iter().filter(|node| super::nodes::node_object(**node).is_none()) {
            self.note_unknown(node.origin, NO_OBJECT);
        }
        super::nodes::object_items(items)
    }

    pub(crate) fn warn_once(&mut self, origin: TextOrigin, message: String) {
        if !self.warnings.iter().any(|known| known.message == message) {
            self.add_warning(origin, message);
        }
    }

    pub(crate) fn add_warning(&mut self, origin: TextOrigin, message: impl Into<String>) {
        self.push_warning(origin, message.into(), false);
    }

    pub(super) fn push_warning(&mut self, origin: TextOrigin, message: String, lost: bool) {
        if self.warnings.len() < 100 {
            let offset = origin.byte_range().map_or(0, |range| range.start);
            self.warnings.push(ReadWarning { message, offset, lost });
        }
    }

    pub(super) fn has_lost_in(&self, range: &std::ops::Range<usize>) -> bool {
        self.warnings.iter().any(|warning| warning.lost && range.contains(&warning.offset))
    }

    /// Missing unless the call comes later or has another result.
    pub(crate) fn note_uncalled(&mut self, id: Option<&str>) {
        let id = id.map(|id| &*self.arena.alloc_str(id));
        self.uncalled.push(id);
    }

    fn count_missing_calls(&self) -> u64 {
        if self.uncalled.is_empty() {
            return 0;
        }
        let calls = self.steps.iter().filter(|step| step.kind == StepKind::Call);
        let of_call =
            |step: &PendingStep<'run>| step.fields.iter().find(|field| field.key == of_step::ID).map(|id| id.node);
        let known: FxHashSet<&str> = calls.filter_map(of_call).filter_map(super::nodes::node_text).collect();
        let missing = self.uncalled.iter().filter(|id| id.is_none_or(|id| !known.contains(id)));
        missing.count() as u64
    }

    pub(crate) fn object_node(&self, entries: &[ObjectEntry<'run>]) -> Node<'run> {
        Node::computed(Value::Object(Object::new(self.arena, self.arena.alloc_slice_copy(entries))))
    }

    pub(crate) fn list_node(&self, items: &[Node<'run>]) -> Node<'run> {
        Node::computed(Value::List(self.arena.alloc_slice_copy(items)))
    }

    /// Success is concluded from a result alone; rules on failure take precedence.
    pub(crate) fn assume_success(&mut self) {
        self.assumes_success = true;
    }

    /// Says that the names are of somebody's own making, so that times and numbers are checked as in the normal form.
    pub(crate) fn is_home_grown(&mut self) {
        self.home_grown = true;
    }

    pub(crate) fn note_model(&mut self, model: Option<Node<'run>>) {
        if let Some(model) =
            model.and_then(super::nodes::node_text).filter(|model| !self.spending.models.contains(model))
        {
            self.spending.models.push(model);
        }
    }

    /// The cost of usage depends on the model.
    pub(super) fn add_usage(&mut self, counts: UsageCounts, model: Option<Node<'run>>) {
        self.note_model(model);
        let model = model.and_then(super::nodes::node_text);
        self.spending.parts.push(ModelTokens { model, counts });
    }

    pub(crate) fn finish_run(
        mut self,
        text: &'run str,
        source: RunSource,
        format: &'static str,
        origin: TextOrigin,
    ) -> (NormalRun<'run>, ModelSpending<'run>) {
        self.count_unknown();
        // What a home-grown run lists is all that it did.
        if !self.home_grown {
            super::written_actions::leave_written_open(&mut self);
        }
        // Records by whose form the format was told, of which most could not be read, say nothing of what was done.
        if self.steps.is_empty() && self.records.lost * 2 > self.records.seen {
            self.recorded = [false; StepKind::ALL.len()];
        }
        let of_main = |step: &&mut PendingStep<'run>| step.fields.iter().all(|field| field.key != of_step::AGENT);
        for step in self.steps.iter_mut().filter(|_| self.names_agents).filter(of_main) {
            step.fields.push(ObjectEntry::computed(of_step::AGENT, Value::plain_text(MAIN_AGENT)));
        }
        let mut lists: [Vec<Node<'run>>; StepKind::ALL.len()] = Default::default();
        let mut order = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let object = Object::new(self.arena, self.arena.alloc_slice_copy(&step.fields));
            if let Some(list) = lists.get_mut(step.kind as usize) {
                order.push((step.kind, u32::try_from(list.len()).unwrap_or(u32::MAX)));
                list.push(Node::new(Value::Object(object), step.origin));
            }
        }
        self.records.missing_calls = self.count_missing_calls();
        if self.records.missing_calls > 0 {
            self.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
        }
        let mut root = self.root;
        for ((kind, list), recorded) in StepKind::ALL.into_iter().zip(&lists).zip(self.recorded) {
            if recorded {
                root.push(ObjectEntry::computed(kind.list_key(), Value::List(self.arena.alloc_slice_copy(list))));
            }
        }
        let object = Object::new(self.arena, self.arena.alloc_slice_copy(&root));
        let (object, order) = (Node::new(Value::Object(object), origin), self.ordered.then_some(order));
        let normal = NormalRun {
            text,
            source,
            format,
            object,
            order,
            records: self.records,
            warnings: self.warnings,
            priced: CostSource::NotAsked,
            concludes_ok: self.assumes_success,
            draft_bytes: self.draft_bytes,
            of_format: !self.home_grown,
        };
        (normal, self.spending)
    }
}

pub(crate) fn count_node<'run>(number: usize) -> Node<'run> {
    Node::computed(Value::Number(Number::from_count(number)))
}

pub(crate) fn field_entry<'run>(key: &'run str, node: Node<'run>) -> ObjectEntry<'run> {
    ObjectEntry { key, node }
}

/// Marks a step field as not recorded, although it could be derived.
pub(crate) fn absent_node<'run>() -> Node<'run> {
    Node::computed(Value::Absent)
}
