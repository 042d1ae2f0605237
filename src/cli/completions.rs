//! `aver completions SHELL`.

use super::exit::{Exit, Stop};
use clap_complete::Shell;
use std::io::Write as _;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver completions bash > ~/.local/share/bash-completion/completions/aver
  aver completions zsh > ~/.zfunc/_aver
  aver completions fish > ~/.config/fish/completions/aver.fish")]
pub struct Arguments {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completions of a shell.
pub fn run(arguments: &Arguments, mut command: clap::Command) -> Result<Exit, Stop> {
    // Written to memory first: the generator cannot report a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "aver", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Holds)
}
