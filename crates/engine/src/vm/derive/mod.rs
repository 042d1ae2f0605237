//! Recording a derivation: the parts of an assertion as they are judged, see [`super::derivation`].
//!
//! The judge opens a part before it judges one and closes it with what came out. Expressions are evaluated once more, instruction by
//! instruction, as they are for evidence.

mod expression;
mod values;

use super::context::Context;
use super::derivation::{DerivationPart, PartKind, PartResult, TemporalTrace};
use super::fault::Fault;
use super::machine::Machine;
use super::outcome::Finding;
use crate::bytecode::program::{Check, Program};
use averment_base::source::Span;
use averment_base::truth::Verdict;
pub(super) use expression::Tracer;

/// More parts than this are not read by anyone, and a hostile rule must not fill the memory with them.
const PARTS: usize = 20_000;

/// The derivation in work.
#[derive(Debug, Default)]
pub(super) struct Recording {
    /// The parts that are being judged, the innermost last.
    open: Vec<DerivationPart>,
    /// Parts that are done and belong to no open one.
    done: Vec<DerivationPart>,
    /// How many there are.
    count: usize,
    cut: bool,
    /// The names of the assertion's bindings.
    names: Vec<String>,
    /// Windows of blocks that were recorded.
    windows: usize,
    /// How many parts are open in a window that is not recorded.
    muted: usize,
}

/// Windows of blocks that are recorded of one assertion: each takes a look at all steps in it.
const WINDOWS: usize = 100;

impl Recording {
    /// A recording of an assertion.
    pub(super) fn new(program: &Program, check: &Check) -> Self {
        Self { names: names(program, check), ..Self::default() }
    }

    /// The outermost parts, and whether some were left out.
    pub(super) fn finish(mut self) -> (Vec<DerivationPart>, bool) {
        while !self.open.is_empty() {
            self.close();
        }
        (self.done, self.cut)
    }

    fn add(&mut self, part: DerivationPart) {
        let size = size(&part);
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

    fn close(&mut self) {
        if let Some(part) = self.open.pop() {
            let part = single(part);
            // Its own parts have been counted as they came.
            self.count = self.count.saturating_sub(size(&part).saturating_sub(1));
            self.add(part);
        }
    }
}

/// How many parts a part is.
fn size(part: &DerivationPart) -> usize {
    let mut count = 0;
    let mut open = vec![part];
    while let Some(part) = open.pop() {
        count += 1;
        open.extend(&part.parts);
    }
    count
}

/// A statement of a group with one part and no condition is that part.
fn single(mut part: DerivationPart) -> DerivationPart {
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
    /// Whether a derivation is recorded.
    pub(super) fn derives(&self) -> bool {
        self.recording.as_ref().is_some_and(|recording| recording.muted == 0)
    }

    /// Opens a part: what is recorded until [`Machine::close_part`] belongs to it.
    pub(super) fn open_part(&mut self, kind: PartKind, span: Option<Span>) {
        match &mut self.recording {
            Some(recording) if recording.muted > 0 => recording.muted += 1,
            Some(recording) => recording.open.push(DerivationPart { kind, span, ..DerivationPart::default() }),
            None => {}
        }
    }

    /// Closes the innermost part with what came of it.
    pub(super) fn close_part(&mut self, judged: &Result<Finding, Fault>) {
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
                    if part.note.is_empty() && leads(part.kind) {
                        part.note.clone_from(&finding.reason);
                    }
                }
                Err(fault) => {
                    part.found =
                        PartResult::Verdict(if fault.unfit().is_some() { Verdict::Fail } else { Verdict::Error });
                    part.note = fault.to_string();
                }
            }
        }
        recording.close();
    }

    /// Adds a part to the innermost open one.
    pub(super) fn add_part(&mut self, part: DerivationPart) {
        if let Some(recording) = self.recording.as_mut().filter(|recording| recording.muted == 0) {
            recording.add(part);
        }
    }

    /// The name of a binding of the assertion, without `$`.
    pub(super) fn binding_name(&self, number: u32) -> String {
        let names = self.recording.as_ref().map_or(&[][..], |recording| recording.names.as_slice());
        names.get(number as usize).cloned().unwrap_or_else(|| number.to_string())
    }

    /// Opens a window of a block.
    pub(super) fn open_window(&mut self, context: &Context<'run>) {
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
        if self.derives() {
            let bindings = super::temporal::watch::given(self, context);
            let step = context.step.and_then(|step| self.run.steps.iter().position(|other| std::ptr::eq(other, step)));
            self.open_part(PartKind::Window, None);
            if let Some(part) = self.recording.as_mut().and_then(|recording| recording.open.last_mut()) {
                part.bindings = bindings;
                part.step = step.and_then(|step| u32::try_from(step).ok());
                part.note = window(context);
            }
        }
    }

    /// Gives the innermost open part its patterns and states.
    pub(super) fn note_temporal(&mut self, temporal: TemporalTrace) {
        let recording = self.recording.as_mut().filter(|recording| recording.muted == 0);
        if let Some(part) = recording.and_then(|recording| recording.open.last_mut()) {
            part.temporal = Some(Box::new(temporal));
        }
    }
}

/// The names of an assertion's bindings: every statement of it knows them all.
fn names(program: &Program, check: &Check) -> Vec<String> {
    let mut open = vec![check];
    while let Some(check) = open.pop() {
        match check {
            Check::Temporal(temporal) => {
                let entry = program.temporals.get(temporal.0 as usize);
                return entry.map_or_else(Vec::new, |entry| entry.binding_names.clone());
            }
            Check::Not(inner) | Check::Scoped { body: inner, .. } => open.push(inner),
            Check::Group { members, .. } => open.extend(members.iter().map(|member| &member.check)),
            Check::Expression(_) | Check::World(_) | Check::OverRuns(_) => {}
        }
    }
    Vec::new()
}

/// What a check is in a derivation.
pub(super) fn kind_of(check: &Check) -> PartKind {
    match check {
        Check::Expression(_) => PartKind::Expression,
        Check::Temporal(_) => PartKind::Temporal,
        Check::Not(_) => PartKind::Not,
        Check::Group { kind, .. } => PartKind::Group(*kind),
        Check::Scoped { .. } => PartKind::Block,
        Check::World(_) | Check::OverRuns(_) => PartKind::World,
    }
}

/// Where a check stands, where that is known of itself.
pub(super) fn span_of(program: &Program, check: &Check) -> Option<Span> {
    match check {
        Check::Expression(code) => program.chunks.get(code.0 as usize).map(|chunk| chunk.span),
        Check::Temporal(temporal) => program.temporals.get(temporal.0 as usize).map(|entry| entry.span),
        _ => None,
    }
}

/// A window in words: the steps from the first to the last.
fn window(context: &Context<'_>) -> String {
    match (context.window.start + 1, context.window.end) {
        (first, last) if first > last => "no steps".to_owned(),
        (first, last) if first == last => format!("step {first}"),
        (first, last) => format!("steps {first} to {last}"),
    }
}

/// Whether the reason of a finding is this part's own.
fn leads(kind: PartKind) -> bool {
    matches!(kind, PartKind::Temporal | PartKind::World)
}
