//! Streams of Vercel's AI SDK: what `useChat` gets from a server (the UI message stream), and the parts of `fullStream`. What the user said is
//! in neither.

use super::block_session;
use super::blocks::{self, BlockCall, BlockResult, ContentBlock};
use super::calls::TokenUsage;
use super::conversation::{ConversationBuilder, Speaker, StepMeta};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{node_list, node_object, node_text, object_of, text_of};
use super::run_builder::RunBuilder;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, Value, json};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::StepStatus;

key_table! {
    SdkStreamKey {
        Type = "type",
        Id = "id",
        Delta = "delta",
        Text = "text",
        CallId = "toolCallId",
        Tool = "toolName",
        Input = "input",
        InputDelta = "inputTextDelta",
        Output = "output",
        Preliminary = "preliminary",
        ErrorText = "errorText",
        Error = "error",
        Usage = "usage",
        /// The call that waits for an answer, where it has no id of its own.
        Call = "toolCall",
    }
}

key_table! {
    SdkStreamType {
        Words = "text-delta",
        Thought = "reasoning-delta",
        Begins = "tool-input-start",
        Grows = "tool-input-delta",
        Whole = "tool-input-available",
        Wrong = "tool-input-error",
        Asks = "tool-approval-request",
        Gave = "tool-output-available",
        Failed = "tool-output-error",
        Denied = "tool-output-denied",
        /// Parts of `fullStream`, as they stand in messages.
        Block = "tool-call" | "tool-result" | "tool-error",
        Step = "start-step",
        StepEnd = "finish-step",
        End = "finish",
        Cut = "abort",
        Error = "error",
        /// How a stream is framed, and what is shown beside the words.
        Silent = "start" | "text-start" | "text-end" | "reasoning-start" | "reasoning-end" | "tool-input-end" | "source"
            | "source-url" | "source-document" | "file" | "reasoning-file" | "message-metadata" | "raw",
    }
}

/// How the types of what a program shows beside the answer begin.
const DATA: &str = "data-";

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "AI SDK stream",
    known_by: "parts of `type` `text-delta`, `tool-input-available`, … with an `id` or a `toolCallId`",
    description: "streams of Vercel's AI SDK (UI message stream, `fullStream`: a list, one a line, as sent)",
    marks: &[SdkStreamKey::InputDelta.key()],
    near: &[SdkStreamKey::InputDelta.key()],
    object: |object| is_part(object) && object.field(SdkStreamKey::CallId).is_some(),
    item_marks: &[SdkStreamKey::Delta.key(), SdkStreamKey::CallId.key()],
    element: is_part,
    line: is_part,
    beside: |object| part_type(object).is_some(),
    read: read_run,
    ..IN_FULL
};

fn part_type(part: Object<'_>) -> Option<SdkStreamType> {
    let word = text_of(part, SdkStreamKey::Type)?;
    SdkStreamType::from_key(word).or_else(|| word.starts_with(DATA).then_some(SdkStreamType::Silent))
}

/// Whether a part says by itself of which stream it is.
fn is_part(part: Object<'_>) -> bool {
    let has = |key| text_of(part, key).is_some();
    match part_type(part) {
        Some(SdkStreamType::Words | SdkStreamType::Thought) => {
            has(SdkStreamKey::Id) && (has(SdkStreamKey::Delta) || has(SdkStreamKey::Text))
        }
        Some(SdkStreamType::Begins) => has(SdkStreamKey::Tool),
        Some(SdkStreamType::Grows) => has(SdkStreamKey::InputDelta) || has(SdkStreamKey::Delta),
        Some(SdkStreamType::Whole | SdkStreamType::Wrong) => has(SdkStreamKey::CallId) && has(SdkStreamKey::Tool),
        Some(SdkStreamType::Gave | SdkStreamType::Failed | SdkStreamType::Denied | SdkStreamType::Asks) => {
            has(SdkStreamKey::CallId)
        }
        _ => false,
    }
}

/// So many parts may be open at the same time.
const MOST_OPEN: usize = 256;

/// Words, or the input of a call, of which pieces arrive.
struct OpenPart<'run> {
    node: Node<'run>,
    id: Option<Node<'run>>,
    kind: SdkStreamType,
    tool: Option<Node<'run>>,
    pieces: String,
}

