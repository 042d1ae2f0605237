//! Size options on the command line.

use super::exit::CommandError;
use super::units;
use averment::Limits;

/// Parses the size of a chunk, in bytes. Every positive size is allowed.
pub fn chunk_size(given: Option<&str>) -> Result<usize, CommandError> {
    let Some(text) = given else { return Ok(averment_traces::read::CHUNK_SIZE) };
    match units::parse_bytes(text) {
        Some(bytes) if bytes > 0 => Ok(bytes),
        _ => Err(CommandError::usage(format!("`{text}` is no size"), "write a size such as `1MiB`")),
    }
}

/// Returns the limits, with the maximum size of a run from the command line.
pub fn run_limits(given: Option<&str>) -> Result<Limits, CommandError> {
    let defaults = Limits::default();
    let Some(text) = given else { return Ok(defaults) };
    match units::parse_bytes(text) {
        Some(run_bytes) if run_bytes > 0 => Ok(defaults.with_run_bytes(run_bytes)),
        _ => Err(CommandError::usage(format!("`{text}` is no size"), "write a size such as `64MiB`")),
    }
}
