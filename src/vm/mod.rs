//! Evaluation of a program on a run.
mod compute;
pub mod context;
pub mod course;
mod explain;
pub mod fault;
mod frame;
mod grade;
mod locate;
mod logic;
pub mod machine;
mod observe;
pub mod outcome;
mod paths;
pub mod prepare;
pub mod score;
pub mod select;
mod value_tests;
pub mod world;
