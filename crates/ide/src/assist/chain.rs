//! The path in front of a word: `calls[*].args.` before `amount`.

use averment_syntax::token::{Kind, Token};

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// A name, or a key in brackets.
    Name(String),
    /// `[0]`, `[*]`.
    Element,
    /// `[**]`.
    Deep,
}

/// A path as far as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chain {
    /// Its parts; the first is a name.
    pub segments: Vec<Segment>,
}

/// Parts of a path that are looked at.
const LONGEST: usize = 40;

impl Chain {
    /// The path whose last dot ends at `at`; `None` where no dot stands there.
    pub fn before(text: &str, tokens: &[Token], at: usize) -> Option<Self> {
        let last = tokens.last()?;
        let dot = text.get(last.start..last.end)? == "." && last.end == at;
        dot.then(|| Self::ending(text, tokens, tokens.len().checked_sub(1)?))?
    }

    /// The path that ends before token `end`.
    pub fn ending(text: &str, tokens: &[Token], end: usize) -> Option<Self> {
        let word = |index: usize| tokens.get(index).and_then(|token| text.get(token.start..token.end)).unwrap_or("");
        let mut segments = Vec::new();
        let mut at = end;
        while segments.len() < LONGEST {
            at = at.checked_sub(1)?;
            match word(at) {
                "]" => {
                    let open = (at.saturating_sub(4)..at).rev().find(|&open| word(open) == "[")?;
                    segments.push(inside(word(open + 1), at - open));
                    at = open;
                    continue;
                }
                name if tokens.get(at).is_some_and(|token| token.kind == Kind::Word) => {
                    segments.push(Segment::Name(name.to_owned()));
                }
                _ => return None,
            }
            match at.checked_sub(1).map(word) {
                Some(".") => at -= 1,
                _ => break,
            }
        }
        segments.reverse();
        matches!(segments.first(), Some(Segment::Name(_))).then_some(Self { segments })
    }
}

/// What stands between the brackets.
fn inside(word: &str, length: usize) -> Segment {
    match word {
        "**" => Segment::Deep,
        "*" if length > 2 => Segment::Deep,
        _ if word.starts_with(['"', '\'']) => Segment::Name(word.trim_matches(['"', '\'']).to_owned()),
        _ => Segment::Element,
    }
}
