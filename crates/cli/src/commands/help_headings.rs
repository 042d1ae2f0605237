//! The headings under which the help of a command groups its options.

/// What is checked, of everything that there is.
pub const SELECTION: &str = "Selection";
/// Parameters and inputs.
pub const VALUES: &str = "Values for rules";
/// How traces are read.
pub const READING: &str = "Reading traces";
/// What is printed and written.
pub const OUTPUT: &str = "Output";
/// What decides the exit code.
pub const FAILING: &str = "What fails";
/// What rules may do, and how much of everything.
pub const LIMITS: &str = "Permissions and limits";
/// Threads, and what a check costs.
pub const PERFORMANCE: &str = "Performance";
/// Histories.
pub const HISTORY: &str = "Results over time";
/// The server that is probed.
#[cfg(feature = "probe")]
pub const SERVER: &str = "Server";
/// The inputs that tools are called with.
#[cfg(feature = "probe")]
pub const INPUTS: &str = "Inputs";
/// The sessions of agents.
#[cfg(feature = "run")]
pub const SESSIONS: &str = "Sessions";
