//! What an assertion asserts, judged: expressions, statements, groups, blocks, checks of the world.

use super::context::{Context, LISTED};
use super::coverage::CoverageRecord;
use super::derivation::{DerivationPart, PartKind};
use super::derive;
use super::fault::Fault;
use super::group_reasons;
use super::machine::Machine;
use super::outcome::{Finding, MemberGate, Unjudged, Violations};
use super::score::{self, MemberScore};
use super::temporal::Engine;
use super::world::Permissions;
use super::world_checks;
use crate::bytecode::program::{Assertion, Check, CodeId, Member, Program, TemporalId};
use crate::ir::{GroupKind, RuleRole};
use averment_base::truth::{Truth, Verdict};
use averment_base::value::Value;
use averment_base::value::compare::deeper;

/// The machine and the engine of one run, with what rules may look at beside it.
pub(super) struct Judge<'run, 'a> {
    pub(super) machine: Machine<'run>,
    engine: Engine<'run>,
    permissions: &'a Permissions,
    /// Whether anybody reads the reasons.
    pub(super) explains: bool,
    /// How many violations of a failure are listed.
    pub(super) listed: usize,
}

type JudgeResult = Result<Finding, Fault>;

impl<'run, 'a> Judge<'run, 'a> {
    pub(super) fn new(machine: Machine<'run>, permissions: &'a Permissions) -> Self {
        Self { machine, engine: Engine::new(), permissions, explains: true, listed: LISTED }
    }

    /// Ends the work and gives what was noted on the way, where that was asked for.
    pub(super) fn into_seen(mut self) -> Option<CoverageRecord> {
        let mut seen = *self.machine.seen.take()?;
        seen.note_matched(self.engine.matched());
        Some(seen)
    }

    /// Judges an assertion on the whole run, its `when` first.
    pub(super) fn assertion(&mut self, assertion: &'run Assertion) -> JudgeResult {
        self.judge(assertion, &assertion.settings.when)
    }

    /// Judges what an assertion asserts on the whole run, whatever its `when` says.
    pub(super) fn check(&mut self, assertion: &'run Assertion) -> JudgeResult {
        self.judge(assertion, &[])
    }

    fn judge(&mut self, assertion: &'run Assertion, when: &[CodeId]) -> JudgeResult {
        let bindings = bindings_of(self.machine.program, &assertion.check);
        let rule = assertion.rule.and_then(|rule| self.machine.program.rules.get(rule as usize));
        let of_invariant = rule.is_some_and(|rule| rule.role == RuleRole::Invariant);
        let (explains, listed) = (self.explains, self.listed);
        let context =
            Context { of_invariant, explains, listed, ..Context::of_run(self.machine.run, bindings as usize) };
        let Self { machine, engine, permissions, .. } = self;
        let mut parts = Parts { machine, engine, permissions };
        match parts.when(when, &context)? {
            Some(finding) => Ok(finding),
            None => parts.check(&assertion.check, &context),
        }
    }
}

/// Why the conditions of a `when` keep an assertion from being judged, with the one that does: skipped by the first that is false, else
/// undecided by the first that cannot be decided. `None` where all hold.
pub fn gate<C, E>(conditions: &[C], mut truth: impl FnMut(&C) -> Result<Truth, E>) -> Result<Option<(Verdict, &C)>, E> {
    let mut undecided = None;
    for condition in conditions {
        match truth(condition)?.plain() {
            Some(true) => {}
            Some(false) => return Ok(Some((Verdict::Skipped, condition))),
            None => undecided = undecided.or(Some((Verdict::Undecided, condition))),
        }
    }
    Ok(undecided)
}

/// How many bindings an assertion has: every statement and block of it says so.
fn bindings_of(program: &Program, check: &Check) -> u32 {
    match check {
        Check::Temporal(TemporalId(temporal)) => {
            program.temporals.get(*temporal as usize).map_or(0, |entry| entry.bindings)
        }
        Check::Scoped { bindings, .. } => *bindings,
        Check::Not(inner) => bindings_of(program, inner),
        Check::Group { members, .. } => {
            members.iter().map(|member| bindings_of(program, &member.check)).max().unwrap_or(0)
        }
        Check::Expression(_) | Check::World(_) | Check::OverRuns(_) => 0,
    }
}

/// What every part of an assertion is judged with.
struct Parts<'p, 'run> {
    machine: &'p mut Machine<'run>,
    engine: &'p mut Engine<'run>,
    permissions: &'p Permissions,
}

