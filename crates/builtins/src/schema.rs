//! JSON Schema: compiles schemas, and checks values without copying them.
//!
//! The dialect is the one that `$schema` names, otherwise the newest one that the schema fits. References resolve only inside the schema: nothing is
//! fetched. `format` is asserted. Patterns take linear time, or are metered.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

mod cost;
mod draft;
mod ecma;

use super::convert::{to_library, to_library_number};
use super::detect::{redacted_end, redacted_start};
use averment_base::limits::{FuelMeter, LimitError, Limits};
use averment_base::value::compare::{ValueKey, with_deep_stack};
use averment_base::value::{Node, Number, Object, ObjectEntry, Value, ValueText};
pub use draft::{FORMATS, check_meta_schema, fits_newest_draft};
use jsonschema::json::{self, Json, JsonNumber, NodeIdentity};
use jsonschema::{JsonType, PatternOptions, ValidationError, Validator};
use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// A compiled schema.
#[derive(Debug)]
pub struct CompiledSchema {
    validator: Validator<RunJson>,
    work: cost::SchemaWork,
    /// True if its patterns are matched by backtracking.
    backtracks: bool,
}

/// A violation of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaViolation {
    /// The problem, in words.
    pub message: String,
    /// JSON pointer to the invalid value, inside the checked value.
    pub instance: String,
    /// JSON pointer to the keyword in the schema.
    pub schema: String,
}

impl CompiledSchema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// Returns the reason: not JSON, not a schema, an unresolvable reference, or an invalid pattern.
    pub fn compile(json: &str, limits: &Limits) -> Result<Self, String> {
        let schema: serde_json::Value =
            serde_json::from_str(json).map_err(|error| format!("it is not JSON: {error}"))?;
        let build = |backtracks: bool| -> Result<Self, ValidationError<'static>> {
            let patterns = PatternOptions::regex().size_limit(limits.regex_bytes).dfa_size_limit(limits.regex_bytes);
            let mut options = jsonschema::options_for::<RunJson>()
                .offline()
                .should_validate_formats(true)
                .should_ignore_unknown_formats(true)
                .with_pattern_options(patterns);
            if let Some(draft) = draft::unnamed_draft(&schema) {
                options = options.with_draft(draft);
            }
            for name in draft::LATER_FORMATS.into_iter().filter(|name| json.contains(*name)) {
                options = options.with_format(name, draft::format_check(name));
            }
            if backtracks {
                options = options.with_keyword("pattern", ecma::pattern_keyword);
            }
            let validator = options.build(&schema)?;
            Ok(Self { validator, work: cost::SchemaWork::from_schema(&schema), backtracks })
        };
        build(false)
            .or_else(|first| build(true).map_err(|_| first))
            .map_err(|error| shorten_message(&error.to_string()))
    }

    /// Charges the fuel for checking a value. Call it before each check.
    ///
    /// # Errors
    /// Returns an error if there is not enough fuel, because the schema needs too much work for this value.
    pub fn charge_check(&self, value: &Value<'_>, meter: &mut FuelMeter) -> Result<(), LimitError> {
        self.work.charge_check(value, meter)?;
        if self.backtracks {
            // The cost of a search is known only after it. So the check runs here first, with the remaining fuel.
            let work = ecma::with_pattern_fuel(meter.fuel_left(), || {
                let _ = self.accepts(value);
            });
            meter.charge_fuel(work.fuel)?;
            if work.ended {
                return Err(LimitError::Fuel);
            }
        }
        Ok(())
    }

    /// True if a value fits.
    #[must_use]
    pub fn accepts(&self, value: &Value<'_>) -> bool {
        with_deep_stack(|| self.validator.is_valid(SchemaInstance::from_root(*value)))
    }

    /// Checks a value, and returns the first violation in the order of the schema. If nested alternatives would copy a large value many times, the
    /// violation has no details.
    ///
    /// # Errors
    /// Returns the violation.
    pub fn check_value(&self, value: &Value<'_>) -> Result<(), SchemaViolation> {
        if self.work.exceeds_copies(value, COPIED) {
            let message = "it fits none of the alternatives; there is too much of it to say more".to_owned();
            let violation = SchemaViolation { message, instance: String::new(), schema: String::new() };
            return if self.accepts(value) { Ok(()) } else { Err(violation) };
        }
        with_deep_stack(|| self.validator.validate(SchemaInstance::from_root(*value))).map_err(|error| {
            SchemaViolation {
                message: shorten_message(&error.to_string()),
                instance: error.instance_path().to_string(),
                schema: error.schema_path().to_string(),
            }
        })
    }
}

