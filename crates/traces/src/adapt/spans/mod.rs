//! Runs that are recorded as spans: what a span is and says, whatever it was exported as.
//!
//! A format of spans brings its records into [`Span`]s; which of them are agents, calls of models and of tools, what was said and what it
//! cost, is told of all formats in one place ([`tell`]).

pub(crate) mod attributes;
pub(crate) mod bodies;
mod calls;
mod carried;
pub(crate) mod conversation;
mod entries;
mod events;
mod exchange;
mod later_results;
mod matches;
pub(crate) mod said;
mod tell;
#[cfg(test)]
mod tests;
mod timed;
mod tree;
mod used;
mod wrapped;
mod written;

use super::content;
use super::draft::Draft;
use crate::adapt::fields::key_table;
pub(crate) use attributes::ways;
use attributes::{Fact, Facts};
use averment_base::value::{Node, Number, Origin, Value};
pub(crate) use entries::Whole;
pub(crate) use exchange::Exchange;
use exchange::Said;
pub(crate) use tell::tell;

/// A span.
#[derive(Debug, Clone)]
pub(crate) struct Span<'run> {
    /// Where it stands.
    pub(crate) origin: Origin,
    pub(crate) id: Option<&'run str>,
    pub(crate) parent: Option<&'run str>,
    pub(crate) name: Option<Node<'run>>,
    /// Milliseconds since 1970.
    pub(crate) start: Option<f64>,
    pub(crate) end: Option<f64>,
    pub(crate) act: Act,
    /// Whether it went wrong, where that is told.
    pub(crate) failed: Option<bool>,
    pub(crate) error: Option<Node<'run>>,
    pub(crate) attributes: Option<Node<'run>>,
    pub(crate) facts: Facts<'run>,
    pub(crate) exchange: Exchange<'run>,
}

/// How the name of a span begins in which one agent hands over to another.
const HANDOFF: &str = "handoff to ";

/// How Google ADK calls the tool of a span that gathers what several calls gave.
const MERGED: &str = "(merged tools)";
/// How the names of attributes begin whose values are all JSON in text.
const MLFLOW: &str = "mlflow.";
/// How those begin in which OpenLLMetry writes what functions take and give: text stands in quotes there.
const ENTITY: &str = "traceloop.entity.";

/// What a span stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// An agent at work: what happens inside is its doing.
    Agent,
    /// A model is asked.
    Inference,
    /// A tool is called.
    Tool,
    /// A part of the work of agents, and none of these.
    Part,
    /// Nothing that has to do with agents.
    Other,
}

impl<'run> Span<'run> {
    pub(crate) fn new(origin: Origin) -> Self {
        Self {
            origin,
            id: None,
            parent: None,
            name: None,
            start: None,
            end: None,
            act: Act::Other,
            failed: None,
            error: None,
            attributes: None,
            facts: Facts::default(),
            exchange: Exchange::default(),
        }
    }

    /// Takes in what its format says of it under a name of its own.
    pub(crate) fn tell(&mut self, fact: Fact, node: Option<Node<'run>>) {
        if let Some(node) = node {
            self.facts.set(fact, node);
        }
    }

    /// Takes in its attributes, and all that follows from them.
    pub(crate) fn take_attributes(&mut self, attributes: Node<'run>, draft: &Draft<'run, '_>) {
        let attributes = attributes::as_object(attributes, draft);
        if let Value::Object(object) = attributes.value {
            self.facts.reserve(object.entries().len());
            for entry in object.entries() {
                let is_quoted = || text_of_node(entry.node).is_some_and(|text| text.starts_with('"'));
                let is_held = entry.key.starts_with(MLFLOW) || entry.key.starts_with(ENTITY) && is_quoted();
                let node = if is_held { held(entry.node, draft) } else { entry.node };
                self.facts.add(entry.key, node);
            }
            self.attributes = Some(attributes);
        }
    }

