//! Values that are known without a run, with JavaScript semantics.

use super::value::{JsValue, LocatedValue, RunExprKind, element_of, open_value};
use crate::writer::{object_key, quote_text};

/// Marks the flags of a regular expression that has a name, because such an object keeps its state between uses.
const KEPT: char = '#';

/// Reason why such a regular expression is not read.
pub(super) const KEEPS_PLACE: &str =
    "a regular expression with the flag `g` or `y` that remembers where it stopped: without the flag it is read";

/// True if a search starts where the previous one stopped.
pub(super) fn keeps_place(flags: &str) -> bool {
    flags.contains(KEPT) && flags.contains(['g', 'y'])
}

pub(super) fn with_its_place(value: JsValue) -> JsValue {
    match value {
        JsValue::Regex { pattern, flags } if !flags.contains(KEPT) => {
            JsValue::Regex { pattern, flags: format!("{flags}{KEPT}") }
        }
        value => value,
    }
}

/// True for characters that JavaScript's `trim` removes.
pub(super) fn is_js_space(letter: char) -> bool {
    letter == '\u{feff}' || letter != '\u{85}' && letter.is_whitespace()
}

/// Returns the truth of a value; `None` if it depends on a run.
pub(super) fn plain_truth(item: &LocatedValue) -> Option<bool> {
    match &item.value {
        JsValue::Undefined | JsValue::Null => Some(false),
        JsValue::Bool(value) => Some(*value),
        JsValue::Number(number) => Some(*number != 0.0 && !number.is_nan()),
        JsValue::Text(text) => Some(!text.is_empty()),
        JsValue::Regex { .. } | JsValue::List(_) | JsValue::Object(_) | JsValue::Builder(_) | JsValue::Function(..) => {
            Some(true)
        }
        JsValue::Api(_) | JsValue::RunExpr(_) | JsValue::RuntimeOnly(_) => None,
    }
}

/// Returns a value as text; `None` if it depends on a run.
pub(super) fn plain_text(item: &LocatedValue) -> Option<String> {
    match &item.value {
        JsValue::Text(text) => Some(text.clone()),
        JsValue::Number(number) => Some(number_text(*number)),
        JsValue::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

pub(super) fn number_text(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NaN".to_owned(),
        _ if number.is_infinite() => format!("{}Infinity", if number < 0.0 { "-" } else { "" }),
        _ if number == 0.0 => "0".to_owned(),
        _ => format!("{number}"),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough")]
pub(super) fn whole_number(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}

pub(super) fn parse_number(text: &str) -> Option<f64> {
    let plain: String = text.chars().filter(|letter| *letter != '_').collect();
    let lower = plain.to_ascii_lowercase();
    let of_base = |digits: &str, base| u32::from_str_radix(digits, base).ok().map(f64::from);
    for (mark, base) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = lower.strip_prefix(mark) {
            return of_base(digits, base);
        }
    }
    plain.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Evaluates `new RegExp(text, flags)`, also with a regular expression as argument.
pub(super) fn regex_of(arguments: &[LocatedValue]) -> JsValue {
    let flags = arguments.get(1).and_then(LocatedValue::as_text);
    match arguments.first().map(|first| &first.value) {
        Some(JsValue::Text(pattern)) => {
            JsValue::Regex { pattern: pattern.clone(), flags: flags.unwrap_or_default().to_owned() }
        }
        Some(JsValue::Regex { pattern, flags: own }) => {
            JsValue::Regex { pattern: pattern.clone(), flags: flags.unwrap_or(own).to_owned() }
        }
        _ => open_value("a regular expression that only a running program shows"),
    }
}

/// Evaluates `===`; returns `None` for objects.
pub(super) fn plain_equality(left: &LocatedValue, right: &LocatedValue) -> Option<bool> {
    Some(match (&left.value, &right.value) {
        (JsValue::Text(one), JsValue::Text(other)) => one == other,
        (JsValue::Number(one), JsValue::Number(other)) => one == other,
        (JsValue::Bool(one), JsValue::Bool(other)) => one == other,
        (JsValue::Null, JsValue::Null) | (JsValue::Undefined, JsValue::Undefined) => true,
        (one, other) if [one, other].iter().any(|value| is_object(value)) => return None,
        _ => false,
    })
}

/// True for an object, which equals only itself.
pub(super) fn is_object(value: &JsValue) -> bool {
    match value {
        JsValue::List(_) | JsValue::Object(_) | JsValue::Regex { .. } | JsValue::Function(..) => true,
        JsValue::RunExpr(told) => {
            matches!(told.kind, RunExprKind::Call | RunExprKind::Skill)
                || told.kind != RunExprKind::Any && element_of(told.kind).is_some()
        }
        _ => false,
    }
}

/// True for a part of the report, which a function can change for all later code.
pub(super) fn is_part_of_run(item: &LocatedValue) -> bool {
    use RunExprKind::{Agent, Call, Calls, Commands, Context, Files, Reads, Report, Runner, Skill, Skills, Usage};
    const PARTS: [RunExprKind; 12] =
        [Agent, Call, Calls, Commands, Context, Files, Reads, Report, Runner, Skill, Skills, Usage];
    matches!(&item.value, JsValue::RunExpr(told) if PARTS.contains(&told.kind))
}

/// Returns a value as a literal of the rule language.
pub(super) fn plain_literal(item: &LocatedValue) -> Option<String> {
    Some(match &item.value {
        JsValue::Null => "null".to_owned(),
        JsValue::Bool(value) => value.to_string(),
        JsValue::Number(number) => number_text(*number),
        JsValue::Text(text) => quote_text(text),
        JsValue::List(items) => {
            format!("[{}]", items.iter().map(plain_literal).collect::<Option<Vec<_>>>()?.join(", "))
        }
        JsValue::Object(entries) if entries.is_empty() => "{}".to_owned(),
        JsValue::Object(entries) => {
            let entry =
                |(key, item): &(String, LocatedValue)| Some(format!("{}: {}", object_key(key), plain_literal(item)?));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Option<Vec<_>>>()?.join(", "))
        }
        _ => return None,
    })
}
