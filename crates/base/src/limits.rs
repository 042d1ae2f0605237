//! Every limit in one place. Rule files and traces are untrusted: each limit ends work with a clear message, never with a crash.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

pub mod nested;
mod run_memory;

pub use run_memory::{RunMemory, used_bytes};

use crate::memory::allow_failure;
use serde::Deserialize;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag with which evaluations are ended from outside: Ctrl-C in an interactive session.
#[derive(Debug, Clone, Copy)]
pub struct Cancel(&'static AtomicBool);

impl Cancel {
    /// A cancellation by a flag that lives as long as the process: an evaluation ends when it is true.
    #[must_use]
    pub fn new(flag: &'static AtomicBool) -> Self {
        Self(flag)
    }

    /// Whether the end is asked for.
    #[must_use]
    pub fn is_asked(self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for Cancel {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Cancel {}

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
    /// Steps of the parser for each byte of a rule file; rules that people write take a few dozen.
    pub rule_steps: usize,
    /// Nested values in a trace.
    pub json_depth: usize,
    /// Bytes of one run (`--max-run-size`).
    pub run_bytes: usize,
    /// Bytes of memory for one run: its text, its values and its steps.
    pub run_memory: usize,
    /// Calls of `def` inside each other while evaluating.
    pub call_depth: usize,
    /// Instructions and matches for one assertion on one run.
    pub fuel: u64,
    /// Fuel for all assertions on one run.
    pub run_fuel: u64,
    /// Bytes of the compiled automaton of one regular expression.
    pub regex_bytes: usize,
    /// Approximate bytes of all regular expressions of the rules.
    pub all_regex_bytes: u64,
    /// Bytes of computed values (text and lists) for one run.
    pub computed_bytes: usize,
    /// Cancels an evaluation from outside.
    pub cancel: Option<Cancel>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rule_file_bytes: 16 << 20,
            rule_tokens: 500_000,
            rule_files: 1_000,
            rule_depth: 256,
            rule_steps: 2_000,
            json_depth: 256,
            run_bytes: 256 << 20,
            run_memory: 1 << 30,
            call_depth: 128,
            fuel: 200_000_000,
            run_fuel: u64::MAX,
            regex_bytes: 10 << 20,
            all_regex_bytes: 128 << 20,
            computed_bytes: 256 << 20,
            cancel: None,
        }
    }
}

impl Limits {
    /// Limits for whoever runs rules that somebody else has written: a run takes seconds at most, and some hundred megabytes.
    #[must_use]
    pub fn for_foreign_rules() -> Self {
        Self {
            rule_file_bytes: 1 << 20,
            rule_tokens: 100_000,
            run_bytes: 32 << 20,
            run_memory: 256 << 20,
            fuel: 20_000_000,
            run_fuel: 500_000_000,
            all_regex_bytes: 32 << 20,
            computed_bytes: 64 << 20,
            ..Self::default()
        }
    }
}

impl Limits {
    /// The same for runs of that size; the memory of a run is at least four times it.
    #[must_use]
    pub fn with_run_bytes(self, run_bytes: usize) -> Self {
        Self { run_bytes, run_memory: self.run_memory.max(run_bytes.saturating_mul(4)), ..self }
    }
}

/// What one evaluation may still use: fuel for the assertion at hand, bytes of computed values for the whole run.
///
/// Where somebody may cancel, fuel is given out in portions, and between two of them the flag is looked at: that costs nothing per instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FuelMeter {
    fuel: u64,
    /// Fuel not handed out yet.
    reserve: u64,
    /// Fuel given to the current assertion.
    given: u64,
    /// Fuel used from earlier shares.
    earlier: u64,
    /// Fuel of the whole run, including the current assertion's.
    run: u64,
    bytes: usize,
    cancel: Option<Cancel>,
}

/// Fuel between two checks of the cancel flag: a few milliseconds.
const PORTION: u64 = 1 << 18;

/// A limit was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitError {
    /// Too many instructions or matches.
    Fuel,
    /// Computed text or lists exceed the limit.
    Memory,
    /// The evaluation was canceled.
    Cancelled,
    /// The regular expression with this number backtracks too much.
    Backtracking(u32),
}

