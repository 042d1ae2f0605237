//! What is said in the language for an assertion of Runsight; the table stands in docs/reference/runsight.md.

use crate::conformance_text::paths::standard_path;
use averment_fixtures::quote;
use serde_json::Value as Json;

/// Why there is no sentence.
pub enum Unsaid {
    /// It is no assertion there either: reading it aborts the whole list.
    Nonsense(&'static str),
    /// It means something there and has no counterpart: the reason is one of the documented differences.
    Different(&'static str),
}

use Unsaid::{Different, Nonsense};

/// A value as Python writes it with `str`.
pub fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => literal(other),
    }
}

/// A value as Python writes it in a list.
fn literal(value: &Json) -> String {
    match value {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Number(number) => float(&number.to_string()),
        Json::String(text) => literal_text(text),
        Json::Array(items) => format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Json::Object(entries) => {
            let entries =
                entries.iter().map(|(key, value)| format!("{}: {}", literal(&key.as_str().into()), literal(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A text as Python writes it in a list.
pub fn literal_text(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
    if text.contains('\'') && !text.contains('"') {
        format!("\"{text}\"")
    } else {
        format!("'{}'", text.replace('\'', "\\'"))
    }
}

/// Python writes an exponent below 1e-4 and from 1e16 on, with a sign and two digits; integers as they are.
pub fn float(text: &str) -> String {
    let value: f64 = text.parse().unwrap();
    let written_as_integer = !text.contains(['.', 'e', 'E']);
    if written_as_integer || value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        return if written_as_integer { text.to_owned() } else { format!("{value:?}") };
    }
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap();
    let (sign, digits) = exponent.strip_prefix('-').map_or(("+", exponent), |digits| ("-", digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// The sentence for an assertion, without its weight and metric.
pub fn sentence(config: &Json) -> Result<String, Unsaid> {
    let subject = match config.get("transform") {
        None | Some(Json::Null) => None,
        Some(transform) => Some(transformed(transform.as_str().unwrap_or_default())?),
    };
    let kind = config.get("type").and_then(Json::as_str).ok_or(Nonsense("it has no type"))?;
    let (negated, kind) = kind.strip_prefix("not-").map_or((false, kind), |rest| (true, rest));
    let test = test(kind, subject.as_deref().unwrap_or("output"), config)?;
    let test = if negated { format!("not ({test})") } else { test };
    Ok(match subject {
        Some(subject) => format!("{subject} exists and {test}"),
        None => test,
    })
}

fn transformed(transform: &str) -> Result<String, Unsaid> {
    Ok(format!("text(first(jsonpath(json(output), {})))", quote(&path_of(transform)?)))
}

/// The path of a transform in the syntax of RFC 9535.
pub fn path_of(transform: &str) -> Result<String, Unsaid> {
    let path = transform.strip_prefix("json_path:").ok_or(Different("an unknown transform"))?;
    standard_path(path)
}

fn test(kind: &str, subject: &str, config: &Json) -> Result<String, Unsaid> {
    let value = config.get("value").cloned().unwrap_or_else(|| Json::from(""));
    let text = quote(&plain(&value));
    match kind {
        "equals" => equals(subject, &value, config.get("config").unwrap_or(&Json::Null)),
        "contains" => Ok(format!("{subject} contains {text}")),
        "icontains" => Ok(format!("{subject} icontains {text}")),
        "starts-with" => Ok(format!("{subject} starts with {text}")),
        "contains-all" => Ok(format!("{subject} contains all {}", candidates(&value)?)),
        "contains-any" => Ok(format!("{subject} contains any {}", candidates(&value)?)),
        "regex" => Ok(format!("{subject} matches {}", regex(&plain(&value))?)),
        "word-count" => word_count(subject, &value),
        "is-json" => Ok(format!("{subject} is json{}", schema(config)?)),
        "contains-json" => Ok(format!("{subject} contains json{}", schema(config)?)),
        "cost" => Ok(format!("cost <= {}", money(&threshold(config, "0")?))),
        "latency" => Ok(format!("duration <= {}ms", threshold(config, "0")?)),
        "levenshtein" => Ok(format!("levenshtein({subject}, {text}) <= {}", threshold(config, "5")?)),
        "bleu" => Ok(format!("bleu({subject}, {text}) >= {}", threshold(config, "0.5")?)),
        "rouge-n" => Ok(format!("rouge_n({subject}, {text}, 1) >= {}", threshold(config, "0.75")?)),
        _ => Err(Nonsense("there is no such type")),
    }
}

fn threshold(config: &Json, default: &str) -> Result<String, Unsaid> {
    match config.get("threshold") {
        None | Some(Json::Null) => Ok(default.to_owned()),
        Some(Json::Number(number)) => Ok(number.to_string()),
        Some(Json::Bool(value)) => Ok(u8::from(*value).to_string()),
        Some(_) => Err(Nonsense("the threshold is no number")),
    }
}

/// An amount without an exponent, its sign in front.
fn money(number: &str) -> String {
    let value: f64 = number.parse().unwrap();
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}${}", value.abs())
}

fn equals(subject: &str, value: &Json, config: &Json) -> Result<String, Unsaid> {
    match config {
        Json::Null => Ok(format!("{subject} == {}", quote(&plain(value)))),
        Json::Object(object) => match object.get("mode") {
            None if object.is_empty() => Ok(format!("{subject} == {}", quote(&plain(value)))),
            Some(mode) if mode == "json" => Ok(format!("json({subject}) == json({})", quote(&plain(value)))),
            None | Some(_) if object.get("mode").is_none_or(|mode| mode == "string") => {
                Ok(format!("{subject} == {}", quote(&plain(value))))
            }
            _ => Err(Different("an unknown mode of comparison")),
        },
        _ => Err(Different("an unknown mode of comparison")),
    }
}

/// The texts of a list; of a text its characters, of an object its keys.
fn candidates(value: &Json) -> Result<String, Unsaid> {
    let texts: Vec<String> = match value {
        Json::Null => Vec::new(),
        Json::String(text) => text.chars().map(String::from).collect(),
        Json::Array(items) => items.iter().map(plain).collect(),
        Json::Object(entries) => entries.keys().cloned().collect(),
        _ => return Err(Nonsense("the value is no list")),
    };
    Ok(format!("[{}]", texts.iter().map(|text| quote(text)).collect::<Vec<_>>().join(", ")))
}

fn word_count(subject: &str, value: &Json) -> Result<String, Unsaid> {
    let count = format!("word_count({subject})");
    match value {
        Json::Bool(value) => Ok(format!("{count} == {}", u8::from(*value))),
        Json::Number(number) if number.is_i64() => Ok(format!("{count} == {number}")),
        Json::Object(bounds) => {
            let bound = |key: &str| match bounds.get(key) {
                None | Some(Json::Null) => Ok(None),
                Some(Json::Number(number)) => Ok(Some(number.clone())),
                Some(Json::Bool(value)) => Ok(Some(u8::from(*value).into())),
                Some(_) => Err(Nonsense("a bound is no number")),
            };
            let (least, most) = (bound("min")?, bound("max")?);
            if least.as_ref().zip(most.as_ref()).is_some_and(|(least, most)| least.as_f64() > most.as_f64()) {
                return Err(Nonsense("the bounds are the wrong way round"));
            }
            let least = least.map_or(format!("{count} >= 0"), |least| format!("{count} >= {least}"));
            Ok(most.map_or(least.clone(), |most| format!("{least} and {count} <= {most}")))
        }
        _ => Err(Nonsense("the value is no number of words")),
    }
}

/// The name of the schema behind `is json`, which the file declares as `S`.
fn schema(config: &Json) -> Result<&'static str, Unsaid> {
    match config.get("value") {
        Some(Json::Null) => Ok(""),
        Some(Json::Object(_) | Json::Bool(_)) => Ok(" S"),
        _ => Err(Nonsense("the value is no schema")),
    }
}

/// A pattern of Python in the language's syntax.
fn regex(pattern: &str) -> Result<String, Unsaid> {
    let (flags, mut rest) = leading_flags(pattern);
    let ascii = flags.contains('a');
    let mut body = String::new();
    let (mut in_class, mut repeated) = (false, false);
    while let Some(character) = rest.chars().next() {
        let (taken, written) = match character {
            '\\' if !ascii && class_of(rest, in_class).is_some() => {
                (2, class_of(rest, in_class).unwrap_or_default().to_owned())
            }
            '\\' => escape(rest)?,
            '{' if !in_class && !is_count(rest) => (1, "\\{".to_owned()),
            '{' if !in_class && rest.starts_with("{,") => (1, "{0".to_owned()),
            '[' if !in_class => {
                in_class = true;
                let open = 1 + usize::from(rest[1..].starts_with('^'));
                let close = usize::from(rest[open..].starts_with(']'));
                (open + close, format!("{}{}", &rest[..open], if close == 1 { "\\]" } else { "" }))
            }
            '[' | '&' | '~' if in_class => (1, format!("\\{character}")),
            ']' if in_class => {
                in_class = false;
                (1, "]".to_owned())
            }
            '$' if !in_class && !flags.contains('m') => (1, "(?:\\n?\\z)".to_owned()),
            '(' if !in_class && rest.starts_with("(?") => group(rest)?,
            '+' if !in_class && repeated => {
                return Err(Different("look-around, back-references, possessive and conditional patterns"));
            }
            '*' | '{' if !in_class && repeated => return Err(Different("a pattern that cannot be used")),
            '/' => (1, "\\/".to_owned()),
            '\n' => (1, "\\n".to_owned()),
            other => (other.len_utf8(), other.to_string()),
        };
        repeated = !in_class && matches!(written.as_str(), "*" | "+" | "?" | "}");
        body.push_str(&written);
        rest = &rest[taken..];
    }
    let unicode = if ascii { "" } else { "u" };
    if body.is_empty() {
        // Two slashes would be a division.
        body.push_str("(?:)");
    }
    Ok(format!("/{body}/{}{unicode}", flags.replace(['a', 'u', 'L'], "")))
}

/// `{2}`, `{2,}`, `{,2}`, `{2,3}`; any other brace stands for itself.
fn is_count(rest: &str) -> bool {
    let inside = rest[1..].split_once('}').map_or("", |(inside, _)| inside);
    let (least, most) = inside.split_once(',').unwrap_or((inside, "0"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    digits(least) && digits(most) && !(least.is_empty() && (most.is_empty() || !inside.contains(',')))
}

/// Python's classes: white space takes in U+001C to U+001F, words are letters, numbers and `_`.
fn class_of(rest: &str, in_class: bool) -> Option<&'static str> {
    Some(match (rest.chars().nth(1)?, in_class) {
        ('s', false) => "[\\s\\x1C-\\x1F]",
        ('s', true) => "\\s\\x1C-\\x1F",
        ('S', false) => "[^\\s\\x1C-\\x1F]",
        ('S', true) => "[^\\s\\x1C-\\x1F]",
        ('w', false) => "[\\p{L}\\p{N}_]",
        ('w', true) => "\\p{L}\\p{N}_",
        ('W', _) => "[^\\p{L}\\p{N}_]",
        _ => return None,
    })
}

/// `(?im)` at the start.
fn leading_flags(pattern: &str) -> (&str, &str) {
    let flags = pattern.strip_prefix("(?").and_then(|rest| rest.split_once(')'));
    match flags {
        Some((flags, rest)) if flags.chars().all(|flag| "aimsxuL".contains(flag)) => (flags, rest),
        _ => ("", pattern),
    }
}

/// How long an escape is and how it is written here.
fn escape(rest: &str) -> Result<(usize, String), Unsaid> {
    let letter = rest.chars().nth(1).ok_or(Different("a pattern that cannot be used"))?;
    let hex = |digits: usize| -> Result<(usize, String), Unsaid> {
        let code = rest.get(2..2 + digits).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()));
        code.map(|code| (2 + digits, format!("\\x{{{code}}}"))).ok_or(Different("a pattern that cannot be used"))
    };
    match letter {
        'Z' => Ok((2, "\\z".to_owned())),
        'u' => hex(4),
        'U' => hex(8),
        'x' => hex(2),
        '1'..='9' => Err(Different("look-around, back-references, possessive and conditional patterns")),
        'A' | 'b' | 'B' | 'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'a' | 'f' | 'n' | 'r' | 't' | 'v' | '0' => {
            Ok((2, if letter == '0' { "\\x00".to_owned() } else { format!("\\{letter}") }))
        }
        letter if letter.is_ascii_alphabetic() => Err(Different("a pattern that cannot be used")),
        letter if letter.is_alphanumeric() || letter.is_whitespace() => Ok((1 + letter.len_utf8(), letter.to_string())),
        letter => Ok((1 + letter.len_utf8(), format!("\\{letter}"))),
    }
}

/// The head of a group: `(?:`, `(?P<name>`, `(?i:` are the same here.
fn group(rest: &str) -> Result<(usize, String), Unsaid> {
    if ["(?=", "(?!", "(?<=", "(?<!", "(?>", "(?(", "(?P="].iter().any(|head| rest.starts_with(head)) {
        return Err(Different("look-around, back-references, possessive and conditional patterns"));
    }
    if rest.starts_with("(?:") || rest.starts_with("(?P<") {
        return Ok((2, "(?".to_owned()));
    }
    let flags = rest[2..].find([':', ')']).map(|end| &rest[2..2 + end]);
    let local = flags.is_some_and(|flags| {
        flags.chars().all(|flag| "imsx-".contains(flag)) && rest[2 + flags.len()..].starts_with(':')
    });
    if local { Ok((2, "(?".to_owned())) } else { Err(Different("a pattern that cannot be used")) }
}

/// A JSON object as a literal of the language.
pub fn object(value: &Json) -> String {
    match value {
        Json::String(text) => quote(text),
        Json::Array(items) => format!("[{}]", items.iter().map(object).collect::<Vec<_>>().join(", ")),
        Json::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{}: {}", quote(key), object(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
