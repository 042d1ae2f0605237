//! The formats of runs: one file each, and the [`registry`] that tells them apart by their content.
//!
//! A format is a file and a row in [`FORMATS`]; it imports neither this module nor the registry. The file holds its name and description, how it is told from others, its tables
//! of fields ([`fields`]) and what is special about it. A format brings what it records into the normal form and says nothing that it
//! does not record; what follows from what is recorded is derived in one place, `trace::build`.
//!
//! A line of a file may also be read in part, by a projection. A format whose rows say nothing of that is read in full; its marks keep
//! the projection from taking it for another.

mod adk;
pub(crate) mod api;
mod as_skillgym;
mod assay;
mod atif;
pub(crate) mod batch;
mod blocks;
pub(crate) mod calls;
mod chunks;
pub(crate) mod claude_code;
mod codex;
pub(crate) mod content;
mod copilot;
mod cursor;
pub(crate) mod cutting;
mod deepeval;
pub(crate) mod draft;
mod evalview;
pub(crate) mod fields;
pub(crate) mod format;
mod gemini;
pub(crate) mod generic;
mod handovers;
mod in_text;
pub(crate) mod inspect;
mod langchain;
mod langfuse;
mod langsmith;
mod managed;
mod mcp;
pub(crate) mod messages;
mod mini_swe;
pub(crate) mod native;
mod near;
pub(crate) mod nodes;
mod openai_agents;
pub(crate) mod openai_chat;
mod opencode;
mod openhands;
pub(crate) mod otel;
mod owasp;
pub(crate) mod printed;
pub(crate) mod registry;
mod run_state;
mod runsight;
mod skillgym;
pub(crate) mod spans;
mod stop;
mod swe_agent;
mod talk;
mod tau2;
pub(crate) mod tau_bench;
#[cfg(test)]
pub(crate) mod tests;
mod tools;

use crate::build::Normal;
use crate::error::Placed;
use crate::names::Names;
use crate::prices::Spending;
use averment_base::limits::Limits;
use averment_base::value::{Node, Value};
use averment_runs::run::{ReadWarning, Records, RunSource};
use bumpalo::Bump;
use draft::Draft;
use fields::{Parsed, Record, TableRow, first, value_of};
#[cfg(test)]
pub(crate) use openai_chat::{OfChoice, OfExchange};
use records::are_mostly;
pub(crate) use records::{is_element_of_one_run, is_line_of_session, is_told};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;
#[cfg(test)]
pub(crate) use tau_bench::OfResult;

