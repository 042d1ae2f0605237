//! Messages whose parts stand one by one under numbers, in the names of attributes.

use super::attributes::{Facts, Numbered, Part};
use super::exchange::{Asked, Said, Told};
use super::{said, text_of_node};
use crate::adapt::draft::Draft;
use averment_base::value::Node;

/// The messages that are written out under numbers.
pub(super) fn messages<'run>(facts: &Facts<'run>, of: Numbered, draft: &Draft<'run, '_>) -> Vec<Said<'run>> {
    let mut all: Vec<Writing<'run>> = Vec::new();
    for one in facts.written(of) {
        let [message, inner] = one.numbers;
        if all.last().is_none_or(|writing| writing.number != message) {
            let said = Said { place: Some(one.node), ..Said::default() };
            all.push(Writing { number: message, said, ..Writing::default() });
        }
        let Some(writing) = all.last_mut() else { continue };
        match one.part {
            Part::Role => {
                writing.said.role = text_of_node(one.node).map(|role| said::canonical(role).unwrap_or(role));
            }
            Part::Text => writing.content = writing.content.or(Some(one.node)),
            Part::Piece => writing.pieces.push(one.node),
            Part::CallId => writing.call(inner, |call| call.id = Some(one.node)),
            Part::CallName => writing.call(inner, |call| call.tool = Some(one.node)),
            Part::CallArgs => writing.call(inner, |call| call.args = Some(one.node)),
            Part::Answers => {
                writing.said.results.push(Told { id: Some(one.node), tool: None, result: one.node, failed: None });
            }
            Part::TypeOfText | Part::Schema | Part::ToolName => {}
        }
    }
    all.into_iter().map(|writing| writing.finished(draft)).collect()
}

/// A message so far.
#[derive(Default)]
struct Writing<'run> {
    number: u32,
    said: Said<'run>,
    /// Its content as a whole.
    content: Option<Node<'run>>,
    /// The same piece by piece: some write both.
    pieces: Vec<Node<'run>>,
    calls: Vec<Building<'run>>,
}

/// A call whose parts stand one by one.
#[derive(Debug, Clone, Copy, Default)]
struct Building<'run> {
    number: u32,
    id: Option<Node<'run>>,
    tool: Option<Node<'run>>,
    args: Option<Node<'run>>,
}

impl<'run> Writing<'run> {
    /// Sets a part of the call with a number.
    fn call(&mut self, number: u32, set: impl Fn(&mut Building<'run>)) {
        if self.calls.last().is_none_or(|call| call.number != number) {
            self.calls.push(Building { number, ..Building::default() });
        }
        self.calls.last_mut().into_iter().for_each(set);
    }

    fn finished(self, draft: &Draft<'run, '_>) -> Said<'run> {
        let mut said = self.said;
        let is_empty = |content: &Node<'run>| text_of_node(*content).is_some_and(str::is_empty);
        let content = self.content.filter(|content| !is_empty(content));
        // What is in a message that answers a call is its result.
        if let (Some(told), Some(text)) = (said.results.first_mut(), content.or(self.pieces.first().copied())) {
            told.result = text;
            return said;
        }
        said.results.clear();
        match content {
            Some(content) => said::content_of(content, &mut said, draft),
            None => self.pieces.into_iter().for_each(|piece| said::content_of(piece, &mut said, draft)),
        }
        let asked =
            |call: Building<'run>| call.tool.map(|tool| Asked { id: call.id, tool, args: call.args, place: tool });
        said.calls.extend(self.calls.into_iter().filter_map(asked));
        said
    }
}
