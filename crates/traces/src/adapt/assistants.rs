//! OpenAI's Assistants (Azure AI's agents, too): the steps of a run and the messages of a thread, as they are listed. A list may stand the
//! newest first: the time of each says what came first.

use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall, instant_node};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::run_builder::RunBuilder;
use crate::time;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, role};
use averment_runs::run::{StepKind, StepStatus};
use rustc_hash::{FxHashMap, FxHashSet};

key_table! {
    AssistantsKey {
        /// The name of a streamed event, whose record stands under `data`.
        Event = "event",
        Data = "data",
        More = "has_more",
        Status = "status",
        Object = "object",
        Id = "id",
        Run = "run_id",
        Created = "created_at",
        Completed = "completed_at",
        Type = "type",
        Details = "step_details",
        Calls = "tool_calls",
        Error = "last_error",
        Why = "message",
        Usage = "usage",
        Model = "model",
        Role = "role",
        Content = "content",
        Text = "text",
        Value = "value",
        Refusal = "refusal",
        /// What a run waits for.
        Waits = "required_action",
        Asks = "submit_tool_outputs",
    }
}

key_table! {
    AssistantsCallKey {
        Function = "function",
        Name = "name",
        Arguments = "arguments" | "input",
        Output = "output" | "outputs" | "results",
        /// What the service says of its answer.
        About = "response_metadata",
    }
}

key_table! {
    /// The tools of OpenAI and of Azure's agents that have a type and no name.
    AssistantsToolType {
        OpenAi = "function" | "code_interpreter" | "file_search" | "retrieval",
        Azure = "azure_ai_search" | "azure_function" | "bing_custom_search" | "bing_grounding" | "browser_automation"
            | "computer_use_preview" | "connected_agent" | "deep_research" | "fabric_dataagent" | "mcp" | "openapi"
            | "sharepoint_grounding",
    }
}

key_table! {
    AssistantsObject {
        Step = "thread.run.step",
        Message = "thread.message",
        Run = "thread.run",
        /// A piece of a record that comes whole where it ends.
        Piece = "thread.run.step.delta" | "thread.message.delta",
        /// The place where messages stand.
        Silent = "thread" | "assistant",
    }
}

key_table! {
    /// Where programs put what they fetched of a run side by side: records, lists of them, or pages of a list.
    AssistantsPart {
        Steps = "steps" | "run_steps",
        Messages = "messages",
        Other = "run" | "runs" | "thread" | "assistant",
    }
}

key_table! {
    /// Events that hold no record.
    AssistantsEvent {
        Done = "done",
    }
}

key_table! {
    AssistantsStepType {
        Calls = "tool_calls",
        /// Its message stands in the thread.
        Message = "message_creation",
    }
}

key_table! {
    /// Of steps and runs: more may come.
    AssistantsOpenWord {
        Any = "queued" | "in_progress" | "requires_action" | "cancelling",
    }
}

key_table! {
    AssistantsRole {
        User = "user",
        Assistant = "assistant",
    }
}

