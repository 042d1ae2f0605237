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
pub use format::Format;
pub use registry::{FORMATS, detect};

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
