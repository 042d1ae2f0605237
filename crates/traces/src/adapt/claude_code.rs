//! Claude Code: session files (one event a line), `--output-format stream-json`, the web export (`loglines`); and conversations in
//! Anthropic's form, whose messages hold `tool_use` and `tool_result` blocks.
//!
//! One assistant message is written as several lines that repeat its usage: what belongs to a message is told by its id, and the last
//! usage counts. Sub-agents stand in the same file, told apart by `agentId`.

mod derived;
mod session;

use super::calls::{Unanswered, Usage};
use super::draft::{Draft, StepId, count, field, withheld};
use super::{Format, list_of, object_of, objects, text_of};
use crate::content;
use crate::error::Placed;
use averment_base::value::{Entry, Node, Object, Value};
use averment_runs::run::Kind;
use rustc_hash::FxHashMap;
pub(crate) use session::SILENT;

/// A Claude Code session.
pub(super) const FORMAT: Format = Format {
    name: "Claude Code session",
    description: "Claude Code sessions (JSONL, or `loglines`)",
    object: |object| list_of(object, "loglines").is_some(),
    element: is_line,
    line: is_line,
    read,
};

fn is_line(object: Object<'_>) -> bool {
    let kinds =
        ["user", "assistant", "system", "summary", "progress", "result", "file-history-snapshot", "queue-operation"];
    let marks = ["sessionId", "session_id", "leafUuid", "parentUuid", "uuid", "messageId"];
    text_of(object, "type").is_some_and(|kind| kinds.contains(&kind))
        && marks.iter().any(|key| object.get(key).is_some())
}

fn read<'run>(root: Node<'run>, draft: &mut Draft<'run, '_>) -> Result<(), Placed> {
    let lines = match root.value {
        Value::List(lines) => lines,
        Value::Object(object) => list_of(object, "loglines").unwrap_or_default(),
        _ => &[],
    };
    session::read(lines, draft);
    Ok(())
}

/// Whether a message holds calls or results in its content.
pub(super) fn has_tool_blocks(message: &Node<'_>) -> bool {
    let Value::Object(message) = message.value else { return false };
    message.get("content").is_some_and(|content| holds_tool_blocks(&content))
}

/// Whether a content holds calls or results.
pub(crate) fn holds_tool_blocks(content: &Node<'_>) -> bool {
    let Value::List(blocks) = content.value else { return false };
    objects(blocks).any(|(_, block)| is_call(block) || is_result(block))
}

fn is_call(block: Object<'_>) -> bool {
    matches!(text_of(block, "type"), Some("tool_use" | "server_tool_use" | "mcp_tool_use"))
}

fn is_result(block: Object<'_>) -> bool {
    text_of(block, "type").is_some_and(|kind| kind.ends_with("tool_result"))
}

/// Adds a conversation in Anthropic's form: it has no times, and each assistant message is a turn.
pub(super) fn conversation<'run>(messages: &[Node<'run>], draft: &mut Draft<'run, '_>) {
    draft.records(&[Kind::Call, Kind::Message]);
    let mut reader = Reader::new(draft);
    for node in messages {
        if let Value::Object(message) = node.value {
            let about = About { turn: reader.turn_of(message), ..About::default() };
            reader.message(*node, message, &about, None);
        }
    }
    reader.finish();
}

/// What the line around a message says.
#[derive(Default)]
struct About<'run> {
    turn: usize,
    time: Option<Node<'run>>,
    agent: Option<Node<'run>>,
    /// The words are not the user's: the program wrote them, or another agent did.
    role: Option<&'static str>,
}

struct Reader<'a, 'run, 'limits> {
    draft: &'a mut Draft<'run, 'limits>,
    unanswered: Unanswered<'run>,
    turns: FxHashMap<&'run str, usize>,
    turn: usize,
    prompt: Option<Node<'run>>,
    output: Option<Node<'run>>,
    usage: Vec<Object<'run>>,
    /// Where in `usage` that of a message stands.
    counted: FxHashMap<&'run str, usize>,
}

