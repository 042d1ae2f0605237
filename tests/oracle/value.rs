//! JSON values as rules compare them, said plainly.

use crate::truth::{Truth, by_missing, sure};
use serde_json::{Number, Value};
use std::cmp::Ordering;

/// Equality by value: `1` and `1.0` are one value, `"1"` is another.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => compare_numbers(x, y) == Some(Ordering::Equal),
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| equal(x, y)),
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, value)| y.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => a == b,
    }
}

/// Equality of `===`: the JSON form counts too, `1` is not `1.0`.
pub fn identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x.is_f64() == y.is_f64() && equal(a, b),
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| identical(x, y)),
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, value)| y.get(key).is_some_and(|other| identical(value, other)))
        }
        _ => a == b,
    }
}

/// Order of two numbers or of two texts; nothing else is ordered, and nothing is coerced.
pub fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => compare_numbers(x, y),
        (Value::String(x), Value::String(y)) => Some(x.cmp(y)),
        _ => None,
    }
}

/// The number that a text spells as JSON does.
fn spelled(text: &str) -> Option<Number> {
    let is_number = !text.is_empty() && !text.starts_with(char::is_whitespace) && !text.ends_with(char::is_whitespace);
    if is_number { serde_json::from_str(text).ok() } else { None }
}

/// Its letters one by one, and the numbers between them by value.
fn parts_of(text: &str) -> Vec<(u8, u128)> {
    let (mut parts, mut rest) = (Vec::new(), text.as_bytes());
    while let Some(first) = rest.first() {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&rest[..digits]).ok().and_then(|digits| digits.parse().ok());
        parts.push(number.map_or((*first, 0), |number| (b'0', number)));
        rest = &rest[digits.max(1)..];
    }
    parts
}

/// The order that tests ask for: of texts that spell numbers, or that are a version on one side alone, there is none (unfit values).
pub fn fit_order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::String(x), Value::String(y)) if spelled(x).is_some() || spelled(y).is_some() => None,
        (Value::String(x), Value::String(y)) => {
            let (letters, numbers) = (x.cmp(y), parts_of(x).cmp(&parts_of(y)));
            (numbers.is_eq() || numbers == letters).then_some(letters)
        }
        _ => order(a, b),
    }
}

/// Whether a value is the same but for its type or its writing, or one of both holds the other.
fn is_nearly(a: &Value, b: &Value, same: fn(&Value, &Value) -> bool) -> bool {
    is_spelled_like(a, b) || holds_inside(a, b, same) || holds_inside(b, a, same)
}

fn is_spelled_like(a: &Value, b: &Value) -> bool {
    let words = |answer: bool| if answer { ["true", "yes", "on", "1"] } else { ["false", "no", "off", "0"] };
    let packed = |text: &str| text.chars().filter(|letter| !letter.is_ascii_whitespace()).collect::<String>();
    match (a, b) {
        (Value::String(x), Value::String(y)) => {
            x.trim().to_lowercase() == y.trim().to_lowercase() || is_framed(x) && is_framed(y) && packed(x) == packed(y)
        }
        (Value::String(text), Value::Number(number)) | (Value::Number(number), Value::String(text)) => {
            spelled(text.trim()).is_some_and(|text| compare_numbers(&text, number) == Some(Ordering::Equal))
        }
        (Value::String(text), Value::Bool(answer)) | (Value::Bool(answer), Value::String(text)) => {
            words(*answer).contains(&text.trim().to_lowercase().as_str())
        }
        (Value::Number(number), Value::Bool(answer)) | (Value::Bool(answer), Value::Number(number)) => {
            compare_numbers(number, &Number::from(u8::from(*answer))) == Some(Ordering::Equal)
        }
        _ => false,
    }
}

fn is_framed(text: &str) -> bool {
    let text = text.trim_ascii();
    text.starts_with('{') && text.ends_with('}') || text.starts_with('[') && text.ends_with(']')
}

