//! JavaScript regular expressions.

use crate::regex_flavour::{TranslatedRegex, translate_javascript};
use crate::shape::DiagnosticSink;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// Returns a JavaScript regular expression as a literal of the rule language.
pub(super) fn regex_literal(pattern: &str, place: Span, said: &mut DiagnosticSink) -> Option<TranslatedRegex> {
    match translate_javascript(pattern, "") {
        Ok(literal) => Some(literal),
        Err(unusable) => {
            let message = format!("the regular expression cannot be used: {}", unusable.why);
            said.error(Slug::BadRegex, place, message, "write it as JavaScript has it");
            None
        }
    }
}
