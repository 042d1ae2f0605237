//! What events of a span say of its messages.

use super::attributes::{Fact, SpanFacts};
use super::exchange::ModelExchange;
use super::span_messages::{self, SpanMessageKey};
use crate::adapt::fields::key_table;
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::ObjectEntry;
use averment_runs::normal::{of_step, role};

pub(crate) fn take_event<'run>(
    name: &str,
    facts: &SpanFacts<'run>,
    builder: &RunBuilder<'run, '_>,
    exchange: &mut ModelExchange<'run>,
) {
    let Some(event) = MessageEvent::from_key(name) else { return };
    let entries: Vec<ObjectEntry<'run>> = [
        (Fact::EventRole, SpanMessageKey::Role),
        (Fact::EventContent, SpanMessageKey::Content),
        (Fact::EventCalls, SpanMessageKey::Calls),
        (Fact::EventId, SpanMessageKey::Answers),
        (Fact::EventMessage, SpanMessageKey::Message),
    ]
    .into_iter()
    .filter_map(|(fact, key)| {
        Some(ObjectEntry { key: key.key(), node: span_messages::read_node(facts.fact_node(fact)?, builder) })
    })
    .collect();
    let (by, answer) = match event {
        MessageEvent::System => (role::SYSTEM, false),
        MessageEvent::User => (role::USER, false),
        MessageEvent::Tool => (of_step::TOOL, false),
        MessageEvent::Assistant => (role::ASSISTANT, false),
        MessageEvent::Choice => (role::ASSISTANT, true),
    };
    let said = span_messages::read_message(builder.object_node(&entries), by, builder);
    if answer {
        exchange.output.push(said)
    } else {
        exchange.input.push(said)
    }
    exchange.records_output |= answer;
}

key_table! {
    MessageEvent {
        System = "gen_ai.system.message",
        User = "gen_ai.user.message",
        Assistant = "gen_ai.assistant.message",
        Tool = "gen_ai.tool.message",
        Choice = "gen_ai.choice",
    }
}
