//! The state of a run of OpenAI's Agents SDK: the items that it has generated so far, who made each, and what waits for an approval. Keys
//! are written with underscores (Python) or as camel case (JavaScript).

use super::api::responses::{self, ItemKey};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, list_of, node_list, node_object, node_text, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;

key_table! {
    RunStateKey {
        Version = "$schemaVersion",
        Asked = "original_input" | "originalInput",
        Items = "generated_items" | "generatedItems",
        All = "session_items",
        Responses = "model_responses" | "modelResponses",
        Context = "context",
        Approvals = "approvals",
        /// Newer states: a list of decisions.
        Decisions = "function_tool_approvals",
        Decision = "decision",
        Rejected = "rejected",
        Usage = "usage",
        Step = "current_step" | "currentStep",
        Data = "data",
        Waiting = "interruptions",
        Output = "output",
        Type = "type",
        Trace = "trace",
        Id = "id",
        /// The states of agents that are tools, which wait: by their calls, as JSON in text.
        Inner = "pending_agent_tool_runs" | "pendingAgentToolRuns",
    }
}

key_table! {
    GeneratedKey {
        Type = "type",
        Raw = "raw_item" | "rawItem",
        Agent = "agent",
        Name = "name",
        Call = "call_id" | "callId",
        Id = "id",
        From = "source_agent" | "sourceAgent",
        To = "target_agent" | "targetAgent",
    }
}

key_table! {
    GeneratedType {
        Approval = "tool_approval_item",
    }
}

key_table! {
    RunStepType {
        Final = "next_step_final_output",
        Interrupted = "next_step_interruption",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "OpenAI Agents SDK run state",
    known_by: "`$schemaVersion` beside `generated_items` and `original_input`",
    description: "states of runs of OpenAI's Agents SDK (`$schemaVersion`, `generated_items`)",
    marks: &[RunStateKey::Version.key()],
    object: is_state,
    read: read_run,
    ..IN_FULL
};

fn is_state(object: Object<'_>) -> bool {
    [RunStateKey::Items, RunStateKey::Asked].into_iter().all(|field| value_of(object, field).is_some())
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Value::Object(state) = root.value else { return Ok(()) };
    let id = object_of(state, RunStateKey::Trace).and_then(|trace| trace.field(RunStateKey::Id));
    builder.set_some(of_run::ID, id.filter(|id| NodeShapes.is_text(*id)));
    let mut conversation = ConversationBuilder::new(builder);
    let asked = value_of(state, RunStateKey::Asked);
    match asked.map(|asked| (asked, asked.value)) {
        Some((asked, Value::List(items))) => conversation
            .builder
            .record_objects(items)
            .for_each(|(node, item)| add_raw(&mut conversation, node, item, &StepMeta::default(), asked.origin)),
        Some((asked, _)) => conversation.add_message(Speaker::User, asked, &StepMeta::default(), asked.origin),
        None => {}
    }
    add_generated(&mut conversation, state);
    add_inner_states(&mut conversation, state);
    add_approvals(&mut conversation, state);
    count_usage(&mut conversation, state);
    conversation.finish_run();
    let step = object_of(state, RunStateKey::Step);
    match step.and_then(|step| text_of(step, RunStateKey::Type)).and_then(RunStepType::from_key) {
        Some(RunStepType::Final) => {
            let step = step.map(|step| object_of(step, RunStateKey::Data).unwrap_or(step));
            let output = step.and_then(|step| value_of(step, RunStateKey::Output));
            output.into_iter().for_each(|output| builder.set_entry(of_run::OUTPUT, output));
        }
        Some(RunStepType::Interrupted) => builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false))),
        None => {}
    }
    Ok(())
}

/// Items of the whole session, else of the run.
fn session_items<'run>(state: Object<'run>) -> &'run [Node<'run>] {
    let all = list_of(state, RunStateKey::All).unwrap_or_default();
    let of_run = value_of(state, RunStateKey::Items).and_then(node_list).unwrap_or_default();
    if all.len() > of_run.len() { all } else { of_run }
}

