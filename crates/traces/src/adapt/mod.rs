//! The formats of runs: one file each, and the table that tells them apart by their content.
//!
//! A format is added by a file and a row in [`FORMATS`]. The file holds its name and description, how it is told from others, its tables
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
mod conversation;
mod copilot;
mod cursor;
pub(crate) mod cutting;
mod deepeval;
mod embedded_run;
mod evalview;
pub(crate) mod fields;
mod gemini;
pub(crate) mod generic;
mod handovers;
pub(crate) mod inspect;
mod langchain;
mod langfuse;
mod langsmith;
mod managed;
mod mcp;
pub(crate) mod messages;
mod mini_swe;
pub(crate) mod native;
mod near_miss;
mod openai_agents;
mod openai_chat;
mod opencode;
mod openhands;
pub(crate) mod otel;
mod owasp;
pub(crate) mod printed_messages;
mod records;
pub(crate) mod run_builder;
mod run_state;
mod runsight;
mod skillgym;
pub(crate) mod spans;
mod stop;
mod swe_agent;
mod tau2;
mod tau_bench;
#[cfg(test)]
mod tests;
mod tools;

use super::build::NormalRun;
use super::error::PlacedError;
use super::names::PartNames;
use super::prices::ModelSpending;
use averment_base::limits::Limits;
use averment_base::value::{Node, Object, Value};
use averment_runs::run::{ReadWarning, RecordCounts, RunSource};
use bumpalo::Bump;
use cutting::RunCutting;
use fields::{FieldRecord, FieldRow, NodeShapes, first_field};
#[cfg(test)]
pub(crate) use openai_chat::{ChatExchangeKey, ChoiceKey};
use records::are_mostly;
pub(crate) use records::{is_element_of_one_run, is_known_run, is_line_of_session};
use run_builder::RunBuilder;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;
#[cfg(test)]
pub(crate) use tau_bench::TauBenchKey;

/// A format of runs.
pub struct TraceFormat {
    /// Its name, as it stands in `trace show`.
    pub name: &'static str,
    /// By what it is recognised, in one clause: `trace show` says it.
    pub known_by: &'static str,
    /// Its description in a list of known formats.
    pub description: &'static str,
    /// A run has one of these keys, not `null`. Empty: detected in another way.
    pub(crate) marks: &'static [&'static str],
    /// Marks unique to this format: an object with one that is no run is nearly one. Empty: all are.
    near: &'static [&'static str],
    /// Called only for objects with a mark.
    object: fn(Object<'_>) -> bool,
    /// Keys of which an element or line has one, whatever its value.
    item_marks: &'static [&'static str],
    element: fn(Object<'_>) -> bool,
    /// True for one line of a run, such as a session event.
    line: fn(Object<'_>) -> bool,
    /// True if an item is its own run unless the first ones say that they belong together.
    alone: fn(Object<'_>) -> bool,
    read: for<'run> fn(Node<'run>, &mut RunBuilder<'run, '_>) -> Result<(), PlacedError>,
    runs: &'static [RunCutting],
    pub(crate) projected: LineProjection,
}

/// How a single-line run is read without the full reader.
pub(crate) enum LineProjection {
    /// Lines with a mark of the format go to the full reader.
    Never,
    Messages(MessageLayout),
    /// A list of calls, in a home-grown format or in normal form.
    Calls,
}

#[derive(Debug)]
pub(crate) struct MessageLayout {
    pub(crate) list: &'static str,
    /// Every element must be a message with OpenAI calls, always recorded; else one is enough and calls need a sign.
    pub(crate) every: bool,
    /// True if it also applies beside a list of calls; else only beside the first such name.
    pub(crate) beside_calls: bool,
    /// Keys beside which only the full reader knows all messages.
    pub(crate) in_full_beside: &'static [&'static str],
    /// Keys that indicate calls, whatever they hold.
    pub(crate) tell_of_calls: &'static [&'static str],
    /// Entries that are taken as they are if they are text.
    pub(crate) texts: &'static [&'static str],
    /// Entries composed by the full reader: always, and if the key is present.
    pub(crate) composed: &'static [&'static str],
    /// See `composed`.
    pub(crate) composed_where_there: &'static [&'static str],
}

impl MessageLayout {
    pub(crate) fn composes_entry(&self, entry: &str, is_there: bool) -> bool {
        self.composed.contains(&entry) || is_there && self.composed_where_there.contains(&entry)
    }
}

