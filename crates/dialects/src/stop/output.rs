//! Checks of outputs: `output.article_url` and the like.

use super::check::{Check, always, checks_nothing};
use super::manifest::undeclared_output;
use super::regex::regex;
use super::template;
use crate::shape::Said;
use crate::writer::{Sentence, Writer, literal};
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
    /// Where the manifest names it.
    place: Span,
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
        value: template::output(field),
        place: place.span,
        kind: check.manifest.output(field).and_then(|output| output.kind),
        alone: check.alone && asked.len() == 1,
    };
    let mut sentence = Sentence::default();
    let mut conditions = 0_usize;
    for (key, wanted) in asked {
        if asks_nothing(key, wanted, said)? {
            continue;
        }
        conditions = conditions.saturating_add(1);
        let before = if conditions > 1 { sentence.put(" and ") } else { sentence };
        sentence = match key {
            "not_empty" => output.not_empty(before, used),
            "matches" => output.matches(before, wanted, said, used)?,
            "equals" => output.equals(before, wanted, said)?,
            _ => output.greater_than(before, wanted, said)?,
        };
    }
    if conditions == 0 {
        checks_nothing(check, "`not_empty`, `matches`, `equals` or `greater_than`", "it always holds", said);
        return Some(always());
    }
    Some(sentence)
}

/// Whether a condition holds whatever the output is; `None` where it has a shape that means nothing.
fn asks_nothing(key: &str, wanted: &Node, said: &mut Said) -> Option<bool> {
    match key {
        "not_empty" => match wanted.boolean() {
            Some(wanted) => Some(!wanted),
            None => {
                said.shape(wanted, "`not_empty` of a check of an output", "`true`, or leave it out");
                None
            }
        },
        "matches" => said.as_text(wanted, "`matches` of a check of an output").map(str::is_empty),
        _ => Some(false),
    }
}

impl Output<'_> {
    /// The output itself.
    fn named(&self, sentence: Sentence) -> Sentence {
        sentence.put_of(self.place, self.value.as_str())
    }

    /// Beside other conditions the plain test would often follow from them, as the linter says.
    fn not_empty(&self, sentence: Sentence, used: &mut Used) -> Sentence {
        if self.alone && self.holds_something() {
            return self.named(sentence).put(" is not empty");
        }
        used.filled = true;
        self.named(sentence.put("filled(")).put(")")
    }

    fn matches(&self, sentence: Sentence, pattern: &Node, said: &mut Said, used: &mut Used) -> Option<Sentence> {
        let regex = regex(pattern.text()?, pattern.span, said)?;
        let value = match self.is_text() {
            true => self.named(sentence),
            false => self.named(sentence.put("as_text(")).put(")"),
        };
        used.as_text |= !self.is_text();
        Some(value.put(" matches ").regex(pattern.span, &regex))
    }

    fn equals(&self, sentence: Sentence, wanted: &Node, said: &mut Said) -> Option<Sentence> {
        if matches!(wanted.value, Value::List(_) | Value::Map(_)) {
            let message = format!("`equals` is {}, and STOP finds no two of them equal: it never holds", wanted.kind());
            let help = "compare a text, a number or a boolean; of anything else ask `not_empty`";
            said.error(Slug::Impossible, wanted.span, message, help);
            return None;
        }
        Some(self.named(sentence).put(" == ").put_of(wanted.span, literal(wanted)))
    }

    fn greater_than(&self, sentence: Sentence, bound: &Node, said: &mut Said) -> Option<Sentence> {
        let Some(number) = bound.number() else {
            said.shape(bound, "`greater_than` of a check of an output", "a number");
            return None;
        };
        Some(self.named(sentence).put(" > ").put_of(bound.span, number))
    }
}
