//! smolagents: the steps in an agent's memory. A step of a code agent calls `python_interpreter`: the tools that its code calls stand in
//! the code alone, and count as not recorded.

use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall, instant_node};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::ToolCallKey;
use super::nodes::{items_of, list_of, node_object, node_text, object_items, object_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, absent_node};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    SmolKey {
        /// The result of a run: its steps, the answer, and how it ended.
        Steps = "steps" | "messages",
        State = "state",
        System = "system_prompt",
        Task = "task",
        /// The last names are those of the first versions.
        Number = "step_number" | "step",
        Calls = "tool_calls",
        Error = "error",
        Why = "message",
        Said = "model_output" | "llm_output",
        Observed = "observations",
        Output = "action_output",
        Usage = "token_usage",
        Final = "is_final_answer",
        Timing = "timing",
        Start = "start_time",
        End = "end_time",
        Plan = "plan",
        Answer = "output",
        Code = "code_action",
        Message = "model_output_message",
    }
}

key_table! {
    SmolState {
        Most = "max_steps_error",
    }
}

key_table! {
    /// The one argument of the tool that ends a run.
    SmolAnswer {
        Answer = "answer",
    }
}

key_table! {
    SmolTool {
        Final = "final_answer",
        Code = "python_interpreter",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "smolagents steps",
    known_by: "steps with a `step_number` beside `tool_calls`, `observations` or `model_output`",
    description: "steps of agents of smolagents (a list, one a line, or under `steps` of a `RunResult`)",
    marks: &[SmolKey::Number.key(), SmolKey::Said.last_key(), SmolKey::Steps.key(), SmolKey::Steps.last_key()],
    near: &[SmolKey::Final.key(), SmolKey::Output.key()],
    object: |object| is_step(object) || steps_of(object).is_some(),
    item_marks: &[SmolKey::Number.key(), SmolKey::Said.last_key()],
    element: is_step,
    line: is_step,
    record_ids: RecordIds::of_call(&[&[SmolKey::Calls.key(), ToolCallKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_step(step: Object<'_>) -> bool {
    let has = |field| step.field(field).is_some();
    matches!(step.field(SmolKey::Number).map(|number| number.value), Some(Value::Number(_)))
        && has(SmolKey::Observed)
        && (has(SmolKey::Final) || has(SmolKey::Said) || has(SmolKey::Output) || has(SmolKey::Message))
}

fn steps_of(result: Object<'_>) -> Option<&[Node<'_>]> {
    list_of(result, SmolKey::Steps).filter(|steps| object_items(steps).any(|(_, step)| is_step(step)))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let result = node_object(*root).filter(|result| steps_of(*result).is_some());
    let mut conversation = ConversationBuilder::new(builder);
    let mut runs_code = false;
    for node in items_of(root, &[SmolKey::Steps]) {
        conversation.builder.count_record();
        let Some(step) = node_object(*node) else {
            conversation.builder.skip_value(node, "what is no step is skipped");
            continue;
        };
        let meta = StepMeta::default();
        if value_of(step, SmolKey::Number).is_some() {
            runs_code |= value_of(step, SmolKey::Code).is_some();
            runs_code |= add_step(&mut conversation, *node, step);
        } else if let Some(words) = value_of(step, SmolKey::Task) {
            conversation.add_content(Speaker::User, words, &meta, node.origin);
        } else if let Some(words) = value_of(step, SmolKey::System) {
            conversation.add_content(Speaker::System, words, &meta, node.origin);
        } else if let Some(words) = value_of(step, SmolKey::Plan) {
            conversation.add_content(Speaker::Thinking, words, &meta, node.origin);
            count_usage(&mut conversation, step);
        } else if let Some(answer) = value_of(step, SmolKey::Answer) {
            conversation.builder.set_entry(of_run::OUTPUT, answer);
        } else {
            conversation.builder.skip_record(node.origin, "a step of unknown kind is skipped");
        }
    }
    if runs_code {
        conversation.builder.add_warning(
            root.origin,
            "calls count as not recorded: code calls tools, and only the code is written down",
        );
    }
    let builder = conversation.finish_run();
    if let Some(result) = result {
        builder.set_some(of_run::OUTPUT, value_of(result, SmolKey::Answer));
        let state = value_of(result, SmolKey::State);
        let is_over = |state: &Node<'_>| node_text(*state).and_then(SmolState::from_key).is_some();
        builder.set_some(of_run::ERROR, state.filter(is_over));
    }
    if runs_code {
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}

fn count_usage<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, step: Object<'run>) {
    if let Some(counts) = object_of(step, SmolKey::Usage) {
        let mut usage = TokenUsage::default();
        usage.add_usage(counts);
        conversation.usage.merge_usage(&usage);
    }
}

/// True if the step ran code.
fn add_step<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, step: Object<'run>) -> bool {
    let timing = object_of(step, SmolKey::Timing).unwrap_or(step);
    let at = |field| value_of(timing, field).and_then(instant_node);
    let start = StepMeta { time: at(SmolKey::Start), ..StepMeta::default() };
    let end = StepMeta { time: at(SmolKey::End), ..StepMeta::default() };
    conversation.begin_turn();
    count_usage(conversation, step);
    // What the model writes is its way to the call; the answer is given by a tool.
    if let Some(said) = value_of(step, SmolKey::Said) {
        let words = content::content_text(said, conversation.builder.arena);
        words.into_iter().for_each(|words| conversation.add_message(Speaker::Thinking, words, &start, node.origin));
    }
    let mut made = Vec::new();
    let (mut runs_code, mut is_final) = (false, false);
    let mut answer = value_of(step, SmolKey::Output);
    for (at, call) in calls_of(conversation, step) {
        let function = object_of(call, ToolCallKey::Function).unwrap_or(call);
        let tool = function.field(ToolCallKey::Name).unwrap_or(Node::computed(Value::Null));
        let kind = node_text(tool).and_then(SmolTool::from_key);
        runs_code |= kind == Some(SmolTool::Code);
        is_final |= kind == Some(SmolTool::Final);
        let args = function.field(ToolCallKey::Arguments);
        let id = call.field(ToolCallKey::Id);
        if kind == Some(SmolTool::Final) {
            answer = answer.or_else(|| args.and_then(node_object).and_then(|args| value_of(args, SmolAnswer::Answer)));
        }
        made.extend(conversation.add_call(ToolCall { tool, args, id, origin: at.origin }, &start));
    }
    add_outcome(conversation, step, &made, &end);
    if super::fields::is_true(&step, &super::fields::NodeShapes, SmolKey::Final) || is_final && made.len() == 1 {
        conversation.builder.set_some(of_run::OUTPUT, answer);
    }
    runs_code
}

/// A step lists its calls only once all of them have ended: those of a step that failed stand in the message of the model alone.
fn calls_of<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    step: Object<'run>,
) -> impl Iterator<Item = (Node<'run>, Object<'run>)> + use<'run> {
    let listed = list_of(step, SmolKey::Calls).unwrap_or_default();
    let asked = object_of(step, SmolKey::Message).and_then(|message| list_of(message, SmolKey::Calls));
    let calls = if listed.is_empty() { asked.unwrap_or_default() } else { listed };
    conversation.builder.record_objects(calls)
}

/// Observations belong to all calls of a step together: of several nobody knows whose they are.
fn add_outcome<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    step: Object<'run>,
    made: &[super::run_builder::StepId],
    end: &StepMeta<'run>,
) {
    let error = value_of(step, SmolKey::Error);
    let why = error.map(|error| node_object(error).and_then(|error| value_of(error, SmolKey::Why)).unwrap_or(error));
    if let [call] = made {
        let observed = value_of(step, SmolKey::Observed).filter(|seen| node_text(*seen) != Some(""));
        let result = observed.or_else(|| value_of(step, SmolKey::Output)).or(why);
        let status = if error.is_some() { StepStatus::Failed } else { StepStatus::Ok };
        let outcome = CallResult { result, error: why, status: Some(status), ..CallResult::default() };
        conversation.end_call(*call, outcome, end);
        return;
    }
    made.iter().for_each(|call| conversation.builder.set_field(*call, of_step::RESULT, absent_node()));
    conversation.note_input();
}
