//! Runs that are recorded as spans: what a span is and says, whatever it was exported as.
//!
//! A format of spans brings its records into [`TraceSpan`]s; which of them are agents, calls of models and of tools, what was said and what it
//! cost, is told of all formats in one place ([`tell`]).

pub(crate) mod attributes;
mod calls;
mod claude_turns;
pub(crate) mod conversation;
pub(crate) mod event_bodies;
mod events;
mod exchange;
mod later_results;
mod numbered_messages;
mod plain_prompts;
mod request_matches;
mod run_entries;
mod run_steps;
mod run_usage;
pub(crate) mod span_messages;
#[cfg(test)]
mod tests;
mod timed;
mod tool_definitions;
mod tool_events;
mod tool_executions;
mod tool_roles;
mod tree;
mod wrapped_values;

use super::content;
use super::run_builder::RunBuilder;
use crate::adapt::fields::key_table;
use crate::adapt::nodes::node_text;
use crate::scan::few_digits;
pub(crate) use attributes::ways;
use attributes::{Fact, SpanFacts};
use averment_base::value::{Node, Number, TextOrigin, Value};
pub(crate) use exchange::ModelExchange;
use exchange::SpanMessage;
pub(crate) use run_entries::RunEntries;
pub(crate) use run_steps::build_run;
pub(crate) use tree::tool_name;

#[derive(Debug, Clone)]
pub(crate) struct TraceSpan<'run> {
    pub(crate) origin: TextOrigin,
    pub(crate) id: Option<&'run str>,
    pub(crate) parent: Option<&'run str>,
    pub(crate) name: Option<Node<'run>>,
    /// Milliseconds since 1970.
    pub(crate) start: Option<f64>,
    pub(crate) end: Option<f64>,
    pub(crate) act: SpanAct,
    /// `None` if unknown.
    pub(crate) failed: Option<bool>,
    pub(crate) error: Option<Node<'run>>,
    pub(crate) attributes: Option<Node<'run>>,
    pub(crate) facts: SpanFacts<'run>,
    pub(crate) exchange: ModelExchange<'run>,
}

/// Prefix of names of handover spans.
const HANDOFF: &str = "handoff to ";

/// Google ADK's tool name for a span that gathers several results.
const MERGED: &str = "(merged tools)";
/// Prefix of attributes whose values are all JSON text.
const MLFLOW: &str = "mlflow.";
/// OpenLLMetry's prefix for function input and output, where text is quoted.
const ENTITY: &str = "traceloop.entity.";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanAct {
    /// An agent at work: inner spans are its actions.
    Agent,
    Inference,
    Tool,
    /// Part of an agent's work, but none of these.
    Part,
    Other,
}

impl<'run> TraceSpan<'run> {
    pub(crate) fn new(origin: TextOrigin) -> Self {
        Self {
            origin,
            id: None,
            parent: None,
            name: None,
            start: None,
            end: None,
            act: SpanAct::Other,
            failed: None,
            error: None,
            attributes: None,
            facts: SpanFacts::default(),
            exchange: ModelExchange::default(),
        }
    }

    pub(crate) fn take_fact(&mut self, fact: Fact, node: Option<Node<'run>>) {
        if let Some(node) = node {
            self.facts.set_fact(fact, node);
        }
    }

    pub(crate) fn take_attributes(&mut self, attributes: Node<'run>, builder: &RunBuilder<'run, '_>) {
        let attributes = attributes::as_object(attributes, builder);
        if let Value::Object(object) = attributes.value {
            self.facts.reserve_for(object.entries().len());
            for entry in object.entries() {
                let is_quoted = || node_text(entry.node).is_some_and(|text| text.starts_with('"'));
                let is_held = entry.key.starts_with(MLFLOW) || entry.key.starts_with(ENTITY) && is_quoted();
                let node = if is_held { parse_text(entry.node, builder) } else { entry.node };
                self.facts.add_attribute(entry.key, node);
            }
            if let Some(twice) = self.facts.twice.take() {
                let message =
                    "a span has an attribute twice, with two values: what the other one tells is not recorded";
                builder.note_unknown(twice.origin, message);
            }
            self.attributes = Some(attributes);
        }
    }

