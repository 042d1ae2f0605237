//! `each A: cond`, `some A: cond`, `no A: cond`: a condition on every matching step.

use super::explain;
use super::monitor::{Judged, Monitor, Why};
use super::view::{Hit, View};
use crate::bytecode::program::CodeId;
use crate::vm::context::Scope;
use crate::vm::fault::Fault;
use averment_base::truth::Truth;
use averment_syntax::ast::Quantifier;

/// The monitor. It looks at all answers to what is unknown: every step stands alone.
pub(super) struct Each {
    quantifier: Quantifier,
    condition: CodeId,
    /// A step that surely makes it fail (`some`: hold).
    sure: Option<Hit>,
    /// A step that may.
    possible: Option<Hit>,
    /// The first step, for `some` without any that holds.
    first: Option<Hit>,
    /// Some sure step was decided on evidence.
    sure_on_evidence: bool,
    /// Some step was, or may be.
    may_be_on_evidence: bool,
}

impl Each {
    /// A monitor that has seen nothing.
    pub(super) fn new(quantifier: Quantifier, condition: CodeId) -> Self {
        Self {
            quantifier,
            condition,
            sure: None,
            possible: None,
            first: None,
            sure_on_evidence: false,
            may_be_on_evidence: false,
        }
    }

    /// Whether the condition is what decides alone: for `each` that it is false, for `some` and `no` that it is true.
    fn decides(&self, truth: Truth) -> Option<bool> {
        let plain = truth.plain()?;
        Some(if self.quantifier == Quantifier::Each { !plain } else { plain })
    }
}

impl<'run> Monitor<'run> for Each {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        for hit in hits {
            let Some(step) = view.step(hit.step) else { continue };
            let bindings = view.bindings(&hit.env);
            let truth = view.machine.truth(self.condition, &Scope::of_step(step).with_bindings(&bindings))?;
            let decides = self.decides(truth);
            if hit.sure && decides == Some(true) && self.sure.is_none() {
                self.sure = Some(hit.clone());
            }
            if decides != Some(false) && self.possible.is_none() {
                self.possible = Some(hit.clone());
            }
            if self.first.is_none() {
                self.first = Some(hit.clone());
            }
            self.sure_on_evidence |= hit.sure && !truth.by_missing();
            self.may_be_on_evidence |= !truth.by_missing();
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let (sure, possible) = (self.sure.is_some(), self.possible.is_some());
        let exercised = Some((!self.sure_on_evidence, self.may_be_on_evidence));
        Ok(match self.quantifier {
            Quantifier::Some => Judged {
                may_fail: !sure,
                may_hold: possible,
                passed_for_good: sure && self.sure_on_evidence,
                exercised,
                ..Judged::default()
            },
            Quantifier::Each | Quantifier::No => {
                Judged { may_fail: possible, may_hold: !sure, failed_for_good: sure, exercised, ..Judged::default() }
            }
        })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        match self.quantifier {
            Quantifier::Some => explain::none_meets(view, self.first.as_ref(), self.condition),
            Quantifier::Each | Quantifier::No => {
                let hit = self.sure.as_ref().or(self.possible.as_ref());
                let meets = self.quantifier == Quantifier::No;
                hit.map_or_else(Why::default, |hit| explain::condition(view, hit, self.condition, meets))
            }
        }
    }

    fn prove(&self, view: &mut View<'_, 'run>) -> Why {
        match (&self.sure, self.quantifier) {
            (Some(hit), Quantifier::Some) => explain::condition(view, hit, self.condition, true),
            _ => explain::holds(view),
        }
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}
