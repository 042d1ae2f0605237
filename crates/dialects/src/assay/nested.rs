//! Constraints of the documented policy on values nested inside of an argument, as a JSON Schema.

use super::AssayLowering;
use super::constraints::{CONSTRAINTS, ConstrainedArgument, TYPES};
use super::formats;
use super::schemas::{made_text, synthetic_node};
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;

const DEPTH: usize = 32;

/// Keys that have another name in JSON Schema.
const RENAMED: &[(&str, &str)] = &[
    ("min", "minimum"),
    ("max", "maximum"),
    ("exclusiveMin", "exclusiveMinimum"),
    ("exclusiveMax", "exclusiveMaximum"),
];

pub(super) fn nested_constraint(
    assay: &mut AssayLowering<'_, '_>,
    of: &ConstrainedArgument<'_>,
    node: &YamlNode,
) -> Option<String> {
    let entry = of.spec.entries().iter().find(|(_, value)| value.span == node.span)?;
    let mut entries = vec![entry.clone()];
    if entry.0.as_text() == Some("additionalProperties") {
        entries.extend(of.spec.find_entry("properties").map(|(key, value)| (key.clone(), names_of(value))));
    }
    let alone = synthetic_node(YamlValue::Map(entries), node.span);
    let schema = assay.json_schema(&alone, of.root, 0)?;
    let name = assay.schema_name(&of.name, &schema);
    Some(format!("{} is {name}", of.path))
}

fn names_of(properties: &YamlNode) -> YamlNode {
    let nothing =
        |(key, value): &(YamlNode, YamlNode)| (key.clone(), synthetic_node(YamlValue::Map(Vec::new()), value.span));
    synthetic_node(YamlValue::Map(properties.entries().iter().map(nothing).collect()), properties.span)
}

impl AssayLowering<'_, '_> {
    pub(super) fn resolve_spec(&mut self, spec: &YamlNode, root: &YamlNode, depth: usize) -> Option<YamlNode> {
        if !spec.is_map() {
            self.low.sink.wrong_shape(spec, "what is asked of an argument", "a mapping: `type: number`");
            return None;
        }
        let Some(reference) = spec.get("$ref") else { return Some(spec.clone()) };
        if depth > DEPTH {
            let message = "the references go in a circle";
            self.low.sink.error(Slug::Recursion, reference.span, message, "write the constraints here");
            return None;
        }
        let target = self.resolve_reference(reference, root)?;
        let own = spec.entries().iter().filter(|(key, _)| key.as_text() != Some("$ref")).cloned();
        let mut entries: Vec<(YamlNode, YamlNode)> = own.collect();
        let inner = self.resolve_spec(&target, root, depth.saturating_add(1))?;
        for (key, value) in inner.entries() {
            if !entries.iter().any(|(known, _)| known.key_text() == key.key_text()) {
                entries.push((key.clone(), value.clone()));
            }
        }
        Some(synthetic_node(YamlValue::Map(entries), spec.span))
    }

    fn json_schema(&mut self, spec: &YamlNode, root: &YamlNode, depth: usize) -> Option<YamlNode> {
        if depth > DEPTH {
            self.low.sink.error(Slug::TooDeep, spec.span, "schemas are nested too deep", "nest less");
            return None;
        }
        let spec = self.resolve_spec(spec, root, 0)?;
        let mut entries = Vec::new();
        for (key, value) in spec.entries() {
            entries.extend(self.json_entry(key, value, root, depth.saturating_add(1))?);
        }
        Some(synthetic_node(YamlValue::Map(entries), spec.span))
    }

    /// Returns the JSON Schema entries of a key; keys that only describe yield none.
    fn json_entry(
        &mut self,
        key: &YamlNode,
        value: &YamlNode,
        root: &YamlNode,
        depth: usize,
    ) -> Option<Vec<(YamlNode, YamlNode)>> {
        let name = key.key_text();
        let one = |name: &str, value: YamlNode| Some(vec![(made_text(name, key.span), value)]);
        match name.as_str() {
            "description" => Some(Vec::new()),
            "required" if value.as_boolean().is_some() => Some(Vec::new()),
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
                    self.low.sink.unknown_key(key, "what is asked of a value", &keys);
                    return None;
                }
                if name == "type" && !TYPES.iter().any(|(word, ..)| value.as_text() == Some(word)) {
                    let words: Vec<&str> = TYPES.iter().map(|(word, ..)| *word).collect();
                    self.low.sink.unknown_word(value, "type", &words);
                    return None;
                }
                let renamed = RENAMED.iter().find(|(own, _)| *own == name).map_or(name.as_str(), |(_, json)| json);
                one(renamed, value.clone())
            }
        }
    }

    fn json_properties(
        &mut self,
        value: &YamlNode,
        root: &YamlNode,
        depth: usize,
    ) -> Option<Vec<(YamlNode, YamlNode)>> {
        if !value.is_map() {
            self.low.sink.wrong_shape(value, "`properties`", "a mapping of names to rules for them");
            return None;
        }
        let (mut properties, mut wanted) = (Vec::new(), Vec::new());
        for (key, spec) in value.entries() {
            if spec.get("required").and_then(YamlNode::as_boolean) == Some(true) {
                wanted.push(made_text(&key.key_text(), key.span));
            }
            properties.push((key.clone(), self.json_schema(spec, root, depth)?));
        }
        let mut entries =
            vec![(made_text("properties", value.span), synthetic_node(YamlValue::Map(properties), value.span))];
        if !wanted.is_empty() {
            entries.push((made_text("required", value.span), synthetic_node(YamlValue::List(wanted), value.span)));
        }
        Some(entries)
    }
}
