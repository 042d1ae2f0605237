//! The formatter: what it writes means the same, is written the same again, and holds every comment.

mod generate;
mod golden;
mod properties;