    pub(crate) fn take_event(&mut self, name: &str, attributes: Node<'run>, builder: &RunBuilder<'run, '_>) {
        let Value::Object(object) = attributes::as_object(attributes, builder).value else { return };
        let mut facts = SpanFacts::default();
        for entry in object.entries() {
            facts.add_attribute(entry.key, entry.node);
        }
        events::take_event(name, &facts, builder, &mut self.exchange);
        for fact in [Fact::MessagesIn, Fact::MessagesOut, Fact::System, Fact::ErrorMessage, Fact::ErrorType] {
            if let Some(node) =
                facts.fact_node(fact).filter(|_| self.facts.fact_node(fact).is_none() || fact == Fact::ErrorMessage)
            {
                self.facts.set_fact(fact, node);
            }
        }
    }

    /// Some write tool input and output as if they were a model's messages.
    fn take_messages_of_tool(&mut self, builder: &RunBuilder<'run, '_>) {
        if self.facts.has_any(&[Fact::Args, Fact::Input]) && self.facts.has_any(&[Fact::Result, Fact::Output]) {
            return;
        }
        let mut exchange = conversation::read_exchange(&self.facts, builder);
        exchange.read_rest(builder);
        let given = exchange.input.iter().chain(&self.exchange.input);
        let args = given.clone().find_map(|said| said.calls.first().and_then(|asked| asked.args));
        let arena = builder.arena;
        let told = |said: &SpanMessage<'run>| said.results.first().map(|told| told.result);
        let args = args.or_else(|| given.clone().find_map(told));
        let gave = |said: &SpanMessage<'run>| told(said).or_else(|| content::join_texts(&said.texts, arena));
        let result = exchange.output.iter().chain(&self.exchange.output).find_map(gave);
        for (fact, node, beside) in [(Fact::Args, args, Fact::Input), (Fact::Result, result, Fact::Output)] {
            if !self.facts.has_any(&[fact, beside]) {
                self.take_fact(fact, node);
            }
        }
    }

    /// A tool span without a result, which a model may have been told.
    fn lacks_result(&self) -> bool {
        self.act == SpanAct::Tool && !self.facts.has_any(&[Fact::Result, Fact::Output])
    }

    /// Some write a handover as a span of a nameless tool.
    fn hands_over(&mut self) -> bool {
        let nameless = self.name.filter(|_| !self.facts.has_any(&[Fact::Tool]));
        let to = nameless.and_then(|name| Some((name, node_text(name)?.strip_prefix(HANDOFF)?)));
        if let Some((name, to)) = to.filter(|(_, to)| !to.is_empty()) {
            self.act = SpanAct::Part;
            self.take_fact(Fact::HandoverTo, Some(Node::new(Value::plain_text(to), name.origin)));
        }
        to.is_some()
    }

    /// What the kind of a span says that it is; of a kind that nobody knows it may be a tool.
    pub(crate) fn act_of_word(&self, word: Option<&str>, builder: &RunBuilder<'run, '_>) -> SpanAct {
        let act = word.and_then(ActWord::parse_act);
        if act.is_none() && word.is_some_and(|word| !word.is_empty()) {
            builder.note_unknown(self.origin, "a span of an unknown kind: it may be a call");
        }
        act.unwrap_or(SpanAct::Part)
    }

    pub(crate) fn conclude_span(&mut self, builder: &RunBuilder<'run, '_>) {
        self.facts.sort_parts();
        if self.act == SpanAct::Other {
            self.act = attributes_act(&self.facts);
            if self.act == SpanAct::Other && self.facts.fact_node(Fact::Tool).is_some() {
                builder.note_unknown(self.origin, "a span names a tool and does not say what it is: it may be a call");
            }
            let words = [Fact::Kind, Fact::Operation].into_iter().filter_map(|fact| self.facts.fact_text(fact));
            if matches!(self.act, SpanAct::Part | SpanAct::Other) {
                let unknown = words.clone().find(|word| ActWord::from_key(word).is_none());
                self.act_of_word(
                    unknown.filter(|_| !words.clone().any(|word| ActWord::from_key(word).is_some())),
                    builder,
                );
            }
        }
        let tool = self.facts.fact_node(Fact::Tool).or(self.name).and_then(node_text);
        if self.act == SpanAct::Tool && tool == Some(MERGED) {
            self.act = SpanAct::Part;
        }
        if matches!(self.act, SpanAct::Inference | SpanAct::Agent) {
            self.exchange.complete_from(conversation::read_exchange(&self.facts, builder));
        }
        if self.act == SpanAct::Inference {
            if self.exchange.output.is_empty() {
                self.exchange.output.extend(conversation::structured_answer(&self.facts, builder));
                self.exchange.records_output |= !self.exchange.output.is_empty();
            }
            span_messages::note_answers(&self.exchange.output, builder);
        }
        if self.act == SpanAct::Tool && !self.hands_over() {
            self.take_messages_of_tool(builder);
        }
        if self.failed.is_none() {
            self.failed = has_failed(&self.facts);
        }
        if self.failed == Some(true) && self.error.is_none() {
            self.error = [Fact::ErrorMessage, Fact::ErrorType].into_iter().find_map(|fact| self.facts.fact_node(fact));
        }
    }
}

