//! Why a test of values that it has no meaning for is decided by something missing (`docs/reference/expressions.md`, "Unfit values").

use crate::vm::value_equality::{looks_for_nothing, spells_words};
use averment_base::value::likeness::{is_framed, is_written_like};
use averment_base::value::{Node, Value};
use averment_builtins::other_spelling::{OtherSpelling, TextTest, equality_spelling};
use averment_builtins::test::mentions_text;
use averment_syntax::ast::TestKind;

const NOTHING: &str = "nothing is looked for";
const LOOKS_ALIKE: &str = "it holds what looks alike, and is written with other characters";

/// Why a test of two present values counts as decided by something missing, as words to append.
pub(in crate::vm) fn unfit_words<'v>(kind: TestKind, subject: &Node<'v>, operand: &Node<'v>) -> Option<String> {
    if subject.leads_nowhere() || operand.leads_nowhere() {
        return Some("its path leads nowhere".to_owned());
    }
    let (left, right) = (&subject.value, &operand.value);
    let present = |value: &Value<'_>| !matches!(value, Value::Missing | Value::Null) && !value.is_absent();
    if !present(left) || !present(right) {
        return None;
    }
    if let Some(words) = respelled_words(kind, left, right) {
        return Some(words.to_owned());
    }
    let types = (with_article(left), with_article(right));
    Some(match kind {
        TestKind::Equal | TestKind::Identical => match (left, right) {
            (Value::List(_), Value::List(_)) => return None,
            (Value::Object(_), Value::Object(_)) => return None,
            (Value::Text(text), Value::List(_) | Value::Object(_) | Value::Number(_) | Value::Boolean(_))
            | (Value::List(_) | Value::Object(_) | Value::Number(_) | Value::Boolean(_), Value::Text(text))
                if is_framed(text.as_str()) =>
            {
                "one is a text in JSON that is or holds the other, or nearly".to_owned()
            }
            (Value::List(_), _) | (_, Value::List(_)) => "a list that holds it is not the value itself".to_owned(),
            (Value::Object(_), _) | (_, Value::Object(_)) => {
                "an object that holds it is not the value itself".to_owned()
            }
            (Value::Text(a), Value::Text(b)) if is_written_like(a.as_str(), b.as_str()) => {
                written_like(a.as_str(), b.as_str()).to_owned()
            }
            (Value::Text(a), Value::Text(b)) if is_framed(a.as_str()) || is_framed(b.as_str()) => {
                "one is a text in JSON that is or holds the other, or nearly".to_owned()
            }
            (Value::Text(_), Value::Text(_)) => "they look alike, and are written with other characters".to_owned(),
            _ => return None,
        },
        TestKind::Less | TestKind::LessOrEqual | TestKind::Greater | TestKind::GreaterOrEqual => match types {
            ("a string", "a string") if !has_digit(left) && !has_digit(right) => {
                "their letters do not tell the order of ranks".to_owned()
            }
            ("a string", "a string") => "a number, date, time or version has no order with another text".to_owned(),
            (left, right) if left == right => format!("{left} has no order"),
            (left, right) => format!("{left} and {right} have no order"),
        },
        TestKind::In if matches!(right, Value::List(_)) => {
            holds_written_like(right, left).unwrap_or_else(|| "an element is nearly it, or holds it".to_owned())
        }
        TestKind::In if looks_for_nothing(right, left) => NOTHING.to_owned(),
        TestKind::In if matches!((left, right), (Value::Text(_), Value::Object(_))) => {
            "it is no key of the object, and a value of it holds it; `text(…)` is the whole object".to_owned()
        }
        TestKind::In => format!("{} is nothing that could be in {}", types.0, types.1),
        TestKind::Contains | TestKind::ContainsIgnoringCase | TestKind::ContainsAll | TestKind::ContainsAny => {
            match (left, right) {
                (_, Value::List([])) => NOTHING.to_owned(),
                (left, right) if looks_for_nothing(left, right) => NOTHING.to_owned(),
                (_, Value::Text(_)) if matches!(kind, TestKind::ContainsAll | TestKind::ContainsAny) => {
                    "a text that lists several is no list".to_owned()
                }
                (Value::Object(_), _) => "an object has keys, and no text to look in".to_owned(),
                (Value::List(_), Value::Regex(_)) => "a list is no text".to_owned(),
                (Value::List(items), wanted) if spells_words(items, wanted) => {
                    "no element is it, though the list spells it".to_owned()
                }
                (Value::List(_), _) => holds_written_like(left, right)
                    .unwrap_or_else(|| "no element is it, though one is nearly it or holds it".to_owned()),
                (Value::Text(_), Value::Text(_)) => LOOKS_ALIKE.to_owned(),
                _ => format!("{} is nothing that could contain {}", types.0, types.1),
            }
        }
        TestKind::Mentions => match right {
            Value::Text(text) if text.is_empty() => NOTHING.to_owned(),
            Value::Text(_) if !matches!(left, Value::Boolean(_) | Value::Truth(_)) => {
                "it mentions what looks alike, and is written with other characters".to_owned()
            }
            Value::Text(_) | Value::Number(_) => format!("{} mentions nothing", types.0),
            _ => format!("{} is nothing that could be mentioned", types.1),
        },
        _ if looks_for_nothing(left, right) => NOTHING.to_owned(),
        _ if matches!((left, right), (Value::Text(_), Value::Text(_))) => LOOKS_ALIKE.to_owned(),
        _ => format!("{} is no text", types.0),
    })
}

