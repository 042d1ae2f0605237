//! Expressions for the verdicts that promptfoo recorded when the test ran.

use super::values::script_text;
use crate::writer::{quote_text, value_literal};
use crate::yaml::{YamlNode, YamlValue};

/// Returns the recorded results of assertions with this type and value: a list, empty if there are none.
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

/// Returns the recorded verdict.
pub(super) fn recorded_pass(assertion: &YamlNode) -> String {
    format!("first(pass of {})", recorded_list(assertion))
}

/// Returns the recorded score.
pub(super) fn recorded_score(assertion: &YamlNode) -> String {
    format!("first(score of {})", recorded_list(assertion))
}

/// Returns the recorded verdict, or undecided if there is none.
pub(super) fn recorded_or_undecided(recorded: &str, why: &str) -> String {
    let words = quote_text(&format!("{why}, and the run records no verdict"));
    format!("if {recorded} exists then {recorded} == true else undecided({words})")
}
