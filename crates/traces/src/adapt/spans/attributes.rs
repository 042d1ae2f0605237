//! The attributes of spans: what the names of each dialect mean. A dialect is nothing but names here.

use super::super::nodes::{node_list, node_object};
use super::super::run_builder::RunBuilder;
use crate::adapt::fields::{TableRow, key_table, value_of};
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Number, Object, ObjectEntry, Value};

macro_rules! ways {
    ($(#[$about:meta])* $name:ident = [$([$($key:literal),+ $(,)?]),+ $(,)?];) => {
        $(#[$about])*
        const $name: &[&[&str]] = &[$(&[$($key),+]),+];
    };
}
pub(crate) use ways;

key_table! {
    /// A fact that an attribute states. The current convention's name comes first.
    Fact {
        Operation = "gen_ai.operation.name",
        Kind = "openinference.span.kind" | "traceloop.span.kind" | "span_kind" | "mlflow.spanType"
            | "lmnr.span.type",
        FunctionOfSdk = "ai.operationId",
        RequestType = "llm.request.type",
        Tool = "gen_ai.tool.name" | "tool.name" | "ai.toolCall.name" | "tool_call.function.name",
        CallId = "gen_ai.tool.call.id" | "tool_call.id" | "tool.id" | "ai.toolCall.id" | "tool.call_id",
        Args = "gen_ai.tool.call.arguments" | "gcp.vertex.agent.tool_call_args" | "ai.toolCall.args" | "ai.toolCall.input"
            | "tool_arguments" | "gen_ai.tool.arguments" | "gen_ai.tool.args" | "gen_ai.tool.input" | "tool.arguments"
            | "tool_call.function.arguments",
        Result = "gen_ai.tool.call.result" | "gcp.vertex.agent.tool_response" | "ai.toolCall.result" | "ai.toolCall.output"
            | "tool_response" | "gen_ai.tool.result" | "gen_ai.tool.output" | "gen_ai.tool.message",
        /// The tool's schema; some write its input here.
        Parameters = "tool.parameters" | "tool.json_schema",
        /// Input and output, whatever the span does.
        Input = "input.value" | "traceloop.entity.input" | "langfuse.observation.input" | "mlflow.spanInputs"
            | "lmnr.span.input",
        Output = "output.value" | "traceloop.entity.output" | "langfuse.observation.output" | "mlflow.spanOutputs"
            | "lmnr.span.output"
            | "final_result" | "gen_ai.output",
        HandoverFrom = "gen_ai.handoff.from_agent" | "from_agent",
        HandoverTo = "gen_ai.handoff.to_agent" | "to_agent",
        Entity = "traceloop.entity.name" | "langsmith.trace.name",
        Agent = "gen_ai.agent.name" | "agent.name" | "agent_name" | "graph.node.id" | "ai.telemetry.functionId",
        Model = "gen_ai.response.model" | "gen_ai.request.model" | "llm.model_name" | "ai.response.model" | "ai.model.id"
            | "model_name" | "llm.response.model" | "llm.request.model",
        /// Messages or text that a model received or produced.
        MessagesIn = "gen_ai.input.messages" | "gen_ai.prompt" | "ai.prompt.messages" | "ai.prompt"
            | "gcp.vertex.agent.llm_request",
        MessagesOut = "gen_ai.output.messages" | "gen_ai.completion" | "gcp.vertex.agent.llm_response",
        Messages = "pydantic_ai.all_messages" | "all_messages_events" | "events",
        System = "gen_ai.system_instructions" | "system_instructions",
        SaidText = "ai.response.text" | "ai.response.object",
        SaidCalls = "ai.response.toolCalls",
        Tools = "gen_ai.tool.definitions" | "ai.prompt.tools" | "gen_ai.request.available_tools" | "model_request_parameters"
            | "mlflow.chat.tools",
        TokensIn = "gen_ai.usage.input_tokens" | "gen_ai.usage.prompt_tokens" | "llm.token_count.prompt" | "ai.usage.inputTokens"
            | "ai.usage.promptTokens" | "llm.usage.prompt_tokens" | "llm.usage.input_tokens"
            | "mlflow.chat.tokenUsage.input_tokens",
        TokensOut = "gen_ai.usage.output_tokens" | "gen_ai.usage.completion_tokens" | "llm.token_count.completion"
            | "ai.usage.outputTokens" | "ai.usage.completionTokens" | "llm.usage.completion_tokens" | "llm.usage.output_tokens"
            | "mlflow.chat.tokenUsage.output_tokens",
        TokensAll = "llm.token_count.total" | "gen_ai.usage.total_tokens" | "llm.usage.total_tokens" | "ai.usage.totalTokens"
            | "mlflow.chat.tokenUsage.total_tokens",
        TokensReasoning = "gen_ai.usage.reasoning.output_tokens" | "gen_ai.usage.reasoning_tokens"
            | "gen_ai.usage.details.reasoning_tokens" | "llm.token_count.completion_details.reasoning"
            | "ai.usage.reasoningTokens" | "llm.usage.reasoning_tokens",
        TokensCacheRead = "gen_ai.usage.cache_read.input_tokens" | "gen_ai.usage.cache_read_input_tokens"
            | "gen_ai.usage.details.cache_read_tokens" | "gen_ai.usage.details.cache_read_input_tokens"
            | "gen_ai.usage.cached_tokens" | "llm.token_count.prompt_details.cache_read" | "ai.usage.cachedInputTokens"
            | "llm.usage.cache_read_input_tokens",
        TokensCacheWrite = "gen_ai.usage.cache_creation.input_tokens" | "gen_ai.usage.cache_creation_input_tokens"
            | "gen_ai.usage.details.cache_write_tokens" | "gen_ai.usage.details.cache_creation_input_tokens"
            | "llm.token_count.prompt_details.cache_write" | "llm.usage.cache_creation_input_tokens",
        Cost = "llm.cost.total" | "gen_ai.usage.cost" | "operation.cost" | "gen_ai.cost.total_cost" | "gen_ai.usage.total_cost",
        Conversation = "gen_ai.conversation.id" | "session.id" | "gcp.vertex.agent.session_id"
            | "traceloop.association.properties.session_id",
        ErrorType = "error.type" | "exception.type",
        ErrorMessage = "exception.message" | "error.message" | "otel.status_description",
        Failed = "error",
        StatusWord = "otel.status_code" | "status_code" | "status",
        Url = "url.full" | "http.url",
        Method = "http.request.method" | "http.method",
        HttpStatus = "http.response.status_code" | "http.status_code",
        SpanKind = "span.kind",
        Stage = "logfire.span_type",
        EventRole = "role",
        EventContent = "content",
        EventMessage = "message",
        EventCalls = "tool_calls",
        EventId = "id",
    }
}

key_table! {
    NumberedList {
        In = "llm.input_messages" | "gen_ai.prompt",
        Out = "llm.output_messages" | "gen_ai.completion",
        Tools = "llm.tools" | "llm.request.functions",
    }
}

key_table! {
    /// A numbered part; `#` is a number.
    NumberedField {
        Role = "#.message.role" | "#.role",
        Text = "#.message.content" | "#.content",
        Piece = "#.message.contents.#.message_content.text" | "#.message.content.#",
        TypeOfText = "#.message.contents.#.message_content.type",
        CallId = "#.message.tool_calls.#.tool_call.id" | "#.tool_calls.#.id",
        CallName = "#.message.tool_calls.#.tool_call.function.name" | "#.tool_calls.#.name" | "#.message.function_call_name",
        CallArgs = "#.message.tool_calls.#.tool_call.function.arguments" | "#.tool_calls.#.arguments"
            | "#.message.function_call_arguments_json",
        Answers = "#.message.tool_call_id" | "#.tool_call_id",
        Schema = "#.tool.json_schema",
        ToolName = "#.name",
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberedPart<'run> {
    pub(crate) of: NumberedList,
    pub(crate) part: NumberedField,
    pub(crate) numbers: [u32; 2],
    pub(crate) node: Node<'run>,
}

const _: () = assert!(<Fact as TableRow>::ALL.len() <= u64::BITS as usize, "each fact has a bit");

impl Fact {
    fn bit(self) -> u64 {
        1_u64.wrapping_shl(self as u32)
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct SpanFacts<'run> {
    values: Vec<(Fact, u8, Node<'run>)>,
    /// A bit for each fact among them: most are asked for in vain.
    known: u64,
    /// In numeric order.
    written: Vec<NumberedPart<'run>>,
    /// An attribute that stands there twice, with another value.
    pub(super) twice: Option<Node<'run>>,
}

impl<'run> SpanFacts<'run> {
    pub(crate) fn fact_node(&self, fact: Fact) -> Option<Node<'run>> {
        if self.known & fact.bit() == 0 {
            return None;
        }
        self.values.iter().find(|(known, ..)| *known == fact).map(|(.., node)| *node)
    }

    pub(crate) fn fact_text(&self, fact: Fact) -> Option<&'run str> {
        self.fact_node(fact).and_then(super::node_text)
    }

    pub(crate) fn fact_number(&self, fact: Fact) -> Option<Number<'run>> {
        match self.fact_node(fact)?.value {
            Value::Number(number) => Some(number),
            Value::Text(text) => Number::from_spelling(text.as_str()),
            _ => None,
        }
    }

    pub(crate) fn has_any(&self, facts: &[Fact]) -> bool {
        facts.iter().any(|fact| self.known & fact.bit() != 0)
    }

    pub(crate) fn set_fact(&mut self, fact: Fact, node: Node<'run>) {
        self.offer_fact(fact, 0, node);
    }

    fn offer_fact(&mut self, fact: Fact, rank: u8, node: Node<'run>) {
        if matches!(node.value, Value::Null) {
            return;
        }
        let is_known = self.known & fact.bit() != 0;
        self.known |= fact.bit();
        let slot = is_known.then(|| self.values.iter_mut().find(|(known, ..)| *known == fact)).flatten();
        match slot {
            Some(slot) if rank < slot.1 => *slot = (fact, rank, node),
            Some(slot) => {
                if rank == slot.1 && !values_equal(&slot.2.value, &node.value) {
                    self.twice = Some(node);
                }
            }
            None => self.values.push((fact, rank, node)),
        }
    }

    pub(crate) fn numbered_parts(&self, of: NumberedList) -> impl Iterator<Item = &NumberedPart<'run>> {
        self.written.iter().filter(move |written| written.of == of)
    }

    /// Few attributes state more than one fact.
    pub(crate) fn reserve_for(&mut self, attributes: usize) {
        const MOST: usize = 16;
        self.values.reserve(attributes.min(MOST));
    }

    pub(crate) fn add_attribute(&mut self, name: &str, node: Node<'run>) {
        if let Some(fact) = Fact::from_key(name) {
            self.offer_fact(fact, fact.rank(name), node);
        } else if let Some(written) = parse_numbered(name, node) {
            self.written.push(written);
        } else if let Value::Object(_) | Value::List(_) = node.value {
            self.add_nested(name, node, 0);
        }
    }

    /// Some write dotted names as nested objects.
    fn add_nested(&mut self, name: &str, node: Node<'run>, depth: usize) {
        const DEEP: usize = 8;
        const LONG: usize = 128;
        if depth > DEEP || name.len() > LONG {
            return;
        }
        let mut each = |key: &str, node: Node<'run>| {
            let name = format!("{name}.{key}");
            if let Some(fact) = Fact::from_key(&name) {
                self.offer_fact(fact, fact.rank(&name), node);
            } else if let Some(written) = parse_numbered(&name, node) {
                self.written.push(written);
            } else {
                self.add_nested(&name, node, depth + 1);
            }
        };
        match node.value {
            Value::Object(object) => object.entries().iter().for_each(|entry| each(entry.key, entry.node)),
            Value::List(items) => {
                items.iter().take(1000).enumerate().for_each(|(at, item)| each(&at.to_string(), *item));
            }
            _ => {}
        }
    }

    pub(crate) fn sort_parts(&mut self) {
        self.written.sort_by_key(|a| a.numbers);
    }
}

