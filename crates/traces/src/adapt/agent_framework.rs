//! Microsoft's Agent Framework and `Microsoft.Extensions.AI`: messages whose `contents` say by a type what they are.

use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::calls::TokenUsage;
use super::content;
use super::conversation::instant_node;
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::listed_messages::{ListedMessage, read_messages};
use super::messages::MessageRole;
use super::nodes::{items_of, list_of, node_object, node_text, object_of, objects_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_usage;
use averment_runs::run::StepStatus;

key_table! {
    FrameworkKey {
        Messages = "messages",
        Role = "role",
        /// Older versions write the role as an object.
        Word = "value",
        Contents = "contents",
        Time = "created_at" | "createdAt",
        Author = "author_name" | "authorName",
        Usage = "usage_details" | "usage",
        /// What the pieces of a streamed message, and of an answer, have in common.
        MessageId = "message_id" | "messageId",
        ResponseId = "response_id" | "responseId",
        /// The counts in a part of usage, in .NET.
        Details = "details",
        Input = "input_token_count" | "inputTokenCount",
        Output = "output_token_count" | "outputTokenCount",
    }
}

key_table! {
    FrameworkPartKey {
        Type = "type" | "$type",
        Text = "text",
        Call = "call_id" | "callId",
        Name = "name" | "tool_name" | "toolName",
        Arguments = "arguments" | "inputs" | "commands",
        Result = "result" | "outputs" | "output",
        Exception = "exception",
    }
}

key_table! {
    FrameworkPart {
        Text = "text",
        Thought = "text_reasoning" | "reasoning",
        Call = "function_call" | "functionCall" | "mcp_server_tool_call" | "mcpServerToolCall",
        Result = "function_result" | "functionResult" | "mcp_server_tool_result" | "mcpServerToolResult",
        /// Counts of tokens.
        Usage = "usage",
        /// Files, and why something failed.
        Silent = "data" | "uri" | "error" | "hosted_file" | "hostedFile" | "hosted_vector_store" | "hostedVectorStore"
            | "function_approval_request" | "function_approval_response" | "functionApprovalRequest" | "functionApprovalResponse",
    }
}

key_table! {
    /// Tools of the service are named by the types of their parts.
    HostedPart {
        Call = "_tool_call",
        Result = "_tool_result",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Agent Framework messages",
    known_by: "messages with `role` and `contents`, whose parts have a `type` (`$type`)",
    description: "messages of Microsoft's Agent Framework and `Microsoft.Extensions.AI` (`role`, `contents`; a list, `messages`)",
    marks: &[FrameworkKey::Messages.key(), FrameworkKey::Contents.key()],
    near: &[FrameworkKey::Contents.key()],
    object: |object| {
        is_message(object) || objects_of(list_of(object, FrameworkKey::Messages).unwrap_or_default()).any(is_message)
    },
    item_marks: &[FrameworkKey::Contents.key()],
    element: is_message,
    line: is_message,
    record_ids: RecordIds::of_call(&[
        &[FrameworkKey::Contents.key(), FrameworkPartKey::Call.key()],
        &[FrameworkKey::Contents.key(), FrameworkPartKey::Call.last_key()],
    ]),
    read: read_run,
    ..IN_FULL
};

fn role_word(message: Object<'_>) -> Option<&str> {
    let role = value_of(message, FrameworkKey::Role)?;
    node_text(role).or_else(|| text_of(node_object(role)?, FrameworkKey::Word))
}

fn is_message(message: Object<'_>) -> bool {
    let is_part = |part: Object<'_>| text_of(part, FrameworkPartKey::Type).is_some();
    (role_word(message).is_some() || is_update(message))
        && list_of(message, FrameworkKey::Contents)
            .is_some_and(|parts| parts.is_empty() || objects_of(parts).any(is_part))
}

/// A piece of an answer, which may not say again who speaks.
fn is_update(message: Object<'_>) -> bool {
    text_of(message, FrameworkKey::ResponseId).is_some()
}

fn role_of(message: Object<'_>) -> Option<MessageRole> {
    match role_word(message) {
        Some(word) => MessageRole::from_key(word),
        None => is_update(message).then_some(MessageRole::Assistant),
    }
}

/// The id of the message that an update is a piece of, and who speaks; `None` for a whole message.
fn piece_of(node: Node<'_>) -> Option<(&str, MessageRole)> {
    let update = node_object(node).filter(|message| is_message(*message) && is_update(*message))?;
    let ids = [FrameworkKey::MessageId, FrameworkKey::ResponseId].into_iter();
    let id = ids.filter_map(|key| text_of(update, key)).find(|id| !id.is_empty())?;
    Some((id, role_of(update)?))
}

/// The messages of a list with the pieces of each put together.
fn join_updates<'run>(items: &'run [Node<'run>], builder: &RunBuilder<'run, '_>) -> &'run [Node<'run>] {
    let goes_on = |a: &Node<'run>, b: &Node<'run>| piece_of(*a).is_some() && piece_of(*a) == piece_of(*b);
    let whole = items.chunk_by(goes_on).map(|pieces| match pieces {
        [first, _, ..] => node_object(*first).map_or(*first, |message| join_pieces(*first, message, pieces, builder)),
        _ => pieces.first().copied().unwrap_or(Node::computed(Value::Null)),
    });
    builder.arena.alloc_slice_copy(&whole.collect::<Vec<_>>())
}

fn join_pieces<'run>(
    first: Node<'run>,
    message: Object<'run>,
    pieces: &[Node<'run>],
    builder: &RunBuilder<'run, '_>,
) -> Node<'run> {
    let contents = |piece: &Node<'run>| list_of(node_object(*piece)?, FrameworkKey::Contents);
    let parts: Vec<Node<'run>> = pieces.iter().filter_map(contents).flatten().copied().collect();
    let words = |part: &Node<'run>| {
        let part = node_object(*part)?;
        let kind = text_of(part, FrameworkPartKey::Type).and_then(FrameworkPart::from_key);
        let kind = kind.filter(|kind| matches!(kind, FrameworkPart::Text | FrameworkPart::Thought))?;
        Some((kind, said_in(part)?))
    };
    let same = |a: &Node<'run>, b: &Node<'run>| words(a).zip(words(b)).is_some_and(|(a, b)| a.0 == b.0);
    let joined = parts.chunk_by(same).filter_map(|run| {
        let (first, said) = (*run.first()?, run.iter().filter_map(|part| Some(words(part)?.1)).collect::<Vec<_>>());
        let (Some(part), [_, _, ..]) = (node_object(first), said.as_slice()) else { return Some(first) };
        let kept =
            part.entries().iter().filter(|entry| FrameworkPartKey::from_key(entry.key) != Some(FrameworkPartKey::Text));
        let text =
            content::concat_pieces(&said, builder.arena).map(|text| field_entry(FrameworkPartKey::Text.key(), text));
        Some(Node::new(builder.object_node(&kept.copied().chain(text).collect::<Vec<_>>()).value, first.origin))
    });
    let joined = builder.list_node(&joined.collect::<Vec<_>>());
    let kept =
        message.entries().iter().filter(|entry| FrameworkKey::from_key(entry.key) != Some(FrameworkKey::Contents));
    let entries: Vec<_> = kept.copied().chain([field_entry(FrameworkKey::Contents.key(), joined)]).collect();
    Node::new(builder.object_node(&entries).value, first.origin)
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let messages = join_updates(items_of(root, &[FrameworkKey::Messages]), builder);
    let mut conversation = read_messages(messages, builder, view_message, classify_part);
    let of_run = node_object(*root).and_then(|run| object_of(run, FrameworkKey::Usage));
    // A stream counts in a part of each answer.
    let parts = messages.iter().filter_map(|message| list_of(node_object(*message)?, FrameworkKey::Contents));
    let counted = |part: Object<'run>| {
        let kind = text_of(part, FrameworkPartKey::Type).and_then(FrameworkPart::from_key);
        let counts = object_of(part, FrameworkKey::Details).or(object_of(part, FrameworkKey::Usage));
        counts.filter(|_| kind == Some(FrameworkPart::Usage))
    };
    let of_parts: Vec<_> = parts.flat_map(objects_of).filter_map(counted).filter(|_| of_run.is_none()).collect();
    for counts in of_run.into_iter().chain(of_parts) {
        let mut usage = TokenUsage::default();
        usage.add_count(of_usage::INPUT, value_of(counts, FrameworkKey::Input));
        usage.add_count(of_usage::OUTPUT, value_of(counts, FrameworkKey::Output));
        conversation.add_usage(&usage, None);
    }
    conversation.finish_run();
    Ok(())
}

