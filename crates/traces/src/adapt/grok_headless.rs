//! Grok CLI of Superagent: the events of `--format json`. A call stands there with what it gave.

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall, instant_node};
use super::fields::{key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::ToolCallKey;
use super::nodes::{items_of, node_object, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;

key_table! {
    HeadlessKey {
        Type = "type",
        Session = "sessionID",
        Step = "stepNumber",
        Time = "timestamp",
        Words = "text",
        Call = "toolCall",
        Result = "toolResult",
        Timing = "timing",
        Started = "startedAt",
        Ended = "finishedAt",
        Success = "success",
        Output = "output",
        Error = "error",
        Usage = "usage",
        Message = "message",
    }
}

key_table! {
    HeadlessType {
        Step = "step_start",
        Said = "text",
        Call = "tool_use",
        StepEnd = "step_finish",
        Error = "error",
        End = "run_finish",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Grok CLI events",
    known_by: "events with a `stepNumber`, whose `type` is `step_start`, `tool_use` with a `toolCall`, …",
    description: "events of Superagent's Grok CLI (`--format json`)",
    marks: &[HeadlessKey::Step.key()],
    item_marks: &[HeadlessKey::Step.key()],
    element: is_event,
    line: is_event,
    beside: |event| kind_of(event).is_some() && value_of(event, HeadlessKey::Time).is_some(),
    record_ids: RecordIds::of_call(&[&[HeadlessKey::Call.key(), ToolCallKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn kind_of(event: Object<'_>) -> Option<HeadlessType> {
    text_of(event, HeadlessKey::Type).and_then(HeadlessType::from_key)
}

fn is_event(event: Object<'_>) -> bool {
    let has = |key| value_of(event, key).is_some();
    has(HeadlessKey::Step) && has(HeadlessKey::Time) && kind_of(event).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    let (mut wrong, mut is_over) = (None, false);
    for node in items_of::<HeadlessKey>(root, &[]) {
        conversation.builder.count_record();
        let Some((event, kind)) = node_object(*node).and_then(|event| Some((event, kind_of(event)?))) else {
            conversation.builder.skip_value(node, "an event of unknown type is skipped");
            continue;
        };
        if !conversation.builder.has_entry(of_run::ID) {
            conversation.builder.set_some(of_run::ID, value_of(event, HeadlessKey::Session));
        }
        let meta = StepMeta { time: value_of(event, HeadlessKey::Time).and_then(instant_node), ..StepMeta::default() };
        conversation.note_time(meta.time);
        match kind {
            HeadlessType::Step => {
                wrong = None;
                conversation.begin_turn();
            }
            HeadlessType::Said => {
                let words = value_of(event, HeadlessKey::Words);
                words
                    .into_iter()
                    .for_each(|words| conversation.add_message(Speaker::Assistant, words, &meta, node.origin));
            }
            HeadlessType::Call => add_call(&mut conversation, *node, event),
            HeadlessType::StepEnd => {
                if let Some(counts) = object_of(event, HeadlessKey::Usage) {
                    let mut usage = TokenUsage::default();
                    usage.add_usage(counts);
                    conversation.usage.merge_usage(&usage);
                }
            }
            HeadlessType::Error => wrong = value_of(event, HeadlessKey::Message),
            HeadlessType::End => is_over = true,
        }
    }
    let builder = conversation.finish_with_tools();
    builder.set_some(of_run::ERROR, wrong);
    if !is_over {
        builder.add_warning(root.origin, "the end of the run is not told");
    }
    Ok(())
}

fn add_call<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, event: Object<'run>) {
    let times = object_of(event, HeadlessKey::Timing);
    let at = |key| {
        let time = times.and_then(|times| value_of(times, key)).and_then(instant_node);
        StepMeta { time, ..StepMeta::default() }
    };
    let call = object_of(event, HeadlessKey::Call);
    let function = call.map(|call| object_of(call, ToolCallKey::Function).unwrap_or(call));
    let of = |key| function.and_then(|function| value_of(function, key));
    let made = ToolCall {
        tool: of(ToolCallKey::Name).unwrap_or(Node::computed(Value::Null)),
        args: of(ToolCallKey::Arguments),
        id: call.and_then(|call| value_of(call, ToolCallKey::Id)),
        origin: node.origin,
    };
    let Some(step) = conversation.add_call(made, &at(HeadlessKey::Started)) else { return };
    let Some(given) = object_of(event, HeadlessKey::Result) else { return };
    let error = value_of(given, HeadlessKey::Error);
    let status = match value_of(given, HeadlessKey::Success).map(|success| success.value) {
        Some(Value::Boolean(true)) => Some(StepStatus::Ok),
        Some(Value::Boolean(false)) => Some(StepStatus::Failed),
        _ => None,
    };
    let result = value_of(given, HeadlessKey::Output).or(error);
    let error = error.filter(|_| status != Some(StepStatus::Ok));
    conversation.end_within(
        step,
        CallResult { result, error, status, ..CallResult::default() },
        &at(HeadlessKey::Ended),
    );
}
