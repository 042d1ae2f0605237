//! Evaluation of a program on a run.
mod compute;
pub mod context;
pub mod fault;
mod frame;
mod grade;
mod logic;
pub mod machine;
mod observe;
pub mod outcome;
mod paths;
pub mod prepare;
mod value_tests;
pub mod world;
