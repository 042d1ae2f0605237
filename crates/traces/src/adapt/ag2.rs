//! AG2: the result of a chat (`chat_history`), and the events of a run as they are streamed; the log of version 1 is in [`log`].
//!
//! The history is that of the agent that began the chat: what it sent has the role of the assistant, what it got that of the user. Its first
//! message is what was asked. What it says later is the user's where a result lists it as typed in; without such a list nobody knows.

mod log;

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::ToolCallKey;
use super::nodes::{list_of, node_list, node_object, node_text, object_of, objects_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_run, role};
use averment_runs::run::{StepKind, StepStatus};

key_table! {
    Ag2Key {
        History = "chat_history",
        /// What a person typed in for the agent that began the chat.
        Typed = "human_input",
        /// The same in the last event.
        Past = "history",
        Costs = "cost",
        Paid = "usage_including_cached_inference",
        Total = "total_cost",
        Content = "content",
        /// It does not say who speaks, but that this is a message.
        Role = "role",
        /// What a result of a chat has beside its history, as the memories of other programs have not.
        Chat = "chat_id",
        Summary = "summary",
        Name = "name" | "sender",
        Calls = "tool_calls",
        Call = "function_call",
        Responses = "tool_responses",
        Answers = "tool_call_id",
        Type = "type",
        Event = "uuid",
        Tool = "func_name",
        Id = "call_id",
        CallId = "id",
        Args = "arguments",
        Worked = "is_exec_success",
        Value = "value",
        Error = "error",
    }
}

