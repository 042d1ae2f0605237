//! Steps that follow from the calls of known tools, for runs whose own lists hold none of their kind.
//!
//! However a run is written, the same calls give the same commands, reads, writes, skills and requests. A kind of which some call may have been,
//! and which nobody can tell, counts as not recorded: rules about it are undecided and never hold by accident.

use super::step::{self, CallEvidence};
use super::{RecordedSteps, StepBuilder, StepLists};
use crate::adapt::tools;
pub use crate::adapt::tools::derives_steps;
use crate::error::PlacedError;
use averment_base::value::{Node, Object, ObjectEntry, Value, ValueText};
use averment_runs::normal::of_step;
use averment_runs::run::{KindOrder, Step, StepKind};
pub use averment_runs::write_normal::FOLLOWING_KINDS;
use bumpalo::Bump;

type BuiltSteps<'run> = bumpalo::collections::Vec<'run, Step<'run>>;

/// What a run itself says of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum OwnList {
    /// It says with `null` that they are unknown, or its format knows its steps or has none: nothing is derived.
    #[default]
    Closed,
    /// It has steps: nothing is derived, and calls may say that some are missing.
    Listed,
    /// An empty list.
    Empty,
    /// Nothing.
    None,
}

#[derive(Debug, Clone, Copy, Default)]
struct DerivedKind {
    own: OwnList,
    /// Derived steps so far.
    count: u32,
    /// Steps of its own list.
    listed: u32,
    /// Steps that the calls of known tools say there are at least.
    told: u32,
    /// Some call may be another step of the kind.
    left_open: bool,
}

impl DerivedKind {
    /// Whether what follows from calls is not all there is of the kind: it counts as not recorded.
    fn is_open(self) -> bool {
        match self.own {
            OwnList::Closed => false,
            OwnList::Listed => self.left_open && self.told > self.listed,
            OwnList::Empty | OwnList::None => self.left_open,
        }
    }

    fn is_derived(self) -> bool {
        matches!(self.own, OwnList::Empty | OwnList::None)
    }
}

/// A step that follows from a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FollowingStep {
    /// The place of the call among the executed ones.
    pub call: usize,
    /// Its kind.
    pub kind: StepKind,
}

/// The steps that follow from the executed calls of a run without lists of their kinds, in order: those that it has when it is read in full.
/// `derives` says of a call by its place what [`derives_steps`] says of its tool. `args` gives the arguments of a call by
/// its place, and is asked for as few as decide it: `None` where only the full reader knows them.
pub fn following_steps<'run, 'names>(
    arena: &'run Bump,
    tools: impl Iterator<Item = &'names str> + Clone,
    derives: impl Fn(usize) -> bool,
    mut args: impl FnMut(usize) -> Option<Option<Node<'run>>>,
) -> Option<Vec<FollowingStep>> {
    let mut found = Vec::new();
    for (call, tool) in tools.clone().enumerate().filter(|(call, _)| derives(*call)) {
        let Some(args) = args(call)? else { continue };
        let name = Node::computed(Value::Text(ValueText::Plain(arena.alloc_str(tool))));
        let entries = [ObjectEntry { key: of_step::TOOL, node: name }, ObjectEntry { key: of_step::ARGS, node: args }];
        let derived = tools::derive_by_name(arena, tool, &entries);
        found.extend(derived.into_iter().map(|(kind, _)| FollowingStep { call, kind }));
    }
    if found.is_empty() {
        return Some(found);
    }
    let mut derivation = CallDerivation::of_calls_alone();
    for (call, tool) in tools.enumerate() {
        if found.binary_search_by_key(&call, |step| step.call).is_err() {
            derivation.leave_open(tool, args(call)?);
        }
    }
    found.retain(|step| !derivation.kind_state(step.kind).is_open());
    Some(found)
}

#[derive(Debug, Default)]
pub(super) struct CallDerivation {
    kinds: [DerivedKind; StepKind::ALL.len()],
}

impl CallDerivation {
    /// Of the formats of others empty lists are looked at again: a known tool that names no file, under whatever key, may have written one.
    pub(super) fn from_lists(lists: &StepLists<'_>, of_format: bool) -> Self {
        let mut found = Self::default();
        for kind in FOLLOWING_KINDS {
            let Some(list) = lists.get(kind as usize).filter(|list| !list.unknown) else { continue };
            let own = match list {
                RecordedSteps { items, .. } if !items.is_empty() => {
                    if of_format {
                        OwnList::Closed
                    } else {
                        OwnList::Listed
                    }
                }
                RecordedSteps { recorded: true, implied: false, .. } => OwnList::Empty,
                _ if of_format => OwnList::Closed,
                _ => OwnList::None,
            };
            if let Some(slot) = found.kinds.get_mut(kind as usize) {
                slot.own = own;
                slot.listed = u32::try_from(list.items.len()).unwrap_or(u32::MAX);
            }
        }
        found
    }

