//! What tools were given and gave, without what dialects wrap it into.

use super::attributes::{Fact, SpanFacts, names};
use super::exchange::ToolResult;
use super::span_messages::{self, SpanMessageKey};
use super::text_of_node;
use crate::adapt::run_builder::RunBuilder;
use crate::adapt::printed_messages::{self, PrintedMessage};
use crate::adapt::{calls, node_list, node_object};
use averment_base::value::{ObjectEntry, Node, Object, Value};
use averment_runs::normal::of_step;
use averment_runs::run::StepStatus;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Arguments that may be JSON inside of text, without what some wrap them into.
pub(crate) fn unwrap_args<'run>(facts: &SpanFacts<'run>, draft: &mut RunBuilder<'run, '_>) -> Option<Node<'run>> {
    if let Some(given) = facts.fact_node(Fact::Args) {
        let args = calls::parse_arguments(draft, given);
        return Some(node_object(args).and_then(inputs_of_tool).unwrap_or(args));
    }
    if let Some(input) = facts.fact_node(Fact::Input) {
        let args = calls::parse_arguments(draft, input);
        return Some(schema_args(args, facts, draft));
    }
    // Under this name some write what a tool takes, and some what it is given.
    let parameters = facts.fact_node(Fact::Parameters).map(|node| calls::parse_arguments(draft, node))?;
    node_object(parameters).filter(|object| !is_schema(*object)).map(|_| parameters)
}

/// Whether arguments are an object of JSON in a text that nothing is wrapped around.
pub(super) fn are_written(args: Node<'_>) -> bool {
    let Value::Text(text) = args.value else { return false };
    let may_be_wrapped = |raw: &str| {
        let names = WrapperKey::Written.names().iter();
        raw.contains(ESCAPE)
            || names.clone().any(|name| memchr::memmem::find(raw.as_bytes(), name.as_bytes()).is_some())
    };
    text.raw_text().starts_with('{') && args.origin.byte_range().is_some() && !may_be_wrapped(text.raw_text())
}

names! {
    /// What wraps the arguments of a function.
    WrapperKey {
        Positional = ["args"],
        Named = ["kwargs"],
        Inputs = ["inputs"],
        /// The same as it is written for people, beside them.
        Written = ["input_str"],
        Type = ["type"],
        Properties = ["properties"],
        Output = ["output"],
        Outputs = ["outputs"],
        Id = ["id"],
        Name = ["name"],
        Response = ["response"],
    }
}

fn find_key<'run>(object: Object<'run>, wanted: WrapperKey) -> Option<Node<'run>> {
    wanted.find(object)
}

/// What OpenLLMetry writes of a tool of LangChain: all that its run was begun with, the arguments among it.
fn inputs_of_tool<'run>(run: Object<'run>) -> Option<Node<'run>> {
    let inputs = find_key(run, WrapperKey::Inputs).filter(|inputs| node_object(*inputs).is_some());
    inputs.filter(|_| find_key(run, WrapperKey::Written).is_some())
}

/// Arguments as the function was given them: by name, or by their places, whose names stand in what the tool takes.
fn schema_args<'run>(args: Node<'run>, facts: &SpanFacts<'run>, draft: &mut RunBuilder<'run, '_>) -> Node<'run> {
    let Some(call) = node_object(args) else { return args };
    if let Some(inputs) = find_key(call, WrapperKey::Inputs).filter(|inputs| node_object(*inputs).is_some()) {
        return inputs;
    }
    let (Some(positional), Some(named)) = (
        find_key(call, WrapperKey::Positional).and_then(node_list),
        find_key(call, WrapperKey::Named).filter(|named| node_object(*named).is_some()),
    ) else {
        return args;
    };
    if positional.is_empty() {
        return named;
    }
    let takes = facts.fact_node(Fact::Parameters).map(|node| calls::parse_arguments(draft, node)).and_then(node_object);
    let names: Vec<&str> = takes.map_or(&[][..], |takes| takes.entries()).iter().map(|entry| entry.key).collect();
    if names.len() < positional.len() {
        return args;
    }
    let by_place = names.iter().zip(positional).map(|(key, node)| ObjectEntry { key, node: *node });
    let by_name = node_object(named).map_or(&[][..], |named| named.entries()).iter().copied();
    let entries: Vec<ObjectEntry<'run>> = by_place.chain(by_name).collect();
    draft.object_node(&entries)
}

/// Whether an object says what a tool takes: a schema, or an object with a type for each name.
fn is_schema(object: Object<'_>) -> bool {
    let has_type =
        |node: Node<'_>| super::super::node_object(node).is_some_and(|inner| find_key(inner, WrapperKey::Type).is_some());
    find_key(object, WrapperKey::Properties).is_some()
        || !object.entries().is_empty() && object.entries().iter().all(|entry| has_type(entry.node))
}

/// What OpenLLMetry writes of a run of LangChain: what it was given, or what it gave.
pub(super) fn unwrap_run<'run>(node: Node<'run>) -> Option<Node<'run>> {
    let run = node_object(node).filter(|run| find_key(*run, WrapperKey::Named).is_some())?;
    [WrapperKey::Inputs, WrapperKey::Outputs].into_iter().find_map(|word| find_key(run, word))
}

