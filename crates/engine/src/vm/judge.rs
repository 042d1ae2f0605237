//! What an assertion asserts, judged: expressions, statements, groups, blocks, checks of the world.

use super::context::{JudgeContext, LISTED};
use super::course_growth::CourseGrowth;
use super::fault::{Fault, condition_truth};
use super::group_reasons;
use super::machine::Machine;
use super::outcome::{CheckFinding, MemberGate, UndecidedCause, UnjudgedRecord, ViolationList};
use super::score::{self, MemberScore};
use super::temporal::{self, TemporalEngine};
use super::why::check_parts;
use super::why::coverage::CoverageRecord;
use super::why::derivation::{DerivationPart, PartKind};
use super::world::Permissions;
use super::world_checks;
use crate::bytecode::program::{
    CodeId, CompiledAssertion, CompiledCheck, CompiledMember, PatternId, Program, TemporalId,
};
use averment_base::truth::{Truth, Verdict};
use averment_base::value::Value;
use averment_base::value::compare::with_deep_stack;
use averment_checker::ir::{GroupKind, RuleRole};

pub(super) struct RunJudge<'run, 'a> {
    pub(super) machine: Machine<'run>,
    engine: TemporalEngine<'run>,
    permissions: &'a Permissions,
    pub(super) explains: bool,
    pub(super) tells_failures: bool,
    pub(super) listed: usize,
}

type JudgeResult = Result<CheckFinding, Fault>;

impl<'run, 'a> RunJudge<'run, 'a> {
    pub(super) fn new(machine: Machine<'run>, permissions: &'a Permissions) -> Self {
        let engine = TemporalEngine::new();
        Self { machine, engine, permissions, explains: true, tells_failures: true, listed: LISTED }
    }

    pub(super) fn into_coverage(mut self) -> Option<CoverageRecord> {
        if !self.machine.observer.is_covering() {
            return None;
        }
        let Machine { program, prepared, .. } = self.machine;
        let (plan, matched) = (prepared.temporal_plan(program), self.engine.matched_patterns());
        let is_matched = |pattern: &PatternId| {
            let unique = plan.number_of(*pattern);
            unique.and_then(|unique| matched.get(unique as usize)).copied().unwrap_or(false)
        };
        let patterns = (0..).zip(&program.patterns).map(|(number, _)| PatternId(number));
        self.machine.observer.take_coverage(patterns.filter(is_matched))
    }

    pub(super) fn judge_assertion(&mut self, assertion: &'run CompiledAssertion) -> JudgeResult {
        self.judge_when(assertion, &assertion.settings.when)
    }

    pub(super) fn judge_check(&mut self, assertion: &'run CompiledAssertion) -> JudgeResult {
        self.judge_when(assertion, &[])
    }

    fn judge_when(&mut self, assertion: &'run CompiledAssertion, when: &[CodeId]) -> JudgeResult {
        let bindings = bindings_of(self.machine.program, &assertion.check);
        let rule = assertion.rule.and_then(|rule| self.machine.program.rules.get(rule as usize));
        let of_invariant = rule.is_some_and(|rule| rule.role == RuleRole::Invariant);
        let (explains, tells_failures, listed) = (self.explains, self.tells_failures, self.listed);
        let context = JudgeContext {
            of_invariant,
            explains,
            tells_failures,
            listed,
            ..JudgeContext::of_run(self.machine.run, bindings as usize)
        };
        let Self { machine, engine, permissions, .. } = self;
        let mut parts = PartJudge { machine, engine, permissions };
        match parts.judge_conditions(when, &context)? {
            Some(finding) => Ok(finding),
            None => parts.judge_check(&assertion.check, &context),
        }
    }
}

/// Why the conditions of a `when` keep an assertion from being judged, with the one that does: skipped by the first that is false, else
/// undecided by the first that cannot be decided. `None` where all hold.
pub fn when_gate<C, E>(
    conditions: &[C],
    mut truth: impl FnMut(&C) -> Result<Truth, E>,
) -> Result<Option<(Verdict, &C)>, E> {
    let mut undecided = None;
    for condition in conditions {
        match truth(condition)?.plain_answer() {
            Some(true) => {}
            Some(false) => return Ok(Some((Verdict::Skipped, condition))),
            None => undecided = undecided.or(Some((Verdict::Undecided, condition))),
        }
    }
    Ok(undecided)
}

