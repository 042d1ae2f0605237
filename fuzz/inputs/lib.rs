//! What the fuzz targets do with an input. `fuzz/mutate.rs` does the same with as many mutated ones as one likes, without instruments, and
//! `crates/cli/tests/commands/mutated.rs` with some thousands.

pub mod compiled;
pub mod foreign;
pub mod format;
pub mod green;
#[cfg(feature = "guard")]
pub mod guard;
pub mod kinds;
pub mod mutate;
pub mod protocol;
pub mod rules;
pub mod traces;
