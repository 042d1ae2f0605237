//! The path before a word: `calls[*].args.` before `amount`.

use averment_syntax::token::{Token, TokenKind};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PrefixPart {
    Name(String),
    Element,
    Deep,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PathPrefix {
    /// Its parts; the first is a name.
    pub segments: Vec<PrefixPart>,
}

/// Maximum path parts.
const LONGEST: usize = 40;

impl PathPrefix {
    /// Returns its names joined by dots: `std.packs`.
    pub fn dotted_name(&self) -> String {
        let names = self.segments.iter().filter_map(|part| match part {
            PrefixPart::Name(name) => Some(name.as_str()),
            _ => None,
        });
        names.collect::<Vec<_>>().join(".")
    }

    /// Returns the path whose last dot ends at `at`; `None` if there is no dot.
    pub fn before_dot(text: &str, tokens: &[Token], at: usize) -> Option<Self> {
        let last = tokens.last()?;
        let dot = text.get(last.start..last.end)? == "." && last.end == at;
        dot.then(|| Self::ending_at(text, tokens, tokens.len().checked_sub(1)?))?
    }

    /// Returns the path that ends before token `end`.
    pub fn ending_at(text: &str, tokens: &[Token], end: usize) -> Option<Self> {
        let word = |index: usize| tokens.get(index).and_then(|token| text.get(token.start..token.end)).unwrap_or("");
        let mut segments = Vec::new();
        let mut at = end;
        while segments.len() < LONGEST {
            at = at.checked_sub(1)?;
            match word(at) {
                "]" => {
                    let open = (at.saturating_sub(4)..at).rev().find(|&open| word(open) == "[")?;
                    segments.push(bracket_part(word(open + 1), at - open));
                    at = open;
                    continue;
                }
                name if tokens.get(at).is_some_and(|token| token.kind == TokenKind::Word) => {
                    segments.push(PrefixPart::Name(name.to_owned()));
                }
                _ => return None,
            }
            match at.checked_sub(1).map(word) {
                Some(".") => at -= 1,
                _ => break,
            }
        }
        segments.reverse();
        matches!(segments.first(), Some(PrefixPart::Name(_))).then_some(Self { segments })
    }
}

fn bracket_part(word: &str, length: usize) -> PrefixPart {
    match word {
        "**" => PrefixPart::Deep,
        "*" if length > 2 => PrefixPart::Deep,
        _ if word.starts_with(['"', '\'']) => PrefixPart::Name(word.trim_matches(['"', '\'']).to_owned()),
        _ => PrefixPart::Element,
    }
}
