//! Letta (MemGPT): messages of its API as they are answered, listed and streamed in steps.

use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_object, node_text, object_items, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, StepId};
use crate::time;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::FxHashSet;

key_table! {
    LettaKey {
        Messages = "messages",
        Usage = "usage",
        Type = "message_type",
        Id = "id",
        /// One for each piece of a message.
        Part = "otid",
        Time = "date",
        Step = "step_id",
        Run = "run_id",
        Sender = "sender_id",
        /// The tool of a result, or who sent a message.
        Name = "name",
        Content = "content",
        Thought = "reasoning",
        Calls = "tool_calls",
        /// The first call, for older clients.
        Call = "tool_call",
        Results = "tool_returns",
        Result = "tool_return",
        Answers = "tool_call_id",
        Status = "status",
        Approvals = "approvals",
        Approved = "approve",
        Why = "reason",
        Arguments = "arguments",
        Tool = "type",
        Error = "message",
    }
}

key_table! {
    LettaMessageType {
        User = "user_message",
        System = "system_message",
        Assistant = "assistant_message",
        Thinking = "reasoning_message" | "internal_monologue",
        Call = "tool_call_message",
        Asks = "approval_request_message",
        Decides = "approval_response_message",
        Result = "tool_return_message",
        Usage = "usage_statistics",
        Error = "error_message",
        /// Thoughts that were taken out, signs of life, why a run ended, what became of the context: none of them acts.
        Silent = "hidden_reasoning_message" | "ping" | "stop_reason" | "summary_message" | "event_message",
    }
}

key_table! {
    LettaStatus {
        Ok = "success",
        Failed = "error",
    }
}

key_table! {
    /// What stands in a list of decisions, and of results: a tool of the client may have given something, too.
    LettaDecision {
        Approval = "approval",
        Result = "tool",
    }
}

