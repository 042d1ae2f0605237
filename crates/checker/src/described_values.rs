//! Values that a JSON Schema of the tool catalogue describes: which fields there are and of which type.
//!
//! Only what the schema says beyond doubt is used; anything beyond (`if`, `patternProperties`, a reference that cannot be
//! followed) makes a value open, and of an open value nothing is said.

use super::ty::Ty;
use serde_json::Value;
use std::rc::Rc;

/// References followed in a row.
const HOPS: usize = 32;

/// A value described by one of some places in schemas.
#[derive(Debug, Clone, PartialEq)]
pub struct DescribedValue {
    tool: Rc<str>,
    places: Vec<SchemaPlace>,
}

#[derive(Debug, Clone, PartialEq)]
struct SchemaPlace {
    root: Rc<Value>,
    pointer: String,
}

/// What a schema says about a field.
#[derive(Debug, Clone, PartialEq)]
pub enum DescribedMember {
    Known(DescribedValue),
    Open,
    Unknown(Vec<String>),
}

impl DescribedValue {
    /// The whole schema of a tool.
    pub fn new(tool: &str, schema: Rc<Value>) -> Self {
        Self { tool: tool.into(), places: vec![SchemaPlace { root: schema, pointer: String::new() }] }
    }

    /// The tool that is spoken of.
    pub fn tool_names(&self) -> &str {
        &self.tool
    }

