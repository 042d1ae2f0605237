//! Estimates the work of a schema on a value, before the validation.
//!
//! A short schema can require exponential work: definitions that refer twice to the previous one, or alternatives that each descend again. The
//! library has no limit. So the applications of every subschema to every value are counted first. Counts are cached, so that counting stays cheap
//! even if the validation is not.

use crate::pattern::count_states;
use averment_base::limits::{FuelMeter, LimitError};
use averment_base::value::compare::with_deep_stack;
use averment_base::value::{Node, Value};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value as Json};

#[derive(Debug, Default)]
pub(super) struct SchemaWork {
    subschemas: Vec<Subschema>,
    /// True if every subschema is reached once, so that each applies at most once per value.
    plain: bool,
    /// Upper bound for the number of subschema applications to one value.
    ways: u64,
}

#[derive(Debug, Default)]
struct Subschema {
    /// Subschemas that apply to the same value.
    here: Vec<usize>,
    keys: Vec<(String, usize)>,
    members: Vec<usize>,
    names: Vec<usize>,
    items: Vec<usize>,
    own: u64,
    pattern: u64,
}

impl Subschema {
    /// Returns the maximum cost for a value of size one.
    fn work_bound(&self) -> u64 {
        self.own.saturating_add(self.pattern / 16).saturating_add(1)
    }
}

/// Cost of a schema that is unknown here, such as a meta-schema.
const UNKNOWN: u64 = 200;
/// Fuel for caching one count; also pays for its memory.
const REMEMBERED: u64 = 32;

impl SchemaWork {
    pub(super) fn from_schema(schema: &Json) -> Self {
        let mut reader =
            SchemaReader { root: schema, known: FxHashMap::default(), subschemas: Vec::new(), reached: Vec::new() };
        reader.subschema_index(schema, schema);
        let plain = reader.reached.iter().all(|reached| *reached <= 1);
        let mut ways = vec![None; reader.subschemas.len()];
        let most = (0..reader.subschemas.len()).map(|number| ways_of(&reader.subschemas, number, &mut ways)).max();
        Self { subschemas: reader.subschemas, plain, ways: most.unwrap_or(1) }
    }

    /// True if violations may copy more than `most` parts, because each failing schema keeps a copy.
    pub(super) fn exceeds_copies(&self, value: &Value<'_>, most: u64) -> bool {
        let most = most.checked_div(self.ways).unwrap_or(most);
        value_size(value, most.saturating_add(1)) > most
    }

    pub(super) fn charge_check(&self, value: &Value<'_>, meter: &mut FuelMeter) -> Result<(), LimitError> {
        let size = value_size(value, meter.fuel_left().saturating_add(1));
        let bound = size.saturating_mul(self.subschemas.iter().map(Subschema::work_bound).fold(0, u64::saturating_add));
        if self.plain && bound <= meter.fuel_left() {
            return meter.charge_fuel(size);
        }
        let mut counting = WorkCounter { work: self, known: FxHashMap::default(), meter };
        let units = counting.count_work(0, SchemaTarget::Value(value))?;
        meter.charge_fuel(units)
    }
}

/// Returns the number of applications through one subschema; recursion counts once.
fn ways_of(all: &[Subschema], number: usize, known: &mut [Option<u64>]) -> u64 {
    if let Some(Some(ways)) = known.get(number) {
        return *ways;
    }
    if let Some(place) = known.get_mut(number) {
        *place = Some(0);
    }
    let inner = all.get(number).map_or(&[][..], |one| one.here.as_slice());
    let ways = with_deep_stack(|| inner.iter().fold(1_u64, |sum, next| sum.saturating_add(ways_of(all, *next, known))));
    if let Some(place) = known.get_mut(number) {
        *place = Some(ways);
    }
    ways
}

/// Returns the approximate size: values plus texts. Capped at `most`, because computed values may repeat parts.
fn value_size(value: &Value<'_>, most: u64) -> u64 {
    let sum = |parts: &mut dyn Iterator<Item = &Value<'_>>| {
        let mut size = 1_u64;
        for part in parts {
            if size >= most {
                break;
            }
            size = size.saturating_add(self::value_size(part, most.saturating_sub(size)));
        }
        size
    };
    with_deep_stack(|| match value {
        Value::Text(text) => (text.as_str().len() as u64 / 16).saturating_add(1),
        Value::List(items) => sum(&mut items.iter().map(|item| &item.value)),
        Value::Object(object) => sum(&mut object.entries().iter().map(|entry| &entry.node.value)),
        _ => 1,
    })
}

