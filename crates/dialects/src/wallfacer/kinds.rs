//! The kinds of assertions: one table, and a function for each.

use super::PackLowering;
use super::check::{CheckLeaf, LeafTest, PackCheck, TestPart, TypeGuard, first_term_test, new_leaf};
use super::equality::equality_check;
use super::names::PathRoots;
use super::operand::PackOperand;
use super::regex;
use crate::jsonpath::ForeignPath;
use crate::writer::BindingStrength;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;

struct PackAssertion {
    name: &'static str,
    keys: &'static [&'static str],
    read: fn(&mut PackLowering<'_, '_>, &YamlNode, &PathRoots) -> Option<PackCheck>,
}

static KINDS: &[PackAssertion] = &[
    PackAssertion {
        name: "equals",
        keys: &["lhs", "rhs"],
        read: |to, node, names| equality_check(to, node, names, true),
    },
    PackAssertion {
        name: "not_equals",
        keys: &["lhs", "rhs"],
        read: |to, node, names| equality_check(to, node, names, false),
    },
    PackAssertion {
        name: "at_most",
        keys: &["path", "value"],
        read: |to, node, names| bound_check(to, node, names, "<="),
    },
    PackAssertion {
        name: "at_least",
        keys: &["path", "value"],
        read: |to, node, names| bound_check(to, node, names, ">="),
    },
    PackAssertion {
        name: "length_eq",
        keys: &["path", "value"],
        read: |to, node, names| length_check(to, node, names, "=="),
    },
    PackAssertion {
        name: "length_at_most",
        keys: &["path", "value"],
        read: |to, node, names| length_check(to, node, names, "<="),
    },
    PackAssertion {
        name: "length_at_least",
        keys: &["path", "value"],
        read: |to, node, names| length_check(to, node, names, ">="),
    },
    PackAssertion { name: "is_type", keys: &["path", "type"], read: is_type },
    PackAssertion { name: "matches_regex", keys: &["path", "pattern"], read: matches_regex },
    PackAssertion {
        name: "all_of",
        keys: &["assert"],
        read: |to, node, names| Some(PackCheck::All(node.span, to.read_checks(node, "`all_of`", names))),
    },
    PackAssertion {
        name: "any_of",
        keys: &["assert"],
        read: |to, node, names| Some(PackCheck::Any(node.span, to.read_checks(node, "`any_of`", names))),
    },
    PackAssertion { name: "not", keys: &["assertion"], read: opposite_check },
    PackAssertion { name: "for_each", keys: &["path", "assert"], read: for_each },
    PackAssertion { name: "matches_schema", keys: &["path", "schema"], read: matches_schema },
];

const TYPES: [(&str, &str, &str); 7] = [
    ("string", " is string", "is_text"),
    ("number", "", ""),
    ("integer", "", "is_whole"),
    ("boolean", " is boolean", "is_flag"),
    ("array", " is list", "is_list"),
    ("object", " is object", "is_object"),
    ("null", " is null", ""),
];

impl PackLowering<'_, '_> {
    pub(super) fn read_checks(&mut self, node: &YamlNode, what: &str, names: &PathRoots) -> Vec<PackCheck> {
        let nodes = self.lowering.sink.list_items(node, "assert", what);
        if let Some((key, list)) = node.find_entry("assert").filter(|_| nodes.is_empty()) {
            let message = format!("{what} asserts nothing: it holds whatever is answered");
            self.lowering.sink.warning(
                Slug::AlwaysTrue,
                key.span.cover_with(list.span),
                message,
                "write an assertion into `assert`",
            );
        }
        nodes.iter().filter_map(|node| self.read_check(node, names)).collect()
    }

    fn read_check(&mut self, node: &YamlNode, names: &PathRoots) -> Option<PackCheck> {
        let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        let said = &mut self.lowering.sink;
        if !node.is_map() {
            said.wrong_shape(node, "an assertion", "a mapping with a `kind`");
            return None;
        }
        let name = said.required_text(node, "kind", "an assertion")?;
        let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
            said.unknown_word(node.get("kind")?, "kind of assertion", &known);
            return None;
        };
        let keys: Vec<&str> = std::iter::once("kind").chain(kind.keys.iter().copied()).collect();
        let what = format!("`{name}`");
        let good = said.check_keys(node, &what, &keys);
        for key in kind.keys.iter().filter(|key| node.get(key).is_none()) {
            let place = node.get("kind").map_or(node.span, |kind| kind.span);
            said.error(
                Slug::TypeMismatch,
                place,
                format!("{what} has no `{key}`"),
                format!("write `{key}: …` beside `kind`"),
            );
        }
        (good && kind.keys.iter().all(|key| node.get(key).is_some())).then(|| (kind.read)(self, node, names)).flatten()
    }
}