fn parse_numbered<'run>(name: &str, node: Node<'run>) -> Option<NumberedPart<'run>> {
    let digit = name.bytes().zip(name.bytes().skip(1)).position(|(a, b)| a == b'.' && b.is_ascii_digit())?;
    let of = NumberedList::from_key(name.get(..digit)?)?;
    let mut numbers = [0; 2];
    let (mut template, mut found) = (String::with_capacity(name.len()), 0);
    for segment in name.get(digit + 1..)?.split('.') {
        if !template.is_empty() {
            template.push('.');
        }
        match segment.parse::<u32>() {
            Ok(number) => {
                *numbers.get_mut(found)? = number;
                found += 1;
                template.push('#');
            }
            Err(_) => template.push_str(segment),
        }
    }
    Some(NumberedPart { of, part: NumberedField::from_key(&template)?, numbers, node })
}

key_table! {
    /// Value wrappers whose key is the type.
    TypedValueKey {
        Plain = "stringValue" | "boolValue" | "doubleValue" | "string_value" | "bool_value" | "double_value" | "bytesValue"
            | "bytes_value",
        Integer = "intValue" | "int_value",
        List = "arrayValue" | "array_value",
        Object = "kvlistValue" | "kvlist_value",
    }
}

key_table! {
    AttributeKey {
        Key = "key",
        Value = "value",
        Values = "values",
    }
}

