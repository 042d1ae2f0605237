//! The functions of the language: one table of them, and what stands behind the tests of values.

pub mod call;
mod convert;
pub mod detect;
mod encoding;
mod evidence;
mod grounding;
pub mod json;
mod list;
pub mod nothing;
mod number;
mod path_cost;
pub mod pattern;
pub mod reference;
pub mod schema;
mod score;
pub mod stdlib;
pub mod table;
pub mod test;
pub mod text;
mod time;

pub use call::Environment;

#[cfg(test)]
mod tests;
