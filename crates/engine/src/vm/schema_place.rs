//! Where a keyword of a schema stands in the rules, or in the file that they name.

use crate::bytecode::program::Program;
use averment_base::source::{FileId, Span};
use serde_json::Value;
use std::ops::Range;

/// References followed.
const REFERENCES: usize = 64;

pub(super) fn keyword_place(program: &Program, schema: u32, pointer: &str) -> Option<Span> {
    let schema = program.schemas.get(schema as usize)?;
    let json: Value = serde_json::from_str(&schema.json).ok()?;
    let pointer = resolve_pointer(&json, pointer)?;
    let written = schema.place?;
    let text = |span: Span| program.source_text(span);
    if let Some(range) = text(written).and_then(|text| locate_pointer(text, &pointer)) {
        let start = written.start as usize;
        return Some(Span::new(written.file, start + range.start, start + range.end));
    }
    in_another_file(program, &pointer)
}

fn in_another_file(program: &Program, pointer: &str) -> Option<Span> {
    let rest = pointer.strip_prefix("/$defs/")?;
    let (definition, inner) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let (name, _) = definition.rsplit_once(' ')?;
    let is_it = |source: &str| source == name || source.ends_with(&format!("/{name}"));
    let index = program.sources.iter().position(|source| is_it(&source.name))?;
    let range = locate_pointer(&program.sources.get(index)?.text, inner)?;
    Some(Span::new(FileId(u32::try_from(index).ok()?), range.start, range.end))
}

/// Removes `$ref` steps, so that the pointer leads from the root to the keyword.
fn resolve_pointer(schema: &Value, pointer: &str) -> Option<String> {
    let (mut here, mut path) = (schema, String::new());
    let mut followed = 0;
    for part in pointer.split('/').skip(1) {
        let plain = part.replace("~1", "/").replace("~0", "~");
        if matches!(plain.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef") {
            let target = here.get(&plain)?.as_str()?.strip_prefix('#')?;
            path = percent_encoding::percent_decode_str(target).decode_utf8().ok()?.into_owned();
            here = schema.pointer(&path)?;
            followed += 1;
            if followed > REFERENCES {
                return None;
            }
            continue;
        }
        here = match here {
            Value::Array(items) => items.get(plain.parse::<usize>().ok()?)?,
            other => other.get(&plain)?,
        };
        path.push('/');
        path.push_str(part);
    }
    Some(path)
}

fn locate_pointer(text: &str, pointer: &str) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let (mut from, mut value) = (blank_end(bytes, 0), blank_end(bytes, 0));
    for part in pointer.split('/').skip(1) {
        (from, value) = child_entry(text, value, &part.replace("~1", "/").replace("~0", "~"))?;
    }
    Some(from..value_end(bytes, value))
}

fn child_entry(text: &str, at: usize, wanted: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let object = match bytes.get(at)? {
        b'{' => true,
        b'[' => false,
        _ => return None,
    };
    let mut here = blank_end(bytes, at + 1);
    for index in 0_usize.. {
        if matches!(bytes.get(here), None | Some(b'}' | b']')) {
            return None;
        }
        let (value, fits) = if object {
            let key_end = match bytes.get(here)? {
                b'"' | b'\'' => string_end(bytes, here),
                _ => here + bytes.get(here..)?.iter().take_while(|byte| !matches!(byte, b':' | b' ' | b'\n')).count(),
            };
            let key = text.get(here..key_end)?.trim_matches(['"', '\'']);
            let colon = blank_end(bytes, key_end);
            (blank_end(bytes, colon + 1), key == wanted)
        } else {
            (here, wanted.parse() == Ok(index))
        };
        if fits {
            return Some((here, value));
        }
        here = blank_end(bytes, value_end(bytes, value));
        if bytes.get(here) == Some(&b',') {
            here = blank_end(bytes, here + 1);
        }
    }
    None
}

fn blank_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t' | b'\n' | b'\r') => at += 1,
            Some(b'#') => at += bytes.get(at..).unwrap_or_default().iter().take_while(|byte| **byte != b'\n').count(),
            _ => return at,
        }
    }
}

/// Only double-quoted texts have escapes.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let quote = bytes.get(start).copied();
    let mut at = start + 1;
    loop {
        match bytes.get(at).copied() {
            None => return bytes.len(),
            Some(b'\\') if quote == Some(b'"') => at += 2,
            byte if byte == quote => return at + 1,
            Some(_) => at += 1,
        }
    }
}

fn value_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth, mut end) = (start, 0_usize, start);
    loop {
        match bytes.get(at) {
            None => return end,
            Some(b'"' | b'\'') => at = string_end(bytes, at),
            Some(b'{' | b'[') => (at, depth) = (at + 1, depth + 1),
            Some(b',' | b'}' | b']') if depth == 0 => return end,
            Some(b'}' | b']') => {
                (at, depth) = (at + 1, depth - 1);
                if depth == 0 {
                    return at;
                }
            }
            Some(b' ' | b'\t' | b'\n' | b'\r' | b'#') => {
                at = blank_end(bytes, at);
                continue;
            }
            Some(_) => at += 1,
        }
        end = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_found_in_json_and_in_literals() {
        let literal =
            "{\n  type: \"object\", # the whole\n  properties: { \"a b\": { maximum: 1_0, enum: ['x', \"}\"] } },\n}";
        let json = r#"{"type": "object", "properties": {"a b": {"maximum": 10, "enum": ["x", "}"]}}}"#;
        for (text, maximum) in [(literal, "maximum: 1_0"), (json, "\"maximum\": 10")] {
            let at = |pointer: &str| locate_pointer(text, pointer).map(|range| &text[range]);
            assert_eq!(at("/properties/a b/maximum"), Some(maximum));
            assert_eq!(at("/properties/a b/enum/1"), Some("\"}\""));
            assert_eq!(at("/properties/none"), None);
            assert_eq!(at(""), Some(text));
        }
        for broken in ["", "{", "{a", "{a:", "[", "{\"a", "{a: [}", "\u{e9}"] {
            let _ = locate_pointer(broken, "/a/0");
        }
    }

    #[test]
    fn references_are_followed() {
        let schema =
            serde_json::json!({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "string"}}});
        assert_eq!(resolve_pointer(&schema, "/properties/a/$ref/type").as_deref(), Some("/$defs/b/type"));
        assert_eq!(resolve_pointer(&schema, "/properties/a").as_deref(), Some("/properties/a"));
        let circle = serde_json::json!({"$ref": "#"});
        assert_eq!(resolve_pointer(&circle, &"/$ref".repeat(1_000)), None);
    }
}
