//! One assertion: its subject, its test, and its weight.

use super::asserted::{AssertionSubject, RunsightAssertion};
use super::kinds::KINDS;
use super::path;
use crate::Lowering;
use crate::writer::{MappedSentence, RuleWriter, quote_text};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

const KEYS: &[&str] = &["type", "value", "threshold", "config", "weight", "metric", "transform"];

pub(super) struct RunsightLine {
    place: Span,
    sentence: MappedSentence,
    modifiers: String,
}

impl RunsightLine {
    pub(super) fn write_line(&self, out: &mut RuleWriter) {
        out.write_assertion(self.place, &self.sentence, &self.modifiers);
    }
}

/// Returns the lines of a list of assertions; `share` scales their weights.
pub(super) fn assertion_lines(
    list: &YamlNode,
    name: &str,
    subject: &AssertionSubject,
    share: f64,
    lowering: &mut Lowering<'_>,
) -> Vec<RunsightLine> {
    let mut lines = Vec::new();
    for (at, node) in list.items().iter().enumerate() {
        let schema = schema_name(name, at);
        let sentence = assertion_sentence(node, subject, &schema, lowering);
        let modifiers = read_modifiers(node, share, lowering);
        lines.extend(sentence.map(|sentence| RunsightLine { place: node.span, sentence, modifiers }));
    }
    lines
}

pub(super) fn write_rule(list: &YamlNode, name: &str, subject: &AssertionSubject, lowering: &mut Lowering<'_>) {
    declare_schemas(list, name, lowering);
    let lines = assertion_lines(list, name, subject, 1.0, lowering);
    if let Some(value) =
        subject.named.as_ref().filter(|_| lines.iter().any(|line| line.sentence.contains_text(&subject.output)))
    {
        lowering.out.write_line(list.span, |out| out.put_text(&format!("let {} = {value}", subject.output)));
        lowering.out.write_gap();
    }
    let write = |out: &mut RuleWriter| lines.iter().for_each(|line| line.write_line(out));
    lowering.out.write_block(list.span, |out| out.put_text(&format!("rule {name}")), write);
    if list.items().is_empty() {
        let message = format!("`{name}` has no assertion: it passes whatever the block says");
        lowering.sink.error(Slug::Syntax, list.span, message, "write an assertion, or take the list away");
    }
}

fn schema_name(rule: &str, at: usize) -> String {
    let mut name: String = rule.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    name.replace_range(..1, &name.chars().take(1).collect::<String>().to_uppercase());
    let name = if name.starts_with(|c: char| c.is_ascii_uppercase()) { name } else { format!("S{name}") };
    format!("{name}_{}", at.saturating_add(1))
}

pub(super) fn declare_schemas(list: &YamlNode, rule: &str, lowering: &mut Lowering<'_>) {
    for (at, node) in list.items().iter().enumerate() {
        let kind = node.get("type").and_then(YamlNode::as_text).unwrap_or("");
        let asks = matches!(kind.strip_prefix("not-").unwrap_or(kind), "is-json" | "contains-json");
        let Some(value) = node.get("value").filter(|_| asks) else { continue };
        let name = schema_name(rule, at);
        match &value.value {
            YamlValue::Map(_) => lowering.out.write_schema(&name, value),
            // As a schema, `true` accepts everything and `false` nothing.
            YamlValue::Bool(any) => lowering.out.write_line(value.span, |out| {
                out.put_text(&format!("schema {name} = {}", if *any { "{}" } else { "{ not: {} }" }));
            }),
            _ => {}
        }
    }
    lowering.out.write_gap();
}

fn read_modifiers(node: &YamlNode, share: f64, lowering: &mut Lowering<'_>) -> String {
    let mut text = String::new();
    let mut weigh = |number: &str| {
        let weight = number.parse::<f64>().unwrap_or(1.0) * share;
        if weight != 1.0 {
            text.push_str(&format!(" weight {weight}"));
        }
    };
    match node.get("weight").map(|weight| (weight, weight.as_number())) {
        None => weigh("1"),
        Some((_, Some(number))) if !number.starts_with('-') => weigh(number),
        Some((weight, Some(_))) => {
            let message = "a weight is below zero";
            lowering.sink.error(Slug::TypeMismatch, weight.span, message, "write 0 for what counts for nothing");
        }
        Some((weight, None)) => lowering.sink.wrong_shape(weight, "`weight`", "a number"),
    }
    if let Some(metric) = node.get("metric").filter(|metric| !metric.is_null()) {
        match metric.as_text() {
            Some("") => {}
            Some(name) => text.push_str(&format!(" as {}", crate::writer::to_label(name))),
            None => lowering.sink.wrong_shape(metric, "`metric`", "a name"),
        }
    }
    text
}

