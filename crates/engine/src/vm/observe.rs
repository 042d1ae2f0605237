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

/// What one evaluation saw, in the order of evaluation.
#[derive(Debug, Default)]
pub(super) struct Recorder<'run> {
    /// Tests and conditions.
    pub(super) seen: Vec<SeenTest<'run>>,
    /// Steps of paths that led nowhere since the last test.
    gaps: Vec<Gap<'run>>,
    /// The data flow of the expressions that were entered, by their first instruction.
    flows: FxHashMap<usize, DataFlow>,
    /// What the truth of the expression in work does to the truth of the whole.
    around: Option<TruthEffect>,
    /// The instruction of the expression itself that entered the `let` or `def` in work.
    entered: Option<usize>,
    /// Each element that fails a quantifier, where those are listed.
    pub(super) listing: Option<ElementListing<'run>>,
    /// The elements that something missing decided, where those are listed.
    pub(super) doubts: Option<DoubtListing<'run>>,
}

impl<'run> Recorder<'run> {
    /// One that lists each element that fails a quantifier.
    pub(super) fn listing(listing: ElementListing<'run>) -> Self {
        Self { listing: Some(listing), ..Self::default() }
    }
}

impl<'run> Recorder<'run> {
    /// One that lists the elements that something missing decided.
    pub(super) fn doubting(doubts: DoubtListing<'run>) -> Self {
        Self { doubts: Some(doubts), ..Self::default() }
    }
}

impl Recorder<'_> {
    /// The data flow of an expression that was entered, by its first instruction.
    pub(super) fn flow(&self, start: usize) -> Option<&DataFlow> {
        self.flows.get(&start)
    }

    /// Why the test of an instruction came out as it did, where it says more than its values.
    pub(super) fn why_at(&self, at: usize) -> Option<&str> {
        self.seen.last().filter(|seen| seen.at == at)?.misfit.as_ref().map(|misfit| misfit.text.as_str())
    }
}

impl<'run> Recorder<'run> {
    /// Where something came to be missing that no test has looked at.
    pub(super) fn last_gap(&self) -> Option<Gap<'run>> {
        self.gaps.last().copied()
    }

    /// An element comes: `lists` says whether it is one of the quantifier whose failing elements are listed.
    pub(super) fn enter_element(&mut self, element: Node<'run>, lists: bool, is_outermost: bool) {
        let seen = self.seen.len();
        self.listing.iter_mut().filter(|_| lists).for_each(|listing| listing.enter(element, seen));
        self.doubts.iter_mut().filter(|_| is_outermost).for_each(|doubts| doubts.enter(element, seen));
    }

    /// Its body was looked at: whether it fails a quantifier whose failing elements are listed, and what it said of an outermost one. Only
    /// what is said of a listed element is kept.
    pub(super) fn leave_element(&mut self, fails: Option<bool>, outermost: Option<Truth>) {
        let seen = self.seen.len();
        if let (Some(listing), Some(fails)) = (&mut self.listing, fails) {
            self.seen.truncate(listing.leave(fails, seen));
        }
        if let (Some(doubts), Some(truth)) = (&mut self.doubts, outermost) {
            self.seen.truncate(doubts.leave(truth, seen));
        }
    }

    /// The step of a path that led nowhere, where the instruction is the last one that did.
    pub(super) fn gap_at(&self, at: usize) -> Option<Gap<'run>> {
        self.gaps.last().copied().filter(|gap| gap.at == at)
    }
}

/// More than this is not evidence but noise.
const SEEN_LIMIT: usize = 10_000;

/// One test.
#[derive(Debug, Clone)]
pub(super) struct SeenTest<'run> {
    /// The instruction, by number in the program.
    pub(super) at: usize,
    /// Which family of test.
    pub(super) kind: TestKindSeen,
    /// What was tested.
    pub(super) subject: Node<'run>,
    /// What it was tested against.
    pub(super) operand: Option<Node<'run>>,
    /// What came out.
    pub(super) truth: Truth,
    /// What that does to the truth of the whole.
    pub(super) polarity: TruthEffect,
    /// Steps of the paths to its sides that led nowhere.
    pub(super) gaps: Vec<Gap<'run>>,
    /// More than the values say: how a schema was violated.
    pub(super) misfit: Option<Misfit<'run>>,
    /// The instruction of the expression itself in whose `let` or `def` the test stands.
    pub(super) within: Option<usize>,
    /// What came nearest, or what was found, in words behind the values.
    pub(super) nearest: Option<String>,
}

/// How a value does not fit a schema or its sources.
#[derive(Debug, Clone)]
pub(super) struct Misfit<'run> {
    /// In words behind the value's name: with the place in it and the line of the schema.
    pub(super) text: String,
    /// The part of the value that does not fit, where it is in the run.
    pub(super) node: Option<Node<'run>>,
    /// The keyword that it does not fit.
    pub(super) keyword: Option<Span>,
}

/// Where something came to be missing: a step of a path that led nowhere, or a computation without a result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap<'run> {
    /// The instruction, by number in the program.
    pub(super) at: usize,
    /// The value that has no such key or element, or that a computation could not use.
    pub(super) base: Node<'run>,
    /// Why a computation has no result, as a clause of its own; `None` for a path.
    pub(super) why: Option<&'run str>,
}

/// Families of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestKindSeen {
    /// Two sides.
    Compared,
    /// One side.
    Inspected,
    /// A value used as a condition.
    Condition,
    /// What a quantifier runs over.
    Source,
    /// The premise of an implication that does not hold.
    Premise,
}

