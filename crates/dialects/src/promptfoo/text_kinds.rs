//! Assertion types about the answer, its cost, and its provider metadata.

use super::asserted::{KindContext, PromptfooAssertion};
use super::recorded::{recorded_or_undecided, recorded_pass};
use super::values::{number_of, plain_number, script_number, script_text, split_values};
use crate::regex_flavour::{UnusableRegex, slash_literal, translate_javascript};
use crate::writer::{quote_text, value_literal};
use crate::yaml::{self, YamlNode, YamlSchema, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// Writes an assertion; returns `None` if it is unusable, which was reported.
pub(super) type LowerKind = fn(&PromptfooAssertion<'_>, &mut KindContext<'_, '_>) -> Option<String>;

pub(super) const TEXT_KINDS: &[(&str, LowerKind)] = &[
    ("contains", |one, context| contains_text(one, context, false)),
    ("icontains", |one, context| contains_text(one, context, true)),
    ("contains-any", |one, context| contains_several(one, context, RequiredShare::Any, false)),
    ("contains-all", |one, context| contains_several(one, context, RequiredShare::All, false)),
    ("icontains-any", |one, context| contains_several(one, context, RequiredShare::Any, true)),
    ("icontains-all", |one, context| contains_several(one, context, RequiredShare::All, true)),
    ("equals", equals),
    ("regex", regex),
    ("starts-with", starts_with),
    ("is-json", is_json),
    ("contains-json", contains_json),
    ("word-count", word_count),
    ("levenshtein", levenshtein),
    ("latency", |one, context| below_threshold(one, context, "duration", "", "ms")),
    ("cost", |one, context| below_threshold(one, context, "cost", "$", "")),
    ("finish-reason", finish_reason),
    ("skill-used", skill_used),
];

const TEXT: &str = "a text or a number that is not empty";

/// Escapes a text for use in a regular expression.
pub(super) fn escaped(text: &str) -> String {
    regex_syntax::escape(text)
}

/// Writes a search for a text. For its absence, a regular expression is used because it never reports a near miss.
fn search(subject: &str, word: &str, text: &str, negated: bool) -> String {
    let from = if word == "starts with" { "\\A" } else { "" };
    match negated {
        false => format!("{subject} {word} {}", quote_text(text)),
        true => format!("{subject} not matches {}", slash_literal(&format!("{from}{}", escaped(text)), "")),
    }
}

fn contains_text(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>, folded: bool) -> Option<String> {
    let Some(text) = one.text_or_number() else { return context.wrong_value(one, TEXT) };
    Some(match folded {
        true => search(&format!("lower({})", one.subject.text), "contains", &text.to_lowercase(), one.negated),
        false => search(&one.subject.text, "contains", &text, one.negated),
    })
}

fn starts_with(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    match one.value.as_ref().and_then(YamlNode::as_text).filter(|text| !text.is_empty()) {
        Some(text) => Some(search(&one.subject.text, "starts with", text, one.negated)),
        None => context.wrong_value(one, "a text that is not empty"),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequiredShare {
    All,
    Any,
}

fn contains_several(
    one: &PromptfooAssertion<'_>,
    context: &mut KindContext<'_, '_>,
    share: RequiredShare,
    folded: bool,
) -> Option<String> {
    let texts: Vec<String> = match one.value.as_ref().map(|value| &value.value) {
        Some(YamlValue::List(items)) => items.iter().map(script_text).collect(),
        Some(YamlValue::Text(text)) if !text.is_empty() => match split_values(text) {
            Some(texts) => texts,
            None => {
                let help = "close the quote, and write a comma after it";
                return context.unusable(
                    one.key_span("value"),
                    Slug::Syntax,
                    "the list of texts has an open quote",
                    help,
                );
            }
        },
        _ => return context.wrong_value(one, "a list of texts, or texts with commas between them"),
    };
    let fold = |text: &String| if folded { text.to_lowercase() } else { text.clone() };
    let wanted: Vec<String> = texts.iter().filter(|text| !text.is_empty()).map(fold).collect();
    let subject = if folded { format!("lower({})", one.subject.text) } else { one.subject.text.clone() };
    let known = match share {
        RequiredShare::All if wanted.is_empty() => Some(true),
        RequiredShare::Any if wanted.len() < texts.len() => Some(true),
        RequiredShare::Any if texts.is_empty() => Some(false),
        _ => None,
    };
    if let Some(holds) = known {
        return Some(constant(&one.subject.text, holds != one.negated));
    }
    let list = || wanted.iter().map(|text| quote_text(text)).collect::<Vec<_>>().join(", ");
    let absent = |text: &String| search(&subject, "contains", text, true);
    Some(match (share, one.negated) {
        (RequiredShare::Any, false) => format!("{subject} contains any [{}]", list()),
        (RequiredShare::All, false) => format!("{subject} contains all [{}]", list()),
        (RequiredShare::Any, true) => wanted.iter().map(absent).collect::<Vec<_>>().join(" and "),
        (RequiredShare::All, true) => wanted.iter().map(absent).collect::<Vec<_>>().join(" or "),
    })
}

/// Writes a condition that holds, or fails, for every answer.
fn constant(subject: &str, holds: bool) -> String {
    format!("{subject} {}", if holds { "exists" } else { "is missing" })
}

/// Writes a comparison: objects and lists are compared with the JSON of the answer, other values with its text.
fn equals(one: &PromptfooAssertion<'_>, _: &mut KindContext<'_, '_>) -> Option<String> {
    let subject = &one.subject.text;
    let structured = |value: &&YamlNode| value.is_map() || value.is_list() || value.is_null();
    if let Some(value) = one.value.as_ref().filter(structured) {
        let value = value_literal(value);
        return Some(match one.negated {
            false => format!("{subject} is json and json({subject}) == {value}"),
            true => format!("({subject} is not json or json({subject}) != {value})"),
        });
    }
    let text = one.value.as_ref().map_or_else(|| "undefined".to_owned(), script_text);
    Some(match one.negated {
        false => format!("{subject} == {}", quote_text(&text)),
        true => format!("{subject} not matches {}", slash_literal(&format!("\\A{}\\z", escaped(&text)), "")),
    })
}

fn regex(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    let pattern = one.value.as_ref().and_then(YamlNode::as_text).filter(|text| !text.is_empty());
    let Some(pattern) = pattern else { return context.wrong_value(one, "a regular expression as a text") };
    match translate_javascript(pattern, "") {
        Ok(literal) => {
            let test = if one.negated { "not matches" } else { "matches" };
            Some(format!("{} {test} {}", one.subject.text, literal.text))
        }
        Err(UnusableRegex { at, why }) => {
            let message = format!("`{pattern}` is no regular expression of JavaScript: {why}, from byte {at} on");
            context.unusable(one.key_span("value"), Slug::BadRegex, message, "fix the expression")
        }
    }
}

enum WantedSchema {
    Any,
    Named(String),
    Unusable(Option<String>),
}

fn schema(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> WantedSchema {
    let Some(value) = &one.value else { return WantedSchema::Any };
    match &value.value {
        YamlValue::Null | YamlValue::Bool(false) => WantedSchema::Any,
        YamlValue::Text(text) if text.is_empty() => WantedSchema::Any,
        YamlValue::Map(_) => WantedSchema::Named(context.schema_name(value)),
        YamlValue::Text(text) => match yaml::parse_document(text, value.span.file, YamlSchema::Core) {
            Ok(mut document) if document.is_map() => {
                place_all(&mut document, value.span);
                WantedSchema::Named(context.schema_name(&document))
            }
            _ => WantedSchema::Unusable(context.wrong_value(one, "a JSON Schema")),
        },
        _ => WantedSchema::Unusable(context.wrong_value(one, "a JSON Schema")),
    }
}

/// Sets the location of all parts of a value to that of the text that contained it.
fn place_all(node: &mut YamlNode, span: Span) {
    node.span = span;
    match &mut node.value {
        YamlValue::List(items) => items.iter_mut().for_each(|item| place_all(item, span)),
        YamlValue::Map(entries) => entries.iter_mut().for_each(|(key, value)| {
            key.span = span;
            place_all(value, span);
        }),
        _ => {}
    }
}

fn is_json(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    match schema(one, context) {
        WantedSchema::Any => Some(one.signed(format!("{} is json", one.subject.text))),
        WantedSchema::Named(name) => Some(one.signed(format!("{} is json {name}", one.subject.text))),
        WantedSchema::Unusable(said) => said,
    }
}

/// Writes a search for JSON objects, including objects in lists. Braces without valid JSON may still be an object for promptfoo, which reads them as
/// YAML.
fn contains_json(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    let fits = match schema(one, context) {
        WantedSchema::Any => String::new(),
        WantedSchema::Named(name) => format!(" and j is {name}"),
        WantedSchema::Unusable(said) => return said,
    };
    let subject = &one.subject.text;
    let objects = |test: &str| format!("(count j in flatten(flatten(all_json({subject}))): j is object{test})");
    let unread = format!("{subject} contains \"{{\" and {} == 0", objects(""));
    let recorded = recorded_or_undecided(&recorded_pass(one.node), "the text in braces is not JSON");
    let sign = if one.negated { "==" } else { ">" };
    Some(format!("(if {unread} then ({recorded}) else {} {sign} 0)", objects(&fits)))
}

fn word_count(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    const WANTED: &str = "a number, or `{min: 5, max: 20}`,";
    let count = format!("word_count({})", one.subject.text);
    let Some(value) = &one.value else { return context.wrong_value(one, WANTED) };
    if value.is_map() {
        let bound = |key: &str, sign: &str| {
            let bound = value.get(key)?;
            Some(bound.as_number().map(|number| format!("{count} {sign} {}", script_number(number))))
        };
        let bounds: Vec<Option<String>> = [bound("min", ">="), bound("max", "<=")].into_iter().flatten().collect();
        let Some(bounds) = bounds.into_iter().collect::<Option<Vec<_>>>().filter(|bounds| !bounds.is_empty()) else {
            return context.wrong_value(one, WANTED);
        };
        return Some(one.signed(bounds.join(" and ")));
    }
    let text = script_text(value);
    match text.trim().parse::<f64>() {
        Ok(number) if !matches!(value.value, YamlValue::List(_)) && number.is_finite() => {
            let sign = if one.negated { "!=" } else { "==" };
            Some(format!("{count} {sign} {}", plain_number(number)))
        }
        _ => context.wrong_value(one, WANTED),
    }
}

fn levenshtein(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    let (text, most) = (one.value.as_ref().and_then(YamlNode::as_text), one.threshold(Some(5.0)));
    let (Some(text), Some(most)) = (text, most) else { return context.wrong_value(one, "a text") };
    let sign = if one.negated { ">" } else { "<=" };
    Some(format!("levenshtein({}, {}) {sign} {}", one.subject.text, quote_text(text), plain_number(most)))
}

fn below_threshold(
    one: &PromptfooAssertion<'_>,
    context: &mut KindContext<'_, '_>,
    field: &str,
    before: &str,
    behind: &str,
) -> Option<String> {
    let measures = field == "cost" && !one.negated && one.node.get("weight").and_then(number_of) == Some(0.0);
    if measures && one.node.get("threshold").is_none() {
        // Without a threshold, the cost is only the score of the metric and fails nothing.
        context.score = Some("coalesce(cost, 0)".to_owned());
        return Some("cost >= $0".to_owned());
    }
    let Some(most) = one.threshold(None) else {
        let message = format!("`{}` has no threshold", one.kind);
        return context.unusable(one.key_span("threshold"), Slug::TypeMismatch, message, "write `threshold: 5`");
    };
    let sign = if one.negated { ">" } else { "<=" };
    let minus = if most < 0.0 { "-" } else { "" };
    Some(format!("{field} {sign} {minus}{before}{}{behind}", plain_number(most.abs())))
}

fn finish_reason(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    match one.value.as_ref().and_then(YamlNode::as_text) {
        Some(text) => Some(one.signed(format!("lower(meta.finishReason) == {}", quote_text(&text.to_lowercase())))),
        None => context.wrong_value(one, "a text such as `stop`"),
    }
}

fn skill_used(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    const WANTED: &str = "the name of a skill, a list of names, or `{name: …, min: 1}`,";
    let Some(value) = &one.value else { return context.wrong_value(one, WANTED) };
    let used = |test: &str| format!("any s in meta.skillCalls: {test} and coalesce(s.is_error, false) != true");
    let named = |name: &str| format!("s.name == {}", quote_text(name.trim()));
    let names: Vec<&str> = match &value.value {
        YamlValue::Text(name) => vec![name.as_str()],
        YamlValue::List(items) => items.iter().filter_map(YamlNode::as_text).collect(),
        YamlValue::Map(_) => return skill_count(one, value, context),
        _ => Vec::new(),
    };
    let whole = value.items().len().max(1) == names.len();
    if !whole || names.is_empty() || names.iter().any(|name| name.trim().is_empty()) {
        return context.wrong_value(one, WANTED);
    }
    let test = |name: &&str| match one.negated {
        false => format!("({})", used(&named(name))),
        true => format!("not ({})", used(&named(name))),
    };
    Some(names.iter().map(test).collect::<Vec<_>>().join(" and "))
}

fn skill_count(one: &PromptfooAssertion<'_>, value: &YamlNode, context: &mut KindContext<'_, '_>) -> Option<String> {
    let text = |key: &str| value.get(key).and_then(YamlNode::as_text).filter(|text| !text.trim().is_empty());
    let mut tests = vec!["coalesce(s.is_error, false) != true".to_owned()];
    tests.extend(text("name").map(|name| format!("s.name == {}", quote_text(name.trim()))));
    tests.extend(text("pattern").map(|glob| format!("s.name matches {}", glob_regex(glob.trim()))));
    if tests.len() == 1 {
        return context.wrong_value(one, "a mapping with `name` or `pattern`");
    }
    let count = format!("(count s in coalesce(meta.skillCalls, []): {})", tests.join(" and "));
    let number = |key: &str| value.get(key).and_then(number_of);
    if one.negated && (number("min").is_some() || number("max").is_some_and(|most| most != 0.0)) {
        let message = "promptfoo refuses `not-skill-used` with `min`, or with `max` other than 0";
        return context.unusable(value.span, Slug::TypeMismatch, message, "leave `min` and `max` out");
    }
    if one.negated {
        return Some(format!("{count} == 0"));
    }
    let bound = |key: &str| value.get(key).and_then(YamlNode::as_number);
    let least = bound("min").unwrap_or(if bound("max").is_some() { "0" } else { "1" });
    let most = bound("max").map(|most| format!(" and {count} <= {most}")).unwrap_or_default();
    Some(format!("{count} >= {least}{most}"))
}

/// Returns a promptfoo glob, which ignores case, as a regular expression.
pub(crate) fn glob_regex(glob: &str) -> String {
    let mut pattern = String::from("^");
    for letter in glob.chars() {
        match letter {
            '*' => pattern.push_str(".*"),
            '?' => pattern.push('.'),
            other => pattern.push_str(&escaped(&other.to_string())),
        }
    }
    pattern.push('$');
    slash_literal(&pattern, "i")
}
