//! DSPy: a prediction of `ReAct`, whose `trajectory` has the parts of each step under keys with its number.

use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{node_object, node_text};
use super::run_builder::{RunBuilder, StepId};
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::of_run;
use averment_runs::run::{StepKind, StepStatus};
use std::collections::BTreeMap;

key_table! {
    PredictionKey {
        Trajectory = "trajectory",
        /// How the answer was found in the trajectory.
        Thought = "reasoning",
    }
}

key_table! {
    /// What stands in front of the number of a step.
    TrajectoryPart {
        Thought = "thought",
        Tool = "tool_name",
        Arguments = "tool_args",
        Given = "observation",
        Code = "generated_code",
        Output = "code_output",
    }
}

key_table! {
    TrajectoryWord {
        /// The tool that ends the loop, and does nothing.
        Finish = "finish",
        Failed = "Execution error in ",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "DSPy prediction",
    known_by: "a `trajectory` with keys such as `tool_name_0` and `observation_0`",
    description: "predictions of ReAct in DSPy (`trajectory` with `tool_name_0`)",
    marks: &[PredictionKey::Trajectory.key(), FIRST],
    near: &[FIRST],
    object: |object| {
        let inside = value_of(object, PredictionKey::Trajectory).and_then(node_object);
        inside.is_some_and(is_trajectory) || is_trajectory(object)
    },
    read: read_run,
    ..IN_FULL
};

/// The tool of the first step.
const FIRST: &str = "tool_name_0";

fn part_of(key: &str) -> Option<(Option<TrajectoryPart>, u32)> {
    let (word, number) = key.rsplit_once('_')?;
    Some((TrajectoryPart::from_key(word), number.parse().ok()?))
}

fn is_trajectory(object: Object<'_>) -> bool {
    let is_part = |entry: &ObjectEntry<'_>| matches!(part_of(entry.key), Some((Some(_), _)));
    let parts = object.entries().iter().filter(|entry| is_part(entry)).count();
    let has_step = object
        .entries()
        .iter()
        .any(|entry| matches!(part_of(entry.key), Some((Some(TrajectoryPart::Tool | TrajectoryPart::Code), _))));
    has_step && parts * 2 > object.entries().len()
}

#[derive(Default)]
struct TrajectoryStep<'run> {
    parts: Vec<(TrajectoryPart, Node<'run>)>,
}

impl<'run> TrajectoryStep<'run> {
    fn part(&self, wanted: TrajectoryPart) -> Option<Node<'run>> {
        self.parts.iter().find(|(part, _)| *part == wanted).map(|(_, node)| *node)
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(object) = node_object(root) else { return Ok(()) };
    let inside = value_of(object, PredictionKey::Trajectory).and_then(node_object);
    let trajectory = inside.unwrap_or(object);
    let mut conversation = ConversationBuilder::from_parts(builder);
    let mut steps: BTreeMap<u32, TrajectoryStep<'run>> = BTreeMap::new();
    for entry in trajectory.entries() {
        match part_of(entry.key) {
            Some((Some(part), number)) => steps.entry(number).or_default().parts.push((part, entry.node)),
            _ => conversation
                .builder
                .note_unknown(entry.node.origin, "a part of a trajectory is of no known name: it may be a call"),
        }
    }
    // Where the words grew too long, the oldest steps were taken out.
    let lacks_first = steps.keys().next().is_some_and(|first| *first > 0);
    let mut runs_code = false;
    for step in steps.values() {
        conversation.builder.count_record();
        conversation.begin_turn();
        runs_code |= add_step(&mut conversation, step);
    }
    if lacks_first {
        conversation.builder.skip_record(root.origin, "the first steps of the trajectory are not there");
    }
    if runs_code {
        conversation.builder.add_warning(
            root.origin,
            "calls count as not recorded: code calls tools, and only the code is written down",
        );
    }
    let builder = conversation.finish_run();
    if runs_code {
        builder.mark_unrecorded(StepKind::Call);
    }
    // What a question was, and what role its text had, a prediction does not tell.
    builder.mark_unrecorded(StepKind::Message);
    if inside.is_some() {
        let is_answer = |entry: &&ObjectEntry<'_>| PredictionKey::from_key(entry.key).is_none();
        let answers: Vec<ObjectEntry<'run>> = object.entries().iter().filter(is_answer).copied().collect();
        match answers.as_slice() {
            [] => {}
            [only] => builder.set_entry(of_run::OUTPUT, only.node),
            all => {
                let all = builder.object_node(all);
                builder.set_entry(of_run::OUTPUT, all);
            }
        }
    }
    Ok(())
}

/// True if the step ran code.
fn add_step<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, step: &TrajectoryStep<'run>) -> bool {
    let meta = StepMeta::default();
    if let Some(words) = step.part(TrajectoryPart::Thought) {
        conversation.add_message(Speaker::Thinking, words, &meta, words.origin);
    }
    if let Some(tool) = step.part(TrajectoryPart::Tool) {
        let ends = node_text(tool).and_then(TrajectoryWord::from_key) == Some(TrajectoryWord::Finish);
        let made = ToolCall { tool, args: step.part(TrajectoryPart::Arguments), id: None, origin: tool.origin };
        let call = if ends { None } else { conversation.add_call(made, &meta) };
        call.into_iter().for_each(|call| end_step(conversation, call, step, &meta));
    } else if let Some(given) = step.part(TrajectoryPart::Given).filter(|_| step.part(TrajectoryPart::Code).is_none()) {
        conversation.builder.skip_record(given.origin, "what a step gave has no tool: it may be a call");
    }
    step.part(TrajectoryPart::Code).is_some()
}

fn end_step<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    call: StepId,
    step: &TrajectoryStep<'run>,
    meta: &StepMeta<'run>,
) {
    let Some(result) = step.part(TrajectoryPart::Given) else { return };
    let failed = node_text(result).is_some_and(|text| text.starts_with(TrajectoryWord::Failed.key()));
    let result = Some(result).filter(|result| !matches!(result.value, Value::Null));
    let status = Some(if failed { StepStatus::Failed } else { StepStatus::Ok });
    conversation.end_call(call, CallResult { result, status, ..CallResult::default() }, meta);
}
