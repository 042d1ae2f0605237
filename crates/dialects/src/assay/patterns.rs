//! Expressions of JSON Schemas that look around or refer back. Schemas of the language take linear time, so these are asked beside them.

use super::Assay;
use super::schemas::made;
use super::select::argument;
use super::sentence::Sentence;
use crate::regex_flavour::{Literal, javascript};
use crate::writer::member;
use crate::yaml::{Node, Value};

/// An expression that a schema cannot ask.
struct Beyond {
    /// The value that it is asked of.
    path: String,
    literal: Literal,
    place: averment_base::source::Span,
}

impl Assay<'_, '_> {
    /// What a schema asks of the arguments of a tool, as one assertion.
    pub(super) fn fits(&mut self, tool: &str, name: &Node, schema: &Node) -> Sentence {
        let mut beyond = Vec::new();
        let schema = &without(schema, None, &mut beyond);
        let declared = self.schema(&format!("{} args", name.key()), schema);
        let place = name.span.to(schema.span);
        let mut all = vec![Sentence::new(place, format!("each {tool}: args is {declared}"))];
        all.extend(beyond.iter().map(|one| {
            let Beyond { path, literal, place } = one;
            let text = format!("each {tool}: {path} is string implies {path} matches {}", literal.text);
            Sentence::new(*place, text).allowing("backtracking")
        }));
        Sentence::all_of(place, all)
    }
}

/// A schema without such expressions. What every value has to fit that the schema asks of stands in `properties`; elsewhere (`anyOf`, `items`)
/// no statement about a path says the same, and they stay, to be refused.
fn without(schema: &Node, path: Option<&str>, beyond: &mut Vec<Beyond>) -> Node {
    let Value::Map(entries) = &schema.value else { return schema.clone() };
    let mut kept = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let value = match (key.text(), path) {
            (Some("pattern"), Some(path)) => match backtracking(value) {
                Some(literal) => {
                    beyond.push(Beyond { path: path.to_owned(), literal, place: key.span.to(value.span) });
                    continue;
                }
                None => value.clone(),
            },
            (Some("properties"), _) if value.is_map() => {
                let of = |(name, inner): &(Node, Node)| {
                    let name_text = name.key();
                    let path =
                        path.map_or_else(|| argument(&name_text), |path| format!("{path}{}", member(&name_text)));
                    (name.clone(), without(inner, Some(&path), beyond))
                };
                made(Value::Map(value.entries().iter().map(of).collect()), value.span)
            }
            _ => value.clone(),
        };
        kept.push((key.clone(), value));
    }
    made(Value::Map(kept), schema.span)
}

/// An expression in the syntax of JSON Schemas, where only backtracking finds it.
fn backtracking(pattern: &Node) -> Option<Literal> {
    let text = pattern.text()?;
    javascript(text, "u").or_else(|_| javascript(text, "")).ok().filter(|literal| literal.backtracks)
}
