//! SWE-agent: a trajectory (`.traj`) with `trajectory`, `history` and `info`, or the `history` of a demonstration. Calls stand in the
//! messages; where the agent writes its actions as text, an action is a call of the tool that its first word names.

use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall, seconds_to_ms};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, is_true, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{first_of, list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use super::tools::ArgsKey;
use averment_base::value::{Node, Object, ObjectEntry, TextOrigin, Value, ValueText};
use averment_runs::normal::{of_run, of_step, of_usage};
use averment_runs::run::StepKind;

key_table! {
    SweAgentFileKey {
        Trajectory = "trajectory",
        History = "history",
        Info = "info",
    }
}

key_table! {
    SweStepKey {
        Action = "action",
        Observation = "observation",
        Response = "response",
        Thought = "thought",
        State = "state",
        OpenFile = "open_file",
        Took = "execution_time",
        Role = "role",
        Content = "content",
        Agent = "agent",
        Calls = "tool_calls",
        Answers = "tool_call_ids",
        Demonstration = "is_demo",
        MessageType = "message_type",
    }
}

key_table! {
    SweAgentInfoKey {
        Submission = "submission",
        Exit = "exit_status",
        Stats = "model_stats",
        Cost = "instance_cost",
        Sent = "tokens_sent",
        Received = "tokens_received",
        Asked = "api_calls",
    }
}

key_table! {
    /// Placeholder actions where the program ended the run.
    SweAgentExit {
        Program = "exit_cost" | "exit_context" | "exit_format" | "exit_error" | "exit_api" | "exit_environment_error"
            | "exit_command_timeout" | "exit_total_execution_time",
    }
}

key_table! {
    /// First words of actions that are no programs.
    BuiltinCommand {
        Open = "open",
        Create = "create",
        Edit = "edit",
        Other = "goto" | "scroll_up" | "scroll_down" | "search_dir" | "search_file" | "find_file" | "submit" | "exit_cost"
            | "exit_context" | "exit_format" | "exit" | "skip" | "exit_forfeit",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "SWE-agent trajectory",
    known_by: "`history` of messages with `agent` and `action` or `message_type`, or `trajectory` of steps with `action` and `observation`",
    description: "trajectories of SWE-agent (`trajectory`, `history`, `info`)",
    marks: &[SweAgentFileKey::History.key(), SweAgentFileKey::Trajectory.key()],
    near: &[SweStepKey::MessageType.key()],
    object: |object| {
        let steps = list_of(object, SweAgentFileKey::Trajectory).unwrap_or_default();
        let history = list_of(object, SweAgentFileKey::History).unwrap_or_default();
        object_items(steps).any(|(_, step)| is_step(step))
            || object_items(history).any(|(_, message)| is_message(message))
    },
    read: read_run,
    ..IN_FULL
};

fn is_step(step: Object<'_>) -> bool {
    text_of(step, SweStepKey::Action).is_some()
        && text_of(step, SweStepKey::Observation).is_some()
        && step.field(SweStepKey::State).is_some()
}

fn is_message(message: Object<'_>) -> bool {
    let has = |field| message.field(field).is_some();
    has(SweStepKey::Role)
        && has(SweStepKey::Content)
        && has(SweStepKey::Agent)
        && (has(SweStepKey::Action) || has(SweStepKey::MessageType))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Value::Object(file) = root.value else { return Ok(()) };
    let history = list_of(file, SweAgentFileKey::History).unwrap_or_default();
    let steps = list_of(file, SweAgentFileKey::Trajectory).unwrap_or_default();
    let calls = object_items(history)
        .any(|(_, message)| list_of(message, SweStepKey::Calls).is_some_and(|calls| !calls.is_empty()));
    let info = object_of(file, SweAgentFileKey::Info);
    about_the_run(builder, info);
    let mut session = SweAgentSession { conversation: ConversationBuilder::new(builder), waits: false };
    if let Some(info) = info {
        session.conversation.add_meta(SweAgentInfoKey::Exit.key(), info.field(SweAgentInfoKey::Exit));
    }
    if steps.is_empty() || calls {
        history.iter().for_each(|node| session.read_message(*node));
    } else {
        session.before_the_first_answer(history);
        for (node, message) in object_items(history) {
            session.conversation.builder.role_of(node, Some(text_of(message, SweStepKey::Role).unwrap_or_default()));
        }
        steps.iter().for_each(|node| session.read_step(*node));
    }
    session.conversation.finish_with_tools();
    Ok(())
}

/// A run without model requests has no counts.
fn about_the_run<'run>(builder: &mut RunBuilder<'run, '_>, info: Option<Object<'run>>) {
    let Some(info) = info else { return };
    builder.set_some(of_run::OUTPUT, first_of(info, &[SweAgentInfoKey::Submission]));
    let is_some = |node: &Node<'_>| matches!(node.value, Value::Number(number) if number.to_f64() > 0.0);
    let Some(stats) = object_of(info, SweAgentInfoKey::Stats)
        .filter(|stats| stats.field(SweAgentInfoKey::Asked).as_ref().is_some_and(is_some))
    else {
        return;
    };
    builder.set_some(
        of_run::COST,
        stats.field(SweAgentInfoKey::Cost).filter(|cost| NodeShapes.has_shape(*cost, ValueShape::Number)),
    );
    let mut usage = super::calls::TokenUsage::default();
    usage.add_count(of_usage::INPUT, stats.field(SweAgentInfoKey::Sent));
    usage.add_count(of_usage::OUTPUT, stats.field(SweAgentInfoKey::Received));
    usage.set_usage(builder);
}

struct SweAgentSession<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// A text call without a result so far.
    waits: bool,
}

