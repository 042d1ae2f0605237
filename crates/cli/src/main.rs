//! The command `aver`.

fn main() -> std::process::ExitCode {
    averment::cli::main()
}
