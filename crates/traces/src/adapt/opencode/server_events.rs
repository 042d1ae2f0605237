//! OpenCode: the events of its server, as clients and plugins get them. A message and each of its parts come again whenever they change, and
//! the last telling counts.

use super::{OpenCodeExportKey, OpenCodeInfoKey, OpenCodeSession};
use crate::adapt::fields::{FieldRecord, NodeShapes, ShapeReader, key_table};
use crate::adapt::format::{IN_FULL, TraceFormat};
use crate::adapt::nodes::{first_of, items_of, node_object, node_text, object_of, text_of};
use crate::adapt::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, TextOrigin};
use averment_runs::normal::{of_meta, of_run};
use rustc_hash::FxHashMap;

key_table! {
    ServerEventKey {
        Type = "type",
        Properties = "properties",
        /// The event, where the server tells of several folders.
        Framed = "payload",
        Info = "info",
        Part = "part",
        Id = "id",
        Session = "sessionID",
        Message = "messageID",
        Piece = "partID",
        Error = "error",
        Parent = "parentID",
        Agent = "agent",
        Mode = "mode",
    }
}

key_table! {
    ServerEventType {
        Message = "message.updated",
        Part = "message.part.updated",
        Piece = "message.part.delta",
        Session = "session.created" | "session.updated",
        Error = "session.error",
        /// What was taken back was done. Questions and permissions belong to calls; the others tell of the program, its files and its screen.
        Silent = "message.removed" | "message.part.removed" | "session.deleted" | "session.status" | "session.idle"
            | "session.compacted" | "session.diff" | "permission.asked" | "permission.updated" | "permission.replied"
            | "question.asked" | "question.replied" | "question.rejected" | "todo.updated" | "command.executed"
            | "file.edited" | "file.watcher.updated" | "vcs.branch.updated" | "lsp.client.diagnostics" | "lsp.updated"
            | "server.connected" | "server.heartbeat" | "server.instance.disposed" | "global.disposed"
            | "installation.updated" | "installation.update-available" | "project.updated" | "ide.installed"
            | "mcp.tools.changed" | "mcp.browser.open.failed" | "tui.prompt.append" | "tui.command.execute"
            | "tui.toast.show" | "tui.session.select" | "pty.created" | "pty.updated" | "pty.exited" | "pty.deleted"
            | "worktree.ready" | "worktree.failed" | "workspace.ready" | "workspace.failed" | "plugin.added"
            | "reference.updated" | "integration.updated" | "catalog.updated" | "models-dev.refreshed",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "OpenCode server events",
    known_by: "events with `properties` whose `type` is `message.updated`, `message.part.updated`, `session.idle`, …",
    description: "events of the server of OpenCode (`/event`, plugins)",
    marks: &[ServerEventKey::Properties.key()],
    near: &[ServerEventKey::Piece.key()],
    item_marks: &[ServerEventKey::Properties.key(), ServerEventKey::Framed.key()],
    element: is_event,
    line: is_event,
    read: read_run,
    ..IN_FULL
};

/// What an event is, and what it is about.
fn unframed_event(record: Object<'_>) -> Option<(ServerEventType, Object<'_>)> {
    let event = object_of(record, ServerEventKey::Framed).unwrap_or(record);
    let kind = text_of(event, ServerEventKey::Type).and_then(ServerEventType::from_key);
    Some((kind?, object_of(event, ServerEventKey::Properties)?))
}

fn is_event(record: Object<'_>) -> bool {
    unframed_event(record).is_some()
}

/// The last telling of a message, and of its parts in the order of their first.
#[derive(Default)]
struct ServerMessage<'run> {
    info: Option<Node<'run>>,
    parts: Vec<Node<'run>>,
    part_places: FxHashMap<&'run str, usize>,
}

#[derive(Default)]
struct ServerLog<'run> {
    messages: Vec<ServerMessage<'run>>,
    places: FxHashMap<&'run str, usize>,
    /// The last telling of each session.
    sessions: FxHashMap<&'run str, Object<'run>>,
    /// Texts of which pieces came since they were told whole.
    pieces: FxHashMap<&'run str, TextOrigin>,
    /// The error of the session, unless a message came behind it.
    error: Option<Node<'run>>,
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut log = ServerLog::default();
    for node in items_of::<ServerEventKey>(root, &[]) {
        builder.count_record();
        match node_object(*node).and_then(unframed_event) {
            Some((kind, properties)) => log.read_event(*node, kind, properties, builder),
            None => {
                let word =
                    node_object(*node).and_then(|event| text_of(event, ServerEventKey::Type)).unwrap_or_default();
                builder.skip_value(node, format!("an event of unknown type `{word}` is skipped"));
            }
        }
    }
    // Where a text broke off nobody knows what else was to come.
    for origin in log.pieces.values() {
        builder.skip_record(*origin, "a text whose end is not told is skipped");
    }
    log.read_messages(builder);
    Ok(())
}

