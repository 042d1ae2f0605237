//! Generates a value from the keywords of a schema.

use super::super::random::CaseRandom;
use super::super::value::{LIST, keyword_count, whole_number};
use super::schema_merge::{AlternativeChoice, WORK};
use super::texts;
use serde_json::{Map, Value};

/// Maximum nesting of values.
const DEPTH: usize = 32;
/// From this depth only required values are generated, because schemas may be recursive.
const OPTIONAL: usize = 4;
/// Maximum number of values in one input.
const VALUES: usize = 10_000;

pub(super) struct ValueMaker<'a, 'r> {
    choice: AlternativeChoice<'a, 'r>,
    left: usize,
}

type SchemaKeywords = Map<String, Value>;

impl<'a, 'r> ValueMaker<'a, 'r> {
    /// Creates a generator for a whole schema; with `border`, values are as large as it allows.
    pub fn new(root: &'a Value, random: &'r mut CaseRandom, border: bool) -> Self {
        Self { choice: AlternativeChoice { root, random, border, work: WORK }, left: VALUES }
    }

    /// Returns a value described by the keywords of a schema. If they cannot be satisfied, the validator will reject it.
    pub fn make_value(&mut self, schema: &Value, depth: usize) -> Value {
        let Some(left) = self.left.checked_sub(1).filter(|_| depth < DEPTH) else { return Value::Null };
        self.left = left;
        let Some(keywords) = self.choice.merged_keywords(schema) else { return Value::Null };
        if let Some(value) = keywords.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(all)) = keywords.get("enum") {
            return self.choice.choose_one(all).cloned().unwrap_or(Value::Null);
        }
        match self.value_type(&keywords, depth).as_str() {
            "object" => self.make_object(&keywords, depth),
            "array" => self.make_array(&keywords, depth),
            "integer" => self.make_integer(&keywords),
            "number" => self.make_number(&keywords),
            "boolean" => Value::Bool(self.choice.border || self.choice.random.flip_coin()),
            "null" => Value::Null,
            _ => Value::String(texts::make_text(&keywords, self.choice.random, self.choice.border)),
        }
    }

    fn value_type(&mut self, keywords: &SchemaKeywords, depth: usize) -> String {
        let said = match keywords.get("type") {
            Some(Value::String(kind)) => Some(kind.clone()),
            Some(Value::Array(kinds)) => self.choice.choose_one(kinds).and_then(Value::as_str).map(str::to_owned),
            _ => None,
        };
        let has = |names: &[&str]| names.iter().any(|name| keywords.contains_key(*name));
        said.unwrap_or_else(|| {
            let kind = match () {
                () if depth == 0 || has(&["properties", "required", "additionalProperties"]) => "object",
                () if has(&["items", "prefixItems", "minItems", "maxItems"]) => "array",
                () if has(&["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"]) => "number",
                () => "string",
            };
            kind.to_owned()
        })
    }

    fn make_object(&mut self, keywords: &SchemaKeywords, depth: usize) -> Value {
        let none = Map::new();
        let properties = keywords.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let mut names: Vec<&str> = texts_of(keywords.get("required"));
        let mut optional: Vec<&str> = properties.keys().map(String::as_str).collect();
        optional.sort_unstable();
        for name in optional {
            if !names.contains(&name) && depth < OPTIONAL && (self.choice.border || self.choice.random.flip_coin()) {
                names.push(name);
            }
        }
        if let Some(Value::Object(dependent)) = keywords.get("dependentRequired") {
            let asked: Vec<&str> = names.iter().flat_map(|name| texts_of(dependent.get(*name))).collect();
            names.extend(asked);
        }
        names.sort_unstable();
        names.dedup();
        let other = keywords.get("additionalProperties").unwrap_or(&Value::Bool(true));
        let mut made = Map::new();
        for name in names {
            made.insert(name.to_owned(), self.make_value(properties.get(name).unwrap_or(other), depth + 1));
        }
        let least = keyword_count(keywords, "minProperties").unwrap_or(0).min(LIST);
        for number in (1_u64..).take_while(|&number| number <= least) {
            if u64::try_from(made.len()).unwrap_or(u64::MAX) >= least {
                break;
            }
            made.entry(format!("p{number}")).or_insert_with(|| self.make_value(other, depth + 1));
        }
        Value::Object(made)
    }

    fn make_array(&mut self, keywords: &SchemaKeywords, depth: usize) -> Value {
        let first: &[Value] = match keywords.get("prefixItems") {
            Some(Value::Array(first)) => first,
            _ => &[],
        };
        let items = keywords.get("items").unwrap_or(&Value::Bool(true));
        let least = keyword_count(keywords, "minItems").unwrap_or(0).min(LIST);
        let most = match items {
            Value::Bool(false) => u64::try_from(first.len()).ok(),
            _ => None,
        };
        let most = keyword_count(keywords, "maxItems").into_iter().chain(most).min().unwrap_or(8).max(least).min(LIST);
        let most = if depth < OPTIONAL { most } else { least };
        let length = if self.choice.border { most } else { self.choice.random.number_between(least, most) };
        let distinct = keywords.get("uniqueItems") == Some(&Value::Bool(true));
        let mut made = Vec::new();
        for at in 0..usize::try_from(length).unwrap_or(0) {
            let value = self.make_value(first.get(at).unwrap_or(items), depth + 1);
            let stays = !distinct || !made.contains(&value);
            made.extend(stays.then_some(value));
        }
        Value::Array(made)
    }

    fn make_integer(&mut self, keywords: &SchemaKeywords) -> Value {
        let bound = |name: &str| keywords.get(name).and_then(whole_number);
        let least =
            bound("minimum").into_iter().chain(bound("exclusiveMinimum").map(|end| end.saturating_add(1))).max();
        let most = bound("maximum").into_iter().chain(bound("exclusiveMaximum").map(|end| end.saturating_sub(1))).min();
        let first = least.unwrap_or_else(|| most.map_or(-100, |most| most.saturating_sub(200).min(-100)));
        let last = most.unwrap_or(100).max(first);
        let step = bound("multipleOf").filter(|step| *step > 0).unwrap_or(1);
        let (low, high) = (first.div_euclid(step), last.div_euclid(step));
        let low = if first.rem_euclid(step) == 0 { low } else { low.saturating_add(1) }.min(high);
        let chosen = if self.choice.border { high } else { self.choice.random.between_signed(low, high) };
        Value::from(chosen.saturating_mul(step))
    }

    fn make_number(&mut self, keywords: &SchemaKeywords) -> Value {
        let bound = |name: &str| keywords.get(name).and_then(Value::as_f64).filter(|value| value.is_finite());
        let least = bound("minimum").or(bound("exclusiveMinimum"));
        let most = bound("maximum").or(bound("exclusiveMaximum"));
        let first = least.unwrap_or_else(|| most.map_or(-100.0, |most| (most - 200.0).min(-100.0)));
        let last = most.unwrap_or(100.0).max(first);
        let share = if self.choice.border { 1.0 } else { self.choice.random.unit_share() };
        let value = (first + (last - first) * share).clamp(first, last);
        match bound("multipleOf").filter(|step| *step > 0.0) {
            Some(step) => Value::from((value / step).floor() * step),
            None => Value::from(value),
        }
    }
}

fn texts_of(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}
