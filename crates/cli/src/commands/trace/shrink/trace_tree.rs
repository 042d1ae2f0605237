//! The JSON values of a trace, as a tree that can be written without some of its parts.

use super::placeholders::Placeholders;
use averment_base::limits::Limits;
use averment_base::value::Value;
use averment_base::value::json::{self, write_text};
use bumpalo::Bump;
use std::collections::BTreeSet;

/// Maximum nesting of JSON inside JSON strings.
const EMBEDDED_DEPTH: usize = 3;

/// A value of a trace.
#[derive(Debug, Clone)]
pub(super) enum TraceTree {
    /// A number, a boolean or `null`, as it was recorded.
    Plain(String),
    Text(String),
    /// A string that contains JSON, as the arguments of a call often do.
    Embedded(Box<TraceTree>),
    List(Vec<TraceTree>),
    Object(Vec<(String, TraceTree)>),
}

/// A member of an object or an element of a list that could be removed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TreeSlot {
    /// Its path of keys from the top, with `*` for any list element.
    pub pattern: String,
    pub is_element: bool,
}

/// A text of a trace.
#[derive(Debug, Clone, Copy)]
pub(super) enum TreeText<'a> {
    Key(&'a str),
    Value {
        text: &'a str,
        /// The key of the nearest member that contains it.
        member: &'a str,
    },
}

impl<'a> TreeText<'a> {
    pub(super) fn as_str(self) -> &'a str {
        match self {
            Self::Key(text) | Self::Value { text, .. } => text,
        }
    }
}

impl TraceTree {
    /// Parses all values of a file: one, or several in sequence as in JSON Lines.
    pub(super) fn parse_all(text: &str, limits: &Limits) -> Result<Vec<Self>, json::JsonError> {
        let (mut values, mut rest) = (Vec::new(), text);
        while !rest.trim_ascii_start().is_empty() {
            let arena = Bump::new();
            let document = json::parse_prefix(rest, 0, &arena, limits)?;
            values.push(Self::from_value(&document.node.value, EMBEDDED_DEPTH, limits));
            rest = rest.get(document.end..).unwrap_or_default();
        }
        Ok(values)
    }

