//! One assertion: what it is about, what it asks, what it counts.

use super::asserted::{Asserted, Subject};
use super::kinds::KINDS;
use super::path;
use crate::Lowering;
use crate::writer::{Sentence, Writer, quoted};
use crate::yaml::{Node, Value};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// The keys of an assertion.
const KEYS: &[&str] = &["type", "value", "threshold", "config", "weight", "metric", "transform"];

/// A line of a rule.
pub(super) struct Line {
    place: Span,
    sentence: Sentence,
    modifiers: String,
}

impl Line {
    pub(super) fn write(&self, out: &mut Writer) {
        out.assertion(self.place, &self.sentence, &self.modifiers);
    }
}

/// The lines of a list of assertions, whose weights are multiplied by a share.
pub(super) fn lines(list: &Node, name: &str, subject: &Subject, share: f64, lowering: &mut Lowering<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (at, node) in list.items().iter().enumerate() {
        let schema = schema_name(name, at);
        let sentence = sentence(node, subject, &schema, lowering);
        let modifiers = modifiers(node, share, lowering);
        lines.extend(sentence.map(|sentence| Line { place: node.span, sentence, modifiers }));
    }
    lines
}

/// Writes the rule of a list of assertions.
pub(super) fn rule(list: &Node, name: &str, subject: &Subject, lowering: &mut Lowering<'_>) {
    schemas(list, name, lowering);
    let lines = lines(list, name, subject, 1.0, lowering);
    if let Some(value) = subject.named.as_ref().filter(|_| lines.iter().any(|line| line.sentence.has(&subject.output)))
    {
        lowering.out.line(list.span, |out| out.put(&format!("let {} = {value}", subject.output)));
        lowering.out.gap();
    }
    let write = |out: &mut Writer| lines.iter().for_each(|line| line.write(out));
    lowering.out.block(list.span, |out| out.put(&format!("rule {name}")), write);
    if list.items().is_empty() {
        let message = format!("`{name}` has no assertion: it passes whatever the block says");
        lowering.said.error(Slug::Syntax, list.span, message, "write an assertion, or take the list away");
    }
}

/// The name of the schema of an assertion.
fn schema_name(rule: &str, at: usize) -> String {
    let mut name: String = rule.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    name.replace_range(..1, &name.chars().take(1).collect::<String>().to_uppercase());
    let name = if name.starts_with(|c: char| c.is_ascii_uppercase()) { name } else { format!("S{name}") };
    format!("{name}_{}", at.saturating_add(1))
}

/// Declares the schemas of a list in front of its rule.
pub(super) fn schemas(list: &Node, rule: &str, lowering: &mut Lowering<'_>) {
    for (at, node) in list.items().iter().enumerate() {
        let kind = node.get("type").and_then(Node::text).unwrap_or("");
        let asks = matches!(kind.strip_prefix("not-").unwrap_or(kind), "is-json" | "contains-json");
        let Some(value) = node.get("value").filter(|_| asks) else { continue };
        let name = schema_name(rule, at);
        match &value.value {
            Value::Map(_) => lowering.out.line(value.span, |out| {
                out.put(&format!("schema {name} = "));
                out.literal(value);
            }),
            // `true` takes everything, `false` nothing.
            Value::Bool(any) => lowering.out.line(value.span, |out| {
                out.put(&format!("schema {name} = {}", if *any { "{}" } else { "{ not: {} }" }));
            }),
            _ => {}
        }
    }
    lowering.out.gap();
}

/// `weight` and `metric`.
fn modifiers(node: &Node, share: f64, lowering: &mut Lowering<'_>) -> String {
    let mut text = String::new();
    let mut weigh = |number: &str| {
        let weight = number.parse::<f64>().unwrap_or(1.0) * share;
        if weight != 1.0 {
            text.push_str(&format!(" weight {weight}"));
        }
    };
    match node.get("weight").map(|weight| (weight, weight.number())) {
        None => weigh("1"),
        Some((_, Some(number))) if !number.starts_with('-') => weigh(number),
        Some((weight, Some(_))) => {
            let message = "a weight is below zero";
            lowering.said.error(Slug::TypeMismatch, weight.span, message, "write 0 for what counts for nothing");
        }
        Some((weight, None)) => lowering.said.shape(weight, "`weight`", "a number"),
    }
    if let Some(metric) = node.get("metric").filter(|metric| !metric.is_null()) {
        match metric.text() {
            Some("") => {}
            Some(name) => text.push_str(&format!(" as {}", crate::writer::label(name))),
            None => lowering.said.shape(metric, "`metric`", "a name"),
        }
    }
    text
}

