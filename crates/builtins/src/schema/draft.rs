//! Detects the draft of a schema without `$schema`.

use jsonschema::{Draft, ValidationError};
use serde_json::Value;

type MetaCheck = fn(&Value) -> bool;

/// Older drafts with incompatible features: a list in `items`, a boolean in `exclusiveMinimum`.
const OLDER: [(Draft, MetaCheck); 4] = [
    (Draft::Draft201909, jsonschema::draft201909::meta::is_valid),
    (Draft::Draft7, jsonschema::draft7::meta::is_valid),
    (Draft::Draft6, jsonschema::draft6::meta::is_valid),
    (Draft::Draft4, jsonschema::draft4::meta::is_valid),
];

/// Returns the newest draft that a schema fits. Returns `None` if `$schema` names the draft, because the library reads it then.
pub(super) fn unnamed_draft(schema: &Value) -> Option<Draft> {
    if schema.get("$schema").is_some_and(Value::is_string) {
        return None;
    }
    if jsonschema::draft202012::meta::is_valid(schema) {
        return Some(Draft::Draft202012);
    }
    let older = OLDER.iter().find(|(_, fits)| fits(schema));
    Some(older.map_or(Draft::Draft202012, |(draft, _)| *draft))
}

/// True if JSON text is a schema that names its draft or fits the newest one.
#[must_use]
pub fn fits_newest_draft(schema: &str) -> bool {
    serde_json::from_str(schema).is_ok_and(|schema| matches!(unnamed_draft(&schema), None | Some(Draft::Draft202012)))
}

/// Checks a schema against the rules of its draft.
///
/// # Errors
/// Returns the first part that its draft does not allow.
pub fn check_meta_schema(schema: &Value) -> Result<(), ValidationError<'_>> {
    match unnamed_draft(schema) {
        Some(Draft::Draft202012) => jsonschema::draft202012::meta::validate(schema),
        Some(_) => Ok(()),
        None => jsonschema::meta::validate(schema),
    }
}

/// Formats that older drafts do not define. They are asserted in every draft.
pub(super) const LATER_FORMATS: [&str; 8] = [
    "duration",
    "iri",
    "iri-reference",
    "json-pointer",
    "relative-json-pointer",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// Returns a check for one of the [`LATER_FORMATS`], as the newest draft defines it.
pub(super) fn format_check(name: &'static str) -> impl Fn(&str) -> bool + Send + Sync + 'static {
    let schema = serde_json::json!({"format": name});
    let validator = jsonschema::options().offline().should_validate_formats(true).build(&schema).ok();
    move |text| validator.as_ref().is_none_or(|validator| validator.is_valid(&Value::String(text.to_owned())))
}

/// Supported formats; all others are ignored.
pub const FORMATS: [&str; 17] = [
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];
