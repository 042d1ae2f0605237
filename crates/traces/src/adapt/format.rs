//! What a format of runs is: its name, how it is told from others, and how it is read.

use super::cutting::RunCutting;
use super::nodes::record_payload;
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use crate::error::PlacedError;
use averment_base::value::{Node, Object};
use averment_runs::normal::role;

/// A format of runs.
pub struct TraceFormat {
    /// Its name, as it stands in `trace show`.
    pub name: &'static str,
    /// By what it is recognised, in one clause: `trace show` says it.
    pub known_by: &'static str,
    /// What to say of it in a list of known formats.
    pub description: &'static str,
    /// An object that is a run in it has one of these keys, with a value that is not `null`. No mark: it is told by something else.
    pub(crate) marks: &'static [&'static str],
    /// The marks that nothing else has: what has one and is no run in it is nearly one. Empty where all of them are such.
    pub(super) near: &'static [&'static str],
    /// Whether an object is a run in it; asked only where it has a mark.
    pub(super) object: fn(Object<'_>) -> bool,
    /// An object that is an element or a line of a run in it has one of these keys, whatever it holds.
    pub(super) item_marks: &'static [&'static str],
    /// Whether an object is one element of a list that is a run in it.
    pub(super) element: fn(Object<'_>) -> bool,
    /// Whether an object is one line of a file that is a run in it, such as an event of a session.
    pub(super) line: fn(Object<'_>) -> bool,
    /// Whether an object that by itself says nothing, or would be another format's, is a line of a run in it beside others that are.
    pub(super) beside: fn(Object<'_>) -> bool,
    /// Whether an element or a line is a run of its own where nothing among the first ones says that they belong together.
    pub(super) alone: fn(Object<'_>) -> bool,
    /// Keys of records that may go on behind each other. All lines of many runs may have them, so that two alone are looked at.
    pub(super) repeat_marks: &'static [&'static str],
    /// Whether a record holds what the one before it held, and more: both belong to one run.
    pub(super) repeats: for<'run> fn(Object<'run>, Object<'run>) -> bool,
    /// What tells its records apart, so that those which a file holds twice are read once.
    pub(super) record_ids: RecordIds,
    pub(super) read: for<'run> fn(Node<'run>, &mut RunBuilder<'run, '_>) -> Result<(), PlacedError>,
    /// How a value that holds several runs in it is cut into them.
    pub(super) runs: &'static [RunCutting],
    /// How a run on one line is read in part.
    pub(crate) projected: LineProjection,
    /// Keys whose values say nothing of what was done, whatever they list.
    pub(crate) harmless_keys: &'static [&'static str],
    /// Roles whose words it may leave out: a run in which none of a role speaks does not record what was said in it.
    pub(super) partial_roles: &'static [&'static str],
}

/// How a run on one line is read in part, without the full reader.
pub(crate) enum LineProjection {
    /// Not at all: a line with a mark of the format is for the full reader.
    Never,
    /// As a list of messages.
    Messages(MessageLayout),
    /// As a list of calls under its names in home-grown formats, or in the normal form.
    Calls,
}

/// Where a run has its list of messages, and what beside it counts.
#[derive(Debug)]
pub(crate) struct MessageLayout {
    /// The key of the list.
    pub(crate) list: &'static str,
    /// Every element has to be a message, and calls stand in OpenAI's form: they are always recorded. Else one message is enough, and
    /// calls are recorded where something tells of them.
    pub(crate) every: bool,
    /// Whether it is such a run where a list of calls stands beside the messages, too. If not, that is the case for all but the first
    /// name that such a list has.
    pub(crate) beside_calls: bool,
    /// Keys beside which only the full reader knows all messages.
    pub(crate) in_full_beside: &'static [&'static str],
    /// Keys that tell of calls, whatever they hold.
    pub(crate) tell_of_calls: &'static [&'static str],
    /// Entries of the run that are taken as they stand where they are text.
    pub(crate) texts: &'static [&'static str],
    /// Entries of the run that the full reader puts together: always, and where the run has the key of that name.
    pub(crate) composed: &'static [&'static str],
    /// See `composed`.
    pub(crate) composed_where_there: &'static [&'static str],
}

impl MessageLayout {
    /// Whether the full reader puts an entry of the run together.
    pub(crate) fn composes_entry(&self, entry: &str, is_there: bool) -> bool {
        self.composed.contains(&entry) || is_there && self.composed_where_there.contains(&entry)
    }
}

impl TraceFormat {
    /// Whether an object with these keys may be a run in it, or an item of one.
    pub(crate) fn may_match(&self, has: impl Fn(&str) -> bool) -> bool {
        self.marks.iter().chain(self.item_marks).any(|key| has(key))
    }

    /// Whether a value is an item of a run in it.
    pub(super) fn is_item(&self, node: &Node<'_>, is: impl Fn(Object<'_>) -> bool) -> bool {
        let marks = || self.item_marks.iter().chain(self.repeat_marks);
        let marked = |object: Object<'_>| marks().any(|key| object.get(key).is_some());
        record_payload(*node).is_some_and(|object| marked(object) && is(object))
    }
}

fn never_matches(_: Object<'_>) -> bool {
    false
}

/// A format that is read in full; a row says what is special about it.
pub(super) const IN_FULL: TraceFormat = TraceFormat {
    name: "",
    known_by: "",
    description: "",
    marks: &[],
    near: &[],
    object: never_matches,
    item_marks: &[],
    element: never_matches,
    line: never_matches,
    beside: never_matches,
    alone: never_matches,
    repeat_marks: &[],
    repeats: |_, _| false,
    record_ids: RecordIds::NONE,
    read: |_, _| Ok(()),
    runs: &[],
    projected: LineProjection::Never,
    harmless_keys: &[],
    // Somebody asked for every run: where nobody did, that was not written down.
    partial_roles: &[role::USER],
};

/// So many first items of a list tell what it is.
pub(crate) const FIRST_ITEMS: usize = 50;
