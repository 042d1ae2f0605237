//! From the normal form to a [`Run`]: the order of the steps, what can be derived from what is recorded, and what is not recorded.
//!
//! Every adapter ends here, so that a field means the same wherever a run came from.

mod agents;
mod derived;
pub(crate) mod failure_signs;
mod fields;
mod near_run_keys;
mod order;
pub(crate) mod root;
mod status;
mod step;

use super::error::{PlacedError, ReadError};
use averment_base::limits::{RunMemory, used_bytes};
use averment_base::value::json;
use averment_base::value::{Node, Object, TextOrigin, Value};
use averment_runs::normal::of_run;
use averment_runs::run::{CostSource, ReadWarning, RecordCounts, Run, RunSource, Step, StepKind};
use bumpalo::Bump;
pub use derived::{FOLLOWING_KINDS, FollowingStep, derives_steps, following_steps};
pub(crate) use near_run_keys::near_run_key;
use order::StepOrder;
use rustc_hash::FxHashMap;
pub use status::StepEnding;
pub(crate) use step::records_any;

/// A run in normal form, before derivation.
#[derive(Debug)]
pub(crate) struct NormalRun<'run> {
    pub(crate) text: &'run str,
    pub(crate) source: RunSource,
    pub(crate) format: &'static str,
    /// The object of section 11.
    pub(crate) object: Node<'run>,
    /// Kind and index of all steps, if the format knows their order and the object has no `steps`.
    pub(crate) order: Option<GivenOrder>,
    pub(crate) records: RecordCounts,
    pub(crate) warnings: Vec<ReadWarning>,
    pub(crate) priced: CostSource,
    /// Success is concluded from a result alone.
    pub(crate) concludes_ok: bool,
    /// Bytes that were taken beside the arena to make it, which the allocator may keep.
    pub(crate) draft_bytes: usize,
    /// The format itself says in which order everything came, and what its numbers mean: it is neither the normal form nor home-grown.
    pub(crate) of_format: bool,
}

/// Kind, and index among recorded steps of that kind.
pub(crate) type GivenOrder = Vec<(StepKind, u32)>;

#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedSteps<'run> {
    items: Vec<Node<'run>>,
    recorded: bool,
    /// `null` stands for the list: how many steps there are is not known.
    unknown: bool,
    /// Recorded by `steps`, in which none of the kind stands.
    implied: bool,
}

pub(crate) type StepLists<'run> = [RecordedSteps<'run>; StepKind::ALL.len()];

pub(crate) fn build_run<'run>(normal: NormalRun<'run>, memory: RunMemory<'run>) -> Result<Run<'run>, ReadError> {
    let (text, source) = (normal.text, normal.source.clone());
    StepBuilder {
        arena: memory.arena,
        memory,
        format: normal.format,
        of_format: normal.of_format,
        depths: FxHashMap::default(),
        records: normal.records,
        warnings: normal.warnings,
        priced: normal.priced,
        concludes_ok: normal.concludes_ok,
        derived: 0,
        held: normal.draft_bytes,
    }
    .assemble_run(normal.text, normal.source, normal.object, normal.order)
    .map_err(|error| ReadError::at_offset(&source, text, error.offset, error.problem))
}

pub(crate) struct StepBuilder<'run> {
    pub(crate) arena: &'run Bump,
    pub(crate) format: &'static str,
    pub(crate) of_format: bool,
    records: RecordCounts,
    /// Depths of agents in handovers.
    pub(crate) depths: FxHashMap<&'run str, i64>,
    pub(crate) warnings: Vec<ReadWarning>,
    priced: CostSource,
    concludes_ok: bool,
    derived: usize,
    memory: RunMemory<'run>,
    /// Bytes beside the arena.
    held: usize,
}

/// In bytes, what a step takes beside the arena while the steps are put in order.
const ORDER_BYTES: usize = 2 * size_of::<Node<'_>>() + 96;

pub(crate) fn too_large(origin: TextOrigin, memory: &RunMemory<'_>) -> PlacedError {
    PlacedError::new(origin, memory.refusal(), json::TOO_LARGE)
}

/// In bytes: a command with many programs derives many times its text.
const MOST_DERIVED: usize = 256 << 20;

impl<'run> StepBuilder<'run> {
    pub(crate) fn count_derived(&mut self, before: usize, origin: TextOrigin) -> Result<(), PlacedError> {
        let added = used_bytes(self.arena).saturating_sub(before);
        self.derived = self.derived.saturating_add(added);
        if self.derived > MOST_DERIVED {
            let message = format!("what the commands of the run say takes more than {} MiB", MOST_DERIVED >> 20);
            return Err(PlacedError::new(origin, message, "cut the run into several, or leave `commands` out"));
        }
        Ok(())
    }

