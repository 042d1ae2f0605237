//! From text to the syntax tree.
pub mod ast;
