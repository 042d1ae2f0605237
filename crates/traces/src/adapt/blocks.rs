//! The blocks of a message in the words of each provider: Anthropic, Bedrock's Converse, Vercel's AI SDK and its messages for pages.
//! What nobody knows is told apart from what says nothing: it may be a call.

use super::content;
use super::fields::{Parsed, Record, is_true, key_table};
use super::messages::{BlockType, OfBlock, OfCall, OfMessage, ended, text_in};
use super::nodes::{first_of, list_of, object, object_of, objects, text, text_of};
use averment_base::value::{Node, Number, Object, Text, Value};
use averment_runs::normal::of_step;
use averment_runs::run::Status;
use bumpalo::Bump;
use rustc_hash::FxHashSet;

key_table! {
    /// A block of Bedrock or of Vercel, and what messages hold beside their content.
    OfOther {
        Use = "toolUse",
        Given = "toolResult",
        UseId = "toolUseId",
        CallId = "toolCallId",
        Tool = "toolName",
        Name = "name",
        Input = "input",
        Args = "args",
        Output = "output",
        Result = "result",
        Content = "content",
        Json = "json",
        Value = "value",
        Reason = "reason",
        Type = "type",
        Status = "status",
        State = "state",
        Error = "error",
        ErrorText = "errorText",
        Failed = "isError",
        Code = "return_code",
        Invocation = "toolInvocation",
        Invocations = "toolInvocations",
        Parts = "parts",
    }
}

key_table! {
    /// The types of blocks of Vercel's AI SDK.
    Vercel {
        Call = "tool-call",
        Result = "tool-result",
        Error = "tool-error",
        Invocation = "tool-invocation",
        Dynamic = "dynamic-tool",
        Thinking = "reasoning",
        Silent = "step-start" | "source-url" | "source-document" | "tool-approval-request" | "tool-approval-response",
    }
}

key_table! {
    /// How far a call is that holds its own result.
    State {
        Ok = "output-available" | "result",
        Failed = "output-error",
        Denied = "output-denied",
        Pending = "input-available" | "input-streaming" | "approval-requested" | "approval-responded" | "call" | "partial-call",
    }
}

key_table! {
    /// What Vercel's AI SDK says of an output.
    Output {
        Ok = "text" | "json" | "content",
        Failed = "error-text" | "error-json",
        Denied = "execution-denied",
    }
}

key_table! {
    /// Blocks of Bedrock without a type that say nothing to a rule.
    Bedrock {
        Silent = "image" | "document" | "video" | "audio" | "guardContent" | "cachePoint" | "reasoningContent"
            | "citationsContent" | "searchResult",
    }
}

