//! Files of other systems, judged as they are and as the sentences that they are imported as, held against what those systems said.
//!
//! `cargo test -p averment-dialects --test dialects conformance -- --nocapture` prints, per file of vectors, how many agree, differ by decision, and
//! are wrong.

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
