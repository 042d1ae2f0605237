//! Gemini's Live API: the messages of a session, of either side. What is heard and said comes in pieces.

use super::adk::{self, AdkPartKey};
use super::calls::TokenUsage;
use super::content;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_object, node_text, object_of, objects_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, ObjectEntry};
use averment_runs::normal::{of_meta, of_usage};

key_table! {
    LiveKey {
        /// Of a recorded connection: its frames, and the message in each.
        Frames = "interactions",
        Data = "data",
        Model = "model",
        System = "systemInstruction" | "system_instruction",
        Turns = "turns",
        Role = "role",
        Text = "text",
        Calls = "functionCalls" | "function_calls",
        Results = "functionResponses" | "function_responses",
        Said = "modelTurn" | "model_turn",
        Heard = "inputTranscription" | "input_transcription",
        Spoken = "outputTranscription" | "output_transcription",
        Over = "turnComplete" | "turn_complete",
        Prompt = "promptTokenCount" | "prompt_token_count",
        Answer = "responseTokenCount" | "response_token_count",
        Total = "totalTokenCount" | "total_token_count",
        Thoughts = "thoughtsTokenCount" | "thoughts_token_count",
        Cached = "cachedContentTokenCount" | "cached_content_token_count",
    }
}

key_table! {
    /// What a message holds, under the only key that says so.
    LivePart {
        Setup = "setup",
        Words = "clientContent" | "client_content",
        Input = "realtimeInput" | "realtime_input",
        Results = "toolResponse" | "tool_response",
        Calls = "toolCall" | "tool_call",
        Content = "serverContent" | "server_content",
        Usage = "usageMetadata" | "usage_metadata",
        /// How a connection is held. A call that is withdrawn was asked for.
        Silent = "setupComplete" | "setup_complete" | "toolCallCancellation" | "tool_call_cancellation" | "goAway" | "go_away"
            | "sessionResumptionUpdate" | "session_resumption_update" | "voiceActivity" | "voice_activity",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Gemini Live messages",
    known_by: "messages with `serverContent`, `toolCall`, `clientContent`, `toolResponse` or `setup` with a `model`",
    description: "sessions of Gemini's Live API (a list, one a line, or recorded connections)",
    marks: &[LiveKey::Frames.key()],
    near: LivePart::Content.keys(),
    object: |object| {
        let is_frame = |frame: Object<'_>| object_of(frame, LiveKey::Data).is_some_and(is_message);
        list_of(object, LiveKey::Frames).is_some_and(|frames| objects_of(frames).any(is_frame))
    },
    item_marks: &[
        LivePart::Content.key(),
        LivePart::Content.last_key(),
        LivePart::Setup.key(),
        LivePart::Words.key(),
        LivePart::Words.last_key(),
        LivePart::Results.key(),
        LivePart::Results.last_key(),
        LivePart::Calls.key(),
    ],
    element: is_message,
    line: is_message,
    beside: |object| !object.entries().is_empty() && known_parts(object).count() == object.entries().len(),
    record_ids: RecordIds::of_call(&[&[LivePart::Calls.key(), LiveKey::Calls.key(), AdkPartKey::Id.key()]]),
    read: read_run,
    ..IN_FULL
};

fn known_parts(message: Object<'_>) -> impl Iterator<Item = (LivePart, ObjectEntry<'_>)> {
    message.entries().iter().filter_map(|entry| Some((LivePart::from_key(entry.key)?, *entry)))
}

fn is_message(message: Object<'_>) -> bool {
    known_parts(message).any(|(part, entry)| {
        let Some(held) = node_object(entry.node) else { return false };
        match part {
            LivePart::Setup => text_of(held, LiveKey::Model).is_some(),
            LivePart::Words => list_of(held, LiveKey::Turns).is_some(),
            LivePart::Calls => list_of(held, LiveKey::Calls).is_some(),
            LivePart::Results => list_of(held, LiveKey::Results).is_some(),
            LivePart::Content => [LiveKey::Said, LiveKey::Heard, LiveKey::Spoken, LiveKey::Over]
                .into_iter()
                .any(|key| held.field(key).is_some()),
            _ => false,
        }
    })
}

struct LiveSession<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// Who is speaking, and the pieces of it so far.
    open: Option<(Speaker, Vec<Node<'run>>)>,
    /// What the turn took so far.
    usage: Option<Object<'run>>,
    is_turn_over: bool,
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let conversation = ConversationBuilder::from_pieces(builder);
    let mut session = LiveSession { conversation, open: None, usage: None, is_turn_over: false };
    for node in items_of(root, &[LiveKey::Frames]) {
        session.conversation.builder.count_record();
        let data = node_object(*node).and_then(|frame| value_of(frame, LiveKey::Data));
        match node_object(data.unwrap_or(*node)) {
            Some(message) => session.add_message(*node, message),
            None => session.conversation.builder.skip_value(node, "what is no message of a session is skipped"),
        }
    }
    session.close_words();
    session.count_turn();
    session.conversation.finish_run();
    Ok(())
}

impl<'run> LiveSession<'_, 'run, '_> {
    fn add_message(&mut self, node: Node<'run>, message: Object<'run>) {
        for entry in message.entries() {
            let held = node_object(entry.node);
            match (LivePart::from_key(entry.key), held) {
                (Some(LivePart::Silent), _) => {}
                (Some(part), Some(held)) => self.add_part(entry.node, part, held),
                _ => self
                    .conversation
                    .builder
                    .skip_record(node.origin, "a message of unknown kind is skipped: it may be a call"),
            }
        }
        if std::mem::take(&mut self.is_turn_over) {
            self.count_turn();
        }
    }

    fn add_part(&mut self, node: Node<'run>, part: LivePart, held: Object<'run>) {
        let meta = StepMeta::default();
        match part {
            LivePart::Setup => {
                self.conversation.add_meta(of_meta::MODEL, value_of(held, LiveKey::Model));
                let system = object_of(held, LiveKey::System);
                system.into_iter().for_each(|system| self.add_turn(node, system, Speaker::System));
            }
            LivePart::Words => {
                for (at, turn) in
                    self.conversation.builder.record_objects(list_of(held, LiveKey::Turns).unwrap_or_default())
                {
                    let word = text_of(turn, LiveKey::Role);
                    let speaker = match word.and_then(LiveRole::from_key) {
                        Some(LiveRole::Model) => Speaker::Assistant,
                        // Without a role it is what the program sends for its user.
                        None if word.is_none() => Speaker::User,
                        None => Speaker::from_role(self.conversation.builder.role_of(at, word)),
                    };
                    self.close_words();
                    self.add_turn(at, turn, speaker);
                    self.close_words();
                }
            }
            // What is heard is told by its transcription.
            LivePart::Input => {
                let words = value_of(held, LiveKey::Text);
                words.into_iter().for_each(|words| self.grow_words(Speaker::User, words));
            }
            LivePart::Calls => {
                self.close_words();
                for (at, call) in
                    self.conversation.builder.record_objects(list_of(held, LiveKey::Calls).unwrap_or_default())
                {
                    adk::add_call(&mut self.conversation, at, call, &meta);
                }
            }
            LivePart::Results => {
                self.close_words();
                for (at, given) in
                    self.conversation.builder.record_objects(list_of(held, LiveKey::Results).unwrap_or_default())
                {
                    adk::add_result(&mut self.conversation, at, given, &meta);
                }
            }
            LivePart::Content => self.add_content(node, held),
            LivePart::Usage => self.usage = Some(held),
            LivePart::Silent => {}
        }
    }

    fn add_content(&mut self, node: Node<'run>, held: Object<'run>) {
        for (key, speaker) in [(LiveKey::Heard, Speaker::User), (LiveKey::Spoken, Speaker::Assistant)] {
            let words = object_of(held, key).and_then(|told| value_of(told, LiveKey::Text));
            words.into_iter().for_each(|words| self.grow_words(speaker, words));
        }
        if let Some(turn) = object_of(held, LiveKey::Said) {
            self.add_turn(node, turn, Speaker::Assistant);
        }
        if is_true(&held, &NodeShapes, LiveKey::Over) {
            self.close_words();
            self.is_turn_over = true;
        }
    }

    fn add_turn(&mut self, node: Node<'run>, turn: Object<'run>, speaker: Speaker) {
        for (at, part) in self.conversation.builder.record_objects(list_of(turn, AdkPartKey::Parts).unwrap_or_default())
        {
            let is_thought = is_true(&part, &NodeShapes, AdkPartKey::Thought);
            match value_of(part, AdkPartKey::Words).filter(|_| !is_thought && adk::is_plain_text(part)) {
                Some(words) => self.grow_words(speaker, words),
                None => {
                    if !adk::is_silent(part) {
                        self.close_words();
                    }
                    adk::add_part(&mut self.conversation, at, part, speaker, &StepMeta::default());
                }
            }
        }
        if list_of(turn, AdkPartKey::Parts).is_none() && !turn.entries().is_empty() {
            self.conversation.builder.note_unknown(node.origin, "a content without `parts` is skipped");
        }
    }

    fn grow_words(&mut self, speaker: Speaker, words: Node<'run>) {
        if node_text(words).is_none() {
            return self.conversation.builder.note_no_text(words, words.origin);
        }
        if self.open.as_ref().is_some_and(|(by, _)| *by != speaker) {
            self.close_words();
        }
        self.open.get_or_insert_with(|| (speaker, Vec::new())).1.push(words);
    }

    fn close_words(&mut self) {
        let Some((speaker, pieces)) = self.open.take() else { return };
        if let Some(words) = content::concat_pieces(&pieces, self.conversation.builder.arena) {
            self.conversation.begin_message();
            self.conversation.add_message(speaker, words, &StepMeta::default(), words.origin);
        }
    }

    fn count_turn(&mut self) {
        let Some(tokens) = self.usage.take() else { return };
        let mut usage = TokenUsage::default();
        for (name, key) in [
            (of_usage::INPUT, LiveKey::Prompt),
            (of_usage::OUTPUT, LiveKey::Answer),
            (of_usage::TOTAL, LiveKey::Total),
            (of_usage::REASONING, LiveKey::Thoughts),
            (of_usage::CACHE_READ, LiveKey::Cached),
        ] {
            usage.add_count(name, value_of(tokens, key));
        }
        self.conversation.usage.merge_usage(&usage);
    }
}

key_table! {
    LiveRole {
        Model = "model",
    }
}
