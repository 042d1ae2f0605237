//! The events of LangChain and LangGraph as `astream_events` gives them, one a line. A tool that ran has events of its own; what a model
//! said stands where its request ends, and what was asked where the outermost run begins.

use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::langchain::{self, LangChainKey, LangChainSayer};
use super::messages::MessageRole;
use super::nodes::{items_of, list_of, node_list, node_object, node_text, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, StepId};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::{FxHashMap, FxHashSet};

key_table! {
    StreamEventKey {
        Event = "event",
        Name = "name",
        Run = "run_id",
        Parents = "parent_ids",
        Data = "data",
        Input = "input",
        Output = "output",
        Error = "error",
        Messages = "messages",
    }
}

key_table! {
    StreamEventType {
        Begins = "on_chain_start",
        Ends = "on_chain_end",
        Call = "on_tool_start",
        Result = "on_tool_end",
        Failed = "on_tool_error",
        Said = "on_chat_model_end",
        /// Pieces of what comes whole, requests that repeat the conversation, and steps that are no tools.
        Silent = "on_chain_stream" | "on_chat_model_start" | "on_chat_model_stream" | "on_llm_start" | "on_llm_stream"
            | "on_prompt_start" | "on_prompt_end" | "on_parser_start" | "on_parser_stream" | "on_parser_end"
            | "on_retriever_start" | "on_retriever_stream" | "on_retriever_end",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "LangChain events",
    known_by: "events named `on_tool_start`, `on_chat_model_end`, … with a `run_id` and `data`",
    description: "events of LangChain and LangGraph (`astream_events`: one a line, or a list)",
    marks: &[StreamEventKey::Event.key()],
    item_marks: &[StreamEventKey::Event.key()],
    element: is_event,
    line: is_event,
    beside: |event| text_of(event, StreamEventKey::Run).is_some() && object_of(event, StreamEventKey::Data).is_some(),
    record_ids: RecordIds::OWN_READER,
    read: read_run,
    ..IN_FULL
};

fn kind_of(event: Object<'_>) -> Option<StreamEventType> {
    text_of(event, StreamEventKey::Event).and_then(StreamEventType::from_key)
}

fn is_event(event: Object<'_>) -> bool {
    kind_of(event).is_some()
        && text_of(event, StreamEventKey::Run).is_some()
        && object_of(event, StreamEventKey::Data).is_some()
}

struct EventReader<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// The calls of tools, by their runs.
    calls: FxHashMap<&'run str, StepId>,
    /// Calls that models asked for, by tool, and where.
    asked: Vec<(&'run str, Node<'run>)>,
    /// Ends that were told: a file may hold a line twice.
    ended: FxHashSet<&'run str>,
    outermost: Option<&'run str>,
    is_over: bool,
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut reader = EventReader {
        conversation: ConversationBuilder::new(builder),
        calls: FxHashMap::default(),
        asked: Vec::new(),
        ended: FxHashSet::default(),
        outermost: None,
        is_over: false,
    };
    for node in items_of::<StreamEventKey>(root, &[]) {
        reader.conversation.builder.count_record();
        match node_object(*node).and_then(|event| Some((event, kind_of(event)?))) {
            Some((event, kind)) => reader.read_event(*node, event, kind),
            None => reader.conversation.builder.skip_value(node, "an event of unknown name is skipped"),
        }
    }
    reader.finish_run();
    Ok(())
}

impl<'run> EventReader<'_, 'run, '_> {
    fn read_event(&mut self, node: Node<'run>, event: Object<'run>, kind: StreamEventType) {
        let run = text_of(event, StreamEventKey::Run);
        let data = object_of(event, StreamEventKey::Data);
        let of = |key| data.and_then(|data| value_of(data, key));
        match kind {
            StreamEventType::Begins if self.outermost.is_none() => {
                let is_inside = list_of(event, StreamEventKey::Parents).is_some_and(|parents| !parents.is_empty());
                self.outermost = run.filter(|_| !is_inside);
                if self.outermost.is_some() {
                    self.conversation.builder.set_some(of_run::ID, value_of(event, StreamEventKey::Run));
                    self.add_input(of(StreamEventKey::Input));
                }
            }
            StreamEventType::Ends => self.is_over |= self.outermost.is_some() && run == self.outermost,
            StreamEventType::Call => {
                self.call_of(node, event, run, of(StreamEventKey::Input));
            }
            StreamEventType::Result | StreamEventType::Failed => {
                if let Some(call) = self.call_of(node, event, run, of(StreamEventKey::Input))
                    && run.is_none_or(|run| self.ended.insert(run))
                {
                    self.end_call(call, kind, of);
                }
            }
            StreamEventType::Said if run.is_none_or(|run| self.ended.insert(run)) => {
                match of(StreamEventKey::Output).and_then(|output| Some((output, langchain::said_message(output)?))) {
                    Some((output, message)) => {
                        let asked = langchain::add_answer(&mut self.conversation, output, message);
                        self.asked.extend(asked.into_iter().map(|tool| (tool, node)));
                    }
                    None => self.conversation.builder.skip_record(node.origin, "what a model said is of no known form"),
                }
            }
            StreamEventType::Begins | StreamEventType::Said | StreamEventType::Silent => {}
        }
    }

