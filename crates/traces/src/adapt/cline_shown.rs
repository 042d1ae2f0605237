//! Cline, Roo Code and Kilo Code: what a task showed to its user (`ui_messages.json`). Tools stand there by the words of the editor; what many
//! of them gave is not written down.

use super::block_session::{self, CostSum};
use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, node_object, node_text, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, StepId, field_entry};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, of_step, of_usage};

key_table! {
    ShownKey {
        Time = "ts",
        Type = "type",
        Say = "say",
        Ask = "ask",
        Words = "text",
        Tool = "tool",
        In = "tokensIn",
        Out = "tokensOut",
        Read = "cacheReads",
        Write = "cacheWrites",
        Cost = "cost",
        /// Roo and Kilo say in whose words the model was asked.
        Protocol = "apiProtocol",
        Said = "response" | "question",
        Partial = "partial",
    }
}

key_table! {
    /// What the editor tells beside what a tool was given.
    ShownBeside {
        Any = "tool" | "isOutsideWorkspace" | "operationIsLocatedInWorkspace" | "isProtected",
    }
}

key_table! {
    /// What such a tool looked at stands where others have what they write.
    ShownContent {
        Any = "content",
    }
}

key_table! {
    ShownLook {
        Found = "listFilesTopLevel" | "listFilesRecursive" | "listCodeDefinitionNames" | "searchFiles",
        /// The file again, by its whole path.
        Place = "readFile",
    }
}

key_table! {
    ShownProtocol {
        OpenAi = "openai",
    }
}

key_table! {
    ShownType {
        Any = "say" | "ask",
    }
}

key_table! {
    ShownKind {
        Request = "api_req_started",
        Text = "text",
        User = "task" | "user_feedback" | "user_feedback_diff",
        Thought = "reasoning",
        Answer = "completion_result",
        Question = "followup" | "plan_mode_respond" | "act_mode_respond",
        Tool = "tool",
        Command = "command",
        Output = "command_output" | "mcp_server_response" | "browser_action_result",
        Mcp = "use_mcp_server",
        Browser = "browser_action_launch" | "browser_action",
        /// What the program tells of itself, and asks about the task.
        Silent = "api_req_finished" | "api_req_retried" | "api_req_failed" | "api_req_deleted" | "deleted_api_reqs" | "error" | "error_retry"
            | "diff_error" | "info" | "checkpoint_created" | "checkpoint_saved" | "shell_integration_warning" | "clineignore_error"
            | "rooignore_error" | "load_mcp_documentation" | "mcp_server_request_started" | "mcp_notification" | "task_progress"
            | "hook_status" | "resume_task" | "resume_completed_task" | "mistake_limit_reached" | "auto_approval_max_req_reached"
            | "condense" | "condense_context" | "condense_context_error" | "summarize_task" | "report_bug" | "new_task" | "image"
            | "codebase_search_result" | "subtask_result" | "user_edit_todos" | "browser_session_status",
    }
}

key_table! {
    /// The tools by their names in the history of the task.
    ShownTool {
        Answer = "attempt_completion",
        Question = "ask_followup_question",
        Command = "execute_command",
        Mcp = "use_mcp_tool",
        Browser = "browser_action",
    }
}

