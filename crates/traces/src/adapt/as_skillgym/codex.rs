//! Codex: the rollout of a session, or the events of `codex exec --json`. Commands are those that the text of a result repeats.

use super::{Of, Report, Tokens, Word, count, list_in, object_in, text_in, unquoted, word_in};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{object, objects, text};
use averment_base::value::{Node, Object, Value};
use rustc_hash::FxHashMap;

key_table! {
    /// The types of records, items and events.
    Kind {
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
    /// What stands in a record.
    OfRecord {
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

/// The tool of a result that repeats its command.
const SHELL: &str = "exec_command";
/// How a line begins that does, and what stands in front of the command in it.
const COMMAND: &str = "Command:";
const RUN: &str = "-lc";

#[derive(Default)]
struct Session<'run> {
    /// The folder of the turn, and those of calls.
    turn: Option<&'run str>,
    calls: FxHashMap<&'run str, &'run str>,
}

fn kind_of(object: Object<'_>) -> Option<Kind> {
    word_in(object, Of::Type).and_then(Kind::from_key)
}

pub(super) fn read<'run>(report: &mut Report<'_, 'run, '_>, root: Node<'run>) {
    let mut session = Session::default();
    for (_, record) in report.records(root) {
        let at = text_in(record, Of::Time);
        report.session = report.session.or(value_of(record, OfRecord::Thread).filter(|id| text(*id).is_some()));
        let payload = value_of(record, OfRecord::Payload).and_then(object);
        // What a program printed beside a rollout is not known.
        report.falls_back &= payload.is_none();
        match (kind_of(record), payload) {
            (Some(Kind::Session), Some(payload)) => {
                report.folder = word_in(payload, Of::Folder).or(report.folder);
            }
            (Some(Kind::Context), Some(payload)) => session.turn = word_in(payload, Of::Folder).or(session.turn),
            (Some(Kind::TurnEnd), _) => object_in(record, Of::Usage).into_iter().for_each(|usage| used(report, usage)),
            (Some(Kind::Item), _) => {
                let item = value_of(record, OfRecord::Item).and_then(object);
                let words =
                    item.filter(|item| kind_of(*item) == Some(Kind::Said)).and_then(|item| text_in(item, Of::Words));
                words.into_iter().for_each(|words| report.message(Word::Assistant, false, words, at));
            }
            (Some(Kind::Event), Some(payload)) => event(report, payload, at),
            (Some(Kind::Response), Some(payload)) => session.item(report, payload, at),
            _ => {}
        }
    }
}

/// Counts are those of the whole session so far: of each the last one counts.
fn used(report: &mut Report<'_, '_, '_>, usage: Object<'_>) {
    let known = &report.usage;
    report.usage = Tokens {
        input: count(value_of(usage, OfRecord::Given)).or(known.input),
        output: count(value_of(usage, OfRecord::Made)).or(known.output),
        reasoning: count(value_of(usage, OfRecord::Reasoned)).or(known.reasoning),
        cached: count(value_of(usage, OfRecord::Cached)).or(known.cached),
    };
}

fn event<'run>(report: &mut Report<'_, 'run, '_>, payload: Object<'run>, at: Option<Node<'run>>) {
    match kind_of(payload) {
        Some(Kind::Tokens) => {
            let info = value_of(payload, OfRecord::Info).and_then(object);
            let total = info.and_then(|info| value_of(info, OfRecord::Total)).and_then(object);
            total.into_iter().for_each(|total| used(report, total));
        }
        Some(Kind::Said) => {
            let words =
                value_of(payload, OfRecord::Words).filter(|words| text(*words).is_some_and(|text| !text.is_empty()));
            words.into_iter().for_each(|words| report.message(Word::Assistant, false, words, at));
        }
        _ => {}
    }
}

impl<'run> Session<'run> {
    fn item(&mut self, report: &mut Report<'_, 'run, '_>, payload: Object<'run>, at: Option<Node<'run>>) {
        match kind_of(payload) {
            Some(Kind::Message) => said(report, payload, at),
            Some(Kind::Thought) => {
                let words = text_in(payload, Of::Words);
                words.into_iter().for_each(|words| report.message(Word::Assistant, true, words, at));
            }
            Some(Kind::Call) => self.call(report, payload, at),
            Some(Kind::Answer) => self.answer(report, payload, at),
            _ => {}
        }
    }

    fn call(&mut self, report: &mut Report<'_, 'run, '_>, payload: Object<'run>, at: Option<Node<'run>>) {
        let Some(tool) =
            value_of(payload, OfRecord::Tool).filter(|tool| text(*tool).is_some_and(|tool| !tool.is_empty()))
        else {
            return;
        };
        let written = value_of(payload, OfRecord::Arguments);
        let read = written.and_then(|args| args.embedded(report.draft.arena, report.draft.limits));
        let args = read.or(written).or_else(|| value_of(payload, OfRecord::ArgumentsToo));
        let folder = args.and_then(object).and_then(|args| value_of(args, OfRecord::Folder)).and_then(text);
        if let Some((id, folder)) = value_of(payload, OfRecord::Id).and_then(text).zip(folder) {
            self.calls.insert(id, folder);
        }
        report.call(tool, args, at, tool.origin);
    }

    fn answer(&self, report: &mut Report<'_, 'run, '_>, payload: Object<'run>, at: Option<Node<'run>>) {
        let Some(output) = value_of(payload, OfRecord::Output).and_then(|output| report.as_text(output)) else {
            return;
        };
        let words = text(output).unwrap_or_default();
        let tool = words.contains(COMMAND).then(|| Node::computed(Value::plain(SHELL)));
        report.result(tool, output, at);
        if let Some(command) = words.lines().find_map(command_in) {
            let command = report.plain(command, output.origin);
            let folder = value_of(payload, OfRecord::Id).and_then(text).and_then(|id| self.calls.get(id)).copied();
            report.command(command, at);
            report.reads_of(text(command).unwrap_or_default(), folder.or(self.turn), at, output.origin);
        }
    }
}

/// The command that a line of a result repeats.
fn command_in(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(COMMAND)?;
    let at = rest.match_indices(RUN).find(|(at, _)| {
        let before = rest.get(..*at).unwrap_or_default();
        before.len() > 1
            && before.ends_with(char::is_whitespace)
            && rest.get(at + RUN.len()..).is_some_and(|behind| behind.starts_with(char::is_whitespace))
    });
    let behind = rest.get(at?.0 + RUN.len()..)?.trim_start();
    (!behind.is_empty()).then(|| unquoted(behind))
}

fn said<'run>(report: &mut Report<'_, 'run, '_>, payload: Object<'run>, at: Option<Node<'run>>) {
    let role = match word_in(payload, Of::Role).and_then(Word::from_key) {
        Some(role @ (Word::User | Word::Assistant)) => role,
        _ => return,
    };
    let parts = objects(list_in(payload, Of::Content)).filter_map(|(_, part)| text_in(part, Of::Words));
    let parts: Vec<Node<'run>> = parts.collect();
    let joined = match parts.as_slice() {
        [] => None,
        [one] => Some(*one),
        [first, ..] => {
            let words: Vec<&str> = parts.iter().filter_map(|part| text(*part)).collect();
            Some(report.plain(&words.join("\n"), first.origin))
        }
    };
    text_in(payload, Of::Words).or(joined).into_iter().for_each(|words| report.message(role, false, words, at));
}