    /// What the graph was given: messages, or pairs of who speaks and what is said.
    fn add_input(&mut self, input: Option<Node<'run>>) {
        let messages = input.and_then(node_object).and_then(|input| list_of(input, StreamEventKey::Messages));
        let meta = StepMeta::default();
        for message in messages.unwrap_or_default() {
            let pair = node_list(*message).and_then(|pair| match pair {
                [who, words] => Some((node_text(*who)?, *words)),
                _ => None,
            });
            let said = langchain::sayer_of(*message);
            match (pair, said) {
                (Some((who, words)), _) => {
                    let is_user = MessageRole::from_key(who) == Some(MessageRole::User)
                        || LangChainSayer::from_key(who) == Some(LangChainSayer::User);
                    let speaker = if is_user { Speaker::User } else { Speaker::System };
                    self.conversation.add_content(speaker, words, &meta, message.origin);
                }
                (None, Some((LangChainSayer::User, held))) => {
                    let words = held.field(LangChainKey::Content);
                    words
                        .into_iter()
                        .for_each(|words| self.conversation.add_content(Speaker::User, words, &meta, message.origin));
                }
                // What was said in earlier runs.
                (None, Some(_)) => {}
                (None, None) => self.conversation.builder.note_unknown(message.origin, super::unknown::UNKNOWN_ROLE),
            }
        }
    }

    /// The call of a tool; what nobody saw begin was done all the same.
    fn call_of(
        &mut self,
        node: Node<'run>,
        event: Object<'run>,
        run: Option<&'run str>,
        args: Option<Node<'run>>,
    ) -> Option<StepId> {
        if let Some(known) = run.and_then(|run| self.calls.get(run)) {
            return Some(*known);
        }
        let tool = value_of(event, StreamEventKey::Name).unwrap_or(Node::computed(Value::Null));
        let id = value_of(event, StreamEventKey::Run);
        let call =
            self.conversation.add_call(ToolCall { tool, args, id, origin: node.origin }, &StepMeta::default())?;
        self.calls.extend(run.map(|run| (run, call)));
        Some(call)
    }

    fn end_call(&mut self, call: StepId, kind: StreamEventType, of: impl Fn(StreamEventKey) -> Option<Node<'run>>) {
        let meta = StepMeta::default();
        if kind == StreamEventType::Failed {
            let error = of(StreamEventKey::Error);
            let status = Some(StepStatus::Failed);
            return self.conversation.end_call(
                call,
                CallResult { result: error, error, status, ..CallResult::default() },
                &meta,
            );
        }
        let output = of(StreamEventKey::Output);
        let told = output.and_then(|output| langchain::result_of(&self.conversation, output));
        let outcome = told.unwrap_or(CallResult { result: output, ..CallResult::default() });
        self.conversation.end_call(call, outcome, &meta);
    }

    fn finish_run(self) {
        let (is_over, asked, has_begun) = (self.is_over, self.asked, self.outermost.is_some());
        let builder = self.conversation.finish_run();
        // Each call that a model asked for has to be carried out by a tool with events of its own.
        let mut made: FxHashMap<&str, usize> = FxHashMap::default();
        for call in builder.steps_of_kind(StepKind::Call) {
            if let Some(tool) = builder.step_field(call, of_step::TOOL).and_then(node_text) {
                *made.entry(tool).or_default() += 1;
            }
        }
        for (tool, node) in asked {
            match made.get_mut(tool).filter(|left| **left > 0) {
                Some(left) => *left -= 1,
                None => builder.note_unknown(node.origin, "a model asked for a call of which no event tells"),
            }
        }
        if !is_over && has_begun {
            builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
        }
    }
}
