//! The Agent2Agent protocol: answers of an agent's server, whole (`task`, `message`) or streamed. The protocol itself knows no calls: servers
//! of Google ADK write them as data.

use super::adk;
use super::content;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord as _, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{list_of, node_list, node_object, node_text, object_of, text_of};
use super::run_builder::RunBuilder;
use super::unknown::UNKNOWN_ROLE;
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepKind;
use rustc_hash::FxHashSet;

key_table! {
    A2aKey {
        /// Around an answer or a request.
        Version = "jsonrpc",
        Result = "result",
        Params = "params",
        Error = "error",
        /// What a request sends and a status says; of an error why.
        Words = "message",
        Kind = "kind",
        Context = "contextId",
        Task = "taskId",
        Id = "id",
        MessageId = "messageId",
        Role = "role",
        Parts = "parts",
        Status = "status",
        State = "state",
        Time = "timestamp",
        History = "history",
        Artifacts = "artifacts",
        Artifact = "artifact",
        ArtifactId = "artifactId",
        Text = "text",
        Data = "data",
        Metadata = "metadata",
        /// What ADK and kagent say of data.
        DataType = "adk_type" | "kagent_type",
    }
}

key_table! {
    A2aKind {
        Task = "task",
        Message = "message",
        Status = "status-update",
        Artifact = "artifact-update",
    }
}

key_table! {
    A2aPart {
        Text = "text",
        Data = "data",
        Silent = "file",
    }
}

key_table! {
    A2aData {
        Call = "function_call",
        Result = "function_response",
    }
}

key_table! {
    A2aRole {
        User = "user",
        Agent = "agent",
    }
}

