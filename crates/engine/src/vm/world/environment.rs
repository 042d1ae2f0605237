//! Variables of the environment: whether they are set.
#![expect(clippy::disallowed_methods, reason = "the feature `world` is what looks at files, commands and variables")]

use super::VariableState;

pub(super) fn variable_state(name: &str) -> VariableState {
    match std::env::var_os(name) {
        None => VariableState::Unset,
        Some(value) if value.is_empty() => VariableState::Empty,
        Some(_) => VariableState::Filled,
    }
}
