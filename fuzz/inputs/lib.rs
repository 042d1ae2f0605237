//! What the fuzz targets do with an input. `tests/mutated` does the same with some thousands of them, without instruments.

pub mod compiled;
pub mod foreign;
pub mod format;
#[cfg(feature = "guard")]
pub mod guard;
pub mod protocol;
pub mod rules;
pub mod traces;