/// What a run gave, without what OpenLLMetry and LangChain wrap it into: `outputs` or `output` beside `kwargs`, the `output` in those,
/// and an `output` that stands alone.
pub(super) fn unwrap_answer<'run>(node: Node<'run>, draft: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    /// So many stand in each other.
    const DEEP: usize = 3;
    let (mut found, mut is_in_run) = (None, false);
    for _ in 0..DEEP {
        let Some(outer) = node_object(span_messages::read_node(found.unwrap_or(node), draft)) else { break };
        let is_run = find_key(outer, WrapperKey::Named).is_some();
        let outputs = find_key(outer, WrapperKey::Outputs).filter(|_| is_run);
        let is_alone = outer.entries().len() == 1;
        let output = find_key(outer, WrapperKey::Output).filter(|_| is_run || is_in_run || is_alone);
        let Some(inner) = outputs.or(output) else { break };
        is_in_run |= is_run;
        found = Some(span_messages::read_node(inner, draft));
    }
    found
}

/// What a tool gave, without what some wrap it into: what a run of LangChain ended with, a message to the model. A result in text
/// may say that it is an error, too.
pub(super) fn tool_result<'run>(facts: &SpanFacts<'run>, draft: &RunBuilder<'run, '_>) -> Option<ToolResult<'run>> {
    let gave = facts.fact_node(Fact::Result).or_else(|| facts.fact_node(Fact::Output))?;
    if matches!(gave.value, Value::Text(text) if !may_say_more(text.raw_text())) {
        return Some(ToolResult { id: None, tool: None, result: gave, failed: None });
    }
    let read = span_messages::read_node(gave, draft);
    if let Some(result) = node_object(read).and_then(|response| is_function_schema(response, facts)) {
        let failed = says_failed(result).then_some(true);
        return Some(ToolResult { id: None, tool: None, result, failed });
    }
    let output = node_object(read).and_then(|outer| Some((outer, find_key(outer, WrapperKey::Output)?)));
    let of_run = output.filter(|(outer, _)| find_key(*outer, WrapperKey::Named).is_some()).map(|(_, output)| output);
    let alone = output.filter(|(outer, _)| outer.entries().len() == 1).map(|(_, output)| output);
    let gave_so = of_run.or(alone).unwrap_or(read);
    let (told, value) = match span_messages::message_result(gave_so, draft).or_else(|| printed_message(gave_so, draft)) {
        Some(told) => (told, span_messages::read_node(told.result, draft)),
        None => {
            let told = ToolResult { id: None, tool: None, result: of_run.unwrap_or(gave), failed: None };
            (told, of_run.map_or(read, |output| span_messages::read_node(output, draft)))
        }
    };
    Some(ToolResult { failed: if says_failed(value) { Some(true) } else { told.failed }, ..told })
}

/// What a response of Google's models to the call of a function holds: its name and its id stand beside it.
fn is_function_schema<'run>(response: Object<'run>, facts: &SpanFacts<'run>) -> Option<Node<'run>> {
    let is_of_tool = facts.fact_node(Fact::Tool).is_some_and(|tool| {
        let name = find_key(response, WrapperKey::Name).and_then(text_of_node);
        name.is_some() && text_of_node(tool) == name
    });
    let may_stand =
        |key: &str| [WrapperKey::Name, WrapperKey::Id, WrapperKey::Response].iter().any(|word| word.names().contains(&key));
    let inner = find_key(response, WrapperKey::Response).filter(|_| is_of_tool)?;
    response.entries().iter().all(|entry| may_stand(entry.key)).then_some(inner)
}

/// Whether a text, as it stands between its quotes, has a word of what results are wrapped into, or of what says that they are errors.
fn may_say_more(raw: &str) -> bool {
    static WORDS: LazyLock<Vec<Finder<'static>>> = LazyLock::new(|| {
        let words = [
            WrapperKey::Output.names(),
            WrapperKey::Response.names(),
            SpanMessageKey::Call.names(),
            &of_step::IS_ERROR,
            &[of_step::ERROR, ESCAPE],
        ];
        words.into_iter().flatten().map(Finder::new).collect()
    });
    WORDS.iter().any(|word| word.find(raw.as_bytes()).is_some())
}

/// How a letter may be written, too.
const ESCAPE: &str = "\\u";

/// The message of a tool that a text prints.
fn printed_message<'run>(node: Node<'run>, draft: &RunBuilder<'run, '_>) -> Option<ToolResult<'run>> {
    let PrintedMessage { result, id, tool, status } = printed_messages::parse_printed(node, draft.arena, draft.limits)?;
    let failed = status.filter(|status| *status != StepStatus::Unknown).map(|status| status != StepStatus::Ok);
    Some(ToolResult { id: Some(id), tool, result, failed })
}

/// What is told of a call in a message that says so, without what its content wraps it into.
pub(super) fn unwrap_result<'run>(told: ToolResult<'run>, draft: &RunBuilder<'run, '_>) -> ToolResult<'run> {
    let Some(printed) = printed_message(told.result, draft) else { return told };
    ToolResult {
        id: told.id.or(printed.id),
        tool: told.tool.or(printed.tool),
        result: printed.result,
        failed: told.failed.or(printed.failed),
    }
}

/// Whether a result that is an object says that it is an error: by the flag of MCP, or because it holds nothing else.
fn says_failed(result: Node<'_>) -> bool {
    let Some(object) = node_object(result) else { return false };
    let is_true = |key: &&str| matches!(object.get(key).map(|node| node.value), Some(Value::Boolean(true)));
    let only_error = match object.entries() {
        [only] => only.key == of_step::ERROR && !matches!(only.node.value, Value::Null | Value::Boolean(false)),
        _ => false,
    };
    only_error || of_step::IS_ERROR.iter().any(is_true)
}
