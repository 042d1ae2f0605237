//! OpenCode: the export of a session, its messages part by part.

use super::{RecordKey, ReportBuilder, ReportWord, TokenCounts, text_in, token_count, word_in};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_object, node_text, object_items};
use averment_base::value::{Node, Object};

key_table! {
    OpenCodeWord {
        Thought = "reasoning",
        Text = "text",
        Call = "tool",
        Skill = "skill",
        Read = "read",
    }
}

key_table! {
    OpenCodeRecordKey {
        Info = "info",
        Id = "id",
        Messages = "messages",
        Parts = "parts",
        Path = "path",
        Time = "time",
        Created = "created",
        Start = "start",
        End = "end",
        Tokens = "tokens",
        Given = "input",
        Made = "output",
        Reasoned = "reasoning",
        Cache = "cache",
        Cached = "read",
        Tool = "tool",
        State = "state",
        File = "filePath",
        Folder = "workdir" | "cwd",
    }
}

impl OpenCodeRecordKey {
    fn object_in(self, outer: Object<'_>) -> Option<Object<'_>> {
        value_of(outer, self).and_then(node_object)
    }
}

pub(super) fn read_records<'run>(report: &mut ReportBuilder<'_, 'run, '_>, root: Node<'run>) {
    let Some(export) = node_object(root) else { return };
    report.falls_back = false;
    report.session = OpenCodeRecordKey::Info.object_in(export).and_then(|info| value_of(info, OpenCodeRecordKey::Id));
    let messages =
        value_of(export, OpenCodeRecordKey::Messages).and_then(crate::adapt::nodes::node_list).unwrap_or_default();
    for (_, message) in object_items(messages) {
        report.draft.count_record();
        let info = OpenCodeRecordKey::Info.object_in(message);
        if let Some(tokens) = info.and_then(|info| OpenCodeRecordKey::Tokens.object_in(info)) {
            count_usage(report, tokens);
        }
        let role = info.and_then(|info| word_in(info, RecordKey::Role)).and_then(ReportWord::from_key);
        let at = info.and_then(|info| value_of(OpenCodeRecordKey::Time.object_in(info)?, OpenCodeRecordKey::Created));
        let folder = info.and_then(|info| word_in(OpenCodeRecordKey::Path.object_in(info)?, RecordKey::Folder));
        let parts =
            value_of(message, OpenCodeRecordKey::Parts).and_then(crate::adapt::nodes::node_list).unwrap_or_default();
        for (node, part) in object_items(parts) {
            match (word_in(part, RecordKey::Type).and_then(OpenCodeWord::from_key), text_in(part, RecordKey::Words)) {
                (Some(OpenCodeWord::Thought), Some(words)) => {
                    report.add_message(ReportWord::Assistant, true, words, at)
                }
                (Some(OpenCodeWord::Text), Some(words)) => {
                    if let Some(role @ (ReportWord::User | ReportWord::Assistant)) = role {
                        report.add_message(role, false, words, at);
                    }
                }
                (Some(OpenCodeWord::Call), _) => add_call(report, node, part, at, folder),
                _ => {}
            }
        }
    }
}

fn count_usage(report: &mut ReportBuilder<'_, '_, '_>, tokens: Object<'_>) {
    let cached = token_count(
        OpenCodeRecordKey::Cache.object_in(tokens).and_then(|cache| value_of(cache, OpenCodeRecordKey::Cached)),
    );
    let known = &report.usage;
    report.usage = TokenCounts {
        input: TokenCounts::add_counts(
            known.input,
            TokenCounts::add_counts(token_count(value_of(tokens, OpenCodeRecordKey::Given)), cached),
        ),
        output: TokenCounts::add_counts(known.output, token_count(value_of(tokens, OpenCodeRecordKey::Made))),
        reasoning: TokenCounts::add_counts(known.reasoning, token_count(value_of(tokens, OpenCodeRecordKey::Reasoned))),
        cached: TokenCounts::add_counts(known.cached, cached),
    };
}

fn add_call<'run>(
    report: &mut ReportBuilder<'_, 'run, '_>,
    node: Node<'run>,
    part: Object<'run>,
    at: Option<Node<'run>>,
    folder: Option<&'run str>,
) {
    let Some(tool) = value_of(part, OpenCodeRecordKey::Tool).filter(|tool| node_text(*tool).is_some()) else { return };
    let kind = node_text(tool).and_then(OpenCodeWord::from_key);
    let state = OpenCodeRecordKey::State.object_in(part);
    let time = state.and_then(|state| OpenCodeRecordKey::Time.object_in(state));
    let at = at.or_else(|| value_of(time?, OpenCodeRecordKey::Start));
    let input = state.and_then(|state| value_of(state, OpenCodeRecordKey::Given));
    let within = |of: RecordKey| input.and_then(node_object).and_then(|input| text_in(input, of));
    if let Some(skill) = within(RecordKey::Name).filter(|_| kind == Some(OpenCodeWord::Skill)) {
        report.add_skill(skill, at);
    }
    report.add_call(tool, input, at, node.origin);
    let output =
        state.and_then(|state| value_of(state, OpenCodeRecordKey::Made)).and_then(|output| report.as_text(output));
    if let Some(output) = output {
        report.add_result(Some(tool), output, time.and_then(|time| value_of(time, OpenCodeRecordKey::End)).or(at));
    }
    within(RecordKey::Command).into_iter().for_each(|command| report.add_command(command, at));
    let path =
        input.and_then(node_object).and_then(|input| value_of(input, OpenCodeRecordKey::File)).and_then(node_text);
    if let Some(path) = path.filter(|_| kind == Some(OpenCodeWord::Read)) {
        let own = input
            .and_then(node_object)
            .and_then(|input| value_of(input, OpenCodeRecordKey::Folder))
            .and_then(node_text);
        report.add_read(path, own.or(folder), at, node.origin);
    }
}