/// Maximum amount of data that violations may copy from a value, in units of 16 bytes.
const COPIED: u64 = 2 << 20;

/// Shortens a message, because messages quote the value.
fn shorten_message(message: &str) -> String {
    const LONGEST: usize = 300;
    let count = message.chars().count();
    if count <= LONGEST {
        return message.to_owned();
    }
    format!("{} … {}", redacted_start(message, LONGEST / 3), redacted_end(message, LONGEST / 2))
}

/// The adapter between run values and the validator.
#[derive(Debug)]
struct RunJson;

/// A value, identified during validation by the address of its slot.
#[derive(Debug, Clone, Copy)]
struct SchemaInstance<'a> {
    value: Value<'a>,
    address: usize,
    tag: u32,
}

impl<'a> SchemaInstance<'a> {
    const ROOT: u32 = 1;
    const NAME: u32 = 2;

    fn from_root(value: Value<'a>) -> Self {
        Self { value, address: 0, tag: Self::ROOT }
    }

    fn from_node(node: &'a Node<'a>) -> Self {
        Self { value: node.value, address: std::ptr::from_ref(node).addr(), tag: 0 }
    }
}

impl Json for RunJson {
    type Node<'a> = SchemaInstance<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, then: impl FnOnce(SchemaInstance<'_>) -> T) -> T {
        let value = Value::Text(ValueText::Plain(string));
        then(SchemaInstance { value, address: string.as_ptr().addr(), tag: SchemaInstance::NAME })
    }
}

impl<'a> json::Node<'a, RunJson> for SchemaInstance<'a> {
    type Object = Object<'a>;
    type Array = &'a [Node<'a>];
    type Number = SchemaNumber<'a>;

    fn as_object(&self) -> Option<Object<'a>> {
        match self.value {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    fn as_array(&self) -> Option<&'a [Node<'a>]> {
        match self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self.value {
            Value::Text(text) => Some(Cow::Borrowed(text.as_str())),
            _ => None,
        }
    }

    fn as_number(&self) -> Option<SchemaNumber<'a>> {
        match self.value {
            Value::Number(number) => Some(SchemaNumber(number)),
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self.value {
            Value::Boolean(value) => Some(value),
            Value::Truth(truth) => truth.plain_answer(),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        self.json_type() == JsonType::Null
    }

    fn json_type(&self) -> JsonType {
        match self.value {
            Value::Boolean(_) | Value::Truth(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::Text(_) => JsonType::String,
            Value::List(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
            Value::Missing | Value::Absent | Value::Null | Value::Range(_) | Value::Regex(_) => JsonType::Null,
        }
    }

    fn equals_value(&self, expected: &serde_json::Value) -> bool {
        equals_json(&self.value, expected)
    }

    fn to_value(&self) -> Cow<'a, serde_json::Value> {
        Cow::Owned(to_library(&self.value))
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::tagged(self.address, self.tag))
    }
}

