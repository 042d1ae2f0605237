//! The formats of runs: one file each, and the table that tells them apart by their content.
//!
//! An adapter brings what a format records into the normal form and says nothing that it does not record. What follows from what is
//! recorded is derived in one place, `trace::build`.

mod calls;
mod claude_code;
mod draft;
mod generic;
pub(crate) mod native;
mod openai_chat;
mod tau_bench;

use super::build::Normal;
use super::error::Placed;
use super::names::Names;
use averment_base::limits::Limits;
use averment_base::value::{Node, Object, Value};
use averment_runs::run::{ReadWarning, RunSource};
use bumpalo::Bump;
pub(crate) use claude_code::{SILENT, holds_tool_blocks, is_refusal};
use draft::Draft;
pub(crate) use generic::in_milliseconds;

/// A format of runs.
pub struct Format {
    /// Its name, as it stands in `trace show`.
    pub name: &'static str,
    /// What to say of it in a list of known formats.
    pub description: &'static str,
    /// Whether an object is a run in it.
    object: fn(Object<'_>) -> bool,
    /// Whether an object is one element of a list that is a run in it.
    element: fn(Object<'_>) -> bool,
    /// Whether an object is one line of a file that is a run in it.
    line: fn(Object<'_>) -> bool,
    read: for<'run> fn(Node<'run>, &mut Draft<'run, '_>) -> Result<(), Placed>,
}

fn never(_: Object<'_>) -> bool {
    false
}

/// All formats. The first one that knows a value is taken: the more particular ones come first.
pub static FORMATS: [Format; 5] =
    [claude_code::FORMAT, tau_bench::FORMAT, openai_chat::FORMAT, generic::FORMAT, native::FORMAT];

/// Whether a value is an element of a list that is one run, such as a message of a conversation.
pub(crate) fn is_element_of_one_run(node: &Node<'_>) -> bool {
    matches!(node.value, Value::Object(object) if FORMATS.iter().any(|format| (format.element)(object)))
}

/// Whether a value is a line of a file that is one run, such as an event of a session.
pub(crate) fn is_line_of_session(node: &Node<'_>) -> bool {
    matches!(node.value, Value::Object(object) if FORMATS.iter().any(|format| (format.line)(object)))
}

/// The format of a value: of an object, or of a list by its first elements.
#[must_use]
pub fn detect(node: &Node<'_>) -> Option<&'static Format> {
    match node.value {
        Value::Object(object) => FORMATS.iter().find(|format| (format.object)(object)),
        Value::List(items) => FORMATS.iter().find(|format| {
            let known = |item: &Node<'_>| {
                matches!(item.value, Value::Object(object) if (format.element)(object) || (format.line)(object))
            };
            items.iter().take(50).any(known)
        }),
        _ => None,
    }
}

/// Brings a value of any known format into the normal form.
pub(crate) fn normal<'run>(
    root: Node<'run>,
    text: &'run str,
    source: RunSource,
    warnings: Vec<ReadWarning>,
    arena: &'run Bump,
    limits: &Limits,
    names: Option<&Names>,
) -> Result<Normal<'run>, Placed> {
    if let (Some(names), Value::Object(object)) = (names, root.value)
        && generic::is_run(object, names)
    {
        let mut draft = Draft::new(arena, limits, warnings);
        generic::read_under(root, &mut draft, names);
        let (object, order, warnings) = draft.finish(root.origin);
        return Ok(Normal { text, source, format: MAPPED, object, order, warnings });
    }
    let Some(format) = detect(&root) else { return Err(unknown(&root, names)) };
    if std::ptr::eq(format, native_format()) {
        return Ok(native::normal(root, text, source, warnings));
    }
    let mut draft = Draft::new(arena, limits, warnings);
    (format.read)(root, &mut draft)?;
    let (object, order, warnings) = draft.finish(root.origin);
    Ok(Normal { text, source, format: format.name, object, order, warnings })
}

/// The name of the format that `--map` describes.
pub(super) const MAPPED: &str = "format of --map";

fn native_format() -> &'static Format {
    let [.., native] = &FORMATS;
    native
}

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
        return Placed::new(root.origin, message, "write `{ \"calls\": […], \"output\": … }`");
    };
    let keys: Vec<_> = object.entries().iter().take(5).map(|entry| format!("`{}`", entry.key)).collect();
    if let Some((message, help)) = names.map(|names| generic::why_not(object, names)) {
        return Placed::new(root.origin, message, help);
    }
    let known: Vec<_> = FORMATS.iter().map(|format| format.description).collect();
    Placed::new(
        root.origin,
        format!("no run of a known format: its keys are {}", keys.join(", ")),
        format!("known are: {}", known.join("; ")),
    )
}

/// The text of an entry.
fn text_of<'run>(object: Object<'run>, key: &str) -> Option<&'run str> {
    match object.get(key)?.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}

/// The object under a key.
fn object_of<'run>(object: Object<'run>, key: &str) -> Option<Object<'run>> {
    match object.get(key)?.value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// The list under a key.
fn list_of<'run>(object: Object<'run>, key: &str) -> Option<&'run [Node<'run>]> {
    match object.get(key)?.value {
        Value::List(items) => Some(items),
        _ => None,
    }
}

/// The first of several keys that is there and not `null`.
fn first_of<'run>(object: Object<'run>, keys: &[&str]) -> Option<Node<'run>> {
    keys.iter().find_map(|key| object.get(key).filter(|node| !matches!(node.value, Value::Null)))
}

/// The objects of a list; others are passed over.
fn objects<'run>(items: &'run [Node<'run>]) -> impl Iterator<Item = (Node<'run>, Object<'run>)> {
    items.iter().filter_map(|node| match node.value {
        Value::Object(object) => Some((*node, object)),
        _ => None,
    })
}
