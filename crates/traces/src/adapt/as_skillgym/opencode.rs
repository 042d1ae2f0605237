//! OpenCode: the export of a session, its messages part by part.

use super::{Of, Report, Tokens, Word, count, text_in, word_in};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{object, objects, text};
use averment_base::value::{Node, Object};

key_table! {
    /// The types of parts, and the tools that tell more.
    Kind {
        Thought = "reasoning",
        Text = "text",
        Call = "tool",
        Skill = "skill",
        Read = "read",
    }
}

key_table! {
    /// What stands in an export.
    OfExport {
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

impl OfExport {
    fn object_in(self, outer: Object<'_>) -> Option<Object<'_>> {
        value_of(outer, self).and_then(object)
    }
}

pub(super) fn read<'run>(report: &mut Report<'_, 'run, '_>, root: Node<'run>) {
    let Some(export) = object(root) else { return };
    report.falls_back = false;
    report.session = OfExport::Info.object_in(export).and_then(|info| value_of(info, OfExport::Id));
    let messages = value_of(export, OfExport::Messages).and_then(crate::adapt::nodes::list).unwrap_or_default();
    for (_, message) in objects(messages) {
        report.draft.record();
        let info = OfExport::Info.object_in(message);
        if let Some(tokens) = info.and_then(|info| OfExport::Tokens.object_in(info)) {
            used(report, tokens);
        }
        let role = info.and_then(|info| word_in(info, Of::Role)).and_then(Word::from_key);
        let at = info.and_then(|info| value_of(OfExport::Time.object_in(info)?, OfExport::Created));
        let folder = info.and_then(|info| word_in(OfExport::Path.object_in(info)?, Of::Folder));
        let parts = value_of(message, OfExport::Parts).and_then(crate::adapt::nodes::list).unwrap_or_default();
        for (node, part) in objects(parts) {
            match (word_in(part, Of::Type).and_then(Kind::from_key), text_in(part, Of::Words)) {
                (Some(Kind::Thought), Some(words)) => report.message(Word::Assistant, true, words, at),
                (Some(Kind::Text), Some(words)) => {
                    if let Some(role @ (Word::User | Word::Assistant)) = role {
                        report.message(role, false, words, at);
                    }
                }
                (Some(Kind::Call), _) => call(report, node, part, at, folder),
                _ => {}
            }
        }
    }
}

fn used(report: &mut Report<'_, '_, '_>, tokens: Object<'_>) {
    let cached = count(OfExport::Cache.object_in(tokens).and_then(|cache| value_of(cache, OfExport::Cached)));
    let known = &report.usage;
    report.usage = Tokens {
        input: Tokens::sum(known.input, Tokens::sum(count(value_of(tokens, OfExport::Given)), cached)),
        output: Tokens::sum(known.output, count(value_of(tokens, OfExport::Made))),
        reasoning: Tokens::sum(known.reasoning, count(value_of(tokens, OfExport::Reasoned))),
        cached: Tokens::sum(known.cached, cached),
    };
}

fn call<'run>(
    report: &mut Report<'_, 'run, '_>,
    node: Node<'run>,
    part: Object<'run>,
    at: Option<Node<'run>>,
    folder: Option<&'run str>,
) {
    let Some(tool) = value_of(part, OfExport::Tool).filter(|tool| text(*tool).is_some()) else { return };
    let kind = text(tool).and_then(Kind::from_key);
    let state = OfExport::State.object_in(part);
    let time = state.and_then(|state| OfExport::Time.object_in(state));
    let at = at.or_else(|| value_of(time?, OfExport::Start));
    let input = state.and_then(|state| value_of(state, OfExport::Given));
    let within = |of: Of| input.and_then(object).and_then(|input| text_in(input, of));
    if let Some(skill) = within(Of::Name).filter(|_| kind == Some(Kind::Skill)) {
        report.skill(skill, at);
    }
    report.call(tool, input, at, node.origin);
    let output = state.and_then(|state| value_of(state, OfExport::Made)).and_then(|output| report.as_text(output));
    if let Some(output) = output {
        report.result(Some(tool), output, time.and_then(|time| value_of(time, OfExport::End)).or(at));
    }
    within(Of::Command).into_iter().for_each(|command| report.command(command, at));
    let path = input.and_then(object).and_then(|input| value_of(input, OfExport::File)).and_then(text);
    if let Some(path) = path.filter(|_| kind == Some(Kind::Read)) {
        let own = input.and_then(object).and_then(|input| value_of(input, OfExport::Folder)).and_then(text);
        report.read(path, own.or(folder), at, node.origin);
    }
}
