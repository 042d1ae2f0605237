//! The language server: dialogues on files with cursors, and whole sessions over standard input and output.
//! `INSTA_UPDATE=always cargo test --test lsp` writes the snapshots; every change of them is read before it is committed.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that meets something unexpected has failed"
)]

#[path = "lsp/client.rs"]
mod client;
#[path = "lsp/dialogues.rs"]
mod dialogues;
#[path = "common/fixtures.rs"]
mod fixtures;
#[path = "lsp/incremental.rs"]
mod incremental;
#[path = "lsp/protocol.rs"]
mod protocol;
#[path = "lsp/session.rs"]
mod session;
