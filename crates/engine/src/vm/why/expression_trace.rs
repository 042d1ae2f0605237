//! An expression with the value of each part: beside every value on the stack of the machine, the part of the rule that made it.

use super::derivation::{DerivationPart, PartKind, PartResult, ShownValue};
use crate::bytecode::ops::{Op, Target};
use crate::bytecode::program::Program;
use averment_syntax::ast::ExprQuantifier;

#[derive(Debug)]
pub(in crate::vm) struct ExpressionTracer<'run> {
    program: &'run Program,
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

/// An instruction that was executed.
#[derive(Clone, Copy)]
pub(super) struct TracedInstruction<'o> {
    pub(super) op: Op,
    /// All instructions of its expression, which begins at `start`; it is number `at` of them.
    pub(super) ops: &'o [Op],
    pub(super) at: usize,
    pub(super) start: usize,
    pub(super) jumped: bool,
    /// Parts before it.
    pub(super) before: usize,
}

impl TracedInstruction<'_> {
    /// True if it leads on and makes no value.
    pub(super) fn is_flow(&self) -> bool {
        matches!(
            self.op,
            Op::SkipIfFalse(_)
                | Op::SkipIfTrue(_)
                | Op::SkipIfUnmet(_)
                | Op::SkipThen(_)
                | Op::SkipElse(_)
                | Op::Next(..)
                | Op::Begin(_)
                | Op::Repeat(_)
        )
    }
}

/// Parts kept per expression.
const PARTS: usize = 2_000;
/// Elements kept per quantifier.
const ELEMENTS: usize = 12;
/// Non-deciding elements kept.
const PLAIN: usize = 3;

impl<'run> ExpressionTracer<'run> {
    pub(super) fn new(program: &'run Program) -> Box<Self> {
        Box::new(Self { program, made: Vec::new(), loops: Vec::new(), count: 0 })
    }

    pub(super) fn part_count(&self) -> usize {
        self.made.len()
    }

    pub(super) fn into_parts(self) -> Vec<DerivationPart> {
        into_parts(self.made)
    }

    /// Notes an instruction without a value, or the beginning of an element's body.
    pub(super) fn note_flow(&mut self, place: TracedInstruction<'_>, element: Option<ShownValue>) {
        match place.op {
            Op::SkipIfFalse(target) | Op::SkipIfTrue(target) | Op::SkipIfUnmet(target) if place.jumped => {
                self.skip_right(place, target)
            }
            Op::SkipThen(_) | Op::SkipElse(_) if place.jumped => {
                self.push_part(DerivationPart { kind: PartKind::Unseen, ..DerivationPart::default() }, None);
            }
            Op::Begin(quantifier) => self.begin_loop(quantifier),
            Op::Repeat(_) => self.repeat_loop(),
            _ => {
                if let (Some(running), Some(element)) = (self.loops.last_mut(), element) {
                    running.element = element;
                }
            }
        }
    }

    fn skip_right(&mut self, place: TracedInstruction<'_>, target: Target) {
        let Some(left) = self.made.pop() else { return };
        let joining = (target.0 as usize).checked_sub(1);
        let chain = joining.and_then(|at| place.ops.get(at)).and_then(|op| chain_of(*op));
        let right = joining.and_then(|at| at.checked_sub(1)).map(|at| self.program.op_span(place.start + at));
        let span = Some(self.program.op_span(place.start + place.at));
        let unseen = DerivationPart { kind: PartKind::Unseen, span: right, ..DerivationPart::default() };
        let found = without_path(left.part.found.clone());
        let parts = join_chain(chain, [left, TracedPart { part: unseen, chain: None }]);
        self.push_part(
            DerivationPart { kind: PartKind::Logic, span, found, parts, ..DerivationPart::default() },
            chain,
        );
    }

    /// Notes an instruction that made a value.
    pub(super) fn note_value(&mut self, place: TracedInstruction<'_>, shown: ShownValue, note: String) {
        // What nested code made comes on top of what the instruction takes.
        let bodies = self.made.split_off(place.before.min(self.made.len()));
        let taken = self.take_parts(place.op.effect().0 as usize);
        let span = Some(self.program.op_span(place.start + place.at));
        let part = DerivationPart { span, found: PartResult::Value(shown), note, ..DerivationPart::default() };
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
            Op::End() => self.end_loop(part),
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
        self.push_part(part, chain);
    }

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