    /// That of a run without a list of any kind that follows from calls.
    fn of_calls_alone() -> Self {
        let mut found = Self::default();
        for kind in FOLLOWING_KINDS {
            if let Some(slot) = found.kinds.get_mut(kind as usize) {
                slot.own = OwnList::None;
            }
        }
        found
    }

    fn kind_state(&self, kind: StepKind) -> DerivedKind {
        self.kinds.get(kind as usize).copied().unwrap_or_default()
    }

    /// Adds the steps that follow from a call, right behind it.
    pub(super) fn add_steps<'run>(
        &mut self,
        builder: &mut StepBuilder<'run>,
        call: &Step<'run>,
        evidence: CallEvidence,
        steps: &mut BuiltSteps<'run>,
    ) -> Result<(), PlacedError> {
        if !call.status.is_executed() || self.kinds.iter().all(|kind| kind.own == OwnList::Closed) {
            return Ok(());
        }
        let derived = tools::derive_by_name(builder.arena, call.name, call.object.entries());
        if derived.is_empty() {
            self.leave_open(call.name, call.object.get(of_step::ARGS));
        }
        for (kind, fields) in derived {
            let Some(slot) = self.kinds.get_mut(kind as usize) else { continue };
            slot.told = slot.told.saturating_add(1);
            if !slot.is_derived() {
                continue;
            }
            let object = Object::new(builder.arena, builder.arena.alloc_slice_copy(&fields));
            let node = Node::new(Value::Object(object), call.node.origin);
            let mut step = step::build_step(builder, kind, node, slot.count, evidence)?;
            step.call_position = call.call_position.saturating_add(1);
            slot.count = slot.count.saturating_add(1);
            builder.check_memory(call.node.origin, 0)?;
            steps.push(step);
        }
        Ok(())
    }

    /// For a call from which nothing follows.
    fn leave_open(&mut self, tool: &str, args: Option<Node<'_>>) {
        let is_known = tools::derives_steps(tool);
        for kind in tools::kinds_left_open(tool, args) {
            if let Some(slot) = self.kinds.get_mut(*kind as usize) {
                // A list says that no tool of unknown meaning did any other: only a known one contradicts it.
                slot.left_open |= is_known || slot.own == OwnList::None;
                slot.told = slot.told.saturating_add(u32::from(is_known));
            }
        }
    }

    /// Takes back what is incomplete. Says which kinds the run records, and gives derived ones the order of the calls.
    pub(super) fn finish<'run>(
        self,
        builder: &mut StepBuilder<'run>,
        lists: &StepLists<'run>,
        steps: &mut BuiltSteps<'run>,
        order: &mut KindOrder,
    ) -> [bool; StepKind::ALL.len()] {
        let state = |kind: StepKind| self.kind_state(kind);
        let is_open = |kind: StepKind| state(kind).is_open();
        if self.kinds.iter().any(|kind| kind.is_open() && kind.count.max(kind.listed) > 0) {
            steps.retain(|step| !is_open(step.kind));
        }
        let derives = |kind: &StepKind| state(*kind).count > 0 && !is_open(*kind);
        for kind in StepKind::ALL.into_iter().filter(derives) {
            for other in StepKind::ALL.into_iter().filter(|other| !derives(other)) {
                if !order.is_ordered(StepKind::Call, other) {
                    order.remove_order(kind, other);
                }
            }
        }
        let mut recorded = [false; StepKind::ALL.len()];
        for ((kind, list), recorded) in StepKind::ALL.into_iter().zip(lists).zip(&mut recorded) {
            *recorded = (list.recorded || state(kind).count > 0) && !is_open(kind);
            let why = match state(kind).own {
                OwnList::Empty if is_open(kind) => "is empty and calls say otherwise",
                OwnList::Listed if is_open(kind) => "has fewer steps than calls say",
                _ => continue,
            };
            let key = kind.list_key();
            let message = format!("`{key}` {why}: `{key}` counts as not recorded");
            builder.add_warning(averment_base::value::TextOrigin::COMPUTED, message);
        }
        recorded
    }
}
