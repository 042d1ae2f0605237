//! Evaluation of a program on a run.
pub mod context;
pub mod fault;
pub mod machine;
pub mod outcome;
pub mod prepare;
pub mod world;
