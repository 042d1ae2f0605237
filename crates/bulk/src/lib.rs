//! Many runs at a time: traces cut into pieces, a screen that settles most runs without reading them in full, threads, running counts.
//!
//! It says what an evaluation of each run says, and only sooner.

pub mod faults;
pub mod feed;
pub mod judge;
pub mod pipeline;
pub mod profile;
pub mod running;
pub mod screen;
pub mod unused;
