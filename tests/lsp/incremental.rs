//! Long files.
