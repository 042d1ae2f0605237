//! Every limit in one place. Rule files and traces are untrusted: each limit ends work with a clear message, never with a crash.

pub mod nested;

/// Limits of one compilation and evaluation. [`Limits::default`] is what the command line uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one rule file.
    pub rule_file_bytes: usize,
    /// Words and signs of one rule file.
    pub rule_tokens: usize,
    /// Files of one compilation.
    pub rule_files: usize,
    /// Nested brackets and prefix operators in a rule file.
    pub rule_depth: usize,
    /// Nested values in a trace.
    pub json_depth: usize,
    /// Bytes of one run (`--max-run-size`).
    pub run_bytes: usize,
    /// Bytes of memory for the values of one run.
    pub run_memory: usize,
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
            rule_tokens: 500_000,
            rule_files: 1_000,
            rule_depth: 256,
            json_depth: 256,
            run_bytes: 256 << 20,
            run_memory: 1 << 30,
            call_depth: 128,
            fuel: 200_000_000,
            regex_bytes: 10 << 20,
            computed_bytes: 256 << 20,
        }
    }
}

/// What one evaluation may still use: fuel for the assertion at hand, bytes of computed values for the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meter {
    fuel: u64,
    bytes: usize,
}

/// A limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exhausted {
    /// Too many instructions or matches.
    Fuel,
    /// Computed text or lists grew beyond the limit.
    Memory,
}

impl Meter {
    /// The full measure of these limits.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self { fuel: limits.fuel, bytes: limits.computed_bytes }
    }

    /// Gives the next assertion its full share of fuel; memory stays used.
    pub fn refuel(&mut self, limits: &Limits) {
        self.fuel = limits.fuel;
    }

    /// The fuel left.
    #[must_use]
    pub fn fuel(&self) -> u64 {
        self.fuel
    }

    /// Takes fuel: one unit is about one instruction.
    pub fn charge(&mut self, units: u64) -> Result<(), Exhausted> {
        self.fuel = self.fuel.checked_sub(units).ok_or(Exhausted::Fuel)?;
        Ok(())
    }

    /// Takes the fuel of a pass over so many bytes: sixteen bytes are about one instruction.
    pub fn scan(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.charge((bytes as u64 / 16).saturating_add(1))
    }

    /// Whether there is room for so many bytes that are needed only for a while, without taking it.
    pub fn check_memory(&self, bytes: usize) -> Result<(), Exhausted> {
        if bytes > self.bytes { Err(Exhausted::Memory) } else { Ok(()) }
    }

    /// Takes memory for a computed value of so many bytes, before it is built.
    pub fn allocate(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or(Exhausted::Memory)?;
        Ok(())
    }
}
