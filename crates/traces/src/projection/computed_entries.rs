//! Entries of a run that no single key of a line holds. Cost and counts of tokens are computed of several keys, by what the full reader
//! computes them with; others only the whole run tells.

use super::{RawValue, ScannedChunk};
use crate::adapt::fields::ByteSpan;
use crate::adapt::generic;
use crate::build::root::{is_negative, plain_usage};
use crate::names::{NamedPart, PartNames};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepKind;
use std::borrow::Cow;

/// True for an entry that is computed of several keys: nothing in the line is its place.
#[must_use]
pub fn is_computed_entry(entry: &str) -> bool {
    matches!(entry, of_run::COST | of_run::USAGE)
}

/// True for an entry that no line holds: only a reader of the whole run can tell it.
#[must_use]
pub fn is_composed_entry(entry: &str) -> bool {
    matches!(entry, of_run::TURNS | of_run::STEPS | of_run::PROMPT | of_run::COMPLETE)
        || StepKind::ALL.iter().any(|kind| kind.list_key() == entry)
}

/// Under which names home-grown formats have what a computed entry is made of.
pub(super) fn names_of<'n>(entry: &str, names: &'n PartNames) -> Option<&'n [Cow<'static, str>]> {
    match entry {
        of_run::COST => Some(names.names_of(NamedPart::Cost)),
        of_run::USAGE => Some(names.names_of(NamedPart::Usage)),
        _ => None,
    }
}

/// Both entries; what is not recorded is absent.
pub(super) struct ComputedEntries<'a> {
    pub(super) cost: Value<'a>,
    pub(super) usage: Value<'a>,
}

/// Where both stand in a line.
pub(super) struct ComputedSpans {
    pub(super) cost: Option<ByteSpan>,
    pub(super) usage: Option<ByteSpan>,
}

impl ComputedSpans {
    /// As the full reader has them; `None` where it has something to say of them.
    pub(super) fn read<'a>(
        &self,
        chunk: ScannedChunk<'a>,
        home_grown: Option<&[Cow<'static, str>]>,
    ) -> Option<ComputedEntries<'a>> {
        let read = |span: Option<ByteSpan>| match span {
            Some((start, end)) => {
                chunk.read_value(RawValue::Bytes(start, end)).map(|value| Some(Node::computed(value)))
            }
            None => Some(None),
        };
        let (cost, usage) = (read(self.cost)?, read(self.usage)?);
        let (cost, usage) = match home_grown {
            None => (cost, usage),
            Some(cost_names) => {
                let object = match usage.map(|usage| usage.value) {
                    None => None,
                    Some(Value::Object(object)) => Some(object),
                    // Another name may have an object.
                    Some(_) => return None,
                };
                let (cost, counts) = generic::cost_and_counts(cost, object, cost_names);
                let counts = counts.known_counts();
                let counts =
                    (!counts.is_empty()).then(|| Object::new(chunk.arena, chunk.arena.alloc_slice_copy(&counts)));
                (cost, counts.map(|counts| Node::computed(Value::Object(counts))))
            }
        };
        let cost = match cost.map(|cost| cost.value) {
            None => Value::Absent,
            Some(Value::Number(number)) if number.to_f64().is_finite() && !is_negative(Value::Number(number)) => {
                Value::Number(number)
            }
            Some(_) => return None,
        };
        let usage = match usage {
            None => Value::Absent,
            Some(usage) => plain_usage(chunk.arena, usage)?.value,
        };
        Some(ComputedEntries { cost, usage })
    }
}