fn add_generated<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, state: Object<'run>) {
    let mut asked = Vec::new();
    for node in session_items(state) {
        conversation.builder.count_record();
        let inside = node_object(*node).and_then(|item| {
            let raw = value_of(item, GeneratedKey::Raw)?;
            Some((item, raw, node_object(raw)?))
        });
        let Some((item, raw_node, raw)) = inside else {
            conversation.builder.skip_value(node, "an item without what the model wrote is skipped");
            continue;
        };
        if text_of(item, GeneratedKey::Type).and_then(GeneratedType::from_key) == Some(GeneratedType::Approval) {
            asked.push((raw_node, raw));
            continue;
        }
        let agent = object_of(item, GeneratedKey::Agent).and_then(|agent| agent.field(GeneratedKey::Name));
        let meta = StepMeta { agent, ..StepMeta::default() };
        add_raw(conversation, raw_node, raw, &meta, node.origin);
        let named = |field: GeneratedKey| value_of(item, field).and_then(node_object)?.field(GeneratedKey::Name);
        if let Some(to) = named(GeneratedKey::To) {
            let agent = named(GeneratedKey::From).or(agent);
            conversation.hand_over(to, &StepMeta { agent, ..meta }, node.origin);
        }
    }
    // A call that waits is told twice: as a call, and as what is to be approved.
    for (node, raw) in asked {
        if id_of(raw).is_some_and(|id| conversation.find_call(id).is_none()) {
            add_raw(conversation, node, raw, &StepMeta::default(), node.origin);
        }
    }
}

/// What agents that are tools have done so far, each in a state of its own.
fn add_inner_states<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, state: Object<'run>) {
    let mut open = vec![state];
    let mut seen = 0;
    while let Some(state) = open.pop().filter(|_| seen < INNER_STATES) {
        seen += 1;
        for entry in object_of(state, RunStateKey::Inner).map_or(&[][..], |inner| inner.entries()) {
            let inner = conversation.builder.open_json(entry.node).unwrap_or(entry.node);
            match node_object(inner).filter(|inner| is_state(*inner)) {
                Some(inner) => {
                    add_generated(conversation, inner);
                    open.push(inner);
                }
                None => conversation
                    .builder
                    .note_unknown(entry.node.origin, "the state of an agent that is a tool is skipped"),
            }
        }
    }
}

/// Limit on the states in a state.
const INNER_STATES: usize = 1000;

fn id_of(raw: Object<'_>) -> Option<&str> {
    first_of(raw, &[GeneratedKey::Call, GeneratedKey::Id]).and_then(node_text)
}

/// As the model wrote it: a message or a Responses item.
fn add_raw<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    raw: Object<'run>,
    meta: &StepMeta<'run>,
    origin: averment_base::value::TextOrigin,
) {
    match (text_of(raw, ItemKey::Role), raw.field(ItemKey::Content)) {
        (Some(role), Some(content)) => {
            let speaker = Speaker::from_role(conversation.builder.role_of(node, Some(role)));
            conversation.add_content(speaker, content, meta, origin);
        }
        _ => responses::add_item(conversation, node, raw, meta),
    }
}

/// Pending and denied approvals.
fn add_approvals<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, state: Object<'run>) {
    let step = object_of(state, RunStateKey::Step);
    let waiting = step.map(|step| object_of(step, RunStateKey::Data).unwrap_or(step));
    let waiting = waiting.and_then(|step| list_of(step, RunStateKey::Waiting)).unwrap_or_default();
    for (_, item) in conversation.builder.record_objects(waiting) {
        let raw = value_of(item, GeneratedKey::Raw).and_then(node_object);
        if let Some(call) = raw.and_then(id_of).and_then(|id| conversation.find_call(id)) {
            conversation.set_status(call, StepStatus::Pending);
        }
    }
    let context = object_of(state, RunStateKey::Context);
    let tools = context.and_then(|context| object_of(context, RunStateKey::Approvals));
    let by_tool = tools.map_or(&[][..], |tools| tools.entries()).iter().filter_map(|tool| node_object(tool.node));
    let listed = context.and_then(|context| list_of(context, RunStateKey::Decisions)).unwrap_or_default();
    let listed = object_items(listed).filter_map(|(_, tool)| object_of(tool, RunStateKey::Decision));
    for decision in by_tool.chain(listed) {
        let rejected = list_of(decision, RunStateKey::Rejected).unwrap_or_default();
        for id in rejected.iter().filter_map(|id| node_text(*id)) {
            if let Some(call) = conversation.find_call(id) {
                conversation.set_status(call, StepStatus::Denied);
            }
        }
    }
}

/// The context's usage covers all answers; without it they are summed.
fn count_usage<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, state: Object<'run>) {
    let all = object_of(state, RunStateKey::Context).and_then(|context| object_of(context, RunStateKey::Usage));
    let each = value_of(state, RunStateKey::Responses).and_then(node_list).unwrap_or_default();
    let each = object_items(each).filter_map(|(_, response)| object_of(response, RunStateKey::Usage));
    for counts in all.into_iter().chain(each.take(if all.is_some() { 0 } else { usize::MAX })) {
        let mut usage = TokenUsage::default();
        usage.add_usage(counts);
        conversation.usage.merge_usage(&usage);
    }
}
