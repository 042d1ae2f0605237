//! Functions over lists and objects.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult, borrowed_text, first_gap};
use super::detect::redacted_start;
use super::text_order::{TextOrder, order_values};
use averment_base::limits::{FuelMeter, LimitError};
use averment_base::value::compare::{ValueKey, compare_values, values_equal};
use averment_base::value::notation::notation_with;
use averment_base::value::{Node, Number, Object, ObjectEntry, Value};
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher};

/// Maximum length of a value in a message.
const SHOWN: usize = 60;

/// Returns the numbers of a list, or the overall result if one is not a number.
fn collect_numbers<'run>(
    items: &[Node<'run>],
    meter: &mut FuelMeter,
) -> Result<Result<Vec<Number<'run>>, Value<'run>>, LimitError> {
    meter.charge_fuel(items.len() as u64)?;
    if let Some(value) = first_gap(items) {
        return Ok(Err(value));
    }
    let number = |item: &Node<'run>| match item.value {
        Value::Number(number) => Some(number),
        _ => None,
    };
    Ok(items.iter().map(number).collect::<Option<Vec<_>>>().ok_or(Value::Missing))
}

fn over_numbers<'run>(
    call: &mut BuiltinCall<'_, 'run>,
    compute: impl FnOnce(Vec<Number<'run>>) -> Option<Number<'run>>,
) -> BuiltinResult<'run> {
    call.look_through(0)?;
    match collect_numbers(call.list_argument(0), call.meter)? {
        Ok(numbers) => call.give_number(compute(numbers)),
        Err(value) => Ok(Node::computed(value)),
    }
}

/// Sums numbers from left to right. Integers stay exact if they fit.
fn sum_numbers<'run>(numbers: &[Number<'run>]) -> Option<Number<'run>> {
    match numbers.split_first() {
        None => Some(Number::Integer(0)),
        Some((&first, rest)) => rest.iter().try_fold(first, |sum, &number| sum.add(number)),
    }
}

pub(super) fn sum<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    over_numbers(call, |numbers| sum_numbers(&numbers))
}

pub(super) fn avg<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    over_numbers(call, |numbers| sum_numbers(&numbers)?.divide(Number::from_count(numbers.len())))
}

pub(super) fn median<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    over_numbers(call, |mut numbers| {
        numbers.sort_by(|a, b| a.compare(*b));
        let middle = numbers.len() / 2;
        let upper = *numbers.get(middle)?;
        if numbers.len() % 2 == 1 {
            return Some(upper);
        }
        numbers.get(middle.checked_sub(1)?)?.add(upper)?.divide(Number::Integer(2))
    })
}

pub(super) fn percentile<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let share = call.number_argument(1).to_f64();
    if !(0.0..=1.0).contains(&share) {
        return call.give_missing();
    }
    over_numbers(call, |mut numbers| {
        numbers.sort_by(|a, b| a.compare(*b));
        interpolate_share(&numbers, share)
    })
}

/// Interpolates linearly between sorted numbers.
fn interpolate_share<'run>(sorted: &[Number<'run>], share: f64) -> Option<Number<'run>> {
    let last = sorted.len().checked_sub(1)?;
    #[expect(clippy::cast_precision_loss, reason = "no list is so long that its length is not exact")]
    let position = share * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the length of the list")]
    let below = position.floor() as usize;
    let fraction = position - position.floor();
    let lower = *sorted.get(below)?;
    if fraction == 0.0 {
        return Some(lower);
    }
    let (low, high) = (lower.to_f64(), sorted.get(below.checked_add(1)?)?.to_f64());
    Number::from_f64(low + (high - low) * fraction)
}

/// Returns the cosine similarity; missing if lengths differ, a list is empty, or one is a zero vector.
pub(super) fn cosine<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    call.look_through(0)?;
    call.look_through(1)?;
    let (left, right) = match (
        collect_numbers(call.list_argument(0), call.meter)?,
        collect_numbers(call.list_argument(1), call.meter)?,
    ) {
        (Ok(left), Ok(right)) => (left, right),
        (Err(value), _) | (_, Err(value)) => return Ok(Node::computed(value)),
    };
    if left.len() != right.len() {
        return call.give_missing();
    }
    let dot = |left: &[Number<'run>], right: &[Number<'run>]| -> f64 {
        left.iter().zip(right).map(|(left, right)| left.to_f64() * right.to_f64()).sum()
    };
    let cosine = dot(&left, &right) / (dot(&left, &left).sqrt() * dot(&right, &right).sqrt());
    call.give_number(Number::from_f64(cosine))
}