#[derive(Clone, Copy)]
enum SchemaTarget<'a, 'run> {
    Value(&'a Value<'run>),
    Name(&'a str),
}

struct WorkCounter<'a> {
    work: &'a SchemaWork,
    /// Counts by subschema and value address; `None` while counting.
    known: FxHashMap<(usize, usize), Option<u64>>,
    meter: &'a mut FuelMeter,
}

impl WorkCounter<'_> {
    fn count_work(&mut self, number: usize, place: SchemaTarget<'_, '_>) -> Result<u64, LimitError> {
        let Some(subschema) = self.work.subschemas.get(number) else { return Ok(0) };
        let address = match place {
            SchemaTarget::Value(value) => std::ptr::from_ref(value).addr(),
            SchemaTarget::Name(name) => name.as_ptr().addr(),
        };
        match self.known.get(&(number, address)) {
            Some(Some(known)) => return Ok(*known),
            // The schema refers back to itself on the same value. The library stops there, too.
            Some(None) => return Ok(0),
            None => {}
        }
        self.meter.charge_fuel(REMEMBERED)?;
        self.known.insert((number, address), None);
        let units = with_deep_stack(|| self.count_subschema(subschema, place))?;
        self.known.insert((number, address), Some(units));
        Ok(units)
    }

    fn count_subschema(&mut self, subschema: &Subschema, place: SchemaTarget<'_, '_>) -> Result<u64, LimitError> {
        let length = match place {
            SchemaTarget::Value(Value::Text(text)) => text.as_str().len() as u64,
            SchemaTarget::Name(name) => name.len() as u64,
            SchemaTarget::Value(_) => 0,
        };
        let mut units = 1_u64
            .saturating_add(subschema.own)
            .saturating_add(length.saturating_mul(subschema.pattern.saturating_add(1)) / 64);
        for &inner in &subschema.here {
            units = units.saturating_add(self.count_work(inner, place)?);
        }
        match place {
            SchemaTarget::Value(Value::List(items)) if !subschema.items.is_empty() => {
                for item in *items {
                    units = units.saturating_add(self.count_all(&subschema.items, item)?);
                }
            }
            SchemaTarget::Value(Value::Object(object)) => {
                for entry in object.entries() {
                    units = units.saturating_add(self.count_all(&subschema.members, &entry.node)?);
                    for &inner in &subschema.names {
                        units = units.saturating_add(self.count_work(inner, SchemaTarget::Name(entry.key))?);
                    }
                }
                for (key, inner) in &subschema.keys {
                    if let Some(entry) = object.entry(key) {
                        units = units.saturating_add(self.count_work(*inner, SchemaTarget::Value(&entry.node.value))?);
                    }
                }
            }
            _ => {}
        }
        Ok(units)
    }

    fn count_all(&mut self, subschemas: &[usize], node: &Node<'_>) -> Result<u64, LimitError> {
        let mut units = 0_u64;
        for &subschema in subschemas {
            units = units.saturating_add(self.count_work(subschema, SchemaTarget::Value(&node.value))?);
        }
        Ok(units)
    }
}

struct SchemaReader<'a> {
    root: &'a Json,
    known: FxHashMap<usize, usize>,
    subschemas: Vec<Subschema>,
    reached: Vec<u32>,
}

impl<'a> SchemaReader<'a> {
    /// Returns the index of a subschema. `base` is the base of its references.
    fn subschema_index(&mut self, json: &'a Json, base: &'a Json) -> usize {
        let address = std::ptr::from_ref(json).addr();
        if let Some(&number) = self.known.get(&address) {
            if let Some(reached) = self.reached.get_mut(number) {
                *reached = reached.saturating_add(1);
            }
            return number;
        }
        let number = self.subschemas.len();
        self.known.insert(address, number);
        self.subschemas.push(Subschema::default());
        self.reached.push(1);
        let subschema = match json {
            Json::Object(keywords) => with_deep_stack(|| self.read_keywords(json, keywords, base)),
            _ => Subschema::default(),
        };
        if let Some(slot) = self.subschemas.get_mut(number) {
            *slot = subschema;
        }
        number
    }

