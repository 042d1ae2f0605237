//! What is said in a session or a conversation.

use super::{ClaudeReader, LineMeta, session};
use crate::adapt::content::{self, TextPiece};
use crate::adapt::fields::{FieldRecord as _, NodeShapes, ShapeReader as _, ValueShape};
use crate::adapt::messages::{ChatMessageKey, MessageRole};
use crate::adapt::nodes::node_text;
use crate::adapt::run_builder::{StepId, count_node, field_entry};
use averment_base::value::{Node, Object, TextOrigin, Value};
use averment_runs::normal::{of_step, role};
use averment_runs::run::StepKind;

pub(super) struct OpenText<'run> {
    step: StepId,
    turn: usize,
    pub(super) message: Option<&'run str>,
    last: TextPiece,
    pieces: Vec<Node<'run>>,
}

impl<'run> ClaudeReader<'_, 'run, '_> {
    pub(super) fn say_piece(
        &mut self,
        text: Node<'run>,
        piece: TextPiece,
        role: Option<MessageRole>,
        meta: &LineMeta<'run>,
        origin: TextOrigin,
    ) {
        if role != Some(MessageRole::Assistant) || !NodeShapes.has_shape(text, ValueShape::Text) {
            return self.say_text(text, role, meta, origin);
        }
        if let Some(open) = self.open.as_mut().filter(|open| piece.continues(open.last)) {
            open.last = piece;
            return open.pieces.push(text);
        }
        self.close_text();
        self.said.add_words(text, meta.turn, meta.agent.is_none());
        let step = self.add_message(role::ASSISTANT, text, meta, origin);
        self.open = Some(OpenText { step, turn: meta.turn, message: meta.message, last: piece, pieces: vec![text] });
    }

    pub(super) fn close_text(&mut self) {
        let Some(open) = self.open.take().filter(|open| open.pieces.len() > 1) else { return };
        if let Some(whole) = content::concat_pieces(&open.pieces, self.builder.arena) {
            self.builder.set_field(open.step, of_step::TEXT, whole);
            self.said.extend_last(whole, open.turn);
        }
    }

    pub(super) fn say_text(
        &mut self,
        text: Node<'run>,
        role: Option<MessageRole>,
        meta: &LineMeta<'run>,
        origin: TextOrigin,
    ) {
        if !NodeShapes.has_shape(text, ValueShape::Text) {
            return;
        }
        match role {
            Some(MessageRole::Assistant) => self.say_piece(text, TextPiece::Alone, role, meta, origin),
            Some(MessageRole::User)
                if self.in_session && session::is_of_program(text)
                    || node_text(text).is_some_and(content::is_not_of_user) =>
            {
                self.add_message(role::SYSTEM, text, meta, origin);
            }
            Some(MessageRole::User) => {
                let told = node_text(text).and_then(content::split_reminders);
                let part = |words: &'run str| Node::new(Value::plain_text(words), text.origin);
                if let Some((reminders, _)) = told {
                    self.add_message(role::SYSTEM, part(reminders), meta, origin);
                }
                let text = told.map_or(text, |(_, own)| part(own));
                if meta.speaker.is_none() {
                    self.prompt = self.prompt.or(Some(text));
                }
                self.add_message(meta.speaker.unwrap_or(role::USER), text, meta, origin);
            }
            Some(MessageRole::Result | MessageRole::Other) | None => {
                self.add_message(role::SYSTEM, text, meta, origin);
            }
        }
    }

    /// The model gave no answer: the program's words take its place.
    pub(super) fn set_api_error(&mut self, message: Object<'run>, meta: &LineMeta<'run>) {
        let words = self.say_for_program(message, meta);
        self.api_error = words.filter(|_| meta.agent.is_none()).or(self.api_error);
    }

    /// What the program says in the name of a model ("No response requested.").
    pub(super) fn say_for_program(&mut self, message: Object<'run>, meta: &LineMeta<'run>) -> Option<Node<'run>> {
        let content = message.field(ChatMessageKey::Content)?;
        self.builder.note_parts(content);
        let words = content::content_text(content, self.builder.arena);
        let words = words.filter(|words| NodeShapes.has_shape(*words, ValueShape::Text))?;
        self.add_message(role::SYSTEM, words, meta, words.origin);
        Some(words)
    }

    pub(super) fn add_message(
        &mut self,
        speaker: &'static str,
        text: Node<'run>,
        meta: &LineMeta<'run>,
        origin: TextOrigin,
    ) -> StepId {
        let role = Node::computed(Value::plain_text(speaker));
        let mut fields = vec![
            field_entry(of_step::ROLE, role),
            field_entry(of_step::TEXT, text),
            field_entry(of_step::TURN, count_node(meta.turn)),
        ];
        fields.extend(meta.time.map(|time| field_entry(of_step::START, time)));
        fields.extend(meta.agent.map(|agent| field_entry(of_step::AGENT, agent)));
        self.builder.add_step(StepKind::Message, fields, origin)
    }
}
