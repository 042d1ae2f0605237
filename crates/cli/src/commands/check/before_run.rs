//! `--phase` and `--input`: conditions before a run, which has no trace yet.

use super::CheckArgs;
use super::check_inputs::CheckInputs;
use crate::commands::exit::CommandError;
use crate::commands::inputs::TraceInput;
use averment_engine::vm::select::WorldPhase;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum CheckPhase {
    /// Before a run
    Pre,
    /// After it
    Post,
}

pub(super) fn selected_phases(arguments: &CheckArgs) -> Vec<WorldPhase> {
    let phase = |given: &CheckPhase| match given {
        CheckPhase::Pre => WorldPhase::Pre,
        CheckPhase::Post => WorldPhase::Post,
    };
    arguments.phase.iter().map(phase).collect()
}

pub(super) fn is_before_run(arguments: &CheckArgs) -> bool {
    !arguments.phase.is_empty() && arguments.phase.iter().all(|phase| *phase == CheckPhase::Pre)
}

/// Returns the run that is about to begin, with only its inputs, if no trace is named.
pub(super) fn upcoming_run(arguments: &CheckArgs, given: &CheckInputs<'_>) -> Result<Option<TraceInput>, CommandError> {
    if !is_before_run(arguments) || !given.traces.is_empty() {
        return match arguments.input.first() {
            Some(input) => {
                let help = "put inputs of a recorded run into its trace, as `inputs`";
                Err(CommandError::usage(format!("`--input {input}` needs `--phase pre` and no trace"), help))
            }
            None => Ok(None),
        };
    }
    let mut inputs = Map::new();
    for input in &arguments.input {
        let Some((name, value)) = input.split_once('=') else {
            return Err(CommandError::usage(
                format!("`--input {input}` has no value"),
                format!("write `--input {input}=VALUE`"),
            ));
        };
        inputs.insert(name.trim().to_owned(), serde_json::from_str(value).unwrap_or_else(|_| Value::from(value)));
    }
    let text = json!({"inputs": inputs, "complete": false}).to_string();
    Ok(Some(TraceInput::Made { name: "before the run".to_owned(), bytes: text.into_bytes(), names: Vec::new() }))
}
