//! The formats of runs: one file each, and the table that tells them apart.

pub(crate) mod native;
