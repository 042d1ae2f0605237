//! Shrinking: smaller valid inputs to try when a large one fails.

use super::{CallInputs, InputSource};
use averment_checker::ir::{ValueKind, ValueSpec};
use serde_json::{Map, Value};

/// Maximum number of list elements and object members that are shrunk individually.
const LOOKED_AT: usize = 16;

impl CallInputs {
    /// Returns inputs that are smaller than these arguments, the smallest first; all of them are valid. Empty if there are none.
    #[must_use]
    pub fn smaller_inputs(&self, arguments: &Map<String, Value>) -> Vec<Map<String, Value>> {
        let mut found = Vec::new();
        for (name, value) in arguments {
            let spec = match &self.made_by {
                InputSource::Arguments(specs) => specs.iter().find(|(one, _)| one == name).map(|(_, spec)| spec),
                InputSource::Schema(_) => {
                    let mut without = arguments.clone();
                    without.remove(name);
                    found.push(without);
                    None
                }
            };
            for smaller in smaller_than(value, spec) {
                let mut other = arguments.clone();
                other.insert(name.clone(), smaller);
                found.push(other);
            }
        }
        if let InputSource::Schema(maker) = &self.made_by {
            found.retain(|arguments| maker.accepts_arguments(arguments));
        }
        found
    }
}

/// Returns smaller values, the smallest first, all within the bounds of the rules.
fn smaller_than(value: &Value, spec: Option<&ValueSpec>) -> Vec<Value> {
    let kind = spec.map(|spec| &spec.kind);
    match value {
        Value::Bool(true) => vec![Value::Bool(false)],
        Value::Number(number) => match number.as_i64() {
            Some(number) => {
                let (least, most) = match kind {
                    Some(ValueKind::Integer { least, most }) => (*least, *most),
                    _ => (None, None),
                };
                let target =
                    0.clamp(least.unwrap_or(i64::MIN), most.unwrap_or(i64::MAX).max(least.unwrap_or(i64::MIN)));
                numbers_between(number, target).into_iter().map(Value::from).collect()
            }
            None => number.as_f64().map_or_else(Vec::new, |number| shorter_fractions(number, kind)),
        },
        Value::String(text) => {
            let least = match kind {
                Some(ValueKind::Text { least, .. }) => least.unwrap_or(0),
                _ => 0,
            };
            let length = text.chars().count() as u64;
            let shorter =
                |length: u64| text.chars().take(usize::try_from(length).unwrap_or(usize::MAX)).collect::<String>();
            shorter_lengths(length, least).into_iter().map(|length| Value::String(shorter(length))).collect()
        }
        Value::Array(list) => fewer_elements(list, kind),
        Value::Object(members) => self::fewer_members(members),
        Value::Null | Value::Bool(false) => Vec::new(),
    }
}

fn numbers_between(number: i64, target: i64) -> Vec<i64> {
    let mut found = Vec::new();
    let mut distance = i128::from(number) - i128::from(target);
    while distance != 0 {
        let next = i128::from(number) - distance;
        found.extend(i64::try_from(next).ok());
        distance /= 2;
    }
    found
}

fn shorter_fractions(number: f64, kind: Option<&ValueKind>) -> Vec<Value> {
    let (least, most) = match kind {
        Some(ValueKind::Number { least, most }) => (least.unwrap_or(f64::MIN), most.unwrap_or(f64::MAX)),
        _ => (f64::MIN, f64::MAX),
    };
    let smaller = [0.0, number.trunc(), number / 2.0];
    let within = smaller.into_iter().map(|one| if least <= most { one.clamp(least, most) } else { one });
    let mut found: Vec<f64> = Vec::new();
    for one in within.filter(|one| one.abs() < number.abs()) {
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found.into_iter().map(Value::from).collect()
}

fn shorter_lengths(length: u64, least: u64) -> Vec<u64> {
    let (length, least) = (i64::try_from(length).unwrap_or(i64::MAX), i64::try_from(least).unwrap_or(i64::MAX));
    if length <= least {
        return Vec::new();
    }
    numbers_between(length, least).into_iter().filter_map(|length| u64::try_from(length).ok()).collect()
}

fn fewer_elements(list: &[Value], kind: Option<&ValueKind>) -> Vec<Value> {
    let (least, element) = match kind {
        Some(ValueKind::List { least, elements, .. }) => (least.unwrap_or(0), elements.as_deref()),
        _ => (0, None),
    };
    let shorter =
        shorter_lengths(list.len() as u64, least).into_iter().filter_map(|length| usize::try_from(length).ok());
    let mut found: Vec<Value> =
        shorter.map(|length| Value::Array(list.iter().take(length).cloned().collect())).collect();
    for (at, value) in list.iter().enumerate().take(LOOKED_AT) {
        for smaller in smaller_than(value, element) {
            let mut other = list.to_vec();
            if let Some(place) = other.get_mut(at) {
                *place = smaller;
            }
            found.push(Value::Array(other));
        }
    }
    found
}

fn fewer_members(members: &Map<String, Value>) -> Vec<Value> {
    let mut found = Vec::new();
    for (name, value) in members.iter().take(LOOKED_AT) {
        let mut without = members.clone();
        without.remove(name);
        found.push(Value::Object(without));
        for smaller in smaller_than(value, None) {
            let mut other = members.clone();
            other.insert(name.clone(), smaller);
            found.push(Value::Object(other));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn smaller_values_come_the_smallest_first() {
        assert_eq!(smaller_than(&json!(9), None), [0, 5, 7, 8].map(|number| json!(number)));
        assert_eq!(smaller_than(&json!(-3), None), [0, -2].map(|number| json!(number)));
        assert_eq!(smaller_than(&json!("abcd"), None), ["", "ab", "abc"].map(|text| json!(text)));
        assert_eq!(smaller_than(&json!([1, true]), None), [json!([]), json!([1]), json!([0, true]), json!([1, false])]);
        assert_eq!(smaller_than(&json!({"a": 1}), None), [json!({}), json!({"a": 0})]);
        assert_eq!(smaller_than(&json!(2.5), None), [json!(0.0), json!(2.0), json!(1.25)]);
        let far = smaller_than(&json!(i64::MIN), None);
        assert!(far.len() < 80 && far.contains(&json!(0)), "{far:?}");
    }

    #[test]
    fn bounds_are_kept() {
        let spec = |kind| ValueSpec { kind, span: averment_base::source::Span::default() };
        let integer = spec(ValueKind::Integer { least: Some(5), most: Some(9) });
        assert_eq!(smaller_than(&json!(9), Some(&integer)), [5, 7, 8].map(|number| json!(number)));
        assert!(smaller_than(&json!(5), Some(&integer)).is_empty());
        let text = spec(ValueKind::Text { least: Some(3), most: None });
        assert_eq!(smaller_than(&json!("aaaaa"), Some(&text)), ["aaa", "aaaa"].map(|text| json!(text)));
        let number = spec(ValueKind::Number { least: Some(1.5), most: None });
        assert_eq!(smaller_than(&json!(2.5), Some(&number)), [json!(1.5), json!(2.0)]);
    }
}
