//! AG-UI: the events of a run, as an agent sends them to the program in front of it. Parts of messages and of arguments are put together.
//! A result does not say whether its call went well.

mod passed_on;

use self::passed_on::PassedParts;
use super::calls::{TokenUsage, tool_list};
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall, instant_node};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::{ChatMessageKey, MessageRole, ToolCallKey};
use super::nodes::{items_of, list_of, node_object, node_text, object_items, object_of, objects_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, StepId};

use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::StepStatus;
use rustc_hash::{FxHashMap, FxHashSet};

key_table! {
    AguiKey {
        Type = "type",
        Time = "timestamp",
        Run = "runId" | "run_id",
        Message = "messageId" | "message_id",
        Call = "toolCallId" | "tool_call_id",
        Tool = "toolCallName" | "tool_call_name",
        Role = "role",
        Delta = "delta",
        Content = "content",
        /// Why a call failed, beside what it gave.
        Error = "error",
        Messages = "messages",
        Why = "message",
        Result = "result",
        Input = "input",
        Calls = "toolCalls" | "tool_calls",
        /// What a run took, for each model.
        Usage = "usage",
        Thread = "threadId" | "thread_id",
        Tools = "tools",
        Given = "forwardedProps" | "forwarded_props" | "context" | "state",
        Id = "id",
    }
}

key_table! {
    AguiType {
        Begin = "RUN_STARTED",
        End = "RUN_FINISHED",
        Failed = "RUN_ERROR",
        Said = "TEXT_MESSAGE_START" | "TEXT_MESSAGE_CONTENT" | "TEXT_MESSAGE_CHUNK",
        Thought = "REASONING_MESSAGE_START" | "REASONING_MESSAGE_CONTENT" | "REASONING_MESSAGE_CHUNK"
            | "THINKING_TEXT_MESSAGE_START" | "THINKING_TEXT_MESSAGE_CONTENT",
        Call = "TOOL_CALL_START" | "TOOL_CALL_ARGS" | "TOOL_CALL_CHUNK",
        CallEnd = "TOOL_CALL_END",
        Result = "TOOL_CALL_RESULT",
        Snapshot = "MESSAGES_SNAPSHOT",
        /// What the program passes on as it likes.
        Custom = "CUSTOM",
        Raw = "RAW",
        /// Ends of what is put together, names of stages, and the state of the program in front.
        Silent = "TEXT_MESSAGE_END" | "REASONING_START" | "REASONING_MESSAGE_END" | "REASONING_END"
            | "REASONING_ENCRYPTED_VALUE" | "THINKING_START" | "THINKING_END" | "THINKING_TEXT_MESSAGE_END" | "STEP_STARTED"
            | "STEP_FINISHED" | "STATE_SNAPSHOT" | "STATE_DELTA" | "ACTIVITY_SNAPSHOT" | "ACTIVITY_DELTA",
    }
}

