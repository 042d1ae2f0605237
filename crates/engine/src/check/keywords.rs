//! The keywords of JSON Schema, and where schemas stand in schemas.

use serde_json::Value;

/// Keywords of the supported dialects, including annotations and OpenAPI extensions.
pub(super) const KNOWN: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "discriminator",
    "else",
    "enum",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "name",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "strict",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "version",
    "writeOnly",
    "xml",
];

/// Keywords whose value is a schema or a list of schemas.
const SCHEMAS: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const NAMED: &[&str] = &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
/// Unknown keys reported per schema.
const MOST: usize = 20;

/// Unknown keys of a schema, each with a pointer. The JSON reader bounds the depth.
pub(super) fn unknown_keywords(schema: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), schema)];
    while let Some((pointer, schema)) = open.pop() {
        let Value::Object(entries) = schema else { continue };
        for (key, value) in entries {
            let inside = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
            match (key.as_str(), value) {
                (key, Value::Array(items)) if SCHEMAS.contains(&key) => {
                    open.extend((0_usize..).zip(items).map(|(at, item)| (format!("{inside}/{at}"), item)));
                }
                (key, value) if SCHEMAS.contains(&key) => open.push((inside, value)),
                (key, Value::Object(named)) if NAMED.contains(&key) => {
                    let of = |name: &str| format!("{inside}/{}", name.replace('~', "~0").replace('/', "~1"));
                    open.extend(named.iter().map(|(name, one)| (of(name), one)));
                }
                (key, _) if KNOWN.contains(&key) || key.starts_with("x-") || key.starts_with('$') => {}
                (key, _) => found.push((inside, key.to_owned())),
            }
        }
    }
    found.sort();
    found.truncate(MOST);
    found
}