key_table! {
    /// The types of events.
    Ag2Event {
        Said = "text",
        Calls = "tool_call" | "function_call",
        Starts = "execute_function",
        Ends = "executed_function",
        Responses = "tool_response" | "function_response",
        Person = "input_response",
        Completed = "run_completion",
        Failed = "error",
        /// Code in texts that an agent runs.
        Code = "execute_code_block" | "generate_code_execution_reply",
        /// Who speaks next, what ends, what was spent, questions to a person, pieces of what comes whole.
        Silent = "using_auto_reply" | "termination" | "termination_and_human_reply_no_input" | "group_chat_run_chat"
            | "group_chat_resume" | "select_speaker" | "select_speaker_try_count_exceeded" | "select_speaker_invalid_input"
            | "speaker_attempt_successful" | "speaker_attempt_failed_multiple_agents" | "speaker_attempt_failed_no_agents"
            | "post_carryover_processing" | "clear_agents_history" | "clear_conversable_agent_history"
            | "clear_conversable_agent_history_warning" | "conversable_agent_usage_summary"
            | "conversable_agent_usage_summary_no_cost_incurred" | "usage_summary" | "input_request" | "async_input_request"
            | "stream" | "print",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "AG2 run",
    known_by: "a `chat_history` beside a `summary` or `cost`, messages with `tool_responses`, events with a `type` and a `content` with its `uuid`, or events named `ag2.events…`",
    description: "results of chats of AG2 (`chat_history`), its events and its logs",
    marks: &[Ag2Key::History.key(), Ag2Key::Type.key()],
    near: &[Ag2Key::History.key()],
    object: |object| is_result(object) || is_event(object) || log::is_line(object),
    item_marks: &[Ag2Key::Responses.key(), Ag2Key::Type.key()],
    element: |object| is_answer(object) || is_event(object) || log::is_line(object),
    line: |object| is_event(object) || log::is_line(object),
    record_ids: RecordIds::unique(&[&[Ag2Key::Content.key(), Ag2Key::Event.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_result(result: Object<'_>) -> bool {
    let is_message =
        |message: Object<'_>| message.field(Ag2Key::Content).is_some() || message.field(Ag2Key::Calls).is_some();
    let is_of_chat = [Ag2Key::Chat, Ag2Key::Summary, Ag2Key::Costs, Ag2Key::Typed]
        .into_iter()
        .any(|key| result.field(key).is_some());
    is_of_chat && list_of(result, Ag2Key::History).is_some_and(|history| objects_of(history).any(is_message))
}

/// A message that holds the results of calls, as no other format has it.
fn is_answer(message: Object<'_>) -> bool {
    list_of(message, Ag2Key::Responses)
        .is_some_and(|given| objects_of(given).any(|given| text_of(given, Ag2Key::Answers).is_some()))
}

/// How an agent that runs the code in the texts of others tells what came of it.
fn is_output_of_code(words: &str) -> bool {
    let first = words.lines().next().unwrap_or_default();
    first.starts_with("exitcode: ") && first.ends_with(')') && first.contains(" (execution ")
}

fn is_event(event: Object<'_>) -> bool {
    text_of(event, Ag2Key::Type).is_some()
        && object_of(event, Ag2Key::Content).is_some_and(|content| text_of(content, Ag2Key::Event).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let run = node_object(*root);
    let history = run.and_then(|run| list_of(run, Ag2Key::History));
    let items = history.or_else(|| node_list(*root)).unwrap_or(std::slice::from_ref(root));
    if objects_of(items).any(log::is_line) {
        return log::read_log(items, builder);
    }
    let typed = run.filter(|_| history.is_some()).and_then(|run| list_of(run, Ag2Key::Typed));
    let mut chat = Chat {
        conversation: ConversationBuilder::new(builder),
        begun_by: None,
        has_begun: false,
        runs_code: false,
        typed: typed.map(|typed| typed.iter().copied().filter_map(node_text).collect()),
        may_be_typed: false,
    };
    for (node, record) in chat.conversation.builder.record_objects(items) {
        chat.conversation.builder.count_record();
        if is_event(record) {
            chat.add_event(node, record);
        } else {
            chat.add_message(node, record);
        }
    }
    // Events tell what is typed in.
    let may_be_typed = chat.may_be_typed && !objects_of(items).any(is_event);
    let runs_code = chat.runs_code;
    let builder = chat.conversation.finish_without_turns();
    if may_be_typed {
        builder.leave_role_open(role::USER);
    }
    if let Some(result) = run.filter(|_| history.is_some()) {
        add_costs(result, builder);
    }
    if runs_code {
        builder.add_warning(root.origin, "calls count as not recorded: agents run code that stands in their texts");
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}

/// What each model cost and used, under its name.
fn add_costs<'run>(result: Object<'run>, builder: &mut RunBuilder<'run, '_>) {
    let Some(paid) = object_of(result, Ag2Key::Costs).and_then(|costs| object_of(costs, Ag2Key::Paid)) else { return };
    let mut sum = TokenUsage::default();
    for entry in paid.entries() {
        if let Some(counts) = node_object(entry.node) {
            let mut usage = TokenUsage::default();
            usage.add_usage(counts);
            sum.merge_usage(&usage);
        }
    }
    sum.set_usage(builder);
    builder.set_some(of_run::COST, value_of(paid, Ag2Key::Total));
}

struct Chat<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// The agent that sent the first message.
    begun_by: Option<&'run str>,
    has_begun: bool,
    runs_code: bool,
    /// See [`Ag2Key::Typed`].
    typed: Option<Vec<&'run str>>,
    /// Nothing says whether a person said some of the words.
    may_be_typed: bool,
}

impl<'run> Chat<'_, 'run, '_> {
    /// A message of a history, or what an event of that kind holds.
    fn add_message(&mut self, node: Node<'run>, message: Object<'run>) {
        let name = value_of(message, Ag2Key::Name).filter(|name| node_text(*name).is_some());
        let calls = list_of(message, Ag2Key::Calls).unwrap_or_default();
        let call = object_of(message, Ag2Key::Call);
        let given = list_of(message, Ag2Key::Responses).unwrap_or_default();
        let said = value_of(message, Ag2Key::Content);
        if said.is_none() && calls.is_empty() && call.is_none() && given.is_empty() {
            return self.conversation.builder.skip_record(node.origin, "a message without content is skipped");
        }
        self.conversation.builder.role_of(node, text_of(message, Ag2Key::Role));
        // The text of results repeats them.
        if let Some(said) = said.filter(|_| given.is_empty()) {
            self.runs_code |= node_text(said).is_some_and(is_output_of_code);
            self.add_words(node, said, name);
        }
        let meta = StepMeta { agent: name.filter(|_| self.is_agent(name)), ..StepMeta::default() };
        let made = self.conversation.builder.record_objects(calls).chain(value_of(message, Ag2Key::Call).zip(call));
        for (at, call) in made {
            let function = object_of(call, ToolCallKey::Function).unwrap_or(call);
            let tool = function.field(ToolCallKey::Name).unwrap_or(Node::computed(Value::Null));
            let (args, id) = (function.field(ToolCallKey::Arguments), call.field(ToolCallKey::Id));
            self.conversation.add_call(ToolCall { tool, args, id, origin: at.origin }, &meta);
        }
        for (at, given) in self.conversation.builder.record_objects(given) {
            self.conversation.builder.role_of(at, text_of(given, Ag2Key::Role));
            let outcome = CallResult { result: value_of(given, Ag2Key::Content), ..CallResult::default() };
            self.add_result(at, text_of(given, Ag2Key::Answers), None, outcome);
        }
    }

    fn is_agent(&self, name: Option<Node<'run>>) -> bool {
        self.has_begun && name.and_then(node_text) != self.begun_by
    }

    fn add_words(&mut self, node: Node<'run>, said: Node<'run>, name: Option<Node<'run>>) {
        let speaker = match (self.has_begun, self.is_agent(name)) {
            (false, _) => Speaker::User,
            (true, true) => Speaker::Assistant,
            (true, false) if self.is_typed(said) => Speaker::User,
            (true, false) => Speaker::System,
        };
        if !self.has_begun {
            self.begun_by = name.and_then(node_text);
            self.has_begun = true;
        }
        let meta = StepMeta { agent: name.filter(|_| speaker == Speaker::Assistant), ..StepMeta::default() };
        if speaker == Speaker::System {
            self.conversation.note_input();
        }
        self.conversation.add_content(speaker, said, &meta, node.origin);
    }

    /// Whether a person said this in the name of the agent that began, and not the agent itself.
    fn is_typed(&mut self, said: Node<'run>) -> bool {
        let words = node_text(said);
        match &self.typed {
            Some(typed) => words.is_some_and(|words| typed.contains(&words)),
            None => {
                self.may_be_typed = true;
                false
            }
        }
    }

    /// What a tool gave may be told twice: as it was carried out, and as it was sent.
    fn add_result(
        &mut self,
        at: Node<'run>,
        id: Option<&'run str>,
        tool: Option<&'run str>,
        outcome: CallResult<'run>,
    ) {
        let has_result = |conversation: &ConversationBuilder<'_, 'run, '_>| {
            let call = id.and_then(|id| conversation.find_call(id));
            call.is_some_and(|call| {
                conversation.builder.step_field(call, averment_runs::normal::of_step::RESULT).is_some()
            })
        };
        if !has_result(&self.conversation) {
            self.conversation.add_result(id, tool, outcome, &StepMeta::default(), at.origin);
        }
    }

    fn add_event(&mut self, node: Node<'run>, event: Object<'run>) {
        let Some(content) = object_of(event, Ag2Key::Content) else { return };
        match text_of(event, Ag2Key::Type).and_then(Ag2Event::from_key) {
            Some(Ag2Event::Said | Ag2Event::Calls | Ag2Event::Responses) => self.add_message(node, content),
            Some(Ag2Event::Starts) => self.ensure_call(node, content),
            Some(Ag2Event::Ends) => {
                self.ensure_call(node, content);
                let status = match value_of(content, Ag2Key::Worked).map(|worked| worked.value) {
                    Some(Value::Boolean(true)) => Some(StepStatus::Ok),
                    Some(Value::Boolean(false)) => Some(StepStatus::Failed),
                    _ => None,
                };
                let outcome =
                    CallResult { result: value_of(content, Ag2Key::Content), status, ..CallResult::default() };
                let (id, tool) = (text_of(content, Ag2Key::Id), text_of(content, Ag2Key::Tool));
                self.add_result(node, id, tool, outcome);
            }
            Some(Ag2Event::Person) => {
                let words = value_of(content, Ag2Key::Value);
                let meta = StepMeta::default();
                words
                    .into_iter()
                    .for_each(|words| self.conversation.add_content(Speaker::User, words, &meta, node.origin));
            }
            Some(Ag2Event::Failed) => {
                self.conversation.builder.set_some(of_run::ERROR, value_of(content, Ag2Key::Error))
            }
            Some(Ag2Event::Completed) => {
                add_costs(content, self.conversation.builder);
                self.compare_history(content);
            }
            Some(Ag2Event::Code) => self.runs_code = true,
            Some(Ag2Event::Silent) => {}
            None => self
                .conversation
                .builder
                .skip_record(node.origin, "an event of unknown type is skipped: it may be a call"),
        }
    }

    /// The history at the end repeats what events told.
    fn compare_history(&mut self, content: Object<'run>) {
        let untold = "the history has a call of which no event tells";
        for (node, message) in
            self.conversation.builder.record_objects(list_of(content, Ag2Key::Past).unwrap_or_default())
        {
            self.conversation.builder.role_of(node, text_of(message, Ag2Key::Role));
            for (key, id) in [(Ag2Key::Calls, Ag2Key::CallId), (Ag2Key::Responses, Ag2Key::Answers)] {
                for (at, part) in self.conversation.builder.record_objects(list_of(message, key).unwrap_or_default()) {
                    if text_of(part, id).is_none_or(|id| self.conversation.find_call(id).is_none()) {
                        self.conversation.builder.note_unknown(at.origin, untold);
                    }
                }
            }
            if [Ag2Key::Content, Ag2Key::Calls, Ag2Key::Call, Ag2Key::Responses]
                .into_iter()
                .all(|key| value_of(message, key).is_none())
            {
                self.conversation.builder.note_unknown(node.origin, untold);
            }
        }
    }

    /// A function that is carried out was asked for before, unless the program itself calls it.
    fn ensure_call(&mut self, node: Node<'run>, content: Object<'run>) {
        let is_told = match text_of(content, Ag2Key::Id) {
            Some(id) => self.conversation.find_call(id).is_some(),
            None => {
                let tool = text_of(content, Ag2Key::Tool);
                let is = |call| {
                    let named = self.conversation.builder.step_field(call, averment_runs::normal::of_step::TOOL);
                    named.and_then(node_text) == tool
                };
                self.conversation.builder.steps_of_kind(StepKind::Call).into_iter().any(is)
            }
        };
        if !is_told {
            let tool = value_of(content, Ag2Key::Tool).unwrap_or(Node::computed(Value::Null));
            let (args, id) = (value_of(content, Ag2Key::Args), value_of(content, Ag2Key::Id));
            self.conversation.add_call(ToolCall { tool, args, id, origin: node.origin }, &StepMeta::default());
        }
    }
}
