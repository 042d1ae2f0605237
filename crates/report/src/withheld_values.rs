//! Values of a run that no report may show, even if the run repeats them elsewhere.

use crate::secrets::{find_secrets, is_long_enough_to_hide};
use averment_base::value::Value;
use averment_base::value::json::to_json;
use averment_builtins::detect;
use averment_runs::run::{EVERYTHING, Run, StepKind};
use std::collections::BTreeSet;

/// Maximum number of hidden values of a run. With more, every text that could contain one is hidden.
const MOST: usize = 10_000;

/// Returns the values to hide wherever the run contains them: its recorded environment, values whose names mark secrets, credentials in its commands
/// (because rules can select single words of a command), and values that the caller withholds.
pub fn withheld_values(run: &Run<'_>) -> Vec<String> {
    let mut kept = KeptTexts { texts: run.withheld.iter().cloned().collect() };
    environment_values(&run.root_value("env").value, DEPTH, &mut |text| kept.withhold_text(text));
    detect::visit_named_texts(&Value::Object(run.object), &mut |text| kept.withhold_text(text));
    for command in run.steps.iter().filter(|step| step.kind == StepKind::Command).map(|step| step.name) {
        find_secrets(command).into_iter().for_each(|range| kept.withhold_text(command.get(range).unwrap_or_default()));
    }
    kept.texts.into_iter().collect()
}

struct KeptTexts {
    texts: BTreeSet<String>,
}

impl KeptTexts {
    fn withhold_text(&mut self, text: &str) {
        let text = text.trim_matches(|character: char| character.is_whitespace() || matches!(character, '"' | '\''));
        if !is_long_enough_to_hide(text) || self.texts.contains(text) {
            return;
        }
        let text = if self.texts.len() < MOST { text } else { EVERYTHING };
        self.texts.insert(text.to_owned());
    }
}

/// Environment values nested deeper than this are hidden as a whole.
const DEPTH: usize = 64;

/// Visits the values of a recorded environment: an object, a list of `NAME=value` or objects, or lines of text.
fn environment_values(value: &Value<'_>, depth: usize, withhold: &mut impl FnMut(&str)) {
    let Some(deeper) = depth.checked_sub(1) else { return withhold(&to_json(value)) };
    match value {
        Value::Text(text) => {
            withhold(text.as_str());
            for line in text.as_str().lines() {
                withhold(line.split_once('=').map_or(line, |(_, value)| value));
            }
        }
        Value::Number(_) => withhold(&to_json(value)),
        Value::List(list) => list.iter().for_each(|node| environment_values(&node.value, deeper, withhold)),
        Value::Object(object) => {
            for entry in object.entries() {
                // In `{"name": "TOKEN", "value": "…"}`, the name is no value.
                let names = matches!(entry.key, "name" | "key") && object.get("value").is_some();
                if !names {
                    environment_values(&entry.node.value, deeper, withhold);
                }
            }
        }
        _ => {}
    }
}