    fn read_keywords(&mut self, json: &'a Json, keywords: &'a Map<String, Json>, base: &'a Json) -> Subschema {
        // A subschema with an id is the base of its own references.
        let base = if keywords.get("$id").is_some_and(Json::is_string) { json } else { base };
        let mut subschema = Subschema::default();
        for (keyword, value) in keywords {
            match keyword.as_str() {
                "allOf" | "anyOf" | "oneOf" => subschema.here.extend(self.read_list(value, base)),
                "not" | "if" | "then" | "else" => subschema.here.push(self.subschema_index(value, base)),
                "$ref" | "$dynamicRef" | "$recursiveRef" => match self.resolve_reference(value, base) {
                    Some((target, base)) => subschema.here.push(self.subschema_index(target, base)),
                    None => subschema.own = subschema.own.saturating_add(UNKNOWN),
                },
                "dependentSchemas" | "dependencies" => {
                    subschema.here.extend(self.read_named(value, base).into_iter().map(|(_, number)| number));
                }
                "properties" => subschema.keys.extend(self.read_named(value, base)),
                "patternProperties" => {
                    subschema.members.extend(self.read_named(value, base).into_iter().map(|(_, number)| number));
                    let patterns =
                        value.as_object().into_iter().flat_map(Map::keys).map(|pattern| count_states(pattern));
                    subschema.own = subschema.own.saturating_add(patterns.fold(0, u64::saturating_add) / 4);
                }
                "additionalProperties" | "unevaluatedProperties" => {
                    subschema.members.push(self.subschema_index(value, base))
                }
                "propertyNames" => subschema.names.push(self.subschema_index(value, base)),
                "items" if value.is_array() => subschema.items.extend(self.read_list(value, base)),
                "prefixItems" => subschema.items.extend(self.read_list(value, base)),
                "items" | "additionalItems" | "unevaluatedItems" | "contains" => {
                    subschema.items.push(self.subschema_index(value, base))
                }
                "enum" => subschema.own = subschema.own.saturating_add(value.as_array().map_or(0, Vec::len) as u64),
                "pattern" => subschema.pattern = value.as_str().map_or(0, count_states),
                _ => {}
            }
        }
        subschema
    }

    fn read_list(&mut self, value: &'a Json, base: &'a Json) -> Vec<usize> {
        value.as_array().into_iter().flatten().map(|item| self.subschema_index(item, base)).collect()
    }

    fn read_named(&mut self, value: &'a Json, base: &'a Json) -> Vec<(String, usize)> {
        let entries = value.as_object().into_iter().flatten();
        entries.map(|(key, item)| (key.clone(), self.subschema_index(item, base))).collect()
    }

    /// Returns the target of a reference, and the base of the target's references.
    fn resolve_reference(&self, reference: &Json, base: &'a Json) -> Option<(&'a Json, &'a Json)> {
        let reference = reference.as_str()?;
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = if document.is_empty() { base } else { find_by_text(self.root, &["$id", "id"], document)? };
        if fragment.is_empty() {
            return Some((base, base));
        }
        if fragment.starts_with('/') {
            let pointer = percent_encoding::percent_decode_str(fragment).decode_utf8_lossy();
            return base.pointer(&pointer).map(|target| (target, base));
        }
        find_by_text(base, &["$anchor", "$dynamicAnchor"], fragment).map(|target| (target, base))
    }
}

fn find_by_text<'a>(json: &'a Json, keys: &[&str], text: &str) -> Option<&'a Json> {
    with_deep_stack(|| match json {
        Json::Object(entries) => {
            let named = keys.iter().any(|key| entries.get(*key).and_then(Json::as_str).is_some_and(|id| id == text));
            if named { Some(json) } else { entries.values().find_map(|inner| find_by_text(inner, keys, text)) }
        }
        Json::Array(items) => items.iter().find_map(|inner| find_by_text(inner, keys, text)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::SchemaWork;
    use averment_base::limits::{FuelMeter, LimitError, Limits};
    use averment_base::value::{Value, ValueText};

    #[test]
    fn a_pattern_of_any_size_is_counted() {
        let pattern = (0..5).fold("a".to_owned(), |inner, _| format!("(?:{inner}){{0,60000}}"));
        let other = format!("b{pattern}");
        let schema =
            serde_json::json!({"patternProperties": {&pattern: {}, &other: {}}, "items": {"pattern": pattern}});
        let work = SchemaWork::from_schema(&schema);
        let text = Value::Text(ValueText::Plain("aaaa"));
        let mut meter = FuelMeter::new(&Limits::default());
        assert_eq!(work.charge_check(&text, &mut meter), Err(LimitError::Fuel));
    }
}
