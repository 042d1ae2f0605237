//! Cline, Roo Code and Kilo Code: the history of a task (`api_conversation_history.json`). Calls are blocks, or XML in the text of the
//! assistant; what they gave stands as a text in the name of the user, behind a head that names the tool.

mod feedback;
mod written_calls;

use super::block_session::{self, CostSum, UserWords, text_node};
use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::calls::TokenUsage;
use super::conversation::{
    CallResult, ConversationBuilder, Speaker, StepMeta, TextMarkers, ToolCall, build_markers, number_behind,
};
use super::fields::{FieldRecord, NodeShapes, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::{BlockKey, ChatMessageKey, MessageRole, is_message};
use super::nodes::{first_of, items_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, StepId};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::StepStatus;
use std::sync::LazyLock;

key_table! {
    ClineKey {
        Time = "ts",
        Metrics = "metrics",
        Tokens = "tokens",
        Prompt = "prompt",
        Completion = "completion",
        Cached = "cached",
        Cost = "cost",
        Model = "modelInfo",
        ModelId = "modelId",
        Type = "type",
        Summary = "summary",
        SumsUp = "isSummary",
        /// Of the tools that end a task, or tell a plan.
        Answer = "result" | "response",
    }
}

key_table! {
    ClineItemType {
        Thought = "reasoning",
    }
}

key_table! {
    /// The tags around the words of the user.
    ClineTag {
        Any = "task" | "user_message" | "feedback" | "answer",
    }
}

key_table! {
    ClineTool {
        End = "attempt_completion" | "plan_mode_respond",
    }
}

/// The words of the user stand between tags; all else in the user's name the program wrote.
const WORDS: UserWords<'static> = UserWords { tags: ClineTag::Any.keys(), are_last: false, untagged: Speaker::System };

static EXIT_CODE: TextMarkers = LazyLock::new(|| build_markers(["Exit code:"]));

const SURROUNDINGS: &str = "<environment_details>";

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Cline task history",
    known_by: "messages with `modelInfo` or `metrics`, or whose user text is `<environment_details>` or a tool's `Result:`",
    description: "task histories of Cline, Roo Code and Kilo Code (`api_conversation_history.json`)",
    marks: &[ChatMessageKey::Role.key()],
    item_marks: &[ChatMessageKey::Role.key()],
    element: is_own,
    beside: |message| is_message(&message, &NodeShapes),
    record_ids: RecordIds::shared(&[&[ClineKey::Time.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_own(message: Object<'_>) -> bool {
    let has_model = object_of(message, ClineKey::Model).is_some_and(|model| model.field(ClineKey::ModelId).is_some());
    let tokens = || object_of(message, ClineKey::Metrics).and_then(|metrics| object_of(metrics, ClineKey::Tokens));
    is_message(&message, &NodeShapes)
        && match text_of(message, ChatMessageKey::Role).and_then(MessageRole::from_key) {
            Some(MessageRole::Assistant) => has_model || tokens().is_some(),
            Some(MessageRole::User) => texts_of(message).any(is_written_by_program),
            _ => false,
        }
}

fn texts_of(message: Object<'_>) -> impl Iterator<Item = &str> {
    let blocks = list_of(message, ChatMessageKey::Content).unwrap_or_default();
    object_items(blocks).filter_map(|(_, block)| text_of(block, BlockKey::Text))
}

fn is_written_by_program(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with(SURROUNDINGS) || head_of(text).is_some()
}

/// The tool that the head of a result names, and the result.
fn head_of(text: &str) -> Option<(&str, &str)> {
    let (head, result) = text.split_once('\n').unwrap_or((text, ""));
    let head = head.trim_end().strip_prefix('[')?.strip_suffix("] Result:")?;
    let tool = head.split([' ', ':']).next().filter(|tool| !tool.is_empty())?;
    Some((tool, result))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut task = ClineTask {
        conversation: ConversationBuilder::from_parts(builder),
        waiting: Vec::new(),
        cost: CostSum::default(),
        answer: None,
    };
    for node in items_of::<ClineKey>(root, &[]) {
        task.conversation.builder.count_record();
        match node_object(*node) {
            Some(message) => task.read_message(*node, message),
            None => task.conversation.builder.skip_value(node, "what is no message is skipped"),
        }
    }
    task.cost.set_cost(task.conversation.builder);
    task.conversation.builder.set_some(of_run::OUTPUT, task.answer);
    task.conversation.finish_with_tools();
    Ok(())
}

struct WaitingCall<'run> {
    step: StepId,
    tool: &'run str,
    id: Option<&'run str>,
}

struct ClineTask<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    waiting: Vec<WaitingCall<'run>>,
    cost: CostSum,
    /// What the call said that ends the task, if the assistant said nothing behind it.
    answer: Option<Node<'run>>,
}

impl<'run> ClineTask<'_, 'run, '_> {
    fn read_message(&mut self, node: Node<'run>, message: Object<'run>) {
        let meta = StepMeta { time: first_of(message, &[ClineKey::Time]), ..StepMeta::default() };
        if text_of(message, ClineKey::Type).and_then(ClineItemType::from_key) == Some(ClineItemType::Thought) {
            let words = message.field(ClineKey::Summary);
            let words = words.and_then(|words| super::content::content_text(words, self.conversation.builder.arena));
            words
                .into_iter()
                .for_each(|words| self.conversation.add_message(Speaker::Thinking, words, &meta, node.origin));
            return;
        }
        let content = message.field(ChatMessageKey::Content);
        match (text_of(message, ChatMessageKey::Role).and_then(MessageRole::from_key), content) {
            (Some(MessageRole::Assistant), Some(content)) => self.read_assistant(message, content, &meta),
            (Some(MessageRole::User), Some(content)) if first_of(message, &[ClineKey::SumsUp]).is_none() => {
                self.read_user(content, &meta);
            }
            (Some(_), Some(content)) => self.conversation.add_content(Speaker::System, content, &meta, node.origin),
            (None, _) => self.conversation.builder.skip_record(node.origin, super::unknown::UNKNOWN_ROLE),
            (_, None) => self.conversation.builder.skip_value(node, "a message without `content` is skipped"),
        }
    }

    fn read_assistant(&mut self, message: Object<'run>, content: Node<'run>, meta: &StepMeta<'run>) {
        self.conversation.begin_turn();
        let model = object_of(message, ClineKey::Model).and_then(|model| model.field(ClineKey::ModelId));
        self.conversation.add_meta(of_meta::MODEL, model);
        self.answer = None;
        let blocks = blocks_of(self.conversation.builder, content);
        let in_blocks = object_items(blocks).any(|(_, block)| blocks::is_of_tools(block));
        for node in blocks {
            let text = match node_object(*node).map(blocks::classify_block) {
                Some(ContentBlock::Says(text)) => text,
                Some(ContentBlock::Calls(call)) => {
                    self.add_call(*node, call, meta);
                    continue;
                }
                Some(_) => {
                    let words = &UserWords::PLAIN;
                    let conversation = &mut self.conversation;
                    block_session::add_content(
                        conversation,
                        *node,
                        Speaker::Assistant,
                        words,
                        meta,
                        blocks::classify_block,
                    );
                    continue;
                }
                None => *node,
            };
            if in_blocks || node_text(text).is_none() {
                self.conversation.add_message(Speaker::Assistant, text, meta, node.origin);
            } else {
                self.read_written(text, meta);
            }
        }
        self.count_usage(message, model);
    }

    /// A text in which calls are written as XML.
    fn read_written(&mut self, text: Node<'run>, meta: &StepMeta<'run>) {
        for part in written_calls::split_text(node_text(text).unwrap_or_default()) {
            match part {
                written_calls::WrittenPart::Words(words) => {
                    let words = text_node(self.conversation.builder, words, text);
                    self.conversation.add_message(Speaker::Assistant, words, meta, text.origin);
                }
                written_calls::WrittenPart::Call(tool, params) => {
                    let args = written_calls::arguments(self.conversation.builder, &params, text);
                    let tool = Some(text_node(self.conversation.builder, tool, text));
                    self.add_call(text, BlockCall { tool, args: Some(args), ..BlockCall::default() }, meta);
                }
                written_calls::WrittenPart::Cut => {
                    self.conversation.builder.skip_record(text.origin, "a call that breaks off is skipped");
                }
            }
        }
    }

    fn add_call(&mut self, node: Node<'run>, call: BlockCall<'run>, meta: &StepMeta<'run>) {
        let tool = call.tool.and_then(node_text).unwrap_or_default();
        let made = ToolCall {
            tool: call.tool.unwrap_or(Node::computed(Value::Null)),
            args: call.args,
            id: call.id,
            origin: node.origin,
        };
        let Some(step) = self.conversation.add_call(made, meta) else { return };
        if ClineTool::from_key(tool).is_some() {
            self.answer = call.args.and_then(node_object).and_then(|args| value_of(args, ClineKey::Answer));
        }
        self.waiting.push(WaitingCall { step, tool, id: call.id.and_then(node_text) });
    }

    fn read_user(&mut self, content: Node<'run>, meta: &StepMeta<'run>) {
        // A head alone: the block behind it is the result.
        let mut head = None;
        for node in blocks_of(self.conversation.builder, content) {
            let text = match node_object(*node).map(blocks::classify_block) {
                Some(ContentBlock::Says(text)) => text,
                Some(ContentBlock::Answers(answer)) => {
                    self.add_answer(*node, &answer, meta);
                    continue;
                }
                Some(_) => {
                    let words = &WORDS;
                    let conversation = &mut self.conversation;
                    block_session::add_content(conversation, *node, Speaker::User, words, meta, blocks::classify_block);
                    continue;
                }
                None => *node,
            };
            let words = node_text(text).unwrap_or_default();
            if words.trim_start().starts_with(SURROUNDINGS) {
                self.conversation.add_message(Speaker::System, text, meta, node.origin);
            } else if let Some(tool) = head.take() {
                self.add_result(*node, tool, words, meta);
            } else if let Some((tool, result)) = head_of(words.trim_start()) {
                if result.trim().is_empty() {
                    head = Some(tool);
                } else {
                    self.add_result(*node, tool, result, meta);
                }
            } else {
                WORDS.add_words(&mut self.conversation, text, meta);
            }
        }
        if let Some(tool) = head {
            self.add_result(content, tool, "", meta);
        }
    }

    fn add_result(&mut self, node: Node<'run>, tool: &str, words: &str, meta: &StepMeta<'run>) {
        let place = self.waiting.iter().position(|call| call.tool == tool);
        let result = text_node(self.conversation.builder, words, node);
        self.end_call(node, place, None, result, None, meta);
    }

    fn add_answer(&mut self, node: Node<'run>, answer: &BlockResult<'run>, meta: &StepMeta<'run>) {
        let result = answer.result_content(self.conversation.builder.arena).unwrap_or(Node::computed(Value::Null));
        let place = self.waiting.iter().position(|call| call.id == answer.id);
        self.end_call(node, place, answer.id, result, answer.failed.then_some(StepStatus::Failed), meta);
    }

    fn end_call(
        &mut self,
        node: Node<'run>,
        place: Option<usize>,
        id: Option<&str>,
        result: Node<'run>,
        told: Option<StepStatus>,
        meta: &StepMeta<'run>,
    ) {
        let Some(place) = place else {
            self.conversation.builder.warn_skipped(node.origin, "a result that no call is waiting for is skipped");
            self.conversation.builder.note_uncalled(id);
            return;
        };
        let call = self.waiting.remove(place);
        let told = feedback::told_status(self.conversation.builder, call.tool, result).or(told);
        let status = node_text(result).and_then(status_of).or(told);
        let exit_code = number_behind(result, &EXIT_CODE).filter(|_| status.is_none());
        self.conversation.end_call(
            call.step,
            CallResult { result: Some(result), status, exit_code, ..CallResult::default() },
            meta,
        );
        feedback::add_words(&mut self.conversation, call.tool, result, meta);
    }

    fn count_usage(&mut self, message: Object<'run>, model: Option<Node<'run>>) {
        let Some(metrics) = object_of(message, ClineKey::Metrics) else { return };
        self.cost.add_cost(metrics.field(ClineKey::Cost));
        let Some(counts) = object_of(metrics, ClineKey::Tokens) else { return };
        let mut usage = TokenUsage::default();
        usage.add_count(of_usage::INPUT, counts.field(ClineKey::Prompt));
        usage.add_count(of_usage::OUTPUT, counts.field(ClineKey::Completion));
        usage.add_count(of_usage::CACHE_READ, counts.field(ClineKey::Cached));
        self.conversation.add_usage(&usage, model);
    }
}

fn blocks_of<'run>(builder: &RunBuilder<'run, '_>, content: Node<'run>) -> &'run [Node<'run>] {
    match content.value {
        Value::List(blocks) => blocks,
        _ => std::slice::from_ref(builder.arena.alloc(content)),
    }
}

/// The program's words for a call that failed, or that the user did not allow.
fn status_of(result: &str) -> Option<StepStatus> {
    let starts = |words: &[&str]| words.iter().any(|word| result.trim_start().starts_with(word));
    if starts(&["The user denied this operation", "{\"status\":\"denied\"", "The user rejected"]) {
        Some(StepStatus::Denied)
    } else if starts(&["The tool execution failed", "{\"status\":\"error\""]) {
        Some(StepStatus::Failed)
    } else {
        None
    }
}
