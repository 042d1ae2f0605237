//! Tests for other text formats: `VALUE is xml` and `VALUE is sql`.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult};
use averment_base::value::{Node, Value};

/// Maximum number of elements, attributes and texts in a document.
const MOST_NODES: u32 = 500_000;
/// Maximum nesting of brackets in SQL, because its parser tries several interpretations of each.
#[cfg(feature = "sql")]
const SQL_DEPTH: usize = 12;
/// Maximum size of a text that is parsed as SQL, in bytes.
#[cfg(feature = "sql")]
const SQL_BYTES: usize = 256 << 10;

/// True if this build can parse SQL.
pub const READS_SQL: bool = cfg!(feature = "sql");

/// True if a text is one XML document: well-formed, with declared prefixes.
pub(super) fn is_xml<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let Value::Text(text) = call.argument_node(0).value else { return call.give_boolean(false) };
    let text = text.as_str();
    call.meter.charge_scan(text.len().saturating_mul(8))?;
    call.meter.check_memory(text.len().saturating_mul(4))?;
    // Declared entities could expand exponentially, so documents with them are not judged.
    let options = roxmltree::ParsingOptions {
        allow_dtd: !text.contains("<!ENTITY"),
        nodes_limit: MOST_NODES,
        ..roxmltree::ParsingOptions::default()
    };
    match roxmltree::Document::parse_with_options(text, options) {
        Ok(_) => call.give_boolean(true),
        Err(roxmltree::Error::DtdDetected | roxmltree::Error::NodesLimitReached) => give_undecided(),
        Err(_) => call.give_boolean(false),
    }
}

/// True if a text is SQL: one or several statements, in the dialect of any common system.
#[cfg(feature = "sql")]
pub(super) fn is_sql<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    use sqlparser::dialect::GenericDialect;
    use sqlparser::parser::{Parser, ParserError};

    let Value::Text(text) = call.argument_node(0).value else { return call.give_boolean(false) };
    let text = text.as_str();
    call.meter.charge_scan(text.len().saturating_mul(64))?;
    call.meter.check_memory(text.len().saturating_mul(64))?;
    if text.len() > SQL_BYTES || bracket_depth(text) > SQL_DEPTH {
        return give_undecided();
    }
    match Parser::parse_sql(&GenericDialect {}, text) {
        Ok(statements) => call.give_boolean(!statements.is_empty()),
        Err(ParserError::RecursionLimitExceeded) => give_undecided(),
        Err(_) => call.give_boolean(false),
    }
}

#[cfg(not(feature = "sql"))]
pub(super) fn is_sql<'run>(_: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    give_undecided()
}

/// Returns `absent` for texts that cannot be judged, so that the test is undecided.
fn give_undecided<'run>() -> BuiltinResult<'run> {
    Ok(Node::computed(Value::Absent))
}

#[cfg(feature = "sql")]
fn bracket_depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' | b'<' => depth = depth.saturating_add(1),
            b')' | b']' | b'}' | b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}
