//! Traces of Amazon Bedrock Agents: the events of `InvokeAgent` with their `trace`, in a list, one a line, or under `events`.

use super::called_tools::CalledTools;
use super::calls::TokenUsage;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_object, node_text, object_items, object_of, text_of};
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;

key_table! {
    BedrockEventKey {
        Events = "events" | "traces",
        /// What `InvokeAgent` gives back.
        Answer = "completion",
        Trace = "trace",
        Chunk = "chunk",
        Control = "returnControl",
        Time = "eventTime",
        Agent = "collaboratorName",
        Session = "sessionId",
        AgentId = "agentId",
        /// What the user says, in a request.
        Asked = "inputText",
    }
}

key_table! {
    /// What is handed back to the program that asked, which makes the calls itself.
    BedrockControlKey {
        Calls = "invocationInputs",
        Call = "functionInvocationInput" | "apiInvocationInput",
    }
}

key_table! {
    BedrockTraceKind {
        /// What an agent thinks and does.
        Steps = "orchestrationTrace" | "preProcessingTrace" | "postProcessingTrace" | "routingClassifierTrace",
        Failure = "failureTrace",
        /// What a filter found, of which no rule reads.
        Silent = "guardrailTrace",
    }
}

key_table! {
    BedrockStepKey {
        Call = "invocationInput",
        Given = "observation",
        Thought = "rationale",
        Output = "modelInvocationOutput",
        /// The prompt, which repeats what was said.
        Prompt = "modelInvocationInput",
    }
}

key_table! {
    BedrockKey {
        TraceId = "traceId",
        Text = "text",
        Metadata = "metadata",
        Usage = "usage",
        Type = "type" | "invocationType",
        Function = "function",
        Path = "apiPath",
        Verb = "verb" | "httpMethod",
        Parameters = "parameters",
        Body = "requestBody",
        Content = "content",
        Name = "name",
        Value = "value",
        Collaborator = "agentCollaboratorName",
        Input = "input",
        Output = "output",
        Code = "code",
        /// What was made of the output of the model.
        Parsed = "parsedResponse",
        Result = "executionOutput",
        Error = "executionError",
        Found = "retrievedReferences",
        Why = "failureReason",
    }
}