impl TraceFormat {
    pub(crate) fn may_match(&self, has: impl Fn(&str) -> bool) -> bool {
        self.marks.iter().chain(self.item_marks).any(|key| has(key))
    }

    fn is_item(&self, node: &Node<'_>, is: impl Fn(Object<'_>) -> bool) -> bool {
        let marked = |object: Object<'_>| self.item_marks.iter().any(|key| object.get(key).is_some());
        record_payload(*node).is_some_and(|object| marked(object) && is(object))
    }
}

/// The record itself, or what it holds behind the called name.
fn record_payload(node: Node<'_>) -> Option<Object<'_>> {
    match node.value {
        Value::Object(object) => Some(object),
        Value::List([name, payload]) => node_text(*name).and_then(|_| node_object(*payload)),
        _ => None,
    }
}

fn never_matches(_: Object<'_>) -> bool {
    false
}

/// Read in full; a row overrides what is special.
const IN_FULL: TraceFormat = TraceFormat {
    name: "",
    known_by: "",
    description: "",
    marks: &[],
    near: &[],
    object: never_matches,
    item_marks: &[],
    element: never_matches,
    line: never_matches,
    alone: never_matches,
    read: |_, _| Ok(()),
    runs: &[],
    projected: LineProjection::Never,
};

/// A list's elements, the list under a key, or the object itself.
fn items_of<'run, F: FieldRow>(root: &'run Node<'run>, keys: &[F]) -> &'run [Node<'run>] {
    match root.value {
        Value::List(items) => items,
        Value::Object(object) => {
            keys.iter().find_map(|key| list_of(object, *key)).unwrap_or(std::slice::from_ref(root))
        }
        _ => &[],
    }
}

/// All formats. The first one that knows a value is taken: the more particular ones come first.
pub static FORMATS: [TraceFormat; 43] = [
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

pub(crate) fn all_cuttings() -> impl Iterator<Item = (&'static TraceFormat, &'static RunCutting)> {
    FORMATS.iter().flat_map(|format| format.runs.iter().map(move |cutting| (format, cutting)))
}

pub(crate) fn may_be_line(has: impl Fn(&str) -> bool) -> bool {
    FORMATS.iter().any(|format| format.item_marks.iter().any(|key| has(key)))
}

/// Items examined to detect the format of a list.
pub(crate) const FIRST_ITEMS: usize = 50;

/// Item keys of formats that are detected before this one.
pub(crate) fn item_marks_before(format: &TraceFormat) -> impl Iterator<Item = &'static str> {
    let before = FORMATS.iter().take_while(|other| other.name != format.name);
    before.flat_map(|format| format.item_marks.iter().copied())
}

/// Bits of formats per mark, and formats without any mark.
struct MarkIndex {
    by_mark: FxHashMap<&'static str, u64>,
    unmarked: u64,
}

static MARKS: LazyLock<MarkIndex> = LazyLock::new(|| {
    const { assert!(FORMATS.len() <= 64, "there is a bit for each format") }
    let mut marks = MarkIndex { by_mark: FxHashMap::default(), unmarked: 0 };
    for (format, bit) in FORMATS.iter().zip((0..64).map(|place| 1 << place)) {
        marks.unmarked |= if format.marks.is_empty() { bit } else { 0 };
        for mark in format.marks {
            *marks.by_mark.entry(mark).or_default() |= bit;
        }
    }
    marks
});

/// Formats with a mark of the object, and those without marks, in table order.
fn formats_with_marks(object: Object<'_>) -> impl Iterator<Item = &'static TraceFormat> {
    let marked = object.entries().iter().filter(|entry| !matches!(entry.node.value, Value::Null));
    let bits = marked.fold(MARKS.unmarked, |bits, entry| bits | MARKS.by_mark.get(entry.key).copied().unwrap_or(0));
    FORMATS.iter().enumerate().filter(move |(place, _)| bits >> place & 1 == 1).map(|(_, format)| format)
}

/// The format of a value: of an object, or of a list by its first elements.
#[must_use]
pub fn detect_format(node: &Node<'_>) -> Option<&'static TraceFormat> {
    match node.value {
        Value::Object(object) => formats_with_marks(object).find(|format| (format.object)(object)),
        Value::List(items) => detect_items(items.get(..FIRST_ITEMS).unwrap_or(items)),
        _ => None,
    }
}

/// One item in this many may look alike in two formats.
const MANY: usize = 8;

/// The first format that knows items, unless it knows few of many and another nearly all.
fn detect_items(items: &[Node<'_>]) -> Option<&'static TraceFormat> {
    let known = |format: &TraceFormat| {
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

pub(crate) struct RawDocument<'run> {
    pub(crate) root: Node<'run>,
    pub(crate) text: &'run str,
    pub(crate) source: RunSource,
    /// Skipped records so far.
    pub(crate) records: RecordCounts,
    pub(crate) warnings: Vec<ReadWarning>,
}

pub(crate) fn normalize_run<'run>(
    from: RawDocument<'run>,
    arena: &'run Bump,
    limits: &Limits,
    names: Option<&PartNames>,
    as_skillgym: bool,
) -> Result<(NormalRun<'run>, ModelSpending<'run>), PlacedError> {
    let root = embedded_run::unpack_text(&from, arena, limits)?;
    let RawDocument { text, source, records, warnings, .. } = from;
    if let (Some(names), Value::Object(object)) = (names, root.value)
        && generic::is_run(object, names)
    {
        let mut draft = RunBuilder::new(arena, limits, records, warnings);
        generic::read_under(root, &mut draft, names);
        return Ok(draft.finish_run(text, source, MAPPED, root.origin));
    }
    let Some(format) = detect_format(&root) else { return Err(unknown_format(&root, names)) };
    if std::ptr::eq(format, native_format()) {
        return Ok((native::normal_run(root, text, source, warnings), ModelSpending::default()));
    }
    let mut draft = RunBuilder::new(arena, limits, records, warnings);
    let read = as_skillgym.then(|| as_skillgym::read_transcript(format, root, text, &mut draft)).flatten();
    read.unwrap_or_else(|| (format.read)(root, &mut draft))?;
    Ok(draft.finish_run(text, source, format.name, root.origin))
}

/// Only in these formats is everything recorded taken at its word.
pub(crate) fn is_home_grown(name: &str) -> bool {
    [native::FORMAT.name, generic::FORMAT.name, MAPPED].contains(&name)
}

pub(super) const MAPPED: &str = "format of --map";

fn native_format() -> &'static TraceFormat {
    let [.., native] = &FORMATS;
    native
}

pub(super) fn explain_misfit(root: &Node<'_>, names: &PartNames) -> Option<String> {
    let Value::Object(object) = root.value else { return None };
    let (message, help) = generic::explain_mismatch(object, names);
    Some(format!("{message} ({help})"))
}

fn unknown_format(root: &Node<'_>, names: Option<&PartNames>) -> PlacedError {
    let Value::Object(object) = root.value else {
        let found = root.value.type_name();
        let message = format!("a run is an object, found {found}");
        return PlacedError::new(root.origin, message, "write `{ \"calls\": […], \"output\": … }`").no_trace();
    };
    if let Some((message, help)) = names.map(|names| generic::explain_mismatch(object, names)) {
        return PlacedError::new(root.origin, message, help);
    }
    let keys: Vec<_> = object.entries().iter().map(|entry| entry.key).collect();
    near_miss::explain_unknown(root.origin, object, &keys)
}

pub(crate) fn node_text(node: Node<'_>) -> Option<&str> {
    match node.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}

pub(crate) fn node_object(node: Node<'_>) -> Option<Object<'_>> {
    match node.value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

fn node_list(node: Node<'_>) -> Option<&[Node<'_>]> {
    match node.value {
        Value::List(items) => Some(items),
        _ => None,
    }
}

fn text_of<F: FieldRow>(object: Object<'_>, field: F) -> Option<&str> {
    object.field(field).and_then(node_text)
}

fn object_of<F: FieldRow>(object: Object<'_>, field: F) -> Option<Object<'_>> {
    object.field(field).and_then(self::node_object)
}

fn list_of<F: FieldRow>(object: Object<'_>, field: F) -> Option<&[Node<'_>]> {
    object.field(field).and_then(node_list)
}

/// The first that is present and not `null`.
fn first_of<'run, F: FieldRow>(object: Object<'run>, fields: &[F]) -> Option<Node<'run>> {
    first_field(&object, &NodeShapes, fields)
}

/// Other elements are skipped.
fn object_items<'run>(items: &'run [Node<'run>]) -> impl Iterator<Item = (Node<'run>, Object<'run>)> {
    items.iter().filter_map(|node| Some((*node, node_object(*node)?)))
}
