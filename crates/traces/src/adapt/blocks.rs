//! The blocks of a message in the words of each provider: Anthropic, Bedrock's Converse, Vercel's AI SDK and its messages for pages.
//! What nobody knows is told apart from what says nothing: it may be a call.

use super::content;
use super::fields::{FieldRecord, NodeShapes, is_true, key_table};
use super::messages::{BlockKey, BlockType, ChatMessageKey, ToolCallKey, result_status, text_in};
use super::nodes::{first_of, list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Number, Object, Value, ValueText};
use averment_runs::normal::of_step;
use averment_runs::run::StepStatus;
use bumpalo::Bump;
use rustc_hash::FxHashSet;

key_table! {
    OtherBlockKey {
        Use = "toolUse",
        /// Words of Bedrock's model with their sources.
        Cited = "citationsContent",
        Given = "toolResult",
        UseId = "toolUseId",
        CallId = "toolCallId" | "tool_call_id",
        Tool = "toolName" | "tool_name",
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
        ErrorCode = "error_code",
        Invocation = "toolInvocation",
        Invocations = "toolInvocations",
        Parts = "parts",
        /// What Kimi thinks.
        Think = "think",
    }
}

key_table! {
    VercelBlockType {
        Call = "tool-call",
        Result = "tool-result",
        Error = "tool-error",
        Invocation = "tool-invocation",
        Dynamic = "dynamic-tool",
        Thinking = "reasoning",
        Think = "think",
        Silent = "step-start" | "source-url" | "source-document" | "tool-approval-request" | "tool-approval-response",
    }
}

key_table! {
    InvocationState {
        Ok = "output-available" | "result",
        Failed = "output-error",
        Denied = "output-denied",
        /// It waits for a person; a call in another state was made, and how it ended is not recorded.
        Pending = "approval-requested",
    }
}

key_table! {
    VercelOutputType {
        Ok = "text" | "json" | "content",
        Failed = "error-text" | "error-json",
        Denied = "execution-denied",
    }
}

key_table! {
    /// Bedrock blocks without a type that no rule reads.
    BedrockBlockKey {
        Silent = "image" | "document" | "video" | "audio" | "guardContent" | "cachePoint" | "reasoningContent"
            | "citationsContent" | "searchResult",
    }
}

