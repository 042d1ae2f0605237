//! OpenCode: the export of a session (`info`, `messages` of `info` and `parts`), and the events of `run --format json`. A part of type
//! `tool` is a call with its result; times are milliseconds.

use super::calls::Usage;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, is_true, key_table};
use super::format::{Format, IN_FULL};
use super::messages::Role;
use super::nodes::{first_of, items_of, list_of, object, object_of, objects, text_of};
use super::talk::{About, Made, Outcome, Speaker, Talk};
use averment_base::value::{Node, Number, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_usage};
use averment_runs::run::Status;
use rustc_hash::FxHashSet;

key_table! {
    /// An export, or one of its messages.
    OfExport {
        Info = "info",
        Messages = "messages",
        Parts = "parts",
    }
}

key_table! {
    /// What is known of a session or a message.
    OfInfo {
        Id = "id",
        Role = "role",
        Folder = "directory",
        Version = "version",
        Path = "path",
        Cwd = "cwd",
        Model = "modelID",
        Time = "time",
        Created = "created",
        Completed = "completed",
        Tokens = "tokens",
        Cost = "cost",
        Error = "error",
        Input = "input",
        Output = "output",
        Reasoning = "reasoning",
        Cache = "cache",
        Read = "read",
        Write = "write",
    }
}

key_table! {
    /// A part of a message, or an event that holds one.
    OfPart {
        Type = "type",
        Part = "part",
        Session = "sessionID",
        Message = "messageID",
        Words = "text",
        Synthetic = "synthetic",
        Tool = "tool",
        Call = "callID",
        State = "state",
        Status = "status",
        Input = "input",
        Output = "output",
        Error = "error",
        Metadata = "metadata",
        Exit = "exit",
        Time = "time",
        Start = "start",
        End = "end",
        Tokens = "tokens",
        Cost = "cost",
    }
}

key_table! {
    /// The types of parts.
    PartType {
        Said = "text",
        Thought = "reasoning",
        Call = "tool" | "tool_use",
        Finish = "step-finish" | "step_finish",
        Silent = "step-start" | "step_start" | "snapshot" | "patch" | "file" | "agent" | "subtask" | "retry" | "compaction",
        Error = "error",
    }
}

key_table! {
    /// How a call stands.
    State {
        Ok = "completed",
        Failed = "error",
        Open = "pending" | "running",
    }
}

/// Exports.
pub(crate) const FORMAT: Format = Format {
    name: "OpenCode export",
    known_by: "`info` beside `messages` of `info` and `parts`, or events with `sessionID` and a `part`",
    description: "exports of OpenCode (`info`, `messages` of `parts`), and the events of its `run --format json`",
    marks: &[OfExport::Info.key()],
    near: &[OfPart::Session.key()],
    object: |object| {
        list_of(object, OfExport::Messages).is_some_and(|all| objects(all).any(|(_, one)| is_message(one)))
    },
    item_marks: &[OfPart::Part.key(), OfExport::Parts.key()],
    element: |object| is_message(object) || is_event(object),
    line: |object| is_message(object) || is_event(object),
    read,
    ..IN_FULL
};

fn is_message(message: Object<'_>) -> bool {
    object_of(message, OfExport::Info).is_some_and(|info| text_of(info, OfInfo::Role).is_some())
        && list_of(message, OfExport::Parts).is_some()
}

