//! A run while an adapter fills it.

use crate::build::Normal;
use crate::prices::{Counts, Spending, Spent};
use averment_base::limits::Limits;
use averment_base::value::{Entry, Node, Number, Object, Origin, Value};
use averment_runs::normal::{MAIN_AGENT, of_run, of_step};
use averment_runs::run::{Kind, Priced, ReadWarning, Records, RunSource};
use bumpalo::Bump;
use rustc_hash::FxHashSet;

/// A run in normal form that is being put together, its steps in the order in which they are added.
pub(crate) struct Draft<'run, 'limits> {
    pub(crate) arena: &'run Bump,
    pub(crate) limits: &'limits Limits,
    root: Vec<Entry<'run>>,
    steps: Vec<Pending<'run>>,
    recorded: [bool; Kind::ALL.len()],
    ordered: bool,
    records: Records,
    names_agents: bool,
    warnings: Vec<ReadWarning>,
    spending: Spending<'run>,
    concludes_ok: bool,
    home_grown: bool,
    /// What the results name whose calls were not there.
    uncalled: Vec<Option<&'run str>>,
    /// What is asked of the run, where that is not all of it.
    asked: Option<Asked<'limits>>,
    /// Only the whole run tells what is asked.
    needs_whole: bool,
}

/// What is said of a value where a record is expected.
const NO_OBJECT: &str = "what is no object is passed over";

/// What a projection asks of a run: its calls, and these of its entries that are not put together from several parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) entries: &'a [String],
    /// Arguments that are written as text may stay text: somebody else reads them.
    pub(crate) args_as_written: bool,
}

/// A step whose fields may still grow.
pub(crate) struct Pending<'run> {
    pub(crate) kind: Kind,
    pub(crate) fields: Vec<Entry<'run>>,
    origin: Origin,
}

/// A step of a [`Draft`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct StepId(usize);

impl<'run, 'limits> Draft<'run, 'limits> {
    pub(crate) fn new(
        arena: &'run Bump,
        limits: &'limits Limits,
        records: Records,
        warnings: Vec<ReadWarning>,
    ) -> Self {
        Self {
            arena,
            limits,
            root: Vec::new(),
            steps: Vec::new(),
            recorded: [false; Kind::ALL.len()],
            ordered: true,
            records,
            names_agents: false,
            warnings,
            spending: Spending::default(),
            concludes_ok: false,
            home_grown: false,
            uncalled: Vec::new(),
            asked: None,
            needs_whole: false,
        }
    }

    /// A draft of which only so much is asked: the rest may be left out.
    pub(crate) fn projection(arena: &'run Bump, limits: &'limits Limits, asked: Asked<'limits>) -> Self {
        Self { asked: Some(asked), ..Self::new(arena, limits, Records::default(), Vec::new()) }
    }

    /// Whether all steps are asked for, and what is put together from several parts of the run.
    pub(crate) fn is_whole(&self) -> bool {
        self.asked.is_none()
    }

    /// Says that what is asked depends on what was left out.
    pub(crate) fn needs_whole(&mut self) {
        self.needs_whole = true;
    }

    /// Whether an entry of the run is asked for.
    pub(crate) fn asks_for(&self, entry: &str) -> bool {
        self.asked.is_none_or(|asked| asked.entries.iter().any(|asked| asked == entry))
    }

    /// Whether arguments that are written as text may stay text.
    pub(crate) fn takes_args_as_written(&self) -> bool {
        self.asked.is_some_and(|asked| asked.args_as_written)
    }

    /// Its steps in order, and whether it records calls; `None` where only the run that is made of it tells all of them, or something was
    /// odd.
    pub(crate) fn projected(&self) -> Option<(&[Pending<'run>], bool)> {
        let plain = !self.needs_whole && self.ordered && self.warnings.is_empty() && self.uncalled.is_empty();
        plain.then_some((&self.steps, self.recorded.get(Kind::Call as usize) == Some(&true)))
    }

    /// The value of an entry of the run.
    pub(crate) fn entry(&self, key: &str) -> Option<Node<'run>> {
        self.root.iter().find(|entry| entry.key == key).map(|entry| entry.node)
    }

    /// Says that the format records steps of these kinds: that there are none is then evidence.
    pub(crate) fn records(&mut self, kinds: &[Kind]) {
        for kind in kinds {
            if let Some(recorded) = self.recorded.get_mut(*kind as usize) {
                *recorded = true;
            }
        }
    }

    /// Says that the format does not record steps of a kind after all.
    pub(crate) fn unrecord(&mut self, kind: Kind) {
        if let Some(recorded) = self.recorded.get_mut(kind as usize) {
            *recorded = false;
        }
    }

