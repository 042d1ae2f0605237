//! Calls of Cursor's agent: the tool of a call is the key of what it holds, in lower case with hyphens.

use super::ReportBuilder;
use super::transcript::{text_at, value_at, word_at};
use crate::adapt::nodes::{node_object, node_text};
use averment_base::value::{Node, Object};
use rustc_hash::{FxHashMap, FxHashSet};

agents! {
const CALL_KEY: &str = "tool_call";
const ID_KEYS: &str = "call_id|model_call_id";
const ARGS_KEY: &str = "args";
const RESULT_KEY: &str = "result";
const SUBTYPE_KEY: &str = "subtype";
const COMPLETED: &str = "completed";
const FOLDER_KEYS: &str = "workingDirectory|cwd";
/// What the name of a tool contains that has an effect, and the key of that.
const SHELL: (&str, &str) = ("shell", "command");
const READ: (&str, &str) = ("read", "filePath|file_path|path");
const SKILL: (&str, &str) = ("skill", "name|skill");
}

/// Suffix of a call's key.
const CALL: &str = "ToolCall";

#[derive(Default)]
pub(super) struct KeyedCalls<'run> {
    called: FxHashSet<&'run str>,
    /// Already reported facts by call.
    told: FxHashSet<(&'run str, String)>,
    folders: FxHashMap<&'run str, &'run str>,
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

impl<'run> KeyedCalls<'run> {
    /// For a call without an id everything is new.
    fn is_new(&mut self, id: Option<&'run str>, what: String) -> bool {
        id.is_none_or(|id| self.told.insert((id, what)))
    }

    pub(super) fn read_call(
        &mut self,
        report: &mut ReportBuilder<'_, 'run, '_>,
        node: Node<'run>,
        event: Object<'run>,
        at: Option<Node<'run>>,
    ) {
        let inside = value_at(event, CALL_KEY).and_then(node_object).map_or(&[][..], |call| call.entries());
        let found = inside.iter().find_map(|entry| Some((entry.key.strip_suffix(CALL)?, node_object(entry.node)?)));
        let Some((name, call)) = found else { return };
        let tool = report.text_node(&hyphenate_name(name), node.origin);
        let name = node_text(tool).unwrap_or_default();
        let id = ID_KEYS.split('|').find_map(|key| word_at(event, key));
        let args = value_at(call, ARGS_KEY);
        let is_completed = word_at(event, SUBTYPE_KEY) == Some(COMPLETED);
        if !is_completed && id.is_none_or(|id| self.called.insert(id)) {
            report.add_call(tool, args, at, node.origin);
        }
        self.add_effects(report, name, node, id, args.and_then(node_object), at);
        let output = value_at(call, RESULT_KEY).filter(|_| is_completed).and_then(|output| report.as_text(output));
        output.into_iter().for_each(|output| report.add_result(Some(tool), output, at));
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
        let own = word_at(args, FOLDER_KEYS);
        self.folders.extend(id.zip(own));
        let folder = own.or_else(|| self.folders.get(id?).copied());
        let of_tool = |(hint, keys): (&str, &str)| text_at(args, keys).filter(|_| tool.contains(hint));
        if let Some((command, words)) = of_tool(SHELL).and_then(|command| Some((command, node_text(command)?)))
            && self.is_new(id, format!("$ {words}"))
        {
            report.add_command(command, at);
            report.add_shell_reads(words, folder, at, command.origin);
        }
        if let Some(path) = of_tool(READ).and_then(node_text)
            && self.is_new(id, format!("< {path}"))
        {
            report.add_read(path, folder, at, node.origin);
        }
        if let Some(skill) = of_tool(SKILL)
            && self.is_new(id, format!("! {}", node_text(skill).unwrap_or_default()))
        {
            report.add_skill(skill, at);
        }
    }
}