impl<'run> SweAgentSession<'_, 'run, '_> {
    fn before_the_first_answer(&mut self, history: &'run [Node<'run>]) {
        let role = |message: Object<'_>| text_of(message, SweStepKey::Role).and_then(MessageRole::from_key);
        let before = object_items(history).take_while(|(_, message)| role(*message) != Some(MessageRole::Assistant));
        for (node, message) in before {
            self.add_message(node, message);
        }
    }

    /// Demonstrations are not part of the run.
    fn add_message(&mut self, node: Node<'run>, message: Object<'run>) {
        let speaker = match text_of(message, SweStepKey::Role) {
            _ if is_true(&message, &NodeShapes, SweStepKey::Demonstration) => Speaker::System,
            word => Speaker::from_role(self.conversation.builder.role_of(node, word)),
        };
        if let Some(content) = message.field(SweStepKey::Content) {
            self.conversation.add_content(speaker, content, &StepMeta::default(), node.origin);
        }
    }

    fn read_step(&mut self, node: Node<'run>) {
        self.conversation.builder.count_record();
        let Some(step) = node_object(node).filter(|step| text_of(*step, SweStepKey::Action).is_some()) else {
            self.conversation.builder.skip_value(node, "a step without `action` is skipped");
            return;
        };
        if text_of(step, SweStepKey::Action).and_then(SweAgentExit::from_key).is_some() {
            return;
        }
        self.conversation.begin_turn();
        if let Some(words) = first_of(step, &[SweStepKey::Response, SweStepKey::Thought]) {
            self.conversation.add_message(Speaker::Assistant, words, &StepMeta::default(), node.origin);
        }
        self.add_action(node, step);
        if !std::mem::take(&mut self.waits) {
            return;
        }
        let result = step.field(SweStepKey::Observation);
        let duration = step.field(SweStepKey::Took).and_then(seconds_to_ms);
        self.conversation.add_result(
            None,
            None,
            CallResult { result, duration, ..CallResult::default() },
            &StepMeta::default(),
            node.origin,
        );
    }

    /// The first word is the tool.
    fn add_action(&mut self, node: Node<'run>, step: Object<'run>) {
        let Some(action) = step.field(SweStepKey::Action) else { return };
        let line = node_text(action).unwrap_or_default().trim();
        let Some(word) = line.split_whitespace().next() else { return };
        let tool = self.part_of(word, action.origin);
        let whole = self.part_of(line, action.origin);
        let args = self.conversation.builder.object_node(&[ObjectEntry { key: ArgsKey::Command.key(), node: whole }]);
        let meta = StepMeta::default();
        if self
            .conversation
            .add_call(ToolCall { tool, args: Some(args), id: None, origin: node.origin }, &meta)
            .is_none()
        {
            return;
        }
        self.waits = true;
        let path = || line.split_whitespace().nth(1).map(|path| path.trim_matches(['"', '\'']));
        let (kind, value) = match BuiltinCommand::from_key(word) {
            Some(BuiltinCommand::Open) => (StepKind::Read, path().map(|path| self.part_of(path, action.origin))),
            Some(BuiltinCommand::Create) => (StepKind::Write, path().map(|path| self.part_of(path, action.origin))),
            Some(BuiltinCommand::Edit) => (StepKind::Write, self.open_file(step)),
            Some(BuiltinCommand::Other) => return,
            None => (StepKind::Command, Some(whole)),
        };
        if let Some(value) = value {
            let key = if kind == StepKind::Command { of_step::COMMAND } else { of_step::PATH };
            let turn = self.conversation.turn_node();
            self.conversation.builder.add_step(
                kind,
                vec![ObjectEntry { key, node: value }, ObjectEntry { key: of_step::TURN, node: turn }],
                node.origin,
            );
        }
    }

    fn open_file(&self, step: Object<'run>) -> Option<Node<'run>> {
        let state = step.field(SweStepKey::State)?;
        let state = match state.value {
            Value::Text(_) => self.conversation.builder.open_json(state)?,
            _ => state,
        };
        let file = node_object(state)?.field(SweStepKey::OpenFile)?;
        node_text(file).filter(|file| *file != "n/a").map(|_| file)
    }

    fn part_of(&self, part: &str, origin: TextOrigin) -> Node<'run> {
        Node::new(Value::Text(ValueText::Plain(self.conversation.builder.arena.alloc_str(part))), origin)
    }

    /// A text action is answered by the next message that is not the agent's.
    fn read_message(&mut self, node: Node<'run>) {
        self.conversation.builder.count_record();
        let Some(message) = node_object(node) else {
            self.conversation.builder.skip_value(node, "a message that is no object is skipped");
            return;
        };
        if is_true(&message, &NodeShapes, SweStepKey::Demonstration) {
            return;
        }
        let role = text_of(message, SweStepKey::Role).and_then(MessageRole::from_key);
        let content = message.field(SweStepKey::Content);
        let result = || {
            content.map(|content| content::content_text(content, self.conversation.builder.arena).unwrap_or(content))
        };
        let outcome = CallResult { result: result(), ..CallResult::default() };
        let meta = StepMeta::default();
        let first = |ids: &'run [Node<'run>]| ids.first().copied().and_then(node_text);
        match role {
            Some(MessageRole::Assistant) => {
                self.conversation.begin_turn();
                self.add_message(node, message);
                let calls = list_of(message, SweStepKey::Calls).unwrap_or_default();
                if calls.is_empty() {
                    self.add_action(node, message);
                }
                for (at, call) in self.conversation.builder.record_objects(calls) {
                    self.add_call(at, call);
                }
            }
            Some(MessageRole::Result) => {
                let id = message.field(SweStepKey::Answers).and_then(node_list).and_then(first);
                self.conversation.add_result(id, None, outcome, &meta, node.origin);
            }
            Some(MessageRole::User) if std::mem::take(&mut self.waits) => {
                self.conversation.add_result(None, None, outcome, &meta, node.origin);
            }
            None if message.field(SweStepKey::Content).is_none() => {
                self.conversation.builder.skip_value(node, "a message without `role` is skipped");
            }
            _ => self.add_message(node, message),
        }
    }

    fn add_call(&mut self, node: Node<'run>, call: Object<'run>) {
        self.conversation.add_call(ToolCall::of_message(node, call), &StepMeta::default());
    }
}
