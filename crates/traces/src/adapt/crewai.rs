//! CrewAI: events of its bus, as listeners write them and as its traces hold them (`event_data`). Prompts are written by the program,
//! and what a model answered may be an action in text: messages count as not recorded, calls are those that were carried out.

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{are_mostly, items_of, list_of, node_object, node_text, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, StepId};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::FxHashMap;

key_table! {
    CrewKey {
        Events = "events",
        Type = "type",
        Id = "event_id",
        /// What a trace says of an event.
        Data = "event_data",
        Parent = "parent_event_id",
        Started = "started_event_id",
        Sequence = "emission_sequence",
        Time = "timestamp",
        Agent = "agent_role",
        Tool = "tool_name",
        Args = "tool_args",
        Output = "output",
        Result = "result",
        Error = "error",
        Failure = "failure",
        Inputs = "inputs",
        Raw = "raw",
        Usage = "usage",
        Model = "model",
        Batch = "batch_id",
    }
}

key_table! {
    CrewEventType {
        Starts = "tool_usage_started",
        Ends = "tool_usage_finished",
        Fails = "tool_usage_error" | "tool_execution_error",
        /// By itself, or inside of the tool around it.
        ServerStarts = "mcp_tool_execution_started",
        ServerEnds = "mcp_tool_execution_completed",
        ServerFails = "mcp_tool_execution_failed",
        Kickoff = "crew_kickoff_started" | "lite_agent_execution_started" | "flow_started",
        Answer = "crew_kickoff_completed" | "lite_agent_execution_completed" | "flow_finished",
        Broken = "crew_kickoff_failed" | "lite_agent_execution_error" | "flow_failed",
        Model = "llm_call_completed",
        /// A tool that there is not, or arguments that do not fit: nothing was carried out.
        NotDone = "tool_selection_error" | "tool_validate_input_error",
        /// Said of a call again where it ends.
        Again = "tool_failure_detected",
        /// Agents and tasks begin and end, and models are asked: what they do has events of its own.
        Frame = "task_started" | "task_completed" | "task_failed" | "task_evaluation" | "agent_execution_started"
            | "agent_execution_completed" | "agent_execution_error" | "agent_logs_started" | "agent_logs_execution"
            | "agent_evaluation_started" | "agent_evaluation_completed" | "agent_evaluation_failed" | "agent_reasoning_started"
            | "agent_reasoning_completed" | "agent_reasoning_failed" | "llm_call_started" | "llm_call_failed" | "llm_stream_chunk"
            | "llm_thinking_chunk" | "llm_guardrail_started" | "llm_guardrail_completed" | "llm_guardrail_failed"
            | "step_observation_started" | "step_observation_completed" | "step_observation_failed" | "plan_refinement"
            | "plan_replan_triggered" | "plan_step_started" | "plan_step_completed" | "goal_achieved_early",
        /// Code of the program's own, tests and trainings around runs, connections, environments, copies of a state.
        Program = "flow_created" | "flow_plot" | "flow_paused" | "method_execution_started"
            | "method_execution_finished" | "method_execution_failed" | "method_execution_paused" | "crew_test_started"
            | "crew_test_completed" | "crew_test_failed" | "crew_test_result" | "crew_train_started" | "crew_train_completed"
            | "crew_train_failed" | "mcp_connection_started" | "mcp_connection_completed" | "mcp_connection_failed"
            | "mcp_config_fetch_failed" | "cc_env" | "codex_env" | "cursor_env" | "default_env" | "checkpoint_started"
            | "checkpoint_completed" | "checkpoint_failed" | "checkpoint_pruned" | "checkpoint_restore_started"
            | "checkpoint_restore_completed" | "checkpoint_restore_failed" | "checkpoint_fork_started"
            | "checkpoint_fork_completed" | "hook_dispatched",
        /// What the program looks up and keeps for its agents, beside tools.
        Memory = "memory_query_started" | "memory_query_completed" | "memory_query_failed" | "memory_save_started"
            | "memory_save_completed" | "memory_save_failed" | "memory_retrieval_started" | "memory_retrieval_completed"
            | "memory_retrieval_failed" | "knowledge_retrieval_started" | "knowledge_retrieval_completed"
            | "knowledge_query_started" | "knowledge_query_completed" | "knowledge_query_failed"
            | "knowledge_search_query_started" | "knowledge_search_query_completed" | "knowledge_search_query_failed"
            | "skill_discovery_started" | "skill_discovery_completed" | "skill_loaded" | "skill_activated" | "skill_load_failed",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "CrewAI events",
    known_by: "events with an `event_id` or `event_data`, and a `type` such as `tool_usage_started`",
    description: "events of CrewAI's bus (a list, one a line), and its traces (`events`)",
    marks: &[CrewKey::Events.key(), CrewKey::Id.key()],
    near: &[],
    object: |object| {
        is_event(object) || list_of(object, CrewKey::Events).is_some_and(|events| are_mostly(events.iter(), is_event))
    },
    item_marks: &[CrewKey::Id.key(), CrewKey::Data.key()],
    element: is_event,
    line: is_event,
    record_ids: RecordIds::unique(&[&[CrewKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn type_of(event: Object<'_>) -> Option<CrewEventType> {
    CrewEventType::from_key(text_of(event, CrewKey::Type)?)
}

fn is_event(event: Object<'_>) -> bool {
    let is_held = event.field(CrewKey::Id).or_else(|| event.field(CrewKey::Data)).is_some();
    is_held && type_of(event).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    builder.set_some(of_run::ID, node_object(*root).and_then(|batch| value_of(batch, CrewKey::Batch)));
    let mut events: Vec<(Node<'run>, Object<'run>)> = Vec::new();
    for node in items_of(root, &[CrewKey::Events]) {
        builder.count_record();
        match node_object(*node) {
            Some(event) => events.push((*node, event)),
            None => builder.skip_value(node, "what is no event is skipped"),
        }
    }
    // Listeners write events down as they come, from several threads.
    let sequence = |event: Object<'run>| match value_of(event, CrewKey::Sequence).map(|node| node.value) {
        Some(Value::Number(number)) => Some(number.to_f64()),
        _ => None,
    };
    if events.iter().all(|(_, event)| sequence(*event).is_some()) {
        let place = |event: &(Node<'run>, Object<'run>)| sequence(event.1).unwrap_or_default();
        events.sort_by(|a, b| place(a).total_cmp(&place(b)));
    }
    let mut reader = CrewReader {
        conversation: ConversationBuilder::new(builder),
        open: Vec::new(),
        by_event: FxHashMap::default(),
        answers: Counted::default(),
    };
    for (node, event) in events {
        reader.add_event(node, event);
    }
    reader.finish();
    Ok(())
}

/// A call that has not ended.
struct OpenCall<'run> {
    event: Option<&'run str>,
    tool: Option<&'run str>,
    step: StepId,
}

/// Answers of models, and how many of them tell their tokens.
#[derive(Default)]
struct Counted {
    all: usize,
    told: usize,
}

struct CrewReader<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    open: Vec<OpenCall<'run>>,
    /// Calls by the event that began them.
    by_event: FxHashMap<&'run str, StepId>,
    answers: Counted,
}

impl<'run> CrewReader<'_, 'run, '_> {
    fn add_event(&mut self, node: Node<'run>, event: Object<'run>) {
        let Some(kind) = type_of(event) else {
            let word = text_of(event, CrewKey::Type).unwrap_or_default();
            return self
                .conversation
                .builder
                .skip_record(node.origin, format!("an event of unknown type `{word}` is skipped"));
        };
        let data = object_of(event, CrewKey::Data).unwrap_or(event);
        let meta = StepMeta {
            time: value_of(event, CrewKey::Time).filter(|time| node_text(*time).is_some()),
            agent: value_of(data, CrewKey::Agent)
                .filter(|agent| node_text(*agent).is_some_and(|role| !role.is_empty())),
            ..StepMeta::default()
        };
        self.conversation.note_time(meta.time);
        match kind {
            CrewEventType::Starts => self.start_call(node, event, data, &meta),
            CrewEventType::Ends | CrewEventType::Fails => self.end_call(node, event, data, &meta),
            CrewEventType::ServerStarts if !self.is_inside_call(event) => self.start_call(node, event, data, &meta),
            CrewEventType::ServerEnds | CrewEventType::ServerFails if !self.is_inside_call(event) => {
                self.end_call(node, event, data, &meta);
            }
            CrewEventType::Kickoff => {
                let inputs = value_of(data, CrewKey::Inputs);
                self.conversation
                    .builder
                    .set_some(of_run::INPUTS, inputs.filter(|_| !self.conversation.builder.has_entry(of_run::INPUTS)));
            }
            CrewEventType::Answer => {
                let output = value_of(data, CrewKey::Output).or_else(|| value_of(data, CrewKey::Result));
                let raw = output.and_then(node_object).and_then(|output| value_of(output, CrewKey::Raw));
                self.conversation.builder.set_some(of_run::OUTPUT, raw.or(output));
            }
            CrewEventType::Broken => self.conversation.builder.set_some(of_run::ERROR, value_of(data, CrewKey::Error)),
            CrewEventType::Model => self.count_usage(data),
            CrewEventType::NotDone
            | CrewEventType::Again
            | CrewEventType::Frame
            | CrewEventType::Program
            | CrewEventType::Memory
            | CrewEventType::ServerStarts
            | CrewEventType::ServerEnds
            | CrewEventType::ServerFails => {}
        }
    }

    /// A tool of a server is called by a tool of the agent, which has events of its own and whose name ends with that of the other.
    fn is_inside_call(&self, event: Object<'run>) -> bool {
        let tool = text_of(object_of(event, CrewKey::Data).unwrap_or(event), CrewKey::Tool);
        let is_longer = |open: &OpenCall<'run>| {
            open.tool.zip(tool).is_some_and(|(open, tool)| open.len() > tool.len() && open.ends_with(tool))
        };
        text_of(event, CrewKey::Parent).is_some_and(|parent| self.by_event.contains_key(parent))
            || self.open.iter().any(is_longer)
    }

    fn start_call(&mut self, node: Node<'run>, event: Object<'run>, data: Object<'run>, meta: &StepMeta<'run>) {
        let made = ToolCall {
            tool: data.field(CrewKey::Tool).unwrap_or(Node::computed(Value::Null)),
            args: value_of(data, CrewKey::Args),
            id: None,
            origin: node.origin,
        };
        let Some(step) = self.conversation.add_call(made, meta) else { return };
        let id = text_of(event, CrewKey::Id);
        if let Some(id) = id {
            self.by_event.insert(id, step);
        }
        self.open.push(OpenCall { event: id, tool: text_of(data, CrewKey::Tool), step });
    }

    /// The call that an event ends: the one that it names, else the oldest of its tool. What nobody saw begin was done all the same.
    fn end_call(&mut self, node: Node<'run>, event: Object<'run>, data: Object<'run>, meta: &StepMeta<'run>) {
        let began = text_of(event, CrewKey::Started).or_else(|| text_of(data, CrewKey::Started));
        let tool = text_of(data, CrewKey::Tool);
        let of_event = self.open.iter().position(|open| began.is_some() && open.event == began);
        let place = of_event.or_else(|| self.open.iter().position(|open| began.is_none() && open.tool == tool));
        let step = match place {
            Some(place) => self.open.remove(place).step,
            None => {
                let is_known = began.is_some_and(|began| self.by_event.contains_key(began));
                if is_known {
                    return;
                }
                self.start_call(node, event, data, meta);
                let Some(begun) = self.open.pop() else { return };
                begun.step
            }
        };
        let error = value_of(data, CrewKey::Error).or_else(|| value_of(data, CrewKey::Failure));
        let result = value_of(data, CrewKey::Output).or_else(|| value_of(data, CrewKey::Result));
        let status = Some(if error.is_some() { StepStatus::Failed } else { StepStatus::Ok });
        self.conversation.end_call(step, CallResult { result, status, error, ..CallResult::default() }, meta);
    }

    fn count_usage(&mut self, data: Object<'run>) {
        let model = value_of(data, CrewKey::Model);
        self.conversation.add_meta(of_meta::MODEL, model);
        self.answers.all += 1;
        if let Some(counts) = object_of(data, CrewKey::Usage) {
            let mut usage = TokenUsage::default();
            usage.add_usage(counts);
            self.answers.told += usize::from(!usage.known_counts().is_empty());
            self.conversation.add_usage(&usage, model);
        }
    }

    fn finish(mut self) {
        // The tokens of some answers are not those of the run.
        if self.answers.told < self.answers.all {
            self.conversation.usage = TokenUsage::default();
        }
        let builder = self.conversation.finish_without_turns();
        builder.mark_unrecorded(StepKind::Message);
    }
}
