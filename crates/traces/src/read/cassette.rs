//! Cassettes of VCR: recorded HTTP exchanges in YAML. What they hold is JSON in texts, so only the plain parts of YAML are read.

use super::event_frames::frames_as_events;
use crate::adapt::http_exchanges::HttpKey;
use crate::error::PlacedError;
use averment_base::limits::Limits;
use averment_base::value::{Node, Number, Object, ObjectEntry, TextOrigin, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bumpalo::Bump;
use rustc_hash::{FxHashMap, FxHashSet};
use saphyr_parser::{Event, Parser, ScalarStyle};

/// How a cassette begins, behind the mark of a document.
const BEGINNINGS: [&str; 3] = ["interactions:", "http_interactions:", "requests:"];
/// Some keep requests and responses in lists of their own.
const LISTS: [&str; 2] = [HttpKey::Requests.key(), HttpKey::Responses.key()];
/// What go-vcr writes in front of it.
const VERSION: &str = "version:";
/// Limit on values that the aliases of a file expand to.
const ALIASED: usize = 100_000;

/// The tag of a text that a recorder took for bytes, as Ruby does with one beyond ASCII.
const BINARY: &str = "binary";

const GZIP: [u8; 2] = [0x1f, 0x8b];

#[cfg(feature = "packed")]
fn unpack_text(bytes: &[u8], most: usize) -> Option<String> {
    use std::io::Read as _;
    let mut text = String::new();
    let read = flate2::read::GzDecoder::new(bytes).take(most as u64 + 1).read_to_string(&mut text).ok()?;
    (read <= most).then_some(text)
}

#[cfg(not(feature = "packed"))]
fn unpack_text(_: &[u8], _: usize) -> Option<String> {
    None
}

/// Whether a text begins as a cassette.
pub(super) fn is_cassette(head: &str) -> bool {
    let head = head.trim_ascii_start();
    let head = head.strip_prefix("---").unwrap_or(head).trim_ascii_start();
    let Some(version) = head.strip_prefix(VERSION) else {
        return BEGINNINGS.iter().any(|beginning| head.starts_with(beginning));
    };
    // Two lines decide the form of a file: the next one may not be read yet.
    let rest = version.split_once('\n').map_or("", |(_, rest)| rest.trim_ascii_start());
    BEGINNINGS.iter().any(|beginning| rest.starts_with(beginning) || beginning.starts_with(rest))
}

/// The value of the first document.
pub(super) fn read_cassette<'run>(text: &str, arena: &'run Bump, limits: &Limits) -> Result<Node<'run>, PlacedError> {
    let mut reader = CassetteReader {
        arena,
        limits,
        open: Vec::new(),
        anchors: FxHashMap::default(),
        values: 0,
        unpacked: 0,
        root: None,
    };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event().filter(|_| reader.root.is_none()) {
        let (event, _) = event.map_err(|error| {
            let place = text.char_indices().nth(error.marker().index()).map_or(text.len(), |(at, _)| at);
            let message = format!("this is not YAML: {}", error.info());
            PlacedError::new(TextOrigin::new(place, place), message, "record the cassette again")
        })?;
        reader.take_event(event)?;
    }
    let root = reader.root.unwrap_or(Node::computed(Value::Null));
    Ok(reader.pair_lists(root).unwrap_or(root))
}

/// An object that the text does not have in this form.
pub(super) fn computed_object<'run>(entries: &[(&'run str, Node<'run>)], arena: &'run Bump) -> Node<'run> {
    let entries: Vec<_> = entries.iter().map(|(key, node)| ObjectEntry { key, node: *node }).collect();
    Node::computed(Value::Object(Object::new(arena, arena.alloc_slice_copy(&entries))))
}

struct OpenCollection<'run> {
    anchor: usize,
    /// Values read before it.
    before: usize,
    items: Vec<Node<'run>>,
    is_map: bool,
}

