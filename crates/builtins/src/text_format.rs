//! Texts of other formats: what `VALUE is xml` and `VALUE is sql` ask.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult};
use averment_base::value::{Node, Value};

/// The most elements, attributes and texts of a document.
const MOST_NODES: u32 = 500_000;
/// The deepest brackets of SQL: its parser tries several readings of each.
#[cfg(feature = "sql")]
const SQL_DEPTH: usize = 12;
/// The longest text that is read as SQL, in bytes.
#[cfg(feature = "sql")]
const SQL_BYTES: usize = 256 << 10;

/// Whether this build reads SQL.
pub const READS_SQL: bool = cfg!(feature = "sql");

/// Whether a text is one XML document: well-formed, with declared prefixes.
pub(super) fn is_xml<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let Value::Text(text) = call.argument_node(0).value else { return call.give_boolean(false) };
    let text = text.as_str();
    call.meter.charge_scan(text.len().saturating_mul(8))?;
    call.meter.check_memory(text.len().saturating_mul(4))?;
    // Entities that a document declares could make much of little: such a document is not judged.
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

/// Whether a text is SQL: one statement or several, of any common system.
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

/// What cannot be judged is no evidence, either way.
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