struct SdkStream<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    open: Vec<OpenPart<'run>>,
    /// Steps are told: what tools give within one does not end it.
    has_steps: bool,
    is_over: bool,
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let conversation = ConversationBuilder::from_parts(builder);
    let mut stream = SdkStream { conversation, open: Vec::new(), has_steps: false, is_over: false };
    for node in node_list(*root).unwrap_or(std::slice::from_ref(root)) {
        stream.conversation.builder.count_record();
        match node_object(*node).and_then(|part| Some((part, part_type(part)?))) {
            Some((part, kind)) => stream.add_part(*node, part, kind),
            None => stream.conversation.builder.skip_value(node, "a part of unknown type is skipped: it may be a call"),
        }
    }
    stream.close_parts(false);
    let is_over = stream.is_over;
    let builder = stream.conversation.finish_run();
    if !is_over {
        builder.set_entry(of_run::COMPLETE, Node::computed(Value::Boolean(false)));
    }
    Ok(())
}

impl<'a, 'run, 'limits> SdkStream<'a, 'run, 'limits> {
    fn add_part(&mut self, node: Node<'run>, part: Object<'run>, kind: SdkStreamType) {
        let call = || text_of(part, SdkStreamKey::CallId);
        match kind {
            SdkStreamType::Words | SdkStreamType::Thought | SdkStreamType::Grows => self.grow_part(node, part, kind),
            SdkStreamType::Begins => self.open_part(OpenPart {
                node,
                id: value_of(part, SdkStreamKey::CallId).or_else(|| value_of(part, SdkStreamKey::Id)),
                kind,
                tool: value_of(part, SdkStreamKey::Tool),
                pieces: String::new(),
            }),
            SdkStreamType::Whole => self.add_call(node, part, None),
            SdkStreamType::Wrong => {
                let result = value_of(part, SdkStreamKey::ErrorText);
                let status = Some(StepStatus::Failed);
                self.add_call(node, part, Some(BlockResult { result, is_value: true, status, ..Default::default() }));
            }
            SdkStreamType::Block => self.add_block(node, part),
            SdkStreamType::Asks => self.await_answer(node, part),
            SdkStreamType::Gave if is_true(&part, &NodeShapes, SdkStreamKey::Preliminary) => {}
            SdkStreamType::Gave => self.end_call(node, call(), value_of(part, SdkStreamKey::Output), StepStatus::Ok),
            SdkStreamType::Failed => {
                self.end_call(node, call(), value_of(part, SdkStreamKey::ErrorText), StepStatus::Failed);
            }
            SdkStreamType::Denied => self.end_call(node, call(), None, StepStatus::Denied),
            SdkStreamType::Step => {
                self.has_steps = true;
                self.is_over = false;
                self.close_parts(true);
                self.conversation.note_input();
            }
            SdkStreamType::StepEnd => {
                self.close_parts(true);
                self.count_usage(part);
            }
            SdkStreamType::End => {
                self.close_parts(true);
                self.is_over = true;
            }
            SdkStreamType::Cut => self.is_over = false,
            SdkStreamType::Error => {
                let why = value_of(part, SdkStreamKey::ErrorText).or_else(|| value_of(part, SdkStreamKey::Error));
                self.conversation.builder.set_some(of_run::ERROR, why);
            }
            SdkStreamType::Silent => {}
        }
    }

    fn count_usage(&mut self, part: Object<'run>) {
        if let Some(counts) = object_of(part, SdkStreamKey::Usage) {
            let mut usage = TokenUsage::default();
            usage.add_usage(counts);
            self.conversation.add_usage(&usage, None);
        }
    }

    fn grow_part(&mut self, node: Node<'run>, part: Object<'run>, kind: SdkStreamType) {
        let id = value_of(part, SdkStreamKey::CallId).or_else(|| value_of(part, SdkStreamKey::Id));
        let of_kind = if kind == SdkStreamType::Grows { SdkStreamType::Begins } else { kind };
        let same =
            |open: &&mut OpenPart<'run>| open.kind == of_kind && open.id.and_then(node_text) == id.and_then(node_text);
        let piece = [SdkStreamKey::InputDelta, SdkStreamKey::Delta, SdkStreamKey::Text];
        let piece = piece.into_iter().find_map(|key| text_of(part, key)).unwrap_or_default();
        match self.open.iter_mut().rfind(same) {
            Some(open) => open.pieces.push_str(piece),
            None if kind == SdkStreamType::Grows => {
                self.conversation
                    .builder
                    .skip_record(node.origin, "arguments of a call whose start is missing are skipped");
            }
            None => self.open_part(OpenPart { node, id, kind, tool: None, pieces: piece.to_owned() }),
        }
    }

    /// All that are open are looked through for each piece.
    fn open_part(&mut self, part: OpenPart<'run>) {
        if self.open.len() < MOST_OPEN {
            self.open.push(part);
        } else {
            self.conversation.builder.skip_record(part.node.origin, "more parts are open than an answer has");
        }
    }

