//! Groups of values of a run that are equal but for their type or their writing.

use super::near_values::are_near;
use super::timeline::ValueId;
use averment_base::near::text_appearance;
use averment_base::value::{Node, Number, Value};
use averment_builtins::other_spelling::shared_spellings;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Values of a bucket that are compared with each other.
const MOST_ALIKE: usize = 64;
/// Values inside of a list or an object that are looked at.
const MOST_INSIDE: usize = 1_000;
/// Bytes of a text that is read as JSON, or whose appearance is looked at.
const LONGEST: usize = 1 << 16;

/// For each value that is nearly another one the first of its group.
#[derive(Debug, Default)]
pub(super) struct NearGroups {
    first: FxHashMap<ValueId, ValueId>,
}

impl NearGroups {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// `None` for a value that no other is nearly equal to.
    pub(super) fn first_like(&self, id: ValueId) -> Option<ValueId> {
        self.first.get(&id).copied()
    }

    /// Only values with a common key are compared: each pair that is near has one.
    pub(super) fn of_values(nodes: &[Node<'_>]) -> Self {
        // Two numbers are equal, or none takes one for the other.
        if nodes.len() < 2 || nodes.iter().all(|node| matches!(node.value, Value::Number(_))) {
            return Self::default();
        }
        let foreign = nodes.iter().any(|node| matches!(node.value, Value::Text(text) if !text.as_str().is_ascii()));
        let mut buckets: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
        for (number, node) in (0_u32..).zip(nodes) {
            let mut keys = NearKeys { found: Vec::new(), foreign, left: MOST_INSIDE };
            keys.add_value(&node.value);
            keys.found.sort_unstable();
            keys.found.dedup();
            for key in keys.found {
                buckets.entry(key).or_default().push(number);
            }
        }
        let mut groups = Self::default();
        let mut alike: Vec<Vec<u32>> = buckets.into_values().filter(|bucket| bucket.len() > 1).collect();
        alike.sort_unstable();
        alike.dedup();
        for bucket in alike {
            let bucket = bucket.get(..MOST_ALIKE).unwrap_or(&bucket);
            for (place, one) in bucket.iter().enumerate() {
                for other in bucket.iter().skip(place + 1) {
                    let value = |number: u32| nodes.get(number as usize).map(|node| node.value);
                    if let (Some(a), Some(b)) = (value(*one), value(*other))
                        && are_near(&a, &b)
                    {
                        groups.join_values(ValueId::from_number(*one), ValueId::from_number(*other));
                    }
                }
            }
        }
        groups
    }

    fn join_values(&mut self, one: ValueId, other: ValueId) {
        let (a, b) = (self.first_like(one).unwrap_or(one), self.first_like(other).unwrap_or(other));
        let (first, second) = if a <= b { (a, b) } else { (b, a) };
        self.first.values_mut().filter(|known| **known == second).for_each(|known| *known = first);
        self.first.extend([(one, first), (other, first)]);
    }
}

struct NearKeys {
    found: Vec<u64>,
    /// Whether some text of the run has letters that may look like others.
    foreign: bool,
    left: usize,
}

impl NearKeys {
    fn add_value(&mut self, value: &Value<'_>) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        match value {
            Value::List(items) => items.iter().for_each(|item| self.add_value(&item.value)),
            Value::Object(object) => object.entries().iter().for_each(|entry| self.add_value(&entry.node.value)),
            Value::Number(number) => self.add_number(*number),
            Value::Boolean(answer) => self.add_key(&("boolean", *answer)),
            Value::Text(text) => self.add_text(text.as_str()),
            _ => {}
        }
    }

    fn add_number(&mut self, number: Number<'_>) {
        self.add_key(&number);
        for answer in [false, true] {
            if number.compare(Number::from_count(usize::from(answer))).is_eq() {
                self.add_key(&("boolean", answer));
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        let trimmed = text.trim();
        if text.len() <= LONGEST
            && let Some(()) = averment_base::value::likeness::open_text(trimmed, |value| self.add_value(value))
        {
            let packed: Vec<u8> = trimmed.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
            self.add_key(&packed);
        }
        let lower = trimmed.to_lowercase();
        if self.foreign && text.len() <= LONGEST {
            self.add_key(&text_appearance(text));
            self.add_key(&text_appearance(&lower));
        }
        if let Some(number) = Number::from_spelling(trimmed) {
            self.add_number(number);
        }
        for (answer, words) in [(true, ["true", "yes", "on", "1"]), (false, ["false", "no", "off", "0"])] {
            if words.contains(&lower.as_str()) {
                self.add_key(&("boolean", answer));
            }
        }
        self.add_key(&lower);
        // A word without signs of a path or flags has one spelling.
        if text.contains(['/', '\\', '%', '-']) {
            shared_spellings(text).iter().for_each(|spelling| self.add_key(spelling));
        }
    }

    fn add_key(&mut self, key: &impl Hash) {
        let mut hasher = FxHasher::default();
        key.hash(&mut hasher);
        self.found.push(hasher.finish());
    }
}
