//! The test `VALUE like PART`: compares values with an expected part.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult};
use super::detect::redacted_start;
use super::part_match::{IgnoredKeys, KeyPath, PartRules};
use averment_base::limits::Limits;
use averment_base::truth::Truth;
use averment_base::value::compare::with_deep_stack;
use averment_base::value::json::parse;
use averment_base::value::notation::notation_with;
use averment_base::value::{Node, Value};
use bumpalo::Bump;

/// Maximum length of a value in a message.
const SHOWN: usize = 60;

/// Maximum number of values that one comparison visits.
const MOST_COMPARED: usize = 2_000_000;
/// The words of the option for lists in any order.
pub const ANY_ORDER: &str = "in any order";
/// The word of the option that ignores case, white space and look-alike characters in texts.
pub const FOLDED: &str = "folded";

/// True if a value contains the part.
pub(super) fn is_like<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let arguments = [0, 1, 2, 3].map(|place| call.argument_node(place));
    let Some(rules) = part_rules(&arguments) else { return call.give_missing() };
    call.look_through(0)?;
    call.look_through(1)?;
    let (mut given, wanted) = (call.argument_node(0).value, call.argument_node(1).value);
    if let (Value::Text(text), Value::Object(_) | Value::List(_)) = (given, wanted) {
        match parse(text.as_str(), 0, call.arena, call.limits) {
            Ok(document) => given = document.node.value,
            Err(_) => return Ok(Node::computed(Value::Truth(Truth::FalseByMissing))),
        }
    }
    // A part that names no key fits every object, so the test is vacuous.
    let asks_nothing = matches!(wanted, Value::Object(part) if part.entries().iter().all(|entry| rules.ignored.has_key(entry.key, None)));
    let fit = match rules.value_fit(&wanted, &given, None) {
        Truth::True if asks_nothing => Truth::TrueByMissing,
        fit => fit,
    };
    if rules.is_exhausted() {
        call.meter.charge_fuel(u64::MAX)?;
    }
    call.meter.charge_fuel(rules.take_looked() as u64)?;
    Ok(Node::computed(match fit {
        Truth::Undecided => Value::Absent,
        fit => Value::Truth(fit),
    }))
}

/// Returns the comparison rules; `None` if a key is no text.
fn part_rules<'run>(arguments: &[Node<'run>]) -> Option<PartRules<'run>> {
    let keys = match arguments.get(2).map(|keys| keys.value) {
        Some(Value::List(keys)) => keys,
        _ => &[],
    };
    let texts = keys.iter().map(|key| match key.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let ignored = IgnoredKeys::new(texts.collect::<Option<Vec<&str>>>()?);
    let options = match arguments.get(3).map(|options| options.value) {
        Some(Value::Text(options)) => options.as_str(),
        _ => "",
    };
    Some(PartRules {
        open: true,
        any_order: options.contains(ANY_ORDER),
        folded: options.contains(FOLDED),
        ignored,
        budget: Some(MOST_COMPARED),
        ..PartRules::default()
    })
}

/// Explains why a value does not fit the part: the first difference, in words.
#[must_use]
pub fn like_difference(arguments: &[Node<'_>]) -> Option<String> {
    let rules = part_rules(arguments)?;
    let (given, wanted) = (arguments.first()?.value, arguments.get(1)?.value);
    let arena = Bump::new();
    if let (Value::Text(text), Value::Object(_) | Value::List(_)) = (&given, &wanted) {
        return Some(match parse(text.as_str(), 0, &arena, &Limits::default()) {
            Ok(document) => difference_at(&rules, &wanted, &document.node.value, None)?,
            Err(_) => "is a text that is no JSON".to_owned(),
        });
    }
    difference_at(&rules, &wanted, &given, None)
}

fn difference_at(
    rules: &PartRules<'_>,
    wanted: &Value<'_>,
    given: &Value<'_>,
    path: Option<&KeyPath<'_>>,
) -> Option<String> {
    let shown = |value: &Value<'_>| notation_with(value, SHOWN, redacted_start);
    let place = path.map_or_else(String::new, |path| format!(" at `{}`", path_words(path)));
    let (Value::Object(wanted), Value::Object(own)) = (wanted, given) else {
        return Some(format!("differs{place}: it is {}, expected {}", shown(given), shown(wanted)));
    };
    let entries = wanted.entries().iter().filter(|entry| !rules.ignored.has_key(entry.key, path));
    for entry in entries {
        let part = KeyPath { key: entry.key, outer: path };
        let Some(value) = own.get(entry.key) else {
            return Some(format!("has no `{}`, expected {}", path_words(&part), shown(&entry.node.value)));
        };
        if rules.value_fit(&entry.node.value, &value.value, Some(&part)).plain_answer() == Some(false) {
            return with_deep_stack(|| difference_at(rules, &entry.node.value, &value.value, Some(&part)));
        }
    }
    None
}

fn path_words(path: &KeyPath<'_>) -> String {
    let outer = path.outer.map_or_else(String::new, |outer| path_words(outer) + ".");
    outer + path.key
}

/// Returns the value itself as the score of the assertion, if it is between 0 and 1.
pub(super) fn score<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let value = call.number_argument(0).to_f64();
    if (0.0..=1.0).contains(&value) { Ok(call.argument_node(0)) } else { call.give_missing() }
}
