//! Files of other systems, judged directly and after import, and compared with recorded results of those systems.
//!
//! `cargo test -p averment-dialects --test dialects conformance -- --nocapture` prints, for each file of vectors, how many agree, how many differ by
//! a documented decision, and how many are wrong.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test that meets something unexpected has failed, and may look at files and clocks"
)]

mod assay;
mod beside;
mod choices;
mod dogwood;
mod eval_files;
mod gradings;
mod judged;
mod pages;
mod promptfoo;
mod runsight;
mod seeds;
mod skillgym;
mod stop;
mod tally;
mod wallfacer;
