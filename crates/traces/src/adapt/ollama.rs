//! Ollama: answers of its API, whole or in the pieces in which they were streamed. What was asked is not among them.

use super::block_session;
use super::blocks::BlockCall;
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::messages::{self, ToolCallKey};
use super::nodes::{list_of, node_list, node_object, node_text, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::StepKind;

key_table! {
    OllamaKey {
        Model = "model",
        Time = "created_at",
        Done = "done",
        Message = "message",
        /// The text of the API that completes a prompt.
        Response = "response",
        Role = "role",
        Content = "content",
        Thinking = "thinking",
        Calls = "tool_calls",
        TokensIn = "prompt_eval_count",
        TokensOut = "eval_count",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Ollama answers",
    known_by: "`done` and `created_at` beside a `message` or a `response` of a `model`",
    description: "answers of Ollama's API, whole or streamed (an object, one a line, a list)",
    marks: &[OllamaKey::Done.key()],
    object: is_answer,
    item_marks: &[OllamaKey::Done.key()],
    element: is_answer,
    line: is_answer,
    alone: |answer| is_true(&answer, &NodeShapes, OllamaKey::Done),
    read: read_run,
    ..IN_FULL
};

fn is_answer(answer: Object<'_>) -> bool {
    let says = object_of(answer, OllamaKey::Message).is_some() || text_of(answer, OllamaKey::Response).is_some();
    let is_done = answer.field(OllamaKey::Done).is_some_and(|done| matches!(done.value, Value::Boolean(_)));
    says && is_done && text_of(answer, OllamaKey::Model).is_some() && text_of(answer, OllamaKey::Time).is_some()
}

/// Pieces so far, with the place of the first one.
#[derive(Default)]
struct PieceText<'run> {
    words: String,
    first: Option<Node<'run>>,
}

impl<'run> PieceText<'run> {
    fn add_piece(&mut self, piece: Option<Node<'run>>) {
        let Some((piece, words)) = piece.and_then(|piece| Some((piece, node_text(piece)?))) else { return };
        self.words.push_str(words);
        self.first.get_or_insert(piece);
    }

    fn say(&mut self, conversation: &mut ConversationBuilder<'_, 'run, '_>, speaker: Speaker) {
        let words = std::mem::take(&mut self.words);
        if let Some(first) = self.first.take().filter(|_| !words.is_empty()) {
            let text = Node::new(Value::plain_text(conversation.builder.arena.alloc_str(&words)), first.origin);
            conversation.add_message(speaker, text, &StepMeta::default(), first.origin);
        }
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut conversation = ConversationBuilder::from_parts(builder);
    let (mut words, mut thought) = (PieceText::default(), PieceText::default());
    let (mut is_over, mut is_prompted, mut has_begun) = (true, false, false);
    for node in node_list(*root).unwrap_or(std::slice::from_ref(root)) {
        conversation.builder.count_record();
        let Some(answer) = node_object(*node).filter(|answer| is_answer(*answer)) else {
            conversation.builder.skip_value(node, "what is no piece of an answer is skipped");
            continue;
        };
        if !std::mem::replace(&mut has_begun, true) {
            conversation.begin_turn();
        }
        conversation.add_meta(of_meta::MODEL, answer.field(OllamaKey::Model));
        let message = object_of(answer, OllamaKey::Message);
        is_prompted |= message.is_none();
        if let Some(message) = message {
            conversation.builder.role_of(*node, text_of(message, OllamaKey::Role));
        }
        let is_empty = |message: &Object<'_>| {
            [OllamaKey::Content, OllamaKey::Thinking, OllamaKey::Calls]
                .into_iter()
                .all(|key| message.field(key).is_none())
        };
        if message.as_ref().is_some_and(is_empty) {
            conversation.builder.note_unknown(node.origin, "a message without `content` is skipped");
        }
        let said = message.map_or(value_of(answer, OllamaKey::Response), |it| value_of(it, OllamaKey::Content));
        if let Some(said) = said {
            conversation.builder.note_no_text(said, said.origin);
        }
        words.add_piece(said);
        thought.add_piece(value_of(message.unwrap_or(answer), OllamaKey::Thinking));
        let calls = message.and_then(|message| list_of(message, OllamaKey::Calls)).unwrap_or_default();
        for (at, call) in conversation.builder.record_objects(calls) {
            let function = messages::called_function(call);
            let [tool, args] = [ToolCallKey::Name, ToolCallKey::Arguments].map(|key| value_of(function, key));
            let id = value_of(call, ToolCallKey::Id);
            block_session::add_call(
                &mut conversation,
                at,
                BlockCall { tool, args, id, answer: None },
                &StepMeta::default(),
            );
        }
        is_over = is_true(&answer, &NodeShapes, OllamaKey::Done);
        if is_over {
            thought.say(&mut conversation, Speaker::Thinking);
            words.say(&mut conversation, Speaker::Assistant);
            let mut usage = TokenUsage::default();
            usage.add_count(of_usage::INPUT, value_of(answer, OllamaKey::TokensIn));
            usage.add_count(of_usage::OUTPUT, value_of(answer, OllamaKey::TokensOut));
            conversation.add_usage(&usage, value_of(answer, OllamaKey::Model));
            has_begun = false;
        }
    }
    words.say(&mut conversation, Speaker::Assistant);
    let builder = conversation.finish_run();
    if !is_over {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    if is_prompted {
        builder
            .warn_once(root.origin, "calls count as not recorded: a completed prompt has them in its text".to_owned());
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}
