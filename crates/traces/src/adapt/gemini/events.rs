//! The events of `--output-format stream-json`.

use super::*;
use crate::adapt::nodes::node_text;

pub(super) fn read_stream<'run>(
    root: Node<'run>,
    builder: &mut RunBuilder<'run, '_>,
) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::new(builder);
    let mut growing: Option<(Node<'run>, String, StepMeta<'run>)> = None;
    for node in crate::adapt::nodes::items_of::<GeminiEventKey>(root, &[]) {
        conversation.builder.count_record();
        let event = node_object(*node);
        let kind = event.and_then(|event| text_of(event, GeminiEventKey::Type)).and_then(GeminiEventType::from_key);
        let (Some(event), Some(kind)) = (event, kind) else {
            conversation.builder.skip_value(node, "an event of unknown type is skipped");
            continue;
        };
        let meta = StepMeta { time: event.field(GeminiEventKey::Time), ..StepMeta::default() };
        let words = event.field(GeminiEventKey::Content).and_then(node_text);
        if let (GeminiEventType::Said, Some(words), true) = (kind, words, is_delta(event)) {
            growing.get_or_insert_with(|| (*node, String::new(), meta)).1.push_str(words);
            continue;
        }
        add_streamed(&mut conversation, growing.take());
        read_event(&mut conversation, *node, event, kind, &meta);
    }
    add_streamed(&mut conversation, growing.take());
    conversation.finish_with_tools();
    Ok(())
}

fn is_delta(event: Object<'_>) -> bool {
    crate::adapt::fields::is_true(&event, &NodeShapes, GeminiEventKey::Delta)
}

fn add_streamed<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    growing: Option<(Node<'run>, String, StepMeta<'run>)>,
) {
    if let Some((node, words, meta)) = growing {
        let words = Node::new(Value::plain_text(conversation.builder.arena.alloc_str(&words)), node.origin);
        conversation.add_message(Speaker::Assistant, words, &meta, node.origin);
    }
}

fn read_event<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    event: Object<'run>,
    kind: GeminiEventType,
    meta: &StepMeta<'run>,
) {
    match kind {
        GeminiEventType::Start => {
            conversation.builder.set_some(of_run::ID, event.field(GeminiEventKey::Session));
            conversation.add_meta(of_meta::MODEL, event.field(GeminiEventKey::Model));
            conversation.note_time(meta.time);
        }
        GeminiEventType::Said => {
            let speaker = Speaker::from_role(conversation.builder.role_of(node, text_of(event, GeminiEventKey::Role)));
            if let Some(content) = event.field(GeminiEventKey::Content) {
                conversation.add_content(speaker, content, meta, node.origin);
            }
        }
        GeminiEventType::Call => {
            let tool = event.field(GeminiEventKey::Tool).unwrap_or(Node::computed(Value::Null));
            let made = ToolCall {
                tool,
                args: event.field(GeminiEventKey::Args),
                id: event.field(GeminiEventKey::Call),
                origin: node.origin,
            };
            conversation.add_call(made, meta);
        }
        GeminiEventType::Result => {
            let result = event.field(GeminiEventKey::Output);
            let error = first_of(event, &[GeminiEventKey::Error]);
            let status = text_of(event, GeminiEventKey::Status).and_then(status_of);
            let exit_code = result.and_then(|result| number_behind(result, &EXIT_CODE));
            let status = exit_outcome(status, exit_code);
            let outcome = CallResult { result, error, status, exit_code, ..CallResult::default() };
            conversation.add_result(text_of(event, GeminiEventKey::Call), None, outcome, meta, node.origin);
        }
        GeminiEventType::Error
            if text_of(event, GeminiEventKey::Severity).and_then(ErrorSeverity::from_key)
                == Some(ErrorSeverity::Warning) =>
        {
            if let Some(message) = event.field(GeminiEventKey::Message) {
                conversation.add_message(Speaker::System, message, meta, node.origin);
            }
        }
        GeminiEventType::Error => {
            if let Some(message) = event.field(GeminiEventKey::Message) {
                conversation.builder.set_entry(of_run::ERROR, message);
            }
        }
        GeminiEventType::End => {
            conversation.note_time(meta.time);
            let error = first_of(event, &[GeminiEventKey::Error]);
            let message =
                error.and_then(node_object).and_then(|error| first_of(error, &[GeminiEventKey::Message])).or(error);
            conversation.builder.set_some(of_run::ERROR, message);
            if let Some(stats) = object_of(event, GeminiEventKey::Stats) {
                conversation.usage.add_usage(stats);
                conversation.usage.add_count(of_usage::CACHE_READ, stats.field(GeminiUsageKey::Cached));
                conversation.builder.set_some(of_run::DURATION, stats.field(GeminiEventKey::Duration));
            }
        }
    }
}