key_table! {
    AguiRole {
        /// What the program in front shows of the agent's work, as the events of activities do: no model reads it.
        Activity = "activity",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "AG-UI events",
    known_by: "events whose `type` is one of AG-UI's (`RUN_STARTED`, `TOOL_CALL_START`, …), or `threadId`, `runId` and `messages` that a run is given",
    description: "events of the Agent User Interaction Protocol (a list, or one a line), and what a run is given",
    marks: AguiKey::Thread.keys(),
    near: AguiKey::Tool.keys(),
    object: is_input,
    item_marks: &[AguiKey::Type.key()],
    element: is_event,
    line: is_event,
    record_ids: RecordIds::of_run(&[&[AguiKey::Run.key()]]),
    read: read_run,
    ..IN_FULL
};

fn event_kind(event: Object<'_>) -> Option<AguiType> {
    text_of(event, AguiKey::Type).and_then(AguiType::from_key)
}

/// What was said before a run, which nothing tells before its first snapshot: the messages in front of those that its events tell.
fn messages_before<'run>(events: &'run [Node<'run>]) -> &'run [Node<'run>] {
    let of_run = object_items(events).filter_map(|(_, event)| Some((event, event_kind(event)?)));
    let mut told = FxHashSet::default();
    for (event, kind) in of_run.take_while(|(_, kind)| *kind != AguiType::Begin) {
        if kind != AguiType::Snapshot {
            told.extend([AguiKey::Message, AguiKey::Call].into_iter().filter_map(|id| text_of(event, id)));
            continue;
        }
        let messages = list_of(event, AguiKey::Messages).unwrap_or_default();
        let is_known = |message: Object<'run>, id| text_of(message, id).is_some_and(|id| told.contains(id));
        let is_told = |message: Object<'run>| {
            let calls = list_of(message, AguiKey::Calls).unwrap_or_default();
            is_known(message, AguiKey::Id) || objects_of(calls).any(|call| is_known(call, AguiKey::Id))
        };
        let first = messages.iter().position(|message| node_object(*message).is_some_and(is_told));
        return messages.get(..first.unwrap_or_default()).unwrap_or_default();
    }
    &[]
}

fn is_event(event: Object<'_>) -> bool {
    let kind = event_kind(event);
    let has = |field| value_of(event, field).is_some();
    match kind {
        Some(AguiType::Begin | AguiType::End) => has(AguiKey::Run),
        Some(AguiType::Call | AguiType::CallEnd | AguiType::Result) => has(AguiKey::Call),
        Some(AguiType::Said) => has(AguiKey::Message) || has(AguiKey::Delta),
        Some(AguiType::Snapshot) => list_of(event, AguiKey::Messages).is_some(),
        _ => false,
    }
}

/// What a run is given: the conversation so far.
fn is_input(input: Object<'_>) -> bool {
    let has = |field| value_of(input, field).is_some();
    let is_message = |message: Object<'_>| text_of(message, AguiKey::Role).is_some();
    has(AguiKey::Thread)
        && has(AguiKey::Run)
        && (has(AguiKey::Given) || has(AguiKey::Tools))
        && list_of(input, AguiKey::Messages).is_some_and(|messages| objects_of(messages).any(is_message))
}

/// A message or a call that grows.
struct GrowingPart<'run> {
    node: Node<'run>,
    id: Option<&'run str>,
    speaker: Speaker,
    call: Option<StepId>,
    words: String,
}

struct AguiRun<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    open: Option<GrowingPart<'run>>,
    /// The arguments of calls, which may grow side by side.
    calls: FxHashMap<&'run str, GrowingPart<'run>>,
    /// The call that the last event told of: a chunk without an id goes on with it.
    last_call: Option<Node<'run>>,
    /// The run whose events are read.
    id: Option<&'run str>,
    /// Messages that were told already: a snapshot repeats them.
    told: FxHashSet<&'run str>,
    passed: PassedParts<'run>,
    is_over: bool,
    /// Ends of runs, and how many of them tell what the run took.
    ends: (usize, usize),
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut run = AguiRun {
        conversation: ConversationBuilder::new(builder),
        open: None,
        calls: FxHashMap::default(),
        last_call: None,
        id: None,
        told: FxHashSet::default(),
        passed: PassedParts::default(),
        is_over: false,
        ends: (0, 0),
    };
    let events = items_of::<AguiKey>(root, &[]);
    for (place, node) in events.iter().enumerate() {
        run.conversation.builder.count_record();
        let event = node_object(*node);
        match (event, event.and_then(event_kind)) {
            (Some(event), Some(kind)) => {
                run.read_event(*node, kind, event);
                if kind == AguiType::Begin {
                    run.add_messages(messages_before(events.get(place + 1..).unwrap_or_default()));
                }
            }
            (Some(input), None) if is_input(input) => run.read_input(input),
            _ => run.conversation.builder.skip_value(node, "an event of unknown type is skipped"),
        }
    }
    run.finish_run();
    Ok(())
}

