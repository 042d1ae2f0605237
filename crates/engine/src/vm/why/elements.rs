//! The violations of an expression: where `all x in …: …` or `no x in …: …` is the whole of it, each element that fails it is one.

use super::evidence::{ElementChoice, ElementListing, EvidenceRecord};
use crate::bytecode::ops::Op;
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::locate;
use crate::vm::machine::Machine;
use crate::vm::outcome::{AssertionViolation, VerdictEvidence, ViolationList};
use crate::vm::temporal::step_name;
use averment_base::truth::Truth;
use averment_syntax::ast::ExprQuantifier;

impl<'run> Machine<'run> {
    /// Violations of a false expression; empty if it is a single violation itself.
    pub(in crate::vm) fn failing_elements(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
        most: usize,
    ) -> ViolationList {
        let Some(begin) = self.outer_loop(code).filter(|_| most > 0) else { return ViolationList::default() };
        // Behind the first failing element one may end the evaluation: what was found until then stays.
        let listing = ElementListing::new(ElementChoice::Failing(begin), most);
        let (_, evidence) = self.observe_code(code, scope, Some(listing));
        self.violations_of(*evidence, scope)
    }

    fn violations_of(&self, mut evidence: EvidenceRecord<'run>, scope: &ExpressionScope<'_, 'run>) -> ViolationList {
        let Some(listing) = evidence.listing.take().filter(|listing| listing.count > 1) else {
            return ViolationList::default();
        };
        let all = std::mem::take(&mut evidence.seen);
        let listed = listing.listed.into_iter().map(|(element, tests)| {
            evidence.seen = all.get(tests).unwrap_or_default().to_vec();
            let explanation = self.explain_recorded(&evidence, Truth::False, scope);
            let because = if explanation.reason.is_empty() { "it is false" } else { &explanation.reason };
            let pointer = locate::node_pointer(self.run, &element);
            let step = pointer.as_deref().and_then(|pointer| locate::step_of(self.run, pointer));
            let reason = [&self.element_name(pointer.as_deref(), step), because].concat();
            let mut proofs = explanation.evidence;
            if !proofs.iter().any(|one| one.origin.is_some()) {
                // What was tested is computed: the element shows where it comes from.
                let (path, origin) = (pointer.unwrap_or_default(), element.origin.byte_range());
                proofs.insert(0, VerdictEvidence { step, path, origin, ..VerdictEvidence::default() });
            }
            AssertionViolation { reason, evidence: proofs }
        });
        ViolationList { count: listing.count, listed: listed.collect() }
    }

    /// ``for refund at call 3: `` or ``at `/output/items/2`: ``: the prefix of an element's reason.
    fn element_name(&self, pointer: Option<&str>, step: Option<u32>) -> String {
        let Some(pointer) = pointer else { return String::new() };
        match step.filter(|_| pointer.matches('/').count() == 2) {
            Some(step) => ["for ", &step_name(self.run, step), ": "].concat(),
            None => ["at `", pointer, "`: "].concat(),
        }
    }

    fn outer_loop(&self, code: CodeId) -> Option<usize> {
        let start = self.program.chunks.get(code.0 as usize)?.start as usize;
        let ops = self.program.code_ops(code)?;
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
        lists.then_some(start + at)
    }
}
