//! Parameters of a pack: `{{name}}` anywhere in its text is replaced by a value.
//!
//! Values are inserted into the parsed scalars, never into the text of the file, so no value can change the structure of the file. To parse the text
//! first, each placeholder is masked by a word of equal length that occurs nowhere else in the file.

use crate::Lowering;
use crate::yaml::{self, YamlNode, YamlSchema, YamlValue};
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_base::source::{FileId, Span};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The placeholder for the current tool in `for_each_tool`.
pub(super) const TOOL_NAME: &str = "tool_name";

const BASE: u32 = 36;
const DIGITS: usize = 3;

#[derive(Debug, Clone)]
pub(super) struct PackParameter {
    /// The value as text.
    pub text: String,
    /// A list or mapping, inserted as a whole if the placeholder is not in quotes.
    pub whole: Option<YamlNode>,
    /// True if it stays a parameter in the written rules.
    pub is_kept: bool,
    /// True if its value is a text.
    pub is_text: bool,
}

/// A part of a text in the pack.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TextPiece {
    Text(String),
    Param(String),
}

/// Scalars with parameters that stay parameters, by location, and which of these scalars were written as such.
#[derive(Debug, Default)]
pub(super) struct KeptParams {
    pub texts: BTreeMap<ScalarPlace, Vec<TextPiece>>,
    pub declared: Vec<(String, YamlNode, Option<String>)>,
    written: RefCell<BTreeSet<ScalarPlace>>,
}

type ScalarPlace = (FileId, u32, u32);

fn scalar_place(span: Span) -> ScalarPlace {
    (span.file, span.start, span.end)
}

impl KeptParams {
    /// Returns the literal of a scalar with parameters: `limit`, `"${witness}"`.
    pub fn scalar_literal(&self, node: &YamlNode) -> Option<String> {
        let pieces = self.texts.get(&scalar_place(node.span))?;
        self.written.borrow_mut().insert(scalar_place(node.span));
        if let ([TextPiece::Param(name)], false) = (pieces.as_slice(), node.as_text().is_some()) {
            return Some(name.clone());
        }
        Some(self::text_literal(pieces))
    }

    /// True if a value contains such a scalar.
    pub fn is_within(&self, node: &YamlNode) -> bool {
        let Span { file, start, end } = node.span;
        self.texts.range((file, start, 0)..).take_while(|((of, at, _), _)| *of == file && *at < end).next().is_some()
    }

    /// Returns two flags: whether the parameter was written as a parameter somewhere, and whether its value was inlined somewhere.
    pub fn uses_of(&self, name: &str) -> (bool, bool) {
        let written = self.written.borrow();
        let is_it = |piece: &TextPiece| matches!(piece, TextPiece::Param(one) if one == name);
        let uses = || self.texts.iter().filter(|(_, pieces)| pieces.iter().any(is_it)).map(|(place, _)| place);
        (uses().any(|place| written.contains(place)), uses().any(|place| !written.contains(place)))
    }
}

/// Returns a text literal such as `"p_${witness}"`.
fn text_literal(pieces: &[TextPiece]) -> String {
    let mut out = String::from("\"");
    for piece in pieces {
        match piece {
            TextPiece::Text(text) => {
                let quoted = crate::writer::quote_text(text);
                out.push_str(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or(""));
            }
            TextPiece::Param(name) => out.push_str(&format!("${{{name}}}")),
        }
    }
    out.push('"');
    out
}

/// Text in which words mask the placeholders.
pub(super) struct CoveredText<'t> {
    original: &'t str,
    text: String,
    mark: String,
    /// Location and name of each placeholder.
    pub places: Vec<(Range<usize>, String)>,
    /// Scalars that contain parameters that stay parameters.
    pub kept: RefCell<BTreeMap<ScalarPlace, Vec<TextPiece>>>,
}

/// Returns the text with placeholders masked; `None` if there are none.
pub(crate) fn readable_text(text: &str) -> Option<String> {
    let covered = CoveredText::cover_placeholders(text);
    (!covered.places.is_empty()).then_some(covered.text)
}

impl<'t> CoveredText<'t> {
    /// Masks all placeholders.
    pub fn cover_placeholders(original: &'t str) -> Self {
        let mark = free_mark(original);
        let mut places = Vec::new();
        let mut text = String::with_capacity(original.len());
        let mut at = 0;
        while let Some((range, name)) = next_placeholder(original, at) {
            let Some(word) = covering_word(&mark, places.len(), range.len()) else { break };
            text.push_str(original.get(at..range.start).unwrap_or(""));
            text.push_str(&word);
            at = range.end;
            places.push((range, name));
        }
        text.push_str(original.get(at..).unwrap_or(""));
        Self { original, text, mark, places, kept: RefCell::default() }
    }

    /// Parses the masked text.
    ///
    /// # Errors
    /// The syntax error in the YAML.
    pub fn parse_covered(&self, file: FileId) -> Result<YamlNode, Box<Diagnostic>> {
        yaml::parse_document(&self.text, file, YamlSchema::Core)
    }

