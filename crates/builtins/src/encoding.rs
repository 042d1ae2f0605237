//! Functions over encodings of text.

// Arithmetic on values from rules and runs must not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::call::{BuiltinCall, BuiltinResult};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD_INDIFFERENT, URL_SAFE_NO_PAD_INDIFFERENT};
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

pub(super) fn sha256<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let text = call.text_argument(0);
    // Hashing a byte takes about ten times as long as scanning it.
    call.meter.charge_fuel(text.len() as u64)?;
    let mut out = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    call.give_text(&out)
}

pub(super) fn base64_encode<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let text = call.text_argument(0);
    call.meter.charge_scan(text.len())?;
    call.meter.check_memory(text.len().saturating_add(text.len() / 3))?;
    call.give_text(&STANDARD.encode(text))
}

pub(super) fn base64_decode<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let text = call.text_argument(0);
    call.meter.charge_scan(text.len())?;
    match decode_base64(text).and_then(|bytes| String::from_utf8(bytes).ok()) {
        Some(decoded) => call.give_text(&decoded),
        None => call.give_missing(),
    }
}

/// Decodes base64 in either alphabet. White space and missing padding are allowed.
#[must_use]
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let compact: String = text.chars().filter(|character| !character.is_whitespace()).collect();
    let engine = if compact.contains(['-', '_']) { &URL_SAFE_NO_PAD_INDIFFERENT } else { &STANDARD_NO_PAD_INDIFFERENT };
    engine.decode(compact).ok()
}

pub(super) fn url_decode<'run>(call: &mut BuiltinCall<'_, 'run>) -> BuiltinResult<'run> {
    let text = call.text_argument(0);
    call.meter.charge_scan(text.len())?;
    match percent_decode_str(text).decode_utf8() {
        Ok(decoded) => call.give_text(&decoded),
        Err(_) => call.give_missing(),
    }
}
