//! Checks of outputs: `output.article_url` and the like.

use super::checks::{Check, Sentence, always, checks_nothing, regex};
use super::manifest::undeclared_output;
use super::template::member;
use crate::regex_flavour::Literal;
use crate::shape::Said;
use crate::writer::{Writer, literal};
use crate::yaml::{Node, Value};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// What may be asked of an output.
pub(super) const KEYS: &[&str] = &["not_empty", "matches", "equals", "greater_than"];

/// Definitions that sentences use.
#[derive(Debug, Default)]
pub(super) struct Used {
    filled: bool,
    as_text: bool,
}

impl Used {
    /// Writes the definitions that are used.
    pub(super) fn define(&self, out: &mut Writer, place: Span) {
        if self.filled {
            out.gap();
            out.remark("Numbers are empty where they are 0, booleans where they are false.");
            let line = "def filled(value) = if value is number then value != 0 else if value is boolean then value else value is not empty";
            out.line(place, |out| out.put(line));
        }
        if self.as_text {
            out.gap();
            out.remark("Every value as the text that JavaScript makes of it.");
            let line = "def as_text(value) = if value is empty and value is not list and value is not object then \"\" else if value is list then join(value, \",\") else if value is object then \"[object Object]\" else text(value)";
            out.line(place, |out| out.put(line));
        }
    }
}

/// An output as sentences speak of it.
struct Output<'a> {
    /// Where it stands in the run.
    value: String,
    /// Its type, where that is declared.
    kind: Option<&'a str>,
    /// Whether nothing else is asked of it.
    alone: bool,
}

impl Output<'_> {
    /// Whether each of its values is a text.
    fn is_text(&self) -> bool {
        self.kind.is_some_and(|kind| ["string", "file_path", "dir_path", "url", "enum"].contains(&kind))
    }

    /// Whether it is no number and no boolean.
    fn holds_something(&self) -> bool {
        self.is_text() || self.kind.is_some_and(|kind| ["array", "json"].contains(&kind))
    }
}

/// All conditions that are given have to hold.
pub(super) fn sentence(check: &Check<'_>, said: &mut Said, used: &mut Used) -> Option<Sentence> {
    let field = check.name.strip_prefix("output.").unwrap_or(check.name);
    let place = check.node.get("check").unwrap_or(check.node);
    undeclared_output(field, check.name, place, check.manifest, said);
    if field.contains('.') && check.manifest.output(field).is_none() {
        let message = format!("`{}` asks for an output whose name is `{field}`", check.name);
        said.warning(Slug::UnknownField, place.span, message, "there are no paths into outputs in STOP");
    }
    let asked: Vec<(&str, &Node)> = KEYS.iter().filter_map(|key| Some((*key, check.node.get(key)?))).collect();
    let output = Output {
        value: member("output", field),
        kind: check.manifest.output(field).and_then(|output| output.kind),
        alone: check.alone && asked.len() == 1,
    };
    let (mut conditions, mut expression) = (Vec::new(), None);
    for (key, wanted) in asked {
        conditions.extend(match key {
            "not_empty" => not_empty(&output, wanted, said, used)?,
            "matches" => match said.as_text(wanted, "`matches` of a check of an output")? {
                "" => None,
                written => Some(matches(&output, expression.insert(regex(written, wanted.span, said)?), used)),
            },
            "equals" => Some(equals(&output, wanted, said)?),
            _ => Some(greater_than(&output, wanted, said)?),
        });
    }
    if conditions.is_empty() {
        checks_nothing(check, "`not_empty`, `matches`, `equals` or `greater_than`", "it always holds", said);
        return Some(always());
    }
    Some(Sentence::from(conditions.join(" and ")).with(expression.as_ref()))
}

/// Beside other conditions the plain test would often follow from them, as the linter says.
fn not_empty(output: &Output<'_>, wanted: &Node, said: &mut Said, used: &mut Used) -> Option<Option<String>> {
    let Some(wanted) = wanted.boolean() else {
        said.shape(wanted, "`not_empty` of a check of an output", "`true`, or leave it out");
        return None;
    };
    if !wanted {
        return Some(None);
    }
    let plain = output.alone && output.holds_something();
    used.filled |= !plain;
    let value = &output.value;
    Some(Some(if plain { format!("{value} is not empty") } else { format!("filled({value})") }))
}

fn matches(output: &Output<'_>, regex: &Literal, used: &mut Used) -> String {
    used.as_text |= !output.is_text();
    let value = if output.is_text() { output.value.clone() } else { format!("as_text({})", output.value) };
    format!("{value} matches {}", regex.text)
}

fn equals(output: &Output<'_>, wanted: &Node, said: &mut Said) -> Option<String> {
    if matches!(wanted.value, Value::List(_) | Value::Map(_)) {
        let message = format!("`equals` is {}, and STOP finds no two of them equal: it never holds", wanted.kind());
        let help = "compare a text, a number or a boolean; of anything else ask `not_empty`";
        said.error(Slug::Impossible, wanted.span, message, help);
        return None;
    }
    Some(format!("{} == {}", output.value, literal(wanted)))
}

fn greater_than(output: &Output<'_>, bound: &Node, said: &mut Said) -> Option<String> {
    let Some(number) = bound.number() else {
        said.shape(bound, "`greater_than` of a check of an output", "a number");
        return None;
    };
    Some(format!("{} > {number}", output.value))
}
