//! What an evaluation saw, for evidence. An assertion that does not pass is evaluated a second time with a recorder: the first
//! time costs nothing extra, and there is still only one evaluator.

use super::context::ExpressionScope;
use super::doubtful_elements::DoubtListing;
use super::elements::ElementListing;
use super::fault::Fault;
use super::machine::{LetState, Machine};
use crate::bytecode::data_flow::{DataFlow, TruthEffect};
use crate::bytecode::ops::Op;
use crate::bytecode::program::CodeId;
use averment_base::source::Span;
use averment_base::truth::Truth;
use averment_base::value::{Node, Value};
use rustc_hash::FxHashMap;

#[derive(Debug, Default)]
pub(super) struct EvaluationRecorder<'run> {
    pub(super) seen: Vec<SeenTest<'run>>,
    gaps: Vec<ValueGap<'run>>,
    flows: FxHashMap<usize, DataFlow>,
    around: Option<TruthEffect>,
    entered: Option<usize>,
    pub(super) listing: Option<ElementListing<'run>>,
    pub(super) doubts: Option<DoubtListing<'run>>,
}

impl<'run> EvaluationRecorder<'run> {
    pub(super) fn with_listing(listing: ElementListing<'run>) -> Self {
        Self { listing: Some(listing), ..Self::default() }
    }
}

impl<'run> EvaluationRecorder<'run> {
    pub(super) fn with_doubts(doubts: DoubtListing<'run>) -> Self {
        Self { doubts: Some(doubts), ..Self::default() }
    }
}

impl EvaluationRecorder<'_> {
    pub(super) fn flow_at(&self, start: usize) -> Option<&DataFlow> {
        self.flows.get(&start)
    }

    pub(super) fn why_at(&self, at: usize) -> Option<&str> {
        self.seen.last().filter(|seen| seen.at == at)?.misfit.as_ref().map(|misfit| misfit.text.as_str())
    }
}

impl<'run> EvaluationRecorder<'run> {
    pub(super) fn last_gap(&self) -> Option<ValueGap<'run>> {
        self.gaps.last().copied()
    }

    /// `lists` is true for an element of the quantifier whose failing elements are listed.
    pub(super) fn enter_element(&mut self, element: Node<'run>, lists: bool, is_outermost: bool) {
        let seen = self.seen.len();
        self.listing.iter_mut().filter(|_| lists).for_each(|listing| listing.enter_element(element, seen));
        self.doubts.iter_mut().filter(|_| is_outermost).for_each(|doubts| doubts.enter_element(element, seen));
    }

    /// Takes whether the body fails the listed quantifier and its truth; keeps tests of listed elements only.
    pub(super) fn leave_element(&mut self, fails: Option<bool>, outermost: Option<Truth>) {
        let seen = self.seen.len();
        if let (Some(listing), Some(fails)) = (&mut self.listing, fails) {
            self.seen.truncate(listing.leave_element(fails, seen));
        }
        if let (Some(doubts), Some(truth)) = (&mut self.doubts, outermost) {
            self.seen.truncate(doubts.leave_element(truth, seen));
        }
    }

    pub(super) fn gap_at(&self, at: usize) -> Option<ValueGap<'run>> {
        self.gaps.last().copied().filter(|gap| gap.at == at)
    }
}

/// Tests recorded; more would be noise.
const SEEN_LIMIT: usize = 10_000;

#[derive(Debug, Clone)]
pub(super) struct SeenTest<'run> {
    pub(super) at: usize,
    pub(super) kind: SeenTestKind,
    pub(super) subject: Node<'run>,
    pub(super) operand: Option<Node<'run>>,
    pub(super) truth: Truth,
    pub(super) polarity: TruthEffect,
    pub(super) gaps: Vec<ValueGap<'run>>,
    pub(super) misfit: Option<ValueMisfit<'run>>,
    pub(super) within: Option<usize>,
    pub(super) nearest: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) struct ValueMisfit<'run> {
    pub(super) text: String,
    pub(super) node: Option<Node<'run>>,
    pub(super) keyword: Option<Span>,
}

/// Where a value went missing: a path step that leads nowhere, or a computation without a result.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueGap<'run> {
    pub(super) at: usize,
    /// The value that lacks the key or element, or that a computation could not use.
    pub(super) base: Node<'run>,
    /// Why a computation has no result; `None` for a path.
    pub(super) why: Option<&'run str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SeenTestKind {
    Compared,
    Inspected,
    Condition,
    Source,
    Premise,
}