    /// Takes in an event that stands in it.
    pub(crate) fn take_event(&mut self, name: &str, attributes: Node<'run>, draft: &Draft<'run, '_>) {
        let Value::Object(object) = attributes::as_object(attributes, draft).value else { return };
        let mut facts = Facts::default();
        for entry in object.entries() {
            facts.add(entry.key, entry.node);
        }
        events::of_event(name, &facts, draft, &mut self.exchange);
        for fact in [Fact::MessagesIn, Fact::MessagesOut, Fact::System, Fact::ErrorMessage, Fact::ErrorType] {
            if let Some(node) = facts.get(fact).filter(|_| self.facts.get(fact).is_none() || fact == Fact::ErrorMessage)
            {
                self.facts.set(fact, node);
            }
        }
    }

    /// What some write of a tool into messages, as if it were one of a model: what it was given, and what it gave.
    fn take_messages_of_tool(&mut self, draft: &Draft<'run, '_>) {
        if self.facts.has(&[Fact::Args, Fact::Input]) && self.facts.has(&[Fact::Result, Fact::Output]) {
            return;
        }
        let mut exchange = conversation::exchange(&self.facts, draft);
        exchange.read_on(draft);
        let given = exchange.given.iter().chain(&self.exchange.given);
        let args = given.clone().find_map(|said| said.calls.first().and_then(|asked| asked.args));
        let arena = draft.arena;
        let told = |said: &Said<'run>| said.results.first().map(|told| told.result);
        let args = args.or_else(|| given.clone().find_map(told));
        let gave = |said: &Said<'run>| told(said).or_else(|| content::joined(&said.texts, arena));
        let result = exchange.said.iter().chain(&self.exchange.said).find_map(gave);
        for (fact, node, beside) in [(Fact::Args, args, Fact::Input), (Fact::Result, result, Fact::Output)] {
            if !self.facts.has(&[fact, beside]) {
                self.tell(fact, node);
            }
        }
    }

    /// Whether it is one of a tool that does not say what that gave: a model may have been told it.
    fn lacks_result(&self) -> bool {
        self.act == Act::Tool && !self.facts.has(&[Fact::Result, Fact::Output])
    }

    /// Some write as a span of a nameless tool that one agent hands over to another.
    fn hands_over(&mut self) -> bool {
        let nameless = self.name.filter(|_| !self.facts.has(&[Fact::Tool]));
        let to = nameless.and_then(|name| Some((name, text_of_node(name)?.strip_prefix(HANDOFF)?)));
        if let Some((name, to)) = to.filter(|(_, to)| !to.is_empty()) {
            self.act = Act::Part;
            self.tell(Fact::HandoverTo, Some(Node::new(Value::plain(to), name.origin)));
        }
        to.is_some()
    }

    /// Concludes from what was taken in.
    pub(crate) fn conclude(&mut self, draft: &Draft<'run, '_>) {
        self.facts.sort();
        if self.act == Act::Other {
            self.act = act(&self.facts);
        }
        if self.act == Act::Tool && self.facts.text(Fact::Tool) == Some(MERGED) {
            self.act = Act::Part;
        }
        if matches!(self.act, Act::Inference | Act::Agent) {
            self.exchange.complete(conversation::exchange(&self.facts, draft));
        }
        if self.act == Act::Tool && !self.hands_over() {
            self.take_messages_of_tool(draft);
        }
        if self.failed.is_none() {
            self.failed = failed(&self.facts);
        }
        if self.failed == Some(true) && self.error.is_none() {
            self.error = [Fact::ErrorMessage, Fact::ErrorType].into_iter().find_map(|fact| self.facts.get(fact));
        }
    }
}

key_table! {
    /// The words by which dialects say what a span stands for.
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
            | "TASK" | "PARSER" | "MEMORY",
    }
}

impl ActWord {
    pub(crate) fn act(word: &str) -> Option<Act> {
        Self::from_key(word).map(|word| match word {
            Self::Agent => Act::Agent,
            Self::Inference => Act::Inference,
            Self::Tool => Act::Tool,
            Self::Part => Act::Part,
        })
    }
}