pub(super) fn min<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    find_extreme(call, Ordering::Less)
}

pub(super) fn max<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    find_extreme(call, Ordering::Greater)
}

/// Returns the extreme element. Of equal extremes, it is the first one.
fn find_extreme<'run>(call: &mut BuiltinCall<'_, 'run>, direction: Ordering) -> BuiltinResult<'run> {
    let items = call.list_argument(0);
    call.meter.charge_fuel(items.len() as u64)?;
    call.look_through(0)?;
    if let Some(value) = first_gap(items) {
        return Ok(Node::computed(value));
    }
    let Some((&first, rest)) = items.split_first() else { return call.give_missing() };
    // A single value must also be of an ordered type.
    if compare_values(&first.value, &first.value).is_none() {
        return call.give_missing();
    }
    let mut best = first;
    for item in rest {
        match order_values(&item.value, &best.value) {
            Some(ordering) if ordering == direction => best = *item,
            Some(_) => {}
            None => return call.give_missing(),
        }
    }
    Ok(best)
}

pub(super) fn distinct<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let items = call.list_argument(0);
    call.meter.charge_fuel((items.len() as u64).saturating_mul(4))?;
    call.look_through(0)?;
    // SipHash: a trace must not be able to choose values that collide easily.
    let mut seen: HashSet<ValueKey<'_>, BuildHasherDefault<DefaultHasher>> = HashSet::default();
    call.give_list(items.iter().copied().filter(|item| seen.insert(ValueKey(item.value))))
}

pub(super) fn f1<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let (values, wanted) = (element_list(call, 0)?, element_list(call, 1)?);
    if let Some(value) = first_gap(values).or_else(|| first_gap(wanted)) {
        return Ok(Node::computed(value));
    }
    let all = values.len().saturating_add(wanted.len());
    call.meter.charge_fuel((all as u64).saturating_mul(4))?;
    call.look_through(0)?;
    call.look_through(1)?;
    // SipHash: a trace must not be able to choose values that collide easily.
    let mut open: HashMap<ValueKey<'_>, usize, BuildHasherDefault<DefaultHasher>> = HashMap::default();
    for item in wanted {
        let count = open.entry(ValueKey(item.value)).or_default();
        *count = count.saturating_add(1);
    }
    let mut shared = 0_usize;
    for item in values {
        if let Some(left) = open.get_mut(&ValueKey(item.value)).filter(|left| **left > 0) {
            *left = left.saturating_sub(1);
            shared = shared.saturating_add(1);
        }
    }
    if all == 0 {
        // Neither side has elements, so the result is vacuous.
        return Ok(Node::from_nowhere(Value::Number(Number::Integer(1))));
    }
    call.give_real(2.0 * shared as f64 / all as f64)
}

/// Returns the elements of a list, or the words of a text: its runs of letters and digits, in lower case.
fn element_list<'run>(call: &mut BuiltinCall<'_, 'run>, position: usize) -> Result<&'run [Node<'run>], LimitError> {
    let Value::Text(text) = call.argument_node(position).value else { return Ok(call.list_argument(position)) };
    let text = text.as_str();
    call.meter.charge_scan(text.len())?;
    call.meter.charge_memory(text.len().saturating_mul(2))?;
    let folded: &'run str = call.arena.alloc_str(&text.to_lowercase());
    let words = folded.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    match call.give_list(words.map(borrowed_text))?.value {
        Value::List(words) => Ok(words),
        _ => Ok(&[]),
    }
}

pub(super) fn sort<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let items = call.list_argument(0);
    if let Some(value) = first_gap(items) {
        return Ok(Node::computed(value));
    }
    let steps = u64::from(items.len().max(1).ilog2()).saturating_add(1);
    call.meter.charge_fuel((items.len() as u64).saturating_mul(steps))?;
    call.look_through(0)?;
    let orderable = |kind: fn(&Value<'_>) -> bool| items.iter().all(|item| kind(&item.value));
    if !orderable(|value| matches!(value, Value::Number(_))) && !orderable(|value| matches!(value, Value::Text(_))) {
        return call.give_missing();
    }
    let mut sorted = items.to_vec();
    let texts = items.iter().filter_map(|item| match item.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let Some(order) = TextOrder::shared(texts) else { return call.give_missing() };
    // All elements use the same order, because mixing orders could give a cycle.
    sorted.sort_by(|a, b| match (a.value, b.value) {
        (Value::Text(a), Value::Text(b)) => order.compare_fully(a.as_str(), b.as_str()),
        (a, b) => compare_values(&a, &b).unwrap_or(Ordering::Equal),
    });
    let in_order = |pair: &[Node<'_>]| match pair {
        [a, b] => order_values(&a.value, &b.value).is_some(),
        _ => true,
    };
    if order == TextOrder::Letters && !sorted.windows(2).all(in_order) {
        return call.give_missing();
    }
    call.give_list(sorted)
}

pub(super) fn reverse<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    match call.argument_node(0).value {
        Value::List(items) => call.give_list(items.iter().rev().copied()),
        _ => {
            let text = call.text_argument(0);
            call.meter.charge_scan(text.len())?;
            call.give_text(&text.chars().rev().collect::<String>())
        }
    }
}

