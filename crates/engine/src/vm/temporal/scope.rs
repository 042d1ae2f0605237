//! Blocks: which windows a header opens, and the verdict over all of them.

mod windows;

use super::TemporalEngine;
use super::explain;
use super::standing_trace;
use super::statements::{Polarity, StatementOperand};
use super::unjudged_steps;
use super::unrecorded_roles;
use super::verdict::out_of_reach;
use super::view::{Hit, WindowView};
use super::window_events::WindowHits;
use crate::bytecode::program::PatternId;
use crate::vm::context::JudgeContext;
use crate::vm::fault::Fault;
use crate::vm::machine::Machine;
use crate::vm::outcome::{CheckFinding, Role, UndecidedCause, UnjudgedRecord, VerdictEvidence, ViolationList};
use averment_base::truth::Verdict;
use averment_base::value::json::to_json;
use averment_checker::ir::WindowScope;
use windows::{AssumedAnswers, OpenedWindow, open_windows};

/// Judges the body of a block in one window.
pub type JudgeBody<'b, 'run> =
    dyn FnMut(&mut TemporalEngine<'run>, &mut Machine<'run>, &JudgeContext<'run>) -> Result<CheckFinding, Fault> + 'b;

fn header_operands(scope: &WindowScope<PatternId>) -> Vec<StatementOperand> {
    let operand = |&pattern: &PatternId| StatementOperand { pattern, polarity: Polarity::Mixed };
    scope.header_patterns().map(operand).collect()
}

/// Fuel per window in which everything passes.
const OPENING: u64 = 50;
/// Fuel per window with something to report.
const SAYING: u64 = 500;

impl<'run> TemporalEngine<'run> {
    /// The verdict of a statement in a block, over all windows that the header opens: `body` judges it in one of them.
    ///
    /// # Errors
    /// What ended the evaluation of the header or of the body.
    pub fn judge_scoped(
        &mut self,
        machine: &mut Machine<'run>,
        scope: &WindowScope<PatternId>,
        context: &JudgeContext<'run>,
        body: &mut JudgeBody<'_, 'run>,
    ) -> Result<CheckFinding, Fault> {
        let operands = header_operands(scope);
        let setting = self.select_window(machine, &operands, None, context, context.bindings.len());
        let opens_windows = !matches!(scope, WindowScope::Each { .. } | WindowScope::Values { .. });
        let opened_by = if opens_windows { Some(self.opened_by.unwrap_or_default()) } else { None };
        let mut view = self.window_view(machine, None, context, &setting)?;
        if !view.machine.observer.recording.is_muted() {
            let header = standing_trace::trace_patterns(&mut view);
            view.machine.observer.recording.note_temporal(header);
        }
        if let Some(finding) = out_of_reach(&view, opened_by) {
            return Ok(finding);
        }
        if let Some(finding) = unrecorded_roles::doubt_header(&view) {
            return Ok(finding);
        }
        view.check_faults()?;
        if !view.machine.run.complete && view.looks_at_course() {
            return Ok(CheckFinding::open_finding(explain::not_complete(view.machine.run)));
        }
        let (hits, seen) = WindowHits::gather(&mut view)?;
        let first_unknown = seen.unknown.as_ref();
        let binds = (0..view.operands.len()).any(|operand| !view.operand_names(operand).is_empty());
        let mut answers = Vec::new();
        let mut ways = AssumedAnswers::default();
        loop {
            answers.push(open_windows(&mut view, scope, hits.all(), &mut ways)?);
            if ways.too_many() {
                return Ok(undecided_finding(&mut view, first_unknown));
            }
            if !ways.advance() {
                break;
            }
        }
        let inside = opened_by.map(|mut kinds| {
            let (timeline, steps) = (view.timeline, view.machine.run.steps);
            view.selected.iter().for_each(|selection| kinds.add_all(selection.step_kinds(timeline, steps)));
            kinds
        });
        let nothing = explain::no_window(&mut view, scope);
        drop(view);
        let open = explain::not_complete(machine.run);
        if let (Some(StatementOperand { pattern, .. }), Some(windows)) = (operands.first(), answers.first()) {
            let closed = windows.iter().any(|window| window.closing.is_some());
            machine.observer.note_windows(*pattern, !windows.is_empty(), closed);
        }
        let outside = self.opened_by;
        self.opened_by = inside.or(outside);
        let findings: Result<Vec<CheckFinding>, Fault> = answers
            .iter()
            .map(|windows| {
                let (findings, violations) = self.over_windows(machine, context, windows, body)?;
                let finding = conclude_windows(findings, scope, context, windows, binds, &nothing, &open);
                let failed = finding.verdict == Verdict::Fail;
                Ok(if failed { CheckFinding { violations, ..finding } } else { finding })
            })
            .collect();
        self.opened_by = outside;
        // Where all agree, the one of all yes speaks for them.
        let mut findings = findings?.into_iter();
        let mut first = findings.next().unwrap_or_else(|| CheckFinding::new(Verdict::Vacuous, nothing));
        let mut opposite = first.opposite;
        let agrees = |other: CheckFinding| {
            opposite = opposite.filter(|verdict| Some(*verdict) == other.opposite);
            other.verdict == first.verdict
        };
        if findings.all(agrees) {
            first.opposite = opposite;
            return Ok(first);
        }
        let mut view = self.window_view(machine, None, context, &setting)?;
        Ok(undecided_finding(&mut view, first_unknown))
    }

    fn over_windows(
        &mut self,
        machine: &mut Machine<'run>,
        context: &JudgeContext<'run>,
        windows: &[OpenedWindow<'run>],
        body: &mut JudgeBody<'_, 'run>,
    ) -> Result<(Vec<CheckFinding>, ViolationList), Fault> {
        let (mut findings, mut violations) = (Vec::<CheckFinding>::new(), ViolationList::default());
        let mut told: Vec<Verdict> = Vec::new();
        for window in windows {
            machine.windows = machine.windows.saturating_add(1);
            // Where enough are listed, those of a further window are only counted.
            let room = context.listed.saturating_sub(violations.listed.len()).max(1).min(context.listed);
            let inside = JudgeContext { listed: room, ..window.context.clone() };
            let mut finding = body(self, machine, &inside)?;
            // Of what does not hold words are made, and evidence.
            let says = !matches!(finding.verdict, Verdict::Pass | Verdict::Vacuous | Verdict::Skipped);
            machine.spend(if says { SAYING } else { OPENING })?;
            if window.never_closed {
                match finding.verdict {
                    Verdict::Fail => {
                        (finding.verdict, finding.opposite) = (Verdict::Undecided, None);
                        finding.because = Some(UndecidedCause::Open);
                    }
                    Verdict::Error => {}
                    // In a run that goes on it may still close.
                    _ if !context.window.closed => {}
                    _ => continue,
                }
            }
            if finding.verdict == Verdict::Pass && finding.unjudged.is_none() {
                finding.unjudged = self.unjudged_window(machine, window, &inside, body)?;
            }
            let mut finding = add_window_ends(finding, window, machine);
            let own = std::mem::take(&mut finding.violations);
            if finding.verdict == Verdict::Fail && context.listed > 0 {
                let own = if own.listed.is_empty() { ViolationList::one_of(&finding) } else { own };
                violations.append_limited(own, context.listed);
            }
            // The first of a verdict speaks for it: of many windows no other reason is said.
            if told.contains(&finding.verdict) {
                (finding.reason, finding.evidence) = (String::new(), Vec::new());
            } else {
                told.push(finding.verdict);
            }
            findings.push(finding);
        }
        Ok((findings, violations))
    }
}

/// Windows whose body holds, and would not if a value of the header were one with another that is nearly equal.
impl<'run> TemporalEngine<'run> {
    /// The step that opened the window, where the body could say something else: it counts as not judged.
    fn unjudged_window(
        &mut self,
        machine: &mut Machine<'run>,
        window: &OpenedWindow<'run>,
        inside: &JudgeContext<'run>,
        body: &mut JudgeBody<'_, 'run>,
    ) -> Result<Option<Box<UnjudgedRecord>>, Fault> {
        let (Some(why), Some(opening)) = (self.twin_words(window), window.opening) else { return Ok(None) };
        let before = machine.joins_near_values(true);
        let again = machine.without_observers(|machine| body(self, machine, inside));
        machine.joins_near_values(before);
        if matches!(again?.verdict, Verdict::Pass | Verdict::Vacuous | Verdict::Skipped) {
            return Ok(None);
        }
        let things = unjudged_steps::count_steps(machine.run.steps.get(opening as usize).into_iter());
        Ok(Some(Box::new(UnjudgedRecord { things, why, steps: vec![opening], all: vec![opening] })))
    }

    /// `"A1" and "a1" are two values`: a value that the header binds, and one of the run that is nearly equal.
    fn twin_words(&self, window: &OpenedWindow<'run>) -> Option<String> {
        let bound = window.context.bindings.iter().flatten();
        let values = &self.timeline.as_ref()?.values;
        let (one, other) = bound.filter_map(|node| Some((*node, values.near_twin(node)?))).next()?;
        Some(format!("{} and {} are two values", to_json(&one.value), to_json(&other.value)))
    }
}

fn undecided_finding(view: &mut WindowView<'_, '_>, unknown: Option<&Hit>) -> CheckFinding {
    let why = explain::unknown_reason(view, unknown, super::window_events::VerdictReason::default());
    CheckFinding { evidence: why.evidence, ..CheckFinding::new(Verdict::Undecided, why.reason) }
}

fn conclude_windows(
    findings: Vec<CheckFinding>,
    scope: &WindowScope<PatternId>,
    context: &JudgeContext<'_>,
    windows: &[OpenedWindow<'_>],
    binds: bool,
    nothing: &str,
    open: &str,
) -> CheckFinding {
    let verdict = match findings.is_empty() {
        true if context.of_invariant => Verdict::Skipped,
        true => Verdict::Vacuous,
        false => Verdict::all_of(findings.iter().map(|finding| finding.verdict)),
    };
    // A longer run may open more windows, unless the only one there can be has come.
    let complete = matches!(scope, WindowScope::Before { .. }) && !binds && !windows.is_empty();
    let may_change = !context.window.closed && !complete && !matches!(verdict, Verdict::Fail | Verdict::Error);
    let verdict = if may_change { Verdict::Undecided } else { verdict };
    let mut decisive = findings.into_iter().filter(|finding| finding.verdict == verdict);
    let Some(mut first) = decisive.next() else {
        return if may_change { CheckFinding::open_finding(open) } else { CheckFinding::new(verdict, nothing) };
    };
    let mut unjudged = vec![first.unjudged.take()];
    for finding in decisive {
        // One that proves something is enough.
        let both = first.opposite.zip(finding.opposite);
        first.opposite = both.map(|(one, other)| one.max(other));
        first.because = first.undecided_cause().max(finding.undecided_cause());
        unjudged.push(finding.unjudged);
    }
    first.unjudged = UnjudgedRecord::join_parts(unjudged);
    first
}

fn add_window_ends<'run>(
    mut finding: CheckFinding,
    window: &OpenedWindow<'run>,
    machine: &Machine<'run>,
) -> CheckFinding {
    if matches!(finding.verdict, Verdict::Pass | Verdict::Vacuous | Verdict::Skipped) {
        return finding;
    }
    let name = |step: u32| explain::step_name(machine.run, step);
    let words = match (window.opening, window.closing) {
        (Some(opening), _) if window.is_value_scope => match bound_values(window) {
            values if values.is_empty() => return finding,
            values => format!("with {values} of {}", name(opening)),
        },
        (Some(opening), _) if window.context.step.is_some() => format!("for {}", name(opening)),
        (Some(opening), Some(closing)) => format!("after {} and before {}", name(opening), name(closing)),
        (Some(opening), None) if window.never_closed => format!("after {}, which is never closed", name(opening)),
        (Some(opening), None) => format!("after {}", name(opening)),
        (None, Some(closing)) => format!("before {}", name(closing)),
        (None, None) => return finding,
    };
    let placed = |reason: &mut String, evidence: &mut Vec<VerdictEvidence>| {
        if !reason.is_empty() {
            *reason = format!("{words}: {reason}");
        }
        for (step, role) in [(window.opening, Role::Opening), (window.closing, Role::Closing)] {
            if let Some(step) = step
                && !evidence.iter().any(|evidence| evidence.step == Some(step))
            {
                evidence.push(explain::step_evidence(machine.run, step, role, String::new()));
            }
        }
    };
    placed(&mut finding.reason, &mut finding.evidence);
    finding.violations.listed.iter_mut().for_each(|one| placed(&mut one.reason, &mut one.evidence));
    finding
}

fn bound_values(window: &OpenedWindow<'_>) -> String {
    let values = window.context.bindings.iter().flatten();
    let shown = values.map(|node| to_json(&node.value));
    shown.collect::<Vec<_>>().join(", ")
}