    /// A run whose steps take many times its bytes ends with an error and not with the memory of the machine.
    fn check_memory(&self, origin: TextOrigin, added: usize) -> Result<(), PlacedError> {
        if self.memory.holds(self.held.saturating_add(added)) { Ok(()) } else { Err(too_large(origin, &self.memory)) }
    }

    fn assemble_run(
        mut self,
        text: &'run str,
        source: RunSource,
        root: Node<'run>,
        given: Option<GivenOrder>,
    ) -> Result<Run<'run>, PlacedError> {
        let Value::Object(object) = root.value else {
            let found = root.value.type_name();
            return Err(PlacedError::new(root.origin, format!("a run is an object, found {found}"), "write `{ … }`"));
        };
        let (lists, given) = self.step_lists(object, given)?;
        let mut ordered = order::order_steps(&lists, given, self.of_format)?;
        let complete = root::is_complete(object)?;
        let (steps, recorded) = self.build_steps(&lists, &mut ordered, complete)?;
        self.records.empty = steps.is_empty() && root::is_unset(object, self.of_format);
        if self.records.empty {
            self.warn_once(root.origin, root::EMPTY);
        }
        let entries = root::build_entries(&mut self, object, recorded, steps)?;
        Ok(Run {
            text,
            source,
            format: self.format,
            concludes_ok: !self.of_format || self.concludes_ok,
            id: root::run_id(object)?,
            object: Object::new(self.arena, entries),
            steps,
            order: ordered.kinds,
            recorded,
            complete,
            records: self.records,
            warnings: self.warnings,
            withheld: Vec::new(),
            priced: self.priced,
        })
    }

    fn step_lists(
        &mut self,
        object: Object<'run>,
        given: Option<GivenOrder>,
    ) -> Result<(StepLists<'run>, Option<GivenOrder>), PlacedError> {
        let mut lists: StepLists<'run> = Default::default();
        for (kind, list) in StepKind::ALL.into_iter().zip(&mut lists) {
            if let Some(items) = root::list_entries(object, kind.list_key())? {
                *list = RecordedSteps { items: items.to_vec(), recorded: true, ..RecordedSteps::default() };
            }
            list.unknown = object.get(kind.list_key()).is_some_and(|node| matches!(node.value, Value::Null));
        }
        match root::list_entries(object, of_run::STEPS)? {
            Some(steps) => {
                let order = order::read_given(steps, &mut lists)?;
                for list in lists.iter_mut().filter(|list| list.items.is_empty()) {
                    list.recorded = !list.unknown;
                }
                Ok((lists, Some(order)))
            }
            None => Ok((lists, given)),
        }
    }

    fn build_steps(
        &mut self,
        lists: &StepLists<'run>,
        ordered: &mut StepOrder,
        complete: bool,
    ) -> Result<(&'run [Step<'run>], [bool; StepKind::ALL.len()]), PlacedError> {
        self.held = self.held.saturating_add(ordered.steps.len().saturating_mul(ORDER_BYTES));
        self.check_memory(TextOrigin::COMPUTED, ordered.steps.len().saturating_mul(size_of::<Step<'_>>()))?;
        let evidence = step::CallEvidence::from_lists(lists, complete);
        let mut steps = bumpalo::collections::Vec::with_capacity_in(ordered.steps.len(), self.arena);
        let mut derivation = derived::CallDerivation::from_lists(lists, self.of_format);
        let mut executed = 0;
        for slot in &ordered.steps {
            let Some(node) = lists.get(slot.kind as usize).and_then(|list| list.items.get(slot.recorded)) else {
                continue;
            };
            let mut step = step::build_step(self, slot.kind, *node, slot.index, evidence)?;
            step.call_position = executed;
            executed += u32::from(slot.kind == StepKind::Call && step.status.is_executed());
            self.check_memory(node.origin, 0)?;
            steps.push(step);
            if step.kind == StepKind::Call {
                derivation.add_steps(self, &step, evidence, &mut steps)?;
            }
        }
        let recorded = derivation.finish(self, lists, &mut steps, &mut ordered.kinds);
        Ok((steps.into_bump_slice(), recorded))
    }

    pub(crate) fn warn_once(&mut self, origin: TextOrigin, message: &str) {
        if !self.warnings.iter().any(|known| known.message == message) {
            self.add_warning(origin, message.to_owned());
        }
    }

    pub(crate) fn add_warning(&mut self, origin: TextOrigin, message: String) {
        // A run can hold one for every step; nobody reads more than some.
        if self.warnings.len() < 100 {
            self.warnings.push(ReadWarning {
                message,
                offset: origin.byte_range().map_or(0, |range| range.start),
                lost: false,
            });
        }
    }
}