key_table! {
    A2aState {
        Done = "completed",
        Failed = "failed" | "rejected",
        Open = "submitted" | "working" | "input-required" | "auth-required" | "canceled" | "unknown",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "A2A answers",
    known_by: "a `kind` of `task`, `message`, `status-update` or `artifact-update` with a `contextId` or `parts`, bare or as the `result` of JSON-RPC",
    description: "answers of the Agent2Agent protocol, also streamed, with the requests (one, a list, one a line, as sent)",
    marks: &[A2aKey::Context.key(), A2aKey::Version.key()],
    near: &[A2aKey::Context.key()],
    object: is_record,
    item_marks: &[A2aKey::Context.key(), A2aKey::Version.key()],
    element: is_record,
    line: is_record,
    read: read_run,
    ..IN_FULL
};

/// The answer in a record, or the message that a request sends.
fn payload(record: Object<'_>) -> Option<(A2aKind, Node<'_>, Object<'_>)> {
    let sent = || object_of(record, A2aKey::Params).and_then(|params| value_of(params, A2aKey::Words));
    let bare = || record.field(A2aKey::Version).is_none();
    let held = value_of(record, A2aKey::Result).or_else(sent);
    let (node, object) = match held {
        Some(held) => (held, node_object(held)?),
        None if bare() => (Node::computed(Value::Object(record)), record),
        None => return None,
    };
    let kind = A2aKind::from_key(text_of(object, A2aKey::Kind)?)?;
    let has = |key: A2aKey| object.field(key).is_some();
    let is_whole = match kind {
        A2aKind::Task => has(A2aKey::Context) && has(A2aKey::Status),
        A2aKind::Message => has(A2aKey::MessageId) && has(A2aKey::Parts),
        A2aKind::Status => has(A2aKey::Task) && has(A2aKey::Status),
        A2aKind::Artifact => has(A2aKey::Task) && has(A2aKey::Artifact),
    };
    is_whole.then_some((kind, node, object))
}

fn is_record(record: Object<'_>) -> bool {
    payload(record).is_some()
}

struct A2aTalk<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// Messages that were told: a task repeats them.
    told: FxHashSet<&'run str>,
    /// An artifact whose pieces arrive.
    artifact: Option<(Option<&'run str>, Vec<Node<'run>>)>,
    /// What the agent said last: the artifact says it again.
    last: Option<&'run str>,
    state: Option<A2aState>,
    tells_calls: bool,
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let conversation = ConversationBuilder::from_parts(builder);
    let told = FxHashSet::default();
    let mut a2a = A2aTalk { conversation, told, artifact: None, last: None, state: None, tells_calls: false };
    for node in node_list(*root).unwrap_or(std::slice::from_ref(root)) {
        a2a.conversation.builder.count_record();
        let record = node_object(*node);
        match record.and_then(payload) {
            Some((kind, at, object)) => a2a.add_record(at, object, kind),
            None => match record.and_then(|record| object_of(record, A2aKey::Error)) {
                Some(error) => a2a.conversation.builder.set_some(of_run::ERROR, value_of(error, A2aKey::Words)),
                None => a2a.conversation.builder.skip_value(node, "what is no answer of the protocol is skipped"),
            },
        }
    }
    a2a.close_artifact();
    let (state, tells_calls) = (a2a.state, a2a.tells_calls);
    let builder = a2a.conversation.finish_run();
    if state == Some(A2aState::Open) {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    if !tells_calls {
        builder.mark_unrecorded(StepKind::Call);
    }
    Ok(())
}

impl<'run> A2aTalk<'_, 'run, '_> {
    fn add_record(&mut self, node: Node<'run>, object: Object<'run>, kind: A2aKind) {
        if !self.conversation.builder.has_entry(of_run::ID) {
            let id = value_of(object, A2aKey::Context).filter(|id| node_text(*id).is_some());
            self.conversation.builder.set_some(of_run::ID, id);
        }
        if kind != A2aKind::Artifact {
            self.close_artifact();
        }
        match kind {
            A2aKind::Message => self.add_message(node, object, StepMeta::default()),
            A2aKind::Status => self.add_status(object),
            A2aKind::Artifact => {
                if let Some(artifact) = object_of(object, A2aKey::Artifact) {
                    self.grow_artifact(artifact);
                }
            }
            A2aKind::Task => {
                for (at, message) in
                    self.conversation.builder.record_objects(list_of(object, A2aKey::History).unwrap_or_default())
                {
                    self.add_message(at, message, StepMeta::default());
                }
                self.add_status(object);
                let artifacts = list_of(object, A2aKey::Artifacts).unwrap_or_default();
                for (_, artifact) in self.conversation.builder.record_objects(artifacts) {
                    if text_of(artifact, A2aKey::ArtifactId).is_some_and(|id| !self.told.insert(id)) {
                        continue;
                    }
                    self.grow_artifact(artifact);
                    self.close_artifact();
                }
            }
        }
    }

    fn add_status(&mut self, object: Object<'run>) {
        let Some(status) = object_of(object, A2aKey::Status) else { return };
        let word = text_of(status, A2aKey::State);
        self.state = Some(word.and_then(A2aState::from_key).unwrap_or(A2aState::Open));
        let message = value_of(status, A2aKey::Words);
        let time = value_of(status, A2aKey::Time);
        self.conversation.note_time(time);
        let Some((node, held)) = message.and_then(|node| Some((node, node_object(node)?))) else { return };
        if self.state == Some(A2aState::Failed) {
            let words = self.words_in(held);
            self.conversation.builder.set_some(of_run::ERROR, words);
        }
        self.add_message(node, held, StepMeta { time, ..StepMeta::default() });
    }

    fn words_in(&self, message: Object<'run>) -> Option<Node<'run>> {
        let parts = self.conversation.builder.known_objects(list_of(message, A2aKey::Parts).unwrap_or_default());
        let texts: Vec<_> = parts.filter_map(|(_, part)| value_of(part, A2aKey::Text)).collect();
        content::join_texts(&texts, self.conversation.builder.arena)
    }

    fn add_message(&mut self, node: Node<'run>, message: Object<'run>, meta: StepMeta<'run>) {
        if text_of(message, A2aKey::MessageId).is_some_and(|id| !self.told.insert(id)) {
            return;
        }
        let speaker = match text_of(message, A2aKey::Role).and_then(A2aRole::from_key) {
            Some(A2aRole::User) => Speaker::User,
            Some(A2aRole::Agent) => Speaker::Assistant,
            None => {
                self.conversation.builder.note_unknown(node.origin, UNKNOWN_ROLE);
                Speaker::System
            }
        };
        self.conversation.begin_message();
        self.add_parts(list_of(message, A2aKey::Parts).unwrap_or_default(), speaker, &meta);
    }

    fn add_parts(&mut self, parts: &'run [Node<'run>], speaker: Speaker, meta: &StepMeta<'run>) {
        for (at, part) in self.conversation.builder.record_objects(parts) {
            match text_of(part, A2aKey::Kind).and_then(A2aPart::from_key) {
                Some(A2aPart::Text) => {
                    if let Some(words) = value_of(part, A2aKey::Text) {
                        self.last = node_text(words).filter(|_| speaker == Speaker::Assistant).or(self.last);
                        self.conversation.add_message(speaker, words, meta, at.origin);
                    }
                }
                Some(A2aPart::Data) => self.add_data(at, part, meta),
                Some(A2aPart::Silent) => {}
                None => self.conversation.builder.skip_record(at.origin, super::blocks::UNKNOWN),
            }
        }
    }

    /// Data of other servers are part of an answer.
    fn add_data(&mut self, at: Node<'run>, part: Object<'run>, meta: &StepMeta<'run>) {
        let kind = object_of(part, A2aKey::Metadata).and_then(|metadata| text_of(metadata, A2aKey::DataType));
        let Some(kind) = kind else { return };
        self.tells_calls = true;
        match (A2aData::from_key(kind), object_of(part, A2aKey::Data)) {
            (Some(A2aData::Call), Some(call)) => adk::add_call(&mut self.conversation, at, call, meta),
            (Some(A2aData::Result), Some(given)) => adk::add_result(&mut self.conversation, at, given, meta),
            _ => self.conversation.builder.skip_record(at.origin, super::blocks::UNKNOWN),
        }
    }

    /// Pieces of one artifact follow one another.
    fn grow_artifact(&mut self, artifact: Object<'run>) {
        let id = text_of(artifact, A2aKey::ArtifactId);
        if self.artifact.as_ref().is_none_or(|(known, _)| *known != id) {
            self.close_artifact();
        }
        let parts = list_of(artifact, A2aKey::Parts).unwrap_or_default();
        for (at, part) in self.conversation.builder.record_objects(parts) {
            match text_of(part, A2aKey::Kind).and_then(A2aPart::from_key) {
                Some(A2aPart::Text) => {
                    let words = value_of(part, A2aKey::Text);
                    self.artifact.get_or_insert_with(|| (id, Vec::new())).1.extend(words);
                }
                // A call was told where it was made.
                Some(A2aPart::Data | A2aPart::Silent) => {}
                None => self.conversation.builder.skip_record(at.origin, super::blocks::UNKNOWN),
            }
        }
    }

    fn close_artifact(&mut self) {
        let Some((_, pieces)) = self.artifact.take() else { return };
        let Some(words) = content::concat_pieces(&pieces, self.conversation.builder.arena) else { return };
        if node_text(words) != self.last {
            self.conversation.begin_message();
            self.conversation.add_message(Speaker::Assistant, words, &StepMeta::default(), words.origin);
            self.last = node_text(words);
        }
    }
}
