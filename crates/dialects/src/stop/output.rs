//! Checks of outputs: `output.article_url` and the like.

use super::check::{StopCheck, always_holds, checks_nothing};
use super::manifest::undeclared_output;
use super::regex::regex_literal;
use super::template;
use crate::shape::DiagnosticSink;
use crate::writer::{MappedSentence, RuleWriter, value_literal};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

pub(super) const KEYS: &[&str] = &["not_empty", "matches", "equals", "greater_than"];

#[derive(Debug, Default)]
pub(super) struct UsedDefinitions {
    filled: bool,
    as_text: bool,
}

impl UsedDefinitions {
    pub(super) fn write_used(&self, out: &mut RuleWriter, place: Span) {
        if self.filled {
            out.write_gap();
            out.write_remark("Numbers are empty where they are 0, booleans where they are false.");
            let line = "def filled(value) = if value is number then value != 0 else if value is boolean then value else value is not empty";
            out.write_line(place, |out| out.put_text(line));
        }
        if self.as_text {
            out.write_gap();
            out.write_remark("Every value as the text that JavaScript makes of it.");
            let line = "def as_text(value) = if value is empty and value is not list and value is not object then \"\" else if value is list then join(value, \",\") else if value is object then \"[object Object]\" else text(value)";
            out.write_line(place, |out| out.put_text(line));
        }
    }
}

struct OutputSubject<'a> {
    value: String,
    place: Span,
    kind: Option<&'a str>,
    alone: bool,
}

impl OutputSubject<'_> {
    fn is_text(&self) -> bool {
        self.kind.is_some_and(|kind| ["string", "file_path", "dir_path", "url", "enum"].contains(&kind))
    }

    fn holds_something(&self) -> bool {
        self.is_text() || self.kind.is_some_and(|kind| ["array", "json"].contains(&kind))
    }
}

/// Writes a check of an output; all given conditions have to hold.
pub(super) fn output_sentence(
    check: &StopCheck<'_>,
    said: &mut DiagnosticSink,
    used: &mut UsedDefinitions,
) -> Option<MappedSentence> {
    let field = check.name.strip_prefix("output.").unwrap_or(check.name);
    let place = check.node.get("check").unwrap_or(check.node);
    undeclared_output(field, check.name, place, check.manifest, said);
    if field.contains('.') && check.manifest.find_output(field).is_none() {
        let message = format!("`{}` asks for an output whose name is `{field}`", check.name);
        said.warning(Slug::UnknownField, place.span, message, "there are no paths into outputs in STOP");
    }
    let asked: Vec<(&str, &YamlNode)> = KEYS.iter().filter_map(|key| Some((*key, check.node.get(key)?))).collect();
    let output = OutputSubject {
        value: template::output_path(field),
        place: place.span,
        kind: check.manifest.find_output(field).and_then(|output| output.kind),
        alone: check.alone && asked.len() == 1,
    };
    let mut sentence = MappedSentence::default();
    let mut conditions = 0_usize;
    for (key, wanted) in asked {
        if asks_nothing(key, wanted, said)? {
            continue;
        }
        conditions = conditions.saturating_add(1);
        let before = if conditions > 1 { sentence.add_text(" and ") } else { sentence };
        sentence = match key {
            "not_empty" => output.not_empty(before, used),
            "matches" => output.add_pattern(before, wanted, said, used)?,
            "equals" => output.add_equality(before, wanted, said)?,
            _ => output.greater_than(before, wanted, said)?,
        };
    }
    if conditions == 0 {
        checks_nothing(check, "`not_empty`, `matches`, `equals` or `greater_than`", "it always holds", said);
        return Some(always_holds());
    }
    Some(sentence)
}

/// Returns true if a condition always holds; `None` if its shape is invalid.
fn asks_nothing(key: &str, wanted: &YamlNode, said: &mut DiagnosticSink) -> Option<bool> {
    match key {
        "not_empty" => match wanted.as_boolean() {
            Some(wanted) => Some(!wanted),
            None => {
                said.wrong_shape(wanted, "`not_empty` of a check of an output", "`true`, or leave it out");
                None
            }
        },
        "matches" => said.as_text(wanted, "`matches` of a check of an output").map(str::is_empty),
        _ => Some(false),
    }
}

impl OutputSubject<'_> {
    fn add_output(&self, sentence: MappedSentence) -> MappedSentence {
        sentence.add_mapped(self.place, self.value.as_str())
    }

    /// Adds a test that the output is not empty. Beside other conditions, the plain test would be redundant and reported by the linter.
    fn not_empty(&self, sentence: MappedSentence, used: &mut UsedDefinitions) -> MappedSentence {
        if self.alone && self.holds_something() {
            return self.add_output(sentence).add_text(" is not empty");
        }
        used.filled = true;
        self.add_output(sentence.add_text("filled(")).add_text(")")
    }

    fn add_pattern(
        &self,
        sentence: MappedSentence,
        pattern: &YamlNode,
        said: &mut DiagnosticSink,
        used: &mut UsedDefinitions,
    ) -> Option<MappedSentence> {
        let regex = regex_literal(pattern.as_text()?, pattern.span, said)?;
        let value = match self.is_text() {
            true => self.add_output(sentence),
            false => self.add_output(sentence.add_text("as_text(")).add_text(")"),
        };
        used.as_text |= !self.is_text();
        Some(value.add_text(" matches ").add_regex(pattern.span, &regex))
    }

    fn add_equality(
        &self,
        sentence: MappedSentence,
        wanted: &YamlNode,
        said: &mut DiagnosticSink,
    ) -> Option<MappedSentence> {
        if matches!(wanted.value, YamlValue::List(_) | YamlValue::Map(_)) {
            let message =
                format!("`equals` is {}, and STOP finds no two of them equal: it never holds", wanted.kind_name());
            let help = "compare a text, a number or a boolean; of anything else ask `not_empty`";
            said.error(Slug::Impossible, wanted.span, message, help);
            return None;
        }
        Some(self.add_output(sentence).add_text(" == ").add_mapped(wanted.span, value_literal(wanted)))
    }

    fn greater_than(
        &self,
        sentence: MappedSentence,
        bound: &YamlNode,
        said: &mut DiagnosticSink,
    ) -> Option<MappedSentence> {
        let Some(number) = bound.as_number() else {
            said.wrong_shape(bound, "`greater_than` of a check of an output", "a number");
            return None;
        };
        Some(self.add_output(sentence).add_text(" > ").add_mapped(bound.span, number))
    }
}
