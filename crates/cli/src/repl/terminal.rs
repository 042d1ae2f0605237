//! A REPL session in a terminal: line editing, history, completion, Ctrl-C.

use super::highlight::LineAssistant;
use super::session::{ReplFlow, ReplSession};
use super::{PROMPT, command};
use crate::commands::state_folder::state_folder;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{ColorMode, CompletionType, Config, Editor};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of inputs kept between sessions.
const KEPT: usize = 2_000;

/// Returns the history file in the user's state folder; `None` if there is no such folder.
#[must_use]
pub fn history_file() -> Option<PathBuf> {
    state_folder("history")
}

/// Runs a session until Ctrl-D or `:quit`. Calls `working` before and after each input.
///
/// # Errors
/// Returns the error of the terminal or of the writer.
pub fn run_terminal(
    session: &mut ReplSession<'_>,
    color: bool,
    history: Option<&Path>,
    working: &dyn Fn(bool),
) -> io::Result<()> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .max_history_size(KEPT)
        .map_err(readline_error)?
        .color_mode(if color { ColorMode::Enabled } else { ColorMode::Disabled })
        .build();
    let mut editor: Editor<LineAssistant, FileHistory> = Editor::with_config(config).map_err(readline_error)?;
    editor.set_helper(Some(line_assistant(session, color)));
    if let Some(file) = history {
        // A missing or unreadable history counts as empty.
        let _ = editor.load_history(file);
    }
    loop {
        working(false);
        let read = editor.readline(PROMPT);
        working(true);
        match read {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => {
                let _ = editor.add_history_entry(text.trim_end());
                let go = session.enter_input(&text)?;
                save_history(&mut editor, history);
                if go == ReplFlow::Quit {
                    break;
                }
                editor.set_helper(Some(line_assistant(session, color)));
            }
            // Ctrl-C discards the line and keeps the session.
            Err(ReadlineError::Interrupted) => session.write_text("")?,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(readline_error(error)),
        }
    }
    Ok(())
}

fn line_assistant(session: &ReplSession<'_>, color: bool) -> LineAssistant {
    LineAssistant { context: session.context().clone(), limits: session.limits(), color, rules: session.rule_names() }
}

/// Writes the history with owner-only permissions, since inputs may be confidential.
fn save_history(editor: &mut Editor<LineAssistant, FileHistory>, history: Option<&Path>) {
    let Some(file) = history else { return };
    if let Some(folder) = file.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let _ = editor.save_history(file);
}

fn readline_error(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        error => io::Error::other(error.to_string()),
    }
}

/// The first line of a session.
#[must_use]
pub fn greeting() -> String {
    let count = command::COMMANDS.len();
    format!(
        "Averment {}: expressions, statements and rules; `:help` lists {count} commands, Ctrl-D leaves",
        env!("CARGO_PKG_VERSION")
    )
}
