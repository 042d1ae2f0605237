//! Kimi's command line: what its agent tells (`wire.jsonl`, a record a line with a `message` of `type` and `payload`), and the context of
//! a session (`context.jsonl`: chat messages, with counts and marks between them).

use super::block_session::{self, UserWords};
use super::blocks::{self, BlockCall, BlockResult};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta, instant_node};
use super::fields::{FieldRecord, NodeShapes, is_true, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::messages::ChatMessageKey;
use super::nodes::{first_of, items_of, node_object, node_text, object_of, text_of};
use super::openai_chat;
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_step, of_usage};
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    KimiKey {
        Message = "message",
        Time = "timestamp",
        Type = "type",
        Payload = "payload",
        Protocol = "protocol_version",
        Role = "role",
    }
}

key_table! {
    KimiPayloadKey {
        Input = "user_input",
        Words = "text",
        Thought = "think",
        Type = "type",
        Id = "id",
        Function = "function",
        Name = "name",
        Args = "arguments",
        Part = "arguments_part",
        Call = "tool_call_id",
        Task = "task_tool_call_id" | "parent_tool_call_id",
        Given = "return_value" | "result",
        Failed = "is_error",
        Output = "output",
        Told = "message",
        Event = "event",
        Usage = "token_usage",
        Feedback = "feedback",
    }
}

key_table! {
    KimiUsageKey {
        Input = "input_other",
        Output = "output",
        Read = "input_cache_read",
        Write = "input_cache_creation",
    }
}

key_table! {
    KimiRecordType {
        User = "TurnBegin" | "SteerInput",
        Step = "StepBegin",
        Part = "ContentPart",
        Call = "ToolCall",
        CallPart = "ToolCallPart",
        Result = "ToolResult",
        Status = "StatusUpdate",
        Aside = "SubagentEvent",
        /// Whether the user allows a call, and what they say to that.
        Approval = "ApprovalResponse" | "ApprovalRequestResolved",
        /// Where turns end, what is asked of the user, and what is shown: calls and results have records of their own.
        Silent = "TurnEnd" | "StepInterrupted" | "CompactionBegin" | "CompactionEnd" | "ApprovalRequest"
            | "QuestionRequest" | "QuestionResponse" | "MCPLoadingBegin" | "MCPLoadingEnd" | "Notification"
            | "StepRetry" | "PlanDisplay" | "HookTriggered" | "HookResolved" | "HookRequest" | "ToolCallRequest" | "BtwBegin" | "BtwEnd",
    }
}

key_table! {
    KimiPartType {
        Said = "text",
        Thought = "think",
        Silent = "image_url" | "audio_url" | "video_url",
    }
}

key_table! {
    KimiContextRole {
        /// Counts and marks between the messages.
        Silent = "_usage" | "_checkpoint",
        Prompt = "_system_prompt",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Kimi session",
    known_by: "lines whose `message` has a `type` such as `TurnBegin` and a `payload`, or messages of role `_checkpoint` and `_usage`",
    description: "sessions of Kimi's command line (`wire.jsonl`, `context.jsonl`)",
    marks: &[KimiKey::Protocol.key()],
    item_marks: &[KimiKey::Message.key(), KimiKey::Protocol.key(), KimiKey::Role.key()],
    element: |line| record_of(line).is_some() || context_role(line).is_some(),
    line: |line| record_of(line).is_some() || context_role(line).is_some(),
    beside: is_beside,
    record_ids: RecordIds::shared(&[
        &[KimiKey::Time.key()],
        &[ChatMessageKey::Calls.key(), ChatMessageKey::Id.key()],
        &[ChatMessageKey::Answers.key()],
    ]),
    read: read_run,
    ..IN_FULL
};

fn is_beside(line: Object<'_>) -> bool {
    line.field(KimiKey::Protocol).is_some() || text_of(line, KimiKey::Role).is_some()
}

fn context_role(line: Object<'_>) -> Option<KimiContextRole> {
    text_of(line, KimiKey::Role).and_then(KimiContextRole::from_key)
}

/// The type of what a line tells, and what it holds.
fn record_of(line: Object<'_>) -> Option<(KimiRecordType, Object<'_>)> {
    type_and_payload(object_of(line, KimiKey::Message)?)
}

fn type_and_payload(message: Object<'_>) -> Option<(KimiRecordType, Object<'_>)> {
    let kind = KimiRecordType::from_key(text_of(message, KimiKey::Type)?)?;
    Some((kind, object_of(message, KimiKey::Payload)?))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let items = items_of::<KimiKey>(root, &[]);
    if items.iter().filter_map(|node| node_object(*node)).any(|line| record_of(line).is_some()) {
        read_wire(items, builder);
    } else {
        read_context(items, builder);
    }
    Ok(())
}

/// Calls of messages are always written as such.
fn read_context<'run>(items: &[Node<'run>], builder: &mut RunBuilder<'run, '_>) {
    let is_silent = |node: &&Node<'run>| node_object(**node).and_then(context_role).is_some();
    builder.mark_recorded(&[StepKind::Call]);
    openai_chat::read_conversation(items.iter().filter(|node| !is_silent(node)).copied().collect(), builder);
    for call in builder.steps_of_kind(StepKind::Call) {
        let result = builder.step_field(call, of_step::RESULT);
        if let Some(result) = result.filter(|result| node_text(*result).is_some_and(|text| text.starts_with(FAILED))) {
            let status = StepStatus::Failed.as_str().map(Value::plain_text);
            status.into_iter().for_each(|status| builder.set_field(call, of_step::STATUS, Node::computed(status)));
            builder.set_field(call, of_step::ERROR, result);
        }
    }
}

