//! A corpus: saved inputs that made an assertion fail, one per file, for later replay.

use crate::plan::InvariantCalls;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Maximum size of a file in bytes, and maximum number of files.
const BYTES: u64 = 16 << 20;
const FILES: usize = 10_000;
/// Maximum characters of a file name before its hash.
const NAME: usize = 40;

/// A call that was made before another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierCall {
    /// Name of the tool.
    pub tool: String,
    /// Input of the call.
    pub arguments: Map<String, Value>,
}

/// An input with which an assertion failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptInput {
    /// The invariant for which the input was generated.
    pub invariant: String,
    /// Name of the tool that was called.
    pub tool: String,
    /// The input.
    pub arguments: Map<String, Value>,
    /// The calls since the server started that must precede this one for the failure to occur; empty if none are needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<EarlierCall>,
    /// Ids of the failed assertions.
    pub found: Vec<String>,
}

impl KeptInput {
    /// Returns the file name, made of the invariant's id and a hash of the input.
    #[must_use]
    pub fn file_name(&self) -> PathBuf {
        let of = match self.behind.as_slice() {
            [] => serde_json::json!([self.invariant, self.tool, self.arguments]),
            behind => serde_json::json!([self.invariant, self.tool, behind, self.arguments]),
        };
        let of = of.to_string();
        let hash: String = Sha256::digest(of).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
        let name: String = self.invariant.chars().take(NAME).map(plain).collect();
        PathBuf::from(format!("{name}-{hash}.json"))
    }

    /// Returns true if the input belongs to this invariant and tool.
    #[must_use]
    pub fn is_for(&self, ask: &InvariantCalls, tool: &str) -> bool {
        self.invariant == ask.invariant && self.tool == tool
    }

    /// Returns the text of the file.
    #[must_use]
    pub fn file_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// Reads a corpus, sorted by file name. A missing folder counts as empty.
///
/// # Errors
/// The unreadable file and the reason.
pub fn read_corpus(folder: &Path) -> Result<Vec<KeptInput>, (PathBuf, String)> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| (folder.to_owned(), error.to_string()))?,
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    paths.sort();
    if paths.len() > FILES {
        return Err((folder.to_owned(), format!("there are more than {FILES} files in it")));
    }
    let read = |path: PathBuf| {
        let wrong = |why: String| (path.clone(), why);
        let length = std::fs::metadata(&path).map_err(|error| wrong(error.to_string()))?.len();
        if length > BYTES {
            return Err(wrong(format!("it is larger than {BYTES} bytes")));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| wrong(format!("it is no input that was kept: {error}")))
    };
    paths.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_input_is_another_file_and_its_text_is_read_again() {
        let kept = |number: i32| {
            let arguments = serde_json::json!({ "a": number }).as_object().cloned().unwrap();
            KeptInput {
                invariant: "a/b: c".into(),
                tool: "t".into(),
                arguments,
                behind: Vec::new(),
                found: vec!["a.1".into()],
            }
        };
        assert_ne!(kept(1).file_name(), kept(2).file_name());
        assert!(kept(1).file_name().to_string_lossy().starts_with("a-b--c-"));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_corpus(&folder.path().join("none")), Ok(Vec::new()));
        std::fs::write(folder.path().join(kept(1).file_name()), kept(1).file_text()).unwrap();
        assert_eq!(read_corpus(folder.path()), Ok(vec![kept(1)]));
        std::fs::write(folder.path().join("z.json"), "{}").unwrap();
        assert!(
            read_corpus(folder.path())
                .is_err_and(|(path, why)| path.ends_with("z.json") && why.contains("missing field"))
        );
    }
}