/// Whether a value stands inside of another one at any depth, in any writing; null and what is empty are not looked for.
fn holds_inside(whole: &Value, part: &Value, same: fn(&Value, &Value) -> bool) -> bool {
    let nothing = part.is_null() || *part == Value::Array(Vec::new()) || *part == serde_json::json!({});
    let is_it = |value: &Value| is_equal_like(value, part, same) || holds_inside(value, part, same);
    match whole {
        _ if nothing => false,
        Value::Array(items) => items.iter().any(is_it),
        Value::Object(fields) => fields.values().any(is_it),
        Value::String(_) => {
            Some(opened(whole.clone())).filter(|inner| inner != whole).is_some_and(|inner| is_it(&inner))
        }
        _ => false,
    }
}

/// Equal but for writing, part by part; a number that stands for a boolean is not enough.
fn is_equal_like(value: &Value, part: &Value, same: fn(&Value, &Value) -> bool) -> bool {
    match (value, part) {
        (Value::Array(x), Value::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| is_equal_like(x, y, same))
        }
        (Value::Object(x), Value::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| is_equal_like(x, y, same)))
        }
        (Value::Array(_) | Value::Object(_), Value::String(_)) => Some(opened(part.clone()))
            .filter(|inner| inner != part)
            .is_some_and(|inner| is_equal_like(value, &inner, same)),
        (Value::Number(_), Value::Bool(_)) | (Value::Bool(_), Value::Number(_)) => false,
        _ => same(value, part) || is_spelled_like(value, part),
    }
}

/// A test of equality of two values that are there: lists and objects part by part.
pub fn equality(a: &Value, b: &Value, same: fn(&Value, &Value) -> bool) -> Truth {
    let parts = |truth: Truth| {
        let holds = || holds_inside(a, b, same) || holds_inside(b, a, same);
        if truth == sure(false) && holds() { by_missing(false) } else { truth }
    };
    match (a, b) {
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            parts(x.iter().zip(y).map(|(x, y)| equality(x, y, same)).fold(sure(true), Truth::and))
        }
        (Value::Object(x), Value::Object(y)) if x.len() == y.len() && x.keys().all(|key| y.contains_key(key)) => {
            parts(x.iter().map(|(key, x)| equality(x, &y[key], same)).fold(sure(true), Truth::and))
        }
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => parts(sure(false)),
        _ if same(a, b) => sure(true),
        _ if is_nearly(a, b, same) => by_missing(false),
        _ => sure(false),
    }
}

/// An element of a list, a part of a text, a key of an object; by missing where the values are unfit.
pub fn holds(whole: &Value, part: &Value) -> Truth {
    match (whole, part) {
        (Value::String(_), Value::String(part)) if part.is_empty() => by_missing(true),
        (Value::String(whole), Value::String(part)) => sure(whole.contains(part.as_str())),
        (Value::Array(_), _) => match is_in(part, whole) {
            found if found == sure(false) && text_holds(whole, part) => by_missing(false),
            found => found,
        },
        (Value::Object(fields), Value::String(key)) if fields.contains_key(key) => sure(true),
        _ => by_missing(false),
    }
}

/// Whether some text in a value holds a text.
fn text_holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::String(whole), Value::String(part)) => !part.is_empty() && whole.contains(part.as_str()),
        (Value::Array(items), _) => items.iter().any(|item| text_holds(item, part)),
        (Value::Object(fields), _) => fields.values().any(|value| text_holds(value, part)),
        _ => false,
    }
}

/// A list of words that spells a text of several.
fn spells_words(items: &[Value], part: &Value) -> bool {
    let (Some(part), Some(words)) = (part.as_str(), items.iter().map(Value::as_str).collect::<Option<Vec<_>>>()) else {
        return false;
    };
    part.contains(' ') && format!(" {} ", words.join(" ")).contains(&format!(" {part} "))
}

