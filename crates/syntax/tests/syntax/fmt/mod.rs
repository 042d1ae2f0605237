//! The formatter: what it writes means the same, is written the same again, and holds every comment.

mod command;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/fixtures.rs"]
mod fixtures;
#[path = "../common/folder.rs"]
mod folder;
mod generate;
mod golden;
mod properties;
