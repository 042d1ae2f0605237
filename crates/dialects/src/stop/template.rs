//! Writes texts with references to inputs and outputs in the rule language.

use super::manifest::SkillManifest;
use super::pieces::TemplatePiece;
use crate::writer::{member_path, quote_text};

/// Returns the text literal of some pieces. An input that is not given takes its default value.
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
