//! `aver lsp`: the language server.

use super::exit::{CommandError, Exit};
use averment_ide::lsp;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Editors start this command and talk to it over standard input and output; docs/editors.md says how to set up
VS Code, Neovim, Helix, Zed and Emacs.

Settings, under `averment` in the editor's own:
  run          a trace that rules are tried on while they are written, `runs.jsonl#3` for its third run
  lint         whether lints are shown (true)
  inlayHints   whether types and readings of order rules are shown (true)
  codeLens     whether verdicts and buttons are shown above rules and tests (true)

Exit codes: 0 behind a proper shutdown, 1 when the editor went away without one.")]
pub struct LspArgs {
    /// Use standard input and output; this is the only way, and some editors pass it
    #[arg(long)]
    stdio: bool,
}

/// Serves one editor.
pub fn run_lsp(_arguments: &LspArgs) -> Result<Exit, CommandError> {
    Ok(if lsp::serve_stdio() == 0 { Exit::Holds } else { Exit::Failed })
}