pub(super) enum ContentBlock<'run> {
    Says(Node<'run>),
    Thinks(Node<'run>),
    Calls(BlockCall<'run>),
    Answers(BlockResult<'run>),
    /// Images, documents, redacted thinking: nothing that a rule could read.
    Silent,
    Unknown,
}

#[derive(Default)]
pub(super) struct BlockCall<'run> {
    pub(super) tool: Option<Node<'run>>,
    pub(super) args: Option<Node<'run>>,
    pub(super) id: Option<Node<'run>>,
    pub(super) answer: Option<BlockResult<'run>>,
}

#[derive(Default)]
pub(super) struct BlockResult<'run> {
    pub(super) id: Option<&'run str>,
    /// Text, a value, or a list of blocks.
    pub(super) result: Option<Node<'run>>,
    /// The result is a value rather than content, and stays as it is.
    pub(super) is_value: bool,
    pub(super) failed: bool,
    /// `None` unless stated explicitly.
    pub(super) status: Option<StepStatus>,
}

impl<'run> BlockResult<'run> {
    pub(super) fn result_content(&self, arena: &'run Bump) -> Option<Node<'run>> {
        let of_blocks = |result: Node<'run>| content::content_text(result, arena).unwrap_or(result);
        self.result.map(|result| if self.is_value { result } else { of_blocks(result) })
    }

    pub(super) fn call_status(&self, result: Option<Node<'run>>) -> StepStatus {
        self.status.unwrap_or_else(|| result_status(self.failed, result.map(|result| result.value)))
    }
}

pub(super) fn classify_block(block: Object<'_>) -> ContentBlock<'_> {
    let Some(word) = text_of(block, BlockKey::Type) else { return classify_untyped(block) };
    match BlockType::of_block(word) {
        Some(BlockType::Text | BlockType::OtherText) => {
            block.field(BlockKey::Text).map_or(ContentBlock::Silent, ContentBlock::Says)
        }
        Some(BlockType::Refusal) => block.field(BlockKey::Refusal).map_or(ContentBlock::Silent, ContentBlock::Says),
        Some(BlockType::Thinking) => block.field(BlockKey::Thinking).map_or(ContentBlock::Silent, ContentBlock::Thinks),
        Some(BlockType::Call) => ContentBlock::Calls(BlockCall {
            tool: block.field(BlockKey::Name),
            args: block.field(BlockKey::Input),
            id: block.field(BlockKey::Id),
            answer: None,
        }),
        Some(BlockType::Result) => {
            let result = block.field(BlockKey::Content);
            let failed = is_true(&block, &NodeShapes, BlockKey::Failed) || result.is_some_and(says_failure);
            let id = text_of(block, BlockKey::Answers);
            ContentBlock::Answers(BlockResult { id, result, failed, ..BlockResult::default() })
        }
        Some(BlockType::Silent) => ContentBlock::Silent,
        None => classify_vercel(word, block),
    }
}

/// An error from a provider's tool, or an exit code other than 0.
fn says_failure(result: Node<'_>) -> bool {
    let Some(result) = node_object(result) else { return false };
    text_of(result, BlockKey::Type).is_some_and(|word| word.ends_with("_tool_result_error"))
        || text_of(result, OtherBlockKey::ErrorCode).is_some()
        || result
            .field(OtherBlockKey::Code)
            .is_some_and(|code| matches!(code.value, Value::Number(code) if code.compare(Number::Integer(0)).is_ne()))
}

fn classify_vercel<'run>(word: &'run str, block: Object<'run>) -> ContentBlock<'run> {
    match VercelBlockType::from_key(word) {
        Some(VercelBlockType::Call) => ContentBlock::Calls(tool_call(block)),
        Some(VercelBlockType::Result) => ContentBlock::Answers(vercel_output(block)),
        Some(VercelBlockType::Error) => ContentBlock::Answers(BlockResult {
            id: text_of(block, OtherBlockKey::CallId),
            result: first_of(block, &[OtherBlockKey::Error]),
            status: Some(StepStatus::Failed),
            ..BlockResult::default()
        }),
        Some(VercelBlockType::Invocation) => object_of(block, OtherBlockKey::Invocation)
            .map_or(ContentBlock::Unknown, |inner| ContentBlock::Calls(page_invocation(inner))),
        Some(VercelBlockType::Dynamic) => ContentBlock::Calls(page_invocation(block)),
        Some(VercelBlockType::Thinking) => {
            block.field(BlockKey::Text).map_or(ContentBlock::Silent, ContentBlock::Thinks)
        }
        Some(VercelBlockType::Think) => {
            block.field(OtherBlockKey::Think).map_or(ContentBlock::Silent, ContentBlock::Thinks)
        }
        Some(VercelBlockType::Silent) => ContentBlock::Silent,
        None if word.starts_with("data-") => ContentBlock::Silent,
        None => match word.strip_prefix("tool-").filter(|_| block.field(OtherBlockKey::CallId).is_some()) {
            Some(tool) => {
                let tool = Some(Node::computed(Value::Text(ValueText::Plain(tool))));
                ContentBlock::Calls(BlockCall { tool, ..page_invocation(block) })
            }
            None => ContentBlock::Unknown,
        },
    }
}

fn tool_call(block: Object<'_>) -> BlockCall<'_> {
    let args = first_of(block, &[OtherBlockKey::Input, OtherBlockKey::Args]);
    // BeeAI has the id of a call where others have that of a block.
    let id = block.field(OtherBlockKey::CallId).or_else(|| block.field(BlockKey::Id));
    BlockCall { tool: block.field(OtherBlockKey::Tool), args, id, answer: None }
}

/// Its state says how far the call got.
pub(super) fn page_invocation(call: Object<'_>) -> BlockCall<'_> {
    let given = first_of(call, &[OtherBlockKey::Output, OtherBlockKey::Result]);
    let status = match text_of(call, OtherBlockKey::State).and_then(InvocationState::from_key) {
        Some(InvocationState::Ok) => Some(StepStatus::Ok),
        Some(InvocationState::Failed) => Some(StepStatus::Failed),
        Some(InvocationState::Denied) => Some(StepStatus::Denied),
        Some(InvocationState::Pending) => Some(StepStatus::Pending),
        None => None,
    };
    let result =
        if status == Some(StepStatus::Failed) { first_of(call, &[OtherBlockKey::ErrorText]).or(given) } else { given };
    let ended = status.or(given.map(|_| StepStatus::Unknown));
    let answer =
        ended.map(|status| BlockResult { result, is_value: true, status: Some(status), ..BlockResult::default() });
    BlockCall { answer, ..tool_call(call) }
}

fn vercel_output(block: Object<'_>) -> BlockResult<'_> {
    let given = first_of(block, &[OtherBlockKey::Output, OtherBlockKey::Result]);
    let id = text_of(block, OtherBlockKey::CallId);
    let held = given.and_then(node_object);
    let kind = held.and_then(|held| VercelOutputType::from_key(text_of(held, OtherBlockKey::Type)?));
    let (Some(held), Some(kind)) = (held, kind) else {
        let failed = is_true(&block, &NodeShapes, OtherBlockKey::Failed);
        let status = Some(if failed { StepStatus::Failed } else { StepStatus::Ok });
        return BlockResult { id, result: given, is_value: true, failed, status };
    };
    let result = first_of(held, &[OtherBlockKey::Value, OtherBlockKey::Reason]);
    let status = match kind {
        VercelOutputType::Ok => StepStatus::Ok,
        VercelOutputType::Failed => StepStatus::Failed,
        VercelOutputType::Denied => StepStatus::Denied,
    };
    let is_value = result.is_none_or(|result| node_object(result).is_some());
    BlockResult { id, result, is_value, failed: false, status: Some(status) }
}

/// Bedrock Converse: the only key is the type.
fn classify_untyped(block: Object<'_>) -> ContentBlock<'_> {
    if let Some(call) = object_of(block, OtherBlockKey::Use) {
        let (tool, args) = (call.field(OtherBlockKey::Name), call.field(OtherBlockKey::Input));
        return ContentBlock::Calls(BlockCall { tool, args, id: call.field(OtherBlockKey::UseId), answer: None });
    }
    if let Some(given) = object_of(block, OtherBlockKey::Given) {
        let content = list_of(given, OtherBlockKey::Content).unwrap_or_default();
        let json = match content {
            [one] => node_object(*one).and_then(|one| one.field(OtherBlockKey::Json)),
            _ => None,
        };
        let failed = text_of(given, OtherBlockKey::Status) == Some(of_step::ERROR);
        return ContentBlock::Answers(BlockResult {
            id: text_of(given, OtherBlockKey::UseId),
            result: json.or_else(|| given.field(OtherBlockKey::Content)),
            is_value: json.is_some(),
            failed,
            status: Some(if failed { StepStatus::Failed } else { StepStatus::Ok }),
        });
    }
    match text_in(&block, &NodeShapes, node_text) {
        Some(words) => ContentBlock::Says(words),
        None if block.entries().iter().all(|entry| BedrockBlockKey::from_key(entry.key).is_some()) => {
            ContentBlock::Silent
        }
        None => ContentBlock::Unknown,
    }
}

/// The content of a message whose blocks of Bedrock with sources are pieces of its text, as those of other providers are.
pub(super) fn with_cited_texts<'run>(content: Node<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    let cited = |block: &Node<'run>| object_of(node_object(*block)?, OtherBlockKey::Cited);
    let blocks = node_list(content).unwrap_or_default();
    if !blocks.iter().any(|block| cited(block).is_some()) {
        return content;
    }
    let text_block = |block: &Node<'run>| {
        let pieces = cited(block).and_then(|cited| list_of(cited, OtherBlockKey::Content)).unwrap_or_default();
        let pieces: Vec<_> = pieces.iter().filter_map(content::block_text).collect();
        let words = content::concat_pieces(&pieces, builder.arena)?;
        let source = builder.list_node(&[Node::computed(Value::Null)]);
        let entries = [field_entry(BlockKey::Text.key(), words), field_entry(BlockKey::Citations.key(), source)];
        Some(Node::new(builder.object_node(&entries).value, block.origin))
    };
    let blocks: Vec<_> = blocks.iter().map(|block| text_block(block).unwrap_or(*block)).collect();
    Node::new(builder.list_node(&blocks).value, content.origin)
}

pub(super) fn has_type(block: Object<'_>) -> bool {
    text_of(block, BlockKey::Type).is_some()
}

/// AI SDK UI messages have typed parts.
pub(super) fn is_for_page(message: Object<'_>) -> bool {
    let has_type =
        |part: &Node<'_>| node_object(*part).is_some_and(|part| text_of(part, OtherBlockKey::Type).is_some());
    text_of(message, ChatMessageKey::Role).is_some()
        && list_of(message, OtherBlockKey::Parts).is_some_and(|parts| !parts.is_empty() && parts.iter().all(has_type))
}

pub(super) fn in_message(message: Object<'_>) -> Option<Node<'_>> {
    let parts = if is_for_page(message) { message.field(OtherBlockKey::Parts) } else { None };
    parts.or_else(|| message.field(ChatMessageKey::Content))
}

/// Calls beside the content, as older UI messages have them.
pub(super) fn page_invocations(message: Object<'_>) -> impl Iterator<Item = (Node<'_>, Object<'_>)> {
    let calls = if is_for_page(message) { None } else { list_of(message, OtherBlockKey::Invocations) };
    object_items(calls.unwrap_or_default())
}

pub(super) fn has_tools(message: &Node<'_>) -> bool {
    let Some(message) = node_object(*message) else { return false };
    page_invocations(message).next().is_some() || all_blocks(message).any(|(_, block)| is_of_tools(block))
}

pub(super) fn is_of_tools(block: Object<'_>) -> bool {
    matches!(classify_block(block), ContentBlock::Calls(_) | ContentBlock::Answers(_))
}

/// True if `tool_calls` and blocks name different calls: nobody knows which are all.
pub(super) fn lack_calls(messages: &[Node<'_>]) -> bool {
    let messages = || messages.iter().filter_map(|message| node_object(*message));
    let blocks = messages().flat_map(all_blocks).filter_map(|(_, block)| match classify_block(block) {
        ContentBlock::Calls(asked) => asked.id.and_then(node_text),
        _ => None,
    });
    let known: FxHashSet<&str> = blocks.collect();
    let listed = |message| list_of(message, ChatMessageKey::Calls).into_iter().flat_map(object_items);
    messages().any(|message| {
        message.field(ChatMessageKey::Call).is_some_and(|call| !matches!(call.value, Value::Null))
            || listed(message).any(|(_, call)| text_of(call, ToolCallKey::Id).is_none_or(|id| !known.contains(id)))
    })
}

pub(super) fn unknown_in(message: Object<'_>) -> Option<Node<'_>> {
    all_blocks(message).find(|(_, block)| matches!(classify_block(*block), ContentBlock::Unknown)).map(|(node, _)| node)
}

pub(super) const UNKNOWN: &str = "a block of a message is of no known type and skipped: it may be a call";

fn all_blocks(message: Object<'_>) -> impl Iterator<Item = (Node<'_>, Object<'_>)> {
    object_items(in_message(message).and_then(super::nodes::node_list).unwrap_or_default())
}
