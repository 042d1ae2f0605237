//! Values in words and as evidence: what a part of a rule was, and where in the run it stands.

use super::evidence::{EvidenceRecord, ValueGap};
use crate::bytecode::ops::Op;
use crate::vm::context::ExpressionScope;
use crate::vm::locate;
use crate::vm::machine::Machine;
use crate::vm::outcome::{Role, VerdictEvidence};
use crate::vm::tool_facts::how_to_say_failure;
use averment_base::diagnostic::suggest;
use averment_base::truth::Truth;
use averment_base::value::json::{json_start, pruned_json, to_json};
use averment_base::value::{Node, Number, Value};
use averment_builtins::detect::redacted_start;
use averment_runs::normal::{misspelt_error, of_run, of_step};
use averment_runs::run::{Step, StepKind, StepStatus};

/// Shorter names have too many neighbors to suggest one.
const SUGGESTED_FROM: usize = 3;

impl<'run> Machine<'run> {
    /// `` `output.amount` is 250 ``, `` `output.state` is missing ``, `` the run does not record `cost` ``. `at` is the instruction that
    /// made the value.
    pub(in crate::vm) fn describe_value(&self, node: &Node<'run>, at: usize, gaps: &[ValueGap<'run>]) -> String {
        let text = self.subject_text(at);
        match node.value {
            Value::Missing => self.describe_missing(&text, at, gaps),
            Value::Absent | Value::Truth(Truth::Undecided) => {
                let (hint, name) = (self.how_to_say_failure(at), self.unrecorded_root(at).unwrap_or(text));
                let near = misspelt_error(self.run.object).filter(|_| name == of_run::ERROR);
                let near = near.map(|key| format!(" (there is `{}`)", shorten_text(key))).unwrap_or_default();
                format!("the run does not record `{name}`{near}{hint}")
            }
            Value::List(items) if items.iter().any(|item| item.value.is_absent()) => {
                format!("the run does not record all of `{text}`")
            }
            Value::List([]) if self.is_spread(at) => format!("`{text}` leads nowhere"),
            Value::List([]) => format!("`{text}` is empty"),
            // A binding has the value of several steps, each of which may write it in its own way.
            Value::Number(number) if matches!(self.program.code.get(at), Some(Op::Binding(_))) => match number.as_i64()
            {
                Some(whole) => format!("`{text}` is {whole}"),
                None => format!("`{text}` is {}", in_words(&node.value)),
            },
            Value::Number(number) => match self.measured_text(at, number.to_f64()) {
                Some(measured) => format!("`{text}` is {measured}"),
                None => format!("`{text}` is {}", in_words(&node.value)),
            },
            ref value => format!("`{text}` is {}", in_words(value)),
        }
    }

    fn how_to_say_failure(&self, at: usize) -> &'static str {
        let (Op::Field(name, _) | Op::StepField(name)) = self.program.code.get(at).copied().unwrap_or(Op::Run()) else {
            return "";
        };
        let name = self.program.names.get(name.0 as usize).map_or("", String::as_str);
        if !matches!(name, of_step::OK | of_step::STATUS | of_step::ERROR) {
            return "";
        }
        let open = |step: &&Step<'_>| step.kind == StepKind::Call && step.status == StepStatus::Unknown;
        self.run.steps.iter().filter(open).map(how_to_say_failure).find(|hint| !hint.is_empty()).unwrap_or("")
    }

    /// The source text of a value; for a pattern with an implicit field (`user /yes/`), the field.
    fn subject_text(&self, at: usize) -> String {
        let text = self.rule_text(self.op_span(at));
        match self.program.code.get(at) {
            Some(Op::StepField(name)) => match self.program.names.get(name.0 as usize) {
                Some(name) if text.starts_with(['/', '"', '\'']) => name.clone(),
                _ => text,
            },
            _ => text,
        }
    }

    /// A duration or cost with its unit: `12s`, `$0.08`; `None` if that would lose precision.
    fn measured_text(&self, at: usize, number: f64) -> Option<String> {
        let (Op::Root(name) | Op::StepField(name) | Op::StepOrRoot(name)) = self.program.code.get(at)? else {
            return None;
        };
        match self.program.names.get(name.0 as usize)?.as_str() {
            "duration" if number.fract() == 0.0 && number >= 1_000.0 => Some(format!("{}s", number / 1_000.0)),
            "duration" if number.fract() == 0.0 => Some(format!("{number}ms")),
            "cost" => Some(format!("${number}")),
            _ => None,
        }
    }

    fn describe_missing(&self, text: &str, at: usize, gaps: &[ValueGap<'run>]) -> String {
        let Some(gap) = self.missing_cause(at, gaps) else { return format!("`{text}` is missing") };
        if let Some(why) = gap.why {
            return why.to_owned();
        }
        let near = self.near_key(&gap).map(|near| format!(" (there is `{near}`)"));
        let near = near.or_else(|| self.length_words(&gap)).unwrap_or_else(|| Self::text_words(&gap).to_owned());
        let own = self.program.chunk_around(at).map(|(start, _)| start)
            == self.program.chunk_around(gap.at).map(|(start, _)| start);
        match own {
            true if self.is_path(gap.at, at) => format!("`{text}` is missing{near}"),
            true => format!("`{}` is missing{near}", self.rule_text(self.op_span(gap.at))),
            // A `let` or `def` has a text of its own: both are named.
            false => format!("`{text}` is missing: there is no `{}`{near}", self.rule_text(self.op_span(gap.at))),
        }
    }

    pub(in crate::vm) fn missing_cause(&self, at: usize, gaps: &[ValueGap<'run>]) -> Option<ValueGap<'run>> {
        let (start, ops) = self.program.chunk_around(at)?;
        let inside = |gap: &&ValueGap<'run>| (start..start + ops.len()).contains(&gap.at);
        let own = gaps.iter().filter(inside).rev().find(|gap| gap.at <= at);
        own.or_else(|| gaps.iter().rev().find(|gap| !inside(gap))).copied()
    }

    fn is_path(&self, from: usize, to: usize) -> bool {
        let ops = self.program.code.get(from + 1..=to).unwrap_or_default();
        ops.iter().all(|op| matches!(op, Op::Field(..) | Op::Index(_) | Op::Every(_) | Op::Deep(_) | Op::Constant(_)))
    }

    fn unrecorded_root(&self, at: usize) -> Option<String> {
        let (start, ops) = self.program.chunk_around(at)?;
        let mut at = at - start;
        // A path is straight code: each step takes what the one before it made, an index its own expression in between.
        while let Some(Op::Field(..) | Op::Every(_) | Op::Deep(_)) = ops.get(at) {
            at = at.checked_sub(1)?;
        }
        match ops.get(at)? {
            Op::Root(name) | Op::StepOrRoot(name) => {
                let name = self.program.names.get(name.0 as usize)?;
                matches!(self.run.root_value(name).value, Value::Absent).then(|| name.clone())
            }
            _ => None,
        }
    }

    fn is_spread(&self, at: usize) -> bool {
        matches!(
            self.program.code.get(at),
            Some(Op::Field(_, true) | Op::Index(true) | Op::Every(true) | Op::Deep(true))
        )
    }

    pub(in crate::vm) fn is_literal(&self, at: usize, evidence: &EvidenceRecord<'run>) -> bool {
        match self.program.code.get(at) {
            Some(Op::Constant(_) | Op::Regex(_)) => true,
            Some(Op::Range(..) | Op::List(_) | Op::Object(..) | Op::Negate()) => {
                evidence.source_ops(at).iter().all(|&source| self.is_literal(source, evidence))
            }
            _ => false,
        }
    }

    fn near_key(&self, gap: &ValueGap<'run>) -> Option<&'run str> {
        let key = self.program.key_at(gap.at)?;
        let Value::Object(object) = gap.base.value else { return None };
        if key.chars().count() < SUGGESTED_FROM {
            return None;
        }
        suggest::suggest_name(key, object.entries().iter().map(|entry| entry.key))
    }

    /// `output.length` of a text or a list: other languages say so what `length(output)` says here.
    fn length_words(&self, gap: &ValueGap<'run>) -> Option<String> {
        let key = self.program.key_at(gap.at).filter(|key| matches!(*key, "length" | "len" | "size" | "count"))?;
        let path = self.rule_text(self.op_span(gap.at));
        let base = path.strip_suffix(key)?.strip_suffix('.')?;
        matches!(gap.base.value, Value::Text(_) | Value::List(_)).then(|| format!(" (write `length({base})`)"))
    }

    /// A text that looks like an object or a list, such as what Python prints of one, holds no keys unless it is JSON.
    pub(super) fn text_words(gap: &ValueGap<'run>) -> &'static str {
        match gap.base.value {
            Value::Text(text) if text.as_str().trim_start().starts_with(['{', '[']) => {
                " (the text around it is no JSON)"
            }
            _ => "",
        }
    }

    pub(in crate::vm) fn describe_gap(&self, gap: &ValueGap<'run>) -> String {
        const NAMED: usize = 5;
        if let Some(why) = gap.why {
            return why.to_owned();
        }
        if let Some(near) = self.near_key(gap) {
            return format!("there is `{near}`");
        }
        match gap.base.value {
            Value::Object(object) => {
                let keys = object.entries().iter().take(NAMED);
                let keys: Vec<String> = keys.map(|entry| format!("`{}`", shorten_text(entry.key))).collect();
                match object.entries().len().saturating_sub(NAMED) {
                    _ if keys.is_empty() => "there is nothing in it".to_owned(),
                    0 => format!("there is {}", keys.join(", ")),
                    more => format!("there is {} and {more} more", keys.join(", ")),
                }
            }
            Value::List(items) => format!("a list of {}", items.len()),
            ref other => format!("in a {}", other.type_name()),
        }
    }

    /// A value as evidence; `label` is what is said of it.
    pub(super) fn value_evidence(
        &self,
        label: String,
        role: Role,
        node: &Node<'run>,
        at: usize,
        gaps: &[ValueGap<'run>],
        scope: &ExpressionScope<'_, 'run>,
    ) -> VerdictEvidence {
        let gap = self.missing_cause(at, gaps).filter(|_| matches!(node.value, Value::Missing));
        let place = gap.as_ref().map_or(node, |gap| &gap.base);
        let own = locate::node_pointer(self.run, place);
        let step = own.as_deref().and_then(|path| locate::step_of(self.run, path)).or_else(|| self.step_number(scope));
        let path = own.or_else(|| locate::step_pointer(self.run, step?)).unwrap_or_default();
        let value = match node.value {
            Value::Missing | Value::Absent => None,
            ref value => Some(self.evidence_text(value)),
        };
        let (origin, rule_span) = (place.origin.byte_range(), Some(self.op_span(at)));
        VerdictEvidence { role, label, step, path, value, origin, rule_span, ..VerdictEvidence::default() }
    }

    /// A value as evidence text, pruned to what reports show; more assertions mean stricter pruning.
    pub(in crate::vm) fn evidence_text(&self, value: &Value<'run>) -> String {
        pruned_json(value, self.shown_bytes(), redacted_start)
    }

    pub(in crate::vm) fn message_text(&self, value: &Value<'run>) -> String {
        let most = self.shown_bytes();
        match value {
            Value::Text(text) if text.as_str().len() <= most => text.as_str().to_owned(),
            Value::Text(text) => redacted_start(text.as_str(), most / 4).into_owned() + "…",
            value => self.evidence_text(value),
        }
    }

    fn shown_bytes(&self) -> usize {
        const ALL: usize = 256 << 20;
        let share = ALL.checked_div(self.program.assertions.len()).unwrap_or(ALL);
        share.clamp(10 << 10, 64 << 10)
    }

    /// `None` without a step in scope.
    fn step_number(&self, scope: &ExpressionScope<'_, 'run>) -> Option<u32> {
        let step = scope.step?;
        let at = self.run.steps.iter().position(|other| std::ptr::eq(other, step))?;
        u32::try_from(at).ok()
    }
}

/// A value in a sentence: rounded and shortened; the evidence holds it in full.
pub(in crate::vm) fn in_words(value: &Value<'_>) -> String {
    match value {
        Value::Number(Number::Real(number)) => {
            let text = format!("{number:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Value::Range(_) => to_json(value).trim_matches('"').to_owned(),
        value => shorten_text(&json_start(value)),
    }
}

pub(in crate::vm) fn shorten_text(text: &str) -> String {
    const WIDTH: usize = 120;
    if text.chars().nth(WIDTH).is_none() { text.to_owned() } else { format!("{}…", redacted_start(text, WIDTH - 1)) }
}
