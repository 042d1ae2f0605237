//! The events of the second generation: `{kind, id, timestamp, source, …}`.

use super::{EventSource, OpenHandsKey};
use crate::adapt::calls::TokenUsage;
use crate::adapt::content;
use crate::adapt::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, is_true, key_table};
use crate::adapt::nodes::{first_of, node_object, object_of, text_of};
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::{Node, Number, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;

key_table! {
    SdkEventKey {
        Kind = "kind",
        Message = "llm_message",
        Content = "content",
        Prompt = "system_prompt",
        Thought = "thought",
        Tool = "tool_name",
        Call = "tool_call_id",
        ToolCall = "tool_call",
        Function = "function",
        Arguments = "arguments",
        Action = "action",
        Observation = "observation",
        ExitCode = "exit_code",
        Failed = "is_error",
        Error = "error",
        Reason = "rejection_reason",
        Said = "message",
        Detail = "detail",
        Code = "code",
    }
}

key_table! {
    SdkEventKind {
        Message = "MessageEvent",
        Action = "ActionEvent",
        Observation = "ObservationEvent",
        Error = "AgentErrorEvent",
        Rejected = "UserRejectObservation",
        Prompt = "SystemPromptEvent",
        Silent = "PauseEvent" | "Condensation" | "CondensationRequest" | "CondensationSummaryEvent"
            | "TokenEvent",
        /// The state of the conversation or a part of it, such as what it took so far.
        State = "ConversationStateUpdateEvent",
        /// Ended the conversation, unless it was resumed.
        Broken = "ConversationErrorEvent",
    }
}

key_table! {
    SdkStateKey {
        Part = "key",
        Value = "value",
        Stats = "stats",
        ByUse = "usage_to_metrics",
        Usage = "accumulated_token_usage",
        Cost = "accumulated_cost",
        Model = "model_name",
    }
}

pub(super) fn is_event(event: Object<'_>) -> bool {
    text_of(event, SdkEventKey::Kind).and_then(SdkEventKind::from_key).is_some()
        && text_of(event, OpenHandsKey::Source).is_some()
}

pub(super) fn read_events<'run>(events: &'run [Node<'run>], builder: &mut RunBuilder<'run, '_>) {
    let mut conversation = ConversationBuilder::new(builder);
    let (mut wrong, mut stats) = (None, None);
    for node in events {
        conversation.builder.count_record();
        let event = node_object(*node)
            .and_then(|event| Some((event, text_of(event, SdkEventKey::Kind).and_then(SdkEventKind::from_key)?)));
        match event {
            Some((event, SdkEventKind::Broken)) => {
                wrong = first_of(event, &[SdkEventKey::Detail, SdkEventKey::Code]);
            }
            Some((event, SdkEventKind::State)) => stats = told_stats(event).or(stats),
            Some((event, kind)) => {
                wrong = wrong.filter(|_| !continues_run(event, kind));
                read_event(&mut conversation, *node, event, kind);
            }
            None => conversation.builder.skip_value(node, "an event of unknown kind is skipped"),
        }
    }
    conversation.builder.set_some(of_run::ERROR, wrong);
    if let Some(stats) = stats {
        count_stats(&mut conversation, stats);
    }
    conversation.finish_with_tools();
}

/// Alone or in the whole state.
fn told_stats(event: Object<'_>) -> Option<Object<'_>> {
    let value = object_of(event, SdkStateKey::Value)?;
    let is_alone = text_of(event, SdkStateKey::Part) == Some(SdkStateKey::Stats.key());
    let stats = if is_alone { Some(value) } else { object_of(value, SdkStateKey::Stats) };
    object_of(stats?, SdkStateKey::ByUse)
}

/// What the run took, for each use of a model: the agent's, and that which sums up the conversation.
fn count_stats<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, stats: Object<'run>) {
    let mut cost = None;
    for metrics in stats.entries().iter().filter_map(|entry| node_object(entry.node)) {
        if let Some(counts) = object_of(metrics, SdkStateKey::Usage) {
            let mut usage = TokenUsage::default();
            usage.add_usage(counts);
            conversation.add_usage(&usage, first_of(metrics, &[SdkStateKey::Model]));
        }
        if let Some(Value::Number(spent)) = metrics.field(SdkStateKey::Cost).map(|node| node.value) {
            cost = cost.unwrap_or(Number::Integer(0)).add(spent).or(cost);
        }
    }
    conversation.builder.set_some(of_run::COST, cost.map(|cost| Node::computed(Value::Number(cost))));
}

/// The agent or its user acts: an earlier error was not the end.
fn continues_run(event: Object<'_>, kind: SdkEventKind) -> bool {
    let source = text_of(event, OpenHandsKey::Source).and_then(EventSource::from_key);
    matches!(kind, SdkEventKind::Message | SdkEventKind::Action) && source.is_some()
}

fn read_event<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    event: Object<'run>,
    kind: SdkEventKind,
) {
    let meta = StepMeta { time: event.field(OpenHandsKey::Time), ..StepMeta::default() };
    let of_agent = text_of(event, OpenHandsKey::Source).and_then(EventSource::from_key) == Some(EventSource::Agent);
    match kind {
        SdkEventKind::Message => {
            let content =
                object_of(event, SdkEventKey::Message).and_then(|message| message.field(SdkEventKey::Content));
            let speaker = if of_agent { Speaker::Assistant } else { Speaker::User };
            content.into_iter().for_each(|content| conversation.add_content(speaker, content, &meta, node.origin));
        }
        SdkEventKind::Prompt => {
            let words = event.field(SdkEventKey::Prompt);
            words.into_iter().for_each(|words| conversation.add_content(Speaker::System, words, &meta, node.origin));
        }
        SdkEventKind::Action => add_action(conversation, node, event, &meta),
        SdkEventKind::Observation => {
            let observation = object_of(event, SdkEventKey::Observation);
            let of = |field| observation.and_then(|observation| first_of(observation, &[field]));
            let given = of(SdkEventKey::Content).or(event.field(SdkEventKey::Observation));
            let result = given.map(|given| content::content_text(given, conversation.builder.arena).unwrap_or(given));
            let failed = observation.map(|observation| is_true(&observation, &NodeShapes, SdkEventKey::Failed));
            let exit_code = of(SdkEventKey::ExitCode).filter(|code| NodeShapes.has_shape(*code, ValueShape::Number));
            let status = match failed {
                Some(true) => Some(StepStatus::Failed),
                Some(false) if of(SdkEventKey::Failed).is_some() && exit_code.is_none() => Some(StepStatus::Ok),
                _ => None,
            };
            let outcome = CallResult { result, status, exit_code, ..CallResult::default() };
            conversation.add_result(text_of(event, SdkEventKey::Call), None, outcome, &meta, node.origin);
        }
        SdkEventKind::Error | SdkEventKind::Rejected => {
            let status = if kind == SdkEventKind::Error { StepStatus::Failed } else { StepStatus::Denied };
            let error = first_of(event, &[SdkEventKey::Error, SdkEventKey::Reason]);
            let outcome = CallResult { status: Some(status), error, ..CallResult::default() };
            conversation.add_result(text_of(event, SdkEventKey::Call), None, outcome, &meta, node.origin);
        }
        SdkEventKind::Silent | SdkEventKind::State | SdkEventKind::Broken => {}
    }
}

/// The last action holds the answer.
fn add_action<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    event: Object<'run>,
    meta: &StepMeta<'run>,
) {
    if let Some(thought) = event.field(SdkEventKey::Thought) {
        conversation.add_content(Speaker::Assistant, thought, meta, node.origin);
    }
    let call = object_of(event, SdkEventKey::ToolCall);
    let function = call.and_then(|call| object_of(call, SdkEventKey::Function)).or(call);
    let written = function.and_then(|function| function.field(SdkEventKey::Arguments));
    let args =
        written.or(event.field(SdkEventKey::Action).filter(|args| NodeShapes.has_shape(*args, ValueShape::Object)));
    let tool = event.field(SdkEventKey::Tool).unwrap_or(Node::computed(Value::Null));
    conversation.add_call(ToolCall { tool, args, id: event.field(SdkEventKey::Call), origin: node.origin }, meta);
    let said = object_of(event, SdkEventKey::Action).and_then(|action| first_of(action, &[SdkEventKey::Said]));
    if let (Some(words), Some(FINISH)) = (said, text_of(event, SdkEventKey::Tool)) {
        conversation.add_message(Speaker::Assistant, words, meta, node.origin);
    }
}

const FINISH: &str = "finish";