    /// Returns the node with values in place of the placeholders; without `values`, with the placeholders as written.
    pub fn fill_node(&self, node: &YamlNode, values: Option<&BTreeMap<String, PackParameter>>) -> YamlNode {
        let value = match &node.value {
            YamlValue::Text(text) if text.contains(&self.mark) => self.fill_scalar(text, node.span, values),
            YamlValue::List(items) => YamlValue::List(items.iter().map(|item| self.fill_node(item, values)).collect()),
            YamlValue::Map(entries) => {
                let both =
                    |(key, value): &(YamlNode, YamlNode)| (self.fill_node(key, values), self.fill_node(value, values));
                YamlValue::Map(entries.iter().map(both).collect())
            }
            other => other.clone(),
        };
        YamlNode { value, span: node.span }
    }

    fn fill_scalar(&self, text: &str, span: Span, values: Option<&BTreeMap<String, PackParameter>>) -> YamlValue {
        let Some(values) = values else { return YamlValue::Text(self.replace_covers(text, |_| None)) };
        let plain = self.text.get(span.as_range()).is_some_and(|written| written.trim() == text);
        let whole =
            self.places.iter().find(|(range, _)| *range == span.as_range()).and_then(|(_, name)| values.get(name));
        if let Some(node) = whole.filter(|_| plain).and_then(|parameter| parameter.whole.as_ref()) {
            return node.value.clone();
        }
        let filled = self.replace_covers(text, |name| values.get(name).map(|parameter| parameter.text.as_str()));
        let value = match plain {
            true => yaml::plain_value(&filled, YamlSchema::Core),
            false => YamlValue::Text(filled),
        };
        let is_text = matches!(value, YamlValue::Text(_));
        if let Some(pieces) = self.kept_pieces(text, values, is_text) {
            let is_alone = plain && matches!(pieces.as_slice(), [TextPiece::Param(_)]);
            if is_alone || is_text {
                self.kept.borrow_mut().insert(scalar_place(span), pieces);
            }
        }
        value
    }

    /// Returns the parts of a scalar if one of its parameters stays a parameter; the values of the others are inserted. Within a text only text
    /// parameters stay, because numbers are formatted differently there.
    fn kept_pieces(
        &self,
        text: &str,
        values: &BTreeMap<String, PackParameter>,
        is_text: bool,
    ) -> Option<Vec<TextPiece>> {
        let is_kept = |name: &String| {
            values.get(name).is_some_and(|parameter| parameter.is_kept && (parameter.is_text || !is_text))
        };
        if !self.places.iter().any(|(_, name)| is_kept(name)) {
            return None;
        }
        let mut pieces = vec![TextPiece::Text(text.to_owned())];
        for (number, (range, name)) in self.places.iter().enumerate() {
            let Some(cover) = covering_word(&self.mark, number, range.len()) else { continue };
            let Some(at) = pieces.iter().position(|one| matches!(one, TextPiece::Text(text) if text.contains(&cover)))
            else {
                continue;
            };
            let Some(TextPiece::Text(whole)) = pieces.get(at).cloned() else { continue };
            let Some((before, behind)) = whole.split_once(&cover) else { continue };
            let middle = match values.get(name) {
                Some(_) if is_kept(name) => TextPiece::Param(name.clone()),
                Some(parameter) => TextPiece::Text(parameter.text.clone()),
                None => TextPiece::Text(self.original.get(range.clone()).unwrap_or("").to_owned()),
            };
            let parts = [TextPiece::Text(before.to_owned()), middle, TextPiece::Text(behind.to_owned())];
            pieces.splice(at..=at, parts);
        }
        pieces.retain(|piece| !matches!(piece, TextPiece::Text(text) if text.is_empty()));
        pieces.iter().any(|piece| matches!(piece, TextPiece::Param(_))).then_some(pieces)
    }

    /// Replaces the masks; unknown placeholders are restored.
    fn replace_covers<'v>(&self, text: &str, value: impl Fn(&str) -> Option<&'v str>) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once(self.mark.as_str()) {
            out.push_str(before);
            let number = behind.get(..DIGITS).and_then(|digits| usize::from_str_radix(digits, BASE).ok());
            let Some((range, name)) = number.and_then(|number| self.places.get(number)) else {
                out.push_str(&self.mark);
                rest = behind;
                continue;
            };
            let written = self.original.get(range.clone()).unwrap_or("");
            out.push_str(value(name).unwrap_or(written));
            rest = behind.get(range.len().saturating_sub(self.mark.len())..).unwrap_or("");
        }
        out.push_str(rest);
        out
    }
}

/// Returns two letters that do not occur together in the text.
fn free_mark(text: &str) -> String {
    let letters = || ('A'..='Z').rev();
    let mut pairs = letters().flat_map(|first| {
        letters().filter(move |second| *second != first).map(move |second| format!("{first}{second}"))
    });
    pairs.find(|pair| !text.contains(pair.as_str())).unwrap_or_else(|| "ZY".to_owned())
}

