//! From the normal form to a [`Run`]: the order of the steps, what can be derived from what is recorded, and what is not recorded.
//!
//! Every adapter ends here, so that a field means the same wherever a run came from.

mod agents;
mod fields;
mod order;
mod root;
mod status;
mod step;

use super::error::{Placed, ReadError};
use averment_base::value::{Node, Object, Origin, Value};
use averment_runs::normal::of_run;
use averment_runs::run::{Kind, Priced, ReadWarning, Records, Run, RunSource, Step};
use bumpalo::Bump;
use order::Ordered;
use rustc_hash::FxHashMap;
pub(crate) use status::of_word as word_status;
pub(crate) use step::records_any;

/// A run in normal form, before anything is derived.
#[derive(Debug)]
pub(crate) struct Normal<'run> {
    /// The text that all origins point into.
    pub(crate) text: &'run str,
    /// Where it was read.
    pub(crate) source: RunSource,
    /// The name of its format.
    pub(crate) format: &'static str,
    /// The object of section 11.
    pub(crate) object: Node<'run>,
    /// The order of all steps (kind, number among its kind), where the format knows it and the object has no `steps`.
    pub(crate) order: Option<GivenOrder>,
    /// How much of its text was understood.
    pub(crate) records: Records,
    /// What was odd so far.
    pub(crate) warnings: Vec<ReadWarning>,
    /// What a table of prices says of its cost.
    pub(crate) priced: Priced,
    /// A result alone says that a call went well, for want of other words.
    pub(crate) concludes_ok: bool,
    /// The format itself says in which order everything came, and what its numbers mean: it is neither the normal form nor home-grown.
    pub(crate) of_format: bool,
}

/// The order of all steps: the kind of each, and its number among the recorded ones of its kind.
pub(crate) type GivenOrder = Vec<(Kind, u32)>;

/// The steps of one kind as they are recorded.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorded<'run> {
    items: Vec<Node<'run>>,
    recorded: bool,
}

/// The steps of every kind, by [`Kind`].
pub(crate) type Lists<'run> = [Recorded<'run>; Kind::ALL.len()];

/// Builds the run.
pub(crate) fn build<'run>(normal: Normal<'run>, arena: &'run Bump) -> Result<Run<'run>, ReadError> {
    let (text, source) = (normal.text, normal.source.clone());
    Builder {
        arena,
        format: normal.format,
        of_format: normal.of_format,
        depths: FxHashMap::default(),
        records: normal.records,
        warnings: normal.warnings,
        priced: normal.priced,
        concludes_ok: normal.concludes_ok,
        derived: 0,
    }
    .run(normal.text, normal.source, normal.object, normal.order)
    .map_err(|error| ReadError::at(&source, text, error.offset, error.problem))
}

pub(crate) struct Builder<'run> {
    pub(crate) arena: &'run Bump,
    pub(crate) format: &'static str,
    pub(crate) of_format: bool,
    records: Records,
    /// How deep the agents stand that have taken over, or handed over.
    pub(crate) depths: FxHashMap<&'run str, i64>,
    pub(crate) warnings: Vec<ReadWarning>,
    priced: Priced,
    concludes_ok: bool,
    /// Bytes of what was derived of commands.
    derived: usize,
}

/// Bytes of what is derived of the commands of one run: of a command of many programs that is many times its text.
const MOST_DERIVED: usize = 256 << 20;

impl<'run> Builder<'run> {
    /// Counts what was derived since there were so many bytes.
    pub(crate) fn count_derived(&mut self, before: usize, origin: Origin) -> Result<(), Placed> {
        self.derived = self.derived.saturating_add(self.arena.allocated_bytes().saturating_sub(before));
        if self.derived > MOST_DERIVED {
            let message = format!("what the commands of the run say takes more than {} MiB", MOST_DERIVED >> 20);
            return Err(Placed::new(origin, message, "cut the run into several, or leave `commands` out"));
        }
        Ok(())
    }

