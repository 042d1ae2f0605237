//! Browser Use: the history of an agent (`save_to_file`). A step has the actions that the model chose and, in the same order, their results.
//! The task is not written down, and neither is what anybody said.

use super::blocks::{BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, StepMeta, instant_node};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_object, object_of};
use super::run_builder::RunBuilder;
use super::{block_session, blocks};
use averment_base::value::{Node, Object, Value, ValueText};
use averment_runs::normal::{of_run, of_usage};
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    BrowserKey {
        History = "history",
        Model = "model_output",
        Results = "result",
        State = "state",
        Actions = "action",
        Metadata = "metadata",
        Start = "step_start_time",
        End = "step_end_time",
        Usage = "usage",
        TokensIn = "total_prompt_tokens",
        TokensOut = "total_completion_tokens",
        Cost = "total_cost",
    }
}

key_table! {
    BrowserResultKey {
        Result = "extracted_content" | "long_term_memory",
        Error = "error",
        Done = "is_done",
        Other = "success" | "judgement" | "attachments" | "images" | "metadata" | "include_in_memory"
            | "include_extracted_content_only_once",
    }
}

key_table! {
    /// What the page had where an action points: written beside the action by `model_actions()`.
    BesideAction {
        Any = "interacted_element",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Browser Use history",
    known_by: "a `history` of steps with `model_output`, `result` and `state`",
    description: "histories of Browser Use (`history` of steps with `model_output` and `result`)",
    marks: &[BrowserKey::History.key()],
    near: &[BrowserKey::Model.key()],
    object: |object| {
        list_of(object, BrowserKey::History).is_some_and(|steps| super::nodes::objects_of(steps).any(is_step))
    },
    read: read_run,
    ..IN_FULL
};

fn is_step(step: Object<'_>) -> bool {
    list_of(step, BrowserKey::Results).is_some()
        && object_of(step, BrowserKey::State).is_some()
        && (object_of(step, BrowserKey::Model).is_some() || step.field(BrowserKey::Model).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(run) = node_object(root) else { return Ok(()) };
    let mut conversation = ConversationBuilder::new(builder);
    let mut answer = None;
    for (node, step) in conversation.builder.record_objects(list_of(run, BrowserKey::History).unwrap_or_default()) {
        conversation.builder.count_record();
        if is_step(step) {
            answer = add_step(&mut conversation, step).or(answer);
        } else {
            conversation.builder.skip_record(node.origin, "a step without `model_output` and `result` is skipped");
        }
    }
    let usage = object_of(run, BrowserKey::Usage);
    let builder = conversation.finish_run();
    builder.set_some(of_run::OUTPUT, answer);
    if let Some(usage) = usage {
        let mut counts = TokenUsage::default();
        counts.add_count(of_usage::INPUT, value_of(usage, BrowserKey::TokensIn));
        counts.add_count(of_usage::OUTPUT, value_of(usage, BrowserKey::TokensOut));
        counts.set_usage(builder);
        builder.set_some(of_run::COST, value_of(usage, BrowserKey::Cost));
    }
    builder.mark_unrecorded(StepKind::Message);
    Ok(())
}

/// The answer, where the step ends the run.
fn add_step<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, step: Object<'run>) -> Option<Node<'run>> {
    conversation.begin_turn();
    let times = object_of(step, BrowserKey::Metadata);
    let at = |key| times.and_then(|times| value_of(times, key)).and_then(instant_node);
    let meta = StepMeta { time: at(BrowserKey::Start), ..StepMeta::default() };
    conversation.note_time(at(BrowserKey::End));
    let mut results = Vec::new();
    for (node, result) in conversation.builder.record_objects(list_of(step, BrowserKey::Results).unwrap_or_default()) {
        let is_known = |key: &str| BrowserResultKey::from_key(key).is_some();
        if !result.entries().is_empty() && !result.entries().iter().any(|entry| is_known(entry.key)) {
            conversation.builder.skip_record(node.origin, "a result of unknown form is skipped");
        }
        results.push(result);
    }
    let model = value_of(step, BrowserKey::Model);
    let actions = model.and_then(node_object).and_then(|model| list_of(model, BrowserKey::Actions));
    if let Some(model) = model.filter(|_| actions.is_none()) {
        conversation.builder.skip_record(model.origin, "what a model wrote without `action` is skipped");
    }
    let actions = actions.unwrap_or_default();
    let calls: Vec<_> = conversation
        .builder
        .record_objects(actions)
        .filter_map(|(node, one)| view_action(conversation, node, one))
        .collect();
    let answer = results.last().filter(|last| is_true(*last, &NodeShapes, BrowserResultKey::Done));
    let answer = answer.and_then(|last| value_of(*last, BrowserResultKey::Result));
    // An error of the step as a whole stands alone, whichever action it came of.
    let of_step =
        matches!(&results[..], [only] if calls.len() > 1 && value_of(*only, BrowserResultKey::Error).is_some());
    for (place, (tool, args)) in calls.into_iter().enumerate() {
        let outcome = if of_step { None } else { results.get(place).copied() };
        let answer = match outcome {
            Some(outcome) => view_result(outcome),
            // The page changed before: the rest of the actions was left.
            None if !of_step && !results.is_empty() => unanswered(StepStatus::Pending),
            None => unanswered(StepStatus::Unknown),
        };
        let call = BlockCall { tool: Some(tool), args: Some(args), id: None, answer: Some(answer) };
        block_session::add_call(conversation, args, call, &meta);
    }
    conversation.note_input();
    answer
}

fn unanswered<'run>(status: StepStatus) -> BlockResult<'run> {
    BlockResult { status: Some(status), is_value: true, ..BlockResult::default() }
}

fn view_result(result: Object<'_>) -> BlockResult<'_> {
    let error = value_of(result, BrowserResultKey::Error);
    BlockResult {
        result: error.or_else(|| value_of(result, BrowserResultKey::Result)),
        is_value: true,
        failed: error.is_some(),
        status: Some(if error.is_some() { StepStatus::Failed } else { StepStatus::Ok }),
        id: None,
    }
}

/// The only key of an action is its name; the value holds its arguments. An empty action is none.
fn view_action<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    action: Object<'run>,
) -> Option<(Node<'run>, Node<'run>)> {
    let mut named = action.entries().iter().filter(|entry| BesideAction::from_key(entry.key).is_none());
    match (named.next(), named.next()) {
        (Some(only), None) if matches!(only.node.value, Value::Object(_) | Value::Null) => {
            let tool = Node::new(Value::Text(ValueText::Plain(only.key)), only.node.origin);
            let has_args = !matches!(only.node.value, Value::Null);
            Some((tool, if has_args { only.node } else { conversation.builder.object_node(&[]) }))
        }
        (None, _) => None,
        _ => {
            conversation.builder.skip_record(node.origin, blocks::UNKNOWN);
            None
        }
    }
}