/// Returns the masking word of a number; `None` if the number is too large.
fn covering_word(mark: &str, number: usize, length: usize) -> Option<String> {
    let mut digits = Vec::new();
    let mut rest = u32::try_from(number).ok()?;
    for _ in 0..DIGITS {
        digits.push(char::from_digit(rest % BASE, BASE)?);
        rest /= BASE;
    }
    let digits: String = digits.iter().rev().collect();
    let behind = length.checked_sub(mark.len())?.checked_sub(DIGITS)?;
    (rest == 0).then(|| format!("{mark}{digits}{}", "z".repeat(behind)))
}

fn next_placeholder(text: &str, from: usize) -> Option<(Range<usize>, String)> {
    let mut at = from;
    loop {
        let start = text.get(at..)?.find("{{").map(|found| at.saturating_add(found))?;
        let inside = text.get(start.saturating_add(2)..)?;
        let name = inside.trim_start().split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("");
        let behind = inside.trim_start().get(name.len()..).unwrap_or("").trim_start();
        if crate::writer::is_identifier(name) && behind.starts_with("}}") {
            let end = text.len().saturating_sub(behind.len()).saturating_add(2);
            return Some((start..end, name.to_owned()));
        }
        at = start.saturating_add(1);
    }
}

pub(super) fn read_parameters(
    lowering: &mut Lowering<'_>,
    metadata: Option<&YamlNode>,
) -> BTreeMap<String, PackParameter> {
    const KEYS: [&str; 3] = ["description", "type", "default"];
    const TYPES: [&str; 4] = ["string", "integer", "number", "boolean"];
    let mut values = BTreeMap::new();
    let Some(declared) = metadata.and_then(|metadata| metadata.get("parameters")) else { return values };
    if !declared.is_map() {
        lowering.sink.wrong_shape(declared, "`parameters`", "a mapping of names, each with a `default`");
    }
    for (name, about) in declared.entries() {
        let what = format!("the parameter `{}`", name.key_text());
        if !lowering.sink.check_keys(about, &what, &KEYS) {
            continue;
        }
        let _ = lowering.sink.optional_text(about, "description", &what);
        if let Some(ty) = about.get("type").filter(|ty| !ty.as_text().is_some_and(|ty| TYPES.contains(&ty))) {
            lowering.sink.unknown_word(ty, "type of a parameter", &TYPES);
        }
        let Some(default) = about.get("default") else {
            let message = format!("{what} has no `default`");
            lowering.sink.error(Slug::TypeMismatch, name.span, message, "write `default: …`: a pack runs as it stands");
            continue;
        };
        let given = lowering
            .options
            .given
            .iter()
            .rev()
            .find(|(given, _)| *given == name.key_text())
            .map(|(_, value)| value.clone());
        let is_given = given.is_some();
        let whole = (!is_given && (default.is_list() || default.is_map())).then(|| default.clone());
        let text = given.unwrap_or_else(|| as_text(default));
        if !lowering.params.iter().any(|(known, _)| *known == name.key_text()) {
            lowering.params.push((name.key_text(), text.clone()));
        }
        let is_kept =
            lowering.options.keep_params && !is_given && whole.is_none() && can_be_kept(&name.key_text(), default);
        values.insert(name.key_text(), PackParameter { text, whole, is_kept, is_text: default.as_text().is_some() });
    }
    values
}

/// True if the rule language allows a parameter with this name and default value.
fn can_be_kept(name: &str, default: &YamlNode) -> bool {
    let is_value = matches!(default.value, YamlValue::Text(_) | YamlValue::Number(_) | YamlValue::Bool(_));
    is_value && name != TOOL_NAME && crate::writer::tool_pattern(name) == name && !super::is_shorthand(name)
}

fn as_text(node: &YamlNode) -> String {
    match &node.value {
        YamlValue::Null => String::new(),
        YamlValue::Text(text) => text.clone(),
        YamlValue::Number(number) if number.contains(['.', 'e', 'E']) => {
            number.parse::<f64>().map_or_else(|_| number.clone(), |value| format!("{value:?}"))
        }
        _ => node.to_json(),
    }
}

pub(super) fn report_undeclared(
    lowering: &mut Lowering<'_>,
    covered: &CoveredText<'_>,
    file: FileId,
    values: &BTreeMap<String, PackParameter>,
) {
    let mut said: Vec<&str> = Vec::new();
    for (range, name) in &covered.places {
        if values.contains_key(name) || said.contains(&name.as_str()) {
            continue;
        }
        said.push(name);
        let help = match suggest::suggest_name(name, values.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{{{{{near}}}}}`?"),
            None if name == TOOL_NAME => "`{{tool_name}}` stands for a tool under `for_each_tool`".to_owned(),
            None => format!(
                "declare it: `metadata: {{ parameters: {{ {name}: {{ default: … }} }} }}`; comments are read, too"
            ),
        };
        let message = format!("`{{{{{name}}}}}` is no parameter of this pack");
        lowering.sink.error(Slug::UnknownName, Span::new(file, range.start, range.end), message, help);
    }
}
