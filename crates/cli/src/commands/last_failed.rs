//! `--last-failed`: stores the traces with failed runs in the user's state folder, for the next check.

use super::console::eprint_redacted;
use super::draft_file::update_file;
use super::exit::CommandError;
use super::inputs::TraceInput;
use super::state_folder::state_folder;
use averment_base::words::count_noun;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Maximum size of the state file, in bytes. This command never writes a larger one.
const LARGEST: u64 = 16 << 20;

/// The failed traces of earlier checks, and the selection made from them.
#[derive(Debug, Default)]
pub struct LastFailed {
    file: PathBuf,
    kept: FailedTraces,
    /// True if these rules and traces were checked with the flag before.
    has_earlier: bool,
    /// True if some traces are left out, so that statements over all runs are not judged.
    narrowed: bool,
}

/// Content of the state file.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct FailedTraces {
    /// The folder and the arguments of the check, to detect checks whose file names collide.
    check: Vec<String>,
    failed: BTreeSet<String>,
}

impl LastFailed {
    /// Reads the failures of the last check of the same rules and traces in this folder; empty if there was none.
    pub fn open(words: Vec<String>) -> Result<Self, CommandError> {
        let folder = state_folder("last-failed").ok_or_else(|| {
            CommandError::usage(
                "`--last-failed` has no folder to remember failures in",
                "set `HOME` or `XDG_STATE_HOME`",
            )
        })?;
        let here = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
        let check: Vec<String> = std::iter::once(here).chain(words).collect();
        let file = folder.join(format!("{:08x}.json", crc32fast::hash(check.join("\0").as_bytes())));
        let earlier = read_failed(&file).filter(|kept| kept.check == check);
        let has_earlier = earlier.is_some();
        let failed = earlier.map(|kept| kept.failed).unwrap_or_default();
        Ok(Self { file, kept: FailedTraces { check, failed }, has_earlier, narrowed: false })
    }

    /// Keeps only the traces that failed, or all traces if none of them failed. Prints a note about the choice.
    pub fn narrow(&mut self, traces: Vec<TraceInput>) -> Vec<TraceInput> {
        let all = traces.len();
        let has_failed = |trace: &TraceInput| self.kept.failed.contains(&trace.display_name());
        let (failed, others): (Vec<_>, Vec<_>) = traces.into_iter().partition(has_failed);
        if failed.is_empty() {
            eprint_redacted(if self.has_earlier {
                "note: none of these traces failed in the last check with --last-failed; all are judged\n"
            } else {
                "note: no earlier check of these rules and traces had --last-failed; all are judged, and those that fail are remembered\n"
            });
            return others;
        }
        self.narrowed = !others.is_empty();
        let count = failed.len();
        eprint_redacted(&format!(
            "note: --last-failed judges {count} of {}: where the last check failed\n",
            count_noun(all, "trace")
        ));
        failed
    }

    /// True if some traces were left out.
    pub fn is_narrowed(&self) -> bool {
        self.narrowed
    }

    /// Stores the failed traces of this check.
    pub fn save(self, failed: BTreeSet<String>) -> Result<(), CommandError> {
        if self.narrowed && failed.is_empty() {
            eprint_redacted("note: what failed passes now; the next check with --last-failed judges all traces\n");
        }
        let kept = FailedTraces { failed, ..self.kept };
        let text = serde_json::to_vec(&kept).map_err(std::io::Error::from);
        let folder = self.file.parent().unwrap_or(Path::new("."));
        let written = std::fs::create_dir_all(folder).and_then(|()| update_file(&self.file, &text?));
        written.map_err(|error| {
            let message = format!("`--last-failed` cannot remember failures: {error}");
            CommandError::usage(message, format!("make `{}` writable, or leave the flag out", folder.display()))
        })
    }
}

/// Reads the state file; `None` if it is missing, damaged or foreign, so that all traces are judged.
fn read_failed(file: &Path) -> Option<FailedTraces> {
    let is_small = std::fs::metadata(file).is_ok_and(|data| data.is_file() && data.len() <= LARGEST);
    serde_json::from_slice(&is_small.then(|| std::fs::read(file).ok())??).ok()
}
