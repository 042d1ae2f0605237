//! Averment: a compiled rule language for what AI agents did and answered.
//!
//! [`Rules`] is the whole way from text to verdicts; the crates beside this one hold its stages.

mod rules;

pub use rules::{Rules, RulesError};
