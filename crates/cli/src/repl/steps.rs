//! The states of statements after a step, taken from the derivation of their verdicts.

use averment_report::derivation::view::{AssertionView, DerivationView};
use averment_report::derivation::{StepLine, TimelineLine};

/// The state of one statement after a step.
#[derive(Debug)]
pub struct StatementState {
    /// Its text.
    pub text: String,
    /// The state in words; several for a block with several windows.
    pub states: Vec<String>,
    /// True if the statement fails whatever steps follow.
    pub violated: bool,
}

/// Returns the states of all statements over steps after a step, counted from 1.
pub fn standings_after(view: &DerivationView, step: usize) -> Vec<StatementState> {
    view.assertions.iter().map(|assertion| standing_at_step(assertion, step)).collect()
}

fn standing_at_step(view: &AssertionView, step: usize) -> StatementState {
    let steps = || {
        view.timeline.iter().filter_map(|line| match line {
            TimelineLine::Step(step) => Some(step.as_ref()),
            TimelineLine::Gap { .. } => None,
        })
    };
    let here: Option<&StepLine> = steps().find(|line| line.number == step);
    let mut states = Vec::new();
    for matched in here.iter().flat_map(|line| &line.matches) {
        let values = if matched.values.is_empty() { String::new() } else { format!(", {}", matched.values) };
        states.push(format!("it matches {}{values}", matched.pattern));
    }
    // For each statement, the latest state up to this step counts.
    let mut latest: Vec<(Option<&str>, String, bool)> = Vec::new();
    for line in steps().take_while(|line| line.number <= step) {
        for state in &line.states {
            let label = state.statement.as_deref();
            let words = if state.words.is_empty() { String::new() } else { format!(": {}", state.words) };
            let text = format!("{}{words}", state.standing);
            match latest.iter_mut().find(|(known, ..)| *known == label) {
                Some(known) => *known = (label, text, state.violated),
                None => latest.push((label, text, state.violated)),
            }
        }
    }
    let violated = latest.iter().any(|(.., violated)| *violated);
    states.extend(latest.into_iter().map(|(label, text, _)| match label {
        Some(label) => format!("{label} {text}"),
        None => text,
    }));
    if states.is_empty() {
        states.push(
            if view.timeline.is_empty() { "it does not look at steps" } else { "nothing to check yet" }.to_owned(),
        );
    }
    StatementState { text: view.text.clone(), states, violated }
}