impl<'run> Parts<'_, 'run> {
    /// The finding of conditions that do not hold: skipped where one is false, undecided where one cannot be decided.
    fn when(&mut self, conditions: &[CodeId], context: &Context<'run>) -> Result<Option<Finding>, Fault> {
        let mut by_missing = false;
        let gate = gate(conditions, |&code| {
            let truth = self.machine.truth(code, &context.scope())?;
            by_missing = truth.by_missing();
            self.derive_when(code, context);
            Ok::<_, Fault>(truth)
        })?;
        Ok(gate.map(|(verdict, &code)| {
            if verdict == Verdict::Skipped {
                let reason = format!("`when {}` is false", self.machine.code_text(code));
                return Finding { by_missing, ..Finding::new(verdict, reason) };
            }
            let explanation = self.machine.explain(code, &context.scope());
            let reason = format!("its `when` is undecided: {}", explanation.reason);
            Finding { evidence: explanation.evidence, ..Finding::new(verdict, reason) }
        }))
    }

    /// A condition in the derivation.
    fn derive_when(&mut self, code: CodeId, context: &Context<'run>) {
        if self.machine.derives() {
            let part = self.machine.traced(code, &context.scope());
            self.machine.add_part(DerivationPart {
                kind: PartKind::When,
                parts: vec![part],
                ..DerivationPart::default()
            });
        }
    }

    /// Judges a check, as a part of the derivation where one is recorded.
    fn check(&mut self, check: &'run Check, context: &Context<'run>) -> JudgeResult {
        let span = derive::span_of(self.machine.program, check);
        self.machine.open_part(derive::kind_of(check), span);
        let judged = self.judge(check, context);
        self.machine.close_part(&judged);
        judged
    }

    fn judge(&mut self, check: &'run Check, context: &Context<'run>) -> JudgeResult {
        match check {
            Check::Expression(code) => self.expression(*code, context),
            Check::Temporal(temporal) => self.engine.judge(self.machine, *temporal, context),
            Check::Not(inner) => {
                let context = Context { listed: 0, ..proving(context) };
                Ok(negated(deeper(|| self.check(inner, &context))?))
            }
            Check::Group { kind: GroupKind::None, members } => self.group(GroupKind::None, members, &proving(context)),
            Check::Group { kind, members } => self.group(*kind, members, context),
            Check::Scoped { scope, body, .. } => {
                let permissions = self.permissions;
                self.engine.scoped(self.machine, scope, context, &mut |engine, machine, context| {
                    deeper(|| Parts { machine, engine, permissions }.window(body, context))
                })
            }
            Check::World(world) => world_checks::judge(self.machine, self.permissions, world, context),
            Check::OverRuns(_) => Ok(Finding::new(Verdict::Skipped, "it speaks of all runs together")),
        }
    }

    /// The body of a block in one of its windows. Evidence is looked for with a full share of fuel, which is no share of further windows: what
    /// it took is taken from what was left.
    fn window(&mut self, body: &'run Check, context: &Context<'run>) -> JudgeResult {
        let (left, spent, windows) = (self.machine.meter.fuel(), self.machine.meter.spent(), self.machine.windows);
        self.machine.open_window(context);
        let judged = self.check(body, context);
        self.machine.close_part(&judged);
        let taken = self.machine.meter.spent().saturating_sub(spent);
        self.machine.meter.leave(left.saturating_sub(taken));
        self.machine.windows = self.machine.windows.max(windows);
        judged
    }

    fn expression(&mut self, code: CodeId, context: &Context<'run>) -> JudgeResult {
        let scope = &context.scope();
        if self.machine.derives() {
            let part = self.machine.traced(code, scope);
            self.machine.add_part(part);
        }
        let (node, score) = self.machine.graded(code, scope)?;
        let truth = self.machine.condition_of(code, &node)?;
        let verdict = truth.verdict();
        let mut finding = Finding { score, ..Finding::new(verdict, "") };
        // Behind `not` a fail is what is wanted, and this one proves nothing.
        let wanted = verdict == Verdict::Pass || verdict == Verdict::Fail && context.proves_passes;
        if wanted && context.explains {
            finding.unjudged = self.machine.doubtful_elements(code, scope, verdict);
        }
        finding.opposite = (truth == Truth::FalseByMissing).then_some(Verdict::Vacuous);
        if verdict != Verdict::Pass || context.proves_passes {
            let explanation = self.machine.explain(code, scope);
            finding.reason = reason(truth, &explanation.reason);
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

    fn group(&mut self, kind: GroupKind, members: &'run [Member], context: &Context<'run>) -> JudgeResult {
        let mut findings = Vec::with_capacity(members.len());
        for member in members {
            let finding = self.member(member, context)?;
            if let Some(seen) = &mut self.machine.seen {
                seen.note_member(member.span, finding.verdict);
            }
            findings.push(if kind == GroupKind::None { proved(finding) } else { finding });
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
        let answers = |found: &Finding| found.opposite.map_or(found.verdict, |_| Verdict::Undecided);
        let proves = score::group_verdict(kind, findings.iter().map(answers), closed) == Verdict::Fail;
        let opposite = findings.iter().filter_map(|found| found.opposite).max();
        let opposite = opposite.filter(|_| verdict == Verdict::Fail && !proves);
        let mut finding = Finding { score, opposite, ..Finding::new(verdict, "") };
        // Where no member may pass, it is the failed ones that say too little.
        let wanted = if kind == GroupKind::None { Verdict::Fail } else { Verdict::Pass };
        let wanted = if verdict == Verdict::Pass { wanted } else { wanted.negated() };
        finding.remark = findings.iter().find_map(|found| found.remark.clone());
        let parts = findings.iter().filter(|found| found.verdict == wanted);
        finding.unjudged = Unjudged::join(parts.map(|found| found.unjudged.clone()));
        if verdict != Verdict::Pass || context.proves_passes {
            group_reasons::explain(self.machine, kind, members, &findings, &mut finding);
            let (verdict, most) = (finding.verdict, context.listed);
            finding.violations = group_reasons::violations(self.machine, kind, members, findings, verdict, most);
        }
        Ok(finding)
    }

    /// A limit that one member hits is its error; a value that is no boolean fails the whole assertion.
    fn member(&mut self, member: &'run Member, context: &Context<'run>) -> JudgeResult {
        self.machine.open_part(PartKind::Member, Some(member.span));
        let judged = self.judge_member(member, context);
        self.machine.close_part(&judged);
        judged
    }

    /// Notes whether a member with a `when` is judged, or something missing skips it.
    fn note_gate(&mut self, member: &Member, gate: &Result<Option<Finding>, Fault>) {
        let (Some(when), Ok(gate)) = (member.when.first(), gate) else { return };
        let skipped = gate.as_ref().filter(|found| found.verdict == Verdict::Skipped);
        if skipped.is_none_or(|found| found.by_missing) {
            let when = self.machine.code_span(*when);
            self.machine.gates.insert(MemberGate { member: member.span, when, judged: skipped.is_none() });
        }
    }

    fn judge_member(&mut self, member: &'run Member, context: &Context<'run>) -> JudgeResult {
        let gate = self.when(&member.when, context);
        self.note_gate(member, &gate);
        let finding = match gate {
            Ok(Some(finding)) => Ok(finding),
            Ok(None) => deeper(|| self.check(&member.check, context)),
            Err(fault) => Err(fault),
        };
        match finding {
            Err(fault) if fault.unfit().is_none() => Ok(Finding::new(Verdict::Error, fault.to_string())),
            other => other,
        }
    }
}

/// The same where a pass is proved, too.
fn proving<'run>(context: &Context<'run>) -> Context<'run> {
    Context { proves_passes: true, ..context.clone() }
}