key_table! {
    ActWord {
        Agent = "invoke_agent" | "AGENT" | "agent" | "ai.generateText" | "ai.streamText" | "ai.generateObject"
            | "ai.streamObject",
        Inference = "chat" | "text_completion" | "generate_content" | "call_llm" | "completion" | "LLM" | "llm" | "CHAT_MODEL"
            | "generation" | "GENERATION" | "ai.generateText.doGenerate" | "ai.streamText.doStream"
            | "ai.generateObject.doGenerate" | "ai.streamObject.doStream",
        Tool = "execute_tool" | "TOOL" | "tool" | "ai.toolCall",
        Part = "create_agent" | "invoke_workflow" | "workflow" | "task" | "CHAIN" | "chain" | "RETRIEVER" | "EMBEDDING"
            | "RERANKER" | "GUARDRAIL" | "EVALUATOR" | "PROMPT" | "embeddings" | "UNKNOWN" | "retriever" | "embedding"
            | "ai.embed" | "ai.embed.doEmbed" | "ai.embedMany" | "ai.embedMany.doEmbed" | "parser" | "prompt" | "WORKFLOW"
            | "TASK" | "PARSER" | "MEMORY" | "handoff" | "HANDOFF" | "agent_handoff" | "retrieval" | "unknown" | "evaluator" | "guardrail"
            | "reranker" | "DEFAULT" | "EXECUTOR" | "EVALUATION" | "PIPELINE" | "HUMAN_EVALUATOR" | "CACHED"
            | "execute_event_loop_cycle" | "execute_agent_loop_cycle" | "invoke_graph" | "invoke_swarm" | "execute_node",
    }
}

impl ActWord {
    pub(crate) fn parse_act(word: &str) -> Option<SpanAct> {
        Self::from_key(word).map(|word| match word {
            Self::Agent => SpanAct::Agent,
            Self::Inference => SpanAct::Inference,
            Self::Tool => SpanAct::Tool,
            Self::Part => SpanAct::Part,
        })
    }
}

pub(crate) fn attributes_act(facts: &SpanFacts<'_>) -> SpanAct {
    let words = [Fact::Kind, Fact::Operation, Fact::FunctionOfSdk, Fact::RequestType];
    let said = words.into_iter().filter_map(|fact| facts.fact_text(fact)).find_map(ActWord::parse_act);
    let of_call = [Fact::Args, Fact::CallId, Fact::Result];
    let of_model =
        [Fact::MessagesIn, Fact::MessagesOut, Fact::TokensIn, Fact::RequestType, Fact::SaidText, Fact::SaidCalls];
    match said {
        Some(act) => act,
        None if facts.fact_node(Fact::Tool).is_some() && facts.has_any(&of_call) => SpanAct::Tool,
        None if facts.fact_node(Fact::Agent).is_some() && facts.fact_node(Fact::Messages).is_some() => SpanAct::Agent,
        None if facts.fact_node(Fact::Model).is_some() && facts.has_any(&of_model) => SpanAct::Inference,
        None if facts.fact_node(Fact::Operation).is_some() => SpanAct::Part,
        None => SpanAct::Other,
    }
}

fn has_failed(facts: &SpanFacts<'_>) -> Option<bool> {
    let word = facts.fact_text(Fact::StatusWord).and_then(of_word);
    let told = facts.fact_node(Fact::Failed).and_then(|node| match node.value {
        Value::Boolean(true) => Some(true),
        _ => None,
    });
    word.or(told).or_else(|| facts.fact_node(Fact::ErrorType).map(|_| true))
}

pub(crate) fn of_word(word: &str) -> Option<bool> {
    let word = word.rsplit_once("STATUS_CODE_").or_else(|| word.rsplit_once('.')).map_or(word, |(_, word)| word);
    match averment_runs::run::StepStatus::from_word(word)? {
        averment_runs::run::StepStatus::Ok => Some(false),
        averment_runs::run::StepStatus::Failed => Some(true),
        _ => None,
    }
}

