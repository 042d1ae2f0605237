//! What is said in a session or a conversation.

use super::{About, Reader, session};
use crate::adapt::content::{self, Piece};
use crate::adapt::draft::{StepId, count, field};
use crate::adapt::fields::{Parsed, Record as _, Shape, Shapes as _};
use crate::adapt::messages::{OfMessage, Role};
use averment_base::value::{Node, Object, Origin, Value};
use averment_runs::normal::{of_step, role};
use averment_runs::run::Kind;

/// A text of the assistant in its pieces so far.
pub(super) struct Open<'run> {
    step: StepId,
    turn: usize,
    /// The id of its message, which may go on in another record.
    pub(super) message: Option<&'run str>,
    last: Piece,
    pieces: Vec<Node<'run>>,
}

impl<'run> Reader<'_, 'run, '_> {
    /// Says a text, or goes on with the one before it.
    pub(super) fn say_piece(
        &mut self,
        text: Node<'run>,
        piece: Piece,
        role: Option<Role>,
        about: &About<'run>,
        origin: Origin,
    ) {
        if role != Some(Role::Assistant) || !Parsed.is(text, Shape::Text) {
            return self.say(text, role, about, origin);
        }
        if let Some(open) = self.open.as_mut().filter(|open| piece.goes_on(open.last)) {
            open.last = piece;
            return open.pieces.push(text);
        }
        self.close();
        self.said.say(text, about.turn, about.agent.is_none());
        let step = self.add_message(role::ASSISTANT, text, about, origin);
        self.open = Some(Open { step, turn: about.turn, message: about.message, last: piece, pieces: vec![text] });
    }

    /// No more comes of the text in work.
    pub(super) fn close(&mut self) {
        let Some(open) = self.open.take().filter(|open| open.pieces.len() > 1) else { return };
        if let Some(whole) = content::whole(&open.pieces, self.draft.arena) {
            self.draft.replace(open.step, of_step::TEXT, whole);
            self.said.goes_on(whole, open.turn);
        }
    }

    pub(super) fn say(&mut self, text: Node<'run>, role: Option<Role>, about: &About<'run>, origin: Origin) {
        if !Parsed.is(text, Shape::Text) {
            return;
        }
        match role {
            Some(Role::Assistant) => self.say_piece(text, Piece::Alone, role, about, origin),
            Some(Role::User) if self.in_session && session::is_of_program(text) => {
                self.add_message(role::SYSTEM, text, about, origin);
            }
            Some(Role::User) => {
                if about.speaker.is_none() {
                    self.prompt = self.prompt.or(Some(text));
                }
                self.add_message(about.speaker.unwrap_or(role::USER), text, about, origin);
            }
            Some(Role::Result) | None => {
                self.add_message(role::SYSTEM, text, about, origin);
            }
        }
    }

    /// The model gave no answer: what stands in its place is the program's.
    pub(super) fn fails(&mut self, message: Object<'run>, about: &About<'run>) {
        let words = message.field(OfMessage::Content).and_then(|content| content::text(content, self.draft.arena));
        if let Some(words) = words.filter(|words| Parsed.is(*words, Shape::Text)) {
            self.api_error = Some(words).filter(|_| about.agent.is_none()).or(self.api_error);
            self.add_message(role::SYSTEM, words, about, words.origin);
        }
    }

    pub(super) fn add_message(
        &mut self,
        speaker: &'static str,
        text: Node<'run>,
        about: &About<'run>,
        origin: Origin,
    ) -> StepId {
        let role = Node::computed(Value::plain(speaker));
        let mut fields =
            vec![field(of_step::ROLE, role), field(of_step::TEXT, text), field(of_step::TURN, count(about.turn))];
        fields.extend(about.time.map(|time| field(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field(of_step::AGENT, agent)));
        self.draft.step(Kind::Message, fields, origin)
    }
}
