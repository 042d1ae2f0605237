//! Writing sentences, each piece with the place in the foreign file that it was made of.

use crate::regex_flavour::TranslatedRegex;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::source::Span;
use averment_base::value::notation;
use averment_syntax::words;
use std::ops::Range;

/// A text of the language in the making.
#[derive(Debug, Default)]
pub struct RuleWriter {
    text: String,
    places: Vec<(Range<usize>, Span)>,
    depth: usize,
}

/// A text of the language, and where its pieces come from.
#[derive(Debug, Clone, Default)]
pub struct MappedText {
    /// The text.
    pub text: String,
    /// Pieces with their places in the foreign file; pieces inside of others are finer.
    pub places: Vec<(Range<u32>, Span)>,
}

/// A sentence in the making: pieces of text, each with its place in the foreign file where it has one of its own.
#[derive(Debug, Clone, Default)]
pub struct MappedSentence {
    pieces: Vec<(String, Option<Span>)>,
    remarks: Vec<String>,
}

/// A case in the making: what the agent is asked, and what is expected of the run.
#[derive(Debug)]
pub struct WrittenCase<'a> {
    /// The place of the whole case.
    pub place: Span,
    /// Its name, as the language writes it.
    pub label: &'a str,
    /// Lines of `#` above it.
    pub remark: Option<&'a str>,
    /// What the agent is asked, with its place.
    pub prompt: Option<(&'a str, Span)>,
    /// Its assertions.
    pub lines: &'a [CaseLine],
}

/// An assertion of a case, made of a place.
#[derive(Debug, Clone)]
pub struct CaseLine {
    /// The place.
    pub place: Span,
    /// The assertion, with its modifiers.
    pub text: String,
}

impl CaseLine {
    /// An assertion that is made of a place.
    #[must_use]
    pub fn new(place: Span, text: impl Into<String>) -> Self {
        Self { place, text: text.into() }
    }

    /// An assertion that nothing here can decide, and why.
    #[must_use]
    pub fn undecided(place: Span, why: &str) -> Self {
        Self::new(place, format!("undecided({})", quote_text(why)))
    }
}

impl MappedSentence {
    /// Adds text.
    #[must_use]
    pub fn add_text(mut self, text: impl Into<String>) -> Self {
        self.pieces.push((text.into(), None));
        self
    }

    /// Adds text that was made of a place.
    #[must_use]
    pub fn add_mapped(mut self, place: Span, text: impl Into<String>) -> Self {
        self.pieces.push((text.into(), Some(place)));
        self
    }

    /// Adds a regular expression: one that backtracks is meant to.
    #[must_use]
    pub fn add_regex(mut self, place: Span, regex: &TranslatedRegex) -> Self {
        self.remarks.extend(regex.backtracks.then(|| "allow: backtracking".to_owned()));
        self.add_mapped(place, regex.text.as_str())
    }

    /// Adds a remark that stands above it.
    #[must_use]
    pub fn add_remark(mut self, remark: &str) -> Self {
        self.remarks.push(remark.to_owned());
        self
    }

    /// Puts `text` in front.
    #[must_use]
    pub fn put_behind(mut self, text: impl Into<String>) -> Self {
        self.pieces.insert(0, (text.into(), None));
        self
    }

    /// True if one of its pieces contains `text`.
    #[must_use]
    pub fn contains_text(&self, text: &str) -> bool {
        self.pieces.iter().any(|(piece, _)| piece.contains(text))
    }
}

impl RuleWriter {
    /// Writes a line: what `line` writes is made of `place`.
    pub fn write_line(&mut self, place: Span, line: impl FnOnce(&mut Self)) {
        self.put_indent();
        self.write_mapped(place, line);
        self.text.push('\n');
    }

    /// Writes a line that opens a block, what is in it, and its end.
    pub fn write_block(&mut self, place: Span, head: impl FnOnce(&mut Self), body: impl FnOnce(&mut Self)) {
        let start = self.text.len();
        self.put_indent();
        self.write_mapped(place, head);
        self.text.push_str(" {\n");
        self.depth = self.depth.saturating_add(1);
        body(self);
        self.depth = self.depth.saturating_sub(1);
        self.put_indent();
        self.text.push_str("}\n");
        self.places.push((start..self.text.len(), place));
    }

    /// Writes a case behind an empty line.
    pub fn write_case(&mut self, case: &WrittenCase<'_>) {
        self.write_gap();
        if let Some(remark) = case.remark {
            self.write_remark(remark);
        }
        let head = |out: &mut Self| out.put_text(&format!("case {}", case.label));
        self.write_block(case.place, head, |out| {
            if let Some((prompt, place)) = case.prompt {
                out.write_line(place, |out| out.put_text(&format!("prompt {}", quote_text(prompt))));
            }
            for line in case.lines {
                out.write_line(line.place, |out| out.put_text(&line.text));
            }
        });
    }

    /// Writes a remark, a line of `#` for each of its lines.
    pub fn write_remark(&mut self, text: &str) {
        for line in text.lines() {
            self.put_indent();
            let line = averment_base::diagnostic::render::one_line(line);
            self.text.push_str(if line.is_empty() { "#" } else { "# " });
            self.text.push_str(&line);
            self.text.push('\n');
        }
    }

