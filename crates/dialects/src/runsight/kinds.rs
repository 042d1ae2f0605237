//! The fifteen assertion types, and how each is written in the rule language.

use super::asserted::{RunsightAssertion, plain_number};
use super::path::python_text;
use crate::Lowering;
use crate::regex_flavour::{self, PyRegexFlags, UnusableRegex, translate_python};
use crate::writer::{MappedSentence, quote_text};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

type LowerAssertion = fn(&RunsightAssertion<'_>, &str, &mut Lowering<'_>) -> Option<MappedSentence>;

pub(super) const KINDS: &[(&str, LowerAssertion)] = &[
    ("equals", equals_sentence),
    ("contains", |one, _, _| Some(contains_sentence(one, one.value_text(), "contains", "", ""))),
    ("icontains", contains_ignoring_case),
    ("contains-all", |one, _, lowering| contains_several(one, RequiredShare::All, lowering)),
    ("contains-any", |one, _, lowering| contains_several(one, RequiredShare::Any, lowering)),
    ("starts-with", |one, _, _| Some(contains_sentence(one, one.value_text(), "starts with", "\\A", ""))),
    ("regex", regex_sentence),
    ("word-count", word_count),
    ("is-json", |one, schema, lowering| json_sentence(one, "is", schema, lowering)),
    ("contains-json", contains_json),
    ("cost", |one, _, lowering| {
        let most = read_threshold(one, "0", lowering)?;
        Some(compare_sentence(one, &one.subject.cost, "<=", one.key_span("threshold"), money_literal(&most)))
    }),
    ("latency", |one, _, lowering| {
        let most = read_threshold(one, "0", lowering)?;
        Some(compare_sentence(
            one,
            &one.subject.duration,
            "<=",
            one.key_span("threshold"),
            format!("{}ms", plain_number(&most)),
        ))
    }),
    ("levenshtein", |one, _, lowering| {
        let most = read_threshold(one, "5", lowering)?;
        let distance = format!("levenshtein({}, {})", one.text, quote_text(&one.value_text()));
        Some(compare_sentence(one, &distance, "<=", one.key_span("threshold"), most))
    }),
    ("bleu", |one, _, lowering| similarity_sentence(one, "bleu", "", "0.5", lowering)),
    ("rouge-n", |one, _, lowering| similarity_sentence(one, "rouge_n", ", 1", "0.75", lowering)),
];

fn surround_piece(before: impl Into<String>, place: Span, piece: String, behind: &str) -> MappedSentence {
    MappedSentence::default().add_text(before).add_mapped(place, piece).add_text(behind)
}

fn compare_sentence(one: &RunsightAssertion<'_>, left: &str, sign: &str, place: Span, right: String) -> MappedSentence {
    let opposite = match sign {
        "<=" => ">",
        ">=" => "<",
        _ => "!=",
    };
    surround_piece(format!("{left} {} ", if one.negated { opposite } else { sign }), place, right, "")
}

/// Writes a similarity test. The similarity is the score, even if the test is negated.
fn similarity_sentence(
    one: &RunsightAssertion<'_>,
    function: &str,
    more: &str,
    least: &str,
    lowering: &mut Lowering<'_>,
) -> Option<MappedSentence> {
    let least = read_threshold(one, least, lowering)?;
    let measure = format!("{function}({}, {}{more})", one.text, quote_text(&one.value_text()));
    Some(compare_sentence(one, &measure, ">=", one.key_span("threshold"), least))
}

fn read_threshold(one: &RunsightAssertion<'_>, usual: &str, lowering: &mut Lowering<'_>) -> Option<String> {
    match one.node.get("threshold").map(|node| (node, &node.value)) {
        None | Some((_, YamlValue::Null)) => Some(usual.to_owned()),
        Some((_, YamlValue::Number(number))) => Some(number.clone()),
        Some((_, YamlValue::Bool(value))) => Some(u8::from(*value).to_string()),
        Some((node, _)) => {
            lowering.sink.wrong_shape(node, "`threshold`", "a number");
            None
        }
    }
}