/// `x in whole`, ranges aside.
pub fn is_in(part: &Value, whole: &Value) -> Truth {
    match (whole, part) {
        (Value::Array(items), _) => {
            let found = items.iter().fold(sure(false), |truth, item| truth.or(equality(part, item, equal)));
            let unfit = part.is_null() || spells_words(items, part);
            if found == sure(false) && unfit { by_missing(false) } else { found }
        }
        (Value::Object(fields), Value::String(key)) if fields.contains_key(key) => sure(true),
        (Value::Object(_), Value::String(_)) => {
            if text_holds(whole, part) {
                by_missing(false)
            } else {
                sure(false)
            }
        }
        (Value::String(_), _) => holds(whole, part),
        _ => by_missing(false),
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Integers exactly, everything else as the nearest double.
pub fn compare_numbers(a: &Number, b: &Number) -> Option<Ordering> {
    match (integer(a), integer(b)) {
        (Some(x), Some(y)) => Some(x.cmp(&y)),
        (Some(x), None) => mixed(x, b.as_f64()?),
        (None, Some(y)) => mixed(y, a.as_f64()?).map(Ordering::reverse),
        (None, None) => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

fn mixed(integer: i128, float: f64) -> Option<Ordering> {
    let floor = float.floor();
    match integer.cmp(&(floor as i128)) {
        Ordering::Equal if float > floor => Some(Ordering::Less),
        other => Some(other),
    }
}

/// `*` is any text, `?` any one character.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    glob_chars(&pattern, &text)
}

fn glob_chars(pattern: &[char], text: &[char]) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some(('*', rest)) => (0..=text.len()).any(|skip| glob_chars(rest, &text[skip..])),
        Some(('?', rest)) => !text.is_empty() && glob_chars(rest, &text[1..]),
        Some((c, rest)) => text.first() == Some(c) && glob_chars(rest, &text[1..]),
    }
}

/// A path glob: `**` is any number of folders, `*` anything within one.
pub fn path_glob(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    path_parts(&pattern, &path)
}

fn path_parts(pattern: &[&str], path: &[&str]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        // A last `**` needs something below the folder.
        Some((&"**", [])) => !path.is_empty(),
        Some((&"**", rest)) => (0..=path.len()).any(|skip| path_parts(rest, &path[skip..])),
        Some((part, rest)) => path.first().is_some_and(|name| glob(part, name)) && path_parts(rest, &path[1..]),
    }
}

/// A text or a number, mentioned by a text, a number, or anything in a list or object.
pub fn mentions(whole: &Value, part: &Value) -> Truth {
    let fits = part.is_number() || part.as_str().is_some_and(|part| !part.is_empty());
    if !fits || matches!(whole, Value::Null | Value::Bool(_)) {
        return by_missing(false);
    }
    sure(inside(whole, part))
}

fn inside(whole: &Value, part: &Value) -> bool {
    match whole {
        Value::Array(items) => items.iter().any(|item| inside(item, part)),
        Value::Object(fields) => fields.values().any(|value| inside(value, part)),
        Value::String(text) => match part {
            Value::String(part) => {
                let (text, part): (Vec<char>, Vec<char>) = (text.chars().collect(), part.chars().collect());
                let ends = |at: usize| !joined(&text, at) && !joined(&text, at + part.len());
                (0..text.len()).any(|at| text[at..].starts_with(&part) && ends(at))
            }
            number => tokens(text).iter().any(|token| is_spelled(token, number)),
        },
        Value::Number(_) => match part {
            Value::String(text) => is_spelled(text, whole),
            number => equal(whole, number),
        },
        _ => false,
    }
}

fn is_spelled(text: &str, number: &Value) -> bool {
    spelled(text).is_some_and(|text| equal(&Value::Number(text), number))
}

/// Whether the characters before and behind a place belong to one token.
fn joined(text: &[char], at: usize) -> bool {
    let word = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let joint = |at: usize| text.get(at).is_some_and(|c| "-.@+".contains(*c));
    let belongs = |at: usize| word(Some(at)) || (joint(at) && word(at.checked_sub(1)) && word(Some(at + 1)));
    at > 0 && belongs(at - 1) && belongs(at)
}

/// The tokens of a text, each with a `-` right in front of it.
fn tokens(text: &str) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    let is_word = |at: usize| text.get(at).is_some_and(|c: &char| c.is_alphanumeric() || *c == '_');
    let mut out = Vec::new();
    for start in (0..text.len()).filter(|at| is_word(*at) && !joined(&text, *at)) {
        let end = (start + 1..=text.len()).find(|at| !joined(&text, *at)).unwrap_or(text.len());
        let from = if start > 0 && text[start - 1] == '-' { start - 1 } else { start };
        out.push(text[from..end].iter().collect());
    }
    out
}

/// What a path goes on in: of a text that as a whole is an object or a list in JSON that value, else the value itself.
pub fn opened(value: Value) -> Value {
    let held = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    held.filter(|held| held.is_object() || held.is_array()).unwrap_or(value)
}
