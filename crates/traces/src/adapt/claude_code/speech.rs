//! What is said in a session or a conversation.

use super::{About, Reader, session};
use crate::adapt::content;
use crate::adapt::draft::{count, field};
use crate::adapt::fields::{Parsed, Record as _, Shape, Shapes as _};
use crate::adapt::messages::{OfMessage, Role};
use averment_base::value::{Node, Object, Origin, Value};
use averment_runs::normal::{of_step, role};
use averment_runs::run::Kind;

impl<'run> Reader<'_, 'run, '_> {
    pub(super) fn say(&mut self, text: Node<'run>, role: Option<Role>, about: &About<'run>, origin: Origin) {
        if !Parsed.is(text, Shape::Text) {
            return;
        }
        match role {
            Some(Role::Assistant) => {
                self.said.say(text, about.turn, about.agent.is_none());
                self.add_message(role::ASSISTANT, text, about, origin);
            }
            Some(Role::User) if self.in_session && session::is_of_program(text) => {
                self.add_message(role::SYSTEM, text, about, origin);
            }
            Some(Role::User) => {
                if about.speaker.is_none() {
                    self.prompt = self.prompt.or(Some(text));
                }
                self.add_message(about.speaker.unwrap_or(role::USER), text, about, origin);
            }
            Some(Role::Result) | None => self.add_message(role::SYSTEM, text, about, origin),
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

    pub(super) fn add_message(&mut self, speaker: &'static str, text: Node<'run>, about: &About<'run>, origin: Origin) {
        let role = Node::computed(Value::plain(speaker));
        let mut fields =
            vec![field(of_step::ROLE, role), field(of_step::TEXT, text), field(of_step::TURN, count(about.turn))];
        fields.extend(about.time.map(|time| field(of_step::START, time)));
        fields.extend(about.agent.map(|agent| field(of_step::AGENT, agent)));
        self.draft.step(Kind::Message, fields, origin);
    }
}
