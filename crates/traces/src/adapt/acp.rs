//! The Agent Client Protocol: what an agent tells an editor of a session (`session/update`), as JSON-RPC messages, bare or in frames. Grok's
//! command line keeps its sessions so (`updates.jsonl`).

use super::blocks::{self, ContentBlock};
use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall, instant_node};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use super::run_builder::{RunBuilder, StepId};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::StepStatus;

key_table! {
    AcpKey {
        Message = "message",
        Data = "data",
        Payload = "payload",
        Frame = "frame",
        Raw = "raw",
        Method = "method",
        Params = "params",
        Session = "sessionId",
        Prompt = "prompt",
        Update = "update",
        Kind = "sessionUpdate",
        Content = "content",
        Words = "text",
        Type = "type",
        Call = "toolCallId",
        Title = "title",
        Status = "status",
        Input = "rawInput",
        Output = "rawOutput",
        Meta = "_meta",
        Name = "name" | "toolName",
        Time = "timestamp",
        Usage = "usage",
        Result = "result",
        Error = "error",
        Asked = "toolCall",
    }
}

key_table! {
    AcpMethod {
        Update = "session/update" | "_x.ai/session/update" | "session_update",
        Prompt = "session/prompt",
        Ask = "session/request_permission",
        /// Files and terminals that the editor lends: what the agent does with them, its calls tell.
        Silent = "initialize" | "authenticate" | "session/new" | "session/load" | "session/resume" | "session/cancel" | "session/set_mode"
            | "session/set_model" | "session/set_config_option" | "session/list" | "fs/read_text_file" | "fs/write_text_file"
            | "terminal/create" | "terminal/output" | "terminal/release" | "terminal/wait_for_exit" | "terminal/kill",
    }
}

key_table! {
    AcpUpdate {
        User = "user_message_chunk",
        Said = "agent_message_chunk",
        Thought = "agent_thought_chunk",
        Call = "tool_call",
        Changed = "tool_call_update",
        Done = "turn_completed",
        /// What the session offers, and what the agent plans.
        Silent = "plan" | "available_commands_update" | "current_mode_update" | "config_option_update" | "session_info_update"
            | "usage_update",
    }
}

key_table! {
    AcpStatus {
        Done = "completed",
        Failed = "failed",
        Open = "pending" | "in_progress",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "ACP session",
    known_by: "a `session/update` whose `update` has `sessionUpdate`, or `session/prompt` with a `prompt`",
    description: "sessions of the Agent Client Protocol (`session/update`), such as Grok's `updates.jsonl`",
    marks: &[AcpKey::Kind.key()],
    item_marks: &[
        AcpKey::Params.key(),
        AcpKey::Kind.key(),
        AcpKey::Update.key(),
        AcpKey::Message.key(),
        AcpKey::Data.key(),
        AcpKey::Payload.key(),
        AcpKey::Frame.key(),
        AcpKey::Raw.key(),
    ],
    element: is_own,
    line: is_own,
    beside: |line| message_of(line).is_some(),
    read: read_run,
    ..IN_FULL
};

/// What a message may stand under in a frame.
const FRAMES: [AcpKey; 5] = [AcpKey::Message, AcpKey::Data, AcpKey::Payload, AcpKey::Frame, AcpKey::Raw];

/// The message of a line, in its frame or bare: a request, an answer, or an update alone.
fn message_of(line: Object<'_>) -> Option<Object<'_>> {
    let is_message = |one: Object<'_>| {
        method_of(one).is_some()
            || update_of(one).is_some()
            || one.field(AcpKey::Result).or(one.field(AcpKey::Error)).is_some()
    };
    let framed = || FRAMES.into_iter().find_map(|key| object_of(line, key).filter(|one| is_message(*one)));
    if is_message(line) { Some(line) } else { framed() }
}

fn method_of(message: Object<'_>) -> Option<AcpMethod> {
    text_of(message, AcpKey::Method).and_then(AcpMethod::from_key)
}

fn update_of(message: Object<'_>) -> Option<Object<'_>> {
    let params = object_of(message, AcpKey::Params).unwrap_or(message);
    let update = object_of(params, AcpKey::Update).unwrap_or(params);
    update.field(AcpKey::Kind).map(|_| update)
}

fn is_own(line: Object<'_>) -> bool {
    let is_prompt = |message: Object<'_>| {
        method_of(message) == Some(AcpMethod::Prompt)
            && object_of(message, AcpKey::Params).is_some_and(|params| list_of(params, AcpKey::Prompt).is_some())
    };
    message_of(line).is_some_and(|message| update_of(message).is_some() || is_prompt(message))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let items = items_of::<AcpKey>(root, &[]);
    let is_prompted = object_items(items)
        .filter_map(|(_, line)| message_of(line))
        .any(|message| method_of(message) == Some(AcpMethod::Prompt));
    let mut session = AcpSession { conversation: ConversationBuilder::from_parts(builder), chunks: None, is_prompted };
    for node in items {
        session.conversation.builder.count_record();
        let line = node_object(*node);
        let Some((line, message)) = line.and_then(|line| Some((line, message_of(line)?))) else {
            session.conversation.builder.skip_value(node, "what is no message of the protocol is skipped");
            continue;
        };
        let time = value_of(line, AcpKey::Time).and_then(instant_node);
        session.read_message(*node, message, &StepMeta { time, ..StepMeta::default() });
    }
    session.end_chunks();
    session.conversation.finish_with_tools();
    Ok(())
}

struct AcpSession<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// What is being said: the speaker, the first chunk, all of them.
    chunks: Option<(Speaker, StepMeta<'run>, Vec<Node<'run>>)>,
    /// The words of the user stand in the prompts, which an agent may echo.
    is_prompted: bool,
}