    /// Says that the order in which steps of different kinds were added means nothing.
    pub(crate) fn kinds_in_no_order(&mut self) {
        self.ordered = false;
    }

    /// Says that the format names whoever takes a step, but for the main agent: that one is named here.
    pub(crate) fn names_agents(&mut self) {
        self.names_agents = true;
    }

    /// Sets an entry of the run: of several values the last counts.
    pub(crate) fn set(&mut self, key: &'run str, node: Node<'run>) {
        self.root.retain(|entry| entry.key != key);
        self.root.push(Entry { key, node });
    }

    /// Sets an entry where there is a value.
    pub(crate) fn set_some(&mut self, key: &'run str, node: Option<Node<'run>>) {
        if let Some(node) = node {
            self.set(key, node);
        }
    }

    /// Adds a step.
    pub(crate) fn step(&mut self, kind: Kind, fields: Vec<Entry<'run>>, origin: Origin) -> StepId {
        self.records(&[kind]);
        self.steps.push(Pending { kind, fields, origin });
        StepId(self.steps.len() - 1)
    }

    /// Adds a field to a step that is there.
    pub(crate) fn amend(&mut self, step: StepId, key: &'run str, node: Node<'run>) {
        if let Some(step) = self.steps.get_mut(step.0) {
            step.fields.push(Entry { key, node });
        }
    }

    /// Sets a field of a step, whether it is there or not.
    pub(crate) fn replace(&mut self, step: StepId, key: &'run str, node: Node<'run>) {
        if let Some(step) = self.steps.get_mut(step.0) {
            step.fields.retain(|field| field.key != key);
            step.fields.push(Entry { key, node });
        }
    }

    /// Takes an entry of the run away, and a field of all its steps: what stood there is not recorded after all.
    pub(crate) fn forget(&mut self, entry: &str, of_steps: &str) {
        self.root.retain(|known| known.key != entry);
        for step in &mut self.steps {
            step.fields.retain(|field| field.key != of_steps);
        }
    }

