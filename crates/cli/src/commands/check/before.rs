//! `--phase` and `--input`: conditions before a run, which has no trace yet.

use super::Arguments;
use super::given::CheckInputs;
use crate::commands::exit::Stop;
use crate::commands::inputs::Input;
use averment_engine::vm::select::Phase;
use serde_json::{Map, Value, json};

/// `--phase`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum CheckPhase {
    /// Before a run
    Pre,
    /// After it
    Post,
}

/// The phases that are selected.
pub(super) fn phases(arguments: &Arguments) -> Vec<Phase> {
    let phase = |given: &CheckPhase| match given {
        CheckPhase::Pre => Phase::Pre,
        CheckPhase::Post => Phase::Post,
    };
    arguments.phase.iter().map(phase).collect()
}

/// Whether nothing but what holds before a run is asked for.
pub(super) fn is_before(arguments: &Arguments) -> bool {
    !arguments.phase.is_empty() && arguments.phase.iter().all(|phase| *phase == CheckPhase::Pre)
}

/// The run that is about to begin, where no trace is named: it has its inputs and nothing else.
pub(super) fn run(arguments: &Arguments, given: &CheckInputs<'_>) -> Result<Option<Input>, Stop> {
    if !is_before(arguments) || !given.traces.is_empty() {
        return match arguments.input.first() {
            Some(input) => {
                let help = "put inputs of a recorded run into its trace, as `inputs`";
                Err(Stop::usage(format!("`--input {input}` needs `--phase pre` and no trace"), help))
            }
            None => Ok(None),
        };
    }
    let mut inputs = Map::new();
    for input in &arguments.input {
        let Some((name, value)) = input.split_once('=') else {
            return Err(Stop::usage(
                format!("`--input {input}` has no value"),
                format!("write `--input {input}=VALUE`"),
            ));
        };
        inputs.insert(name.trim().to_owned(), serde_json::from_str(value).unwrap_or_else(|_| Value::from(value)));
    }
    let text = json!({"inputs": inputs, "complete": false}).to_string();
    Ok(Some(Input::Made { name: "before the run".to_owned(), text, names: Vec::new() }))
}