    fn from_value(value: &Value<'_>, embedded: usize, limits: &Limits) -> Self {
        match value {
            Value::Text(text) => Self::from_text(text.as_str(), embedded, limits),
            Value::List(items) => {
                Self::List(items.iter().map(|item| Self::from_value(&item.value, embedded, limits)).collect())
            }
            Value::Object(object) => {
                let entries = object.entries().iter();
                let member = |entry: &averment_base::value::ObjectEntry<'_>| {
                    (entry.key.to_owned(), Self::from_value(&entry.node.value, embedded, limits))
                };
                Self::Object(entries.map(member).collect())
            }
            other => Self::Plain(json::to_json(other)),
        }
    }

    fn from_text(text: &str, embedded: usize, limits: &Limits) -> Self {
        let plain = || Self::Text(text.to_owned());
        let Some(deeper) = embedded.checked_sub(1).filter(|_| text.trim_ascii_start().starts_with(['{', '['])) else {
            return plain();
        };
        let arena = Bump::new();
        match json::parse_recorded(text, 0, &arena, limits) {
            Ok(document) => Self::Embedded(Box::new(Self::from_value(&document.node.value, deeper, limits))),
            Err(_) => plain(),
        }
    }

    /// Writes the value with placeholders.
    pub(super) fn write(&self, names: &Placeholders, out: &mut String) {
        match self {
            Self::Plain(text) => out.push_str(text),
            Self::Text(text) => write_text(&names.text_of(text), out),
            Self::Embedded(inner) => {
                let mut text = String::new();
                inner.write(names, &mut text);
                write_text(&text, out);
            }
            Self::List(items) => {
                out.push('[');
                for (number, item) in items.iter().enumerate() {
                    if number > 0 {
                        out.push(',');
                    }
                    item.write(names, out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (number, (key, value)) in members.iter().enumerate() {
                    if number > 0 {
                        out.push(',');
                    }
                    write_text(names.key_of(key), out);
                    out.push(':');
                    value.write(names, out);
                }
                out.push('}');
            }
        }
    }

    /// Calls `look` with every text and every key. Texts come with the key of the nearest member that contains them.
    pub(super) fn visit_texts<'a>(&'a self, member: &'a str, look: &mut impl FnMut(TreeText<'a>)) {
        match self {
            Self::Plain(_) => {}
            Self::Text(text) => look(TreeText::Value { text, member }),
            Self::Embedded(inner) => inner.visit_texts(member, look),
            Self::List(items) => items.iter().for_each(|item| item.visit_texts(member, look)),
            Self::Object(members) => {
                for (key, value) in members {
                    look(TreeText::Key(key));
                    value.visit_texts(key, look);
                }
            }
        }
    }

    /// Adds the members and elements that are `depth` levels below this value, in order.
    fn add_slots(&self, depth: usize, pattern: &str, slots: &mut Vec<TreeSlot>) {
        match self {
            Self::Plain(_) | Self::Text(_) => {}
            Self::Embedded(inner) => inner.add_slots(depth, &format!("{pattern}\""), slots),
            Self::List(items) => {
                let inner = format!("{pattern}/*");
                for item in items {
                    match depth {
                        0 => slots.push(TreeSlot { pattern: String::new(), is_element: true }),
                        _ => item.add_slots(depth.saturating_sub(1), &inner, slots),
                    }
                }
            }
            Self::Object(members) => {
                for (key, value) in members {
                    let inner = format!("{pattern}/{key}");
                    match depth {
                        0 => slots.push(TreeSlot { pattern: inner, is_element: false }),
                        _ => value.add_slots(depth.saturating_sub(1), &inner, slots),
                    }
                }
            }
        }
    }

    /// Removes slots by their index in the list of [`tree_slots`]. `next` is the index of the first slot below this value.
    fn remove_slots(&mut self, depth: usize, dropped: &BTreeSet<usize>, next: &mut usize) {
        let stays = |value: &mut Self, next: &mut usize| {
            if depth > 0 {
                value.remove_slots(depth.saturating_sub(1), dropped, next);
                return true;
            }
            let number = *next;
            *next = next.saturating_add(1);
            !dropped.contains(&number)
        };
        match self {
            Self::Plain(_) | Self::Text(_) => {}
            Self::Embedded(inner) => inner.remove_slots(depth, dropped, next),
            Self::List(items) => items.retain_mut(|item| stays(item, next)),
            Self::Object(members) => members.retain_mut(|(_, value)| stays(value, next)),
        }
    }
}

/// Returns the members and elements at one depth of all documents, in order. Depth 0 gives the documents themselves.
pub(super) fn tree_slots(documents: &[TraceTree], depth: usize) -> Vec<TreeSlot> {
    let mut slots = Vec::new();
    let Some(below) = depth.checked_sub(1) else {
        return documents.iter().map(|_| TreeSlot { pattern: String::new(), is_element: true }).collect();
    };
    documents.iter().for_each(|document| document.add_slots(below, "", &mut slots));
    slots
}

/// Returns the documents without some slots, given by their index in [`tree_slots`].
pub(super) fn without_slots(documents: &[TraceTree], depth: usize, dropped: &BTreeSet<usize>) -> Vec<TraceTree> {
    let mut next = 0;
    let Some(below) = depth.checked_sub(1) else {
        let stay = documents.iter().enumerate().filter(|(number, _)| !dropped.contains(number));
        return stay.map(|(_, document)| document.clone()).collect();
    };
    let mut documents = documents.to_vec();
    documents.iter_mut().for_each(|document| document.remove_slots(below, dropped, &mut next));
    documents
}

/// Writes the documents, one per line.
pub(super) fn written(documents: &[TraceTree], names: &Placeholders) -> String {
    let mut out = String::new();
    for document in documents {
        document.write(names, &mut out);
        out.push('\n');
    }
    out
}
