//! The violations of an expression: where `all x in …: …` or `no x in …: …` is the whole of it, each element that fails it is one.

use super::context::ExpressionScope;
use super::locate;
use super::machine::{LetState, Machine};
use super::observe::EvaluationRecorder;
use super::outcome::{AssertionViolation, VerdictEvidence, ViolationList};
use super::temporal::name_of_step;
use crate::bytecode::ops::Op;
use crate::bytecode::program::CodeId;
use averment_base::truth::Truth;
use averment_base::value::Node;
use averment_syntax::ast::ExprQuantifier;
use std::ops::Range;

/// A quantifier that continues after its answer is known, to list every failing element.
#[derive(Debug)]
pub(super) struct ElementListing<'run> {
    begin: usize,
    failing: Vec<(Node<'run>, Range<usize>)>,
    count: u64,
    most: usize,
    current: Option<(Node<'run>, usize)>,
}

impl<'run> ElementListing<'run> {
    pub(super) fn begins_at(&self, at: usize) -> bool {
        self.begin == at
    }

    pub(super) fn enter_element(&mut self, element: Node<'run>, seen: usize) {
        self.current = Some((element, seen));
    }

    pub(super) fn leave_element(&mut self, fails: bool, seen: usize) -> usize {
        let Some((element, from)) = self.current.take() else { return seen };
        self.count += u64::from(fails);
        if !fails || self.failing.len() >= self.most {
            return from;
        }
        self.failing.push((element, from..seen));
        seen
    }
}

impl<'run> Machine<'run> {
    /// Violations of a false expression; empty if it is a single violation itself.
    pub(super) fn failing_elements(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
        most: usize,
    ) -> ViolationList {
        let Some(begin) = self.outer_loop(code).filter(|_| most > 0) else { return ViolationList::default() };
        let listing = ElementListing { begin, failing: Vec::new(), count: 0, most, current: None };
        // What is looked at again is not seen again.
        let coverage = self.seen.take();
        self.recorder = Some(EvaluationRecorder::with_listing(listing));
        self.refuel();
        self.lets.iter_mut().for_each(|state| *state = LetState::Unknown);
        // Behind the first failing element one may end the evaluation: what was found until then stays.
        let _ = self.evaluate_truth(code, scope);
        let recorder = self.recorder.take().unwrap_or_default();
        self.seen = coverage;
        self.violations_of(recorder, scope)
    }

    fn violations_of(
        &self,
        mut recorder: EvaluationRecorder<'run>,
        scope: &ExpressionScope<'_, 'run>,
    ) -> ViolationList {
        let Some(listing) = recorder.listing.take().filter(|listing| listing.count > 1) else {
            return ViolationList::default();
        };
        let all = std::mem::take(&mut recorder.seen);
        let listed = listing.failing.into_iter().map(|(element, tests)| {
            recorder.seen = all.get(tests).unwrap_or_default().to_vec();
            let explanation = self.explain_recorded(&recorder, Truth::False, scope);
            let because = if explanation.reason.is_empty() { "it is false" } else { &explanation.reason };
            let pointer = locate::node_pointer(self.run, &element);
            let step = pointer.as_deref().and_then(|pointer| locate::step_of(self.run, pointer));
            let reason = [&self.element_name(pointer.as_deref(), step), because].concat();
            let mut evidence = explanation.evidence;
            if !evidence.iter().any(|one| one.origin.is_some()) {
                // What was tested is computed: the element shows where it comes from.
                let (path, origin) = (pointer.unwrap_or_default(), element.origin.byte_range());
                evidence.insert(0, VerdictEvidence { step, path, origin, ..VerdictEvidence::default() });
            }
            AssertionViolation { reason, evidence }
        });
        ViolationList { count: listing.count, listed: listed.collect() }
    }

    /// ``for refund at call 3: `` or ``at `/output/items/2`: ``: the prefix of an element's reason.
    fn element_name(&self, pointer: Option<&str>, step: Option<u32>) -> String {
        let Some(pointer) = pointer else { return String::new() };
        match step.filter(|_| pointer.matches('/').count() == 2) {
            Some(step) => ["for ", &name_of_step(self.run, step), ": "].concat(),
            None => ["at `", pointer, "`: "].concat(),
        }
    }

    fn outer_loop(&self, code: CodeId) -> Option<usize> {
        let chunk = self.program.chunks.get(code.0 as usize)?;
        let ops = self.program.code.get(chunk.start as usize..chunk.end as usize)?;
        let (mut begins, mut outer) = (Vec::new(), None);
        for (at, op) in ops.iter().enumerate() {
            match op {
                Op::Begin(quantifier) => begins.push((at, *quantifier)),
                Op::End() => {
                    outer = begins.pop();
                    if at + 1 < ops.len() {
                        outer = None;
                    }
                }
                _ => {}
            }
        }
        let (at, quantifier) = outer.filter(|_| matches!(ops.last(), Some(Op::End())))?;
        let lists = matches!(quantifier, ExprQuantifier::All | ExprQuantifier::No);
        lists.then_some(chunk.start as usize + at)
    }
}
