//! Words and evidence for what the monitors found: the smallest set of steps that proves a verdict, and what came nearest to changing it.

mod distance;
mod join_mismatch;
mod near;
mod spelling;
mod verdicts;

pub(super) use distance::end;
pub(super) use join_mismatch::for_which;
pub(super) use near::MOST_COMPARED;
pub(super) use verdicts::{
    absent_kind, by_missing, lacks, no_calls, no_window, not_complete, not_exercised, open, unknown, unordered,
};

use super::monitor::Why;
use super::timeline::{Env, ValueId};
use super::view::{Hit, View, merge};
use crate::bytecode::program::CodeId;
use crate::ir::{Alternative, NameTest, Within};
use crate::vm::context::ExpressionScope;
use crate::vm::locate;
use crate::vm::outcome::{Evidence, Role, Violations};
use averment_base::value::json::{json_start, to_json};
use averment_base::value::{Node, Value};
use averment_builtins::detect::beginning;
use averment_runs::run::{Kind, Run, Step};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Characters of a value or name in a sentence.
const SHOWN: usize = 60;
/// Characters that it is made of: only the beginning of a long text is folded.
const LOOKED_AT: usize = 10_000;

/// Text for a sentence: one line, not too long.
pub(super) fn short(text: &str) -> Cow<'_, str> {
    if text.len() <= SHOWN && is_plain(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let start = beginning(text, LOOKED_AT);
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ");
    let whole = line.chars().nth(SHOWN).is_none() && *start == *text;
    Cow::Owned(if whole { line } else { format!("{}…", beginning(&line, SHOWN)) })
}

/// A value that several steps may have, each written in its own way: a whole number is shown without a fraction, whichever step wrote it
/// first.
fn plain(value: &Value<'_>) -> String {
    match value {
        Value::Number(number) => number.as_i64().map_or_else(|| to_json(value), |whole| whole.to_string()),
        value => json_start(value),
    }
}

/// Whether text can stand in a sentence as it is: signs with single spaces between them. Nearly all of it can.
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
pub(super) fn name(run: &Run<'_>, step: u32) -> String {
    run.steps.get(step as usize).map_or_else(String::new, |one| of_step(one, step))
}

/// `call 3`, `step 70, call 31`: a step by its number.
pub(super) fn numbered(run: &Run<'_>, step: u32) -> String {
    run.steps.get(step as usize).map_or_else(String::new, |one| number(one, step))
}

/// Its number among those of its kind, and among all steps where that is another one.
fn number(step: &Step<'_>, at: u32) -> String {
    let of_kind = [step.kind.as_str(), " ", &(u64::from(step.index) + 1).to_string()].concat();
    if step.index == at { of_kind } else { ["step ", &(u64::from(at) + 1).to_string(), ", ", &of_kind].concat() }
}

fn of_step(step: &Step<'_>, at: u32) -> String {
    let (number, what) = (number(step, at), short(step.name));
    match step.kind {
        Kind::Call if step.status.executed() => [&what, " at ", &number].concat(),
        Kind::Call => ["proposed ", &what, " at ", &number].concat(),
        Kind::Message => [&number, " (", &what, ")"].concat(),
        _ => [&number, " (`", &what, "`)"].concat(),
    }
}

/// A step as evidence.
pub(super) fn step_evidence(run: &Run<'_>, step: u32, role: Role, label: String) -> Evidence {
    let node = run.steps.get(step as usize).map(|step| step.node);
    Evidence {
        role,
        label: if label.is_empty() { name(run, step) } else { label },
        step: Some(step),
        path: locate::step_pointer(run, step).unwrap_or_default(),
        origin: node.and_then(|node| node.origin.range()),
        ..Evidence::default()
    }
}

