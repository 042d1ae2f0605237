//! `no PREDICATE in EXPR` and `no PREDICATE in A`: the predicate finds nothing in any value inside.

use super::walk::{Finds, FoundValue, Walk, found, found_all, walk};
use super::{Exercise, Exercised, Meaning, Statement, mixed};
use crate::bytecode::program::{CodeId, PatternId};
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use crate::vm::temporal::explain::why;
use crate::vm::temporal::monitor::{Judged, Monitor, Why};
use crate::vm::temporal::view::{Hit, View};
use averment_runs::run::{Kind, Step};

/// `no PREDICATE in EXPR`.
pub(super) fn in_value(values: CodeId, predicate: CodeId) -> Statement {
    Statement::new(Vec::new(), Exercise::Own, NoneInValue { values, predicate })
}

/// `no PREDICATE in A`.
pub(super) fn in_steps(step: PatternId, predicate: CodeId) -> Statement {
    Statement::new(vec![mixed(step)], Exercise::AnyOf(0..1), NoneInSteps { predicate })
}

#[derive(Debug)]
struct NoneInValue {
    values: CodeId,
    predicate: CodeId,
}

impl Meaning for NoneInValue {
    fn monitor<'run>(&self, _: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(NoneInValueMonitor::new(self.values, self.predicate)))
    }

    fn vacuous(&self, _: &mut View<'_, '_>) -> String {
        "there is nothing to look at".to_owned()
    }
}

#[derive(Debug)]
struct NoneInSteps {
    predicate: CodeId,
}

impl Meaning for NoneInSteps {
    fn monitor<'run>(&self, _: &View<'_, 'run>) -> Result<Box<dyn Monitor<'run> + 'run>, Fault> {
        Ok(Box::new(NoneInStepsMonitor::new(self.predicate)))
    }
}

/// Places that are looked for where it is said what was found.
const MOST_FOUND: usize = 1_000;

/// The monitor of `no PREDICATE in EXPR`.
struct NoneInValueMonitor {
    values: CodeId,
    predicate: CodeId,
    walk: Walk,
    recorded: bool,
}

impl NoneInValueMonitor {
    /// A monitor that has not looked yet.
    fn new(values: CodeId, predicate: CodeId) -> Self {
        Self { values, predicate, walk: Walk::default(), recorded: false }
    }

    /// All that is found: judging stops at the first.
    fn all(&self, view: &mut View<'_, '_>) -> Result<Walk, Fault> {
        let bindings = view.context.bindings.clone();
        let scope = ExpressionScope { bindings: &bindings, ..view.context.scope() };
        let root = view.machine.evaluate(self.values, &scope)?;
        walk(root, self.predicate, &scope, Finds::All(MOST_FOUND), view)
    }
}

impl<'run> Monitor<'run> for NoneInValueMonitor {
    fn step(&mut self, _: &[Hit], _: &mut View<'_, 'run>) -> Result<(), Fault> {
        Ok(())
    }

    fn judge(&mut self, view: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let bindings = view.context.bindings.clone();
        let scope = ExpressionScope { bindings: &bindings, ..view.context.scope() };
        let root = view.machine.evaluate(self.values, &scope)?;
        self.walk = walk(root, self.predicate, &scope, Finds::First, view)?;
        self.recorded = !self.walk.has_absent;
        let (found, unknown) = (!self.walk.found.is_empty(), self.walk.unknown.is_some());
        Ok(Judged {
            may_fail: found || unknown || !self.recorded,
            may_hold: !found,
            failed_for_good: found,
            exercised: Some(Exercised { may_be_vacuous: self.walk.looked == 0, may_pass: self.walk.looked > 0 }),
            ..Judged::default()
        })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        match (self.walk.found.first(), &self.walk.unknown) {
            (Some(first), _) => {
                let first = || Walk { found: vec![first.clone()], count: 1, ..Walk::default() };
                let all = self.all(view).unwrap_or_else(|_| first());
                found_all(view, &all.found, all.count, self.predicate)
            }
            (None, Some(unknown)) => found(view, unknown, &[], 0, self.predicate),
            (None, None) => not_recorded(view, self.values),
        }
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}

/// The monitor of `no PREDICATE in A`.
struct NoneInStepsMonitor {
    predicate: CodeId,
    /// Found in a step that surely matches.
    sure: Option<FoundValue>,
    /// Found, or perhaps, in a step that matches or may match.
    possible: Option<FoundValue>,
    /// A call of which nothing is recorded that could be looked at.
    unrecorded: Option<u32>,
}

/// Whether neither arguments nor a result of a call are recorded: its name is nothing to look for anything in.
fn is_bare(step: &Step<'_>) -> bool {
    let absent = |name| step.object.get(name).is_some_and(|node| node.value.is_absent());
    step.kind == Kind::Call && absent("args") && absent("result")
}

impl NoneInStepsMonitor {
    /// A monitor that has seen nothing.
    fn new(predicate: CodeId) -> Self {
        Self { predicate, sure: None, possible: None, unrecorded: None }
    }

