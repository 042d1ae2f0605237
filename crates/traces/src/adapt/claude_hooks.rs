//! Logs of Claude Code's hooks: what the program gives to a hook, an event a line. A call has an event before it and one behind it.

use super::claude_code;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, list_of, node_object, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, StepId, absent_node};
use super::tools;
use crate::time;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, role};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::FxHashMap;

key_table! {
    HookKey {
        Event = "hook_event_name",
        /// What the hook was given, where a program that collects events keeps it in a record of its own. No key that runs of other formats
        /// often have (`input`): each line with one is read in full before anything else is known of it.
        Given = "payload" | "event" | "data" | "hook" | "hook_input" | "hook_event" | "hook_data" | "body" | "raw"
            | "stdin" | "e",
        Session = "session_id",
        Folder = "cwd",
        Tool = "tool_name",
        Args = "tool_input",
        Result = "tool_response",
        Id = "tool_use_id",
        Calls = "tool_calls",
        Error = "error",
        Prompt = "prompt",
        Answer = "last_assistant_message",
        Agent = "agent_id",
        Time = "timestamp" | "time" | "ts" | "t",
    }
}

key_table! {
    HookEvent {
        Before = "PreToolUse",
        After = "PostToolUse",
        Failed = "PostToolUseFailure",
        Denied = "PermissionDenied",
        Prompt = "UserPromptSubmit",
        Stop = "Stop",
        /// Where a session or an agent begins and ends, and what the program asks or tells: calls have events of their own.
        Silent = "SessionStart" | "SessionEnd" | "SubagentStart" | "SubagentStop" | "Notification" | "PreCompact" | "PostCompact"
            | "PermissionRequest" | "Setup" | "InstructionsLoaded" | "ConfigChange" | "CwdChanged" | "FileChanged"
            | "WorktreeCreate" | "WorktreeRemove" | "TeammateIdle" | "TaskCreated" | "TaskCompleted" | "StopFailure"
            | "Elicitation" | "ElicitationResult" | "UserPromptExpansion" | "MessageDisplay",
        /// Calls that were made side by side, when the last of them has ended.
        Batch = "PostToolBatch",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Claude Code hook log",
    known_by: "events with `hook_event_name`, or with such an event under a key such as `payload` or `event`",
    description: "logs of what Claude Code gives to its hooks (an event a line)",
    marks: &[HookKey::Event.key()],
    object: is_event,
    item_marks: ITEM_MARKS,
    element: is_event,
    line: is_event,
    record_ids: RecordIds::shared(&[&[HookKey::Id.key()]]),
    read: read_run,
    // What the assistant says no hook tells.
    partial_roles: &[role::USER, role::ASSISTANT, role::THINKING, role::SYSTEM],
    ..IN_FULL
};

const ITEM_MARKS: &[&str] = &{
    let mut marks = [HookKey::Event.key(); HookKey::Given.keys().len() + 1];
    marks.split_at_mut(1).1.copy_from_slice(HookKey::Given.keys());
    marks
};

fn is_event(event: Object<'_>) -> bool {
    let event = hook_input(event);
    text_of(event, HookKey::Event).is_some() && event.field(HookKey::Session).is_some()
}

fn hook_input(event: Object<'_>) -> Object<'_> {
    let given = HookKey::Given.keys().iter().filter_map(|key| event.get(key).and_then(node_object));
    let is_input = |given: &Object<'_>| text_of(*given, HookKey::Event).is_some();
    if is_input(&event) { event } else { given.into_iter().find(is_input).unwrap_or(event) }
}

/// A call of which an event said that it begins.
struct OpenCall<'run> {
    step: StepId,
    session: Option<&'run str>,
    id: Option<&'run str>,
    tool: &'run str,
    args: Option<Node<'run>>,
}

struct HookLog<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    open: Vec<OpenCall<'run>>,
    /// The calls of each session by their ids: a log may hold several sessions.
    known: FxHashMap<(Option<&'run str>, &'run str), StepId>,
    session: Option<&'run str>,
    /// Whether hooks in front of calls, and behind them, were logged.
    logged: [bool; 2],
    answer: Option<Node<'run>>,
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    use StepKind::{Call, Command, Http, Message, Read, Skill, Write};
    let root = builder.arena.alloc(root);
    let conversation = ConversationBuilder::new(builder);
    let mut log = HookLog {
        conversation,
        open: Vec::new(),
        known: FxHashMap::default(),
        session: None,
        logged: [false; 2],
        answer: None,
    };
    for node in items_of::<HookKey>(root, &[]) {
        log.conversation.builder.count_record();
        let event = node_object(*node).map(hook_input);
        let kind = event.and_then(|event| text_of(event, HookKey::Event)).and_then(HookEvent::from_key);
        match event.zip(kind) {
            Some((event, kind)) => log.read_event(*node, event, kind),
            None => log.conversation.builder.skip_value(node, "an event of an unknown hook is skipped"),
        }
    }
    let HookLog { conversation, logged, answer, .. } = log;
    let builder = conversation.finish_without_turns();
    // Without a hook for prompts nobody's words are told.
    if builder.steps_of_kind(Message).is_empty() {
        builder.mark_unrecorded(Message);
    }
    builder.set_entry(of_run::OUTPUT, answer.unwrap_or_else(absent_node));
    match logged {
        [false, false] => {
            builder.mark_unrecorded(Call);
            builder.add_warning(root.origin, "calls count as not recorded: no hook around them was logged");
        }
        [false, true] => {
            builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
            builder.add_warning(
                root.origin,
                "calls that were refused or failed may be missing: no `PreToolUse` was logged",
            );
            builder.mark_recorded(&[Command, Read, Write, Skill, Http]);
        }
        [true, _] => builder.mark_recorded(&[Command, Read, Write, Skill, Http]),
    }
    tools::add_following_steps(builder, tools::derive_from_claude);
    Ok(())
}

