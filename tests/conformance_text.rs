//! Text assertions against vectors of another tool: every score to the last bit, every verdict, or a documented difference.

mod common;
#[path = "conformance_text/details.rs"]
mod details;
