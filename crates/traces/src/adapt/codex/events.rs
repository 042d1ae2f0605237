//! Calls that a rollout has in its events alone: commands, tools of servers, patches.

use super::{EventType, Session};
use crate::adapt::content;
use crate::adapt::draft::{StepId, field};
use crate::adapt::fields::{Parsed, Record, Shape, Shapes, is_true, key_table};
use crate::adapt::nodes::{first_of, object, object_of, text_of};
use crate::adapt::talk::{About, Made, Outcome, integer};
use crate::build::word_status;
use averment_base::value::{Entry, Node, Number, Object, Value};
use averment_runs::normal::of_step;
use averment_runs::run::{Kind, Status};

key_table! {
    /// An event of a call.
    OfCall {
        Id = "call_id",
        Command = "command",
        Folder = "cwd",
        Changes = "changes",
        Invocation = "invocation",
        Tool = "tool",
        Arguments = "arguments",
        Output = "aggregated_output",
        Formatted = "formatted_output",
        Printed = "stdout",
        Complaints = "stderr",
        ExitCode = "exit_code",
        Status = "status",
        Success = "success",
        Result = "result",
        Went = "Ok",
        Error = "Err",
        Content = "content",
        Failed = "isError",
        Duration = "duration",
        Seconds = "secs",
        Nanoseconds = "nanos",
    }
}

/// The tools that events of commands and patches stand for, as items name them.
const SHELL: &str = "shell";
const PATCH: &str = "apply_patch";

impl<'run> Session<'_, 'run, '_> {
    /// A call begins or ends. What stands in an item is there already.
    pub(super) fn call_event(&mut self, kind: EventType, node: Node<'run>, event: Object<'run>, about: &About<'run>) {
        let id = text_of(event, OfCall::Id);
        if id.is_some_and(|id| self.in_items.contains(id)) {
            if kind == EventType::McpEnd {
                self.end_of_item(id, event);
            }
            return;
        }
        let over = matches!(kind, EventType::CommandEnd | EventType::McpEnd | EventType::PatchEnd);
        if id.is_none_or(|id| self.begun.insert(id)) {
            // What is only seen when it is over has started before that.
            let started = if over { About::default() } else { *about };
            self.begin(kind, node, event, &started);
        }
        if !over {
            return;
        }
        let outcome = match kind {
            EventType::McpEnd => self.of_server(event),
            _ => of_program(event),
        };
        let outcome = Outcome { duration: duration(event), ..outcome };
        if let Some(call) = self.talk.answer(id, None, outcome, about, node.origin)
            && kind == EventType::PatchEnd
        {
            self.changes(call, node);
        }
    }

    /// A call of a server's tool in an item of its own, which has no result: that stands in the event.
    pub(super) fn server_call(&mut self, node: Node<'run>, item: Object<'run>, about: &About<'run>) {
        if text_of(item, OfCall::Id).is_none_or(|id| self.begun.insert(id)) {
            let tool = item.field(OfCall::Tool).unwrap_or(Node::computed(Value::Null));
            let (args, id) = (item.field(OfCall::Arguments), item.field(OfCall::Id));
            self.talk.call(Made { tool, args, id, origin: node.origin }, about);
        }
    }

    /// How a call of a server's tool ended: its item holds the result, and does not say that.
    fn end_of_item(&mut self, id: Option<&str>, event: Object<'run>) {
        let outcome = self.of_server(event);
        let Some(call) = id.and_then(|id| self.talk.called(id)) else { return };
        let failed = outcome.error.map(|_| Status::Failed);
        if let Some(status) = outcome.status.or(failed) {
            self.talk.mark(call, status);
            let error = outcome.error.or(outcome.result).filter(|_| status != Status::Ok);
            error.into_iter().for_each(|error| self.talk.draft.replace(call, of_step::ERROR, error));
        }
    }