/// Returns an amount of money without an exponent and with the sign in front.
fn money_literal(number: &str) -> String {
    let plain = plain_number(number);
    match plain.strip_prefix('-') {
        Some(digits) => format!("-${digits}"),
        None => format!("${plain}"),
    }
}

/// Writes a literal search. Its negation is a regular expression, because that also fails on look-alike text.
fn contains_sentence(one: &RunsightAssertion<'_>, value: String, test: &str, from: &str, to: &str) -> MappedSentence {
    let place = one.key_span("value");
    match (value.is_empty(), one.negated) {
        // Every text contains the empty text.
        (true, false) => surround_piece(one.text.clone(), place, " exists".to_owned(), ""),
        (true, true) => surround_piece(one.text.clone(), place, " is missing".to_owned(), ""),
        (false, false) => surround_piece(format!("{} {test} ", one.text), place, quote_text(&value), ""),
        (false, true) => {
            let literal = exact_literal(&format!("{from}{}{to}", escape_regex(&value)));
            surround_piece(format!("{} not matches ", one.text), place, literal, "")
        }
    }
}

fn escape_regex(text: &str) -> String {
    regex_syntax::escape(text)
}

fn exact_literal(pattern: &str) -> String {
    regex_flavour::slash_literal(pattern, "")
}

fn contains_ignoring_case(one: &RunsightAssertion<'_>, _: &str, _: &mut Lowering<'_>) -> Option<MappedSentence> {
    if !one.negated {
        return Some(contains_sentence(one, one.value_text(), "icontains", "", ""));
    }
    let lower = RunsightAssertion { text: format!("lower({})", one.text), ..copy_assertion(one) };
    Some(contains_sentence(&lower, one.value_text().to_lowercase(), "contains", "", ""))
}

fn copy_assertion<'a>(one: &RunsightAssertion<'a>) -> RunsightAssertion<'a> {
    RunsightAssertion {
        node: one.node,
        text: one.text.clone(),
        subject: one.subject,
        negated: one.negated,
        value: one.value,
    }
}

/// Compares as text, or as JSON if both are JSON (as documented); the newest release requires a mode.
fn equals_sentence(one: &RunsightAssertion<'_>, _: &str, lowering: &mut Lowering<'_>) -> Option<MappedSentence> {
    let value = one.value_text();
    let mode = match one.node.get("config") {
        None => None,
        Some(config) if config.is_null() || config.is_map() && config.entries().is_empty() => None,
        Some(config) => {
            if !lowering.sink.check_keys(config, "`config` of `equals`", &["mode"]) {
                return None;
            }
            match config.get("mode").map(|mode| (mode, mode.as_text())) {
                Some((_, Some("string"))) => Some(false),
                Some((_, Some("json"))) => Some(true),
                Some((mode, _)) => {
                    lowering.sink.unknown_word(mode, "mode of `equals`", &["string", "json"]);
                    return None;
                }
                None => None,
            }
        }
    };
    let json = serde_json::from_str::<serde_json::Value>(&value).is_ok();
    Some(match mode {
        Some(true) => as_json(one, &value),
        None if json && !lowering.options.newest => json_or_text(one, &value),
        _ => as_text(one, &value),
    })
}

fn as_text(one: &RunsightAssertion<'_>, value: &str) -> MappedSentence {
    let place = one.key_span("value");
    match one.negated {
        false => surround_piece(format!("{} == ", one.text), place, quote_text(value), ""),
        true => surround_piece(
            format!("{} not matches ", one.text),
            place,
            exact_literal(&format!("\\A{}\\z", escape_regex(value))),
            "",
        ),
    }
}

fn as_json(one: &RunsightAssertion<'_>, value: &str) -> MappedSentence {
    let (place, expected) = (one.key_span("value"), format!("json({})", quote_text(value)));
    match one.negated {
        false => surround_piece(format!("json({}) == ", one.text), place, expected, ""),
        true => surround_piece(format!("{} is not json or json({}) != ", one.text, one.text), place, expected, ""),
    }
}