impl<'a, 'run, 'limits> Reader<'a, 'run, 'limits> {
    fn new(draft: &'a mut Draft<'run, 'limits>) -> Self {
        Self {
            draft,
            unanswered: Unanswered::default(),
            turns: FxHashMap::default(),
            turn: 0,
            prompt: None,
            output: None,
            usage: Vec::new(),
            counted: FxHashMap::default(),
        }
    }

    /// The turn of a message: lines of one assistant message share it; what others say belongs to the turn that follows.
    fn turn_of(&mut self, message: Object<'run>) -> usize {
        if text_of(message, "role") != Some("assistant") {
            return self.turn + 1;
        }
        let id = text_of(message, "id");
        if let Some(turn) = id.and_then(|id| self.turns.get(id)) {
            return *turn;
        }
        self.turn += 1;
        if let Some(id) = id {
            self.turns.insert(id, self.turn);
        }
        self.turn
    }

    fn message(&mut self, node: Node<'run>, message: Object<'run>, about: &About<'run>, details: Option<Node<'run>>) {
        let Some(role) = text_of(message, "role") else {
            self.draft.warn(node.origin, "a message without `role` is passed over");
            return;
        };
        if role == "assistant"
            && let Some(usage) = object_of(message, "usage")
        {
            self.count(text_of(message, "id"), usage);
        }
        match message.get("content") {
            Some(Node { value: Value::List(blocks), .. }) => {
                for block in blocks {
                    self.block(*block, role, about, details);
                }
            }
            Some(content) if matches!(content.value, Value::Text(_)) => self.say(content, role, about, content.origin),
            Some(content) if matches!(content.value, Value::Null) => {}
            _ => self.draft.warn(node.origin, "a message without `content` is passed over"),
        }
    }

    /// Of several usages of one message the last counts.
    fn count(&mut self, id: Option<&'run str>, usage: Object<'run>) {
        let place = id.map_or(self.usage.len(), |id| *self.counted.entry(id).or_insert(self.usage.len()));
        match self.usage.get_mut(place) {
            Some(known) => *known = usage,
            None => self.usage.push(usage),
        }
    }

    fn block(&mut self, node: Node<'run>, role: &str, about: &About<'run>, details: Option<Node<'run>>) {
        let block = match node.value {
            Value::Object(block) => block,
            Value::Text(_) => return self.say(node, role, about, node.origin),
            _ => {
                self.draft.warn(node.origin, "a block of a message that is no object is passed over");
                return;
            }
        };
        match text_of(block, "type") {
            Some("text") => {
                if let Some(text) = block.get("text") {
                    self.say(text, role, about, node.origin);
                }
            }
            Some("thinking") => {
                if let Some(text) = block.get("thinking") {
                    self.add_message("thinking", text, about, node.origin);
                }
            }
            _ if is_call(block) => self.call(node, block, about),
            _ if is_result(block) => self.result(node, block, about, details),
            // Images, documents, redacted thinking: nothing that a rule could read.
            _ => {}
        }
    }

    fn say(&mut self, text: Node<'run>, role: &str, about: &About<'run>, origin: averment_base::value::Origin) {
        if !matches!(text.value, Value::Text(text) if !text.is_empty()) {
            return;
        }
        match role {
            "assistant" => {
                if about.agent.is_none() {
                    self.output = Some(text);
                }
                self.add_message("assistant", text, about, origin);
            }
            "user" if about.role.is_none() => {
                self.prompt = self.prompt.or(Some(text));
                self.add_message("user", text, about, origin);
            }
            "user" => self.add_message(about.role.unwrap_or("user"), text, about, origin),
            _ => self.add_message("system", text, about, origin),
        }
    }

