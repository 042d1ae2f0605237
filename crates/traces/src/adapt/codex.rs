//! Codex: the rollout file of a session (`{timestamp, type, payload}` a line), the bare items of one, and the events of `codex exec --json`.
//! A shell says in its output with which code it ended. Token counts are sums so far: the last one counts.

mod events;
pub(super) mod exec;

use super::api::responses::{self, OfItem};
use super::calls::Usage;
use super::draft::Draft;
use super::fields::{Parsed, Record, Shape, Shapes, key_table};
use super::format::{Format, IN_FULL};
use super::messages::Role;
use super::nodes::{first_of, list_of, object, object_of, objects, text_of};
use super::talk::{About, Speaker, Talk};
use averment_base::value::{Node, Object, Value};
use averment_runs::normal::{of_meta, of_run, of_step};
use averment_runs::run::{Kind, Status};
use rustc_hash::FxHashSet;

key_table! {
    /// A line of a rollout.
    OfLine {
        Time = "timestamp",
        Type = "type",
        Payload = "payload",
    }
}

key_table! {
    /// What a line holds beside the items of the model.
    OfPayload {
        Type = "type",
        Id = "id",
        Folder = "cwd",
        Version = "cli_version",
        Model = "model",
        Approval = "approval_policy",
        Sandbox = "sandbox_policy",
        Git = "git",
        Branch = "branch",
        Info = "info",
        Total = "total_token_usage",
        Message = "message",
        Error = "error",
        LastMessage = "last_agent_message",
        Words = "text",
        Items = "items",
        /// A mark of the program between bare items, and what stands in front of them.
        Mark = "record_type",
        Begun = "timestamp",
    }
}

key_table! {
    /// The types of lines.
    LineType {
        Session = "session_meta",
        Context = "turn_context",
        Item = "response_item",
        Event = "event_msg",
        /// What was summed up, and marks of the program.
        Silent = "compacted" | "ghost_snapshot" | "world_state" | "inter_agent_communication_metadata",
    }
}

key_table! {
    /// The events that say more than the items do.
    EventType {
        Tokens = "token_count",
        Error = "error" | "stream_error",
        Aborted = "turn_aborted",
        TurnEnd = "task_complete" | "turn_complete",
        /// What the items say as well, where there are any.
        Said = "agent_message",
        Asked = "user_message",
        Thought = "agent_reasoning",
        /// Calls, as they begin and end.
        CommandBegin = "exec_command_begin",
        CommandEnd = "exec_command_end",
        McpBegin = "mcp_tool_call_begin",
        McpEnd = "mcp_tool_call_end",
        PatchBegin = "patch_apply_begin",
        PatchEnd = "patch_apply_end",
        /// Marks of the program: nothing is done in them.
        Silent = "task_started" | "turn_started" | "session_configured" | "agent_reasoning_section_break"
            | "agent_reasoning_raw_content" | "agent_message_delta" | "agent_reasoning_delta" | "exec_command_output_delta"
            | "turn_diff" | "plan_update" | "background_event" | "context_compacted" | "thread_rolled_back"
            | "entered_review_mode" | "exited_review_mode" | "mcp_startup_update" | "mcp_startup_complete" | "warning"
            | "shutdown_complete",
    }
}

key_table! {
    /// The items that only Codex has.
    ItemType {
        ServerCall = "mcp_tool_call",
    }
}

key_table! {
    /// What a mark of the program says between bare items.
    Mark {
        State = "state",
    }
}

/// A session file.
pub(crate) const FORMAT: Format = Format {
    name: "Codex rollout",
    known_by: "lines with `payload` whose `type` is `session_meta`, `turn_context`, `response_item` or `event_msg`",
    description: "session files of Codex (`{timestamp, type, payload}` a line, or `items`)",
    marks: &[OfPayload::Items.key()],
    near: &[OfLine::Payload.key()],
    object: |object| {
        list_of(object, OfPayload::Items).is_some_and(|items| objects(items).any(|(_, item)| responses::is_item(item)))
    },
    item_marks: &[OfLine::Payload.key(), OfPayload::Mark.key()],
    element: is_line,
    line: is_line,
    read,
    ..IN_FULL
};

fn is_line(line: Object<'_>) -> bool {
    is_mark(line)
        || text_of(line, OfLine::Type).and_then(LineType::from_key).is_some()
            && object_of(line, OfLine::Payload).is_some()
}

/// Whether a line is a mark of the program between bare items.
fn is_mark(line: Object<'_>) -> bool {
    line.entries().len() == 1 && text_of(line, OfPayload::Mark).and_then(Mark::from_key).is_some()
}

