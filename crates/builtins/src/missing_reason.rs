//! Explains why a function has no result: the problem with one of its arguments, for the reason of an assertion.

use super::detect::redacted_start;
use super::table::{Builtin, type_word};
use super::test::has_type;
use super::text_order::order_values;
use super::time::is_zone;
use averment_base::limits::Limits;
use averment_base::value::json::{json_start, parse};
use averment_base::value::{Node, Number, Value};
use bumpalo::Bump;

/// Returns the index of the problematic argument, and words to append to its text: `is not JSON (line 1, column 5)`. `None` if an argument itself was
/// missing or not recorded, or if there is no better explanation.
#[must_use]
pub fn missing_reason(builtin: &Builtin, arguments: &[Node<'_>]) -> Option<(usize, String)> {
    if arguments.iter().any(|argument| matches!(argument.value, Value::Missing | Value::Absent)) {
        return None;
    }
    let pairs = || arguments.iter().zip(builtin.parameters).enumerate();
    if let Some((at, (argument, parameter))) =
        pairs().find(|(_, (argument, parameter))| !parameter.types.iter().any(|ty| has_type(&argument.value, *ty)))
    {
        let wanted: Vec<&str> = parameter.types.iter().map(|ty| type_word(*ty)).collect();
        let (found, wanted) = (argument.value.type_name(), wanted.join(" or "));
        return Some((at, format!("is a {found}, and `{}` takes {}", builtin.name, with_article(&wanted))));
    }
    let first = arguments.first()?;
    let words = match builtin.name {
        "json" => not_json(&first.value)?,
        "cosine" => "has no angle with the other list".to_owned(),
        "first_json" => "holds no object and no list in JSON".to_owned(),
        "number" => "spells no number".to_owned(),
        "score" => "is no score: it is not between 0 and 1".to_owned(),
        "base64_decode" => "is no base64 of a text".to_owned(),
        "url_decode" => "is no text once its escapes are resolved".to_owned(),
        "date" | "weekday" | "hour" if !has_valid_zone(arguments) => return Some((1, "is no time zone".to_owned())),
        "timestamp" | "date" | "weekday" | "hour" => "is no time".to_owned(),
        "percentile" if !has_valid_share(arguments) => return Some((1, "is not between 0 and 1".to_owned())),
        "sum" | "avg" | "median" | "percentile" | "min" | "max" | "sort" | "first" | "last" => of_list(builtin, first)?,
        "exp" => "is too large an exponent".to_owned(),
        "bleu" if !has_valid_floor(arguments) => return Some((2, "is not between 0 and 1".to_owned())),
        "bleu" | "gleu" => return Some((1, "is no list of texts".to_owned())),
        "rouge_n" => return Some((1, "is no length of a sequence".to_owned())),
        "jsonpath" => return Some((1, "is no JSONPath".to_owned())),
        _ => return None,
    };
    Some((0, words))
}

fn with_article(words: &str) -> String {
    let vowel = words.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {words}", if vowel { "an" } else { "a" })
}

/// Describes where a text stops being JSON. The text there is not quoted, because it may be a part of a secret.
pub fn not_json(value: &Value<'_>) -> Option<String> {
    let Value::Text(text) = value else { return None };
    let text = text.as_str();
    if text.trim().is_empty() {
        return Some("is not JSON: it is empty".to_owned());
    }
    let arena = Bump::new();
    let error = parse(text, 0, &arena, &Limits::default()).err()?;
    Some(match error.line {
        1 => format!("is not JSON from character {} on", error.column),
        line => format!("is not JSON from line {line}, column {} on", error.column),
    })
}

fn has_valid_zone(arguments: &[Node<'_>]) -> bool {
    arguments.get(1).is_none_or(|node| matches!(node.value, Value::Text(name) if is_zone(name.as_str())))
}

fn has_valid_floor(arguments: &[Node<'_>]) -> bool {
    let is_valid = |floor: f64| floor > 0.0 && floor <= 1.0;
    arguments.get(2).is_none_or(|node| matches!(node.value, Value::Number(number) if is_valid(number.to_f64())))
}

fn has_valid_share(arguments: &[Node<'_>]) -> bool {
    matches!(arguments.get(1).map(|node| node.value), Some(Value::Number(number)) if (0.0..=1.0).contains(&number.to_f64()))
}

/// Returns the problem of a list: it is empty, or an element is no valid operand.
fn of_list(builtin: &Builtin, list: &Node<'_>) -> Option<String> {
    let Value::List(items) = list.value else { return None };
    if items.is_empty() {
        return Some("is empty".to_owned());
    }
    if items.iter().any(|item| matches!(item.value, Value::Missing)) {
        return Some("leads nowhere for some elements".to_owned());
    }
    let ordered = matches!(builtin.name, "min" | "max" | "sort");
    let fits = |value: &Value<'_>| match ordered {
        true => items.first().is_some_and(|first| order_values(&first.value, value).is_some()),
        false => matches!(value, Value::Number(_)),
    };
    let number =
        |value: &Value<'_>| matches!(value, Value::Number(Number::Integer(_) | Number::Wide(..) | Number::Real(_)));
    match items.iter().find(|item| !fits(&item.value)) {
        Some(item) if ordered => {
            Some(format!("holds {}, which has no order with the others", shown_value(&item.value)))
        }
        Some(item) => Some(format!("holds {}, no number", shown_value(&item.value))),
        None if items.iter().all(|item| number(&item.value)) => Some("makes too large a number".to_owned()),
        None => None,
    }
}

fn shown_value(value: &Value<'_>) -> String {
    const LONGEST: usize = 60;
    let text = json_start(value);
    if text.chars().nth(LONGEST).is_none() { text } else { format!("{}…", redacted_start(&text, LONGEST)) }
}

#[cfg(test)]
mod tests {
    use super::super::table::{BUILTINS, find_builtin};
    use super::*;

    fn said(name: &str, arguments: &str) -> String {
        let arena = Bump::new();
        let document = parse(arguments, 0, &arena, &Limits::default()).unwrap();
        let Value::List(arguments) = document.node.value else { panic!("a list of arguments") };
        missing_reason(find_builtin(name).unwrap(), arguments)
            .map_or_else(String::new, |(at, words)| format!("{at} {words}"))
    }

    #[test]
    fn what_a_function_could_not_use_is_said() {
        assert_eq!(said("json", r#"["{\"a\": 1"]"#), "0 is not JSON from character 8 on");
        assert_eq!(said("json", r#"["{\n  a"]"#), "0 is not JSON from line 2, column 3 on");
        assert_eq!(said("json", r#"["  "]"#), "0 is not JSON: it is empty");
        assert_eq!(said("sum", r#"[[1, "o-1", 2]]"#), r#"0 holds "o-1", no number"#);
        assert_eq!(said("max", "[[]]"), "0 is empty");
        assert_eq!(said("sort", r#"[[1, "a"]]"#), r#"0 holds "a", which has no order with the others"#);
        assert_eq!(said("percentile", "[[1, 2], 95]"), "1 is not between 0 and 1");
        assert_eq!(said("lower", "[[1]]"), "0 is a list, and `lower` takes a string");
        assert_eq!(said("round", r#"[1.5, 0.5]"#), "1 is a number, and `round` takes an integer");
        assert_eq!(said("replace", r#"["a", 1, "b"]"#), "1 is a number, and `replace` takes a string or regex");
        assert_eq!(said("weekday", r#"["soon"]"#), "0 is no time");
        assert_eq!(said("weekday", r#"["2025-03-01", "Berlin"]"#), "1 is no time zone");
        assert_eq!(said("hour", r#"["soon", "Europe/Berlin"]"#), "0 is no time");
    }

    #[test]
    fn every_function_whose_result_may_be_missing_says_why() {
        for builtin in BUILTINS.iter().filter(|builtin| builtin.doc.contains("missing") && !builtin.sees_nothing) {
            let empty = [r#"[""]"#, r#"["%ff"]"#, "[[]]", r#"[[1, "a"]]"#];
            assert!(empty.iter().any(|arguments| !said(builtin.name, arguments).is_empty()), "{}", builtin.name);
        }
    }
}
