//! Sources of the runs to judge.

use averment_base::limits::Limits;
#[cfg(feature = "batch")]
use averment_bulk::feed::TraceInput;
use averment_traces::error::ReadError;
use averment_traces::read::TraceRuns;
use std::io::{Cursor, Read};
#[cfg(feature = "files")]
use std::path::{Path, PathBuf};

/// A trace: one or several runs, in any known format. The format is detected from the content.
///
/// A trace may be one JSON value, a list of runs, a run on each line, several values in sequence, or a session of events on lines.
/// `docs/reference/traces.md` lists the formats.
///
/// ```
/// use averment::Trace;
///
/// let from_text = Trace::from(r#"{"calls": []}"#).named("run.json");
/// let from_value = Trace::from(&serde_json::json!({"calls": []}));
/// let from_reader = Trace::reader(std::io::Cursor::new("{\"calls\": []}\n{\"calls\": []}\n"));
/// ```
pub struct Trace {
    name: Option<String>,
    source: TraceSource,
}

enum TraceSource {
    Bytes(Vec<u8>),
    Reader(Box<dyn Read + Send>),
    #[cfg(feature = "files")]
    File(PathBuf),
}

impl Trace {
    /// Creates a trace that is read while its runs are judged. With one run per line, it is never held in memory as a whole.
    #[must_use]
    pub fn reader(reader: impl Read + Send + 'static) -> Self {
        Self { name: None, source: TraceSource::Reader(Box::new(reader)) }
    }

    /// Creates a trace from a file, which is opened when its first run is requested. If it cannot be opened, that run is an error.
    #[cfg(feature = "files")]
    #[must_use]
    pub fn file(path: impl AsRef<Path>) -> Self {
        Self { name: None, source: TraceSource::File(path.as_ref().to_owned()) }
    }

    /// Sets the name of the trace for names of runs and errors. The default is `<text>`, `<reader>` or the path.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Converts the trace into an input for a batch. A reader with an error becomes a trace that ends there.
    #[cfg(feature = "batch")]
    pub(crate) fn into_input(self) -> TraceInput {
        let name = |usual: &str| self.name.clone().unwrap_or_else(|| usual.to_owned());
        match self.source {
            TraceSource::File(path) => TraceInput::File(openable_path(&path)),
            TraceSource::Bytes(bytes) => TraceInput::Made { name: name("<text>"), bytes, names: Vec::new() },
            TraceSource::Reader(mut reader) => {
                let mut bytes = Vec::new();
                let _ = reader.read_to_end(&mut bytes);
                TraceInput::Made { name: name("<reader>"), bytes, names: Vec::new() }
            }
        }
    }

    pub(crate) fn open_runs(self, limits: &Limits) -> Result<TraceRuns, ReadError> {
        let name = |usual: &str| self.name.clone().unwrap_or_else(|| usual.to_owned());
        match self.source {
            TraceSource::Bytes(bytes) => Ok(TraceRuns::new(name("<text>"), Cursor::new(bytes), limits)),
            TraceSource::Reader(reader) => Ok(TraceRuns::new(name("<reader>"), reader, limits)),
            #[cfg(feature = "files")]
            TraceSource::File(path) => {
                let runs = TraceRuns::open_file(&openable_path(&path).to_string_lossy(), limits)?;
                Ok(match self.name {
                    Some(name) => runs.with_name(name),
                    None => runs,
                })
            }
        }
    }
}

/// Adds a folder to the path `-`, because it would mean standard input.
#[cfg(feature = "files")]
pub(crate) fn openable_path(path: &Path) -> PathBuf {
    if path.as_os_str() == "-" { Path::new(".").join(path) } else { path.to_owned() }
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace").field("name", &self.name).finish_non_exhaustive()
    }
}

impl From<Vec<u8>> for Trace {
    fn from(bytes: Vec<u8>) -> Self {
        Self { name: None, source: TraceSource::Bytes(bytes) }
    }
}

impl From<&[u8]> for Trace {
    fn from(bytes: &[u8]) -> Self {
        Self::from(bytes.to_vec())
    }
}

impl From<String> for Trace {
    fn from(text: String) -> Self {
        Self::from(text.into_bytes())
    }
}

impl From<&str> for Trace {
    fn from(text: &str) -> Self {
        Self::from(text.as_bytes())
    }
}

impl From<&String> for Trace {
    fn from(text: &String) -> Self {
        Self::from(text.as_bytes())
    }
}

impl From<&serde_json::Value> for Trace {
    /// Converts the value to JSON text. Places in evidence refer to that text.
    fn from(value: &serde_json::Value) -> Self {
        Self::from(value.to_string())
    }
}