/// Whether a line of older sessions says what the session is, without a type.
fn is_head(line: Object<'_>) -> bool {
    text_of(line, OfPayload::Id).is_some()
        && text_of(line, OfPayload::Begun).is_some()
        && line.field(OfLine::Type).is_none()
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), crate::error::Placed> {
    let items = || {
        let lines = super::nodes::list(root).unwrap_or_default();
        objects(lines)
            .filter(|(_, line)| text_of(*line, OfLine::Type).and_then(LineType::from_key) == Some(LineType::Item))
    };
    let in_items =
        items().filter_map(|(_, line)| object_of(line, OfLine::Payload)).filter(|item| !is_server_call(*item));
    let calls = in_items.filter_map(|item| text_of(item, OfItem::CallId)).collect();
    let has_items = items().next().is_some();
    let mut session = Session {
        total: None,
        has_items,
        in_items: calls,
        begun: FxHashSet::default(),
        is_partial: false,
        wrong: None,
        is_bare: super::nodes::list(root).is_some_and(|lines| objects(lines).any(|(_, line)| is_mark(line))),
        talk: Talk::new(draft),
    };
    match root.value {
        Value::List(lines) => lines.iter().for_each(|line| session.line(*line)),
        Value::Object(object) => {
            for (node, item) in session.talk.draft.objects(list_of(object, OfPayload::Items).unwrap_or_default()) {
                session.talk.draft.record();
                session.item(node, item, &About::default());
            }
        }
        _ => {}
    }
    session.finish();
    Ok(())
}

struct Session<'a, 'run, 'limits> {
    talk: Talk<'a, 'run, 'limits>,
    /// The last sum of tokens.
    total: Option<Object<'run>>,
    /// What the model did stands in items; else only in events.
    has_items: bool,
    /// The calls that stand in items, and those of which an event was read: an event of the former says nothing new, but for those of
    /// servers that have an item of their own.
    in_items: FxHashSet<&'run str>,
    begun: FxHashSet<&'run str>,
    /// There are no items, and an event that may stand for a call was not understood.
    is_partial: bool,
    /// What went wrong, unless the program got over it: the model has spoken since, and its turn came to an end.
    wrong: Option<Wrong<'run>>,
    /// Its lines are bare items.
    is_bare: bool,
}

/// What went wrong, and whether the model has spoken since.
struct Wrong<'run> {
    message: Node<'run>,
    has_spoken: bool,
}

impl<'run> Session<'_, 'run, '_> {
    fn line(&mut self, node: Node<'run>) {
        self.talk.draft.record();
        let line = object(node);
        let kind = line.and_then(|line| text_of(line, OfLine::Type)).and_then(LineType::from_key);
        let payload = line.and_then(|line| line.field(OfLine::Payload)).and_then(|node| Some((node, object(node)?)));
        let (Some(line), Some(kind), Some((at, payload))) = (line, kind, payload) else {
            match line.filter(|_| self.is_bare) {
                Some(line) if is_mark(line) => return,
                Some(line) if is_head(line) => return self.context(line, true),
                Some(line) => return self.item(node, line, &About::default()),
                None => {}
            }
            self.talk.draft.not_understood(node.origin, "a line of unknown type is passed over");
            return;
        };
        let about = About { time: line.field(OfLine::Time), ..About::default() };
        match kind {
            LineType::Session | LineType::Context => self.context(payload, kind == LineType::Session),
            LineType::Item => self.item(at, payload, &about),
            LineType::Event => self.event(at, payload, &about),
            LineType::Silent => {}
        }
    }

    fn context(&mut self, payload: Object<'run>, is_session: bool) {
        if is_session && !self.talk.draft.has(of_run::ID) {
            self.talk.draft.set_some(of_run::ID, payload.field(OfPayload::Id));
        }
        let branch = object_of(payload, OfPayload::Git).and_then(|git| git.field(OfPayload::Branch));
        self.talk.meta(of_meta::GIT_BRANCH, branch);
        let known = [
            (of_meta::CWD, OfPayload::Folder),
            (of_meta::VERSION, OfPayload::Version),
            (of_meta::MODEL, OfPayload::Model),
            (OfPayload::Approval.key(), OfPayload::Approval),
            (OfPayload::Sandbox.key(), OfPayload::Sandbox),
        ];
        for (key, field) in known {
            self.talk.meta(key, payload.field(field));
        }
    }

    /// The model speaks.
    fn speaks(&mut self) {
        self.wrong.iter_mut().for_each(|wrong| wrong.has_spoken = true);
    }

    /// A turn comes to an end, also where something went wrong for good.
    fn turn_ends(&mut self, payload: Object<'run>) {
        if payload.field(OfPayload::LastMessage).is_some_and(|words| Parsed.is(words, Shape::Text)) {
            self.speaks();
        }
        self.wrong = self.wrong.take().filter(|wrong| !wrong.has_spoken);
        let error = first_of(payload, &[OfPayload::Error]);
        let message = error.and_then(object).and_then(|error| first_of(error, &[OfPayload::Message])).or(error);
        self.wrong = message.map(|message| Wrong { message, has_spoken: false }).or(self.wrong.take());
    }

