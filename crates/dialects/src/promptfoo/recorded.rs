//! What was recorded of an assertion when the test ran.

use super::values::script_text;
use crate::writer::{quote_text, value_literal};
use crate::yaml::{YamlNode, YamlValue};

/// The results of the assertions that were recorded with this type and value: a list, empty where there is none.
pub(super) fn recorded_list(assertion: &YamlNode) -> String {
    let kind = assertion.get("type").map(script_text).unwrap_or_default();
    let value = match assertion.get("value") {
        None => String::new(),
        Some(value) => match &value.value {
            YamlValue::Null => String::new(),
            _ => format!(" and assertion.value == {}", value_literal(value)),
        },
    };
    format!("(meta.gradingResult.componentResults where assertion.type == {}{value})", quote_text(&kind))
}

/// Whether it passed, as it was recorded.
pub(super) fn recorded_pass(assertion: &YamlNode) -> String {
    format!("first(pass of {})", recorded_list(assertion))
}

/// The score that was recorded.
pub(super) fn recorded_score(assertion: &YamlNode) -> String {
    format!("first(score of {})", recorded_list(assertion))
}

/// What was recorded, or undecided.
pub(super) fn recorded_or_undecided(recorded: &str, why: &str) -> String {
    let words = quote_text(&format!("{why}, and the run records no verdict"));
    format!("if {recorded} exists then {recorded} == true else undecided({words})")
}
