//! The syntax tree: the source as written, with a span on every node and no names resolved.
//!
//! There is one small type for each concept. The checker turns the tree into the intermediate form; the formatter and the editor use it directly.
//! Section numbers in comments refer to the language reference.

mod expected;
mod expr;
mod item;
mod move_spans;
mod parts;
mod same;
mod statement;
mod step;
pub mod walk;

use averment_base::source::Span;
pub use expr::*;
pub use item::*;
pub use move_spans::move_items;
pub use same::same_meaning;
pub use statement::*;
pub use step::*;

/// A piece of source text with its location: a name, a word, a label.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    /// The text, unquoted.
    pub text: String,
    /// The location, including quotes if there are any.
    pub span: Span,
}
