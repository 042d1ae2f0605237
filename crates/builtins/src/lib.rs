//! The functions of the language: one table of them, and what stands behind the tests of values.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read files and measure time")
)]

pub mod assignment;
pub mod backtrack;
mod cache;
pub mod call;
mod convert;
pub mod detect;
mod encoding;
mod evidence;
mod grounding;
pub mod json;
mod json_search;
pub mod like;
pub mod list;
pub mod matcher;
pub mod missing_reason;
mod number;
pub mod other_spelling;
mod overlap;
pub mod part_match;
mod path_cost;
mod path_filter;
pub mod pattern;
mod prose;
pub mod python;
pub mod reference;
pub mod regex_pattern;
pub mod schema;
mod score;
mod sequence_score;
pub mod stdlib;
pub mod table;
pub mod test;
pub mod text;
pub mod text_format;
pub mod text_order;
pub mod time;
pub mod token;
mod word_rank;

pub use call::CallEnvironment;

// Bounds on time hold for the work of the processor, whatever else runs beside a test.
#[cfg(test)]
#[path = "../../../benches/clock/mod.rs"]
mod clock;
#[cfg(test)]
mod tests;
