//! The functions of the language in one table, and the implementation of value tests.

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

// Test time limits measure CPU time, so that other processes do not affect them.
#[cfg(test)]
#[path = "../../../benches/clock/mod.rs"]
mod clock;
#[cfg(test)]
mod tests;
