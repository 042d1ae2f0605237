//! Texts of a manifest in which inputs and outputs are named: `"${inputs.article_path}"`.

use super::manifest::SkillManifest;
use crate::writer::{member_path, quote_text};

/// A piece of such a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplatePiece<'a> {
    /// As it is.
    Literal(&'a str),
    /// The value of an input.
    Input(&'a str),
    /// The value of an output.
    Output(&'a str),
}

/// The pieces of a text. Names are made of ASCII letters, digits and `_`: anything else in `${…}` is text.
pub(super) fn split_pieces(text: &str) -> Vec<TemplatePiece<'_>> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(start) = text.get(at..).and_then(|rest| rest.find("${")).map(|found| at.saturating_add(found)) {
        let rest = text.get(start..).unwrap_or("");
        let Some((piece, length)) = read_reference(rest) else {
            at = start.saturating_add(2);
            continue;
        };
        pieces.extend(text.get(from..start).filter(|literal| !literal.is_empty()).map(TemplatePiece::Literal));
        pieces.push(piece);
        at = start.saturating_add(length);
        from = at;
    }
    pieces.extend(text.get(from..).filter(|literal| !literal.is_empty()).map(TemplatePiece::Literal));
    pieces
}

/// A reference at the beginning of a text, with its length.
fn read_reference(text: &str) -> Option<(TemplatePiece<'_>, usize)> {
    let (inside, _) = text.strip_prefix("${")?.split_once('}')?;
    let (root, name) = inside.split_once('.')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let piece = match root {
        "inputs" if is_name => TemplatePiece::Input(name),
        "outputs" if is_name => TemplatePiece::Output(name),
        _ => return None,
    };
    Some((piece, inside.len().saturating_add(3)))
}

/// Pieces as a text of the language. An input that is not given has its default.
pub(super) fn pieces_text(pieces: &[TemplatePiece<'_>], manifest: &SkillManifest<'_>) -> String {
    let mut text = String::from("\"");
    for piece in pieces {
        match piece {
            TemplatePiece::Literal(literal) => text.push_str(strip_quotes(&quote_text(literal))),
            TemplatePiece::Input(name) => text.push_str(&format!("${{{}}}", input_value(name, manifest))),
            TemplatePiece::Output(name) => text.push_str(&format!("${{{}}}", output_path(name))),
        }
    }
    text.push('"');
    text
}

/// A quoted text without its quotes.
fn strip_quotes(quoted: &str) -> &str {
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted)
}

fn input_value(name: &str, manifest: &SkillManifest<'_>) -> String {
    let value = format!("inputs{}", member_path(name));
    match manifest.find_input(name).and_then(|input| input.default) {
        Some(default) => format!("if {value} is missing then {} else {value}", crate::writer::value_literal(default)),
        None => value,
    }
}

/// A field of the output: `output.status`, `output["status-code"]`.
pub(super) fn output_path(name: &str) -> String {
    format!("output{}", member_path(name))
}
