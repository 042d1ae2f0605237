//! Conditions in the making: text with the places that it was made of, and how tightly its operators bind.

use crate::writer::{Binds, Writer};
use averment_base::source::Span;

/// Text in pieces, each with its place.
pub(super) type Pieces = Vec<(Span, String)>;

/// A condition.
#[derive(Debug, Clone)]
pub(super) struct Cond {
    pub pieces: Pieces,
    pub binds: Binds,
    /// Whether it ends with `all x in xs: …`, which reaches as far as it can.
    pub reaches: bool,
}

impl Cond {
    /// A test.
    pub fn test(pieces: Pieces) -> Self {
        Self { pieces, binds: Binds::Test, reaches: false }
    }

    /// A condition of one piece.
    pub fn plain(place: Span, text: impl Into<String>) -> Self {
        Self::test(vec![(place, text.into())])
    }

    /// All of them; nothing holds where there are none.
    pub fn all(place: Span, parts: Vec<Cond>) -> Self {
        Self::joined(place, parts, " and ", Binds::And, "true")
    }

    /// One of them; nothing is one of none.
    pub fn any(place: Span, parts: Vec<Cond>) -> Self {
        Self::joined(place, parts, " or ", Binds::Or, "false")
    }

    fn joined(place: Span, mut parts: Vec<Cond>, word: &str, binds: Binds, none: &str) -> Self {
        match parts.len() {
            0 => return Self::plain(place, none),
            1 => return parts.swap_remove(0),
            _ => {}
        }
        let last = parts.len().saturating_sub(1);
        let mut out = Self { pieces: Vec::new(), binds, reaches: false };
        for (at, part) in parts.into_iter().enumerate() {
            if at > 0 {
                out.pieces.push((place, word.to_owned()));
            }
            let part = part.around(place, binds, at == last);
            out.reaches = part.reaches;
            out.pieces.extend(part.pieces);
        }
        out
    }

    /// Its opposite.
    pub fn negated(self, place: Span) -> Self {
        let mut pieces = vec![(place, "not ".to_owned())];
        pieces.extend(self.around(place, Binds::Test, false).pieces);
        Self { pieces, binds: Binds::Not, reaches: false }
    }

    /// In parentheses where it binds less tightly, and where it reaches over what stands behind it.
    fn around(mut self, place: Span, than: Binds, is_last: bool) -> Self {
        if self.binds < than || self.reaches && !is_last {
            self.pieces.insert(0, (place, "(".to_owned()));
            self.pieces.push((place, ")".to_owned()));
            self.binds = Binds::Test;
            self.reaches = false;
        }
        self
    }

    /// Writes it.
    pub fn write(&self, out: &mut Writer) {
        write(&self.pieces, out);
    }
}

/// Writes pieces.
pub(super) fn write(pieces: &Pieces, out: &mut Writer) {
    for (place, text) in pieces {
        out.put_of(*place, text);
    }
}