/// Compares a value with a schema literal. Numbers are compared by value.
fn equals_json(value: &Value<'_>, expected: &serde_json::Value) -> bool {
    match (value, expected) {
        (Value::Boolean(value), serde_json::Value::Bool(expected)) => value == expected,
        (Value::Truth(truth), serde_json::Value::Bool(expected)) => truth.plain_answer() == Some(*expected),
        (Value::Number(number), serde_json::Value::Number(expected)) => {
            *number == Number::Written(&expected.to_string())
        }
        (Value::Text(text), serde_json::Value::String(expected)) => text.as_str() == expected,
        (Value::List(items), serde_json::Value::Array(expected)) => {
            items.len() == expected.len()
                && with_deep_stack(|| {
                    items.iter().zip(expected).all(|(item, expected)| equals_json(&item.value, expected))
                })
        }
        (Value::Object(object), serde_json::Value::Object(expected)) => {
            object.entries().len() == expected.len()
                && with_deep_stack(|| {
                    let fits = |key, expected| object.get(key).is_some_and(|node| equals_json(&node.value, expected));
                    expected.iter().all(|(key, expected)| fits(key, expected))
                })
        }
        (Value::Null, serde_json::Value::Null) => true,
        _ => false,
    }
}

impl<'a> json::Object<'a, RunJson> for Object<'a> {
    type Node = SchemaInstance<'a>;
    type MemberName = &'a str;
    type MembersIter = ObjectMembers<'a>;

    fn len(&self) -> usize {
        self.entries().len()
    }

    fn get(&self, key: &String) -> Option<SchemaInstance<'a>> {
        self.entry(key).map(|entry| SchemaInstance::from_node(&entry.node))
    }

    fn members(&self) -> ObjectMembers<'a> {
        ObjectMembers(self.entries().iter())
    }
}

struct ObjectMembers<'a>(std::slice::Iter<'a, ObjectEntry<'a>>);

impl<'a> Iterator for ObjectMembers<'a> {
    type Item = (&'a str, SchemaInstance<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|entry| (entry.key, SchemaInstance::from_node(&entry.node)))
    }
}

impl<'a> json::Array<'a, RunJson> for &'a [Node<'a>] {
    type Node = SchemaInstance<'a>;
    type ElementsIter = std::iter::Map<std::slice::Iter<'a, Node<'a>>, fn(&'a Node<'a>) -> SchemaInstance<'a>>;

    fn len(&self) -> usize {
        <[Node<'a>]>::len(self)
    }

    fn elements(&self) -> Self::ElementsIter {
        self.iter().map(SchemaInstance::from_node)
    }

    fn is_unique(&self) -> bool {
        let mut seen: HashSet<ValueKey<'_>, BuildHasherDefault<DefaultHasher>> = HashSet::default();
        self.iter().all(|item| seen.insert(ValueKey(item.value)))
    }
}

struct SchemaNumber<'a>(Number<'a>);

