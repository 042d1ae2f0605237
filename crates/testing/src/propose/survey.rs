//! Statistics about the runs.

use super::flow::{ArgumentFlows, call_arguments};
use super::values::KeyValues;
use averment_base::value::{Node, Value};
use averment_runs::run::{Run, Step, StepKind};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of tools that are compared pairwise.
const MOST_TOOLS: usize = 60;
/// Maximum number of keys examined per tool.
const MOST_KEYS: usize = 40;

#[derive(Debug, Default)]
pub(super) struct ToolSurvey {
    /// Number of runs that call it.
    pub runs: u64,
    /// Number of calls in all runs.
    pub calls: u64,
    /// Maximum number of calls in one run.
    pub most: u64,
    /// Its arguments by key.
    pub arguments: BTreeMap<String, KeyValues>,
}

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct ToolPair {
    /// Number of runs in which the first call of one tool precedes all calls of the other.
    pub before: u64,
    /// Number of runs in which the last call of the other tool follows all calls of the one.
    pub after: u64,
}

#[derive(Debug, Default)]
pub(super) struct LargestNumber {
    /// Number of runs that record it.
    pub runs: u64,
    /// The largest value.
    pub most: f64,
}

impl LargestNumber {
    fn add_node(&mut self, node: Node<'_>) {
        if let Value::Number(number) = node.value {
            self.runs += 1;
            self.most = self.most.max(number.to_f64());
        }
    }
}

/// Statistics about the runs. Memory use does not grow with their number.
#[derive(Debug, Default)]
pub struct RunSurvey {
    pub(super) runs: u64,
    pub(super) with_calls: u64,
    pub(super) tools: BTreeMap<String, ToolSurvey>,
    pub(super) pairs: BTreeMap<(String, String), ToolPair>,
    pub(super) first: BTreeSet<String>,
    pub(super) last: BTreeSet<String>,
    pub(super) most_calls: u64,
    pub(super) most_in_a_row: u64,
    pub(super) duration: LargestNumber,
    pub(super) cost: LargestNumber,
    pub(super) tokens: LargestNumber,
    pub(super) turns: LargestNumber,
    pub(super) output: KeyValues,
    /// Its fields, if it is an object.
    pub(super) fields: BTreeMap<String, KeyValues>,
    pub(super) flows: ArgumentFlows,
}

impl RunSurvey {
    /// Adds one run.
    pub fn add_run(&mut self, run: &Run<'_>) {
        self.runs += 1;
        self.add_numbers(run);
        self.add_outcome(run);
        let calls: Vec<&Step<'_>> =
            run.steps.iter().filter(|step| step.kind == StepKind::Call && step.status.is_executed()).collect();
        if calls.is_empty() {
            return;
        }
        self.with_calls += 1;
        self.most_calls = self.most_calls.max(to_count(calls.len()));
        self.first.extend(calls.first().map(|call| call.name.to_owned()));
        self.last.extend(calls.last().map(|call| call.name.to_owned()));
        self.add_calls(&calls);
        self.add_order(&calls);
        self.most_in_a_row = self.most_in_a_row.max(in_a_row(&calls));
        self.flows.add_run(run);
    }

    /// Returns the number of runs.
    #[must_use]
    pub fn run_count(&self) -> u64 {
        self.runs
    }

    fn add_numbers(&mut self, run: &Run<'_>) {
        self.duration.add_node(run.root_value("duration"));
        self.cost.add_node(run.root_value("cost"));
        self.turns.add_node(run.root_value("turns"));
        if let Value::Object(usage) = run.root_value("usage").value
            && let Some(tokens) = usage.get("total_tokens")
        {
            self.tokens.add_node(tokens);
        }
    }

    fn add_outcome(&mut self, run: &Run<'_>) {
        let output = run.root_value("output").value;
        if matches!(output, Value::Absent) {
            return;
        }
        self.output.add_value(&output);
        if let Value::Object(object) = output {
            for entry in object.entries().iter().take(MOST_KEYS) {
                self.fields.entry(entry.key.to_owned()).or_default().add_value(&entry.node.value);
            }
        }
    }

    fn add_calls(&mut self, calls: &[&Step<'_>]) {
        let mut own: BTreeMap<&str, u64> = BTreeMap::new();
        for call in calls {
            *own.entry(call.name).or_default() += 1;
            let tool = self.tools.entry(call.name.to_owned()).or_default();
            tool.calls += 1;
            for (key, value) in call_arguments(call).take(MOST_KEYS) {
                if tool.arguments.len() < MOST_KEYS || tool.arguments.contains_key(key) {
                    tool.arguments.entry(key.to_owned()).or_default().add_value(&value);
                }
            }
        }
        for (name, count) in own {
            let tool = self.tools.entry(name.to_owned()).or_default();
            tool.runs += 1;
            tool.most = tool.most.max(count);
        }
    }

    fn add_order(&mut self, calls: &[&Step<'_>]) {
        let mut places: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (index, call) in calls.iter().enumerate() {
            places.entry(call.name).or_insert((index, index)).1 = index;
        }
        let places: Vec<(&str, (usize, usize))> = places.into_iter().take(MOST_TOOLS).collect();
        for &(one, (first, last)) in &places {
            for &(other, (other_first, other_last)) in places.iter().filter(|(other, _)| *other != one) {
                let pair = self.pairs.entry((one.to_owned(), other.to_owned())).or_default();
                pair.before += u64::from(first < other_first);
                pair.after += u64::from(last < other_last);
            }
        }
    }
}

pub(super) fn to_count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn in_a_row(calls: &[&Step<'_>]) -> u64 {
    let (mut most, mut row) = (0, 0);
    let mut last: Option<&Step<'_>> = None;
    for call in calls {
        let same = last.is_some_and(|last| {
            last.name == call.name && averment_base::value::compare::values_equal(&args_of(last), &args_of(call))
        });
        row = if same { row + 1 } else { 1 };
        most = most.max(row);
        last = Some(call);
    }
    most
}

fn args_of<'run>(step: &Step<'run>) -> Value<'run> {
    step.object.get("args").map_or(Value::Missing, |node| node.value)
}
