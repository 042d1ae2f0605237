//! Constraints of the documented policy format on an argument, one row for each key.

use super::AssayLowering;
use super::formats;
use crate::writer;
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;

pub(super) const TYPES: &[(&str, &str, ConstrainedType)] = &[
    ("string", "string", ConstrainedType::Text),
    ("number", "number", ConstrainedType::Number),
    ("integer", "integer", ConstrainedType::Number),
    ("boolean", "boolean", ConstrainedType::Any),
    ("array", "list", ConstrainedType::List),
    ("object", "object", ConstrainedType::Object),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConstrainedType {
    Any,
    Number,
    Text,
    List,
    Object,
}

pub(super) struct ConstrainedArgument<'n> {
    pub(super) tool: String,
    pub(super) path: String,
    pub(super) name: String,
    pub(super) spec: &'n YamlNode,
    /// The document in which references without a file are resolved.
    pub(super) root: &'n YamlNode,
}

pub(super) struct ArgumentConstraint {
    pub(super) key: &'static str,
    pub(super) takes: ConstrainedType,
    /// Writes the condition; `None` for a keyword about values nested inside of the argument, which goes into a JSON Schema.
    pub(super) lower: Option<Lower>,
}

/// Turns a constraint into a condition.
type Lower = fn(&mut AssayLowering<'_, '_>, &ConstrainedArgument<'_>, &YamlNode) -> Option<String>;

const fn constraint_row(key: &'static str, takes: ConstrainedType, lower: Lower) -> ArgumentConstraint {
    ArgumentConstraint { key, takes, lower: Some(lower) }
}

const fn inside(key: &'static str, takes: ConstrainedType) -> ArgumentConstraint {
    ArgumentConstraint { key, takes, lower: None }
}

pub(super) const CONSTRAINTS: &[ArgumentConstraint] = &[
    constraint_row("enum", ConstrainedType::Any, one_of),
    constraint_row("min", ConstrainedType::Number, |assay, of, node| assay.compare_value(&of.path, ">=", node)),
    constraint_row("minimum", ConstrainedType::Number, |assay, of, node| assay.compare_value(&of.path, ">=", node)),
    constraint_row("max", ConstrainedType::Number, |assay, of, node| assay.compare_value(&of.path, "<=", node)),
    constraint_row("maximum", ConstrainedType::Number, |assay, of, node| assay.compare_value(&of.path, "<=", node)),
    constraint_row("exclusiveMin", ConstrainedType::Number, |assay, of, node| assay.compare_value(&of.path, ">", node)),
    constraint_row("exclusiveMinimum", ConstrainedType::Number, |assay, of, node| {
        assay.compare_value(&of.path, ">", node)
    }),
    constraint_row("exclusiveMax", ConstrainedType::Number, |assay, of, node| assay.compare_value(&of.path, "<", node)),
    constraint_row("exclusiveMaximum", ConstrainedType::Number, |assay, of, node| {
        assay.compare_value(&of.path, "<", node)
    }),
    constraint_row("multipleOf", ConstrainedType::Number, multiple_of),
    constraint_row("minLength", ConstrainedType::Text, |assay, of, node| assay.compare_length(&of.path, ">=", node)),
    constraint_row("maxLength", ConstrainedType::Text, |assay, of, node| assay.compare_length(&of.path, "<=", node)),
    constraint_row("pattern", ConstrainedType::Text, |assay, of, node| {
        Some(format!("{} matches {}", of.path, assay.regex_literal(node, "")?))
    }),
    constraint_row("format", ConstrainedType::Text, |assay, of, node| {
        Some(format!("{} matches {}", of.path, formats::literal_of(assay, node)?))
    }),
    constraint_row("minItems", ConstrainedType::List, |assay, of, node| assay.compare_length(&of.path, ">=", node)),
    constraint_row("maxItems", ConstrainedType::List, |assay, of, node| assay.compare_length(&of.path, "<=", node)),
    constraint_row("uniqueItems", ConstrainedType::List, unique_items),
    inside("items", ConstrainedType::List),
    inside("properties", ConstrainedType::Object),
    inside("required", ConstrainedType::Object),
    inside("additionalProperties", ConstrainedType::Object),
];

impl AssayLowering<'_, '_> {
    fn compare_value(&mut self, path: &str, with: &str, node: &YamlNode) -> Option<String> {
        let Some(number) = node.as_number() else {
            self.low.sink.wrong_shape(node, "the bound", "a number");
            return None;
        };
        Some(format!("{path} {with} {number}"))
    }

    fn compare_length(&mut self, path: &str, with: &str, node: &YamlNode) -> Option<String> {
        let number = node.as_number().filter(|number| number.parse::<u64>().is_ok());
        if number.is_none() {
            self.low.sink.wrong_shape(node, "the bound", "a whole number from 0 on");
        }
        number.map(|number| format!("length({path}) {with} {number}"))
    }
}

fn one_of(assay: &mut AssayLowering<'_, '_>, of: &ConstrainedArgument<'_>, node: &YamlNode) -> Option<String> {
    if node.items().is_empty() {
        assay.low.sink.wrong_shape(node, "`enum`", "a list of the values that are allowed");
        return None;
    }
    Some(format!("{} in {}", of.path, writer::value_literal(node)))
}

/// Writes an exact test in decimal arithmetic. For example, a multiple of 0.05 has at most two decimals, and its hundredths are a multiple of 5.
fn multiple_of(assay: &mut AssayLowering<'_, '_>, of: &ConstrainedArgument<'_>, node: &YamlNode) -> Option<String> {
    let path = &of.path;
    let number = node.as_number().unwrap_or("");
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let part = part.trim_end_matches('0');
    let unit = format!("{whole}{part}").trim_start_matches('0').to_owned();
    let plain = unit.bytes().all(|byte| byte.is_ascii_digit()) && !unit.is_empty() && part.len() < 16;
    match (plain, part.len()) {
        (false, _) => {
            assay.low.sink.wrong_shape(node, "`multipleOf`", "a number above 0, in digits");
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

fn unique_items(assay: &mut AssayLowering<'_, '_>, of: &ConstrainedArgument<'_>, node: &YamlNode) -> Option<String> {
    match node.as_boolean() {
        Some(true) => Some(format!("length(distinct({0})) == length({0})", of.path)),
        Some(false) => None,
        None => {
            assay.low.sink.error(Slug::TypeMismatch, node.span, "`uniqueItems` is no boolean", "write `true`");
            None
        }
    }
}
