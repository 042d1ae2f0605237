//! Cursor's agent: the events of `--output-format stream-json`. The tool of a call is the key of what it holds: `shellToolCall` is the tool
//! `shell`.

use super::calls::Usage;
use super::content;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, is_true, key_table};
use super::format::{Format, IN_FULL};
use super::nodes::{first_of, items_of, object, object_of, text, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk};
use averment_base::value::{Node, Object, Text, Value};
use averment_runs::normal::{of_meta, of_run};
use averment_runs::run::Status;
use rustc_hash::FxHashSet;

key_table! {
    /// An event.
    OfCursor {
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
    /// What a call holds under the name of its tool.
    OfTool {
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
        Content = "content",
        Failed = "isError",
    }
}

key_table! {
    /// The types of events.
    EventType {
        System = "system",
        User = "user",
        Assistant = "assistant",
        Thinking = "thinking",
        Call = "tool_call",
        End = "result",
    }
}

key_table! {
    /// How far a call is, or a thought.
    Progress {
        Completed = "completed",
        Delta = "delta",
    }
}

/// Streams.
pub(crate) const FORMAT: Format = Format {
    name: "Cursor agent stream",
    known_by: "events with `session_id` of type `tool_call` with a `tool_call`, or with `timestamp_ms`, or a `result` with `request_id`",
    description: "events of Cursor's agent (`--output-format stream-json`)",
    marks: &[OfCursor::Call.key()],
    item_marks: &[OfCursor::Call.key(), OfCursor::Time.key(), OfCursor::Request.key()],
    element: is_event,
    line: is_event,
    read,
    ..IN_FULL
};

fn is_event(event: Object<'_>) -> bool {
    let has = |field| event.field(field).is_some();
    // A call under such a name stands nowhere else.
    let named = |call: Object<'_>| call.entries().iter().any(|entry| entry.key.ends_with(TOOL_CALL));
    object_of(event, OfCursor::Call).is_some_and(named)
        || has(OfCursor::Session)
            && match text_of(event, OfCursor::Type).and_then(EventType::from_key) {
                Some(EventType::Call) => object_of(event, OfCursor::Call).is_some(),
                Some(EventType::End) => has(OfCursor::Request) && has(OfCursor::Duration),
                Some(_) => has(OfCursor::Time),
                None => false,
            }
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let mut stream = Stream { talk: Talk::new(draft), seen: FxHashSet::default(), thought: None, words: None };
    for node in items_of::<OfCursor>(root, &[]) {
        stream.talk.draft.record();
        let event =
            object(*node).and_then(|event| Some((event, EventType::from_key(text_of(event, OfCursor::Type)?)?)));
        match event {
            Some((event, kind)) => stream.event(*node, event, kind),
            None => stream.talk.draft.not_understood(node.origin, "an event of unknown type is passed over"),
        }
    }
    stream.thinks();
    stream.speaks(None);
    stream.talk.finish_with_tools();
    Ok(())
}

struct Stream<'a, 'run, 'limits> {
    talk: Talk<'a, 'run, 'limits>,
    /// The calls that have started.
    seen: FxHashSet<&'run str>,
    /// A thought while its parts arrive.
    thought: Option<(Node<'run>, String)>,
    /// A message of the assistant while its parts arrive, which have times of their own.
    words: Option<(Node<'run>, String)>,
}

impl<'run> Stream<'_, 'run, '_> {
    fn event(&mut self, node: Node<'run>, event: Object<'run>, kind: EventType) {
        if !self.talk.draft.has(of_run::ID) {
            self.talk.draft.set_some(of_run::ID, event.field(OfCursor::Session).filter(|id| Parsed.is_text(*id)));
        }
        let about = About { time: first_of(event, &[OfCursor::Time]), ..About::default() };
        if kind == EventType::Thinking {
            if let Some(words) = text_of(event, OfCursor::Words) {
                self.thought.get_or_insert_with(|| (node, String::new())).1.push_str(words);
            }
            return;
        }
        self.thinks();
        let is_part =
            kind == EventType::Assistant && about.time.is_some() && first_of(event, &[OfCursor::IdToo]).is_none();
        if is_part && self.grows(node, event) {
            return;
        }
        self.speaks(Some(event).filter(|_| kind == EventType::Assistant));
        match kind {
            EventType::System => {
                self.talk.meta(of_meta::CWD, event.field(OfCursor::Folder));
                self.talk.meta(of_meta::MODEL, event.field(OfCursor::Model));
            }
            EventType::User | EventType::Assistant => {
                let speaker = if kind == EventType::User { Speaker::User } else { Speaker::Assistant };
                let content = object_of(event, OfCursor::Message).and_then(|message| message.field(OfCursor::Content));
                content.into_iter().for_each(|content| self.talk.say_content(speaker, content, &about, node.origin));
            }
            EventType::Call => self.call(node, event, &about),
            EventType::End => self.end(event),
            EventType::Thinking => {}
        }
    }

    fn thinks(&mut self) {
        if let Some((node, words)) = self.thought.take() {
            let words = Node::new(Value::plain(self.talk.draft.arena.alloc_str(&words)), node.origin);
            self.talk.say(Speaker::Thinking, words, &About::default(), node.origin);
        }
    }

    /// Adds a part of a message.
    fn grows(&mut self, node: Node<'run>, event: Object<'run>) -> bool {
        let Some(words) = words_of(event, self.talk.draft).and_then(text) else { return false };
        self.words.get_or_insert_with(|| (node, String::new())).1.push_str(words);
        true
    }

    /// The parts of a message are together; what comes next may be the same message as a whole, which has no time or names the request
    /// to the model.
    fn speaks(&mut self, next: Option<Object<'run>>) {
        let Some((node, words)) = self.words.take() else { return };
        let whole = next.and_then(|next| words_of(next, self.talk.draft)).and_then(text);
        if whole.is_some_and(|whole| whole.trim() == words.trim()) {
            return;
        }
        let words = Node::new(Value::plain(self.talk.draft.arena.alloc_str(&words)), node.origin);
        self.talk.say(Speaker::Assistant, words, &About::default(), node.origin);
    }

    fn call(&mut self, node: Node<'run>, event: Object<'run>, about: &About<'run>) {
        let Some((name, held)) = object_of(event, OfCursor::Call).and_then(|call| held_in(call)) else {
            self.talk.draft.not_understood(node.origin, "a call without its tool is passed over");
            return;
        };
        let id = first_of(event, &[OfCursor::Id, OfCursor::IdToo]);
        let key = id.and_then(text);
        let completed = text_of(event, OfCursor::Subtype).and_then(Progress::from_key) == Some(Progress::Completed);
        if key.is_none_or(|key| self.seen.insert(key)) {
            let (tool, args) = named(&self.talk, name, held);
            // What is only seen when it is over has started before that.
            let about = if completed { About::default() } else { *about };
            self.talk.call(Made { tool, args, id, origin: node.origin }, &about);
        }
        if let Some(result) = held.field(OfTool::Result).filter(|_| completed) {
            self.talk.answer(key, None, outcome(result), about, node.origin);
        }
    }

    fn end(&mut self, event: Object<'run>) {
        let draft = &mut *self.talk.draft;
        draft.set_some(of_run::OUTPUT, first_of(event, &[OfCursor::Result]));
        draft.set_some(of_run::DURATION, first_of(event, &[OfCursor::Duration]));
        if is_true(&event, &Parsed, OfCursor::Failed) {
            draft.set_some(of_run::ERROR, first_of(event, &[OfCursor::Result, OfCursor::Subtype]));
        }
        if let Some(counts) = object_of(event, OfCursor::Usage) {
            let mut usage = Usage::default();
            usage.add(counts);
            usage.count_cache_as_input();
            self.talk.usage.join(&usage);
        }
    }
}

/// The words of a message.
fn words_of<'run>(event: Object<'run>, draft: &Draft<'run, '_>) -> Option<Node<'run>> {
    content::text(object_of(event, OfCursor::Message)?.field(OfCursor::Content)?, draft.arena)
}

