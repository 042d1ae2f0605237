//! What an agent of Mastra streams (`fullStream`): an event a line, with what it tells in its `payload`. Texts come in pieces.

use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, node_object, node_text, object_of, text_of};
use super::run_builder::{RunBuilder, StepId};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::of_run;
use averment_runs::run::StepStatus;

key_table! {
    MastraEventKey {
        Type = "type",
        Run = "runId",
        From = "from",
        Payload = "payload",
        Call = "toolCallId",
        Tool = "toolName",
        Args = "args",
        Result = "result",
        Failed = "isError",
        Error = "error",
        Message = "message",
        Text = "text",
        Id = "id",
        Output = "output",
        Usage = "usage",
        Reason = "reason",
    }
}

key_table! {
    MastraSource {
        Any = "AGENT" | "USER" | "SYSTEM" | "WORKFLOW" | "NETWORK",
    }
}

key_table! {
    MastraEventType {
        Step = "step-start",
        Said = "text-delta",
        Thought = "reasoning-delta",
        Call = "tool-call",
        Result = "tool-result",
        Failed = "tool-error",
        /// Somebody has to allow the call, or to say with what it goes on.
        Waits = "tool-call-approval" | "tool-call-suspended",
        StepEnd = "step-finish",
        End = "finish",
        Error = "error",
        Stopped = "tripwire",
        Aborted = "abort",
        /// What a tool tells while it runs: of another agent it may be calls.
        Inside = "tool-output" | "step-output",
        /// Beginnings and ends of what comes in pieces, the answer again as an object, and what the provider sends as it came.
        Silent = "start" | "response-metadata" | "text-start" | "text-end" | "reasoning-start" | "reasoning-end"
            | "reasoning-signature" | "redacted-reasoning" | "source" | "file" | "tool-call-input-streaming-start"
            | "tool-call-delta" | "tool-call-input-streaming-end" | "object" | "object-result" | "raw",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Mastra stream",
    known_by: "events with `runId`, `from` and a `payload`, whose `type` is one of Mastra's (`step-start`, `tool-call`, …)",
    description: "what agents of Mastra stream (`fullStream`: one a line, or a list)",
    marks: &[MastraEventKey::From.key()],
    item_marks: &[MastraEventKey::From.key()],
    element: is_event,
    line: is_event,
    read: read_run,
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    text_of(event, MastraEventKey::From).and_then(MastraSource::from_key).is_some()
        && text_of(event, MastraEventKey::Run).is_some()
        && text_of(event, MastraEventKey::Type).is_some()
}

struct MastraStream<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    /// The text that comes in pieces: who says it, and its id.
    open: Option<(Speaker, Option<&'run str>, Vec<Node<'run>>)>,
    usage: TokenUsage,
    is_over: bool,
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let conversation = ConversationBuilder::from_parts(builder);
    let mut stream = MastraStream { conversation, open: None, usage: TokenUsage::default(), is_over: false };
    for node in items_of::<MastraEventKey>(root, &[]) {
        stream.conversation.builder.count_record();
        match node_object(*node).filter(|event| is_event(*event)) {
            Some(event) => stream.read_event(*node, event),
            None => stream.conversation.builder.skip_value(node, "what is no event of a stream is skipped"),
        }
    }
    stream.finish_run();
    Ok(())
}

impl<'run> MastraStream<'_, 'run, '_> {
    fn read_event(&mut self, node: Node<'run>, event: Object<'run>) {
        if !self.conversation.builder.has_entry(of_run::ID) {
            self.conversation.builder.set_some(of_run::ID, value_of(event, MastraEventKey::Run));
        }
        let payload = object_of(event, MastraEventKey::Payload);
        let of = |key| payload.and_then(|payload| value_of(payload, key));
        let word = text_of(event, MastraEventKey::Type).unwrap_or_default();
        let kind = MastraEventType::from_key(word);
        match kind {
            Some(MastraEventType::Said | MastraEventType::Thought) => {}
            Some(MastraEventType::Silent) => return,
            _ => self.close_text(),
        }
        match kind {
            Some(MastraEventType::Step) => self.conversation.begin_turn(),
            Some(MastraEventType::Said) => self.add_piece(Speaker::Assistant, of),
            Some(MastraEventType::Thought) => self.add_piece(Speaker::Thinking, of),
            Some(MastraEventType::Call) => {
                self.call_of(node, of);
            }
            Some(MastraEventType::Waits) => {
                let call = self.call_of(node, of);
                call.into_iter().for_each(|call| self.conversation.set_status(call, StepStatus::Pending));
            }
            Some(kind @ (MastraEventType::Result | MastraEventType::Failed)) => self.add_result(node, kind, payload),
            Some(MastraEventType::StepEnd) => count_usage(&mut self.conversation.usage, payload),
            Some(MastraEventType::End) => {
                self.is_over = true;
                count_usage(&mut self.usage, payload);
            }
            Some(MastraEventType::Error) => {
                self.is_over = true;
                self.conversation.builder.set_some(of_run::ERROR, why_of(of(MastraEventKey::Error)));
            }
            Some(MastraEventType::Stopped) => {
                self.conversation.builder.set_some(of_run::ERROR, of(MastraEventKey::Reason));
            }
            Some(MastraEventType::Inside) => {
                let inner = of(MastraEventKey::Output).and_then(node_object);
                if inner.is_some_and(|inner| text_of(inner, MastraEventKey::Type).is_some()) {
                    self.conversation
                        .builder
                        .skip_record(node.origin, "what an agent inside of a tool does is skipped");
                }
            }
            Some(MastraEventType::Aborted | MastraEventType::Silent) => {}
            None if word.starts_with("data-") => {}
            None => self
                .conversation
                .builder
                .skip_record(node.origin, format!("an event of unknown type `{word}` is skipped")),
        }
    }