impl<'run> AcpSession<'_, 'run, '_> {
    fn read_message(&mut self, node: Node<'run>, message: Object<'run>, about: &StepMeta<'run>) {
        let is_named = text_of(message, AcpKey::Method).is_some();
        if let Some(update) = update_of(message).filter(|_| !is_named || method_of(message) == Some(AcpMethod::Update))
        {
            let params = object_of(message, AcpKey::Params);
            let id = params.and_then(|params| params.field(AcpKey::Session)).filter(|id| node_text(*id).is_some());
            self.conversation.builder.set_some(of_run::ID, id);
            return self.read_update(node, update, about);
        }
        match method_of(message) {
            Some(AcpMethod::Prompt) => {
                self.end_chunks();
                let prompt = object_of(message, AcpKey::Params).and_then(|params| value_of(params, AcpKey::Prompt));
                prompt
                    .into_iter()
                    .for_each(|words| self.conversation.add_content(Speaker::User, words, about, node.origin));
            }
            Some(AcpMethod::Ask) => {
                let asked = object_of(message, AcpKey::Params).and_then(|params| value_of(params, AcpKey::Asked));
                if let Some((at, call)) = asked.and_then(|at| Some((at, node_object(at)?))) {
                    self.end_chunks();
                    self.add_call(at, call, about);
                }
            }
            Some(AcpMethod::Silent | AcpMethod::Update) => {}
            // Answers to requests; those of prompts say that a turn is over.
            None if !is_named => {}
            None => self.conversation.builder.skip_record(node.origin, "a message of an unknown method is skipped"),
        }
    }

    fn read_update(&mut self, node: Node<'run>, update: Object<'run>, about: &StepMeta<'run>) {
        let kind = text_of(update, AcpKey::Kind).and_then(AcpUpdate::from_key);
        let speaker = match kind {
            Some(AcpUpdate::User) => Some(Speaker::User),
            Some(AcpUpdate::Said) => Some(Speaker::Assistant),
            Some(AcpUpdate::Thought) => Some(Speaker::Thinking),
            _ => None,
        };
        if let Some(speaker) = speaker {
            if speaker != Speaker::User || !self.is_prompted {
                self.add_chunk(node, update, speaker, about);
            }
            return;
        }
        if kind != Some(AcpUpdate::Silent) {
            self.end_chunks();
        }
        match kind {
            Some(AcpUpdate::Call) => self.add_call(node, update, about),
            Some(AcpUpdate::Changed) => {
                let id = text_of(update, AcpKey::Call);
                let known = id.and_then(|id| self.conversation.find_call(id));
                match known {
                    Some(call) => self.change_call(call, update, about),
                    None => self.add_call(node, update, about),
                }
            }
            Some(AcpUpdate::Done) => {
                if let Some(counts) = object_of(update, AcpKey::Usage) {
                    let mut usage = TokenUsage::default();
                    usage.add_usage(counts);
                    self.conversation.usage.merge_usage(&usage);
                }
            }
            Some(_) => {}
            None => self.conversation.builder.skip_record(node.origin, "an update of unknown kind is skipped"),
        }
    }

