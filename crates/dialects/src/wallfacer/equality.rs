//! Equality of two values. JSON distinguishes `1` from `1.0`.

use super::PackLowering;
use super::check::{CheckLeaf, LeafTest, PackCheck, TestPart, TypeGuard, first_term_test, new_leaf};
use super::names::PathRoots;
use super::operand::PackOperand;
use super::regex;
use super::template::KeptParams;
use crate::writer::BindingStrength;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::source::Span;

pub(super) fn equality_check(
    to: &mut PackLowering<'_, '_>,
    node: &YamlNode,
    names: &PathRoots,
    equal: bool,
) -> Option<PackCheck> {
    let (lhs, rhs) = (to.read_operand(node.get("lhs")?, names)?, to.read_operand(node.get("rhs")?, names)?);
    let (path, value) = match (lhs, rhs) {
        (PackOperand::Value(lhs), PackOperand::Value(rhs))
            if !names.each_tool && !to.kept.is_within(&lhs) && !to.kept.is_within(&rhs) =>
        {
            return Some(PackCheck::Sure(node.span, same_value(&lhs, &rhs) == equal));
        }
        (PackOperand::Value(lhs), PackOperand::Value(rhs)) => ((lhs.span, names.value_literal(&lhs, to.kept)), rhs),
        (PackOperand::Path(a, first), PackOperand::Path(b, second)) => {
            return Some(compare_paths(node.span, (a, first), (b, second), equal));
        }
        (PackOperand::Path(place, path), PackOperand::Value(value))
        | (PackOperand::Value(value), PackOperand::Path(place, path)) => ((place, path), value),
    };
    Some(with_value(node.span, path, &value, names, to.kept, equal))
}

/// Compares two paths whose types are unknown.
fn compare_paths(place: Span, first: (Span, String), second: (Span, String), equal: bool) -> PackCheck {
    let word = if equal { " === " } else { " !== " };
    let parts = vec![TestPart::Term(0), TestPart::Words(word.to_owned()), TestPart::Term(1)];
    let test = LeafTest { binds: BindingStrength::Test, parts };
    PackCheck::Leaf(Box::new(CheckLeaf { of_missing: !equal, ..new_leaf(place, vec![first, second], test) }))
}

/// Compares a path with a value. A value of another type is unequal.
fn with_value(
    place: Span,
    path: (Span, String),
    value: &YamlNode,
    names: &PathRoots,
    kept: &KeptParams,
    equal: bool,
) -> PackCheck {
    let literal = || TestPart::Literal(value.span, names.value_literal(value, kept));
    let compared = |word: &str| LeafTest {
        binds: BindingStrength::Test,
        parts: vec![TestPart::Term(0), TestPart::Words(format!(" {word} ")), literal()],
    };
    let depends =
        kept.is_within(value) || names.each_tool && value.as_text().is_some_and(|text| text.contains("{{tool_name}}"));
    let is = match &value.value {
        YamlValue::Null => None,
        YamlValue::Bool(_) => Some(("boolean", "is_flag")),
        YamlValue::Number(_) => Some(("number", "is_number")),
        YamlValue::Text(_) => Some(("string", "is_text")),
        YamlValue::List(_) => Some(("list", "is_list")),
        YamlValue::Map(_) => Some(("object", "is_object")),
    };
    // Texts that differ only in case are compared exactly by a regular expression.
    let exactly = value.as_text().filter(|_| !depends).and_then(regex::exact_literal);
    let matches = |word: &str| {
        exactly.as_ref().map(|regex| LeafTest {
            binds: BindingStrength::Test,
            parts: vec![
                TestPart::Term(0),
                TestPart::Words(format!(" {word} ")),
                TestPart::Literal(value.span, regex.clone()),
            ],
        })
    };
    let mut leaf = match (equal, is) {
        (true, None) => new_leaf(place, vec![path], compared("===")),
        (true, Some((_, name))) => {
            let mut leaf = new_leaf(place, vec![path], compared("==="));
            leaf.guards.push(TypeGuard { name, term: 0, always: false });
            leaf.guarded = matches("matches");
            leaf
        }
        (false, None) => new_leaf(place, vec![path], first_term_test(" is not null")),
        (false, Some((ty, _))) => {
            let other = matches("not matches").unwrap_or_else(|| compared("!=="));
            let mut parts = vec![TestPart::Term(0), TestPart::Words(format!(" is not {ty} or "))];
            parts.extend(other.parts);
            new_leaf(place, vec![path], LeafTest { binds: BindingStrength::Or, parts })
        }
    };
    leaf.of_missing = !equal;
    PackCheck::Leaf(Box::new(leaf))
}

/// Compares two values; `1` differs from `1.0`.
fn same_value(a: &YamlNode, b: &YamlNode) -> bool {
    match (&a.value, &b.value) {
        (YamlValue::Number(a), YamlValue::Number(b)) => {
            let fraction = |text: &str| text.contains(['.', 'e', 'E']);
            let float = |text: &str| text.parse::<f64>().ok();
            if fraction(a) || fraction(b) { fraction(a) == fraction(b) && float(a) == float(b) } else { a == b }
        }
        (YamlValue::List(a), YamlValue::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b))
        }
        (YamlValue::Map(entries), YamlValue::Map(others)) => {
            let found = |(key, value): &(YamlNode, YamlNode)| {
                others.iter().any(|(other, one)| other.key_text() == key.key_text() && same_value(value, one))
            };
            entries.len() == others.len() && entries.iter().all(found)
        }
        (a, b) => a == b,
    }
}
