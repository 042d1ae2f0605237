//! JSON Schemas, each declared once under a name.

use super::AssayLowering;
use crate::writer::RuleWriter;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::source::Span;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct DeclaredSchemas {
    /// Names of schemas by their JSON text.
    known: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    new: Vec<(String, YamlNode)>,
}

impl DeclaredSchemas {
    pub(super) fn write_new(&mut self, out: &mut RuleWriter) {
        for (name, schema) in self.new.drain(..) {
            out.write_gap();
            out.write_schema(&name, &schema);
        }
    }

    fn declare_schema(&mut self, wanted: &str, schema: &YamlNode) -> String {
        let json = schema.to_json();
        if let Some(name) = self.known.get(&json) {
            return name.clone();
        }
        let mut name = wanted.to_owned();
        let mut number = 2_u32;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}{number}");
            number = number.saturating_add(1);
        }
        self.known.insert(json, name.clone());
        self.new.push((name.clone(), schema.clone()));
        name
    }
}

impl AssayLowering<'_, '_> {
    pub(super) fn schema_name(&mut self, of: &str, schema: &YamlNode) -> String {
        self.schemas.declare_schema(&capitalize_words(of), schema)
    }
}

fn capitalize_words(words: &str) -> String {
    let parts = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let name: String = parts
        .map(|part| {
            let (first, rest) = part.split_at(1);
            format!("{}{rest}", first.to_ascii_uppercase())
        })
        .collect();
    match name.starts_with(|c: char| c.is_ascii_uppercase()) {
        true => name,
        false => format!("Schema{name}"),
    }
}

pub(super) fn synthetic_node(value: YamlValue, span: Span) -> YamlNode {
    YamlNode { value, span }
}

pub(super) fn made_text(text: &str, span: Span) -> YamlNode {
    synthetic_node(YamlValue::Text(text.to_owned()), span)
}
