//! Parses the text into the tree.

use super::{YamlNode, YamlSchema, YamlValue, scalar};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::{FileId, Span};
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of values that the aliases of a file expand to.
const ALIASED: usize = 100_000;
const DEPTH: usize = 64;

/// Parses a file that contains one document.
///
/// # Errors
/// A diagnostic with the location of the syntax error and a suggestion.
pub fn parse_document(text: &str, file: FileId, schema: YamlSchema) -> Result<YamlNode, Box<Diagnostic>> {
    read_events(text, text, file, schema).or_else(|error| {
        let masked = mask_globs(text).ok_or_else(|| error.clone())?;
        read_events(&masked, text, file, schema).map_err(|_| error)
    })
}

/// Masks values such as `- *_dangerous`, which are texts if the file has no anchors, because an alias could not refer to anything. Returns `None` if
/// the file has anchors or no such value.
fn mask_globs(text: &str) -> Option<String> {
    let begins_value = |before: &str| before.trim_end_matches(' ').ends_with(['-', ':', ',', '[', '{', '\n']);
    if text.match_indices('&').any(|found| text.get(..found.0).is_some_and(begins_value)) {
        return None;
    }
    let mut masked = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.split_once("- *") {
            Some((indent, rest)) if indent.trim().is_empty() => {
                masked.push_str(&format!("{indent}- {GLOB}{rest}"));
            }
            _ => masked.push_str(line),
        }
    }
    (masked != text).then_some(masked)
}

/// Replaces `*` at the start of a text.
const GLOB: char = '~';

/// `original` has the same offsets as `text`, but has `*` where `text` has [`GLOB`].
fn read_events(text: &str, original: &str, file: FileId, schema: YamlSchema) -> Result<YamlNode, Box<Diagnostic>> {
    let places = CharOffsets::new(text, file);
    let mut reader =
        YamlReader { schema, original, open: Vec::new(), anchors: BTreeMap::new(), aliased: 0, root: None };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| Box::new(places.scan_diagnostic(&error, text)))?;
        let place = places.byte_span(span.start.index(), span.end.index());
        reader.take_event(event, place)?;
    }
    Ok(reader.root.unwrap_or(YamlNode { value: YamlValue::Null, span: Span::new(file, 0, 0) }))
}

/// Maps character offsets, which the library reports, to byte offsets.
struct CharOffsets {
    file: FileId,
    /// Byte offset per character; empty for ASCII.
    starts: Vec<usize>,
    length: usize,
}

impl CharOffsets {
    fn new(text: &str, file: FileId) -> Self {
        let starts = if text.is_ascii() { Vec::new() } else { text.char_indices().map(|(at, _)| at).collect() };
        Self { file, starts, length: text.len() }
    }

    fn byte_offset(&self, character: usize) -> usize {
        match self.starts.is_empty() {
            true => character.min(self.length),
            false => self.starts.get(character).copied().unwrap_or(self.length),
        }
    }

    fn byte_span(&self, from: usize, to: usize) -> Span {
        Span::new(self.file, self.byte_offset(from), self.byte_offset(to).max(self.byte_offset(from)))
    }

    fn scan_diagnostic(&self, error: &ScanError, text: &str) -> Diagnostic {
        let at = error.marker().index();
        let span = self.byte_span(at, at.saturating_add(1));
        let line_start = text
            .get(..span.as_range().start)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |end| end.saturating_add(1));
        let indent = text.get(line_start..).unwrap_or("").chars().take_while(|c| c.is_whitespace() && *c != '\n');
        let tab = indent.clone().any(|c| c == '\t') || error.info().contains("tab");
        let alias = text.get(span.as_range().start..).filter(|rest| rest.starts_with('*'));
        if let Some(word) = alias.and_then(|rest| rest.split_whitespace().next()) {
            let help =
                format!("`*` begins an alias, and there is no anchor of this name: write `\"{word}\"` in quotes");
            return Diagnostic::new(Slug::Syntax, span, format!("this is not YAML: {}", error.info())).with_help(help);
        }
        let help = match tab {
            true => "lines of YAML are indented by spaces: write spaces for the tab",
            false => "look at the indentation, at brackets and quotes, and at `:` and `#` in text without quotes",
        };
        Diagnostic::new(Slug::Syntax, span, format!("this is not YAML: {}", error.info())).with_help(help)
    }
}

