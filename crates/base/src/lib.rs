//! What every stage of Averment stands on: source files and places in them, diagnostics as data, limits, truth values, values.

pub mod diagnostic;
pub mod limits;
pub mod source;
pub mod truth;
pub mod types;
pub mod value;
