//! The parts of a derivation that are checks: their kinds, places and windows.

use super::derivation::{DerivationPart, PartKind};
use crate::bytecode::program::{CompiledCheck, Program};
use crate::vm::context::JudgeContext;
use crate::vm::machine::Machine;
use crate::vm::temporal::standing_trace::given_values;

pub(in crate::vm) fn window_part<'run>(machine: &mut Machine<'run>, context: &JudgeContext<'run>) -> DerivationPart {
    let step = context.step.and_then(|step| machine.run.steps.iter().position(|other| std::ptr::eq(other, step)));
    DerivationPart {
        kind: PartKind::Window,
        bindings: given_values(machine, context),
        step: step.and_then(|step| u32::try_from(step).ok()),
        note: window_words(context),
        ..DerivationPart::default()
    }
}

pub(in crate::vm) fn binding_names(program: &Program, check: &CompiledCheck) -> Vec<String> {
    let mut open = vec![check];
    while let Some(check) = open.pop() {
        match check {
            CompiledCheck::Temporal(temporal) => {
                let entry = program.temporals.get(temporal.0 as usize);
                return entry.map_or_else(Vec::new, |entry| entry.binding_names.clone());
            }
            CompiledCheck::Not(inner) | CompiledCheck::Scoped { body: inner, .. } => open.push(inner),
            CompiledCheck::Group { members, .. } => open.extend(members.iter().map(|member| &member.check)),
            CompiledCheck::Expression(_) | CompiledCheck::World(_) | CompiledCheck::OverRuns(_) => {}
        }
    }
    Vec::new()
}

/// The part of a check, with its place if it has one of its own.
pub(in crate::vm) fn check_part(program: &Program, check: &CompiledCheck) -> DerivationPart {
    let (kind, span) = match check {
        CompiledCheck::Expression(code) => {
            (PartKind::Expression, program.chunks.get(code.0 as usize).map(|chunk| chunk.span))
        }
        CompiledCheck::Temporal(temporal) => {
            (PartKind::Temporal, program.temporals.get(temporal.0 as usize).map(|entry| entry.span))
        }
        CompiledCheck::Not(_) => (PartKind::Not, None),
        CompiledCheck::Group { kind, .. } => (PartKind::Group(*kind), None),
        CompiledCheck::Scoped { .. } => (PartKind::Block, None),
        CompiledCheck::World(_) | CompiledCheck::OverRuns(_) => (PartKind::World, None),
    };
    DerivationPart { kind, span, ..DerivationPart::default() }
}

fn window_words(context: &JudgeContext<'_>) -> String {
    match (context.window.start + 1, context.window.end) {
        (first, last) if first > last => "no steps".to_owned(),
        (first, last) if first == last => format!("step {first}"),
        (first, last) => format!("steps {first} to {last}"),
    }
}