struct OpenCollection {
    anchor: usize,
    start: Span,
    items: Vec<YamlNode>,
    is_map: bool,
}

struct YamlReader<'t> {
    schema: YamlSchema,
    original: &'t str,
    open: Vec<OpenCollection>,
    anchors: BTreeMap<usize, (YamlNode, usize)>,
    aliased: usize,
    root: Option<YamlNode>,
}

impl YamlReader<'_> {
    fn take_event(&mut self, event: Event<'_>, span: Span) -> Result<(), Box<Diagnostic>> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => {
                Err(Diagnostic::new(Slug::Syntax, span, "a second document begins here")
                    .with_help("write one document into each file")
                    .into())
            }
            Event::Scalar(text, style, anchor, tag) => {
                let value = self.read_scalar(text, style, tag.as_deref(), span)?;
                self.put_value(YamlNode { value, span }, anchor)
            }
            Event::Alias(anchor) => self.resolve_alias(anchor, span),
            Event::SequenceStart(anchor, tag) => self.begin_collection(anchor, tag.as_deref(), span, false),
            Event::MappingStart(anchor, tag) => self.begin_collection(anchor, tag.as_deref(), span, true),
            Event::SequenceEnd | Event::MappingEnd => self.end_collection(span),
            _ => Ok(()),
        }
    }

    fn read_scalar(
        &self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<YamlValue, Box<Diagnostic>> {
        let plain = |text: &str| {
            scalar::plain_scalar(text, self.schema).map_err(|message| {
                Box::new(Diagnostic::new(Slug::Syntax, span, message).with_help("write a number, or leave the key out"))
            })
        };
        match tag.map(core_tag) {
            None if style == ScalarStyle::Plain => {
                let written = self.original.get(span.as_range()).unwrap_or_default();
                match text.strip_prefix(GLOB).filter(|_| written.starts_with('*')) {
                    Some(rest) => plain(&format!("*{rest}")),
                    None => plain(&text),
                }
            }
            None => Ok(YamlValue::Text(text.into_owned())),
            Some(Some("str")) => Ok(YamlValue::Text(text.into_owned())),
            Some(Some("int" | "float" | "bool" | "null")) => plain(&text),
            Some(_) => Err(unread_tag(span).into()),
        }
    }

    fn begin_collection(
        &mut self,
        anchor: usize,
        tag: Option<&Tag>,
        span: Span,
        is_map: bool,
    ) -> Result<(), Box<Diagnostic>> {
        let wanted = if is_map { "map" } else { "seq" };
        if tag.is_some_and(|tag| core_tag(tag) != Some(wanted)) {
            return Err(unread_tag(span).into());
        }
        if self.open.len() >= DEPTH {
            let message = format!("lists and mappings are nested more than {DEPTH} deep");
            return Err(Diagnostic::new(Slug::TooDeep, span, message).with_help("nest less").into());
        }
        self.open.push(OpenCollection { anchor, start: span, items: Vec::new(), is_map });
        Ok(())
    }

    fn end_collection(&mut self, span: Span) -> Result<(), Box<Diagnostic>> {
        let Some(OpenCollection { anchor, start, items, is_map }) = self.open.pop() else { return Ok(()) };
        // For a block collection, the library reports the start of the next line as its end.
        let behind = items.last().map_or(span.end, |last| last.span.end);
        let end = if span.is_empty() { behind } else { span.end };
        let span = Span { end: end.max(start.start), ..start };
        let value = if is_map { YamlValue::Map(self.mapping_entries(items)?) } else { YamlValue::List(items) };
        self.put_value(YamlNode { value, span }, anchor)
    }

    /// Returns the entries of a mapping: its own first, then those merged with `<<`.
    fn mapping_entries(&self, items: Vec<YamlNode>) -> Result<Vec<(YamlNode, YamlNode)>, Box<Diagnostic>> {
        let mut entries: Vec<(YamlNode, YamlNode)> = Vec::new();
        let mut merged: Vec<(YamlNode, YamlNode)> = Vec::new();
        let mut known = BTreeMap::new();
        let mut items = items.into_iter();
        while let (Some(key), Some(value)) = (items.next(), items.next()) {
            if !key.is_map() && !key.is_list() && key.as_text() == Some("<<") {
                merged.extend(merged_values(&key, value)?);
                continue;
            }
            if key.is_map() || key.is_list() {
                let message = format!("a key is {}", key.kind_name());
                return Err(Diagnostic::new(Slug::Syntax, key.span, message)
                    .with_help("write a name as the key")
                    .into());
            }
            if let Some(first) = known.insert(key.key_text(), key.span) {
                let message = format!("the key `{}` occurs twice in one mapping", key.key_text());
                return Err(Diagnostic::new(Slug::Duplicate, key.span, message)
                    .with_other(first, "it stands here first")
                    .with_help("keep one of them")
                    .into());
            }
            entries.push((key, value));
        }
        let mut seen: BTreeSet<String> = known.into_keys().collect();
        entries.extend(merged.into_iter().filter(|(key, _)| seen.insert(key.key_text())));
        Ok(entries)
    }

    fn resolve_alias(&mut self, anchor: usize, span: Span) -> Result<(), Box<Diagnostic>> {
        let Some((node, size)) = self.anchors.get(&anchor) else {
            let message = "the alias refers to a value that is not complete here";
            return Err(Diagnostic::new(Slug::Syntax, span, message).with_help("a value cannot contain itself").into());
        };
        self.aliased = self.aliased.saturating_add(*size);
        if self.aliased > ALIASED {
            let message = format!("the aliases of this file expand to more than {ALIASED} values");
            return Err(Diagnostic::new(Slug::TooLarge, span, message).with_help("write fewer aliases").into());
        }
        let node = node.clone();
        self.put_value(node, 0)
    }

    fn put_value(&mut self, node: YamlNode, anchor: usize) -> Result<(), Box<Diagnostic>> {
        if anchor > 0 {
            let size = count_nodes(&node);
            self.aliased = self.aliased.saturating_add(size);
            self.anchors.insert(anchor, (node.clone(), size));
        }
        match self.open.last_mut() {
            Some(open) => open.items.push(node),
            None => self.root = Some(node),
        }
        Ok(())
    }
}