key_table! {
    /// What is called: the key of an invocation and of its observation.
    BedrockCallKind {
        Action = "actionGroupInvocationInput" | "actionGroupInvocationOutput",
        Knowledge = "knowledgeBaseLookupInput" | "knowledgeBaseLookupOutput",
        Collaborator = "agentCollaboratorInvocationInput" | "agentCollaboratorInvocationOutput",
        Code = "codeInterpreterInvocationInput" | "codeInterpreterInvocationOutput",
        Final = "finalResponse",
        Again = "repromptResponse",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Bedrock Agents trace",
    known_by: "events whose `trace` holds an `orchestrationTrace` or its kin, or such traces alone",
    description: "traces of Amazon Bedrock Agents (`orchestrationTrace`; a list, one a line, or under `events`)",
    marks: &[
        BedrockEventKey::Events.key(),
        BedrockEventKey::Session.key(),
        BedrockEventKey::Trace.key(),
        BedrockEventKey::Control.key(),
        BedrockTraceKind::Steps.key(),
    ],
    near: &[BedrockTraceKind::Steps.key(), BedrockEventKey::Control.key()],
    object: |object| {
        is_event(object)
            || LISTS
                .iter()
                .filter_map(|list| list_of(object, *list))
                .any(|events| object_items(events).any(|(_, event)| is_event(event)))
    },
    item_marks: &[BedrockEventKey::Trace.key(), BedrockEventKey::Control.key(), BedrockTraceKind::Steps.key()],
    element: is_event,
    line: is_event,
    read: read_run,
    ..IN_FULL
};

/// The trace part of an event, and the trace in it.
fn trace_of(event: Object<'_>) -> Option<(Object<'_>, Object<'_>)> {
    let known = |trace: Object<'_>| trace.entries().iter().any(|entry| BedrockTraceKind::from_key(entry.key).is_some());
    // Some programs keep the trace alone.
    if known(event) {
        return Some((event, event));
    }
    let outer = object_of(event, BedrockEventKey::Trace)?;
    if known(outer) {
        return Some((event, outer));
    }
    let inner = object_of(outer, BedrockEventKey::Trace)?;
    (known(inner) || value_of(outer, BedrockEventKey::AgentId).is_some()).then_some((outer, inner))
}

fn is_event(event: Object<'_>) -> bool {
    is_control(event) || is_trace_event(event)
}

fn is_control(event: Object<'_>) -> bool {
    let control = object_of(event, BedrockEventKey::Control);
    control.is_some_and(|control| list_of(control, BedrockControlKey::Calls).is_some())
}

fn is_trace_event(event: Object<'_>) -> bool {
    trace_of(event)
        .is_some_and(|(_, trace)| trace.entries().iter().any(|entry| BedrockTraceKind::from_key(entry.key).is_some()))
}

/// What `InvokeAgent` is asked.
pub(super) fn is_request(request: Object<'_>) -> bool {
    text_of(request, BedrockEventKey::Asked).is_some()
}

/// The events of a streamed answer are read where they stand.
pub(super) fn compose_answer<'run>(events: &'run [Node<'run>], _: &RunBuilder<'run, '_>) -> Option<(Node<'run>, bool)> {
    let is_own = |node: &Node<'run>| node_object(*node).is_some_and(is_event);
    events.iter().any(is_own).then_some((Node::computed(Value::List(events)), true))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::new(builder);
    let mut called = CalledTools::default();
    for node in items_of(root, &LISTS) {
        conversation.builder.count_record();
        let Some(event) = node_object(*node) else {
            conversation.builder.skip_value(node, "what is no event is skipped");
            continue;
        };
        match trace_of(event) {
            Some((part, trace)) => read_trace(&mut conversation, *node, part, trace),
            None if is_control(event) => read_control(&mut conversation, &mut called, event),
            // The answer in pieces stands in the trace, too.
            None if is_request(event) => {
                if let Some(words) = value_of(event, BedrockEventKey::Asked) {
                    conversation.add_message(Speaker::User, words, &StepMeta::default(), node.origin);
                }
            }
            None if value_of(event, BedrockEventKey::Chunk).is_some() && event.entries().len() == 1 => {}
            None => conversation.builder.skip_record(node.origin, "an event without a known `trace` is skipped"),
        }
    }
    conversation.finish_run();
    Ok(())
}

/// Where events stand in an object.
const LISTS: [BedrockEventKey; 2] = [BedrockEventKey::Events, BedrockEventKey::Answer];

fn read_trace<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    part: Object<'run>,
    trace: Object<'run>,
) {
    let agent = value_of(part, BedrockEventKey::Agent);
    if agent.is_none() {
        let id = value_of(part, BedrockEventKey::Session).filter(|id| node_text(*id).is_some());
        conversation.builder.set_some(of_run::ID, id);
    }
    let time = value_of(part, BedrockEventKey::Time);
    let meta = StepMeta { time, agent, aside: agent.is_some() };
    for entry in trace.entries() {
        let inside = node_object(entry.node);
        match (BedrockTraceKind::from_key(entry.key), inside) {
            (Some(BedrockTraceKind::Steps), Some(step)) => read_step(conversation, step, &meta),
            (Some(BedrockTraceKind::Failure), Some(failure)) => {
                conversation.builder.set_some(of_run::ERROR, value_of(failure, BedrockKey::Why));
            }
            (Some(BedrockTraceKind::Silent), _) => {}
            _ if matches!(entry.node.value, Value::Null) => {}
            _ => conversation
                .builder
                .skip_record(node.origin, format!("a trace of unknown kind `{}` is skipped", entry.key)),
        }
    }
}

