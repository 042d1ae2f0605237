//! The messages that conversations are made of, in OpenAI's form and with Anthropic's blocks: their fields, and what follows from these.
//!
//! A conversation of either form comes alone, in the requests and responses of an API, in a session of an agent, in the results of a
//! benchmark: the formats that hold one say where it stands, and read its messages by the tables here.

use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, first_field, key_table};
use super::nodes::node_object;
use averment_base::value::{Node, Object, Value};
use averment_runs::run::StepStatus;

key_table! {
    ChatMessageKey {
        Role = "role",
        Content = "content",
        Calls = "tool_calls",
        /// The older single call.
        Call = "function_call",
        Answers = "tool_call_id",
        Tool = "name",
        ToolToo = "tool_name",
        Status = "status",
        /// An object with messages of its own is no message.
        Messages = "messages",
        /// A typed object is an event that holds a message, or something else.
        Type = "type",
        /// Session lines with one id are one message.
        Id = "id",
        /// Vercel AI SDK calls, which only the full reader reads.
        Invocations = "toolInvocations",
        Parts = "parts",
        /// Why OpenAI's model does not answer, in place of the content.
        Refusal = "refusal",
        Usage = "usage",
        /// The usage in the sessions of Cline's SDK.
        Metrics = "metrics",
        Model = "model",
        /// The agent that speaks, as OpenAI's Swarm writes it.
        Sender = "sender",
    }
}

key_table! {
    /// An OpenAI call; the function is inline or nested.
    ToolCallKey {
        Id = "id",
        Function = "function",
        Custom = "custom",
        Name = "name",
        Arguments = "arguments",
        Args = "args",
        Input = "input",
    }
}

key_table! {
    BlockKey {
        Type = "type",
        Text = "text",
        Thinking = "thinking",
        Id = "id",
        Name = "name",
        Input = "input",
        Answers = "tool_use_id",
        Content = "content",
        Failed = "is_error",
        Refusal = "refusal",
        /// The sources of a text, which is cut where it cites.
        Citations = "citations",
    }
}

key_table! {
    MessageRole {
        Assistant = "assistant",
        User = "user",
        Result = "tool" | "function",
        /// The program, the agent's instructions, and what was thought: none of these can call. Hermes begins with its settings.
        Other = "system" | "developer" | "human" | "thinking" | "reasoning" | "exit" | "session_meta",
    }
}

key_table! {
    /// Roles of data sets (ms-swift): a call is JSON in the words of a message of its own, and so is its result.
    WrittenRole {
        Call = "tool_call",
        Result = "tool_response",
    }
}

key_table! {
    BlockType {
        Text = "text",
        OtherText = "input_text" | "output_text",
        /// The words with which a model refuses.
        Refusal = "refusal",
        Thinking = "thinking",
        Call = "tool_use" | "server_tool_use" | "mcp_tool_use",
        Result = "tool_result",
        /// Images, documents, redacted thinking: nothing that a rule could read.
        Silent = "image" | "image_url" | "input_image" | "document" | "file" | "input_file" | "audio" | "audio_url"
            | "input_audio" | "video" | "video_url" | "redacted_thinking" | "reasoning_content" | "search_result"
            | "container_upload" | "imageUrl" | "tool_reference" | "citation" | "compaction" | "fallback" | "media",
    }
}

impl BlockType {
    /// Result types have their tool's name in front.
    pub(crate) fn of_block(word: &str) -> Option<Self> {
        match Self::from_key(word) {
            None if word.ends_with("tool_result") => Some(Self::Result),
            found => found,
        }
    }
}

/// True for an element of a conversation's list.
pub(crate) fn is_message<R: FieldRecord<ChatMessageKey>>(
    message: &R,
    shapes: &impl ShapeReader<R::FieldValue>,
) -> bool {
    let [role, content, calls, call] =
        [ChatMessageKey::Role, ChatMessageKey::Content, ChatMessageKey::Calls, ChatMessageKey::Call]
            .map(|field| message.field(field));
    role.is_some_and(|role| shapes.is_text(role))
        && content.or(calls).or(call).is_some()
        && message.field(ChatMessageKey::Messages).is_none()
}

/// True with calls or a result, or an explicit `"tool_calls": null`.
pub(crate) fn is_about_calls<R: FieldRecord<ChatMessageKey>>(message: &R, role: Option<MessageRole>) -> bool {
    message.field(ChatMessageKey::Calls).or(message.field(ChatMessageKey::Call)).is_some()
        || role == Some(MessageRole::Result)
}

pub(crate) fn answered_tool<R: FieldRecord<ChatMessageKey>>(
    message: &R,
    shapes: &impl ShapeReader<R::FieldValue>,
) -> Option<R::FieldValue> {
    first_field(message, shapes, &[ChatMessageKey::Tool, ChatMessageKey::ToolToo])
}