fn merged_values(key: &YamlNode, value: YamlNode) -> Result<Vec<(YamlNode, YamlNode)>, Box<Diagnostic>> {
    match value.value {
        YamlValue::Map(entries) => Ok(entries),
        YamlValue::List(items) if items.iter().all(YamlNode::is_map) => Ok(items
            .into_iter()
            .flat_map(|item| match item.value {
                YamlValue::Map(entries) => entries,
                _ => Vec::new(),
            })
            .collect()),
        _ => Err(Diagnostic::new(Slug::Syntax, key.span, "`<<` merges mappings, and this is not a mapping")
            .with_help("write an alias of a mapping after it")
            .into()),
    }
}

fn count_nodes(node: &YamlNode) -> usize {
    let inner: usize = match &node.value {
        YamlValue::List(items) => items.iter().map(count_nodes).sum(),
        YamlValue::Map(entries) => entries.iter().map(|(_, value)| count_nodes(value).saturating_add(1)).sum(),
        _ => 0,
    };
    inner.saturating_add(1)
}

/// Returns the suffix of a standard YAML tag; `None` for any other tag.
fn core_tag(tag: &Tag) -> Option<&str> {
    let core = tag.handle == "tag:yaml.org,2002:" || tag.handle == "!!";
    core.then_some(tag.suffix.as_str())
}

fn unread_tag(span: Span) -> Diagnostic {
    Diagnostic::new(Slug::Syntax, span, "a value with a tag is not read").with_help("write the value without its tag")
}
