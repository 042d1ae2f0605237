//! Codex: the rollout of a session, or the events of `codex exec --json`. Commands are those that the text of a result repeats.

use super::{
    RecordKey, ReportBuilder, ReportWord, TokenCounts, list_in, object_in, strip_quotes, text_in, token_count, word_in,
};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_object, node_text, object_items};
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

key_table! {
    CodexWord {
        Session = "session_meta",
        Context = "turn_context",
        TurnEnd = "turn.completed",
        Item = "item.completed",
        Event = "event_msg",
        Response = "response_item",
        Said = "agent_message",
        Tokens = "token_count",
        Message = "message",
        Thought = "reasoning",
        Call = "function_call",
        Answer = "function_call_output",
    }
}

key_table! {
    CodexRecordKey {
        Thread = "thread_id" | "session_id",
        Payload = "payload",
        Item = "item",
        Info = "info",
        Total = "total_token_usage",
        Words = "message",
        Tool = "name" | "tool",
        Arguments = "arguments",
        ArgumentsToo = "args",
        Output = "output",
        Id = "call_id",
        Folder = "workdir" | "cwd",
        Given = "input_tokens",
        Made = "output_tokens",
        Reasoned = "reasoning_output_tokens",
        Cached = "cached_input_tokens",
    }
}

/// Its result repeats its command.
const SHELL: &str = "exec_command";
/// Prefixes of a line that repeats the command.
const COMMAND: &str = "Command:";
const RUN: &str = "-lc";

#[derive(Default)]
struct CodexCalls<'run> {
    /// The folder of the turn, and of calls.
    turn: Option<&'run str>,
    calls: FxHashMap<&'run str, &'run str>,
}

fn kind_of(object: Object<'_>) -> Option<CodexWord> {
    word_in(object, RecordKey::Type).and_then(CodexWord::from_key)
}

pub(super) fn read_records<'run>(report: &mut ReportBuilder<'_, 'run, '_>, root: Node<'run>) {
    let mut session = CodexCalls::default();
    for (_, record) in report.object_records(root) {
        let at = text_in(record, RecordKey::Time);
        report.session =
            report.session.or(value_of(record, CodexRecordKey::Thread).filter(|id| node_text(*id).is_some()));
        let payload = value_of(record, CodexRecordKey::Payload).and_then(node_object);
        // What a program printed beside a rollout is not known.
        report.falls_back &= payload.is_none();
        match (kind_of(record), payload) {
            (Some(CodexWord::Session), Some(payload)) => {
                report.folder = word_in(payload, RecordKey::Folder).or(report.folder);
            }
            (Some(CodexWord::Context), Some(payload)) => {
                session.turn = word_in(payload, RecordKey::Folder).or(session.turn)
            }
            (Some(CodexWord::TurnEnd), _) => {
                object_in(record, RecordKey::Usage).into_iter().for_each(|usage| count_usage(report, usage))
            }
            (Some(CodexWord::Item), _) => {
                let item = value_of(record, CodexRecordKey::Item).and_then(node_object);
                let words = item
                    .filter(|item| kind_of(*item) == Some(CodexWord::Said))
                    .and_then(|item| text_in(item, RecordKey::Words));
                words.into_iter().for_each(|words| report.add_message(ReportWord::Assistant, false, words, at));
            }
            (Some(CodexWord::Event), Some(payload)) => read_event(report, payload, at),
            (Some(CodexWord::Response), Some(payload)) => session.read_item(report, payload, at),
            _ => {}
        }
    }
}

/// Cumulative for the session: the last count wins.
fn count_usage(report: &mut ReportBuilder<'_, '_, '_>, usage: Object<'_>) {
    let known = &report.usage;
    report.usage = TokenCounts {
        input: token_count(value_of(usage, CodexRecordKey::Given)).or(known.input),
        output: token_count(value_of(usage, CodexRecordKey::Made)).or(known.output),
        reasoning: token_count(value_of(usage, CodexRecordKey::Reasoned)).or(known.reasoning),
        cached: token_count(value_of(usage, CodexRecordKey::Cached)).or(known.cached),
    };
}

