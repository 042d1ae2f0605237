//! Second looks: an expression is evaluated once more, by the same machine, with something that notes more than its answer.

use super::derivation::{DerivationPart, PartResult, ShownValue};
use super::evidence::{ElementListing, EvidenceRecord};
use super::expression_trace::{ExpressionTracer, TracedInstruction};
use super::observer::Look;
use crate::bytecode::ops::Op;
use crate::bytecode::program::{CodeChunk, CodeId};
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::frame::StackFrame;
use crate::vm::locate;
use crate::vm::machine::{ControlTransfer, LetState, Machine};
use averment_base::truth::Truth;
use averment_base::value::notation::notation_with;
use averment_base::value::{Node, Value};
use averment_builtins::detect::redacted_start;

/// Characters shown of a value.
const LONGEST: usize = 400;

impl<'run> Machine<'run> {
    /// Does something while another look notes what happens; gives that look back.
    fn with_look<T>(&mut self, look: Look<'run>, work: impl FnOnce(&mut Self) -> T) -> (T, Look<'run>) {
        let outer = std::mem::replace(&mut self.observer.look, look);
        let result = work(self);
        (result, std::mem::replace(&mut self.observer.look, outer))
    }

    /// Runs work that is not evidence of the expression: locating elements and steps.
    pub(in crate::vm) fn without_observers<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.with_look(Look::default(), work).0
    }

    /// A second look has fresh limits, so that it does not depend on other assertions, and computes `let`s again: what they look at belongs to the
    /// evidence.
    pub(super) fn look_again<T>(&mut self, look: Look<'run>, work: impl FnOnce(&mut Self) -> T) -> (T, Look<'run>) {
        self.start_afresh();
        self.with_look(look, work)
    }

    pub(super) fn start_afresh(&mut self) {
        self.refuel();
        self.lets.iter_mut().for_each(|state| *state = LetState::Unknown);
    }

    /// Evaluates a condition once more and gives what decided it, with elements of its quantifier where these are listed.
    pub(super) fn observe_code(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
        listing: Option<ElementListing<'run>>,
    ) -> (Result<Truth, Fault>, Box<EvidenceRecord<'run>>) {
        let program = self.program;
        let look = Look::of_evidence(EvidenceRecord::new(program, listing));
        let (outcome, look) = self.look_again(look, |machine| machine.evaluate_truth(code, scope));
        (outcome, look.evidence.unwrap_or_else(|| EvidenceRecord::new(program, None)))
    }

    /// The path of an expression that leads nowhere.
    pub(in crate::vm) fn missing_part(&mut self, code: CodeId, scope: &ExpressionScope<'_, 'run>) -> Option<String> {
        let look = Look::of_evidence(EvidenceRecord::new(self.program, None));
        let (_, look) = self.with_look(look, |machine| machine.evaluate_code(code, scope));
        let evidence = look.evidence?;
        let gap = evidence.gaps.iter().rev().find(|gap| gap.why.is_none())?;
        Some(self.rule_text(self.op_span(gap.at)))
    }

    /// `` `result.id` is missing ``, where the path of a binding leads nowhere.
    pub(in crate::vm) fn missing_path_words(
        &mut self,
        path: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Option<String> {
        let look = Look::of_evidence(EvidenceRecord::new(self.program, None));
        let (found, look) = self.with_look(look, |machine| machine.evaluate_code(path, scope));
        found.ok().filter(|node| matches!(node.value, Value::Missing))?;
        let evidence = look.evidence?;
        let gap = evidence.gaps.iter().rev().find(|gap| gap.why.is_none());
        let text = self.rule_text(self.code_span(path));
        Some(format!("`{text}` is missing{}", gap.map_or("", Self::text_words)))
    }

    /// All paths of a condition that lead nowhere, with their last keys.
    pub(in crate::vm) fn missing_parts(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Vec<(String, Option<String>)> {
        let (_, evidence) = self.observe_code(code, scope, None);
        let of_tests = evidence.seen.iter().filter(|seen| seen.truth.by_missing()).flat_map(|seen| &seen.gaps);
        let gaps = of_tests.chain(&evidence.gaps).filter(|gap| gap.why.is_none());
        gaps.map(|gap| (self.rule_text(self.op_span(gap.at)), self.program.key_at(gap.at).map(str::to_owned))).collect()
    }
}

/// Derivations of expressions.
impl<'run> Machine<'run> {
    /// Evaluates an expression once more for its parts; limits and `let`s are restored, so that the judgement goes on as if nobody had looked.
    pub(in crate::vm) fn trace_expression(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> DerivationPart {
        let (meter, lets) = (self.meter, self.lets.clone());
        let look = Look {
            tracer: Some(ExpressionTracer::new(self.program)),
            // Gaps in paths and violated schemas are said here, too.
            ..Look::of_evidence(EvidenceRecord::new(self.program, None))
        };
        let (outcome, look) = self.look_again(look, |machine| machine.evaluate_code(code, scope));
        (self.meter, self.lets) = (meter, lets);
        let mut parts = look.tracer.map_or_else(Vec::new, |tracer| tracer.into_parts());
        let part = match outcome {
            Ok(node) => parts.pop().unwrap_or_else(|| DerivationPart {
                found: PartResult::Value(self.shown_value(&node)),
                ..DerivationPart::default()
            }),
            Err(fault) => DerivationPart { note: fault.to_string(), parts, ..DerivationPart::default() },
        };
        DerivationPart { span: part.span.or(Some(self.code_span(code))), ..part }
    }

    pub(in crate::vm) fn execute_traced(
        &mut self,
        ops: &'run [Op],
        chunk: CodeChunk,
        frame: StackFrame,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<(), Fault> {
        let (start, mut at) = (chunk.start as usize, 0);
        while let Some(&op) = ops.get(at) {
            self.meter.charge_fuel(u64::from(op.cost()))?;
            let before = self.observer.look.tracer.as_ref().map_or(0, |tracer| tracer.part_count());
            let transfer = self.execute_op(op, start + at, frame, scope)?;
            let jumped = matches!(transfer, ControlTransfer::Jump(_));
            self.trace_instruction(TracedInstruction { op, ops, at, start, jumped, before }, frame);
            at = match transfer {
                ControlTransfer::Next => at + 1,
                ControlTransfer::Jump(target) => target as usize,
            };
        }
        Ok(())
    }

    fn trace_instruction(&mut self, place: TracedInstruction<'_>, frame: StackFrame) {
        let made = match place.op {
            Op::Next(slot, _) if !place.jumped => self.locals.get(frame.locals + slot.0 as usize).copied(),
            _ if place.is_flow() => None,
            _ => self.stack.last().copied(),
        };
        let shown = made.map(|node| self.shown_value(&node));
        let note = made.map_or_else(String::new, |node| self.value_remark(place.start + place.at, &node));
        if let Some(tracer) = &mut self.observer.look.tracer {
            match shown {
                Some(shown) if !place.is_flow() => tracer.note_value(place, shown, note),
                shown => tracer.note_flow(place, shown),
            }
        }
    }

    fn value_remark(&self, at: usize, node: &Node<'run>) -> String {
        let Some(evidence) = &self.observer.look.evidence else { return String::new() };
        match node.value {
            Value::Missing => evidence.gap_at(at).map_or_else(String::new, |gap| self.describe_gap(&gap)),
            Value::Truth(_) => evidence.misfit_at(at).unwrap_or_default().to_owned(),
            _ => String::new(),
        }
    }

    /// A value in the notation of the language, with the place that it stands at.
    pub(in crate::vm) fn shown_value(&self, node: &Node<'run>) -> ShownValue {
        let truth = match node.value {
            Value::Truth(truth) => Some(truth),
            _ => None,
        };
        let text = match node.value {
            Value::Regex(number) => {
                self.program.regexes.get(number as usize).map_or_else(String::new, |regex| regex.text.clone())
            }
            ref value => notation_with(value, LONGEST, redacted_start),
        };
        // Where a value stands decides whether reports hide it.
        let path = match truth {
            Some(_) => String::new(),
            None => locate::node_pointer(self.run, node).unwrap_or_default(),
        };
        ShownValue { text, truth, path }
    }
}
