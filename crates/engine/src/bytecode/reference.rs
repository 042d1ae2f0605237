//! The page of instructions, `docs/reference/bytecode.md`, from the table.

use super::codec;
use super::ops::Op;
use std::fmt::Write;

/// The whole page. A test compares it with the file.
#[must_use]
pub fn reference_page() -> String {
    let mut out = format!(
        "# Compiled programs\n\n\
         `aver compile` writes a program, `aver disasm` lists one. An expression is code for a stack machine that leaves exactly one value; \
         statements about the course of a run are tables that the engine decides from. A program is verified before it runs: every number in range, \
         every jump forward, every stack balanced. Jumps count instructions from the start of their expression; the only way back is \
         `repeat`, which the elements of the loop bound. Every instruction takes fuel, so that every program ends.\n\n\
         A file starts with `89 41 56 45 52 0D 0A 1A` and the version of its instructions, {}. It holds the sources beside the code: a file of \
         another version is compiled again from them.\n\n\
         | instruction | operands | takes | fuel | |\n|---|---|---|---|---|\n",
        codec::VERSION
    );
    for info in Op::TABLE {
        // Writing to a string never fails.
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} |",
            info.mnemonic,
            info.operands.join(", "),
            info.takes,
            info.cost,
            info.doc
        );
    }
    out
}