/// A format of runs.
pub struct Format {
    /// Its name, as it stands in `trace show`.
    pub name: &'static str,
    /// By what it is recognised, in one clause: `trace show` says it.
    pub known_by: &'static str,
    /// What to say of it in a list of known formats.
    pub description: &'static str,
    /// An object that is a run in it has one of these keys, with a value that is not `null`. No mark: it is told by something else.
    pub(crate) marks: &'static [&'static str],
    /// The marks that nothing else has: what has one and is no run in it is nearly one. Empty where all of them are such.
    near: &'static [&'static str],
    /// Whether an object is a run in it; asked only where it has a mark.
    object: fn(Object<'_>) -> bool,
    /// An object that is an element or a line of a run in it has one of these keys, whatever it holds.
    item_marks: &'static [&'static str],
    /// Whether an object is one element of a list that is a run in it.
    element: fn(Object<'_>) -> bool,
    /// Whether an object is one line of a file that is a run in it, such as an event of a session.
    line: fn(Object<'_>) -> bool,
    /// Whether an element or a line is a run of its own where nothing among the first ones says that they belong together.
    alone: fn(Object<'_>) -> bool,
    read: for<'run> fn(Node<'run>, &mut Draft<'run, '_>) -> Result<(), Placed>,
    /// How a value that holds several runs in it is cut into them.
    runs: &'static [Cutting],
    /// How a run on one line is read in part.
    pub(crate) projected: Projected,
}

/// How a run on one line is read in part, without the full reader.
pub(crate) enum Projected {
    /// Not at all: a line with a mark of the format is for the full reader.
    Never,
    /// As a list of messages.
    Messages(InMessages),
    /// As a list of calls under its names in home-grown formats, or in the normal form.
    Calls,
}

/// Where a run has its list of messages, and what beside it counts.
#[derive(Debug)]
pub(crate) struct InMessages {
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

impl InMessages {
    /// Whether the full reader puts an entry of the run together.
    pub(crate) fn composes(&self, entry: &str, is_there: bool) -> bool {
        self.composed.contains(&entry) || is_there && self.composed_where_there.contains(&entry)
    }
}

impl Format {
    /// Whether an object with these keys may be a run in it, or an item of one.
    pub(crate) fn may_know(&self, has: impl Fn(&str) -> bool) -> bool {
        self.marks.iter().chain(self.item_marks).any(|key| has(key))
    }

    /// Whether a value is an item of a run in it.
    fn is_item(&self, node: &Node<'_>, is: impl Fn(Object<'_>) -> bool) -> bool {
        let marked = |object: Object<'_>| self.item_marks.iter().any(|key| object.get(key).is_some());
        payload(*node).is_some_and(|object| marked(object) && is(object))
    }
}

/// The object that a record is, or holds behind the name of what was called.
fn payload(node: Node<'_>) -> Option<Object<'_>> {
    match node.value {
        Value::Object(object) => Some(object),
        Value::List([name, payload]) => text(*name).and_then(|_| object(*payload)),
        _ => None,
    }
}

fn never(_: Object<'_>) -> bool {
    false
}

/// A format that is read in full; a row says what is special about it.
const IN_FULL: Format = Format {
    name: "",
    known_by: "",
    description: "",
    marks: &[],
    near: &[],
    object: never,
    item_marks: &[],
    element: never,
    line: never,
    alone: never,
    read: |_, _| Ok(()),
    runs: &[],
    projected: Projected::Never,
};

/// The items of a run: the elements of a list, the list that an object holds under a key, or the object itself.
fn items_of<'run, F: TableRow>(root: &'run Node<'run>, keys: &[F]) -> &'run [Node<'run>] {
    match root.value {
        Value::List(items) => items,
        Value::Object(object) => {
            keys.iter().find_map(|key| list_of(object, *key)).unwrap_or(std::slice::from_ref(root))
        }
        _ => &[],
    }
}

/// All formats. The first one that knows a value is taken: the more particular ones come first.
pub static FORMATS: [Format; 43] = [
    stop::FORMAT,
    langfuse::FORMAT,
    langsmith::FORMAT,
    openai_agents::FORMAT,
    deepeval::FORMAT,
    otel::OPEN_INFERENCE,
    otel::FORMAT,
    cursor::FORMAT,
    claude_code::FORMAT,
    tau_bench::FORMAT,
    codex::FORMAT,
    codex::exec::FORMAT,
    gemini::FORMAT,
    gemini::STREAM,
    copilot::FORMAT,
    openhands::FORMAT,
    adk::FORMAT,
    adk::eval::RESULTS,
    adk::eval::SET,
    langchain::FORMAT,
    run_state::FORMAT,
    inspect::FORMAT,
    atif::FORMAT,
    swe_agent::FORMAT,
    mini_swe::FORMAT,
    tau2::FORMAT,
    managed::FORMAT,
    opencode::FORMAT,
    evalview::FORMAT,
    runsight::FORMAT,
    owasp::FORMAT,
    assay::FORMAT,
    assay::EVENTS,
    assay::CALLS,
    skillgym::FORMAT,
    mcp::FORMAT,
    batch::FORMAT,
    chunks::FORMAT,
    api::responses::FORMAT,
    api::anthropic::FORMAT,
    openai_chat::FORMAT,
    generic::FORMAT,
    native::FORMAT,
];

/// The ways in which values are cut into runs, each with its format.
pub(crate) fn cuttings() -> impl Iterator<Item = (&'static Format, &'static Cutting)> {
    FORMATS.iter().flat_map(|format| format.runs.iter().map(move |cutting| (format, cutting)))
}

/// Whether an object with these keys may be a line of a file that is one run.
pub(crate) fn may_be_line(has: impl Fn(&str) -> bool) -> bool {
    FORMATS.iter().any(|format| format.item_marks.iter().any(|key| has(key)))
}

/// So many first items of a list tell what it is.
pub(crate) const FIRST_ITEMS: usize = 50;

/// The keys of lines that could belong to a format which is looked for before this one.
pub(crate) fn item_marks_before(format: &Format) -> impl Iterator<Item = &'static str> {
    let before = FORMATS.iter().take_while(|other| other.name != format.name);
    before.flat_map(|format| format.item_marks.iter().copied())
}

/// Which formats have a mark, as bits by their places in the table, and which of them have none at all.
struct Marks {
    of: FxHashMap<&'static str, u64>,
    unmarked: u64,
}

static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    const { assert!(FORMATS.len() <= 64, "there is a bit for each format") }
    let mut marks = Marks { of: FxHashMap::default(), unmarked: 0 };
    for (format, bit) in FORMATS.iter().zip((0..64).map(|place| 1 << place)) {
        marks.unmarked |= if format.marks.is_empty() { bit } else { 0 };
        for mark in format.marks {
            *marks.of.entry(mark).or_default() |= bit;
        }
    }
    marks
});