fn has_digit(value: &Value<'_>) -> bool {
    matches!(value, Value::Text(text) if text.as_str().bytes().any(|byte| byte.is_ascii_digit()))
}

/// Why a test of two texts is no evidence where a command, a path or a URL has another spelling.
fn respelled_words(kind: TestKind, left: &Value<'_>, right: &Value<'_>) -> Option<&'static str> {
    let (text, wanted) = match (kind, left, right) {
        (TestKind::In, Value::Text(wanted), Value::Text(text)) => (text.as_str(), wanted.as_str()),
        (TestKind::Matches, Value::Text(_), Value::Regex(_)) => return Some(OtherSpelling::Path.in_words()),
        (_, Value::Text(text), Value::Text(wanted)) => (text.as_str(), wanted.as_str()),
        _ => return None,
    };
    let holds: fn(&str, &str) -> bool = match kind {
        TestKind::Equal | TestKind::Identical => return equality_spelling(text, wanted).map(OtherSpelling::in_words),
        TestKind::Contains | TestKind::In => |text, part| text.contains(part),
        TestKind::ContainsIgnoringCase => |text, part| text.to_lowercase().contains(&part.to_lowercase()),
        TestKind::StartsWith => |text, part| text.starts_with(part),
        TestKind::EndsWith => |text, part| text.ends_with(part),
        TestKind::Mentions => mentions_text,
        _ => return None,
    };
    let test = TextTest { text, wanted, answer: holds(text, wanted), is_whole: false };
    test.other_spelling(holds).map(OtherSpelling::in_words)
}

/// What asks each element of a list for a part, in place of the text of a test: `any x in to: x contains "evil"`.
///
/// `statement` is its first word: what is required, of each call or alone, is required of all elements.
pub(in crate::vm) fn part_help(
    kind: TestKind,
    text: &str,
    statement: &str,
    subject: &Value<'_>,
    operand: &Value<'_>,
) -> Option<String> {
    let word = match kind {
        TestKind::Contains => "contains",
        TestKind::ContainsIgnoringCase => "icontains",
        TestKind::StartsWith => "starts with",
        TestKind::EndsWith => "ends with",
        TestKind::Matches => "matches",
        _ => return None,
    };
    let Value::List(items) = subject else { return None };
    if spells_words(items, operand) || holds_written_like(subject, operand).is_some() {
        return None;
    }
    let (front, rest) = match text.split_once(&format!(" {word} ")) {
        Some(parts) => parts,
        None if kind == TestKind::Matches => text.split_once(": ")?,
        None => return None,
    };
    // A condition alone; of a list that contains something, one element has to.
    let is_part = matches!(kind, TestKind::Contains | TestKind::ContainsIgnoringCase);
    let is_alone = !is_part && !statement.is_empty() && text.starts_with(statement);
    let is_required = statement == "each" || is_alone;
    let (path, quantifier) = match front.strip_suffix(" not").map(str::trim_end) {
        Some(path) => (path, "no"),
        None if is_required => (front, "all"),
        None => (front, "any"),
    };
    let is_path = |letter: char| letter.is_alphanumeric() || "_.[]*-".contains(letter);
    let whole = path.chars().all(is_path) && !path.is_empty() && !rest.ends_with('…');
    whole.then(|| format!("{quantifier} x in {path}: x {word} {rest}"))
}

fn written_like(text: &str, other: &str) -> &'static str {
    match () {
        () if text.trim() == other.trim() => "only white space around it differs",
        () if text.to_lowercase() == other.to_lowercase() => "only the letter case differs",
        () => "only the letter case and white space around it differ",
    }
}

fn holds_written_like(list: &Value<'_>, wanted: &Value<'_>) -> Option<String> {
    let (Value::List(items), Value::Text(wanted)) = (list, wanted) else { return None };
    let texts = items.iter().filter_map(|item| if let Value::Text(text) = item.value { Some(text) } else { None });
    let mut like = texts.filter(|text| is_written_like(text.as_str(), wanted.as_str()));
    like.next().map(|text| format!("for one element {}", written_like(text.as_str(), wanted.as_str())))
}

fn with_article(value: &Value<'_>) -> &'static str {
    match value {
        Value::Missing | Value::Absent | Value::Null => "nothing",
        Value::Boolean(_) | Value::Truth(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::Text(_) => "a string",
        Value::List(_) => "a list",
        Value::Object(_) => "an object",
        Value::Range(_) => "a range",
        Value::Regex(_) => "a regular expression",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_base::value::ValueText;

    #[test]
    fn what_is_required_of_each_call_is_required_of_every_element() {
        let arena = bumpalo::Bump::new();
        let text = |text| Value::Text(ValueText::Plain(text));
        let list = Value::List(arena.alloc([Node::computed(text("a@b.com")), Node::computed(text("c@d.com"))]));
        let help = |rule: &str, statement: &str| {
            part_help(TestKind::EndsWith, rule, statement, &list, &text("@b.com")).unwrap_or_default()
        };
        assert_eq!(help("to ends with \"@b.com\"", "each"), "all x in to: x ends with \"@b.com\"");
        assert_eq!(help("to not ends with \"@b.com\"", "each"), "no x in to: x ends with \"@b.com\"");
        assert_eq!(help("to ends with \"@b.com\"", "never"), "any x in to: x ends with \"@b.com\"");
        assert_eq!(help("to ends with \"@b.com\"", "to"), "all x in to: x ends with \"@b.com\"");
        assert_eq!(help("to ends with \"@b.com\"", "no"), "any x in to: x ends with \"@b.com\"");
    }
}
