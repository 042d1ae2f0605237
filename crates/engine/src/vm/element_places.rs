//! Where values stand in long lists that are asked again: in `each a: args.id in (args.id of b so far)` each list is the beginning of the next, and
//! what is there is found without looking through all of it. Where nothing is found the list is looked through.

use super::fault::Fault;
use averment_base::limits::FuelMeter;
use averment_base::value::Node;
use averment_base::value::compare::ValueKey;
use averment_base::value::weight::ValueWeights;
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// SipHash: a trace must not be able to force hash collisions.
pub(super) type ValueMap<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// Shorter lists are scanned.
const LONG: usize = 32;
/// Approximate bytes per element.
const BYTES: usize = 64;

/// Keyed by the address of a list, which is stable for the lifetime of the run.
#[derive(Debug, Default)]
pub(super) struct ElementPlaces<'run>(FxHashMap<usize, ListPlaces<'run>>);

#[derive(Debug, Default)]
struct ListPlaces<'run> {
    first: ValueMap<ValueKey<'run>, usize>,
    length: usize,
}

impl<'run> ElementPlaces<'run> {
    /// An equal element; `None` if there is none or the list is not indexed yet.
    pub(super) fn find_like(
        &mut self,
        items: &'run [Node<'run>],
        wanted: &Node<'run>,
        meter: &mut FuelMeter,
        weights: &ValueWeights,
    ) -> Result<Option<&'run Node<'run>>, Fault> {
        if items.len() < LONG {
            return Ok(None);
        }
        let beginning = items.as_ptr() as usize;
        let Some(known) = self.0.get_mut(&beginning) else {
            self.0.insert(beginning, ListPlaces::default());
            return Ok(None);
        };
        let new = items.get(known.length..).unwrap_or_default();
        meter.charge_memory(new.len().saturating_mul(BYTES))?;
        for (place, item) in (known.length..).zip(new) {
            meter.charge_fuel(weights.weight_of(item) / 64 + 1)?;
            known.first.entry(ValueKey(item.value)).or_insert(place);
        }
        known.length = known.length.max(items.len());
        meter.charge_fuel(weights.weight_of(wanted) / 64 + 1)?;
        Ok(known.first.get(&ValueKey(wanted.value)).and_then(|place| items.get(*place)))
    }
}
