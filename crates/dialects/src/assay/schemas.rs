//! JSON Schemas, declared once under a name.

use super::Assay;
use crate::writer::Writer;
use crate::yaml::{Node, Value};
use averment_base::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// The schemas of a file.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    /// Of each schema, as JSON, its name.
    known: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    new: Vec<(String, Node)>,
}

impl Schemas {
    /// Writes those that are not yet written.
    pub(super) fn write_new(&mut self, out: &mut Writer) {
        for (name, schema) in self.new.drain(..) {
            out.gap();
            out.line(schema.span, |out| {
                out.put(&format!("schema {name} = "));
                out.literal(&schema);
            });
        }
    }

    fn declare(&mut self, wanted: &str, schema: &Node) -> String {
        let json = schema.json();
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

impl Assay<'_, '_> {
    /// The name of a schema, which begins with what it is of.
    pub(super) fn schema(&mut self, of: &str, schema: &Node) -> String {
        self.schemas.declare(&capitalised(of), schema)
    }
}

/// Words as one name that begins with a capital.
fn capitalised(words: &str) -> String {
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

/// A node that is made, not read.
pub(super) fn made(value: Value, span: Span) -> Node {
    Node { value, span }
}

/// A text that is made, not read.
pub(super) fn made_text(text: &str, span: Span) -> Node {
    made(Value::Text(text.to_owned()), span)
}
