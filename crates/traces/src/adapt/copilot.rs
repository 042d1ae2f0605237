//! Copilot CLI: the events of a session, `{type, data, timestamp}` each, one a line or one behind the other. A call counts where its
//! execution starts: what was only asked for was not done.

use super::calls::TokenUsage;
use super::conversation::{
    CallResult, ConversationBuilder, Speaker, StepMeta, TextMarkers, ToolCall, build_markers, number_behind,
};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, count_node, field_entry};
use averment_base::value::{Node, Number, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step, of_usage};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

static EXIT_CODE: TextMarkers = LazyLock::new(|| build_markers(["<exited with exit code"]));

key_table! {
    CopilotEventKey {
        Type = "type",
        Data = "data",
        Time = "timestamp",
        Id = "id",
        Parent = "parentId",
        Session = "sessionId",
        ExitCode = "exitCode",
    }
}

key_table! {
    CopilotDataKey {
        Content = "content",
        /// Simultaneous speech and calls are one turn. Numbers restart with each user message.
        Turn = "turnId",
        Requests = "toolRequests",
        Thought = "reasoningText",
        Phase = "phase",
        Call = "toolCallId",
        Tool = "toolName",
        Args = "arguments",
        Result = "result",
        Detailed = "detailedContent",
        Success = "success",
        Error = "error",
        Message = "message",
        Code = "code",
        ParentCall = "parentToolCallId",
        AgentName = "agentName",
        /// Of a skill, and of a tool that a message asked for.
        Name = "name",
        SkillOfCall = "skill",
        Session = "sessionId",
        Context = "context",
        Folder = "cwd",
        Branch = "branch",
        Version = "copilotVersion",
        Model = "model",
        ModelAtStart = "selectedModel",
        Metrics = "modelMetrics",
        Usage = "usage",
        OutputTokens = "outputTokens",
    }
}

key_table! {
    CopilotEventType {
        Start = "session.start" | "session.resume",
        Asked = "user.message",
        Said = "assistant.message",
        Thought = "assistant.reasoning",
        Usage = "assistant.usage",
        Call = "tool.execution_start",
        Result = "tool.execution_complete",
        Skill = "skill.invoked",
        Agent = "subagent.started",
        Program = "system.message",
        Error = "session.error",
        End = "session.shutdown",
        /// What the program, its screen and its settings do, and announcements of calls that have events of their own.
        Silent = "session.idle" | "session.info" | "session.warning" | "session.model_change" | "session.mode_changed"
            | "session.plan_changed" | "session.workspace_file_changed" | "session.handoff" | "session.truncation"
            | "session.snapshot_rewind" | "session.context_changed" | "session.usage_info" | "session.compaction_start"
            | "session.compaction_complete" | "session.task_complete" | "session.title_changed" | "session.tools_updated"
            | "session.background_tasks_changed" | "session.skills_loaded" | "session.custom_agents_updated"
            | "session.mcp_servers_loaded" | "session.mcp_server_status_changed" | "session.extensions_loaded"
            | "session.import_legacy" | "session.remote_steerable_changed" | "pending_messages.modified"
            | "assistant.turn_start" | "assistant.turn_end" | "assistant.intent" | "assistant.idle"
            | "assistant.streaming_delta" | "assistant.message_delta" | "assistant.message_start" | "assistant.reasoning_delta"
            | "tool.user_requested" | "tool.execution_partial_result" | "tool.execution_progress"
            | "external_tool.requested" | "external_tool.completed" | "subagent.completed" | "subagent.failed"
            | "subagent.selected" | "subagent.deselected" | "hook.start" | "hook.end" | "permission.requested"
            | "permission.completed" | "user_input.requested" | "user_input.completed" | "elicitation.requested"
            | "elicitation.completed" | "sampling.requested" | "sampling.completed" | "mcp.oauth_required"
            | "mcp.oauth_completed" | "command.queued" | "command.execute" | "command.completed" | "commands.changed"
            | "exit_plan_mode.requested" | "exit_plan_mode.completed" | "auto_mode_switch.requested"
            | "auto_mode_switch.completed" | "capabilities.changed" | "system.notification" | "model.call_failure"
            | "abort" | "session.auto_mode_resolved" | "session.usage_checkpoint"
            // What is allowed, planned and shown, and pieces of what has an event of its own.
            | "session.permissions_changed" | "session.todos_changed" | "session.session_limits_changed"
            | "session_limits_exhausted.requested" | "session_limits_exhausted.completed" | "session.schedule_created"
            | "session.schedule_cancelled" | "session.schedule_rearmed" | "session.autopilot_objective_changed"
            | "session.managed_settings_resolved" | "session.managed_settings_enforced" | "session.context_cleared"
            | "session.binary_asset" | "session.canvas.opened" | "session.canvas.closed" | "session.canvas.recorded"
            | "session.canvas.removed" | "session.canvas.registry_changed" | "session.canvas.unavailable"
            | "session.extensions.attachments_pushed" | "tool_search.activated" | "assistant.tool_call_delta"
            | "hook.progress" | "mcp.headers_refresh_required" | "mcp.headers_refresh_completed"
            | "mcp.tools.list_changed" | "mcp.resources.list_changed" | "mcp.prompts.list_changed",
    }
}

