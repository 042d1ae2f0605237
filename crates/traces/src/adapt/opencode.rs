//! OpenCode: the export of a session (`info`, `messages` of `info` and `parts`), and the events of `run --format json`. A part of type
//! `tool` is a call with its result; times are milliseconds.

pub(super) mod server_events;
pub(super) mod session_messages;

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, is_true, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::messages::MessageRole;
use super::nodes::{first_of, items_of, list_of, node_object, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Number, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::StepStatus;
use rustc_hash::FxHashSet;

key_table! {
    OpenCodeExportKey {
        Info = "info",
        Messages = "messages",
        Parts = "parts",
    }
}

key_table! {
    OpenCodeInfoKey {
        Id = "id",
        Role = "role",
        Folder = "directory",
        Version = "version",
        Path = "path",
        Cwd = "cwd",
        Model = "modelID",
        Time = "time",
        Created = "created",
        Completed = "completed",
        Tokens = "tokens",
        Cost = "cost",
        Error = "error",
        Input = "input",
        Output = "output",
        Reasoning = "reasoning",
        Cache = "cache",
        Read = "read",
        Write = "write",
    }
}

key_table! {
    OpenCodePartKey {
        Type = "type",
        Part = "part",
        Session = "sessionID",
        Message = "messageID",
        Words = "text",
        Synthetic = "synthetic",
        Tool = "tool",
        Call = "callID",
        State = "state",
        Status = "status",
        Input = "input",
        Output = "output",
        Error = "error",
        Metadata = "metadata",
        Exit = "exit",
        Time = "time",
        Start = "start",
        End = "end",
        Tokens = "tokens",
        Cost = "cost",
    }
}

key_table! {
    OpenCodePartType {
        Said = "text",
        Thought = "reasoning",
        Call = "tool" | "tool_use",
        Finish = "step-finish" | "step_finish",
        /// States of files, what a message brings along, and marks: what is done with them has parts of its own.
        Silent = "step-start" | "step_start" | "snapshot" | "patch" | "file" | "agent" | "subtask" | "retry" | "compaction",
        Error = "error",
    }
}

key_table! {
    OpenCodeCallState {
        Ok = "completed",
        Failed = "error",
        Open = "pending" | "running",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "OpenCode export",
    known_by: "`info` beside `messages` of `info` and `parts`, or events with `sessionID` and a `part`",
    description: "exports of OpenCode (`info`, `messages` of `parts`), and the events of its `run --format json`",
    marks: &[OpenCodeExportKey::Info.key()],
    near: &[OpenCodePartKey::Session.key()],
    object: |object| {
        list_of(object, OpenCodeExportKey::Messages)
            .is_some_and(|all| object_items(all).any(|(_, one)| is_message(one)))
    },
    item_marks: &[OpenCodePartKey::Part.key(), OpenCodeExportKey::Parts.key()],
    element: |object| is_message(object) || is_event(object),
    line: |object| is_message(object) || is_event(object),
    read: read_run,
    ..IN_FULL
};

fn is_message(message: Object<'_>) -> bool {
    object_of(message, OpenCodeExportKey::Info).is_some_and(|info| text_of(info, OpenCodeInfoKey::Role).is_some())
        && list_of(message, OpenCodeExportKey::Parts).is_some()
}

fn is_event(event: Object<'_>) -> bool {
    text_of(event, OpenCodePartKey::Session).is_some()
        && object_of(event, OpenCodePartKey::Part).is_some_and(|part| text_of(part, OpenCodePartKey::Type).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut session = OpenCodeSession::new(builder);
    if let Some(info) = node_object(*root).and_then(|export| object_of(export, OpenCodeExportKey::Info)) {
        session
            .conversation
            .builder
            .set_some(of_run::ID, info.field(OpenCodeInfoKey::Id).filter(|id| NodeShapes.is_text(*id)));
        session.conversation.add_meta(of_meta::CWD, info.field(OpenCodeInfoKey::Folder));
        session.conversation.add_meta(of_meta::VERSION, info.field(OpenCodeInfoKey::Version));
    }
    for node in items_of(root, &[OpenCodeExportKey::Messages]) {
        session.conversation.builder.count_record();
        match node_object(*node) {
            Some(message) if is_message(message) => session.read_message(*node, message),
            Some(event) if is_event(event) => session.read_event(*node, event),
            Some(event)
                if text_of(event, OpenCodePartKey::Type).and_then(OpenCodePartType::from_key)
                    == Some(OpenCodePartType::Error) =>
            {
                session.wrong = first_of(event, &[OpenCodePartKey::Error]);
            }
            _ => session
                .conversation
                .builder
                .skip_value(node, "what is neither a message with `parts` nor an event is skipped"),
        }
    }
    session.finish_run();
    Ok(())
}

struct OpenCodeSession<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    cost: Option<Number<'static>>,
    /// Messages whose answers events have reported.
    messages: FxHashSet<&'run str>,
    /// The error, unless the agent went on.
    wrong: Option<Node<'run>>,
    /// The sub-agent whose messages are read.
    agent: Option<Node<'run>>,
}

impl<'a, 'run, 'limits> OpenCodeSession<'a, 'run, 'limits> {
    fn new(builder: &'a mut RunBuilder<'run, 'limits>) -> Self {
        let conversation = ConversationBuilder::from_parts(builder);
        Self { conversation, cost: None, messages: FxHashSet::default(), wrong: None, agent: None }
    }

    fn finish_run(self) {
        let cost = self.cost.map(|cost| Node::computed(Value::Number(cost)));
        self.conversation.builder.set_some(of_run::COST, cost);
        self.conversation.builder.set_some(of_run::ERROR, self.wrong);
        self.conversation.finish_with_tools();
    }
}

impl<'run> OpenCodeSession<'_, 'run, '_> {
    fn read_message(&mut self, node: Node<'run>, message: Object<'run>) {
        let Some(info) = object_of(message, OpenCodeExportKey::Info) else { return };
        let role = self.conversation.builder.role_of(node, text_of(info, OpenCodeInfoKey::Role));
        let of_assistant = role == Some(MessageRole::Assistant);
        let time = object_of(info, OpenCodeInfoKey::Time).and_then(|time| first_of(time, &[OpenCodeInfoKey::Created]));
        let meta = self.step_meta(time);
        self.conversation.note_time(time);
        self.conversation.add_meta(of_meta::MODEL, first_of(info, &[OpenCodeInfoKey::Model]));
        let path = object_of(info, OpenCodeInfoKey::Path);
        self.conversation.add_meta(of_meta::CWD, path.and_then(|path| path.field(OpenCodeInfoKey::Cwd)));
        if of_assistant {
            self.conversation.begin_turn();
            let end =
                object_of(info, OpenCodeInfoKey::Time).and_then(|time| first_of(time, &[OpenCodeInfoKey::Completed]));
            self.conversation.note_time(end);
            self.count_usage(
                info.field(OpenCodeInfoKey::Tokens),
                info.field(OpenCodeInfoKey::Cost),
                first_of(info, &[OpenCodeInfoKey::Model]),
            );
            self.wrong = first_of(info, &[OpenCodeInfoKey::Error]);
        }
        let speaker = Speaker::from_role(role);
        for (node, part) in
            self.conversation.builder.record_objects(list_of(message, OpenCodeExportKey::Parts).unwrap_or_default())
        {
            // The counts of its steps are those of the message.
            let kind = text_of(part, OpenCodePartKey::Type).and_then(OpenCodePartType::from_key);
            if kind != Some(OpenCodePartType::Finish) {
                self.read_part(node, part, kind, speaker, &meta);
            }
        }
    }

    fn step_meta(&self, time: Option<Node<'run>>) -> StepMeta<'run> {
        StepMeta { time, agent: self.agent, aside: self.agent.is_some() }
    }

    fn read_event(&mut self, node: Node<'run>, event: Object<'run>) {
        if !self.conversation.builder.has_entry(of_run::ID) {
            self.conversation.builder.set_some(of_run::ID, event.field(OpenCodePartKey::Session));
        }
        let Some(part) = object_of(event, OpenCodePartKey::Part) else { return };
        self.wrong = None;
        if text_of(part, OpenCodePartKey::Message).is_some_and(|id| self.messages.insert(id)) {
            self.conversation.begin_turn();
        }
        let kind = text_of(part, OpenCodePartKey::Type).and_then(OpenCodePartType::from_key);
        self.read_part(node, part, kind, Speaker::Assistant, &StepMeta::default());
    }

    fn read_part(
        &mut self,
        node: Node<'run>,
        part: Object<'run>,
        kind: Option<OpenCodePartType>,
        speaker: Speaker,
        meta: &StepMeta<'run>,
    ) {
        let words = part.field(OpenCodePartKey::Words);
        match kind {
            Some(OpenCodePartType::Said) => {
                // What the program adds to the words of the user is not the user's.
                let injected = is_true(&part, &NodeShapes, OpenCodePartKey::Synthetic) && speaker == Speaker::User;
                let speaker = if injected { Speaker::System } else { speaker };
                words.into_iter().for_each(|words| self.conversation.add_message(speaker, words, meta, node.origin));
            }
            Some(OpenCodePartType::Thought) => words
                .into_iter()
                .for_each(|words| self.conversation.add_message(Speaker::Thinking, words, meta, node.origin)),
            Some(OpenCodePartType::Call) => self.add_call(node, part),
            Some(OpenCodePartType::Finish) => {
                self.count_usage(part.field(OpenCodePartKey::Tokens), part.field(OpenCodePartKey::Cost), None)
            }
            Some(OpenCodePartType::Silent | OpenCodePartType::Error) => {}
            None => {
                let word = text_of(part, OpenCodePartKey::Type).unwrap_or_default();
                self.conversation
                    .builder
                    .skip_record(node.origin, format!("a part of unknown type `{word}` is skipped"));
            }
        }
    }

    fn add_call(&mut self, node: Node<'run>, part: Object<'run>) {
        let state = object_of(part, OpenCodePartKey::State);
        let of = |field| state.and_then(|state| first_of(state, &[field]));
        let time = of(OpenCodePartKey::Time).and_then(node_object);
        let [started, ended] = [OpenCodePartKey::Start, OpenCodePartKey::End]
            .map(|field| self.step_meta(time.and_then(|time| first_of(time, &[field]))));
        let tool = part.field(OpenCodePartKey::Tool).unwrap_or(Node::computed(Value::Null));
        let made = ToolCall {
            tool,
            args: of(OpenCodePartKey::Input),
            id: part.field(OpenCodePartKey::Call),
            origin: node.origin,
        };
        let Some(step) = self.conversation.add_call(made, &started) else { return };
        let error = of(OpenCodePartKey::Error);
        let status =
            match state.and_then(|state| text_of(state, OpenCodePartKey::Status)).and_then(OpenCodeCallState::from_key)
            {
                Some(OpenCodeCallState::Ok) => StepStatus::Ok,
                Some(OpenCodeCallState::Failed) if error.and_then(super::nodes::node_text).is_some_and(is_refusal) => {
                    StepStatus::Denied
                }
                Some(OpenCodeCallState::Failed) => StepStatus::Failed,
                Some(OpenCodeCallState::Open) | None => return,
            };
        let metadata = of(OpenCodePartKey::Metadata);
        let exit_code = metadata.and_then(node_object).and_then(|metadata| metadata.field(OpenCodePartKey::Exit));
        let exit_code = exit_code.filter(|code| NodeShapes.has_shape(*code, ValueShape::Number));
        let failed =
            exit_code.is_some_and(|code| !matches!(code.value, Value::Number(code) if code == Number::Integer(0)));
        let status = if failed { StepStatus::Failed } else { status };
        let outcome = CallResult {
            result: of(OpenCodePartKey::Output),
            error,
            status: Some(status),
            exit_code,
            details: metadata,
            duration: None,
        };
        self.conversation.end_within(step, outcome, &ended);
    }

    fn count_usage(&mut self, tokens: Option<Node<'run>>, cost: Option<Node<'run>>, model: Option<Node<'run>>) {
        if let Some(Value::Number(cost)) = cost.map(|cost| cost.value) {
            self.cost = self.cost.unwrap_or(Number::Integer(0)).add(cost).or(self.cost);
        }
        let Some(tokens) = tokens.and_then(node_object) else { return };
        let cache = object_of(tokens, OpenCodeInfoKey::Cache);
        let of_cache = |field| cache.and_then(|cache| cache.field(field));
        let mut usage = TokenUsage::default();
        usage.add_count(of_usage::INPUT, tokens.field(OpenCodeInfoKey::Input));
        usage.add_count(of_usage::OUTPUT, tokens.field(OpenCodeInfoKey::Output));
        usage.add_count(of_usage::REASONING, tokens.field(OpenCodeInfoKey::Reasoning));
        usage.add_count(of_usage::CACHE_READ, of_cache(OpenCodeInfoKey::Read));
        usage.add_count(of_usage::CACHE_WRITE, of_cache(OpenCodeInfoKey::Write));
        usage.count_cache_as_input();
        self.conversation.add_usage(&usage, model);
    }
}

/// The program's text for a call denied by the user or a rule.
fn is_refusal(error: &str) -> bool {
    let starts = [
        "The user rejected permission to use this specific tool call",
        "The user has specified a rule which prevents you from using this specific tool call",
    ];
    // Older versions wrote down the name of the error, too.
    let error = error.strip_prefix("Error: ").unwrap_or(error);
    starts.iter().any(|start| error.starts_with(start))
}
