//! The command `aver`.

mod commands;
mod repl;

fn main() -> std::process::ExitCode {
    commands::main()
}