impl<'run> Machine<'run> {
    /// Evaluates once more and tells what was seen. The outcome is the same as before; limits start afresh so that evidence does not
    /// depend on what other assertions used.
    pub(super) fn observed(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> (Result<Truth, Fault>, Recorder<'run>) {
        self.recorder = Some(Recorder::default());
        self.refuel();
        // What a `let` looked at belongs to the evidence too: they are computed again.
        self.lets.iter_mut().for_each(|state| *state = LetState::Unknown);
        let outcome = self.truth(code, scope);
        (outcome, self.recorder.take().unwrap_or_default())
    }

    /// The part of an expression that led nowhere, as it stands in the rule.
    pub(super) fn missing_part(&mut self, code: CodeId, scope: &ExpressionScope<'_, 'run>) -> Option<String> {
        self.recorder = Some(Recorder::default());
        let _outcome = self.evaluate(code, scope);
        let recorder = self.recorder.take()?;
        let gap = recorder.gaps.iter().rev().find(|gap| gap.why.is_none())?;
        Some(self.rule_text(self.span(gap.at)))
    }

    /// The parts of a condition that led nowhere, as they stand in the rule, each with the key that is not there.
    pub(super) fn missing_parts(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Vec<(String, Option<String>)> {
        let (_, recorder) = self.observed(code, scope);
        let of_tests = recorder.seen.iter().filter(|seen| seen.truth.by_missing()).flat_map(|seen| &seen.gaps);
        let gaps = of_tests.chain(&recorder.gaps).filter(|gap| gap.why.is_none());
        gaps.map(|gap| (self.rule_text(self.span(gap.at)), self.key_of(gap).map(str::to_owned))).collect()
    }

    pub(super) fn note_test(
        &mut self,
        at: usize,
        kind: TestKindSeen,
        subject: Node<'run>,
        operand: Option<Node<'run>>,
        truth: Truth,
    ) {
        if !matches!(kind, TestKindSeen::Source | TestKindSeen::Premise) {
            self.see(at, truth);
        }
        if self.recorder.is_none() {
            return;
        }
        let polarity = self.polarity(at);
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

    /// What the truth of an instruction does to the truth of the whole assertion.
    fn polarity(&mut self, at: usize) -> TruthEffect {
        let Some((start, ops)) = self.chunk_around(at) else { return TruthEffect::None };
        let Some(recorder) = &mut self.recorder else { return TruthEffect::None };
        let flow = recorder.flows.entry(start).or_insert_with(|| DataFlow::of(ops));
        recorder.around.unwrap_or(TruthEffect::Same).then(flow.polarity(ops, at - start))
    }

    /// The code of the expression that an instruction belongs to, with the number of its first instruction.
    pub(super) fn chunk_around(&self, at: usize) -> Option<(usize, &'run [Op])> {
        let program = self.program;
        let behind = program.chunks.partition_point(|chunk| chunk.start as usize <= at);
        let chunk = program.chunks.get(behind.checked_sub(1)?)?;
        Some((chunk.start as usize, program.code.get(chunk.start as usize..chunk.end as usize)?))
    }

    /// A `let` or `def` is entered from an instruction: what it tests counts for the whole as the instruction's value does. Gives what
    /// [`Machine::note_leave`] needs.
    pub(super) fn note_enter(&mut self, at: usize) -> Option<TruthEffect> {
        self.recorder.as_ref()?;
        let polarity = self.polarity(at);
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

    pub(super) fn note_misfit(&mut self, misfit: Misfit<'run>) {
        if let Some(seen) = self.recorder.as_mut().and_then(|recorder| recorder.seen.last_mut()) {
            seen.misfit = Some(misfit);
        }
    }

    pub(super) fn note_condition(&mut self, at: usize, node: Node<'run>, truth: Truth) {
        self.note_test(at, TestKindSeen::Condition, node, None, truth);
    }

    /// What a quantifier runs over: it matters where nothing is in it.
    pub(super) fn note_source(&mut self, at: usize, node: Node<'run>) {
        let truth = match node.value {
            Value::Missing | Value::List([]) => Truth::missing(true),
            Value::Object(object) if object.entries().is_empty() => Truth::missing(true),
            Value::Absent => Truth::Undecided,
            _ => Truth::True,
        };
        self.note_test(at, TestKindSeen::Source, node, None, truth);
    }

    /// The premise of an implication that does not hold.
    pub(super) fn note_premise(&mut self, at: usize) {
        if self.recorder.is_some() {
            let node = Node::computed(Value::Boolean(false));
            self.note_test(at, TestKindSeen::Premise, node, None, Truth::TrueByMissing);
        }
    }

    pub(super) fn note_gap(&mut self, at: usize, base: Node<'run>) {
        self.note_missing(Gap { at, base, why: None });
    }

    fn note_missing(&mut self, gap: Gap<'run>) {
        if self.near_keys.is_some() {
            self.note_near_key(&gap);
        }
        if let Some(recorder) = &mut self.recorder
            && recorder.gaps.len() < SEEN_LIMIT
        {
            recorder.gaps.push(gap);
        }
    }

    /// A computation has no result, because of one of the values that it takes: `words` stand behind the text of that value.
    pub(super) fn note_void(&mut self, at: usize, taken: usize, base: Node<'run>, words: &str) {
        let _ = self.polarity(at);
        let Some(recorder) = &self.recorder else { return };
        let subject = self.rule_text(self.span(self.made_by(at, recorder).get(taken).copied().unwrap_or(at)));
        let why = Some(&*self.arena.alloc_str(&format!("`{subject}` {words}")));
        self.note_missing(Gap { at, base, why });
    }

    /// What came nearest to the last test, or what it found.
    pub(super) fn note_nearest(&mut self, words: String) {
        if let Some(seen) = self.recorder.as_mut().and_then(|recorder| recorder.seen.last_mut()) {
            seen.nearest = Some(words);
        }
    }
}