    fn add_message(
        &mut self,
        role: &'static str,
        text: Node<'run>,
        about: &About<'run>,
        origin: averment_base::value::Origin,
    ) {
        let role = Value::plain(role);
        let mut fields =
            vec![field("role", Node::computed(role)), field("text", text), field("turn", count(about.turn))];
        fields.extend(about.time.map(|time| field("start", time)));
        fields.extend(about.agent.map(|agent| field("agent", agent)));
        self.draft.step(Kind::Message, fields, origin);
    }

    fn call(&mut self, node: Node<'run>, block: Object<'run>, about: &About<'run>) {
        let Some(name) = block.get("name").filter(|name| matches!(name.value, Value::Text(_))) else {
            self.draft.warn(node.origin, "a call without the name of its tool is passed over");
            return;
        };
        let mut fields: Vec<Entry<'run>> = vec![field("tool", name), field("turn", count(about.turn))];
        fields.extend(block.get("input").map(|input| field("args", input)));
        fields.extend(block.get("id").map(|id| field("id", id)));
        fields.extend(about.time.map(|time| field("start", time)));
        fields.extend(about.agent.map(|agent| field("agent", agent)));
        let call = self.draft.step(Kind::Call, fields, node.origin);
        let tool = text_of(block, "name").unwrap_or_default();
        self.unanswered.add(text_of(block, "id"), tool, call);
    }

    fn result(&mut self, node: Node<'run>, block: Object<'run>, about: &About<'run>, details: Option<Node<'run>>) {
        let Some(call) = self.unanswered.answer(text_of(block, "tool_use_id"), None) else {
            self.draft.warn(node.origin, "a result that no call is waiting for is passed over");
            return;
        };
        let result = match block.get("content") {
            Some(content) => Some(content::text(content, self.draft.arena).unwrap_or(content)),
            None => details,
        };
        if let Some(result) = result {
            self.draft.amend(call, "result", result);
        }
        let failed = matches!(block.get("is_error").map(|node| node.value), Some(Value::Boolean(true)));
        self.status(call, node, failed, result);
        if let Some(time) = about.time {
            self.draft.amend(call, "end", time);
        }
        if let Some(details) = details.filter(|details| matches!(details.value, Value::Object(_) | Value::List(_))) {
            self.draft.amend(call, "details", details);
        }
    }

    /// A call that was refused says so only in the words of its result.
    fn status(&mut self, call: StepId, node: Node<'run>, failed: bool, result: Option<Node<'run>>) {
        let status = match failed {
            true if result.is_some_and(|result| is_refusal(result.value)) => "denied",
            true => "failed",
            false => "ok",
        };
        self.draft.amend(call, "status", Node::computed(Value::plain(status)));
        if failed {
            let error = result.unwrap_or(Node::new(Value::Boolean(true), node.origin));
            self.draft.amend(call, "error", error);
        }
    }

    /// Sets what is known of the run as a whole.
    fn finish(self) {
        let draft = self.draft;
        for call in draft.steps(Kind::Call) {
            if draft.field(call, "status").is_none() {
                draft.amend(call, "status", withheld());
            }
        }
        draft.set("turns", count(self.turn));
        if !draft.has("prompt") {
            draft.set_some("prompt", self.prompt);
        }
        if !draft.has("output") {
            draft.set_some("output", self.output);
        }
        if !draft.has("usage") {
            let mut usage = Usage::default();
            self.usage.iter().for_each(|counts| usage.add(*counts));
            usage.count_cache_as_input();
            usage.set(draft);
        }
    }
}

/// The words with which Claude Code hands a refusal to the model: by a person, by the permission settings, by a hook.
pub(crate) fn is_refusal(result: Value<'_>) -> bool {
    let Value::Text(text) = result else { return false };
    let text = text.as_str().trim_start_matches("<tool_use_error>").trim_start_matches("Error: ");
    let starts = [
        "The user doesn't want to proceed with this tool use",
        "The user doesn't want to take this action",
        "[Request interrupted by user for tool use]",
        "Permission to use",
    ];
    starts.iter().any(|start| text.starts_with(start))
        || text.starts_with("Claude requested permissions") && text.contains("haven't granted")
}
