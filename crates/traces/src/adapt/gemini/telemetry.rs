//! Gemini CLI and Qwen Code: the log of their telemetry (`--telemetry-outfile`). It tells of calls when they are over, and not what they
//! gave; spans and counts beside the log tell the same once more.

use crate::adapt::calls::{TokenUsage, parse_arguments};
use crate::adapt::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use crate::adapt::fields::{FieldRecord as _, key_table, value_of};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::nodes::{items_of, node_object, node_text, object_of, text_of};
use crate::adapt::repeated_records::RecordIds;
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_usage, role};
use averment_runs::run::StepStatus;

key_table! {
    TelemetryKey {
        Attributes = "attributes",
        Clock = "hrTime",
        Event = "event.name",
        Time = "event.timestamp",
        Session = "session.id",
        Prompt = "prompt",
        Tool = "function_name",
        Args = "function_args",
        Success = "success",
        Decision = "decision",
        Error = "error",
        Took = "duration_ms",
        Model = "model",
        In = "input_token_count",
        Out = "output_token_count",
        Read = "cached_content_token_count",
        Thoughts = "thoughts_token_count",
        /// Of counts and of spans, which stand in the same file.
        Beside = "scopeMetrics" | "startTime",
    }
}

key_table! {
    /// Events behind the name of the program.
    TelemetryEvent {
        Asked = "user_prompt",
        Call = "tool_call",
        Response = "api_response",
        Error = "api_error",
        /// What the program does around requests and calls, and the request again in other words.
        Silent = "config" | "api_request" | "api_cancel" | "flash_fallback" | "ripgrep_fallback" | "slash_command" | "next_speaker_check"
            | "slash_command.model" | "loop_detected" | "loop_detection_disabled" | "chat_compression" | "malformed_json_response"
            | "chat.invalid_chunk" | "chat.content_retry" | "chat.content_retry_failure" | "conversation_finished"
            | "file_operation" | "model_routing" | "ide_connection" | "tool_output_truncated" | "startup_stats" | "hook_call"
            | "agent.start" | "agent.finish" | "extension_install" | "extension_uninstall" | "extension_update"
            | "extension_enable" | "extension_disable" | "web_fetch_fallback_attempt" | "edit_strategy" | "edit_correction",
    }
}

key_table! {
    TelemetryPrefix {
        Any = "gemini_cli." | "qwen-code.",
    }
}

key_table! {
    /// The request in the words of the convention, and what a person decided not to have done.
    TelemetryWord {
        Convention = "gen_ai.client.inference.operation.details",
        Rejected = "reject",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Gemini CLI telemetry",
    known_by: "records with `hrTime` and `attributes` whose `event.name` is `gemini_cli.tool_call` or its kin",
    description: "logs of the telemetry of Gemini CLI and Qwen Code (`--telemetry-outfile`)",
    near: &[TelemetryKey::Clock.key()],
    marks: &[TelemetryKey::Clock.key()],
    item_marks: &[TelemetryKey::Clock.key()],
    element: |record| event_of(record).is_some_and(|(_, event)| event.is_some()),
    line: |record| event_of(record).is_some_and(|(_, event)| event.is_some()),
    beside: |record| event_of(record).is_some() || record.field(TelemetryKey::Beside).is_some(),
    record_ids: RecordIds::shared(&[&[TelemetryKey::Attributes.key(), TelemetryKey::Time.key()]]),
    read: read_run,
    partial_roles: &[role::USER, role::ASSISTANT],
    ..IN_FULL
};

/// The attributes of a record of the log, and its event if it is known.
fn event_of(record: Object<'_>) -> Option<(Object<'_>, Option<TelemetryEvent>)> {
    let attributes =
        object_of(record, TelemetryKey::Attributes).filter(|_| record.field(TelemetryKey::Clock).is_some())?;
    let word = text_of(attributes, TelemetryKey::Event)?;
    if TelemetryWord::from_key(word) == Some(TelemetryWord::Convention) {
        return Some((attributes, Some(TelemetryEvent::Silent)));
    }
    let own = TelemetryPrefix::Any.keys().iter().find_map(|prefix| word.strip_prefix(prefix))?;
    Some((attributes, TelemetryEvent::from_key(own)))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::new(builder);
    let mut wrong = None;
    for node in items_of::<TelemetryKey>(root, &[]) {
        conversation.builder.count_record();
        match node_object(*node).map(|record| (record, event_of(record))) {
            Some((_, Some((event, Some(kind))))) => {
                if !conversation.builder.has_entry(of_run::ID) {
                    conversation.builder.set_some(of_run::ID, value_of(event, TelemetryKey::Session));
                }
                match kind {
                    TelemetryEvent::Error => wrong = value_of(event, TelemetryKey::Error),
                    TelemetryEvent::Response => wrong = None,
                    _ => {}
                }
                add_event(&mut conversation, *node, event, kind);
            }
            Some((record, None)) if record.field(TelemetryKey::Beside).is_some() => {}
            _ => conversation.builder.skip_value(node, "an event of unknown name is skipped"),
        }
    }
    let builder = conversation.finish_run();
    builder.set_some(of_run::ERROR, wrong);
    Ok(())
}

fn add_event<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    event: Object<'run>,
    kind: TelemetryEvent,
) {
    let meta = StepMeta { time: value_of(event, TelemetryKey::Time), ..StepMeta::default() };
    match kind {
        TelemetryEvent::Asked => {
            conversation.note_input();
            let words = value_of(event, TelemetryKey::Prompt);
            words.into_iter().for_each(|words| conversation.add_message(Speaker::User, words, &meta, node.origin));
        }
        TelemetryEvent::Response => {
            conversation.begin_turn();
            conversation.add_meta(of_meta::MODEL, value_of(event, TelemetryKey::Model));
            let mut usage = TokenUsage::default();
            for (name, key) in [
                (of_usage::INPUT, TelemetryKey::In),
                (of_usage::OUTPUT, TelemetryKey::Out),
                (of_usage::CACHE_READ, TelemetryKey::Read),
                (of_usage::REASONING, TelemetryKey::Thoughts),
            ] {
                usage.add_count(name, value_of(event, key));
            }
            conversation.add_usage(&usage, value_of(event, TelemetryKey::Model));
        }
        TelemetryEvent::Call => add_call(conversation, node, event, &meta),
        TelemetryEvent::Error | TelemetryEvent::Silent => {}
    }
}

/// A call is told when it is over.
fn add_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    event: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let tool = value_of(event, TelemetryKey::Tool).unwrap_or(Node::computed(Value::Null));
    let args = value_of(event, TelemetryKey::Args).map(|args| parse_arguments(conversation.builder, args));
    let made = ToolCall { tool, args, id: None, origin: node.origin };
    let Some(call) = conversation.add_call(made, &StepMeta::default()) else { return };
    let rejected = value_of(event, TelemetryKey::Decision).and_then(node_text).and_then(TelemetryWord::from_key);
    let status = match (rejected, event.field(TelemetryKey::Success).map(|success| success.value)) {
        (Some(TelemetryWord::Rejected), _) => Some(StepStatus::Denied),
        (_, Some(Value::Boolean(true))) => Some(StepStatus::Ok),
        (_, Some(Value::Boolean(false))) => Some(StepStatus::Failed),
        _ => None,
    };
    let error = value_of(event, TelemetryKey::Error).filter(|_| status != Some(StepStatus::Ok));
    let duration = value_of(event, TelemetryKey::Took);
    conversation.unanswered.withdraw_call(call);
    conversation.end_within(call, CallResult { status, error, duration, ..CallResult::default() }, meta);
}
