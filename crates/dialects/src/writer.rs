//! Writes text of the rule language, with the location in the foreign file that each piece was written for.

use crate::regex_flavour::TranslatedRegex;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::source::Span;
use averment_base::value::notation;
use averment_syntax::words;
use std::ops::Range;

/// Text of the rule language under construction.
#[derive(Debug, Default)]
pub struct RuleWriter {
    text: String,
    places: Vec<(Range<usize>, Span)>,
    depth: usize,
}

/// Text of the rule language with the source locations of its pieces.
#[derive(Debug, Clone, Default)]
pub struct MappedText {
    /// The text.
    pub text: String,
    /// Pieces with their locations in the foreign file. A nested piece is more precise.
    pub places: Vec<(Range<u32>, Span)>,
}

/// An assertion under construction: pieces of text, some with their own location in the foreign file.
#[derive(Debug, Clone, Default)]
pub struct MappedSentence {
    pieces: Vec<(String, Option<Span>)>,
    remarks: Vec<String>,
}

/// The contents of a case: the prompt, and the assertions about the run.
#[derive(Debug)]
pub struct WrittenCase<'a> {
    /// Location of the whole case.
    pub place: Span,
    /// Its name in the notation of the rule language.
    pub label: &'a str,
    /// Comment above the case.
    pub remark: Option<&'a str>,
    /// The prompt and its location.
    pub prompt: Option<(&'a str, Span)>,
    /// Its assertions.
    pub lines: &'a [CaseLine],
}

/// An assertion of a case with its source location.
#[derive(Debug, Clone)]
pub struct CaseLine {
    /// The source location.
    pub place: Span,
    /// The assertion, with its modifiers.
    pub text: String,
}

impl CaseLine {
    /// Creates an assertion with its source location.
    #[must_use]
    pub fn new(place: Span, text: impl Into<String>) -> Self {
        Self { place, text: text.into() }
    }

    /// Creates an undecided assertion with the reason.
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

    /// Adds text with its source location.
    #[must_use]
    pub fn add_mapped(mut self, place: Span, text: impl Into<String>) -> Self {
        self.pieces.push((text.into(), Some(place)));
        self
    }

    /// Adds a regular expression. If it backtracks, the lint about that is suppressed.
    #[must_use]
    pub fn add_regex(mut self, place: Span, regex: &TranslatedRegex) -> Self {
        self.remarks.extend(regex.backtracks.then(|| "allow: backtracking".to_owned()));
        self.add_mapped(place, regex.text.as_str())
    }

    /// Adds a comment above the assertion.
    #[must_use]
    pub fn add_remark(mut self, remark: &str) -> Self {
        self.remarks.push(remark.to_owned());
        self
    }

    /// Inserts `text` at the front.
    #[must_use]
    pub fn put_behind(mut self, text: impl Into<String>) -> Self {
        self.pieces.insert(0, (text.into(), None));
        self
    }

    /// Returns true if one of its pieces contains `text`.
    #[must_use]
    pub fn contains_text(&self, text: &str) -> bool {
        self.pieces.iter().any(|(piece, _)| piece.contains(text))
    }
}

impl RuleWriter {
    /// Writes a line; `place` is its source location.
    pub fn write_line(&mut self, place: Span, line: impl FnOnce(&mut Self)) {
        self.put_indent();
        self.write_mapped(place, line);
        self.text.push('\n');
    }

    /// Writes a block: its head, its body and the closing brace.
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

    /// Writes a case, after an empty line.
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

    /// Writes a comment; each line of the text becomes a `#` line.
    pub fn write_remark(&mut self, text: &str) {
        for line in text.lines() {
            self.put_indent();
            let line = averment_base::diagnostic::render::one_line(line);
            self.text.push_str(if line.is_empty() { "#" } else { "# " });
            self.text.push_str(&line);
            self.text.push('\n');
        }
    }

    /// Adds an empty line unless there already is one.
    pub fn write_gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") && !self.text.ends_with("{\n") {
            self.text.push('\n');
        }
    }

    /// Writes a piece; `place` is its source location.
    pub fn write_mapped(&mut self, place: Span, piece: impl FnOnce(&mut Self)) {
        let start = self.text.len();
        piece(self);
        self.places.push((start..self.text.len(), place));
    }

    /// Adds text unchanged.
    pub fn put_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds text unchanged, with its source location.
    pub fn put_mapped(&mut self, place: Span, text: &str) {
        self.write_mapped(place, |writer| writer.put_text(text));
    }

    /// Adds a value of the foreign file as a literal; each part keeps its source location.
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

    /// Declares a JSON Schema. Other programs treat a schema without `$schema` as the newest draft. If it is valid only under an older draft, that
    /// draft is named.
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

    /// Writes an assertion with its modifiers and its source location.
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

    /// Returns true if the text contains `text`.
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

    /// Returns the text with the source locations of its pieces.
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
    /// The body of a quantifier, which extends as far as possible: `any x in xs: …`.
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
    /// A name, a literal, a path, a function call.
    Closely,
}

/// Returns a text literal.
#[must_use]
pub fn quote_text(text: &str) -> String {
    notation::quoted_text(text, usize::MAX)
}

/// Returns a value as a literal: JSON, with bare keys where possible.
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

/// Returns a key of an object literal: bare if it is an identifier.
#[must_use]
pub fn object_key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { quote_text(name) }
}

/// Returns the path step to a key: `.id`, `["user-id"]`.
#[must_use]
pub fn member_path(name: &str) -> String {
    if is_identifier(name) { format!(".{name}") } else { format!("[{}]", quote_text(name)) }
}

/// Returns true if a text is an identifier of the rule language.
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Turns any text into a label for rules, cases and tags; invalid characters become `-`.
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
        // A leading operator word would be parsed as an operator, whatever follows it.
        Some(_) if label.split(['-', '.']).next().is_some_and(|first| words::OPERATORS.contains(&first)) => {
            format!("r-{label}")
        }
        Some(_) => label.to_owned(),
    }
}

/// Hands out unique labels.
#[derive(Debug, Default)]
pub struct UniqueLabels {
    taken: std::collections::BTreeSet<String>,
}

impl UniqueLabels {
    /// Returns a label for a text that was not returned before.
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

/// Returns a tool name for use in a pattern: bare if possible, quoted if it would be a glob or a keyword.
#[must_use]
pub fn tool_pattern(name: &str) -> String {
    let lists =
        [words::STATEMENTS, words::DECLARATIONS, words::MODIFIERS, words::SETTINGS, words::OPERATORS, words::KINDS];
    let in_patterns = ["proposed", "ok", "failed", "by", "tagged", "where", "times", "within", "until"];
    let word = words::is_reserved(name) || in_patterns.contains(&name) || lists.iter().any(|list| list.contains(&name));
    if is_identifier(name) && !word { name.to_owned() } else { quote_text(name) }
}
