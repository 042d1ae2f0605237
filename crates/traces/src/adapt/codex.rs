//! Codex: the rollout file of a session (`{timestamp, type, payload}` a line), the bare items of one, and the events of `codex exec --json`.
//! A shell says in its output with which code it ended. Token counts are sums so far: the last one counts.

mod events;
pub(super) mod exec;
mod speaker;

use super::api::responses::{self, ItemKey};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, list_of, node_object, object_items, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::FxHashSet;

key_table! {
    CodexKey {
        Time = "timestamp",
        Type = "type",
        Payload = "payload",
    }
}

key_table! {
    CodexPayloadKey {
        Type = "type",
        Id = "id",
        Folder = "cwd",
        Version = "cli_version",
        Model = "model",
        Approval = "approval_policy",
        Sandbox = "sandbox_policy",
        Git = "git",
        Branch = "branch",
        Info = "info",
        Total = "total_token_usage",
        Message = "message",
        Error = "error",
        LastMessage = "last_agent_message",
        Words = "text",
        Items = "items",
        Item = "item",
        Mark = "record_type",
        Begun = "timestamp",
        /// Of a call: the server, which newer versions tell beside the name of its tool.
        Server = "namespace",
    }
}

key_table! {
    CodexLineType {
        Session = "session_meta",
        Context = "turn_context",
        Item = "response_item",
        Event = "event_msg",
        /// Summaries and program marks, and words that agents send each other: what sends them is an item.
        Silent = "compacted" | "ghost_snapshot" | "world_state" | "inter_agent_communication_metadata"
            | "inter_agent_communication" | "token_usage_record" | "security_risk_score",
    }
}

key_table! {
    CodexEventType {
        Tokens = "token_count",
        Error = "error" | "stream_error",
        Aborted = "turn_aborted",
        TurnEnd = "task_complete" | "turn_complete",
        /// Repeated in items, if there are any.
        Said = "agent_message",
        Asked = "user_message",
        Thought = "agent_reasoning",
        CommandBegin = "exec_command_begin",
        CommandEnd = "exec_command_end",
        McpBegin = "mcp_tool_call_begin",
        McpEnd = "mcp_tool_call_end",
        PatchBegin = "patch_apply_begin",
        PatchEnd = "patch_apply_end",
        DynamicBegin = "dynamic_tool_call_request",
        DynamicEnd = "dynamic_tool_call_response",
        /// Actions that an item of their own repeats: without items they are not read.
        InItems = "view_image_tool_call" | "terminal_interaction" | "collab_agent_spawn_begin" | "collab_agent_spawn_end"
            | "collab_agent_interaction_begin" | "collab_agent_interaction_end" | "collab_waiting_begin" | "collab_waiting_end"
            | "collab_close_begin" | "collab_close_end" | "collab_resume_begin" | "collab_resume_end",
        /// What the service does: its items have a type and no id of a call.
        OfService = "web_search_begin" | "web_search_end" | "image_generation_begin" | "image_generation_end",
        /// An item as it came.
        RawItem = "raw_response_item",
        /// What was said or done, in the form in which newer versions show it.
        Turn = "item_started" | "item_completed",
        /// Questions to the user, whose call has events of its own.
        Waits = "exec_approval_request" | "apply_patch_approval_request" | "request_permissions" | "request_user_input"
            | "elicitation_request" | "guardian_assessment",
        /// Program marks without actions.
        Silent = "task_started" | "turn_started" | "session_configured" | "agent_reasoning_section_break"
            | "agent_reasoning_raw_content" | "agent_message_delta" | "agent_reasoning_delta" | "exec_command_output_delta"
            | "turn_diff" | "plan_update" | "background_event" | "context_compacted" | "thread_rolled_back"
            | "entered_review_mode" | "exited_review_mode" | "mcp_startup_update" | "mcp_startup_complete" | "warning"
            | "shutdown_complete" | "guardian_warning" | "deprecation_notice" | "model_reroute" | "thread_name_updated"
            | "thread_goal_updated" | "undo_started" | "undo_completed" | "patch_apply_updated" | "hook_started"
            | "hook_completed" | "skills_update_available" | "get_history_entry_response" | "mcp_list_tools_response"
            | "list_custom_prompts_response" | "list_skills_response" | "agent_message_content_delta" | "plan_delta"
            | "reasoning_content_delta" | "reasoning_raw_content_delta" | "agent_reasoning_raw_content_delta"
            | "thread_settings_applied" | "sub_agent_activity",
    }
}

key_table! {
    /// Items of a turn in which nothing is done.
    CodexTurnItem {
        Any = "Plan" | "Sleep" | "UserMessage" | "AgentMessage" | "Reasoning" | "HookPrompt" | "ContextCompaction",
    }
}

