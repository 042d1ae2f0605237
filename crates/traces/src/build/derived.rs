//! Steps that follow from the calls of known tools, for runs whose own lists hold none of their kind.
//!
//! However a run is written, the same calls give the same commands, reads, writes, skills and requests. A kind of which some call may have been,
//! and which nobody can tell, counts as not recorded: rules about it are undecided and never hold by accident.

use super::step::{self, CallEvidence};
use super::{RecordedSteps, StepBuilder, StepLists};
use crate::adapt::tools;
use crate::error::PlacedError;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_step;
use averment_runs::run::{KindOrder, Step, StepKind};

type BuiltSteps<'run> = bumpalo::collections::Vec<'run, Step<'run>>;

/// What a run itself says of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum OwnList {
    /// It has steps, or says with `null` that they are unknown: nothing is derived.
    #[default]
    Closed,
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
    /// Some call may be another step of the kind.
    left_open: bool,
}

#[derive(Debug, Default)]
pub(super) struct CallDerivation {
    kinds: [DerivedKind; StepKind::ALL.len()],
}

impl CallDerivation {
    /// Of the formats of others empty lists are looked at again: a known tool that names no file, under whatever key, may have written one.
    pub(super) fn from_lists(lists: &StepLists<'_>, of_format: bool) -> Self {
        use StepKind::{Command, Http, Read, Skill, Write};
        let mut found = Self::default();
        for kind in [Command, Read, Write, Skill, Http] {
            let Some(list) = lists.get(kind as usize).filter(|list| list.items.is_empty() && !list.unknown) else {
                continue;
            };
            let own = match list {
                RecordedSteps { recorded: true, implied: false, .. } => OwnList::Empty,
                _ if of_format => OwnList::Closed,
                _ => OwnList::None,
            };
            if let Some(slot) = found.kinds.get_mut(kind as usize) {
                slot.own = own;
            }
        }
        found
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
        let derived = match tools::derives_steps(call.name) {
            true => tools::derive_from_call(builder.arena, call.object.entries()),
            false => Vec::new(),
        };
        if derived.is_empty() {
            self.leave_open(call);
        }
        for (kind, fields) in derived {
            let Some(slot) = self.kinds.get_mut(kind as usize).filter(|slot| slot.own != OwnList::Closed) else {
                continue;
            };
            let object = Object::new(builder.arena, builder.arena.alloc_slice_copy(&fields));
            let node = Node::new(Value::Object(object), call.node.origin);
            let mut step = step::build_step(builder, kind, node, slot.count, evidence)?;
            step.call_position = call.call_position.saturating_add(1);
            slot.count = slot.count.saturating_add(1);
            builder.count_step(&step)?;
            steps.push(step);
        }
        Ok(())
    }

    fn leave_open(&mut self, call: &Step<'_>) {
        let is_known = tools::derives_steps(call.name);
        for kind in tools::kinds_left_open(call.name, call.object.get(of_step::ARGS)) {
            if let Some(slot) = self.kinds.get_mut(*kind as usize) {
                // An empty list says that no tool of unknown meaning did any: only a known one contradicts it.
                slot.left_open |= is_known || slot.own == OwnList::None;
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
        let state = |kind: StepKind| self.kinds.get(kind as usize).copied().unwrap_or_default();
        let is_open = |kind: StepKind| state(kind).own != OwnList::Closed && state(kind).left_open;
        if self.kinds.iter().any(|kind| kind.left_open && kind.count > 0) {
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
            if is_open(kind) && state(kind).own == OwnList::Empty {
                let key = kind.list_key();
                let message = format!("`{key}` is empty and calls say otherwise: `{key}` counts as not recorded");
                builder.add_warning(averment_base::value::TextOrigin::COMPUTED, message);
            }
        }
        recorded
    }
}
