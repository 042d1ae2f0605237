//! Source locations of the fields of a run: for each field the JSON pointer to its value in the text, and its line.

use averment_base::diagnostic::render::one_line;
use averment_base::value::{Node, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{Run, StepKind};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Returns one line for each field of the run, and of the first step of each kind.
pub(super) fn field_places(run: &Run<'_>) -> String {
    let fields = recorded_fields(run);
    let offsets = fields.iter().filter_map(|(_, node)| node_start(node)).collect::<Vec<_>>();
    let pointers = find_pointers(run.text, offsets);
    // Unknown field names come from the trace, so they are made printable.
    let fields: Vec<_> = fields.iter().map(|(name, node)| (one_line(name), node)).collect();
    let widest = fields.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for (name, node) in &fields {
        let place = match node_start(node).and_then(|at| Some((at, pointers.get(&at)?))) {
            Some((at, pointer)) => format!("line {}  {}", run.source.line_column(run.text, at).0, one_line(pointer)),
            None => "computed".to_owned(),
        };
        let _ = writeln!(out, "{name:<widest$}  {place}");
    }
    out
}

fn node_start(node: &Node<'_>) -> Option<usize> {
    node.origin.byte_range().map(|range| range.start)
}

fn recorded_fields<'run>(run: &Run<'run>) -> Vec<(String, Node<'run>)> {
    let is_list = |key: &str| StepKind::ALL.iter().any(|kind| kind.list_key() == key) || key == of_run::STEPS;
    let recorded = |node: &Node<'_>| !matches!(node.value, Value::Absent | Value::Missing);
    let entries = run.object.entries().iter().filter(|entry| !is_list(entry.key) && recorded(&entry.node));
    let mut fields: Vec<_> = entries.map(|entry| (entry.key.to_owned(), entry.node)).collect();
    for kind in StepKind::ALL {
        let Some(step) = run.steps.iter().find(|step| step.kind == kind) else { continue };
        let named = |key: &str| format!("{}[{}].{key}", kind.list_key(), step.index);
        let is_place = |key: &str| matches!(key, of_step::INDEX | of_step::KIND);
        let entries = step.object.entries().iter().filter(|entry| recorded(&entry.node) && !is_place(entry.key));
        fields.extend(entries.map(|entry| (named(entry.key), entry.node)));
    }
    fields
}

enum PointerContainer {
    List(usize),
    Object(String),
}

/// Returns the JSON pointer for each offset: to the value that starts there, or to the string that contains it.
fn find_pointers(text: &str, mut offsets: Vec<usize>) -> BTreeMap<usize, String> {
    offsets.sort_unstable();
    offsets.dedup();
    let mut wanted = offsets.into_iter().peekable();
    let mut found = BTreeMap::new();
    let mut open: Vec<PointerContainer> = Vec::new();
    let (bytes, mut at, mut is_key) = (text.as_bytes(), 0, false);
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => end_of_text(bytes, at),
            b'{' | b'[' | b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' => at + 1,
            _ => {
                at + bytes
                    .get(at..)
                    .unwrap_or_default()
                    .iter()
                    .take_while(|byte| !b"{}[],: \t\r\n\"".contains(byte))
                    .count()
            }
        };
        let begins = !matches!(byte, b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n') && !is_key;
        while let Some(offset) = wanted.next_if(|offset| *offset < end) {
            if begins && offset >= at {
                found.insert(offset, container_pointer(&open));
            }
        }
        match byte {
            b'{' => open.push(PointerContainer::Object(String::new())),
            b'[' => open.push(PointerContainer::List(0)),
            b'}' | b']' => drop(open.pop()),
            b',' => {
                if let Some(PointerContainer::List(number)) = open.last_mut() {
                    *number += 1;
                }
            }
            b'"' if is_key => {
                if let Some(PointerContainer::Object(key)) = open.last_mut() {
                    *key = text.get(at + 1..end.saturating_sub(1)).unwrap_or_default().to_owned();
                }
            }
            _ => {}
        }
        is_key = match byte {
            b'{' => true,
            b',' => matches!(open.last(), Some(PointerContainer::Object(_))),
            b' ' | b'\t' | b'\r' | b'\n' => is_key,
            _ => false,
        };
        at = end.max(at + 1);
    }
    found
}

fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn container_pointer(open: &[PointerContainer]) -> String {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    let parts = open.iter().map(|one| match one {
        PointerContainer::List(number) => format!("/{number}"),
        PointerContainer::Object(key) => format!("/{}", escaped(key)),
    });
    let pointer: String = parts.collect();
    if pointer.is_empty() { "(the whole value)".to_owned() } else { pointer }
}

#[cfg(test)]
mod tests {
    use super::find_pointers;

    #[test]
    fn a_place_has_the_pointer_of_its_value() {
        let text = r#"{"a": [1, {"b/c": "x\"y", "d": {}}], "e": true}"#;
        let at = |part: &str| text.find(part).unwrap();
        let found = find_pointers(text, vec![0, at("1,"), at("\"x"), at("y\""), at("{}"), at("true"), at("\"a\"")]);
        let pointer = |offset: usize| found.get(&offset).map_or("", String::as_str);
        assert_eq!(pointer(0), "(the whole value)");
        assert_eq!(pointer(at("1,")), "/a/0");
        assert_eq!(pointer(at("\"x")), "/a/1/b~1c");
        assert_eq!(pointer(at("y\"")), "/a/1/b~1c", "inside of a text");
        assert_eq!(pointer(at("{}")), "/a/1/d");
        assert_eq!(pointer(at("true")), "/e");
        assert_eq!(pointer(at("\"a\"")), "", "a key is no value");
    }
}
