//! Roo Code: the events of its command line (`--output-format stream-json`, `json`). They tell piece by piece what a task shows to its user,
//! and are read as that.

use super::cline_shown::{self, ShownKey, ShownKind};
use super::fields::{FieldRecord as _, NodeShapes, is_true, key_table, value_of};
use super::format::{IN_FULL, TraceFormat};
use super::nodes::{items_of, list_of, node_object, node_text, object_items, text_of};
use super::repeated_records::RecordIds;
use super::run_builder::{RunBuilder, field_entry};
use averment_base::value::{Node, Object, TextOrigin, Value, json};
use rustc_hash::FxHashMap;

key_table! {
    RooEventKey {
        Events = "events",
        Type = "type",
        Id = "id",
        Words = "content",
        Kind = "subtype",
        Whole = "done",
        Success = "success",
        Protocol = "protocol",
        Name = "name",
        Input = "input",
        Raw = "raw",
        Command = "command",
        Output = "output",
    }
}

key_table! {
    RooEventType {
        User = "user",
        Said = "assistant",
        Thought = "thinking",
        Call = "tool_use",
        Result = "tool_result",
        End = "result",
        Error = "error",
        /// What the program does with commands of its user.
        Silent = "system" | "control" | "queue",
    }
}

key_table! {
    /// The tools that are not named by the editor.
    RooTool {
        Command = "execute_command",
        Mcp = "mcp_server",
        Browser = "browser_action",
    }
}

pub(crate) const FORMAT: TraceFormat = TraceFormat {
    name: "Roo Code events",
    known_by: "`type` of `tool_use` or `tool_result` with an object of that key, or of `user`, `assistant` or `result` with `done`",
    description: "events of Roo Code's command line (`--output-format stream-json` or `json`)",
    marks: &[RooEventKey::Events.key()],
    object: |object| {
        let events = list_of(object, RooEventKey::Events).filter(|_| type_of(object) == Some(RooEventType::End));
        events.is_some_and(|events| object_items(events).any(|(_, event)| is_event(event)))
    },
    item_marks: &[
        RooEventType::Call.key(),
        RooEventType::Result.key(),
        RooEventKey::Whole.key(),
        RooEventKey::Protocol.key(),
    ],
    element: is_event,
    line: is_event,
    beside: |event| type_of(event).is_some(),
    record_ids: RecordIds::OWN_READER,
    read: read_run,
    ..IN_FULL
};

fn type_of(event: Object<'_>) -> Option<RooEventType> {
    text_of(event, RooEventKey::Type).and_then(RooEventType::from_key)
}

/// A call or a result stands under its type.
fn held_in(event: Object<'_>, kind: RooEventType) -> Option<Object<'_>> {
    event.get(kind.key()).and_then(node_object)
}

fn is_event(event: Object<'_>) -> bool {
    let has_words = || {
        is_true(&event, &NodeShapes, RooEventKey::Whole)
            && value_of(event, RooEventKey::Words).is_some_and(|words| node_text(words).is_some())
    };
    match type_of(event) {
        Some(kind @ (RooEventType::Call | RooEventType::Result)) => held_in(event, kind).is_some(),
        Some(RooEventType::User | RooEventType::Said | RooEventType::Thought | RooEventType::End) => has_words(),
        Some(RooEventType::Silent) => {
            text_of(event, RooEventKey::Protocol).is_some_and(|protocol| protocol.starts_with(PROTOCOL))
        }
        Some(RooEventType::Error) | None => false,
    }
}

const PROTOCOL: &str = "roo-cli";

/// What is shown: of which kind, and its words as far as they are told.
struct ShownPiece<'run> {
    event: Object<'run>,
    kind: RooEventType,
    node: Node<'run>,
    words: String,
}

impl ShownPiece<'_> {
    fn tells_work(&self) -> bool {
        match self.kind {
            RooEventType::Call | RooEventType::Result => true,
            // A task that failed has no answer.
            RooEventType::End => {
                let success = self.event.field(RooEventKey::Success).map(|success| success.value);
                !matches!(success, Some(Value::Boolean(false)))
            }
            _ => false,
        }
    }
}