/// How many there are where they are listed or named.
pub(crate) fn count_attributes(node: Node<'_>) -> usize {
    match node.value {
        Value::List(items) => items.len(),
        Value::Object(object) => object.entries().len(),
        _ => 0,
    }
}

pub(crate) fn as_object<'run>(node: Node<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    match node.value {
        Value::List(items) => {
            let entries: Vec<ObjectEntry<'run>> =
                items.iter().filter_map(|item| attribute_entry(*item, builder, 0)).collect();
            let entries = builder.arena.alloc_slice_copy(&entries);
            Node::new(Value::Object(Object::new(builder.arena, entries)), node.origin)
        }
        Value::Text(text) if text.as_str().trim_start().starts_with('{') => {
            builder.open_json(node).filter(|node| node_object(*node).is_some()).unwrap_or(node)
        }
        _ => node,
    }
}

pub(crate) fn attribute_entry<'run>(
    item: Node<'run>,
    builder: &RunBuilder<'run, '_>,
    depth: usize,
) -> Option<ObjectEntry<'run>> {
    let attribute = node_object(item)?;
    let key = super::node_text(value_of(attribute, AttributeKey::Key)?)?;
    Some(ObjectEntry { key, node: untyped_value(value_of(attribute, AttributeKey::Value)?, builder, depth) })
}