fn parse_text<'run>(node: Node<'run>, builder: &RunBuilder<'run, '_>) -> Node<'run> {
    builder.open_json(node).unwrap_or(node)
}

/// True for a number other than 0: recorders write 0 for usage and prices that they do not know.
pub(crate) fn is_nonzero(count: Node<'_>) -> bool {
    matches!(count.value, Value::Number(count) if count != Number::Integer(0) && count.to_f64() != 0.0)
}

/// An id, which some write as a number.
pub(crate) fn id_of_node<'run>(node: Node<'run>) -> Option<&'run str> {
    match node.value {
        Value::Number(Number::Written(digits)) => Some(digits),
        _ => node_text(node),
    }
}

fn holds_values(node: Node<'_>) -> bool {
    matches!(node.value, Value::List(_) | Value::Object(_))
}

/// In milliseconds.
pub(crate) fn instant_milliseconds(node: Node<'_>, unit: InstantUnit) -> Option<f64> {
    match (node.value, unit) {
        (Value::List(_), _) => seconds_and_nanoseconds(node),
        (Value::Number(number), unit) => unit.to_milliseconds(number),
        (Value::Text(text), unit) => match parse_number(text.as_str()) {
            Some(number) => unit.to_milliseconds(number),
            None => crate::time::to_milliseconds(&node.value),
        },
        _ => None,
    }
}

/// Tries an integer first, the usual case.
fn parse_number(text: &str) -> Option<Number<'_>> {
    whole_number(text).map(Number::Integer).or_else(|| Number::from_spelling(text))
}

/// Of digits alone, of which none leads out of the range of integers; the first is no 0.
fn whole_number(text: &str) -> Option<i64> {
    const MOST: usize = 18;
    let bytes = text.as_bytes();
    let (head, last) = bytes.split_at_checked(MOST).unwrap_or((bytes, &[]));
    if !matches!(head.first(), Some(b'1'..=b'9')) {
        return None;
    }
    let digit = |byte: u8| Some(i64::from(byte.wrapping_sub(b'0'))).filter(|digit| *digit <= 9);
    let (eights, rest) = head.as_chunks::<8>();
    let mut whole = 0_i64;
    for eight in eights {
        let eight = few_digits(u64::from_le_bytes(*eight), 8)?;
        whole = whole.wrapping_mul(100_000_000).wrapping_add(i64::try_from(eight).ok()?);
    }
    for byte in rest {
        whole = whole.wrapping_mul(10).wrapping_add(digit(*byte)?);
    }
    last.iter().try_fold(whole, |whole, byte| whole.checked_mul(10)?.checked_add(digit(*byte)?))
}

/// `[seconds, nanoseconds]`, as in the JavaScript SDK.
fn seconds_and_nanoseconds(node: Node<'_>) -> Option<f64> {
    let Value::List([Node { value: Value::Number(seconds), .. }, Node { value: Value::Number(nanoseconds), .. }]) =
        node.value
    else {
        return None;
    };
    Some(seconds.to_f64() * 1e3 + InstantUnit::Nanoseconds.to_milliseconds(*nanoseconds)?)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstantUnit {
    Nanoseconds,
    Microseconds,
    Milliseconds,
    /// No unit; values too large for anything else are nanoseconds since 1970.
    NanosecondsByLength,
}

impl InstantUnit {
    pub(crate) fn to_milliseconds(self, number: Number<'_>) -> Option<f64> {
        // What a double cannot hold exactly is cut to microseconds first.
        #[expect(clippy::cast_precision_loss, reason = "exact to the microsecond for every year that can be written")]
        let cut = |divisor: i64| match number.as_i64() {
            Some(whole) => whole.checked_div(divisor).map(|part| part as f64),
            None => Some(number.to_f64() / divisor as f64).filter(|part| part.is_finite()),
        };
        match self {
            Self::Nanoseconds => Some(cut(1000)? / 1e3),
            Self::Microseconds => Some(cut(1)? / 1e3),
            Self::Milliseconds => Some(number.to_f64()).filter(|time| time.is_finite()),
            Self::NanosecondsByLength => {
                number.as_i64().filter(|whole| *whole > 100_000_000_000_000_000).and(Some(cut(1000)? / 1e3))
            }
        }
    }
}
