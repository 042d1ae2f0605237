//! Measures of likeness, words and JSON in text against vectors of another tool: every value to the last bit. What that tool's assertions say is held
//! against it in `crates/dialects/tests`.

mod details;
