//! What went in and came out of a model, by the attributes of its span.

use super::attributes::{Fact, Facts, Numbered};
use super::exchange::{Exchange, Said};
use super::said::{asked, content_of, messages, parts, read};
use super::written;
use crate::adapt::draft::Draft;
use crate::adapt::nodes::list;
use averment_runs::normal::role;

/// Reads what went in and came out of a span.
pub(crate) fn exchange<'run>(facts: &Facts<'run>, draft: &Draft<'run, '_>) -> Exchange<'run> {
    let (given, said) = (written::messages(facts, Numbered::In, draft), written::messages(facts, Numbered::Out, draft));
    let mut exchange = Exchange { given, said, ..Exchange::default() };
    let waits = !draft.is_whole() && !facts.has(&[Fact::Messages, Fact::Input]);
    if let Some(node) = facts.get(Fact::MessagesIn).filter(|_| exchange.given.is_empty()) {
        match waits {
            true => exchange.unread = Some(node),
            false => exchange.given = messages(node, role::USER, draft),
        }
    }
    if let Some(node) = facts.get(Fact::System).filter(|_| !waits) {
        let mut system = Said { role: Some(role::SYSTEM), place: Some(node), ..Said::default() };
        parts(read(node, draft), &mut system, draft, 0);
        exchange.given.insert(0, system);
    }
    if let Some(node) = facts.get(Fact::MessagesOut).filter(|_| exchange.said.is_empty()) {
        exchange.said = messages(node, role::ASSISTANT, draft);
    }
    if let Some(node) = facts.get(Fact::Messages).filter(|_| exchange.said.is_empty() && exchange.given.is_empty()) {
        conversation(messages(node, role::USER, draft), &mut exchange);
    }
    if exchange.said.is_empty() {
        let mut said = Said { role: Some(role::ASSISTANT), ..Said::default() };
        facts.get(Fact::SaidText).into_iter().for_each(|text| content_of(text, &mut said, draft));
        if let Some(calls) = facts.get(Fact::SaidCalls) {
            said.calls.extend(list(read(calls, draft)).unwrap_or_default().iter().filter_map(|call| asked(*call)));
        }
        said.place = [Fact::SaidText, Fact::SaidCalls].into_iter().find_map(|fact| facts.get(fact));
        exchange.said.extend(said.place.is_some().then_some(said));
    }
    if let Some(node) = facts.get(Fact::Input).filter(|_| exchange.given.is_empty()) {
        exchange.given = messages(node, role::USER, draft);
    }
    if let Some(node) = facts.get(Fact::Output).filter(|_| exchange.said.iter().all(Said::is_empty)) {
        exchange.said = messages(node, role::ASSISTANT, draft);
    }
    exchange.said.retain(|said| !said.is_empty());
    exchange.tells |= !exchange.said.is_empty();
    exchange
}

/// The last messages of the model are what it said, those before what it was given.
pub(crate) fn conversation<'run>(messages: Vec<Said<'run>>, exchange: &mut Exchange<'run>) {
    let last = messages.iter().rposition(|said| !said.is_of_assistant()).map_or(0, |last| last + 1);
    for (place, said) in messages.into_iter().enumerate() {
        if place < last { exchange.given.push(said) } else { exchange.said.push(said) }
    }
}

impl<'run> Exchange<'run> {
    /// Reads what was left unread.
    pub(super) fn read_on(&mut self, draft: &Draft<'run, '_>) {
        if let Some(node) = self.unread.take() {
            self.given.extend(messages(node, role::USER, draft));
        }
    }
}
