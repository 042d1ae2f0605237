//! The kinds of assertions: one table, and what each of them asks for.

use super::Sentences;
use super::check::{Check, Guard, Leaf, Part, Test, leaf, of_first};
use super::equality::equality;
use super::names::Names;
use super::operand::Operand;
use super::regex;
use crate::jsonpath::Path;
use crate::writer::Binds;
use crate::yaml::{Node, Value};
use averment_base::diagnostic::Slug;

/// A kind of assertion.
struct Kind {
    name: &'static str,
    /// The keys that it needs beside `kind`.
    keys: &'static [&'static str],
    read: fn(&mut Sentences<'_, '_>, &Node, &Names) -> Option<Check>,
}

/// All kinds.
static KINDS: &[Kind] = &[
    Kind { name: "equals", keys: &["lhs", "rhs"], read: |to, node, names| equality(to, node, names, true) },
    Kind { name: "not_equals", keys: &["lhs", "rhs"], read: |to, node, names| equality(to, node, names, false) },
    Kind { name: "at_most", keys: &["path", "value"], read: |to, node, names| bound(to, node, names, "<=") },
    Kind { name: "at_least", keys: &["path", "value"], read: |to, node, names| bound(to, node, names, ">=") },
    Kind { name: "length_eq", keys: &["path", "value"], read: |to, node, names| length(to, node, names, "==") },
    Kind { name: "length_at_most", keys: &["path", "value"], read: |to, node, names| length(to, node, names, "<=") },
    Kind { name: "length_at_least", keys: &["path", "value"], read: |to, node, names| length(to, node, names, ">=") },
    Kind { name: "is_type", keys: &["path", "type"], read: is_type },
    Kind { name: "matches_regex", keys: &["path", "pattern"], read: matches_regex },
    Kind {
        name: "all_of",
        keys: &["assert"],
        read: |to, node, names| Some(Check::All(node.span, to.checks(node, "`all_of`", names))),
    },
    Kind {
        name: "any_of",
        keys: &["assert"],
        read: |to, node, names| Some(Check::Any(node.span, to.checks(node, "`any_of`", names))),
    },
    Kind { name: "not", keys: &["assertion"], read: opposite },
    Kind { name: "for_each", keys: &["path", "assert"], read: for_each },
    Kind { name: "matches_schema", keys: &["path", "schema"], read: matches_schema },
];

/// The types of `is_type`, with how the language asks for them, and where the answer has to be plain.
const TYPES: [(&str, &str, &str); 7] = [
    ("string", " is string", "is_text"),
    ("number", "", ""),
    ("integer", "", "is_whole"),
    ("boolean", " is boolean", "is_flag"),
    ("array", " is list", "is_list"),
    ("object", " is object", "is_object"),
    ("null", " is null", ""),
];

impl Sentences<'_, '_> {
    /// The assertions of `assert`.
    pub(super) fn checks(&mut self, node: &Node, what: &str, names: &Names) -> Vec<Check> {
        let nodes = self.lowering.said.list(node, "assert", what);
        if let Some((key, list)) = node.entry("assert").filter(|_| nodes.is_empty()) {
            let message = format!("{what} asserts nothing: it holds whatever is answered");
            self.lowering.said.warning(
                Slug::AlwaysTrue,
                key.span.to(list.span),
                message,
                "write an assertion into `assert`",
            );
        }
        nodes.iter().filter_map(|node| self.check(node, names)).collect()
    }