key_table! {
    CodexItemType {
        ServerCall = "mcp_tool_call",
    }
}

key_table! {
    StateMark {
        State = "state",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Codex rollout",
    known_by: "lines with `payload` whose `type` is `session_meta`, `turn_context`, `response_item` or `event_msg`",
    description: "session files of Codex (`{timestamp, type, payload}` a line, or `items`)",
    marks: &[CodexPayloadKey::Items.key()],
    near: &[CodexKey::Payload.key()],
    object: |object| {
        list_of(object, CodexPayloadKey::Items)
            .is_some_and(|items| object_items(items).any(|(_, item)| responses::is_item(item)))
    },
    item_marks: &[CodexKey::Payload.key(), CodexPayloadKey::Mark.key()],
    element: is_line,
    line: is_line,
    record_ids: RecordIds::shared(&[&[CodexKey::Time.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_line(line: Object<'_>) -> bool {
    is_mark(line)
        || text_of(line, CodexKey::Type).and_then(CodexLineType::from_key).is_some()
            && object_of(line, CodexKey::Payload).is_some()
}

fn is_mark(line: Object<'_>) -> bool {
    line.entries().len() == 1 && text_of(line, CodexPayloadKey::Mark).and_then(StateMark::from_key).is_some()
}

/// Older sessions state what they are in an untyped line.
fn is_head(line: Object<'_>) -> bool {
    text_of(line, CodexPayloadKey::Id).is_some()
        && text_of(line, CodexPayloadKey::Begun).is_some()
        && line.field(CodexKey::Type).is_none()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let items = || {
        let lines = super::nodes::node_list(root).unwrap_or_default();
        object_items(lines).filter(|(_, line)| {
            text_of(*line, CodexKey::Type).and_then(CodexLineType::from_key) == Some(CodexLineType::Item)
        })
    };
    let in_items =
        items().filter_map(|(_, line)| object_of(line, CodexKey::Payload)).filter(|item| !is_server_call(*item));
    let calls = in_items.filter_map(|item| text_of(item, ItemKey::CallId)).collect();
    let item_types =
        items().filter_map(|(_, line)| text_of(object_of(line, CodexKey::Payload)?, ItemKey::Type)).collect();
    let has_items = items().next().is_some();
    let mut session = CodexSession {
        total: None,
        has_items,
        in_items: calls,
        item_types,
        begun: FxHashSet::default(),
        is_partial: false,
        wrong: None,
        is_bare: super::nodes::node_list(root).is_some_and(|lines| object_items(lines).any(|(_, line)| is_mark(line))),
        conversation: ConversationBuilder::new(builder),
    };
    match root.value {
        Value::List(lines) => lines.iter().for_each(|line| session.read_line(*line)),
        Value::Object(object) => {
            for (node, item) in
                session.conversation.builder.record_objects(list_of(object, CodexPayloadKey::Items).unwrap_or_default())
            {
                session.conversation.builder.count_record();
                session.read_item(node, item, &StepMeta::default());
            }
        }
        _ => {}
    }
    session.finish_run();
    Ok(())
}

struct CodexSession<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    total: Option<Object<'run>>,
    /// The model's actions are in items; otherwise only in events.
    has_items: bool,
    /// Calls in items. Their events add nothing, except for server calls with their own item.
    in_items: FxHashSet<&'run str>,
    item_types: FxHashSet<&'run str>,
    begun: FxHashSet<&'run str>,
    /// No items, and an event that may stand for a call was not understood.
    is_partial: bool,
    /// The error, unless recovered: the model spoke again and its turn ended.
    wrong: Option<TurnFailure<'run>>,
    is_bare: bool,
}

/// The error, and whether the model has spoken since.
struct TurnFailure<'run> {
    message: Node<'run>,
    has_spoken: bool,
}

impl<'run> CodexSession<'_, 'run, '_> {
    fn read_line(&mut self, node: Node<'run>) {
        self.conversation.builder.count_record();
        let line = node_object(node);
        let kind = line.and_then(|line| text_of(line, CodexKey::Type)).and_then(CodexLineType::from_key);
        let payload =
            line.and_then(|line| line.field(CodexKey::Payload)).and_then(|node| Some((node, node_object(node)?)));
        let (Some(line), Some(kind), Some((at, payload))) = (line, kind, payload) else {
            match line.filter(|_| self.is_bare) {
                Some(line) if is_mark(line) => return,
                Some(line) if is_head(line) => return self.read_context(line, true),
                Some(line) => return self.read_item(node, line, &StepMeta::default()),
                None => {}
            }
            self.conversation.builder.skip_value(node, "a line of unknown type is skipped");
            return;
        };
        let meta = StepMeta { time: line.field(CodexKey::Time), ..StepMeta::default() };
        match kind {
            CodexLineType::Session | CodexLineType::Context => {
                self.read_context(payload, kind == CodexLineType::Session)
            }
            CodexLineType::Item => self.read_item(at, payload, &meta),
            CodexLineType::Event => self.read_event(at, payload, &meta),
            CodexLineType::Silent => {}
        }
    }

    fn read_context(&mut self, payload: Object<'run>, is_session: bool) {
        if is_session && !self.conversation.builder.has_entry(of_run::ID) {
            self.conversation.builder.set_some(of_run::ID, payload.field(CodexPayloadKey::Id));
        }
        let branch = object_of(payload, CodexPayloadKey::Git).and_then(|git| git.field(CodexPayloadKey::Branch));
        self.conversation.add_meta(of_meta::GIT_BRANCH, branch);
        let known = [
            (of_meta::CWD, CodexPayloadKey::Folder),
            (of_meta::VERSION, CodexPayloadKey::Version),
            (of_meta::MODEL, CodexPayloadKey::Model),
            (CodexPayloadKey::Approval.key(), CodexPayloadKey::Approval),
            (CodexPayloadKey::Sandbox.key(), CodexPayloadKey::Sandbox),
        ];
        for (key, field) in known {
            self.conversation.add_meta(key, payload.field(field));
        }
    }

    fn note_speech(&mut self) {
        self.wrong.iter_mut().for_each(|wrong| wrong.has_spoken = true);
    }

    /// A turn also ends after a fatal error.
    fn turn_ends(&mut self, payload: Object<'run>) {
        if payload
            .field(CodexPayloadKey::LastMessage)
            .is_some_and(|words| NodeShapes.has_shape(words, ValueShape::Text))
        {
            self.note_speech();
        }
        self.wrong = self.wrong.take().filter(|wrong| !wrong.has_spoken);
        let error = first_of(payload, &[CodexPayloadKey::Error]);
        let message =
            error.and_then(node_object).and_then(|error| first_of(error, &[CodexPayloadKey::Message])).or(error);
        self.wrong = message.map(|message| TurnFailure { message, has_spoken: false }).or(self.wrong.take());
    }

    fn read_item(&mut self, node: Node<'run>, item: Object<'run>, meta: &StepMeta<'run>) {
        match (text_of(item, ItemKey::Role), item.field(ItemKey::Content)) {
            _ if is_server_call(item) => self.add_server_call(node, item, meta),
            (Some(role), Some(content)) => {
                let speaker = speaker::item_speaker(self.conversation.builder.role_of(node, Some(role)), content);
                if speaker == Speaker::Assistant {
                    self.note_speech();
                }
                self.conversation.add_content(speaker, content, meta, node.origin);
            }
            _ => responses::add_item(&mut self.conversation, node, item, meta),
        }
        self.name_server(item);
        let refused = item.field(ItemKey::Output).filter(|output| is_refusal(*output));
        if let Some((output, call)) =
            refused.and_then(|output| Some((output, self.conversation.find_call(text_of(item, ItemKey::CallId)?)?)))
        {
            self.conversation.set_status(call, StepStatus::Denied);
            self.conversation.builder.set_field(call, of_step::ERROR, output);
        }
    }

    /// Older versions wrote `mcp__SERVER__TOOL` for the name itself.
    fn name_server(&mut self, item: Object<'run>) {
        let server = text_of(item, CodexPayloadKey::Server).filter(|server| server.starts_with("mcp__"));
        let tool = item.field(ItemKey::Name).filter(|_| server.is_some());
        let call = text_of(item, ItemKey::CallId).and_then(|id| self.conversation.find_call(id));
        if let (Some(server), Some(tool), Some(call)) = (server, tool, call) {
            let whole = self.tool_of_server(tool, server);
            self.conversation.builder.set_field(call, of_step::TOOL, whole);
        }
    }

    fn read_event(&mut self, node: Node<'run>, payload: Object<'run>, meta: &StepMeta<'run>) {
        let kind = text_of(payload, CodexPayloadKey::Type).and_then(CodexEventType::from_key);
        if kind == Some(CodexEventType::Said) {
            self.note_speech();
        }
        match kind {
            Some(CodexEventType::Tokens) => {
                let info = object_of(payload, CodexPayloadKey::Info);
                self.total = info.and_then(|info| object_of(info, CodexPayloadKey::Total)).or(self.total);
            }
            Some(CodexEventType::Error) => {
                let wrong = first_of(payload, &[CodexPayloadKey::Message]);
                self.wrong = wrong.map(|message| TurnFailure { message, has_spoken: false }).or(self.wrong.take());
            }
            Some(CodexEventType::TurnEnd) => self.turn_ends(payload),
            Some(kind @ (CodexEventType::Said | CodexEventType::Asked | CodexEventType::Thought))
                if !self.has_items =>
            {
                let speaker = match kind {
                    CodexEventType::Said => Speaker::Assistant,
                    CodexEventType::Asked => Speaker::User,
                    _ => Speaker::Thinking,
                };
                let words = payload.field(CodexPayloadKey::Message).or(payload.field(CodexPayloadKey::Words));
                words.into_iter().for_each(|words| self.conversation.add_message(speaker, words, meta, node.origin));
            }
            Some(
                kind @ (CodexEventType::CommandBegin
                | CodexEventType::CommandEnd
                | CodexEventType::McpBegin
                | CodexEventType::McpEnd
                | CodexEventType::PatchBegin
                | CodexEventType::PatchEnd
                | CodexEventType::DynamicBegin
                | CodexEventType::DynamicEnd),
            ) => self.read_call_event(kind, node, payload, meta),
            None => self.skip_event(node, payload),
            Some(CodexEventType::InItems | CodexEventType::OfService) if !self.is_in_items(payload) => {
                self.skip_event(node, payload);
            }
            Some(CodexEventType::RawItem) if !self.has_items => self.skip_event(node, payload),
            Some(CodexEventType::Turn) if !self.is_told_turn(payload) => self.skip_event(node, payload),
            Some(_) => {}
        }
    }

    /// Whether an item tells of the action of an event: by the id of the call, or by its type.
    fn is_in_items(&self, payload: Object<'run>) -> bool {
        let word = text_of(payload, CodexPayloadKey::Type).unwrap_or_default();
        let action = word.strip_suffix("_begin").or_else(|| word.strip_suffix("_end")).unwrap_or(word);
        let is_of_action = |kind: &&str| kind.strip_suffix("_call") == Some(action);
        text_of(payload, events::CodexCallKey::Id).is_some_and(|id| self.in_items.contains(id))
            || self.item_types.iter().any(is_of_action)
    }

    /// Whether an item of a turn did nothing, or has a response item of its id.
    fn is_told_turn(&self, payload: Object<'run>) -> bool {
        let Some(item) = object_of(payload, CodexPayloadKey::Item).filter(|_| self.has_items) else { return false };
        text_of(item, CodexPayloadKey::Type).and_then(CodexTurnItem::from_key).is_some()
            || text_of(item, CodexPayloadKey::Id).and_then(|id| self.conversation.find_call(id)).is_some()
    }

    /// Beside items an event of unknown type is one action at most; without items nobody knows what else events leave out.
    fn skip_event(&mut self, node: Node<'run>, payload: Object<'run>) {
        let word = text_of(payload, CodexPayloadKey::Type).unwrap_or_default();
        let why = if self.has_items { "" } else { ": calls count as not recorded" };
        self.conversation
            .builder
            .skip_record(node.origin, format!("an event of unknown type `{word}` is skipped{why}"));
        self.is_partial |= !self.has_items;
    }

    fn finish_run(mut self) {
        if let Some(total) = self.total {
            let mut usage = TokenUsage::default();
            usage.add_usage(total);
            self.conversation.usage = usage;
        }
        self.conversation.builder.set_some(of_run::ERROR, self.wrong.map(|wrong| wrong.message));
        let partial = self.is_partial;
        let builder = self.conversation.finish_with_tools();
        if partial {
            [StepKind::Call, StepKind::Command, StepKind::Read, StepKind::Write, StepKind::Skill, StepKind::Http]
                .into_iter()
                .for_each(|kind| builder.mark_unrecorded(kind));
        }
    }
}

fn is_server_call(item: Object<'_>) -> bool {
    text_of(item, ItemKey::Type).and_then(CodexItemType::from_key) == Some(CodexItemType::ServerCall)
}

/// Codex's refusal text, bare or in JSON output.
fn is_refusal(output: Node<'_>) -> bool {
    const STARTS: [&str; 8] = [
        "exec command rejected",
        "exec_command rejected",
        "command rejected by user",
        "patch rejected",
        "apply_patch rejected",
        "rejected by user",
        "user rejected MCP tool call",
        "user cancelled MCP tool call",
    ];
    let Some(text) = super::nodes::node_text(output) else { return false };
    let text = text.strip_prefix("{\"output\":").map_or(text, |inner| inner.trim_start().trim_start_matches('"'));
    STARTS.iter().any(|start| text.starts_with(start))
        || text.starts_with("exec_command failed") && text.contains("Rejected(") && text.contains("rejected by user")
}