    /// All that is found in the steps, up to a number of them: judging stops at the first.
    fn all(&self, view: &mut View<'_, '_>) -> Result<Walk, Fault> {
        let hits: Vec<Hit> = view.hits_of(0).filter(|hit| hit.sure).collect();
        let mut all = Walk::default();
        for hit in hits {
            let Some(step) = view.step(hit.step) else { continue };
            let bindings = view.bindings(&hit.env);
            let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
            let wanted = Finds::All(MOST_FOUND - all.found.len());
            let walk = walk(step.node, self.predicate, &scope, wanted, view)?;
            all.count += walk.count;
            all.found.extend(walk.found.into_iter().map(|place| FoundValue { step: Some(hit.step), ..place }));
        }
        Ok(all)
    }
}

impl<'run> Monitor<'run> for NoneInStepsMonitor {
    fn step(&mut self, hits: &[Hit], view: &mut View<'_, 'run>) -> Result<(), Fault> {
        if self.sure.is_some() {
            return Ok(());
        }
        for hit in hits {
            let Some(step) = view.step(hit.step) else { continue };
            let bindings = view.bindings(&hit.env);
            let scope = ExpressionScope::of_step(step).with_bindings(&bindings);
            let walk = walk(step.node, self.predicate, &scope, Finds::First, view)?;
            self.unrecorded = self.unrecorded.or(Some(hit.step).filter(|_| is_bare(step)));
            let of_step = |place: FoundValue| FoundValue { step: Some(hit.step), ..place };
            if let (true, Some(place)) = (hit.sure && self.sure.is_none(), walk.found.first()) {
                self.sure = Some(of_step(place.clone()));
            }
            if self.possible.is_none() {
                self.possible = walk.found.into_iter().next().or(walk.unknown).map(of_step);
            }
        }
        Ok(())
    }

    fn judge(&mut self, _: &mut View<'_, 'run>) -> Result<Judged, Fault> {
        let (sure, possible) = (self.sure.is_some(), self.possible.is_some() || self.unrecorded.is_some());
        Ok(Judged { may_fail: possible, may_hold: !sure, failed_for_good: sure, ..Judged::default() })
    }

    fn explain(&self, view: &mut View<'_, 'run>) -> Why {
        match (&self.sure, &self.possible) {
            (Some(first), _) => {
                let first = || Walk { found: vec![first.clone()], count: 1, ..Walk::default() };
                let all = self.all(view).ok().filter(|all| !all.found.is_empty()).unwrap_or_else(first);
                found_all(view, &all.found, all.count, self.predicate)
            }
            (None, Some(possible)) => found(view, possible, &[], 0, self.predicate),
            (None, None) => {
                let Some(step) = self.unrecorded else { return Why::default() };
                why(format!("the run records neither arguments nor a result of {}", view.say(step)), Vec::new())
            }
        }
    }

    fn sees_all_answers(&self) -> bool {
        true
    }
}

/// The value that should be looked into is not recorded.
fn not_recorded(view: &mut View<'_, '_>, values: CodeId) -> Why {
    let text = view.machine.rule_text(view.machine.code_span(values));
    why(format!("the run does not record `{text}`"), Vec::new())
}
