//! The language server: dialogues on files with cursors, and whole sessions over standard input and output.

mod client;
mod dialogues;
mod foreign;
mod incremental;
mod protocol;
mod session;
