//! Witnesses: runs in the native form that demonstrate a finding.

use super::formula::{SubjectTable, WitnessPlace};
use super::solve::SubjectModel;
use serde_json::{Map, Value, json};

/// Returns a run with the values of a model; `None` if one of them cannot be expressed.
#[must_use]
pub fn model_witness(subjects: &SubjectTable, model: &SubjectModel) -> Option<Value> {
    let mut run = Map::new();
    for (subject, values) in model {
        let WitnessPlace::Run(path) = subjects.witness_place(*subject) else { return None };
        let Some(value) = values.pick_value()? else {
            // A missing value needs an existing parent.
            match path.as_slice() {
                [root] if root == "inputs" || root == "meta" => continue,
                [root, ..] if matches!(root.as_str(), "output" | "inputs" | "meta") => {
                    run.entry(root.clone()).or_insert_with(|| json!({}));
                    continue;
                }
                _ => return None,
            }
        };
        insert_at_path(&mut run, path, value)?;
    }
    Some(Value::Object(run))
}

/// Roots that occur in a run under their own name and accept any value.
const FREE: &[&str] = &["inputs", "output", "meta"];

fn insert_at_path(run: &mut Map<String, Value>, path: &[String], value: Value) -> Option<()> {
    let (last, folders) = path.split_last()?;
    if path.len() == 1 && !FREE.contains(&last.as_str()) || !FREE.contains(&path.first()?.as_str()) {
        return None;
    }
    let mut at = run;
    for folder in folders {
        at = at.entry(folder.clone()).or_insert_with(|| json!({})).as_object_mut()?;
    }
    match at.get(last) {
        Some(known) if *known != value => None,
        _ => {
            at.insert(last.clone(), value);
            Some(())
        }
    }
}

/// Returns a run in which the path has the value, such as `output.items`.
#[must_use]
pub fn value_at_path(path: &[String], value: Value) -> Option<Value> {
    let mut run = Map::new();
    insert_at_path(&mut run, path, value)?;
    Some(Value::Object(run))
}
