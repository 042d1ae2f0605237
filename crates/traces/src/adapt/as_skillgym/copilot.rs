//! Copilot CLI: the events of a session. What was used stands in a file of spans beside them, which is not read with them.

use super::{RecordKey, ReportBuilder, ReportWord, text_in, word_in};
use crate::adapt::spans::names;
use crate::adapt::{node_object, node_text};
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

names! {
    CopilotWord {
        User = ["user.message"],
        Assistant = ["assistant.message"],
        Reasoning = ["assistant.reasoning"],
        Begin = ["tool.execution_start"],
        End = ["tool.execution_complete"],
        Thinking = ["thinking"],
        Skill = ["skill"],
        Shell = ["bash", "write_bash", "read_bash", "stop_bash", "list_bash"],
        View = ["view"],
    }
}

names! {
    CopilotRecordKey {
        Data = ["data"],
        Session = ["sessionId"],
        Context = ["context"],
        Phase = ["phase"],
        Tool = ["toolName"],
        Id = ["toolCallId"],
        Args = ["arguments"],
        Error = ["error"],
        Detailed = ["detailedContent"],
        Telemetry = ["toolTelemetry"],
        Properties = ["properties"],
        Path = ["path"],
    }
}

fn kind_of(word: Option<&str>) -> Option<CopilotWord> {
    word.and_then(CopilotWord::from_name).map(|(kind, _)| kind)
}

pub(super) fn read_records<'run>(report: &mut ReportBuilder<'_, 'run, '_>, root: Node<'run>) {
    let mut tools: FxHashMap<&str, Node<'run>> = FxHashMap::default();
    for (node, event) in report.object_records(root) {
        let data = CopilotRecordKey::Data.find(event).and_then(node_object);
        let session = CopilotRecordKey::Session.find(event).or_else(|| CopilotRecordKey::Session.find(data?));
        report.session = session.or(report.session);
        let Some(data) = data else { continue };
        if let Some(context) = CopilotRecordKey::Context.find(data).and_then(node_object) {
            report.folder = word_in(context, RecordKey::Folder).or(report.folder);
        }
        let at = text_in(event, RecordKey::Time);
        let words = text_in(data, RecordKey::Content);
        match (kind_of(word_in(event, RecordKey::Type)), words) {
            (Some(CopilotWord::User), Some(words)) => report.add_message(ReportWord::User, false, words, at),
            (Some(CopilotWord::Assistant), Some(words)) => {
                let phase = kind_of(CopilotRecordKey::Phase.find(data).and_then(node_text));
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
    let telemetry = CopilotRecordKey::Telemetry.find(data).and_then(node_object)?;
    text_in(CopilotRecordKey::Properties.find(telemetry).and_then(node_object)?, RecordKey::Command)
}

fn start_tool<'run>(
    report: &mut ReportBuilder<'_, 'run, '_>,
    node: Node<'run>,
    data: Object<'run>,
    at: Option<Node<'run>>,
    tools: &mut FxHashMap<&'run str, Node<'run>>,
) {
    let Some(tool) =
        CopilotRecordKey::Tool.find(data).filter(|tool| node_text(*tool).is_some_and(|tool| !tool.is_empty()))
    else {
        return;
    };
    if let Some(id) = CopilotRecordKey::Id.find(data).and_then(node_text) {
        tools.insert(id, tool);
    }
    let args = CopilotRecordKey::Args.find(data);
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
                args.and_then(node_object).and_then(|args| CopilotRecordKey::Path.find(args)).and_then(node_text);
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
    let tool = CopilotRecordKey::Id.find(data).and_then(node_text).and_then(|id| tools.get(id)).copied();
    let told = |node: Node<'run>, keys: &[&dyn Fn(Object<'run>) -> Option<Node<'run>>]| {
        let inside = node_object(node);
        let found = inside.and_then(|inside| keys.iter().find_map(|key| key(inside)));
        found.filter(|found| matches!(found.value, Value::Text(_))).unwrap_or(node)
    };
    let error = CopilotRecordKey::Error.find(data).map(|error| told(error, &[&|error| RecordKey::Message.find(error)]));
    let result = || {
        let detailed: &dyn Fn(Object<'run>) -> Option<Node<'run>> = &|result| CopilotRecordKey::Detailed.find(result);
        RecordKey::Result.find(data).map(|result| told(result, &[detailed, &|result| RecordKey::Content.find(result)]))
    };
    if let Some(output) = error.or_else(result).and_then(|output| report.as_text(output)) {
        report.add_result(tool, output, at);
    }
    repeated_command(data).into_iter().for_each(|command| report.add_command(command, at));
}
