//! Strict JSON parsing. Duplicate keys are rejected, because some readers use the first value and others the last one.

use averment_base::limits::Limits;
use averment_base::value::json;
use bumpalo::Bump;
use serde_json::Value;

/// Reads a value.
///
/// # Errors
/// Returns a message for invalid JSON and for duplicate keys.
pub fn parse_unambiguous(bytes: &[u8]) -> Result<Value, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let arena = Bump::new();
    let document = json::parse(text, 0, &arena, &Limits::default()).map_err(|error| error.to_string())?;
    match document.duplicates.first() {
        Some(duplicate) => Err(format!("the key `{}` stands twice", duplicate.key)),
        None => serde_json::from_str(text).map_err(|error| error.to_string()),
    }
}
