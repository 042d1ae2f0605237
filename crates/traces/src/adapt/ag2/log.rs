//! The log of AG2 from version 1 on: events by the names of their classes. A call stands in the answer of the model, in a list and for
//! itself: by its id it is one.

use super::super::block_session;
use crate::adapt::blocks::BlockCall;
use crate::adapt::calls::TokenUsage;
use crate::adapt::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, instant_node};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{list_of, node_object, object_of, text_of};
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::{Node, Object};
use averment_runs::normal::of_meta;
use averment_runs::run::StepStatus;

key_table! {
    LogKey {
        Type = "type" | "__event__",
        Data = "data",
        Time = "created_at",
        Parts = "parts",
        Content = "content",
        Message = "message",
        Calls = "tool_calls",
        Listed = "calls",
        Results = "results",
        Id = "id",
        Name = "name",
        Args = "arguments",
        Answers = "parent_id",
        Result = "result",
        Error = "error",
        Usage = "usage",
        Model = "model",
    }
}

key_table! {
    LogEvent {
        Asked = "ModelRequest" | "DrainedModelRequest",
        Person = "HumanMessage",
        Answered = "ModelResponse",
        Thought = "ModelReasoning",
        Calls = "ToolCallsEvent",
        Call = "ToolCallEvent" | "ClientToolCallEvent" | "BuiltinToolCallEvent",
        Results = "ToolResultsEvent",
        Result = "ToolResultEvent" | "BuiltinToolResultEvent",
        Failed = "ToolErrorEvent" | "ToolNotFoundEvent",
        Usage = "UsageEvent",
        /// Pieces of an answer that comes whole, questions to a person, what watches a run, and what shortens its history.
        Silent = "ModelMessage" | "ModelMessageChunk" | "MessageEnqueued" | "HumanInputRequest" | "ToolApprovalRequest"
            | "ObserverStarted" | "ObserverCompleted" | "ObserverAlert" | "HaltEvent" | "CompactionStarted"
            | "CompactionCompleted" | "CompactionFailed" | "AggregationStarted" | "AggregationCompleted" | "AggregationFailed",
    }
}

key_table! {
    LogInput {
        Said = "TextInput" | "DataInput",
        /// Files and addresses.
        Silent = "BinaryInput" | "FileIdInput" | "UrlInput",
    }
}

/// How the names of its classes begin.
const PREFIX: &str = "ag2.events.";

pub(super) fn is_line(line: Object<'_>) -> bool {
    text_of(line, LogKey::Type).is_some_and(|name| name.starts_with(PREFIX)) && object_of(line, LogKey::Data).is_some()
}

fn class_of(event: Object<'_>) -> Option<&str> {
    text_of(event, LogKey::Type)?.rsplit('.').next()
}

pub(super) fn read_log<'run>(
    lines: &'run [Node<'run>],
    builder: &mut RunBuilder<'run, '_>,
) -> Result<(), crate::error::PlacedError> {
    let mut log =
        Log { conversation: ConversationBuilder::from_parts(builder), has_usage: false, usage: TokenUsage::default() };
    for (node, line) in log.conversation.builder.record_objects(lines) {
        log.conversation.builder.count_record();
        match object_of(line, LogKey::Data).filter(|_| is_line(line)) {
            Some(data) => log.add_event(node, class_of(line), data),
            None => log.conversation.builder.skip_record(node.origin, "a line that is no event is skipped"),
        }
    }
    let Log { mut conversation, has_usage, usage } = log;
    if !has_usage {
        conversation.add_usage(&usage, None);
    }
    conversation.finish_run();
    Ok(())
}

struct Log<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// Events of their own tell what was used; else the answers do.
    has_usage: bool,
    usage: TokenUsage,
}

impl<'run> Log<'_, 'run, '_> {
    fn add_event(&mut self, node: Node<'run>, class: Option<&str>, event: Object<'run>) {
        let meta = StepMeta { time: value_of(event, LogKey::Time).and_then(instant_node), ..StepMeta::default() };
        let content = value_of(event, LogKey::Content);
        match class.and_then(LogEvent::from_key) {
            Some(LogEvent::Asked) => self.add_parts(event, &meta),
            Some(LogEvent::Person) => {
                content
                    .into_iter()
                    .for_each(|words| self.conversation.add_content(Speaker::User, words, &meta, node.origin));
            }
            Some(LogEvent::Thought) => {
                content
                    .into_iter()
                    .for_each(|words| self.conversation.add_message(Speaker::Thinking, words, &meta, node.origin));
            }
            Some(LogEvent::Answered) => self.add_answer(node, event, &meta),
            Some(LogEvent::Calls) => self.add_calls(event, &meta),
            Some(LogEvent::Call) => self.add_call(node, event, &meta),
            Some(LogEvent::Results) => {
                for (at, given) in
                    self.conversation.builder.record_objects(list_of(event, LogKey::Results).unwrap_or_default())
                {
                    self.add_event(at, class_of(given), given);
                }
            }
            Some(LogEvent::Result) => self.add_result(node, event, StepStatus::Ok, &meta),
            Some(LogEvent::Failed) => self.add_result(node, event, StepStatus::Failed, &meta),
            Some(LogEvent::Usage) => {
                if let Some(usage) = usage_of(event) {
                    self.has_usage = true;
                    self.conversation.add_usage(&usage, value_of(event, LogKey::Model));
                }
            }
            Some(LogEvent::Silent) => {}
            None => self.conversation.builder.skip_record(
                node.origin,
                "an event of unknown class is skipped: it may be a call, or the work of an agent with a log of its own",
            ),
        }
    }

