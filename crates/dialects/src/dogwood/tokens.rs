//! Splits a `.dw` file into tokens with their locations.

use crate::shape::DiagnosticSink;
use averment_base::diagnostic::Slug;
use averment_base::source::{FileId, Span};
use std::rc::Rc;

/// The kind of a token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind {
    /// A name or a keyword.
    Word(Rc<str>),
    /// A whole number.
    Number(Rc<str>),
    /// A text without its escapes. `raw` is the text as written, which patterns after `like` need.
    Text { decoded: Rc<str>, raw: Rc<str> },
    /// An operator or a bracket, such as `::`, `==` or `(`.
    Sign(&'static str),
}

/// A token with its location.
#[derive(Debug, Clone)]
pub(super) struct PolicyToken {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

impl PolicyToken {
    /// Returns the name of the token for messages.
    pub(super) fn describe(&self) -> String {
        match &self.kind {
            TokenKind::Word(word) | TokenKind::Number(word) => format!("`{word}`"),
            TokenKind::Text { raw, .. } => format!("`\"{raw}\"`"),
            TokenKind::Sign(sign) => format!("`{sign}`"),
        }
    }
}

/// Longer signs come first, so that the longest one matches.
const SIGNS: [&str; 29] = [
    "...", "::", "==", "!=", "<=", ">=", "&&", "||", "(", ")", "{", "}", "[", "]", ",", ";", ":", ".", "@", "?", "$",
    "!", "<", ">", "=", "+", "-", "*", "%",
];

/// Returns the tokens of a text; `None` if it contains anything else, which was reported.
pub(super) fn read_tokens(text: &str, file: FileId, said: &mut DiagnosticSink) -> Option<Vec<PolicyToken>> {
    let mut tokens = Vec::new();
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let offset = |rest: &str| text.len().saturating_sub(rest.len());
    loop {
        rest = skip_blank(rest);
        let Some(first) = rest.chars().next() else { return Some(tokens) };
        let start = offset(rest);
        let (kind, behind) = match first {
            '"' => {
                let Some((kind, behind)) = text_token(rest) else {
                    let place = Span::new(file, start, start.saturating_add(1));
                    let help = "write \"…\"; `\\\"`, `\\\\`, `\\n`, `\\r`, `\\t`, `\\0`, `\\'`, `\\x41` and `\\u{1F600}` are known in it";
                    said.error(Slug::Syntax, place, "this text is not closed, or contains an unknown escape", help);
                    return None;
                };
                (kind, behind)
            }
            c if c.is_ascii_digit() => {
                let (number, behind) = split_while(rest, |c| c.is_ascii_digit());
                (TokenKind::Number(number.into()), behind)
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let (word, behind) = split_while(rest, |c| c.is_ascii_alphanumeric() || c == '_');
                (TokenKind::Word(word.into()), behind)
            }
            _ => {
                let found = SIGNS.iter().find_map(|sign| Some((*sign, rest.strip_prefix(sign)?)));
                let Some((sign, behind)) = found else {
                    let place = Span::new(file, start, start.saturating_add(first.len_utf8()));
                    let shown = first.escape_default();
                    said.error(Slug::Syntax, place, format!("`{shown}` begins nothing in a policy"), "leave it out");
                    return None;
                };
                (TokenKind::Sign(sign), behind)
            }
        };
        rest = behind;
        tokens.push(PolicyToken { kind, span: Span::new(file, start, offset(rest)) });
    }
}

fn split_while(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|c| !belongs(c)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn skip_blank(mut rest: &str) -> &str {
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']);
        match rest.strip_prefix("//") {
            Some(comment) => rest = comment.find(['\n', '\r']).and_then(|end| comment.get(end..)).unwrap_or(""),
            None => return rest,
        }
    }
}

/// Reads a text in quotes; returns it and the rest of the input.
fn text_token(text: &str) -> Option<(TokenKind, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut escaped = false;
    let end = inside.find(|c| match c {
        _ if escaped => {
            escaped = false;
            false
        }
        '\\' => {
            escaped = true;
            false
        }
        c => c == '"',
    })?;
    let (raw, behind) = inside.split_at_checked(end)?;
    // `\*` is an escape only in patterns. Elsewhere it is decoded as a star here; readers of patterns use the raw text.
    let decoded = decode_text(&raw.replace("\\*", "*"))?;
    Some((TokenKind::Text { decoded: decoded.into(), raw: raw.into() }, behind.strip_prefix('"')?))
}

/// Decodes the escapes of a text; returns `None` if one of them is invalid.
pub(super) fn decode_text(raw: &str) -> Option<String> {
    let mut decoded = String::new();
    let mut signs = raw.chars();
    while let Some(sign) = signs.next() {
        if sign != '\\' {
            decoded.push(sign);
            continue;
        }
        decoded.push(match signs.next()? {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '0' => '\0',
            same @ ('\\' | '"' | '\'') => same,
            'x' => {
                let digits: String = signs.by_ref().take(2).collect();
                let code = u32::from_str_radix(&digits, 16).ok().filter(|code| *code < 128 && digits.len() == 2)?;
                char::from_u32(code)?
            }
            'u' => {
                signs.next().filter(|sign| *sign == '{')?;
                let digits: String =
                    signs.by_ref().take_while(|sign| *sign != '}').filter(|sign| *sign != '_').collect();
                char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
            }
            _ => return None,
        });
    }
    Some(decoded)
}
