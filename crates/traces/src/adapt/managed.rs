//! Anthropic's managed agents: the events of a session as they are listed or streamed, also behind the names of the calls of the SDK that
//! gave them (`["client.beta.sessions.events.stream", {…}]`). What a person turned down was not carried out.

use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, NodeShapes, is_true, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, node_object, node_text, object_items, object_of, record_payload, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step};
use averment_runs::run::StepStatus;
use rustc_hash::FxHashSet;

key_table! {
    ManagedEventKey {
        Type = "type",
        Id = "id",
        Time = "processed_at",
        Content = "content",
        Name = "name",
        Input = "input",
        Permission = "evaluated_permission",
        Call = "tool_use_id",
        CustomCall = "custom_tool_use_id",
        McpCall = "mcp_tool_use_id",
        Failed = "is_error",
        Confirmed = "result",
        Usage = "model_usage",
        Error = "error",
        Message = "message",
        Agent = "agent",
        Model = "model",
        AgentName = "agent_name",
        Data = "data",
    }
}

key_table! {
    ManagedEventType {
        Session = "session",
        Asked = "user.message",
        Said = "agent.message",
        Thought = "agent.thinking",
        Call = "agent.tool_use" | "agent.custom_tool_use" | "agent.mcp_tool_use",
        Result = "agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result",
        Confirmed = "user.tool_confirmation",
        Usage = "span.model_request_end",
        Error = "session.error",
        /// How far the session is, what it is measured by, and what agents tell each other.
        Silent = "session.created" | "session.updated" | "session.deleted" | "session.archived" | "session.status_running"
            | "session.status_idle" | "session.status_rescheduled" | "session.status_rescheduling"
            | "session.status_terminated" | "session.outcome_evaluated" | "session.thread_created" | "session.thread_idle"
            | "session.thread_status_running" | "session.thread_status_idle" | "session.thread_status_terminated"
            | "session.usage" | "span.model_request_start" | "span.outcome_evaluation_start"
            | "span.outcome_evaluation_ongoing" | "span.outcome_evaluation_end" | "agent.thread_context_compacted"
            | "agent.thread_message_sent" | "agent.thread_message_received" | "user.interrupt" | "user.define_outcome",
    }
}

key_table! {
    ConfirmationAnswer {
        Deny = "deny",
    }
}

