//! Bytecode: the table of instructions, the program, its verifier, its file form and its listing.
pub mod ops;
pub mod program;
