//! What an agent did: a run with its steps in the normal form that every trace format is read into, its timeline, and the words of its
//! shell commands.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read files and measure time")
)]

pub mod command;
mod cost_source;
mod empty_run;
pub mod failure_words;
pub mod normal;
pub mod path;
pub mod run;
mod source;
pub mod timeline;
pub mod write_normal;
