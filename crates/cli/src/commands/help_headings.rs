//! Headings that group the options in the help of a command.

/// Options that select what is checked.
pub const SELECTION: &str = "Selection";
/// Options that set parameters and inputs.
pub const VALUES: &str = "Values for rules";
/// Options about reading traces.
pub const READING: &str = "Reading traces";
/// Options about reports and their files.
pub const OUTPUT: &str = "Output";
/// Options that decide the exit code.
pub const FAILING: &str = "What fails";
/// Options for permissions and limits.
pub const LIMITS: &str = "Permissions and limits";
/// Options for threads and profiles.
pub const PERFORMANCE: &str = "Performance";
/// Options for histories.
pub const HISTORY: &str = "Results over time";
/// Options for the server that is probed.
#[cfg(feature = "probe")]
pub const SERVER: &str = "Server";
/// Options for the inputs of tool calls.
#[cfg(feature = "probe")]
pub const INPUTS: &str = "Inputs";
/// Options for the sessions of agents.
#[cfg(feature = "run")]
pub const SESSIONS: &str = "Sessions";