pub(crate) fn function_object<R: FieldRecord<ToolCallKey>>(
    call: &R,
    shapes: &impl ShapeReader<R::FieldValue>,
) -> Option<R::FieldValue> {
    let object = |field| call.field(field).filter(|value| shapes.has_shape(*value, ValueShape::Object));
    object(ToolCallKey::Function).or_else(|| object(ToolCallKey::Custom))
}

/// The object with the name and the arguments of a call: its `function`, or the call itself.
pub(crate) fn called_function<'run>(call: Object<'run>) -> Object<'run> {
    function_object(&call, &NodeShapes).and_then(node_object).unwrap_or(call)
}

pub(crate) fn call_arguments<R: FieldRecord<ToolCallKey>>(function: &R) -> Option<R::FieldValue> {
    [ToolCallKey::Arguments, ToolCallKey::Args, ToolCallKey::Input].into_iter().find_map(|field| function.field(field))
}

/// Also of a block without a type. `word` returns the text of a value.
pub(crate) fn text_in<'a, R: FieldRecord<BlockKey>>(
    block: &R,
    shapes: &impl ShapeReader<R::FieldValue>,
    word: impl Fn(R::FieldValue) -> Option<&'a str>,
) -> Option<R::FieldValue> {
    let key = match block.field(BlockKey::Type).and_then(word).map(BlockType::from_key) {
        None | Some(Some(BlockType::Text | BlockType::OtherText)) => BlockKey::Text,
        Some(Some(BlockType::Refusal)) => BlockKey::Refusal,
        Some(_) => return None,
    };
    block.field(key).filter(|text| shapes.is_text(*text))
}

/// The words with which a model refused to answer, where it said nothing else.
pub(crate) fn refusal_of(message: Object<'_>) -> Option<Node<'_>> {
    message
        .field(ChatMessageKey::Refusal)
        .filter(|words| matches!(words.value, Value::Text(text) if !text.as_str().is_empty()))
}

/// Only the words of its result show that a call was refused.
pub(crate) fn result_status(failed: bool, result: Option<Value<'_>>) -> StepStatus {
    match failed {
        true if result.is_some_and(is_refusal) => StepStatus::Denied,
        true => StepStatus::Failed,
        false => StepStatus::Ok,
    }
}

/// Claude Code's refusal text: by a person, permission settings or a hook.
fn is_refusal(result: Value<'_>) -> bool {
    let Value::Text(text) = result else { return false };
    let text = text.as_str().trim_start_matches("<tool_use_error>").trim_start_matches("Error: ");
    let needs_approval =
        ["This command requires approval", "This Bash command contains multiple operations. The following part"];
    let starts = [
        "The user doesn't want to proceed with this tool use",
        "The user doesn't want to take this action",
        "[Request interrupted by user for tool use]",
        "Permission to use",
    ];
    starts.iter().any(|start| text.starts_with(start))
        || needs_approval.iter().any(|start| text.starts_with(start)) && text.contains("require")
        || text.starts_with("PreToolUse:") && text.contains(" hook error:")
        || text.starts_with("Claude requested permissions") && text.contains("haven't granted")
}

/// The assistant's last message: of the main agent, and of any.
#[derive(Debug, Clone)]
pub(crate) struct LastWords<V> {
    main: LastMessage<V>,
    any: LastMessage<V>,
}

type LastMessage<V> = (usize, Vec<V>);

impl<V> Default for LastWords<V> {
    fn default() -> Self {
        Self { main: (0, Vec::new()), any: (0, Vec::new()) }
    }
}

impl<V: Copy> LastWords<V> {
    pub(crate) fn add_words(&mut self, words: V, message: usize, of_main: bool) {
        let last = [Some(&mut self.any), Some(&mut self.main).filter(|_| of_main)];
        for (number, said) in last.into_iter().flatten() {
            if std::mem::replace(number, message) != message {
                said.clear();
            }
            said.push(words);
        }
    }

    /// Replaces the last words: they go on.
    pub(crate) fn extend_last(&mut self, words: V, message: usize) {
        for (number, said) in [&mut self.any, &mut self.main] {
            said.last_mut().filter(|_| *number == message).into_iter().for_each(|last| *last = words);
        }
    }

    pub(crate) fn said_in(&self, message: usize) -> &[V] {
        if self.any.0 == message { &self.any.1 } else { &[] }
    }

    /// The main agent's words, or anyone's if it does not take part.
    pub(crate) fn output_words(&self, with_main: bool) -> &[V] {
        if with_main { &self.main.1 } else { &self.any.1 }
    }
}
