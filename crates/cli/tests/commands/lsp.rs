//! The language server: requests at cursor positions, and whole sessions over standard input and output.

mod client;
mod dialogues;
mod foreign;
mod incremental;
mod protocol;
mod session;
