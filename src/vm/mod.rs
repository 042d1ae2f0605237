//! Evaluation of a program on a run.
pub mod fault;
pub mod outcome;