    fn run(
        mut self,
        text: &'run str,
        source: RunSource,
        root: Node<'run>,
        given: Option<GivenOrder>,
    ) -> Result<Run<'run>, Placed> {
        let Value::Object(object) = root.value else {
            let found = root.value.type_name();
            return Err(Placed::new(root.origin, format!("a run is an object, found {found}"), "write `{ … }`"));
        };
        let (lists, given) = self.lists(object, given)?;
        let ordered = order::order(&lists, given, self.of_format)?;
        let steps = self.steps(&lists, &ordered)?;
        let recorded = std::array::from_fn(|kind| lists.get(kind).is_some_and(|list| list.recorded));
        if !self.of_format && step::hides_commands(&lists, steps) {
            self.warn_once(root.origin, step::HIDDEN_COMMANDS);
        }
        self.records.empty = steps.is_empty() && root::says_nothing(object, self.of_format);
        if self.records.empty {
            self.warn_once(root.origin, root::EMPTY);
        }
        let entries = root::entries(&mut self, object, recorded, steps)?;
        Ok(Run {
            text,
            source,
            format: self.format,
            concludes_ok: !self.of_format || self.concludes_ok,
            id: root::id(object)?,
            object: Object::new(self.arena, entries),
            steps,
            order: ordered.kinds,
            recorded,
            complete: root::complete(object)?,
            records: self.records,
            warnings: self.warnings,
            withheld: Vec::new(),
            priced: self.priced,
        })
    }

    /// The steps of every kind, and their common order where `steps` gives it.
    fn lists(
        &mut self,
        object: Object<'run>,
        given: Option<GivenOrder>,
    ) -> Result<(Lists<'run>, Option<GivenOrder>), Placed> {
        let mut lists: Lists<'run> = Default::default();
        for (kind, list) in Kind::ALL.into_iter().zip(&mut lists) {
            if let Some(items) = root::list(object, kind.list_key())? {
                *list = Recorded { items: items.to_vec(), recorded: true };
            }
        }
        match root::list(object, of_run::STEPS)? {
            Some(steps) => {
                let order = order::given(steps, &mut lists)?;
                for (kind, list) in Kind::ALL.into_iter().zip(&mut lists).filter(|(_, list)| list.items.is_empty()) {
                    let is_null = |node: Node<'_>| matches!(node.value, Value::Null);
                    list.recorded = !object.get(kind.list_key()).is_some_and(is_null);
                }
                Ok((lists, Some(order)))
            }
            None => Ok((lists, given)),
        }
    }

    /// The steps in their order, with all that is derived.
    fn steps(&mut self, lists: &Lists<'run>, ordered: &Ordered) -> Result<&'run [Step<'run>], Placed> {
        let evidence = step::Evidence::of(lists);
        let mut steps = bumpalo::collections::Vec::with_capacity_in(ordered.steps.len(), self.arena);
        let mut executed = 0;
        for slot in &ordered.steps {
            let Some(node) = lists.get(slot.kind as usize).and_then(|list| list.items.get(slot.recorded)) else {
                continue;
            };
            let mut step = step::step(self, slot.kind, *node, slot.index, evidence)?;
            step.call_position = executed;
            executed += u32::from(slot.kind == Kind::Call && step.status.executed());
            steps.push(step);
        }
        Ok(steps.into_bump_slice())
    }

    /// The same, unless it was said already.
    pub(crate) fn warn_once(&mut self, origin: Origin, message: &str) {
        if !self.warnings.iter().any(|known| known.message == message) {
            self.warn(origin, message.to_owned());
        }
    }

    pub(crate) fn warn(&mut self, origin: Origin, message: String) {
        // A run can hold one for every step; nobody reads more than some.
        if self.warnings.len() < 100 {
            self.warnings.push(ReadWarning {
                message,
                offset: origin.range().map_or(0, |range| range.start),
                lost: false,
            });
        }
    }
}
