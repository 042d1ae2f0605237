//! What can be said of conditions without a run: a normal form over path, operator and constant, and a search for values that satisfy it.
//!
//! [`build`] turns a checked condition into a [`formula::Formula`]: literals that say which [`values::Values`] a subject (a path, a number of
//! steps, a condition that is not looked into) may have, joined by `and` and `or`. [`solve::solve`] answers *impossible* only when no value of any
//! subject can satisfy it; everything that is not understood is taken as possible, so that a "no" is certain and everything else is not claimed.

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