/// How what the model is told of a tool that failed begins.
const FAILED: &str = "<system>ERROR";

fn read_wire<'run>(items: &[Node<'run>], builder: &mut RunBuilder<'run, '_>) {
    let mut wire = KimiWire { conversation: ConversationBuilder::from_parts(builder), open: None };
    for node in items {
        wire.conversation.builder.count_record();
        let line = node_object(*node);
        match line.and_then(record_of) {
            Some((kind, payload)) => {
                let time = line.and_then(|line| line.field(KimiKey::Time)).and_then(instant_node);
                wire.read_record(*node, kind, payload, &StepMeta { time, ..StepMeta::default() });
            }
            None if line.is_some_and(|line| line.field(KimiKey::Protocol).is_some()) => {}
            None => wire.conversation.builder.skip_value(node, "a record of unknown type is skipped"),
        }
    }
    wire.close_call();
    wire.conversation.finish_with_tools();
}

/// A call whose arguments may come in parts.
struct OpenCall<'run> {
    node: Node<'run>,
    call: Object<'run>,
    parts: String,
    meta: StepMeta<'run>,
}

struct KimiWire<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    open: Option<OpenCall<'run>>,
}

impl<'a, 'run, 'limits> KimiWire<'a, 'run, 'limits> {
    fn read_record(&mut self, node: Node<'run>, kind: KimiRecordType, payload: Object<'run>, meta: &StepMeta<'run>) {
        if kind == KimiRecordType::CallPart {
            let part = text_of(payload, KimiPayloadKey::Part).unwrap_or_default();
            match &mut self.open {
                Some(open) => open.parts.push_str(part),
                None => {
                    self.conversation.builder.skip_record(node.origin, "a part of a call that did not begin is skipped")
                }
            }
            return;
        }
        self.close_call();
        match kind {
            KimiRecordType::User => {
                let speaker = if meta.aside { Speaker::System } else { Speaker::User };
                if let Some(words) = first_of(payload, &[KimiPayloadKey::Input]) {
                    let words_of = &UserWords::PLAIN;
                    block_session::add_content(
                        &mut self.conversation,
                        words,
                        speaker,
                        words_of,
                        meta,
                        blocks::classify_block,
                    );
                }
            }
            KimiRecordType::Step if meta.aside => {}
            KimiRecordType::Step => self.conversation.begin_turn(),
            KimiRecordType::Part => self.add_part(node, payload, meta),
            KimiRecordType::Call => {
                self.open = Some(OpenCall { node, call: payload, parts: String::new(), meta: *meta });
            }
            KimiRecordType::Result => self.add_result(node, payload, meta),
            KimiRecordType::Status => self.count_usage(payload),
            KimiRecordType::Aside => self.read_aside(node, payload, meta),
            KimiRecordType::Approval => {
                if let Some(words) = payload.field(KimiPayloadKey::Feedback) {
                    UserWords::PLAIN.add_words(&mut self.conversation, words, meta);
                }
            }
            KimiRecordType::CallPart | KimiRecordType::Silent => {}
        }
    }