fn view_message(message: Object<'_>) -> Option<ListedMessage<'_>> {
    Some(ListedMessage {
        role: role_of(message),
        contents: value_of(message, FrameworkKey::Contents).into_iter().collect(),
        time: value_of(message, FrameworkKey::Time).and_then(instant_node),
        agent: value_of(message, FrameworkKey::Author),
        ..ListedMessage::default()
    })
    .filter(|message| !message.contents.is_empty())
}

fn classify_part(part: Object<'_>) -> ContentBlock<'_> {
    let word = text_of(part, FrameworkPartKey::Type).unwrap_or_default();
    let hosted =
        |kind: HostedPart| kind.keys().iter().find_map(|end| word.strip_suffix(end)).filter(|it| !it.is_empty());
    match FrameworkPart::from_key(word) {
        Some(FrameworkPart::Text) => said_in(part).map_or(ContentBlock::Silent, ContentBlock::Says),
        Some(FrameworkPart::Thought) => said_in(part).map_or(ContentBlock::Silent, ContentBlock::Thinks),
        Some(FrameworkPart::Call) => ContentBlock::Calls(call_of(part, value_of(part, FrameworkPartKey::Name))),
        Some(FrameworkPart::Result) => ContentBlock::Answers(result_of(part)),
        Some(FrameworkPart::Silent | FrameworkPart::Usage) => ContentBlock::Silent,
        None if hosted(HostedPart::Call).is_some() => {
            let tool = hosted(HostedPart::Call).map(|tool| Node::computed(Value::plain_text(tool)));
            ContentBlock::Calls(call_of(part, tool))
        }
        None if hosted(HostedPart::Result).is_some() => ContentBlock::Answers(result_of(part)),
        None => blocks::classify_block(part),
    }
}

fn said_in(part: Object<'_>) -> Option<Node<'_>> {
    value_of(part, FrameworkPartKey::Text)
}

fn call_of<'run>(part: Object<'run>, tool: Option<Node<'run>>) -> BlockCall<'run> {
    let [args, id] = [FrameworkPartKey::Arguments, FrameworkPartKey::Call].map(|key| value_of(part, key));
    BlockCall { tool, args, id, answer: None }
}

/// That a call failed stands in the exception alone; without one the words of the result may say so.
fn result_of(part: Object<'_>) -> BlockResult<'_> {
    let failed = value_of(part, FrameworkPartKey::Exception).is_some();
    BlockResult {
        id: text_of(part, FrameworkPartKey::Call),
        result: part.field(FrameworkPartKey::Result).filter(|gave| !matches!(gave.value, Value::Null)),
        is_value: true,
        failed,
        status: Some(if failed { StepStatus::Failed } else { StepStatus::Unknown }),
    }
}
