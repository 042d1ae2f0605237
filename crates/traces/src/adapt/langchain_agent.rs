//! What LangChain's agents give back: `input`, `output` and the `intermediate_steps` between them, each an action and what was observed.

use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_object, node_text};
use super::printed_messages::parse_fields;
use super::run_builder::RunBuilder;
use super::unknown::NoTool;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;

key_table! {
    LangChainAgentKey {
        Input = "input" | "question" | "query",
        Output = "output",
        /// n8n writes names in the way of JavaScript.
        Steps = "intermediate_steps" | "intermediateSteps",
        Action = "action",
        Observation = "observation",
        Tool = "tool",
        Given = "tool_input" | "toolInput",
        Id = "tool_call_id" | "toolCallId",
        Log = "log",
        Kwargs = "kwargs",
    }
}

key_table! {
    /// The names of the constructors, which `repr` writes.
    PrintedAction {
        Any = "AgentAction" | "AgentActionMessageLog" | "ToolAgentAction" | "OpenAIToolAgentAction",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "LangChain agent result",
    known_by: "`intermediate_steps` of actions with `tool` and `tool_input`",
    description: "results of LangChain's agents (`input`, `output`, `intermediate_steps`, whose actions may be printed)",
    marks: LangChainAgentKey::Steps.keys(),
    object: |object| {
        let has = |field| value_of(object, field).is_some();
        list_of(object, LangChainAgentKey::Steps).is_some_and(|steps| {
            steps.iter().any(|step| action_of(*step).is_some() || printed_in(*step).is_some())
                || steps.is_empty() && has(LangChainAgentKey::Input) && has(LangChainAgentKey::Output)
        })
    },
    read: read_run,
    ..IN_FULL
};

/// A step is a pair, or an object with two keys.
fn parts_of(step: Node<'_>) -> Option<(Node<'_>, Option<Node<'_>>)> {
    match step.value {
        Value::List([action, rest @ ..]) => Some((*action, rest.first().copied())),
        Value::Object(step) => {
            Some((value_of(step, LangChainAgentKey::Action)?, value_of(step, LangChainAgentKey::Observation)))
        }
        _ => None,
    }
}

/// The fields of an action that Python printed, and what stands between them: what is no JSON `json.dumps(…, default=str)` writes so.
fn printed_in(step: Node<'_>) -> Option<(&str, &'static str)> {
    let text = node_text(parts_of(step)?.0)?;
    let inside = || {
        let (class, fields) = text.split_once('(')?;
        fields.strip_suffix(')').filter(|_| PrintedAction::from_key(class).is_some())
    };
    let (fields, between) = inside().map_or((text, ""), |fields| (fields, ","));
    let is_own = fields.starts_with("tool=") && fields.contains(" tool_input=");
    is_own.then_some((fields, between))
}

fn read_printed<'run>(
    step: Node<'run>,
    builder: &RunBuilder<'run, '_>,
) -> Option<(Node<'run>, Object<'run>, Option<Node<'run>>)> {
    let ((fields, between), (action, observed)) = (printed_in(step)?, parts_of(step)?);
    Some((action, parse_fields(fields, between, builder.arena, builder.limits)?, observed))
}

fn action_of(step: Node<'_>) -> Option<(Node<'_>, Object<'_>, Option<Node<'_>>)> {
    let (action, observed) = parts_of(step)?;
    let object = node_object(action)?;
    // An object of LangChain's own is written as its constructor.
    let inside = value_of(object, LangChainAgentKey::Kwargs).and_then(node_object).unwrap_or(object);
    inside.field(LangChainAgentKey::Tool).map(|_| (action, inside, observed))
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let Some(run) = node_object(root) else { return Ok(()) };
    let mut conversation = ConversationBuilder::new(builder);
    let meta = StepMeta::default();
    if let Some(asked) = value_of(run, LangChainAgentKey::Input).filter(|asked| node_text(*asked).is_some()) {
        conversation.add_message(Speaker::User, asked, &meta, asked.origin);
    }
    for node in list_of(run, LangChainAgentKey::Steps).unwrap_or_default() {
        conversation.builder.count_record();
        let Some((at, action, observed)) = action_of(*node).or_else(|| read_printed(*node, conversation.builder))
        else {
            conversation.builder.skip_value(node, "a step without its action is skipped");
            continue;
        };
        if let Some(log) = value_of(action, LangChainAgentKey::Log) {
            conversation.add_message(Speaker::Thinking, log, &meta, at.origin);
        }
        if node_text(value_of(action, LangChainAgentKey::Tool).unwrap_or(at)).and_then(NoTool::from_key).is_some() {
            observed.into_iter().for_each(|told| conversation.add_message(Speaker::System, told, &meta, at.origin));
            continue;
        }
        let made = ToolCall {
            tool: action.field(LangChainAgentKey::Tool).unwrap_or(at),
            args: value_of(action, LangChainAgentKey::Given),
            id: value_of(action, LangChainAgentKey::Id),
            origin: at.origin,
        };
        if let Some((call, result)) = conversation.add_call(made, &meta).zip(observed) {
            conversation.end_call(call, CallResult { result: Some(result), ..CallResult::default() }, &meta);
        }
    }
    if let Some(answer) = value_of(run, LangChainAgentKey::Output) {
        conversation.add_message(Speaker::Assistant, answer, &meta, answer.origin);
        conversation.builder.set_entry(of_run::OUTPUT, answer);
    }
    conversation.finish_run();
    Ok(())
}