    /// What was open is told as it stands. Of a call that is cut off nobody knows the arguments.
    fn close_parts(&mut self, is_whole: bool) {
        self.close_where(is_whole, |_| true);
    }

    /// Words stand before the call that follows them, or whose end does.
    fn close_before(&mut self, call: Option<&str>) {
        self.close_where(true, |open| {
            open.kind != SdkStreamType::Begins || call.is_some() && open.id.and_then(node_text) == call
        });
    }

    fn close_where(&mut self, is_whole: bool, ends: impl Fn(&OpenPart<'run>) -> bool) {
        let (closed, open) = std::mem::take(&mut self.open).into_iter().partition(ends);
        self.open = open;
        for part in closed {
            self.close_part(part, is_whole);
        }
    }

    fn close_part(&mut self, part: OpenPart<'run>, is_whole: bool) {
        let text = self.conversation.builder.arena.alloc_str(&part.pieces);
        let (at, meta) = (part.node.origin, StepMeta::default());
        let words = Node::new(Value::plain_text(text), at);
        match part.kind {
            SdkStreamType::Words => self.conversation.add_message(Speaker::Assistant, words, &meta, at),
            SdkStreamType::Thought => self.conversation.add_message(Speaker::Thinking, words, &meta, at),
            _ if is_whole || json::parse(text, 0, &bumpalo::Bump::new(), self.conversation.builder.limits).is_ok() => {
                let call = BlockCall { tool: part.tool, args: Some(words), id: part.id, answer: None };
                block_session::add_call(&mut self.conversation, part.node, call, &meta);
            }
            _ => {}
        }
    }

    fn add_call(&mut self, node: Node<'run>, part: Object<'run>, answer: Option<BlockResult<'run>>) {
        let [id, tool, args] =
            [SdkStreamKey::CallId, SdkStreamKey::Tool, SdkStreamKey::Input].map(|key| value_of(part, key));
        self.open
            .retain(|open| open.kind != SdkStreamType::Begins || open.id.and_then(node_text) != id.and_then(node_text));
        self.close_before(None);
        if self.is_told(id, args) {
            return;
        }
        block_session::add_call(
            &mut self.conversation,
            node,
            BlockCall { tool, args, id, answer },
            &StepMeta::default(),
        );
    }

    /// A call that is told again.
    fn is_told(&self, id: Option<Node<'run>>, args: Option<Node<'run>>) -> bool {
        let call = id.and_then(node_text).and_then(|id| self.conversation.find_call(id));
        let told = call.map(|call| self.conversation.builder.step_field(call, of_step::ARGS));
        told.is_some_and(|told| match (told, args) {
            (Some(told), Some(args)) => values_equal(&told.value, &args.value),
            (told, args) => told.is_none() && args.is_none(),
        })
    }

    fn add_block(&mut self, node: Node<'run>, part: Object<'run>) {
        match blocks::classify_block(part) {
            ContentBlock::Calls(_) => self.add_call(node, part, None),
            ContentBlock::Answers(_) if is_true(&part, &NodeShapes, SdkStreamKey::Preliminary) => {}
            ContentBlock::Answers(answer) => {
                let result = answer.result_content(self.conversation.builder.arena);
                self.end_call(node, answer.id, result, answer.call_status(result));
            }
            _ => self.conversation.builder.skip_record(node.origin, blocks::UNKNOWN),
        }
    }

    fn await_answer(&mut self, node: Node<'run>, part: Object<'run>) {
        let inner = object_of(part, SdkStreamKey::Call).unwrap_or(part);
        let id = text_of(inner, SdkStreamKey::CallId);
        self.close_before(id);
        match id.and_then(|id| self.conversation.find_call(id)) {
            Some(call) => self.conversation.set_status(call, StepStatus::Pending),
            None => {
                self.conversation.builder.skip_record(node.origin, "an approval of a call that is missing is skipped")
            }
        }
    }

    fn end_call(&mut self, node: Node<'run>, id: Option<&'run str>, result: Option<Node<'run>>, status: StepStatus) {
        self.close_before(id);
        let answer = BlockResult { id, result, is_value: true, status: Some(status), ..BlockResult::default() };
        let tell = |conversation: &mut ConversationBuilder<'a, 'run, 'limits>| {
            block_session::add_result(conversation, node, &answer, None, &StepMeta::default());
        };
        if self.has_steps { self.conversation.within_message(tell) } else { tell(&mut self.conversation) }
    }
}