fn read_event<'run>(report: &mut ReportBuilder<'_, 'run, '_>, payload: Object<'run>, at: Option<Node<'run>>) {
    match kind_of(payload) {
        Some(CodexWord::Tokens) => {
            let info = value_of(payload, CodexRecordKey::Info).and_then(node_object);
            let total = info.and_then(|info| value_of(info, CodexRecordKey::Total)).and_then(node_object);
            total.into_iter().for_each(|total| count_usage(report, total));
        }
        Some(CodexWord::Said) => {
            let words = value_of(payload, CodexRecordKey::Words)
                .filter(|words| node_text(*words).is_some_and(|text| !text.is_empty()));
            words.into_iter().for_each(|words| report.add_message(ReportWord::Assistant, false, words, at));
        }
        _ => {}
    }
}

impl<'run> CodexCalls<'run> {
    fn read_item(&mut self, report: &mut ReportBuilder<'_, 'run, '_>, payload: Object<'run>, at: Option<Node<'run>>) {
        match kind_of(payload) {
            Some(CodexWord::Message) => add_speech(report, payload, at),
            Some(CodexWord::Thought) => {
                let words = text_in(payload, RecordKey::Words);
                words.into_iter().for_each(|words| report.add_message(ReportWord::Assistant, true, words, at));
            }
            Some(CodexWord::Call) => self.add_call(report, payload, at),
            Some(CodexWord::Answer) => self.add_output(report, payload, at),
            _ => {}
        }
    }

    fn add_call(&mut self, report: &mut ReportBuilder<'_, 'run, '_>, payload: Object<'run>, at: Option<Node<'run>>) {
        let Some(tool) = value_of(payload, CodexRecordKey::Tool)
            .filter(|tool| node_text(*tool).is_some_and(|tool| !tool.is_empty()))
        else {
            return;
        };
        let written = value_of(payload, CodexRecordKey::Arguments);
        let read = written.and_then(|args| args.parse_embedded(report.draft.arena, report.draft.limits));
        let args = read.or(written).or_else(|| value_of(payload, CodexRecordKey::ArgumentsToo));
        let folder =
            args.and_then(node_object).and_then(|args| value_of(args, CodexRecordKey::Folder)).and_then(node_text);
        if let Some((id, folder)) = value_of(payload, CodexRecordKey::Id).and_then(node_text).zip(folder) {
            self.calls.insert(id, folder);
        }
        report.add_call(tool, args, at, tool.origin);
    }

    fn add_output(&self, report: &mut ReportBuilder<'_, 'run, '_>, payload: Object<'run>, at: Option<Node<'run>>) {
        let Some(output) = value_of(payload, CodexRecordKey::Output).and_then(|output| report.as_text(output)) else {
            return;
        };
        let words = node_text(output).unwrap_or_default();
        let tool = words.contains(COMMAND).then(|| Node::computed(Value::plain_text(SHELL)));
        report.add_result(tool, output, at);
        if let Some(command) = words.lines().find_map(command_in) {
            let command = report.text_node(command, output.origin);
            let folder =
                value_of(payload, CodexRecordKey::Id).and_then(node_text).and_then(|id| self.calls.get(id)).copied();
            report.add_command(command, at);
            report.add_shell_reads(node_text(command).unwrap_or_default(), folder.or(self.turn), at, output.origin);
        }
    }
}

fn command_in(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(COMMAND)?;
    let at = rest.match_indices(RUN).find(|(at, _)| {
        let before = rest.get(..*at).unwrap_or_default();
        before.len() > 1
            && before.ends_with(char::is_whitespace)
            && rest.get(at + RUN.len()..).is_some_and(|behind| behind.starts_with(char::is_whitespace))
    });
    let behind = rest.get(at?.0 + RUN.len()..)?.trim_start();
    (!behind.is_empty()).then(|| strip_quotes(behind))
}

fn add_speech<'run>(report: &mut ReportBuilder<'_, 'run, '_>, payload: Object<'run>, at: Option<Node<'run>>) {
    let role = match word_in(payload, RecordKey::Role).and_then(ReportWord::from_key) {
        Some(role @ (ReportWord::User | ReportWord::Assistant)) => role,
        _ => return,
    };
    let parts =
        object_items(list_in(payload, RecordKey::Content)).filter_map(|(_, part)| text_in(part, RecordKey::Words));
    let parts: Vec<Node<'run>> = parts.collect();
    let joined = match parts.as_slice() {
        [] => None,
        [one] => Some(*one),
        [first, ..] => {
            let words: Vec<&str> = parts.iter().filter_map(|part| node_text(*part)).collect();
            Some(report.text_node(&words.join("\n"), first.origin))
        }
    };
    text_in(payload, RecordKey::Words)
        .or(joined)
        .into_iter()
        .for_each(|words| report.add_message(role, false, words, at));
}
