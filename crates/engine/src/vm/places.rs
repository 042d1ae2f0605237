//! Where values stand in long lists that are asked again: in `each a: args.id in (args.id of b so far)` each list is the beginning of the next, and
//! what is there is found without looking through all of it. Where nothing is found the list is looked through.

use super::fault::Fault;
use super::machine::Machine;
use super::selections::ByValue;
use averment_base::value::Node;
use averment_base::value::compare::Key;
use rustc_hash::FxHashMap;

/// Shorter lists are looked through.
const LONG: usize = 32;
/// Bytes that an element takes, about.
const BYTES: usize = 64;

/// The places of the elements of lists, by where the lists begin in memory. What lives as long as the run stays there.
#[derive(Debug, Default)]
pub(super) struct Places<'run>(FxHashMap<usize, Known<'run>>);

/// The first place of each value of a list, as far as it was asked for.
#[derive(Debug, Default)]
struct Known<'run> {
    first: ByValue<Key<'run>, usize>,
    length: usize,
}

impl<'run> Machine<'run> {
    /// An element that is equal to a value; `None` where there is none, or nobody knows yet.
    pub(super) fn element_like(
        &mut self,
        items: &'run [Node<'run>],
        wanted: &Node<'run>,
    ) -> Result<Option<&'run Node<'run>>, Fault> {
        if items.len() < LONG {
            return Ok(None);
        }
        let beginning = items.as_ptr() as usize;
        let Some(known) = self.places.0.get_mut(&beginning) else {
            self.places.0.insert(beginning, Known::default());
            return Ok(None);
        };
        let new = items.get(known.length..).unwrap_or_default();
        self.meter.allocate(new.len().saturating_mul(BYTES))?;
        for (place, item) in (known.length..).zip(new) {
            self.meter.charge(self.cache.weights.of(item) / 64 + 1)?;
            known.first.entry(Key(item.value)).or_insert(place);
        }
        known.length = known.length.max(items.len());
        self.meter.charge(self.cache.weights.of(wanted) / 64 + 1)?;
        Ok(known.first.get(&Key(wanted.value)).and_then(|place| items.get(*place)))
    }
}
