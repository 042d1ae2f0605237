//! Claude Code: session files (one event a line), `--output-format stream-json`, the web export (`loglines`); and conversations in
//! Anthropic's form, whose messages hold `tool_use` and `tool_result` blocks.
//!
//! One assistant message is written as several lines that repeat its usage: what belongs to a message is told by its id, and the last
//! usage counts. Sub-agents stand in the same file, told apart by `agentId`.

mod copies;
mod queued;
mod run_end;
pub(super) mod sdk_objects;
mod session;
mod speech;
mod wrapped_lines;

pub(super) use session::is_of_program;
pub(super) use wrapped_lines::lines_under_messages;

pub(crate) use session::{
    LineAgent, NO_MODEL, PERMISSION_DENIED, SUMMED_UP, SessionTimes, is_no_answer, line_agent, session_of, summed_up,
};

use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::calls::{PendingCalls, TokenUsage};
use super::content;
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use super::format::{IN_FULL, LineProjection, TraceFormat};
use super::messages::{ChatMessageKey, LastWords, MessageRole};
use super::nodes::{items_of, list_of, node_list, node_text, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, StepId, count_node, field_entry};
use crate::error::PlacedError;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::{of_run, of_step, role};
use averment_runs::run::{StepKind, StepStatus};
use copies::{CallFacts, CopyDetector};
use run_end::status_node;
use rustc_hash::{FxHashMap, FxHashSet};
use speech::OpenText;

key_table! {
    ClaudeExportKey {
        Lines = "loglines",
        Messages = "messages",
    }
}

key_table! {
    ClaudeKey {
        Type = "type",
        Subtype = "subtype",
        Message = "message",
        /// Written by the program, not by the user.
        Injected = "isMeta" | "isSynthetic",
        SumsUp = "isCompactSummary",
        /// A sub-agent speaks, which may have a name.
        Aside = "isSidechain",
        Agent = "agentId",
        Parent = "parent_tool_use_id",
        Time = "timestamp",
        /// Details of a result beyond what the model was told.
        Details = "toolUseResult",
        DetailsOfStream = "tool_use_result",
        /// Last line of `--output-format stream-json`, only line of `json`: the summary.
        Result = "result",
        Cost = "total_cost_usd",
        Duration = "duration_ms",
        Failed = "is_error",
        /// Refused calls: on the last line, or one on its own line.
        Denials = "permission_denials",
        Denied = "tool_use_id",
        /// Words of the program, which got no answer from the model.
        ApiError = "isApiErrorMessage",
        ApiErrorOfStream = "is_api_error_message",
        /// The reason, beside a message of the program itself.
        Why = "error",
        /// A sub-agent's words or actions, in a progress line.
        Data = "data",
        Attachment = "attachment",
        Turns = "num_turns",
        Usage = "usage",
        Tools = "tools",
        Session = "sessionId",
        SessionOfStream = "session_id",
        Folder = "cwd",
        Version = "version",
        VersionOfStream = "claude_code_version",
        Branch = "gitBranch",
        /// Qwen Code writes the same lines, and counts what came from a cache as input.
        OfQwen = "qwen_code_version",
        Leaf = "leafUuid",
        ParentLine = "parentUuid",
        Line = "uuid",
        MessageLine = "messageId",
    }
}

key_table! {
    ClaudeLineType {
        Spoken = "user" | "assistant",
        Result = "result",
        System = "system",
        Progress = "progress",
        /// No step, or parts of what another line holds whole: skipped silently.
        Silent = "summary" | "file-history-snapshot" | "queue-operation" | "stream_event" | "rate_limit_event"
            // Between the SDK and the program: what is allowed and set; calls and results have lines of their own.
            | "control_request" | "control_response" | "control_cancel_request" | "keep_alive",
        Attached = "attachment",
        /// As above, for types that other formats may have as well.
        SilentToo = "custom-title" | "ai-title" | "agent-name" | "pr-link" | "last-prompt" | "permission-mode"
            // States of the session, of its folder and of what is connected to it; agents that start have files of their own.
            | "mode" | "worktree-state" | "relocated" | "frame-link" | "bridge-session" | "atis-latch" | "started"
            // How long a tool has been running, what the program proposes to say next, and what calls were about in a few words.
            | "tool_progress" | "auth_status" | "tool_use_summary" | "prompt_suggestion" | "conversation_reset",
    }
}