struct CassetteReader<'run, 'limits> {
    arena: &'run Bump,
    limits: &'limits Limits,
    open: Vec<OpenCollection<'run>>,
    /// What an anchor names, with its number of values.
    anchors: FxHashMap<usize, (Node<'run>, usize)>,
    values: usize,
    /// Bytes of bodies that were compressed.
    unpacked: usize,
    root: Option<Node<'run>>,
}

fn refuse(message: &str) -> PlacedError {
    PlacedError::new(
        TextOrigin::COMPUTED,
        message.to_owned(),
        "record the cassette again, without what was added by hand",
    )
}

impl<'run> CassetteReader<'run, '_> {
    /// A body that was kept as it was sent may be compressed.
    fn decode_text(&mut self, text: &str) -> Option<String> {
        let digits: String = text.split_ascii_whitespace().collect();
        let bytes = STANDARD.decode(digits).ok()?;
        if !bytes.starts_with(&GZIP) {
            return frames_as_events(&bytes).or_else(|| String::from_utf8(bytes).ok());
        }
        let text = unpack_text(&bytes, self.limits.run_bytes.saturating_sub(self.unpacked))?;
        self.unpacked += text.len();
        Some(text)
    }

    fn take_event(&mut self, event: Event<'_>) -> Result<(), PlacedError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = style == ScalarStyle::Plain && tag.is_none();
                let decoded = tag.filter(|tag| tag.suffix == BINARY).and_then(|_| self.decode_text(&text));
                let text = &*self.arena.alloc_str(decoded.as_deref().unwrap_or(&text));
                let value = if is_plain { plain_value(text) } else { Value::plain_text(text) };
                self.put_value(Node::computed(value), anchor, 1);
            }
            Event::Alias(anchor) => {
                let (node, values) = *self.anchors.get(&anchor).ok_or_else(|| refuse("an alias names no anchor"))?;
                self.values += values;
                if values > 1 && self.values > ALIASED {
                    return Err(refuse("the aliases of a cassette stand for too many values"));
                }
                self.put_value(node, 0, values);
            }
            Event::SequenceStart(anchor, _) => self.begin_collection(anchor, false)?,
            Event::MappingStart(anchor, _) => self.begin_collection(anchor, true)?,
            Event::SequenceEnd | Event::MappingEnd => self.end_collection(),
            _ => {}
        }
        Ok(())
    }

    fn begin_collection(&mut self, anchor: usize, is_map: bool) -> Result<(), PlacedError> {
        if self.open.len() >= self.limits.json_depth {
            return Err(refuse("the values of a cassette are nested too deeply"));
        }
        self.open.push(OpenCollection { anchor, before: self.values, items: Vec::new(), is_map });
        Ok(())
    }

    fn end_collection(&mut self) {
        let Some(OpenCollection { anchor, before, items, is_map }) = self.open.pop() else { return };
        let value = match is_map {
            true => Value::Object(self.object_of(&items)),
            false => Value::List(self.arena.alloc_slice_copy(&items)),
        };
        let values = self.values - before + 1;
        self.put_value(Node::computed(value), anchor, values);
    }

    /// Of a key that stands twice the last one counts.
    fn object_of(&self, items: &[Node<'run>]) -> Object<'run> {
        let mut known = FxHashSet::default();
        let mut entries: Vec<ObjectEntry<'run>> = Vec::new();
        for pair in items.chunks(2).rev() {
            if let [Node { value: Value::Text(key), .. }, node] = pair
                && known.insert(key.as_str())
            {
                entries.push(ObjectEntry { key: key.as_str(), node: *node });
            }
        }
        entries.reverse();
        Object::new(self.arena, self.arena.alloc_slice_copy(&entries))
    }

    /// A cassette with its requests and responses in pairs.
    fn pair_lists(&self, root: Node<'run>) -> Option<Node<'run>> {
        let Value::Object(cassette) = root.value else { return None };
        let lists = LISTS.map(|key| match cassette.get(key)?.value {
            Value::List(items) => Some(items),
            _ => None,
        });
        let [Some(requests), Some(responses)] = lists else { return None };
        if requests.len() != responses.len() {
            return None;
        }
        let object = |entries: &[(&'run str, Node<'run>)]| computed_object(entries, self.arena);
        let pairs = requests.iter().zip(responses);
        let pairs: Vec<_> = pairs
            .map(|(request, response)| {
                object(&[(HttpKey::Request.key(), *request), (HttpKey::Response.key(), *response)])
            })
            .collect();
        let list = Node::computed(Value::List(self.arena.alloc_slice_copy(&pairs)));
        Some(object(&[(HttpKey::Interactions.key(), list)]))
    }

    fn put_value(&mut self, node: Node<'run>, anchor: usize, values: usize) {
        self.values += usize::from(values == 1);
        if anchor > 0 {
            self.anchors.insert(anchor, (node, values));
        }
        match self.open.last_mut() {
            Some(open) => open.items.push(node),
            None => self.root = Some(node),
        }
    }
}

fn plain_value(text: &str) -> Value<'_> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" => Value::Boolean(true),
        "false" | "False" => Value::Boolean(false),
        _ => match Number::from_spelling(text).filter(|_| text.starts_with(|c: char| c == '-' || c.is_ascii_digit())) {
            Some(number) => Value::Number(number),
            None => Value::plain_text(text),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_base::value::json::to_json;

    fn read(text: &str) -> Result<String, String> {
        let arena = Bump::new();
        read_cassette(text, &arena, &Limits::default())
            .map(|node| to_json(&node.value))
            .map_err(|error| error.problem.message)
    }

    #[test]
    fn the_plain_parts_of_yaml_are_values() {
        let text = "---\ninteractions:\n- request: &a {body: '{\"x\": 1}', n: 3}\n  response:\n    body: |-\n      data: 1\n      data: 2\n    again: *a\nversion: 1\n";
        assert!(is_cassette(text));
        let json = r#"{"interactions":[{"request":{"body":"{\"x\": 1}","n":3},"response":{"body":"data: 1\ndata: 2","again":{"body":"{\"x\": 1}","n":3}}}],"version":1}"#;
        assert_eq!(read(text).as_deref(), Ok(json));
    }

    #[test]
    fn aliases_do_not_multiply_without_end() {
        let mut text = "interactions:\n- &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let before = level - 1;
            let many = format!("*a{before}, ").repeat(9);
            text += &format!("- &a{level} [{many}*a{before}]\n");
        }
        assert!(read(&text).is_err_and(|message| message.contains("aliases")));
    }

    #[test]
    fn texts_that_were_taken_for_bytes_are_texts() {
        let text = "interactions:\n- a: !binary |-\n    w6Rz\n    ZQ==\n  b: !!binary c8O2\n  c: !!binary /w==\n";
        assert_eq!(read(text).as_deref(), Ok(r#"{"interactions":[{"a":"äse","b":"sö","c":"/w=="}]}"#));
    }

    #[cfg(feature = "packed")]
    #[test]
    fn bodies_that_were_kept_packed_are_unpacked_up_to_the_limit() {
        use std::io::Write as _;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all("{\"deep\": \"ä\"}".repeat(9).as_bytes()).unwrap();
        let body = STANDARD.encode(packed.finish().unwrap());
        let text = format!("interactions:\n- a: !!binary |\n    {body}\n  b: !!binary {body}\n");
        let json = read(&text).unwrap();
        assert_eq!(json.matches("deep").count(), 18, "{json}");
        let arena = Bump::new();
        let limits = Limits { run_bytes: 200, ..Limits::default() };
        let node = read_cassette(&text, &arena, &limits).map_err(|error| error.problem.message).unwrap();
        assert_eq!(to_json(&node.value).matches("deep").count(), 9);
    }

    #[test]
    fn cassettes_are_told_from_other_texts() {
        for text in ["---\nversion: 2\ninteractions:\n", "version: 1\nint", "---\nversion: 2\n"] {
            assert!(is_cassette(text), "{text}");
        }
        for text in ["{\"interactions\": []}", "a: 1\ninteractions: []", "", "--- text", "version: 2\nname: x"] {
            assert!(!is_cassette(text), "{text}");
        }
    }
}
