//! Why a verdict came about. The machine tells one [`observer`] what happens; evidence, coverage, costs, derivations and doubts are made of that,
//! some in a second look at an expression. Nothing here decides.

pub(in crate::vm) mod check_parts;
pub mod coverage;
pub mod derivation;
pub(in crate::vm) mod describe;
mod doubt_notes;
mod doubts;
mod elements;
pub(in crate::vm) mod evidence;
pub(in crate::vm) mod explain;
mod expression_trace;
pub(in crate::vm) mod near_keys;
pub(in crate::vm) mod observer;
pub mod profile;
pub(in crate::vm) mod recording;
mod second_look;
pub(in crate::vm) mod unfit_words;
