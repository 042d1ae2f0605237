//! Copilot CLI: the events of a session. What was used stands in a file of spans beside them, which is not read with them.

use super::{Of, Report, Word, text_in, word_in};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{object, text};
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

key_table! {
    /// The types of events, phases of messages, and the tools that tell more.
    Kind {
        User = "user.message",
        Assistant = "assistant.message",
        Reasoning = "assistant.reasoning",
        Begin = "tool.execution_start",
        End = "tool.execution_complete",
        Thinking = "thinking",
        Skill = "skill",
        Shell = "bash" | "write_bash" | "read_bash" | "stop_bash" | "list_bash",
        View = "view",
    }
}

key_table! {
    /// What stands in an event.
    OfEvent {
        Data = "data",
        Session = "sessionId",
        Context = "context",
        Phase = "phase",
        Tool = "toolName",
        Id = "toolCallId",
        Args = "arguments",
        Error = "error",
        Detailed = "detailedContent",
        Telemetry = "toolTelemetry",
        Properties = "properties",
        Path = "path",
    }
}

fn kind_of(word: Option<&str>) -> Option<Kind> {
    word.and_then(Kind::from_key)
}

pub(super) fn read<'run>(report: &mut Report<'_, 'run, '_>, root: Node<'run>) {
    let mut tools: FxHashMap<&str, Node<'run>> = FxHashMap::default();
    for (node, event) in report.records(root) {
        let data = value_of(event, OfEvent::Data).and_then(object);
        let session = value_of(event, OfEvent::Session).or_else(|| value_of(data?, OfEvent::Session));
        report.session = session.or(report.session);
        let Some(data) = data else { continue };
        if let Some(context) = value_of(data, OfEvent::Context).and_then(object) {
            report.folder = word_in(context, Of::Folder).or(report.folder);
        }
        let at = text_in(event, Of::Time);
        let words = text_in(data, Of::Content);
        match (kind_of(word_in(event, Of::Type)), words) {
            (Some(Kind::User), Some(words)) => report.message(Word::User, false, words, at),
            (Some(Kind::Assistant), Some(words)) => {
                let phase = kind_of(value_of(data, OfEvent::Phase).and_then(text));
                report.message(Word::Assistant, phase == Some(Kind::Thinking), words, at);
            }
            (Some(Kind::Reasoning), Some(words)) => report.message(Word::Assistant, true, words, at),
            (Some(Kind::Begin), _) => begun(report, node, data, at, &mut tools),
            (Some(Kind::End), _) => ended(report, data, at, &tools),
            _ => {}
        }
    }
}

/// The command that an event repeats beside its result.
fn repeated(data: Object<'_>) -> Option<Node<'_>> {
    let telemetry = value_of(data, OfEvent::Telemetry).and_then(object)?;
    text_in(value_of(telemetry, OfEvent::Properties).and_then(object)?, Of::Command)
}

fn begun<'run>(
    report: &mut Report<'_, 'run, '_>,
    node: Node<'run>,
    data: Object<'run>,
    at: Option<Node<'run>>,
    tools: &mut FxHashMap<&'run str, Node<'run>>,
) {
    let Some(tool) = value_of(data, OfEvent::Tool).filter(|tool| text(*tool).is_some_and(|tool| !tool.is_empty()))
    else {
        return;
    };
    if let Some(id) = value_of(data, OfEvent::Id).and_then(text) {
        tools.insert(id, tool);
    }
    let args = value_of(data, OfEvent::Args);
    report.call(tool, args, at, node.origin);
    let within = |of: Of| args.and_then(object).and_then(|args| text_in(args, of));
    match kind_of(text(tool)) {
        Some(Kind::Skill) => {
            within(Of::Skill).or_else(|| within(Of::Name)).into_iter().for_each(|skill| report.skill(skill, at));
        }
        Some(Kind::Shell) => {
            let command = within(Of::Command).or_else(|| repeated(data));
            command.into_iter().for_each(|command| report.command(command, at));
        }
        Some(Kind::View) => {
            let path = args.and_then(object).and_then(|args| value_of(args, OfEvent::Path)).and_then(text);
            path.into_iter().for_each(|path| report.read(path, None, at, node.origin));
        }
        _ => {}
    }
}

fn ended<'run>(
    report: &mut Report<'_, 'run, '_>,
    data: Object<'run>,
    at: Option<Node<'run>>,
    tools: &FxHashMap<&'run str, Node<'run>>,
) {
    let tool = value_of(data, OfEvent::Id).and_then(text).and_then(|id| tools.get(id)).copied();
    let told = |node: Node<'run>, keys: &[&dyn Fn(Object<'run>) -> Option<Node<'run>>]| {
        let inside = object(node);
        let found = inside.and_then(|inside| keys.iter().find_map(|key| key(inside)));
        found.filter(|found| matches!(found.value, Value::Text(_))).unwrap_or(node)
    };
    let error = value_of(data, OfEvent::Error).map(|error| told(error, &[&|error| value_of(error, Of::Message)]));
    let result = || {
        let detailed: &dyn Fn(Object<'run>) -> Option<Node<'run>> = &|result| value_of(result, OfEvent::Detailed);
        value_of(data, Of::Result).map(|result| told(result, &[detailed, &|result| value_of(result, Of::Content)]))
    };
    if let Some(output) = error.or_else(result).and_then(|output| report.as_text(output)) {
        report.result(tool, output, at);
    }
    repeated(data).into_iter().for_each(|command| report.command(command, at));
}
