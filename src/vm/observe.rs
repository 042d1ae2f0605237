//! What an evaluation saw, for evidence. An assertion that does not pass is evaluated a second time with a recorder: the first
//! time costs nothing extra, and there is still only one evaluator.

use super::context::Scope;
use super::fault::Fault;
use super::machine::Machine;
use crate::bytecode::program::CodeId;
use crate::truth::Truth;
use crate::value::Node;

/// What one evaluation saw, in the order of evaluation.
#[derive(Debug, Default)]
pub(super) struct Recorder<'run> {
    /// Tests and conditions.
    pub(super) seen: Vec<Seen<'run>>,
    /// Steps of paths that led nowhere, with the value that they started from.
    pub(super) gaps: Vec<(usize, Node<'run>)>,
}

/// More than this is not evidence but noise.
const SEEN_LIMIT: usize = 10_000;

/// One test.
#[derive(Debug, Clone)]
pub(super) struct Seen<'run> {
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
    /// More than the values say: how a schema was violated.
    pub(super) why: Option<String>,
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
}

impl<'run> Machine<'run> {
    /// Evaluates once more and tells what was seen. The outcome is the same as before; limits start afresh so that evidence does not
    /// depend on what other assertions used.
    pub(super) fn observed(&mut self, code: CodeId, scope: &Scope<'_, 'run>) -> (Result<Truth, Fault>, Recorder<'run>) {
        self.recorder = Some(Recorder::default());
        self.refuel();
        let outcome = self.truth(code, scope);
        (outcome, self.recorder.take().unwrap_or_default())
    }

    pub(super) fn note_test(
        &mut self,
        at: usize,
        kind: TestKindSeen,
        subject: Node<'run>,
        operand: Option<Node<'run>>,
        truth: Truth,
    ) {
        if let Some(recorder) = &mut self.recorder
            && recorder.seen.len() < SEEN_LIMIT
        {
            recorder.seen.push(Seen { at, kind, subject, operand, truth, why: None });
        }
    }

    pub(super) fn note_why(&mut self, why: String) {
        if let Some(seen) = self.recorder.as_mut().and_then(|recorder| recorder.seen.last_mut()) {
            seen.why = Some(why);
        }
    }

    pub(super) fn note_condition(&mut self, at: usize, node: Node<'run>, truth: Truth) {
        self.note_test(at, TestKindSeen::Condition, node, None, truth);
    }

    pub(super) fn note_source(&mut self, at: usize, node: Node<'run>) {
        self.note_test(at, TestKindSeen::Source, node, None, Truth::True);
    }

    pub(super) fn note_gap(&mut self, at: usize, base: Node<'run>) {
        if let Some(recorder) = &mut self.recorder
            && recorder.gaps.len() < SEEN_LIMIT
        {
            recorder.gaps.push((at, base));
        }
    }
}
