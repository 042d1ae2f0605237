//! Estimates how many values a JSONPath selects, before it is evaluated.
//!
//! A path selects a value once for each way that leads to it: `$..*..*` selects every value once for each enclosing value, `$[*,*][*,*]` each four
//! times. The library builds all of these. So the ways are counted first, level by level, in time proportional to the value and the path.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use averment_base::limits::{FuelMeter, LimitError};
use averment_base::value::compare::with_deep_stack;
use serde_json::Value;

pub(super) fn charge_path(path: &str, value: &Value, meter: &mut FuelMeter) -> Result<(), LimitError> {
    let segments = parse_segments(path);
    let tree = ValueTree::from_value(value);
    let nodes = tree.nodes.len() as u64;
    meter.charge_fuel(nodes)?;
    let filter = filter_cost(path, nodes);
    let descents = segments.iter().filter(|segment| segment.deep).count();
    let several = segments.iter().any(|segment| segment.selectors.len() > 1);
    if descents <= 1 && !several {
        return meter.charge_fuel(nodes.saturating_mul(filter));
    }
    let mut ways = vec![0_u64; tree.nodes.len()];
    ways.first_mut().map(|root| *root = 1).unwrap_or_default();
    for segment in &segments {
        meter.charge_fuel(nodes)?;
        ways = tree.count_ways(segment, &ways);
        let selected = ways.iter().fold(0_u64, |sum, ways| sum.saturating_add(*ways));
        meter.charge_fuel(selected.saturating_mul(filter))?;
        // A location is a list of names and indexes.
        let place = PLACE.saturating_mul(tree.depth.saturating_add(2));
        meter.check_memory(usize::try_from(selected).unwrap_or(usize::MAX).saturating_mul(place))?;
    }
    Ok(())
}

const LONGEST: usize = 64 << 10;
/// Maximum nesting of brackets, because the library recurses and tries each bracket in several ways.
const DEEPEST: usize = 10;

pub(super) fn path_refusal(path: &str) -> Option<String> {
    if path.len() > LONGEST {
        return Some(format!("it has {} bytes, and no more than {LONGEST} are read", path.len()));
    }
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for byte in path.bytes() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) => quote = (open != byte).then_some(open),
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'[' | b'(') => depth = depth.saturating_add(1),
            (None, b']' | b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Some(format!("its brackets are nested more than {DEEPEST} deep"));
        }
    }
    None
}

const PLACE: usize = 32;

struct ValueTree<'a> {
    nodes: Vec<ValueNode<'a>>,
    depth: usize,
}

struct ValueNode<'a> {
    parent: usize,
    key: MemberKey<'a>,
}

#[derive(Clone, Copy)]
enum MemberKey<'a> {
    Root,
    Name(&'a str),
    Index(usize),
}

impl<'a> ValueTree<'a> {
    fn from_value(value: &'a Value) -> Self {
        let mut tree = Self { nodes: vec![ValueNode { parent: 0, key: MemberKey::Root }], depth: 0 };
        tree.add_value(value, 0, 1);
        tree
    }

    fn add_value(&mut self, value: &'a Value, at: usize, depth: usize) {
        let child = |tree: &mut Self, key, inner| {
            let here = tree.nodes.len();
            tree.nodes.push(ValueNode { parent: at, key });
            tree.depth = tree.depth.max(depth);
            with_deep_stack(|| tree.add_value(inner, here, depth.saturating_add(1)));
        };
        match value {
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, inner)| child(self, MemberKey::Index(index), inner));
            }
            Value::Object(object) => object.iter().for_each(|(name, inner)| child(self, MemberKey::Name(name), inner)),
            _ => {}
        }
    }

    fn count_ways(&self, segment: &JsonPathSegment, ways: &[u64]) -> Vec<u64> {
        let mut from = ways.to_vec();
        if segment.deep {
            for at in 1..self.nodes.len() {
                let above = self.nodes.get(at).and_then(|node| from.get(node.parent)).copied().unwrap_or(0);
                if let Some(here) = from.get_mut(at) {
                    *here = here.saturating_add(above);
                }
            }
        }
        let to = |node: &ValueNode<'_>| match node.key {
            MemberKey::Root => 0,
            key => from.get(node.parent).copied().unwrap_or(0).saturating_mul(segment.count_selected(key)),
        };
        self.nodes.iter().map(to).collect()
    }
}

struct JsonPathSegment {
    deep: bool,
    selectors: Vec<SegmentSelector>,
}

/// A selector. `Any` also stands for selectors that need no exact count.
enum SegmentSelector {
    Name(String),
    Index(usize),
    Any,
}

