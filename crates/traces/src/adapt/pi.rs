//! pi and OpenClaw: sessions (an entry a line, `message` holds what was said), and the events of `pi --mode json`. Entries form a tree:
//! what was done on a branch that was left was done.

use super::block_session::{self, CostSum, UserWords};
use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, is_true, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, list_of, node_object, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::{of_meta, of_run, of_usage};

key_table! {
    PiKey {
        Type = "type",
        Id = "id",
        Parent = "parentId",
        Time = "timestamp",
        Folder = "cwd",
        Message = "message",
        Content = "content",
        ModelId = "modelId",
        Level = "thinkingLevel",
    }
}

key_table! {
    PiMessageKey {
        Role = "role",
        Content = "content",
        Time = "timestamp",
        Provider = "provider",
        Model = "model",
        Usage = "usage",
        Stop = "stopReason",
        Wrong = "errorMessage",
        Call = "toolCallId",
        Tool = "toolName",
        Failed = "isError",
        Details = "details",
        Command = "command",
    }
}

key_table! {
    PiUsageKey {
        Input = "input",
        Output = "output",
        Read = "cacheRead",
        Write = "cacheWrite",
        Cost = "cost",
        Total = "total",
    }
}

key_table! {
    PiBlockKey {
        Type = "type",
        Id = "id",
        Name = "name",
        Args = "arguments",
    }
}

key_table! {
    PiBlockType {
        Call = "toolCall",
    }
}

key_table! {
    PiLineType {
        Session = "session",
        Message = "message" | "message_end",
        /// What an extension tells the model.
        Injected = "custom_message",
        /// Settings, and summaries of what the other lines tell.
        Setting = "model_change" | "thinking_level_change",
        Silent = "label" | "title" | "session_info" | "custom" | "compaction" | "branch_summary",
        /// Events that frame or repeat the messages: each message and each result has a `message_end` of its own.
        Frame = "agent_start" | "agent_end" | "turn_start" | "turn_end" | "message_start" | "message_update"
            | "tool_execution_start" | "tool_execution_update" | "tool_execution_end"
            | "auto_compaction_start" | "auto_compaction_end" | "auto_retry_start" | "auto_retry_end",
    }
}

key_table! {
    PiSayer {
        User = "user",
        Assistant = "assistant",
        Result = "toolResult",
        /// The program, extensions, and commands that the user ran: none of these is an action of the agent.
        Program = "custom" | "hookMessage" | "branchSummary" | "compactionSummary" | "bashExecution",
    }
}

