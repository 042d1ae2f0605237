//! Whether two values are the same: JSON tells `1` and `1.0` apart.

use super::Sentences;
use super::check::{Check, Guard, Leaf, Part, Test, leaf, of_first};
use super::names::Names;
use super::operand::Operand;
use super::regex;
use crate::writer::Binds;
use crate::yaml::{Node, Value};
use averment_base::source::Span;

pub(super) fn equality(to: &mut Sentences<'_, '_>, node: &Node, names: &Names, equal: bool) -> Option<Check> {
    let (lhs, rhs) = (to.operand(node.get("lhs")?, names)?, to.operand(node.get("rhs")?, names)?);
    let (path, value) = match (lhs, rhs) {
        (Operand::Value(lhs), Operand::Value(rhs)) if !names.each_tool => {
            return Some(Check::Sure(node.span, same(&lhs, &rhs) == equal));
        }
        (Operand::Value(lhs), Operand::Value(rhs)) => ((lhs.span, names.literal(&lhs)), rhs),
        (Operand::Path(a, first), Operand::Path(b, second)) => {
            return Some(of_paths(node.span, (a, first), (b, second), equal));
        }
        (Operand::Path(place, path), Operand::Value(value)) | (Operand::Value(value), Operand::Path(place, path)) => {
            ((place, path), value)
        }
    };
    Some(with_value(node.span, path, &value, names, equal))
}

/// Two paths: nothing is known of their types.
fn of_paths(place: Span, first: (Span, String), second: (Span, String), equal: bool) -> Check {
    let word = if equal { " === " } else { " !== " };
    let parts = vec![Part::Term(0), Part::Words(word.to_owned()), Part::Term(1)];
    let test = Test { binds: Binds::Test, parts };
    Check::Leaf(Box::new(Leaf { of_missing: !equal, ..leaf(place, vec![first, second], test) }))
}

/// A path and a value: what has another type is another value, and nothing more is to be said of it.
fn with_value(place: Span, path: (Span, String), value: &Node, names: &Names, equal: bool) -> Check {
    let literal = || Part::Literal(value.span, names.literal(value));
    let compared = |word: &str| Test {
        binds: Binds::Test,
        parts: vec![Part::Term(0), Part::Words(format!(" {word} ")), literal()],
    };
    let depends = names.each_tool && value.text().is_some_and(|text| text.contains("{{tool_name}}"));
    let is = match &value.value {
        Value::Null => None,
        Value::Bool(_) => Some(("boolean", "is_flag")),
        Value::Number(_) => Some(("number", "is_number")),
        Value::Text(_) => Some(("string", "is_text")),
        Value::List(_) => Some(("list", "is_list")),
        Value::Map(_) => Some(("object", "is_object")),
    };
    // Texts that differ by their letter case alone are compared letter by letter by an expression.
    let exactly = value.text().filter(|_| !depends).and_then(regex::exactly);
    let matches = |word: &str| {
        exactly.as_ref().map(|regex| Test {
            binds: Binds::Test,
            parts: vec![Part::Term(0), Part::Words(format!(" {word} ")), Part::Literal(value.span, regex.clone())],
        })
    };
    let mut leaf = match (equal, is) {
        (true, None) => leaf(place, vec![path], compared("===")),
        (true, Some((_, name))) => {
            let mut leaf = leaf(place, vec![path], compared("==="));
            leaf.guards.push(Guard { name, term: 0, always: false });
            leaf.guarded = matches("matches");
            leaf
        }
        (false, None) => leaf(place, vec![path], of_first(" is not null")),
        (false, Some((ty, _))) => {
            let other = matches("not matches").unwrap_or_else(|| compared("!=="));
            let mut parts = vec![Part::Term(0), Part::Words(format!(" is not {ty} or "))];
            parts.extend(other.parts);
            leaf(place, vec![path], Test { binds: Binds::Or, parts })
        }
    };
    leaf.of_missing = !equal;
    Check::Leaf(Box::new(leaf))
}

/// Whether two values are the same: `1` is not `1.0`.
fn same(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Number(a), Value::Number(b)) => {
            let fraction = |text: &str| text.contains(['.', 'e', 'E']);
            let float = |text: &str| text.parse::<f64>().ok();
            if fraction(a) || fraction(b) { fraction(a) == fraction(b) && float(a) == float(b) } else { a == b }
        }
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Map(entries), Value::Map(others)) => {
            let found = |(key, value): &(Node, Node)| {
                others.iter().any(|(other, one)| other.key() == key.key() && same(value, one))
            };
            entries.len() == others.len() && entries.iter().all(found)
        }
        (a, b) => a == b,
    }
}