/// The tool by which older agents speak: its call is told as a message, its result may be told, too.
const SPEAKS: &str = "send_message";
/// What ids of agents begin with.
const AGENT: &str = "agent-";

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Letta messages",
    known_by: "messages with a `message_type` such as `tool_call_message`",
    description: "messages of Letta's API (`message_type`; a list, one a line, `messages`)",
    marks: &[LettaKey::Messages.key(), LettaKey::Type.key()],
    near: &[LettaKey::Type.key()],
    object: |object| {
        is_message(object)
            || object_items(list_of(object, LettaKey::Messages).unwrap_or_default()).any(|(_, one)| is_message(one))
    },
    item_marks: &[LettaKey::Type.key()],
    element: is_message,
    line: is_message,
    record_ids: RecordIds::shared(&[&[LettaKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn kind_of(message: Object<'_>) -> Option<LettaMessageType> {
    LettaMessageType::from_key(text_of(message, LettaKey::Type)?)
}

fn is_message(message: Object<'_>) -> bool {
    kind_of(message).is_some()
}

fn time_of<'run>(message: Object<'run>) -> Option<Node<'run>> {
    value_of(message, LettaKey::Time).filter(|time| node_text(*time).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut messages: Vec<(Node<'run>, Object<'run>)> = Vec::new();
    for node in items_of(root, &[LettaKey::Messages]) {
        builder.count_record();
        match node_object(*node).filter(|message| is_message(*message)) {
            Some(message) => messages.push((*node, message)),
            None => builder.skip_value(node, "what is no message of a known type is skipped"),
        }
    }
    if falls(&messages) {
        messages.reverse();
    }
    let mut reader = LettaReader {
        conversation: ConversationBuilder::from_parts(builder),
        step: None,
        part: None,
        denied: FxHashSet::default(),
    };
    for (node, message) in messages {
        reader.add_message(node, message);
    }
    let mut conversation = reader.conversation;
    if let Some(usage) = node_object(*root).and_then(|answer| value_of(answer, LettaKey::Usage)).and_then(node_object) {
        count_usage(&mut conversation, usage);
    }
    conversation.finish_run();
    Ok(())
}

/// Lists of messages begin with the newest, if nobody asks for another order. Times are whole seconds, so a result in front of its call
/// says the same.
fn falls(messages: &[(Node<'_>, Object<'_>)]) -> bool {
    let at = |message: &(Node<'_>, Object<'_>)| time_of(message.1).and_then(|time| time::to_milliseconds(&time.value));
    let mut times = messages.iter().filter_map(at);
    let (first, last) = (times.next(), times.next_back());
    if first != last {
        return first > last && last.is_some();
    }
    let place = |kind| messages.iter().position(|(_, message)| kind_of(*message) == Some(kind));
    place(LettaMessageType::Result).zip(place(LettaMessageType::Call)).is_some_and(|(result, call)| result < call)
}

fn count_usage<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, counts: Object<'run>) {
    let mut usage = TokenUsage::default();
    usage.add_usage(counts);
    conversation.add_usage(&usage, None);
}

struct LettaReader<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    step: Option<&'run str>,
    /// Type, id and piece of the message before this one.
    part: Option<([Option<&'run str>; 2], Option<&'run str>)>,
    /// Calls that a person did not let through.
    denied: FxHashSet<&'run str>,
}

impl<'run> LettaReader<'_, 'run, '_> {
    fn add_message(&mut self, node: Node<'run>, message: Object<'run>) {
        let Some(kind) = kind_of(message) else { return };
        let piece = text_of(message, LettaKey::Part);
        let part = [LettaKey::Type, LettaKey::Id].map(|key| text_of(message, key));
        if piece.is_some() && self.part == Some((part, piece)) {
            return self
                .conversation
                .builder
                .skip_record(node.origin, "a message that was streamed in pieces is not put together");
        }
        self.part = Some((part, piece));
        let meta = StepMeta { time: time_of(message), ..StepMeta::default() };
        if !self.conversation.builder.has_entry(of_run::ID) {
            self.conversation.builder.set_some(of_run::ID, value_of(message, LettaKey::Run));
        }
        let step = text_of(message, LettaKey::Step);
        let of_agent = !matches!(kind, LettaMessageType::User | LettaMessageType::System | LettaMessageType::Decides);
        if of_agent && step.is_some() && kind != LettaMessageType::Result && self.step != step {
            self.step = step;
            self.conversation.begin_turn();
        }
        let content = value_of(message, LettaKey::Content);
        match kind {
            LettaMessageType::User => self.add_words(user_of(message), content, &meta, node),
            LettaMessageType::System => self.add_words(Speaker::System, content, &meta, node),
            LettaMessageType::Assistant => self.add_words(Speaker::Assistant, content, &meta, node),
            LettaMessageType::Thinking => {
                let thought = value_of(message, LettaKey::Thought).or(content);
                thought
                    .into_iter()
                    .for_each(|it| self.conversation.add_message(Speaker::Thinking, it, &meta, node.origin));
            }
            LettaMessageType::Call => self.add_calls(node, message, None, &meta),
            LettaMessageType::Asks => self.add_calls(node, message, Some(StepStatus::Pending), &meta),
            LettaMessageType::Decides => self.add_decisions(node, message, &meta),
            LettaMessageType::Result => self.add_results(node, message, &meta),
            LettaMessageType::Usage => count_usage(&mut self.conversation, message),
            LettaMessageType::Error => {
                self.conversation.builder.set_some(of_run::ERROR, value_of(message, LettaKey::Error));
            }
            LettaMessageType::Silent => {}
        }
    }

    fn add_words(&mut self, speaker: Speaker, words: Option<Node<'run>>, meta: &StepMeta<'run>, node: Node<'run>) {
        if let Some(words) = words {
            self.conversation.add_content(speaker, words, meta, node.origin);
        }
    }

    fn add_calls(
        &mut self,
        node: Node<'run>,
        message: Object<'run>,
        status: Option<StepStatus>,
        meta: &StepMeta<'run>,
    ) {
        let listed = value_of(message, LettaKey::Calls).filter(|calls| !is_empty(*calls));
        let calls = match listed.or_else(|| value_of(message, LettaKey::Call)) {
            Some(Node { value: Value::List(calls), .. }) => calls.to_vec(),
            Some(call) => vec![call],
            None => {
                return self
                    .conversation
                    .builder
                    .skip_record(node.origin, "a message of a call without one is skipped");
            }
        };
        for at in calls {
            let Some(call) = node_object(at) else {
                self.conversation.builder.skip_value(at, "a call that is no object is skipped");
                continue;
            };
            let made = ToolCall {
                tool: call.field(LettaKey::Name).unwrap_or(Node::computed(Value::Null)),
                args: value_of(call, LettaKey::Arguments),
                id: call.field(LettaKey::Answers),
                origin: at.origin,
            };
            let known = text_of(call, LettaKey::Answers).is_some_and(|id| self.conversation.find_call(id).is_some());
            let step = if known { None } else { self.conversation.add_call(made, meta) };
            if let (Some(step), Some(status)) = (step, status) {
                self.conversation.set_status(step, status);
            }
        }
    }

    fn add_results(&mut self, node: Node<'run>, message: Object<'run>, meta: &StepMeta<'run>) {
        let listed = list_of(message, LettaKey::Results).unwrap_or_default();
        let of_speech = text_of(message, LettaKey::Name) == Some(SPEAKS);
        let listed: Vec<_> = self.conversation.builder.record_objects(listed).collect();
        let all = if listed.is_empty() { vec![(node, message)] } else { listed };
        for (at, answer) in all {
            match text_of(answer, LettaKey::Tool).map(LettaDecision::from_key) {
                None | Some(Some(LettaDecision::Result)) => self.add_result(at, answer, of_speech, meta),
                Some(_) => self.conversation.builder.skip_record(at.origin, "what is no result of a tool is skipped"),
            }
        }
    }

    fn add_result(&mut self, node: Node<'run>, answer: Object<'run>, of_speech: bool, meta: &StepMeta<'run>) {
        let id = text_of(answer, LettaKey::Answers);
        if of_speech && id.is_none_or(|id| self.conversation.find_call(id).is_none()) {
            return;
        }
        let given = value_of(answer, LettaKey::Result);
        let result = given.map(|given| content::content_text(given, self.conversation.builder.arena).unwrap_or(given));
        let status = match text_of(answer, LettaKey::Status).and_then(LettaStatus::from_key) {
            _ if id.is_some_and(|id| self.denied.contains(id)) => Some(StepStatus::Denied),
            Some(LettaStatus::Ok) => Some(StepStatus::Ok),
            Some(LettaStatus::Failed) => Some(StepStatus::Failed),
            None => None,
        };
        let outcome = CallResult { result, status, ..CallResult::default() };
        self.conversation.add_result(id, None, outcome, meta, node.origin);
    }

    /// What a person decided, and what tools of the client gave. Older messages decide about all that waits.
    fn add_decisions(&mut self, node: Node<'run>, message: Object<'run>, meta: &StepMeta<'run>) {
        let approvals = list_of(message, LettaKey::Approvals).unwrap_or_default();
        for (at, decision) in self.conversation.builder.record_objects(approvals) {
            let call = text_of(decision, LettaKey::Answers).and_then(|id| Some((id, self.conversation.find_call(id)?)));
            match (text_of(decision, LettaKey::Tool).map(LettaDecision::from_key), call) {
                (Some(Some(LettaDecision::Result)), _) => self.add_result(at, decision, false, meta),
                (None | Some(Some(LettaDecision::Approval)), Some((id, call))) => self.decide(call, Some(id), decision),
                _ => self.conversation.builder.skip_record(at.origin, "a decision about no known call is skipped"),
            }
        }
        if approvals.is_empty() && value_of(message, LettaKey::Approved).is_some() {
            for call in self.conversation.builder.steps_of_kind(StepKind::Call) {
                let word = |key| self.conversation.builder.step_field(call, key).and_then(node_text);
                if word(of_step::STATUS) == StepStatus::Pending.as_str() {
                    let id = word(of_step::ID);
                    self.decide(call, id, message);
                }
            }
        } else if approvals.is_empty() {
            self.conversation.builder.skip_record(node.origin, "a decision without its answer is skipped");
        }
    }

    fn decide(&mut self, call: StepId, id: Option<&'run str>, decision: Object<'run>) {
        let approved = matches!(value_of(decision, LettaKey::Approved), Some(Node { value: Value::Boolean(true), .. }));
        if approved {
            return self.conversation.set_status(call, StepStatus::Unknown);
        }
        self.denied.extend(id);
        let error = value_of(decision, LettaKey::Why);
        let outcome = CallResult { error, status: Some(StepStatus::Denied), ..CallResult::default() };
        self.conversation.end_call(call, outcome, &StepMeta::default());
    }
}

fn is_empty(calls: Node<'_>) -> bool {
    matches!(calls.value, Value::List([]))
}

/// Other agents and the program write into the user's messages, too: events of the program are JSON with a type.
fn user_of(message: Object<'_>) -> Speaker {
    let is_event = value_of(message, LettaKey::Content).and_then(node_text).is_some_and(is_event_text);
    let of_agent = text_of(message, LettaKey::Sender).is_some_and(|sender| sender.starts_with(AGENT));
    if is_event || of_agent { Speaker::System } else { Speaker::User }
}

pub(super) fn is_event_text(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("{\"type\"") || text.starts_with("{ \"type\"")
}
