//! The fifteen types of assertions, each with the sentence that says it.

use super::asserted::{Asserted, plain_number};
use super::path::python_text;
use crate::Lowering;
use crate::regex_flavour::{self, Flags, Unusable, python};
use crate::writer::{Sentence, quoted};
use crate::yaml::{Node, Value};
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

type Lower = fn(&Asserted<'_>, &str, &mut Lowering<'_>) -> Option<Sentence>;

/// What an assertion of a type says.
pub(super) const KINDS: &[(&str, Lower)] = &[
    ("equals", equals),
    ("contains", |one, _, _| Some(within(one, one.value_text(), "contains", "", ""))),
    ("icontains", icontains),
    ("contains-all", |one, _, lowering| several(one, Share::All, lowering)),
    ("contains-any", |one, _, lowering| several(one, Share::Any, lowering)),
    ("starts-with", |one, _, _| Some(within(one, one.value_text(), "starts with", "\\A", ""))),
    ("regex", regex),
    ("word-count", word_count),
    ("is-json", |one, schema, lowering| json(one, "is", schema, lowering)),
    ("contains-json", contains_json),
    ("cost", |one, _, lowering| {
        let most = threshold(one, "0", lowering)?;
        Some(compared(one, &one.subject.cost, "<=", one.place("threshold"), money(&most)))
    }),
    ("latency", |one, _, lowering| {
        let most = threshold(one, "0", lowering)?;
        Some(compared(one, &one.subject.duration, "<=", one.place("threshold"), format!("{}ms", plain_number(&most))))
    }),
    ("levenshtein", |one, _, lowering| {
        let most = threshold(one, "5", lowering)?;
        let distance = format!("levenshtein({}, {})", one.text, quoted(&one.value_text()));
        Some(compared(one, &distance, "<=", one.place("threshold"), most))
    }),
    ("bleu", |one, _, lowering| similar(one, "bleu", "", "0.5", lowering)),
    ("rouge-n", |one, _, lowering| similar(one, "rouge_n", ", 1", "0.75", lowering)),
];

/// Text in front of a piece that is made of a place, and text behind it.
fn around(before: impl Into<String>, place: Span, piece: String, behind: &str) -> Sentence {
    Sentence::default().put(before).put_of(place, piece).put(behind)
}

/// A comparison, or its opposite.
fn compared(one: &Asserted<'_>, left: &str, sign: &str, place: Span, right: String) -> Sentence {
    let opposite = match sign {
        "<=" => ">",
        ">=" => "<",
        _ => "!=",
    };
    around(format!("{left} {} ", if one.negated { opposite } else { sign }), place, right, "")
}

/// A measure of likeness: its value is the score, also of its opposite.
fn similar(
    one: &Asserted<'_>,
    function: &str,
    more: &str,
    least: &str,
    lowering: &mut Lowering<'_>,
) -> Option<Sentence> {
    let least = threshold(one, least, lowering)?;
    let measure = format!("{function}({}, {}{more})", one.text, quoted(&one.value_text()));
    Some(compared(one, &measure, ">=", one.place("threshold"), least))
}

/// The threshold as a number.
fn threshold(one: &Asserted<'_>, usual: &str, lowering: &mut Lowering<'_>) -> Option<String> {
    match one.node.get("threshold").map(|node| (node, &node.value)) {
        None | Some((_, Value::Null)) => Some(usual.to_owned()),
        Some((_, Value::Number(number))) => Some(number.clone()),
        Some((_, Value::Bool(value))) => Some(u8::from(*value).to_string()),
        Some((node, _)) => {
            lowering.said.shape(node, "`threshold`", "a number");
            None
        }
    }
}

/// An amount, without an exponent and with its sign in front.
fn money(number: &str) -> String {
    let plain = plain_number(number);
    match plain.strip_prefix('-') {
        Some(digits) => format!("-${digits}"),
        None => format!("${plain}"),
    }
}

/// Text that is looked for, letter by letter. The opposite is said by an expression: it does not hold either where a text merely looks alike.
fn within(one: &Asserted<'_>, value: String, test: &str, from: &str, to: &str) -> Sentence {
    let place = one.place("value");
    match (value.is_empty(), one.negated) {
        // Every text holds the empty one.
        (true, false) => around(one.text.clone(), place, " exists".to_owned(), ""),
        (true, true) => around(one.text.clone(), place, " is missing".to_owned(), ""),
        (false, false) => around(format!("{} {test} ", one.text), place, quoted(&value), ""),
        (false, true) => {
            let literal = exact(&format!("{from}{}{to}", escaped(&value)));
            around(format!("{} not matches ", one.text), place, literal, "")
        }
    }
}

