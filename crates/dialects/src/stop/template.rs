//! Texts of a manifest in which inputs and outputs are named, as texts of the language.

use super::manifest::Manifest;
use super::pieces::Piece;
use crate::writer::{member, quoted};

/// Pieces as a text of the language. An input that is not given has its default.
pub(super) fn text(pieces: &[Piece<'_>], manifest: &Manifest<'_>) -> String {
    let mut text = String::from("\"");
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => text.push_str(inside(&quoted(literal))),
            Piece::Input(name) => text.push_str(&format!("${{{}}}", input(name, manifest))),
            Piece::Output(name) => text.push_str(&format!("${{{}}}", output(name))),
        }
    }
    text.push('"');
    text
}

/// A quoted text without its quotes.
fn inside(quoted: &str) -> &str {
    quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(quoted)
}

fn input(name: &str, manifest: &Manifest<'_>) -> String {
    let value = format!("inputs{}", member(name));
    match manifest.input(name).and_then(|input| input.default) {
        Some(default) => format!("if {value} is missing then {} else {value}", crate::writer::literal(default)),
        None => value,
    }
}

/// A field of the output: `output.status`, `output["status-code"]`.
pub(super) fn output(name: &str) -> String {
    format!("output{}", member(name))
}