    fn add_chunk(&mut self, node: Node<'run>, update: Object<'run>, speaker: Speaker, about: &StepMeta<'run>) {
        if self.chunks.as_ref().is_some_and(|(known, ..)| *known != speaker) {
            self.end_chunks();
        }
        let content = value_of(update, AcpKey::Content);
        match content.and_then(node_object).map(blocks::classify_block) {
            Some(ContentBlock::Says(words)) => {
                self.chunks.get_or_insert_with(|| (speaker, *about, Vec::new())).2.push(words);
            }
            Some(ContentBlock::Silent) => {}
            _ => self.conversation.builder.skip_record(node.origin, blocks::UNKNOWN),
        }
    }

    fn end_chunks(&mut self) {
        let Some((speaker, about, words)) = self.chunks.take() else { return };
        if let Some(words) = content::concat_pieces(&words, self.conversation.builder.arena) {
            self.conversation.add_message(speaker, words, &about, words.origin);
        }
    }

    /// A call is told again with each change; its first telling may lack the arguments.
    fn add_call(&mut self, node: Node<'run>, update: Object<'run>, about: &StepMeta<'run>) {
        let id = value_of(update, AcpKey::Call).filter(|id| node_text(*id).is_some());
        if let Some(call) = id.and_then(node_text).and_then(|id| self.conversation.find_call(id)) {
            return self.change_call(call, update, about);
        }
        let name = tool_name(update);
        if name.is_none() {
            self.conversation
                .builder
                .note_unknown(node.origin, "a call has a title and no name of its tool: it may be any tool");
        }
        let tool = name.or_else(|| value_of(update, AcpKey::Title)).unwrap_or(Node::computed(Value::Null));
        let made = ToolCall { tool, args: value_of(update, AcpKey::Input), id, origin: node.origin };
        if let Some(call) = self.conversation.add_call(made, about) {
            self.conversation.builder.add_field(call, of_step::STATUS, super::run_builder::absent_node());
            self.change_call(call, update, about);
        }
    }

    fn change_call(&mut self, call: StepId, update: Object<'run>, about: &StepMeta<'run>) {
        if let Some(args) = value_of(update, AcpKey::Input).filter(|args| is_filled(*args)) {
            self.conversation.builder.set_field(call, of_step::ARGS, args);
        }
        if let Some(name) = tool_name(update) {
            self.conversation.builder.set_field(call, of_step::TOOL, name);
        }
        let status = match text_of(update, AcpKey::Status).and_then(AcpStatus::from_key) {
            Some(AcpStatus::Done) => StepStatus::Ok,
            Some(AcpStatus::Failed) => StepStatus::Failed,
            Some(AcpStatus::Open) | None => return,
        };
        let shown = list_of(update, AcpKey::Content).unwrap_or_default();
        let inner = |node: &Node<'run>| node_object(*node).and_then(|part| value_of(part, AcpKey::Content));
        let words: Vec<Node<'run>> = shown.iter().filter_map(inner).collect();
        let words = content::content_text(self.conversation.builder.list_node(&words), self.conversation.builder.arena);
        let result = words.or_else(|| value_of(update, AcpKey::Output));
        self.conversation.end_call(call, CallResult { result, status: Some(status), ..CallResult::default() }, about);
    }
}

fn is_filled(args: Node<'_>) -> bool {
    node_object(args).is_none_or(|args| !args.entries().is_empty())
        && node_list(args).is_none_or(|args| !args.is_empty())
}

/// Agents name the tool in an extension, each under a key of its own.
fn tool_name<'run>(update: Object<'run>) -> Option<Node<'run>> {
    let named = |holder: Object<'run>| value_of(holder, AcpKey::Name).filter(|name| node_text(*name).is_some());
    let meta = object_of(update, AcpKey::Meta);
    let inside = || meta?.entries().iter().find_map(|entry| named(node_object(entry.node)?));
    meta.and_then(named).or_else(inside).or_else(|| named(update))
}
