//! Conditions in the making: text with the places that it was made of, and how tightly its operators bind.

use crate::writer::{BindingStrength, RuleWriter};
use averment_base::source::Span;

pub(super) type MappedPieces = Vec<(Span, String)>;

#[derive(Debug, Clone)]
pub(super) struct MappedCondition {
    pub pieces: MappedPieces,
    pub binds: BindingStrength,
    /// True if it ends with a quantifier body, which extends as far as possible.
    pub reaches: bool,
}

impl MappedCondition {
    /// A test.
    pub fn from_pieces(pieces: MappedPieces) -> Self {
        Self { pieces, binds: BindingStrength::Test, reaches: false }
    }

    /// A condition of one piece.
    pub fn from_text(place: Span, text: impl Into<String>) -> Self {
        Self::from_pieces(vec![(place, text.into())])
    }

    /// All of them; nothing holds where there are none.
    pub fn all_of(place: Span, parts: Vec<MappedCondition>) -> Self {
        Self::join_parts(place, parts, " and ", BindingStrength::And, "true")
    }

    /// One of them; nothing is one of none.
    pub fn any_of(place: Span, parts: Vec<MappedCondition>) -> Self {
        Self::join_parts(place, parts, " or ", BindingStrength::Or, "false")
    }

    fn join_parts(
        place: Span,
        mut parts: Vec<MappedCondition>,
        word: &str,
        binds: BindingStrength,
        none: &str,
    ) -> Self {
        match parts.len() {
            0 => return Self::from_text(place, none),
            1 => return parts.swap_remove(0),
            _ => {}
        }
        let last = parts.len().saturating_sub(1);
        let mut out = Self { pieces: Vec::new(), binds, reaches: false };
        for (at, part) in parts.into_iter().enumerate() {
            if at > 0 {
                out.pieces.push((place, word.to_owned()));
            }
            let part = part.in_parentheses(place, binds, at == last);
            out.reaches = part.reaches;
            out.pieces.extend(part.pieces);
        }
        out
    }

    /// Its opposite.
    pub fn negated(self, place: Span) -> Self {
        let mut pieces = vec![(place, "not ".to_owned())];
        pieces.extend(self.in_parentheses(place, BindingStrength::Test, false).pieces);
        Self { pieces, binds: BindingStrength::Not, reaches: false }
    }

    /// Adds parentheses where precedence or a trailing quantifier requires.
    fn in_parentheses(mut self, place: Span, than: BindingStrength, is_last: bool) -> Self {
        if self.binds < than || self.reaches && !is_last {
            self.pieces.insert(0, (place, "(".to_owned()));
            self.pieces.push((place, ")".to_owned()));
            self.binds = BindingStrength::Test;
            self.reaches = false;
        }
        self
    }

    /// Writes it.
    pub fn write_to(&self, out: &mut RuleWriter) {
        write_pieces(&self.pieces, out);
    }
}

pub(super) fn write_pieces(pieces: &MappedPieces, out: &mut RuleWriter) {
    for (place, text) in pieces {
        out.put_mapped(*place, text);
    }
}