/// What a block is.
pub(super) enum Block<'run> {
    Says(Node<'run>),
    Thinks(Node<'run>),
    Calls(Asked<'run>),
    Answers(Answer<'run>),
    /// Images, documents, redacted thinking: nothing that a rule could read.
    Silent,
    /// Nobody knows.
    Unknown,
}

/// A call, with its result where it holds that itself.
#[derive(Default)]
pub(super) struct Asked<'run> {
    pub(super) tool: Option<Node<'run>>,
    pub(super) args: Option<Node<'run>>,
    pub(super) id: Option<Node<'run>>,
    pub(super) answer: Option<Answer<'run>>,
}

/// A result.
#[derive(Default)]
pub(super) struct Answer<'run> {
    pub(super) id: Option<&'run str>,
    /// Text, a value, or a list of blocks.
    pub(super) result: Option<Node<'run>>,
    /// The result is no content but a value, and stays as it is.
    pub(super) is_value: bool,
    pub(super) failed: bool,
    /// How the call ended, where that is said in so many words.
    pub(super) status: Option<Status>,
}

impl<'run> Answer<'run> {
    /// What was given back: the text of blocks, or the value as it is.
    pub(super) fn content(&self, arena: &'run Bump) -> Option<Node<'run>> {
        let of_blocks = |result: Node<'run>| content::text(result, arena).unwrap_or(result);
        self.result.map(|result| if self.is_value { result } else { of_blocks(result) })
    }

    /// How the call ended.
    pub(super) fn ended(&self, result: Option<Node<'run>>) -> Status {
        self.status.unwrap_or_else(|| ended(self.failed, result.map(|result| result.value)))
    }
}

/// What a block is, by its type or by its only key.
pub(super) fn of(block: Object<'_>) -> Block<'_> {
    let Some(word) = text_of(block, OfBlock::Type) else { return untyped(block) };
    match BlockType::of_block(word) {
        Some(BlockType::Text | BlockType::OtherText) => block.field(OfBlock::Text).map_or(Block::Silent, Block::Says),
        Some(BlockType::Thinking) => block.field(OfBlock::Thinking).map_or(Block::Silent, Block::Thinks),
        Some(BlockType::Call) => Block::Calls(Asked {
            tool: block.field(OfBlock::Name),
            args: block.field(OfBlock::Input),
            id: block.field(OfBlock::Id),
            answer: None,
        }),
        Some(BlockType::Result) => {
            let result = block.field(OfBlock::Content);
            let failed = is_true(&block, &Parsed, OfBlock::Failed) || result.is_some_and(says_failure);
            let id = text_of(block, OfBlock::Answers);
            Block::Answers(Answer { id, result, failed, ..Answer::default() })
        }
        Some(BlockType::Silent) => Block::Silent,
        None => of_vercel(word, block),
    }
}

/// Whether what a tool of the provider gave back is an error, or a program's code other than 0.
fn says_failure(result: Node<'_>) -> bool {
    let Some(result) = object(result) else { return false };
    text_of(result, OfBlock::Type).is_some_and(|word| word.ends_with("_tool_result_error"))
        || result
            .field(OfOther::Code)
            .is_some_and(|code| matches!(code.value, Value::Number(code) if code.compare(Number::Integer(0)).is_ne()))
}

fn of_vercel<'run>(word: &'run str, block: Object<'run>) -> Block<'run> {
    match Vercel::from_key(word) {
        Some(Vercel::Call) => Block::Calls(asked(block)),
        Some(Vercel::Result) => Block::Answers(output(block)),
        Some(Vercel::Error) => Block::Answers(Answer {
            id: text_of(block, OfOther::CallId),
            result: first_of(block, &[OfOther::Error]),
            status: Some(Status::Failed),
            ..Answer::default()
        }),
        Some(Vercel::Invocation) => {
            object_of(block, OfOther::Invocation).map_or(Block::Unknown, |inner| Block::Calls(invocation(inner)))
        }
        Some(Vercel::Dynamic) => Block::Calls(invocation(block)),
        Some(Vercel::Thinking) => block.field(OfBlock::Text).map_or(Block::Silent, Block::Thinks),
        Some(Vercel::Silent) => Block::Silent,
        None if word.starts_with("data-") => Block::Silent,
        None => match word.strip_prefix("tool-").filter(|_| block.field(OfOther::CallId).is_some()) {
            Some(tool) => {
                let tool = Some(Node::computed(Value::Text(Text::Plain(tool))));
                Block::Calls(Asked { tool, ..invocation(block) })
            }
            None => Block::Unknown,
        },
    }
}

fn asked(block: Object<'_>) -> Asked<'_> {
    let args = first_of(block, &[OfOther::Input, OfOther::Args]);
    Asked { tool: block.field(OfOther::Tool), args, id: block.field(OfOther::CallId), answer: None }
}

/// A call of a message for a page: it holds how far it is.
pub(super) fn invocation(call: Object<'_>) -> Asked<'_> {
    let given = first_of(call, &[OfOther::Output, OfOther::Result]);
    let status = match text_of(call, OfOther::State).and_then(State::from_key) {
        Some(State::Ok) => Some(Status::Ok),
        Some(State::Failed) => Some(Status::Failed),
        Some(State::Denied) => Some(Status::Denied),
        Some(State::Pending) => Some(Status::Pending),
        None => None,
    };
    let result = if status == Some(Status::Failed) { first_of(call, &[OfOther::ErrorText]).or(given) } else { given };
    let ended = status.or(given.map(|_| Status::Unknown));
    let answer = ended.map(|status| Answer { result, is_value: true, status: Some(status), ..Answer::default() });
    Asked { answer, ..asked(call) }
}

/// A result of Vercel's AI SDK, whose output says what it is.
fn output(block: Object<'_>) -> Answer<'_> {
    let given = first_of(block, &[OfOther::Output, OfOther::Result]);
    let id = text_of(block, OfOther::CallId);
    let held = given.and_then(object);
    let kind = held.and_then(|held| Output::from_key(text_of(held, OfOther::Type)?));
    let (Some(held), Some(kind)) = (held, kind) else {
        let failed = is_true(&block, &Parsed, OfOther::Failed);
        let status = Some(if failed { Status::Failed } else { Status::Ok });
        return Answer { id, result: given, is_value: true, failed, status };
    };
    let result = first_of(held, &[OfOther::Value, OfOther::Reason]);
    let status = match kind {
        Output::Ok => Status::Ok,
        Output::Failed => Status::Failed,
        Output::Denied => Status::Denied,
    };
    let is_value = result.is_none_or(|result| object(result).is_some());
    Answer { id, result, is_value, failed: false, status: Some(status) }
}

/// A block of Bedrock's Converse, whose only key says what it is.
fn untyped(block: Object<'_>) -> Block<'_> {
    if let Some(call) = object_of(block, OfOther::Use) {
        let (tool, args) = (call.field(OfOther::Name), call.field(OfOther::Input));
        return Block::Calls(Asked { tool, args, id: call.field(OfOther::UseId), answer: None });
    }
    if let Some(given) = object_of(block, OfOther::Given) {
        let content = list_of(given, OfOther::Content).unwrap_or_default();
        let json = match content {
            [one] => object(*one).and_then(|one| one.field(OfOther::Json)),
            _ => None,
        };
        let failed = text_of(given, OfOther::Status) == Some(of_step::ERROR);
        return Block::Answers(Answer {
            id: text_of(given, OfOther::UseId),
            result: json.or_else(|| given.field(OfOther::Content)),
            is_value: json.is_some(),
            failed,
            status: Some(if failed { Status::Failed } else { Status::Ok }),
        });
    }
    match text_in(&block, &Parsed, text) {
        Some(words) => Block::Says(words),
        None if block.entries().iter().all(|entry| Bedrock::from_key(entry.key).is_some()) => Block::Silent,
        None => Block::Unknown,
    }
}

/// Whether an object is a message for a page, whose parts say their types.
pub(super) fn is_for_page(message: Object<'_>) -> bool {
    let has_type = |part: &Node<'_>| object(*part).is_some_and(|part| text_of(part, OfOther::Type).is_some());
    text_of(message, OfMessage::Role).is_some()
        && list_of(message, OfOther::Parts).is_some_and(|parts| !parts.is_empty() && parts.iter().all(has_type))
}

/// The blocks of a message: its parts, where it is one for a page, else its content.
pub(super) fn in_message(message: Object<'_>) -> Option<Node<'_>> {
    let parts = if is_for_page(message) { message.field(OfOther::Parts) } else { None };
    parts.or_else(|| message.field(OfMessage::Content))
}

/// The calls that stand beside the content of a message for a page, in its older form.
pub(super) fn invocations(message: Object<'_>) -> impl Iterator<Item = (Node<'_>, Object<'_>)> {
    let calls = if is_for_page(message) { None } else { list_of(message, OfOther::Invocations) };
    objects(calls.unwrap_or_default())
}

/// Whether a message holds calls or results in its content or its parts.
pub(super) fn has_tools(message: &Node<'_>) -> bool {
    let Some(message) = object(*message) else { return false };
    invocations(message).next().is_some() || all(message).any(|(_, block)| is_of_tools(block))
}

/// Whether a block is a call or a result.
pub(super) fn is_of_tools(block: Object<'_>) -> bool {
    matches!(of(block), Block::Calls(_) | Block::Answers(_))
}

/// Whether messages have calls of OpenAI's form that their blocks do not have: nobody could say which of both are all.
pub(super) fn lack_calls(messages: &[Node<'_>]) -> bool {
    let messages = || messages.iter().filter_map(|message| object(*message));
    let blocks = messages().flat_map(all).filter_map(|(_, block)| match of(block) {
        Block::Calls(asked) => asked.id.and_then(text),
        _ => None,
    });
    let known: FxHashSet<&str> = blocks.collect();
    let listed = |message| list_of(message, OfMessage::Calls).into_iter().flat_map(objects);
    messages().any(|message| {
        message.field(OfMessage::Call).is_some_and(|call| !matches!(call.value, Value::Null))
            || listed(message).any(|(_, call)| text_of(call, OfCall::Id).is_none_or(|id| !known.contains(id)))
    })
}

/// The first block of a message that nobody knows.
pub(super) fn unknown_in(message: Object<'_>) -> Option<Node<'_>> {
    all(message).find(|(_, block)| matches!(of(*block), Block::Unknown)).map(|(node, _)| node)
}

/// What is said of such a one.
pub(super) const UNKNOWN: &str = "a block of a message is of no known type and passed over: it may be a call";

fn all(message: Object<'_>) -> impl Iterator<Item = (Node<'_>, Object<'_>)> {
    objects(in_message(message).and_then(super::nodes::list).unwrap_or_default())
}