/// The formats of which an object has a mark, and those that have none, in the order of the table.
fn of_marks(object: Object<'_>) -> impl Iterator<Item = &'static Format> {
    let marked = object.entries().iter().filter(|entry| !matches!(entry.node.value, Value::Null));
    let bits = marked.fold(MARKS.unmarked, |bits, entry| bits | MARKS.of.get(entry.key).copied().unwrap_or(0));
    FORMATS.iter().enumerate().filter(move |(place, _)| bits >> place & 1 == 1).map(|(_, format)| format)
}

/// The format of a value: of an object, or of a list by its first elements.
#[must_use]
pub fn detect(node: &Node<'_>) -> Option<&'static Format> {
    match node.value {
        Value::Object(object) => of_marks(object).find(|format| (format.object)(object)),
        Value::List(items) => detect_items(items.get(..FIRST_ITEMS).unwrap_or(items)),
        _ => None,
    }
}

/// One item of so many may be written alike in two formats.
const MANY: usize = 8;

/// The format of a list: the first one that knows some of its items, unless that knows next to none of many and another nearly all.
fn detect_items(items: &[Node<'_>]) -> Option<&'static Format> {
    let known = |format: &Format| {
        let is = |item: &&Node<'_>| format.is_item(item, format.element) || format.is_item(item, format.line);
        items.iter().filter(is).count()
    };
    let first = FORMATS.iter().map(|format| (format, known(format))).find(|(_, count)| *count > 0)?;
    if items.len() < MANY || first.1 * MANY >= items.len() {
        return Some(first.0);
    }
    let others = FORMATS.iter().map(|format| (format, known(format)));
    let most = others.max_by(|a, b| a.1.cmp(&b.1).then(std::cmp::Ordering::Greater))?;
    Some(if most.1 * 4 >= items.len() * 3 { most.0 } else { first.0 })
}

/// What a run is read from.
pub(crate) struct From<'run> {
    /// What its text holds.
    pub(crate) root: Node<'run>,
    /// Its text.
    pub(crate) text: &'run str,
    /// Where that stands.
    pub(crate) source: RunSource,
    /// Records that were passed over so far.
    pub(crate) records: Records,
    /// What was odd so far.
    pub(crate) warnings: Vec<ReadWarning>,
}

/// Brings a value of any known format into the normal form.
pub(crate) fn normal<'run>(
    from: From<'run>,
    arena: &'run Bump,
    limits: &Limits,
    names: Option<&Names>,
    as_skillgym: bool,
) -> Result<(Normal<'run>, Spending<'run>), Placed> {
    let root = in_text::unpacked(from.root, &from.source, arena, limits)?;
    let From { text, source, records, warnings, .. } = from;
    if let (Some(names), Value::Object(object)) = (names, root.value)
        && generic::is_run(object, names)
    {
        let mut draft = Draft::new(arena, limits, records, warnings);
        generic::read_under(root, &mut draft, names);
        return Ok(draft.finish(text, source, MAPPED, root.origin));
    }
    let Some(format) = detect(&root) else { return Err(unknown(&root, names)) };
    if format.name == native::FORMAT.name {
        return Ok((native::normal(root, text, source, warnings), Spending::default()));
    }
    let mut draft = Draft::new(arena, limits, records, warnings);
    let read = as_skillgym.then(|| as_skillgym::read(format, root, text, &mut draft)).flatten();
    read.unwrap_or_else(|| (format.read)(root, &mut draft))?;
    Ok(draft.finish(text, source, format.name, root.origin))
}

/// The name of the format that `--map` describes.
pub(crate) const MAPPED: &str = "format of --map";

/// Why names do not fit a run, in one sentence.
pub(super) fn unfit(root: &Node<'_>, names: &Names) -> Option<String> {
    let Value::Object(object) = root.value else { return None };
    let (message, help) = generic::why_not(object, names);
    Some(format!("{message} ({help})"))
}

fn unknown(root: &Node<'_>, names: Option<&Names>) -> Placed {
    let Value::Object(object) = root.value else {
        let found = root.value.type_name();
        let message = format!("a run is an object, found {found}");
        return Placed::new(root.origin, message, "write `{ \"calls\": […], \"output\": … }`").no_trace();
    };
    if let Some((message, help)) = names.map(|names| generic::why_not(object, names)) {
        return Placed::new(root.origin, message, help);
    }
    let keys: Vec<_> = object.entries().iter().map(|entry| entry.key).collect();
    near::why_not(root.origin, object, &keys)
}

/// The text that a node is.
pub(crate) fn text(node: Node<'_>) -> Option<&str> {
    match node.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}

/// The object that a node is.
pub(crate) fn object(node: Node<'_>) -> Option<Object<'_>> {
    match node.value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// The list that a node is.
fn list(node: Node<'_>) -> Option<&[Node<'_>]> {
    match node.value {
        Value::List(items) => Some(items),
        _ => None,
    }
}

/// The text of a field.
fn text_of<F: TableRow>(object: Object<'_>, field: F) -> Option<&str> {
    object.field(field).and_then(text)
}

/// The object in a field.
fn object_of<F: TableRow>(object: Object<'_>, field: F) -> Option<Object<'_>> {
    object.field(field).and_then(self::object)
}

/// The list in a field.
fn list_of<F: TableRow>(object: Object<'_>, field: F) -> Option<&[Node<'_>]> {
    object.field(field).and_then(list)
}

/// The first of several fields that is there and not `null`.
fn first_of<'run, F: TableRow>(object: Object<'run>, fields: &[F]) -> Option<Node<'run>> {
    first(&object, &Parsed, fields)
}

/// The objects of a list; others are passed over.
fn objects<'run>(items: &'run [Node<'run>]) -> impl Iterator<Item = (Node<'run>, Object<'run>)> {
    items.iter().filter_map(|node| Some((*node, object(*node)?)))
}