impl<'run> AguiRun<'_, 'run, '_> {
    fn read_event(&mut self, node: Node<'run>, kind: AguiType, event: Object<'run>) {
        let time = value_of(event, AguiKey::Time).and_then(instant_node);
        self.conversation.note_time(time);
        let meta = StepMeta { time, ..StepMeta::default() };
        self.last_call = self.last_call.filter(|_| kind == AguiType::Call);
        match kind {
            AguiType::Begin => {
                self.is_over = false;
                self.begin_run(text_of(event, AguiKey::Run));
                self.conversation
                    .builder
                    .set_some(of_run::ID, value_of(event, AguiKey::Run).filter(|id| node_text(*id).is_some()));
                let input = object_of(event, AguiKey::Input);
                self.add_messages(input.and_then(|input| list_of(input, AguiKey::Messages)).unwrap_or_default());
            }
            AguiType::End => {
                self.is_over = true;
                self.count_usage(event);
                if let Some(result) = value_of(event, AguiKey::Result).filter(|result| node_text(*result).is_some()) {
                    self.conversation.builder.set_entry(of_run::OUTPUT, result);
                }
            }
            AguiType::Failed => {
                self.is_over = true;
                self.conversation.builder.set_some(of_run::ERROR, value_of(event, AguiKey::Why));
            }
            AguiType::Said | AguiType::Thought => self.grow_message(node, kind, event),
            AguiType::Call => self.grow_call(node, event, &meta),
            AguiType::Result => self.add_result(node, event, &meta),
            AguiType::Snapshot => {
                self.close_message();
                self.add_messages(list_of(event, AguiKey::Messages).unwrap_or_default());
            }
            AguiType::CallEnd | AguiType::Silent => self.close_message(),
            AguiType::Custom | AguiType::Raw => {
                let is_known = match kind {
                    AguiType::Custom => self.passed.note_custom(node, event),
                    _ => self.passed.note_raw(node, event),
                };
                if !is_known {
                    let message = "what the program passes on under a name of its own is skipped: it may be a call";
                    self.conversation.builder.skip_record(node.origin, message);
                }
            }
        }
    }