impl<'run> HookLog<'_, 'run, '_> {
    fn read_event(&mut self, node: Node<'run>, event: Object<'run>, kind: HookEvent) {
        self.session = text_of(event, HookKey::Session);
        if !self.conversation.builder.has_entry(of_run::ID) {
            self.conversation
                .builder
                .set_some(of_run::ID, event.field(HookKey::Session).filter(|id| NodeShapes.is_text(*id)));
        }
        self.conversation.add_meta(of_meta::CWD, event.field(HookKey::Folder));
        let agent = first_of(event, &[HookKey::Agent]);
        // Who collects events says when each came.
        let time = value_of(event, HookKey::Time).or_else(|| value_of(node_object(node)?, HookKey::Time));
        let time = time.filter(|time| time::to_milliseconds(&time.value).is_some());
        let meta = StepMeta { time, agent, aside: agent.is_some() };
        match kind {
            HookEvent::Before => {
                let [_, after] = self.logged;
                self.logged = [true, after];
                self.add_call(node, event, &meta);
            }
            HookEvent::After | HookEvent::Failed | HookEvent::Denied => {
                let [before, _] = self.logged;
                self.logged = [before, true];
                self.end_call(node, event, kind, &meta);
            }
            HookEvent::Batch => {
                let [before, after] = self.logged;
                let calls = list_of(event, HookKey::Calls);
                self.logged = [before, after || calls.is_some()];
                for (node, call) in self.conversation.builder.record_objects(calls.unwrap_or_default()) {
                    self.end_call(node, call, kind, &meta);
                }
            }
            HookEvent::Prompt => {
                self.conversation.note_input();
                let words = value_of(event, HookKey::Prompt);
                if let Some(words) = words {
                    // What background tasks and other agents tell comes as a prompt, too.
                    let speaker = if claude_code::is_of_program(words) { Speaker::System } else { Speaker::User };
                    self.conversation.add_message(speaker, words, &meta, node.origin);
                }
            }
            HookEvent::Stop => self.answer = first_of(event, &[HookKey::Answer]).or(self.answer),
            HookEvent::Silent => {}
        }
    }

    fn add_call(&mut self, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) -> Option<StepId> {
        let id = text_of(event, HookKey::Id);
        // Several hooks may log one call.
        if let Some(known) = id.and_then(|id| self.known.get(&(self.session, id))) {
            return Some(*known);
        }
        let tool = event.field(HookKey::Tool).unwrap_or(Node::computed(Value::Null));
        let args = event.field(HookKey::Args);
        let made = ToolCall { tool, args, id: event.field(HookKey::Id), origin: node.origin };
        let step = self.conversation.add_call(made, meta)?;
        self.known.extend(id.map(|id| ((self.session, id), step)));
        let session = self.session;
        self.open.push(OpenCall { step, session, id, tool: text_of(event, HookKey::Tool).unwrap_or_default(), args });
        Some(step)
    }

    /// By id; older programs write none: by tool and arguments.
    fn end_call(&mut self, node: Node<'run>, event: Object<'run>, kind: HookEvent, meta: &StepMeta<'run>) {
        let (id, tool) = (text_of(event, HookKey::Id), text_of(event, HookKey::Tool).unwrap_or_default());
        let args = event.field(HookKey::Args);
        let is_same = |open: &OpenCall<'run>| {
            let is_alike = match id {
                Some(_) => open.id == id,
                None => open.tool == tool && same_value(open.args, args),
            };
            is_alike && open.session == self.session
        };
        let place = self.open.iter().position(is_same);
        let known = place.map(|place| self.open.remove(place).step);
        if known.is_none() && id.is_some_and(|id| self.known.contains_key(&(self.session, id))) {
            return;
        }
        let Some(step) = known.or_else(|| self.add_call(node, event, meta)) else { return };
        self.open.retain(|open| open.step != step);
        let error = first_of(event, &[HookKey::Error]);
        let status = match kind {
            HookEvent::Denied => StepStatus::Denied,
            HookEvent::Failed => StepStatus::Failed,
            // It does not say how each of its calls ended.
            HookEvent::Batch => StepStatus::Unknown,
            _ => StepStatus::Ok,
        };
        let result = first_of(event, &[HookKey::Result]).or(error);
        let outcome = CallResult { result, error, status: Some(status), ..CallResult::default() };
        self.conversation.end_call(step, outcome, meta);
    }
}

fn same_value(one: Option<Node<'_>>, other: Option<Node<'_>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => values_equal(&one.value, &other.value),
        (None, None) => true,
        _ => false,
    }
}