    fn item(&mut self, node: Node<'run>, item: Object<'run>, about: &About<'run>) {
        match (text_of(item, OfItem::Role), item.field(OfItem::Content)) {
            _ if is_server_call(item) => self.server_call(node, item, about),
            (Some(role), Some(content)) => {
                let speaker = speaker(Role::from_key(role), content);
                if speaker == Speaker::Assistant {
                    self.speaks();
                }
                self.talk.say_content(speaker, content, about, node.origin);
            }
            _ => responses::item(&mut self.talk, node, item, about),
        }
        let refused = item.field(OfItem::Output).filter(|output| is_refusal(*output));
        if let Some((output, call)) =
            refused.and_then(|output| Some((output, self.talk.called(text_of(item, OfItem::CallId)?)?)))
        {
            self.talk.mark(call, Status::Denied);
            self.talk.draft.replace(call, of_step::ERROR, output);
        }
    }

    fn event(&mut self, node: Node<'run>, payload: Object<'run>, about: &About<'run>) {
        let kind = text_of(payload, OfPayload::Type).and_then(EventType::from_key);
        if kind == Some(EventType::Said) {
            self.speaks();
        }
        match kind {
            Some(EventType::Tokens) => {
                let info = object_of(payload, OfPayload::Info);
                self.total = info.and_then(|info| object_of(info, OfPayload::Total)).or(self.total);
            }
            Some(EventType::Error) => {
                let wrong = first_of(payload, &[OfPayload::Message]);
                self.wrong = wrong.map(|message| Wrong { message, has_spoken: false }).or(self.wrong.take());
            }
            Some(EventType::TurnEnd) => self.turn_ends(payload),
            Some(kind @ (EventType::Said | EventType::Asked | EventType::Thought)) if !self.has_items => {
                let speaker = match kind {
                    EventType::Said => Speaker::Assistant,
                    EventType::Asked => Speaker::User,
                    _ => Speaker::Thinking,
                };
                let words = payload.field(OfPayload::Message).or(payload.field(OfPayload::Words));
                words.into_iter().for_each(|words| self.talk.say(speaker, words, about, node.origin));
            }
            Some(
                kind @ (EventType::CommandBegin
                | EventType::CommandEnd
                | EventType::McpBegin
                | EventType::McpEnd
                | EventType::PatchBegin
                | EventType::PatchEnd),
            ) => self.call_event(kind, node, payload, about),
            None if !self.has_items => {
                let word = text_of(payload, OfPayload::Type).unwrap_or_default();
                let why = format!("an event of unknown type `{word}` is passed over: calls count as not recorded");
                self.talk.draft.not_understood(node.origin, why);
                self.is_partial = true;
            }
            Some(_) | None => {}
        }
    }

    fn finish(mut self) {
        if let Some(total) = self.total {
            let mut usage = Usage::default();
            usage.add(total);
            self.talk.usage = usage;
        }
        self.talk.draft.set_some(of_run::ERROR, self.wrong.map(|wrong| wrong.message));
        let partial = self.is_partial;
        let draft = self.talk.finish_with_tools();
        if partial {
            [Kind::Call, Kind::Command, Kind::Read, Kind::Write, Kind::Skill, Kind::Http]
                .into_iter()
                .for_each(|kind| draft.unrecord(kind));
        }
    }
}

fn is_server_call(item: Object<'_>) -> bool {
    text_of(item, OfItem::Type).and_then(ItemType::from_key) == Some(ItemType::ServerCall)
}

/// The words with which Codex hands a refusal to the model, bare or in the JSON of an output.
fn is_refusal(output: Node<'_>) -> bool {
    const STARTS: [&str; 8] = [
        "exec command rejected",
        "exec_command rejected",
        "command rejected by user",
        "patch rejected",
        "apply_patch rejected",
        "rejected by user",
        "user rejected MCP tool call",
        "user cancelled MCP tool call",
    ];
    let Some(text) = super::nodes::text(output) else { return false };
    let text = text.strip_prefix("{\"output\":").map_or(text, |inner| inner.trim_start().trim_start_matches('"'));
    STARTS.iter().any(|start| text.starts_with(start))
        || text.starts_with("exec_command failed") && text.contains("Rejected(") && text.contains("rejected by user")
}

/// The program speaks in the user's name where it tells the model of its surroundings.
fn speaker(role: Option<Role>, content: Node<'_>) -> Speaker {
    let first = match content.value {
        Value::List([first, ..]) => object(*first).and_then(|block| text_of(block, OfItem::Words)),
        _ => super::nodes::text(content),
    };
    let injected =
        ["<environment_context>", "<user_instructions>", "# AGENTS.md", "<permissions instructions>", "<turn_aborted>"];
    match role {
        Some(Role::Assistant) => Speaker::Assistant,
        Some(Role::User) if !first.is_some_and(|text| injected.iter().any(|start| text.starts_with(start))) => {
            Speaker::User
        }
        _ => Speaker::System,
    }
}
