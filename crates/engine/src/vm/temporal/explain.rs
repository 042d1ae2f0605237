//! Words and evidence for what was found: the smallest set of steps that proves a verdict, and what came nearest to changing it.

mod join_mismatch;
mod near;
mod spelling;
mod verdicts;

pub(super) use join_mismatch::{JoinMismatch, for_which};
pub(super) use near::MOST_COMPARED;
pub use spelling::register_thread_storage;
pub(in crate::vm) use verdicts::{DIED_AT_START, not_complete};
pub(super) use verdicts::{
    absent_kind, absent_role, by_missing, lacking_fields, no_calls, no_window, not_exercised, open_reason,
    unknown_reason, unordered_kinds,
};

use super::timeline::{Env, ValueId};
use super::view::{Hit, WindowView, merge_envs};
use super::window_events::VerdictReason;
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::locate;
use crate::vm::outcome::{Role, VerdictEvidence, ViolationList};
use averment_base::value::json::{json_start, to_json};
use averment_base::value::{Node, Value};
use averment_base::words::count_noun;
use averment_builtins::detect::redacted_start;
use averment_checker::ir::{NameTest, PatternAlternative, StepDistance};
use averment_runs::run::{Run, Step, StepKind};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Characters of a value or name in a sentence.
const SHOWN: usize = 60;
/// Characters examined: only the beginning of a long text is folded.
const LOOKED_AT: usize = 10_000;

pub(super) fn short_text(text: &str) -> Cow<'_, str> {
    if text.len() <= SHOWN && is_plain(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let start = redacted_start(text, LOOKED_AT);
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = line.chars().nth(SHOWN).is_none() && *start == *text;
    Cow::Owned(if whole { line } else { format!("{}…", redacted_start(&line, SHOWN)) })
}

/// A whole number is shown without a fraction, whichever step wrote it first.
fn plain_value(value: &Value<'_>) -> String {
    match value {
        Value::Number(number) => number.as_i64().map_or_else(|| to_json(value), |whole| whole.to_string()),
        value => json_start(value),
    }
}

/// True for text without control characters and with single spaces, which needs no folding.
fn is_plain(text: &[u8]) -> bool {
    let mut space = true;
    let plain = text.iter().all(|byte| {
        let second = space && *byte == b' ';
        space = *byte == b' ';
        (byte.is_ascii_graphic() || space) && !second
    });
    plain && (text.is_empty() || !space)
}

/// `refund at call 3`, `` command 1 (`npm test`) ``, `step 5, message 2 (user)`: a step in a sentence.
pub(in crate::vm) fn step_name(run: &Run<'_>, step: u32) -> String {
    run.steps.get(step as usize).map_or_else(String::new, |one| of_step(one, step))
}

/// A step by number: `call 3`, or `step 70, call 31` if its number among all steps differs.
#[must_use]
pub fn numbered_step(run: &Run<'_>, step: u32) -> String {
    run.steps.get(step as usize).map_or_else(String::new, |one| number_words(one, step))
}

fn number_words(step: &Step<'_>, at: u32) -> String {
    let of_kind = [step.kind.as_str(), " ", &(u64::from(step.index) + 1).to_string()].concat();
    if step.index == at { of_kind } else { ["step ", &(u64::from(at) + 1).to_string(), ", ", &of_kind].concat() }
}

fn of_step(step: &Step<'_>, at: u32) -> String {
    let (number, what) = (number_words(step, at), short_text(step.name));
    match step.kind {
        StepKind::Call if step.status.is_executed() => [&what, " at ", &number].concat(),
        StepKind::Call => ["proposed ", &what, " at ", &number].concat(),
        StepKind::Message => [&number, " (", &what, ")"].concat(),
        _ => [&number, " (`", &what, "`)"].concat(),
    }
}

pub(super) fn step_evidence(run: &Run<'_>, step: u32, role: Role, label: String) -> VerdictEvidence {
    let node = run.steps.get(step as usize).map(|step| step.node);
    VerdictEvidence {
        role,
        label: if label.is_empty() { step_name(run, step) } else { label },
        step: Some(step),
        path: locate::step_pointer(run, step).unwrap_or_default(),
        origin: node.and_then(|node| node.origin.byte_range()),
        ..VerdictEvidence::default()
    }
}