key_table! {
    AssistantsBlock {
        Text = "text",
        Refusal = "refusal",
        Silent = "image_file" | "image_url",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "OpenAI Assistants run",
    known_by: "objects whose `object` is `thread.run.step` or `thread.message`, or a `thread.run` with a `required_action`",
    description: "steps of runs and messages of threads of OpenAI's Assistants and Azure AI's agents (a list, or under `data`)",
    marks: &[
        AssistantsKey::Data.key(),
        AssistantsKey::Waits.key(),
        AssistantsPart::Steps.key(),
        AssistantsPart::Steps.last_key(),
        AssistantsPart::Messages.key(),
    ],
    near: &[AssistantsKey::Details.key()],
    object: |object| {
        asked_calls(object).is_some()
            || holds_records(object)
            || parts_of(object)
                .any(|node| node_object(*node).is_some_and(|part| is_record(part) || holds_records(part)))
    },
    item_marks: &[AssistantsKey::Object.key(), AssistantsKey::Event.key()],
    element: |record| is_record(unframe_record(record)),
    line: |record| is_record(unframe_record(record)),
    beside: |record| is_end(record) || object_kind(unframe_record(record)).is_some(),
    read: read_run,
    partial_roles: &[role::USER, role::ASSISTANT],
    ..IN_FULL
};

/// Whether an object is a page of a list.
fn holds_records(page: Object<'_>) -> bool {
    list_of(page, AssistantsKey::Data).is_some_and(|list| object_items(list).any(|(_, one)| is_record(one)))
}

/// The records and pages that stand side by side in an object.
fn parts_of(object: Object<'_>) -> impl Iterator<Item = &Node<'_>> {
    let parts = object.entries().iter().filter(|entry| AssistantsPart::from_key(entry.key).is_some());
    let parts = parts.filter(|entry| !matches!(entry.node.value, Value::Null));
    parts.flat_map(|entry| super::nodes::node_list(entry.node).unwrap_or(std::slice::from_ref(&entry.node)))
}

fn object_kind(record: Object<'_>) -> Option<AssistantsObject> {
    AssistantsObject::from_key(text_of(record, AssistantsKey::Object)?)
}

fn is_record(record: Object<'_>) -> bool {
    match object_kind(record) {
        Some(AssistantsObject::Step | AssistantsObject::Message) => true,
        Some(AssistantsObject::Run) => asked_calls(record).is_some(),
        _ => false,
    }
}

/// The calls that a run asks its program for.
fn asked_calls(run: Object<'_>) -> Option<&[Node<'_>]> {
    list_of(object_of(object_of(run, AssistantsKey::Waits)?, AssistantsKey::Asks)?, AssistantsKey::Calls)
}

/// The record in a streamed event that was written as an object.
fn unframe_record(frame: Object<'_>) -> Object<'_> {
    let inner = text_of(frame, AssistantsKey::Event).and_then(|_| object_of(frame, AssistantsKey::Data));
    inner.unwrap_or(frame)
}

fn is_end(frame: Object<'_>) -> bool {
    text_of(frame, AssistantsKey::Event).and_then(AssistantsEvent::from_key).is_some()
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut records = Vec::new();
    let (mut places, mut pieces, mut with_steps) = (FxHashMap::default(), Vec::new(), false);
    let goes_on = |page: Object<'run>| {
        matches!(page.field(AssistantsKey::More).map(|more| more.value), Some(Value::Boolean(true)))
    };
    // The rest of a list stands on other pages; of several pages the last one says whether there are more.
    let last_page = items_of::<AssistantsKey>(root, &[])
        .iter()
        .filter_map(|node| node_object(*node))
        .rfind(|page| list_of(*page, AssistantsKey::Data).is_some());
    let mut is_open = last_page.or(node_object(*root)).is_some_and(goes_on);
    let is_holder = |object: &Object<'run>| object_kind(*object).is_none() && !holds_records(*object);
    let parts: Vec<_> = node_object(*root).filter(is_holder).into_iter().flat_map(parts_of).collect();
    is_open |= parts.iter().filter_map(|node| node_object(**node)).any(goes_on);
    let listed = if parts.is_empty() { items_of(root, &[AssistantsKey::Data]).iter().collect() } else { parts };
    for node in listed {
        // Pages of a list stand one behind the other.
        let page = node_object(*node).and_then(|page| list_of(page, AssistantsKey::Data));
        for node in page.unwrap_or(std::slice::from_ref(node)) {
            builder.count_record();
            let record = node_object(*node).map(unframe_record);
            if record.is_some_and(is_end) {
                continue;
            }
            match record.zip(record.and_then(object_kind)) {
                Some((piece, AssistantsObject::Piece)) => pieces.push((*node, text_of(piece, AssistantsKey::Id))),
                Some((record, kind)) => {
                    with_steps |= kind == AssistantsObject::Step;
                    // A step that was asked for again says how it went on.
                    let id = text_of(record, AssistantsKey::Id);
                    let sign = id.map(|id| (id, text_of(record, AssistantsKey::Type)));
                    let place = sign.map_or(records.len(), |sign| *places.entry(sign).or_insert(records.len()));
                    match records.get_mut(place) {
                        Some(known) => *known = (*node, kind, record),
                        None => records.push((*node, kind, record)),
                    }
                }
                None => builder.skip_value(node, "what is no step of a run and no message is skipped"),
            }
        }
    }
    let whole: FxHashSet<_> = records.iter().filter_map(|(_, _, record)| text_of(*record, AssistantsKey::Id)).collect();
    for (node, _) in pieces.iter().filter(|(_, id)| id.is_none_or(|id| !whole.contains(id))) {
        builder.skip_record(node.origin, "a piece of what does not come whole is skipped");
    }
    let at = |record: Object<'_>| {
        let time = record.field(AssistantsKey::Created).and_then(instant_node);
        time.and_then(|time| time::to_milliseconds(&time.value)).unwrap_or(f64::INFINITY)
    };
    // The newest stand first where times fall; equal times keep that direction.
    let falls = records.first().zip(records.last()).is_some_and(|(first, last)| at(first.2) > at(last.2));
    if falls {
        records.reverse();
    }
    records.sort_by(|a, b| at(a.2).total_cmp(&at(b.2)));
    let asking: Vec<_> = records.iter().filter_map(|(_, _, record)| asked_calls(*record)).collect();
    with_steps |= !asking.is_empty();
    let mut conversation = ConversationBuilder::new(builder);
    // What a run tells of its tokens holds those of its steps.
    let summed_up: FxHashSet<_> = records
        .iter()
        .filter(|(_, kind, run)| *kind == AssistantsObject::Run && object_of(*run, AssistantsKey::Usage).is_some())
        .filter_map(|(_, _, run)| text_of(*run, AssistantsKey::Id))
        .collect();
    for (node, kind, record) in records {
        if text_of(record, AssistantsKey::Run).is_none_or(|run| !summed_up.contains(run)) {
            count_usage(&mut conversation, record);
        }
        is_open |= text_of(record, AssistantsKey::Status).and_then(AssistantsOpenWord::from_key).is_some();
        match kind {
            AssistantsObject::Step => add_step(&mut conversation, node, record),
            AssistantsObject::Message => add_message(&mut conversation, node, record),
            AssistantsObject::Run => {
                conversation.builder.set_some(of_run::ID, value_of(record, AssistantsKey::Id));
                conversation.add_meta(of_meta::MODEL, value_of(record, AssistantsKey::Model));
                set_error(&mut conversation, record);
            }
            AssistantsObject::Piece | AssistantsObject::Silent => {}
        }
    }
    // A step has them, too, where the steps are there.
    let meta = StepMeta::default();
    for asked in asking {
        for (at, call) in conversation.builder.record_objects(asked) {
            if text_of(call, AssistantsKey::Id).and_then(|id| conversation.find_call(id)).is_none() {
                add_call(&mut conversation, at, call, (&meta, &meta), None);
            }
        }
    }
    let builder = conversation.finish_run();
    if is_open {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    if !with_steps {
        builder.add_warning(root.origin, "calls count as not recorded: the messages of a thread do not tell of them");
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}

fn set_error<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, record: Object<'run>) -> Option<Node<'run>> {
    let error = value_of(record, AssistantsKey::Error)?;
    let why = node_object(error).and_then(|error| value_of(error, AssistantsKey::Why)).unwrap_or(error);
    conversation.builder.set_entry(of_run::ERROR, why);
    Some(why)
}

fn count_usage<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, record: Object<'run>) {
    if let Some(counts) = object_of(record, AssistantsKey::Usage) {
        let mut usage = TokenUsage::default();
        usage.add_usage(counts);
        conversation.usage.merge_usage(&usage);
    }
}

fn add_message<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, message: Object<'run>) {
    let time = message.field(AssistantsKey::Created).and_then(instant_node);
    let meta = StepMeta { time, ..StepMeta::default() };
    let speaker = match text_of(message, AssistantsKey::Role).and_then(AssistantsRole::from_key) {
        Some(AssistantsRole::User) => Speaker::User,
        Some(AssistantsRole::Assistant) => Speaker::Assistant,
        None => return conversation.builder.note_unknown(node.origin, super::unknown::UNKNOWN_ROLE),
    };
    if speaker == Speaker::User {
        conversation.note_input();
    }
    let Some(content) = message.field(AssistantsKey::Content) else { return };
    let Some(blocks) = super::nodes::node_list(content) else {
        return conversation.add_content(speaker, content, &meta, node.origin);
    };
    for (at, block) in conversation.builder.record_objects(blocks) {
        match text_of(block, AssistantsKey::Type).and_then(AssistantsBlock::from_key) {
            Some(AssistantsBlock::Text) => {
                let words = block.field(AssistantsKey::Text);
                let words = words.map(|words| {
                    node_object(words).and_then(|words| words.field(AssistantsKey::Value)).unwrap_or(words)
                });
                words.into_iter().for_each(|words| conversation.add_message(speaker, words, &meta, at.origin));
            }
            Some(AssistantsBlock::Refusal) => {
                let words = block.field(AssistantsKey::Refusal);
                words.into_iter().for_each(|words| conversation.add_message(speaker, words, &meta, at.origin));
            }
            Some(AssistantsBlock::Silent) => {}
            None => conversation.builder.note_unknown(at.origin, super::blocks::UNKNOWN),
        }
    }
}

fn add_step<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, node: Node<'run>, step: Object<'run>) {
    let time = |field| step.field(field).and_then(instant_node);
    let start = StepMeta { time: time(AssistantsKey::Created), ..StepMeta::default() };
    let end = StepMeta { time: time(AssistantsKey::Completed), ..StepMeta::default() };
    if !conversation.builder.has_entry(of_run::ID) {
        conversation
            .builder
            .set_some(of_run::ID, value_of(step, AssistantsKey::Run).filter(|id| node_text(*id).is_some()));
    }
    let error = set_error(conversation, step);
    let details = object_of(step, AssistantsKey::Details);
    let type_of = |object| text_of(object, AssistantsKey::Type).map(AssistantsStepType::from_key);
    // The step and its details say the same.
    let is_known = type_of(step).is_none_or(|kind| kind.is_some());
    let kind = details.and_then(type_of).flatten().filter(|_| is_known);
    match (kind, details) {
        (Some(AssistantsStepType::Message), _) => {}
        (Some(AssistantsStepType::Calls), Some(details)) => {
            conversation.begin_turn();
            let calls = list_of(details, AssistantsKey::Calls).unwrap_or_default();
            for (at, call) in conversation.builder.record_objects(calls) {
                add_call(conversation, at, call, (&start, &end), error);
            }
        }
        _ => conversation.builder.skip_record(node.origin, "a step of unknown type is skipped"),
    }
}

