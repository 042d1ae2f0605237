//! Cursor's agent: the events of its stream. The tool of a call is the key of what it holds, in lower case with hyphens.

use super::{Of, Report, Tokens, Word, count, list_in, object_in, text_in, word_in};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{object, objects, text};
use averment_base::value::{Node, Object};
use rustc_hash::{FxHashMap, FxHashSet};

key_table! {
    /// The types of events, and how far a call is.
    Kind {
        System = "system",
        User = "user",
        Assistant = "assistant",
        Call = "tool_call",
        End = "result",
        Completed = "completed",
    }
}

key_table! {
    /// What stands in an event.
    OfEvent {
        Subtype = "subtype",
        Call = "tool_call",
        Id = "call_id",
        IdToo = "model_call_id",
        Time = "timestamp_ms",
        Args = "args",
        Folder = "workingDirectory" | "cwd",
        Path = "filePath" | "file_path" | "path",
        Skill = "name" | "skill",
        Given = "inputTokens",
        Made = "outputTokens",
        Cached = "cacheReadTokens",
    }
}

key_table! {
    /// What the name of a tool holds that tells more.
    Tells {
        Shell = "shell",
        Read = "read",
        Skill = "skill",
    }
}

impl Tells {
    fn is_in(self, tool: &str) -> bool {
        self.keys().iter().any(|word| tool.contains(word))
    }
}

/// How the key of a call ends.
const CALL: &str = "ToolCall";

#[derive(Default)]
struct Stream<'run> {
    called: FxHashSet<&'run str>,
    /// What was told of a call already.
    told: FxHashSet<(&'run str, String)>,
    folders: FxHashMap<&'run str, &'run str>,
}

fn kind_of(word: Option<&str>) -> Option<Kind> {
    word.and_then(Kind::from_key)
}

pub(super) fn read<'run>(report: &mut Report<'_, 'run, '_>, root: Node<'run>) {
    let mut stream = Stream::default();
    for (node, event) in report.records(root) {
        report.session = report.session.or(text_in(event, Of::Session));
        let at = value_of(event, OfEvent::Time);
        match kind_of(word_in(event, Of::Type)) {
            Some(Kind::System) => report.folder = report.folder.or(word_in(event, Of::Folder)),
            Some(Kind::User) => said(report, Word::User, event, at),
            Some(Kind::Assistant) => said(report, Word::Assistant, event, at),
            Some(Kind::Call) => stream.call(report, node, event, at),
            Some(Kind::End) => {
                report.output = value_of(event, Of::Result).or(report.output);
                if let Some(usage) = object_in(event, Of::Usage) {
                    let cached = count(value_of(usage, OfEvent::Cached));
                    let input = Tokens::sum(count(value_of(usage, OfEvent::Given)), cached);
                    report.usage =
                        Tokens { input, output: count(value_of(usage, OfEvent::Made)), reasoning: None, cached };
                }
            }
            _ => {}
        }
    }
}

fn said<'run>(report: &mut Report<'_, 'run, '_>, role: Word, event: Object<'run>, at: Option<Node<'run>>) {
    let Some(message) = object_in(event, Of::Message) else { return };
    let parts: Vec<Node<'run>> =
        objects(list_in(message, Of::Content)).filter_map(|(_, part)| text_in(part, Of::Words)).collect();
    if let Some(first) = parts.first() {
        let words: Vec<&str> = parts.iter().filter_map(|part| text(*part)).collect();
        let joined = report.plain(&words.join("\n"), first.origin);
        report.message(role, false, joined, at);
    }
}

/// A name in lower case with hyphens: `semSearch` is `sem-search`.
fn hyphenated(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.extend(character.to_lowercase());
    }
    out
}

impl<'run> Stream<'run> {
    /// Whether this was not told of a call yet; of one without an id everything is new.
    fn is_new(&mut self, id: Option<&'run str>, what: String) -> bool {
        id.is_none_or(|id| self.told.insert((id, what)))
    }

    fn call(
        &mut self,
        report: &mut Report<'_, 'run, '_>,
        node: Node<'run>,
        event: Object<'run>,
        at: Option<Node<'run>>,
    ) {
        let inside = value_of(event, OfEvent::Call).and_then(object).map_or(&[][..], |call| call.entries());
        let found = inside.iter().find_map(|entry| Some((entry.key.strip_suffix(CALL)?, object(entry.node)?)));
        let Some((name, call)) = found else { return };
        let tool = report.plain(&hyphenated(name), node.origin);
        let name = text(tool).unwrap_or_default();
        let id = [OfEvent::Id, OfEvent::IdToo].into_iter().find_map(|key| value_of(event, key).and_then(text));
        let args = value_of(call, OfEvent::Args);
        let completed = kind_of(value_of(event, OfEvent::Subtype).and_then(text)) == Some(Kind::Completed);
        if !completed && id.is_none_or(|id| self.called.insert(id)) {
            report.call(tool, args, at, node.origin);
        }
        self.follows(report, name, node, id, args.and_then(object), at);
        if let Some(output) = value_of(call, Of::Result).filter(|_| completed).and_then(|output| report.as_text(output))
        {
            report.result(Some(tool), output, at);
        }
    }

    /// What follows from a call: its command, what it reads, the skill that it loads.
    fn follows(
        &mut self,
        report: &mut Report<'_, 'run, '_>,
        tool: &str,
        node: Node<'run>,
        id: Option<&'run str>,
        args: Option<Object<'run>>,
        at: Option<Node<'run>>,
    ) {
        let Some(args) = args else { return };
        let own = value_of(args, OfEvent::Folder).and_then(text);
        if let Some((id, folder)) = id.zip(own) {
            self.folders.insert(id, folder);
        }
        let folder = own.or_else(|| self.folders.get(id?).copied());
        let command = text_in(args, Of::Command).filter(|_| Tells::Shell.is_in(tool));
        if let Some(command) =
            command.filter(|command| self.is_new(id, format!("$ {}", text(*command).unwrap_or_default())))
        {
            report.command(command, at);
            report.reads_of(text(command).unwrap_or_default(), folder, at, command.origin);
        }
        let path = value_of(args, OfEvent::Path).and_then(text).filter(|_| Tells::Read.is_in(tool));
        if let Some(path) = path.filter(|path| self.is_new(id, format!("< {path}"))) {
            report.read(path, folder, at, node.origin);
        }
        let skill = value_of(args, OfEvent::Skill).filter(|_| Tells::Skill.is_in(tool));
        let skill = skill.filter(|skill| text(*skill).is_some_and(|skill| !skill.is_empty()));
        if let Some(skill) = skill.filter(|skill| self.is_new(id, format!("! {}", text(*skill).unwrap_or_default()))) {
            report.skill(skill, at);
        }
    }
}
