//! Writes paths and destinations of side effects as conditions on steps.

use super::manifest::SkillManifest;
use super::pieces::{TemplatePiece, split_pieces};
use super::template::pieces_text;

/// Returns a condition for paths at or below a declared one; `None` if it contains input values.
pub(super) fn path_condition(declared: &str, manifest: &SkillManifest<'_>) -> Option<String> {
    let mut pieces = split_pieces(declared);
    if let Some(TemplatePiece::Literal(literal)) = pieces.first_mut() {
        *literal = literal.trim_start_matches("./");
    }
    if let Some(TemplatePiece::Literal(literal)) = pieces.last_mut() {
        let folder = literal.trim_end_matches("/**/*").trim_end_matches("/**");
        *literal = folder.trim_end_matches('/');
    }
    pieces.retain(|piece| *piece != TemplatePiece::Literal(""));
    let is_glob =
        |piece: &TemplatePiece<'_>| matches!(piece, TemplatePiece::Literal(literal) if literal.contains(['*', '?']));
    match pieces.as_slice() {
        [] | [TemplatePiece::Literal("." | "**" | "*")] => Some("inside_here(path)".to_owned()),
        [TemplatePiece::Literal(literal)] if literal.contains(['*', '?']) => {
            Some(format!("plain(path) matches /^{}$/", glob_regex(literal)))
        }
        several if several.iter().any(is_glob) => None,
        several => Some(format!("inside(path, {})", pieces_text(several, manifest))),
    }
}

fn glob_regex(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(sign) = rest.chars().next() {
        let (piece, length) = match sign {
            '*' if rest.starts_with("**/") => ("(.*\\/)?".to_owned(), 3),
            '*' if rest.starts_with("**") => (".*".to_owned(), 2),
            '*' => ("[^\\/]*".to_owned(), 1),
            '?' => ("[^\\/]".to_owned(), 1),
            other => (escape_regex(&other.to_string()), other.len_utf8()),
        };
        out.push_str(&piece);
        rest = rest.get(length..).unwrap_or("");
    }
    out
}

fn escape_regex(text: &str) -> String {
    regex_syntax::escape(text).replace('/', "\\/")
}

/// Returns a condition for a host and its subdomains, a path on it, or a URL prefix.
pub(super) fn destination_condition(declared: &str, manifest: &SkillManifest<'_>) -> String {
    let pieces = split_pieces(declared);
    let [TemplatePiece::Literal(literal)] = pieces.as_slice() else {
        return format!("url contains {}", pieces_text(&pieces, manifest));
    };
    let (scheme, rest) = match literal.split_once("://") {
        Some((scheme, rest)) => (format!("{}:", escape_regex(scheme)), rest),
        None => ("[a-z]+:".to_owned(), *literal),
    };
    let rest = rest.trim_start_matches("*.");
    let (host, below) = match rest.split_once('/') {
        Some((host, below)) => (host, below.trim_end_matches(['*', '/'])),
        None => (rest, ""),
    };
    let port = if host.contains(':') { "" } else { "(:[0-9]+)?" };
    let below = if below.is_empty() { String::new() } else { format!("\\/{}", escape_regex(below)) };
    format!("url matches /^{scheme}\\/\\/([^\\/?#@]*\\.)?{}{port}{below}([\\/?#]|$)/i", escape_regex(host))
}

/// Returns the definitions that the conditions use: `inside`, `inside_here`, `plain`.
pub(super) fn needed_definitions(conditions: &[String]) -> Vec<&'static str> {
    const ALL: [(&str, &str); 3] = [
        (
            "inside(",
            "def inside(path, place) = path not matches /(^|\\/)\\.\\.(\\/|$)/ and (plain(path) == plain(place) or plain(path) starts with \"${plain(place)}/\")",
        ),
        ("inside_here(", "def inside_here(path) = path not matches /^\\// and path not matches /(^|\\/)\\.\\.(\\/|$)/"),
        ("plain(", "def plain(path) = replace(path, /^(\\.\\/)+/, \"\")"),
    ];
    let uses = |word: &str| conditions.iter().any(|condition| condition.contains(word));
    let wanted = |word: &str| uses(word) || (word == "plain(" && uses("inside("));
    ALL.iter().filter(|(word, _)| wanted(word)).map(|(_, definition)| *definition).collect()
}