impl<'run> Machine<'run> {
    /// Re-evaluates and returns what was recorded, on fresh limits so that evidence does not depend on other assertions.
    pub(super) fn observe_code(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> (Result<Truth, Fault>, EvaluationRecorder<'run>) {
        self.recorder = Some(EvaluationRecorder::default());
        self.refuel();
        // What a `let` looked at belongs to the evidence too: they are computed again.
        self.lets.iter_mut().for_each(|state| *state = LetState::Unknown);
        let outcome = self.evaluate_truth(code, scope);
        (outcome, self.recorder.take().unwrap_or_default())
    }

    pub(super) fn missing_part(&mut self, code: CodeId, scope: &ExpressionScope<'_, 'run>) -> Option<String> {
        self.recorder = Some(EvaluationRecorder::default());
        let _outcome = self.evaluate_code(code, scope);
        let recorder = self.recorder.take()?;
        let gap = recorder.gaps.iter().rev().find(|gap| gap.why.is_none())?;
        Some(self.rule_text(self.op_span(gap.at)))
    }

    pub(super) fn missing_parts(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Vec<(String, Option<String>)> {
        let (_, recorder) = self.observe_code(code, scope);
        let of_tests = recorder.seen.iter().filter(|seen| seen.truth.by_missing()).flat_map(|seen| &seen.gaps);
        let gaps = of_tests.chain(&recorder.gaps).filter(|gap| gap.why.is_none());
        gaps.map(|gap| (self.rule_text(self.op_span(gap.at)), self.key_of(gap).map(str::to_owned))).collect()
    }

    pub(super) fn note_test(
        &mut self,
        at: usize,
        kind: SeenTestKind,
        subject: Node<'run>,
        operand: Option<Node<'run>>,
        truth: Truth,
    ) {
        if !matches!(kind, SeenTestKind::Source | SeenTestKind::Premise) {
            self.note_branch(at, truth);
        }
        if self.recorder.is_none() {
            return;
        }
        let polarity = self.op_polarity(at);
        if let Some(recorder) = &mut self.recorder
            && recorder.seen.len() < SEEN_LIMIT
        {
            let gaps = std::mem::take(&mut recorder.gaps);
            recorder.seen.push(SeenTest {
                at,
                kind,
                subject,
                operand,
                truth,
                polarity,
                gaps,
                misfit: None,
                within: recorder.entered,
                nearest: None,
            });
        }
    }

    fn op_polarity(&mut self, at: usize) -> TruthEffect {
        let Some((start, ops)) = self.chunk_around(at) else { return TruthEffect::None };
        let Some(recorder) = &mut self.recorder else { return TruthEffect::None };
        let flow = recorder.flows.entry(start).or_insert_with(|| DataFlow::from_ops(ops));
        recorder.around.unwrap_or(TruthEffect::Same).through_part(flow.truth_effect(ops, at - start))
    }

    pub(super) fn chunk_around(&self, at: usize) -> Option<(usize, &'run [Op])> {
        let program = self.program;
        let behind = program.chunks.partition_point(|chunk| chunk.start as usize <= at);
        let chunk = program.chunks.get(behind.checked_sub(1)?)?;
        Some((chunk.start as usize, program.code.get(chunk.start as usize..chunk.end as usize)?))
    }

    /// Inside a `let` or `def`, tests count as the entering instruction does; the result goes to [`Machine::note_leave`].
    pub(super) fn note_enter(&mut self, at: usize) -> Option<TruthEffect> {
        self.recorder.as_ref()?;
        let polarity = self.op_polarity(at);
        let recorder = self.recorder.as_mut()?;
        if recorder.around.is_none() {
            recorder.entered = Some(at);
        }
        recorder.around.replace(polarity)
    }

    pub(super) fn note_leave(&mut self, around: Option<TruthEffect>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.around = around;
            recorder.entered = recorder.entered.filter(|_| around.is_some());
        }
    }

    pub(super) fn note_misfit(&mut self, misfit: ValueMisfit<'run>) {
        if let Some(seen) = self.recorder.as_mut().and_then(|recorder| recorder.seen.last_mut()) {
            seen.misfit = Some(misfit);
        }
    }

    pub(super) fn note_condition(&mut self, at: usize, node: Node<'run>, truth: Truth) {
        self.note_test(at, SeenTestKind::Condition, node, None, truth);
    }

    /// The source of a quantifier matters if it is empty.
    pub(super) fn note_source(&mut self, at: usize, node: Node<'run>) {
        let truth = match node.value {
            Value::Missing | Value::List([]) => Truth::from_missing(true),
            Value::Object(object) if object.entries().is_empty() => Truth::from_missing(true),
            Value::Absent => Truth::Undecided,
            _ => Truth::True,
        };
        self.note_test(at, SeenTestKind::Source, node, None, truth);
    }

    pub(super) fn note_premise(&mut self, at: usize) {
        if self.recorder.is_some() {
            let node = Node::computed(Value::Boolean(false));
            self.note_test(at, SeenTestKind::Premise, node, None, Truth::TrueByMissing);
        }
    }

    pub(super) fn note_gap(&mut self, at: usize, base: Node<'run>) {
        self.note_missing(ValueGap { at, base, why: None });
    }

    fn note_missing(&mut self, gap: ValueGap<'run>) {
        if self.near_keys.is_some() {
            self.note_near_key(&gap);
        }
        if let Some(recorder) = &mut self.recorder
            && recorder.gaps.len() < SEEN_LIMIT
        {
            recorder.gaps.push(gap);
        }
    }

    /// Records a computation without a result; `words` follow the text of the operand to blame.
    pub(super) fn note_void(&mut self, at: usize, taken: usize, base: Node<'run>, words: &str) {
        let _ = self.op_polarity(at);
        let Some(recorder) = &self.recorder else { return };
        let subject = self.rule_text(self.op_span(self.source_ops(at, recorder).get(taken).copied().unwrap_or(at)));
        let why = Some(&*self.arena.alloc_str(&format!("`{subject}` {words}")));
        self.note_missing(ValueGap { at, base, why });
    }

    pub(super) fn note_nearest(&mut self, words: String) {
        if let Some(seen) = self.recorder.as_mut().and_then(|recorder| recorder.seen.last_mut()) {
            seen.nearest = Some(words);
        }
    }
}
