//! Definitions of tools that stand among the messages.

use super::span_messages::SpanMessageKey;
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::node_object;
use averment_base::value::{Node, Object};

key_table! {
    DefinitionKey {
        About = "description",
        Takes = "parameters" | "input_schema" | "inputSchema",
    }
}

/// Whether the content of a message is a definition.
pub(super) fn is_definition(content: Node<'_>) -> bool {
    let Some(tool) = node_object(content) else { return false };
    let has = |of: Object<'_>, key| value_of(of, key).is_some();
    match value_of(tool, SpanMessageKey::Function).and_then(node_object) {
        Some(function) => has(function, DefinitionKey::About) || has(function, DefinitionKey::Takes),
        None => value_of(tool, SpanMessageKey::Tool).is_some() && has(tool, DefinitionKey::Takes),
    }
}
