//! A file whose JSON was written into a text of JSON, as programs do that write JSON twice. A text among runs is none of them.

use super::format::TraceFormat;
use super::nodes::{node_list, node_object};
use super::registry::detect_format;
use crate::error::PlacedError;
use averment_base::limits::Limits;
use averment_base::value::{Node, Value, json};
use averment_runs::run::RunSource;
use bumpalo::Bump;

/// Unpacks a text that holds a run of a known format; otherwise unchanged.
pub(super) fn unpack_text<'run>(
    root: Node<'run>,
    source: &RunSource,
    arena: &'run Bump,
    limits: &Limits,
) -> Result<Node<'run>, PlacedError> {
    let Value::Text(text) = root.value else { return Ok(root) };
    let is_alone = !source.by_line && source.position.is_none();
    if !is_alone || !text.as_str().trim_start().starts_with(['{', '[']) {
        return Ok(root);
    }
    let Ok(document) = json::parse_text(text, root.origin, arena, limits) else { return Ok(root) };
    match detect_format(&document.node) {
        // Files are cut into runs before texts are looked into.
        Some(format) if may_hold_several(format, &document.node) => {
            let message = format!("a text holds JSON that has to be cut into runs ({}): that is not done", format.name);
            Err(PlacedError::new(root.origin, message, "write what the text holds into the file: `jq -r . FILE`"))
        }
        Some(_) => Ok(document.node),
        None => Ok(root),
    }
}

/// True if parts name their runs, or there are several.
fn may_hold_several(format: &TraceFormat, node: &Node<'_>) -> bool {
    let Some(holder) = node_object(*node) else { return !format.runs.is_empty() };
    if format.runs.iter().any(|cutting| !cutting.by.is_empty()) {
        return true;
    }
    let lists = format.runs.iter().filter_map(|cutting| cutting.way.first());
    let parts = lists.flat_map(|keys| keys.iter()).filter_map(|key| holder.get(key));
    parts.filter_map(node_list).any(|parts| parts.len() > 1)
}
