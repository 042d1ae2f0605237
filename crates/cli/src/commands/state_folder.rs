//! Where the command keeps state between its runs.

use std::path::PathBuf;

/// The folder or file of this name in the state folder of the user: under `XDG_STATE_HOME`, otherwise under `~/.local/state`. `None` if neither is known.
pub fn state_folder(name: &str) -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")))?;
    Some(state.join("averment").join(name))
}
