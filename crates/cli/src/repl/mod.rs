//! The interactive session: expressions and statements against a loaded run, definitions that stay, commands that look behind them.
//!
//! [`ReplSession`] takes one input after the other and writes what it has to say; where the inputs come from (a terminal, a script) is the business
//! of [`terminal`] and [`script`]. There is no evaluator here: everything goes the way that rule files go.

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
/// The prompt of continuation lines.
pub const CONTINUED: &str = "| ";
