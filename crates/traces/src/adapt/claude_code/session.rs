//! The lines of a session file.

use super::{About, Reader, derived};
use crate::adapt::draft::{Draft, field};
use crate::adapt::{first_of, list_of, object_of, text_of};
use crate::time;
use averment_base::value::{Entry, Node, Object, Value};
use averment_runs::run::Kind;

/// Kinds of line that hold no step: they are passed over in silence.
pub(crate) const SILENT: [&str; 8] = [
    "summary",
    "progress",
    "file-history-snapshot",
    "queue-operation",
    "attachment",
    "custom-title",
    "last-prompt",
    "permission-mode",
];

/// Reads a session.
pub(super) fn read<'run>(lines: &[Node<'run>], draft: &mut Draft<'run, '_>) {
    use Kind::{Call, Command, Http, Message, Read, Skill, Write};
    draft.records(&[Call, Message, Command, Read, Write, Skill, Http]);
    let objects = || {
        lines.iter().filter_map(|node| match node.value {
            Value::Object(object) => Some(object),
            _ => None,
        })
    };
    let mixed = objects().any(|line| is_spoken(line) && agent(line).is_none());
    let mut reader = Reader::new(draft);
    for node in lines {
        match node.value {
            Value::Object(line) => read_line(&mut reader, *node, line, mixed),
            other => {
                let message = format!("a line that is no object but {} is passed over", other.type_name());
                reader.draft.warn(node.origin, message);
            }
        }
    }
    if !mixed {
        reader.output = last_words(reader.draft);
    }
    reader.finish();
    about_the_run(objects(), draft);
    draft.insert_derived(derived::of_call);
}

fn is_spoken(line: Object<'_>) -> bool {
    matches!(text_of(line, "type"), Some("user" | "assistant"))
}

/// The sub-agent of a line; `None` for the main one.
fn agent<'run>(line: Object<'run>) -> Option<Node<'run>> {
    let aside = matches!(line.get("isSidechain").map(|node| node.value), Some(Value::Boolean(true)));
    let named = first_of(line, &["agentId", "parent_tool_use_id"]).filter(|node| matches!(node.value, Value::Text(_)));
    match (aside, named) {
        (_, Some(name)) => Some(name),
        (true, None) => Some(Node::computed(Value::plain("sidechain"))),
        (false, None) => None,
    }
}

fn read_line<'run>(reader: &mut Reader<'_, 'run, '_>, node: Node<'run>, line: Object<'run>, mixed: bool) {
    match text_of(line, "type") {
        Some("user" | "assistant") => {
            let Some(message_node) = line.get("message") else {
                reader.draft.warn(node.origin, "a line without `message` is passed over");
                return;
            };
            let Value::Object(message) = message_node.value else {
                reader.draft.warn(message_node.origin, "a message that is no object is passed over");
                return;
            };
            let agent = agent(line);
            let injected = matches!(line.get("isMeta").map(|node| node.value), Some(Value::Boolean(true)));
            // A rule that asks what the user said must not hear the program, or the main agent that gave a task to another.
            let role = match (injected, agent) {
                (true, _) => Some("system"),
                (false, Some(_)) if mixed => Some("task"),
                _ => None,
            };
            let time = line.get("timestamp").filter(|time| time::milliseconds(&time.value).is_some());
            let about = About { turn: reader.turn_of(message), time, agent, role };
            reader.message(message_node, message, &about, first_of(line, &["toolUseResult", "tool_use_result"]));
        }
        Some("result") => result_line(reader, line),
        Some("system") => system_line(reader, line),
        Some(kind) if SILENT.contains(&kind) => {}
        Some(kind) => reader.draft.warn(node.origin, format!("a line of unknown type `{kind}` is passed over")),
        None => reader.draft.warn(node.origin, "a line without `type` is passed over"),
    }
}

/// The last line of `--output-format stream-json`: it sums the run up.
fn result_line<'run>(reader: &mut Reader<'_, 'run, '_>, line: Object<'run>) {
    let draft = &mut *reader.draft;
    draft.set_some("output", first_of(line, &["result"]));
    draft.set_some("cost", first_of(line, &["total_cost_usd"]));
    draft.set_some("duration", first_of(line, &["duration_ms"]));
    if matches!(line.get("is_error").map(|node| node.value), Some(Value::Boolean(true))) {
        draft.set_some("error", first_of(line, &["result", "subtype"]));
    }
}

fn system_line<'run>(reader: &mut Reader<'_, 'run, '_>, line: Object<'run>) {
    if text_of(line, "subtype") == Some("init")
        && let Some(tools) = list_of(line, "tools")
    {
        let tools = reader.draft.list(tools);
        reader.draft.set("tools", tools);
    }
}

/// The words of the last assistant message, of whichever agent.
fn last_words<'run>(draft: &Draft<'run, '_>) -> Option<Node<'run>> {
    let said = |step: &_| {
        let role = draft.field(*step, "role")?;
        matches!(role.value, Value::Text(role) if role.as_str() == "assistant").then(|| draft.field(*step, "text"))?
    };
    draft.steps(Kind::Message).iter().rev().find_map(said)
}

/// Id, duration and what else the lines say of the whole session.
fn about_the_run<'run>(lines: impl Iterator<Item = Object<'run>> + Clone, draft: &mut Draft<'run, '_>) {
    let first = |keys: &[&str]| lines.clone().find_map(|line| first_of(line, keys));
    draft.set_some("id", first(&["sessionId", "session_id"]).filter(|id| matches!(id.value, Value::Text(_))));
    let times = || {
        lines
            .clone()
            .filter(|line| is_spoken(*line))
            .filter_map(|line| time::milliseconds(&line.get("timestamp")?.value))
    };
    let (start, end) = (times().min_by(f64::total_cmp), times().max_by(f64::total_cmp));
    if let (Some(start), Some(end), false) = (start, end, draft.has("duration")) {
        draft.set("duration", Node::computed(time::value(end - start)));
    }
    let model =
        lines.clone().filter_map(|line| object_of(line, "message")).find_map(|message| first_of(message, &["model"]));
    let known = [
        ("cwd", first(&["cwd"])),
        ("version", first(&["version", "claude_code_version"])),
        ("git_branch", first(&["gitBranch"])),
        ("model", model),
    ];
    let meta: Vec<Entry<'run>> = known.into_iter().filter_map(|(key, node)| Some(field(key, node?))).collect();
    if !meta.is_empty() {
        let meta = draft.object(&meta);
        draft.set("meta", meta);
    }
}