key_table! {
    PiStop {
        Failed = "error" | "aborted",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "pi session",
    known_by: "a `session` line with `id` and `cwd`, or lines with a `message` of its roles, `stopReason` or `toolCall` blocks",
    description: "sessions of pi and OpenClaw (JSONL), and the events of `pi --mode json`",
    marks: &[PiKey::Level.key()],
    item_marks: &[PiKey::Folder.key(), PiKey::Message.key(), PiKey::ModelId.key(), PiKey::Level.key()],
    element: is_line,
    line: is_line,
    beside: |line| line_type(line).is_some(),
    record_ids: RecordIds::unique(&[&[PiKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn line_type(line: Object<'_>) -> Option<PiLineType> {
    text_of(line, PiKey::Type).and_then(PiLineType::from_key)
}

fn is_line(line: Object<'_>) -> bool {
    let has = |field| line.field(field).is_some();
    match line_type(line) {
        Some(PiLineType::Session) => has(PiKey::Folder) && has(PiKey::Id) && has(PiKey::Time),
        Some(PiLineType::Setting) => has(PiKey::ModelId) || has(PiKey::Level),
        Some(PiLineType::Message) => object_of(line, PiKey::Message).is_some_and(is_message),
        _ => false,
    }
}

/// Whether a message is surely one of its own: others nest messages with a role, too.
fn is_message(message: Object<'_>) -> bool {
    let has = |field| message.field(field).is_some();
    match text_of(message, PiMessageKey::Role).and_then(PiSayer::from_key) {
        Some(PiSayer::Result) => has(PiMessageKey::Call),
        Some(PiSayer::Assistant) => {
            let blocks = list_of(message, PiMessageKey::Content).unwrap_or_default();
            has(PiMessageKey::Stop) || object_items(blocks).any(|(_, block)| is_call(block))
        }
        _ => false,
    }
}

fn is_call(block: Object<'_>) -> bool {
    text_of(block, PiBlockKey::Type).and_then(PiBlockType::from_key) == Some(PiBlockType::Call)
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut session =
        PiSession { conversation: ConversationBuilder::from_parts(builder), cost: CostSum::default(), wrong: None };
    for node in items_of::<PiKey>(root, &[]) {
        session.conversation.builder.count_record();
        match node_object(*node) {
            Some(line) => session.read_line(*node, line),
            None => session.conversation.builder.skip_value(node, "a line that is no object is skipped"),
        }
    }
    session.cost.set_cost(session.conversation.builder);
    session.conversation.builder.set_some(of_run::ERROR, session.wrong);
    session.conversation.finish_with_tools();
    Ok(())
}

struct PiSession<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    cost: CostSum,
    /// Why the last answer broke off.
    wrong: Option<Node<'run>>,
}

impl<'a, 'run, 'limits> PiSession<'a, 'run, 'limits> {
    fn read_line(&mut self, node: Node<'run>, line: Object<'run>) {
        match line_type(line) {
            Some(PiLineType::Session) => {
                let id = line.field(PiKey::Id).filter(|id| NodeShapes.is_text(*id));
                if !self.conversation.builder.has_entry(of_run::ID) {
                    self.conversation.builder.set_some(of_run::ID, id);
                }
                self.conversation.add_meta(of_meta::CWD, line.field(PiKey::Folder));
            }
            Some(PiLineType::Message) => {
                match line.field(PiKey::Message).map(|message| (message, node_object(message))) {
                    Some((at, Some(message))) => self.read_message(at, message, line),
                    _ => self.conversation.builder.skip_value(node, "a line without `message` is skipped"),
                }
            }
            Some(PiLineType::Injected) => {
                let meta = StepMeta { time: line.field(PiKey::Time), ..StepMeta::default() };
                if let Some(content) = line.field(PiKey::Content) {
                    self.conversation.add_content(Speaker::System, content, &meta, node.origin);
                }
            }
            Some(PiLineType::Setting | PiLineType::Silent | PiLineType::Frame) => {}
            None => {
                let word = text_of(line, PiKey::Type).unwrap_or_default();
                self.conversation.builder.skip_value(node, format!("a line of unknown type `{word}` is skipped"));
            }
        }
    }

    fn read_message(&mut self, node: Node<'run>, message: Object<'run>, line: Object<'run>) {
        let time = first_of(message, &[PiMessageKey::Time]).or_else(|| first_of(line, &[PiKey::Time]));
        let meta = StepMeta { time, ..StepMeta::default() };
        let content = message.field(PiMessageKey::Content);
        let say = |conversation: &mut ConversationBuilder<'a, 'run, 'limits>, speaker| {
            if let Some(content) = content {
                block_session::add_content(conversation, content, speaker, &UserWords::PLAIN, &meta, classify_block);
            }
        };
        match text_of(message, PiMessageKey::Role).and_then(PiSayer::from_key) {
            Some(PiSayer::User) => say(&mut self.conversation, Speaker::User),
            Some(PiSayer::Program) => {
                say(&mut self.conversation, Speaker::System);
                if let Some(command) = message.field(PiMessageKey::Command) {
                    self.conversation.add_message(Speaker::System, command, &meta, node.origin);
                }
            }
            Some(PiSayer::Assistant) => {
                self.conversation.begin_turn();
                self.conversation.add_meta(of_meta::MODEL, message.field(PiMessageKey::Model));
                say(&mut self.conversation, Speaker::Assistant);
                self.count_usage(message);
                let stop = text_of(message, PiMessageKey::Stop).and_then(PiStop::from_key);
                let why = || first_of(message, &[PiMessageKey::Wrong, PiMessageKey::Stop]);
                self.wrong = stop.and_then(|_| why());
            }
            Some(PiSayer::Result) => self.add_result(node, message, &meta),
            None => self.conversation.builder.skip_record(node.origin, super::unknown::UNKNOWN_ROLE),
        }
    }

    fn add_result(&mut self, node: Node<'run>, message: Object<'run>, meta: &StepMeta<'run>) {
        // A result has texts and images.
        message
            .field(PiMessageKey::Content)
            .into_iter()
            .for_each(|content| self.conversation.builder.note_parts(content));
        let answer = BlockResult {
            id: text_of(message, PiMessageKey::Call),
            result: message.field(PiMessageKey::Content),
            failed: is_true(&message, &NodeShapes, PiMessageKey::Failed),
            ..BlockResult::default()
        };
        let outcome =
            block_session::outcome_of(&self.conversation, &answer, first_of(message, &[PiMessageKey::Details]));
        let tool = text_of(message, PiMessageKey::Tool);
        self.conversation.add_result(answer.id, tool, outcome, meta, node.origin);
    }

    /// Tokens from and for the cache are not in the input.
    fn count_usage(&mut self, message: Object<'run>) {
        let Some(counts) = object_of(message, PiMessageKey::Usage) else { return };
        let mut usage = TokenUsage::default();
        usage.add_count(of_usage::INPUT, counts.field(PiUsageKey::Input));
        usage.add_count(of_usage::OUTPUT, counts.field(PiUsageKey::Output));
        usage.add_count(of_usage::CACHE_READ, counts.field(PiUsageKey::Read));
        usage.add_count(of_usage::CACHE_WRITE, counts.field(PiUsageKey::Write));
        usage.count_cache_as_input();
        self.conversation.add_usage(&usage, message.field(PiMessageKey::Model));
        self.cost.add_cost(object_of(counts, PiUsageKey::Cost).and_then(|cost| cost.field(PiUsageKey::Total)));
    }
}

fn classify_block(block: Object<'_>) -> ContentBlock<'_> {
    if !is_call(block) {
        return blocks::classify_block(block);
    }
    ContentBlock::Calls(BlockCall {
        tool: block.field(PiBlockKey::Name),
        args: block.field(PiBlockKey::Args),
        id: block.field(PiBlockKey::Id),
        answer: None,
    })
}
