//! The syntax tree: what the author wrote, with a span on every node and nothing resolved.
//!
//! One small type per concept. The checker turns it into the intermediate form; the formatter and the editor read it as it is.
//! Sections named in the comments are those of the language reference.

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

/// Text of the source with its place: a name, a word, a label.
#[derive(Debug, Clone, PartialEq)]
pub struct Name {
    /// The text, unquoted.
    pub text: String,
    /// Where it stands, with quotes where it has some.
    pub span: Span,
}