    fn add_parts(&mut self, event: Object<'run>, meta: &StepMeta<'run>) {
        for (at, part) in self.conversation.builder.record_objects(list_of(event, LogKey::Parts).unwrap_or_default()) {
            match class_of(part).and_then(LogInput::from_key) {
                Some(LogInput::Said) => {
                    let words = first_text(part);
                    words
                        .into_iter()
                        .for_each(|words| self.conversation.add_content(Speaker::User, words, meta, at.origin));
                }
                Some(LogInput::Silent) => {}
                None => self.conversation.builder.skip_record(at.origin, "a part of unknown class is skipped"),
            }
        }
    }

    fn add_answer(&mut self, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) {
        self.conversation.begin_turn();
        self.conversation.add_meta(of_meta::MODEL, value_of(event, LogKey::Model));
        let said = object_of(event, LogKey::Message).and_then(|message| value_of(message, LogKey::Content));
        said.into_iter().for_each(|words| self.conversation.add_content(Speaker::Assistant, words, meta, node.origin));
        if let Some(calls) = object_of(event, LogKey::Calls) {
            self.add_calls(calls, meta);
        }
        if let Some(usage) = usage_of(event) {
            self.usage.merge_usage(&usage);
        }
    }

    fn add_calls(&mut self, holder: Object<'run>, meta: &StepMeta<'run>) {
        for (at, call) in self.conversation.builder.record_objects(list_of(holder, LogKey::Listed).unwrap_or_default())
        {
            match class_of(call).and_then(LogEvent::from_key) {
                Some(LogEvent::Call) => self.add_call(at, call, meta),
                _ => self.conversation.builder.skip_record(at.origin, "a call of unknown class is skipped"),
            }
        }
    }

    fn add_call(&mut self, at: Node<'run>, call: Object<'run>, meta: &StepMeta<'run>) {
        let is_known = text_of(call, LogKey::Id).is_some_and(|id| self.conversation.find_call(id).is_some());
        if !is_known {
            let [tool, args, id] = [LogKey::Name, LogKey::Args, LogKey::Id].map(|key| value_of(call, key));
            block_session::add_call(&mut self.conversation, at, BlockCall { tool, args, id, answer: None }, meta);
        }
    }

    fn add_result(&mut self, at: Node<'run>, given: Object<'run>, status: StepStatus, meta: &StepMeta<'run>) {
        let id = text_of(given, LogKey::Answers);
        let call = id.and_then(|id| self.conversation.find_call(id));
        let is_known =
            |call| self.conversation.builder.step_field(call, averment_runs::normal::of_step::STATUS).is_some();
        if call.is_some_and(is_known) {
            return;
        }
        let held = object_of(given, LogKey::Result);
        let held = held.and_then(|held| object_of(held, LogKey::Data)).or(held);
        let parts = held.and_then(|held| list_of(held, LogKey::Parts)).unwrap_or_default();
        let mut texts = Vec::new();
        for (node, part) in self.conversation.builder.record_objects(parts) {
            match class_of(part).and_then(LogInput::from_key) {
                Some(LogInput::Said) => texts.extend(first_text(part)),
                Some(LogInput::Silent) => {}
                None => self.conversation.builder.skip_record(node.origin, "a part of unknown class is skipped"),
            }
        }
        let result = match &texts[..] {
            [] => None,
            [only] => Some(*only),
            several => Some(self.conversation.builder.list_node(several)),
        };
        let why = value_of(given, LogKey::Error);
        let error = why.map(|why| node_object(why).and_then(|why| value_of(why, LogKey::Message)).unwrap_or(why));
        let outcome = CallResult { result, status: Some(status), error, ..CallResult::default() };
        self.conversation.add_result(id, text_of(given, LogKey::Name), outcome, meta, at.origin);
    }
}

/// A text, or the data that a part holds.
fn first_text(part: Object<'_>) -> Option<Node<'_>> {
    value_of(part, LogKey::Content).or_else(|| value_of(part, LogKey::Data))
}

fn usage_of(event: Object<'_>) -> Option<TokenUsage> {
    let held = object_of(event, LogKey::Usage)?;
    let mut usage = TokenUsage::default();
    usage.add_usage(object_of(held, LogKey::Data).unwrap_or(held));
    Some(usage)
}