/// `not` before a statement: pass and fail change places, a score is one minus it.
fn negated(inner: Finding) -> Finding {
    if inner.opposite.is_some() {
        return proved(inner);
    }
    let verdict = inner.verdict.negated();
    let score = inner.score.map(|score| 1.0 - score);
    let reason = match verdict {
        Verdict::Pass => String::new(),
        Verdict::Fail if inner.reason.is_empty() => "the statement behind `not` holds".to_owned(),
        _ => inner.reason,
    };
    let evidence = if verdict == Verdict::Pass { Vec::new() } else { inner.evidence };
    Finding { verdict, score, reason, evidence, violations: Violations::default(), ..inner }
}

/// What is said of a fail that is wanted: that it is none where it proves nothing.
fn proved(inner: Finding) -> Finding {
    match inner.opposite {
        Some(verdict) => Finding { evidence: inner.evidence, ..Finding::new(verdict, inner.reason) },
        None => inner,
    }
}

/// The reason of an expression that does not pass, or should not.
fn reason(truth: Truth, why: &str) -> String {
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
    /// The value of an expression as a truth.
    fn condition_of(&self, code: CodeId, node: &averment_base::value::Node<'run>) -> Result<Truth, Fault> {
        super::logic::condition(node, self.code_span(code))
    }

    /// The text of an expression.
    pub fn code_text(&self, code: CodeId) -> String {
        self.rule_text(self.code_span(code))
    }

    /// `` `output.path` is 5 ``: an expression with its value.
    pub(super) fn describe_code(&self, code: CodeId, node: &averment_base::value::Node<'run>) -> String {
        let text = self.code_text(code);
        match node.value {
            Value::Absent => format!("the run does not record `{text}`"),
            Value::Missing => format!("`{text}` is missing"),
            ref value => format!("`{text}` is {}", averment_base::value::json::json_start(value)),
        }
    }
}