key_table! {
    HarmlessKey {
        /// What a tool gave; pieces of an event that has a line of its own; what was asked for and has lines of its own.
        Any = "toolUseResult" | "tool_use_result" | "event" | "request",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Claude Code session",
    known_by: "lines with a `type` of its sessions and `message`, `sessionId` or `uuid`",
    description: "Claude Code sessions (JSONL, or `loglines`)",
    marks: &[ClaudeExportKey::Lines.key(), ClaudeKey::Turns.key()],
    near: &[ClaudeExportKey::Lines.key()],
    object: |object| list_of(object, ClaudeExportKey::Lines).is_some() || is_result(object),
    item_marks: &keys_of(MARKS),
    element: is_line,
    line: is_line,
    record_ids: RecordIds::OWN_READER,
    read: read_run,
    projected: LineProjection::Never,
    harmless_keys: HarmlessKey::Any.keys(),
    ..IN_FULL
};

fn is_result(object: Object<'_>) -> bool {
    text_of(object, ClaudeKey::Type).and_then(ClaudeLineType::from_key) == Some(ClaudeLineType::Result)
        && object.field(ClaudeKey::Turns).is_some()
        && MARKS.into_iter().any(|mark| object.field(mark).is_some())
}

fn is_line(line: Object<'_>) -> bool {
    text_of(line, ClaudeKey::Type).and_then(ClaudeLineType::from_key).is_some_and(|kind| kind.is_sure(&line))
}

/// Fields that only session lines have.
const MARKS: [ClaudeKey; 7] = [
    ClaudeKey::Session,
    ClaudeKey::SessionOfStream,
    ClaudeKey::Leaf,
    ClaudeKey::ParentLine,
    ClaudeKey::Line,
    ClaudeKey::MessageLine,
    // The messages of the SDK may have nothing else.
    ClaudeKey::Parent,
];

const fn keys_of([a, b, c, d, e, f, g]: [ClaudeKey; 7]) -> [&'static str; 7] {
    [a.key(), b.key(), c.key(), d.key(), e.key(), f.key(), g.key()]
}

impl ClaudeLineType {
    /// True if a key proves that it is a session line. Copilot's result has the same session id key.
    pub(crate) fn is_sure<R: FieldRecord<ClaudeKey>>(self, line: &R) -> bool {
        let counts = |mark: &ClaudeKey| self != Self::Result || *mark != ClaudeKey::Session;
        !matches!(self, Self::SilentToo | Self::Attached)
            && MARKS.into_iter().filter(counts).any(|mark| line.field(mark).is_some())
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), PlacedError> {
    session::read_session(items_of(builder.arena.alloc(root), &[ClaudeExportKey::Lines]), builder);
    Ok(())
}

pub(crate) fn holds_tool_blocks(content: &Node<'_>) -> bool {
    node_list(*content).is_some_and(|blocks| object_items(blocks).any(|(_, block)| blocks::is_of_tools(block)))
}

/// Has no times; each assistant message is a turn.
pub(super) fn read_conversation<'run>(messages: &[Node<'run>], builder: &mut RunBuilder<'run, '_>) {
    builder.mark_recorded(&[StepKind::Call, StepKind::Message]);
    let mut reader = ClaudeReader::new(builder);
    for node in messages {
        reader.builder.count_record();
        if let Value::Object(message) = node.value {
            let meta = LineMeta { turn: reader.turn_of(message), ..LineMeta::default() };
            reader.read_message(*node, message, &meta, None);
        }
    }
    reader.finish_run();
}

#[derive(Default)]
struct LineMeta<'run> {
    turn: usize,
    message: Option<&'run str>,
    time: Option<Node<'run>>,
    agent: Option<Node<'run>>,
    /// The speaker, if the program or another agent wrote in the user's name.
    speaker: Option<&'static str>,
}

#[derive(Clone, Copy)]
struct MessageUsage<'run> {
    counts: Object<'run>,
    model: Option<Node<'run>>,
    /// Its input holds the tokens of the cache.
    holds_cache: bool,
}

struct ClaudeReader<'a, 'run, 'limits> {
    builder: &'a mut RunBuilder<'run, 'limits>,
    unanswered: PendingCalls<'run, StepId>,
    turns: FxHashMap<&'run str, usize>,
    turn: usize,
    prompt: Option<Node<'run>>,
    said: LastWords<Node<'run>>,
    with_main: bool,
    usage: Vec<MessageUsage<'run>>,
    summed_up: Option<Object<'run>>,
    /// The input of every usage holds the tokens of the cache.
    counts_cache: bool,
    /// Calls and results pair within a session.
    session: Option<&'run str>,
    /// Position of each message's usage in `usage`.
    counted: FxHashMap<&'run str, usize>,
    /// In sessions the program writes in the user's name.
    in_session: bool,
    denied: FxHashSet<&'run str>,
    /// Why the model gave no answer, if that came last.
    api_error: Option<Node<'run>>,
    copies: CopyDetector<'run>,
    open: Option<OpenText<'run>>,
}

