//! Copilot CLI: the events of a session. What was used stands in a file of spans beside them, which is not read with them.

use super::{Of, Report, Word, text_in, word_in};
use crate::adapt::nodes::{object, text};
use crate::adapt::spans::names;
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

names! {
    /// The types of events, phases of messages, and the tools that tell more.
    Kind {
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
    /// What stands in an event.
    OfEvent {
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

fn kind_of(word: Option<&str>) -> Option<Kind> {
    word.and_then(Kind::of).map(|(kind, _)| kind)
}

pub(super) fn read<'run>(report: &mut Report<'_, 'run, '_>, root: Node<'run>) {
    let mut tools: FxHashMap<&str, Node<'run>> = FxHashMap::default();
    for (node, event) in report.records(root) {
        let data = OfEvent::Data.find(event).and_then(object);
        let session = OfEvent::Session.find(event).or_else(|| OfEvent::Session.find(data?));
        report.session = session.or(report.session);
        let Some(data) = data else { continue };
        if let Some(context) = OfEvent::Context.find(data).and_then(object) {
            report.folder = word_in(context, Of::Folder).or(report.folder);
        }
        let at = text_in(event, Of::Time);
        let words = text_in(data, Of::Content);
        match (kind_of(word_in(event, Of::Type)), words) {
            (Some(Kind::User), Some(words)) => report.message(Word::User, false, words, at),
            (Some(Kind::Assistant), Some(words)) => {
                let phase = kind_of(OfEvent::Phase.find(data).and_then(text));
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
    let telemetry = OfEvent::Telemetry.find(data).and_then(object)?;
    text_in(OfEvent::Properties.find(telemetry).and_then(object)?, Of::Command)
}

fn begun<'run>(
    report: &mut Report<'_, 'run, '_>,
    node: Node<'run>,
    data: Object<'run>,
    at: Option<Node<'run>>,
    tools: &mut FxHashMap<&'run str, Node<'run>>,
) {
    let Some(tool) = OfEvent::Tool.find(data).filter(|tool| text(*tool).is_some_and(|tool| !tool.is_empty())) else {
        return;
    };
    if let Some(id) = OfEvent::Id.find(data).and_then(text) {
        tools.insert(id, tool);
    }
    let args = OfEvent::Args.find(data);
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
            let path = args.and_then(object).and_then(|args| OfEvent::Path.find(args)).and_then(text);
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
    let tool = OfEvent::Id.find(data).and_then(text).and_then(|id| tools.get(id)).copied();
    let told = |node: Node<'run>, keys: &[&dyn Fn(Object<'run>) -> Option<Node<'run>>]| {
        let inside = object(node);
        let found = inside.and_then(|inside| keys.iter().find_map(|key| key(inside)));
        found.filter(|found| matches!(found.value, Value::Text(_))).unwrap_or(node)
    };
    let error = OfEvent::Error.find(data).map(|error| told(error, &[&|error| Of::Message.find(error)]));
    let result = || {
        let detailed: &dyn Fn(Object<'run>) -> Option<Node<'run>> = &|result| OfEvent::Detailed.find(result);
        Of::Result.find(data).map(|result| told(result, &[detailed, &|result| Of::Content.find(result)]))
    };
    if let Some(output) = error.or_else(result).and_then(|output| report.as_text(output)) {
        report.result(tool, output, at);
    }
    repeated(data).into_iter().for_each(|command| report.command(command, at));
}
