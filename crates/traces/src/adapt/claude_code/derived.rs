//! What the calls of Claude Code's own tools did: commands, files read and written, skills, requests. A call that was refused did nothing.

use crate::adapt::draft::{Draft, field};
use crate::adapt::{first_of, text_of};
use averment_base::value::{Entry, Node, Number, Object, Value};
use averment_runs::run::Kind;

/// The steps that follow from one call.
pub(super) fn of_call<'run>(_: &Draft<'run, '_>, call: &[Entry<'run>]) -> Vec<(Kind, Vec<Entry<'run>>)> {
    let get = |key: &str| call.iter().find(|entry| entry.key == key).map(|entry| entry.node);
    let word = |key: &str| match get(key).map(|node| node.value) {
        Some(Value::Text(text)) => text.as_str(),
        _ => "",
    };
    let Some(Value::Object(args)) = get("args").map(|node| node.value) else { return Vec::new() };
    if word("status") == "denied" {
        return Vec::new();
    }
    let Some((kind, mut fields)) = derive(word("tool"), args, call) else { return Vec::new() };
    for key in ["start", "end", "turn", "agent", "id"] {
        fields.extend(get(key).map(|node| field(key, node)));
    }
    if kind != Kind::Skill && kind != Kind::Http {
        fields.extend(get("status").map(|node| field("status", node)));
    }
    vec![(kind, fields)]
}

fn derive<'run>(tool: &str, args: Object<'run>, call: &[Entry<'run>]) -> Option<(Kind, Vec<Entry<'run>>)> {
    let named = |kind, key, names: &[&str]| {
        let node = first_of(args, names).filter(|node| matches!(node.value, Value::Text(_)))?;
        Some((kind, vec![field(key, node)]))
    };
    match tool {
        "Bash" => {
            let (kind, mut fields) = named(Kind::Command, "command", &["command"])?;
            let get = |key: &str| call.iter().find(|entry| entry.key == key).map(|entry| entry.node);
            fields.extend(get("result").map(|result| field("output", result)));
            fields.extend(exit_code(args, call).map(|code| field("exit_code", code)));
            Some((kind, fields))
        }
        "Read" | "NotebookRead" => named(Kind::Read, "path", &["file_path", "notebook_path"]),
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => named(Kind::Write, "path", &["file_path", "notebook_path"]),
        "Skill" => named(Kind::Skill, "name", &["skill", "name", "command"]),
        "WebFetch" => {
            let (kind, mut fields) = named(Kind::Http, "url", &["url"])?;
            fields.push(field("method", Node::computed(Value::plain("GET"))));
            let details = call.iter().find(|entry| entry.key == "details").map(|entry| entry.node.value);
            if let Some(Value::Object(details)) = details
                && let Some(code) = details.get("code").filter(|code| matches!(code.value, Value::Number(_)))
            {
                fields.push(field("status", code));
            }
            Some((kind, fields))
        }
        _ => None,
    }
}

/// The exit code, where it is known: 0 of a command that is over and went well, and the one that the words of a failure name.
fn exit_code<'run>(args: Object<'run>, call: &[Entry<'run>]) -> Option<Node<'run>> {
    let get = |key: &str| call.iter().find(|entry| entry.key == key).map(|entry| entry.node);
    let Value::Text(status) = get("status")?.value else { return None };
    if status.as_str() == "failed" {
        let result = get("result")?;
        let Value::Text(words) = result.value else { return None };
        let code = words.as_str().trim_start_matches("Error: ").strip_prefix("Exit code ")?;
        let digits = code.split(|c: char| !c.is_ascii_digit()).next()?;
        return Some(Node::new(Value::Number(Number::Integer(digits.parse().ok()?)), result.origin));
    }
    let in_background = matches!(args.get("run_in_background").map(|node| node.value), Some(Value::Boolean(true)));
    // The program passes over the code of commands such as `grep`, whose 1 is no failure, and says so.
    let explained = match get("details").map(|node| node.value) {
        Some(Value::Object(details)) => {
            text_of(details, "returnCodeInterpretation").is_some()
                || first_of(details, &["backgroundTaskId"]).is_some()
                || matches!(details.get("interrupted").map(|node| node.value), Some(Value::Boolean(true)))
        }
        _ => false,
    };
    (status.as_str() == "ok" && !in_background && !explained).then(|| Node::computed(Value::Number(Number::Integer(0))))
}
