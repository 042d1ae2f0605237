//! Texts of a manifest in which inputs and outputs are named: `"${inputs.article_path}"`.

use super::manifest::SkillManifest;
use crate::writer::{member_path, quote_text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TemplatePiece<'a> {
    Literal(&'a str),
    Input(&'a str),
    Output(&'a str),
}

/// Names consist of ASCII letters, digits and `_`; any other `${…}` is text.
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

/// An input that is not given has its default.
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

pub(super) fn output_path(name: &str) -> String {
    format!("output{}", member_path(name))
}
