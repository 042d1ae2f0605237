//! Every limit in one place. Rule files and traces are untrusted: each limit ends work with a clear message, never with a crash.

/// Limits of one compilation and evaluation. [`Limits::default`] is what the command line uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one rule file.
    pub rule_file_bytes: usize,
    /// Files of one compilation.
    pub rule_files: usize,
    /// Nested brackets and prefix operators in a rule file.
    pub rule_depth: usize,
    /// Nested values in a trace.
    pub json_depth: usize,
    /// Bytes of one run (`--max-run-size`).
    pub run_bytes: usize,
    /// Calls of `def` inside each other while evaluating.
    pub call_depth: usize,
    /// Instructions and matches for one assertion on one run.
    pub fuel: u64,
    /// Bytes of the compiled automaton of one regular expression.
    pub regex_bytes: usize,
    /// Bytes of computed values (text and lists) for one run.
    pub computed_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rule_file_bytes: 16 << 20,
            rule_files: 1_000,
            rule_depth: 256,
            json_depth: 256,
            run_bytes: 256 << 20,
            call_depth: 128,
            fuel: 200_000_000,
            regex_bytes: 10 << 20,
            computed_bytes: 256 << 20,
        }
    }
}