impl JsonPathSegment {
    fn count_selected(&self, key: MemberKey<'_>) -> u64 {
        let hits = |selector: &&SegmentSelector| match (selector, key) {
            (SegmentSelector::Name(wanted), MemberKey::Name(name)) => wanted == name,
            (SegmentSelector::Index(wanted), MemberKey::Index(index)) => *wanted == index,
            (SegmentSelector::Any, _) => true,
            _ => false,
        };
        self.selectors.iter().filter(hits).count() as u64
    }
}

fn parse_segments(path: &str) -> Vec<JsonPathSegment> {
    let mut segments = Vec::new();
    let mut rest = path.trim_start().strip_prefix('$').unwrap_or(path);
    loop {
        rest = rest.trim_start();
        let deep = rest.starts_with("..");
        rest = rest.trim_start_matches('.');
        let (selectors, behind) = match rest.strip_prefix('[') {
            Some(inside) => parse_bracket(inside),
            None => {
                let end = rest.find(['.', '[', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
                let (name, behind) = rest.split_at(end);
                if name.is_empty() {
                    return segments;
                }
                (vec![if name == "*" { SegmentSelector::Any } else { SegmentSelector::Name(name.to_owned()) }], behind)
            }
        };
        segments.push(JsonPathSegment { deep, selectors });
        rest = behind;
    }
}

fn parse_bracket(inside: &str) -> (Vec<SegmentSelector>, &str) {
    let (mut depth, mut quote, mut from) = (0_usize, None, 0);
    let mut selectors = Vec::new();
    let mut escaped = false;
    for (at, byte) in inside.bytes().enumerate() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) => quote = (open != byte).then_some(open),
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'[' | b'(') => depth = depth.saturating_add(1),
            (None, b']') if depth == 0 => {
                selectors.push(parse_selector(inside.get(from..at).unwrap_or_default()));
                return (selectors, inside.get(at.saturating_add(1)..).unwrap_or_default());
            }
            (None, b']' | b')') => depth = depth.saturating_sub(1),
            (None, b',') if depth == 0 => {
                selectors.push(parse_selector(inside.get(from..at).unwrap_or_default()));
                from = at.saturating_add(1);
            }
            _ => {}
        }
    }
    (selectors, "")
}

fn parse_selector(text: &str) -> SegmentSelector {
    let text = text.trim();
    let quoted = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    match (quoted, text.parse()) {
        (Some(name), _) if !name.contains('\\') => SegmentSelector::Name(name.to_owned()),
        (None, Ok(index)) => SegmentSelector::Index(index),
        _ => SegmentSelector::Any,
    }
}

/// Returns the cost of filters for each value. A filter may visit the whole document, and each regular expression is recompiled.
fn filter_cost(path: &str, nodes: u64) -> u64 {
    let behind = path.split_once('?').map_or("", |(_, rest)| rest);
    let wide = ["..", "*", "$"].iter().map(|sign| behind.matches(sign).count()).sum::<usize>();
    let patterns = behind.matches("match(").count().saturating_add(behind.matches("search(").count());
    let inner = nodes.saturating_pow(u32::try_from(wide).unwrap_or(u32::MAX).min(8));
    inner.saturating_mul((patterns as u64).saturating_mul(500).saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use averment_base::limits::Limits;

    fn used(path: &str, value: &str) -> Result<u64, LimitError> {
        let mut meter = FuelMeter::new(&Limits::default());
        charge_path(path, &serde_json::from_str(value).unwrap(), &mut meter)?;
        Ok(Limits::default().fuel - meter.fuel_left())
    }

    #[test]
    fn plain_paths_cost_what_the_value_is_large() {
        for path in ["$", "$.a", "$['a'][0]", "$..a", "$..a[0].b", "$.a[?@.b > 1]"] {
            assert!(used(path, r#"{"a":[{"b":1},{"b":2}]}"#).unwrap() < 20, "{path}");
        }
    }

    #[test]
    fn ways_multiply() {
        let nested = format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100));
        assert!(used("$..a..a", &nested).unwrap() > 4_000);
        assert!(used("$..*..*..*..*", &nested).is_err());
        assert!(used("$..a..a..a..a", &nested).is_err());
        assert!(used("$..b..a..a..a", &nested).is_ok(), "nothing is called b");
        assert!(used(&format!("${}", "[*,*,*,*]".repeat(20)), &nested).is_err());
        assert!(used(&format!("${}", "['a','b']".repeat(20)), &nested).is_ok());
    }
}