fn read_step<'run>(conversation: &mut ConversationBuilder<'_, 'run, '_>, step: Object<'run>, meta: &StepMeta<'run>) {
    for entry in step.entries() {
        let (node, inside) = (entry.node, node_object(entry.node));
        match (BedrockStepKey::from_key(entry.key), inside) {
            (Some(BedrockStepKey::Call), Some(call)) => add_calls(conversation, node, call, meta),
            (Some(BedrockStepKey::Given), Some(given)) => add_observation(conversation, node, given, meta),
            (Some(BedrockStepKey::Thought), Some(thought)) => {
                let words = value_of(thought, BedrockKey::Text);
                words
                    .into_iter()
                    .for_each(|words| conversation.add_message(Speaker::Thinking, words, meta, node.origin));
            }
            (Some(BedrockStepKey::Output), Some(output)) => {
                let counts =
                    object_of(output, BedrockKey::Metadata).and_then(|meta| object_of(meta, BedrockKey::Usage));
                if let Some(counts) = counts {
                    let mut usage = TokenUsage::default();
                    usage.add_usage(counts);
                    conversation.usage.merge_usage(&usage);
                }
                // The step behind the others writes the answer anew.
                let parsed =
                    object_of(output, BedrockKey::Parsed).and_then(|parsed| value_of(parsed, BedrockKey::Text));
                parsed
                    .into_iter()
                    .for_each(|words| conversation.add_message(Speaker::Assistant, words, meta, node.origin));
            }
            (Some(BedrockStepKey::Prompt), _) => {}
            _ if inside.is_none() && super::nodes::node_list(node).is_none() => {}
            _ => conversation.builder.skip_record(node.origin, format!("`{}` of a trace is skipped", entry.key)),
        }
    }
}

fn add_calls<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    input: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let id = value_of(input, BedrockKey::TraceId);
    let mut known = false;
    for entry in input.entries() {
        let Some(call) = node_object(entry.node) else { continue };
        let name = |word: &'static str| Some(Node::computed(Value::plain_text(word)));
        let (tool, args) = match BedrockCallKind::from_key(entry.key) {
            Some(BedrockCallKind::Action) => {
                // A group has several actions: its name is that of none.
                let tool = value_of(call, BedrockKey::Function).or_else(|| value_of(call, BedrockKey::Path));
                (tool, action_args(conversation.builder, call))
            }
            Some(BedrockCallKind::Knowledge) => (name("knowledge_base"), Some(entry.node)),
            Some(BedrockCallKind::Collaborator) => {
                (value_of(call, BedrockKey::Collaborator), value_of(call, BedrockKey::Input))
            }
            Some(BedrockCallKind::Code) => (name("code_interpreter"), Some(entry.node)),
            _ => {
                let message = format!("an invocation of unknown kind `{}` is skipped", entry.key);
                conversation.builder.skip_record(entry.node.origin, message);
                continue;
            }
        };
        known = true;
        let tool = tool.unwrap_or(Node::computed(Value::Null));
        conversation.add_call(ToolCall { tool, args, id, origin: entry.node.origin }, meta);
    }
    if !known {
        conversation.builder.skip_record(node.origin, "an invocation of nothing known is skipped");
    }
}

/// The trace tells of these calls, too, where there is one: without a result.
fn read_control<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    called: &mut CalledTools<'run>,
    event: Object<'run>,
) {
    let control = object_of(event, BedrockEventKey::Control);
    let asked = control.and_then(|control| list_of(control, BedrockControlKey::Calls)).unwrap_or_default();
    let mut untold = Vec::new();
    for (node, asked) in conversation.builder.record_objects(asked) {
        let Some(call) = object_of(asked, BedrockControlKey::Call) else {
            conversation.builder.note_unknown(node.origin, "a call of unknown kind is skipped");
            continue;
        };
        let tool = value_of(call, BedrockKey::Function).or_else(|| value_of(call, BedrockKey::Path));
        let told = tool.and_then(node_text).and_then(|tool| called.take_waiting(tool, conversation.builder));
        if told.is_none() {
            untold.push((node, call, tool.unwrap_or(Node::computed(Value::Null))));
        }
    }
    for (node, call, tool) in untold {
        let args = action_args(conversation.builder, call);
        conversation.add_call(ToolCall { tool, args, id: None, origin: node.origin }, &StepMeta::default());
    }
}

