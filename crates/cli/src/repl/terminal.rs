//! A session in a terminal: line editing, history, completion, Ctrl-C.

use super::highlight::Assistant;
use super::session::{Go, Session};
use super::{PROMPT, command};
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{ColorMode, CompletionType, Config, Editor};
use std::io;
use std::path::{Path, PathBuf};

/// Inputs that are kept between sessions.
const KEPT: usize = 2_000;

/// Where the history of sessions stands: in the folder for state of the user; `None` where there is none.
#[must_use]
pub fn history_file() -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("averment/history"))
}

/// Runs a session until Ctrl-D or `:quit`. `working` is called before and after each input.
///
/// # Errors
/// What the terminal or the writer says.
pub fn run(session: &mut Session<'_>, color: bool, history: Option<&Path>, working: &dyn Fn(bool)) -> io::Result<()> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .max_history_size(KEPT)
        .map_err(other)?
        .color_mode(if color { ColorMode::Enabled } else { ColorMode::Disabled })
        .build();
    let mut editor: Editor<Assistant, FileHistory> = Editor::with_config(config).map_err(other)?;
    editor.set_helper(Some(assistant(session, color)));
    if let Some(file) = history {
        // A history that is not there yet, or not readable, is an empty one.
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
                let go = session.enter(&text)?;
                keep(&mut editor, history);
                if go == Go::Quit {
                    break;
                }
                editor.set_helper(Some(assistant(session, color)));
            }
            // Ctrl-C gives the line up, not the session.
            Err(ReadlineError::Interrupted) => session.write("")?,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(other(error)),
        }
    }
    Ok(())
}

fn assistant(session: &Session<'_>, color: bool) -> Assistant {
    Assistant { context: session.context().clone(), limits: session.limits(), color, rules: session.rule_names() }
}

/// Writes the history, readable by its owner alone: inputs may hold what is nobody else's business.
fn keep(editor: &mut Editor<Assistant, FileHistory>, history: Option<&Path>) {
    let Some(file) = history else { return };
    if let Some(folder) = file.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    let _ = editor.save_history(file);
}

fn other(error: ReadlineError) -> io::Error {
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
