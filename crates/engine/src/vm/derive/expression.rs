//! An expression with the value of each part: the machine runs it once more and keeps, beside every value on its stack, the part of the
//! rule that made it.

use crate::bytecode::ops::{Op, Target};
use crate::bytecode::program::{CodeChunk, CodeId};
use crate::vm::context::ExpressionScope;
use crate::vm::derivation::{DerivationPart, PartKind, PartResult, ShownValue};
use crate::vm::fault::Fault;
use crate::vm::frame::StackFrame;
use crate::vm::machine::{ControlTransfer, LetState, Machine};
use crate::vm::observe::EvaluationRecorder;
use averment_base::value::{Node, Value};
use averment_syntax::ast::ExprQuantifier;

#[derive(Debug, Default)]
pub(in crate::vm) struct ExpressionTracer {
    made: Vec<TracedPart>,
    loops: Vec<TracedLoop>,
    /// Number of parts created; beyond the limit they have no children.
    count: usize,
}

/// A part, and the operator it chains: `a and b and c` has three children.
#[derive(Debug, Default)]
struct TracedPart {
    part: DerivationPart,
    chain: Option<ChainOperator>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChainOperator {
    And,
    Or,
}

#[derive(Debug)]
struct TracedLoop {
    quantifier: ExprQuantifier,
    source: DerivationPart,
    elements: Vec<DerivationPart>,
    element: ShownValue,
    plain: usize,
    more: usize,
}

#[derive(Clone, Copy)]
struct TracedInstruction<'o> {
    op: Op,
    ops: &'o [Op],
    at: usize,
    start: usize,
    before: usize,
    frame: StackFrame,
}

/// Parts kept per expression.
const PARTS: usize = 2_000;
/// Elements kept per quantifier.
const ELEMENTS: usize = 12;
/// Non-deciding elements kept.
const PLAIN: usize = 3;

impl<'run> Machine<'run> {
    /// Re-evaluates an expression and records its parts; limits are fresh and then restored, so no verdict changes.
    pub(in crate::vm) fn trace_expression(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> DerivationPart {
        let (meter, known) = (self.meter, vec![LetState::Unknown; self.lets.len()]);
        let lets = std::mem::replace(&mut self.lets, known);
        self.refuel();
        self.tracer = Some(ExpressionTracer::default());
        // Gaps in paths and violated schemas are noted for evidence; they are said here, too.
        let recorder = self.recorder.replace(EvaluationRecorder::default());
        let outcome = self.evaluate_code(code, scope);
        self.recorder = recorder;
        let made = self.tracer.take().unwrap_or_default().made;
        let mut parts: Vec<DerivationPart> = made.into_iter().map(|made| made.part).collect();
        let part = match outcome {
            Ok(node) => parts.pop().unwrap_or_else(|| DerivationPart {
                found: PartResult::Value(self.shown_value(&node)),
                ..DerivationPart::default()
            }),
            Err(fault) => DerivationPart { note: fault.to_string(), parts, ..DerivationPart::default() },
        };
        // The judgement itself goes on as if nobody had looked.
        (self.meter, self.lets) = (meter, lets);
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
            let before = self.tracer.as_ref().map_or(0, |tracer| tracer.made.len());
            let flow = self.execute_op(op, start + at, frame, scope)?;
            self.note_step(
                TracedInstruction { op, ops, at, start, before, frame },
                matches!(flow, ControlTransfer::Jump(_)),
            );
            at = match flow {
                ControlTransfer::Next => at + 1,
                ControlTransfer::Jump(target) => target as usize,
            };
        }
        Ok(())
    }

    fn note_step(&mut self, place: TracedInstruction<'_>, jumped: bool) {
        let Some(mut tracer) = self.tracer.take() else { return };
        match place.op {
            Op::SkipIfFalse(target) | Op::SkipIfTrue(target) | Op::SkipIfUnmet(target) if jumped => {
                self.skip_right(&mut tracer, place, target)
            }
            Op::SkipThen(_) | Op::SkipElse(_) if jumped => {
                tracer.push_part(DerivationPart { kind: PartKind::Unseen, ..DerivationPart::default() }, None);
            }
            Op::Next(slot, _) if !jumped => self.enter_element(&mut tracer, place.frame, slot.0),
            Op::SkipIfFalse(_)
            | Op::SkipIfTrue(_)
            | Op::SkipIfUnmet(_)
            | Op::SkipThen(_)
            | Op::SkipElse(_)
            | Op::Next(..) => {}
            Op::Begin(quantifier) => tracer.begin_loop(quantifier),
            Op::Repeat(_) => tracer.repeat_loop(),
            _ => self.note_value(&mut tracer, place),
        }
        self.tracer = Some(tracer);
    }