/// Every statement and block of the assertion states the same number.
fn bindings_of(program: &Program, check: &CompiledCheck) -> u32 {
    match check {
        CompiledCheck::Temporal(TemporalId(temporal)) => {
            program.temporals.get(*temporal as usize).map_or(0, |entry| entry.bindings)
        }
        CompiledCheck::Scoped { bindings, .. } => *bindings,
        CompiledCheck::Not(inner) => bindings_of(program, inner),
        CompiledCheck::Group { members, .. } => {
            members.iter().map(|member| bindings_of(program, &member.check)).max().unwrap_or(0)
        }
        CompiledCheck::Expression(_) | CompiledCheck::World(_) | CompiledCheck::OverRuns(_) => 0,
    }
}

struct PartJudge<'p, 'run> {
    machine: &'p mut Machine<'run>,
    engine: &'p mut TemporalEngine<'run>,
    permissions: &'p Permissions,
}

impl<'run> PartJudge<'_, 'run> {
    /// Skipped if a condition is false, undecided if one is undecided, else `None`.
    fn judge_conditions(
        &mut self,
        conditions: &[CodeId],
        context: &JudgeContext<'run>,
    ) -> Result<Option<CheckFinding>, Fault> {
        let mut by_missing = false;
        let gate = when_gate(conditions, |&code| {
            let truth = self.machine.evaluate_truth(code, &context.expression_scope())?;
            by_missing = truth.by_missing();
            self.derive_when(code, context);
            Ok::<_, Fault>(truth)
        })?;
        Ok(gate.map(|(verdict, &code)| {
            if verdict == Verdict::Skipped {
                let reason = format!("`when {}` is false", self.machine.code_text(code));
                return CheckFinding { by_missing, ..CheckFinding::new(verdict, reason) };
            }
            let explanation = self.machine.explain_condition(code, &context.expression_scope());
            let reason = format!("its `when` is undecided: {}", explanation.reason);
            CheckFinding { evidence: explanation.evidence, ..CheckFinding::new(verdict, reason) }
        }))
    }

    fn derive_when(&mut self, code: CodeId, context: &JudgeContext<'run>) {
        if !self.machine.observer.recording.is_muted() {
            let part = self.machine.trace_expression(code, &context.expression_scope());
            self.machine.observer.recording.add_part(DerivationPart {
                kind: PartKind::When,
                parts: vec![part],
                ..DerivationPart::default()
            });
        }
    }

    fn judge_check(&mut self, check: &'run CompiledCheck, context: &JudgeContext<'run>) -> JudgeResult {
        let program = self.machine.program;
        self.machine.observer.recording.open_part(|| check_parts::check_part(program, check));
        let judged = self.dispatch_check(check, context);
        self.machine.observer.recording.close_part(&judged);
        judged
    }

    fn dispatch_check(&mut self, check: &'run CompiledCheck, context: &JudgeContext<'run>) -> JudgeResult {
        match check {
            CompiledCheck::Expression(code) => self.judge_expression(*code, context),
            CompiledCheck::Temporal(temporal) => self.engine.judge_statement(self.machine, *temporal, context),
            CompiledCheck::Not(inner) => {
                let context = JudgeContext { listed: 0, ..proving_context(context) };
                Ok(negate_finding(with_deep_stack(|| self.judge_check(inner, &context))?))
            }
            CompiledCheck::Group { kind: GroupKind::None, members } => {
                self.judge_group(GroupKind::None, members, &proving_context(context))
            }
            CompiledCheck::Group { kind, members } => self.judge_group(*kind, members, context),
            CompiledCheck::Scoped { scope, body, .. } => {
                let permissions = self.permissions;
                self.engine.judge_scoped(self.machine, scope, context, &mut |engine, machine, context| {
                    with_deep_stack(|| PartJudge { machine, engine, permissions }.judge_window(body, context))
                })
            }
            CompiledCheck::World(world) => world_checks::judge_world(self.machine, self.permissions, world, context),
            CompiledCheck::OverRuns(_) => Ok(CheckFinding::new(Verdict::Skipped, "it speaks of all runs together")),
        }
    }

    /// Evidence gets full fuel, but all fuel spent in the window is then subtracted from what was left before.
    fn judge_window(&mut self, body: &'run CompiledCheck, context: &JudgeContext<'run>) -> JudgeResult {
        let (left, spent, windows) =
            (self.machine.meter.fuel_left(), self.machine.meter.fuel_spent(), self.machine.windows);
        if self.machine.observer.recording.open_window() {
            let window = check_parts::window_part(self.machine, context);
            self.machine.observer.recording.open_part(|| window);
        }
        let judged = self.judge_check(body, context);
        self.machine.observer.recording.close_part(&judged);
        let taken = self.machine.meter.fuel_spent().saturating_sub(spent);
        self.machine.meter.cap_fuel(left.saturating_sub(taken));
        self.machine.windows = self.machine.windows.max(windows);
        judged
    }

    fn judge_expression(&mut self, code: CodeId, context: &JudgeContext<'run>) -> JudgeResult {
        let scope = &context.expression_scope();
        if !self.machine.observer.recording.is_muted() {
            let part = self.machine.trace_expression(code, scope);
            self.machine.observer.recording.add_part(part);
        }
        self.machine.forget_doubts();
        let (node, score) = self.machine.eval_graded(code, scope)?;
        let truth = self.machine.condition_of(code, &node)?;
        let verdict = truth.verdict();
        let mut finding = CheckFinding { score, ..CheckFinding::new(verdict, "") };
        // Behind `not` a fail is what is wanted, and this one proves nothing.
        let wanted = verdict == Verdict::Pass || verdict == Verdict::Fail && context.proves_passes;
        if wanted && context.explains {
            finding.unjudged = self.machine.unjudged_places(code, scope, verdict);
        }
        finding.opposite = (truth == Truth::FalseByMissing).then_some(Verdict::Vacuous);
        let run = self.machine.run;
        if (!run.complete || run.died_at_start()) && matches!(verdict, Verdict::Pass | Verdict::Fail) {
            let growth = CourseGrowth::of_code(self.machine.program, code);
            let proved =
                if run.complete { growth == CourseGrowth::Fixed } else { growth.keeps(verdict == Verdict::Pass) };
            let (weak, reason) = match run.complete {
                true => (Verdict::Vacuous, temporal::DIED_AT_START.into()),
                false => (Verdict::Undecided, temporal::not_complete(run)),
            };
            if !proved && verdict == Verdict::Pass {
                let because = Some(UndecidedCause::Open);
                return Ok(CheckFinding { because, ..CheckFinding::new(weak, reason) });
            }
            finding.opposite = finding.opposite.or((!proved).then_some(weak));
        }
        if verdict != Verdict::Pass || context.proves_passes {
            let explanation = self.machine.explain_condition(code, scope);
            finding.reason = expression_reason(truth, &explanation.reason);
            finding.evidence = explanation.evidence;
            if verdict == Verdict::Fail {
                finding.violations = self.machine.failing_elements(code, scope, context.listed);
                // The first of several elements speaks for all.
                if let Some(first) = finding.violations.listed.first() {
                    (finding.reason, finding.evidence) = (first.reason.clone(), first.evidence.clone());
                }
            }
        }
        Ok(finding)
    }

    fn judge_group(
        &mut self,
        kind: GroupKind,
        members: &'run [CompiledMember],
        context: &JudgeContext<'run>,
    ) -> JudgeResult {
        let mut findings = Vec::with_capacity(members.len());
        for member in members {
            let finding = self.judge_member_part(member, context)?;
            self.machine.observer.note_member(member.span, finding.verdict);
            findings.push(if kind == GroupKind::None { proved_fail(finding) } else { finding });
        }
        let closed = context.window.closed;
        let verdict = score::group_verdict(kind, findings.iter().map(|finding| finding.verdict), closed);
        let parts: Vec<MemberScore> = members
            .iter()
            .zip(&findings)
            .map(|(member, finding)| MemberScore {
                verdict: finding.verdict,
                score: finding.score,
                weight: member.weight,
            })
            .collect();
        let score = score::group_score(kind, &parts);
        let answers = |found: &CheckFinding| found.opposite.map_or(found.verdict, |_| Verdict::Undecided);
        let proves = score::group_verdict(kind, findings.iter().map(answers), closed) == Verdict::Fail;
        let opposite = findings.iter().filter_map(|found| found.opposite).max();
        let opposite = opposite.filter(|_| verdict == Verdict::Fail && !proves);
        let because = findings.iter().filter_map(CheckFinding::undecided_cause).max();
        let mut finding = CheckFinding { score, opposite, because, ..CheckFinding::new(verdict, "") };
        // Where no member may pass, it is the failed ones that say too little.
        let wanted = if kind == GroupKind::None { Verdict::Fail } else { Verdict::Pass };
        let wanted = if verdict == Verdict::Pass { wanted } else { wanted.negated() };
        finding.remark = findings.iter().find_map(|found| found.remark.clone());
        let parts = findings.iter().filter(|found| found.verdict == wanted);
        finding.unjudged = UnjudgedRecord::join_parts(parts.map(|found| found.unjudged.clone()));
        if verdict != Verdict::Pass || context.proves_passes {
            group_reasons::explain_group(self.machine, kind, members, &findings, &mut finding);
            let (verdict, most) = (finding.verdict, context.listed);
            finding.violations = group_reasons::group_violations(self.machine, kind, members, findings, verdict, most);
        }
        Ok(finding)
    }

    /// A limit hit by one member is its own error; a non-boolean value fails the whole assertion.
    fn judge_member_part(&mut self, member: &'run CompiledMember, context: &JudgeContext<'run>) -> JudgeResult {
        let (kind, span) = (PartKind::Member, Some(member.span));
        self.machine.observer.recording.open_part(|| DerivationPart { kind, span, ..DerivationPart::default() });
        let judged = self.judge_member(member, context);
        self.machine.observer.recording.close_part(&judged);
        judged
    }

    /// Records whether a member with a `when` is judged, or is skipped because something is missing.
    fn note_gate(&mut self, member: &CompiledMember, gate: &Result<Option<CheckFinding>, Fault>) {
        let (Some(when), Ok(gate)) = (member.when.first(), gate) else { return };
        let skipped = gate.as_ref().filter(|found| found.verdict == Verdict::Skipped);
        if skipped.is_none_or(|found| found.by_missing) {
            let when = self.machine.code_span(*when);
            self.machine.observer.gates.insert(MemberGate { member: member.span, when, judged: skipped.is_none() });
        }
    }

    fn judge_member(&mut self, member: &'run CompiledMember, context: &JudgeContext<'run>) -> JudgeResult {
        let gate = self.judge_conditions(&member.when, context);
        self.note_gate(member, &gate);
        let finding = match gate {
            Ok(Some(finding)) => Ok(finding),
            Ok(None) => with_deep_stack(|| self.judge_check(&member.check, context)),
            Err(fault) => Err(fault),
        };
        match finding {
            Err(fault) if fault.unfit_value().is_none() => Ok(CheckFinding::new(Verdict::Error, fault.to_string())),
            other => other,
        }
    }
}