impl JsonNumber for SchemaNumber<'_> {
    fn as_u64(&self) -> Option<u64> {
        match self.as_i64() {
            Some(value) => u64::try_from(value).ok(),
            None => to_library_number(self.0).as_u64(),
        }
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.as_i64()
    }

    fn as_f64(&self) -> Option<f64> {
        let value = self.0.to_f64();
        value.is_finite().then_some(value)
    }

    fn as_str(&self) -> Cow<'_, str> {
        match self.0 {
            Number::Written(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.to_string()),
        }
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned(to_library_number(self.0))
    }

    fn is_integer(&self) -> bool {
        self.0.is_integer()
    }

    fn is_written_as_integer(&self) -> bool {
        self.0.has_integer_form()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_base::value::json::parse;
    use bumpalo::Bump;
    use serde_json::json;

    fn check(schema: &str, instance: &str) -> Result<(), SchemaViolation> {
        let arena = Bump::new();
        let limits = Limits::default();
        let value = parse(instance, 0, &arena, &limits).unwrap().node.value;
        let schema = CompiledSchema::compile(schema, &limits).unwrap();
        assert_eq!(schema.accepts(&value), schema.check_value(&value).is_ok());
        schema.check_value(&value)
    }

    #[test]
    fn of_a_large_value_alternatives_in_alternatives_keep_no_copies() {
        let definition = |number: usize| match number {
            12 => json!({"type": "integer"}),
            _ => {
                let next = json!({"$ref": format!("#/$defs/a{}", number + 1)});
                json!({"anyOf": [next, next]})
            }
        };
        let all: serde_json::Map<_, _> = (0..=12).map(|number| (format!("a{number}"), definition(number))).collect();
        let schema = json!({"$ref": "#/$defs/a0", "$defs": all}).to_string();
        let said = check(&schema, &format!("\"{}\"", "x".repeat(300_000))).unwrap_err();
        assert!(said.message.contains("too much of it") && said.schema.is_empty(), "{said:?}");
        assert!(check(&schema, "7").is_ok());
        assert!(check(&schema, "\"x\"").unwrap_err().schema.contains("anyOf"));
    }

    #[test]
    fn a_violation_names_the_value_and_the_keyword() {
        let schema =
            r#"{"type": "object", "properties": {"items": {"items": {"properties": {"n": {"type": "integer"}}}}}}"#;
        assert_eq!(check(schema, r#"{"items": [{"n": 1}, {"n": 2.0}]}"#), Ok(()));
        let violation = check(schema, r#"{"items": [{"n": 1}, {"n": "x"}]}"#).unwrap_err();
        assert_eq!(violation.instance, "/items/1/n");
        assert_eq!(violation.schema, "/properties/items/items/properties/n/type");
        assert!(violation.message.contains("is not of type \"integer\""), "{}", violation.message);
    }

    #[test]
    fn numbers_compare_by_value_and_exactly() {
        assert_eq!(check(r#"{"const": 1.0}"#, "1"), Ok(()));
        assert!(check(r#"{"enum": [true]}"#, "1").is_err());
        assert!(check(r#"{"const": 9007199254740993}"#, "9007199254740992").is_err());
        assert!(check(r#"{"uniqueItems": true}"#, "[1, 1.0]").is_err());
        assert_eq!(check(r#"{"uniqueItems": true}"#, "[1, true, \"1\"]"), Ok(()));
        assert!(check(r#"{"maximum": 10}"#, "1e400").is_err());
        assert_eq!(check(r#"{"type": "integer", "minimum": 18446744073709551615}"#, "18446744073709551615"), Ok(()));
    }

    #[test]
    fn escapes_in_names_and_texts_do_not_matter() {
        assert_eq!(
            check(r#"{"required": ["é"], "properties": {"é": {"const": "\n"}}}"#, r#"{"\u00e9": "\n"}"#),
            Ok(())
        );
        assert!(check(r#"{"propertyNames": {"maxLength": 2}}"#, r#"{"abc": 1}"#).is_err());
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let tree = r##"{"$ref": "#/$defs/t", "$defs": {"t": {"items": {"$ref": "#/$defs/t"}, "type": "array"}}}"##;
        assert_eq!(check(tree, "[[], [[]], []]"), Ok(()));
        assert!(check(tree, "[[], [[1]]]").is_err());
        let _ = check(r##"{"allOf": [{"$ref": "#"}]}"##, "1");
        let deep = format!("{}{}", "[".repeat(250), "]".repeat(250));
        assert_eq!(check(tree, &deep), Ok(()));
    }

    #[test]
    fn what_cannot_be_used_is_refused_while_compiling() {
        for schema in [
            "{",
            r#"{"type": "strin"}"#,
            r#"{"pattern": "("}"#,
            r##"{"$ref": "#/nowhere"}"##,
            r#"{"$ref": "https://example.com/schema.json"}"#,
            r#"{"$ref": "file:///etc/passwd"}"#,
        ] {
            assert!(CompiledSchema::compile(schema, &Limits::default()).is_err(), "{schema}");
        }
    }

    #[test]
    fn messages_stay_short() {
        let violation = check(r#"{"type": "integer"}"#, &format!("\"{}\"", "x".repeat(10_000))).unwrap_err();
        assert!(violation.message.chars().count() < 310 && violation.message.contains("integer"));
    }
}