/// Compares as JSON if the output is JSON, otherwise as text.
fn json_or_text(one: &RunsightAssertion<'_>, value: &str) -> MappedSentence {
    let (place, expected) = (one.key_span("value"), format!("json({})", quote_text(value)));
    let text = match one.negated {
        false => format!("{} == {}", one.text, quote_text(value)),
        true => format!("{} not matches {}", one.text, exact_literal(&format!("\\A{}\\z", escape_regex(value)))),
    };
    let sign = if one.negated { "!=" } else { "==" };
    let before = format!("if {} is json then json({}) {sign} ", one.text, one.text);
    surround_piece(before, place, expected, &format!(" else {text}"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequiredShare {
    All,
    Any,
}

fn contains_several(
    one: &RunsightAssertion<'_>,
    share: RequiredShare,
    lowering: &mut Lowering<'_>,
) -> Option<MappedSentence> {
    let texts: Vec<String> = match one.value.map(|value| (value, &value.value)) {
        None | Some((_, YamlValue::Null)) => Vec::new(),
        // In Runsight, a text counts as the list of its characters, and a mapping as the list of its keys.
        Some((_, YamlValue::Text(text))) => text.chars().map(String::from).collect(),
        Some((_, YamlValue::List(items))) => items.iter().map(python_text).collect(),
        Some((_, YamlValue::Map(entries))) => entries.iter().map(|(key, _)| key.key_text()).collect(),
        Some((value, _)) => {
            lowering.sink.wrong_shape(value, "`value`", "a list of texts");
            return None;
        }
    };
    let place = one.key_span("value");
    let wanted: Vec<&String> = texts.iter().filter(|text| !text.is_empty()).collect();
    let always = match share {
        RequiredShare::All => wanted.is_empty(),
        RequiredShare::Any => wanted.len() < texts.len(),
    };
    let word = match share {
        _ if always => {
            if one.negated {
                " is missing"
            } else {
                " exists"
            }
        }
        RequiredShare::Any if texts.is_empty() => {
            if one.negated {
                " exists"
            } else {
                " is missing"
            }
        }
        _ => "",
    };
    if !word.is_empty() {
        // If the transform finds nothing, the assertion fails.
        let never = !one.negated && word == " is missing" && one.text != one.subject.output;
        let before = if never { format!("{} exists and {}", one.text, one.text) } else { one.text.clone() };
        return Some(surround_piece(before, place, word.to_owned(), ""));
    }
    Some(match (share, one.negated) {
        (share, false) => {
            let word = if share == RequiredShare::All { "all" } else { "any" };
            let list = wanted.iter().map(|text| quote_text(text)).collect::<Vec<_>>().join(", ");
            surround_piece(format!("{} contains {word} ", one.text), place, format!("[{list}]"), "")
        }
        (RequiredShare::Any, true) => {
            let pattern = wanted.iter().map(|text| escape_regex(text)).collect::<Vec<_>>().join("|");
            surround_piece(format!("{} not matches ", one.text), place, exact_literal(&pattern), "")
        }
        (RequiredShare::All, true) => {
            let missing =
                wanted.iter().map(|text| format!("{} not matches {}", one.text, exact_literal(&escape_regex(text))));
            surround_piece("", place, missing.collect::<Vec<_>>().join(" or "), "")
        }
    })
}

fn regex_sentence(one: &RunsightAssertion<'_>, _: &str, lowering: &mut Lowering<'_>) -> Option<MappedSentence> {
    let pattern = one.value_text();
    let place = one.key_span("value");
    match translate_python(&pattern, PyRegexFlags::default()) {
        Ok(literal) => {
            let test = if one.negated { "not matches" } else { "matches" };
            Some(MappedSentence::default().add_text(format!("{} {test} ", one.text)).add_regex(place, &literal))
        }
        Err(UnusableRegex { at, why }) => {
            let message = format!("`{pattern}` is no regular expression of Python: {why}, from byte {at} on");
            lowering.sink.error(Slug::BadRegex, place, message, "mend the expression");
            None
        }
    }
}

fn word_count(one: &RunsightAssertion<'_>, _: &str, lowering: &mut Lowering<'_>) -> Option<MappedSentence> {
    let count = format!("word_count({})", one.text);
    let place = one.key_span("value");
    match one.value.map(|value| (value, &value.value)) {
        Some((_, YamlValue::Bool(value))) => {
            Some(compare_sentence(one, &count, "==", place, u8::from(*value).to_string()))
        }
        Some((_, YamlValue::Number(number))) if !number.contains(['.', 'e', 'E']) => {
            Some(compare_sentence(one, &count, "==", place, number.clone()))
        }
        Some((value, YamlValue::Map(_))) => between_bounds(one, &count, value, lowering),
        Some((value, _)) => {
            lowering.sink.wrong_shape(value, "`value` of `word-count`", "a whole number, or `{min: 5, max: 20}`");
            None
        }
        None => {
            let help = "write `value: 5`, or `value: {min: 5, max: 20}`";
            lowering.sink.error(Slug::TypeMismatch, place, "`word-count` has no `value`", help);
            None
        }
    }
}

fn between_bounds(
    one: &RunsightAssertion<'_>,
    count: &str,
    bounds: &YamlNode,
    lowering: &mut Lowering<'_>,
) -> Option<MappedSentence> {
    if !lowering.sink.check_keys(bounds, "`value` of `word-count`", &["min", "max"]) {
        return None;
    }
    let mut parts = Vec::new();
    let mut numbers = Vec::new();
    for (key, sign, opposite) in [("min", ">=", "<"), ("max", "<=", ">")] {
        let Some(bound) = bounds.get(key).filter(|bound| !bound.is_null()) else { continue };
        let number = match &bound.value {
            YamlValue::Number(number) => number.clone(),
            YamlValue::Bool(value) => u8::from(*value).to_string(),
            _ => {
                lowering.sink.wrong_shape(bound, &format!("`{key}` of `word-count`"), "a number");
                return None;
            }
        };
        numbers.push(number.parse::<f64>().unwrap_or_default());
        parts.push(format!("{count} {} {number}", if one.negated { opposite } else { sign }));
    }
    if let [least, most] = numbers.as_slice()
        && least > most
    {
        let message = "`min` is above `max`";
        lowering.sink.error(Slug::Impossible, bounds.span, message, "write the smaller number after `min`");
        return None;
    }
    let text = match (parts.is_empty(), one.negated) {
        (true, false) => format!("{} exists", one.text),
        (true, true) => format!("{} is missing", one.text),
        (false, false) => parts.join(" and "),
        (false, true) => parts.join(" or "),
    };
    Some(surround_piece("", bounds.span, text, ""))
}

fn json_sentence(
    one: &RunsightAssertion<'_>,
    test: &str,
    schema: &str,
    lowering: &mut Lowering<'_>,
) -> Option<MappedSentence> {
    let schema = match one.value.map(|value| (value, &value.value)) {
        None | Some((_, YamlValue::Null)) => String::new(),
        Some((_, YamlValue::Map(_) | YamlValue::Bool(_))) => format!(" {schema}"),
        Some((value, _)) => {
            lowering.sink.wrong_shape(value, "the schema", "a JSON Schema");
            return None;
        }
    };
    let sentence = format!("{} {test} json{schema}", one.text);
    Some(MappedSentence::default().add_text(if one.negated { format!("not ({sentence})") } else { sentence }))
}

/// Writes a test for JSON in the text. With a schema, the first JSON value has to match it.
fn contains_json(one: &RunsightAssertion<'_>, schema: &str, lowering: &mut Lowering<'_>) -> Option<MappedSentence> {
    match one.value {
        Some(value) if !value.is_null() && (value.is_map() || value.as_boolean().is_some()) => {
            let test = if one.negated { "is not" } else { "is" };
            Some(MappedSentence::default().add_text(format!("first_json({}) {test} {schema}", one.text)))
        }
        _ => json_sentence(one, "contains", schema, lowering),
    }
}