/// A number of things: `1 call`, `3 calls`.
pub(super) fn amount(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

impl<'run> View<'_, 'run> {
    /// A step in a sentence.
    pub(super) fn say(&self, step: u32) -> String {
        name(self.machine.run, step)
    }

    /// A pattern in a sentence, with the values that its bindings have: `approve with id "o-1"`.
    pub(super) fn thing(&self, operand: usize, env: &Env) -> String {
        let mut words = self.pattern(operand);
        words.push_str(&self.values(operand, env));
        words
    }

    /// A pattern in a sentence: the tool's name alone, or the text of the rule.
    pub(super) fn pattern(&self, operand: usize) -> String {
        let plain = self.unique_pattern(operand).and_then(|unique| match unique.alternatives.as_slice() {
            [
                Alternative {
                    kind: Kind::Call,
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
        plain.unwrap_or_else(|| match self.text(operand) {
            "any" => "call".to_owned(),
            text => ["`", &short(text), "`"].concat(),
        })
    }

    /// The text of a pattern.
    pub(super) fn text(&self, operand: usize) -> &'run str {
        let pattern = self
            .operands
            .get(operand)
            .and_then(|operand| self.machine.program.patterns.get(operand.pattern.0 as usize));
        pattern.map_or("", |pattern| pattern.text.as_str())
    }

    /// ` with id "o-1" and user 7`: the values of a pattern's bindings, and of those that its tests use.
    pub(super) fn values(&self, operand: usize, env: &Env) -> String {
        let known = merge(&self.header, env);
        let Some(unique) = self.unique_pattern(operand) else { return String::new() };
        let own = unique.names.iter().map(|name| (*name, self.written(operand)));
        let used = unique.asks.iter().filter(|name| !unique.names.contains(name)).map(|name| (*name, &[][..]));
        let mut words = String::new();
        for value in own.chain(used).filter_map(|(name, alternatives)| self.value(name, alternatives, &known)) {
            words.push_str(if words.is_empty() { " with " } else { " and " });
            words.push_str(&value);
        }
        words
    }

    /// The alternatives of an operand as they stand in its own statement: what is said of them is said in its words, and shown at its place.
    fn written(&self, operand: usize) -> &'run [Alternative<CodeId>] {
        let pattern = self
            .operands
            .get(operand)
            .and_then(|operand| self.machine.program.patterns.get(operand.pattern.0 as usize));
        pattern.map_or(&[], |pattern| pattern.alternatives.as_slice())
    }

    /// The same for the one that a hit matched.
    pub(super) fn written_of(&self, hit: &Hit) -> Option<&'run Alternative<CodeId>> {
        let matches = self.operands.get(hit.operand).and_then(|operand| self.timeline.of(operand.unique))?;
        let event = matches.events.get(hit.event as usize)?;
        self.written(hit.operand).get(usize::from(event.alternative))
    }

    /// The same for values in the order of the names that an operand binds.
    pub(super) fn key_values(&self, operand: usize, key: &Env) -> String {
        let mut env: Env = self.header.iter().map(|_| ValueId::OPEN).collect();
        for (name, id) in self.names(operand).iter().zip(key) {
            if let Some(place) = env.get_mut(*name as usize) {
                *place = *id;
            }
        }
        self.values(operand, &env)
    }

    /// `id "o-1"`: where a binding is found in these alternatives, with its value; elsewhere `$x "o-1"`.
    fn value(&self, name: u32, alternatives: &[Alternative<CodeId>], env: &Env) -> Option<String> {
        let node = env.get(name as usize).filter(|id| id.is_value()).and_then(|id| self.timeline.values.node(*id))?;
        let mut binds = alternatives.iter().flat_map(|alternative| &alternative.binds);
        let place = match binds.find(|(bound, _)| *bound == name) {
            Some((_, path)) => self.machine.rule_text(self.machine.code_span(*path)),
            None => ["$", self.entry?.binding_names.get(name as usize)?].concat(),
        };
        Some([&place, " ", &short(&plain(&node.value))].concat())
    }

    /// A step as evidence, with the pattern that it belongs to.
    pub(super) fn step_proof(&self, step: u32, operand: usize, role: Role, label: String) -> Evidence {
        let pattern = self
            .operands
            .get(operand)
            .and_then(|operand| self.machine.program.patterns.get(operand.pattern.0 as usize));
        let rule_span = pattern.map(|pattern| pattern.span);
        Evidence { rule_span, ..step_evidence(self.machine.run, step, role, label) }
    }

    /// The values that a hit binds, with their names.
    fn bound(&mut self, hit: &Hit) -> impl Iterator<Item = (u32, Node<'run>)> {
        let binds = self.written_of(hit).map_or(&[][..], |alternative| alternative.binds.as_slice());
        let step = self.step(hit.step);
        binds.iter().filter_map(move |(name, path)| {
            let node = self.machine.evaluate(*path, &ExpressionScope::of_step(step?)).ok()?;
            (!matches!(node.value, Value::Absent | Value::Missing)).then_some((*name, node))
        })
    }

    /// The same as evidence.
    pub(super) fn bound_values(&mut self, hit: &Hit, role: Role, evidence: &mut Vec<Evidence>) {
        let nodes: SmallVec<[(u32, Node<'run>); 2]> = self.bound(hit).collect();
        for (name, node) in nodes {
            let names = self.entry.map_or(&[][..], |entry| entry.binding_names.as_slice());
            let name = names.get(name as usize).map_or("", String::as_str);
            let value = self.machine.proof(&node.value);
            let label = ["`$", name, "` is ", &short(&value)].concat();
            evidence.push(Evidence { label, ..self.value_proof(hit.step, &node, value, role) });
        }
    }

    /// A value of a step as evidence that has no label yet.
    fn value_proof(&self, step: u32, node: &Node<'run>, value: String, role: Role) -> Evidence {
        Evidence {
            role,
            step: Some(step),
            path: locate::pointer_in_step(self.machine.run, step, node).unwrap_or_default(),
            value: Some(value),
            origin: node.origin.range(),
            ..Evidence::default()
        }
    }

    /// A decisive hit: the step, and the values that it binds.
    pub(super) fn decisive(&mut self, hit: &Hit, label: String) -> Vec<Evidence> {
        // Mostly one value is bound, and one step behind these came near.
        let mut evidence = Vec::with_capacity(3);
        evidence.push(self.step_proof(hit.step, hit.operand, Role::Decisive, label));
        self.bound_values(hit, Role::Value, &mut evidence);
        evidence
    }

    /// Why a condition is true or false of a match, and the values that show it.
    pub(super) fn explained(&mut self, hit: &Hit, code: CodeId) -> (String, Vec<Evidence>) {
        let Some(step) = self.step(hit.step) else { return Default::default() };
        let bindings = self.bindings(&hit.env);
        let explanation = self.machine.explain(code, &ExpressionScope::of_step(step).with_bindings(&bindings));
        (explanation.reason, explanation.evidence)
    }
}

/// A statement that holds: its own text, and the first step of each of its patterns.
pub(super) fn holds(view: &mut View<'_, '_>) -> Why {
    let text = view.entry.map_or_else(String::new, |entry| view.machine.rule_text(entry.span));
    // The text of a statement has the `not` before it; `not both` is one of its own.
    let inner = text.strip_prefix("not ").map(str::trim_start);
    let statement = inner.filter(|inner| !inner.starts_with("both ")).unwrap_or(&text);
    let reason = format!("`{}` holds", short(statement));
    let mut evidence: Vec<Evidence> = Vec::new();
    for operand in 0..view.operands.len() {
        let Some(first) = view.first_hit(operand) else { continue };
        if !evidence.iter().any(|known| known.step == Some(first.step)) {
            evidence.push(view.step_proof(first.step, operand, Role::Value, String::new()));
        }
    }
    why(reason, evidence)
}

/// ` within 3 calls`.
pub(super) fn within_words(within: Option<Within>) -> String {
    match within {
        None => String::new(),
        Some(Within::Calls(count)) => format!(" within {}", amount(count, "call")),
        Some(Within::Turns(count)) => format!(" within {}", amount(count, "turn")),
        Some(Within::Time(milliseconds)) if milliseconds % 1000.0 == 0.0 => {
            format!(" within {}s", milliseconds / 1000.0)
        }
        Some(Within::Time(milliseconds)) => format!(" within {milliseconds}ms"),
    }
}

/// The first of some words, the others counted.
pub(super) fn listed(words: Vec<String>) -> String {
    const NAMED: usize = 4;
    let more = words.len().saturating_sub(NAMED);
    let mut text = words.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

/// A reason with its evidence.
pub(super) fn why(reason: String, evidence: Vec<Evidence>) -> Why {
    Why { reason, evidence, violations: Violations::default() }
}

/// Whether the values of a name are known in both and differ.
fn differ(a: &Env, b: &Env, name: u32) -> bool {
    let of = |env: &Env| env.get(name as usize).copied().unwrap_or(ValueId::OPEN);
    of(a).is_value() && of(b).is_value() && of(a) != of(b)
}
