//! What went in and came out of a model, by the attributes of its span.

use super::attributes::{Fact, NumberedList, SpanFacts};
use super::exchange::{ModelExchange, SpanMessage};
use super::node_text;
use super::numbered_messages;
use super::span_messages::{content_of, read_messages, read_node, sort_parts};
use crate::adapt::fields::key_table;
use crate::adapt::nodes::{node_list, node_object};
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::ObjectEntry;
use averment_runs::normal::role;

/// Reads what went in and came out of a span.
pub(crate) fn read_exchange<'run>(facts: &SpanFacts<'run>, builder: &RunBuilder<'run, '_>) -> ModelExchange<'run> {
    let (given, said) = (
        numbered_messages::read_numbered(facts, NumberedList::In, builder),
        numbered_messages::read_numbered(facts, NumberedList::Out, builder),
    );
    let mut exchange = ModelExchange { input: given, output: said, ..ModelExchange::default() };
    let waits = !builder.is_whole() && !facts.has_any(&[Fact::Messages, Fact::Input]);
    if let Some(node) = facts.fact_node(Fact::MessagesIn).filter(|_| exchange.input.is_empty()) {
        match waits {
            true => exchange.unread = Some(node),
            false => exchange.input = read_messages(node, role::USER, builder),
        }
    }
    if let Some(node) = facts.fact_node(Fact::System).filter(|_| !waits) {
        let mut system = SpanMessage { role: Some(role::SYSTEM), place: Some(node), ..SpanMessage::default() };
        sort_parts(read_node(node, builder), &mut system, builder, 0);
        exchange.input.insert(0, system);
    }
    if let Some(node) = facts.fact_node(Fact::MessagesOut).filter(|_| exchange.output.is_empty()) {
        exchange.output = read_messages(node, role::ASSISTANT, builder);
    }
    if let Some(node) =
        facts.fact_node(Fact::Messages).filter(|_| exchange.output.is_empty() && exchange.input.is_empty())
    {
        split_conversation(read_messages(node, role::USER, builder), &mut exchange);
    }
    if exchange.output.is_empty() {
        let mut said = SpanMessage { role: Some(role::ASSISTANT), ..SpanMessage::default() };
        facts.fact_node(Fact::SaidText).into_iter().for_each(|text| content_of(text, &mut said, builder));
        if let Some(calls) = facts.fact_node(Fact::SaidCalls) {
            said.add_calls(node_list(read_node(calls, builder)).unwrap_or_default());
        }
        said.place = [Fact::SaidText, Fact::SaidCalls].into_iter().find_map(|fact| facts.fact_node(fact));
        exchange.output.extend(said.place.is_some().then_some(said));
    }
    if let Some(node) = facts.fact_node(Fact::Input).filter(|_| exchange.input.is_empty()) {
        exchange.input = read_messages(node, role::USER, builder);
    }
    if let Some(node) = facts.fact_node(Fact::Output).filter(|_| exchange.output.iter().all(SpanMessage::is_empty)) {
        exchange.output = read_messages(node, role::ASSISTANT, builder);
    }
    exchange.output.retain(|said| !said.is_empty());
    exchange.records_output |= !exchange.output.is_empty();
    exchange
}

key_table! {
    /// What stands in whole responses and in serialized messages, and in no answer that a model was asked to give as JSON.
    ResponseMark {
        Any = "id" | "model" | "usage" | "object" | "choices" | "kwargs" | "generations" | "llm_output" | "response_metadata"
            | "messages" | "output" | "type" | "headers" | "status_code" | "role" | "tool_calls" | "additional_kwargs"
            | "usage_metadata" | "usageMetadata",
    }
}

/// An answer in JSON that is no message.
pub(super) fn structured_answer<'run>(
    facts: &SpanFacts<'run>,
    builder: &RunBuilder<'run, '_>,
) -> Option<SpanMessage<'run>> {
    let words = [Fact::MessagesOut, Fact::Output].into_iter().find_map(|fact| facts.fact_node(fact))?;
    let value = node_text(words).map(|_| read_node(words, builder)).and_then(node_object)?;
    let is_mark = |entry: &ObjectEntry<'_>| ResponseMark::from_key(entry.key).is_some();
    let is_answer = !value.entries().is_empty() && !value.entries().iter().any(is_mark);
    let said =
        SpanMessage { role: Some(role::ASSISTANT), place: Some(words), texts: vec![words], ..Default::default() };
    is_answer.then_some(said)
}

/// The last messages of the model are what it said, those before what it was given.
pub(crate) fn split_conversation<'run>(messages: Vec<SpanMessage<'run>>, exchange: &mut ModelExchange<'run>) {
    let last = messages.iter().rposition(|said| !said.is_of_assistant()).map_or(0, |last| last + 1);
    for (place, said) in messages.into_iter().enumerate() {
        if place < last { exchange.input.push(said) } else { exchange.output.push(said) }
    }
}

impl<'run> ModelExchange<'run> {
    /// Reads what was left unread.
    pub(super) fn read_rest(&mut self, builder: &RunBuilder<'run, '_>) {
        if let Some(node) = self.unread.take() {
            self.input.extend(read_messages(node, role::USER, builder));
        }
    }
}