    fn skip_right(&self, tracer: &mut ExpressionTracer, place: TracedInstruction<'_>, target: Target) {
        let Some(left) = tracer.made.pop() else { return };
        let joining = (target.0 as usize).checked_sub(1);
        let chain = joining.and_then(|at| place.ops.get(at)).and_then(|op| chain_of(*op));
        let right = joining.and_then(|at| at.checked_sub(1)).map(|at| self.op_span(place.start + at));
        let span = self.op_span(place.start + place.at);
        let unseen = TracedPart {
            part: DerivationPart { kind: PartKind::Unseen, span: right, ..DerivationPart::default() },
            chain: None,
        };
        let found = left.part.found.clone();
        let parts = join_chain(chain, [left, unseen]);
        tracer.push_part(
            DerivationPart {
                kind: PartKind::Logic,
                span: Some(span),
                found: without_path(found),
                parts,
                ..DerivationPart::default()
            },
            chain,
        );
    }

    fn enter_element(&self, tracer: &mut ExpressionTracer, frame: StackFrame, slot: u32) {
        let item = self.locals.get(frame.locals + slot as usize);
        if let (Some(running), Some(item)) = (tracer.loops.last_mut(), item) {
            running.element = self.shown_value(item);
        }
    }

    fn note_value(&self, tracer: &mut ExpressionTracer, place: TracedInstruction<'_>) {
        let Some(&node) = self.stack.last() else { return };
        let number = place.start + place.at;
        // What nested code made comes on top of what the instruction takes.
        let bodies = tracer.made.split_off(place.before.min(tracer.made.len()));
        let taken = tracer.take_parts(place.op.effect().0 as usize);
        let part = DerivationPart {
            span: Some(self.op_span(number)),
            found: PartResult::Value(self.shown_value(&node)),
            note: self.value_remark(number, &node),
            ..DerivationPart::default()
        };
        let mut chain = None;
        let part = match place.op {
            Op::Constant(_) | Op::Regex(_) => DerivationPart { kind: PartKind::Literal, ..part },
            Op::Let(_) if !bodies.is_empty() => definition_part(part, Vec::new(), bodies),
            Op::CallDef(..) => definition_part(part, taken, bodies),
            Op::Field(..) | Op::Index(_) | Op::Every(_) | Op::Deep(_) => path_part(part, taken),
            Op::Condition() => condition_part(part, taken),
            // `a implies b` is `not a or b`: the premise is shown as it is written.
            Op::Not() | Op::Premise() if taken.first().is_some_and(|made| made.part.span == part.span) => {
                into_parts(taken).remove(0)
            }
            Op::Not() | Op::Premise() => {
                DerivationPart { kind: PartKind::Logic, parts: unwritten_parts(taken), ..part }
            }
            Op::And() | Op::Or() => {
                chain = chain_of(place.op);
                DerivationPart { kind: PartKind::Logic, parts: join_chain(chain, taken), ..part }
            }
            Op::Choose() => DerivationPart { kind: PartKind::Logic, parts: into_parts(taken), ..part },
            Op::End() => tracer.end_loop(part),
            Op::Test(..)
            | Op::Inspect(..)
            | Op::IsType(..)
            | Op::IsSchema(..)
            | Op::IsJsonSchema(..)
            | Op::ContainsJsonSchema(..) => {
                DerivationPart { kind: PartKind::Test, parts: unwritten_parts(taken), ..part }
            }
            Op::Negate() | Op::Range(..) | Op::List(_) | Op::Object(..) if taken.iter().all(is_literal) => {
                DerivationPart { kind: PartKind::Literal, ..part }
            }
            _ if place.op.effect().0 == 0 => DerivationPart { kind: PartKind::Value, ..part },
            _ => DerivationPart { kind: PartKind::Computed, parts: unwritten_parts(taken), ..part },
        };
        tracer.push_part(part, chain);
    }
}

impl ExpressionTracer {
    fn push_part(&mut self, part: DerivationPart, chain: Option<ChainOperator>) {
        self.count += 1;
        let mut part = part;
        if self.count > PARTS {
            part.more += part.parts.len();
            part.parts = Vec::new();
        }
        self.made.push(TracedPart { part, chain });
    }

    fn take_parts(&mut self, count: usize) -> Vec<TracedPart> {
        self.made.split_off(self.made.len().saturating_sub(count))
    }

