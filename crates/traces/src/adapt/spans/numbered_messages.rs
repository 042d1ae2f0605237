//! Messages whose parts stand one by one under numbers, in the names of attributes.

use super::attributes::{NumberedField, NumberedList, SpanFacts};
use super::exchange::{RequestedCall, SpanMessage, ToolResult};
use super::span_messages;
use crate::adapt::content;
use crate::adapt::nodes::node_text;
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::Node;

pub(super) fn read_numbered<'run>(
    facts: &SpanFacts<'run>,
    of: NumberedList,
    builder: &RunBuilder<'run, '_>,
) -> Vec<SpanMessage<'run>> {
    let mut all: Vec<NumberedMessage<'run>> = Vec::new();
    for one in facts.numbered_parts(of) {
        let [message, inner] = one.numbers;
        if all.last().is_none_or(|writing| writing.number != message) {
            let said = SpanMessage { place: Some(one.node), ..SpanMessage::default() };
            all.push(NumberedMessage { number: message, said, ..NumberedMessage::default() });
        }
        let Some(writing) = all.last_mut() else { continue };
        match one.part {
            NumberedField::Role => {
                writing.said.role = node_text(one.node).map(|role| span_messages::canonical_role(role).unwrap_or(role));
            }
            NumberedField::Text => writing.content = writing.content.or(Some(one.node)),
            NumberedField::Piece => writing.pieces.push(one.node),
            NumberedField::CallId => writing.set_call(inner, |call| call.id = Some(one.node)),
            NumberedField::CallName => writing.set_call(inner, |call| call.tool = Some(one.node)),
            NumberedField::CallArgs => writing.set_call(inner, |call| call.args = Some(one.node)),
            NumberedField::Answers => {
                writing.said.results.push(ToolResult {
                    id: Some(one.node),
                    tool: None,
                    result: one.node,
                    failed: None,
                });
            }
            NumberedField::TypeOfText | NumberedField::Schema | NumberedField::ToolName => {}
        }
    }
    if of == NumberedList::Out
        && let Some(first) = all.first().filter(|first| first.number > 0)
        && let Some(place) = first.said.place
    {
        builder
            .note_unknown(place.origin, "the first messages of an answer are not there: they may have asked for calls");
    }
    let messages = all.into_iter().map(|writing| writing.finish_message(builder)).collect();
    if of == NumberedList::Out { join_pieces(messages, builder) } else { messages }
}

/// BeeAI writes a message for each piece of a streamed answer.
fn join_pieces<'run>(messages: Vec<SpanMessage<'run>>, builder: &RunBuilder<'run, '_>) -> Vec<SpanMessage<'run>> {
    /// A model says less at once.
    const MOST: usize = 8;
    let only_text = |said: &SpanMessage<'run>| {
        let is_plain = said.calls.is_empty() && said.results.is_empty() && said.thoughts.is_empty();
        said.texts.first().copied().filter(|_| is_plain && said.texts.len() == 1 && said.is_of_assistant())
    };
    let Some(texts) = messages.iter().map(only_text).collect::<Option<Vec<_>>>() else { return messages };
    // No message begins with a blank, and pieces do.
    let goes_on = |text: &Node<'run>| node_text(*text).is_some_and(|text| text.starts_with(' '));
    if texts.len() <= MOST && !texts.iter().skip(1).any(goes_on) {
        return messages;
    }
    let whole = content::concat_pieces(&texts, builder.arena);
    let first = messages.into_iter().next();
    first.map(|first| SpanMessage { texts: whole.into_iter().collect(), ..first }).into_iter().collect()
}

#[derive(Default)]
struct NumberedMessage<'run> {
    number: u32,
    said: SpanMessage<'run>,
    content: Option<Node<'run>>,
    /// Content in pieces: some write both.
    pieces: Vec<Node<'run>>,
    calls: Vec<NumberedCall<'run>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct NumberedCall<'run> {
    number: u32,
    id: Option<Node<'run>>,
    tool: Option<Node<'run>>,
    args: Option<Node<'run>>,
}

impl<'run> NumberedMessage<'run> {
    fn set_call(&mut self, number: u32, set: impl Fn(&mut NumberedCall<'run>)) {
        if self.calls.last().is_none_or(|call| call.number != number) {
            self.calls.push(NumberedCall { number, ..NumberedCall::default() });
        }
        self.calls.last_mut().into_iter().for_each(set);
    }

    fn finish_message(self, builder: &RunBuilder<'run, '_>) -> SpanMessage<'run> {
        let mut said = self.said;
        let is_empty = |content: &Node<'run>| node_text(*content).is_some_and(str::is_empty);
        let content = self.content.filter(|content| !is_empty(content));
        // What is in a message that answers a call is its result.
        if let (Some(told), Some(text)) = (said.results.first_mut(), content.or(self.pieces.first().copied())) {
            told.result = text;
            return said;
        }
        said.results.clear();
        match content {
            Some(content) => span_messages::content_of(content, &mut said, builder),
            None => self.pieces.into_iter().for_each(|piece| span_messages::content_of(piece, &mut said, builder)),
        }
        let asked = |call: NumberedCall<'run>| {
            call.tool.map(|tool| RequestedCall { id: call.id, tool, args: call.args, place: tool })
        };
        said.calls.extend(self.calls.into_iter().filter_map(asked));
        said
    }
}