fn proving_context<'run>(context: &JudgeContext<'run>) -> JudgeContext<'run> {
    JudgeContext { proves_passes: true, ..context.clone() }
}

/// Swaps pass and fail; a score `s` becomes `1 - s`.
fn negate_finding(inner: CheckFinding) -> CheckFinding {
    if inner.opposite.is_some() {
        return proved_fail(inner);
    }
    let verdict = inner.verdict.negated();
    let score = inner.score.map(|score| 1.0 - score);
    let reason = match verdict {
        Verdict::Pass => String::new(),
        Verdict::Fail if inner.reason.is_empty() => "the statement behind `not` holds".to_owned(),
        _ => inner.reason,
    };
    let evidence = if verdict == Verdict::Pass { Vec::new() } else { inner.evidence };
    CheckFinding { verdict, score, reason, evidence, violations: ViolationList::default(), ..inner }
}

/// A required failure does not count if it proves nothing.
fn proved_fail(inner: CheckFinding) -> CheckFinding {
    match inner.opposite {
        Some(Verdict::Undecided) => {
            CheckFinding { evidence: inner.evidence, ..CheckFinding::open_finding(inner.reason) }
        }
        Some(verdict) => CheckFinding { evidence: inner.evidence, ..CheckFinding::new(verdict, inner.reason) },
        None => inner,
    }
}

fn expression_reason(truth: Truth, why: &str) -> String {
    match (truth, why) {
        (Truth::TrueByMissing, "") => "it holds only because something is missing".to_owned(),
        (Truth::TrueByMissing, why) => format!("it holds only because {why}"),
        (Truth::Undecided, "") => "the run does not record what it needs".to_owned(),
        (Truth::True, "") => "it is true".to_owned(),
        (_, "") => "it is false".to_owned(),
        (_, why) => why.to_owned(),
    }
}

impl<'run> Machine<'run> {
    fn condition_of(&self, code: CodeId, node: &averment_base::value::Node<'run>) -> Result<Truth, Fault> {
        condition_truth(node, self.code_span(code))
    }

    /// The text of an expression.
    pub fn code_text(&self, code: CodeId) -> String {
        self.rule_text(self.code_span(code))
    }

    pub(super) fn describe_code(&self, code: CodeId, node: &averment_base::value::Node<'run>) -> String {
        let text = self.code_text(code);
        match node.value {
            Value::Absent => format!("the run does not record `{text}`"),
            Value::Missing => format!("`{text}` is missing"),
            ref value => format!("`{text}` is {}", averment_base::value::json::json_start(value)),
        }
    }
}
