//! How a command ended, where a result of Responses or of Codex says it.

use super::responses::ItemKey;
use crate::adapt::conversation::{TextMarkers, build_markers, number_behind};
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader as _, ValueShape};
use crate::adapt::nodes::{object_items, object_of};
use averment_base::value::{Node, Value};
use std::sync::LazyLock;

/// Found in one of several outcomes, in JSON inside text, or in Codex's words.
pub(crate) fn exit_code(output: Node<'_>) -> Option<Node<'_>> {
    match output.value {
        Value::List(parts) => {
            let codes =
                object_items(parts).filter_map(|(_, part)| object_of(part, ItemKey::End)?.field(ItemKey::ExitCode));
            codes.filter(|code| NodeShapes.has_shape(*code, ValueShape::Number)).last()
        }
        Value::Text(_) => number_behind(output, &EXIT_CODES),
        _ => None,
    }
}

/// Text before an exit code.
static EXIT_CODES: TextMarkers = LazyLock::new(|| {
    build_markers(["Process exited with code", "\"exit_code\":", "Exit code:", "exited with exit code"])
});