    fn check(&mut self, node: &Node, names: &Names) -> Option<Check> {
        let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        let said = &mut self.lowering.said;
        if !node.is_map() {
            said.shape(node, "an assertion", "a mapping with a `kind`");
            return None;
        }
        let name = said.required_text(node, "kind", "an assertion")?;
        let Some(kind) = KINDS.iter().find(|kind| kind.name == name) else {
            said.unknown_word(node.get("kind")?, "kind of assertion", &known);
            return None;
        };
        let keys: Vec<&str> = std::iter::once("kind").chain(kind.keys.iter().copied()).collect();
        let what = format!("`{name}`");
        let good = said.keys(node, &what, &keys);
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

fn bound(to: &mut Sentences<'_, '_>, node: &Node, names: &Names, operator: &str) -> Option<Check> {
    let path = to.value_at(node.get("path")?, names)?;
    let number = |term: usize, always: bool| Guard { name: "is_number", term, always };
    let word = Part::Words(format!(" {operator} "));
    Some(Check::Leaf(Box::new(match to.operand(node.get("value")?, names)? {
        Operand::Path(place, text) => {
            let test = Test { binds: Binds::Test, parts: vec![Part::Term(0), word, Part::Term(1)] };
            let guards = vec![number(0, true), number(1, true)];
            Leaf { guards, ..leaf(node.span, vec![path, (place, text)], test) }
        }
        Operand::Value(value) => {
            let literal = Part::Literal(value.span, names.literal(&value));
            let test = Test { binds: Binds::Test, parts: vec![Part::Term(0), word, literal] };
            let leaf = leaf(node.span, vec![path], test);
            match value.number().is_some() {
                true => Leaf { guards: vec![number(0, false)], ..leaf },
                false => never(to, leaf, &value, "a number"),
            }
        }
    })))
}

fn length(to: &mut Sentences<'_, '_>, node: &Node, names: &Names, operator: &str) -> Option<Check> {
    let path = to.value_at(node.get("path")?, names)?;
    let measured = |bound: Part| {
        let word = Part::Words(format!(") {operator} "));
        Test { binds: Binds::Test, parts: vec![Part::Words("length(".to_owned()), Part::Term(0), word, bound] }
    };
    let long = Guard { name: "is_long", term: 0, always: true };
    Some(Check::Leaf(Box::new(match to.operand(node.get("value")?, names)? {
        Operand::Path(place, text) => {
            let guards = vec![long, Guard { name: "is_size", term: 1, always: true }];
            Leaf { guards, ..leaf(node.span, vec![path, (place, text)], measured(Part::Term(1))) }
        }
        Operand::Value(value) => {
            let leaf = leaf(node.span, vec![path], measured(Part::Literal(value.span, names.literal(&value))));
            let whole = value.number().is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
            match whole {
                // Whatever has a length has at least that.
                true if operator == ">=" && value.number() == Some("0") => Leaf { test: short("is_long"), ..leaf },
                true => Leaf { guards: vec![long], ..leaf },
                false => never(to, leaf, &value, "a whole number that is not negative"),
            }
        }
    })))
}

/// `is_long(P)`.
fn short(name: &str) -> Test {
    let parts = vec![Part::Words(format!("{name}(")), Part::Term(0), Part::Words(")".to_owned())];
    Test { binds: Binds::Test, parts }
}

/// A bound that nothing can be compared with: nothing fits it, and whoever wrote it is told.
fn never(to: &mut Sentences<'_, '_>, mut leaf: Leaf, value: &Node, wanted: &str) -> Leaf {
    let message = format!("nothing can be compared with this bound: it is {}", value.kind());
    to.lowering.said.warning(Slug::TypeMismatch, value.span, message, format!("write {wanted}"));
    leaf.test = of_first(" is missing");
    leaf
}

fn is_type(to: &mut Sentences<'_, '_>, node: &Node, names: &Names) -> Option<Check> {
    let ty = node.get("type")?;
    let known: Vec<&str> = TYPES.iter().map(|(name, ..)| *name).collect();
    if ty.is_null() {
        let message = "`type: null` without quotes is no type but nothing at all";
        to.lowering.said.error(Slug::UnknownType, ty.span, message, "write `type: \"null\"`");
        return None;
    }
    let Some((name, words, plainly)) = TYPES.iter().find(|(name, ..)| ty.text() == Some(name)) else {
        to.lowering.said.unknown_word(ty, "type", &known);
        return None;
    };
    let terms = vec![to.value_at(node.get("path")?, names)?];
    let guard = |name: &'static str, always: bool| Guard { name, term: 0, always };
    let leaf = match *name {
        "number" => {
            let mut fraction = short("is_whole");
            fraction.binds = Binds::Not;
            fraction.parts.insert(0, Part::Words("not ".to_owned()));
            Leaf { guards: vec![guard("is_number", true)], ..leaf(node.span, terms, fraction) }
        }
        _ if plainly.is_empty() => leaf(node.span, terms, of_first(words)),
        _ => {
            let test = if words.is_empty() { short(plainly) } else { of_first(words) };
            Leaf { guards: vec![guard(plainly, false)], is_guard: true, ..leaf(node.span, terms, test) }
        }
    };
    Some(Check::Leaf(Box::new(leaf)))
}

fn matches_regex(to: &mut Sentences<'_, '_>, node: &Node, names: &Names) -> Option<Check> {
    let path = to.value_at(node.get("path")?, names)?;
    let pattern = node.get("pattern")?;
    let text = to.lowering.said.as_text(pattern, "`pattern`")?;
    let literal = to.pattern(pattern, text, names)?;
    let leaf = match regex::finds_all(text) {
        // It finds itself in every text: what is asked is whether there is one.
        true => {
            let guards = vec![Guard { name: "is_text", term: 0, always: false }];
            Leaf { guards, is_guard: true, ..leaf(node.span, vec![path], of_first(" is string")) }
        }
        false => {
            let parts = vec![Part::Term(0), Part::Words(" matches ".to_owned()), Part::Literal(pattern.span, literal)];
            Leaf {
                guards: vec![Guard { name: "is_text", term: 0, always: false }],
                ..leaf(node.span, vec![path], Test { binds: Binds::Test, parts })
            }
        }
    };
    Some(Check::Leaf(Box::new(leaf)))
}

fn opposite(to: &mut Sentences<'_, '_>, node: &Node, names: &Names) -> Option<Check> {
    let inner = to.check(node.get("assertion")?, names)?;
    Some(Check::Not(node.span, Box::new(inner)))
}

fn for_each(to: &mut Sentences<'_, '_>, node: &Node, names: &Names) -> Option<Check> {
    let path = node.get("path")?;
    let text = to.lowering.said.as_text(path, "a path")?;
    let behind = to.root(path, text, names)?;
    let found = names.values(&Path::behind_root(behind));
    let counted = node.get("assert").is_some_and(looks_at_index);
    let list = if counted { format!("numbered({found})") } else { found };
    let (inside, item) = names.inside(counted);
    let checks = to.checks(node, "`for_each`", &inside);
    Some(Check::Each(node.span, vec![(path.span, list)], item, checks))
}

/// Whether some path looks at the place of an element.
fn looks_at_index(node: &Node) -> bool {
    let of_path = |text: &str| {
        text == "$"
            || ["$.index", "$['index']", "$[\"index\"]", "$.*", "$[*]", "$.."]
                .iter()
                .any(|start| text.starts_with(start))
    };
    match &node.value {
        Value::Text(text) => of_path(text),
        Value::List(items) => items.iter().any(looks_at_index),
        Value::Map(entries) => entries.iter().any(|(_, value)| looks_at_index(value)),
        _ => false,
    }
}

fn matches_schema(to: &mut Sentences<'_, '_>, node: &Node, names: &Names) -> Option<Check> {
    let path = to.value_at(node.get("path")?, names)?;
    let schema = node.get("schema")?;
    let test = match &schema.value {
        Value::Bool(false) => of_first(" is missing"),
        Value::Bool(true) => of_first(" exists"),
        Value::Map(entries) if entries.is_empty() => of_first(" exists"),
        Value::Map(_) => {
            let name = to.schema(schema);
            let parts = vec![Part::Term(0), Part::Words(" is ".to_owned()), Part::Literal(schema.span, name)];
            Test { binds: Binds::Test, parts }
        }
        _ => {
            to.lowering.said.shape(schema, "`schema`", "a JSON Schema: a mapping, `true` or `false`");
            return None;
        }
    };
    Some(Check::Leaf(Box::new(leaf(node.span, vec![path], test))))
}
