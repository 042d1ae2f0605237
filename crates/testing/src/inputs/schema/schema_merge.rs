//! Merges a schema with everything that applies together with it: references, `allOf`, one of several alternatives, conditions.

use super::super::random::CaseRandom;
use serde_json::{Map, Value};

/// Maximum number of references and alternatives followed for one value.
const FOLLOWED: usize = 64;
/// Maximum number of schema values examined for one input.
pub(super) const WORK: usize = 500_000;

pub(super) struct AlternativeChoice<'a, 'r> {
    /// The whole schema, in which references are resolved.
    pub root: &'a Value,
    pub random: &'r mut CaseRandom,
    /// True to always take the first alternative.
    pub border: bool,
    /// Remaining schema values to examine.
    pub work: usize,
}

impl AlternativeChoice<'_, '_> {
    /// Returns the merged keywords that apply to a value; `None` if no value is allowed.
    pub fn merged_keywords(&mut self, schema: &Value) -> Option<Map<String, Value>> {
        let mut all = Map::new();
        let mut left = FOLLOWED;
        self.merge_schema(&mut all, schema, &mut left)?;
        Some(all)
    }

    fn merge_schema(&mut self, all: &mut Map<String, Value>, schema: &Value, left: &mut usize) -> Option<()> {
        *left = left.checked_sub(1)?;
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return None,
            _ => return Some(()),
        };
        for (name, value) in keywords {
            match (name.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    let target = self.root.pointer(&reference_pointer(reference)?)?;
                    self.merge_schema(all, target, left)?;
                }
                ("allOf", Value::Array(parts)) => {
                    parts.iter().try_for_each(|part| self.merge_schema(all, part, left))?;
                }
                ("anyOf" | "oneOf", Value::Array(parts)) => {
                    let part = self.choose_one(parts)?;
                    self.merge_schema(all, part, left)?;
                }
                ("if", condition) => self.merge_condition(all, keywords, condition, left)?,
                ("then" | "else" | "not" | "$defs" | "definitions", _) => {}
                (name, value) => {
                    self.work = self.work.checked_sub(size_of(value))?;
                    merge_keyword(all, name, value);
                }
            }
        }
        Some(())
    }

    fn merge_condition(
        &mut self,
        all: &mut Map<String, Value>,
        keywords: &Map<String, Value>,
        condition: &Value,
        left: &mut usize,
    ) -> Option<()> {
        let holds = self.border || self.random.flip_coin();
        if holds {
            self.merge_schema(all, condition, left)?;
        }
        match keywords.get(if holds { "then" } else { "else" }) {
            Some(consequence) => self.merge_schema(all, consequence, left),
            None => Some(()),
        }
    }

    /// Chooses one of several: at the border always the first.
    pub fn choose_one<'v, T>(&mut self, all: &'v [T]) -> Option<&'v T> {
        if self.border {
            return all.first();
        }
        let last = u64::try_from(all.len()).ok()?.checked_sub(1)?;
        all.get(usize::try_from(self.random.number_between(0, last)).ok()?)
    }
}

fn reference_pointer(reference: &str) -> Option<String> {
    let inside = reference.strip_prefix('#')?;
    let plain = percent_encoding::percent_decode_str(inside).decode_utf8().ok()?.into_owned();
    (plain.is_empty() || plain.starts_with('/')).then_some(plain)
}

/// Returns the number of values in a JSON value. The JSON reader bounds the depth.
fn size_of(value: &Value) -> usize {
    match value {
        Value::Array(all) => all.iter().map(size_of).fold(1, usize::saturating_add),
        Value::Object(all) => all.values().map(size_of).fold(1, usize::saturating_add),
        _ => 1,
    }
}

fn merge_keyword(all: &mut Map<String, Value>, name: &str, value: &Value) {
    let Some(known) = all.get_mut(name) else {
        all.insert(name.to_owned(), value.clone());
        return;
    };
    match (name, &mut *known, value) {
        ("properties", Value::Object(known), Value::Object(others)) => {
            for (name, other) in others {
                let both = match known.remove(name) {
                    Some(one) => serde_json::json!({"allOf": [one, other]}),
                    None => other.clone(),
                };
                known.insert(name.clone(), both);
            }
        }
        ("required", Value::Array(known), Value::Array(others)) => {
            let new: Vec<Value> = others.iter().filter(|other| !known.contains(other)).cloned().collect();
            known.extend(new);
        }
        ("enum", Value::Array(known), Value::Array(others)) => known.retain(|one| others.contains(one)),
        ("type", known, other) => {
            let both = |one: &Value, ty: &Value| one == ty || one.as_array().is_some_and(|all| all.contains(ty));
            if both(known, other) {
                *known = other.clone();
            }
        }
        (name, known, other) => {
            let (one, two) = (known.as_f64(), other.as_f64());
            let keeps = match (one, two) {
                (Some(one), Some(two)) if name.starts_with("min") || name == "exclusiveMinimum" => one >= two,
                (Some(one), Some(two)) if name.starts_with("max") || name == "exclusiveMaximum" => one <= two,
                _ => false,
            };
            if !keeps {
                *known = other.clone();
            }
        }
    }
}