fn is_event(event: Object<'_>) -> bool {
    text_of(event, OfPart::Session).is_some()
        && object_of(event, OfPart::Part).is_some_and(|part| text_of(part, OfPart::Type).is_some())
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let root = draft.arena.alloc(root);
    let mut session = Session { talk: Talk::of_parts(draft), cost: None, messages: FxHashSet::default(), wrong: None };
    if let Some(info) = object(*root).and_then(|export| object_of(export, OfExport::Info)) {
        session.talk.draft.set_some(of_run::ID, info.field(OfInfo::Id).filter(|id| Parsed.is_text(*id)));
        session.talk.meta(of_meta::CWD, info.field(OfInfo::Folder));
        session.talk.meta(of_meta::VERSION, info.field(OfInfo::Version));
    }
    for node in items_of(root, &[OfExport::Messages]) {
        session.talk.draft.record();
        match object(*node) {
            Some(message) if is_message(message) => session.message(message),
            Some(event) if is_event(event) => session.event(*node, event),
            Some(event) if text_of(event, OfPart::Type).and_then(PartType::from_key) == Some(PartType::Error) => {
                session.wrong = first_of(event, &[OfPart::Error]);
            }
            _ => session
                .talk
                .draft
                .not_understood(node.origin, "what is neither a message with `parts` nor an event is passed over"),
        }
    }
    let cost = session.cost.map(|cost| Node::computed(Value::Number(cost)));
    session.talk.draft.set_some(of_run::COST, cost);
    session.talk.draft.set_some(of_run::ERROR, session.wrong);
    session.talk.finish_with_tools();
    Ok(())
}

struct Session<'a, 'run, 'limits> {
    talk: Talk<'a, 'run, 'limits>,
    cost: Option<Number<'static>>,
    /// The messages of whose answers events have told.
    messages: FxHashSet<&'run str>,
    /// What went wrong, unless the agent went on.
    wrong: Option<Node<'run>>,
}

impl<'run> Session<'_, 'run, '_> {
    fn message(&mut self, message: Object<'run>) {
        let Some(info) = object_of(message, OfExport::Info) else { return };
        let of_assistant = text_of(info, OfInfo::Role).and_then(Role::from_key) == Some(Role::Assistant);
        let time = object_of(info, OfInfo::Time).and_then(|time| first_of(time, &[OfInfo::Created]));
        let about = About { time, ..About::default() };
        self.talk.note_time(time);
        self.talk.meta(of_meta::MODEL, first_of(info, &[OfInfo::Model]));
        let path = object_of(info, OfInfo::Path);
        self.talk.meta(of_meta::CWD, path.and_then(|path| path.field(OfInfo::Cwd)));
        if of_assistant {
            self.talk.begin_turn();
            let end = object_of(info, OfInfo::Time).and_then(|time| first_of(time, &[OfInfo::Completed]));
            self.talk.note_time(end);
            self.count(info.field(OfInfo::Tokens), info.field(OfInfo::Cost), first_of(info, &[OfInfo::Model]));
            self.wrong = first_of(info, &[OfInfo::Error]);
        }
        let speaker = if of_assistant { Speaker::Assistant } else { Speaker::User };
        for (node, part) in self.talk.draft.objects(list_of(message, OfExport::Parts).unwrap_or_default()) {
            // The counts of its steps are those of the message.
            let kind = text_of(part, OfPart::Type).and_then(PartType::from_key);
            if kind != Some(PartType::Finish) {
                self.part(node, part, kind, speaker, &about);
            }
        }
    }

    fn event(&mut self, node: Node<'run>, event: Object<'run>) {
        if !self.talk.draft.has(of_run::ID) {
            self.talk.draft.set_some(of_run::ID, event.field(OfPart::Session));
        }
        let Some(part) = object_of(event, OfPart::Part) else { return };
        self.wrong = None;
        if text_of(part, OfPart::Message).is_some_and(|id| self.messages.insert(id)) {
            self.talk.begin_turn();
        }
        let kind = text_of(part, OfPart::Type).and_then(PartType::from_key);
        self.part(node, part, kind, Speaker::Assistant, &About::default());
    }