fn bound_check(to: &mut PackLowering<'_, '_>, node: &YamlNode, names: &PathRoots, operator: &str) -> Option<PackCheck> {
    let path = to.value_at(node.get("path")?, names)?;
    let number = |term: usize, always: bool| TypeGuard { name: "is_number", term, always };
    let word = TestPart::Words(format!(" {operator} "));
    Some(PackCheck::Leaf(Box::new(match to.read_operand(node.get("value")?, names)? {
        PackOperand::Path(place, text) => {
            let test =
                LeafTest { binds: BindingStrength::Test, parts: vec![TestPart::Term(0), word, TestPart::Term(1)] };
            let guards = vec![number(0, true), number(1, true)];
            CheckLeaf { guards, ..new_leaf(node.span, vec![path, (place, text)], test) }
        }
        PackOperand::Value(value) => {
            let literal = TestPart::Literal(value.span, names.value_literal(&value, to.kept));
            let test = LeafTest { binds: BindingStrength::Test, parts: vec![TestPart::Term(0), word, literal] };
            let leaf = new_leaf(node.span, vec![path], test);
            match value.as_number().is_some() {
                true => CheckLeaf { guards: vec![number(0, false)], ..leaf },
                false => impossible_bound(to, leaf, &value, "a number"),
            }
        }
    })))
}

fn length_check(
    to: &mut PackLowering<'_, '_>,
    node: &YamlNode,
    names: &PathRoots,
    operator: &str,
) -> Option<PackCheck> {
    let path = to.value_at(node.get("path")?, names)?;
    let measured = |bound: TestPart| {
        let word = TestPart::Words(format!(") {operator} "));
        LeafTest {
            binds: BindingStrength::Test,
            parts: vec![TestPart::Words("length(".to_owned()), TestPart::Term(0), word, bound],
        }
    };
    let long = TypeGuard { name: "is_long", term: 0, always: true };
    Some(PackCheck::Leaf(Box::new(match to.read_operand(node.get("value")?, names)? {
        PackOperand::Path(place, text) => {
            let guards = vec![long, TypeGuard { name: "is_size", term: 1, always: true }];
            CheckLeaf { guards, ..new_leaf(node.span, vec![path, (place, text)], measured(TestPart::Term(1))) }
        }
        PackOperand::Value(value) => {
            let leaf = new_leaf(
                node.span,
                vec![path],
                measured(TestPart::Literal(value.span, names.value_literal(&value, to.kept))),
            );
            let whole = value.as_number().is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
            match whole {
                // Every length is at least 0, so only the type matters.
                true if operator == ">=" && value.as_number() == Some("0") => {
                    CheckLeaf { test: shorthand_test("is_long"), ..leaf }
                }
                true => CheckLeaf { guards: vec![long], ..leaf },
                false => impossible_bound(to, leaf, &value, "a whole number that is not negative"),
            }
        }
    })))
}

fn shorthand_test(name: &str) -> LeafTest {
    let parts = vec![TestPart::Words(format!("{name}(")), TestPart::Term(0), TestPart::Words(")".to_owned())];
    LeafTest { binds: BindingStrength::Test, parts }
}

/// Handles a bound that no value can be compared with: the test always fails, with a warning.
fn impossible_bound(to: &mut PackLowering<'_, '_>, mut leaf: CheckLeaf, value: &YamlNode, wanted: &str) -> CheckLeaf {
    let message = format!("nothing can be compared with this bound: it is {}", value.kind_name());
    to.lowering.sink.warning(Slug::TypeMismatch, value.span, message, format!("write {wanted}"));
    leaf.test = first_term_test(" is missing");
    leaf
}

fn is_type(to: &mut PackLowering<'_, '_>, node: &YamlNode, names: &PathRoots) -> Option<PackCheck> {
    let ty = node.get("type")?;
    let known: Vec<&str> = TYPES.iter().map(|(name, ..)| *name).collect();
    if ty.is_null() {
        let message = "`type: null` without quotes is no type but nothing at all";
        to.lowering.sink.error(Slug::UnknownType, ty.span, message, "write `type: \"null\"`");
        return None;
    }
    let Some((name, words, plainly)) = TYPES.iter().find(|(name, ..)| ty.as_text() == Some(name)) else {
        to.lowering.sink.unknown_word(ty, "type", &known);
        return None;
    };
    let terms = vec![to.value_at(node.get("path")?, names)?];
    let guard = |name: &'static str, always: bool| TypeGuard { name, term: 0, always };
    let leaf = match *name {
        "number" => {
            let mut fraction = shorthand_test("is_whole");
            fraction.binds = BindingStrength::Not;
            fraction.parts.insert(0, TestPart::Words("not ".to_owned()));
            CheckLeaf { guards: vec![guard("is_number", true)], ..new_leaf(node.span, terms, fraction) }
        }
        _ if plainly.is_empty() => new_leaf(node.span, terms, first_term_test(words)),
        _ => {
            let test = if words.is_empty() { shorthand_test(plainly) } else { first_term_test(words) };
            CheckLeaf { guards: vec![guard(plainly, false)], is_guard: true, ..new_leaf(node.span, terms, test) }
        }
    };
    Some(PackCheck::Leaf(Box::new(leaf)))
}

