//! The user's settings in the editor.

use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The name of the settings section.
pub const SECTION: &str = "averment";

/// The settings under `averment`. Unknown settings and values of the wrong type are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ClientSettings {
    /// The selected run: a trace, with `#3` appended for the third run in it.
    pub run: Option<String>,
    /// True if lints are shown beside compile errors.
    pub lint: bool,
    /// True if inlay hints show types and plain words.
    pub inlay_hints: bool,
    /// True if verdicts and buttons are shown above rules and tests.
    pub code_lens: bool,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self { run: None, lint: true, inlay_hints: true, code_lens: true }
    }
}

impl ClientSettings {
    /// Reads the settings from a client's answer: the section itself, or an object that contains it.
    pub fn read_value(value: &Value) -> Self {
        let own = value.get(SECTION).unwrap_or(value);
        let mut settings = Self::default();
        let text = |key: &str| own.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        settings.run = text("run").map(str::to_owned);
        let is = |key: &str, otherwise: bool| own.get(key).and_then(Value::as_bool).unwrap_or(otherwise);
        settings.lint = is("lint", settings.lint);
        settings.inlay_hints = is("inlayHints", settings.inlay_hints);
        settings.code_lens = is("codeLens", settings.code_lens);
        settings
    }

    /// Returns the file of the selected run and the number of the run in it, from 1.
    pub fn picked_run(&self, folders: &[PathBuf]) -> Option<(PathBuf, usize)> {
        let run = self.run.as_deref()?;
        let (path, number) = match run.rsplit_once('#') {
            Some((path, number)) if number.chars().all(|c| c.is_ascii_digit()) && !number.is_empty() => {
                (path, number.parse().unwrap_or(1))
            }
            _ => (run, 1),
        };
        let path = Path::new(path);
        let found = folders.iter().map(|folder| folder.join(path)).find(|path| path.exists());
        Some((found.unwrap_or_else(|| folders.first().map_or(path.to_path_buf(), |folder| folder.join(path))), number))
    }
}