fn read_run<'run>(root: Node<'run>, builder: &mut RunBuilder<'run, '_>) -> Result<(), crate::error::PlacedError> {
    let root = builder.arena.alloc(root);
    let mut pieces: Vec<ShownPiece<'run>> = Vec::new();
    let mut places: FxHashMap<(RooEventType, String), usize> = FxHashMap::default();
    // The end stands around the other events.
    let end = node_object(*root).and_then(|end| list_of(end, RooEventKey::Events)).map(|_| &*root);
    for node in items_of(root, &[RooEventKey::Events]).iter().chain(end) {
        let Some((event, kind)) = node_object(*node).and_then(|event| Some((event, type_of(event)?))) else {
            builder.skip_value(node, "an event of unknown type is skipped");
            continue;
        };
        if let Some(words) = value_of(event, RooEventKey::Words) {
            builder.note_no_text(words, node.origin);
        }
        let words = text_of(event, RooEventKey::Words).unwrap_or_default();
        let id = value_of(event, RooEventKey::Id).map(|id| json::to_json(&id.value));
        let place = id.map_or(pieces.len(), |id| *places.entry((kind, id)).or_insert(pieces.len()));
        match pieces.get_mut(place) {
            // The last piece may be the whole.
            Some(piece) if words.starts_with(&piece.words) => {
                (piece.event, piece.words) = (event, words.to_owned());
            }
            Some(piece) => {
                piece.event = event;
                piece.words.push_str(words);
            }
            None => pieces.push(ShownPiece { event, kind, node: *node, words: words.to_owned() }),
        }
    }
    let mut shown = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        match shown_message(piece, builder) {
            Some(message) => shown.push(message),
            None if piece.tells_work() => {
                builder.skip_record(piece.node.origin, "a call, a result or an end without what it tells is skipped");
            }
            None => {}
        }
    }
    (cline_shown::FORMAT.read)(Node { origin: root.origin, ..builder.list_node(&shown) }, builder)
}

/// The message that the editor would have kept.
fn shown_message<'run>(piece: &ShownPiece<'run>, builder: &RunBuilder<'run, '_>) -> Option<Node<'run>> {
    let text = |words: &str| Node::new(Value::plain_text(builder.arena.alloc_str(words)), piece.node.origin);
    let kind_word = text_of(piece.event, RooEventKey::Kind);
    let (kind, words) = match piece.kind {
        RooEventType::User => (ShownKind::User.key(), text(&piece.words)),
        // Words with a kind are those of the program, or a question.
        RooEventType::Said => (kind_word.unwrap_or(ShownKind::Text.key()), text(&piece.words)),
        RooEventType::Thought => (ShownKind::Thought.key(), text(&piece.words)),
        RooEventType::Call => shown_call(held_in(piece.event, piece.kind)?, text)?,
        RooEventType::Result => {
            let given = held_in(piece.event, piece.kind)?;
            (ShownKind::Output.key(), value_of(given, RooEventKey::Output)?)
        }
        RooEventType::End if is_true(&piece.event, &NodeShapes, RooEventKey::Success) && !piece.words.is_empty() => {
            (ShownKind::Answer.key(), text(&piece.words))
        }
        RooEventType::End | RooEventType::Error | RooEventType::Silent => return None,
    };
    let entries = [
        (ShownKey::Type.key(), text(ShownKey::Say.key())),
        (ShownKey::Say.key(), text(kind)),
        (ShownKey::Words.key(), words),
    ];
    let entries = entries.map(|(key, node)| field_entry(key, node));
    // With the end of the task nothing waits for a result.
    let origin = if piece.kind == RooEventType::End { TextOrigin::COMPUTED } else { piece.node.origin };
    Some(Node { origin, ..builder.object_node(&entries) })
}

fn shown_call<'run>(call: Object<'run>, text: impl Fn(&str) -> Node<'run>) -> Option<(&'static str, Node<'run>)> {
    let input = value_of(call, RooEventKey::Input)?;
    let held = |key| node_object(input).and_then(|input| value_of(input, key)).unwrap_or(input);
    Some(match text_of(call, RooEventKey::Name).and_then(RooTool::from_key) {
        Some(RooTool::Command) => (ShownKind::Command.key(), held(RooEventKey::Command)),
        Some(RooTool::Mcp) => (ShownKind::Mcp.key(), held(RooEventKey::Raw)),
        Some(RooTool::Browser) => (ShownKind::Browser.key(), held(RooEventKey::Raw)),
        None => (ShownKind::Tool.key(), text(&json::to_json(&input.value))),
    })
}
