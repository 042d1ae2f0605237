//! The state of a run of OpenAI's Agents SDK: the items that it has generated so far, who made each, and what waits for an approval. Keys
//! are written with underscores (Python) or as camel case (JavaScript).

use super::api::responses::{self, OfItem};
use super::calls::Usage;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shapes, key_table, value_of};
use super::format::{Format, IN_FULL};
use super::messages::Role;
use super::nodes::{first_of, list, list_of, object, object_of, objects, text, text_of};
use super::talk::{About, Speaker, Talk};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::Status;

key_table! {
    /// A state.
    OfState {
        Version = "$schemaVersion",
        Asked = "original_input" | "originalInput",
        Items = "generated_items" | "generatedItems",
        All = "session_items",
        Responses = "model_responses" | "modelResponses",
        Context = "context",
        Approvals = "approvals",
        /// The same in newer states: a list of decisions.
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
    }
}

key_table! {
    /// An item.
    OfGenerated {
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
    /// The types of items.
    Generated {
        Approval = "tool_approval_item",
    }
}

key_table! {
    /// The types of steps.
    StepType {
        Final = "next_step_final_output",
        Interrupted = "next_step_interruption",
    }
}

/// States.
pub(crate) const FORMAT: Format = Format {
    name: "OpenAI Agents SDK run state",
    known_by: "`$schemaVersion` beside `generated_items` and `original_input`",
    description: "states of runs of OpenAI's Agents SDK (`$schemaVersion`, `generated_items`)",
    marks: &[OfState::Version.key()],
    object: |object| {
        let has = |field: OfState| value_of(object, field).is_some();
        has(OfState::Items) && has(OfState::Asked)
    },
    read,
    ..IN_FULL
};

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let Value::Object(state) = root.value else { return Ok(()) };
    let id = object_of(state, OfState::Trace).and_then(|trace| trace.field(OfState::Id));
    draft.set_some(of_run::ID, id.filter(|id| Parsed.is_text(*id)));
    let mut talk = Talk::new(draft);
    let asked = value_of(state, OfState::Asked);
    match asked.map(|asked| (asked, asked.value)) {
        Some((asked, Value::List(items))) => talk
            .draft
            .objects(items)
            .for_each(|(node, item)| one(&mut talk, node, item, &About::default(), asked.origin)),
        Some((asked, _)) => talk.say(Speaker::User, asked, &About::default(), asked.origin),
        None => {}
    }
    generated(&mut talk, state);
    approvals(&mut talk, state);
    usage(&mut talk, state);
    talk.finish();
    let step = object_of(state, OfState::Step);
    match step.and_then(|step| text_of(step, OfState::Type)).and_then(StepType::from_key) {
        Some(StepType::Final) => {
            let step = step.map(|step| object_of(step, OfState::Data).unwrap_or(step));
            let output = step.and_then(|step| value_of(step, OfState::Output));
            output.into_iter().for_each(|output| draft.set(of_run::OUTPUT, output));
        }
        Some(StepType::Interrupted) => draft.set(of_run::COMPLETE, Node::computed(Value::Boolean(false))),
        None => {}
    }
    Ok(())
}

/// The items of the whole session; where they were not kept apart, those of the run.
fn items<'run>(state: Object<'run>) -> &'run [Node<'run>] {
    let all = list_of(state, OfState::All).unwrap_or_default();
    let of_run = value_of(state, OfState::Items).and_then(list).unwrap_or_default();
    if all.len() > of_run.len() { all } else { of_run }
}

