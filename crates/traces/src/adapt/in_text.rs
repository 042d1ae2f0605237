//! A run whose JSON was written into a text of JSON, as programs do that write JSON twice.

use super::{Format, detect, list, object};
use crate::error::Placed;
use averment_base::limits::Limits;
use averment_base::value::{Node, Value, json};
use bumpalo::Bump;

/// What a text holds, where that is a run of a known format; anything else as it stands.
pub(super) fn unpacked<'run>(root: Node<'run>, arena: &'run Bump, limits: &Limits) -> Result<Node<'run>, Placed> {
    let Value::Text(text) = root.value else { return Ok(root) };
    if !text.as_str().trim_start().starts_with(['{', '[']) {
        return Ok(root);
    }
    let Ok(document) = json::parse_text(text, root.origin, arena, limits) else { return Ok(root) };
    match detect(&document.node) {
        // Files are cut into runs before texts are looked into.
        Some(format) if holds_several(format, &document.node) => {
            let message =
                format!("a text holds the JSON of several runs ({}): only one is read out of a text", format.name);
            Err(Placed::new(root.origin, message, "write what the text holds into the file: `jq -r . FILE`"))
        }
        Some(_) => Ok(document.node),
        None => Ok(root),
    }
}

/// Whether a value would be cut into several runs: it has several parts where those of its format stand.
fn holds_several(format: &Format, node: &Node<'_>) -> bool {
    let Some(holder) = object(*node) else { return list(*node).is_some_and(|_| !format.runs.is_empty()) };
    let lists = format.runs.iter().filter_map(|cutting| cutting.way.first());
    let parts = lists.flat_map(|keys| keys.iter()).filter_map(|key| holder.get(key));
    parts.filter_map(list).any(|parts| parts.len() > 1)
}