    fn begin_loop(&mut self, quantifier: ExprQuantifier) {
        let source = self.made.pop().unwrap_or_default().part;
        let element = ShownValue::default();
        self.loops.push(TracedLoop { quantifier, source, elements: Vec::new(), element, plain: 0, more: 0 });
    }

    fn repeat_loop(&mut self) {
        let Some(body) = self.made.pop() else { return };
        let Some(running) = self.loops.last_mut() else { return };
        let truth = truth_of(&body.part);
        let decides = match running.quantifier {
            ExprQuantifier::All => truth != Some(true),
            ExprQuantifier::Any | ExprQuantifier::No | ExprQuantifier::Count => truth != Some(false),
        };
        running.plain += usize::from(!decides);
        if running.elements.len() >= ELEMENTS || (!decides && running.plain > PLAIN) {
            running.more += 1;
            return;
        }
        let found = PartResult::Value(std::mem::take(&mut running.element));
        running.elements.push(DerivationPart {
            kind: PartKind::Element,
            found,
            parts: vec![body.part],
            ..DerivationPart::default()
        });
    }

    fn end_loop(&mut self, part: DerivationPart) -> DerivationPart {
        let Some(running) = self.loops.pop() else { return part };
        let source = (running.source.kind != PartKind::Literal).then_some(running.source);
        let parts = source.into_iter().chain(running.elements).collect();
        DerivationPart { kind: PartKind::Quantifier, parts, more: running.more, ..part }
    }
}

fn truth_of(part: &DerivationPart) -> Option<bool> {
    match &part.found {
        PartResult::Value(shown) => shown.truth.and_then(averment_base::truth::Truth::plain_answer),
        _ => None,
    }
}

fn chain_of(op: Op) -> Option<ChainOperator> {
    match op {
        Op::And() => Some(ChainOperator::And),
        Op::Or() => Some(ChainOperator::Or),
        _ => None,
    }
}

fn without_path(found: PartResult) -> PartResult {
    match found {
        PartResult::Value(shown) => PartResult::Value(ShownValue { path: String::new(), ..shown }),
        other => other,
    }
}

fn join_chain(chain: Option<ChainOperator>, made: impl IntoIterator<Item = TracedPart>) -> Vec<DerivationPart> {
    let mut parts = Vec::new();
    for (at, one) in made.into_iter().enumerate() {
        if at == 0 && one.chain.is_some() && one.chain == chain {
            parts.extend(one.part.parts);
        } else {
            parts.push(one.part);
        }
    }
    parts
}

fn into_parts(made: Vec<TracedPart>) -> Vec<DerivationPart> {
    made.into_iter().map(|made| made.part).collect()
}

fn unwritten_parts(made: Vec<TracedPart>) -> Vec<DerivationPart> {
    into_parts(made).into_iter().filter(|part| part.kind != PartKind::Literal).collect()
}

fn is_literal(made: &TracedPart) -> bool {
    made.part.kind == PartKind::Literal
}

/// A path is one part; its base is shown only if that is more than a name.
fn path_part(part: DerivationPart, taken: Vec<TracedPart>) -> DerivationPart {
    let mut parts = Vec::new();
    for below in unwritten_parts(taken) {
        match below.kind {
            PartKind::Value => parts.extend(below.parts),
            // The whole value of a `let` says less than the part of it that the path leads to.
            PartKind::Definition => parts.extend(below.parts.into_iter().filter(|part| part.kind != PartKind::Value)),
            _ => parts.push(below),
        }
    }
    DerivationPart { kind: PartKind::Value, parts, ..part }
}

fn condition_part(part: DerivationPart, mut taken: Vec<TracedPart>) -> DerivationPart {
    let Some(TracedPart { part: mut below, .. }) = taken.pop() else { return part };
    if let (PartResult::Value(of_below), PartResult::Value(shown)) = (&mut below.found, part.found) {
        of_below.truth = shown.truth;
    }
    below
}

/// A definition in use: its arguments, and its body if that adds to the value.
fn definition_part(part: DerivationPart, taken: Vec<TracedPart>, bodies: Vec<TracedPart>) -> DerivationPart {
    let mut parts = unwritten_parts(taken);
    parts.extend(unwritten_parts(bodies));
    DerivationPart { kind: PartKind::Definition, parts, ..part }
}

impl<'run> Machine<'run> {
    fn value_remark(&self, number: usize, node: &Node<'run>) -> String {
        let Some(recorder) = &self.recorder else { return String::new() };
        match node.value {
            Value::Missing => recorder.gap_at(number).map_or_else(String::new, |gap| self.describe_gap(&gap)),
            Value::Truth(_) => recorder.why_at(number).unwrap_or_default().to_owned(),
            _ => String::new(),
        }
    }
}
