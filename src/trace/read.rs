//! Reading runs.

use super::build::{Normal, build};
use super::error::ReadError;
use super::run::{ReadWarning, Run, RunSource};
use crate::limits::Limits;
use crate::value::json::{self, Duplicate};
use bumpalo::Bump;

/// Reads one run in normal form.
///
/// # Errors
/// What is not JSON, or not a run.
pub fn read_str<'run>(text: &'run str, arena: &'run Bump, limits: &Limits) -> Result<Run<'run>, ReadError> {
    let source = RunSource { file: "<text>".to_owned(), line: 1, column: 1, ..RunSource::default() };
    let document = json::parse(text, 0, arena, limits).map_err(|error| ReadError::of_json(&source, text, error))?;
    let warnings = document.duplicates.iter().map(duplicate).collect();
    build(Normal { text, source, object: document.node, order: None, warnings }, arena)
}

fn duplicate(duplicate: &Duplicate) -> ReadWarning {
    ReadWarning {
        message: format!("the key `{}` stands more than once in its object; the last one counts", duplicate.key),
        offset: duplicate.object.range().map_or(0, |range| range.start),
    }
}