/// A call names its tool in `function`, beside its arguments, or by its type alone.
fn add_call<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    call: Object<'run>,
    (start, end): (&StepMeta<'run>, &StepMeta<'run>),
    error: Option<Node<'run>>,
) {
    let kind = call.field(AssistantsKey::Type);
    let held = kind.and_then(node_text).and_then(|kind| call.get(kind)).and_then(node_object);
    if kind.and_then(node_text).is_none_or(|kind| AssistantsToolType::from_key(kind).is_none()) {
        conversation
            .builder
            .note_unknown(node.origin, "a call of unknown type may be one of a tool that it names otherwise");
    }
    let function = object_of(call, AssistantsCallKey::Function);
    let inside = function.or(held).unwrap_or(call);
    // Every function has a name of its own: `function` is the name of none.
    let named = value_of(inside, AssistantsCallKey::Name).or(function.map(|_| Node::computed(Value::Null)));
    // What the type names holds what the tool was given, and what it gave beside it.
    let of_type = || {
        let is_given = |key: &str| {
            !matches!(AssistantsCallKey::from_key(key), Some(AssistantsCallKey::Output | AssistantsCallKey::About))
        };
        let given = held?.entries().iter().filter(|entry| is_given(entry.key)).copied();
        Some(conversation.builder.object_node(&given.collect::<Vec<_>>()))
    };
    let args = value_of(inside, AssistantsCallKey::Arguments);
    let made = ToolCall {
        tool: named.or(kind).unwrap_or(Node::computed(Value::Null)),
        args: args.or_else(|| of_type().filter(|_| named.is_none())),
        id: call.field(AssistantsKey::Id),
        origin: node.origin,
    };
    let Some(step) = conversation.add_call(made, start) else { return };
    let result = value_of(inside, AssistantsCallKey::Output);
    let status = error.map(|_| StepStatus::Failed);
    if result.is_some() || error.is_some() {
        conversation.end_within(step, CallResult { result, error, status, ..CallResult::default() }, end);
    }
}
