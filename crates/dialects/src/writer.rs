//! Writing sentences, each piece with the place in the foreign file that it was made of.

use crate::regex_flavour::Literal;
use crate::yaml::{Node, Value};
use averment_base::source::Span;
use averment_base::value::notation;
use averment_syntax::words;
use std::ops::Range;

/// A text of the language in the making.
#[derive(Debug, Default)]
pub struct Writer {
    text: String,
    places: Vec<(Range<usize>, Span)>,
    depth: usize,
}

/// A text of the language, and where its pieces come from.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// The text.
    pub text: String,
    /// Pieces with their places in the foreign file; pieces inside of others are finer.
    pub places: Vec<(Range<u32>, Span)>,
}

/// A sentence in the making: pieces of text, each with its place in the foreign file where it has one of its own.
#[derive(Debug, Clone, Default)]
pub struct Sentence {
    pieces: Vec<(String, Option<Span>)>,
    /// What is remarked above it.
    remarks: Vec<String>,
}

impl Sentence {
    /// Adds text.
    #[must_use]
    pub fn put(mut self, text: impl Into<String>) -> Self {
        self.pieces.push((text.into(), None));
        self
    }

    /// Adds text that was made of a place.
    #[must_use]
    pub fn put_of(mut self, place: Span, text: impl Into<String>) -> Self {
        self.pieces.push((text.into(), Some(place)));
        self
    }

    /// Adds a regular expression: one that backtracks is meant to.
    #[must_use]
    pub fn regex(mut self, place: Span, regex: &Literal) -> Self {
        self.remarks.extend(regex.backtracks.then(|| "allow: backtracking".to_owned()));
        self.put_of(place, regex.text.as_str())
    }

    /// Adds a remark that stands above it.
    #[must_use]
    pub fn remarked(mut self, remark: &str) -> Self {
        self.remarks.push(remark.to_owned());
        self
    }

    /// The same behind other text.
    #[must_use]
    pub fn behind(mut self, text: impl Into<String>) -> Self {
        self.pieces.insert(0, (text.into(), None));
        self
    }

    /// Whether a text stands in a piece of it.
    #[must_use]
    pub fn has(&self, text: &str) -> bool {
        self.pieces.iter().any(|(piece, _)| piece.contains(text))
    }
}

impl Writer {
    /// Writes a line: what `line` writes is made of `place`.
    pub fn line(&mut self, place: Span, line: impl FnOnce(&mut Self)) {
        self.indent();
        self.of(place, line);
        self.text.push('\n');
    }

    /// Writes a line that opens a block, what is in it, and its end.
    pub fn block(&mut self, place: Span, head: impl FnOnce(&mut Self), body: impl FnOnce(&mut Self)) {
        let start = self.text.len();
        self.indent();
        self.of(place, head);
        self.text.push_str(" {\n");
        self.depth = self.depth.saturating_add(1);
        body(self);
        self.depth = self.depth.saturating_sub(1);
        self.indent();
        self.text.push_str("}\n");
        self.places.push((start..self.text.len(), place));
    }

    /// Writes a remark, a line of `#` for each of its lines.
    pub fn remark(&mut self, text: &str) {
        for line in text.lines() {
            self.indent();
            let line = averment_base::diagnostic::render::one_line(line);
            self.text.push_str(if line.is_empty() { "#" } else { "# " });
            self.text.push_str(&line);
            self.text.push('\n');
        }
    }

    /// An empty line, unless one stands there.
    pub fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") && !self.text.ends_with("{\n") {
            self.text.push('\n');
        }
    }

    /// A piece that is made of a place.
    pub fn of(&mut self, place: Span, piece: impl FnOnce(&mut Self)) {
        let start = self.text.len();
        piece(self);
        self.places.push((start..self.text.len(), place));
    }

    /// Text as it is.
    pub fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Text as it is, made of a place.
    pub fn put_of(&mut self, place: Span, text: &str) {
        self.of(place, |writer| writer.put(text));
    }

    /// A value of the foreign file as a literal, each part of it made of its place.
    pub fn literal(&mut self, node: &Node) {
        self.of(node.span, |writer| match &node.value {
            Value::List(items) if !items.is_empty() => {
                for (at, item) in items.iter().enumerate() {
                    writer.put(if at > 0 { ", " } else { "[" });
                    writer.literal(item);
                }
                writer.put("]");
            }
            Value::Map(entries) if !entries.is_empty() => {
                for (at, (name, value)) in entries.iter().enumerate() {
                    writer.put(if at > 0 { ", " } else { "{ " });
                    writer.of(name.span.to(value.span), |writer| {
                        writer.put(&format!("{}: ", object_key(&name.key())));
                        writer.literal(value);
                    });
                }
                writer.put(" }");
            }
            _ => writer.put(&literal(node)),
        });
    }

    /// Writes an assertion that is made of a place, with its modifiers.
    pub fn assertion(&mut self, place: Span, sentence: &Sentence, modifiers: &str) {
        sentence.remarks.iter().for_each(|remark| self.remark(remark));
        self.line(place, |writer| {
            for (piece, place) in &sentence.pieces {
                match place {
                    Some(place) => writer.put_of(*place, piece),
                    None => writer.put(piece),
                }
            }
            writer.put(modifiers);
        });
    }

    fn indent(&mut self) {
        (0..self.depth).for_each(|_| self.text.push_str("  "));
    }

    /// Whether a text stands in it.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    /// What another one wrote, behind an empty line.
    pub fn append(&mut self, other: Self) {
        self.gap();
        let by = self.text.len();
        self.text.push_str(&other.text);
        let moved = |range: Range<usize>| range.start.saturating_add(by)..range.end.saturating_add(by);
        self.places.extend(other.places.into_iter().map(|(range, place)| (moved(range), place)));
    }

    /// The text, and where its pieces come from.
    #[must_use]
    pub fn finish(mut self) -> Written {
        let length = self.text.trim_end_matches('\n').len();
        self.text.truncate(length);
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let places = self.places.into_iter().map(|(range, place)| (offset(range.start)..offset(range.end), place));
        Written { text: self.text, places: places.collect() }
    }
}

