//! The language server: dialogues on files with cursors, and whole sessions over standard input and output.
//! `AVERMENT_BLESS=1 cargo test --test lsp` writes the snapshots; every change of them is read before it is committed.

mod client;
mod dialogues;
mod foreign;
mod incremental;
mod protocol;
mod session;
