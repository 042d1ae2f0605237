//! What events of a span say of its messages.

use super::attributes::{Fact, Facts};
use super::exchange::Exchange;
use super::said::{self, OfSaid};
use crate::adapt::draft::Draft;
use crate::adapt::fields::key_table;
use averment_base::value::Entry;
use averment_runs::normal::{of_step, role};

/// What events of a span say: messages one by one, under their names.
pub(crate) fn of_event<'run>(name: &str, facts: &Facts<'run>, draft: &Draft<'run, '_>, exchange: &mut Exchange<'run>) {
    let Some(event) = OfEvent::from_key(name) else { return };
    let entries: Vec<Entry<'run>> = [
        (Fact::EventRole, OfSaid::Role),
        (Fact::EventContent, OfSaid::Content),
        (Fact::EventCalls, OfSaid::Calls),
        (Fact::EventId, OfSaid::Answers),
        (Fact::EventMessage, OfSaid::Message),
    ]
    .into_iter()
    .filter_map(|(fact, key)| Some(Entry { key: key.key(), node: said::read(facts.get(fact)?, draft) }))
    .collect();
    let (by, answer) = match event {
        OfEvent::System => (role::SYSTEM, false),
        OfEvent::User => (role::USER, false),
        OfEvent::Tool => (of_step::TOOL, false),
        OfEvent::Assistant => (role::ASSISTANT, false),
        OfEvent::Choice => (role::ASSISTANT, true),
    };
    let said = said::message(draft.object(&entries), by, draft);
    if answer {
        exchange.said.push(said)
    } else {
        exchange.given.push(said)
    }
    exchange.tells |= answer;
}

key_table! {
    /// The names of events that hold a message.
    OfEvent {
        System = "gen_ai.system.message",
        User = "gen_ai.user.message",
        Assistant = "gen_ai.assistant.message",
        Tool = "gen_ai.tool.message",
        Choice = "gen_ai.choice",
    }
}