key_table! {
    PermissionState {
        Ask = "ask",
        Deny = "deny",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Anthropic managed agent session",
    known_by: "events with `processed_at` whose `type` begins with `agent.`, `session.`, `user.` or `span.`",
    description: "events of sessions of Anthropic's managed agents (a list, one a line, or `data`)",
    marks: &[ManagedEventKey::Data.key()],
    near: &[ManagedEventKey::Time.key()],
    object: |object| {
        super::nodes::list_of(object, ManagedEventKey::Data)
            .is_some_and(|events| object_items(events).any(|(_, event)| is_event(event)))
    },
    item_marks: &[ManagedEventKey::Time.key()],
    element: is_event,
    line: is_event,
    record_ids: RecordIds::unique(&[&[ManagedEventKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

/// Beginnings of the types of its events.
const FAMILIES: [&str; 4] = ["agent.", "session.", "user.", "span."];

fn is_event(event: Object<'_>) -> bool {
    text_of(event, ManagedEventKey::Type).is_some_and(|word| FAMILIES.iter().any(|family| word.starts_with(family)))
        && event.field(ManagedEventKey::Time).is_some()
        && event.field(ManagedEventKey::Id).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut session = ManagedSession {
        conversation: ConversationBuilder::new(builder),
        seen: FxHashSet::default(),
        asked: Vec::new(),
    };
    for node in items_of(root, &[ManagedEventKey::Data]) {
        session.conversation.builder.count_record();
        match record_payload(*node) {
            Some(event) => session.read_event(*node, event),
            // What was sent comes back in the stream.
            None if matches!(node.value, Value::List([name, ..]) if node_text(*name).is_some()) => {}
            None => session.conversation.builder.skip_value(node, "what is no event is skipped"),
        }
    }
    session.finish_run();
    Ok(())
}

struct ManagedSession<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// Events may be both listed and streamed.
    seen: FxHashSet<&'run str>,
    /// Calls that wait for an approval.
    asked: Vec<&'run str>,
}

impl<'run> ManagedSession<'_, 'run, '_> {
    fn read_event(&mut self, node: Node<'run>, event: Object<'run>) {
        let word = text_of(event, ManagedEventKey::Type).unwrap_or_default();
        let kind = ManagedEventType::from_key(word);
        if kind.is_none() {
            let message = format!("an event of unknown type `{word}` is skipped");
            return self.conversation.builder.skip_value(node, message);
        }
        if kind != Some(ManagedEventType::Session)
            && text_of(event, ManagedEventKey::Id).is_some_and(|id| !self.seen.insert(id))
        {
            return;
        }
        let meta = StepMeta {
            time: first_of(event, &[ManagedEventKey::Time]),
            agent: first_of(event, &[ManagedEventKey::AgentName]),
            aside: false,
        };
        self.conversation.note_time(meta.time);
        let content = event.field(ManagedEventKey::Content);
        let conversation = &mut self.conversation;
        match kind {
            Some(ManagedEventType::Session) => {
                conversation.builder.set_some(of_run::ID, event.field(ManagedEventKey::Id));
                let agent = object_of(event, ManagedEventKey::Agent);
                let model = agent.and_then(|agent| agent.field(ManagedEventKey::Model));
                let model = model.map(|model| {
                    node_object(model).and_then(|model| model.field(ManagedEventKey::Id)).unwrap_or(model)
                });
                conversation.add_meta(of_meta::MODEL, model);
            }
            Some(ManagedEventType::Asked) => content
                .into_iter()
                .for_each(|content| conversation.add_content(Speaker::User, content, &meta, node.origin)),
            Some(ManagedEventType::Said) => content
                .into_iter()
                .for_each(|content| conversation.add_content(Speaker::Assistant, content, &meta, node.origin)),
            Some(ManagedEventType::Thought) => content
                .into_iter()
                .for_each(|content| conversation.add_content(Speaker::Thinking, content, &meta, node.origin)),
            Some(ManagedEventType::Call) => self.add_call(node, event, &meta),
            Some(ManagedEventType::Result) => self.add_result(node, event, &meta),
            Some(ManagedEventType::Confirmed) => self.add_confirmation(event),
            Some(ManagedEventType::Usage) => {
                if let Some(counts) = object_of(event, ManagedEventKey::Usage) {
                    let mut usage = TokenUsage::default();
                    usage.add_usage(counts);
                    usage.count_cache_as_input();
                    conversation.usage.merge_usage(&usage);
                }
            }
            Some(ManagedEventType::Error) => {
                let error = first_of(event, &[ManagedEventKey::Error, ManagedEventKey::Message]);
                error.into_iter().for_each(|error| conversation.builder.set_entry(of_run::ERROR, error));
            }
            Some(ManagedEventType::Silent) | None => {}
        }
    }

    fn add_call(&mut self, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) {
        let tool = event.field(ManagedEventKey::Name).unwrap_or(Node::computed(Value::Null));
        let made = ToolCall {
            tool,
            args: event.field(ManagedEventKey::Input),
            id: event.field(ManagedEventKey::Id),
            origin: node.origin,
        };
        let Some(step) = self.conversation.add_call(made, meta) else { return };
        match text_of(event, ManagedEventKey::Permission).and_then(PermissionState::from_key) {
            Some(PermissionState::Ask) => self.asked.extend(text_of(event, ManagedEventKey::Id)),
            Some(PermissionState::Deny) => self.conversation.set_status(step, StepStatus::Denied),
            None => {}
        }
    }

    fn add_confirmation(&mut self, event: Object<'run>) {
        let Some(id) = call_of(event) else { return };
        self.asked.retain(|asked| *asked != id);
        let denied = text_of(event, ManagedEventKey::Confirmed).and_then(ConfirmationAnswer::from_key)
            == Some(ConfirmationAnswer::Deny);
        if let Some(call) = self.conversation.find_call(id).filter(|_| denied) {
            self.conversation.set_status(call, StepStatus::Denied);
        }
    }

    /// A denied call gets the denial as its result.
    fn add_result(&mut self, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) {
        let Some(id) = call_of(event) else { return };
        self.asked.retain(|asked| *asked != id);
        let content = event.field(ManagedEventKey::Content);
        let result =
            content.map(|content| content::content_text(content, self.conversation.builder.arena).unwrap_or(content));
        let known = self
            .conversation
            .find_call(id)
            .and_then(|call| self.conversation.builder.step_field(call, of_step::STATUS))
            .and_then(node_text);
        let status = if known == StepStatus::Denied.as_str() {
            StepStatus::Denied
        } else if is_true(&event, &NodeShapes, ManagedEventKey::Failed) {
            StepStatus::Failed
        } else {
            StepStatus::Ok
        };
        let meta = StepMeta { agent: None, ..*meta };
        self.conversation.add_result(
            Some(id),
            None,
            CallResult { result, status: Some(status), ..CallResult::default() },
            &meta,
            node.origin,
        );
    }

    fn finish_run(mut self) {
        for call in std::mem::take(&mut self.asked) {
            if let Some(call) = self.conversation.find_call(call) {
                self.conversation.set_status(call, StepStatus::Pending);
            }
        }
        self.conversation.finish_with_tools();
    }
}

fn call_of(event: Object<'_>) -> Option<&str> {
    first_of(event, &[ManagedEventKey::Call, ManagedEventKey::CustomCall, ManagedEventKey::McpCall]).and_then(node_text)
}