fn generated<'run>(talk: &mut Talk<'_, 'run, '_>, state: Object<'run>) {
    let mut asked = Vec::new();
    for node in items(state) {
        talk.draft.record();
        let inside = object(*node).and_then(|item| {
            let raw = value_of(item, OfGenerated::Raw)?;
            Some((item, raw, object(raw)?))
        });
        let Some((item, raw_node, raw)) = inside else {
            talk.draft.not_understood(node.origin, "an item without what the model wrote is passed over");
            continue;
        };
        if text_of(item, OfGenerated::Type).and_then(Generated::from_key) == Some(Generated::Approval) {
            asked.push((raw_node, raw));
            continue;
        }
        let agent = object_of(item, OfGenerated::Agent).and_then(|agent| agent.field(OfGenerated::Name));
        let about = About { agent, ..About::default() };
        one(talk, raw_node, raw, &about, node.origin);
        let named = |field: OfGenerated| value_of(item, field).and_then(object)?.field(OfGenerated::Name);
        if let Some(to) = named(OfGenerated::To) {
            let agent = named(OfGenerated::From).or(agent);
            talk.hand_over(to, &About { agent, ..about }, node.origin);
        }
    }
    // A call that waits is told twice: as a call, and as what is to be approved.
    for (node, raw) in asked {
        if id_of(raw).is_some_and(|id| talk.called(id).is_none()) {
            one(talk, node, raw, &About::default(), node.origin);
        }
    }
}

fn id_of(raw: Object<'_>) -> Option<&str> {
    first_of(raw, &[OfGenerated::Call, OfGenerated::Id]).and_then(text)
}

/// An item as the model wrote it: a message or what Responses know.
fn one<'run>(
    talk: &mut Talk<'_, 'run, '_>,
    node: Node<'run>,
    raw: Object<'run>,
    about: &About<'run>,
    origin: averment_base::value::Origin,
) {
    match (text_of(raw, OfItem::Role), raw.field(OfItem::Content)) {
        (Some(role), Some(content)) => {
            let speaker = match Role::from_key(role) {
                Some(Role::Assistant) => Speaker::Assistant,
                Some(Role::User) => Speaker::User,
                _ => Speaker::System,
            };
            talk.say_content(speaker, content, about, origin);
        }
        _ => responses::item(talk, node, raw, about),
    }
}

/// What still waits for somebody, and what was turned down.
fn approvals<'run>(talk: &mut Talk<'_, 'run, '_>, state: Object<'run>) {
    let step = object_of(state, OfState::Step);
    let waiting = step.map(|step| object_of(step, OfState::Data).unwrap_or(step));
    let waiting = waiting.and_then(|step| list_of(step, OfState::Waiting)).unwrap_or_default();
    for (_, item) in talk.draft.objects(waiting) {
        let raw = value_of(item, OfGenerated::Raw).and_then(object);
        if let Some(call) = raw.and_then(id_of).and_then(|id| talk.called(id)) {
            talk.mark(call, Status::Pending);
        }
    }
    let context = object_of(state, OfState::Context);
    let tools = context.and_then(|context| object_of(context, OfState::Approvals));
    let by_tool = tools.map_or(&[][..], |tools| tools.entries()).iter().filter_map(|tool| object(tool.node));
    let listed = context.and_then(|context| list_of(context, OfState::Decisions)).unwrap_or_default();
    let listed = objects(listed).filter_map(|(_, tool)| object_of(tool, OfState::Decision));
    for decision in by_tool.chain(listed) {
        let rejected = list_of(decision, OfState::Rejected).unwrap_or_default();
        for id in rejected.iter().filter_map(|id| text(*id)) {
            if let Some(call) = talk.called(id) {
                talk.mark(call, Status::Denied);
            }
        }
    }
}

/// The usage of the context counts all answers; without one they are added up.
fn usage<'run>(talk: &mut Talk<'_, 'run, '_>, state: Object<'run>) {
    let all = object_of(state, OfState::Context).and_then(|context| object_of(context, OfState::Usage));
    let each = value_of(state, OfState::Responses).and_then(list).unwrap_or_default();
    let each = objects(each).filter_map(|(_, response)| object_of(response, OfState::Usage));
    for counts in all.into_iter().chain(each.take(if all.is_some() { 0 } else { usize::MAX })) {
        let mut usage = Usage::default();
        usage.add(counts);
        talk.usage.join(&usage);
    }
}
