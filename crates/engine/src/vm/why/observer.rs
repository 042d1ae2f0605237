//! Everybody who looks at an evaluation. The machine tells one observer what happens and knows nobody else; while nobody looks, an event is a
//! question whether somebody does.

use super::coverage::CoverageRecord;
use super::doubt_notes::{DoubtNotes, FilledPlaces};
use super::evidence::{EvidenceRecord, SeenTestKind, ValueGap, ValueMisfit};
use super::expression_trace::ExpressionTracer;
use super::near_keys::NearKeys;
use super::profile::CostNotes;
use super::recording::DerivationRecording;
use crate::bytecode::data_flow::TruthEffect;
use crate::bytecode::program::{PatternId, Program};
use crate::vm::frame::ScoreStack;
use crate::vm::outcome::MemberGate;
use averment_base::source::Span;
use averment_base::truth::{Truth, Verdict};
use averment_base::value::{Node, Value};
use std::collections::BTreeSet;

/// Told what happens while a run is judged.
#[derive(Debug, Default)]
pub(in crate::vm) struct Observer<'run> {
    pub(in crate::vm) look: Look<'run>,
    pub(in crate::vm) gates: BTreeSet<MemberGate>,
    pub(in crate::vm) near_keys: Option<NearKeys>,
    pub(in crate::vm) recording: DerivationRecording,
    /// Present while an expression is evaluated with a value in every place that lacks one.
    pub(super) filled: Option<Box<FilledPlaces<'run>>>,
    pub(in crate::vm) costs: CostNotes<'run>,
}

/// What one look at an expression notes. A second look, and work that is no evidence, have notes of their own.
#[derive(Debug, Default)]
pub(in crate::vm) struct Look<'run> {
    pub(super) evidence: Option<Box<EvidenceRecord<'run>>>,
    pub(in crate::vm) coverage: Option<Box<CoverageRecord>>,
    pub(super) tracer: Option<Box<ExpressionTracer<'run>>>,
    /// The scores of the values on the stack, while an expression is graded.
    pub(in crate::vm) grades: Option<ScoreStack>,
    pub(in crate::vm) doubts: DoubtNotes,
}

impl<'run> Look<'run> {
    pub(super) fn of_evidence(evidence: Box<EvidenceRecord<'run>>) -> Self {
        Self { evidence: Some(evidence), ..Self::default() }
    }
}

impl<'run> Observer<'run> {
    /// True if more than the value of an expression is wanted.
    pub(in crate::vm) fn is_watching(&self) -> bool {
        self.is_explaining() || self.is_tracing() || self.look.grades.is_some() || self.near_keys.is_some()
    }

    /// True if it is noted which way each test went.
    pub(in crate::vm) fn is_covering(&self) -> bool {
        self.look.coverage.is_some()
    }

    /// True if reasons are wanted, which take more than the answer.
    pub(in crate::vm) fn is_explaining(&self) -> bool {
        self.look.evidence.is_some()
    }

    pub(in crate::vm) fn is_tracing(&self) -> bool {
        self.look.tracer.is_some()
    }

    /// True if what is noted belongs to one assertion, so that none speaks for another.
    pub(in crate::vm) fn tells_apart(&self) -> bool {
        self.is_covering() || !self.recording.is_muted()
    }
}

/// Events of an expression. `at` is the number of an instruction.
impl<'run> Observer<'run> {
    pub(in crate::vm) fn note_test(
        &mut self,
        at: usize,
        kind: SeenTestKind,
        subject: Node<'run>,
        operand: Option<Node<'run>>,
        truth: Truth,
    ) {
        if kind.branches() {
            self.note_branch(at, truth);
        }
        if let Some(evidence) = &mut self.look.evidence {
            evidence.note_test(at, kind, subject, operand, truth);
        }
    }

    /// The way that a test or condition went.
    pub(in crate::vm) fn note_branch(&mut self, at: usize, truth: Truth) {
        if let Some(coverage) = &mut self.look.coverage {
            coverage.note_test(at, truth);
        }
    }

