//! Text assertions against vectors of another tool: every score to the last bit, every verdict, or a documented difference.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

#[path = "conformance_text/assertions.rs"]
mod assertions;
mod common;
#[path = "conformance_text/details.rs"]
mod details;
#[path = "conformance_text/differences.rs"]
mod differences;
#[path = "conformance_text/paths.rs"]
mod paths;
#[path = "conformance_text/sentences.rs"]
mod sentences;
