//! Our JSON reader: text to a tree of [`Node`]s in an arena, each with its place in the text.
//!
//! The full grammar of RFC 8259 is checked. Text is borrowed and only unescaped when somebody looks, numbers keep their text, and no
//! value costs a heap allocation of its own. Nesting is kept on a stack of our own, so that the depth limit is the same on every thread.

mod embed;
mod error;
mod pruned;
mod scan;
mod write;

use super::text::{EscapedText, ValueText, unescape_text};
use super::{Node, Number, Object, ObjectEntry, TextOrigin, Value};
use crate::limits::{LARGE, Limits, RunMemory, give_own_block};
use crate::memory::allow_failure;
use bumpalo::Bump;
use embed::OffsetMap;
pub use embed::{may_hold, parse_text};
pub use error::{JsonError, TOO_LARGE};
pub use pruned::{ENTRIES, LEVELS, TEXT, pruned_json};
use scan::StringEnd;
pub use write::{json_start, to_json, to_json_within, write_json, write_json_within, write_text};

/// The parsed document.
#[derive(Debug)]
pub struct JsonDocument<'run> {
    /// The value.
    pub node: Node<'run>,
    /// Offset behind the value in the text that was given.
    pub end: usize,
    /// Keys that stood more than once in their object; the last one counts. Only the first 100 are kept.
    pub duplicates: Vec<DuplicateKey>,
    /// Places of `NaN`, `Infinity` and `-Infinity`, which [`parse_recorded`] reads as `null`. Only the first 100 are kept.
    pub constants: Vec<TextOrigin>,
}

/// A key that its object has again further behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The key.
    pub key: String,
    /// The object that has it.
    pub object: TextOrigin,
}

/// Reads exactly one value. `base` is the offset of `text` in the text of the run: it is added to every place.
///
/// # Errors
/// What is not JSON, is nested deeper than `limits.json_depth`, or needs more than `limits.run_memory`.
pub fn parse<'run>(
    text: &'run str,
    base: usize,
    arena: &'run Bump,
    limits: &Limits,
) -> Result<JsonDocument<'run>, JsonError> {
    read_whole(JsonReader::new(text, OffsetMap::shifted_by(base), arena, limits))
}

/// The same for what somebody has recorded: the constants that Python and JavaScript write for numbers that are none are read as `null`,
/// and told.
///
/// # Errors
/// As [`parse`].
pub fn parse_recorded<'run>(
    text: &'run str,
    base: usize,
    arena: &'run Bump,
    limits: &Limits,
) -> Result<JsonDocument<'run>, JsonError> {
    let reader = JsonReader::new(text, OffsetMap::shifted_by(base), arena, limits);
    read_whole(JsonReader { recorded: true, ..reader })
}

/// Reads one value from the start of `text` and lets more text stand behind it.
///
/// # Errors
/// As [`parse`].
pub fn parse_prefix<'run>(
    text: &'run str,
    base: usize,
    arena: &'run Bump,
    limits: &Limits,
) -> Result<JsonDocument<'run>, JsonError> {
    JsonReader::new(text, OffsetMap::shifted_by(base), arena, limits).read_document()
}

fn read_whole<'run>(mut reader: JsonReader<'run, '_>) -> Result<JsonDocument<'run>, JsonError> {
    let document = reader.read_document()?;
    match reader.peek_token() {
        None => Ok(document),
        Some(_) => Err(error::behind_the_value(reader.text, reader.at)),
    }
}

/// After so many values the memory is looked at.
const CHECKED: usize = 64;

struct JsonContainer<'run> {
    is_object: bool,
    /// Offset of its bracket in the run's text.
    start: usize,
    first: usize,
    key: &'run str,
}

struct JsonReader<'run, 'limits> {
    text: &'run str,
    at: usize,
    places: OffsetMap<'run>,
    arena: &'run Bump,
    limits: &'limits Limits,
    memory: RunMemory<'run>,
    frames: Vec<JsonContainer<'run>>,
    members: Vec<ObjectEntry<'run>>,
    nodes: usize,
    duplicates: Vec<DuplicateKey>,
    /// True to read non-JSON constants as `null`.
    recorded: bool,
    constants: Vec<TextOrigin>,
}

impl<'run, 'limits> JsonReader<'run, 'limits> {
    fn new(text: &'run str, places: OffsetMap<'run>, arena: &'run Bump, limits: &'limits Limits) -> Self {
        // Of a text that is more than a few values: growing from nothing costs more than the room.
        let mut members = Vec::with_capacity((text.len() / 32).min(128));
        if text.len() > LARGE {
            give_own_block(&mut members);
        }
        let (frames, duplicates, constants) = Default::default();
        let memory = RunMemory::start(arena, limits, text.len());
        Self {
            text,
            at: 0,
            places,
            arena,
            limits,
            memory,
            frames,
            members,
            nodes: 0,
            duplicates,
            recorded: false,
            constants,
        }
    }

