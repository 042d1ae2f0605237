//! Copilot CLI: the events of a session. What was used stands in a file of spans beside them, which is not read with them.

use super::{RecordKey, ReportBuilder, ReportWord, text_in, word_in};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_object, node_text};
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

key_table! {
    CopilotWord {
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
    CopilotRecordKey {
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

fn kind_of(word: Option<&str>) -> Option<CopilotWord> {
    word.and_then(CopilotWord::from_key)
}

pub(super) fn read_records<'run>(report: &mut ReportBuilder<'_, 'run, '_>, root: Node<'run>) {
    let mut tools: FxHashMap<&str, Node<'run>> = FxHashMap::default();
    for (node, event) in report.object_records(root) {
        let data = value_of(event, CopilotRecordKey::Data).and_then(node_object);
        let session = value_of(event, CopilotRecordKey::Session).or_else(|| value_of(data?, CopilotRecordKey::Session));
        report.session = session.or(report.session);
        let Some(data) = data else { continue };
        if let Some(context) = value_of(data, CopilotRecordKey::Context).and_then(node_object) {
            report.folder = word_in(context, RecordKey::Folder).or(report.folder);
        }
        let at = text_in(event, RecordKey::Time);
        let words = text_in(data, RecordKey::Content);
        match (kind_of(word_in(event, RecordKey::Type)), words) {
            (Some(CopilotWord::User), Some(words)) => report.add_message(ReportWord::User, false, words, at),
            (Some(CopilotWord::Assistant), Some(words)) => {
                let phase = kind_of(value_of(data, CopilotRecordKey::Phase).and_then(node_text));
                report.add_message(ReportWord::Assistant, phase == Some(CopilotWord::Thinking), words, at);
            }
            (Some(CopilotWord::Reasoning), Some(words)) => report.add_message(ReportWord::Assistant, true, words, at),
            (Some(CopilotWord::Begin), _) => start_tool(report, node, data, at, &mut tools),
            (Some(CopilotWord::End), _) => end_tool(report, data, at, &tools),
            _ => {}
        }
    }
}

fn repeated_command(data: Object<'_>) -> Option<Node<'_>> {
    let telemetry = value_of(data, CopilotRecordKey::Telemetry).and_then(node_object)?;
    text_in(value_of(telemetry, CopilotRecordKey::Properties).and_then(node_object)?, RecordKey::Command)
}

fn start_tool<'run>(
    report: &mut ReportBuilder<'_, 'run, '_>,
    node: Node<'run>,
    data: Object<'run>,
    at: Option<Node<'run>>,
    tools: &mut FxHashMap<&'run str, Node<'run>>,
) {
    let Some(tool) =
        value_of(data, CopilotRecordKey::Tool).filter(|tool| node_text(*tool).is_some_and(|tool| !tool.is_empty()))
    else {
        return;
    };
    if let Some(id) = value_of(data, CopilotRecordKey::Id).and_then(node_text) {
        tools.insert(id, tool);
    }
    let args = value_of(data, CopilotRecordKey::Args);
    report.add_call(tool, args, at, node.origin);
    let within = |of: RecordKey| args.and_then(node_object).and_then(|args| text_in(args, of));
    match kind_of(node_text(tool)) {
        Some(CopilotWord::Skill) => {
            within(RecordKey::Skill)
                .or_else(|| within(RecordKey::Name))
                .into_iter()
                .for_each(|skill| report.add_skill(skill, at));
        }
        Some(CopilotWord::Shell) => {
            let command = within(RecordKey::Command).or_else(|| repeated_command(data));
            command.into_iter().for_each(|command| report.add_command(command, at));
        }
        Some(CopilotWord::View) => {
            let path =
                args.and_then(node_object).and_then(|args| value_of(args, CopilotRecordKey::Path)).and_then(node_text);
            path.into_iter().for_each(|path| report.add_read(path, None, at, node.origin));
        }
        _ => {}
    }
}

fn end_tool<'run>(
    report: &mut ReportBuilder<'_, 'run, '_>,
    data: Object<'run>,
    at: Option<Node<'run>>,
    tools: &FxHashMap<&'run str, Node<'run>>,
) {
    let tool = value_of(data, CopilotRecordKey::Id).and_then(node_text).and_then(|id| tools.get(id)).copied();
    let told = |node: Node<'run>, keys: &[&dyn Fn(Object<'run>) -> Option<Node<'run>>]| {
        let inside = node_object(node);
        let found = inside.and_then(|inside| keys.iter().find_map(|key| key(inside)));
        found.filter(|found| matches!(found.value, Value::Text(_))).unwrap_or(node)
    };
    let error = value_of(data, CopilotRecordKey::Error)
        .map(|error| told(error, &[&|error| value_of(error, RecordKey::Message)]));
    let result = || {
        let detailed: &dyn Fn(Object<'run>) -> Option<Node<'run>> =
            &|result| value_of(result, CopilotRecordKey::Detailed);
        value_of(data, RecordKey::Result)
            .map(|result| told(result, &[detailed, &|result| value_of(result, RecordKey::Content)]))
    };
    if let Some(output) = error.or_else(result).and_then(|output| report.as_text(output)) {
        report.add_result(tool, output, at);
    }
    repeated_command(data).into_iter().for_each(|command| report.add_command(command, at));
}
