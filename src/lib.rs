//! Averment: a compiled rule language for what AI agents did and answered.

pub mod builtins;
pub mod bytecode;
pub mod check;
pub mod cli;
pub mod compile;
pub mod diagnostic;
pub mod ir;
pub mod limits;
pub mod report;
pub mod source;
pub mod syntax;
pub mod trace;
pub mod truth;
pub mod value;
pub mod vm;