/// An expression that finds a text as it is.
fn escaped(text: &str) -> String {
    regex_syntax::escape(text)
}

/// A regular expression of the language's own syntax as a literal.
fn exact(pattern: &str) -> String {
    regex_flavour::written(pattern, "")
}

fn icontains(one: &Asserted<'_>, _: &str, _: &mut Lowering<'_>) -> Option<Sentence> {
    if !one.negated {
        return Some(within(one, one.value_text(), "icontains", "", ""));
    }
    let lower = Asserted { text: format!("lower({})", one.text), ..copy(one) };
    Some(within(&lower, one.value_text().to_lowercase(), "contains", "", ""))
}

fn copy<'a>(one: &Asserted<'a>) -> Asserted<'a> {
    Asserted { node: one.node, text: one.text.clone(), subject: one.subject, negated: one.negated, value: one.value }
}

/// As a text, or as JSON where both sides are: the documents promise both; the newest release asks for a mode.
fn equals(one: &Asserted<'_>, _: &str, lowering: &mut Lowering<'_>) -> Option<Sentence> {
    let value = one.value_text();
    let mode = match one.node.get("config") {
        None => None,
        Some(config) if config.is_null() || config.is_map() && config.entries().is_empty() => None,
        Some(config) => {
            if !lowering.said.keys(config, "`config` of `equals`", &["mode"]) {
                return None;
            }
            match config.get("mode").map(|mode| (mode, mode.text())) {
                Some((_, Some("string"))) => Some(false),
                Some((_, Some("json"))) => Some(true),
                Some((mode, _)) => {
                    lowering.said.unknown_word(mode, "mode of `equals`", &["string", "json"]);
                    return None;
                }
                None => None,
            }
        }
    };
    let json = serde_json::from_str::<serde_json::Value>(&value).is_ok();
    Some(match mode {
        Some(true) => as_json(one, &value),
        None if json && !lowering.options.newest => either(one, &value),
        _ => as_text(one, &value),
    })
}

fn as_text(one: &Asserted<'_>, value: &str) -> Sentence {
    let place = one.place("value");
    match one.negated {
        false => around(format!("{} == ", one.text), place, quoted(value), ""),
        true => around(format!("{} not matches ", one.text), place, exact(&format!("\\A{}\\z", escaped(value))), ""),
    }
}

fn as_json(one: &Asserted<'_>, value: &str) -> Sentence {
    let (place, expected) = (one.place("value"), format!("json({})", quoted(value)));
    match one.negated {
        false => around(format!("json({}) == ", one.text), place, expected, ""),
        true => around(format!("{} is not json or json({}) != ", one.text, one.text), place, expected, ""),
    }
}

/// As JSON where the output is, otherwise as text.
fn either(one: &Asserted<'_>, value: &str) -> Sentence {
    let (place, expected) = (one.place("value"), format!("json({})", quoted(value)));
    let text = match one.negated {
        false => format!("{} == {}", one.text, quoted(value)),
        true => format!("{} not matches {}", one.text, exact(&format!("\\A{}\\z", escaped(value)))),
    };
    let sign = if one.negated { "!=" } else { "==" };
    let before = format!("if {} is json then json({}) {sign} ", one.text, one.text);
    around(before, place, expected, &format!(" else {text}"))
}

/// How many of several texts have to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    All,
    Any,
}

fn several(one: &Asserted<'_>, share: Share, lowering: &mut Lowering<'_>) -> Option<Sentence> {
    let texts: Vec<String> = match one.value.map(|value| (value, &value.value)) {
        None | Some((_, Value::Null)) => Vec::new(),
        // A text stands for its characters there, a mapping for its keys.
        Some((_, Value::Text(text))) => text.chars().map(String::from).collect(),
        Some((_, Value::List(items))) => items.iter().map(python_text).collect(),
        Some((_, Value::Map(entries))) => entries.iter().map(|(key, _)| key.key()).collect(),
        Some((value, _)) => {
            lowering.said.shape(value, "`value`", "a list of texts");
            return None;
        }
    };
    let place = one.place("value");
    let wanted: Vec<&String> = texts.iter().filter(|text| !text.is_empty()).collect();
    let always = match share {
        Share::All => wanted.is_empty(),
        Share::Any => wanted.len() < texts.len(),
    };
    let word = match share {
        _ if always => {
            if one.negated {
                " is missing"
            } else {
                " exists"
            }
        }
        Share::Any if texts.is_empty() => {
            if one.negated {
                " exists"
            } else {
                " is missing"
            }
        }
        _ => "",
    };
    if !word.is_empty() {
        return Some(around(one.text.clone(), place, word.to_owned(), ""));
    }
    Some(match (share, one.negated) {
        (share, false) => {
            let word = if share == Share::All { "all" } else { "any" };
            let list = wanted.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ");
            around(format!("{} contains {word} ", one.text), place, format!("[{list}]"), "")
        }
        (Share::Any, true) => {
            let pattern = wanted.iter().map(|text| escaped(text)).collect::<Vec<_>>().join("|");
            around(format!("{} not matches ", one.text), place, exact(&pattern), "")
        }
        (Share::All, true) => {
            let missing = wanted.iter().map(|text| format!("{} not matches {}", one.text, exact(&escaped(text))));
            around("", place, missing.collect::<Vec<_>>().join(" or "), "")
        }
    })
}