    /// Combines several schemas, any of which may apply; `None` if there are none.
    pub fn any_of(all: impl IntoIterator<Item = DescribedValue>) -> Option<Self> {
        let mut tools: Vec<Rc<str>> = Vec::new();
        let mut places = Vec::new();
        for one in all {
            if !tools.contains(&one.tool) {
                tools.push(one.tool);
            }
            for place in one.places {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        (!places.is_empty()).then(|| Self { tool: tools.join(" | ").into(), places })
    }

    /// The field of a name: known when one place declares it, unknown when every place leaves it out.
    pub fn field(&self, name: &str) -> DescribedMember {
        let (mut known, mut names, mut open) = (Vec::new(), Vec::new(), false);
        let places = self.expand_places();
        for place in &places {
            match place.place_field(name) {
                PlaceMember::Known(place) => known.push(place),
                PlaceMember::Open => open = true,
                PlaceMember::Unknown(more) => names.extend(more),
            }
        }
        match (open, known.is_empty()) {
            (true, _) => DescribedMember::Open,
            (false, true) => DescribedMember::Unknown(names),
            (false, false) => DescribedMember::Known(Self { tool: Rc::clone(&self.tool), places: known }),
        }
    }

    /// The elements of the list that is described, where the schema speaks of them.
    pub fn list_element(&self) -> Option<Self> {
        let places = self.expand_places();
        let elements: Vec<SchemaPlace> = places.iter().filter_map(SchemaPlace::place_element).collect();
        (!elements.is_empty() && elements.len() == places.len())
            .then_some(Self { tool: Rc::clone(&self.tool), places: elements })
    }

    /// The type that the schema names; [`Ty::Any`] where it names none or several.
    pub fn schema_type(&self) -> Ty {
        let types: Vec<Ty> = self.expand_places().iter().map(SchemaPlace::place_type).collect();
        types.into_iter().reduce(Ty::join_types).unwrap_or(Ty::Any)
    }

    fn expand_places(&self) -> Vec<SchemaPlace> {
        let mut out = Vec::new();
        for place in &self.places {
            let Some(place) = place.follow_refs() else { return vec![SchemaPlace::allow_all()] };
            match place.schema_alternatives() {
                Some(alternatives) => {
                    out.extend(
                        alternatives
                            .into_iter()
                            .map(|place| place.follow_refs().unwrap_or_else(SchemaPlace::allow_all)),
                    );
                }
                None => out.push(place),
            }
        }
        out
    }
}

enum PlaceMember {
    Known(SchemaPlace),
    Open,
    Unknown(Vec<String>),
}

impl SchemaPlace {
    fn allow_all() -> Self {
        Self { root: Rc::new(Value::Bool(true)), pointer: String::new() }
    }

    fn schema_value(&self) -> &Value {
        self.root.pointer(&self.pointer).unwrap_or(&Value::Bool(true))
    }

    fn child_place(&self, rest: &str) -> Self {
        Self { root: Rc::clone(&self.root), pointer: format!("{}{rest}", self.pointer) }
    }

    /// The place behind internal `$ref`s; `None` for an external reference or a cycle.
    fn follow_refs(&self) -> Option<Self> {
        let mut place = self.clone();
        for _ in 0..HOPS {
            let Some(reference) = place.schema_value().get("$ref").and_then(Value::as_str) else { return Some(place) };
            let pointer = reference.strip_prefix('#')?.to_owned();
            place.root.pointer(&pointer)?;
            place = Self { root: Rc::clone(&place.root), pointer };
        }
        None
    }

    /// The branches of `anyOf` or `oneOf`; `None` if the schema says anything else about fields.
    fn schema_alternatives(&self) -> Option<Vec<Self>> {
        let value = self.schema_value();
        if value.get("properties").is_some() {
            return None;
        }
        ["anyOf", "oneOf"].into_iter().find_map(|key| {
            let all = value.get(key)?.as_array()?;
            Some((0..all.len()).map(|index| self.child_place(&format!("/{key}/{index}"))).collect())
        })
    }

    fn place_field(&self, name: &str) -> PlaceMember {
        const BEYOND: [&str; 9] = [
            "allOf",
            "anyOf",
            "oneOf",
            "if",
            "patternProperties",
            "dependentSchemas",
            "$dynamicRef",
            "$recursiveRef",
            "not",
        ];
        let value = self.schema_value();
        let Some(properties) = value.get("properties").and_then(Value::as_object) else {
            return match value.get("additionalProperties") {
                Some(Value::Bool(false)) if !BEYOND.iter().any(|key| value.get(key).is_some()) => {
                    PlaceMember::Unknown(Vec::new())
                }
                _ => PlaceMember::Open,
            };
        };
        if properties.contains_key(name) {
            return PlaceMember::Known(self.child_place(&format!("/properties/{}", escape_key(name))));
        }
        let closed = match value.get("additionalProperties") {
            None | Some(Value::Bool(false)) => true,
            Some(_) => false,
        };
        if closed && !properties.is_empty() && !BEYOND.iter().any(|key| value.get(key).is_some()) {
            PlaceMember::Unknown(properties.keys().cloned().collect())
        } else {
            PlaceMember::Open
        }
    }

    fn place_element(&self) -> Option<Self> {
        let value = self.schema_value();
        (value.get("items")?.is_object() && value.get("prefixItems").is_none()).then(|| self.child_place("/items"))
    }

    fn place_type(&self) -> Ty {
        let value = self.schema_value();
        match value.get("type") {
            Some(Value::String(word)) => type_of(word),
            Some(_) => Ty::Any,
            None if value.get("properties").is_some() => Ty::Any,
            None => value
                .get("enum")
                .and_then(Value::as_array)
                .and_then(|all| all.iter().map(type_of_value).reduce(Ty::join_types))
                .or_else(|| value.get("const").map(type_of_value))
                .unwrap_or(Ty::Any),
        }
    }
}

fn type_of(word: &str) -> Ty {
    match word {
        "string" => Ty::String,
        "number" => Ty::Number,
        "integer" => Ty::Integer,
        "boolean" => Ty::Boolean,
        "array" => Ty::list_of(Ty::Any),
        "object" => Ty::Object,
        "null" => Ty::Null,
        _ => Ty::Any,
    }
}

fn type_of_value(value: &Value) -> Ty {
    match value {
        Value::Null => Ty::Null,
        Value::Bool(_) => Ty::Boolean,
        Value::Number(_) => Ty::Number,
        Value::String(_) => Ty::String,
        Value::Array(_) => Ty::list_of(Ty::Any),
        Value::Object(_) => Ty::Object,
    }
}

fn escape_key(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
