//! The text formats that the documented policy knows. A value of another format is a violation.

use super::AssayLowering;
use crate::regex_flavour::slash_literal;
use crate::yaml::YamlNode;

const FORMATS: &[(&str, &str)] = &[
    ("email", r"\A[^@\s]+@[^@\s]+\.[^@\s]+\z"),
    ("uri", r"\A[A-Za-z][A-Za-z0-9+.-]*:[^\s]+\z"),
    ("uuid", r"\A[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-4[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}\z"),
    ("date", r"\A[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])\z"),
    (
        "datetime",
        r"\A[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])[Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])\z",
    ),
    (
        "time",
        r"\A(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?\z",
    ),
    (
        "ipv4",
        r"\A(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\z",
    ),
    (
        "ipv6",
        r"\A(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|(?:[0-9A-Fa-f]{1,4}:){1,7}:|(?:[0-9A-Fa-f]{1,4}:){1,6}:[0-9A-Fa-f]{1,4}|(?:[0-9A-Fa-f]{1,4}:){1,5}(?::[0-9A-Fa-f]{1,4}){1,2}|(?:[0-9A-Fa-f]{1,4}:){1,4}(?::[0-9A-Fa-f]{1,4}){1,3}|(?:[0-9A-Fa-f]{1,4}:){1,3}(?::[0-9A-Fa-f]{1,4}){1,4}|(?:[0-9A-Fa-f]{1,4}:){1,2}(?::[0-9A-Fa-f]{1,4}){1,5}|[0-9A-Fa-f]{1,4}:(?::[0-9A-Fa-f]{1,4}){1,6}|:(?:(?::[0-9A-Fa-f]{1,4}){1,7}|:))\z",
    ),
    (
        "hostname",
        r"\A[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*\z",
    ),
];

/// JSON Schema's names of formats.
const ALIASES: &[(&str, &str)] = &[("date-time", "datetime")];

pub(super) fn expression_of(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<&'static str> {
    let name = assay.low.sink.as_text(node, "`format`")?;
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name);
    let found = FORMATS.iter().find(|(known, _)| *known == name);
    if found.is_none() {
        let known: Vec<&str> = FORMATS.iter().map(|(name, _)| *name).collect();
        assay.low.sink.unknown_word(node, "format", &known);
    }
    found.map(|(_, expression)| *expression)
}

pub(super) fn literal_of(assay: &mut AssayLowering<'_, '_>, node: &YamlNode) -> Option<String> {
    expression_of(assay, node).map(|expression| slash_literal(expression, ""))
}
