//! What of a run no report shows, wherever else the run repeats it.

use crate::secrets::{is_telling, secrets};
use averment_base::value::Value;
use averment_base::value::json::to_json;
use averment_builtins::detect;
use averment_runs::run::{EVERYTHING, Kind, Run};
use std::collections::BTreeSet;

/// So many different values of a run are kept out of everything; where there are more, nothing is shown that could hold one of them.
const MOST: usize = 10_000;

/// What of a run is shown nowhere, wherever else the run repeats it: its recorded environment, values that their names make secrets, credentials in
/// its commands, whose words rules may ask for one by one, and what somebody said is not to be shown.
pub fn environment(run: &Run<'_>) -> Vec<String> {
    let mut kept = Kept { texts: run.withheld.iter().cloned().collect() };
    variables(&run.root("env").value, DEPTH, &mut |text| kept.withhold(text));
    detect::named(&Value::Object(run.object), &mut |_, text| kept.withhold(text));
    for command in run.steps.iter().filter(|step| step.kind == Kind::Command).map(|step| step.name) {
        secrets(command).into_iter().for_each(|range| kept.withhold(command.get(range).unwrap_or_default()));
    }
    kept.texts.into_iter().collect()
}

/// Different texts, as many as are kept.
struct Kept {
    texts: BTreeSet<String>,
}

impl Kept {
    fn withhold(&mut self, text: &str) {
        let text = text.trim_matches(|character: char| character.is_whitespace() || matches!(character, '"' | '\''));
        if !is_telling(text) || self.texts.contains(text) {
            return;
        }
        let text = if self.texts.len() < MOST { text } else { EVERYTHING };
        self.texts.insert(text.to_owned());
    }
}

/// Values of an environment inside each other that are looked through; deeper ones are hidden as a whole.
const DEPTH: usize = 64;

/// The values of a recorded environment in whatever form: an object of names, a list of `NAME=value` or of objects, a text of lines.
fn variables(value: &Value<'_>, depth: usize, withhold: &mut impl FnMut(&str)) {
    let Some(deeper) = depth.checked_sub(1) else { return withhold(&to_json(value)) };
    match value {
        Value::Text(text) => {
            withhold(text.as_str());
            for line in text.as_str().lines() {
                withhold(line.split_once('=').map_or(line, |(_, value)| value));
            }
        }
        Value::Number(_) => withhold(&to_json(value)),
        Value::List(list) => list.iter().for_each(|node| variables(&node.value, deeper, withhold)),
        Value::Object(object) => {
            for entry in object.entries() {
                // Of `{"name": "TOKEN", "value": "…"}` the name is none of its values.
                let names = matches!(entry.key, "name" | "key") && object.get("value").is_some();
                if !names {
                    variables(&entry.node.value, deeper, withhold);
                }
            }
        }
        _ => {}
    }
}
