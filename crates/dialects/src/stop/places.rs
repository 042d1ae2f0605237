//! Paths and destinations of side effects as conditions on steps.

use super::manifest::Manifest;
use super::pieces::{Piece, pieces};
use super::template::text;

/// The condition that the path of a step lies at or below a declared one; `None` for a pattern that holds values of inputs.
pub(super) fn path(declared: &str, manifest: &Manifest<'_>) -> Option<String> {
    let mut pieces = pieces(declared);
    if let Some(Piece::Literal(literal)) = pieces.first_mut() {
        *literal = literal.trim_start_matches("./");
    }
    if let Some(Piece::Literal(literal)) = pieces.last_mut() {
        let folder = literal.trim_end_matches("/**/*").trim_end_matches("/**");
        *literal = folder.trim_end_matches('/');
    }
    pieces.retain(|piece| *piece != Piece::Literal(""));
    let is_glob = |piece: &Piece<'_>| matches!(piece, Piece::Literal(literal) if literal.contains(['*', '?']));
    match pieces.as_slice() {
        [] | [Piece::Literal("." | "**" | "*")] => Some("inside_here(path)".to_owned()),
        [Piece::Literal(literal)] if literal.contains(['*', '?']) => {
            Some(format!("plain(path) matches /^{}$/", glob(literal)))
        }
        several if several.iter().any(is_glob) => None,
        several => Some(format!("inside(path, {})", text(several, manifest))),
    }
}

/// A glob of paths as a regular expression.
fn glob(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(sign) = rest.chars().next() {
        let (piece, length) = match sign {
            '*' if rest.starts_with("**/") => ("(.*\\/)?".to_owned(), 3),
            '*' if rest.starts_with("**") => (".*".to_owned(), 2),
            '*' => ("[^\\/]*".to_owned(), 1),
            '?' => ("[^\\/]".to_owned(), 1),
            other => (escaped(&other.to_string()), other.len_utf8()),
        };
        out.push_str(&piece);
        rest = rest.get(length..).unwrap_or("");
    }
    out
}

/// A text as a part of a regular expression between slashes.
fn escaped(text: &str) -> String {
    regex_syntax::escape(text).replace('/', "\\/")
}

/// The condition that a URL leads to a declared destination: a host with all below it, a path there, or the beginning of a URL.
pub(super) fn destination(declared: &str, manifest: &Manifest<'_>) -> String {
    let pieces = pieces(declared);
    let [Piece::Literal(literal)] = pieces.as_slice() else {
        return format!("url contains {}", text(&pieces, manifest));
    };
    let (scheme, rest) = match literal.split_once("://") {
        Some((scheme, rest)) => (format!("{}:", escaped(scheme)), rest),
        None => ("[a-z]+:".to_owned(), *literal),
    };
    let rest = rest.trim_start_matches("*.");
    let (host, below) = match rest.split_once('/') {
        Some((host, below)) => (host, below.trim_end_matches(['*', '/'])),
        None => (rest, ""),
    };
    let port = if host.contains(':') { "" } else { "(:[0-9]+)?" };
    let below = if below.is_empty() { String::new() } else { format!("\\/{}", escaped(below)) };
    format!("url matches /^{scheme}\\/\\/([^\\/?#@]*\\.)?{}{port}{below}([\\/?#]|$)/i", escaped(host))
}

/// Whether definitions are needed for conditions: `inside`, `inside_here`, `plain`.
pub(super) fn definitions(conditions: &[String]) -> Vec<&'static str> {
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
