//! The command `aver`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a command has files, processes, threads and a clock"
)]

mod commands;
mod memory;
mod repl;

fn main() -> std::process::ExitCode {
    memory::set_aside();
    // A panic is no verdict, so it exits like an evaluation error.
    std::panic::catch_unwind(commands::main).unwrap_or_else(|_| {
        commands::console::eprint_redacted("error: the command broke down; nothing that it did not finish counts\n");
        commands::exit::after_breakdown().into()
    })
}