    fn add_part(&mut self, node: Node<'run>, part: Object<'run>, meta: &StepMeta<'run>) {
        let say = |conversation: &mut ConversationBuilder<'a, 'run, 'limits>, speaker, words: Option<Node<'run>>| {
            words.into_iter().for_each(|words| conversation.add_message(speaker, words, meta, node.origin));
        };
        match text_of(part, KimiPayloadKey::Type).and_then(KimiPartType::from_key) {
            Some(KimiPartType::Said) => {
                say(&mut self.conversation, Speaker::Assistant, part.field(KimiPayloadKey::Words))
            }
            Some(KimiPartType::Thought) => {
                say(&mut self.conversation, Speaker::Thinking, part.field(KimiPayloadKey::Thought))
            }
            Some(KimiPartType::Silent) => {}
            None => self.conversation.builder.skip_record(node.origin, blocks::UNKNOWN),
        }
    }

    fn close_call(&mut self) {
        let Some(OpenCall { node, call, parts, meta }) = self.open.take() else { return };
        let function = object_of(call, KimiPayloadKey::Function).unwrap_or(call);
        let args = function.field(KimiPayloadKey::Args);
        let args = if parts.is_empty() {
            args
        } else {
            let whole = format!("{}{parts}", args.and_then(node_text).unwrap_or_default());
            Some(Node::new(Value::plain_text(self.conversation.builder.arena.alloc_str(&whole)), node.origin))
        };
        let made = BlockCall {
            tool: function.field(KimiPayloadKey::Name),
            args,
            id: call.field(KimiPayloadKey::Id),
            answer: None,
        };
        block_session::add_call(&mut self.conversation, node, made, &meta);
    }

    fn add_result(&mut self, node: Node<'run>, payload: Object<'run>, meta: &StepMeta<'run>) {
        let given = KimiPayloadKey::Given;
        let told = super::fields::value_of(payload, given);
        let held = told.and_then(node_object);
        let failed = held.is_some_and(|held| is_true(&held, &NodeShapes, KimiPayloadKey::Failed));
        let words = held.and_then(|held| text_of(held, KimiPayloadKey::Told));
        let denied = failed && words.is_some_and(|words| words.contains("rejected by the user"));
        let output = held.and_then(|held| {
            let output = first_of(held, &[KimiPayloadKey::Output]).filter(|output| node_text(*output) != Some(""));
            output.or_else(|| first_of(held, &[KimiPayloadKey::Told]))
        });
        let status = match (denied, failed) {
            (true, _) => StepStatus::Denied,
            (false, true) => StepStatus::Failed,
            (false, false) => StepStatus::Ok,
        };
        let id = text_of(payload, KimiPayloadKey::Call);
        let answer =
            BlockResult { id, result: output.or(told), status: Some(status), failed, ..BlockResult::default() };
        block_session::add_result(&mut self.conversation, node, &answer, None, meta);
    }

    /// What an agent does that a call has started.
    fn read_aside(&mut self, node: Node<'run>, payload: Object<'run>, meta: &StepMeta<'run>) {
        let event = object_of(payload, KimiPayloadKey::Event).and_then(type_and_payload);
        match event {
            // One agent deep: deeper ones are told by the inner event.
            Some((kind, inner)) if !meta.aside => {
                let agent = super::fields::value_of(payload, KimiPayloadKey::Task);
                let meta = StepMeta { agent, aside: true, ..*meta };
                if kind != KimiRecordType::Status {
                    self.read_record(node, kind, inner, &meta);
                }
            }
            _ => self
                .conversation
                .builder
                .skip_record(node.origin, "an event of another agent is not understood and skipped"),
        }
    }

    /// The input is without what comes from the cache and goes there.
    fn count_usage(&mut self, payload: Object<'run>) {
        let Some(counts) = object_of(payload, KimiPayloadKey::Usage) else { return };
        let mut usage = TokenUsage::default();
        usage.add_count(of_usage::INPUT, counts.field(KimiUsageKey::Input));
        usage.add_count(of_usage::OUTPUT, counts.field(KimiUsageKey::Output));
        usage.add_count(of_usage::CACHE_READ, counts.field(KimiUsageKey::Read));
        usage.add_count(of_usage::CACHE_WRITE, counts.field(KimiUsageKey::Write));
        usage.count_cache_as_input();
        self.conversation.usage.merge_usage(&usage);
    }
}
