//! The REPL: evaluates expressions and statements on a loaded run, keeps definitions, and has commands to inspect them.
//!
//! [`ReplSession`] takes one input at a time and writes the answer. The inputs come from [`terminal`] or [`script`]. Inputs are compiled and
//! evaluated by the same code as rule files.

mod answer;
mod command;
mod highlight;
mod inspect;
mod load;
pub mod pager;
mod runs;
pub mod script;
mod session;
mod steps;
mod table;
pub mod terminal;
mod tree;
mod workspace;

pub use session::{ReplSession, ReplSettings};

/// The prompt.
pub const PROMPT: &str = "> ";
/// The prompt for continuation lines.
pub const CONTINUED: &str = "| ";