/// How loosely the outermost operator of an expression binds, the loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Binds {
    /// The body of a quantifier, which reaches as far as it can: `any x in xs: …`.
    Reaches,
    /// `or`
    Or,
    /// `and`
    And,
    /// `not`
    Not,
    /// `==`, `contains` and all other tests.
    Test,
    /// `+`, `-`
    Sum,
    /// `*`, `/`, `%`
    Product,
    /// A name, a literal, a path, a call of a function.
    Closely,
}

/// A text as the language writes it.
#[must_use]
pub fn quoted(text: &str) -> String {
    notation::quoted(text, usize::MAX)
}

/// A value as the language writes it: JSON with bare keys where they can stand so.
#[must_use]
pub fn literal(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.clone(),
        Value::Text(text) => quoted(text),
        Value::List(items) => format!("[{}]", joined(items.iter().map(literal))),
        Value::Map(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Map(entries) => {
            format!(
                "{{ {} }}",
                joined(entries.iter().map(|(name, value)| format!("{}: {}", object_key(&name.key()), literal(value))))
            )
        }
    }
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// A key as it stands in an object: bare where it is a name.
#[must_use]
pub fn object_key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quoted(name) }
}

/// The step of a path to the value of a key: `.id`, `["user-id"]`.
#[must_use]
pub fn member(name: &str) -> String {
    if is_identifier(name) { format!(".{name}") } else { format!("[{}]", quoted(name)) }
}

/// Whether a text is an identifier of the language.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A name as rules, cases and tags have it, made of any text: what cannot stand in one becomes `-`.
#[must_use]
pub fn label(text: &str) -> String {
    let mut label = String::new();
    for character in text.chars() {
        match character {
            c if c.is_ascii_alphanumeric() || c == '_' => label.push(c),
            '.' if !label.is_empty() && !label.ends_with(['-', '.']) => label.push('.'),
            _ if !label.is_empty() && !label.ends_with(['-', '.']) => label.push('-'),
            _ => {}
        }
    }
    let label = label.trim_end_matches(['-', '.']);
    match label.chars().next() {
        None => "rule".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("r-{label}"),
        // An operator at the head is one, whatever stands behind it.
        Some(_) if label.split(['-', '.']).next().is_some_and(|first| words::OPERATORS.contains(&first)) => {
            format!("r-{label}")
        }
        Some(_) => label.to_owned(),
    }
}

/// Names for rules: each text its own.
#[derive(Debug, Default)]
pub struct Labels {
    taken: std::collections::BTreeSet<String>,
}

impl Labels {
    /// The label of a text that no other text has been given.
    pub fn of(&mut self, text: &str) -> String {
        let wanted = label(text);
        let mut name = wanted.clone();
        let mut number = 2_u32;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}-{number}");
            number = number.saturating_add(1);
        }
        name
    }
}

/// The name of a tool in a pattern: bare where it can stand so and is no glob, quoted otherwise.
#[must_use]
pub fn tool(name: &str) -> String {
    let lists =
        [words::STATEMENTS, words::DECLARATIONS, words::MODIFIERS, words::SETTINGS, words::OPERATORS, words::KINDS];
    let in_patterns = ["proposed", "ok", "failed", "by", "tagged", "where", "times", "within", "until"];
    let word = words::is_reserved(name) || in_patterns.contains(&name) || lists.iter().any(|list| list.contains(&name));
    if is_identifier(name) && !word { name.to_owned() } else { quoted(name) }
}
