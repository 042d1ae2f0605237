//! Finds the origins of call arguments: an equal value in an earlier call or its result.

use averment_base::value::{Node, Value};
use averment_runs::run::{Run, Step, StepKind};
use std::collections::{BTreeMap, BTreeSet};

/// Minimum length of a traced text; shorter ones occur everywhere.
const SHORTEST: usize = 3;
/// Maximum length of a traced text; longer ones are not ids.
const LONGEST: usize = 200;
/// Minimum traced number; smaller ones occur everywhere.
const SMALLEST: u64 = 10;
/// Maximum number of values examined per result.
const MOST_VALUES: usize = 2_000;
/// Maximum depth examined in a result.
const DEEPEST: usize = 6;
/// Maximum number of distinct links between origins and targets.
const MOST_LINKS: usize = 4_000;
/// Maximum bytes of results searched per run.
const SEARCHED: usize = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueOrigin {
    Argument(String),
    /// In a result: the keys, `None` for any list element.
    Result(Vec<Option<String>>),
    Text,
}

pub(super) type FlowTarget = (String, String);
pub(super) type FlowOrigin = (String, ValueOrigin);

#[derive(Debug, Default)]
pub(super) struct ArgumentFlows {
    targets: BTreeMap<FlowTarget, (u64, BTreeSet<String>)>,
    links: BTreeMap<(FlowTarget, FlowOrigin), u64>,
}

impl ArgumentFlows {
    /// Collects the links of one run.
    pub fn add_run(&mut self, run: &Run<'_>) {
        let mut known: BTreeMap<String, BTreeSet<FlowOrigin>> = BTreeMap::new();
        let mut texts: Vec<(&str, &str)> = Vec::new();
        let mut budget = SEARCHED;
        for step in run.steps.iter().filter(|step| step.kind == StepKind::Call && step.status.is_executed()) {
            self.targets_of(step, &known, &texts, &mut budget);
            remember_call(step, &mut known, &mut texts);
        }
    }

    fn targets_of(
        &mut self,
        step: &Step<'_>,
        known: &BTreeMap<String, BTreeSet<FlowOrigin>>,
        texts: &[(&str, &str)],
        budget: &mut usize,
    ) {
        for (key, value) in call_arguments(step) {
            let Some(text) = traceable_text(&value) else { continue };
            let target = (step.name.to_owned(), key.to_owned());
            let (count, values) = self.targets.entry(target.clone()).or_default();
            *count += 1;
            if values.len() < 8 {
                values.insert(text.clone());
            }
            let mut origins: BTreeSet<FlowOrigin> = known.get(&text).cloned().unwrap_or_default();
            for (tool, result) in texts {
                let Some(left) = budget.checked_sub(result.len()) else { break };
                *budget = left;
                if text.len() > SHORTEST && result.contains(text.as_str()) {
                    origins.insert(((*tool).to_owned(), ValueOrigin::Text));
                }
            }
            for origin in origins.into_iter().filter(|(tool, _)| tool != step.name) {
                let link = (target.clone(), origin);
                if self.links.len() < MOST_LINKS || self.links.contains_key(&link) {
                    *self.links.entry(link).or_default() += 1;
                }
            }
        }
    }

    /// Returns the links that always held, with at least two distinct values.
    pub fn certain_flows(&self) -> impl Iterator<Item = (&FlowTarget, &FlowOrigin, u64)> {
        self.links.iter().filter_map(|((target, origin), count)| {
            let (all, values) = self.targets.get(target)?;
            (count == all && values.len() >= 2).then_some((target, origin, *count))
        })
    }
}

pub(super) fn call_arguments<'run>(step: &Step<'run>) -> impl Iterator<Item = (&'run str, Value<'run>)> {
    let object = match step.object.get("args").map(|node| node.value) {
        Some(Value::Object(object)) => Some(object),
        _ => None,
    };
    object.into_iter().flat_map(|object| object.entries()).map(|entry| (entry.key, entry.node.value))
}

/// Returns a value as text; `None` for a value that occurs everywhere.
fn traceable_text(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Text(text) => {
            let text = text.as_str();
            (SHORTEST..=LONGEST).contains(&text.len()).then(|| text.to_owned())
        }
        Value::Number(number) => {
            let integer = number.as_i64()?;
            (integer.unsigned_abs() >= SMALLEST).then(|| integer.to_string())
        }
        _ => None,
    }
}

fn remember_call<'run>(
    step: &Step<'run>,
    known: &mut BTreeMap<String, BTreeSet<FlowOrigin>>,
    texts: &mut Vec<(&'run str, &'run str)>,
) {
    let mut learn = |text: String, place: ValueOrigin| {
        known.entry(text).or_default().insert((step.name.to_owned(), place));
    };
    for (key, value) in call_arguments(step) {
        if let Some(text) = traceable_text(&value) {
            learn(text, ValueOrigin::Argument(key.to_owned()));
        }
    }
    match step.object.get("result").map(|node| node.value) {
        Some(Value::Text(text)) => texts.push((step.name, text.as_str())),
        Some(value) => {
            let mut left = MOST_VALUES;
            visit_values(&Node::computed(value), &mut Vec::new(), &mut left, &mut learn);
        }
        None => {}
    }
}

fn visit_values(
    node: &Node<'_>,
    path: &mut Vec<Option<String>>,
    left: &mut usize,
    learn: &mut impl FnMut(String, ValueOrigin),
) {
    if *left == 0 || path.len() > DEEPEST {
        return;
    }
    *left -= 1;
    match node.value {
        Value::Object(object) => {
            for entry in object.entries() {
                path.push(Some(entry.key.to_owned()));
                visit_values(&entry.node, path, left, learn);
                path.pop();
            }
        }
        Value::List(elements) => {
            path.push(None);
            elements.iter().for_each(|element| visit_values(element, path, left, learn));
            path.pop();
        }
        value => {
            if let Some(text) = traceable_text(&value) {
                learn(text, ValueOrigin::Result(path.clone()));
            }
        }
    }
}
