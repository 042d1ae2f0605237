//! What the documented policy asks of what is inside of an argument, as a JSON Schema.

use super::Assay;
use super::constraints::{Argument, CONSTRAINTS, TYPES};
use super::formats;
use super::schemas::{made, made_text};
use crate::yaml::{Node, Value};
use averment_base::diagnostic::Slug;

/// References inside of references.
const DEPTH: usize = 32;

/// Keys that are called otherwise in JSON Schema.
const RENAMED: &[(&str, &str)] = &[
    ("min", "minimum"),
    ("max", "maximum"),
    ("exclusiveMin", "exclusiveMinimum"),
    ("exclusiveMax", "exclusiveMaximum"),
];

/// What a key asks of the values inside of an argument.
pub(super) fn part(assay: &mut Assay<'_, '_>, of: &Argument<'_>, node: &Node) -> Option<String> {
    let entry = of.spec.entries().iter().find(|(_, value)| value.span == node.span)?;
    let mut entries = vec![entry.clone()];
    if entry.0.text() == Some("additionalProperties") {
        entries.extend(of.spec.entry("properties").map(|(key, value)| (key.clone(), names_of(value))));
    }
    let alone = made(Value::Map(entries), node.span);
    let schema = assay.json_schema(&alone, of.root, 0)?;
    let name = assay.schema(&of.name, &schema);
    Some(format!("{} is {name}", of.path))
}

/// The names of properties, of which nothing is asked.
fn names_of(properties: &Node) -> Node {
    let nothing = |(key, value): &(Node, Node)| (key.clone(), made(Value::Map(Vec::new()), value.span));
    made(Value::Map(properties.entries().iter().map(nothing).collect()), properties.span)
}

impl Assay<'_, '_> {
    /// What is asked of an argument, with what its `$ref` names.
    pub(super) fn resolved(&mut self, spec: &Node, root: &Node, depth: usize) -> Option<Node> {
        if !spec.is_map() {
            self.low.said.shape(spec, "what is asked of an argument", "a mapping: `type: number`");
            return None;
        }
        let Some(reference) = spec.get("$ref") else { return Some(spec.clone()) };
        if depth > DEPTH {
            let message = "the references go in a circle";
            self.low.said.error(Slug::Recursion, reference.span, message, "write the constraints here");
            return None;
        }
        let target = self.referenced(reference, root)?;
        let own = spec.entries().iter().filter(|(key, _)| key.text() != Some("$ref")).cloned();
        let mut entries: Vec<(Node, Node)> = own.collect();
        let inner = self.resolved(&target, root, depth.saturating_add(1))?;
        for (key, value) in inner.entries() {
            if !entries.iter().any(|(known, _)| known.key() == key.key()) {
                entries.push((key.clone(), value.clone()));
            }
        }
        Some(made(Value::Map(entries), spec.span))
    }

    /// The JSON Schema of what is asked.
    fn json_schema(&mut self, spec: &Node, root: &Node, depth: usize) -> Option<Node> {
        if depth > DEPTH {
            self.low.said.error(Slug::TooDeep, spec.span, "schemas are nested too deep", "nest less");
            return None;
        }
        let spec = self.resolved(spec, root, 0)?;
        let mut entries = Vec::new();
        for (key, value) in spec.entries() {
            entries.extend(self.json_entry(key, value, root, depth.saturating_add(1))?);
        }
        Some(made(Value::Map(entries), spec.span))
    }

    /// A key of it; none of a key that only describes.
    fn json_entry(&mut self, key: &Node, value: &Node, root: &Node, depth: usize) -> Option<Vec<(Node, Node)>> {
        let name = key.key();
        let one = |name: &str, value: Node| Some(vec![(made_text(name, key.span), value)]);
        match name.as_str() {
            "description" => Some(Vec::new()),
            "required" if value.boolean().is_some() => Some(Vec::new()),
            "format" => {
                let expression = formats::expression_of(self, value)?;
                one("pattern", made_text(expression, value.span))
            }
            "items" => one("items", self.json_schema(value, root, depth)?),
            "additionalProperties" if value.is_map() => one(&name, self.json_schema(value, root, depth)?),
            "properties" => self.json_properties(value, root, depth),
            _ => {
                let known = name == "type" || CONSTRAINTS.iter().any(|row| row.key == name);
                if !known {
                    let keys: Vec<&str> =
                        CONSTRAINTS.iter().map(|row| row.key).chain(["type", "description"]).collect();
                    self.low.said.unknown_key(key, "what is asked of a value", &keys);
                    return None;
                }
                if name == "type" && !TYPES.iter().any(|(word, ..)| value.text() == Some(word)) {
                    let words: Vec<&str> = TYPES.iter().map(|(word, ..)| *word).collect();
                    self.low.said.unknown_word(value, "type", &words);
                    return None;
                }
                let renamed = RENAMED.iter().find(|(own, _)| *own == name).map_or(name.as_str(), |(_, json)| json);
                one(renamed, value.clone())
            }
        }
    }

    /// Properties, and those among them that have to be there.
    fn json_properties(&mut self, value: &Node, root: &Node, depth: usize) -> Option<Vec<(Node, Node)>> {
        if !value.is_map() {
            self.low.said.shape(value, "`properties`", "a mapping of names to what is asked of them");
            return None;
        }
        let (mut properties, mut wanted) = (Vec::new(), Vec::new());
        for (key, spec) in value.entries() {
            if spec.get("required").and_then(Node::boolean) == Some(true) {
                wanted.push(made_text(&key.key(), key.span));
            }
            properties.push((key.clone(), self.json_schema(spec, root, depth)?));
        }
        let mut entries = vec![(made_text("properties", value.span), made(Value::Map(properties), value.span))];
        if !wanted.is_empty() {
            entries.push((made_text("required", value.span), made(Value::List(wanted), value.span)));
        }
        Some(entries)
    }
}
