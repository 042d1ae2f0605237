//! Types of plain scalars.

use super::{YamlSchema, YamlValue};

pub(super) fn plain_scalar(text: &str, schema: YamlSchema) -> Result<YamlValue, String> {
    if matches!(text, "" | "~" | "null" | "Null" | "NULL") {
        return Ok(YamlValue::Null);
    }
    if let Some(value) = parse_boolean(text, schema) {
        return Ok(YamlValue::Bool(value));
    }
    let unsigned = text.trim_start_matches(['+', '-']);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN") {
        return Err(format!("`{text}` is no number of JSON, and no run can hold it"));
    }
    let number = match schema {
        YamlSchema::Core => core_number(text),
        YamlSchema::Yaml11 => old_number(text),
    };
    Ok(number.map_or_else(|| YamlValue::Text(text.to_owned()), YamlValue::Number))
}

fn parse_boolean(text: &str, schema: YamlSchema) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" if schema == YamlSchema::Yaml11 => Some(true),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" if schema == YamlSchema::Yaml11 => Some(false),
        _ => None,
    }
}

fn split_sign(text: &str) -> (&'static str, &str) {
    match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    }
}

fn core_number(text: &str) -> Option<String> {
    let (sign, digits) = split_sign(text);
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(rest) = digits.strip_prefix(prefix) {
            return parse_integer(sign, rest, radix);
        }
    }
    normalize_decimal(sign, digits)
}

/// Reads a YAML 1.1 number: fractions need a decimal point, exponents a sign.
fn old_number(text: &str) -> Option<String> {
    let (sign, digits) = split_sign(text);
    let plain = digits.replace('_', "");
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if digits.contains(':') {
        return parse_sexagesimal(sign, &plain);
    }
    for (prefix, radix) in [("0x", 16), ("0b", 2)] {
        if let Some(rest) = plain.strip_prefix(prefix) {
            return parse_integer(sign, rest, radix);
        }
    }
    let octal = plain.strip_prefix('0').filter(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
    if let Some(rest) = octal {
        return parse_integer(sign, rest, 8);
    }
    let exponent = plain.find(['e', 'E']).map(|at| plain.get(at.saturating_add(1)..).unwrap_or(""));
    if exponent.is_some_and(|exponent| !plain.contains('.') || !exponent.starts_with(['+', '-'])) {
        return None;
    }
    normalize_decimal(sign, &plain)
}

/// Reads a base 60 number: `1:30` is 90.
fn parse_sexagesimal(sign: &str, text: &str) -> Option<String> {
    let mut parts = text.split(':');
    let first = parts.next().filter(|first| !first.is_empty() && first.bytes().all(|b| b.is_ascii_digit()))?;
    let mut sum = first.parse::<u128>().ok()?;
    let mut fraction = "";
    for part in parts {
        let (whole, behind) = part.find('.').map_or((part, ""), |at| part.split_at(at));
        let valid = fraction.is_empty() && (1..=2).contains(&whole.len()) && whole.bytes().all(|b| b.is_ascii_digit());
        let digits = whole.parse::<u128>().ok().filter(|digits| valid && *digits < 60)?;
        sum = sum.checked_mul(60)?.checked_add(digits)?;
        fraction = behind;
    }
    normalize_decimal(sign, &format!("{sum}{fraction}"))
}

fn parse_integer(sign: &str, digits: &str, radix: u32) -> Option<String> {
    if digits.starts_with(['+', '-']) {
        return None;
    }
    u128::from_str_radix(digits, radix).ok().map(|number| format!("{sign}{number}"))
}

/// Converts a number to JSON notation: digits on both sides of the point, no leading zero.
fn normalize_decimal(sign: &str, text: &str) -> Option<String> {
    let (mantissa, exponent) = text.find(['e', 'E']).map_or((text, ""), |at| text.split_at(at));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(whole, behind)| (whole, Some(behind)));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let some = !whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty());
    if !some || !digits(whole) || !fraction.is_none_or(digits) {
        return None;
    }
    let whole = Some(whole.trim_start_matches('0')).filter(|rest| !rest.is_empty()).unwrap_or("0");
    let fraction = match fraction {
        None => String::new(),
        Some("") => ".0".to_owned(),
        Some(fraction) => format!(".{fraction}"),
    };
    let number = format!("{sign}{whole}{fraction}{exponent}");
    serde_json::from_str::<serde_json::Number>(&number).is_ok().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str, schema: YamlSchema) -> Option<String> {
        match plain_scalar(text, schema) {
            Ok(YamlValue::Number(number)) => Some(number),
            _ => None,
        }
    }

    #[test]
    fn numbers_are_those_of_the_version() {
        let rows = [
            ("5", Some("5"), Some("5")),
            ("-0.50", Some("-0.50"), Some("-0.50")),
            ("+7", Some("7"), Some("7")),
            (".5", Some("0.5"), Some("0.5")),
            ("1.", Some("1.0"), Some("1.0")),
            ("1e3", Some("1e3"), None),
            ("1.0e+3", Some("1.0e+3"), Some("1.0e+3")),
            ("007", Some("7"), Some("7")),
            ("010", Some("10"), Some("8")),
            ("089", Some("89"), None),
            ("0o17", Some("15"), None),
            ("0x1F", Some("31"), Some("31")),
            ("0b11", None, Some("3")),
            ("1_000", None, Some("1000")),
            ("1:30", None, Some("90")),
            ("1:30.5", None, Some("90.5")),
            ("1:75", None, None),
            ("1.2.3", None, None),
            ("-", None, None),
            (".", None, None),
            ("e3", None, None),
            (
                "123456789012345678901234567890",
                Some("123456789012345678901234567890"),
                Some("123456789012345678901234567890"),
            ),
        ];
        for (text, core, old) in rows {
            assert_eq!(number(text, YamlSchema::Core).as_deref(), core, "{text} in YAML 1.2");
            assert_eq!(number(text, YamlSchema::Yaml11).as_deref(), old, "{text} in YAML 1.1");
        }
    }

    #[test]
    fn words_are_those_of_the_version() {
        assert_eq!(plain_scalar("yes", YamlSchema::Core), Ok(YamlValue::Text("yes".to_owned())));
        assert_eq!(plain_scalar("yes", YamlSchema::Yaml11), Ok(YamlValue::Bool(true)));
        assert_eq!(plain_scalar("Off", YamlSchema::Yaml11), Ok(YamlValue::Bool(false)));
        assert_eq!(plain_scalar("y", YamlSchema::Yaml11), Ok(YamlValue::Text("y".to_owned())));
        assert_eq!(plain_scalar("~", YamlSchema::Core), Ok(YamlValue::Null));
        assert!(plain_scalar("-.inf", YamlSchema::Core).is_err() && plain_scalar(".nan", YamlSchema::Yaml11).is_err());
    }
}