/// OTLP writes integers as text.
pub(crate) fn integer_node(node: Node<'_>) -> Node<'_> {
    let Value::Text(text) = node.value else { return node };
    Number::from_spelling(text.as_str()).map_or(node, |number| Node::new(Value::Number(number), node.origin))
}

fn untyped_value<'run>(node: Node<'run>, builder: &RunBuilder<'run, '_>, depth: usize) -> Node<'run> {
    let Some([only]) = node_object(node).map(|object| object.entries()) else { return node };
    let Some(typed) = TypedValueKey::from_key(only.key).filter(|_| depth < builder.limits.json_depth) else {
        return node;
    };
    let values = || {
        node_object(only.node)
            .and_then(|object| value_of(object, AttributeKey::Values))
            .and_then(node_list)
            .unwrap_or_default()
    };
    match (typed, only.node.value) {
        (TypedValueKey::Integer, _) => integer_node(only.node),
        (TypedValueKey::List, Value::Object(_)) => {
            let items: Vec<Node<'run>> = values().iter().map(|item| untyped_value(*item, builder, depth + 1)).collect();
            Node::new(Value::List(builder.arena.alloc_slice_copy(&items)), only.node.origin)
        }
        (TypedValueKey::Object, Value::Object(_)) => {
            let entries: Vec<ObjectEntry<'run>> =
                values().iter().filter_map(|item| attribute_entry(*item, builder, depth + 1)).collect();
            let object = Object::new(builder.arena, builder.arena.alloc_slice_copy(&entries));
            Node::new(Value::Object(object), only.node.origin)
        }
        _ => only.node,
    }
}
