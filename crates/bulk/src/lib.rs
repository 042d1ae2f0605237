//! Many runs at a time: traces cut into pieces, a screen that settles most runs without reading them in full, threads, running counts.
//!
//! It says what an evaluation of each run says, and only sooner.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it reads traces with threads")]

pub mod faults;
pub mod feed;
pub mod judge;
pub mod ordered;
pub mod pipeline;
pub mod profile;
pub mod running;
pub mod screen;
pub mod unused;
