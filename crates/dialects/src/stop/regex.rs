//! Regular expressions of JavaScript.

use crate::regex_flavour::{Literal, javascript};
use crate::shape::Said;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// A regular expression of JavaScript as a literal of the language.
pub(super) fn regex(pattern: &str, place: Span, said: &mut Said) -> Option<Literal> {
    match javascript(pattern, "") {
        Ok(literal) => Some(literal),
        Err(unusable) => {
            let message = format!("the regular expression cannot be used: {}", unusable.why);
            said.error(Slug::BadRegex, place, message, "write it as JavaScript has it");
            None
        }
    }
}