pub(super) fn flatten<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let items = call.list_argument(0);
    call.give_list(items.iter().flat_map(|item| {
        match item.value {
            Value::List(inner) => inner,
            _ => std::slice::from_ref(item),
        }
        .iter()
        .copied()
    }))
}

pub(super) fn first<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    Ok(call.list_argument(0).first().copied().unwrap_or(Node::computed(Value::Missing)))
}

pub(super) fn last<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    Ok(call.list_argument(0).last().copied().unwrap_or(Node::computed(Value::Missing)))
}

pub(super) fn contains_in_order<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let (values, wanted) = (call.list_argument(0), call.list_argument(1));
    let mut left = values.iter();
    for item in wanted {
        loop {
            call.meter.charge_fuel(1)?;
            match left.next() {
                Some(value) if wanted_is(call, &value.value, &item.value)? => break,
                Some(_) => {}
                None => return call.give_boolean(false),
            }
        }
    }
    call.give_boolean(true)
}

/// Explains why a list does not contain others in this order: names the first element that does not come after the previous ones. `None` if one is a
/// regular expression.
#[must_use]
pub fn order_gap(arguments: &[Node<'_>]) -> Option<String> {
    let [Node { value: Value::List(values), .. }, Node { value: Value::List(wanted), .. }, ..] = arguments else {
        return None;
    };
    let shown = |value: &Value<'_>| notation_with(value, SHOWN, redacted_start);
    let mut left = values.iter();
    let mut before = None;
    for item in *wanted {
        if matches!(item.value, Value::Regex(_)) {
            return None;
        }
        if !left.any(|value| values_equal(&value.value, &item.value)) {
            let behind = before.map_or_else(String::new, |before| format!(" behind {}", shown(before)));
            return Some(format!("has no {}{behind}", shown(&item.value)));
        }
        before = Some(&item.value);
    }
    None
}

fn wanted_is<'run>(
    call: &mut BuiltinCall<'_, 'run>,
    value: &Value<'run>,
    wanted: &Value<'run>,
) -> Result<bool, LimitError> {
    Ok(match (wanted, value) {
        (Value::Regex(number), Value::Text(text)) => {
            let Some(pattern) = call.program_regex(*number) else { return Ok(false) };
            pattern.is_match(text.as_str(), call.meter)?
        }
        (Value::Regex(_), _) => false,
        _ => {
            let weights = &call.cache.weights;
            let both = weights.weight_of(&Node::computed(*value)).min(weights.weight_of(&Node::computed(*wanted)));
            call.meter.charge_fuel(both / 64)?;
            values_equal(value, wanted)
        }
    })
}

pub(super) fn numbered<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let mut pairs = Vec::new();
    for (at, node) in call.list_argument(0).iter().enumerate() {
        call.meter.charge_fuel(1)?;
        call.meter.charge_memory(size_of::<[ObjectEntry<'_>; 2]>())?;
        let at = Number::Integer(i64::try_from(at).unwrap_or(i64::MAX));
        let entries = [
            ObjectEntry { key: "at", node: Node::computed(Value::Number(at)) },
            ObjectEntry { key: "value", node: *node },
        ];
        let object = Object::new(call.arena, call.arena.alloc_slice_copy(&entries));
        pairs.push(Node::computed(Value::Object(object)));
    }
    call.give_list(pairs)
}

pub(super) fn keys<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let Some(object) = call.object_argument(0) else { return call.give_missing() };
    call.give_list(object.entries().iter().map(|entry| borrowed_text(entry.key)))
}

pub(super) fn values<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let Some(object) = call.object_argument(0) else { return call.give_missing() };
    call.give_list(object.entries().iter().map(|entry| entry.node))
}
