//! Trae Agent: the file of a trajectory. The steps hold what the model asked for and what came of it; the requests repeat it.

use super::block_session;
use super::blocks::{BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_object, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::StepStatus;

key_table! {
    TraeKey {
        Steps = "agent_steps",
        Requests = "llm_interactions",
        Task = "task",
        Model = "model",
        Answer = "final_result",
        Number = "step_number",
        Time = "timestamp",
        Response = "llm_response",
        Answered = "response",
        Content = "content",
        Usage = "usage",
        Calls = "tool_calls",
        Results = "tool_results",
        Call = "call_id",
        Name = "name",
        Arguments = "arguments",
        Success = "success",
        Result = "result",
        Error = "error",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Trae Agent trajectory",
    known_by: "`agent_steps` beside `llm_interactions`",
    description: "trajectories of Trae Agent (`agent_steps`, `llm_interactions`)",
    marks: &[TraeKey::Steps.key()],
    object: |object| [TraeKey::Steps, TraeKey::Requests].into_iter().all(|key| list_of(object, key).is_some()),
    read: read_run,
    ..IN_FULL
};

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(run) = node_object(root) else { return Ok(()) };
    let mut conversation = ConversationBuilder::from_parts(builder);
    conversation.add_meta(of_meta::MODEL, value_of(run, TraeKey::Model));
    if let Some(task) = value_of(run, TraeKey::Task) {
        conversation.add_text(Speaker::User, task, &StepMeta::default(), task.origin);
    }
    let steps = list_of(run, TraeKey::Steps).unwrap_or_default();
    for (node, step) in conversation.builder.record_objects(steps) {
        conversation.builder.count_record();
        match value_of(step, TraeKey::Number) {
            Some(_) => add_step(&mut conversation, node, step),
            None => conversation.builder.skip_record(node.origin, "a step without its number is skipped"),
        }
    }
    // Calls of a request without a step were asked for, and nothing tells whether they were made.
    for (node, request) in conversation.builder.record_objects(list_of(run, TraeKey::Requests).unwrap_or_default()) {
        let answer = object_of(request, TraeKey::Answered);
        if answer.is_none() {
            conversation.builder.note_unknown(node.origin, "a request without its response is skipped");
        }
        note_untold(&conversation, node, answer);
    }
    let answer = value_of(run, TraeKey::Answer).filter(|answer| matches!(answer.value, Value::Text(_)));
    let builder = conversation.finish_run();
    builder.set_some(of_run::OUTPUT, answer);
    Ok(())
}

fn note_untold<'run>(conversation: &ConversationBuilder<'_, 'run, '_>, node: Node<'run>, answer: Option<Object<'run>>) {
    let asked = answer.and_then(|answer| list_of(answer, TraeKey::Calls)).unwrap_or_default();
    let is_told =
        |call: Object<'run>| text_of(call, TraeKey::Call).is_some_and(|id| conversation.find_call(id).is_some());
    if object_items(asked).any(|(_, call)| !is_told(call)) {
        conversation.builder.note_unknown(node.origin, "a request has calls of which no step tells");
    }
}

fn add_step<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, step: Object<'run>) {
    conversation.begin_turn();
    let time = value_of(step, TraeKey::Time).and_then(instant_node);
    let meta = StepMeta { time, ..StepMeta::default() };
    if let Some(answer) = object_of(step, TraeKey::Response) {
        if let Some(said) = value_of(answer, TraeKey::Content) {
            conversation.add_content(Speaker::Assistant, said, &meta, node.origin);
        }
        if let Some(counts) = object_of(answer, TraeKey::Usage) {
            let mut usage = TokenUsage::default();
            usage.add_usage(counts);
            conversation.add_usage(&usage, value_of(answer, TraeKey::Model));
        }
    }
    for (at, call) in conversation.builder.record_objects(list_of(step, TraeKey::Calls).unwrap_or_default()) {
        let [tool, args, id] = [TraeKey::Name, TraeKey::Arguments, TraeKey::Call].map(|key| value_of(call, key));
        block_session::add_call(conversation, at, BlockCall { tool, args, id, answer: None }, &meta);
    }
    note_untold(conversation, node, object_of(step, TraeKey::Response));
    for (at, given) in conversation.builder.record_objects(list_of(step, TraeKey::Results).unwrap_or_default()) {
        let status = match value_of(given, TraeKey::Success).map(|node| node.value) {
            Some(Value::Boolean(true)) => StepStatus::Ok,
            Some(Value::Boolean(false)) => StepStatus::Failed,
            _ => StepStatus::Unknown,
        };
        let result = value_of(given, TraeKey::Result);
        let answer = BlockResult {
            id: text_of(given, TraeKey::Call),
            result: if status == StepStatus::Failed { value_of(given, TraeKey::Error).or(result) } else { result },
            is_value: true,
            failed: status == StepStatus::Failed,
            status: Some(status),
        };
        block_session::add_result(conversation, at, &answer, None, &meta);
    }
}
