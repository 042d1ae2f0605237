//! The formatter: what it writes means the same, is written the same again, and holds every comment.

mod command;
#[path = "../common/mod.rs"]
mod common;
#[allow(dead_code, reason = "shared with other test programs")]
#[path = "../common/folder.rs"]
mod folder;
mod generate;
mod golden;
mod properties;
