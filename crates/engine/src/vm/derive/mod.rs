//! Recording a derivation: the parts of an assertion as they are judged, see [`super::derivation`].
//!
//! The judge opens a part before it judges one and closes it with what came out. Expressions are evaluated once more, instruction by
//! instruction, as they are for evidence.

mod expression;
mod values;

use super::context::JudgeContext;
use super::derivation::{DerivationPart, PartKind, PartResult, TemporalTrace};
use super::fault::Fault;
use super::machine::Machine;
use super::outcome::CheckFinding;
use crate::bytecode::program::{CompiledCheck, Program};
use averment_base::source::Span;
use averment_base::truth::Verdict;
pub(super) use expression::ExpressionTracer;

/// Maximum number of parts: bounds the memory that a hostile rule can use.
const PARTS: usize = 20_000;

#[derive(Debug, Default)]
pub(super) struct DerivationRecording {
    open: Vec<DerivationPart>,
    done: Vec<DerivationPart>,
    count: usize,
    cut: bool,
    names: Vec<String>,
    windows: usize,
    muted: usize,
}

/// Recorded windows per assertion; each one scans all of its steps.
const WINDOWS: usize = 100;

impl DerivationRecording {
    pub(super) fn new(program: &Program, check: &CompiledCheck) -> Self {
        Self { names: binding_names(program, check), ..Self::default() }
    }

    pub(super) fn into_parts(mut self) -> (Vec<DerivationPart>, bool) {
        while !self.open.is_empty() {
            self.close_innermost();
        }
        (self.done, self.cut)
    }

    fn push_part(&mut self, part: DerivationPart) {
        let size = part_size(&part);
        if self.count + size > PARTS {
            self.cut = true;
            if let Some(around) = self.open.last_mut() {
                around.more += 1;
            }
            return;
        }
        self.count += size;
        match self.open.last_mut() {
            Some(around) => around.parts.push(part),
            None => self.done.push(part),
        }
    }

    fn close_innermost(&mut self) {
        if let Some(part) = self.open.pop() {
            let part = flatten_single(part);
            // Its own parts have been counted as they came.
            self.count = self.count.saturating_sub(part_size(&part).saturating_sub(1));
            self.push_part(part);
        }
    }
}

fn part_size(part: &DerivationPart) -> usize {
    let mut count = 0;
    let mut open = vec![part];
    while let Some(part) = open.pop() {
        count += 1;
        open.extend(&part.parts);
    }
    count
}

fn flatten_single(mut part: DerivationPart) -> DerivationPart {
    if part.kind == PartKind::Member
        && part.parts.len() == 1
        && part.more == 0
        && let Some(only) = part.parts.pop()
    {
        return DerivationPart { span: part.span.or(only.span), ..only };
    }
    part
}

impl<'run> Machine<'run> {
    pub(super) fn is_deriving(&self) -> bool {
        self.recording.as_ref().is_some_and(|recording| recording.muted == 0)
    }

    /// Parts recorded until [`Machine::close_part`] become its children.
    pub(super) fn open_part(&mut self, kind: PartKind, span: Option<Span>) {
        match &mut self.recording {
            Some(recording) if recording.muted > 0 => recording.muted += 1,
            Some(recording) => recording.open.push(DerivationPart { kind, span, ..DerivationPart::default() }),
            None => {}
        }
    }

    pub(super) fn close_part(&mut self, judged: &Result<CheckFinding, Fault>) {
        let Some(recording) = &mut self.recording else { return };
        if recording.muted > 0 {
            recording.muted -= 1;
            return;
        }
        if let Some(part) = recording.open.last_mut() {
            match judged {
                Ok(finding) => {
                    part.found = PartResult::Verdict(finding.verdict);
                    // Windows and blocks say which they are; what their parts found is said there.
                    if part.note.is_empty() && is_leading(part.kind) {
                        part.note.clone_from(&finding.reason);
                    }
                }
                Err(fault) => {
                    part.found =
                        PartResult::Verdict(if fault.unfit_value().is_some() { Verdict::Fail } else { Verdict::Error });
                    part.note = fault.to_string();
                }
            }
        }
        recording.close_innermost();
    }

    pub(super) fn add_part(&mut self, part: DerivationPart) {
        if let Some(recording) = self.recording.as_mut().filter(|recording| recording.muted == 0) {
            recording.push_part(part);
        }
    }

    pub(super) fn binding_name(&self, number: u32) -> String {
        let names = self.recording.as_ref().map_or(&[][..], |recording| recording.names.as_slice());
        names.get(number as usize).cloned().unwrap_or_else(|| number.to_string())
    }

    pub(super) fn open_window(&mut self, context: &JudgeContext<'run>) {
        if let Some(recording) = self.recording.as_mut().filter(|recording| recording.muted == 0) {
            recording.windows += 1;
            if recording.windows > WINDOWS {
                recording.muted = 1;
                if let Some(block) = recording.open.last_mut() {
                    block.more += 1;
                }
                return;
            }
        } else if let Some(recording) = &mut self.recording {
            recording.muted += 1;
            return;
        }
        if self.is_deriving() {
            let bindings = super::temporal::standing_trace::given_values(self, context);
            let step = context.step.and_then(|step| self.run.steps.iter().position(|other| std::ptr::eq(other, step)));
            self.open_part(PartKind::Window, None);
            if let Some(part) = self.recording.as_mut().and_then(|recording| recording.open.last_mut()) {
                part.bindings = bindings;
                part.step = step.and_then(|step| u32::try_from(step).ok());
                part.note = window_words(context);
            }
        }
    }

    pub(super) fn note_temporal(&mut self, temporal: TemporalTrace) {
        let recording = self.recording.as_mut().filter(|recording| recording.muted == 0);
        if let Some(part) = recording.and_then(|recording| recording.open.last_mut()) {
            part.temporal = Some(Box::new(temporal));
        }
    }
}

fn binding_names(program: &Program, check: &CompiledCheck) -> Vec<String> {
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

pub(super) fn kind_of(check: &CompiledCheck) -> PartKind {
    match check {
        CompiledCheck::Expression(_) => PartKind::Expression,
        CompiledCheck::Temporal(_) => PartKind::Temporal,
        CompiledCheck::Not(_) => PartKind::Not,
        CompiledCheck::Group { kind, .. } => PartKind::Group(*kind),
        CompiledCheck::Scoped { .. } => PartKind::Block,
        CompiledCheck::World(_) | CompiledCheck::OverRuns(_) => PartKind::World,
    }
}

/// `None` if a check has no place of its own.
pub(super) fn span_of(program: &Program, check: &CompiledCheck) -> Option<Span> {
    match check {
        CompiledCheck::Expression(code) => program.chunks.get(code.0 as usize).map(|chunk| chunk.span),
        CompiledCheck::Temporal(temporal) => program.temporals.get(temporal.0 as usize).map(|entry| entry.span),
        _ => None,
    }
}

fn window_words(context: &JudgeContext<'_>) -> String {
    match (context.window.start + 1, context.window.end) {
        (first, last) if first > last => "no steps".to_owned(),
        (first, last) if first == last => format!("step {first}"),
        (first, last) => format!("steps {first} to {last}"),
    }
}

fn is_leading(kind: PartKind) -> bool {
    matches!(kind, PartKind::Temporal | PartKind::World)
}