    fn read_document(&mut self) -> Result<JsonDocument<'run>, JsonError> {
        let node = loop {
            if let Some(node) = self.read_value()?
                && let Some(node) = self.finish_value(node)?
            {
                break node;
            }
        };
        let (duplicates, constants) = (std::mem::take(&mut self.duplicates), std::mem::take(&mut self.constants));
        Ok(JsonDocument { node, end: self.at, duplicates, constants })
    }

    /// Returns `None` after opening an object or list.
    fn read_value(&mut self) -> Result<Option<Node<'run>>, JsonError> {
        let Some(byte) = self.peek_token() else { return Err(self.cut_off()) };
        match byte {
            b'N' | b'I' | b'-' if self.recorded && self.number_constant().is_some() => self.no_number().map(Some),
            b'"' => self.read_string().map(Some),
            b'{' => self.open_object(),
            b'[' => self.open_list(),
            b't' => self.read_word("true", Value::Boolean(true)).map(Some),
            b'f' => self.read_word("false", Value::Boolean(false)).map(Some),
            b'n' => self.read_word("null", Value::Null).map(Some),
            b'-' | b'0'..=b'9' => self.read_number().map(Some),
            _ => Err(error::no_value(self.text, self.at, self.frames.last().map(|frame| frame.is_object))),
        }
    }

    /// Adds a value to the innermost container and closes finished ones; returns the outermost value.
    fn finish_value(&mut self, node: Node<'run>) -> Result<Option<Node<'run>>, JsonError> {
        let mut node = node;
        loop {
            let Some(frame) = self.frames.last() else { return Ok(Some(node)) };
            let (is_object, key) = (frame.is_object, frame.key);
            self.count_member()?;
            self.members.push(ObjectEntry { key, node });
            match (self.peek_token(), is_object) {
                (Some(b','), true) => {
                    self.at += 1;
                    self.read_key()?;
                    return Ok(None);
                }
                (Some(b','), false) => {
                    self.at += 1;
                    return Ok(None);
                }
                (Some(b'}'), true) | (Some(b']'), false) => node = self.close_container()?,
                (None, _) => return Err(self.cut_off()),
                (Some(_), _) => return Err(error::no_separator(self.text, self.at, is_object)),
            }
        }
    }

    fn open_object(&mut self) -> Result<Option<Node<'run>>, JsonError> {
        self.open_container(true)?;
        match self.peek_token() {
            Some(b'}') => self.close_container().map(Some),
            _ => self.read_key().map(|()| None),
        }
    }

    fn open_list(&mut self) -> Result<Option<Node<'run>>, JsonError> {
        self.open_container(false)?;
        match self.peek_token() {
            Some(b']') => self.close_container().map(Some),
            _ => Ok(None),
        }
    }

    fn open_container(&mut self, is_object: bool) -> Result<(), JsonError> {
        if self.frames.len() >= self.limits.json_depth {
            return Err(error::too_deep(self.text, self.at, self.limits.json_depth));
        }
        let start = self.places.source_offset(self.at);
        self.frames.push(JsonContainer { is_object, start, first: self.members.len(), key: "" });
        self.at += 1;
        Ok(())
    }

    fn close_container(&mut self) -> Result<Node<'run>, JsonError> {
        self.at += 1;
        let Some(frame) = self.frames.pop() else { return Err(self.cut_off()) };
        let origin = self.places.source_origin(frame.start, self.at);
        let copied = self.members.len().saturating_sub(frame.first);
        if copied > CHECKED {
            self.check_memory(copied)?;
        }
        let value = if frame.is_object {
            self.forget_duplicates(frame.first, origin);
            let members = self.members.get(frame.first..).unwrap_or_default();
            let members = allow_failure(|| self.arena.try_alloc_slice_copy(members)).map_err(|_| self.no_memory())?;
            Value::Object(Object::new(self.arena, members))
        } else {
            let members = self.members.get(frame.first..).unwrap_or_default();
            let nodes = members.iter().map(|member| member.node);
            let nodes = allow_failure(|| self.arena.try_alloc_slice_fill_iter(nodes));
            Value::List(nodes.map_err(|_| self.no_memory())?)
        };
        self.members.truncate(frame.first);
        Ok(Node::new(value, origin))
    }

    fn read_key(&mut self) -> Result<(), JsonError> {
        match self.peek_token() {
            Some(b'"') => {}
            None => return Err(self.cut_off()),
            Some(_) => return Err(error::no_key(self.text, self.at)),
        }
        let (raw, scanned) = self.read_quoted()?;
        let key = if scanned.escaped { unescape_text(raw, self.arena) } else { raw };
        match self.peek_token() {
            Some(b':') => self.at += 1,
            None => return Err(self.cut_off()),
            Some(_) => return Err(error::no_colon(self.text, self.at)),
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.key = key;
        }
        Ok(())
    }

    fn read_string(&mut self) -> Result<Node<'run>, JsonError> {
        let start = self.places.source_offset(self.at);
        let (raw, scanned) = self.read_quoted()?;
        let text = if scanned.escaped {
            ValueText::Escaped(self.arena.alloc(EscapedText::new(raw, self.arena)))
        } else {
            ValueText::Plain(raw)
        };
        Ok(Node::new(Value::Text(text), self.places.source_origin(start, self.at)))
    }

    fn read_quoted(&mut self) -> Result<(&'run str, StringEnd), JsonError> {
        let start = self.at + 1;
        let scanned = scan::scan_string(self.text, start)?;
        self.at = scanned.end + 1;
        Ok((self.text.get(start..scanned.end).unwrap_or_default(), scanned))
    }

    fn read_number(&mut self) -> Result<Node<'run>, JsonError> {
        let start = self.at;
        self.at = scan::scan_number(self.text, start)?;
        let written = Number::Written(self.text.get(start..self.at).unwrap_or("0"));
        let place = self.places.source_offset(start);
        Ok(Node::new(Value::Number(written), self.places.source_origin(place, self.at)))
    }

    /// A non-JSON number constant at the current place, such as `NaN`.
    fn number_constant(&self) -> Option<&'static str> {
        let rest = self.text.get(self.at..)?;
        ["NaN", "Infinity", "-Infinity"].into_iter().find(|constant| rest.starts_with(constant))
    }

    #[cold]
    fn no_number(&mut self) -> Result<Node<'run>, JsonError> {
        let node = self.read_word(self.number_constant().unwrap_or_default(), Value::Null)?;
        if self.constants.len() < 100 {
            self.constants.push(node.origin);
        }
        Ok(node)
    }

    fn read_word(&mut self, word: &str, value: Value<'run>) -> Result<Node<'run>, JsonError> {
        let start = self.at;
        let end = start + word.len();
        let follows = self.text.as_bytes().get(end).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if self.text.get(start..end) != Some(word) || follows {
            return Err(error::no_value(self.text, start, self.frames.last().map(|frame| frame.is_object)));
        }
        self.at = end;
        let place = self.places.source_offset(start);
        Ok(Node::new(value, self.places.source_origin(place, end)))
    }

    fn peek_token(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        match rest.first() {
            Some(byte) if *byte > b' ' => Some(*byte),
            _ => {
                let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
                self.at += blank;
                rest.get(blank).copied()
            }
        }
    }

    fn cut_off(&self) -> JsonError {
        let open = self.frames.iter().rev().map(|frame| frame.is_object).take(8).collect::<Vec<_>>();
        error::cut_off(self.text, &open)
    }

    /// Bounds the memory of texts whose values are much larger than their source, such as `[0,0,0,…`.
    fn count_member(&mut self) -> Result<(), JsonError> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(CHECKED) {
            self.check_memory(0)?;
        }
        if self.members.len() == self.members.capacity() {
            allow_failure(|| self.members.try_reserve(1)).map_err(|_| self.no_memory())?;
        }
        Ok(())
    }

    /// Refuses the text where the values so far, and so many more, take more than a run may have.
    fn check_memory(&self, added: usize) -> Result<(), JsonError> {
        let held = self.members.len().saturating_add(added).saturating_mul(size_of::<ObjectEntry<'_>>());
        if self.memory.holds(held) { Ok(()) } else { Err(error::too_large(self.text, self.at, self.memory.refusal())) }
    }

    #[cold]
    fn no_memory(&self) -> JsonError {
        error::no_memory(self.text, self.at)
    }

    /// Keeps the last of several equal keys.
    fn forget_duplicates(&mut self, first: usize, object: TextOrigin) {
        let Some(members) = self.members.get(first..) else { return };
        if scan::keys_surely_distinct(members) {
            return;
        }
        let mut last = rustc_hash::FxHashMap::default();
        for (index, member) in members.iter().enumerate() {
            last.insert(member.key, index);
        }
        if last.len() == members.len() {
            return;
        }
        let mut kept = Vec::with_capacity(last.len());
        for (index, member) in members.iter().enumerate() {
            if last.get(member.key) == Some(&index) {
                kept.push(*member);
            } else if self.duplicates.len() < 100 {
                self.duplicates.push(DuplicateKey { key: member.key.to_owned(), object });
            }
        }
        self.members.truncate(first);
        self.members.append(&mut kept);
    }
}

#[cfg(test)]
mod tests;
