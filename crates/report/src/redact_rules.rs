//! Removes credentials that rules contain by mistake from diagnostics and displayed rule text.

use crate::secrets::{find_secrets, redact};
use std::borrow::Cow;

/// Maximum size of a text that is searched as a whole, in bytes.
const AT_ONCE: usize = 1 << 20;

/// Removes credentials from JSON, each string separately.
pub fn redact_json(data: &mut serde_json::Value) {
    match data {
        serde_json::Value::String(text) => {
            if let Cow::Owned(clean) = redact(text) {
                *text = clean;
            }
        }
        // The depth is bounded, because this program made the data.
        serde_json::Value::Array(values) => values.iter_mut().for_each(redact_json),
        serde_json::Value::Object(entries) => entries.values_mut().for_each(redact_json),
        _ => {}
    }
}

/// Removes credentials that rules contain from a diagnostic.
pub fn redact_diagnostic(one: &mut averment_base::diagnostic::Diagnostic) {
    let hide = |text: &mut String| {
        if let Cow::Owned(clean) = redact(text) {
            *text = clean;
        }
    };
    hide(&mut one.message);
    hide(&mut one.label);
    one.help.iter_mut().for_each(hide);
    one.others.iter_mut().for_each(|other| hide(&mut other.text));
    one.witness.iter_mut().for_each(|witness| hide(&mut witness.run));
    // A fix that inserts a credential is removed, because redacting it would change the fix.
    let shows =
        |fix: &averment_base::diagnostic::Fix| fix.edits.iter().any(|edit| !find_secrets(&edit.text).is_empty());
    if one.fix.as_ref().is_some_and(shows) {
        one.fix = None;
    }
}

/// Returns the text with a `*` for each byte of a detected secret, so that offsets stay valid. Large texts are searched line by line, because they
/// exceed the size limit of a search.
#[must_use]
pub fn mask_secrets(text: &str) -> Cow<'_, str> {
    let mut found = if text.len() <= AT_ONCE { find_secrets(text) } else { Vec::new() };
    let mut at = 0;
    for line in text.split_inclusive('\n').take_while(|_| text.len() > AT_ONCE) {
        found.extend(find_secrets(line).into_iter().map(|range| at + range.start..at + range.end));
        at += line.len();
    }
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut clean, mut at) = (String::with_capacity(text.len()), 0);
    for range in found {
        clean.push_str(text.get(at..range.start).unwrap_or_default());
        let hidden = text.get(range.clone()).unwrap_or_default();
        clean.extend(hidden.bytes().map(|byte| if byte == b'\n' { '\n' } else { '*' }));
        at = range.end;
    }
    clean.push_str(text.get(at..).unwrap_or_default());
    Cow::Owned(clean)
}
