//! Semantic Kernel: a chat history as it is serialized. The items of a message say by `content_type` (Python) or `$type` (.NET) what they are.

use super::block_session;
use super::blocks::{self, BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{items_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_usage};
use averment_runs::run::StepStatus;

key_table! {
    KernelKey {
        Messages = "messages",
        Role = "role" | "Role",
        /// In .NET a role is an object.
        Word = "Label" | "label",
        Items = "items" | "Items",
        Kind = "content_type" | "$type",
        Model = "ai_model_id" | "ModelId",
        About = "metadata" | "Metadata",
        Usage = "usage" | "Usage",
        Text = "text" | "Text",
        Id = "id" | "Id",
        Call = "call_id" | "CallId",
        Name = "name",
        Function = "function_name" | "FunctionName",
        Plugin = "plugin_name" | "PluginName",
        Arguments = "arguments" | "Arguments",
        Result = "result" | "Result",
        Input = "InputTokenCount",
        Output = "OutputTokenCount",
    }
}

key_table! {
    KernelKind {
        Message = "message",
        Text = "text" | "TextContent",
        Thought = "reasoning" | "ReasoningContent",
        Call = "function_call" | "FunctionCallContent",
        Result = "function_result" | "FunctionResultContent",
        /// What goes with a text: no rule reads it.
        Silent = "ImageContent" | "AudioContent" | "BinaryContent" | "AnnotationContent" | "FileReferenceContent" | "image" | "audio" | "binary" | "annotation" | "file_reference" | "streaming_annotation"
            | "streaming_file_reference",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Semantic Kernel messages",
    known_by: "messages whose `content_type` is `message`, with `items`; in .NET with a `Role` and `Items`",
    description: "chat histories of Semantic Kernel (`content_type`, `items`; a list, or under `messages`)",
    marks: &[KernelKey::Messages.key(), KernelKey::Kind.key(), KernelKey::Items.last_key()],
    near: &[KernelKey::Kind.key()],
    object: |object| {
        is_message(object)
            || object_items(list_of(object, KernelKey::Messages).unwrap_or_default()).any(|(_, one)| is_message(one))
    },
    item_marks: &[KernelKey::Kind.key(), KernelKey::Items.last_key()],
    element: is_message,
    line: is_message,
    record_ids: RecordIds::of_call(&[
        &[KernelKey::Items.key(), KernelKey::Id.key()],
        &[KernelKey::Items.last_key(), KernelKey::Id.last_key()],
        &[KernelKey::Items.key(), KernelKey::Call.key()],
        &[KernelKey::Items.last_key(), KernelKey::Call.last_key()],
    ]),
    read: read_run,
    ..IN_FULL
};

fn kind_of(object: Object<'_>) -> Option<KernelKind> {
    KernelKind::from_key(text_of(object, KernelKey::Kind)?)
}

fn is_message(message: Object<'_>) -> bool {
    let of_dotnet = || object_of(message, KernelKey::Role).is_some_and(|role| text_of(role, KernelKey::Word).is_some());
    list_of(message, KernelKey::Items).is_some() && (kind_of(message) == Some(KernelKind::Message) || of_dotnet())
}

fn role_word(message: Object<'_>) -> Option<&str> {
    let role = value_of(message, KernelKey::Role)?;
    node_text(role).or_else(|| text_of(node_object(role)?, KernelKey::Word))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    for node in items_of(root, &[KernelKey::Messages]) {
        conversation.builder.count_record();
        let Some(message) = node_object(*node).filter(|message| is_message(*message)) else {
            conversation.builder.skip_value(node, "what is no message with `items` is skipped");
            continue;
        };
        let role = conversation.builder.role_of(*node, role_word(message));
        if role == Some(MessageRole::Assistant) {
            conversation.begin_turn();
            count_usage(&mut conversation, message);
        }
        let items = list_of(message, KernelKey::Items).unwrap_or_default();
        for (at, item) in conversation.builder.record_objects(items) {
            add_item(&mut conversation, at, item, Speaker::from_role(role));
        }
    }
    conversation.finish_run();
    Ok(())
}

fn count_usage<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, message: Object<'run>) {
    let model = value_of(message, KernelKey::Model);
    conversation.add_meta(of_meta::MODEL, model);
    let counts = object_of(message, KernelKey::About).and_then(|meta| object_of(meta, KernelKey::Usage));
    if let Some(counts) = counts {
        let mut usage = TokenUsage::default();
        usage.add_usage(counts);
        usage.add_count(of_usage::INPUT, value_of(counts, KernelKey::Input));
        usage.add_count(of_usage::OUTPUT, value_of(counts, KernelKey::Output));
        conversation.add_usage(&usage, model);
    }
}

/// A function is named with its plugin in front; `name` is both, as the model sees it.
fn tool_of<'run>(conversation: &ConversationBuilder<'_, 'run, '_>, item: Object<'run>) -> Option<Node<'run>> {
    let is_named = |node: &Node<'run>| node_text(*node).is_some_and(|name| !name.is_empty());
    let whole = value_of(item, KernelKey::Name).filter(is_named);
    let function = value_of(item, KernelKey::Function).filter(is_named);
    whole.or_else(|| match text_of(item, KernelKey::Plugin).filter(|plugin| !plugin.is_empty()) {
        Some(plugin) => {
            let name = format!("{plugin}-{}", function.and_then(node_text)?);
            Some(block_session::text_node(conversation.builder, &name, function?))
        }
        None => function,
    })
}

fn add_item<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    item: Object<'run>,
    speaker: Speaker,
) {
    let meta = StepMeta::default();
    let id = match kind_of(item) {
        // In .NET a result has an id of its own.
        Some(KernelKind::Result) => value_of(item, KernelKey::Call).or_else(|| value_of(item, KernelKey::Id)),
        _ => value_of(item, KernelKey::Id).or_else(|| value_of(item, KernelKey::Call)),
    };
    let words = value_of(item, KernelKey::Text);
    match kind_of(item) {
        Some(KernelKind::Text) => {
            words.into_iter().for_each(|words| conversation.add_message(speaker, words, &meta, node.origin));
        }
        Some(KernelKind::Thought) => {
            words.into_iter().for_each(|words| conversation.add_message(Speaker::Thinking, words, &meta, node.origin));
        }
        Some(KernelKind::Call) => {
            let tool = tool_of(conversation, item);
            let args = value_of(item, KernelKey::Arguments);
            block_session::add_call(conversation, node, BlockCall { tool, args, id, answer: None }, &meta);
        }
        Some(KernelKind::Result) => {
            let answer = BlockResult {
                id: id.and_then(node_text),
                result: item.field(KernelKey::Result).filter(|gave| !matches!(gave.value, Value::Null)),
                is_value: true,
                // An error is told in the words of the result alone.
                status: Some(StepStatus::Unknown),
                ..BlockResult::default()
            };
            let tool = tool_of(conversation, item).and_then(node_text);
            block_session::add_result(conversation, node, &answer, tool, &meta);
        }
        Some(KernelKind::Silent) => {}
        Some(KernelKind::Message) | None => conversation.builder.skip_record(node.origin, blocks::UNKNOWN),
    }
}
