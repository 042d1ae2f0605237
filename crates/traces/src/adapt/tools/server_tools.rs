//! Tools that nobody knows, such as those of servers: what their calls may have done besides, by their names and by what they were given.

use super::{KnownTool, LINE, known_tool};
use crate::adapt::fields::key_table;
use crate::adapt::nodes::{first_of, node_list, node_object, node_text};
use averment_base::value::Node;
use averment_runs::run::StepKind;

key_table! {
    /// What a tool is told to do in one word under the key of a command line: editors, memories, lists of tasks.
    SubCommand {
        Any = "view" | "create" | "str_replace" | "insert" | "undo_edit" | "delete" | "rename" | "plan" | "add" | "update"
            | "list" | "get" | "remove" | "search" | "read" | "write",
    }
}

key_table! {
    /// Tools whose command is none of a shell: those of the program itself.
    ProgramTool {
        Any = "SlashCommand",
    }
}

/// The kinds of steps of which a call of such a tool may have been one.
pub(super) fn kinds_left_open(tool: &str, args: Option<Node<'_>>) -> &'static [StepKind] {
    if known_tool(tool).is_some() || ProgramTool::from_key(tool).is_some() {
        return &[];
    }
    if may_run_line(tool, args) {
        return &[StepKind::Command];
    }
    // The server may hold the files of the agent or others.
    named_behind_server(tool).map_or(&[][..], KnownTool::kinds)
}

/// The known tool in `SERVER_write_file` and `mcp__SERVER__write_file`: one word alone is a name for many things.
fn named_behind_server(tool: &str) -> Option<KnownTool> {
    let ends = tool.match_indices(['_', '.', '/', ':']).filter_map(|(at, _)| tool.get(at + 1..));
    ends.filter(|name| name.contains('_')).find_map(KnownTool::from_key)
}

/// Whether a tool was given what may be a command line.
fn may_run_line(tool: &str, args: Option<Node<'_>>) -> bool {
    let line = args.and_then(node_object).and_then(|args| first_of(args, &LINE));
    line.is_some_and(|line| match node_text(line) {
        // A line that begins with the tool is how this was called.
        Some(text) => SubCommand::from_key(text).is_none() && text.split_whitespace().next() != Some(tool),
        None => node_list(line).is_some(),
    })
}