fn matches_regex(to: &mut PackLowering<'_, '_>, node: &YamlNode, names: &PathRoots) -> Option<PackCheck> {
    let path = to.value_at(node.get("path")?, names)?;
    let pattern = node.get("pattern")?;
    let text = to.lowering.sink.as_text(pattern, "`pattern`")?;
    let literal = to.regex_literal(pattern, text, names)?;
    let leaf = match regex::finds_all(text) {
        // The pattern matches every text, so only the type matters.
        true => {
            let guards = vec![TypeGuard { name: "is_text", term: 0, always: false }];
            CheckLeaf { guards, is_guard: true, ..new_leaf(node.span, vec![path], first_term_test(" is string")) }
        }
        false => {
            let parts = vec![
                TestPart::Term(0),
                TestPart::Words(" matches ".to_owned()),
                TestPart::Literal(pattern.span, literal.clone()),
            ];
            let words = |text: &str| TestPart::Words(text.to_owned());
            // Written without the helper, because a failure report would otherwise point at the helper and not at the pattern.
            let opposite = vec![
                words("not (if "),
                TestPart::Term(0),
                words(" exists then type_of("),
                TestPart::Term(0),
                words(") == \"string\" and "),
                TestPart::Term(0),
                words(" matches "),
                TestPart::Literal(pattern.span, literal),
                words(" else false)"),
            ];
            CheckLeaf {
                opposite: Some(LeafTest { binds: BindingStrength::Not, parts: opposite }),
                guards: vec![TypeGuard { name: "is_text", term: 0, always: false }],
                ..new_leaf(node.span, vec![path], LeafTest { binds: BindingStrength::Test, parts })
            }
        }
    };
    Some(PackCheck::Leaf(Box::new(leaf)))
}

fn opposite_check(to: &mut PackLowering<'_, '_>, node: &YamlNode, names: &PathRoots) -> Option<PackCheck> {
    let inner = to.read_check(node.get("assertion")?, names)?;
    Some(PackCheck::Not(node.span, Box::new(inner)))
}

fn for_each(to: &mut PackLowering<'_, '_>, node: &YamlNode, names: &PathRoots) -> Option<PackCheck> {
    let path = node.get("path")?;
    let text = to.lowering.sink.as_text(path, "a path")?;
    let behind = to.path_root(path, text, names)?;
    let found = names.all_values(&ForeignPath::behind_root(behind));
    let counted = node.get("assert").is_some_and(looks_at_index);
    let list = if counted { format!("numbered({found})") } else { found };
    let (inside, item) = names.inside_item(counted);
    let checks = to.read_checks(node, "`for_each`", &inside);
    Some(PackCheck::Each(node.span, vec![(path.span, list)], item, checks))
}

fn looks_at_index(node: &YamlNode) -> bool {
    let of_path = |text: &str| {
        text == "$"
            || ["$.index", "$['index']", "$[\"index\"]", "$.*", "$[*]", "$.."]
                .iter()
                .any(|start| text.starts_with(start))
    };
    match &node.value {
        YamlValue::Text(text) => of_path(text),
        YamlValue::List(items) => items.iter().any(looks_at_index),
        YamlValue::Map(entries) => entries.iter().any(|(_, value)| looks_at_index(value)),
        _ => false,
    }
}

fn matches_schema(to: &mut PackLowering<'_, '_>, node: &YamlNode, names: &PathRoots) -> Option<PackCheck> {
    let path = to.value_at(node.get("path")?, names)?;
    let schema = node.get("schema")?;
    let test = match &schema.value {
        YamlValue::Bool(false) => first_term_test(" is missing"),
        YamlValue::Bool(true) => first_term_test(" exists"),
        YamlValue::Map(entries) if entries.is_empty() => first_term_test(" exists"),
        YamlValue::Map(_) => {
            let name = to.schema_name(schema);
            let parts =
                vec![TestPart::Term(0), TestPart::Words(" is ".to_owned()), TestPart::Literal(schema.span, name)];
            LeafTest { binds: BindingStrength::Test, parts }
        }
        _ => {
            to.lowering.sink.wrong_shape(schema, "`schema`", "a JSON Schema: a mapping, `true` or `false`");
            return None;
        }
    };
    Some(PackCheck::Leaf(Box::new(new_leaf(node.span, vec![path], test))))
}