    /// Another run may give its calls the ids that calls of an earlier one had. A call without a result waits for it there.
    fn begin_run(&mut self, id: Option<&'run str>) {
        if self.id != id {
            self.id = id;
            let builder = &*self.conversation.builder;
            let is_answered = |part: &GrowingPart<'run>| {
                part.call.is_some_and(|call| builder.step_field(call, of_step::RESULT).is_some())
            };
            let answered: Vec<_> = self.calls.extract_if(|_, part| is_answered(part)).collect();
            answered.into_iter().for_each(|(_, part)| self.end_call(part));
        }
    }

    fn end_call(&mut self, part: GrowingPart<'run>) {
        let Some(step) = part.call else { return };
        let builder = &mut *self.conversation.builder;
        let words = Node::new(Value::plain_text(builder.arena.alloc_str(&part.words)), part.node.origin);
        let args = super::calls::parse_arguments(builder, words);
        builder.set_field(step, of_step::ARGS, args);
    }

    fn read_input(&mut self, input: Object<'run>) {
        self.is_over = true;
        self.conversation
            .builder
            .set_some(of_run::ID, value_of(input, AguiKey::Run).filter(|id| node_text(*id).is_some()));
        if let Some(tools) = list_of(input, AguiKey::Tools) {
            let tools = tool_list(self.conversation.builder, tools);
            self.conversation.builder.set_entry(of_run::TOOLS, tools);
        }
        self.add_messages(list_of(input, AguiKey::Messages).unwrap_or_default());
    }

    fn count_usage(&mut self, end: Object<'run>) {
        let counts = list_of(end, AguiKey::Usage);
        self.ends = (self.ends.0 + 1, self.ends.1 + usize::from(counts.is_some()));
        for counts in objects_of(counts.unwrap_or_default()) {
            let mut usage = TokenUsage::default();
            usage.add_usage(counts);
            self.conversation.add_usage(&usage, None);
        }
    }

    fn grow_message(&mut self, node: Node<'run>, kind: AguiType, event: Object<'run>) {
        let id = value_of(event, AguiKey::Message).and_then(node_text);
        if self.open.as_ref().is_none_or(|open| id.is_some() && open.id != id) {
            self.close_message();
            let role = self.conversation.builder.role_of(node, text_of(event, AguiKey::Role));
            let speaker = match kind {
                AguiType::Thought => Speaker::Thinking,
                // A role is only said where it is not the agent's.
                _ => role.map_or(Speaker::Assistant, |role| Speaker::from_role(Some(role))),
            };
            self.open = Some(GrowingPart { node, id, speaker, call: None, words: String::new() });
        }
        if let Some(open) = &mut self.open {
            open.words.push_str(text_of(event, AguiKey::Delta).unwrap_or_default());
        }
    }

    fn close_message(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.told.extend(open.id);
        let words = self.conversation.builder.arena.alloc_str(&open.words);
        let words = Node::new(Value::plain_text(words), open.node.origin);
        self.conversation.add_message(open.speaker, words, &StepMeta::default(), open.node.origin);
    }

    fn grow_call(&mut self, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) {
        self.close_message();
        self.last_call = value_of(event, AguiKey::Call).or(self.last_call);
        let Some(id_node) = self.last_call else {
            return self.conversation.builder.skip_record(node.origin, "a call without its id is skipped");
        };
        let Some(id) = node_text(id_node) else { return };
        if let Some(tool) = value_of(event, AguiKey::Tool).filter(|_| !self.calls.contains_key(id)) {
            let made = ToolCall { tool, args: None, id: Some(id_node), origin: node.origin };
            let call = self.conversation.add_call(made, meta);
            let part = GrowingPart { node, id: Some(id), speaker: Speaker::Assistant, call, words: String::new() };
            self.calls.insert(id, part);
        }
        match self.calls.get_mut(id) {
            Some(call) => call.words.push_str(text_of(event, AguiKey::Delta).unwrap_or_default()),
            None => self
                .conversation
                .builder
                .skip_record(node.origin, "arguments of a call whose start is missing are skipped"),
        }
    }

    fn add_result(&mut self, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) {
        self.close_message();
        self.told.extend(value_of(event, AguiKey::Message).and_then(node_text));
        let outcome = CallResult { result: value_of(event, AguiKey::Content), ..CallResult::default() };
        let id = value_of(event, AguiKey::Call).and_then(node_text);
        self.conversation.add_result(id, None, outcome, meta, node.origin);
    }

    /// Messages as they stand in a snapshot, and in what a run is given.
    fn add_messages(&mut self, messages: &'run [Node<'run>]) {
        for (node, message) in self.conversation.builder.record_objects(messages) {
            let word = text_of(message, AguiKey::Role);
            if word.and_then(AguiRole::from_key) == Some(AguiRole::Activity) {
                continue;
            }
            if word.is_none() {
                self.conversation.builder.note_unknown(node.origin, super::unknown::UNKNOWN_ROLE);
            }
            let is_told = text_of(message, AguiKey::Id).is_some_and(|id| !self.told.insert(id));
            let meta = StepMeta::default();
            let role = self.conversation.builder.role_of(node, word);
            let content = value_of(message, AguiKey::Content);
            if role == Some(MessageRole::Result) && !is_told {
                let id = value_of(message, AguiKey::Call).and_then(node_text);
                let has_result = id
                    .and_then(|id| self.conversation.find_call(id))
                    .is_some_and(|call| self.conversation.builder.step_field(call, of_step::RESULT).is_some());
                if !has_result {
                    let error = value_of(message, AguiKey::Error);
                    let status = error.map(|_| StepStatus::Failed);
                    let outcome = CallResult { result: content, error, status, ..CallResult::default() };
                    self.conversation.add_result(
                        id,
                        text_of(message, ChatMessageKey::Tool),
                        outcome,
                        &meta,
                        node.origin,
                    );
                }
                continue;
            }
            if let Some(content) = content.filter(|_| !is_told) {
                self.conversation.add_content(Speaker::from_role(role), content, &meta, node.origin);
            }
            // The events of a message may tell its words alone.
            let calls = value_of(message, AguiKey::Calls).and_then(super::nodes::node_list).unwrap_or_default();
            for (at, call) in self.conversation.builder.record_objects(calls) {
                let id = call.field(ToolCallKey::Id);
                if id.and_then(node_text).map_or(is_told, |id| self.conversation.find_call(id).is_some()) {
                    continue;
                }
                let function = object_of(call, ToolCallKey::Function).unwrap_or(call);
                let tool = function.field(ToolCallKey::Name).unwrap_or(Node::computed(Value::Null));
                let args = function.field(ToolCallKey::Arguments);
                self.conversation.add_call(ToolCall { tool, args, id, origin: at.origin }, &meta);
            }
        }
    }

    fn finish_run(mut self) {
        self.close_message();
        // A run that does not tell it may have taken as much.
        if self.ends.0 != self.ends.1 {
            self.conversation.usage = TokenUsage::default();
        }
        std::mem::take(&mut self.calls).into_values().for_each(|part| self.end_call(part));
        self.passed.check_told(&self.told, &self.conversation);
        let builder = self.conversation.finish_run();
        if !self.is_over {
            builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
        }
    }
}
