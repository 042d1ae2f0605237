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

/// Unknown keys of a schema, each with a pointer.
pub(super) fn unknown_keywords(schema: &Value) -> Vec<(String, String)> {
    let is_known = |key: &str| {
        SCHEMAS.contains(&key)
            || NAMED.contains(&key)
            || KNOWN.contains(&key)
            || key.starts_with("x-")
            || key.starts_with('$')
    };
    visit_keywords(schema, |key, _| (!is_known(key)).then(|| key.to_owned()))
}

/// Values of `format` of a schema that are not among those that are known, each with a pointer.
pub(super) fn unknown_formats(schema: &Value, known: &[&str]) -> Vec<(String, String)> {
    visit_keywords(schema, |key, value| {
        value.as_str().filter(|format| key == "format" && !known.contains(format)).map(str::to_owned)
    })
}

/// What is found at the keys of a schema and of the schemas in it. The JSON reader bounds the depth.
fn visit_keywords(schema: &Value, find: impl Fn(&str, &Value) -> Option<String>) -> Vec<(String, String)> {
    let escape = |name: &str| name.replace('~', "~0").replace('/', "~1");
    let mut found = Vec::new();
    let mut open = vec![(String::new(), schema)];
    while let Some((pointer, schema)) = open.pop() {
        let Value::Object(entries) = schema else { continue };
        for (key, value) in entries {
            let inside = format!("{pointer}/{}", escape(key));
            if let Some(one) = find(key, value) {
                found.push((inside.clone(), one));
            }
            match (key.as_str(), value) {
                (key, Value::Array(items)) if SCHEMAS.contains(&key) => {
                    open.extend((0_usize..).zip(items).map(|(at, item)| (format!("{inside}/{at}"), item)));
                }
                (key, value) if SCHEMAS.contains(&key) => open.push((inside, value)),
                (key, Value::Object(named)) if NAMED.contains(&key) => {
                    open.extend(named.iter().map(|(name, one)| (format!("{inside}/{}", escape(name)), one)));
                }
                _ => {}
            }
        }
    }
    found.sort();
    found.truncate(MOST);
    found
}