/// A parameter has a name, a type and a value.
const PARAMETER: usize = 3;

/// Parameters are a list of names and values; so is the body of a request. One path has several verbs: they stand among its arguments,
/// as a name that depended on the other calls of a run would make a rule about it hold for nothing.
fn action_args<'run>(builder: &RunBuilder<'run, '_>, call: Object<'run>) -> Option<Node<'run>> {
    let body = object_of(call, BedrockKey::Body).and_then(|body| object_of(body, BedrockKey::Content));
    let in_body =
        body.into_iter().flat_map(|body| body.entries()).filter_map(|entry| super::nodes::node_list(entry.node));
    let lists = list_of(call, BedrockKey::Parameters).into_iter().chain(in_body);
    let mut entries: Vec<ObjectEntry<'run>> = Vec::new();
    for (node, one) in lists.flat_map(object_items) {
        match (text_of(one, BedrockKey::Name), one.field(BedrockKey::Value)) {
            (Some(name), Some(value)) if one.entries().len() <= PARAMETER => entries.push(field_entry(name, value)),
            _ => builder.note_unknown(node.origin, "a parameter without `name` and `value` is skipped"),
        }
    }
    let verb = value_of(call, BedrockKey::Verb).filter(|_| value_of(call, BedrockKey::Path).is_some());
    let verb = verb.filter(|_| entries.iter().all(|entry| entry.key != BedrockKey::Verb.key()));
    entries.extend(verb.map(|verb| field_entry(BedrockKey::Verb.key(), verb)));
    Some(builder.object_node(&entries))
}

fn add_observation<'run>(
    conversation: &mut ConversationBuilder<'_, 'run, '_>,
    node: Node<'run>,
    observation: Object<'run>,
    meta: &StepMeta<'run>,
) {
    let id = text_of(observation, BedrockKey::TraceId);
    let mut known = false;
    for entry in observation.entries() {
        let Some(given) = node_object(entry.node) else { continue };
        let text = value_of(given, BedrockKey::Text);
        let (result, tool, error) = match BedrockCallKind::from_key(entry.key) {
            Some(BedrockCallKind::Action) => (text, None, None),
            Some(BedrockCallKind::Knowledge) => (value_of(given, BedrockKey::Found), None, None),
            Some(BedrockCallKind::Collaborator) => {
                let output = value_of(given, BedrockKey::Output);
                let words = output.and_then(node_object).and_then(|output| value_of(output, BedrockKey::Text));
                (words.or(output), text_of(given, BedrockKey::Collaborator), None)
            }
            Some(BedrockCallKind::Code) => {
                let error = value_of(given, BedrockKey::Error).filter(|error| node_text(*error) != Some(""));
                (value_of(given, BedrockKey::Result).or(error), None, error)
            }
            Some(BedrockCallKind::Final) => {
                known = true;
                let speaker = Speaker::Assistant;
                text.into_iter().for_each(|words| conversation.add_message(speaker, words, meta, entry.node.origin));
                continue;
            }
            // The model is told that it wrote what cannot be read.
            Some(BedrockCallKind::Again) => {
                known = true;
                text.into_iter()
                    .for_each(|words| conversation.add_message(Speaker::System, words, meta, entry.node.origin));
                continue;
            }
            None if BedrockKey::from_key(entry.key) == Some(BedrockKey::Metadata) => continue,
            None => {
                let message = format!("an observation of unknown kind `{}` is skipped", entry.key);
                conversation.builder.skip_record(entry.node.origin, message);
                continue;
            }
        };
        known = true;
        let status = error.map(|_| StepStatus::Failed);
        let outcome = CallResult { result, error, status, ..CallResult::default() };
        let meta = StepMeta { agent: None, ..*meta };
        conversation.add_result(id, tool, outcome, &meta, entry.node.origin);
    }
    if !known {
        conversation.builder.skip_record(node.origin, "an observation of nothing known is skipped");
    }
}