    fn begin(&mut self, kind: EventType, node: Node<'run>, event: Object<'run>, about: &About<'run>) {
        let entries = |fields: &[OfCall]| -> Vec<Entry<'run>> {
            let known = |of: &OfCall| Some(Entry { key: of.key(), node: first_of(event, &[*of])? });
            fields.iter().filter_map(known).collect()
        };
        let draft = &*self.talk.draft;
        let (tool, args) = match kind {
            EventType::McpBegin | EventType::McpEnd => {
                let invocation = object_of(event, OfCall::Invocation);
                let of = |field| invocation.and_then(|invocation| invocation.field(field));
                (of(OfCall::Tool).unwrap_or(Node::computed(Value::Null)), of(OfCall::Arguments))
            }
            EventType::PatchBegin | EventType::PatchEnd => {
                (Node::computed(Value::plain(PATCH)), Some(draft.object(&entries(&[OfCall::Changes]))))
            }
            _ => {
                let args = draft.object(&entries(&[OfCall::Command, OfCall::Folder]));
                (Node::computed(Value::plain(SHELL)), Some(args))
            }
        };
        self.talk.call(Made { tool, args, id: event.field(OfCall::Id), origin: node.origin }, about);
    }

    /// What a tool of a server gave back: `Ok` with a result of its protocol, or `Err`.
    fn of_server(&self, event: Object<'run>) -> Outcome<'run> {
        let Some(result) = object_of(event, OfCall::Result) else { return Outcome::default() };
        if let Some(error) = first_of(result, &[OfCall::Error]) {
            let status = super::is_refusal(error).then_some(Status::Denied);
            return Outcome { error: Some(error), status, ..Outcome::default() };
        }
        let Some(went) = first_of(result, &[OfCall::Went]) else { return Outcome::default() };
        let inside = object(went);
        let failed = inside.is_some_and(|inside| is_true(&inside, &Parsed, OfCall::Failed));
        let words = inside.and_then(|inside| first_of(inside, &[OfCall::Content]));
        let words = words.and_then(|words| content::text(words, self.talk.draft.arena));
        let status = if failed { Status::Failed } else { Status::Ok };
        Outcome { result: Some(words.unwrap_or(went)), status: Some(status), ..Outcome::default() }
    }

    /// The files of a patch that was applied.
    fn changes(&mut self, call: StepId, node: Node<'run>) {
        let draft = &mut *self.talk.draft;
        let word = |key| draft.field(call, key);
        let (Some(args), status) = (word(of_step::ARGS).and_then(object), word(of_step::STATUS)) else { return };
        let changes = object_of(args, OfCall::Changes).map_or(&[][..], |changes| changes.entries());
        let known = [of_step::TURN, of_step::START, of_step::END, of_step::ID];
        let known: Vec<_> = known.into_iter().filter_map(|key| Some(field(key, word(key)?))).collect();
        for change in changes {
            let path = Node::new(Value::plain(change.key), change.node.origin);
            let mut fields = vec![field(of_step::PATH, path)];
            fields.extend(known.iter().copied());
            fields.extend(status.map(|status| field(of_step::STATUS, status)));
            draft.step(Kind::Write, fields, node.origin);
        }
    }
}

/// What a command or a patch printed, and how it ended.
fn of_program<'run>(event: Object<'run>) -> Outcome<'run> {
    let written = |of: &OfCall| first_of(event, &[*of]).filter(|text| Parsed.is(*text, Shape::Text));
    let result = [OfCall::Output, OfCall::Formatted, OfCall::Printed, OfCall::Complaints].iter().find_map(written);
    let result = result.or(first_of(event, &[OfCall::Printed]));
    let word = text_of(event, OfCall::Status).and_then(word_status).filter(|status| *status != Status::Unknown);
    let status = word.or(match event.field(OfCall::Success).map(|success| success.value) {
        Some(Value::Boolean(true)) => Some(Status::Ok),
        Some(Value::Boolean(false)) => Some(Status::Failed),
        _ => None,
    });
    let exit_code = first_of(event, &[OfCall::ExitCode]).filter(|code| Parsed.is(*code, Shape::Number));
    Outcome { result, status, exit_code, ..Outcome::default() }
}

/// How long it took: seconds and nanoseconds, in milliseconds.
fn duration<'run>(event: Object<'run>) -> Option<Node<'run>> {
    let parts = object_of(event, OfCall::Duration)?;
    let part = |of| match parts.field(of)?.value {
        Value::Number(Number::Integer(number)) => Some(number),
        Value::Number(number) => number.as_i64(),
        _ => None,
    };
    let (seconds, nanoseconds) = (part(OfCall::Seconds)?, part(OfCall::Nanoseconds)?);
    let milliseconds = seconds.checked_mul(1000)?.checked_add(nanoseconds / 1_000_000)?;
    Some(integer(milliseconds, averment_base::value::Origin::COMPUTED))
}