/// The name under which a call holds what it does, and that.
fn held_in(call: Object<'_>) -> Option<(&str, Object<'_>)> {
    let of_tool = |name: &str| name.ends_with(TOOL_CALL) || OfTool::Function.key() == name;
    let entry = call.entries().iter().find(|entry| of_tool(entry.key) && object(entry.node).is_some())?;
    Some((entry.key, object(entry.node)?))
}

/// What stands behind the name of a tool.
const TOOL_CALL: &str = "ToolCall";

/// The tool of a call and its arguments: tools of servers and functions are named inside, others by the key, in words with `-`.
fn named<'run>(talk: &Talk<'_, 'run, '_>, name: &'run str, held: Object<'run>) -> (Node<'run>, Option<Node<'run>>) {
    let args = first_of(held, &[OfTool::Args, OfTool::Arguments]);
    let inside = args.and_then(object).filter(|args| args.field(OfTool::ToolName).is_some());
    if let Some(inside) = inside {
        let tool = inside.field(OfTool::ToolName).unwrap_or(Node::computed(Value::Null));
        return (tool, inside.field(OfTool::Args));
    }
    if let Some(tool) = first_of(held, &[OfTool::Name]).filter(|_| name == OfTool::Function.key()) {
        return (tool, args);
    }
    let mut words = String::new();
    for character in name.trim_end_matches(TOOL_CALL).chars() {
        if character.is_ascii_uppercase() && !words.is_empty() {
            words.push('-');
        }
        words.push(character.to_ascii_lowercase());
    }
    (Node::computed(Value::Text(Text::Plain(talk.draft.arena.alloc_str(&words)))), args)
}

/// How a call ended: under the word for it stands what came of it.
fn outcome(result: Node<'_>) -> Outcome<'_> {
    let Some(answer) = object(result) else { return Outcome { result: Some(result), ..Outcome::default() } };
    let ends = [
        (OfTool::Success, Status::Ok),
        (OfTool::Failure, Status::Failed),
        (OfTool::Error, Status::Failed),
        (OfTool::Rejected, Status::Denied),
        (OfTool::Denied, Status::Denied),
    ];
    let found = ends.into_iter().find_map(|(field, status)| Some((first_of(answer, &[field])?, status)));
    let Some((given, status)) = found else { return Outcome { result: Some(result), ..Outcome::default() } };
    let of = |fields: &[OfTool]| object(given).and_then(|given| first_of(given, fields));
    let exit_code = of(&[OfTool::ExitCode]).filter(|code| Parsed.is(*code, Shape::Number));
    let failed = exit_code.is_some_and(|code| !matches!(code.value, Value::Number(code) if code.as_i64() == Some(0)))
        || object(given).is_some_and(|given| is_true(&given, &Parsed, OfTool::Failed));
    let status = if failed && status == Status::Ok { Status::Failed } else { status };
    let result = of(&[OfTool::Output, OfTool::Stdout, OfTool::Content]).unwrap_or(given);
    let error = of(&[OfTool::Error]).filter(|_| status == Status::Failed);
    Outcome { result: Some(result), status: Some(status), exit_code, error, details: Some(given), duration: None }
}