    /// An empty line, unless one stands there.
    pub fn write_gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") && !self.text.ends_with("{\n") {
            self.text.push('\n');
        }
    }

    /// A piece that is made of a place.
    pub fn write_mapped(&mut self, place: Span, piece: impl FnOnce(&mut Self)) {
        let start = self.text.len();
        piece(self);
        self.places.push((start..self.text.len(), place));
    }

    /// Text as it is.
    pub fn put_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Text as it is, made of a place.
    pub fn put_mapped(&mut self, place: Span, text: &str) {
        self.write_mapped(place, |writer| writer.put_text(text));
    }

    /// A value of the foreign file as a literal, each part of it made of its place.
    pub fn put_literal(&mut self, node: &YamlNode) {
        self.write_mapped(node.span, |writer| match &node.value {
            YamlValue::List(items) if !items.is_empty() => {
                for (at, item) in items.iter().enumerate() {
                    writer.put_text(if at > 0 { ", " } else { "[" });
                    writer.put_literal(item);
                }
                writer.put_text("]");
            }
            YamlValue::Map(entries) if !entries.is_empty() => {
                for (at, (name, value)) in entries.iter().enumerate() {
                    writer.put_text(if at > 0 { ", " } else { "{ " });
                    writer.write_mapped(name.span.cover_with(value.span), |writer| {
                        writer.put_text(&format!("{}: ", object_key(&name.key_text())));
                        writer.put_literal(value);
                    });
                }
                writer.put_text(" }");
            }
            _ => writer.put_text(&value_literal(node)),
        });
    }

    /// Declares a JSON Schema. Other programs read one that names no draft as the newest, where the language takes an older one that it fits.
    pub fn write_schema(&mut self, name: &str, schema: &YamlNode) {
        let fits = averment_builtins::schema::fits_newest_draft(&schema.to_json());
        let mut schema = schema.clone();
        if let YamlValue::Map(entries) = &mut schema.value
            && !fits
        {
            let text = |text: &str| YamlNode { value: YamlValue::Text(text.to_owned()), span: schema.span };
            entries.insert(0, (text("$schema"), text("https://json-schema.org/draft/2020-12/schema")));
        }
        self.write_line(schema.span, |out| {
            out.put_text(&format!("schema {name} = "));
            out.put_literal(&schema);
        });
    }

    /// Writes an assertion that is made of a place, with its modifiers.
    pub fn write_assertion(&mut self, place: Span, sentence: &MappedSentence, modifiers: &str) {
        sentence.remarks.iter().for_each(|remark| self.write_remark(remark));
        self.write_line(place, |writer| {
            for (piece, place) in &sentence.pieces {
                match place {
                    Some(place) => writer.put_mapped(*place, piece),
                    None => writer.put_text(piece),
                }
            }
            writer.put_text(modifiers);
        });
    }

    fn put_indent(&mut self) {
        (0..self.depth).for_each(|_| self.text.push_str("  "));
    }

    /// True if it contains `text`.
    #[must_use]
    pub fn contains_text(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    /// Appends another writer's output after an empty line.
    pub fn append(&mut self, other: Self) {
        self.write_gap();
        let by = self.text.len();
        self.text.push_str(&other.text);
        let moved = |range: Range<usize>| range.start.saturating_add(by)..range.end.saturating_add(by);
        self.places.extend(other.places.into_iter().map(|(range, place)| (moved(range), place)));
    }

    /// The text, and where its pieces come from.
    #[must_use]
    pub fn finish(mut self) -> MappedText {
        let length = self.text.trim_end_matches('\n').len();
        self.text.truncate(length);
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let places = self.places.into_iter().map(|(range, place)| (offset(range.start)..offset(range.end), place));
        MappedText { text: self.text, places: places.collect() }
    }
}

/// Precedence of an expression's outermost operator, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BindingStrength {
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
pub fn quote_text(text: &str) -> String {
    notation::quoted_text(text, usize::MAX)
}

/// A value as the language writes it: JSON with bare keys where they can stand so.
#[must_use]
pub fn value_literal(node: &YamlNode) -> String {
    match &node.value {
        YamlValue::Null => "null".to_owned(),
        YamlValue::Bool(value) => value.to_string(),
        YamlValue::Number(number) => number.clone(),
        YamlValue::Text(text) => quote_text(text),
        YamlValue::List(items) => format!("[{}]", join_parts(items.iter().map(value_literal))),
        YamlValue::Map(entries) if entries.is_empty() => "{}".to_owned(),
        YamlValue::Map(entries) => {
            format!(
                "{{ {} }}",
                join_parts(entries.iter().map(|(name, value)| format!(
                    "{}: {}",
                    object_key(&name.key_text()),
                    value_literal(value)
                )))
            )
        }
    }
}

fn join_parts(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// A key as it stands in an object: bare where it is a name.
#[must_use]
pub fn object_key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quote_text(name) }
}

/// The step of a path to the value of a key: `.id`, `["user-id"]`.
#[must_use]
pub fn member_path(name: &str) -> String {
    if is_identifier(name) { format!(".{name}") } else { format!("[{}]", quote_text(name)) }
}

/// True if a text is an identifier of the language.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A name as rules, cases and tags have it, made of any text: what cannot stand in one becomes `-`.
#[must_use]
pub fn to_label(text: &str) -> String {
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
pub struct UniqueLabels {
    taken: std::collections::BTreeSet<String>,
}

impl UniqueLabels {
    /// The label of a text that no other text has been given.
    pub fn unique_label(&mut self, text: &str) -> String {
        let wanted = to_label(text);
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
pub fn tool_pattern(name: &str) -> String {
    let lists =
        [words::STATEMENTS, words::DECLARATIONS, words::MODIFIERS, words::SETTINGS, words::OPERATORS, words::KINDS];
    let in_patterns = ["proposed", "ok", "failed", "by", "tagged", "where", "times", "within", "until"];
    let word = words::is_reserved(name) || in_patterns.contains(&name) || lists.iter().any(|list| list.contains(&name));
    if is_identifier(name) && !word { name.to_owned() } else { quote_text(name) }
}