/// Writes an assertion; returns `None` if it is invalid, which was reported.
fn assertion_sentence(
    node: &YamlNode,
    subject: &AssertionSubject,
    schema: &str,
    lowering: &mut Lowering<'_>,
) -> Option<MappedSentence> {
    if !lowering.sink.check_keys(node, "an assertion", KEYS) {
        return None;
    }
    let written = lowering.sink.required_text(node, "type", "an assertion")?;
    let (negated, kind) = written.strip_prefix("not-").map_or((false, written), |kind| (true, kind));
    let text = match node.get("transform").filter(|transform| !transform.is_null()) {
        Some(transform) => transformed_value(transform, subject, lowering)?,
        None => subject.output.clone(),
    };
    let Some((_, lower)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        report_unknown(node, kind, lowering);
        return None;
    };
    let is_transformed = text != subject.output;
    // If a transform finds nothing, Runsight fails the assertion. A test of a missing value is false anyway, so only negated tests and tests of other
    // data need an explicit condition.
    let asks = is_transformed && (negated || matches!(kind, "cost" | "latency"));
    let asserted = RunsightAssertion { node, text, subject, negated, value: node.get("value") };
    if cannot_fail(&asserted, kind) {
        let message = format!("`{written}` without a value holds for every output");
        lowering.sink.warning(
            Slug::AlwaysTrue,
            asserted.key_span("value"),
            message,
            "write the searched text after `value`",
        );
    }
    let sentence = lower(&asserted, schema, lowering)?;
    let exists = format!("{} exists and ", asserted.text);
    Some(match asks {
        true if sentence.contains_text(" or ") || sentence.contains_text("if ") => {
            sentence.put_behind(format!("{exists}(")).add_text(")")
        }
        true => sentence.put_behind(exists),
        false => sentence,
    })
}

/// True if every text passes, because the value is empty.
fn cannot_fail(one: &RunsightAssertion<'_>, kind: &str) -> bool {
    let parts = || one.value.map_or(&[][..], YamlNode::items);
    let is_empty = |node: &YamlNode| path::python_text(node).is_empty();
    !one.negated
        && match kind {
            "contains" | "icontains" | "starts-with" | "regex" => one.value_text().is_empty(),
            "contains-all" => parts().iter().all(is_empty),
            "contains-any" => parts().iter().any(is_empty),
            _ => false,
        }
}

fn transformed_value(transform: &YamlNode, subject: &AssertionSubject, lowering: &mut Lowering<'_>) -> Option<String> {
    let text = lowering.sink.as_text(transform, "`transform`")?;
    let Some((kind, path)) = text.split_once(':') else {
        let help = "write `json_path:` and a path, as in `json_path:$.status`";
        lowering.sink.error(Slug::UnknownType, transform.span, format!("`{text}` is no transform"), help);
        return None;
    };
    if kind != "json_path" {
        let message = format!("there is no transform `{kind}`");
        lowering.sink.error(Slug::UnknownType, transform.span, message, "write `json_path:` and a path");
        return None;
    }
    match path::standard_path(path) {
        Ok(path) => Some(match path::plain_path(&path) {
            Some(steps) => format!("python_text(json({}){steps})", subject.output),
            None => format!("python_text(first(jsonpath(json({}), {})))", subject.output, quote_text(&path)),
        }),
        Err(why) => {
            lowering.sink.error(
                Slug::BadJsonPath,
                transform.span,
                format!("`{path}` is no path: {why}"),
                "write a path such as `$.items[0].name`",
            );
            None
        }
    }
}

/// Reports an unknown or unsupported type.
fn report_unknown(node: &YamlNode, kind: &str, lowering: &mut Lowering<'_>) {
    let Some(place) = node.get("type") else { return };
    let known: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
    if kind == "llm_judge" {
        let help = "record what a judge said in the run, and ask for it: `meta.judge.score >= 0.8`";
        lowering.sink.error(
            Slug::UnknownType,
            place.span,
            "`llm_judge` asks a model, whose answer is another one each time",
            help,
        );
    } else if kind.starts_with("custom:") {
        let message = format!("`{kind}` is a program of its own");
        let help = "write what it asks as a rule, or run it: `run \"python3 check.py ${output}\" exits 0`";
        lowering.sink.error(Slug::UnknownType, place.span, message, help);
    } else {
        lowering.sink.unknown_word(place, "type of assertion", &known);
    }
}