fn regex(one: &Asserted<'_>, _: &str, lowering: &mut Lowering<'_>) -> Option<Sentence> {
    let pattern = one.value_text();
    let place = one.place("value");
    match python(&pattern, Flags::default()) {
        Ok(literal) => {
            let test = if one.negated { "not matches" } else { "matches" };
            Some(Sentence::default().put(format!("{} {test} ", one.text)).regex(place, &literal))
        }
        Err(Unusable { at, why }) => {
            let message = format!("`{pattern}` is no regular expression of Python: {why}, from byte {at} on");
            lowering.said.error(Slug::BadRegex, place, message, "mend the expression");
            None
        }
    }
}

fn word_count(one: &Asserted<'_>, _: &str, lowering: &mut Lowering<'_>) -> Option<Sentence> {
    let count = format!("word_count({})", one.text);
    let place = one.place("value");
    match one.value.map(|value| (value, &value.value)) {
        Some((_, Value::Bool(value))) => Some(compared(one, &count, "==", place, u8::from(*value).to_string())),
        Some((_, Value::Number(number))) if !number.contains(['.', 'e', 'E']) => {
            Some(compared(one, &count, "==", place, number.clone()))
        }
        Some((value, Value::Map(_))) => between(one, &count, value, lowering),
        Some((value, _)) => {
            lowering.said.shape(value, "`value` of `word-count`", "a whole number, or `{min: 5, max: 20}`");
            None
        }
        None => {
            let help = "write `value: 5`, or `value: {min: 5, max: 20}`";
            lowering.said.error(Slug::TypeMismatch, place, "`word-count` has no `value`", help);
            None
        }
    }
}

fn between(one: &Asserted<'_>, count: &str, bounds: &Node, lowering: &mut Lowering<'_>) -> Option<Sentence> {
    if !lowering.said.keys(bounds, "`value` of `word-count`", &["min", "max"]) {
        return None;
    }
    let mut parts = Vec::new();
    let mut numbers = Vec::new();
    for (key, sign, opposite) in [("min", ">=", "<"), ("max", "<=", ">")] {
        let Some(bound) = bounds.get(key).filter(|bound| !bound.is_null()) else { continue };
        let number = match &bound.value {
            Value::Number(number) => number.clone(),
            Value::Bool(value) => u8::from(*value).to_string(),
            _ => {
                lowering.said.shape(bound, &format!("`{key}` of `word-count`"), "a number");
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
        lowering.said.error(Slug::Impossible, bounds.span, message, "write the smaller number behind `min`");
        return None;
    }
    let text = match (parts.is_empty(), one.negated) {
        (true, false) => format!("{} exists", one.text),
        (true, true) => format!("{} is missing", one.text),
        (false, false) => parts.join(" and "),
        (false, true) => parts.join(" or "),
    };
    Some(around("", bounds.span, text, ""))
}

/// `is json`, with the schema that is declared for it.
fn json(one: &Asserted<'_>, test: &str, schema: &str, lowering: &mut Lowering<'_>) -> Option<Sentence> {
    let schema = match one.value.map(|value| (value, &value.value)) {
        None | Some((_, Value::Null)) => String::new(),
        Some((_, Value::Map(_) | Value::Bool(_))) => format!(" {schema}"),
        Some((value, _)) => {
            lowering.said.shape(value, "the schema", "a JSON Schema");
            return None;
        }
    };
    let sentence = format!("{} {test} json{schema}", one.text);
    Some(Sentence::default().put(if one.negated { format!("not ({sentence})") } else { sentence }))
}

/// With a schema the first JSON of the text has to fit it, whatever else stands there.
fn contains_json(one: &Asserted<'_>, schema: &str, lowering: &mut Lowering<'_>) -> Option<Sentence> {
    match one.value {
        Some(value) if !value.is_null() && (value.is_map() || value.boolean().is_some()) => {
            let test = if one.negated { "is not" } else { "is" };
            Some(Sentence::default().put(format!("first_json({}) {test} {schema}", one.text)))
        }
        _ => json(one, "contains", schema, lowering),
    }
}