/// What a span stands for by its attributes.
pub(crate) fn act(facts: &Facts<'_>) -> Act {
    let words = [Fact::Kind, Fact::Operation, Fact::FunctionOfSdk, Fact::RequestType];
    let said = words.into_iter().filter_map(|fact| facts.text(fact)).find_map(ActWord::act);
    let of_call = [Fact::Args, Fact::CallId, Fact::Result];
    let of_model =
        [Fact::MessagesIn, Fact::MessagesOut, Fact::TokensIn, Fact::RequestType, Fact::SaidText, Fact::SaidCalls];
    match said {
        Some(act) => act,
        None if facts.get(Fact::Tool).is_some() && facts.has(&of_call) => Act::Tool,
        None if facts.get(Fact::Agent).is_some() && facts.get(Fact::Messages).is_some() => Act::Agent,
        None if facts.get(Fact::Model).is_some() && facts.has(&of_model) => Act::Inference,
        None if facts.get(Fact::Operation).is_some() => Act::Part,
        None => Act::Other,
    }
}

/// Whether attributes say that a span went wrong.
fn failed(facts: &Facts<'_>) -> Option<bool> {
    let word = facts.text(Fact::StatusWord).and_then(of_word);
    let told = facts.get(Fact::Failed).and_then(|node| match node.value {
        Value::Boolean(true) => Some(true),
        _ => None,
    });
    word.or(told).or_else(|| facts.get(Fact::ErrorType).map(|_| true))
}

/// Whether a word for how a span ended says that it went wrong.
pub(crate) fn of_word(word: &str) -> Option<bool> {
    let word = word.rsplit_once("STATUS_CODE_").or_else(|| word.rsplit_once('.')).map_or(word, |(_, word)| word);
    match crate::build::word_status(word)? {
        averment_runs::run::Status::Ok => Some(false),
        averment_runs::run::Status::Failed => Some(true),
        _ => None,
    }
}

/// The value that a text of JSON holds.
fn held<'run>(node: Node<'run>, draft: &Draft<'run, '_>) -> Node<'run> {
    node.embedded(draft.arena, draft.limits).unwrap_or(node)
}

/// The text that a node is.
pub(crate) fn text_of_node<'run>(node: Node<'run>) -> Option<&'run str> {
    match node.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}

/// A point in time as exporters write it, in milliseconds.
pub(crate) fn instant(node: Node<'_>, unit: Unit) -> Option<f64> {
    match (node.value, unit) {
        (Value::List(_), _) => seconds_and_nanoseconds(node),
        (Value::Number(number), unit) => unit.milliseconds(number),
        (Value::Text(text), unit) => match spelled(text.as_str()) {
            Some(number) => unit.milliseconds(number),
            None => crate::time::milliseconds(&node.value),
        },
        _ => None,
    }
}

/// The number that a text spells; a whole one is most often meant.
fn spelled(text: &str) -> Option<Number<'_>> {
    let whole = || matches!(text.as_bytes().first(), Some(b'1'..=b'9')).then(|| text.parse().ok()).flatten();
    whole().map(Number::Integer).or_else(|| Number::spelled(text))
}

/// `[seconds, nanoseconds]`, as the SDK for JavaScript keeps times.
fn seconds_and_nanoseconds(node: Node<'_>) -> Option<f64> {
    let Value::List([Node { value: Value::Number(seconds), .. }, Node { value: Value::Number(nanoseconds), .. }]) =
        node.value
    else {
        return None;
    };
    Some(seconds.to_f64() * 1e3 + Unit::Nanoseconds.milliseconds(*nanoseconds)?)
}

/// The unit of numbers that are points in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanoseconds,
    Microseconds,
    /// None is told, but nanoseconds since 1970 are too large to be anything else.
    NanosecondsByLength,
}

impl Unit {
    pub(crate) fn milliseconds(self, number: Number<'_>) -> Option<f64> {
        // What a double cannot hold exactly is cut to microseconds first.
        #[expect(clippy::cast_precision_loss, reason = "exact to the microsecond for every year that can be written")]
        let cut = |divisor: i64| match number.as_i64() {
            Some(whole) => whole.checked_div(divisor).map(|part| part as f64),
            None => Some(number.to_f64() / divisor as f64).filter(|part| part.is_finite()),
        };
        match self {
            Self::Nanoseconds => Some(cut(1000)? / 1e3),
            Self::Microseconds => Some(cut(1)? / 1e3),
            Self::NanosecondsByLength => {
                number.as_i64().filter(|whole| *whole > 100_000_000_000_000_000).and(Some(cut(1000)? / 1e3))
            }
        }
    }
}
