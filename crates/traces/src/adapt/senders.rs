//! Messages that say by `sender` who wrote them: the exports of Claude's app (`chat_messages`) and of LibreChat, and chats of one's own making.
//! Calls stand in blocks, or in `tool_calls` beside the words, with their results in messages of a tool.

use super::block_session::{self, UserWords};
use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::called_tools::CalledTools;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{FieldRecord as _, NodeShapes, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::{ChatMessageKey, MessageRole, ToolCallKey, answered_tool, call_arguments, called_function};
use super::nodes::{items_of, list_of, node_list, node_object, node_text, object_items, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    SenderKey {
        Messages = "chat_messages" | "messages",
        Sender = "sender",
        Role = "role",
        Content = "content",
        Words = "text" | "message" | "body",
        Time = "created_at" | "timestamp" | "createdAt" | "time",
        Id = "uuid" | "conversationId",
        /// LibreChat names the agent or the model as the sender.
        OfUser = "isCreatedByUser",
    }
}

key_table! {
    /// The type of a block, and the key under which it holds the call.
    SenderBlockType {
        Call = "tool_call",
    }
}

key_table! {
    /// A call in a block of LibreChat, with its result.
    SenderCallKey {
        Type = "type",
        Id = "id",
        Name = "name",
        Args = "args",
        Output = "output",
    }
}

key_table! {
    SenderWord {
        User = "human" | "user" | "customer" | "client",
        Assistant = "assistant" | "ai" | "bot" | "agent" | "model",
        System = "system",
        /// Gives back the result of a call.
        Tool = "tool" | "tools" | "function",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "messages with senders",
    known_by: "messages with `sender` and `text` or `content`, and no `role`",
    description: "messages with `sender` (a list, `messages`, `chat_messages` of Claude's export)",
    marks: SenderKey::Messages.keys(),
    near: &[SenderKey::Messages.key()],
    object: |object| {
        list_of(object, SenderKey::Messages).is_some_and(|list| object_items(list).any(|(_, one)| is_message(one)))
    },
    item_marks: &[SenderKey::Sender.key()],
    element: is_message,
    line: is_message,
    read: read_run,
    ..IN_FULL
};

fn sender_of(message: Object<'_>) -> Option<SenderWord> {
    let word = text_of(message, SenderKey::Sender)?;
    if is_result(message) {
        return Some(SenderWord::Tool);
    }
    match message.field(SenderKey::OfUser).map(|of_user| of_user.value) {
        Some(Value::Boolean(true)) => Some(SenderWord::User),
        Some(Value::Boolean(false)) => Some(SenderWord::Assistant),
        _ => SenderWord::from_key(&word.to_ascii_lowercase()),
    }
}

/// Also where the sender has the name of a tool.
fn is_result(message: Object<'_>) -> bool {
    let role = text_of(message, SenderKey::Role).and_then(MessageRole::from_key);
    role == Some(MessageRole::Result) || text_of(message, ChatMessageKey::Answers).is_some()
}

/// The sender, if it is a tool that was called.
fn sender_tool<'run>(
    message: Object<'run>,
    called: &mut CalledTools<'run>,
    builder: &RunBuilder<'run, '_>,
) -> Option<&'run str> {
    text_of(message, SenderKey::Sender).filter(|sender| called.was_called(sender, builder))
}

fn add_calls<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    calls: &'run [Node<'run>],
    meta: &StepMeta<'run>,
) {
    for node in calls {
        let Some(call) = node_object(*node) else {
            conversation.builder.skip_value(node, "a call that is no object is skipped");
            continue;
        };
        let inside = called_function(call);
        let [tool, id] = [inside.field(ToolCallKey::Name), call.field(ToolCallKey::Id)];
        block_session::add_call(
            conversation,
            *node,
            BlockCall { tool, args: call_arguments(&inside), id, answer: None },
            meta,
        );
    }
}

fn add_result<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    message: Object<'run>,
    called: &mut CalledTools<'run>,
    meta: &StepMeta<'run>,
) {
    let sender = sender_tool(message, called, conversation.builder);
    let waiting = |called: &mut CalledTools<'run>| {
        let call = called.waiting_call(sender?, conversation.builder)?;
        conversation.builder.step_field(call, of_step::ID).and_then(node_text)
    };
    let answer = BlockResult {
        id: text_of(message, ChatMessageKey::Answers).or_else(|| waiting(called)),
        result: value_of(message, SenderKey::Content).or(value_of(message, SenderKey::Words)),
        status: Some(StepStatus::Unknown),
        ..BlockResult::default()
    };
    let tool = answered_tool(&message, &NodeShapes).and_then(node_text).or(sender);
    block_session::add_result(conversation, node, &answer, tool, meta);
}

