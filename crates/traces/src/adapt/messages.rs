//! The messages that conversations are made of, in OpenAI's form and with Anthropic's blocks: their fields, and what follows from these.
//!
//! A conversation of either form comes alone, in the requests and responses of an API, in a session of an agent, in the results of a
//! benchmark: the formats that hold one say where it stands, and read its messages by the tables here.

use super::fields::{Record, Shape, Shapes, first, key_table};
use averment_base::value::Value;
use averment_runs::run::Status;

key_table! {
    /// A message.
    OfMessage {
        Role = "role",
        Content = "content",
        Calls = "tool_calls",
        /// One call, as it was written before there could be several.
        Call = "function_call",
        /// The id of the call that the message is the result of.
        Answers = "tool_call_id",
        /// The tool of the call that the message is the result of.
        Tool = "name",
        ToolToo = "tool_name",
        /// How the call ended that the message is the result of.
        Status = "status",
        /// What has messages of its own is none.
        Messages = "messages",
        /// What has a type is an event that holds a message, or some other thing.
        Type = "type",
        /// Several lines of a session are one message when they have one id.
        Id = "id",
        /// Calls of Vercel's AI SDK, which only the full reader reads.
        Invocations = "toolInvocations",
        Parts = "parts",
        Usage = "usage",
        Model = "model",
    }
}

key_table! {
    /// A call in OpenAI's form; what is called stands in it, or in an object inside of it.
    OfCall {
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
    /// A block of a content.
    OfBlock {
        Type = "type",
        Text = "text",
        Thinking = "thinking",
        Id = "id",
        Name = "name",
        Input = "input",
        /// The id of the call that the block is the result of.
        Answers = "tool_use_id",
        Content = "content",
        Failed = "is_error",
        /// What a text is taken from: where it does, it is cut.
        Citations = "citations",
    }
}

key_table! {
    /// Who says a message.
    Role {
        Assistant = "assistant",
        User = "user",
        /// It is the result of a call.
        Result = "tool" | "function",
    }
}

key_table! {
    /// The types of blocks, but for results.
    BlockType {
        Text = "text",
        OtherText = "input_text" | "output_text",
        Thinking = "thinking",
        Call = "tool_use" | "server_tool_use" | "mcp_tool_use",
        Result = "tool_result",
        /// Images, documents, redacted thinking: nothing that a rule could read.
        Silent = "image" | "image_url" | "input_image" | "document" | "file" | "input_file" | "audio" | "audio_url"
            | "input_audio" | "video" | "video_url" | "redacted_thinking" | "refusal" | "reasoning_content" | "search_result"
            | "container_upload" | "tool_reference" | "citation" | "compaction" | "fallback" | "media",
    }
}

impl BlockType {
    /// The type of a block by its word: results have names of their tools in front of theirs.
    pub(crate) fn of_block(word: &str) -> Option<Self> {
        match Self::from_key(word) {
            None if word.ends_with("tool_result") => Some(Self::Result),
            found => found,
        }
    }
}

/// Whether an object is a role message: what stands in the list of a conversation.
pub(crate) fn is_message<R: Record<OfMessage>>(message: &R, shapes: &impl Shapes<R::Value>) -> bool {
    let [role, content, calls, call] =
        [OfMessage::Role, OfMessage::Content, OfMessage::Calls, OfMessage::Call].map(|field| message.field(field));
    role.is_some_and(|role| shapes.is_text(role))
        && content.or(calls).or(call).is_some()
        && message.field(OfMessage::Messages).is_none()
}

/// Whether a message has calls or is a result, or says that it has none (`"tool_calls": null`).
pub(crate) fn is_about_calls<R: Record<OfMessage>>(message: &R, role: Option<Role>) -> bool {
    message.field(OfMessage::Calls).or(message.field(OfMessage::Call)).is_some() || role == Some(Role::Result)
}

/// The tool that a result names.
pub(crate) fn answered_tool<R: Record<OfMessage>>(message: &R, shapes: &impl Shapes<R::Value>) -> Option<R::Value> {
    first(message, shapes, &[OfMessage::Tool, OfMessage::ToolToo])
}

/// The object inside of a call that says what is called, where there is one.
pub(crate) fn function<R: Record<OfCall>>(call: &R, shapes: &impl Shapes<R::Value>) -> Option<R::Value> {
    let object = |field| call.field(field).filter(|value| shapes.is(*value, Shape::Object));
    object(OfCall::Function).or_else(|| object(OfCall::Custom))
}

/// The arguments of what is called.
pub(crate) fn arguments<R: Record<OfCall>>(function: &R) -> Option<R::Value> {
    [OfCall::Arguments, OfCall::Args, OfCall::Input].into_iter().find_map(|field| function.field(field))
}

/// The text of a block: of one without a type, too. `word` gives the text of a value, where it is one.
pub(crate) fn text_in<'a, R: Record<OfBlock>>(
    block: &R,
    shapes: &impl Shapes<R::Value>,
    word: impl Fn(R::Value) -> Option<&'a str>,
) -> Option<R::Value> {
    let known = block.field(OfBlock::Type).and_then(word);
    if known.is_some_and(|kind| !matches!(BlockType::from_key(kind), Some(BlockType::Text | BlockType::OtherText))) {
        return None;
    }
    block.field(OfBlock::Text).filter(|text| shapes.is_text(*text))
}

/// How a call ended whose result stands in a block. One that was refused says so only in the words of its result.
pub(crate) fn ended(failed: bool, result: Option<Value<'_>>) -> Status {
    match failed {
        true if result.is_some_and(is_refusal) => Status::Denied,
        true => Status::Failed,
        false => Status::Ok,
    }
}

/// The words with which Claude Code hands a refusal to the model: by a person, by the permission settings, by a hook.
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

/// The texts of the last message of the assistant: of the main one, and of any.
#[derive(Debug, Clone)]
pub(crate) struct LastWords<V> {
    main: LastMessage<V>,
    any: LastMessage<V>,
}

/// A message, by its number, with its texts in their order.
type LastMessage<V> = (usize, Vec<V>);

impl<V> Default for LastWords<V> {
    fn default() -> Self {
        Self { main: (0, Vec::new()), any: (0, Vec::new()) }
    }
}

impl<V: Copy> LastWords<V> {
    /// Somebody says something in a message, which has a number.
    pub(crate) fn say(&mut self, words: V, message: usize, of_main: bool) {
        let last = [Some(&mut self.any), Some(&mut self.main).filter(|_| of_main)];
        for (number, said) in last.into_iter().flatten() {
            if std::mem::replace(number, message) != message {
                said.clear();
            }
            said.push(words);
        }
    }

    /// What was said last goes on: it is these words now.
    pub(crate) fn goes_on(&mut self, words: V, message: usize) {
        for (number, said) in [&mut self.any, &mut self.main] {
            said.last_mut().filter(|_| *number == message).into_iter().for_each(|last| *last = words);
        }
    }

    /// What was said last, where it was in a message.
    pub(crate) fn said_in(&self, message: usize) -> &[V] {
        if self.any.0 == message { &self.any.1 } else { &[] }
    }

    /// The output of the run: the words of the main agent, or of whom the run is about where that one does not take part in it.
    pub(crate) fn output(&self, with_main: bool) -> &[V] {
        if with_main { &self.main.1 } else { &self.any.1 }
    }
}
