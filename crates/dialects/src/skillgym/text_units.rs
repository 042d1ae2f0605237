//! Helpers for JavaScript's view of texts: UTF-16 code units, and its own white space.

use crate::writer::RuleWriter;
use averment_base::source::Span;

/// JavaScript's `length` of a text.
pub(super) const UNITS_OF: &str = "utf16_length";
/// JavaScript's `trim`, which also removes byte order marks.
pub(super) const TRIM_OF: &str = "js_trim";
/// Matches characters of two UTF-16 code units.
pub(super) const BEYOND_UNITS: &str = r"/[\x{10000}-\x{10FFFF}]/";
pub(super) const COUNTS_HALVES: &str =
    "without the flag `u` the regular expression counts the halves of a character beyond U+FFFF";

/// Definitions that are written before a suite that uses them.
const DEFINITIONS: [(&str, &str); 2] = [
    (UNITS_OF, r"def utf16_length(value) = length(value) + length(split(value, /[\x{10000}-\x{10FFFF}]/)) - 1"),
    (
        TRIM_OF,
        r#"def js_trim(value) = replace(value, /^[\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]+|[\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}]+$/, "")"#,
    ),
];

/// Writes the definitions that the cases use.
pub(super) fn write_definitions(cases: &RuleWriter, place: Span, out: &mut RuleWriter) {
    for (name, text) in DEFINITIONS {
        if cases.contains_text(&format!("{name}(")) {
            out.write_line(place, |out| out.put_text(text));
            out.write_gap();
        }
    }
}
