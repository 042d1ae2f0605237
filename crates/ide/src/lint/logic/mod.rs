//! Analyzes conditions without a run: a normal form over path, operator and constant, and a search for values that satisfy it.
//!
//! [`build`] turns a checked condition into a [`formula::Formula`]: literals joined by `and` and `or`. A literal says which [`values::Values`] a
//! subject may have; a subject is a path, a number of steps, or a condition that is not analyzed. [`solve::solve`] returns *impossible* only if no
//! values can satisfy the formula. Anything not understood counts as possible, so only a "no" is a proof.

pub mod build;
pub mod cover;
pub mod formula;
pub mod key;
pub mod numbers;
pub mod patterns;
pub mod solve;
pub mod temporal;
pub mod texts;
pub mod values;
pub mod witness;
