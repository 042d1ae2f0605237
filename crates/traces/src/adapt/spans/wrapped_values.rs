//! What tools were given and gave, without what dialects wrap it into.

use super::attributes::{Fact, SpanFacts};
use super::exchange::ToolResult;
use super::node_text;
use super::span_messages::{self, Holder};
use crate::adapt::calls;
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_list, node_object};
use crate::adapt::run_builder::RunBuilder;
use crate::scan::AnyWord;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use averment_runs::normal::of_step;
use std::sync::LazyLock;

pub(crate) fn unwrap_args<'run>(facts: &SpanFacts<'run>, builder: &mut RunBuilder<'run, '_>) -> Option<Node<'run>> {
    if let Some(given) = facts.fact_node(Fact::Args) {
        let args = calls::parse_arguments(builder, given);
        let inner = node_object(args).and_then(|given| inputs_of_tool(given).or_else(|| inputs_of_step(given)));
        return Some(inner.unwrap_or(args));
    }
    if let Some(input) = facts.fact_node(Fact::Input) {
        let args = calls::parse_arguments(builder, input);
        let of_step = node_object(args).and_then(inputs_of_step);
        return Some(of_step.unwrap_or_else(|| schema_args(args, facts, builder)));
    }
    // Under this name some write what a tool takes, and some what it is given.
    let parameters = facts.fact_node(Fact::Parameters).map(|node| calls::parse_arguments(builder, node))?;
    node_object(parameters).filter(|object| !is_schema(*object)).map(|_| parameters)
}

pub(super) fn are_written(args: Node<'_>) -> bool {
    let Value::Text(text) = args.value else { return false };
    static WRAPPERS: LazyLock<AnyWord> =
        LazyLock::new(|| AnyWord::new(&[WrapperKey::Written.keys(), WrapperKey::Named.keys(), &[ESCAPE]]));
    let is_object = text.raw_text().starts_with('{') && args.origin.byte_range().is_some();
    is_object && !WRAPPERS.is_in(text.raw_text())
}

key_table! {
    WrapperKey {
        Positional = "args",
        Named = "kwargs",
        Inputs = "inputs",
        Event = "ev",
        OfTool = "tool_kwargs",
        /// The same for people, beside them.
        Written = "input_str",
        Type = "type",
        Properties = "properties",
        Output = "output",
        Outputs = "outputs",
        Id = "id",
        Name = "name",
        Response = "response",
    }
}

/// OpenLLMetry's record of a LangChain tool: all inputs, arguments included.
fn inputs_of_tool<'run>(run: Object<'run>) -> Option<Node<'run>> {
    let inputs = value_of(run, WrapperKey::Inputs).filter(|inputs| node_object(*inputs).is_some());
    inputs.filter(|_| value_of(run, WrapperKey::Written).is_some())
}

/// What a step of LlamaIndex's workflow calls a tool with, and what the tool inside of it is given.
fn inputs_of_step<'run>(given: Object<'run>) -> Option<Node<'run>> {
    let is_object = |node: &Node<'run>| node_object(*node).is_some();
    let event = value_of(given, WrapperKey::Event).and_then(node_object);
    let of_event = event.and_then(|event| value_of(event, WrapperKey::OfTool));
    let alone = || value_of(given, WrapperKey::Named).filter(|_| given.entries().len() == 1);
    of_event.or_else(alone).filter(is_object)
}

/// By name, or by position with names from the tool's schema.
fn schema_args<'run>(args: Node<'run>, facts: &SpanFacts<'run>, builder: &mut RunBuilder<'run, '_>) -> Node<'run> {
    let Some(call) = node_object(args) else { return args };
    if let Some(inputs) = value_of(call, WrapperKey::Inputs).filter(|inputs| node_object(*inputs).is_some()) {
        return inputs;
    }
    let (Some(positional), Some(named)) = (
        value_of(call, WrapperKey::Positional).and_then(node_list),
        value_of(call, WrapperKey::Named).filter(|named| node_object(*named).is_some()),
    ) else {
        return args;
    };
    if positional.is_empty() {
        return named;
    }
    let takes =
        facts.fact_node(Fact::Parameters).map(|node| calls::parse_arguments(builder, node)).and_then(node_object);
    let names: Vec<&str> = takes.map_or(&[][..], |takes| takes.entries()).iter().map(|entry| entry.key).collect();
    if names.len() < positional.len() {
        return args;
    }
    let by_place = names.iter().zip(positional).map(|(key, node)| ObjectEntry { key, node: *node });
    let by_name = node_object(named).map_or(&[][..], |named| named.entries()).iter().copied();
    let entries: Vec<ObjectEntry<'run>> = by_place.chain(by_name).collect();
    builder.object_node(&entries)
}

/// A schema, or a type per name.
fn is_schema(object: Object<'_>) -> bool {
    let has_type = |node: Node<'_>| {
        crate::adapt::nodes::node_object(node).is_some_and(|inner| value_of(inner, WrapperKey::Type).is_some())
    };
    value_of(object, WrapperKey::Properties).is_some()
        || !object.entries().is_empty() && object.entries().iter().all(|entry| has_type(entry.node))
}