    fn add_piece(&mut self, speaker: Speaker, of: impl Fn(MastraEventKey) -> Option<Node<'run>>) {
        let id = of(MastraEventKey::Id).and_then(node_text);
        if self.open.as_ref().is_none_or(|(who, known, _)| *who != speaker || *known != id) {
            self.close_text();
        }
        let (_, _, pieces) = self.open.get_or_insert_with(|| (speaker, id, Vec::new()));
        pieces.extend(of(MastraEventKey::Text));
    }

    fn close_text(&mut self) {
        let Some((speaker, _, pieces)) = self.open.take() else { return };
        if let Some(words) = content::concat_pieces(&pieces, self.conversation.builder.arena) {
            self.conversation.add_message(speaker, words, &StepMeta::default(), words.origin);
        }
    }

    /// The call that an event tells of, which may have been told before.
    fn call_of(&mut self, node: Node<'run>, of: impl Fn(MastraEventKey) -> Option<Node<'run>>) -> Option<StepId> {
        let id = of(MastraEventKey::Call);
        if let Some(known) = id.and_then(node_text).and_then(|id| self.conversation.find_call(id)) {
            return Some(known);
        }
        let tool = of(MastraEventKey::Tool).unwrap_or(Node::computed(Value::Null));
        let made = ToolCall { tool, args: of(MastraEventKey::Args), id, origin: node.origin };
        self.conversation.add_call(made, &StepMeta::default())
    }

    fn add_result(&mut self, node: Node<'run>, kind: MastraEventType, payload: Option<Object<'run>>) {
        let of = |key| payload.and_then(|payload| value_of(payload, key));
        let failed = kind == MastraEventType::Failed
            || payload.is_some_and(|payload| is_true(&payload, &NodeShapes, MastraEventKey::Failed));
        let why = why_of(of(MastraEventKey::Error));
        let outcome = CallResult {
            result: of(MastraEventKey::Result).or(why),
            status: Some(if failed { StepStatus::Failed } else { StepStatus::Ok }),
            error: why.filter(|_| failed),
            ..CallResult::default()
        };
        let (id, tool) = (of(MastraEventKey::Call).and_then(node_text), of(MastraEventKey::Tool).and_then(node_text));
        // A result tells what its call was given, too.
        self.call_of(node, of);
        self.conversation.add_result(id, tool, outcome, &StepMeta::default(), node.origin);
    }

    fn finish_run(mut self) {
        self.close_text();
        if self.conversation.usage.known_counts().is_empty() {
            self.conversation.usage = self.usage;
        }
        let is_over = self.is_over;
        let builder = self.conversation.finish_run();
        if !is_over {
            builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
        }
    }
}

/// The words of an error.
fn why_of(error: Option<Node<'_>>) -> Option<Node<'_>> {
    let error = error?;
    node_object(error).and_then(|error| value_of(error, MastraEventKey::Message)).or(Some(error))
}

fn count_usage(sum: &mut TokenUsage, payload: Option<Object<'_>>) {
    let output = payload.and_then(|payload| object_of(payload, MastraEventKey::Output));
    if let Some(counts) = output.and_then(|output| object_of(output, MastraEventKey::Usage)) {
        let mut usage = TokenUsage::default();
        usage.add_usage(counts);
        sum.merge_usage(&usage);
    }
}