    /// The source of a quantifier matters if it is empty.
    pub(in crate::vm) fn note_source(&mut self, at: usize, node: Node<'run>) {
        let truth = match node.value {
            Value::Missing | Value::List([]) => Truth::from_missing(true),
            Value::Object(object) if object.entries().is_empty() => Truth::from_missing(true),
            Value::Absent => Truth::Undecided,
            _ => Truth::True,
        };
        self.note_test(at, SeenTestKind::Source, node, None, truth);
    }

    /// A premise that does not hold.
    pub(in crate::vm) fn note_premise(&mut self, at: usize) {
        let node = Node::computed(Value::Boolean(false));
        self.note_test(at, SeenTestKind::Premise, node, None, Truth::TrueByMissing);
    }

    /// Why the last test came out as it did.
    pub(in crate::vm) fn note_misfit(&mut self, misfit: ValueMisfit<'run>) {
        if let Some(seen) = self.look.evidence.as_mut().and_then(|evidence| evidence.seen.last_mut()) {
            seen.misfit = Some(misfit);
        }
    }

    /// What came nearest to passing the last test.
    pub(in crate::vm) fn note_nearest(&mut self, words: String) {
        if let Some(seen) = self.look.evidence.as_mut().and_then(|evidence| evidence.seen.last_mut()) {
            seen.nearest = Some(words);
        }
    }

    pub(in crate::vm) fn note_gap(&mut self, program: &Program, gap: ValueGap<'run>) {
        if let Some(keys) = &mut self.near_keys {
            keys.note_gap(program, &gap);
        }
        if let Some(evidence) = &mut self.look.evidence {
            evidence.note_gap(gap);
        }
    }

    /// The instruction that made the value to blame for a computation without a result; `None` while nobody asks.
    pub(in crate::vm) fn find_source(&mut self, at: usize, taken: usize) -> Option<usize> {
        Some(self.look.evidence.as_mut()?.find_source(at, taken))
    }

    /// A `let` or `def` is entered; the result goes to [`Self::leave_definition`].
    pub(in crate::vm) fn enter_definition(&mut self, at: usize) -> Option<TruthEffect> {
        self.look.evidence.as_mut()?.enter_definition(at)
    }

    pub(in crate::vm) fn leave_definition(&mut self, around: Option<TruthEffect>) {
        if let Some(evidence) = &mut self.look.evidence {
            evidence.leave_definition(around);
        }
    }

    /// Whether the quantifier that begins here continues after its answer is known, because its elements are listed.
    pub(in crate::vm) fn lists_elements(&self, at: usize) -> bool {
        let listing = self.look.evidence.as_ref().and_then(|evidence| evidence.listing.as_ref());
        listing.is_some_and(|listing| listing.begins_at(at))
    }

    pub(in crate::vm) fn enter_element(&mut self, element: Node<'run>, lists: bool, is_outermost: bool) {
        if let Some(evidence) = &mut self.look.evidence {
            evidence.enter_element(element, lists, is_outermost);
        }
    }

    /// Takes whether the body fails a quantifier whose elements are listed, and the truth of the body if it is that of the outermost one.
    pub(in crate::vm) fn leave_element(&mut self, fails: Option<bool>, outermost: Option<Truth>) {
        if let Some(evidence) = &mut self.look.evidence {
            evidence.leave_element(fails, outermost);
        }
    }
}

/// What else happens to an assertion: see also [`DerivationRecording`].
impl Observer<'_> {
    pub(in crate::vm) fn note_windows(&mut self, header: PatternId, opened: bool, closed: bool) {
        if let Some(coverage) = &mut self.look.coverage {
            coverage.note_windows(header, opened, closed);
        }
    }

    pub(in crate::vm) fn note_member(&mut self, place: Span, verdict: Verdict) {
        if let Some(coverage) = &mut self.look.coverage {
            coverage.note_member(place, verdict);
        }
    }

    /// What was covered, with the patterns that matched.
    pub(in crate::vm) fn take_coverage(&mut self, matched: impl Iterator<Item = PatternId>) -> Option<CoverageRecord> {
        let mut coverage = self.look.coverage.take()?;
        coverage.note_matched(matched);
        Some(*coverage)
    }
}