fn classify_block(block: Object<'_>) -> ContentBlock<'_> {
    let kind = text_of(block, SenderCallKey::Type).and_then(SenderBlockType::from_key);
    let held = kind.and_then(|kind| block.get(kind.key())).and_then(|held| node_object(held));
    let Some(call) = held else { return blocks::classify_block(block) };
    let [tool, args, id] = [SenderCallKey::Name, SenderCallKey::Args, SenderCallKey::Id].map(|key| value_of(call, key));
    let answer = value_of(call, SenderCallKey::Output).map(|output| BlockResult {
        result: Some(output),
        is_value: true,
        status: Some(StepStatus::Unknown),
        ..BlockResult::default()
    });
    ContentBlock::Calls(BlockCall { tool, args, id, answer })
}

fn is_message(message: Object<'_>) -> bool {
    sender_of(message).is_some()
        && message.field(SenderKey::Role).is_none()
        && (list_of(message, ChatMessageKey::Calls).is_some()
            || value_of(message, SenderKey::Content).or(value_of(message, SenderKey::Words)).is_some_and(|words| {
                node_text(words).is_some()
                    || node_list(words).is_some_and(|blocks| blocks.iter().all(|block| node_object(*block).is_some()))
            }))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let id = node_object(*root).and_then(|chat| chat.field(SenderKey::Id)).filter(|id| node_text(*id).is_some());
    builder.set_some(of_run::ID, id);
    let mut conversation = ConversationBuilder::from_parts(builder);
    // Calls stand in blocks or beside the words; of words alone nobody knows what was done for them.
    let (mut in_blocks, mut in_lists) = (true, false);
    let mut called = CalledTools::default();
    for node in items_of(root, &[SenderKey::Messages]) {
        conversation.builder.count_record();
        let Some(message) = node_object(*node) else {
            conversation.builder.skip_value(node, "what is no message is skipped");
            continue;
        };
        let time = value_of(message, SenderKey::Time).and_then(instant_node);
        let meta = StepMeta { time, ..StepMeta::default() };
        let speaker = match sender_of(message) {
            Some(SenderWord::Tool) => {
                add_result(&mut conversation, *node, message, &mut called, &meta);
                continue;
            }
            Some(SenderWord::User) => Speaker::User,
            Some(SenderWord::Assistant) => Speaker::Assistant,
            Some(SenderWord::System) => Speaker::System,
            // Some name the tool that answers.
            None if sender_tool(message, &mut called, conversation.builder).is_some() => {
                add_result(&mut conversation, *node, message, &mut called, &meta);
                continue;
            }
            None => {
                conversation.builder.skip_record(node.origin, "a message of an unknown sender is skipped");
                continue;
            }
        };
        let has_blocks = |content: &Node<'run>| node_list(*content).is_some_and(|blocks| !blocks.is_empty());
        let content = value_of(message, SenderKey::Content);
        in_blocks &= speaker != Speaker::Assistant || content.as_ref().is_some_and(has_blocks);
        let words = content.filter(has_blocks).or_else(|| value_of(message, SenderKey::Words)).or(content);
        let calls = list_of(message, ChatMessageKey::Calls);
        if words.is_none() && calls.is_none() {
            conversation.builder.skip_record(node.origin, "a message without words is skipped");
            continue;
        }
        if speaker == Speaker::Assistant {
            conversation.begin_turn();
        }
        if let Some(words) = words {
            block_session::add_content(&mut conversation, words, speaker, &UserWords::PLAIN, &meta, classify_block);
        }
        match value_of(message, ChatMessageKey::Calls) {
            None => {}
            Some(_) if calls.is_some() && speaker == Speaker::Assistant => {
                in_lists = true;
                add_calls(&mut conversation, calls.unwrap_or_default(), &meta);
            }
            Some(calls) => {
                conversation.builder.skip_record(calls.origin, "calls that are no list of the assistant's are skipped")
            }
        }
    }
    let builder = conversation.finish_run();
    if !in_blocks && !in_lists {
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}