impl CopilotEventType {
    /// Whether the conversation goes on with it.
    const fn goes_on(self) -> bool {
        matches!(self, Self::Asked | Self::Said | Self::Thought | Self::Call)
    }
}

key_table! {
    LastLineType {
        Result = "result",
    }
}

key_table! {
    /// Phases of a message that is no answer.
    CopilotPhase {
        Thinking = "thinking",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Copilot CLI session",
    known_by: "events with `data` whose `type` is `tool.execution_start`, `assistant.message`, `session.start` and so on, or of their families with `id`, `timestamp` and `parentId`",
    description: "events of Copilot CLI (`{type, data, timestamp}`, one a line or one behind the other)",
    marks: &[CopilotEventKey::Parent.key()],
    object: is_event,
    item_marks: &[CopilotEventKey::Data.key()],
    element: is_event,
    line: is_event,
    record_ids: RecordIds::shared(&[&[CopilotEventKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

/// Known type, or a known family with complete fields: a session may lack its beginning.
fn is_event(event: Object<'_>) -> bool {
    let Some(word) = text_of(event, CopilotEventKey::Type) else { return false };
    let is_whole = || {
        [CopilotEventKey::Id, CopilotEventKey::Time].into_iter().all(|field| text_of(event, field).is_some())
            && event.field(CopilotEventKey::Parent).is_some()
    };
    object_of(event, CopilotEventKey::Data).is_some()
        && match CopilotEventType::from_key(word) {
            Some(CopilotEventType::Silent) => is_whole(),
            Some(_) => true,
            None => is_of_family(word) && is_whole(),
        }
}

fn is_of_family(word: &str) -> bool {
    FAMILIES.iter().any(|family| word.starts_with(family))
}

/// Beginnings of the types of its events.
const FAMILIES: [&str; 12] = [
    "session.",
    "assistant.",
    "tool.",
    "user.",
    "subagent.",
    "skill.",
    "hook.",
    "permission.",
    "system.",
    "abort",
    "model.",
    "external_tool.",
];

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut session = CopilotSession {
        conversation: ConversationBuilder::new(builder),
        requests: FxHashMap::default(),
        agents: FxHashMap::default(),
        skills: Vec::new(),
        has_usage: false,
        spoken: TokenUsage::default(),
        wrong: None,
        turns: TurnIndex::default(),
    };
    for node in items_of::<CopilotEventKey>(root, &[]) {
        session.conversation.builder.count_record();
        let event = node_object(*node).and_then(|event| {
            Some((event, text_of(event, CopilotEventKey::Type)?, object_of(event, CopilotEventKey::Data)?))
        });
        let Some((event, word, data)) = event else {
            if !node_object(*node).is_some_and(|line| session.read_last(line)) {
                session.conversation.builder.skip_value(node, "what is no event with `type` and `data` is skipped");
            }
            continue;
        };
        match CopilotEventType::from_key(word) {
            Some(kind) => session.read_event(*node, event, kind, data),
            None => {
                let message = format!("an event of unknown type `{word}` is skipped");
                session.conversation.builder.skip_value(node, message);
            }
        }
    }
    session.finish_run();
    Ok(())
}

struct CopilotSession<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// What messages asked for, by call id.
    requests: FxHashMap<&'run str, (Node<'run>, Object<'run>)>,
    agents: FxHashMap<&'run str, Node<'run>>,
    skills: Vec<&'run str>,
    has_usage: bool,
    /// What messages tell of their own: how much of the model's words they took.
    spoken: TokenUsage,
    /// An error, unless the conversation goes on behind it.
    wrong: Option<Node<'run>>,
    turns: TurnIndex<'run>,
}

#[derive(Default)]
struct TurnIndex<'run> {
    /// Keyed by the call that started the agent, turn name and number of user messages before.
    by_name: FxHashMap<(Option<&'run str>, &'run str, usize), usize>,
    /// Turns of the messages that asked for calls, by call id.
    of_calls: FxHashMap<&'run str, usize>,
    last_named: usize,
    asked: usize,
}

impl<'a, 'run, 'limits> CopilotSession<'a, 'run, 'limits> {
    /// False if it is another line.
    fn read_last(&mut self, line: Object<'run>) -> bool {
        if text_of(line, CopilotEventKey::Type).and_then(LastLineType::from_key).is_none() {
            return false;
        }
        self.conversation.note_time(line.field(CopilotEventKey::Time));
        let code = line.field(CopilotEventKey::ExitCode).filter(|code| NodeShapes.has_shape(*code, ValueShape::Number));
        let failed = code.filter(|code| !matches!(code.value, Value::Number(code) if code == Number::Integer(0)));
        failed.into_iter().for_each(|code| self.conversation.builder.set_entry(of_run::ERROR, code));
        if let Some(id) = line.field(CopilotEventKey::Session).filter(|id| NodeShapes.is_text(*id)) {
            self.conversation.builder.set_entry(of_run::ID, id);
        }
        true
    }

    fn read_event(&mut self, node: Node<'run>, event: Object<'run>, kind: CopilotEventType, data: Object<'run>) {
        if !self.conversation.builder.has_entry(of_run::ID) {
            let id = event.field(CopilotEventKey::Session).or(data.field(CopilotDataKey::Session));
            self.conversation.builder.set_some(of_run::ID, id.filter(|id| NodeShapes.is_text(*id)));
        }
        let parent = text_of(data, CopilotDataKey::ParentCall);
        let agent = parent.and_then(|call| self.agents.get(call).copied().or(data.field(CopilotDataKey::ParentCall)));
        let meta = StepMeta { time: event.field(CopilotEventKey::Time), agent, aside: parent.is_some() };
        let turn = self.turn_of(kind, data);
        if parent.is_none() && kind.goes_on() {
            self.wrong = None;
        }
        let conversation = &mut self.conversation;
        let said = |conversation: &mut ConversationBuilder<'a, 'run, 'limits>, speaker| {
            if let Some(content) = data.field(CopilotDataKey::Content) {
                conversation.add_content(speaker, content, &meta, node.origin);
            }
        };
        match kind {
            CopilotEventType::Start => self.read_start(data, &meta),
            CopilotEventType::Asked => said(conversation, Speaker::User),
            CopilotEventType::Program => said(conversation, Speaker::System),
            CopilotEventType::Thought => said(conversation, Speaker::Thinking),
            CopilotEventType::Said => {
                if let Some(thought) = data.field(CopilotDataKey::Thought) {
                    conversation.add_message(Speaker::Thinking, thought, &meta, node.origin);
                }
                let phase = text_of(data, CopilotDataKey::Phase).and_then(CopilotPhase::from_key);
                said(conversation, if phase.is_some() { Speaker::Thinking } else { Speaker::Assistant });
                self.spoken.add_count(of_usage::OUTPUT, data.field(CopilotDataKey::OutputTokens));
                let requests = object_items(list_of(data, CopilotDataKey::Requests).unwrap_or_default());
                let by_call = |(at, request)| Some((text_of(request, CopilotDataKey::Call)?, (at, request)));
                self.requests.extend(requests.filter_map(by_call));
            }
            CopilotEventType::Usage => {
                self.has_usage = true;
                self.count_usage(data, data.field(CopilotDataKey::Model));
                self.conversation.add_meta(of_meta::MODEL, data.field(CopilotDataKey::Model));
            }
            CopilotEventType::Call => self.add_call(node, data, &meta, turn),
            CopilotEventType::Result => self.add_result(node, data, &meta),
            CopilotEventType::Skill => self.add_skill(node, data, &meta),
            CopilotEventType::Agent => {
                if let (Some(call), Some(name)) =
                    (text_of(data, CopilotDataKey::Call), data.field(CopilotDataKey::AgentName))
                {
                    self.agents.insert(call, name);
                    self.conversation.hand_over(name, &meta, node.origin);
                }
            }
            CopilotEventType::Error => {
                self.wrong = data.field(CopilotDataKey::Message);
            }
            CopilotEventType::End => self.read_end(data, &meta),
            CopilotEventType::Silent => {}
        }
    }

    /// A turn begins with its first event; `None` if unknown.
    fn turn_of(&mut self, kind: CopilotEventType, data: Object<'run>) -> Option<usize> {
        let parent = text_of(data, CopilotDataKey::ParentCall);
        self.turns.asked += usize::from(kind == CopilotEventType::Asked && parent.is_none());
        if !matches!(kind, CopilotEventType::Said | CopilotEventType::Thought | CopilotEventType::Call) {
            return None;
        }
        let requests = list_of(data, CopilotDataKey::Requests).unwrap_or_default();
        if let Some(name) = text_of(data, CopilotDataKey::Turn) {
            let key = (parent, name, self.turns.asked);
            match self.turns.by_name.get(&key) {
                Some(turn) => {
                    self.conversation.continue_turn();
                    return Some(*turn);
                }
                None if self.turns.last_named == self.conversation.turn_count() => self.conversation.begin_turn(),
                None => self.conversation.ensure_turn(),
            }
            self.turns.last_named = self.conversation.turn_count();
            self.turns.by_name.insert(key, self.conversation.turn_count());
            return Some(self.conversation.turn_count());
        }
        if !requests.is_empty() {
            self.conversation.ensure_turn();
        }
        let ids = object_items(requests).filter_map(|(_, request)| text_of(request, CopilotDataKey::Call));
        self.turns.of_calls.extend(ids.map(|id| (id, self.conversation.turn_count())));
        let asked = self.turns.of_calls.get(text_of(data, CopilotDataKey::Call)?).copied();
        asked.into_iter().for_each(|_| self.conversation.continue_turn());
        asked
    }

    fn read_start(&mut self, data: Object<'run>, meta: &StepMeta<'run>) {
        self.conversation.note_time(meta.time);
        let context = object_of(data, CopilotDataKey::Context);
        let of_context = |field| context.and_then(|context| context.field(field));
        self.conversation.add_meta(of_meta::CWD, of_context(CopilotDataKey::Folder));
        self.conversation.add_meta(of_meta::GIT_BRANCH, of_context(CopilotDataKey::Branch));
        self.conversation.add_meta(of_meta::VERSION, data.field(CopilotDataKey::Version));
        self.conversation.add_meta(of_meta::MODEL, data.field(CopilotDataKey::ModelAtStart));
    }

    fn add_call(&mut self, node: Node<'run>, data: Object<'run>, meta: &StepMeta<'run>, turn: Option<usize>) {
        let named = data.field(CopilotDataKey::Tool).or(data.field(CopilotDataKey::Name));
        let tool = named.unwrap_or(Node::computed(Value::Null));
        let args = data.field(CopilotDataKey::Args);
        self.skills.extend(
            args.and_then(node_object).and_then(|args| {
                first_of(args, &[CopilotDataKey::SkillOfCall, CopilotDataKey::Name]).and_then(node_text)
            }),
        );
        let step = self
            .conversation
            .add_call(ToolCall { tool, args, id: data.field(CopilotDataKey::Call), origin: node.origin }, meta);
        if let Some((step, turn)) = step.zip(turn.filter(|turn| *turn != self.conversation.turn_count())) {
            self.conversation.builder.set_field(step, of_step::TURN, count_node(turn));
        }
    }

    fn add_result(&mut self, node: Node<'run>, data: Object<'run>, meta: &StepMeta<'run>) {
        // What came to an end was done, even if nothing tells its start.
        let id = text_of(data, CopilotDataKey::Call).filter(|id| self.conversation.find_call(id).is_none());
        if let Some((at, request)) = id.and_then(|id| self.requests.get(id).copied()) {
            let turn = id.and_then(|id| self.turns.of_calls.get(id).copied());
            self.add_call(at, request, &StepMeta { time: None, ..*meta }, turn);
        }
        let given = first_of(data, &[CopilotDataKey::Result]);
        let inner = |field| given.and_then(node_object).and_then(|given| first_of(given, &[field]));
        let error = first_of(data, &[CopilotDataKey::Error]);
        let of_error = |field| error.and_then(node_object).and_then(|error| first_of(error, &[field]));
        let refused = of_error(CopilotDataKey::Code).and_then(node_text).and_then(StepStatus::from_word)
            == Some(StepStatus::Denied);
        let status = match data.field(CopilotDataKey::Success).map(|success| success.value) {
            _ if refused => Some(StepStatus::Denied),
            Some(Value::Boolean(true)) => Some(StepStatus::Ok),
            Some(Value::Boolean(false)) => Some(StepStatus::Failed),
            _ => None,
        };
        let result = inner(CopilotDataKey::Content).or(inner(CopilotDataKey::Detailed)).or(given);
        let exit_code = result.and_then(|result| number_behind(result, &EXIT_CODE));
        let failed =
            exit_code.is_some_and(|code| !matches!(code.value, Value::Number(code) if code == Number::Integer(0)));
        let outcome = CallResult {
            result,
            status: if failed { Some(StepStatus::Failed) } else { status },
            error: of_error(CopilotDataKey::Message).or(error),
            exit_code,
            details: inner(CopilotDataKey::Detailed),
            ..CallResult::default()
        };
        self.conversation.add_result(text_of(data, CopilotDataKey::Call), None, outcome, meta, node.origin);
    }

    /// A skill that the user requested has no call of its own.
    fn add_skill(&mut self, node: Node<'run>, data: Object<'run>, meta: &StepMeta<'run>) {
        let Some(name) = data.field(CopilotDataKey::Name).filter(|name| NodeShapes.has_shape(*name, ValueShape::Text))
        else {
            return;
        };
        if let Some(place) = self.skills.iter().position(|known| Some(*known) == node_text(name)) {
            self.skills.remove(place);
            return;
        }
        let mut fields = vec![field_entry(of_step::NAME, name)];
        fields.extend(meta.time.map(|time| field_entry(of_step::START, time)));
        self.conversation.builder.add_step(StepKind::Skill, fields, node.origin);
    }

    fn count_usage(&mut self, counts: Object<'run>, model: Option<Node<'run>>) {
        let mut usage = TokenUsage::default();
        usage.add_usage(counts);
        self.conversation.add_usage(&usage, model);
    }

    fn finish_run(mut self) {
        if let Some(wrong) = self.wrong.filter(|_| !self.conversation.builder.has_entry(of_run::ERROR)) {
            self.conversation.builder.set_entry(of_run::ERROR, wrong);
        }
        if self.conversation.usage.known_counts().is_empty() {
            self.conversation.usage = self.spoken;
        }
        self.conversation.finish_with_tools();
    }

    /// Per-model totals count if single answers were not recorded.
    fn read_end(&mut self, data: Object<'run>, meta: &StepMeta<'run>) {
        self.conversation.note_time(meta.time);
        let Some(metrics) = object_of(data, CopilotDataKey::Metrics).filter(|_| !self.has_usage) else { return };
        for model in metrics.entries() {
            if let Some(usage) = node_object(model.node).and_then(|model| object_of(model, CopilotDataKey::Usage)) {
                self.count_usage(usage, Some(Node::computed(Value::plain_text(model.key))));
            }
        }
    }
}
