//! The language as the evaluator says it: from the text of rules and a run to verdicts and their words.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test that meets something unexpected has failed, and may look at files and clocks"
)]

mod agents;
mod builtins;
mod catalogues;
mod cheatsheet;
mod closed_words;
mod commands;
mod conformance_assay;
mod conformance_text;
mod evaluate;
mod expressions;
mod facts;
mod golden;
mod hostile;
mod in_text;
mod kind_words;
mod likeness;
mod misspelt_keys;
mod outer_bindings;
mod paths;
mod same_run;
mod schemas;
mod sentences;
mod temporal;
mod values;
