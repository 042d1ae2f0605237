//! The functions of the language: one table of them, and what stands behind the tests of values.

pub mod table;
