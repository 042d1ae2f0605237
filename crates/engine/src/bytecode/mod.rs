//! What a program is made of, how it is checked, listed, written and read.
pub mod codec;
pub mod data_flow;
pub mod disasm;
pub mod ops;
pub mod program;
pub mod reference;
pub mod relocate;
pub mod verify;