/// The words of the editor for tools, and their names in the history of the task.
const NAMES: [(&str, &str); 9] = [
    ("readFile", "read_file"),
    ("editedExistingFile", "replace_in_file"),
    ("appliedDiff", "apply_diff"),
    ("newFileCreated", "write_to_file"),
    ("listFilesTopLevel", "list_files"),
    ("listFilesRecursive", "list_files"),
    ("listCodeDefinitionNames", "list_code_definition_names"),
    ("searchFiles", "search_files"),
    ("webFetch", "web_fetch"),
];

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Cline shown messages",
    known_by: "`type` of `say` or `ask` with a key of that name, and `ts`",
    description: "what tasks of Cline, Roo Code and Kilo Code showed (`ui_messages.json`)",
    marks: &[ShownKey::Say.key(), ShownKey::Ask.key()],
    item_marks: &[ShownKey::Say.key(), ShownKey::Ask.key()],
    element: |message| shown_kind(message).is_some() && message.field(ShownKey::Time).is_some(),
    beside: is_shown,
    record_ids: RecordIds::shared(&[&[ShownKey::Time.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_shown(message: Object<'_>) -> bool {
    text_of(message, ShownKey::Type).and_then(ShownType::from_key).is_some()
}

fn shown_kind(message: Object<'_>) -> Option<ShownKind> {
    let kind = text_of(message, ShownKey::Say).or_else(|| text_of(message, ShownKey::Ask));
    kind.filter(|_| is_shown(message)).and_then(ShownKind::from_key)
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut task = ShownTask {
        conversation: ConversationBuilder::from_parts(builder),
        cost: CostSum::default(),
        has_task: false,
        running: None,
        answer: None,
        is_input_unsure: false,
    };
    for node in items_of::<ShownKey>(root, &[]) {
        task.conversation.builder.count_record();
        match node_object(*node).and_then(|message| Some((message, shown_kind(message)?))) {
            Some((message, kind)) => task.read_message(*node, message, kind),
            None => task.conversation.builder.skip_value(node, "a message of unknown kind is skipped"),
        }
    }
    task.end_output();
    if task.is_input_unsure {
        task.conversation.usage.forget_input();
    }
    task.cost.set_cost(task.conversation.builder);
    task.conversation.builder.set_some(of_run::OUTPUT, task.answer);
    block_session::leave_results_open(task.conversation.builder);
    task.conversation.finish_with_tools();
    Ok(())
}

struct ShownTask<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    cost: CostSum,
    has_task: bool,
    /// The call whose output is shown, in pieces.
    running: Option<(StepId, Vec<Node<'run>>)>,
    answer: Option<Node<'run>>,
    /// Nothing says whether the input of a request holds what came from the cache.
    is_input_unsure: bool,
}

impl<'run> ShownTask<'_, 'run, '_> {
    fn read_message(&mut self, node: Node<'run>, message: Object<'run>, kind: ShownKind) {
        let meta = StepMeta { time: value_of(message, ShownKey::Time), ..StepMeta::default() };
        let words =
            value_of(message, ShownKey::Words).filter(|words| node_text(*words).is_some_and(|text| !text.is_empty()));
        if kind == ShownKind::Output {
            if let Some((_, output)) = &mut self.running {
                output.extend(words);
            }
            return;
        }
        if kind == ShownKind::Silent {
            return;
        }
        self.end_output();
        let held = words.and_then(|words| self.conversation.builder.open_json(words));
        let held = held.filter(|held| node_object(*held).is_some());
        // The task comes first, in older versions as a text like any other.
        let is_task = kind == ShownKind::Text && !self.has_task;
        match kind {
            ShownKind::User | ShownKind::Text | ShownKind::Thought => {
                self.has_task |= is_task || kind == ShownKind::User;
                let speaker = match kind {
                    ShownKind::Thought => Speaker::Thinking,
                    _ if is_task || kind == ShownKind::User => Speaker::User,
                    _ => Speaker::Assistant,
                };
                words.into_iter().for_each(|words| self.conversation.add_message(speaker, words, &meta, node.origin));
            }
            ShownKind::Request => self.begin_request(held.and_then(node_object)),
            ShownKind::Answer => {
                // It is shown again when the user is asked about it.
                if words.is_some() && !self.is_answered(words) {
                    self.answer = words;
                    let args = words
                        .map(|words| self.conversation.builder.object_node(&[field_entry(of_step::RESULT, words)]));
                    self.add_call(node, ShownTool::Answer, args, &meta);
                }
            }
            ShownKind::Question => {
                let said = held.and_then(node_object).and_then(|held| value_of(held, ShownKey::Said)).or(words);
                self.add_call(node, ShownTool::Question, held.or(words), &meta);
                said.into_iter()
                    .for_each(|said| self.conversation.add_message(Speaker::Assistant, said, &meta, node.origin));
            }
            ShownKind::Command => {
                let args =
                    words.map(|words| self.conversation.builder.object_node(&[field_entry(of_step::COMMAND, words)]));
                self.add_call(node, ShownTool::Command, args, &meta);
            }
            ShownKind::Mcp => self.add_call(node, ShownTool::Mcp, held, &meta),
            ShownKind::Browser => self.add_call(node, ShownTool::Browser, held.or(words), &meta),
            ShownKind::Tool => {
                let is_whole = !is_true(&message, &NodeShapes, ShownKey::Partial);
                self.add_tool(node, held.and_then(node_object), is_whole, &meta);
            }
            ShownKind::Output | ShownKind::Silent => {}
        }
    }

    fn is_answered(&self, words: Option<Node<'run>>) -> bool {
        self.answer.and_then(node_text).is_some_and(|known| words.and_then(node_text) == Some(known))
    }

    fn begin_request(&mut self, held: Option<Object<'run>>) {
        self.conversation.begin_turn();
        let Some(counts) = held else { return };
        self.cost.add_cost(value_of(counts, ShownKey::Cost));
        let mut usage = TokenUsage::default();
        usage.add_count(of_usage::INPUT, counts.field(ShownKey::In));
        usage.add_count(of_usage::OUTPUT, counts.field(ShownKey::Out));
        usage.add_count(of_usage::CACHE_READ, counts.field(ShownKey::Read));
        usage.add_count(of_usage::CACHE_WRITE, counts.field(ShownKey::Write));
        match (
            value_of(counts, ShownKey::Protocol),
            text_of(counts, ShownKey::Protocol).and_then(ShownProtocol::from_key),
        ) {
            (None, _) => usage.count_cache_as_input(),
            // Here the input has always held what came from the cache.
            (Some(_), Some(ShownProtocol::OpenAi)) => {}
            // Older versions left it out. Where it is more than the input it was; else nobody knows.
            (Some(_), None) if usage.leaves_cache_out() => usage.count_cache_as_input(),
            (Some(_), None) => self.is_input_unsure |= usage.has_cache(),
        }
        self.conversation.usage.merge_usage(&usage);
    }

    fn add_call(&mut self, node: Node<'run>, tool: ShownTool, args: Option<Node<'run>>, meta: &StepMeta<'run>) {
        let tool = Node::computed(Value::plain_text(tool.key()));
        let call = self.conversation.add_call(ToolCall { tool, args, id: None, origin: node.origin }, meta);
        self.running = call.map(|call| (call, Vec::new()));
    }

    fn add_tool(&mut self, node: Node<'run>, held: Option<Object<'run>>, is_whole: bool, meta: &StepMeta<'run>) {
        let Some((held, tool)) = held.and_then(|held| Some((held, value_of(held, ShownKey::Tool)?))) else {
            return self
                .conversation
                .builder
                .skip_record(node.origin, "a call without the name of its tool is skipped");
        };
        let look = node_text(tool).and_then(ShownLook::from_key);
        let is_given = |key: &str| {
            ShownBeside::from_key(key).is_none() && (look.is_none() || ShownContent::from_key(key).is_none())
        };
        let given: Vec<_> = held.entries().iter().filter(|entry| is_given(entry.key)).copied().collect();
        let args = Some(self.conversation.builder.object_node(&given));
        let found = value_of(held, ShownContent::Any).filter(|_| is_whole && look == Some(ShownLook::Found));
        let found = found.filter(|found| node_text(*found).is_some_and(|text| !text.is_empty()));
        let known = NAMES.iter().find(|(shown, _)| node_text(tool) == Some(*shown));
        let tool = known.map_or(tool, |(_, name)| Node::new(Value::plain_text(name), tool.origin));
        let call = self.conversation.add_call(ToolCall { tool, args, id: None, origin: node.origin }, meta);
        if let Some((call, result)) = call.zip(found) {
            // When it was found is not told.
            let outcome = CallResult { result: Some(result), ..CallResult::default() };
            self.conversation.end_within(call, outcome, &StepMeta::default());
        }
    }

    fn end_output(&mut self) {
        let Some((call, output)) = self.running.take() else { return };
        if let Some(result) = content::join_texts(&output, self.conversation.builder.arena) {
            let outcome = CallResult { result: Some(result), ..CallResult::default() };
            self.conversation.end_call(call, outcome, &StepMeta::default());
        }
    }
}