pub(super) fn unwrap_run<'run>(node: Node<'run>) -> Option<Node<'run>> {
    let run = node_object(node).filter(|run| value_of(*run, WrapperKey::Named).is_some())?;
    [WrapperKey::Inputs, WrapperKey::Outputs].into_iter().find_map(|word| value_of(run, word))
}

/// Unwraps `outputs` or `output` beside `kwargs`, `output` in those, and a sole `output`.
pub(super) fn unwrap_answer<'run>(node: Node<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    const DEEP: usize = 3;
    let (mut found, mut is_in_run) = (None, false);
    for _ in 0..DEEP {
        let Some(outer) = node_object(span_messages::read_node(found.unwrap_or(node), builder)) else { break };
        let is_run = value_of(outer, WrapperKey::Named).is_some();
        let outputs = value_of(outer, WrapperKey::Outputs).filter(|_| is_run);
        let is_alone = outer.entries().len() == 1;
        let output = value_of(outer, WrapperKey::Output).filter(|_| is_run || is_in_run || is_alone);
        let Some(inner) = outputs.or(output) else { break };
        is_in_run |= is_run;
        found = Some(span_messages::read_node(inner, builder));
    }
    found
}

/// Unwraps LangChain results and messages. Text may also state an error.
pub(super) fn tool_result<'run>(facts: &SpanFacts<'run>, builder: &RunBuilder<'run, '_>) -> Option<ToolResult<'run>> {
    let gave = facts.fact_node(Fact::Result).or_else(|| facts.fact_node(Fact::Output))?;
    if matches!(gave.value, Value::Text(text) if !may_say_more(text.raw_text())) {
        return Some(ToolResult { id: None, tool: None, result: gave, failed: None });
    }
    let read = span_messages::read_node(gave, builder);
    if let Some(result) = node_object(read).and_then(|response| is_function_schema(response, facts)) {
        let failed = says_failed(result).then_some(true);
        return Some(ToolResult { id: None, tool: None, result, failed });
    }
    let output = node_object(read).and_then(|outer| Some((outer, value_of(outer, WrapperKey::Output)?)));
    let of_run = output.filter(|(outer, _)| value_of(*outer, WrapperKey::Named).is_some()).map(|(_, output)| output);
    let alone = output.filter(|(outer, _)| outer.entries().len() == 1).map(|(_, output)| output);
    let gave_so = of_run.or(alone).unwrap_or(read);
    let (told, value) = match span_messages::message_result(gave_so, builder)
        .or_else(|| span_messages::printed_message(gave_so, builder))
    {
        Some(told) => (told, span_messages::read_node(told.result, builder)),
        None => {
            let told = ToolResult { id: None, tool: None, result: of_run.unwrap_or(gave), failed: None };
            (told, of_run.map_or(read, |output| span_messages::read_node(output, builder)))
        }
    };
    Some(ToolResult { failed: if says_failed(value) { Some(true) } else { told.failed }, ..told })
}

/// A Google function response, without name and id.
fn is_function_schema<'run>(response: Object<'run>, facts: &SpanFacts<'run>) -> Option<Node<'run>> {
    let is_of_tool = facts.fact_node(Fact::Tool).is_some_and(|tool| {
        let name = value_of(response, WrapperKey::Name).and_then(node_text);
        name.is_some() && node_text(tool) == name
    });
    let may_stand = |key: &str| {
        [WrapperKey::Name, WrapperKey::Id, WrapperKey::Response].iter().any(|word| word.keys().contains(&key))
    };
    let inner = value_of(response, WrapperKey::Response).filter(|_| is_of_tool)?;
    response.entries().iter().all(|entry| may_stand(entry.key)).then_some(inner)
}

/// Cheap test of raw text for wrapper or error words.
fn may_say_more(raw: &str) -> bool {
    static WORDS: LazyLock<AnyWord> = LazyLock::new(|| {
        AnyWord::new(&[
            WrapperKey::Output.keys(),
            WrapperKey::Response.keys(),
            Holder::Call.keys(),
            &of_step::IS_ERROR,
            &[of_step::ERROR, ESCAPE],
        ])
    });
    WORDS.is_in(raw)
}

/// Any letter may be escaped so.
const ESCAPE: &str = "\\u";

/// MCP's error flag, or nothing but an error.
fn says_failed(result: Node<'_>) -> bool {
    let Some(object) = node_object(result) else { return false };
    let is_true = |key: &&str| matches!(object.get(key).map(|node| node.value), Some(Value::Boolean(true)));
    let only_error = match object.entries() {
        [only] => only.key == of_step::ERROR && !matches!(only.node.value, Value::Null | Value::Boolean(false)),
        _ => false,
    };
    only_error || of_step::IS_ERROR.iter().any(is_true)
}
