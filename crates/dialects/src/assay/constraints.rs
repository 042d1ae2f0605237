//! What the documented policy asks of an argument, a key each.

use super::Assay;
use super::formats;
use crate::writer;
use crate::yaml::Node;
use averment_base::diagnostic::Slug;

/// The types of arguments, with what they are called in the language.
pub(super) const TYPES: &[(&str, &str, Takes)] = &[
    ("string", "string", Takes::Text),
    ("number", "number", Takes::Number),
    ("integer", "integer", Takes::Number),
    ("boolean", "boolean", Takes::Any),
    ("array", "list", Takes::List),
    ("object", "object", Takes::Object),
];

/// Which values a constraint speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Any,
    Number,
    Text,
    List,
    Object,
}

/// An argument, and where its value is.
pub(super) struct Argument<'n> {
    /// The calls, as a pattern.
    pub(super) tool: String,
    /// Its path.
    pub(super) path: String,
    /// What its schemas are called.
    pub(super) name: String,
    /// What is asked of it.
    pub(super) spec: &'n Node,
    /// The document that references without a file lead into.
    pub(super) root: &'n Node,
}

/// A constraint: its key and what it becomes.
pub(super) struct Constraint {
    pub(super) key: &'static str,
    pub(super) takes: Takes,
    /// The condition that it becomes; `None` for a part of the schema of what is inside of the argument.
    pub(super) lower: Option<Lower>,
}

/// Makes a condition of a constraint.
type Lower = fn(&mut Assay<'_, '_>, &Argument<'_>, &Node) -> Option<String>;

const fn row(key: &'static str, takes: Takes, lower: Lower) -> Constraint {
    Constraint { key, takes, lower: Some(lower) }
}

const fn inside(key: &'static str, takes: Takes) -> Constraint {
    Constraint { key, takes, lower: None }
}

pub(super) const CONSTRAINTS: &[Constraint] = &[
    row("enum", Takes::Any, one_of),
    row("min", Takes::Number, |assay, of, node| assay.compared(&of.path, ">=", node)),
    row("minimum", Takes::Number, |assay, of, node| assay.compared(&of.path, ">=", node)),
    row("max", Takes::Number, |assay, of, node| assay.compared(&of.path, "<=", node)),
    row("maximum", Takes::Number, |assay, of, node| assay.compared(&of.path, "<=", node)),
    row("exclusiveMin", Takes::Number, |assay, of, node| assay.compared(&of.path, ">", node)),
    row("exclusiveMinimum", Takes::Number, |assay, of, node| assay.compared(&of.path, ">", node)),
    row("exclusiveMax", Takes::Number, |assay, of, node| assay.compared(&of.path, "<", node)),
    row("exclusiveMaximum", Takes::Number, |assay, of, node| assay.compared(&of.path, "<", node)),
    row("multipleOf", Takes::Number, multiple_of),
    row("minLength", Takes::Text, |assay, of, node| assay.sized(&of.path, ">=", node)),
    row("maxLength", Takes::Text, |assay, of, node| assay.sized(&of.path, "<=", node)),
    row("pattern", Takes::Text, |assay, of, node| Some(format!("{} matches {}", of.path, assay.regex(node, "")?))),
    row("format", Takes::Text, |assay, of, node| {
        Some(format!("{} matches {}", of.path, formats::literal_of(assay, node)?))
    }),
    row("minItems", Takes::List, |assay, of, node| assay.sized(&of.path, ">=", node)),
    row("maxItems", Takes::List, |assay, of, node| assay.sized(&of.path, "<=", node)),
    row("uniqueItems", Takes::List, unique),
    inside("items", Takes::List),
    inside("properties", Takes::Object),
    inside("required", Takes::Object),
    inside("additionalProperties", Takes::Object),
];

impl Assay<'_, '_> {
    /// A comparison with a number.
    fn compared(&mut self, path: &str, with: &str, node: &Node) -> Option<String> {
        let Some(number) = node.number() else {
            self.low.said.shape(node, "the bound", "a number");
            return None;
        };
        Some(format!("{path} {with} {number}"))
    }

    /// A comparison of a length with a number.
    fn sized(&mut self, path: &str, with: &str, node: &Node) -> Option<String> {
        let number = node.number().filter(|number| number.parse::<u64>().is_ok());
        if number.is_none() {
            self.low.said.shape(node, "the bound", "a whole number from 0 on");
        }
        number.map(|number| format!("length({path}) {with} {number}"))
    }
}

fn one_of(assay: &mut Assay<'_, '_>, of: &Argument<'_>, node: &Node) -> Option<String> {
    if node.items().is_empty() {
        assay.low.said.shape(node, "`enum`", "a list of the values that are allowed");
        return None;
    }
    Some(format!("{} in {}", of.path, writer::literal(node)))
}

/// Exact in decimal: a multiple of 0.05 has two digits behind the point, and its hundredths are a multiple of 5.
fn multiple_of(assay: &mut Assay<'_, '_>, of: &Argument<'_>, node: &Node) -> Option<String> {
    let path = &of.path;
    let number = node.number().unwrap_or("");
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let part = part.trim_end_matches('0');
    let unit = format!("{whole}{part}").trim_start_matches('0').to_owned();
    let plain = unit.bytes().all(|byte| byte.is_ascii_digit()) && !unit.is_empty() && part.len() < 16;
    match (plain, part.len()) {
        (false, _) => {
            assay.low.said.shape(node, "`multipleOf`", "a number above 0, in digits");
            None
        }
        (true, 0) => Some(format!("{path} % {unit} == 0")),
        (true, digits) if unit == "1" => Some(format!("round({path}, {digits}) == {path}")),
        (true, digits) => {
            let scale = format!("1{}", "0".repeat(digits));
            Some(format!("round({path}, {digits}) == {path} and round({path} * {scale}) % {unit} == 0"))
        }
    }
}

fn unique(assay: &mut Assay<'_, '_>, of: &Argument<'_>, node: &Node) -> Option<String> {
    match node.boolean() {
        Some(true) => Some(format!("length(distinct({0})) == length({0})", of.path)),
        Some(false) => None,
        None => {
            assay.low.said.error(Slug::TypeMismatch, node.span, "`uniqueItems` is no boolean", "write `true`");
            None
        }
    }
}
