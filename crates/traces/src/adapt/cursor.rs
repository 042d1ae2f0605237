//! Cursor's agent: the events of `--output-format stream-json`. The tool of a call is the key of what it holds: `shellToolCall` is the tool
//! `shell`.

use super::calls::TokenUsage;
use super::content;
use super::conversation::{CallResult, ConversationBuilder, Speaker, StepMeta, ToolCall};
use super::fields::{FieldRecord, NodeShapes, ShapeReader, ValueShape, is_true, key_table};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{first_of, items_of, node_object, node_text, object_of, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::RunBuilder;
use averment_base::value::{Node, Object, Value, ValueText};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::StepStatus;
use rustc_hash::FxHashSet;

key_table! {
    CursorKey {
        Type = "type",
        Subtype = "subtype",
        Session = "session_id",
        Folder = "cwd",
        Model = "model",
        Message = "message",
        Content = "content",
        Words = "text",
        Call = "tool_call",
        Id = "call_id",
        IdToo = "model_call_id",
        Time = "timestamp_ms",
        Request = "request_id",
        Result = "result",
        Failed = "is_error",
        Duration = "duration_ms",
        Usage = "usage",
    }
}

key_table! {
    CursorToolKey {
        Args = "args",
        Result = "result",
        Name = "name",
        ToolName = "toolName",
        Function = "function",
        Arguments = "arguments",
        Success = "success",
        Failure = "failure",
        Error = "error",
        Rejected = "rejected",
        Denied = "permissionDenied",
        ExitCode = "exitCode",
        Output = "interleavedOutput",
        Stdout = "stdout",
        Stderr = "stderr",
        Content = "content",
        Failed = "isError",
    }
}

key_table! {
    CursorEventType {
        System = "system",
        User = "user",
        Assistant = "assistant",
        Thinking = "thinking",
        Call = "tool_call",
        End = "result",
    }
}

key_table! {
    CursorProgress {
        Completed = "completed",
        Delta = "delta",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Cursor agent stream",
    known_by: "events with `session_id` of type `tool_call` with a `tool_call`, or with `timestamp_ms`, or a `result` with `request_id`",
    description: "events of Cursor's agent (`--output-format stream-json`)",
    marks: &[CursorKey::Call.key()],
    item_marks: &[CursorKey::Call.key(), CursorKey::Time.key(), CursorKey::Request.key()],
    element: is_event,
    line: is_event,
    record_ids: RecordIds::of_run(&[&[CursorKey::Session.key()]]),
    read: read_run,
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    let has = |field| event.field(field).is_some();
    // A call under such a name stands nowhere else.
    let named = |call: Object<'_>| call.entries().iter().any(|entry| entry.key.ends_with(TOOL_CALL));
    object_of(event, CursorKey::Call).is_some_and(named)
        || has(CursorKey::Session)
            && match text_of(event, CursorKey::Type).and_then(CursorEventType::from_key) {
                Some(CursorEventType::Call) => object_of(event, CursorKey::Call).is_some(),
                Some(CursorEventType::End) => has(CursorKey::Request) && has(CursorKey::Duration),
                Some(_) => has(CursorKey::Time),
                None => false,
            }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut stream = CursorStream {
        conversation: ConversationBuilder::new(builder),
        seen: FxHashSet::default(),
        thought: None,
        words: None,
    };
    for node in items_of::<CursorKey>(root, &[]) {
        stream.conversation.builder.count_record();
        let event = node_object(*node)
            .and_then(|event| Some((event, CursorEventType::from_key(text_of(event, CursorKey::Type)?)?)));
        match event {
            Some((event, kind)) => stream.read_event(*node, event, kind),
            None => stream.conversation.builder.skip_value(node, "an event of unknown type is skipped"),
        }
    }
    stream.flush_thinking();
    stream.flush_message(None);
    stream.conversation.finish_with_tools();
    Ok(())
}

struct CursorStream<'a, 'run, 'limits> {
    conversation: ConversationBuilder<'a, 'run, 'limits>,
    seen: FxHashSet<&'run str>,
    thought: Option<(Node<'run>, String)>,
    /// A message in parts, which have their own times.
    words: Option<(Node<'run>, String)>,
}

impl<'run> CursorStream<'_, 'run, '_> {
    fn read_event(&mut self, node: Node<'run>, event: Object<'run>, kind: CursorEventType) {
        if !self.conversation.builder.has_entry(of_run::ID) {
            self.conversation
                .builder
                .set_some(of_run::ID, event.field(CursorKey::Session).filter(|id| NodeShapes.is_text(*id)));
        }
        let meta = StepMeta { time: first_of(event, &[CursorKey::Time]), ..StepMeta::default() };
        if kind == CursorEventType::Thinking {
            if let Some(words) = text_of(event, CursorKey::Words) {
                self.thought.get_or_insert_with(|| (node, String::new())).1.push_str(words);
            }
            return;
        }
        self.flush_thinking();
        let is_part =
            kind == CursorEventType::Assistant && meta.time.is_some() && first_of(event, &[CursorKey::IdToo]).is_none();
        if is_part && self.append_delta(node, event) {
            return;
        }
        self.flush_message(Some(event).filter(|_| kind == CursorEventType::Assistant));
        match kind {
            CursorEventType::System => {
                self.conversation.add_meta(of_meta::CWD, event.field(CursorKey::Folder));
                self.conversation.add_meta(of_meta::MODEL, event.field(CursorKey::Model));
            }
            CursorEventType::User | CursorEventType::Assistant => {
                let speaker = if kind == CursorEventType::User { Speaker::User } else { Speaker::Assistant };
                let content =
                    object_of(event, CursorKey::Message).and_then(|message| message.field(CursorKey::Content));
                content
                    .into_iter()
                    .for_each(|content| self.conversation.add_content(speaker, content, &meta, node.origin));
            }
            CursorEventType::Call => self.add_call(node, event, &meta),
            CursorEventType::End => self.end_call(event),
            CursorEventType::Thinking => {}
        }
    }

    fn flush_thinking(&mut self) {
        if let Some((node, words)) = self.thought.take() {
            let words = Node::new(Value::plain_text(self.conversation.builder.arena.alloc_str(&words)), node.origin);
            self.conversation.add_message(Speaker::Thinking, words, &StepMeta::default(), node.origin);
        }
    }

    fn append_delta(&mut self, node: Node<'run>, event: Object<'run>) -> bool {
        let Some(words) = words_of(event, self.conversation.builder).and_then(node_text) else { return false };
        self.words.get_or_insert_with(|| (node, String::new())).1.push_str(words);
        true
    }

    /// What follows may be the whole message again: without a time, or with a request id.
    fn flush_message(&mut self, next: Option<Object<'run>>) {
        let Some((node, words)) = self.words.take() else { return };
        let whole = next.and_then(|next| words_of(next, self.conversation.builder)).and_then(node_text);
        if whole.is_some_and(|whole| whole.trim() == words.trim()) {
            return;
        }
        let words = Node::new(Value::plain_text(self.conversation.builder.arena.alloc_str(&words)), node.origin);
        self.conversation.add_message(Speaker::Assistant, words, &StepMeta::default(), node.origin);
    }

    fn add_call(&mut self, node: Node<'run>, event: Object<'run>, meta: &StepMeta<'run>) {
        let Some((name, held)) = object_of(event, CursorKey::Call).and_then(|call| held_in(call)) else {
            self.conversation.builder.skip_value(node, "a call without its tool is skipped");
            return;
        };
        let id = first_of(event, &[CursorKey::Id, CursorKey::IdToo]);
        let key = id.and_then(node_text);
        let completed =
            text_of(event, CursorKey::Subtype).and_then(CursorProgress::from_key) == Some(CursorProgress::Completed);
        if key.is_none_or(|key| self.seen.insert(key)) {
            let (tool, args) = name_tool(&self.conversation, name, held);
            // What is only seen when it is over has started before that.
            let meta = if completed { StepMeta::default() } else { *meta };
            self.conversation.add_call(ToolCall { tool, args, id, origin: node.origin }, &meta);
        }
        if let Some(result) = held.field(CursorToolKey::Result).filter(|_| completed) {
            self.conversation.add_result(key, None, call_outcome(result), meta, node.origin);
        }
    }

    fn end_call(&mut self, event: Object<'run>) {
        let builder = &mut *self.conversation.builder;
        builder.set_some(of_run::OUTPUT, first_of(event, &[CursorKey::Result]));
        builder.set_some(of_run::DURATION, first_of(event, &[CursorKey::Duration]));
        if is_true(&event, &NodeShapes, CursorKey::Failed) {
            builder.set_some(of_run::ERROR, first_of(event, &[CursorKey::Result, CursorKey::Subtype]));
        }
        if let Some(counts) = object_of(event, CursorKey::Usage) {
            let mut usage = TokenUsage::default();
            usage.add_usage(counts);
            usage.count_cache_as_input();
            self.conversation.usage.merge_usage(&usage);
        }
    }
}

fn words_of<'run>(event: Object<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    content::content_text(object_of(event, CursorKey::Message)?.field(CursorKey::Content)?, builder.arena)
}

fn held_in(call: Object<'_>) -> Option<(&str, Object<'_>)> {
    let of_tool = |name: &str| name.ends_with(TOOL_CALL) || CursorToolKey::Function.key() == name;
    let entry = call.entries().iter().find(|entry| of_tool(entry.key) && node_object(entry.node).is_some())?;
    Some((entry.key, node_object(entry.node)?))
}

const TOOL_CALL: &str = "ToolCall";

/// Server tools and functions are named inside, others by the key, dash-separated.
fn name_tool<'run>(
    conversation: &ConversationBuilder<'_, 'run, '_>,
    name: &'run str,
    held: Object<'run>,
) -> (Node<'run>, Option<Node<'run>>) {
    let args = first_of(held, &[CursorToolKey::Args, CursorToolKey::Arguments]);
    let inside = args.and_then(node_object).filter(|args| args.field(CursorToolKey::ToolName).is_some());
    if let Some(inside) = inside {
        let tool = inside.field(CursorToolKey::ToolName).unwrap_or(Node::computed(Value::Null));
        return (tool, inside.field(CursorToolKey::Args));
    }
    if let Some(tool) = first_of(held, &[CursorToolKey::Name]).filter(|_| name == CursorToolKey::Function.key()) {
        return (tool, args);
    }
    let mut words = String::new();
    for character in name.trim_end_matches(TOOL_CALL).chars() {
        if character.is_ascii_uppercase() && !words.is_empty() {
            words.push('-');
        }
        words.push(character.to_ascii_lowercase());
    }
    (Node::computed(Value::Text(ValueText::Plain(conversation.builder.arena.alloc_str(&words)))), args)
}

/// The outcome word is the key of the result.
fn call_outcome(result: Node<'_>) -> CallResult<'_> {
    let Some(answer) = node_object(result) else { return CallResult { result: Some(result), ..CallResult::default() } };
    let ends = [
        (CursorToolKey::Success, StepStatus::Ok),
        (CursorToolKey::Failure, StepStatus::Failed),
        (CursorToolKey::Error, StepStatus::Failed),
        (CursorToolKey::Rejected, StepStatus::Denied),
        (CursorToolKey::Denied, StepStatus::Denied),
    ];
    let found = ends.into_iter().find_map(|(field, status)| Some((first_of(answer, &[field])?, status)));
    let Some((given, status)) = found else { return CallResult { result: Some(result), ..CallResult::default() } };
    let of = |fields: &[CursorToolKey]| node_object(given).and_then(|given| first_of(given, fields));
    let exit_code = of(&[CursorToolKey::ExitCode]).filter(|code| NodeShapes.has_shape(*code, ValueShape::Number));
    let failed = exit_code.is_some_and(|code| !matches!(code.value, Value::Number(code) if code.as_i64() == Some(0)))
        || node_object(given).is_some_and(|given| is_true(&given, &NodeShapes, CursorToolKey::Failed));
    let status = if failed && status == StepStatus::Ok { StepStatus::Failed } else { status };
    let result = of(&[CursorToolKey::Output, CursorToolKey::Stdout, CursorToolKey::Content]);
    // A command that printed nothing may have said why.
    let is_empty = |words: Node<'_>| node_text(words).is_some_and(str::is_empty);
    let complaint = of(&[CursorToolKey::Stderr]).filter(|words| !is_empty(*words));
    let result = complaint.filter(|_| result.is_none_or(is_empty)).or(result).unwrap_or(given);
    let error = of(&[CursorToolKey::Error]).filter(|_| status == StepStatus::Failed);
    CallResult { result: Some(result), status: Some(status), exit_code, error, details: Some(given), duration: None }
}
