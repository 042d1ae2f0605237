//! Tests of the formatter: its output has the same meaning, formats to itself, and keeps every comment.

mod generate;
mod golden;
mod properties;
