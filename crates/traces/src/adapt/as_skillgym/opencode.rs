//! OpenCode: the export of a session, its messages part by part.

use super::{Of, Report, Tokens, Word, count, text_in, word_in};
use crate::adapt::nodes::{object, objects, text};
use crate::adapt::spans::names;
use averment_base::value::{Node, Object};

names! {
    /// The types of parts, and the tools that tell more.
    Kind {
        Thought = ["reasoning"],
        Text = ["text"],
        Call = ["tool"],
        Skill = ["skill"],
        Read = ["read"],
    }
}

names! {
    /// What stands in an export.
    OfExport {
        Info = ["info"],
        Id = ["id"],
        Messages = ["messages"],
        Parts = ["parts"],
        Path = ["path"],
        Time = ["time"],
        Created = ["created"],
        Start = ["start"],
        End = ["end"],
        Tokens = ["tokens"],
        Given = ["input"],
        Made = ["output"],
        Reasoned = ["reasoning"],
        Cache = ["cache"],
        Cached = ["read"],
        Tool = ["tool"],
        State = ["state"],
        File = ["filePath"],
        Folder = ["workdir", "cwd"],
    }
}

impl OfExport {
    fn object_in(self, outer: Object<'_>) -> Option<Object<'_>> {
        self.find(outer).and_then(object)
    }
}

pub(super) fn read<'run>(report: &mut Report<'_, 'run, '_>, root: Node<'run>) {
    let Some(export) = object(root) else { return };
    report.falls_back = false;
    report.session = OfExport::Info.object_in(export).and_then(|info| OfExport::Id.find(info));
    let messages = OfExport::Messages.find(export).and_then(crate::adapt::nodes::list).unwrap_or_default();
    for (_, message) in objects(messages) {
        report.draft.record();
        let info = OfExport::Info.object_in(message);
        if let Some(tokens) = info.and_then(|info| OfExport::Tokens.object_in(info)) {
            used(report, tokens);
        }
        let role = info.and_then(|info| word_in(info, Of::Role)).and_then(Word::of).map(|(role, _)| role);
        let at = info.and_then(|info| OfExport::Created.find(OfExport::Time.object_in(info)?));
        let folder = info.and_then(|info| word_in(OfExport::Path.object_in(info)?, Of::Folder));
        let parts = OfExport::Parts.find(message).and_then(crate::adapt::nodes::list).unwrap_or_default();
        for (node, part) in objects(parts) {
            match (word_in(part, Of::Type).and_then(Kind::of).map(|(kind, _)| kind), text_in(part, Of::Words)) {
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
    let cached = count(OfExport::Cache.object_in(tokens).and_then(|cache| OfExport::Cached.find(cache)));
    let known = &report.usage;
    report.usage = Tokens {
        input: Tokens::sum(known.input, Tokens::sum(count(OfExport::Given.find(tokens)), cached)),
        output: Tokens::sum(known.output, count(OfExport::Made.find(tokens))),
        reasoning: Tokens::sum(known.reasoning, count(OfExport::Reasoned.find(tokens))),
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
    let Some(tool) = OfExport::Tool.find(part).filter(|tool| text(*tool).is_some()) else { return };
    let kind = text(tool).and_then(Kind::of).map(|(kind, _)| kind);
    let state = OfExport::State.object_in(part);
    let time = state.and_then(|state| OfExport::Time.object_in(state));
    let at = at.or_else(|| OfExport::Start.find(time?));
    let input = state.and_then(|state| OfExport::Given.find(state));
    let within = |of: Of| input.and_then(object).and_then(|input| text_in(input, of));
    if let Some(skill) = within(Of::Name).filter(|_| kind == Some(Kind::Skill)) {
        report.skill(skill, at);
    }
    report.call(tool, input, at, node.origin);
    let output = state.and_then(|state| OfExport::Made.find(state)).and_then(|output| report.as_text(output));
    if let Some(output) = output {
        report.result(Some(tool), output, time.and_then(|time| OfExport::End.find(time)).or(at));
    }
    within(Of::Command).into_iter().for_each(|command| report.command(command, at));
    let path = input.and_then(object).and_then(|input| OfExport::File.find(input)).and_then(text);
    if let Some(path) = path.filter(|_| kind == Some(Kind::Read)) {
        let own = input.and_then(object).and_then(|input| OfExport::Folder.find(input)).and_then(text);
        report.read(path, own.or(folder), at, node.origin);
    }
}