impl FuelMeter {
    /// The full measure of these limits.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let (bytes, cancel, run) = (limits.computed_bytes, limits.cancel, limits.run_fuel);
        let mut meter = Self { fuel: 0, reserve: 0, given: 0, earlier: 0, run, bytes, cancel };
        meter.refill_fuel(limits);
        meter
    }

    /// Gives the next assertion its full share of fuel; memory stays used.
    pub fn refill_fuel(&mut self, limits: &Limits) {
        self.earlier = self.earlier.saturating_add(self.fuel_used());
        if self.run < u64::MAX {
            self.run = self.run.saturating_sub(self.given.saturating_sub(self.fuel_left()));
        }
        self.given = limits.fuel.min(self.run);
        let portion = if self.cancel.is_some() { PORTION } else { u64::MAX };
        self.fuel = self.given.min(portion);
        self.reserve = self.given.saturating_sub(self.fuel);
    }

    /// The fuel left.
    #[must_use]
    pub fn fuel_left(&self) -> u64 {
        self.fuel.saturating_add(self.reserve)
    }

    /// The fuel that was taken since the last full share was given.
    #[must_use]
    pub fn fuel_used(&self) -> u64 {
        self.given.saturating_sub(self.fuel_left())
    }

    /// All fuel that was ever taken, however often a full share was given.
    #[must_use]
    pub fn fuel_spent(&self) -> u64 {
        self.earlier.saturating_add(self.fuel_used())
    }

    /// Leaves no more fuel than so much: what full shares have added to it is given back.
    pub fn cap_fuel(&mut self, most: u64) {
        let cut = self.fuel_left().saturating_sub(most);
        self.given = self.given.saturating_sub(cut);
        let left = self.fuel_left().saturating_sub(cut);
        self.fuel = self.fuel.min(left);
        self.reserve = left.saturating_sub(self.fuel);
    }

    /// Takes fuel: one unit is about one instruction.
    pub fn charge_fuel(&mut self, units: u64) -> Result<(), LimitError> {
        match self.fuel.checked_sub(units) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => self.next_portion(units),
        }
    }

    #[cold]
    fn next_portion(&mut self, units: u64) -> Result<(), LimitError> {
        if self.cancel.is_some_and(Cancel::is_asked) {
            return Err(LimitError::Cancelled);
        }
        let left = self.fuel_left().checked_sub(units).ok_or(LimitError::Fuel)?;
        self.fuel = left.min(PORTION);
        self.reserve = left.saturating_sub(self.fuel);
        Ok(())
    }

    /// Takes the fuel of a pass over so many bytes: sixteen bytes are about one instruction.
    pub fn charge_scan(&mut self, bytes: usize) -> Result<(), LimitError> {
        self.charge_fuel((bytes as u64 / 16).saturating_add(1))
    }

    /// Checks that this many temporary bytes fit, without charging them.
    pub fn check_memory(&self, bytes: usize) -> Result<(), LimitError> {
        if bytes > self.bytes { Err(LimitError::Memory) } else { Ok(()) }
    }

    /// Takes memory for a computed value of so many bytes, before it is built.
    pub fn charge_memory(&mut self, bytes: usize) -> Result<(), LimitError> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or(LimitError::Memory)?;
        Ok(())
    }
}

/// Limits as a program in another language chooses them: what it does not say is as usual. Read from JSON, in the words of Python or JavaScript.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChosenLimits {
    /// Whether the usual limits are those of rules that nobody here wrote ([`Limits::for_foreign_rules`]).
    pub foreign: bool,
    /// [`Limits::rule_file_bytes`].
    #[serde(alias = "ruleFileBytes")]
    pub rule_file_bytes: Option<usize>,
    /// [`Limits::json_depth`].
    #[serde(alias = "jsonDepth")]
    pub json_depth: Option<usize>,
    /// [`Limits::run_bytes`].
    #[serde(alias = "runBytes")]
    pub run_bytes: Option<usize>,
    /// [`Limits::run_memory`].
    #[serde(alias = "runMemory")]
    pub run_memory: Option<usize>,
    /// [`Limits::fuel`].
    pub fuel: Option<u64>,
    /// [`Limits::run_fuel`].
    #[serde(alias = "runFuel")]
    pub run_fuel: Option<u64>,
}

impl ChosenLimits {
    /// All limits.
    #[must_use]
    pub fn to_limits(&self) -> Limits {
        let usual = if self.foreign { Limits::for_foreign_rules() } else { Limits::default() };
        let run_bytes = self.run_bytes.unwrap_or(usual.run_bytes);
        Limits {
            rule_file_bytes: self.rule_file_bytes.unwrap_or(usual.rule_file_bytes),
            json_depth: self.json_depth.unwrap_or(usual.json_depth),
            run_bytes,
            run_memory: self.run_memory.unwrap_or_else(|| usual.with_run_bytes(run_bytes).run_memory),
            fuel: self.fuel.unwrap_or(usual.fuel),
            run_fuel: self.run_fuel.unwrap_or(usual.run_fuel),
            ..usual
        }
    }
}

/// Bytes of a run beyond which it is long: it is judged alone, is not kept twice, and what was needed for it is given back.
pub const LONG: usize = 1 << 20;

/// Bytes of a run whose values are held by one thread at a time: they take many times its bytes.
pub const LARGE: usize = 256 << 10;

/// Beyond 32 MiB every block of memory is one of the system's own, also where the allocator (that of glibc) has seen such blocks before and
/// would keep smaller ones.
pub const OWN_BLOCK: usize = (32 << 20) + 1;

/// Makes room in the list of a long run so that its memory goes back to the system as soon as the list is let go: otherwise each thread
/// keeps that of its last one. Pages of it that are never written to take no memory. Where the system has no such block, smaller ones do.
pub fn give_own_block<T>(list: &mut Vec<T>) {
    let wanted = OWN_BLOCK.div_ceil(size_of::<T>().max(1));
    let _ = allow_failure(|| list.try_reserve_exact(wanted.saturating_sub(list.len())));
}