impl<'a, 'run, 'limits> ClaudeReader<'a, 'run, 'limits> {
    fn new(builder: &'a mut RunBuilder<'run, 'limits>) -> Self {
        Self {
            builder,
            unanswered: PendingCalls::new(),
            turns: FxHashMap::default(),
            turn: 0,
            prompt: None,
            said: LastWords::default(),
            with_main: true,
            usage: Vec::new(),
            summed_up: None,
            counts_cache: false,
            session: None,
            counted: FxHashMap::default(),
            in_session: false,
            denied: FxHashSet::default(),
            api_error: None,
            copies: CopyDetector::default(),
            open: None,
        }
    }

    /// Lines of one assistant message share a turn; others' words belong to the following turn.
    fn turn_of(&mut self, message: Object<'run>) -> usize {
        if text_of(message, ChatMessageKey::Role).and_then(MessageRole::from_key) != Some(MessageRole::Assistant) {
            return self.turn + 1;
        }
        let id = text_of(message, ChatMessageKey::Id);
        if let Some(turn) = id.and_then(|id| self.turns.get(id)) {
            return *turn;
        }
        self.turn += 1;
        if let Some(id) = id {
            self.turns.insert(id, self.turn);
        }
        self.turn
    }

    fn pairing_id(&self, id: Option<&'run str>) -> Option<&'run str> {
        match (self.session, id) {
            (Some(session), Some(id)) => Some(self.builder.arena.alloc_str(&format!("{session}\0{id}"))),
            _ => id,
        }
    }

    fn read_message(
        &mut self,
        node: Node<'run>,
        message: Object<'run>,
        meta: &LineMeta<'run>,
        details: Option<Node<'run>>,
    ) {
        let Some(role) = text_of(message, ChatMessageKey::Role) else {
            self.builder.skip_value(node, "a message without `role` is skipped");
            return;
        };
        let role = self.builder.role_of(node, Some(role));
        if meta.message.is_none() || self.open.as_ref().is_none_or(|open| open.message != meta.message) {
            self.close_text();
        }
        if role == Some(MessageRole::Assistant)
            && let Some((counts, holds_cache)) = object_of(message, ChatMessageKey::Usage)
                .map(|counts| (counts, self.counts_cache))
                .or_else(|| Some((object_of(message, ChatMessageKey::Metrics)?, true)))
        {
            let usage = MessageUsage { counts, model: message.field(ChatMessageKey::Model), holds_cache };
            self.count_usage(text_of(message, ChatMessageKey::Id), usage);
        }
        let before = self.builder.step_count();
        for (node, call) in blocks::page_invocations(message) {
            self.add_call(node, blocks::page_invocation(call), meta);
        }
        let called = self.builder.step_count() > before;
        let content = blocks::in_message(message);
        match content.and_then(|content| Some((content, NodeShapes.value_shape(content)?))) {
            Some((content, ValueShape::List)) => {
                if let Some(block) = blocks::unknown_in(message) {
                    self.builder.skip_record(block.origin, blocks::UNKNOWN);
                }
                for block in node_list(content).unwrap_or_default() {
                    self.read_block(*block, role, meta, details);
                }
            }
            Some((content, ValueShape::Text)) if self.copies.is_text_again(content, meta) => {}
            Some((content, ValueShape::Text | ValueShape::Empty)) => self.say_text(content, role, meta, content.origin),
            Some((_, ValueShape::Null)) => {}
            _ if called => {}
            _ => self.builder.skip_value(node, "a message without `content` is skipped"),
        }
    }

    /// The last usage of a message wins.
    fn count_usage(&mut self, id: Option<&'run str>, usage: MessageUsage<'run>) {
        let place = id.map_or(self.usage.len(), |id| *self.counted.entry(id).or_insert(self.usage.len()));
        match self.usage.get_mut(place) {
            Some(known) => *known = usage,
            None => self.usage.push(usage),
        }
    }

    fn read_block(
        &mut self,
        node: Node<'run>,
        role: Option<MessageRole>,
        meta: &LineMeta<'run>,
        details: Option<Node<'run>>,
    ) {
        let block = match node.value {
            Value::Object(block) => block,
            Value::Text(_) => return self.say_text(node, role, meta, node.origin),
            _ => {
                self.builder.add_warning(node.origin, "a block of a message that is no object is skipped");
                return;
            }
        };
        let block = blocks::classify_block(block);
        if !matches!(block, ContentBlock::Says(_)) {
            self.close_text();
        }
        match block {
            ContentBlock::Says(text) | ContentBlock::Thinks(text) if self.copies.is_text_again(text, meta) => {}
            ContentBlock::Says(text) => {
                let piece = content::block_piece(&node).unwrap_or(content::TextPiece::Alone);
                self.say_piece(text, piece, role, meta, node.origin);
            }
            ContentBlock::Thinks(text) => {
                self.add_message(role::THINKING, text, meta, node.origin);
            }
            ContentBlock::Calls(asked) => self.add_call(node, asked, meta),
            ContentBlock::Answers(answer) => self.add_result(node, answer, meta, details),
            ContentBlock::Silent | ContentBlock::Unknown => {}
        }
    }

    fn add_call(&mut self, node: Node<'run>, asked: BlockCall<'run>, meta: &LineMeta<'run>) {
        let Some((name, tool)) = asked.tool.and_then(|name| Some((name, node_text(name)?))) else {
            self.builder.skip_record(node.origin, "a call without the name of its tool is skipped");
            return;
        };
        let id = asked.id.and_then(node_text);
        let pairing = self.pairing_id(id);
        if self.copies.is_call_again(CallFacts { message: meta.message, id, pairing, tool, input: asked.args }) {
            return;
        }
        let mut fields: Vec<ObjectEntry<'run>> =
            vec![field_entry(of_step::TOOL, name), field_entry(of_step::TURN, count_node(meta.turn))];
        fields.extend(asked.args.map(|input| field_entry(of_step::ARGS, input)));
        fields.extend(asked.id.map(|id| field_entry(of_step::ID, id)));
        fields.extend(meta.time.map(|time| field_entry(of_step::START, time)));
        fields.extend(meta.agent.map(|agent| field_entry(of_step::AGENT, agent)));
        let call = self.builder.add_step(StepKind::Call, fields, node.origin);
        match asked.answer {
            Some(answer) => self.end_call(call, node, &answer, None),
            None => self.unanswered.push_call(pairing, tool, meta.turn, call),
        }
    }

    fn add_result(
        &mut self,
        node: Node<'run>,
        answer: BlockResult<'run>,
        meta: &LineMeta<'run>,
        details: Option<Node<'run>>,
    ) {
        let id = self.pairing_id(answer.id).map(|id| self.copies.paired_id(id));
        let Some(call) = self.unanswered.take_answered(id, None) else {
            if self.is_result_again(id, &answer) {
                return;
            }
            self.builder.add_warning(node.origin, "a result that no call is waiting for is skipped");
            self.builder.note_uncalled(answer.id);
            return;
        };
        id.into_iter().for_each(|id| self.copies.mark_answered(id, call));
        self.end_call(call, node, &answer, details);
        if let Some(time) = meta.time {
            self.builder.add_field(call, of_step::END, time);
        }
        if let Some(details) = details.filter(|details| matches!(details.value, Value::Object(_) | Value::List(_))) {
            self.builder.add_field(call, of_step::DETAILS, details);
        }
    }

    /// True for a copy of an already answered result in a session.
    fn is_result_again(&self, id: Option<&'run str>, answer: &BlockResult<'run>) -> bool {
        let known = id.filter(|_| self.in_session).and_then(|id| self.copies.answered_call(id));
        let known = known.and_then(|call| self.builder.step_field(call, of_step::RESULT));
        known
            .zip(answer.result_content(self.builder.arena))
            .is_some_and(|(known, given)| values_equal(&known.value, &given.value))
    }

    fn end_call(&mut self, call: StepId, node: Node<'run>, answer: &BlockResult<'run>, details: Option<Node<'run>>) {
        let result = answer.result_content(self.builder.arena).or(details);
        if let Some(result) = result {
            self.builder.add_field(call, of_step::RESULT, result);
        }
        let status = answer.call_status(result);
        self.builder.add_field(call, of_step::STATUS, status_node(status));
        if matches!(status, StepStatus::Failed | StepStatus::Denied) {
            let error = result.unwrap_or(Node::new(Value::Boolean(true), node.origin));
            self.builder.add_field(call, of_step::ERROR, error);
        }
    }
}