    fn part(
        &mut self,
        node: Node<'run>,
        part: Object<'run>,
        kind: Option<PartType>,
        speaker: Speaker,
        about: &About<'run>,
    ) {
        let words = part.field(OfPart::Words);
        match kind {
            Some(PartType::Said) => {
                // What the program adds to the words of the user is not the user's.
                let injected = is_true(&part, &Parsed, OfPart::Synthetic) && speaker == Speaker::User;
                let speaker = if injected { Speaker::System } else { speaker };
                words.into_iter().for_each(|words| self.talk.say(speaker, words, about, node.origin));
            }
            Some(PartType::Thought) => {
                words.into_iter().for_each(|words| self.talk.say(Speaker::Thinking, words, about, node.origin))
            }
            Some(PartType::Call) => self.call(node, part),
            Some(PartType::Finish) => self.count(part.field(OfPart::Tokens), part.field(OfPart::Cost), None),
            Some(PartType::Silent | PartType::Error) => {}
            None => {
                let word = text_of(part, OfPart::Type).unwrap_or_default();
                self.talk.draft.warn(node.origin, format!("a part of unknown type `{word}` is passed over"));
            }
        }
    }

    fn call(&mut self, node: Node<'run>, part: Object<'run>) {
        let state = object_of(part, OfPart::State);
        let of = |field| state.and_then(|state| first_of(state, &[field]));
        let time = of(OfPart::Time).and_then(object);
        let at = |field| About { time: time.and_then(|time| first_of(time, &[field])), ..About::default() };
        let tool = part.field(OfPart::Tool).unwrap_or(Node::computed(Value::Null));
        let made = Made { tool, args: of(OfPart::Input), id: part.field(OfPart::Call), origin: node.origin };
        let Some(step) = self.talk.call(made, &at(OfPart::Start)) else { return };
        let error = of(OfPart::Error);
        let status = match state.and_then(|state| text_of(state, OfPart::Status)).and_then(State::from_key) {
            Some(State::Ok) => Status::Ok,
            Some(State::Failed) if error.and_then(super::nodes::text).is_some_and(is_refusal) => Status::Denied,
            Some(State::Failed) => Status::Failed,
            Some(State::Open) | None => return,
        };
        let metadata = of(OfPart::Metadata);
        let exit_code = metadata.and_then(object).and_then(|metadata| metadata.field(OfPart::Exit));
        let exit_code = exit_code.filter(|code| Parsed.is(*code, Shape::Number));
        let failed =
            exit_code.is_some_and(|code| !matches!(code.value, Value::Number(code) if code == Number::Integer(0)));
        let status = if failed { Status::Failed } else { status };
        let outcome = Outcome {
            result: of(OfPart::Output),
            error,
            status: Some(status),
            exit_code,
            details: metadata,
            duration: None,
        };
        self.talk.end_within(step, outcome, &at(OfPart::End));
    }

    fn count(&mut self, tokens: Option<Node<'run>>, cost: Option<Node<'run>>, model: Option<Node<'run>>) {
        if let Some(Value::Number(cost)) = cost.map(|cost| cost.value) {
            self.cost = self.cost.unwrap_or(Number::Integer(0)).add(cost).or(self.cost);
        }
        let Some(tokens) = tokens.and_then(object) else { return };
        let cache = object_of(tokens, OfInfo::Cache);
        let of_cache = |field| cache.and_then(|cache| cache.field(field));
        let mut usage = Usage::default();
        usage.count(of_usage::INPUT, tokens.field(OfInfo::Input));
        usage.count(of_usage::OUTPUT, tokens.field(OfInfo::Output));
        usage.count(of_usage::REASONING, tokens.field(OfInfo::Reasoning));
        usage.count(of_usage::CACHE_READ, of_cache(OfInfo::Read));
        usage.count(of_usage::CACHE_WRITE, of_cache(OfInfo::Write));
        usage.count_cache_as_input();
        self.talk.spends(&usage, model);
    }
}

/// The words with which the program hands on that the user, or a rule of theirs, has turned a call down.
fn is_refusal(error: &str) -> bool {
    let starts = [
        "The user rejected permission to use this specific tool call",
        "The user has specified a rule which prevents you from using this specific tool call",
    ];
    starts.iter().any(|start| error.starts_with(start))
}