/// The sentence of an assertion; `None` where something is wrong with it, which is said.
fn sentence(node: &Node, subject: &Subject, schema: &str, lowering: &mut Lowering<'_>) -> Option<Sentence> {
    if !lowering.said.keys(node, "an assertion", KEYS) {
        return None;
    }
    let written = lowering.said.required_text(node, "type", "an assertion")?;
    let (negated, kind) = written.strip_prefix("not-").map_or((false, written), |kind| (true, kind));
    let text = match node.get("transform").filter(|transform| !transform.is_null()) {
        Some(transform) => transformed(transform, subject, lowering)?,
        None => subject.output.clone(),
    };
    let Some((_, lower)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        unknown(node, kind, lowering);
        return None;
    };
    let is_transformed = text != subject.output;
    // What a transform does not find fails: a test of nothing is false, and only its opposite and what looks elsewhere have to say so.
    let asks = is_transformed && (negated || matches!(kind, "cost" | "latency"));
    let asserted = Asserted { node, text, subject, negated, value: node.get("value") };
    if cannot_fail(&asserted, kind) {
        let message = format!("`{written}` of nothing holds whatever the output says");
        lowering.said.warning(
            Slug::AlwaysTrue,
            asserted.place("value"),
            message,
            "write what is looked for behind `value`",
        );
    }
    let sentence = lower(&asserted, schema, lowering)?;
    Some(if asks { sentence.behind(format!("{} exists and ", asserted.text)) } else { sentence })
}

/// Whether every text holds what is looked for.
fn cannot_fail(one: &Asserted<'_>, kind: &str) -> bool {
    let parts = || one.value.map_or(&[][..], Node::items);
    let is_empty = |node: &Node| path::python_text(node).is_empty();
    !one.negated
        && match kind {
            "contains" | "icontains" | "starts-with" | "regex" => one.value_text().is_empty(),
            "contains-all" => parts().iter().all(is_empty),
            "contains-any" => parts().iter().any(is_empty),
            _ => false,
        }
}

/// The expression of what a transform selects.
fn transformed(transform: &Node, subject: &Subject, lowering: &mut Lowering<'_>) -> Option<String> {
    let text = lowering.said.as_text(transform, "`transform`")?;
    let Some((kind, path)) = text.split_once(':') else {
        let help = "write `json_path:` and a path, as in `json_path:$.status`";
        lowering.said.error(Slug::UnknownType, transform.span, format!("`{text}` is no transform"), help);
        return None;
    };
    if kind != "json_path" {
        let message = format!("there is no transform `{kind}`");
        lowering.said.error(Slug::UnknownType, transform.span, message, "write `json_path:` and a path");
        return None;
    }
    match path::standard(path) {
        Ok(path) => Some(match path::plain(&path) {
            Some(steps) => format!("python_text(json({}){steps})", subject.output),
            None => format!("python_text(first(jsonpath(json({}), {})))", subject.output, quoted(&path)),
        }),
        Err(why) => {
            lowering.said.error(
                Slug::BadJsonPath,
                transform.span,
                format!("`{path}` is no path: {why}"),
                "write a path such as `$.items[0].name`",
            );
            None
        }
    }
}

/// A type that is none, or none that can be had here.
fn unknown(node: &Node, kind: &str, lowering: &mut Lowering<'_>) {
    let Some(place) = node.get("type") else { return };
    let known: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
    if kind == "llm_judge" {
        let help = "record what a judge said in the run, and ask for it: `meta.judge.score >= 0.8`";
        lowering.said.error(
            Slug::UnknownType,
            place.span,
            "`llm_judge` asks a model, whose answer is another one each time",
            help,
        );
    } else if kind.starts_with("custom:") {
        let message = format!("`{kind}` is a program of its own");
        let help = "write what it asks as a rule, or run it: `run \"python3 check.py ${output}\" exits 0`";
        lowering.said.error(Slug::UnknownType, place.span, message, help);
    } else {
        lowering.said.unknown_word(place, "type of assertion", &known);
    }
}
