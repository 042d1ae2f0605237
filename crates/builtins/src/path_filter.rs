//! Detects JSONPath filters that find nothing because values have the wrong type: `$.items[?@.price > 100]` with prices that are texts.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::path_cost;
use averment_base::limits::{FuelMeter, LimitError};
use serde_json::Value;
use serde_json_path::JsonPath;

/// True if the first filter of a path without results had no values to test, or no value of a type that one of its comparisons supports.
pub(super) fn compares_nothing(path: &str, root: &Value, meter: &mut FuelMeter) -> Result<bool, LimitError> {
    let Some((before, filter)) = path.split_once("[?") else { return Ok(false) };
    if !has_value(&format!("{before}[*]"), root, meter, |_| true)? {
        return Ok(true);
    }
    for (operand, literal) in filter.split('@').skip(1).filter_map(read_comparison) {
        let fits = |value: &Value| std::mem::discriminant(value) == std::mem::discriminant(&literal);
        if !has_value(&format!("{before}[*]{operand}"), root, meter, fits)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has_value(
    path: &str,
    root: &Value,
    meter: &mut FuelMeter,
    fits: impl Fn(&Value) -> bool,
) -> Result<bool, LimitError> {
    // A path that cannot be parsed decides nothing.
    let Ok(read) = JsonPath::parse(path) else { return Ok(true) };
    path_cost::charge_path(path, root, meter)?;
    Ok(read.query(root).iter().any(|value| fits(value)))
}

/// Parses a comparison such as `.price > 100`; returns its keys, and the number or text on the right.
fn read_comparison(text: &str) -> Option<(&str, Value)> {
    let end = text.find(['=', '!', '<', '>'])?;
    let (operand, rest) = text.split_at_checked(end)?;
    let literal = rest.trim_start_matches(['=', '!', '<', '>']).trim_start();
    let is_keys = !operand.contains(['&', '|', '(', ')', '?']);
    let literal = match literal.bytes().next()? {
        b'0'..=b'9' | b'-' => Value::from(0),
        b'"' | b'\'' => Value::from(""),
        _ => return None,
    };
    is_keys.then_some((operand.trim_end(), literal))
}

#[cfg(test)]
mod tests {
    use super::compares_nothing;
    use averment_base::limits::{FuelMeter, Limits};
    use serde_json::json;

    #[test]
    fn a_filter_over_what_cannot_be_compared_is_found() {
        let (number, text) = (json!({"items": [{"price": 5}]}), json!({"items": [{"price": "500"}]}));
        let (none, other) = (json!({"items": []}), json!({"items": [{"prise": 5, "name": "a"}]}));
        let found = |path, value| compares_nothing(path, value, &mut FuelMeter::new(&Limits::default()));
        for path in
            ["$.items[?@.price > 100]", "$.items[?(@.price>100)]", "$.items[?@['price'] >= 100 && @.name == 'b']"]
        {
            assert_eq!(found(path, &text), Ok(true), "{path}");
            assert_eq!(found(path, &none), Ok(true), "{path}");
            assert_eq!(found(path, &other), Ok(true), "{path}");
        }
        assert_eq!(found("$.items[?@.price > 100]", &number), Ok(false));
        assert_eq!(found("$.items[?@.name == 'b']", &other), Ok(false));
        assert_eq!(found("$.items[?@.flag]", &number), Ok(false));
        assert_eq!(found("$.items[*]", &none), Ok(false));
    }
}
