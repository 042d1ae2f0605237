//! `aver lsp`: the language server.

use super::exit::{CommandError, Exit};
use averment_ide::lsp;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Editors start this command and talk to it over standard input and output; docs/editors.md says how to set up
VS Code, Neovim, Helix, Zed and Emacs.

Settings, under `averment` in the settings of the editor:
  run          the trace on which rules are tried while you write them; `runs.jsonl#3` is its third run
  lint         show lints (default: true)
  inlayHints   show types and how order rules read (default: true)
  codeLens     show verdicts and buttons above rules and tests (default: true)

Examples:
  aver lsp --stdio    the command to enter in the settings of an editor

Exit codes: 0 the editor shut the server down, 1 the editor disconnected without a shutdown.")]
pub struct LspArgs {
    /// Use standard input and output; this is the only way, and some editors pass it
    #[arg(long)]
    stdio: bool,
}

/// Serves one editor.
pub fn run_lsp(_arguments: &LspArgs) -> Result<Exit, CommandError> {
    Ok(if lsp::serve_stdio() == 0 { Exit::Holds } else { Exit::Failed })
}