    /// Whether the run has an entry already.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.root.iter().any(|entry| entry.key == key)
    }

    /// A field of a step.
    pub(crate) fn field(&self, step: StepId, key: &str) -> Option<Node<'run>> {
        let fields = &self.steps.get(step.0)?.fields;
        fields.iter().find(|field| field.key == key).map(|field| field.node)
    }

    /// How many steps there are so far.
    pub(crate) fn steps_so_far(&self) -> usize {
        self.steps.len()
    }

    /// All steps of a kind so far.
    pub(crate) fn steps(&self, kind: Kind) -> Vec<StepId> {
        let steps = self.steps.iter().enumerate().filter(|(_, step)| step.kind == kind);
        steps.map(|(index, _)| StepId(index)).collect()
    }

    /// Puts steps right behind others; `derive` gives those that follow from one.
    pub(crate) fn insert_derived(&mut self, derive: impl Fn(&Self, &[Entry<'run>]) -> Vec<(Kind, Vec<Entry<'run>>)>) {
        let mut all = Vec::with_capacity(self.steps.len());
        let steps = std::mem::take(&mut self.steps);
        for step in steps {
            let derived = if step.kind == Kind::Call { derive(self, &step.fields) } else { Vec::new() };
            let origin = step.origin;
            all.push(step);
            for (kind, fields) in derived {
                self.records(&[kind]);
                all.push(Pending { kind, fields, origin });
            }
        }
        self.steps = all;
    }

    /// Counts a record of the text that is looked at: a line, a message, an event, a span.
    pub(crate) fn record(&mut self) {
        self.records.seen += 1;
    }

    /// Says that a record which was counted is not understood and passed over, and why.
    pub(crate) fn not_understood(&mut self, origin: Origin, message: impl Into<String>) {
        self.records.not_understood += 1;
        self.warn(origin, message);
    }

    /// The objects of a list of records. What is none is a record that nobody understands.
    pub(crate) fn objects(
        &mut self,
        items: &'run [Node<'run>],
    ) -> impl Iterator<Item = (Node<'run>, Object<'run>)> + use<'run> {
        for node in items.iter().filter(|node| super::nodes::object(**node).is_none()) {
            self.record();
            self.not_understood(node.origin, NO_OBJECT);
        }
        super::nodes::objects(items)
    }

    /// The same, unless it was said already.
    pub(crate) fn warn_once(&mut self, origin: Origin, message: String) {
        if !self.warnings.iter().any(|known| known.message == message) {
            self.warn(origin, message);
        }
    }

    pub(crate) fn warn(&mut self, origin: Origin, message: impl Into<String>) {
        if self.warnings.len() < 100 {
            let offset = origin.range().map_or(0, |range| range.start);
            self.warnings.push(ReadWarning { message: message.into(), offset, lost: false });
        }
    }

    /// Says that a result names a call that was not there: unless that comes later, or has another result already, it is missing.
    pub(crate) fn lacks_call(&mut self, id: Option<&str>) {
        let id = id.map(|id| &*self.arena.alloc_str(id));
        self.uncalled.push(id);
    }

    /// How many results prove that a call is missing.
    fn count_missing_calls(&self) -> u64 {
        if self.uncalled.is_empty() {
            return 0;
        }
        let calls = self.steps.iter().filter(|step| step.kind == Kind::Call);
        let of_call =
            |step: &Pending<'run>| step.fields.iter().find(|field| field.key == of_step::ID).map(|id| id.node);
        let known: FxHashSet<&str> = calls.filter_map(of_call).filter_map(super::nodes::text).collect();
        let missing = self.uncalled.iter().filter(|id| id.is_none_or(|id| !known.contains(id)));
        missing.count() as u64
    }

    /// An object with computed place.
    pub(crate) fn object(&self, entries: &[Entry<'run>]) -> Node<'run> {
        Node::computed(Value::Object(Object::new(self.arena, self.arena.alloc_slice_copy(entries))))
    }

    /// A list with computed place.
    pub(crate) fn list(&self, items: &[Node<'run>]) -> Node<'run> {
        Node::computed(Value::List(self.arena.alloc_slice_copy(items)))
    }

    /// Says that a result alone means that a call went well, for want of other words: what rules say of failure comes before that.
    pub(crate) fn concludes_ok(&mut self) {
        self.concludes_ok = true;
    }

    /// Says that the names are of somebody's own making, so that times and numbers are checked as in the normal form.
    pub(crate) fn is_home_grown(&mut self) {
        self.home_grown = true;
    }

    /// Notes a model that did something in the run.
    pub(crate) fn names_model(&mut self, model: Option<Node<'run>>) {
        if let Some(model) = model.and_then(super::nodes::text).filter(|model| !self.spending.models.contains(model)) {
            self.spending.models.push(model);
        }
    }

    /// Notes what a request to a model used: what that costs depends on the model.
    pub(super) fn spends(&mut self, counts: Counts, model: Option<Node<'run>>) {
        self.names_model(model);
        let model = model.and_then(super::nodes::text);
        self.spending.parts.push(Spent { model, counts });
    }

    /// The run in normal form, and what is known of its models.
    pub(crate) fn finish(
        mut self,
        text: &'run str,
        source: RunSource,
        format: &'static str,
        origin: Origin,
    ) -> (Normal<'run>, Spending<'run>) {
        let of_main = |step: &&mut Pending<'run>| step.fields.iter().all(|field| field.key != of_step::AGENT);
        for step in self.steps.iter_mut().filter(|_| self.names_agents).filter(of_main) {
            step.fields.push(Entry::computed(of_step::AGENT, Value::plain(MAIN_AGENT)));
        }
        let mut lists: [Vec<Node<'run>>; Kind::ALL.len()] = Default::default();
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
            self.set(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
        }
        let mut root = self.root;
        for ((kind, list), recorded) in Kind::ALL.into_iter().zip(&lists).zip(self.recorded) {
            if recorded {
                root.push(Entry::computed(kind.list_key(), Value::List(self.arena.alloc_slice_copy(list))));
            }
        }
        let object = Object::new(self.arena, self.arena.alloc_slice_copy(&root));
        let (object, order) = (Node::new(Value::Object(object), origin), self.ordered.then_some(order));
        let normal = Normal {
            text,
            source,
            format,
            object,
            order,
            records: self.records,
            warnings: self.warnings,
            priced: Priced::NotAsked,
            concludes_ok: self.concludes_ok,
            of_format: !self.home_grown,
        };
        (normal, self.spending)
    }
}

/// A count as a value.
pub(crate) fn count<'run>(number: usize) -> Node<'run> {
    Node::computed(Value::Number(Number::from_count(number)))
}

/// An entry with its node.
pub(crate) fn field<'run>(key: &'run str, node: Node<'run>) -> Entry<'run> {
    Entry { key, node }
}

/// What says that a field of a step is not recorded, although something could be derived for it.
pub(crate) fn withheld<'run>() -> Node<'run> {
    Node::computed(Value::Absent)
}
