//! Conditions under construction: text with its source locations and the precedence of its outermost operator.

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
    /// Creates a condition with the precedence of a test.
    pub fn from_pieces(pieces: MappedPieces) -> Self {
        Self { pieces, binds: BindingStrength::Test, reaches: false }
    }

    /// Creates a condition from one piece.
    pub fn from_text(place: Span, text: impl Into<String>) -> Self {
        Self::from_pieces(vec![(place, text.into())])
    }

    /// Returns the conjunction of all parts; true if there are none.
    pub fn all_of(place: Span, parts: Vec<MappedCondition>) -> Self {
        Self::join_parts(place, parts, " and ", BindingStrength::And, "true")
    }

    /// Returns the disjunction of all parts; false if there are none.
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

    /// Returns the negation.
    pub fn negated(self, place: Span) -> Self {
        let mut pieces = vec![(place, "not ".to_owned())];
        pieces.extend(self.in_parentheses(place, BindingStrength::Test, false).pieces);
        Self { pieces, binds: BindingStrength::Not, reaches: false }
    }

    /// Adds parentheses if the precedence or a trailing quantifier requires them.
    fn in_parentheses(mut self, place: Span, than: BindingStrength, is_last: bool) -> Self {
        if self.binds < than || self.reaches && !is_last {
            self.pieces.insert(0, (place, "(".to_owned()));
            self.pieces.push((place, ")".to_owned()));
            self.binds = BindingStrength::Test;
            self.reaches = false;
        }
        self
    }

    /// Writes the condition.
    pub fn write_to(&self, out: &mut RuleWriter) {
        write_pieces(&self.pieces, out);
    }
}

pub(super) fn write_pieces(pieces: &MappedPieces, out: &mut RuleWriter) {
    for (place, text) in pieces {
        out.put_mapped(*place, text);
    }
}
