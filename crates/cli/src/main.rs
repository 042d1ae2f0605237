//! The command `aver`.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a command has files, processes, threads and a clock"
)]

mod commands;
mod repl;

fn main() -> std::process::ExitCode {
    commands::main()
}