impl<'run> WindowView<'_, 'run> {
    pub(super) fn describe_step(&self, step: u32) -> String {
        step_name(self.machine.run, step)
    }

    /// A pattern with its binding values: `approve with id "o-1"`.
    pub(super) fn describe_operand(&self, operand: usize, env: &Env) -> String {
        let mut words = self.pattern_words(operand);
        words.push_str(&self.value_words(operand, env));
        words
    }

    pub(super) fn pattern_words(&self, operand: usize) -> String {
        let plain = self.unique_pattern(operand).and_then(|unique| match unique.alternatives.as_slice() {
            [
                PatternAlternative {
                    kind: StepKind::Call,
                    name: NameTest::Exactly(name),
                    proposed,
                    succeeded: None,
                    condition: None,
                    joins,
                    ..
                },
            ] if joins.is_empty() => Some(if *proposed { format!("proposed {name}") } else { name.clone() }),
            _ => None,
        });
        plain.unwrap_or_else(|| match self.pattern_text(operand) {
            "any" => "call".to_owned(),
            text => ["`", &short_text(text), "`"].concat(),
        })
    }

    pub(super) fn pattern_text(&self, operand: usize) -> &'run str {
        self.written_pattern(operand).map_or("", |pattern| pattern.text.as_str())
    }

    /// ` with id "o-1" and user 7`: values of a pattern's bindings and of those its tests use.
    pub(super) fn value_words(&self, operand: usize, env: &Env) -> String {
        let known = merge_envs(&self.header, env);
        let Some(unique) = self.unique_pattern(operand) else { return String::new() };
        let own = unique.names.iter().map(|name| (*name, self.written_alternatives(operand)));
        let used = unique.asks.iter().filter(|name| !unique.names.contains(name)).map(|name| (*name, &[][..]));
        let mut words = String::new();
        for value in own.chain(used).filter_map(|(name, alternatives)| self.binding_words(name, alternatives, &known)) {
            words.push_str(if words.is_empty() { " with " } else { " and " });
            words.push_str(&value);
        }
        words
    }

    /// The operand's alternatives in its own statement, so that duplicates are reported in their own words.
    fn written_alternatives(&self, operand: usize) -> &'run [PatternAlternative<CodeId>] {
        self.written_pattern(operand).map_or(&[], |pattern| pattern.alternatives.as_slice())
    }

    pub(super) fn written_of(&self, hit: &Hit) -> Option<&'run PatternAlternative<CodeId>> {
        let event = self.matches_of(hit.operand)?.events.get(hit.event as usize)?;
        self.written_alternatives(hit.operand).get(usize::from(event.alternative))
    }

    pub(super) fn key_values(&self, operand: usize, key: &Env) -> String {
        let mut env: Env = self.header.iter().map(|_| ValueId::OPEN).collect();
        for (name, id) in self.operand_names(operand).iter().zip(key) {
            if let Some(place) = env.get_mut(*name as usize) {
                *place = *id;
            }
        }
        self.value_words(operand, &env)
    }

    /// `id "o-1"` if a binding is found in these alternatives, otherwise `$x "o-1"`.
    fn binding_words(&self, name: u32, alternatives: &[PatternAlternative<CodeId>], env: &Env) -> Option<String> {
        let node =
            env.get(name as usize).filter(|id| id.is_value()).and_then(|id| self.timeline.values.value_node(*id))?;
        let mut binds = alternatives.iter().flat_map(|alternative| &alternative.binds);
        let place = match binds.find(|(bound, _)| *bound == name) {
            Some((_, path)) => self.machine.rule_text(self.machine.code_span(*path)),
            None => ["$", self.entry?.binding_names.get(name as usize)?].concat(),
        };
        Some([&place, " ", &short_text(&plain_value(&node.value))].concat())
    }

    pub(super) fn step_proof(&self, step: u32, operand: usize, role: Role, label: String) -> VerdictEvidence {
        let rule_span = self.written_pattern(operand).map(|pattern| pattern.span);
        VerdictEvidence { rule_span, ..step_evidence(self.machine.run, step, role, label) }
    }

    fn bound_nodes(&mut self, hit: &Hit) -> impl Iterator<Item = (u32, Node<'run>)> {
        let binds = self.written_of(hit).map_or(&[][..], |alternative| alternative.binds.as_slice());
        let step = self.step(hit.step);
        binds.iter().filter_map(move |(name, path)| {
            let node = self.machine.evaluate_code(*path, &ExpressionScope::of_step(step?)).ok()?;
            (!matches!(node.value, Value::Absent | Value::Missing)).then_some((*name, node))
        })
    }

    pub(super) fn bound_values(&mut self, hit: &Hit, role: Role, evidence: &mut Vec<VerdictEvidence>) {
        let nodes: SmallVec<[(u32, Node<'run>); 2]> = self.bound_nodes(hit).collect();
        for (name, node) in nodes {
            let names = self.entry.map_or(&[][..], |entry| entry.binding_names.as_slice());
            let name = names.get(name as usize).map_or("", String::as_str);
            let value = self.machine.evidence_text(&node.value);
            let label = ["`$", name, "` is ", &short_text(&value)].concat();
            evidence.push(VerdictEvidence { label, ..self.value_proof(hit.step, &node, value, role) });
        }
    }

    fn value_proof(&self, step: u32, node: &Node<'run>, value: String, role: Role) -> VerdictEvidence {
        VerdictEvidence {
            role,
            step: Some(step),
            path: locate::pointer_in_step(self.machine.run, step, node).unwrap_or_default(),
            value: Some(value),
            origin: node.origin.byte_range(),
            ..VerdictEvidence::default()
        }
    }

    pub(super) fn decisive_evidence(&mut self, hit: &Hit, label: String) -> Vec<VerdictEvidence> {
        // Mostly one value is bound, and one step behind these came near.
        let mut evidence = Vec::with_capacity(3);
        evidence.push(self.step_proof(hit.step, hit.operand, Role::Decisive, label));
        self.bound_values(hit, Role::Value, &mut evidence);
        evidence
    }

    pub(super) fn explain_condition(&mut self, hit: &Hit, code: CodeId) -> (String, Vec<VerdictEvidence>) {
        let Some(step) = self.step(hit.step) else { return Default::default() };
        let bindings = self.binding_values(&hit.env);
        let explanation =
            self.machine.explain_condition(code, &ExpressionScope::of_step(step).with_bindings(&bindings));
        (explanation.reason, explanation.evidence)
    }
}

pub(super) fn pass_reason(view: &mut WindowView<'_, '_>) -> VerdictReason {
    let text = view.entry.map_or_else(String::new, |entry| view.machine.rule_text(entry.span));
    // The text of a statement has the `not` before it; `not both` is one of its own.
    let inner = text.strip_prefix("not ").map(str::trim_start);
    let statement = inner.filter(|inner| !inner.starts_with("both ")).unwrap_or(&text);
    let reason = format!("`{}` holds", short_text(statement));
    let mut evidence: Vec<VerdictEvidence> = Vec::new();
    for operand in 0..view.operands.len() {
        let Some(first) = view.first_hit(operand) else { continue };
        if !evidence.iter().any(|known| known.step == Some(first.step)) {
            evidence.push(view.step_proof(first.step, operand, Role::Value, String::new()));
        }
    }
    reason_with(reason, evidence)
}

/// ` within 3 calls`.
pub(super) fn within_words(within: Option<StepDistance>) -> String {
    match within {
        None => String::new(),
        Some(StepDistance::Calls(count)) => format!(" within {}", count_noun(count, "call")),
        Some(StepDistance::Turns(count)) => format!(" within {}", count_noun(count, "turn")),
        Some(StepDistance::Time(milliseconds)) => {
            let units = [("h", 3_600_000.0), ("m", 60_000.0), ("s", 1000.0)];
            let (unit, size) = units.into_iter().find(|(_, size)| milliseconds % size == 0.0).unwrap_or(("ms", 1.0));
            format!(" within {}{unit}", milliseconds / size)
        }
    }
}

pub(super) fn list_words(words: Vec<String>) -> String {
    const NAMED: usize = 4;
    let more = words.len().saturating_sub(NAMED);
    let mut text = words.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

impl WindowView<'_, '_> {
    /// A reason that a match and a step of the other one of two operands prove together.
    pub(super) fn pair_reason(&mut self, reason: String, hit: &Hit, other: u32) -> VerdictReason {
        let mut evidence = self.decisive_evidence(hit, String::new());
        evidence.push(self.step_proof(other, 1 - hit.operand.min(1), Role::Decisive, String::new()));
        reason_with(reason, evidence)
    }

    /// A reason that one step proves.
    pub(super) fn step_reason(&self, reason: String, step: u32, operand: usize) -> VerdictReason {
        reason_with(reason, vec![self.step_proof(step, operand, Role::Decisive, String::new())])
    }
}

pub(super) fn reason_with(reason: String, evidence: Vec<VerdictEvidence>) -> VerdictReason {
    VerdictReason { reason, evidence, violations: ViolationList::default() }
}

fn values_differ(a: &Env, b: &Env, name: u32) -> bool {
    let of = |env: &Env| env.get(name as usize).copied().unwrap_or(ValueId::OPEN);
    of(a).is_value() && of(b).is_value() && of(a) != of(b)
}