impl<'run> ServerLog<'run> {
    fn read_event(
        &mut self,
        node: Node<'run>,
        kind: ServerEventType,
        properties: Object<'run>,
        builder: &mut RunBuilder<'run, '_>,
    ) {
        let held = |key| properties.field(key).and_then(|held| Some((held, node_object(held)?)));
        let read = match kind {
            ServerEventType::Message => held(ServerEventKey::Info).and_then(|(info, of)| self.tell_message(info, of)),
            ServerEventType::Part => held(ServerEventKey::Part).and_then(|(part, of)| self.tell_part(part, of)),
            ServerEventType::Piece => text_of(properties, ServerEventKey::Piece).map(|part| {
                self.pieces.insert(part, node.origin);
            }),
            ServerEventType::Session => held(ServerEventKey::Info).and_then(|(_, session)| {
                self.sessions.insert(text_of(session, ServerEventKey::Id)?, session);
                Some(())
            }),
            ServerEventType::Error => {
                self.error = first_of(properties, &[ServerEventKey::Error]).or(self.error);
                Some(())
            }
            ServerEventType::Silent => Some(()),
        };
        if read.is_none() {
            builder.skip_value(node, "an event without what it is about is skipped");
        }
    }

    fn message_place(&mut self, id: &'run str) -> usize {
        let next = self.messages.len();
        let place = *self.places.entry(id).or_insert(next);
        if place == next {
            self.messages.push(ServerMessage::default());
            self.error = None;
        }
        place
    }

    fn tell_message(&mut self, node: Node<'run>, info: Object<'run>) -> Option<()> {
        let place = self.message_place(text_of(info, ServerEventKey::Id)?);
        self.messages.get_mut(place)?.info = Some(node);
        Some(())
    }

    fn tell_part(&mut self, node: Node<'run>, part: Object<'run>) -> Option<()> {
        let [id, message] = [ServerEventKey::Id, ServerEventKey::Message].map(|key| text_of(part, key));
        let (id, place) = (id?, self.message_place(message?));
        self.pieces.remove(id);
        let ServerMessage { parts, part_places, .. } = self.messages.get_mut(place)?;
        match part_places.get(id).and_then(|place| parts.get_mut(*place)) {
            Some(known) => *known = node,
            None => {
                part_places.insert(id, parts.len());
                parts.push(node);
            }
        }
        Some(())
    }

    /// A session that another one began is that of a sub-agent.
    fn is_sub_session(&self, id: &str) -> bool {
        self.sessions.get(id).is_some_and(|session| text_of(*session, ServerEventKey::Parent).is_some())
    }

    fn read_messages(mut self, builder: &mut RunBuilder<'run, '_>) {
        if self.sessions.keys().any(|id| self.is_sub_session(id)) {
            builder.mark_agents_named();
        }
        let mut session = OpenCodeSession::new(builder);
        let (mut main, mut has_several) = (None::<Node<'run>>, false);
        for message in std::mem::take(&mut self.messages) {
            let Some((node, info)) = message.info.and_then(|node| Some((node, node_object(node)?))) else {
                let parts = message.parts.into_iter();
                parts.for_each(|part| {
                    session.conversation.builder.skip_record(part.origin, "a part of no message is skipped")
                });
                continue;
            };
            let id = first_of(info, &[ServerEventKey::Session]);
            let of_session = id.and_then(node_text);
            let is_sub = of_session.is_some_and(|id| self.is_sub_session(id));
            session.agent = is_sub.then(|| first_of(info, &[ServerEventKey::Agent, ServerEventKey::Mode])).flatten();
            session.agent = session.agent.filter(|name| NodeShapes.is_text(*name)).or(id.filter(|_| is_sub));
            if !is_sub {
                has_several |= main.is_some_and(|main| node_text(main) != of_session);
                main = main.or(id);
            }
            let parts = session
                .conversation
                .builder
                .list_node(session.conversation.builder.arena.alloc_slice_copy(&message.parts));
            let entries = [(OpenCodeExportKey::Info, node), (OpenCodeExportKey::Parts, parts)];
            let entries = entries.map(|(key, node)| field_entry(key.key(), node));
            let whole = Object::new(
                session.conversation.builder.arena,
                session.conversation.builder.arena.alloc_slice_copy(&entries),
            );
            session.read_message(node, whole);
        }
        if has_several {
            let message = "the file holds events of several sessions, which are read as one run";
            session.conversation.builder.add_warning(TextOrigin::COMPUTED, message);
        }
        session.conversation.builder.set_some(of_run::ID, main);
        if let Some(info) = main.and_then(node_text).and_then(|id| self.sessions.get(id)) {
            session.conversation.add_meta(of_meta::CWD, info.field(OpenCodeInfoKey::Folder));
            session.conversation.add_meta(of_meta::VERSION, info.field(OpenCodeInfoKey::Version));
        }
        session.wrong = session.wrong.or(self.error);
        session.finish_run();
    }
}
