//! Cursor's agent: the events of its stream. The tool of a call is the key of what it holds, in lower case with hyphens.

use super::{RecordKey, ReportBuilder, ReportWord, TokenCounts, list_in, object_in, text_in, token_count, word_in};
use crate::adapt::fields::{key_table, value_of};
use crate::adapt::nodes::{node_object, node_text, object_items};
use averment_base::value::{Node, Object};
use rustc_hash::{FxHashMap, FxHashSet};

key_table! {
    CursorWord {
        System = "system",
        User = "user",
        Assistant = "assistant",
        Call = "tool_call",
        End = "result",
        Completed = "completed",
    }
}

key_table! {
    CursorRecordKey {
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
    ToolNameHint {
        Shell = "shell",
        Read = "read",
        Skill = "skill",
    }
}

impl ToolNameHint {
    fn is_in(self, tool: &str) -> bool {
        self.keys().iter().any(|word| tool.contains(word))
    }
}

/// Suffix of a call's key.
const CALL: &str = "ToolCall";

#[derive(Default)]
struct CursorCalls<'run> {
    called: FxHashSet<&'run str>,
    /// Already reported facts by call.
    told: FxHashSet<(&'run str, String)>,
    folders: FxHashMap<&'run str, &'run str>,
}

fn kind_of(word: Option<&str>) -> Option<CursorWord> {
    word.and_then(CursorWord::from_key)
}

pub(super) fn read_records<'run>(report: &mut ReportBuilder<'_, 'run, '_>, root: Node<'run>) {
    let mut stream = CursorCalls::default();
    for (node, event) in report.object_records(root) {
        report.session = report.session.or(text_in(event, RecordKey::Session));
        let at = value_of(event, CursorRecordKey::Time);
        match kind_of(word_in(event, RecordKey::Type)) {
            Some(CursorWord::System) => report.folder = report.folder.or(word_in(event, RecordKey::Folder)),
            Some(CursorWord::User) => add_speech(report, ReportWord::User, event, at),
            Some(CursorWord::Assistant) => add_speech(report, ReportWord::Assistant, event, at),
            Some(CursorWord::Call) => stream.read_call(report, node, event, at),
            Some(CursorWord::End) => {
                report.output = value_of(event, RecordKey::Result).or(report.output);
                if let Some(usage) = object_in(event, RecordKey::Usage) {
                    let cached = token_count(value_of(usage, CursorRecordKey::Cached));
                    let input = TokenCounts::add_counts(token_count(value_of(usage, CursorRecordKey::Given)), cached);
                    report.usage = TokenCounts {
                        input,
                        output: token_count(value_of(usage, CursorRecordKey::Made)),
                        reasoning: None,
                        cached,
                    };
                }
            }
            _ => {}
        }
    }
}

fn add_speech<'run>(
    report: &mut ReportBuilder<'_, 'run, '_>,
    role: ReportWord,
    event: Object<'run>,
    at: Option<Node<'run>>,
) {
    let Some(message) = object_in(event, RecordKey::Message) else { return };
    let parts: Vec<Node<'run>> = object_items(list_in(message, RecordKey::Content))
        .filter_map(|(_, part)| text_in(part, RecordKey::Words))
        .collect();
    if let Some(first) = parts.first() {
        let words: Vec<&str> = parts.iter().filter_map(|part| node_text(*part)).collect();
        let joined = report.text_node(&words.join("\n"), first.origin);
        report.add_message(role, false, joined, at);
    }
}

/// `semSearch` becomes `sem-search`.
fn hyphenate_name(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars() {
        if character.is_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.extend(character.to_lowercase());
    }
    out
}

impl<'run> CursorCalls<'run> {
    /// For a call without an id everything is new.
    fn is_new(&mut self, id: Option<&'run str>, what: String) -> bool {
        id.is_none_or(|id| self.told.insert((id, what)))
    }

    fn read_call(
        &mut self,
        report: &mut ReportBuilder<'_, 'run, '_>,
        node: Node<'run>,
        event: Object<'run>,
        at: Option<Node<'run>>,
    ) {
        let inside =
            value_of(event, CursorRecordKey::Call).and_then(node_object).map_or(&[][..], |call| call.entries());
        let found = inside.iter().find_map(|entry| Some((entry.key.strip_suffix(CALL)?, node_object(entry.node)?)));
        let Some((name, call)) = found else { return };
        let tool = report.text_node(&hyphenate_name(name), node.origin);
        let name = node_text(tool).unwrap_or_default();
        let id = [CursorRecordKey::Id, CursorRecordKey::IdToo]
            .into_iter()
            .find_map(|key| value_of(event, key).and_then(node_text));
        let args = value_of(call, CursorRecordKey::Args);
        let completed =
            kind_of(value_of(event, CursorRecordKey::Subtype).and_then(node_text)) == Some(CursorWord::Completed);
        if !completed && id.is_none_or(|id| self.called.insert(id)) {
            report.add_call(tool, args, at, node.origin);
        }
        self.add_effects(report, name, node, id, args.and_then(node_object), at);
        if let Some(output) =
            value_of(call, RecordKey::Result).filter(|_| completed).and_then(|output| report.as_text(output))
        {
            report.add_result(Some(tool), output, at);
        }
    }

    fn add_effects(
        &mut self,
        report: &mut ReportBuilder<'_, 'run, '_>,
        tool: &str,
        node: Node<'run>,
        id: Option<&'run str>,
        args: Option<Object<'run>>,
        at: Option<Node<'run>>,
    ) {
        let Some(args) = args else { return };
        let own = value_of(args, CursorRecordKey::Folder).and_then(node_text);
        if let Some((id, folder)) = id.zip(own) {
            self.folders.insert(id, folder);
        }
        let folder = own.or_else(|| self.folders.get(id?).copied());
        let command = text_in(args, RecordKey::Command).filter(|_| ToolNameHint::Shell.is_in(tool));
        if let Some(command) =
            command.filter(|command| self.is_new(id, format!("$ {}", node_text(*command).unwrap_or_default())))
        {
            report.add_command(command, at);
            report.add_shell_reads(node_text(command).unwrap_or_default(), folder, at, command.origin);
        }
        let path = value_of(args, CursorRecordKey::Path).and_then(node_text).filter(|_| ToolNameHint::Read.is_in(tool));
        if let Some(path) = path.filter(|path| self.is_new(id, format!("< {path}"))) {
            report.add_read(path, folder, at, node.origin);
        }
        let skill = value_of(args, CursorRecordKey::Skill).filter(|_| ToolNameHint::Skill.is_in(tool));
        let skill = skill.filter(|skill| node_text(*skill).is_some_and(|skill| !skill.is_empty()));
        if let Some(skill) =
            skill.filter(|skill| self.is_new(id, format!("! {}", node_text(*skill).unwrap_or_default())))
        {
            report.add_skill(skill, at);
        }
    }
}
